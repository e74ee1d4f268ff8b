"""Engines: the only code that touches rows. Each describes itself to the registry and works behind the protocol in `base`."""

from __future__ import annotations

from dalenius.engines.base import (
    FRAME,
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
    source_name,
)
from dalenius.engines.registry import DEFAULT, ENGINES, connect, default, places
from dalenius.engines.sources import as_file
from dalenius.engines.textfile import parts_of

__all__ = [
    "DEFAULT",
    "ENGINES",
    "FRAME",
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
    "as_file",
    "connect",
    "default",
    "parts_of",
    "place_of",
    "places",
    "source_name",
]
