"""Risk against utility of many releases: on the terminal, and as one HTML page."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dalenius.auditing.axes import COMMONEST
from dalenius.auditing.exploring import Frontier
from dalenius.auditing.frontier import Point, TradeOff
from dalenius.auditing.policy import Threshold
from dalenius.errors import listing
from dalenius.measures import remaining
from dalenius.releases import KINDS
from dalenius.reports import numbers, tradeoff_chart
from dalenius.reports.frame import alert, figure, frame, heading, paragraph, repeat, table
from dalenius.reports.layout import grid, labelled, wrapped
from dalenius.reports.words import charts as chart_words
from dalenius.reports.words import common
from dalenius.reports.words import frontier as say

__all__ = [
    "all_lines",
    "chosen",
    "chosen_lines",
    "lines",
    "missed",
    "notes",
    "page",
    "run_of",
    "summary",
    "title",
    "written_lines",
]

MARK = "●"
MAX_TITLE = 31  # characters of a release's name in the terminal's table
LETTERS = ("k", "ℓ", "t")


def lines(name: str, frontier: TradeOff) -> list[str]:
    """Return what the terminal shows: a row for each release, the most useful first."""
    has_policy = any(point.thresholds for point in frontier.points)
    header = ["", say.RELEASE, say.RISK, say.UTILITY, *LETTERS, *([say.POLICY] if has_policy else [])]
    rows = [_terminal_row(frontier, i, has_policy) for i in _shown_once(frontier)]
    risk, utility = frontier.risk, frontier.utility
    return [
        *wrapped(say.titled(name, summary(frontier)), indent=0, hanging=2),
        *labelled(say.RISK, say.risk(risk.name, risk.says), width=9),
        *labelled(say.UTILITY, say.utility(utility.name, utility.says, _better(frontier)), width=9),
        "",
        *grid(header, rows, right=range(2, 7)),
        "",
        *(line for note in notes(frontier) for line in wrapped(note, hanging=4)),
        *(
            line
            for titles, reason in _impossible(frontier)
            for line in wrapped(say.not_published(titles, reason), hanging=4)
        ),
    ]


def _terminal_row(frontier: TradeOff, i: int, has_policy: bool) -> list[str]:
    point = frontier.points[i]
    name = textwrap.shorten(title(point), MAX_TITLE, placeholder=" …")
    mark = MARK if frontier.front[i] else ""
    row = [mark, name, _risk(frontier, point), _useful(frontier, point), *_levels(point)]
    return [*row, say.VERDICTS[point.verdict]] if has_policy else row


def _shown_once(frontier: TradeOff) -> list[int]:
    """Return the releases that were published, in their order; of equal ones only the first."""
    once = frontier.alike
    return [i for i in frontier.order() if i in once and not frontier.points[i].reason]


def summary(frontier: TradeOff) -> str:
    """Return how many releases there are, by how many methods, and who is held out."""
    methods = len({point.candidate.method for point in frontier.points})
    failed = sum(bool(point.reason) for point in frontier.points)
    held_out = frontier.held_out or say.NOBODY_HELD_OUT
    return say.summary(len(frontier.points) - failed, methods, failed, held_out, frontier.seed)


def notes(frontier: TradeOff) -> list[str]:
    """Return what the table cannot say itself."""
    points, alike = frontier.points, frontier.alike
    text = [say.on_front(MARK, sum(frontier.front[i] for i in alike))]
    for group in alike.values():
        if len(group) > 1:
            text.append(say.shown_once(listing([title(points[i]) for i in group], limit=len(group))))
    most_common = _most_common(frontier)
    if most_common:
        text.append(say.most_common(numbers.percent(most_common)))
    if frontier.risk.name == "attacker":
        text += _adversaries(frontier)
    unsettled = sum(any(not attack.get("converged", True) for attack in point.attacks) for point in points)
    text += [say.not_converged(unsettled)] if unsettled else []
    bounds = sum(point.lower_bound for point in points)
    text += [say.lower_bounds(bounds)] if bounds else []
    return [*text, *_gone(frontier), *_lacking(frontier)]


def _adversaries(frontier: TradeOff) -> list[str]:
    """Return which adversary is the strongest on how many releases, and where the attacker was not tried."""
    strongest = Counter(_adversary(frontier.points[i]) for i in _shown_once(frontier) if frontier.points[i].adversary)
    counts = listing([say.adversary_of(name, count) for name, count in strongest.most_common()])
    text = [say.strongest(counts)] if counts else []
    unlike = [point for point in frontier.points if _has_borders(point) and "attacker" not in (point.accuracies or {})]
    return text + ([say.not_played(len(unlike))] if unlike else [])


def _gone(frontier: TradeOff) -> list[str]:
    """Return, for each column, the releases that leave nothing of it."""
    releases: dict[str, list[str]] = {}
    for i in _shown_once(frontier):
        for column in remaining.from_document(frontier.points[i].columns_left or {}):
            if column.state == "gone":
                releases.setdefault(column.column, []).append(title(frontier.points[i]))
    return [say.gone(name, listing(some, limit=4)) for name, some in releases.items()]


def _lacking(frontier: TradeOff) -> list[str]:
    """Return how many releases have no risk, or no utility, and why."""
    published = [point for point in frontier.points if not point.reason]
    text = []
    for axis, values in (
        (frontier.risk, [point.risk(frontier.risk) for point in published]),
        (frontier.utility, [point.useful(frontier.utility) for point in published]),
    ):
        count = sum(map(math.isnan, values))
        if count:
            text.append(say.lacking(count, axis.name, axis.lacks))
    return text


def _most_common(frontier: TradeOff) -> float:
    """Return how many people are guessed right without a release, if the risk is of that kind; else 0."""
    if frontier.risk.name not in ("attacker", "random-worlds"):
        return 0.0
    return max((point.commonest for point in frontier.points if not math.isnan(point.commonest)), default=0.0)


def chosen(frontier: TradeOff, command: str) -> list[str]:
    """Return the most useful release that passes the policy, and how to write it; or which thresholds are missed."""
    best = frontier.best()
    if best is not None:
        value, risk = numbers.number(best.useful(frontier.utility)), numbers.percent(best.risk(frontier.risk))
        uses_control = any(threshold.key == "max_attacker_gain" for threshold in best.thresholds)
        return [
            say.best(title(best), frontier.utility.name, value, risk),
            *_left(best),
            command,
            *([say.CHOSEN] if uses_control else []),
        ]
    passed = [point for point in frontier.points if point.verdict == "passed"]
    if passed:
        return [say.without_utility(listing([title(point) for point in passed], limit=3), frontier.utility.name)]
    nearest = [say.missed(title(point), "; ".join(map(missed, point.missed()))) for point in frontier.nearest()]
    return [say.NONE_PASSES, *nearest]


def _left(point: Point) -> list[str]:
    """Return what the release leaves of each column; a sentence of its own for those that are gone."""
    left = remaining.from_document(point.columns_left or {})
    return [say.leaves(remaining.summary(left)), *remaining.warnings(left)] if left else []


def chosen_lines(frontier: TradeOff, command: str) -> list[str]:
    """Return the same for the terminal: the command on a line of its own, to be copied, the rest wrapped."""
    return [
        line
        for text in chosen(frontier, command)
        for line in ([f"  {text}"] if text == command else wrapped(text, hanging=4))
    ]


def all_lines(frontier: Frontier) -> list[str]:
    """Return what `dalenius frontier` prints: every release, the best of them, and what was written."""
    text = lines(frontier.table, frontier.tradeoff)
    if frontier.has_policy:
        text += ["", *chosen_lines(frontier.tradeoff, frontier.publish_command)]
    return [*text, *(f"\n  {line}" for line in written_lines(frontier))]


def run_of(frontier: Frontier) -> dict[str, Any]:
    """Return what JSON adds to the details of the run: the command that publishes the best release, and each point's time."""
    command = {"command": frontier.publish_command} if frontier.publish_command else {}
    return {**command, "points": [{"seconds": round(point.seconds, 3)} for point in frontier.tradeoff.points]}


