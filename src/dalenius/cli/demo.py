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
    """Make a hospital's table of patients and publish it, and attack what was published."""
    from dalenius.cli import audit, check, publish
    from dalenius.datasets import save_hospital
    from dalenius.errors import InputError, file_error

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error(error, folder, "make the folder") from None
    schema = folder / "privacy.toml"
    ours = folder / ".dalenius-demo"
    if schema.exists() and not ours.exists():
        raise InputError(f"{folder} holds a privacy.toml that is not the demo's. Name another folder with -o.")
    ours.touch()
    table = save_hospital(folder, people, seed)
    typer.echo(f"A hospital has {people:,} patients, with age, sex, ZIP code, nationality and disease: {table}")
    typer.echo(
        "Names are gone. May it be published? Every class of people who share the first four, and how it fares:\n"
    )
    check.command(str(table), schema=schema)
    typer.echo(
        "\nA class of one person is a person whom anybody finds who knows these four things. So we generalize, until"
    )
    typer.echo("every class has five people and two diseases, suppressing at most 2 % of the rows:\n")
    release = folder / "release.csv"
    publish.command(table, output=release, k=5, l=2, suppression=0.02, schema=schema, quiet=False)
    typer.echo(
        "\nNow we attack it, with the table beside us to see how often the attacker is right, and with patients who"
    )
    typer.echo("are not in it as control: what it learns about them, it learns about everybody.\n")
    report = folder / "report.html"
    others = save_hospital(folder, people, seed + 2, name="others.csv")
    audit.command(str(release), truth=table, holdout=others, output=report, schema=schema)
    typer.echo(f"\nLook at  {report}  the same for a review board, in a browser")
    typer.echo(f"         {release}  what would be published, and {release}.meta.json how it was made")
    typer.echo(f"         {schema}  which columns an attacker may know")
    typer.echo("Then try your own table:  dalenius init TABLE.csv")
