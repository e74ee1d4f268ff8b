"""The error of noisy counts: what the mechanism promises, what one draw did, and what a reader of the counts notices.

For a Gaussian column only n is used; its sum and squares are not counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Floats
from dalenius.errors import ParameterError
from dalenius.releases import NoisyCounts

__all__ = ["CountError", "average_count", "count_error", "expected_noise"]


@dataclass(frozen=True, slots=True)
class CountError:
    """The error of one draw: the mean error of a count, and the share of people that the sensitive column's shares misplace."""

    mean_absolute: float
    total_variation: float


def expected_noise(mechanism: str, scale: float) -> float:
    """Return E|noise| of one count.

    Laplace: the scale b itself. Two-sided geometric, P(x) = (1 − α)/(1 + α) · α^|x| with α = exp(−1/b): twice the sum of
    x·α^x over x ≥ 1 is 2α/(1 − α)², so that E|x| = 2α/(1 − α²).
    """
    if mechanism == "none":
        return 0.0
    if mechanism == "laplace":
        return scale
    if mechanism == "geometric":
        return -2 * math.exp(-1 / scale) / math.expm1(-2 / scale)
    raise ParameterError("mechanism", "the expected noise", "geometric, laplace or none", mechanism)


def average_count(exact: NoisyCounts) -> float:
    """Return the people of a cell, over all cells of all tables, also those that nobody has."""
    tables = exact.counted
    return float(sum(table.sum() for table in tables)) / sum(table.size for table in tables)


def count_error(noisy: NoisyCounts, exact: NoisyCounts) -> CountError:
    """Return the error of one draw against the counts without noise."""
    off = sum(float(np.abs(a - b).sum()) for a, b in zip(noisy.counted, exact.counted, strict=True))
    cells = sum(table.size for table in exact.counted)
    return CountError(off / cells, float(np.abs(_shares(noisy) - _shares(exact)).sum()) / 2)


def _shares(release: NoisyCounts) -> Floats:
    """Return how common each sensitive value looks: its counts in all tables, none below 0."""
    total = np.sum([np.maximum(table, 0.0).sum(axis=0) for table in release.counted], axis=0)
    shares: Floats = total / total.sum() if total.any() else np.full(len(total), 1 / len(total))
    return shares
