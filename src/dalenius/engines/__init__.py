"""Engines: the only code that touches rows. Each describes itself to the registry and works behind the protocol in `base`."""

from __future__ import annotations

from dalenius.engines.base import (
    PREFIX,
    Assignment,
    Connector,
    Counted,
    Engine,
    Place,
    Recoding,
    Rows,
    Source,
    Summary,
    TableName,
    Tally,
    TooMany,
    place_of,
)
from dalenius.engines.registry import DEFAULT, ENGINES, connect, default, places
from dalenius.engines.textfile import parts_of

__all__ = [
    "DEFAULT",
    "ENGINES",
    "PREFIX",
    "Assignment",
    "Connector",
    "Counted",
    "Engine",
    "Place",
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
    "places",
]
