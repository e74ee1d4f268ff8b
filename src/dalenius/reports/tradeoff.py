"""Risk against utility of many releases: in the terminal, and as one HTML page."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dalenius import __version__
from dalenius.auditing.axes import COMMONEST
from dalenius.auditing.exploring import Frontier
from dalenius.auditing.frontier import Point, TradeOff
from dalenius.auditing.policy import Threshold
from dalenius.errors import counted, listing
from dalenius.measures import remaining
from dalenius.releases import KINDS
from dalenius.reports import tradeoff_chart, words
from dalenius.reports.frame import figure, frame, shown, table

WIDTH = 118
MARK = "●"
FRONT = "no other release that was tried is at least as good in both and better in one"
CHOSEN = (
    "It was chosen with the people held out: its gain over them may be smaller by luck than over others. Audit it with people who "
    "were not used to choose."
)
_VERDICTS = {"passed": "passed", "violated": "violated", "incomplete": "not tested", "none": "–"}


def lines(name: str, found: TradeOff) -> list[str]:
    """What the terminal shows: a row a release, the most useful first."""
    policy = any(point.thresholds for point in found.points)
    head = (
        f"    {'method':<17}{'parameters':<27}{'risk':>7}  {'by':<16}{_short(found):>14}{'k':>7}{'ℓ':>4}{'t':>7}"
        + ("  policy" if policy else "")
    )  # fmt: skip
    on = found.front
    rows = [f"  {MARK if on[i] else ' '} " + _line(found, found.points[i], policy) for i in shown_once(found)]
    return [
        f"{name}: {summary(found)}",
        *_wrapped(f"risk     {found.risk.name}: {found.risk.says}", 11),
        *_wrapped(f"utility  {found.utility.name}: {found.utility.says} ({_better(found)})", 11),
        "",
        head.rstrip(),
        *rows,
        "",
        *(line for note in notes(found) for line in _wrapped(note, 2)),
        *(line for names, why in _impossible(found) for line in _wrapped(f"{names}: not published. {why}", 4)),
    ]


def shown_once(found: TradeOff) -> list[int]:
    """The releases that were published, in their order; of those that are the same only the first."""
    once = found.alike
    return [i for i in found.order() if i in once and not found.points[i].reason]


def summary(found: TradeOff) -> str:
    """How many releases, by how many methods, and who is held out."""
    methods = len({point.candidate.method for point in found.points})
    lost = sum(bool(point.reason) for point in found.points)
    made = counted(len(found.points) - lost, "release", "releases")
    failed = f", {lost} could not be published" if lost else ""
    return f"{made} by {counted(methods, 'method', 'methods')}{failed}, {found.held_out or 'nobody held out'}, seed {found.seed}"


def notes(found: TradeOff) -> list[str]:
    """What the table cannot say itself."""
    on, alike = found.front, found.alike
    count = sum(on[i] for i in alike)
    told = [f"{MARK} {counted(count, 'release is', 'releases are')} on the front: {FRONT}."]
    told += [
        f"Shown once, with the same figures: {listing([title(found.points[i]) for i in mine], limit=len(mine))}."
        for mine in alike.values()
        if len(mine) > 1
    ]
    commonest = _commonest(found)
    if commonest:
        told.append(f"By the commonest value alone {words.percent(commonest)} are guessed right, without any release.")
    unlike = [point for point in found.points if _has_borders(point) and "attacker" not in _played(point)]
    if unlike and found.risk.name == "attacker":
        told.append(
            f"Learner and attacker were not played on {counted(len(unlike), 'release', 'releases')}: they have no exact answer "
            "there. --mcse 0.02 has them sampled, and so has a policy with max_attacker_accuracy; --risk random-worlds holds one "
            "adversary against all."
        )
    blunt = sum(any(not attack.get("converged", True) for attack in point.attacks) for point in found.points)
    if blunt:
        told.append(f"On {counted(blunt, 'release', 'releases')} the attacker has not converged, and does not count.")
    bounds = sum(point.lower_bound for point in found.points)
    if bounds:
        told.append(
            f"On {counted(bounds, 'release', 'releases')} people of the table fit no class: what attacks achieve there is a lower "
            "bound."
        )
    told += _gone(found)
    for axis, values in (
        (found.risk, [point.risk(found.risk) for point in found.points if not point.reason]),
        (found.utility, [point.useful(found.utility) for point in found.points if not point.reason]),
    ):
        lacking = sum(map(math.isnan, values))
        if lacking:
            told.append(
                f"{counted(lacking, 'release has', 'releases have')} no {axis.name}, because {axis.lacks}: not on the front."
            )
    return told


def _gone(found: TradeOff) -> list[str]:
    """Columns of which releases leave nothing: for each column which releases."""
    releases: dict[str, list[str]] = {}
    for i in shown_once(found):
        for one in remaining.from_document(found.points[i].columns_left or {}):
            if one.state == "gone":
                releases.setdefault(one.column, []).append(title(found.points[i]))
    return [f"Nothing is left of {name} in {listing(some, limit=4)}." for name, some in releases.items()]


def _commonest(found: TradeOff) -> float:
    """How many are guessed right without a release, where the risk is of that kind; else 0."""
    if found.risk.name not in ("attacker", "random-worlds"):
        return 0.0
    return max((point.commonest for point in found.points if not math.isnan(point.commonest)), default=0.0)


def chosen(found: TradeOff, command: str) -> list[str]:
    """The most useful release that passes the policy, and how to write it; or which thresholds are missed."""
    best = found.best()
    if best is not None:
        return [
            f"Most useful that satisfies the policy: {title(best)}, {found.utility.name} "
            f"{words.number(best.useful(found.utility))}, risk {words.percent(best.risk(found.risk))}.",
            *_left(best),
            command,
            *([CHOSEN] if any(one.key == "max_attacker_gain" for one in best.thresholds) else []),
        ]
    passed = [point for point in found.points if point.verdict == "passed"]
    if passed:
        return [
            f"{listing([title(point) for point in passed], limit=3)}: satisfies the policy and has no {found.utility.name}. "
            "Name another --utility."
        ]
    return [
        "No release that was tried satisfies the policy. Nearest to it:",
        *(
            f"{title(point)}: {'; '.join(missed(threshold) for threshold in point.missed())}"
            for point in found.nearest()
        ),
    ]


def _left(point: Point) -> list[str]:
    """What the release leaves of each column; a sentence of its own for those that are gone."""
    left = remaining.from_document(point.columns_left or {})
    return [f"It leaves {remaining.summary(left)}.", *remaining.warnings(left)] if left else []


def chosen_lines(found: TradeOff, command: str) -> list[str]:
    """The same for the terminal: all but the command, which is to be copied, in lines that fit."""
    return [
        line for told in chosen(found, command) for line in ([f"  {told}"] if told == command else _wrapped(told, 4))
    ]


def all_lines(found: Frontier) -> list[str]:
    """What `dalenius frontier` prints: every release, the best of them, and what was written."""
    text = lines(str(found.table), found.tradeoff)
    if found.has_policy:
        text += ["", *chosen_lines(found.tradeoff, found.publish_command)]
    return [*text, *(f"\n  {line}" for line in written_lines(found))]


def run_of(found: Frontier) -> dict[str, Any]:
    """What JSON adds to the details of the run: the command that publishes the best release, and the time of each point."""
    command = {"command": found.publish_command} if found.publish_command else {}
    return {**command, "points": [{"seconds": round(point.seconds, 3)} for point in found.tradeoff.points]}


def written_lines(found: Frontier) -> list[str]:
    """What became of the release that `--best` asks for."""
    best, chosen_point = found.best, found.tradeoff.best()
    if best is None or chosen_point is None:
        return []
    if best.is_written:
        return [f"Wrote {', '.join(best.files)}"]
    misses = "; ".join(map(missed, best.missed))
    return [f"Nothing was published: drawn anew, {title(chosen_point)} misses the policy: {misses}."]


def missed(threshold: Threshold) -> str:
    """A threshold that is not passed, and why."""
    if threshold.outcome == "not tested":
        return f"{threshold.key} {threshold.asked} was not tested: {threshold.reason}"
    return f"{threshold.key} is {words.number(threshold.measured)}, {threshold.asked} is asked for"


def title(point: Point) -> str:
    """A release as a reader calls it."""
    return f"{point.candidate.method} {point.candidate.label}"


def _has_borders(point: Point) -> bool:
    """Whether the release says where its classes end, so that learner and attacker can look at it."""
    return point.kind in KINDS and bool({"rows", "links"} & set(KINDS[point.kind].offers()))


def _played(point: Point) -> Mapping[str, float]:
    return point.accuracies or {}


def _better(found: TradeOff) -> str:
    return "larger is better" if found.utility.larger_is_better else "smaller is better"


def _short(found: TradeOff) -> str:
    return {"average_class_size": "class size", "kl_divergence": "KL divergence"}.get(
        found.utility.name, found.utility.name
    )


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent=" " * indent, break_on_hyphens=False)


def _risk(found: TradeOff, point: Point) -> str:
    value = point.risk(found.risk)
    shown = (
        f"{value:+.1%}"
        if found.risk.name in ("gain", "relative-threat") and not math.isnan(value)
        else words.percent(value)
    )
    attacked = point.lower_bound and found.risk.attacked and not math.isnan(value)
    return f"≥ {shown}" if attacked else shown


def _by(found: TradeOff, point: Point) -> str:
    return point.adversary if found.risk.name == "attacker" else ""


def _useful(found: TradeOff, point: Point) -> str:
    value = point.useful(found.utility)
    return "–" if math.isnan(value) else words.number(value)


def _levels(point: Point) -> list[str]:
    levels = point.levels or {}
    return [words.number(levels[name]) if name in levels else "–" for name in ("k", "l")] + [
        f"{levels['t']:.2f}" if "t" in levels else "–"
    ]


def _line(found: TradeOff, point: Point, policy: bool) -> str:
    k, l, t = _levels(point)  # noqa: E741 - the literature's letter
    label = textwrap.shorten(point.candidate.label, 26, placeholder=" …")
    row = (
        f"{point.candidate.method:<17}{label:<27}{_risk(found, point):>7}  {_by(found, point):<16}"
        f"{_useful(found, point):>14}{k:>7}{l:>4}{t:>7}"
    )
    return (row + f"  {_VERDICTS[point.verdict]}" if policy else row).rstrip()


def page(name: str, found: TradeOff, command: str, run: Mapping[str, Any]) -> str:
    """The whole page."""
    policy = any(point.thresholds for point in found.points)
    on = found.front
    order = shown_once(found)
    by = ["by"] if found.risk.name == "attacker" else []
    head = ["release", "risk", escape(_short(found)).replace("_", " ").replace(" ", "<br>")]
    head += ["policy"] if policy else []  # early: a phone shows the first columns
    numeric = {1, 2, *range(len(head), len(head) + 3)}
    head += ["k", "ℓ", "t", *by]
    verdict = ""
    if policy:
        first, *others = chosen(found, command)
        written = [f"<code>{escape(line)}</code>" if line == command else escape(line) for line in others]
        best = found.best() is not None
        verdict = "".join(
            [
                f"<div class='verdict {'passed' if best else 'violated'}'>",
                *(f"<p>{line}</p>" for line in (escape(first), *written)),
                "</div>",
            ]
        )
    body = [
        f"<h1>Risk against utility: {escape(name)}</h1>",
        f"<p class='soft'>{escape(summary(found))}. Every release was published and audited as <code>dalenius publish</code> and "
        "<code>dalenius audit</code> do it. The figures come from the table itself: they are for whoever holds it, not for "
        "publication.</p>",
        verdict,
        "<h2>All releases</h2>",
        _chart(found, policy),
        "<h2>The front</h2>",
        f"<p>For each of these {FRONT}. Which of them to take is a question of how much risk may be"
        + (
            ", and the policy answers it"
            if policy
            else "; thresholds under <code>[policy]</code> in the schema answer it"
        )
        + ".</p>",
        table(head, [_row(found, found.points[i], policy) for i in order if on[i]], numeric=numeric),
        "<h2>Every release</h2>",
        f"<p>The most useful first; {MARK} is on the front.</p>",
        table(
            ["", *head],
            [[MARK if on[i] else "", *_row(found, found.points[i], policy)] for i in order],
            numeric={i + 1 for i in numeric},
        ),
        _not_published(found),
        _missed_table(found, order) if policy else "",
        "<h2>How to read this</h2>",
        f"<p><b>Risk</b>, {escape(found.risk.name)}: {escape(found.risk.says)}. Smaller is safer.</p>",
        f"<p><b>Utility</b>, {escape(found.utility.name)}: {escape(found.utility.says)} ({_better(found)}).</p>",
        "<p><b>k, ℓ, t</b> are what the worst class reaches: people in it, different values in it, and how far its values are from "
        "those of the table. A release without classes has none.</p>",
        "".join(f"<p>{escape(note)}</p>" for note in notes(found)),
        "<p>A release that is safe by one measure may not be by another, and adversaries that were not played may do better. "
        "Audit the one that you choose: <code>dalenius audit</code>.</p>",
        "<h2>How to repeat this</h2>",
        table(
            ["what", "value"],
            [["dalenius", __version__], ["seed", str(found.seed)]]
            + [[escape(str(key)), f"<code>{escape(shown(value))}</code>"] for key, value in run.items()],
        ),
    ]
    return frame(f"Risk against utility: {name}", "\n".join(part for part in body if part))


def _chart(found: TradeOff, policy: bool) -> str:
    on, alike = found.front, found.alike
    dots = [
        tradeoff_chart.Dot(
            point.candidate.method,
            point.candidate.label,
            point.risk(found.risk),
            point.cost(found.utility),
            front=on[i],
            passed=not policy or point.verdict == "passed",
        )
        for i, point in enumerate(found.points)
        if i in alike and math.isfinite(point.risk(found.risk)) and math.isfinite(point.cost(found.utility))
    ]
    if not dots:
        return "<p>No release has both the risk and the utility that were asked for: there is nothing to draw.</p>"
    commonest = _commonest(found)
    levels = {COMMONEST: commonest} if commonest else {}
    hollow = " Filled ones satisfy the policy, hollow ones do not." if policy else ""
    return figure(
        tradeoff_chart.risk_against_cost(dots, (found.utility.title, found.risk.title), levels),
        "Each mark is a release: risk upwards, cost to the right. Lower and further left is better. The line is the front, whose "
        f"releases are named where there is room.{hollow}",
    )


def _row(found: TradeOff, point: Point, policy: bool) -> list[str]:
    cells = [escape(title(point)), _risk(found, point), _useful(found, point)]
    if policy:
        colour = {"passed": "passed", "violated": "violated"}.get(point.verdict, "untested")
        cells.append(f"<span class='{colour}'>{_VERDICTS[point.verdict]}</span>")
    cells += _levels(point)
    if found.risk.name == "attacker":
        cells.append(f"<small>{escape(_by(found, point))}</small>")
    return cells


def _impossible(found: TradeOff) -> list[tuple[str, str]]:
    """Releases that could not be published, those of one method for one reason together, and the reason."""
    together: dict[tuple[str, str], list[str]] = {}
    for point in found.points:
        if point.reason:
            together.setdefault((point.candidate.method, point.reason), []).append(point.candidate.label)
    return [(f"{method} {'; '.join(labels)}", why) for (method, why), labels in together.items()]


def _not_published(found: TradeOff) -> str:
    rows = [[escape(names), escape(why)] for names, why in _impossible(found)]
    return "<h2>Not published</h2>" + table(["release", "why"], rows) if rows else ""


def _missed_table(found: TradeOff, order: Sequence[int]) -> str:
    rows = [
        [escape(title(point)), "<br>".join(escape(missed(threshold)) for threshold in point.missed())]
        for point in (found.points[i] for i in order)
        if point.missed()
    ]
    return (
        "<h2>What the policy asks for and is not reached</h2>" + table(["release", "thresholds"], rows) if rows else ""
    )
