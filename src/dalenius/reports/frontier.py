"""What ε means for a table: in sentences, and as one HTML page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from dalenius.auditing.epsilon_curve import EpsilonCurve, Point
from dalenius.reports import charts, numbers
from dalenius.reports.frame import alert, figure, frame, heading, paragraph, repeat, table
from dalenius.reports.layout import grid, wrapped
from dalenius.reports.words import common
from dalenius.reports.words import epsilons as say

__all__ = ["lines", "page", "sentence", "summary"]

MAX_ACCURACY_LOST = 0.01  # by noise that no longer hinders an attacker
MAX_RELATIVE_ERROR = 0.1  # of the average count: counts are still good
MAX_OVERCONFIDENCE = 0.05  # beyond it, confidence does not measure the risk


def lines(name: str, frontier: EpsilonCurve) -> list[str]:
    """Return what `dalenius frontier` prints about noisy counts: the answer first, then a row for each ε."""
    options = frontier.options
    joint = "".join(say.joint(" × ".join(names)) for names in options["joint"])
    noise, neighbours = options["noise"], options["neighbours"]
    setting = say.setting(frontier.adversary, frontier.sensitive, noise, neighbours, joint, frontier.draws)
    points = [*((_epsilon(point), point) for point in frontier.points), (say.NO_NOISE, frontier.reference)]
    return [
        *wrapped(say.titled(name, _who(frontier)), indent=0, hanging=2),
        *wrapped(setting),
        "",
        *(line for text in summary(frontier) for line in wrapped(text, hanging=4)),
        "",
        *grid(say.RATE_COLUMNS, [_rate_row(label, point) for label, point in points], right={0, 2}),
        "",
        *grid(say.ERROR_COLUMNS, [_error_row(label, point) for label, point in points], right=range(6)),
        "",
        *wrapped(say.reading(numbers.rate(frontier.reference.naive.rate))),
    ]


def _rate_row(label: str, point: Point) -> list[str]:
    """Return how often the attack is right at one ε."""
    success = point.success
    right = f"{numbers.percent(success.rate.value)} ({100 * success.least:.1f}–{100 * success.most:.1f})"
    held_out = numbers.percent(point.holdout_success.rate.value)
    return [label, right, held_out, " ".join(numbers.points(point.gain.rate)), say.CONCLUSIONS[point.verdict]]


def _error_row(label: str, point: Point) -> list[str]:
    """Return how confident the attack is, and how far counts are off, at one ε."""
    error, confident = point.count_error, point.high_confidence.rate
    return [
        label,
        numbers.percent(point.high_confidence_share),
        numbers.percent(confident.value) if confident.n else say.NO_FIGURE,
        f"{100 * point.calibration_gap:+.1f}",
        numbers.number(error.mean_absolute),
        _relative(error.relative),
    ]


def _epsilon(point: Point) -> str:
    return f"{point.parameters['epsilon']:g}"


def _who(frontier: EpsilonCurve) -> str:
    """Return who was counted and who was held out, and how they were divided."""
    split = frontier.split
    if split.kind == "file":
        return say.who_file(split.people, split.held_out)
    return say.who_drawn(split.people, split.held_out, f"{split.share:g}", frontier.seed)


def sentence(frontier: EpsilonCurve, point: Point) -> str:
    """Return what this ε means for this table."""
    error = point.count_error
    return say.meaning(
        _epsilon(point),
        frontier.sensitive,
        numbers.percent(point.success.rate.value),
        numbers.percent(point.holdout_success.rate.value),
        _judged(point),
        numbers.signed(point.gain.rate),
        numbers.percent(frontier.reference.naive.rate.value),
        numbers.number(error.mean_absolute),
        _against(error.relative),
    )


def _relative(relative: float) -> str:
    """Return a size relative to another: a share of it, or how many times as much."""
    return numbers.percent(relative) if relative < 10 else say.times(f"{relative:,.0f}")


def _against(relative: float) -> str:
    """Return the same before the noun to which it relates."""
    return say.share_of(_relative(relative)) if relative < 10 else _relative(relative)


def _judged(point: Point) -> str:
    return say.JUDGED[point.verdict] if point.comparable else say.NOT_COMPARABLE


def summary(frontier: EpsilonCurve) -> list[str]:
    """Return what the points say together; for one point, what it says."""
    points = frontier.points
    if len(points) == 1:
        return [sentence(frontier, points[0])]
    text = []
    for judged, group in groupby(points, key=_judged):
        some = list(group)
        most = max(some, key=lambda point: point.gain.rate.value)
        text.append(say.judged(_span(some), judged, numbers.signed(most.gain.rate), several=len(some) > 1))
    text.append(_population(frontier))
    good = _from(points, lambda point: point.count_error.relative <= MAX_RELATIVE_ERROR)
    last = points[-1]
    text.append(
        say.good_counts(_epsilon(good[0]))
        if good
        else say.bad_counts(_epsilon(last), _against(last.count_error.relative))
    )
    unsure = [point for point in points if point.calibration_gap > MAX_OVERCONFIDENCE]
    if unsure:
        worst = max(unsure, key=lambda point: point.calibration_gap)
        text.append(say.overconfident(_epsilon(worst), f"{100 * worst.calibration_gap:.0f}"))
    return text


def _span(points: Sequence[Point]) -> str:
    """Return the range of ε that some points cover."""
    first, last = _epsilon(points[0]), _epsilon(points[-1])
    return say.at(first) if first == last else say.between(first, last)


def _from(points: Sequence[Point], holds: Callable[[Point], bool]) -> list[Point]:
    """Return the points from which something holds at every larger ε that was tried."""
    last = [i for i, point in enumerate(points) if not holds(point)]
    return list(points[last[-1] + 1 if last else 0 :])


def _population(frontier: EpsilonCurve) -> str:
    """Return what the counts reveal about the population, which no ε is meant to prevent."""
    free, mode = frontier.reference.success.rate.value, frontier.reference.naive.rate.value
    text = say.population(frontier.sensitive, numbers.percent(free), numbers.percent(mode))
    near = _from(frontier.points, lambda point: point.success.rate.value >= free - MAX_ACCURACY_LOST)
    better = _from(frontier.points, lambda point: point.success.rate.low > mode)
    if not better:
        return say.never_better(text)
    return say.better(text, _epsilon(better[0]), _epsilon(near[0]) if near else "")


def page(name: str, frontier: EpsilonCurve, run: Mapping[str, Any]) -> str:
    """Return the whole page."""
    levels = {
        say.COUNTED_WITHOUT_NOISE: frontier.reference.success.rate.value,
        say.MOST_COMMON: frontier.reference.naive.rate.value,
    }
    average = numbers.number(frontier.reference.count_error.average_count)
    rates = charts.risk_against_epsilon([_rates(point) for point in frontier.points], levels)
    errors = charts.error_against_epsilon([_sizes(point) for point in frontier.points])
    body = [
        f"<h1>{escape(say.title(name))}</h1>",
        alert("".join(paragraph(escape(text)) for text in summary(frontier)), ""),
        paragraph(escape(_about(frontier)), soft=True),
        heading(say.ATTACK),
        figure(rates, say.ATTACK_CAPTION),
        heading(say.ERRORS),
        figure(errors, say.error_caption(average)),
        heading(say.FIGURES),
        table(say.COLUMNS, [_row(point) for point in frontier.points], numeric=range(len(say.COLUMNS))),
        heading(say.IN_WORDS),
        "".join(paragraph(escape(sentence(frontier, point))) for point in frontier.points),
        heading(say.READING),
        paragraph(say.reading_intervals(several=frontier.draws > 1)) + paragraph(say.READING_SEED),
        repeat({common.SEED: frontier.seed}, run),
    ]
    return frame(say.title(name), "\n".join(body))


def _about(frontier: EpsilonCurve) -> str:
    """Return who attacks what, and how the counts were made."""
    options = frontier.options
    more = [say.joint(" × ".join(names)) for names in options["joint"]]
    more += [say.at_level(name, level) for name, level in options.get("levels", {}).items()]
    more += [say.gaussian(name, low, high) for name, (low, high) in options.get("gaussian", {}).items()]
    return say.about(
        frontier.adversary,
        frontier.sensitive,
        options["noise"],
        options["neighbours"],
        "".join(more),
        _who(frontier),
        frontier.draws,
    )


def _row(point: Point) -> list[str]:
    """Return the figures of one ε."""
    confident, error = point.high_confidence.rate, point.count_error
    accuracy = f" ({numbers.percent(confident.value)})" if confident.n else ""
    gain, interval = numbers.points(point.gain.rate)
    least, most = numbers.percent(point.success.least), numbers.percent(point.success.most)
    return [
        _epsilon(point),
        f"{numbers.percent(point.success.rate.value)}<br><small>{numbers.interval(least, most)[1:-1]}</small>",
        numbers.percent(point.holdout_success.rate.value),
        f"{gain}<br><small>{interval[1:-1]}</small>",
        numbers.percent(point.high_confidence_share) + accuracy,
        f"{100 * point.calibration_gap:+.1f}",
        f"{numbers.number(error.mean_absolute)}<br><small>{say.of_average(_against(error.relative))}</small>",
    ]


def _rates(point: Point) -> dict[str, float]:
    """Return a point of the chart of rates."""
    return {
        "epsilon": point.parameters["epsilon"],
        "counted": point.success.rate.value,
        "least": point.success.least,
        "most": point.success.most,
        "held_out": point.holdout_success.rate.value,
    }


def _sizes(point: Point) -> dict[str, float]:
    """Return a point of the chart of errors."""
    error = point.count_error
    return {
        "epsilon": point.parameters["epsilon"],
        "expected": error.expected,
        "measured": error.mean_absolute,
        "average": error.average_count,
    }
