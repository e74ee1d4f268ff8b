"""The engines: URLs, error messages, docs/engines.md and the tests of every place go through this."""

from __future__ import annotations

import re
from functools import cache

from dalenius.engines.base import Connector, Engine, Place
from dalenius.engines.duckdb import DuckDBConnector
from dalenius.engines.postgres import PostgresConnector
from dalenius.engines.spark import SparkConnector
from dalenius.errors import InputError, listing
from dalenius.plugins import Registry

__all__ = ["DEFAULT", "ENGINES", "connect", "default", "places"]

# A new engine is one file and one line here, or a plug-in's entry point in the group `dalenius.engines`.
ENGINES: Registry[type[Connector]] = Registry(
    "dalenius.engines",
    (
        DuckDBConnector,
        PostgresConnector,
        SparkConnector,
    ),
    lambda connector: connector.name,
    base=Connector,
    required=("name", "prefixes", "places"),
)
DEFAULT = "duckdb://"


def connect(url: str = DEFAULT) -> Engine:
    """Return the engine that a URL such as `duckdb://` names. Its libraries are imported here and not before."""
    by_prefix = _connectors()
    prefix = next((prefix for prefix in by_prefix if _matches(url, prefix)), None)
    if prefix is None:  # the URL may hold a password and is not repeated
        scheme = re.match(r"([A-Za-z0-9+.-]+)://", url)
        name = f" {scheme[1]!r}" if scheme else ""
        raise InputError(f"There is no engine{name}. Engines are named by URLs: {listing(by_prefix)} …")
    connector = by_prefix[prefix]
    try:
        return connector.connect(url, default)
    except ImportError as error:
        library = error.name or "a library"
        package = library if connector.extra is None else f"'dalenius[{connector.extra}]'"
        absent = InputError(
            f"The engine {prefix} needs {library!r}, which is not installed. Install it: pip install {package}."
        )
    raise absent


@cache
def default() -> Engine:
    """Return the embedded DuckDB that everything shares that names no engine."""
    return connect(DEFAULT)


def places() -> tuple[Place, ...]:
    """Return where rows can be, for every engine. docs/engines.md says for each place what runs there."""
    return tuple(place for connector in ENGINES.values() for place in connector.places)


def _matches(url: str, prefix: str) -> bool:
    """Return whether a URL begins with a prefix. A bare word such as `yarn` is a whole URL."""
    return url == prefix or (url.startswith(prefix) and not prefix.isalpha())


def _connectors() -> dict[str, type[Connector]]:
    """Return the connector of each prefix. Two engines cannot share one: the later one would never be used."""
    by_prefix: dict[str, type[Connector]] = {}
    for connector in ENGINES.values():
        for prefix in connector.prefixes:
            if prefix in by_prefix:
                raise InputError(
                    f"The engines {by_prefix[prefix].name!r} and {connector.name!r} both have URLs that begin with "
                    f"{prefix!r}. Rename one of them."
                )
            by_prefix[prefix] = connector
    return by_prefix
