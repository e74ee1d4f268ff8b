"""`dalenius demo`: the whole flow on made-up patients."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius.cli.common import SeedOption


def register(app: typer.Typer) -> None:
    app.command("demo")(command)


def command(
    folder: Annotated[Path, typer.Option("-o", "--output", help="The folder to write into.")] = Path("demo"),
    people: Annotated[int, typer.Option("--people", min=100, help="How many patients.")] = 3000,
    seed: SeedOption = 0,
) -> None:
    """Make a hospital's table of patients and look at it as an attacker would."""
    from dalenius.cli import check
    from dalenius.datasets import save_hospital
    from dalenius.errors import file_error

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error(error, folder, "make the folder") from None
    table = save_hospital(folder, people, seed)
    typer.echo(f"A hospital has {people:,} patients, with age, sex, ZIP code, nationality and disease: {table}")
    typer.echo("Names are gone; may it be published? Counting the people who share age, sex, ZIP and nationality:\n")
    check.command(str(table), schema=folder / "privacy.toml")
    typer.echo("\nA class of one person is a person whom anybody finds who knows these four things.")
    typer.echo(f"Look at {folder / 'privacy.toml'}: it says which columns an attacker may know.")
    typer.echo("Try your own table:  dalenius init TABLE.csv  and then  dalenius check TABLE.csv")
