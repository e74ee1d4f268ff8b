"""Success, naive rate, control and gain: against plain loops, SciPy, Newcombe's printed examples, and their coverage."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from dalenius.measures import accuracy
from dalenius.measures.accuracy import CONFIDENCE, MARGIN, Rate

Beliefs = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]


@st.composite
def beliefs(draw: st.DrawFn) -> Beliefs:
    """Posteriors with many ties, some targets of whom nothing is believed, their true values, and how many they are."""
    n, values = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    weights = np.array(
        draw(st.lists(st.lists(st.integers(0, 4), min_size=values, max_size=values), min_size=n, max_size=n))
    )
    posterior = np.full((n, values), np.nan)
    believed = weights.sum(axis=1) > 0
    posterior[believed] = weights[believed] / weights[believed].sum(axis=1, keepdims=True)
    truth = np.array(draw(st.lists(st.integers(0, values - 1), min_size=n, max_size=n)))
    people = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    return posterior, truth, people


def loop_hits(posterior: NDArray[np.float64], truth: Sequence[int]) -> list[float]:
    """Guess the most believed value, and one of those that share the first place at random."""
    found = []
    for row, true in zip(posterior.tolist(), truth, strict=True):
        if math.isnan(row[0]):
            found.append(0.0)
            continue
        first = [s for s, p in enumerate(row) if math.isclose(p, max(row), rel_tol=1e-9, abs_tol=0)]
        found.append(1 / len(first) if true in first else 0.0)
    return found


def repeated(posterior: NDArray[np.float64], truth: NDArray[np.int64], people: NDArray[np.int64]) -> Beliefs:
    """A row for each person."""
    rows = np.repeat(np.arange(len(truth)), people)
    return posterior[rows], truth[rows], np.ones(len(rows), dtype=np.int64)


# --- Success -----------------------------------------------------------------------------------------------------------


@given(beliefs())
def test_success_is_the_mean_of_hits_with_ties_split(drawn: Beliefs) -> None:
    posterior, truth, people = drawn
    hits = loop_hits(posterior, truth.tolist())
    assert accuracy.hits(posterior, truth) == pytest.approx(hits)
    found = accuracy.success(posterior, truth, people)
    assert found.n == people.sum()
    if found.n:
        assert found.value == pytest.approx(sum(h * w for h, w in zip(hits, people, strict=True)) / people.sum())
        assert 0 <= found.low <= found.value + 1e-12 <= found.high + 2e-12 <= 1 + 2e-12
    else:
        assert math.isnan(found.value)


def test_a_tie_is_one_up_to_rounding_only() -> None:
    truth = np.array([1])
    assert accuracy.hits(np.array([[0.5 + 1e-12, 0.5 - 1e-12]]), truth) == [0.5]
    assert accuracy.hits(np.array([[0.5 + 1e-7, 0.5 - 1e-7]]), truth) == [0]
    assert accuracy.hits(np.array([[0.2, 0.2, 0.6]]), truth) == [0]
    assert accuracy.hits(np.full((1, 4), 0.25), truth) == [0.25]


def test_a_target_that_fits_nowhere_is_a_failure_and_not_undefined() -> None:
    """Held-out people often fit no class; they count, as wrong guesses, and never make the rate nan."""
    posterior = np.array([[np.nan, np.nan], [1.0, 0.0]])
    found = accuracy.success(posterior, np.array([0, 0]), np.array([3, 1]))
    assert (found.value, found.n) == (0.25, 4)
    assert accuracy.high_confidence(posterior, np.array([0, 0]), np.array([3, 1])).n == 1


@given(beliefs())
def test_weights_are_people(drawn: Beliefs) -> None:
    """A target that stands for w people counts as w rows of one person, in every measure."""
    one_by_one = repeated(*drawn)
    posterior, truth, people = drawn
    for measure in (accuracy.success, accuracy.high_confidence):
        same(measure(*drawn), measure(*one_by_one))
    table = np.bincount(truth, minlength=posterior.shape[1])
    same(accuracy.naive(table, truth, people), accuracy.naive(table, one_by_one[1], one_by_one[2]))
    bins, others = accuracy.calibration(*drawn), accuracy.calibration(*one_by_one)
    assert [(b.low, b.high) for b in bins] == [(b.low, b.high) for b in others]
    for mine, other in zip(bins, others, strict=True):
        assert mine.confidence == pytest.approx(other.confidence)
        same(mine.right, other.right)
    if people.sum():
        assert vars_of(accuracy.confidence(posterior, people)) == pytest.approx(
            vars_of(accuracy.confidence(one_by_one[0], one_by_one[2]))
        )
        assert accuracy.perfect_breach(*drawn) == pytest.approx(accuracy.perfect_breach(*one_by_one))


def same(one: Rate, other: Rate) -> None:
    assert one.n == other.n
    np.testing.assert_allclose([one.value, one.low, one.high], [other.value, other.low, other.high], atol=1e-9)


def vars_of(found: accuracy.Confidence) -> list[float]:
    return [found.mean, found.above_half, found.above_80, found.certain]


@given(beliefs())
def test_confidence_and_breach_against_a_loop(drawn: Beliefs) -> None:
    posterior, truth, people = drawn
    n = people.sum()
    if not n:
        return
    best = [0.0 if math.isnan(row[0]) else max(row) for row in posterior.tolist()]
    found = accuracy.confidence(posterior, people)
    assert found.mean == pytest.approx(sum(b * w for b, w in zip(best, people, strict=True)) / n)
    assert found.above_half == pytest.approx(sum(w for b, w in zip(best, people, strict=True) if b > 0.5) / n)
    assert found.above_80 == pytest.approx(sum(w for b, w in zip(best, people, strict=True) if b > 0.8) / n)
    assert found.certain == pytest.approx(sum(w for b, w in zip(best, people, strict=True) if b == 1) / n)
    certain = sum(w for row, s, w in zip(posterior.tolist(), truth, people, strict=True) if row[s] == 1)
    assert accuracy.perfect_breach(posterior, truth, people) == pytest.approx(certain / n)


def test_naive_is_the_commonest_value_of_the_release() -> None:
    truth, people = np.array([0, 1, 2, 0]), np.array([1, 5, 1, 1])
    assert accuracy.naive(np.array([1, 7, 2]), truth, people).value == 5 / 8
    assert accuracy.naive(np.array([7, 7, 2]), truth, people).value == pytest.approx(
        (2 + 5) / 2 / 8
    )  # two share the place
    assert (
        accuracy.naive(np.array([0, 1, 9]), truth, people).value == 1 / 8
    )  # the release's commonest, not the people's


def test_high_confidence_looks_at_the_sure_only() -> None:
    posterior = np.array([[0.81, 0.19], [0.8, 0.2], [0.95, 0.05], [0.5, 0.5]])
    found = accuracy.high_confidence(posterior, np.array([0, 0, 1, 0]), np.array([1, 10, 3, 10]))
    assert (found.n, found.value) == (4, 0.25)  # exactly 0.8 is not above it
    assert accuracy.high_confidence(posterior[3:], np.array([0]), np.array([1])).n == 0
    assert accuracy.high_confidence(posterior, np.array([0, 0, 1, 0]), np.array([1, 10, 3, 10]), above=0.9).value == 0


# --- Calibration -------------------------------------------------------------------------------------------------------


@given(beliefs(), st.integers(1, 12))
def test_calibration_bins_partition_the_people(drawn: Beliefs, steps: int) -> None:
    posterior, truth, people = drawn
    bins = accuracy.calibration(posterior, truth, people, bins=steps)
    believed = ~np.isnan(posterior).any(axis=1)
    assert sum(b.right.n for b in bins) == people[believed].sum()
    hits = np.array(loop_hits(posterior, truth.tolist()))
    assert sum(b.right.value * b.right.n for b in bins) == pytest.approx(float(hits @ people))
    best = np.where(believed, np.nan_to_num(posterior).max(axis=1), 0)
    assert sum(b.confidence * b.right.n for b in bins) == pytest.approx(float((best * people)[believed].sum()))
    for b in bins:
        assert b.right.n > 0
        assert b.low - 1e-12 <= b.confidence <= b.high + 1e-12
        assert b.high - b.low == pytest.approx(1 / steps)


def test_certainty_is_in_the_last_bin() -> None:
    bins = accuracy.calibration(
        np.array([[1.0, 0.0], [0.9, 0.1], [0.9 - 1e-9, 0.1 + 1e-9]]), np.zeros(3, int), np.ones(3, int)
    )
    assert [(b.low, b.right.n) for b in bins] == [(0.8, 1), (0.9, 2)]


# --- Intervals of rates ------------------------------------------------------------------------------------------------


def test_intervals_are_clopper_and_pearsons() -> None:
    for n in (1, 2, 7, 40, 333):
        for successes in range(0, n + 1, max(1, n // 25)):
            found = accuracy.rate(successes, n)
            exact = stats.binomtest(successes, n).proportion_ci(CONFIDENCE, method="exact")
            assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-10)
            assert (found.value, found.n) == (successes / n, n)
    assert accuracy.rate(0, 5).low == 0
    assert accuracy.rate(5, 5).high == 1


@given(st.integers(1, 400), st.data())
def test_intervals_of_fractional_successes_lie_between_those_of_their_neighbours(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, 60 * n)) / 60  # ties of up to six values
    found = accuracy.rate(successes, n)
    below, above = accuracy.rate(math.floor(successes), n), accuracy.rate(math.ceil(successes), n)
    assert below.low - 1e-9 <= found.low <= above.low + 1e-9
    assert below.high - 1e-9 <= found.high <= above.high + 1e-9
    assert found.low <= found.value <= found.high


def test_nobody_is_no_rate() -> None:
    found = accuracy.rate(0, 0)
    assert found.n == 0
    assert math.isnan(found.value)
    assert accuracy.gain(found, accuracy.rate(1, 2)).n == 0
    assert accuracy.gain(accuracy.rate(1, 2), found).n == 0


@pytest.mark.parametrize("n", [3, 20, 150])
def test_intervals_of_rates_cover(n: int) -> None:
    """The exact coverage, a sum over the binomial distribution, is never below 95 %, whatever the true rate."""
    limits = [accuracy.rate(successes, n) for successes in range(n + 1)]
    for p in np.linspace(0.01, 0.99, 50):
        mass = stats.binom.pmf(np.arange(n + 1), n, p)
        covered = sum(m for m, found in zip(mass, limits, strict=True) if found.low <= p <= found.high)
        assert covered >= CONFIDENCE - 1e-9


def test_intervals_with_ties_cover_by_simulation() -> None:
    """People of whom half are guessed among two values: 4,000 draws of 120 people; 95 % less three standard errors."""
    rng = np.random.default_rng(7)
    p, n, draws = 0.37, 120, 4000
    right = rng.random((draws, n)) < p
    tied = rng.random((draws, n)) < 0.5
    successes = np.where(tied, 0.5 * right + 0.5 * (rng.random((draws, n)) < p), right).sum(axis=1)
    covered = np.mean([found.low <= p <= found.high for found in (accuracy.rate(float(x), n) for x in successes)])
    assert covered >= CONFIDENCE - 3 * math.sqrt(0.95 * 0.05 / draws)


# --- Gains -------------------------------------------------------------------------------------------------------------


def wilson(successes: int, n: int) -> Rate:
    exact = stats.binomtest(successes, n).proportion_ci(0.95, method="wilson")
    return Rate(successes / n, exact.low, exact.high, n)


# R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17
# (1998), Table II, method 10: both rates' Wilson limits, combined.
NEWCOMBE = [
    ((56, 70), (48, 80), (0.0524, 0.3339)),
    ((9, 10), (3, 10), (0.1705, 0.8090)),
    ((6, 7), (2, 7), (0.0582, 0.8062)),
    ((5, 56), (0, 29), (-0.0381, 0.1926)),
    ((0, 10), (0, 20), (-0.1611, 0.2775)),
    ((0, 10), (0, 10), (-0.2775, 0.2775)),
    ((10, 10), (0, 20), (0.6791, 1.0000)),
    ((10, 10), (0, 10), (0.6075, 1.0000)),
]


@pytest.mark.parametrize(("one", "other", "limits"), NEWCOMBE)
def test_limits_are_combined_as_newcombe_combines_them(
    one: tuple[int, int], other: tuple[int, int], limits: tuple[float, float]
) -> None:
    found = accuracy.gain(wilson(*one), wilson(*other))
    assert (found.low, found.high) == pytest.approx(limits, abs=5e-5)
    assert found.value == pytest.approx(one[0] / one[1] - other[0] / other[1])


@given(st.integers(1, 300), st.integers(1, 300), st.data())
def test_gain_with_exact_limits(n: int, m: int, data: st.DataObject) -> None:
    """Newcombe's formula with Clopper and Pearson's limits from SciPy, and the same gain seen from the other side."""
    x, y = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    found = accuracy.gain(accuracy.rate(x, n), accuracy.rate(y, m))
    a, b = (stats.binomtest(k, of).proportion_ci(CONFIDENCE, method="exact") for k, of in ((x, n), (y, m)))
    p, q = x / n, y / m
    low = p - q - math.sqrt((p - a.low) ** 2 + (b.high - q) ** 2)
    high = p - q + math.sqrt((a.high - p) ** 2 + (q - b.low) ** 2)
    assert (found.low, found.high) == pytest.approx((max(low, -1), min(high, 1)), abs=1e-9)
    assert found.n == min(n, m)
    mirrored = accuracy.gain(accuracy.rate(y, m), accuracy.rate(x, n))
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low), abs=1e-9)


@pytest.mark.parametrize(("p", "q", "n", "m"), [(0.35, 0.25, 60, 40), (0.05, 0.05, 50, 200), (0.9, 0.6, 25, 25)])
def test_intervals_of_gains_cover(p: float, q: float, n: int, m: int) -> None:
    """3,000 draws; at least 95 % less three standard errors."""
    rng = np.random.default_rng(11)
    draws, covered = 3000, 0
    cache = {}
    for x, y in zip(rng.binomial(n, p, draws).tolist(), rng.binomial(m, q, draws).tolist(), strict=True):
        if (x, y) not in cache:
            cache[x, y] = accuracy.gain(accuracy.rate(x, n), accuracy.rate(y, m))
        covered += cache[x, y].low <= p - q <= cache[x, y].high
    assert covered / draws >= CONFIDENCE - 3 * math.sqrt(0.95 * 0.05 / draws)


def test_the_verdict_goes_three_ways() -> None:
    def verdict(low: float, high: float, n: int = 100) -> str:
        return accuracy.judge(Rate((low + high) / 2, low, high, n))

    assert verdict(0.001, 0.2) == "leaks about persons"
    assert verdict(0.001, 0.01) == "leaks about persons"  # small, but surely there
    assert verdict(-0.1, MARGIN) == "only about the population"
    assert verdict(-0.3, -0.1) == "only about the population"
    assert verdict(0.0, MARGIN + 0.001) == "not enough data to say"
    assert verdict(-0.2, 0.4) == "not enough data to say"
    assert accuracy.judge(Rate.undefined()) == "not enough data to say"


def test_the_verdict_is_rarely_wrong() -> None:
    """With no gain at all a leak is claimed in at most 2.5 % of the draws, plus three standard errors."""
    rng = np.random.default_rng(5)
    draws = 2000
    claims = 0
    for x, y in zip(rng.binomial(200, 0.3, draws).tolist(), rng.binomial(200, 0.3, draws).tolist(), strict=True):
        claims += accuracy.judge(accuracy.gain(accuracy.rate(x, 200), accuracy.rate(y, 200))) == "leaks about persons"
    assert claims / draws <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / draws)
