"""The options that several functions and commands share, each declared once.

A function of `dalenius.api` has them in its signature: `seed: arguments.Seed = 0`. Its command gets the same option with the same
default. A function that means something slightly different writes `Annotated[int | None, arguments.SEED.but(help="…")]`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.criteria import Predicate, Realistic
    from dalenius.engines import Engine as AnyEngine
    from dalenius.engines import Source as AnySource
    from dalenius.releases import Release as AnyRelease
    from dalenius.schema import Schema as AnySchema
else:  # signatures are read at run time, and these types are heavy to import
    AnyEngine = AnyRelease = AnySchema = AnySource = Predicate = Realistic = Any

SCHEMA_FILE = "privacy.toml"
REALISTIC_PANEL = "Realistic adversaries"


def _is_share(value: float) -> bool:
    return 0 < value < 1


def _is_finite_from_1(value: float) -> bool:
    return math.isfinite(value) and value >= 1


TABLE = Option(
    "table",
    "A CSV or Parquet file, or a table of the engine, with one row per person.",
    Path,
    metavar="TABLE",
    is_argument=True,
)
RELEASE = Option("release", "A release, made by Dalenius or another tool.", str, metavar="RELEASE", is_argument=True)
RELEASES = Option("releases", "Releases, made by Dalenius or another tool.", str, is_repeatable=True, is_argument=True)
SCHEMA = Option("schema", "The schema file: roles, types and hierarchies.", Path)
ENGINE = Option(
    "engine",
    "Where the data is: duckdb://[FILE.db], postgres://…, spark://…, sc://… or local-cluster[…].",
    str,
    metavar="URL",
    envvar="DALENIUS_ENGINE",
)
SEED = Option("seed", "Seed for all random numbers.", int, minimum=0)
KIND = Option("kind", "Kind of release, if its files do not say it: {kinds}.", str)
SENSITIVE = Option("sensitive", "The sensitive column to use, if there are several.", str)
TRUTH = Option("truth", "The table that the release was made from.", Path)
HOLDOUT = Option("holdout", "People like those in the table who are not in it (the control group).", Path)
TARGETS = Option("targets", "A file with the quasi-identifiers of the people to attack, one row per person.", Path)
OUTPUT = Option("output", "The file to write.", Path, short="o")
MCSE = Option("mcse", "Stop sampling when no standard error is larger than this.", float)
SHARE = Option(
    "share",
    "The share of the rows to hold out.",
    float,
    allowed="a number above 0 and below 1",
    is_allowed=_is_share,
)
EPSILON = Option(
    "epsilon",
    "The ε to test.",
    float,
    allowed="a finite number ≥ 1 (1 is perfect privacy)",
    is_allowed=_is_finite_from_1,
)
METHOD = Option("method", "How to publish: {methods}.", str)
MAX_CELLS = Option(
    "most-cells",
    "Keep at most this many distinct rows in memory (20000000). Beyond that the engine rolls up the lattice.",
    int,
    minimum=1,
)
SUPPRESSION = Option("suppression", "Largest share of rows to suppress.", float)
OTHERS_AS_QUASI = Option(
    "others-as-quasi", "With several sensitive columns, assume that the attacker knows all the others.", bool
)
QUICK = Option("quick", "Leave out what takes long.", bool)
ADVERSARY = Option(
    "adversary",
    "I:SHAPE:σ, II:σ, III:SHAPE or IV. SHAPE is uniform, table, or a file of value,probability. Repeatable.",
    str,
    metavar="ADVERSARY",
    is_repeatable=True,
    panel=REALISTIC_PANEL,
)
PRIOR_DATA = Option(
    "prior-data",
    "An adversary who has seen this data set. Short for --adversary I:data:FILE. Repeatable.",
    str,
    metavar="FILE",
    is_repeatable=True,
    panel=REALISTIC_PANEL,
)
KNOWN = Option("known", "Number of records that they know exactly.", int, metavar="B", minimum=0, panel=REALISTIC_PANEL)
AT_MOST = Option("at-most", "Any stubbornness up to σ, not exactly σ (class I).", bool, panel=REALISTIC_PANEL)
PREDICATE = Option(
    "predicate",
    "What must not be learned: VALUE, '{A, B}' or 'not {A, B}'. Default: every single value. Repeatable.",
    str,
    metavar="SET",
    is_repeatable=True,
    panel=REALISTIC_PANEL,
)
# Only commands have these. A function returns its result instead.
JSON = Option("json", "Write the result as JSON. - is standard output.", str, metavar="FILE|-")
QUIET = Option("quiet", "Print nothing but warnings and errors.", bool, short="q")
REVEAL = Option("reveal", "Show the labels and values of the classes that the report names.", bool)

Table = Annotated[AnySource, TABLE]
Release = Annotated[AnySource | AnyRelease, RELEASE]
Schema = Annotated[AnySchema | str | Path, SCHEMA]
Engine = Annotated[AnyEngine | str | None, ENGINE]
Seed = Annotated[int, SEED]
Kind = Annotated[str | None, KIND]
Sensitive = Annotated[str | None, SENSITIVE]
Truth = Annotated[AnySource | None, TRUTH]
Holdout = Annotated[AnySource | None, HOLDOUT]
Mcse = Annotated[float | None, MCSE]
MaxCells = Annotated[int | None, MAX_CELLS]
OthersAsQuasi = Annotated[bool, OTHERS_AS_QUASI]
Adversaries = Annotated[str | Realistic | Sequence[str | Realistic] | None, ADVERSARY]
PriorData = Annotated[str | Path | Sequence[str | Path] | None, PRIOR_DATA]
Known = Annotated[int, KNOWN]
AtMost = Annotated[bool, AT_MOST]
Predicates = Annotated[str | Predicate | Sequence[str | Predicate] | None, PREDICATE]


def several(value: Any) -> list[Any]:
    """Return an option that may be given once or several times as a list: None is none, a single value is one."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def names(value: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names that were given as `A,B` or as a sequence; None if none were given."""
    if value is None:
        return None
    return tuple(name.strip() for name in value.split(",")) if isinstance(value, str) else tuple(value)


__all__ = [
    "ADVERSARY",
    "AT_MOST",
    "ENGINE",
    "EPSILON",
    "HOLDOUT",
    "JSON",
    "KIND",
    "KNOWN",
    "MAX_CELLS",
    "MCSE",
    "METHOD",
    "OTHERS_AS_QUASI",
    "OUTPUT",
    "PREDICATE",
    "PRIOR_DATA",
    "QUICK",
    "QUIET",
    "REALISTIC_PANEL",
    "RELEASE",
    "RELEASES",
    "REVEAL",
    "SCHEMA",
    "SCHEMA_FILE",
    "SEED",
    "SENSITIVE",
    "SHARE",
    "SUPPRESSION",
    "TABLE",
    "TARGETS",
    "TRUTH",
    "Adversaries",
    "AnyEngine",
    "AnyRelease",
    "AnySchema",
    "AnySource",
    "AtMost",
    "Engine",
    "Holdout",
    "Kind",
    "Known",
    "MaxCells",
    "Mcse",
    "OthersAsQuasi",
    "Predicates",
    "PriorData",
    "Release",
    "Schema",
    "Seed",
    "Sensitive",
    "Table",
    "Truth",
    "names",
    "several",
]
