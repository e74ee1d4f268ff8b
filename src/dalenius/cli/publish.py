"""`dalenius publish`: make a release of a table."""

from __future__ import annotations

import typer

from dalenius import api
from dalenius.cli import build, common


def register(app: typer.Typer) -> None:
    """Add the command."""
    build.add(app, api.publish, run, own=common.REPORTING, required=["output"])


def run(call: build.Call) -> None:
    """Make a release that satisfies the criteria.

    A sidecar file says how the release was made. Each method has options of its own, listed at the end.
    """
    from dalenius.measures.remaining import warnings
    from dalenius.reports.publish import difference_warnings, lines

    with common.running(call) as context:
        published = call(context=context)
    common.present(published.to_document(), lambda: lines(published), call)
    common.warn(*warnings(published.columns_left))
    for line in difference_warnings(published):
        typer.echo(line, err=True)
