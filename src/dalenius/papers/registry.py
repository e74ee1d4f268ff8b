"""The five papers: what they are called, whether what they need is there, and how they are built."""

from __future__ import annotations

import importlib
from pathlib import Path

from dalenius import datasets
from dalenius.errors import InputError, listing, nearest
from dalenius.papers.base import Paper
from dalenius.papers.errata import ERRATA as ERRATA  # what is wrong in print, by paper

__all__ = ["TITLES", "build", "build_without_data", "check", "missing", "not_made"]

TITLES = {
    "relative": "Relative privacy threats and learning from anonymized data",
    "realistic": "Data publishing against realistic adversaries",
    "composition": "Composition attacks and auxiliary information",
    "error": "Privacy as an attacker's estimation error",
    "population": "Personal privacy against population privacy",
}


def check(names: list[str]) -> list[str]:
    """The papers that are named, in the order of `TITLES`; all of them if none is."""
    for name in names:
        if name not in TITLES:
            raise InputError(f"There is no paper {name!r}.{nearest(name, TITLES)} Known: {listing(TITLES)}.")
    return [key for key in TITLES if key in names or not names]


def missing(key: str, path: str | Path | None = None) -> str:
    """Why a paper cannot be built: which data are not there. Nothing if it can."""
    try:
        if key == "population":
            from dalenius.papers.population import folder_of

            folder_of(path)
        elif key != "error":
            datasets.adult(path)
    except InputError as error:
        return str(error)
    return ""


def not_made(key: str) -> tuple[str, ...]:
    """The exhibits of a paper that need its data."""
    names: tuple[str, ...] = importlib.import_module(f"dalenius.papers.{key}").NEEDING_DATA
    return names


def build_without_data(key: str) -> Paper:
    """The exhibits that need none of a paper's data: there may be none."""
    made: Paper = importlib.import_module(f"dalenius.papers.{key}").build_without_data()
    return made.drawn()


def build(key: str, path: str | Path | None = None, *, quick: bool = False) -> Paper:
    """A paper with its charts drawn. What it needs must be there: `relative` would go on with made-up patients."""
    reason = missing(key, path)
    if reason:
        raise InputError(reason)
    made: Paper = importlib.import_module(f"dalenius.papers.{key}").build(path, quick=quick)
    return made.drawn()
