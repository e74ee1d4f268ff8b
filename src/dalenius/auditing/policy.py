"""The verdict: thresholds of `[policy]` against what was measured. What is not measured is not tested, never passed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

SURE = 1.96  # standard errors that a number which was sampled must be away from its limit
Outcome = Literal["passed", "violated", "not tested"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """One line of the policy: what is asked, what was found, and what follows.

    `reason` says why it was not tested, or what else than the classes violates it.
    """

    key: str
    asked: str
    measured: float
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """One of several numbers for a policy key: what is asked, the limit, what was found and its standard error, if any."""

    shown: str
    limit: float
    measured: float
    error: float = 0.0
    least: bool = False  # the limit is one from below
    of: str = ""  # what it was measured on, where that is not the classes


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number for a policy key, or the reason why there is none."""

    value: float
    reason: str = ""
    parts: tuple[Part, ...] = ()  # for a key with several thresholds
    low: float = math.inf  # how small it may be in truth: it is violated only if that is
    high: float = -math.inf  # how large it may be in truth, where a sample was measured: it passes only if that does
    spread: str = ""  # what makes it uncertain
    spread_below: str = ""  # why it may be as small as `low`
    doubt: str = ""  # what it leaves out, and may make it larger: then it may be violated, and cannot pass
    of: str = ""  # what it was measured on, where that is not the classes

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Figure:
        """What `asdict` made of one."""
        return cls(**{**document, "parts": tuple(Part(**part) for part in document["parts"])})


def apply(policy: Mapping[str, Any], figures: Mapping[str, Figure]) -> tuple[Threshold, ...]:
    """Each threshold of the policy with its outcome, in the policy's order."""
    outcomes = []
    for key, asked in policy.items():
        if asked == []:  # nothing is asked for
            continue
        figure = figures.get(key, Figure(math.nan, "this version has no measure for it"))
        for part in figure.parts:
            outcome, reason = _outcome(part.measured, part.limit, part.error, least=part.least)
            reason = part.of if outcome == "violated" else reason
            outcomes.append(Threshold(key, part.shown, part.measured, outcome, reason))
        if figure.parts:
            continue
        limit = asked if isinstance(asked, int | float) else math.nan
        least = key.startswith("min_")
        sign = "≥" if least else "≤"
        shown = f"{sign} {asked:g}" if isinstance(asked, int | float) else _words(asked)
        if math.isnan(figure.value) or math.isnan(limit):
            outcomes.append(Threshold(key, shown, math.nan, "not tested", figure.reason))
            continue
        outcome, reason = _outcome(figure.value, limit, 0.0, least=least)
        if outcome == "passed":
            outcome, reason = _doubted(figure, limit)
        elif figure.low <= limit + _slack(limit):
            outcome, reason = "not tested", figure.spread_below
        else:
            reason = figure.of
        outcomes.append(Threshold(key, shown, figure.value, outcome, reason))
    return tuple(outcomes)


def _doubted(figure: Figure, limit: float) -> tuple[Outcome, str]:
    """Whether a number within its limit passes: not if it is there by chance, or because something was not tried."""
    if figure.doubt:
        return "not tested", figure.doubt
    if not figure.high <= limit + _slack(limit):  # also where nobody knows how large it may be
        return (
            "not tested",
            f"{figure.spread} it may be {figure.high:.3g} in truth (95 % interval), which is above {limit:g}",
        )
    return "passed", ""


def _slack(limit: float) -> float:
    """What rounding may add."""
    return 1e-9 * abs(limit)


def _outcome(measured: float, limit: float, error: float, *, least: bool) -> tuple[Outcome, str]:
    """What follows, and why if nothing does: an estimate nearer to its limit than chance would tell neither passes nor fails."""
    above = measured - limit if least else limit - measured
    if error and abs(above) <= SURE * error:
        return (
            "not tested",
            f"{measured:.4g} ± {SURE * error:.2g} is too near to {limit:g} to tell; sample longer (--mcse)",
        )
    slack = _slack(limit)
    holds = measured >= limit - slack if least else measured <= limit + slack  # either may be infinite
    return ("passed" if holds else "violated"), ""


def _words(asked: object) -> str:
    """A threshold that is more than a number, as a person would write it."""
    if isinstance(asked, Mapping):
        return ", ".join(f"{key} {value:g}" for key, value in asked.items())
    return ", ".join(map(str, asked)) if isinstance(asked, list | tuple) else str(asked)


def overall(outcomes: tuple[Threshold, ...]) -> str:
    """violated, passed, incomplete (nothing violated, something not tested), or none (no thresholds)."""
    found = {threshold.outcome for threshold in outcomes}
    if not outcomes:
        return "none"
    if "violated" in found:
        return "violated"
    return "incomplete" if "not tested" in found else "passed"
