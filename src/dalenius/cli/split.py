"""`dalenius split`: divide a file into the rows to publish and the rows held out."""

from __future__ import annotations

import typer

from dalenius import api
from dalenius.api.arguments import QUIET
from dalenius.cli import build, common

NO_ENGINE = "keeps rows in their order"  # why it takes no --engine


def register(app: typer.Typer) -> None:
    """Add the command."""
    build.add(app, api.split, run, own={"quiet": (QUIET, False)})


def run(call: build.Call) -> None:
    """Hold out people at random before publishing.

    They are the control group of attacks. Rows keep their texts and their order.
    """
    from dalenius.reports.split import lines

    for line in lines(call()):
        common.say(call["quiet"], line)
