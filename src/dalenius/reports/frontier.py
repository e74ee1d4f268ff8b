"""What ε means for a table: in sentences, and as one HTML page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from dalenius import __version__
from dalenius.auditing.epsilon_curve import EpsilonCurve, Point
from dalenius.errors import counted
from dalenius.measures.accuracy import MARGIN
from dalenius.reports import charts, words
from dalenius.reports.frame import figure, frame, shown, table

CLOSE = 0.01  # of accuracy: the noise no longer hinders
EXACT = 0.1  # of the average count: counts are still good
SURER = 0.05  # than right: confidence is not to be believed

JUDGED = {
    "only about the population": f"being counted adds nothing, or less than {100 * MARGIN:.0f} points",
    "leaks about persons": "being counted gives people away",
    "not enough data to say": "the people are too few to say what being counted adds",
}


def epsilon(point: Point) -> str:
    return f"{point.parameters['epsilon']:g}"


def who(found: EpsilonCurve) -> str:
    """Who was counted and who was not, and how they were told apart."""
    split = found.split
    people = counted(split.people, "person", "people")
    if split.kind == "file":
        return f"{people} counted, {split.held_out:,} others held out"
    return f"{people} counted, {split.held_out:,} held out: a share of {split.share:g}, drawn by seed {found.seed}"


def sentence(found: EpsilonCurve, point: Point) -> str:
    """What this ε means for this table."""
    mine, theirs, error = point.success, point.holdout_success.rate.value, point.count_error
    return (
        f"At ε = {epsilon(point)} whoever reads the counts guesses {found.sensitive} right for "
        f"{words.percent(mine.rate.value)} of the people counted and for {words.percent(theirs)} of people who were not: "
        f"{_judged(point)}. The gain is {words.signed(point.gain.rate)}. The commonest value is right for "
        f"{words.percent(found.reference.naive.rate.value)}. A count is off by {words.number(error.mean_absolute)} on average, "
        f"{against(error.relative)} the average count."
    )


def against(relative: float) -> str:
    """A size against another: a share of it, or so many times as much."""
    return f"{words.percent(relative)} of" if relative < 10 else f"{relative:,.0f} times"


def _judged(point: Point) -> str:
    if not point.comparable:
        return "the held-out people are not like those counted, so what being counted adds cannot be said"
    return JUDGED[point.verdict]


def summary(found: EpsilonCurve) -> list[str]:
    """What the points say together; of one point, what it says."""
    points = found.points
    if len(points) == 1:
        return [sentence(found, points[0])]
    lines = []
    for judged, group in groupby(points, key=_judged):
        some = list(group)
        most = max(some, key=lambda point: point.gain.rate.value)
        largest = "largest gain" if len(some) > 1 else "gain"
        lines.append(f"{_range(some)}: {judged}. The {largest} is {words.signed(most.gain.rate)}.")
    lines.append(_population(found))
    good = _from(points, lambda point: point.count_error.relative <= EXACT)
    lines.append(
        f"Counts are off by less than a tenth of the average count from ε = {epsilon(good[0])} on."
        if good
        else f"Counts are off by more than a tenth of the average count at every ε tried; at ε = {epsilon(points[-1])} by "
        f"{against(points[-1].count_error.relative)} it."
    )
    unsure = [point for point in points if point.calibration_gap > SURER]
    if unsure:
        worst = max(unsure, key=lambda point: point.calibration_gap)
        lines.append(
            f"Where noise is strong the attacker is surer than it is right: at ε = {epsilon(worst)} by "
            f"{100 * worst.calibration_gap:.0f} points. Its confidence is then no measure of the risk."
        )
    return lines


def _range(points: Sequence[Point]) -> str:
    first, last = epsilon(points[0]), epsilon(points[-1])
    return f"ε = {first}" if first == last else f"ε from {first} to {last}"


def _from(points: Sequence[Point], holds: Callable[[Point], bool]) -> list[Point]:
    """The points from which on something holds at every ε tried."""
    last = [i for i, point in enumerate(points) if not holds(point)]
    return list(points[last[-1] + 1 if last else 0 :])


def _population(found: EpsilonCurve) -> str:
    """What the counts teach about everybody: no ε is there to prevent that."""
    free, mode = found.reference.success.rate.value, found.reference.naive.rate.value
    text = (
        f"Without noise {found.sensitive} is guessed right for {words.percent(free)}, by the commonest value alone for "
        f"{words.percent(mode)}"
    )
    near = _from(found.points, lambda point: point.success.rate.value >= free - CLOSE)
    better = _from(found.points, lambda point: point.success.rate.low > mode)
    if not better:
        return f"{text}; at no ε tried do the counts surely tell more than the commonest value."
    close = f", and from ε = {epsilon(near[0])} on within a point as much as without noise" if near else ""
    return f"{text}; from ε = {epsilon(better[0])} on the counts tell more than the commonest value{close}."


def lines(name: str, found: EpsilonCurve) -> list[str]:
    """What `dalenius frontier` prints of noisy counts: a row for each ε, and what they say together."""
    options = found.options
    joint = "".join(f", {' × '.join(names)} together" for names in options["joint"])
    text = [
        f"{name}: {who(found)}",
        f"  {found.adversary} on {found.sensitive}, {options['noise']} noise, {options['neighbours']} neighbours{joint}, "
        f"{counted(found.draws, 'draw', 'draws')} for each ε",
        "",
        f"  {'ε':>8}  {'counted, min–max':<18} {'held out':>8}  {'gain (95 %), points':<22} {'sure, right':<14} {'surer':>5}  "
        f"{'count off by':<18} verdict",
    ]
    text += [_line(f"{point.parameters['epsilon']:g}", point) for point in found.points]
    text += [
        _line("no noise", found.reference),
        f"  Commonest value: {words.rate(found.reference.naive.rate)}. Sure: of how many it is surer than 0.8, how often right.",
        "  Surer: points by which it is surer than right. Count off by: people, and against the average count.",
        "",
    ]
    return [*text, *(f"  {line}" for line in summary(found))]


def _line(name: str, point: Point) -> str:
    success, gain, error, sure = point.success, point.gain.rate, point.count_error, point.high_confidence.rate
    right = f"{words.percent(success.rate.value)} ({100 * success.least:.1f}–{100 * success.most:.1f})"
    added = f"{100 * gain.value:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
    sured = words.percent(point.high_confidence_share) + (f", {words.percent(sure.value)}" if sure.n else "")
    off = f"{words.number(error.mean_absolute)}, {against(error.relative).removesuffix(' of')}"
    return (
        f"  {name:>8}  {right:<18} {words.percent(point.holdout_success.rate.value):>8}  {added:<22} {sured:<14} "
        f"{100 * point.calibration_gap:>+5.1f}  {off:<18} {point.verdict}"
    )


def page(name: str, found: EpsilonCurve, run: Mapping[str, Any]) -> str:
    """The whole page."""
    rows = [_row(point) for point in found.points]
    lines = {
        "people counted, without noise": found.reference.success.rate.value,
        "commonest value": found.reference.naive.rate.value,
    }
    head = [
        "ε",
        "counted",
        "held<br>out",
        "gain,<br>points",
        "surer than 0.8<br>(right)",
        "surer than<br>right",
        "count<br>off by",
    ]
    options = found.options
    joint = "".join(f", {' × '.join(names)} together" for names in options["joint"])
    body = [
        f"<h1>What ε means for {escape(name)}</h1>",
        f"<p class='soft'>{escape(found.adversary)} on {escape(found.sensitive)}, from noisy counts "
        f"({escape(options['noise'])} noise, {escape(options['neighbours'])} neighbours{escape(joint + _coarser(options))}). "
        f"{escape(who(found))}. {counted(found.draws, 'draw', 'draws')} of noise for each ε. "
        "No ε protects these figures: they are for whoever holds the table, not for publication.</p>",
        "".join(f"<p>{escape(line)}</p>" for line in summary(found)).join(("<div class='verdict'>", "</div>")),
        "<h2>How often the attack is right</h2>",
        figure(
            charts.risk_against_epsilon([_rates(point) for point in found.points], lines),
            "Lines are means over the draws of noise, the band goes from the least to the most of them. Where people counted "
            "and people held out are guessed alike, what is learnt is about the population.",
        ),
        "<h2>How far the counts are off</h2>",
        figure(
            charts.error_against_epsilon([_sizes(point) for point in found.points]),
            "The line is what the noise promises, dots are what was drawn, both as people. The dashed line is the average "
            f"count, {words.number(found.reference.count_error.average_count)}.",
        ),
        "<h2>The figures</h2>",
        table(head, rows, numeric=range(len(head))),
        "<h2>Each ε in words</h2>",
        "".join(f"<p>{escape(sentence(found, point))}</p>" for point in found.points),
        "<h2>How to read this</h2>",
        _reading(found),
        "<h2>How to repeat this</h2>",
        table(
            ["what", "value"],
            [["dalenius", __version__], ["seed", str(found.seed)]]
            + [[escape(str(key)), f"<code>{escape(shown(value))}</code>"] for key, value in run.items()],
        ),
    ]
    return frame(f"What ε means for {name}", "\n".join(body))


def _coarser(options: Mapping[str, Any]) -> str:
    """Columns that are not counted value by value."""
    levels = [f"{name} at level {level}" for name, level in options.get("levels", {}).items()]
    bounds = [f"{name} as a Gaussian from {low} to {high}" for name, (low, high) in options.get("gaussian", {}).items()]
    return "".join(f", {text}" for text in levels + bounds)


def _reading(found: EpsilonCurve) -> str:
    noise = (
        "and of the draws (Student's)"
        if found.draws > 1
        else "alone: one draw does not say how much others would differ"
    )
    return (
        f"<p>Intervals are 95 %: of the people (exact binomial) {noise}. All draws meet the same people, so that more draws "
        "narrow the part of the noise only. A gain compares draw by draw people counted with people held out.</p>"
        "<p>Noise is drawn from a seed for these experiments and was never written. The figures come from the table itself.</p>"
    )


def _row(point: Point) -> list[str]:
    sure, error = point.high_confidence.rate, point.count_error
    accuracy = f" ({words.percent(sure.value)})" if sure.n else ""
    return [
        epsilon(point),
        f"{words.percent(point.success.rate.value)}<br><small>{words.percent(point.success.least)} to "
        f"{words.percent(point.success.most)}</small>",
        words.percent(point.holdout_success.rate.value),
        escape(words.signed(point.gain.rate)).replace(" points (", "<br><small>").replace(")", "</small>"),
        words.percent(point.high_confidence_share) + accuracy,
        f"{100 * point.calibration_gap:+.1f}",
        f"{words.number(error.mean_absolute)}<br><small>{against(error.relative)} average</small>",
    ]


def _rates(point: Point) -> dict[str, float]:
    return {
        "epsilon": point.parameters["epsilon"],
        "counted": point.success.rate.value,
        "least": point.success.least,
        "most": point.success.most,
        "held_out": point.holdout_success.rate.value,
    }


def _sizes(point: Point) -> dict[str, float]:
    error = point.count_error
    return {
        "epsilon": point.parameters["epsilon"],
        "expected": error.expected,
        "measured": error.mean_absolute,
        "average": error.average_count,
    }
