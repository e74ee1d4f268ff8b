"""`dalenius split`: the rows of a file in two, those to be published and those held out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius.cli.common import QuietOption, SeedOption, say
from dalenius.errors import counted


def register(app: typer.Typer) -> None:
    app.command("split")(command)


def command(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A CSV or Parquet file; a row a person.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The rows that are to be published.")],
    others: Annotated[Path, typer.Option("--others", help="The rows held out, for --holdout of attack and audit.")],
    share: Annotated[float, typer.Option("--share", help="The share of the rows to hold out.")] = 0.3,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Hold out people by lot before publishing, so that an attack has a control. Rows keep their texts and their order."""
    from dalenius import engine as _engine
    from dalenius.audit.holdout import record_of, split_rows
    from dalenius.audit.people import files_of
    from dalenius.errors import InputError, ParameterError
    from dalenius.output import check_writable

    if not 0 < share < 1:
        raise ParameterError("--share", "split", "a number above 0 and below 1", share)
    engine = _engine.default()
    for path in (output, others, record_of(others)):
        check_writable(path, inputs=[table, *files_of(table, release=False, engine=engine)])
    if output.resolve() == others.resolve():
        raise InputError(f"Both parts cannot be written to {str(output)!r}. Name another file for --others.")
    kept, held = split_rows(engine.open(table), share, output, others, seed=seed)
    say(quiet, f"Wrote {output}: {counted(kept, 'row', 'rows')} to publish")
    say(quiet, f"Wrote {others}: {counted(held, 'row', 'rows')} held out, a share of {share:g} drawn by seed {seed}")
    say(quiet, f"Wrote {record_of(others)}: audit, attack and frontier see by it that both are of one table")
