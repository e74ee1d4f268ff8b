"""`dalenius init`: guess a schema, with comments on what was guessed; never overwrites."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from dalenius import engine as _engine
from dalenius.cli.common import DEFAULT_SCHEMA, EngineOption, QuietOption, TableArgument, connect_engine, say


def register(app: typer.Typer) -> None:
    app.command("init")(command)


def command(
    table: TableArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write the schema.")] = DEFAULT_SCHEMA,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> None:
    """Guess the schema of a table and write it, every guess marked, for you to check. Never overwrites a file."""
    from dalenius.errors import InputError
    from dalenius.guess import guess_schema
    from dalenius.output import check_writable, write_texts

    if output.is_symlink() or output.exists():
        raise InputError(f"{output} is there already and is not overwritten. Name another file with -o, or remove it.")
    check_writable(output)
    text = guess_schema(table, engine=connect_engine(engine, quiet=quiet), beside=output.parent)
    write_texts({output: text}, new=True)
    say(quiet, f"Wrote {output}. Check every line marked GUESS, then:")
    say(quiet, "  " + shlex.join(["dalenius", "check", str(table), "--schema", str(output)]))
