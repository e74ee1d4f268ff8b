"""The verdict: what was measured, compared with the thresholds of `[policy]`. What was not measured never passes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["SURE", "Figure", "Outcome", "Part", "Threshold", "apply", "overall"]

SURE = 1.96  # standard errors by which a sampled number must be away from its limit
Outcome = Literal["passed", "violated", "not tested"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """One line of the policy: what it asks for, what was measured, and the outcome.

    `reason` says why it was not tested, or what violates it if that is not a class.
    """

    key: str
    asked: str
    measured: float
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """One of several numbers for a policy key: what it asks for, the limit, the measured number and its standard error, if any."""

    shown: str
    limit: float
    measured: float
    error: float = 0.0
    least: bool = False  # whether the limit is a minimum
    of: str = ""  # what it was measured on, where that is not the classes


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number for a policy key, or the reason why there is none."""

    value: float
    reason: str = ""
    parts: tuple[Part, ...] = ()  # for a key with several thresholds
    low: float = math.inf  # how small it may really be: the threshold is violated only if this number violates it
    high: float = -math.inf  # how large it may really be, if a sample was measured: it passes only if this number does
    spread: str = ""  # what makes it uncertain
    spread_below: str = ""  # why it may be as small as `low`
    doubt: str = ""  # what it leaves out, which may make it larger: then it can be violated, but cannot pass
    of: str = ""  # what it was measured on, where that is not the classes

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Figure:
        """Return the figure that `asdict` turned into a document."""
        return cls(**{**document, "parts": tuple(Part(**part) for part in document["parts"])})


def apply(policy: Mapping[str, Any], figures: Mapping[str, Figure]) -> tuple[Threshold, ...]:
    """Return each threshold of the policy with its outcome, in the policy's order."""
    outcomes = []
    for key, asked in policy.items():
        if asked == []:  # no threshold
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
    """Return whether a number within its limit passes: not if that may be chance, or because something was not tried."""
    if figure.doubt:
        return "not tested", figure.doubt
    if not figure.high <= limit + _slack(limit):  # also if it is unknown how large it may be
        return (
            "not tested",
            f"{figure.spread}, it may be as large as {figure.high:.3g} (95 % confidence interval), above the limit {limit:g}",
        )
    return "passed", ""


def _slack(limit: float) -> float:
    """Return what rounding may add."""
    return 1e-9 * abs(limit)


def _outcome(measured: float, limit: float, error: float, *, least: bool) -> tuple[Outcome, str]:
    """Return the outcome and its reason. An estimate that chance could move across its limit neither passes nor fails."""
    above = measured - limit if least else limit - measured
    if error and abs(above) <= SURE * error:
        return (
            "not tested",
            f"{measured:.4g} ± {SURE * error:.2g} is too close to {limit:g} to decide; sample longer (--mcse)",
        )
    slack = _slack(limit)
    holds = measured >= limit - slack if least else measured <= limit + slack  # either may be infinite
    return ("passed" if holds else "violated"), ""


def _words(asked: object) -> str:
    """Return a threshold that is more than a number, as a person would write it."""
    if isinstance(asked, Mapping):
        return ", ".join(f"{key} {value:g}" for key, value in asked.items())
    return ", ".join(map(str, asked)) if isinstance(asked, list | tuple) else str(asked)


def overall(outcomes: tuple[Threshold, ...]) -> str:
    """Return violated, passed, incomplete (nothing violated, something not tested), or none (no thresholds)."""
    seen = {threshold.outcome for threshold in outcomes}
    if not outcomes:
        return "none"
    if "violated" in seen:
        return "violated"
    return "incomplete" if "not tested" in seen else "passed"
