"""Engines: the only code that touches rows. Each is one file behind the protocol in `base`."""

from __future__ import annotations

import importlib
from functools import cache

from dalenius.engine.base import Assignment, Counted, Engine, Recoding, Rows, Source, Summary
from dalenius.errors import InputError, listing

# scheme of the URL → module of this package with a `connect(url)` function
REGISTRY: dict[str, str] = {"duckdb": "duckdb"}
DEFAULT = "duckdb://"


def connect(url: str = DEFAULT) -> Engine:
    """The engine that a URL such as `duckdb://` names; its libraries are imported here and not before."""
    scheme = url.partition("://")[0]
    if scheme not in REGISTRY:
        raise InputError(f"There is no engine {scheme!r}. Known: {listing(f'{known}://' for known in REGISTRY)}.")
    module = importlib.import_module(f"dalenius.engine.{REGISTRY[scheme]}")
    engine: Engine = module.connect(url)
    return engine


@cache
def default() -> Engine:
    """One embedded DuckDB for everything that names no engine."""
    return connect(DEFAULT)


__all__ = [
    "DEFAULT",
    "REGISTRY",
    "Assignment",
    "Counted",
    "Engine",
    "Recoding",
    "Rows",
    "Source",
    "Summary",
    "connect",
    "default",
]
