"""`dalenius frontier` with noisy counts alone: what ε means for a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalenius.cli.common import connect_engine, run_details, say, stage_line, write_json

if TYPE_CHECKING:
    from dalenius.publishers.base import Publisher


def curved() -> type[Publisher]:
    """The method whose parameter is explained by a curve."""
    from dalenius.publishers.registry import PUBLISHERS

    return next(publisher for publisher in PUBLISHERS.values() if publisher.has_curve)


def is_alone(methods: Sequence[str] | None, typed: Mapping[str, Any], draws: int | None) -> bool:
    """Whether nothing but noisy counts is asked for: by --method, or by their options alone."""
    from dalenius.auditing.candidates import own_options

    method = curved()
    if not typed.keys() <= own_options(method):
        return False
    return set(methods) == {method.name} if methods else bool(typed or draws is not None)


def run(
    table: Path,
    typed: Mapping[str, Any],
    *,
    draws: int | None,
    holdout: Path | None,
    share: float | None,
    output: Path | None,
    schema: Path,
    json: str | None,
    seed: int,
    engine: str,
    quiet: bool,
) -> None:
    """Try budgets on a table: how often an attack on the counts would be right, of whom, and how far off they are."""
    from dalenius.auditing.epsilon_curve import epsilon_curve_of
    from dalenius.output import write_texts
    from dalenius.reports import frontier as report

    axis = curved().grid.axes[0]
    options = dict(typed)
    text = options.pop(axis.option.parameter, None)
    tried = None if text is None else axis.parse(text)
    connected = connect_engine(engine, quiet=quiet)
    with stage_line(quiet) as stage:
        found = epsilon_curve_of(
            table, schema, tried, draws=draws, holdout=holdout, share=share, options=options, page=output,
            json=None if json in (None, "-") else Path(json), seed=seed, engine=connected, progress=stage,
        )  # fmt: skip
    if output is not None:
        write_texts({output: report.page(table.name, found, run_details())})
    if json is not None:
        write_json(json, found.to_document())
    if json == "-":
        return
    for line in report.lines(str(table), found):
        say(quiet, line)
    if output is not None:
        say(quiet, f"\n  Page: {output}")
