"""The measured number for each key of `[policy]`, one function each. The keys of criteria come from their registry."""

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

__all__ = [
    "CLASSLESS",
    "FIGURES",
    "NOT_CONVERGED",
    "SAMPLING_ERROR",
    "Findings",
    "figures",
    "largest_gain",
    "uncovered",
]

SAMPLING_ERROR = "with this sampling error (a smaller --mcse reduces it)"
NOT_CONVERGED = "sampling has not converged"
CLASSLESS = Figure(math.nan, "a release of this kind has no classes")


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """What the first three steps of an audit found, and the policy that it is compared with."""

    opening: Opening
    play: Play
    measurement: Measurement
    policy: Mapping[str, Any]

    @property
    def attacks(self) -> tuple[Attack, ...]:
        return self.play.attacks

    @property
    def not_attacked(self) -> str:
        """Return why it is unknown how often an adversary is right; empty if that is known."""
        if self.opening.people is None:
            return "it needs the original table (--truth)"
        return "" if self.attacks else "no adversary of this version can attack this kind of release"

    @property
    def uncovered(self) -> str:
        """Return that people of the table fit no class, by the first adversary that says so."""
        return next((text for text in map(uncovered, self.attacks) if text), "")

    @property
    def doubt(self) -> str:
        """Return why other adversaries may be right more often than those that were tried."""
        if self.uncovered:
            return self.uncovered
        if any(attack.success.n and not attack.is_converged for attack in self.attacks):
            return NOT_CONVERGED
        missing = self.play.attacker_missing
        return f"the attacker was not tried: {missing}" if missing else ""


def figures(findings: Findings) -> dict[str, Figure]:
    """Return the figure for every key that was measured. Of several adversaries, the most successful one counts."""
    of_classes = {key: _level(findings, place) for key, place in policy_places().items()}
    others = {key: figure(findings) for key, figure in FIGURES.items()}
    return of_classes | {key: figure for key, figure in others.items() if figure is not None}


def uncovered(attack: Attack) -> str:
    """Return how many people of the table fit no class: the release is not about them, or its labels cannot be read."""
    if not attack.success.n or not attack.unmatched:
        return ""
    return f"{attack.unmatched:,} of {counted(attack.success.n, 'person', 'people')} of the table fit no class of the release"


def largest_gain(attack: Attack) -> tuple[float, str]:
    """Return how large a gain may really be, and what makes it most uncertain: few people, or few draws."""
    chance = attack.gain.high - attack.gain.value
    drawn = SURE * math.hypot(attack.error, attack.control_error)
    most = attack.gain.value + attack.shift.most + math.hypot(chance, drawn)
    return most, "with so few people" if chance >= drawn else SAMPLING_ERROR


def _level(findings: Findings, place: Place) -> Figure:
    """Return the level of a model: the worse one of classes and suppressed rows."""
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
    right = [attack for attack in findings.attacks if attack.success.n and attack.is_converged]
    return Figure(
        max((_largest_success(attack) for attack in right), default=math.nan),
        findings.not_attacked,
        high=max((_largest_success(attack) + SURE * attack.error for attack in right), default=math.nan),
        spread=SAMPLING_ERROR,
        doubt=findings.doubt,
    )


def _largest_success(attack: Attack) -> float:
    """Return how often it is right, whether or not it assumes that people who fit a class are not suppressed."""
    return max(attack.success.value, attack.success_assumed.value)


def _gain(findings: Findings) -> Figure:
    attacks = findings.attacks
    gains = [attack for attack in attacks if attack.gain.n and attack.comparable and attack.is_control_converged]
    unlike = listing(dict.fromkeys(attack.column for attack in attacks if attack.gain.n and not attack.comparable))
    no_control = "the held-out people cannot serve as a control" if unlike else "it needs held-out people (--holdout)"
    if not unlike and any(attack.gain.n for attack in attacks):
        no_control = NOT_CONVERGED
    doubt = findings.doubt or (f"the held-out people cannot serve as a control for {unlike}" if unlike else "")
    if any(
        attack.success.n and attack.control_kind != "none" and not attack.is_control_converged for attack in attacks
    ):
        doubt = NOT_CONVERGED
    high, spread = max(map(largest_gain, gains), key=lambda most: most[0], default=(math.nan, ""))
    return Figure(
        max((attack.gain.value for attack in gains), default=math.nan),
        findings.not_attacked or ("" if gains else no_control),
        low=max((attack.gain.value - attack.shift.most for attack in gains), default=math.inf),
        high=high,
        spread=spread,
        spread_below="the held-out people differ, which may explain the gain",
        doubt=doubt,
    )


def _certainty(findings: Findings) -> Figure:
    """Return who is disclosed for certain, assuming that people who fit a class are not suppressed."""
    certain = [attack for attack in findings.attacks if not math.isnan(attack.perfect_breach)]
    if not certain:
        return Figure(math.nan, findings.not_attacked or "sampled beliefs are never certain")
    assumed = max(attack.perfect_breach for attack in certain)
    anyhow = max(attack.perfect_breach_sure for attack in certain)
    of = "" if assumed == anyhow else f"({anyhow:.4g} in any case, suppressed or not)"
    return Figure(assumed, doubt=findings.uncovered, of=of)


def _loss(findings: Findings) -> Figure:
    loss = findings.measurement.utility.get("loss", math.nan)
    return Figure(loss, "this kind of release has no labels to measure loss by")


def _suppressed(findings: Findings) -> Figure:
    classes = findings.opening.classes
    return CLASSLESS if classes is None else Figure(classes.suppressed / classes.people)


def _relative_threat(findings: Findings) -> Figure | None:
    threshold = findings.policy.get("max_relative_threat")
    threats, reason = _settled_threats(findings)
    if not threats:
        return Figure(math.nan, reason)
    if threshold is None:
        return None
    quantile, limit = threshold["quantile"], float(threshold["value"])
    parts = tuple(
        Part(
            f"quantile {quantile:g} of Ti{of} ≤ {limit:g}",
            limit,
            float(np.nan_to_num(threat.quantile(quantile))),  # 0: nobody is threatened
            threat.quantile_error(quantile),
        )
        for of, threat in _by_column(threats)
    )
    return Figure(max(part.measured for part in parts), parts=parts)


def _faithfulness(findings: Findings) -> Figure | None:
    threshold = findings.policy.get("min_faithfulness")
    threats, reason = _settled_threats(findings)
    if not threats:
        return Figure(math.nan, reason)
    if threshold is None:
        return None
    parts = tuple(
        Part(f"≥ {threshold:g}{of}", float(threshold), threat.faithfulness.RF, threat.faithfulness.stderr, least=True)
        for of, threat in _by_column(threats)
    )
    return Figure(min(part.measured for part in parts), parts=parts)


def _settled_threats(findings: Findings) -> tuple[Mapping[str, RelativeThreats], str]:
    """Return the relative threats of every sensitive column, or the reason why they support no conclusion."""
    threats = findings.play.threats
    if any(not column.has_converged_beliefs for column in threats.values()):
        return {}, "sampling has not converged"
    return threats, findings.play.no_threats_reason


def _by_column(threats: Mapping[str, RelativeThreats]) -> list[tuple[str, RelativeThreats]]:
    """Return each with the words that name its column, if there are several."""
    return [(f" of {name}" if len(threats) > 1 else "", threat) for name, threat in threats.items()]


# A key that belongs to no criterion is one function and one line here. None: not reported unless the policy asks for it.
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
