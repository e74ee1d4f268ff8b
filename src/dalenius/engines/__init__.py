"""Engines: the only code that touches rows. Each is one file behind the protocol in `base`."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache

from dalenius.engines.base import (
    PREFIX,
    Assignment,
    Counted,
    Engine,
    Recoding,
    Rows,
    Source,
    Summary,
    TableName,
    Tally,
    TooMany,
    place_of,
)
from dalenius.engines.textfile import parts_of
from dalenius.errors import InputError, listing

# How an engine's URL begins → module of this package with a `connect(url, files)` function, and the extra it needs
REGISTRY: dict[str, tuple[str, str | None]] = {
    "duckdb://": ("duckdb", None),
    "postgres://": ("postgres", "postgres"),
    "postgresql://": ("postgres", "postgres"),
    "spark://": ("spark", "spark"),
    "sc://": ("spark", "spark"),
    "local-cluster[": ("spark", "spark"),
    "local[": ("spark", "spark"),
    "yarn": ("spark", "spark"),
    "k8s://": ("spark", "spark"),
}
DEFAULT = "duckdb://"


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows can be: in a file that an engine reads, or in a table of it."""

    engine: str  # the engine's module
    title: str
    is_table: bool
    has_order: bool  # whether rows have an order, so that two equal ones can be told apart by their place


# docs/engines.md says for each of these what runs there, and tests/engines/test_matrix.py tries it. PostgreSQL has no files of
# its own: DuckDB reads them for it.
PLACES = (
    Place("duckdb", "DuckDB: file", is_table=False, has_order=True),
    Place("duckdb", "DuckDB: table", is_table=True, has_order=False),
    Place("postgres", "PostgreSQL: table", is_table=True, has_order=False),
    Place("spark", "Spark: file", is_table=False, has_order=False),
    Place("spark", "Spark: table", is_table=True, has_order=False),
)


def connect(url: str = DEFAULT) -> Engine:
    """The engine that a URL such as `duckdb://` names; its libraries are imported here and not before."""
    known = next((one for one in REGISTRY if url == one or (url.startswith(one) and not one.isalpha())), None)
    if known is None:  # what was written may hold a password, and is not repeated
        scheme = re.match(r"([A-Za-z0-9+.-]+)://", url)
        written = f" {scheme[1]!r}" if scheme else ""
        raise InputError(f"There is no engine{written}. Engines are named by URLs: {listing(REGISTRY)} …")
    name, extra = REGISTRY[known]
    try:
        module = importlib.import_module(f"dalenius.engines.{name}")
    except ImportError as error:
        absent = error.name or "a library"
        raise InputError(
            f"The engine {known} needs {absent!r}, which is not installed. Install it: pip install 'dalenius[{extra}]'."
        ) from None
    engine: Engine = module.connect(url, default)
    return engine


@cache
def default() -> Engine:
    """One embedded DuckDB for everything that names no engine."""
    return connect(DEFAULT)


__all__ = [
    "DEFAULT",
    "PREFIX",
    "REGISTRY",
    "Assignment",
    "Counted",
    "Engine",
    "Recoding",
    "Rows",
    "Source",
    "Summary",
    "TableName",
    "Tally",
    "TooMany",
    "connect",
    "default",
    "parts_of",
    "place_of",
]
