"""Entropies and confidence sets: against dit, exact sums, brute force over all subsets, and the order of the orders."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, getcontext

import dit
import numpy as np
import pytest
from dit.other import renyi_entropy
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dalenius.errors import InputError, ParameterError
from dalenius.measures import entropy
from dalenius.measures.entropy import conditional, confidence_sets, min_entropy, renyi, typical_set_bits, uniform_error
from dalenius.measures.observed import Observed

Floats = NDArray[np.float64]
ORDERS = [0, 0.01, 0.3, 0.5, 0.999, 1 - 1e-9, 1, 1 + 1e-9, 1.4, 1.6, 2, 5, 50, 1e4, math.inf]


def rows(weights: list[int]) -> Floats:
    p = np.array([weights], dtype=float)
    return p / p.sum()


weights = st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any)


def exactly(p: list[Decimal], order: Decimal) -> float:
    """log2 Σ p^α/(1 − α), with 60 digits."""
    getcontext().prec = 60
    total = sum(((order * x.ln()).exp() for x in p if x > 0), Decimal(0))
    return float(total.ln() / Decimal(2).ln() / (1 - order))


@given(weights, st.sampled_from([0, 0.25, 0.5, 1, 2, 3.5, math.inf]))
def test_renyi_is_that_of_dit(drawn: list[int], order: float) -> None:
    p = rows(drawn)
    occurring = [(str(i), float(x)) for i, x in enumerate(p[0]) if x > 0]
    other = dit.Distribution([name for name, _ in occurring], [x for _, x in occurring])
    assert renyi(p, order)[0] == pytest.approx(float(renyi_entropy(other, order)), abs=1e-9)
    if order == 1:
        assert renyi(p, order)[0] == pytest.approx(float(dit.shannon.entropy(other)), abs=1e-12)


@pytest.mark.parametrize(
    "order", ["0.01", "0.4999", "0.5001", "0.999999999", "1.000000001", "1.4999", "1.5001", "30", "5000"]
)
@pytest.mark.parametrize("p", [["0.5", "0.25", "0.25"], ["0.999999", "1e-6"], ["1e-300", "1"], ["0.2"] * 5])
def test_every_branch_has_its_digits(p: list[str], order: str) -> None:
    found = renyi(np.array([[float(x) for x in p]]), float(order))[0]
    getcontext().prec = 60
    exact = [Decimal(x) for x in p]
    if sum(exact) != 1:
        exact = [x / sum(exact) for x in exact]
    assert found == pytest.approx(exactly(exact, Decimal(order)), rel=1e-7, abs=1e-15)


@given(weights)
@example([1])
@example([3, 3, 3])
def test_a_larger_order_is_a_smaller_entropy(drawn: list[int]) -> None:
    p = rows(drawn)
    found = [float(renyi(p, order)[0]) for order in ORDERS]
    for one, other in itertools.pairwise(found):
        assert other <= one + 1e-9
    occurring = {w for w in drawn if w}
    if len(occurring) == 1:
        assert found == pytest.approx([math.log2(sum(w > 0 for w in drawn))] * len(ORDERS), abs=1e-9)
    else:
        assert found[-1] < found[ORDERS.index(1)] - 1e-6 < found[0] - 2e-6


def test_tiny_probabilities_and_large_orders() -> None:
    p = np.array([[1 - 1e-12, 1e-12, 0.0], [5e-324, 1.0, 0.0], [0.5, 0.5, 0.0]])
    assert renyi(p, 0).tolist() == [1.0, 1.0, 1.0]
    for order in (0.01, 0.7, 1, 1 + 1e-12, 3, 1e3, 1e6, 1e300, math.inf):
        found = renyi(p, order)
        assert np.isfinite(found).all()
        assert (found >= 0).all()
        assert found[2] == pytest.approx(1.0, abs=1e-12)
    assert renyi(p, 1e6)[0] == pytest.approx(1e-12 / math.log(2), rel=1e-3, abs=0)  # −log2 max·α/(α − 1)
    assert renyi(np.full((1, 1000), 1e-3), 1e5)[0] == pytest.approx(math.log2(1000), rel=1e-12)


def test_hand_calculated() -> None:
    p = np.array([[0.5, 0.25, 0.125, 0.125]])
    assert renyi(p, 1)[0] == pytest.approx(1.75)
    assert renyi(p, 2)[0] == pytest.approx(-math.log2(0.25 + 0.0625 + 2 / 64))
    assert renyi(p, 0.5)[0] == pytest.approx(2 * math.log2(math.sqrt(0.5) + 0.5 + 2 * math.sqrt(0.125)))
    assert entropy.effective_size(renyi(p, 0)).tolist() == [4.0]
    assert str(renyi(np.array([[1.0, 0.0]]), 1)[0]) == "0.0"  # not −0


@pytest.mark.parametrize("order", [-1, -1e-9, math.nan, -math.inf, True, "1"])
def test_orders_that_are_none(order: float) -> None:
    with pytest.raises(ParameterError, match="The 'order' parameter of renyi must be a number ≥ 0, or inf"):
        renyi(np.array([[1.0]]), order)


@pytest.mark.parametrize("bad", [[[0.5, 0.6]], [[1.5, -0.5]], [[math.nan, 1.0]], [0.5, 0.5], [[]], [[0.0, 0.0]]])
def test_beliefs_that_are_none(bad: list[object]) -> None:
    for measure in (lambda p: renyi(p, 1), lambda p: confidence_sets(p, 0.5)):
        with pytest.raises(InputError, match="Beliefs are rows of probabilities"):
            measure(np.array(bad, dtype=float))


# --- Over observations ------------------------------------------------------------------------------------------------


def observed() -> Observed:
    """p(x, y): two observations of weights 3/4 and 1/4."""
    joint = np.array([[3 / 8, 0.0], [3 / 8, 1 / 8], [0.0, 1 / 8]])
    joint[0, 0], joint[1, 0] = 1 / 2, 1 / 4
    return Observed.of_joint(joint, ("a", "b", "c"), ("u", "v"))


def test_averages_over_observations() -> None:
    seen = observed()
    third = -(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3))
    assert conditional(seen) == pytest.approx(3 / 4 * third + 1 / 4)
    assert conditional(seen, 0) == pytest.approx(1.0)
    assert conditional(seen, math.inf) == pytest.approx(3 / 4 * math.log2(3 / 2) + 1 / 4)
    assert min_entropy(seen) == pytest.approx(-math.log2(1 / 2 + 1 / 8))
    assert min_entropy(seen) < conditional(seen, math.inf)  # −log of a mean is below the mean of −log
    assert typical_set_bits(seen, 7) == pytest.approx(7 * conditional(seen))
    with pytest.raises(ParameterError, match="int ≥ 0"):
        typical_set_bits(seen, -1)


def test_conditional_entropy_is_that_of_dit() -> None:
    joint = np.random.default_rng(1).dirichlet(np.ones(12)).reshape(3, 4)
    seen = Observed.of_joint(joint, tuple("abc"), tuple("wxyz"))
    other = dit.Distribution([a + w for a in "abc" for w in "wxyz"], joint.ravel().tolist())
    assert conditional(seen) == pytest.approx(float(dit.shannon.conditional_entropy(other, [0], [1])), abs=1e-12)


# --- Confidence sets --------------------------------------------------------------------------------------------------


@given(weights, st.integers(1, 20))
def test_no_smaller_set_is_as_likely(drawn: list[int], twentieths: int) -> None:
    """In whole numbers: the smallest subset with Σ w·20 ≥ p·20·Σ w."""
    total = sum(drawn)
    smallest = next(
        size
        for size in range(1, len(drawn) + 1)
        if any(sum(chosen) * 20 >= twentieths * total for chosen in itertools.combinations(drawn, size))
    )
    assert confidence_sets(rows(drawn), twentieths / 20).tolist() == [smallest]


def test_rounding_and_the_support() -> None:
    tenths = np.full((1, 10), 0.1)
    assert [int(confidence_sets(tenths, k / 10)[0]) for k in range(1, 11)] == list(range(1, 11))
    assert confidence_sets(np.array([[1 - 1e-15, 1e-15, 0.0]]), 1).tolist() == [2]
    assert confidence_sets(np.array([[1.0, 0.0], [0.5, 0.5]]), 1 - 1e-15).tolist() == [1, 2]
    many = np.full((1, 100_000), 1e-5)  # its running sum ends at 1 − 2·10⁻¹²
    assert [int(confidence_sets(many, p)[0]) for p in (0.3, 0.5, 1 - 1e-15)] == [30_000, 50_000, 100_000]
    # Short of p by more than rounding is short of it.
    assert confidence_sets(np.array([[0.5 - 1e-9, 0.5, 1e-9]]), 0.5 + 1e-10).tolist() == [2]
    assert uniform_error(np.array([1, 2, 4])).tolist() == [0.0, 0.5, 0.75]


@pytest.mark.parametrize("p", [0, -0.1, 1.0001, math.nan, True])
def test_confidences_that_are_none(p: float) -> None:
    with pytest.raises(ParameterError, match="The 'p' parameter of confidence_sets"):
        confidence_sets(np.array([[1.0]]), p)


def test_no_set_is_empty() -> None:
    with pytest.raises(ParameterError, match="ints ≥ 1"):
        uniform_error(np.array([1, 0]))
