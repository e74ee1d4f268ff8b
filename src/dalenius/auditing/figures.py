"""The measured number for each key of `[policy]`: one function each. The keys of criteria come from their registry."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalenius.auditing.attacks import Attack
from dalenius.auditing.measuring import Measurement
from dalenius.auditing.opening import Opening
from dalenius.auditing.playing import Play
from dalenius.auditing.policy import SURE, Figure, Part
from dalenius.auditing.suppressed import of_suppressed, worse
from dalenius.auditing.threat import RelativeThreats
from dalenius.criteria import Place, policy_places, worst_of
from dalenius.errors import counted, listing

ROUGHLY = "sampled as roughly as it was (a smaller --mcse is sharper)"
NOT_CONVERGED = "what was sampled has not converged"
CLASSLESS = Figure(math.nan, "a release of this kind has no classes")


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """What the first three rooms found, and the policy that it is held against."""

    opening: Opening
    play: Play
    measurement: Measurement
    policy: Mapping[str, Any]

    @property
    def attacks(self) -> tuple[Attack, ...]:
        return self.play.attacks

    @property
    def not_attacked(self) -> str:
        """Why nobody knows how often an adversary is right; empty if that is known."""
        if self.opening.people is None:
            return "it needs the original table (--truth)"
        return "" if self.attacks else "no adversary of this version can attack this kind of release"

    @property
    def uncovered(self) -> str:
        """That people of the table fit no class, by the first adversary that says so."""
        return next((text for text in map(uncovered, self.attacks) if text), "")

    @property
    def doubt(self) -> str:
        """Why adversaries may be right more often than those who were played."""
        if self.uncovered:
            return self.uncovered
        if any(found.success.n and not found.settled for found in self.attacks):
            return NOT_CONVERGED
        missing = self.play.attacker_missing
        return f"the attacker was not played: {missing}" if missing else ""


def figures(findings: Findings) -> dict[str, Figure]:
    """The figure for every key that something was measured for: of adversaries, that of whoever did best."""
    of_classes = {key: _level(findings, place) for key, place in policy_places().items()}
    others = {key: figure(findings) for key, figure in FIGURES.items()}
    return of_classes | {key: figure for key, figure in others.items() if figure is not None}


def uncovered(found: Attack) -> str:
    """People of the table who fit nowhere: what is published is not about them, or cannot be read."""
    if not found.success.n or not found.unmatched:
        return ""
    return f"{found.unmatched:,} of {counted(found.success.n, 'person', 'people')} of the table fit no class of the release"


def largest_gain(found: Attack) -> tuple[float, str]:
    """How large a gain may be in truth, and what makes it uncertain most: few people, or few draws."""
    chance = found.gain.high - found.gain.value
    drawn = SURE * math.hypot(found.error, found.control_error)
    most = found.gain.value + found.shift.most + math.hypot(chance, drawn)
    return most, "with so few people" if chance >= drawn else ROUGHLY


def _level(findings: Findings, place: Place) -> Figure:
    """The level of a model: of classes and suppressed rows the worse."""
    measurement, classes = findings.measurement, findings.opening.classes
    if not measurement.levels or classes is None:
        return CLASSLESS
    level = worst_of(list(measurement.levels.values()))[place].value
    rows = measurement.suppressed_rows
    theirs = level if rows is None else rows.worst[place].value
    return Figure(theirs, of=of_suppressed(classes)) if worse(level, theirs, *place) else Figure(level)


def _epsilon_privacy(findings: Findings) -> Figure:
    if findings.opening.classes is None:
        return CLASSLESS
    return Figure(math.nan, parts=findings.measurement.epsilons)


def _accuracy(findings: Findings) -> Figure:
    right = [found for found in findings.attacks if found.success.n and found.settled]
    return Figure(
        max((_largest_success(found) for found in right), default=math.nan),
        findings.not_attacked,
        high=max((_largest_success(found) + SURE * found.error for found in right), default=math.nan),
        spread=ROUGHLY,
        doubt=findings.doubt,
    )


def _largest_success(found: Attack) -> float:
    """How often it is right, whether or not it assumes that whoever fits a class is not suppressed."""
    return max(found.success.value, found.success_assumed.value)


def _gain(findings: Findings) -> Figure:
    attacks = findings.attacks
    gains = [found for found in attacks if found.gain.n and found.comparable and found.control_settled]
    unlike = listing(dict.fromkeys(found.column for found in attacks if found.gain.n and not found.comparable))
    no_control = "the held-out people are no control" if unlike else "it needs held-out people (--holdout)"
    if not unlike and any(found.gain.n for found in attacks):
        no_control = NOT_CONVERGED
    doubt = findings.doubt or (f"the held-out people are no control for {unlike}" if unlike else "")
    if any(found.success.n and found.control_kind != "none" and not found.control_settled for found in attacks):
        doubt = NOT_CONVERGED
    high, spread = max(map(largest_gain, gains), key=lambda most: most[0], default=(math.nan, ""))
    return Figure(
        max((found.gain.value for found in gains), default=math.nan),
        findings.not_attacked or ("" if gains else no_control),
        low=max((found.gain.value - found.shift.most for found in gains), default=math.inf),
        high=high,
        spread=spread,
        spread_below="the held-out people differ, and the gain may come from that",
        doubt=doubt,
    )


def _certainty(findings: Findings) -> Figure:
    """Who is given away for certain, assuming that whoever fits a class is not suppressed."""
    certain = [found for found in findings.attacks if not math.isnan(found.perfect_breach)]
    if not certain:
        return Figure(math.nan, findings.not_attacked or "what was sampled is never certain")
    assumed = max(found.perfect_breach for found in certain)
    anyhow = max(found.perfect_breach_sure for found in certain)
    of = "" if assumed == anyhow else f"({anyhow:.4g} in any case, suppressed or not)"
    return Figure(assumed, doubt=findings.uncovered, of=of)


def _loss(findings: Findings) -> Figure:
    loss = findings.measurement.utility.get("loss", math.nan)
    return Figure(loss, "this kind of release has no labels to measure loss by")


def _suppressed(findings: Findings) -> Figure:
    classes = findings.opening.classes
    return CLASSLESS if classes is None else Figure(classes.suppressed / classes.people)


def _relative_threat(findings: Findings) -> Figure | None:
    asked = findings.policy.get("max_relative_threat")
    threats, reason = _settled_threats(findings)
    if not threats:
        return Figure(math.nan, reason)
    if asked is None:
        return None
    quantile, limit = asked["quantile"], float(asked["value"])
    parts = tuple(
        Part(
            f"quantile {quantile:g} of Ti{of} ≤ {limit:g}",
            limit,
            float(np.nan_to_num(one.quantile(quantile))),  # 0: nobody is threatened
            one.quantile_error(quantile),
        )
        for of, one in _by_column(threats)
    )
    return Figure(max(part.measured for part in parts), parts=parts)


def _faithfulness(findings: Findings) -> Figure | None:
    asked = findings.policy.get("min_faithfulness")
    threats, reason = _settled_threats(findings)
    if not threats:
        return Figure(math.nan, reason)
    if asked is None:
        return None
    parts = tuple(
        Part(f"≥ {asked:g}{of}", float(asked), one.faithfulness.RF, one.faithfulness.stderr, least=True)
        for of, one in _by_column(threats)
    )
    return Figure(min(part.measured for part in parts), parts=parts)


def _settled_threats(findings: Findings) -> tuple[Mapping[str, RelativeThreats], str]:
    """The relative threats of every sensitive column, or the reason why nothing is concluded from them."""
    threats = findings.play.threats
    if any(not found.settled for found in threats.values()):
        return {}, "sampling has not converged"
    return threats, findings.play.unthreatened


def _by_column(threats: Mapping[str, RelativeThreats]) -> list[tuple[str, RelativeThreats]]:
    """Each with the words that name its column, where there are several."""
    return [(f" of {name}" if len(threats) > 1 else "", one) for name, one in threats.items()]


# A key that is none of a criterion's: one function, and one line here. None: nothing is said unless it is asked for.
FIGURES: dict[str, Callable[[Findings], Figure | None]] = {
    "epsilon_privacy": _epsilon_privacy,
    "max_attacker_accuracy": _accuracy,
    "max_attacker_gain": _gain,
    "max_perfect_breach": _certainty,
    "max_loss": _loss,
    "max_suppressed": _suppressed,
    "max_relative_threat": _relative_threat,
    "min_faithfulness": _faithfulness,
}
