"""`dalenius init`: guess a schema, with every guess marked."""

from __future__ import annotations

from pathlib import Path

import typer

from dalenius import api
from dalenius.api.arguments import QUIET, SCHEMA_FILE
from dalenius.api.proposals import OUTPUT
from dalenius.cli import build, common


def register(app: typer.Typer) -> None:
    """Add the command."""
    build.add(app, api.init, run, own={"output": (OUTPUT, Path(SCHEMA_FILE)), "quiet": (QUIET, False)})


def run(call: build.Call) -> None:
    """Guess the schema of a table and write it.

    Every guess is marked for you to check. An existing file is never overwritten.
    """
    from dalenius.reports.init import lines

    with common.running(call) as context:
        guessed = call(context=context, output=call["output"])
    for line in lines(guessed):
        common.say(call["quiet"], line)
