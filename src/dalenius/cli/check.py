"""`dalenius check`: every privacy level of a release, and ε against realistic adversaries."""

from __future__ import annotations

import typer

from dalenius import api
from dalenius.api.arguments import REVEAL
from dalenius.cli import build, common


def register(app: typer.Typer) -> None:
    """Add the command."""
    build.add(app, api.check, run, own={**common.REPORTING, "reveal": (REVEAL, False)})


def run(call: build.Call) -> int:
    """Measure every privacy model on a release.

    Says which level the release reaches, and in which class it is worst, and ε against realistic adversaries. Criteria that
    are named are tested on the classes and on the suppressed rows as a class. Exit code 1 if one is violated.
    """
    from dalenius.reports.check import lines

    with common.running(call) as context:
        checked = call(context=context)
    common.present(checked.to_document(), lambda: lines(checked, reveal=call["reveal"]), call)
    return 0 if checked.holds else 1
