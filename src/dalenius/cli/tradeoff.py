"""`dalenius frontier` over several methods: the run, and what is written of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalenius.cli import common

if TYPE_CHECKING:
    from dalenius.auditing.exploring import Frontier


def run(
    table: Path,
    methods: Sequence[str] | None,
    chosen: Mapping[str, Any],
    *,
    output: Path | None,
    schema: Path,
    json: str | None,
    best: Path | None,
    engine: str,
    quiet: bool,
    **how: Any,
) -> int:
    """Measure every release that is asked for, common.say what was found, and write what is to be written; the exit code."""
    from dalenius.auditing.exploring import frontier
    from dalenius.measures.remaining import from_document, warnings

    values, shared = _split(chosen)
    with common.stage_line(quiet) as stage:
        found = frontier(
            table, schema, methods=methods, values=values, options=shared, best=best, page=output,
            json=None if json in (None, "-") else Path(json), url=engine, stage=stage,
            connect=lambda url: common.connect_engine(url, quiet=quiet), **how,
        )  # fmt: skip
    chosen_point = found.tradeoff.best()
    if chosen_point is not None and found.best is not None and found.best.is_written:
        common.warn(*warnings(from_document(chosen_point.columns_left or {})))
    _report(found, output=output, json=json, quiet=quiet)
    return 0 if found.best is None or found.best.is_written else 1


def _split(chosen: Mapping[str, Any]) -> tuple[dict[str, tuple[Any, ...]], dict[str, Any]]:
    """The values of each axis, each once and in their order; and the options that candidates share."""
    from dalenius.publishers.registry import axes

    by_option = {axis.option.parameter: axis for axis in axes()}
    values = {
        by_option[name].name: tuple(dict.fromkeys(by_option[name].parse(text)))
        for name, text in chosen.items()
        if name in by_option
    }
    return values, {name: value for name, value in chosen.items() if name not in by_option}


def _report(found: Frontier, *, output: Path | None, json: str | None, quiet: bool) -> None:
    """Write the page and the JSON, and common.say what was found."""
    from dalenius.output import write_texts
    from dalenius.reports import tradeoff as report

    if output is not None:
        page = report.page(found.table.name, found.tradeoff, found.publish_command, common.run_details())
        write_texts({output: page})
    if json is not None:
        common.write_json(json, found.to_document(), run=report.run_of(found))
    if json == "-":
        return
    for line in [*report.all_lines(found), *([f"\n  Page: {output}"] if output else [])]:
        common.say(quiet, line)
