"""How often an adversary is right: success rate, naive rate, control, gain, each with an interval.

A guess is the value with the largest belief. If c values tie and the truth is one of them, the guess is right
with probability 1/c, the expectation of guessing among them at random.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dalenius.arrays import Bools, Floats

__all__ = [
    "CONFIDENCE",
    "MARGIN",
    "TIE",
    "Bin",
    "Confidence",
    "People",
    "Rate",
    "Shift",
    "Verdict",
    "breach_rate",
    "calibration",
    "confidence",
    "gain",
    "high_confidence",
    "hits",
    "judge",
    "naive",
    "perfect_breach",
    "rate",
    "success",
]

TIE = 1e-9  # beliefs that differ relatively by less share the first place
CONFIDENCE = 0.95
MARGIN = 0.05  # a gain significantly below this reveals population patterns only

People = NDArray[np.integer] | Floats  # how many persons each target stands for
Verdict = Literal["leaks about persons", "only about the population", "not enough data to say"]


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of n people, with a 95 % interval."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def undefined(cls) -> Rate:
        return cls(math.nan, math.nan, math.nan, 0)


def _persons(people: People) -> int:
    """Return the number of people; those in several places count in fractions."""
    return round(float(people.sum()))


def rate(successes: float, n: int) -> Rate:
    """Return successes/n with the exact binomial interval of Clopper and Pearson (1934).

    The limits are quantiles of beta distributions and as such defined for expected successes, too, which ties make
    fractional.
    """
    if n == 0:
        return Rate.undefined()
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if successes <= 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes >= n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return Rate(successes / n, low, high, n)


def hits(posterior: Floats, truth: NDArray[np.integer]) -> Floats:
    """Return for each target the probability that its most believed value is right; 0 if nothing is believed."""
    believed = np.nan_to_num(posterior, nan=-1.0)
    best = believed.max(axis=1)
    first = believed >= best[:, None] * (1 - TIE)
    right = first[np.arange(len(truth)), truth] & (best > 0)
    expected: Floats = right / np.maximum(first.sum(axis=1), 1)
    return expected


def success(posterior: Floats, truth: NDArray[np.integer], people: People) -> Rate:
    """Return the success rate over people: target i stands for `people[i]` of them with value `truth[i]`."""
    n = _persons(people)
    return rate(float(hits(posterior, truth) @ people), n)


def naive(table: NDArray[np.integer], truth: NDArray[np.integer], people: People) -> Rate:
    """Return the success rate of always guessing the most common value of the release."""
    n = _persons(people)
    first = table == table.max()
    return rate(float((first[truth] / first.sum()) @ people), n)


def gain(attack: Rate, control: Rate) -> Rate:
    """Return attack − control with the interval of Newcombe (1998, method 10) made of both rates' own intervals."""
    if attack.n == 0 or control.n == 0:
        return Rate.undefined()
    difference = attack.value - control.value
    low = difference - math.hypot(attack.value - attack.low, control.high - control.value)
    high = difference + math.hypot(attack.high - attack.value, control.value - control.low)
    return Rate(difference, max(low, -1.0), min(high, 1.0), min(attack.n, control.n))


@dataclass(frozen=True, slots=True)
class Shift:
    """How much rarer or more common the most common value is among held-out people, at least and at most (95 %).

    If the interval includes 0, chance explains the difference, and both are 0.
    """

    least: float = 0.0
    most: float = 0.0

    @classmethod
    def between(cls, naive: Rate, control_naive: Rate) -> Shift:
        drift = gain(naive, control_naive)
        least = 0.0 if drift.n == 0 else max(0.0, drift.low, -drift.high)
        return cls(least, max(drift.high, -drift.low)) if least else cls()


def judge(
    person_gain: Rate, breach_gain: Rate | None = None, *, comparable: bool = True, shift: float = 0.0
) -> Verdict:
    """Return what the gains over the control mean: significantly positive, significantly small, or neither.

    `breach_gain` is that of the share of people of whose true value the adversary is certain: a few people given away
    for sure weigh nothing in the average, and are a leak. A control that is not like the people says nothing. If it differs
    from them by a `shift` at most, a gain that may come from that is no gain.
    """
    if person_gain.n == 0 or not comparable:
        return "not enough data to say"
    if person_gain.low > shift or (breach_gain is not None and breach_gain.low > shift):
        return "leaks about persons"
    return "only about the population" if person_gain.high + shift <= MARGIN else "not enough data to say"


def high_confidence(
    posterior: Floats,
    truth: NDArray[np.integer],
    people: People,
    above: float = 0.8,
    *,
    said: Floats | None = None,
) -> Rate:
    """Return the success rate among the people of whom the adversary is surer than `above`; `n` is their number.

    What counts as right is what it says, where that is not what it believes most.
    """
    sure = np.nan_to_num(posterior, nan=-1.0).max(axis=1) > above
    if not sure.any():
        return Rate.undefined()
    return success((posterior if said is None else said)[sure], truth[sure], people[sure])


@dataclass(frozen=True, slots=True)
class Confidence:
    """How confident the adversary is in its guesses, right or wrong. This needs no truth."""

    mean: float
    above_half: float
    above_80: float
    certain: float  # assuming that whoever fits a class is not suppressed
    certain_sure: float  # in any case


def confidence(posterior: Floats, people: People, assumed: Floats | None = None) -> Confidence:
    """Return shares of people by the belief in their most believed value, which is 0 if nothing is believed.

    `assumed` is the posterior of whoever assumes that a person who fits a class is not suppressed, if that is another one.
    """
    best = np.nan_to_num(posterior, nan=0.0).max(axis=1)
    surest = best if assumed is None else np.nan_to_num(assumed, nan=0.0).max(axis=1)
    n = float(people.sum())
    if n == 0:
        return Confidence(0.0, 0.0, 0.0, 0.0, 0.0)

    def share(of: Bools) -> float:
        return float(people[of].sum()) / n

    certain, sure = share(surest >= 1 - TIE), share(best >= 1 - TIE)
    return Confidence(float(best @ people) / n, share(best > 0.5), share(best > 0.8), certain, sure)


def perfect_breach(posterior: Floats, truth: NDArray[np.integer], people: People) -> float:
    """Return the share of people of whose true value the adversary is certain."""
    return breach_rate(posterior, truth, people).value


def breach_rate(posterior: Floats, truth: NDArray[np.integer], people: People) -> Rate:
    """Return that share with its interval."""
    believed = np.nan_to_num(posterior)[np.arange(len(truth)), truth]
    return rate(float(people[believed >= 1 - TIE].sum()), _persons(people))


@dataclass(frozen=True, slots=True)
class Bin:
    """People whose most believed value has a probability in [low, high): the adversary's confidence and success."""

    low: float
    high: float
    confidence: float
    right: Rate


def calibration(
    posterior: Floats,
    truth: NDArray[np.integer],
    people: People,
    bins: int = 10,
    *,
    said: Floats | None = None,
) -> tuple[Bin, ...]:
    """Return confidence against success in equal steps of confidence, without empty steps."""
    best = np.nan_to_num(posterior, nan=-1.0).max(axis=1)
    right = hits(posterior if said is None else said, truth)
    filled = []
    for b in range(bins):
        low, high = b / bins, (b + 1) / bins
        in_bin = (best >= low) & ((best < high) if b < bins - 1 else (best <= 1 + TIE)) & (people > 0)
        n = _persons(people[in_bin])
        if n:
            mean = float(best[in_bin] @ people[in_bin]) / n
            filled.append(Bin(low, high, mean, rate(float(right[in_bin] @ people[in_bin]), n)))
    return tuple(filled)
