"""Attack your anonymized data before someone else does.

    import dalenius as dl
    table = dl.Table("patients.csv", "privacy.toml")
    release = dl.read_release("release.csv", "privacy.toml")
    dl.check("release.csv", "privacy.toml", k=5).to_document()

Everything is imported when first used, so that `import dalenius` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for True; importing typing would double the time this module takes

__version__ = "0.1.0"

if TYPE_CHECKING:
    from typing import Any

    from dalenius import datasets as datasets
    from dalenius.api import (
        attack,
        audit,
        channel,
        check,
        compare,
        compose,
        frontier,
        guide,
        init,
        lattice,
        publish,
        split,
    )
    from dalenius.errors import DaleniusError, InputError, ParameterError
    from dalenius.hierarchy import Hierarchy
    from dalenius.releases import Anatomized, Centroids, Channel, Generalized, NoisyCounts, Release
    from dalenius.releases import read as read_release
    from dalenius.schema import Column, Domain, Prior, Schema
    from dalenius.table import Cells, Table

_PLACES = {
    "attack": "api",
    "audit": "api",
    "channel": "api",
    "check": "api",
    "compare": "api",
    "compose": "api",
    "frontier": "api",
    "guide": "api",
    "init": "api",
    "lattice": "api",
    "publish": "api",
    "split": "api",
    "DaleniusError": "errors",
    "InputError": "errors",
    "ParameterError": "errors",
    "Hierarchy": "hierarchy",
    "Column": "schema",
    "Domain": "schema",
    "Prior": "schema",
    "Schema": "schema",
    "Cells": "table",
    "Table": "table",
    "Anatomized": "releases",
    "Centroids": "releases",
    "Channel": "releases",
    "Generalized": "releases",
    "NoisyCounts": "releases",
    "Release": "releases",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name == "datasets":
        return importlib.import_module("dalenius.datasets")
    if name == "read_release":
        return importlib.import_module("dalenius.releases").read
    if name in _PLACES:
        return getattr(importlib.import_module(f"dalenius.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'dalenius' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES, "datasets", "read_release"])


__all__ = [
    "Anatomized",
    "Cells",
    "Centroids",
    "Channel",
    "Column",
    "DaleniusError",
    "Domain",
    "Generalized",
    "Hierarchy",
    "InputError",
    "NoisyCounts",
    "ParameterError",
    "Prior",
    "Release",
    "Schema",
    "Table",
    "__version__",
    "attack",
    "audit",
    "channel",
    "check",
    "compare",
    "compose",
    "datasets",
    "frontier",
    "guide",
    "init",
    "lattice",
    "publish",
    "read_release",
    "split",
]
