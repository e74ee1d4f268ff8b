"""`dalenius compare`: several releases of the same table, what each costs and which level it reaches."""

from __future__ import annotations

import typer

from dalenius import api
from dalenius.cli import build, common


def register(app: typer.Typer) -> None:
    """Add the command."""
    build.add(app, api.compare, run, own=common.REPORTING)


def run(call: build.Call) -> None:
    """Compare releases of the same table.

    For each release: the loss of its labels, its classes, its divergence from the table, and the error of count queries.
    """
    from dalenius.reports.compare import lines

    with common.running(call) as context:
        comparison = call(context=context)
    common.present(comparison.to_document(), lambda: lines(comparison), call)
