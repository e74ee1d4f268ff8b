"""How far a table of noisy counts departs from independence, compared with how far noise and chance alone would take it.

Let N be the counts (v by s), p and q the shares of its rows and of the sensitive values, A = I − p1ᵀ and B = I − 1qᵀ. Then
E = A N B is N minus what independence expects, and T = Σ E². If values do not depend on each other, E is A Z B plus the chance
variation of n people. Z is the noise, each entry with variance σ² and fourth cumulant κ; people have covariance n Σp ⊗ Σq, with
Σp = diag(p) − ppᵀ. Mean and variance of a quadratic form of independent numbers are known:

    mean = σ² |A|² |B|² + n tr Σp tr Σq
    variance = 2σ⁴ |AᵀA|² |BBᵀ|² + κ Σ(AᵀA)ᵥᵥ² Σ(BBᵀ)ₛₛ² + 2n² tr Σp² tr Σq² + 4σ²n tr(AAᵀΣp) tr(BᵀBΣq)

|·| is Frobenius' norm. The departure is (T − mean)/√variance. Only the release is used. Where noise hides even the number of people
(it is below `MIN_PEOPLE_DEVIATIONS` of its own standard deviations), p and q are noise, and no departure can be measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Floats
from dalenius.releases import NoisyCounts
from dalenius.releases.moments import Moments

__all__ = ["Noise", "departures", "expected", "of_moments", "of_table"]

MIN_PEOPLE_DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True)
class Noise:
    """Variance and fourth cumulant of the noise of a number."""

    variance: float
    fourth: float

    @classmethod
    def of(cls, mechanism: str, scale: float) -> Noise:
        if mechanism == "none":
            return cls(0.0, 0.0)
        if mechanism == "laplace":
            return cls(2 * scale**2, 12 * scale**4)
        # The difference of two geometric numbers: twice the even cumulants of one of them.
        alpha, beta = math.exp(-1 / scale), -math.expm1(-1 / scale)
        return cls(2 * alpha / beta**2, 2 * alpha * (1 + 4 * alpha + alpha**2) / beta**4)


def departures(release: NoisyCounts) -> dict[tuple[str, ...], float]:
    """Return the departure of each table and of each Gaussian column; −∞ where it cannot be measured."""
    tables = release.counted
    people = max(0.0, float(np.mean([table.sum() for table in tables])))
    values = np.maximum(np.sum([table.sum(axis=0) for table in tables], axis=0), 0.0)
    noise = Noise.of(release.mechanism, release.scale)
    if people <= MIN_PEOPLE_DEVIATIONS * math.sqrt(noise.variance * sum(table.size for table in tables)) / len(tables):
        return dict.fromkeys((*release.tables, *((name,) for name in release.moments)), -math.inf)
    result = {
        names: of_table(counts, values, people, noise)
        for names, counts in zip(release.tables, release.noisy, strict=True)
    }
    for name, moments in release.moments.items():
        units = [Noise.of(release.mechanism, release.scale * unit) for unit in moments.units]
        result[name,] = of_moments(moments, values, people, units)
    return result


def of_table(counts: Floats, values: Floats, people: float, noise: Noise) -> float:
    """Return the departure of one table. `values` are proportional to the shares of the sensitive values."""
    rows = np.maximum(counts.sum(axis=1), 0.0)
    if not rows.any() or not values.any():
        return -math.inf
    p, q = rows / rows.sum(), values / values.sum()
    left = counts - np.outer(p, counts.sum(axis=0))
    statistic = float(((left - np.outer(left.sum(axis=1), q)) ** 2).sum())
    mean, variance = expected(p, q, people, noise)
    return (statistic - mean) / math.sqrt(variance) if variance > 0 else -math.inf


def expected(p: Floats, q: Floats, people: float, noise: Noise) -> tuple[float, float]:
    """Return mean and variance of T under independence."""
    row, value = _traces(p), _traces(q)
    mean = noise.variance * row[0] * value[0] + people * row[3] * value[3]
    variance = (
        2 * noise.variance**2 * row[1] * value[1]
        + noise.fourth * row[2] * value[2]
        + 2 * people**2 * row[4] * value[4]
        + 4 * noise.variance * people * row[5] * value[5]
    )
    return mean, variance


def _traces(p: Floats) -> tuple[float, float, float, float, float, float]:
    """Return |A|², |AᵀA|², Σ(AᵀA)ᵥᵥ², tr Σ, tr Σ² and tr(AAᵀΣ) of shares p.

    AᵀA = I − p1ᵀ − 1pᵀ + c11ᵀ with c = Σp², so that its squares add up to V − 2 + V²c². AAᵀ has Vppᵀ as its last term, and
    Σ1 = 0.
    """
    size = len(p)
    second, third = float((p**2).sum()), float((p**3).sum())
    return (
        size - 2 + size * second,
        size - 2 + (size * second) ** 2,
        float(((1 - 2 * p + second) ** 2).sum()),
        1 - second,
        second - 2 * third + second**2,
        1 - second + size * (third - second**2),
    )


def of_moments(moments: Moments, values: Floats, people: float, noises: list[Noise]) -> float:
    """Return the departure of a Gaussian column: of its means or of its mean squares, whichever is larger.

    Let m be the mean of x. If x does not depend on s, sum − m n is noise and chance only. Its entries have variance
    σ²(sum) + m² σ²(n) from noise, and n q var x from chance. For squares, var x² is at most R² mean x² − (mean x²)².
    """
    n, total, squares = moments.values
    if n.sum() <= 0 or not values.any():
        return -math.inf
    q = values / values.sum()
    reach = moments.reach
    first = min(max(float(total.sum() / n.sum()), 0.0), reach)
    second = min(max(float(squares.sum() / n.sum()), first**2), first * reach)
    results = []
    for row, mean, noise, spread in (
        (total, first, noises[1], second - first**2),
        (squares, second, noises[2], max(0.0, reach**2 * second - second**2)),
    ):
        own = noise.variance + mean**2 * noises[0].variance + people * q * spread
        fourth = noise.fourth + mean**4 * noises[0].fourth
        variance = float((2 * own**2 + fourth).sum())
        statistic = float(((row - mean * n) ** 2).sum() - own.sum())
        results.append(statistic / math.sqrt(variance) if variance > 0 else -math.inf)
    return max(results)
