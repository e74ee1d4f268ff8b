"""Options that several commands take, each declared once: name, type, placeholder, range and help.

Where commands mean different things by one option, a function takes the help text, and the rest is still declared here. A test
walks all commands and fails where two of them declare one option differently.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalenius import engines as _engine
from dalenius.errors import listing
from dalenius.releases.registry import KINDS

SCHEMA_FILE = Path("privacy.toml")
ENGINE_URL = _engine.DEFAULT

Schema = Annotated[Path, typer.Option("--schema", help="The schema: roles, types, hierarchies.", show_default=True)]
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE|-", help="Write the result as JSON; - is standard output."),
]


def seed(text: str) -> Any:
    """A seed: an `int`."""
    return typer.Option("--seed", min=0, help=text)


Seed = Annotated[int, seed("Seed of everything random.")]
Sensitive = Annotated[str | None, typer.Option("--sensitive", help="Which sensitive column, where there are several.")]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="URL",
        envvar="DALENIUS_ENGINE",
        help="Where the people are: duckdb://[FILE.db], postgres://…, spark://…, sc://…, local-cluster[…].",
    ),
]
Table = Annotated[
    Path, typer.Argument(metavar="TABLE", help="A CSV or Parquet file, or a table of the engine; a row a person.")
]
MostCells = Annotated[
    int | None,
    typer.Option(
        "--most-cells",
        min=1,
        help="Keep at most so many distinct rows in memory (20000000). Of more the lattice is rolled up in the engine.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Reveal = Annotated[bool, typer.Option("--reveal", help="Show labels and values of the classes named.")]
Kind = Annotated[
    str | None,
    typer.Option("--kind", help=f"Kind of the release, if its files do not tell it: {listing(KINDS)}."),
]
Holdout = Annotated[
    Path | None, typer.Option("--holdout", help="People like those in the table who are not in it: the control.")
]
OthersAsQuasi = Annotated[
    bool, typer.Option("--others-as-quasi", help="Of several sensitive columns, all others are known to the attacker.")
]


def output(text: str) -> Any:
    """Where a command writes what it makes: a `Path`."""
    return typer.Option("-o", "--output", help=text)


def truth(text: str) -> Any:
    """The table with the true values: a `Path`."""
    return typer.Option("--truth", help=text)


def targets(text: str) -> Any:
    """Who is attacked: a `Path`."""
    return typer.Option("--targets", help=text)


def mcse(text: str, *, panel: str | None = None) -> Any:
    """The largest Monte Carlo standard error of a belief that is sampled: a `float | None`."""
    return typer.Option("--mcse", help=text, rich_help_panel=panel)


def share(text: str) -> Any:
    """The share of the people to hold out: a `float`."""
    return typer.Option("--share", help=text)


def suppression(text: str) -> Any:
    """The largest share of rows that may be suppressed: a `float`."""
    return typer.Option("--suppression", help=text)


def epsilon(text: str, *, panel: str | None = None) -> Any:
    """An ε: a `float | None`."""
    return typer.Option("--epsilon", help=text, rich_help_panel=panel)


def quick(text: str) -> Any:
    """Leave out what takes long: a flag."""
    return typer.Option("--quick", help=text)


def releases(metavar: str, text: str) -> Any:
    """Several releases: a `list[str]`."""
    return typer.Argument(metavar=metavar, help=text)
