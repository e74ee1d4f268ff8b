"""Rates over several draws of noise on the same people: a mean, an interval, the smallest and the largest.

Two things are uncertain. First, the people: others like them would be guessed more or less often. More draws do not reduce
this, because all draws are about the same people. Second, the noise: more draws, D of them, do reduce its part. People and
draws are crossed, so the variance of the mean is that of people over n, plus that between draws over D, which includes their
interaction. The interval combines both parts: the exact binomial interval of n people (not of n·D; it is rather too wide than
too narrow, because a person's mean over draws varies less than a guess), and Student's interval of the D means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dalenius.arrays import Floats
from dalenius.measures import accuracy
from dalenius.measures.accuracy import CONFIDENCE, Rate

__all__ = ["Spread", "paired_gain", "pooled"]


@dataclass(frozen=True, slots=True)
class Spread:
    """A rate over draws: its mean with an interval, and the least and the most that one draw gave."""

    rate: Rate
    least: float
    most: float

    def to_document(self) -> dict[str, Any]:
        return {**asdict(self.rate), "min": self.least, "max": self.most}


def pooled(rates: Sequence[Rate]) -> Spread:
    """Return the rate over all draws; where each has people of its own (those it is sure of), every guess weighs the same."""
    people = np.array([rate.n for rate in rates], dtype=np.float64)
    if not people.sum():
        return Spread(Rate.undefined(), math.nan, math.nan)
    right = np.array([rate.value * rate.n if rate.n else 0.0 for rate in rates])
    values = [rate.value for rate in rates if rate.n]
    whole = _of_people(rates)
    noise = _noise((right - whole.value * people) / people.mean())  # the errors of a ratio of two means
    low = whole.value - math.hypot(whole.value - whole.low, noise)
    high = whole.value + math.hypot(whole.high - whole.value, noise)
    return Spread(Rate(whole.value, max(low, 0.0), min(high, 1.0), whole.n), min(values), max(values))


def paired_gain(attack: Sequence[Rate], control: Sequence[Rate]) -> Spread:
    """Return attack − control, draw by draw: both see the same noise, so what affects both alike cancels."""
    between = accuracy.gain(_of_people(attack), _of_people(control))
    if between.n == 0:
        return Spread(between, math.nan, math.nan)
    differences = np.array([attacked.value - outside.value for attacked, outside in zip(attack, control, strict=True)])
    noise = _noise(differences)
    low = between.value - math.hypot(between.value - between.low, noise)
    high = between.value + math.hypot(between.high - between.value, noise)
    whole = Rate(between.value, max(low, -1.0), min(high, 1.0), between.n)
    return Spread(whole, float(differences.min()), float(differences.max()))


def _of_people(rates: Sequence[Rate]) -> Rate:
    """Return the mean as if it were one draw, of as many people as one draw has on average."""
    people = sum(rate.n for rate in rates)
    if not people:
        return Rate.undefined()
    n = max(1, round(people / len(rates)))
    return accuracy.rate(sum(rate.value * rate.n for rate in rates if rate.n) / people * n, n)


def _noise(values: Floats) -> float:
    """Return half of Student's interval of a mean over draws; 0 of one draw, which says nothing of others."""
    if len(values) < 2:
        return 0.0
    from scipy.special import stdtrit

    quantile = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    return quantile * float(values.std(ddof=1)) / math.sqrt(len(values))
