"""Priors that differ by quasi-identifier cell, against every world of a small group."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dalenius.criteria.cell_prior import cell_beliefs, cell_beliefs_unknown
from dalenius.errors import InputError
from tests.criteria import realistic_oracle as oracle

THIRD = Fraction(1, 3)


def some_sigma(mixer: random.Random, cells: int, values: int) -> list[list[Fraction]]:
    return [[Fraction(mixer.randint(1, 24), mixer.choice((1, 4))) for _ in range(values)] for _ in range(cells)]


def some_histogram(mixer: random.Random, people: int, values: int) -> tuple[int, ...]:
    return oracle.tally([mixer.randrange(values) for _ in range(people)], values)


def some_shape(mixer: random.Random, values: int) -> tuple[Fraction, ...]:
    parts = [mixer.randint(1, 9) for _ in range(values)]
    return tuple(Fraction(part, sum(parts)) for part in parts)


def check(people: list[int], sigma: list[list[Fraction]], histogram: tuple[int, ...]) -> None:
    p_in, p_out = cell_beliefs(people, np.array(sigma, dtype=float), np.array(histogram))
    assert p_in.shape == p_out.shape == (len(people), len(histogram))
    priors = [oracle.dirichlet(row) for row in sigma]
    for c in range(len(people)):
        right = oracle.cell_worlds(people, priors, histogram, c)
        assert p_in[c] == pytest.approx([float(one) for one in right], rel=1e-11, abs=1e-15)
        for s, n in enumerate(histogram):
            if n:
                left_out = oracle.cell_worlds(people, priors, histogram, c, own=s)[s]
                assert p_out[c, s] == pytest.approx(float(left_out), rel=1e-11)
            else:
                assert math.isnan(p_out[c, s])


@pytest.mark.parametrize("seed", range(40))
def test_cells_against_every_world(seed: int) -> None:
    mixer = random.Random(seed)
    values, cells = mixer.choice((2, 3)), mixer.choice((1, 2, 2, 3))
    people = [mixer.randint(1, 3) for _ in range(cells)]
    while sum(people) > 6:
        people[people.index(max(people))] -= 1
    check(people, some_sigma(mixer, cells, values), some_histogram(mixer, sum(people), values))


def test_cells_by_hand() -> None:
    """A has seen D(3,1) of cell 0 and D(1,3) of cell 1, one person each, one of each value: 9 : 1 for who has which.

    Left out with value a, she leaves {b} behind: of cell 0 she had a with 3/4, whatever the person of cell 1 has.
    """
    p_in, p_out = cell_beliefs([1, 1], [[3, 1], [1, 3]], [1, 1])
    assert p_in == pytest.approx(np.array([[0.9, 0.1], [0.1, 0.9]]), rel=1e-14)
    assert p_out == pytest.approx(np.array([[0.75, 0.25], [0.25, 0.75]]), rel=1e-14)


def test_a_homogeneous_group_is_certain_and_a_value_of_nobody_impossible() -> None:
    check([2, 3], [[Fraction(1), Fraction(2), THIRD], [Fraction(5), Fraction(1), Fraction(1)]], (0, 5, 0))
    p_in, p_out = cell_beliefs([2, 3], [[1, 2, 4], [5, 1, 1]], [0, 5, 0])
    assert p_in.tolist() == [[0, 1, 0], [0, 1, 0]]
    assert np.isnan(p_out).tolist() == [[True, False, True], [True, False, True]]


def test_one_cell_gives_the_usual_formulas() -> None:
    """Equations 8 and 9: n(s)/n and (n(s) + σ(s) − 1)/(n + σ − 1)."""
    mixer = random.Random(1)
    for _ in range(30):
        values = mixer.randint(2, 4)
        histogram = some_histogram(mixer, mixer.randint(1, 25), values)
        [sigma] = some_sigma(mixer, 1, values)
        p_in, p_out = cell_beliefs([sum(histogram)], np.array([sigma], dtype=float), np.array(histogram))
        n, total = sum(histogram), sum(sigma)
        for s, mine in enumerate(histogram):
            assert p_in[0, s] == pytest.approx(mine / n, rel=1e-10, abs=1e-15)
            if mine:
                assert p_out[0, s] == pytest.approx(float((mine + sigma[s] - 1) / (n + total - 1)), rel=1e-10)


def test_larger_groups_still_add_up() -> None:
    """Beyond enumeration: everybody has one value, and together they have the histogram."""
    mixer = random.Random(2)
    for _ in range(10):
        people = [mixer.randint(1, 25) for _ in range(mixer.randint(2, 6))]
        values = mixer.choice((2, 3))
        histogram = some_histogram(mixer, sum(people), values)
        sigma = np.array(some_sigma(mixer, len(people), values), dtype=float)
        p_in, p_out = cell_beliefs(people, sigma, np.array(histogram))
        assert p_in.sum(axis=1) == pytest.approx(np.ones(len(people)), rel=1e-10)
        assert np.array(people) @ p_in == pytest.approx(np.array(histogram, dtype=float), rel=1e-10, abs=1e-10)
        present = np.array(histogram) > 0
        assert ((p_out > 0) & (p_out < 1))[:, present].all()


def test_two_values_of_a_large_group_by_a_sum_over_one_count() -> None:
    """Two cells and two values: who has the first value is one number x, and its law a sum that fractions can do."""
    people, sigma, histogram = [30, 50], [[Fraction(7, 2), Fraction(3, 2)], [Fraction(2), Fraction(9)]], (33, 47)

    def law(m: int, row: list[Fraction], x: int) -> Fraction:
        return math.comb(m, x) * oracle.dirichlet(row)((x, m - x))

    def mean(sizes: list[int], target: int) -> Fraction:
        """E[X_0] given X_0 + X_1 = target."""
        ways = {
            x: law(sizes[0], sigma[0], x) * law(sizes[1], sigma[1], target - x)
            for x in range(sizes[0] + 1)
            if 0 <= target - x <= sizes[1]
        }
        return sum((x * p for x, p in ways.items()), Fraction(0)) / sum(ways.values())

    p_in, p_out = cell_beliefs(people, np.array(sigma, dtype=float), np.array(histogram))
    assert p_in[0, 0] == pytest.approx(float(mean([30, 50], 33) / 30), rel=1e-10)
    assert p_in[1, 0] == pytest.approx(float((33 - mean([30, 50], 33)) / 50), rel=1e-10)
    assert p_out[0, 0] == pytest.approx(float((Fraction(7, 2) + mean([29, 50], 32)) / (5 + 29)), rel=1e-10)
    second = 32 - mean([30, 49], 32)
    assert p_out[1, 0] == pytest.approx(float((2 + second) / (11 + 49)), rel=1e-10)


@pytest.mark.parametrize(
    ("people", "sigma", "histogram"),
    [
        ([2], [[1, 1]], [1, 2]),
        ([2, 1], [[1, 1]], [1, 2]),
        ([2], [[1, 1, 1]], [1, 1]),
        ([2], [[1, 0]], [1, 1]),
        ([2], [[1, math.nan]], [1, 1]),
        ([2], [[1, math.inf]], [1, 1]),
        ([2], [[1, 1]], [3, -1]),
        ([], np.zeros((0, 2)), [0, 0]),
    ],
)
def test_what_does_not_fit_is_refused(people: list[int], sigma: object, histogram: list[int]) -> None:
    with pytest.raises(InputError):
        cell_beliefs(people, sigma, histogram)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
def test_hidden_cells_against_every_world(seed: int) -> None:
    """The others' cells are unknown: their values are drawn from the mixture φ_q of the cells' shapes."""
    mixer = random.Random(seed)
    values = mixer.choice((2, 3))
    histogram = some_histogram(mixer, mixer.randint(1, 5 if values == 2 else 4), values)
    mine, shapes = some_shape(mixer, values), [some_shape(mixer, values) for _ in range(2)]
    shares = some_shape(mixer, 2)
    mixed = [sum(w * shape[s] for w, shape in zip(shares, shapes, strict=True)) for s in range(values)]
    p_in, p_out = cell_beliefs_unknown(
        np.array(histogram), np.array([float(p) for p in mine]), np.array([float(p) for p in mixed])
    )
    right = oracle.unknown_worlds(histogram, mine, shares, shapes)
    assert p_in == pytest.approx([float(one) for one in right], rel=1e-12, abs=1e-15)
    for own in (s for s, n in enumerate(histogram) if n):
        left_out = oracle.unknown_worlds(histogram, mine, shares, shapes, own)
        assert p_out == pytest.approx([float(one) for one in left_out], rel=1e-12)


def test_a_value_that_the_target_cannot_have() -> None:
    p_in, p_out = cell_beliefs_unknown([3, 1, 0], [0.0, 0.5, 0.5], [0.5, 0.25, 0.25])
    assert p_in.tolist() == [0, 1, 0]
    assert p_out.tolist() == [0, 0.5, 0.5]


def test_impossible_groups_are_refused() -> None:
    with pytest.raises(InputError):
        cell_beliefs_unknown([3, 1], [0.5, 0.5], [1.0, 0.0])
    with pytest.raises(InputError):
        cell_beliefs_unknown([3, 0], [0.0, 1.0], [0.5, 0.5])