def written_lines(explored: Frontier) -> list[str]:
    """Return what became of the release that `--best` asks for."""
    best, point = explored.best, explored.tradeoff.best()
    if best is None or point is None:
        return []
    if best.is_written:
        return [say.written(", ".join(best.files))]
    return [say.not_written(title(point), "; ".join(map(missed, best.missed)))]


def missed(threshold: Threshold) -> str:
    """Return a threshold that is not passed, and why."""
    if threshold.outcome == "not tested":
        return say.not_tested(threshold.key, threshold.asked, threshold.reason)
    return say.not_reached(threshold.key, numbers.number(threshold.measured), threshold.asked)


def title(point: Point) -> str:
    """Return the name of a release: its method and parameters."""
    return f"{point.candidate.method} {point.candidate.label}"


def _adversary(point: Point) -> str:
    """Return the strongest adversary; guessing the most common value is one of them."""
    return chart_words.MOST_COMMON if point.adversary == COMMONEST else point.adversary


def _has_borders(point: Point) -> bool:
    """Return whether the release says where its classes end, so that learner and attacker can be tried."""
    return point.kind in KINDS and bool({"rows", "links"} & set(KINDS[point.kind].offers()))


def _better(frontier: TradeOff) -> str:
    return say.LARGER if frontier.utility.larger_is_better else say.SMALLER


