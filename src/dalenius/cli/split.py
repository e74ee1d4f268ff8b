"""`dalenius split`: the rows of a file in two, those to be published and those held out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius.cli import common, declared

NO_ENGINE = "keeps rows in their order"  # why it takes no --engine


def register(app: typer.Typer) -> None:
    app.command("split")(command)


def command(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A CSV or Parquet file; a row a person.")],
    output: Annotated[Path, declared.output("The rows that are to be published.")],
    others: Annotated[Path, typer.Option("--others", help="The rows held out, for --holdout of attack and audit.")],
    share: Annotated[float, declared.share("The share of the rows to hold out.")] = 0.3,
    seed: declared.Seed = 0,
    quiet: declared.Quiet = False,
) -> None:
    """Hold out people by lot before publishing, so that an attack has a control. Rows keep their texts and their order."""
    from dalenius.auditing.splitting import split
    from dalenius.reports.split import lines

    for line in lines(split(table, output, others, share=share, seed=seed)):
        common.say(quiet, line)
