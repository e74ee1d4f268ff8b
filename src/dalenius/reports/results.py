"""How each result is shown: a short text, a terminal text, a table, and a page if it has one. One entry for each class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from dalenius.auditing import Audit
from dalenius.auditing.attacking import ReleaseAttack
from dalenius.auditing.channel import MeasuredChannel
from dalenius.auditing.checking import ReleaseCheck
from dalenius.auditing.compare import Comparison
from dalenius.auditing.compose import JointAttack
from dalenius.auditing.epsilon_curve import EpsilonCurve
from dalenius.auditing.exploring import Frontier
from dalenius.auditing.publishing import Publication
from dalenius.auditing.splitting import Split
from dalenius.auditing.surveying import LatticeSurvey
from dalenius.errors import InputError
from dalenius.measures.guide import Guidance
from dalenius.output import write_texts
from dalenius.reports import (
    attack,
    channel,
    check,
    compare,
    compose,
    frame,
    frontier,
    guide,
    html,
    lattice,
    notebook,
    numbers,
    publish,
    short,
    split,
    tables,
    terminal,
    tradeoff,
)
from dalenius.reports.document import envelope, json_text, run_details
from dalenius.result import Result

__all__ = ["REPORTS", "Report", "document", "fragment", "save", "short_text", "table"]

Run = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """How one class of results is shown."""

    short: Callable[[Any], list[str]]  # the lines of its repr
    table: Callable[[Any], tables.Table]
    text: Callable[[Any, bool], list[str]]  # the terminal's lines; the flag says whether to reveal
    page: Callable[[Any, Run, bool], str] | None = None
    no_page: Callable[[Any], str] = lambda _: ""  # why this result has none although its class has one
    in_notebook: str = "text"  # what a notebook shows of a result without a page: its text or its table
    run: Callable[[Any], Run] = lambda _: {}  # what this class adds to the details of a run


def _no_sweep(survey: LatticeSurvey) -> str:
    return "" if survey.sweep is not None else "it was made without epsilon. Pass epsilon=2.5 to lattice()"


def _no_curve(measured: MeasuredChannel) -> str:
    return "" if measured.curve else "it has no curve. Pass design and curve=True to channel()"


def _frontier_page(found: Frontier, run: Run) -> str:
    return tradeoff.page(Path(found.table).name, found.tradeoff, found.publish_command, run)


REPORTS: dict[type[Result], Report] = {
    Audit: Report(
        short.of_audit, tables.of_audit, lambda found, _: terminal.lines(found),
        lambda found, run, reveal: html.page(found, run, reveal=reveal),
    ),
    ReleaseCheck: Report(
        short.of_check, tables.of_check, lambda found, reveal: check.lines(found, reveal=reveal), in_notebook="table"
    ),
    Publication: Report(short.of_publication, tables.of_publication, lambda found, _: publish.lines(found)),
    LatticeSurvey: Report(
        short.of_survey, tables.of_survey, lambda found, _: lattice.lines(found),
        lambda found, run, _: lattice.page(found, run), _no_sweep,
    ),
    ReleaseAttack: Report(short.of_attack, tables.of_attack, lambda found, _: attack.lines(found)),
    JointAttack: Report(short.of_composition, compose.target_rows, lambda found, _: compose.lines(found)),
    Comparison: Report(
        short.of_comparison, tables.of_comparison, lambda found, _: compare.lines(found), in_notebook="table"
    ),
    Frontier: Report(
        short.of_frontier, tables.of_frontier, lambda found, _: tradeoff.all_lines(found),
        lambda found, run, _: _frontier_page(found, run), run=tradeoff.run_of,
    ),
    EpsilonCurve: Report(
        short.of_epsilon_curve, tables.of_epsilon_curve, lambda found, _: frontier.lines(found.name, found),
        lambda found, run, _: frontier.page(Path(found.name).name, found, run),
    ),
    Split: Report(short.of_split, tables.of_split, lambda found, _: split.lines(found)),
    MeasuredChannel: Report(
        short.of_channel, tables.of_channel, lambda found, _: channel.lines(found),
        lambda found, run, _: channel.page(found.curve, run), _no_curve,
    ),
    Guidance: Report(short.of_guidance, tables.of_guidance, lambda found, _: guide.lines(found)),
}  # fmt: skip


def short_text(result: Result) -> str:
    """Return the text of `repr`."""
    return short.fitted(REPORTS[type(result)].short(result))


def table(result: Result) -> tables.Table:
    """Return the header and the rows of the result's table."""
    return REPORTS[type(result)].table(result)


def document(result: Result, *, reveal: bool = False) -> dict[str, Any]:
    """Return what `--json` writes, without the details of the run."""
    return envelope(_document(result, reveal=reveal))


def _document(result: Result, *, reveal: bool) -> dict[str, Any]:
    return result.to_document(reveal=reveal) if isinstance(result, Audit) else result.to_document()


def fragment(result: Result) -> str:
    """Return HTML for a notebook: the body of the page, or the table or text of a result without one."""
    report = REPORTS[type(result)]
    if report.page is not None and not report.no_page(result):
        return notebook.of_page(report.page(result, {}, False))
    title = report.short(result)[0]
    if report.in_notebook == "table":
        header, rows = report.table(result)
        numeric = [i for i in range(len(header)) if any(isinstance(row[i], int | float) for row in rows)]
        cells = [[escape(_shown(value)) for value in row] for row in rows]
        return notebook.of_table(title, frame.table(map(escape, header), cells, numeric=numeric))
    return notebook.of_text(title, report.text(result, False))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return numbers.number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def save(result: Result, path: Path, *, reveal: bool = False) -> None:
    """Write a result to a file, whole or not at all. The ending of the file's name says what is written."""
    report, ending = REPORTS[type(result)], path.suffix.lower()
    run = run_details()
    if ending == ".html":
        text = _page(result, {key: value for key, value in run.items() if key != "command"}, reveal=reveal)
    elif ending == ".json":
        text = json_text(_document(result, reveal=reveal), {**run, **report.run(result)})
    elif ending == ".csv":
        text = tables.to_csv(report.table(result))
    elif ending == ".txt":
        text = "\n".join(report.text(result, reveal)) + "\n"
    else:
        raise InputError(f"Cannot save to {str(path)!r}: the name must end in .html, .json, .csv or .txt.")
    write_texts({path: text})


def _page(result: Result, run: Run, *, reveal: bool) -> str:
    report, name = REPORTS[type(result)], type(result).__name__
    if report.page is None:
        raise InputError(f"A {name} has no HTML page. Save it as .json, .csv or .txt.")
    if reason := report.no_page(result):
        raise InputError(f"This {name} has no HTML page: {reason}, or save it as .json, .csv or .txt.")
    return report.page(result, run, reveal)