def _risk(frontier: TradeOff, point: Point) -> str:
    value = point.risk(frontier.risk)
    is_signed = frontier.risk.name in ("gain", "relative-threat") and not math.isnan(value)
    text = f"{value:+.1%}" if is_signed else numbers.percent(value)
    is_bound = point.lower_bound and frontier.risk.attacked and not math.isnan(value)
    return f"≥ {text}" if is_bound else text


def _useful(frontier: TradeOff, point: Point) -> str:
    value = point.useful(frontier.utility)
    return say.NO_FIGURE if math.isnan(value) else numbers.number(value)


def _levels(point: Point) -> list[str]:
    levels = point.levels or {}
    counts = [numbers.number(levels[name]) if name in levels else say.NO_FIGURE for name in ("k", "l")]
    return [*counts, f"{levels['t']:.2f}" if "t" in levels else say.NO_FIGURE]


# The page -------------------------------------------------------------------------------------------------------------


def page(name: str, frontier: TradeOff, command: str, run: Mapping[str, Any]) -> str:
    """Return the whole page."""
    has_policy = any(point.thresholds for point in frontier.points)
    order, risk, utility = _shown_once(frontier), frontier.risk, frontier.utility
    better = _better(frontier)
    body = [
        f"<h1>{escape(say.title(name))}</h1>",
        _verdict(frontier, command) if has_policy else "",
        paragraph(say.about(escape(summary(frontier))), soft=True),
        heading(say.ALL),
        _chart(frontier, has_policy),
        heading(say.FRONT_HEADING),
        paragraph(say.front_text(say.POLICY_DECIDES if has_policy else say.SET_POLICY)),
        _table(frontier, [i for i in order if frontier.front[i]], has_policy),
        heading(say.EVERY),
        paragraph(say.order(MARK)),
        _table(frontier, order, has_policy, marked=True),
        _not_published(frontier),
        _missed_table(frontier, order) if has_policy else "",
        heading(say.READING),
        paragraph(say.risk_text(escape(risk.name), escape(risk.says))),
        paragraph(say.utility_text(escape(utility.name), escape(utility.says), better)),
        paragraph(say.LEVELS),
        "".join(paragraph(escape(note)) for note in notes(frontier)),
        paragraph(say.CAUTION),
        repeat({common.SEED: frontier.seed}, run),
    ]
    return frame(say.title(name), "\n".join(part for part in body if part))


