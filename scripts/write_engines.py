"""Write what runs where into docs/engines.md, between its marks. A test fails when they differ; others try every cell."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer
from marked_pages import rewrite

from dalenius.cli.app import app
from dalenius.engines import Place, places
from dalenius.publishers.base import Publisher
from dalenius.publishers.registry import PUBLISHERS
from dalenius.releases import Release
from dalenius.releases.registry import KINDS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "engines.md"


def commands() -> dict[str, str]:
    """By command, why it takes no engine; nothing if it takes one."""
    group: Any = typer.main.get_command(app)
    found = {}
    for name, command in group.commands.items():
        takes = any("--engine" in one.opts for one in command.params)
        found[name] = "" if takes else importlib.import_module(f"dalenius.cli.{name}").NO_ENGINE
    return found


def refused_command(name: str, place: Place) -> str:
    """Why a command does not read rows there; nothing if it does. Files of DuckDB need no --engine."""
    reads_rows = name == "split"
    return "" if reads_rows and place.title == places()[0].title else commands()[name]


def refused_kind(kind: type[Release], place: Place) -> str:
    """Why a release of this kind cannot be read there; nothing if it can."""
    return "is read from files" if place.is_table and not kind.reads_tables else ""


def refused_publisher(publisher: type[Publisher], place: Place) -> str:
    """Why a method cannot publish rows that are there; nothing if it can."""
    return "needs an order of rows" if publisher.follows_row_order and not place.has_order else ""


def refused_table(publisher: type[Publisher]) -> str:
    """Why a release cannot be written as a table of an engine; nothing if it can."""
    return "has several files" if publisher.has_several_files() else ""


def table(head: str, parts: Iterable[str], refused: Callable[[str, Place], str], last: dict[str, str]) -> list[str]:
    """A row for each part, a column for each place; `last` has a column more."""
    heads = [head, *(place.title for place in places()), *([next(iter(last))] if last else [])]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for part in parts:
        cells = [refused(part, place) for place in places()] + ([last[part]] if last else [])
        lines.append("| " + " | ".join([f"`{part}`", *(f"no: {why}" if why else "yes" for why in cells)]) + " |")
    return lines


def markdown() -> str:
    written = {"`-o table:NAME`": "", **{name: refused_table(one) for name, one in PUBLISHERS.items()}}
    return "\n".join(
        [
            "Commands, with a table (or a release) that is there:",
            "",
            *table("command", commands(), refused_command, {}),
            "",
            "Kinds of releases, read from there:",
            "",
            *table("kind", KINDS, lambda name, place: refused_kind(KINDS[name], place), {}),
            "",
            "Methods of `publish`, with rows that are there:",
            "",
            *table("method", PUBLISHERS, lambda name, place: refused_publisher(PUBLISHERS[name], place), written),
            "",
        ]
    )


if __name__ == "__main__":
    rewrite(PAGE, "write_engines.py", markdown())
