"""`dalenius init`: guess a schema, with comments on what was guessed; never overwrites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius.cli import common, declared


def register(app: typer.Typer) -> None:
    app.command("init")(command)


def command(
    table: declared.Table,
    output: Annotated[Path, declared.output("Where to write the schema.")] = declared.SCHEMA_FILE,
    engine: declared.Engine = declared.ENGINE_URL,
    quiet: declared.Quiet = False,
) -> None:
    """Guess the schema of a table and write it, every guess marked, for you to check. Never overwrites a file."""
    from dalenius.guess import check_new, init
    from dalenius.reports.init import lines

    check_new(output)  # before the engine is connected, which may take a while
    for line in lines(init(table, output, engine=common.connect_engine(engine, quiet=quiet))):
        common.say(quiet, line)