def _verdict(frontier: TradeOff, command: str) -> str:
    """Return the release to choose, or what comes nearest."""
    texts = [f"<code>{escape(text)}</code>" if text == command else escape(text) for text in chosen(frontier, command)]
    outcome = "passed" if frontier.best() is not None else "violated"
    return alert("".join(map(paragraph, texts)), outcome)


def _table(frontier: TradeOff, order: Sequence[int], has_policy: bool, *, marked: bool = False) -> str:
    """Return a row for each release. The policy comes early, because a phone shows the first columns."""
    short = say.SHORT.get(frontier.utility.name, frontier.utility.name)
    header = [*say.COLUMNS, escape(short).replace("_", " ").replace(" ", "<br>")]
    header += [say.POLICY_COLUMN] if has_policy else []
    numeric = {1, 2, *range(len(header), len(header) + len(LETTERS))}
    header += [*LETTERS, *([say.BY_COLUMN] if frontier.risk.name == "attacker" else [])]
    rows = [_row(frontier, frontier.points[i], has_policy) for i in order]
    if marked:
        header, numeric = ["", *header], {i + 1 for i in numeric}
        rows = [[MARK if frontier.front[i] else "", *row] for i, row in zip(order, rows, strict=True)]
    return table(header, rows, numeric=numeric)


def _row(frontier: TradeOff, point: Point, has_policy: bool) -> list[str]:
    cells = [escape(title(point)), _risk(frontier, point), _useful(frontier, point)]
    if has_policy:
        colour = {"passed": "passed", "violated": "violated"}.get(point.verdict, "untested")
        cells.append(f'<span class="{colour}">{say.VERDICTS[point.verdict]}</span>')
    cells += _levels(point)
    if frontier.risk.name == "attacker":
        cells.append(f"<small>{escape(_adversary(point))}</small>")
    return cells


def _chart(frontier: TradeOff, has_policy: bool) -> str:
    """Return the chart of risk against cost, or why there is none."""
    dots = [
        tradeoff_chart.Dot(
            point.candidate.method,
            point.candidate.label,
            point.risk(frontier.risk),
            point.cost(frontier.utility),
            front=frontier.front[i],
            passed=not has_policy or point.verdict == "passed",
        )
        for i, point in enumerate(frontier.points)
        if i in frontier.alike
        and math.isfinite(point.risk(frontier.risk))
        and math.isfinite(point.cost(frontier.utility))
    ]
    if not dots:
        return paragraph(say.NOTHING_TO_DRAW)
    most_common = _most_common(frontier)
    levels = {chart_words.MOST_COMMON: most_common} if most_common else {}
    titles = (frontier.utility.title, frontier.risk.title)
    caption = say.CHART_CAPTION + (say.FILLED if has_policy else "")
    return figure(tradeoff_chart.risk_against_cost(dots, titles, levels), caption)


def _impossible(frontier: TradeOff) -> list[tuple[str, str]]:
    """Return the releases that could not be published, those of one method and one reason together, and the reason."""
    labels: dict[tuple[str, str], list[str]] = {}
    for point in frontier.points:
        if point.reason:
            labels.setdefault((point.candidate.method, point.reason), []).append(point.candidate.label)
    return [(f"{method} {'; '.join(some)}", reason) for (method, reason), some in labels.items()]


def _not_published(frontier: TradeOff) -> str:
    rows = [[escape(titles), escape(reason)] for titles, reason in _impossible(frontier)]
    return heading(say.NOT_PUBLISHED) + table(say.NOT_PUBLISHED_COLUMNS, rows) if rows else ""


def _missed_table(frontier: TradeOff, order: Sequence[int]) -> str:
    rows = [
        [escape(title(point)), "<br>".join(escape(missed(threshold)) for threshold in point.missed())]
        for point in (frontier.points[i] for i in order)
        if point.missed()
    ]
    return heading(say.MISSED) + table(say.MISSED_COLUMNS, rows) if rows else ""
