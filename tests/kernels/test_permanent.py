"""Permanents against sums over all permutations, exact fractions, and the matrices whose permanent is known."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.kernels.permanent import RESET_BITS, glynn
from dalenius.measures.communication import MAX_ROWS, permanent

Floats = NDArray[np.float64]


def by_permutations(matrix: Floats) -> float:
    n = len(matrix)
    return math.fsum(math.prod(matrix[i, p[i]] for i in range(n)) for p in itertools.permutations(range(n)))


def exact(matrix: Floats) -> Fraction:
    """Row by row over the sets of columns that are taken, in fractions: the numbers as the computer holds them."""
    n = len(matrix)
    rows = [[Fraction(a) for a in row] for row in matrix.tolist()]
    scale = math.lcm(*(a.denominator for row in rows for a in row))
    whole = [[int(a * scale) for a in row] for row in rows]
    of = {0: 1}
    for row in whole:
        after: dict[int, int] = {}
        for taken, sum_ in of.items():
            for j in range(n):
                if not taken >> j & 1 and row[j]:
                    after[taken | 1 << j] = after.get(taken | 1 << j, 0) + sum_ * row[j]
        of = after
    return Fraction(of.get((1 << n) - 1, 0), scale**n)


def doubly_stochastic(n: int, spread: float, rng: np.random.Generator) -> Floats:
    """Sinkhorn's scaling of a random matrix; a large spread makes a few entries of each row matter only."""
    found = np.exp(spread * rng.normal(size=(n, n)))
    for _ in range(3000):
        found /= found.sum(axis=1, keepdims=True)
        found /= found.sum(axis=0, keepdims=True)
    return found


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.booleans())
def test_it_is_the_sum_over_permutations(n: int, seed: int, integers: bool) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 4, (n, n)).astype(float) if integers else rng.random((n, n))
    assert permanent(matrix) == pytest.approx(by_permutations(matrix), rel=1e-12, abs=1e-300)


def test_the_kernel_has_both_signs() -> None:
    matrix = np.array([[1.0, 2.0], [-3.0, 5.0]])
    assert glynn(matrix)[0] == -1.0  # 1·5 + 2·(−3)
    assert permanent(matrix) == -1.0


@pytest.mark.parametrize("n", range(1, MAX_ROWS + 1))
def test_uniform_and_identity(n: int) -> None:
    expected = float(Fraction(math.factorial(n), n**n))
    assert permanent(np.full((n, n), 1 / n)) == pytest.approx(expected, rel=5e-12, abs=0)
    assert permanent(np.eye(n)) == 1.0
    order = np.random.default_rng(n).permutation(n)
    assert permanent(np.eye(n)[order]) == 1.0


@pytest.mark.parametrize("spread", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("n", [8, 11, 13, 15])
def test_relative_error_of_doubly_stochastic_matrices(n: int, spread: float) -> None:
    """n = 13 and more take several blocks of the Gray code."""
    assert 2**RESET_BITS < 2 ** (13 - 1)
    matrix = doubly_stochastic(n, spread, np.random.default_rng(n))
    true = exact(matrix)
    assert abs(float(Fraction(permanent(matrix)) / true - 1)) < 1e-12


def test_relative_error_of_the_largest() -> None:
    """Two blocks on a diagonal: the permanent is the product of theirs, which are exact; hardly a worse case than uniform."""
    rng = np.random.default_rng(4)
    one, other = doubly_stochastic(12, 0.5, rng), doubly_stochastic(12, 0.5, rng)
    matrix = np.zeros((24, 24))
    matrix[:12, :12], matrix[12:, 12:] = one, other
    shuffled = matrix[rng.permutation(24)][:, rng.permutation(24)]
    true = exact(one) * exact(other)
    assert abs(float(Fraction(permanent(shuffled)) / true - 1)) < 1e-10


def test_rows_and_columns_of_any_scale() -> None:
    rng = np.random.default_rng(5)
    matrix = rng.random((6, 6))
    rows, columns = 10.0 ** rng.integers(-40, 40, 6), 10.0 ** rng.integers(-10, 10, 6)
    scaled = matrix * rows[:, None] * columns
    assert permanent(scaled) == pytest.approx(float(exact(scaled)), rel=1e-12, abs=0)


def test_products_that_all_have_a_zero() -> None:
    matrix = np.random.default_rng(6).random((9, 9))
    matrix[:4, 3:] = 0  # four rows share three columns
    assert permanent(matrix) == 0.0
    assert permanent(np.zeros((3, 3))) == 0.0


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"of 25 rows takes 25·2\^24 steps; at most 24"):
        permanent(np.eye(25))
    with pytest.raises(InputError, match="square"):
        permanent(np.ones((2, 3)))
    with pytest.raises(InputError, match="not a number"):
        permanent(np.array([[math.nan]]))
    nearly = np.random.default_rng(7).normal(size=(12, 12))
    without = nearly.copy()
    without[0, 0] = 0
    nearly[0, 0] = -permanent(without) / permanent(nearly[1:, 1:])  # the permanent is 0 but for rounding
    with pytest.raises(InputError, match="cancel"):
        permanent(nearly)
    with pytest.raises(InputError, match="larger than the largest number"):
        permanent(np.full((4, 4), 1e100))
