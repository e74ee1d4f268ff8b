"""Priors by cell far from what a release says: beliefs that are all but certain, against whole-number arithmetic."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from dalenius.criteria.cell_prior import levels_by_cell
from dalenius.releases import GroupCells, Grouping
from dalenius.schema import Column, Domain

CASES = [
    ([66, 111, 227], [[891, 10932], [436, 540854], [356, 519739]], [202, 202]),
    ([188, 200, 117], [[120, 324099], [3621, 2028], [7, 36922]], [359, 146]),
    ([163, 107, 75], [[867, 735], [2781548, 12], [1, 4007512]], [319, 26]),
    ([100, 100], [[1, 1000001], [1, 1000001]], [100, 100]),
    ([1, 1], [[1, 10**9], [10**9, 1]], [1, 1]),
    ([300], [[5, 7]], [100, 200]),
]


def rising(a: int, n: int) -> int:
    product = 1
    for i in range(n):
        product *= a + i
    return product


def law(m: int, sigma: list[int]) -> list[int]:
    return [comb(m, x) * rising(sigma[0], x) * rising(sigma[1], m - x) for x in range(m + 1)]


def epsilon(people: list[int], sigma: list[list[int]], histogram: list[int]) -> Fraction:
    """ε of a group of two values, from the definition, with whole numbers."""
    worst = Fraction(1)
    for c, m in enumerate(people):
        rest = [1]
        for d, size in enumerate(people):
            if d != c:
                more, mine = [0] * (len(rest) + size), law(size, sigma[d])
                for i, x in enumerate(rest):
                    for j, y in enumerate(mine):
                        more[i + j] += x * y
                rest = more

        def mean(size: int, first: int, c: int = c, rest: list[int] = rest) -> Fraction:
            weights = [
                w * rest[first - x] if 0 <= first - x < len(rest) else 0 for x, w in enumerate(law(size, sigma[c]))
            ]
            return Fraction(sum(x * w for x, w in enumerate(weights)), sum(weights))

        total = sum(sigma[c]) + m - 1
        inside = mean(m, histogram[0]) / m
        pairs = [
            (inside, (sigma[c][0] + mean(m - 1, histogram[0] - 1)) / total),
            (1 - inside, (sigma[c][1] + m - 1 - mean(m - 1, histogram[0])) / total),
        ]
        worst = max(worst, *(p / q for p, q in pairs if p), *((1 - q) / (1 - p) for p, q in pairs if p))
    return worst


def ours(people: list[int], sigma: list[list[int]], histogram: list[int]) -> float:
    column = Column("ill", "sensitive", domain=Domain(("yes", "no")))
    counts = np.array(histogram, dtype=np.int64)
    grouping = Grouping(column, np.array([0, 2]), np.array([0, 1], dtype=np.int32), counts, counts, 0)
    cells = np.arange(len(people), dtype=np.int32)[:, None]
    composition = GroupCells(np.zeros(len(people), dtype=np.int32), cells, np.array(people, dtype=np.int64))
    prior = np.array([[c, s] for c in range(len(people)) for s in range(2)], dtype=np.int32)
    seen = np.array([number - 1 for row in sigma for number in row], dtype=np.int64)
    return float(levels_by_cell(grouping, composition, prior, seen)[0])


@pytest.mark.parametrize(("people", "sigma", "histogram"), CASES)
def test_far_from_the_prior(people: list[int], sigma: list[list[int]], histogram: list[int]) -> None:
    assert ours(people, sigma, histogram) == pytest.approx(float(epsilon(people, sigma, histogram)), rel=1e-9)


def test_random_groups_with_priors_of_any_size() -> None:
    rng = random.Random(3)
    largest = 0.0
    for _ in range(60):
        people = [rng.randint(1, 40) for _ in range(rng.randint(1, 4))]
        sigma = [[1 + int(10 ** rng.uniform(0, 7)) for _ in range(2)] for _ in people]
        first = rng.randint(1, sum(people) - 1) if sum(people) > 1 else 1
        if first == sum(people):
            continue
        histogram = [first, sum(people) - first]
        expected = float(epsilon(people, sigma, histogram))
        assert ours(people, sigma, histogram) == pytest.approx(expected, rel=1e-9)
        largest = max(largest, expected)
    assert largest > 1000  # some of them are far from the prior
