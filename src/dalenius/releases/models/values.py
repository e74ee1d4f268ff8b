"""Channels of values: a bit, one of n values, a count."""

from __future__ import annotations

import math

import numpy as np

from dalenius.releases.models.base import (
    EPSILON,
    LARGEST,
    Channel,
    Parameter,
    channel_model,
    count,
    numbered,
    uniform_channel,
)

__all__ = ["flip", "geometric", "randomized_response"]


@channel_model(
    "flip",
    "a bit, published wrong with a probability",
    Parameter("p", "the probability that the bit is published wrong", high=1.0),
    example="flip:p=0.2",
    remark="P = D = p, for p ≤ ½",
)
def flip(p: float) -> Channel:
    """A bit that is published wrong with probability p: for p ≤ 1/2 the attacker's error is p (section V)."""
    return uniform_channel(["0", "1"], ["0", "1"], np.array([[1 - p, p], [p, 1 - p]]))


@channel_model(
    "randomized-response",
    "one of n values, kept with a probability and else replaced by one of the others at random",
    count("n", "the number of values", 2),
    Parameter("epsilon", EPSILON, high=1e6),
    Parameter("p", "the probability that the value is kept", high=1.0),
    example="randomized-response:n=5,epsilon=1",
    one_of=("epsilon", "p"),
)
def randomized_response(n: int, epsilon: float | None = None, p: float | None = None) -> Channel:
    """The true one of n values with probability p, else one of the others at random (Warner 1965).

    ε-differential privacy at its best: p/((1 − p)/(n − 1)) = e^ε, so p = 1/(1 + (n − 1)e^{−ε}).
    """
    if p is not None:
        keep, other = p, (1 - p) / (n - 1)
    else:
        assert epsilon is not None
        a = math.exp(-epsilon)  # both from a, so that a large ε does not lose 1 − p in rounding
        keep, other = 1 / (1 + (n - 1) * a), a / (1 + (n - 1) * a)
    matrix = np.full((n, n), other)
    np.fill_diagonal(matrix, keep)
    return uniform_channel(numbered(0, n), numbered(0, n), matrix)


@channel_model(
    "geometric",
    "a count from 0 to n with two-sided geometric noise, what falls outside put at the ends",
    count("n", "the largest count", 1, LARGEST - 1),
    Parameter("epsilon", f"{EPSILON}, for counts that differ by 1", above=True, high=1e6),
    example="geometric:n=10,epsilon=1",
)
def geometric(n: int, epsilon: float) -> Channel:
    """A count of 0..n plus noise z of Pr ∝ e^{−ε|z|}; what falls outside is put at that end (Ghosh et al. 2009).

    With a = e^{−ε}: Pr[z = k] = (1 − a)/(1 + a)·a^|k|, and Pr[z ≥ k] = a^k/(1 + a) for k ≥ 0.
    """
    a = math.exp(-epsilon)
    off = np.abs(np.arange(n + 1)[:, None] - np.arange(n + 1)[None, :])
    matrix = -math.expm1(-epsilon) / (1 + a) * a**off
    matrix[:, [0, -1]] = a ** off[:, [0, -1]] / (1 + a)
    return uniform_channel(numbered(0, n + 1), numbered(0, n + 1), matrix)
