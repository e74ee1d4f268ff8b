"""How far noisy counts are off: closed forms against large samples, and figures of a table that can be added up by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dalenius.auditing.epsilon_curve import epsilon_curve
from dalenius.errors import ParameterError
from dalenius.measures.count_error import average_count, count_error, expected_noise
from dalenius.releases import NoisyCounts
from dalenius.releases.noisy_counts import Mechanism
from dalenius.schema import Column, Domain, Schema
from dalenius.table import Table

SCHEMA = Schema(
    (Column("q", "quasi", domain=Domain(("a", "b"))), Column("s", "sensitive", domain=Domain(("x", "y", "z"))))
).bind({})


def counts(table: list[list[float]], mechanism: Mechanism = "geometric") -> NoisyCounts:
    exact = mechanism == "none"
    scale, epsilon = (0.0, None) if exact else (1.0, 1.0)
    return NoisyCounts(SCHEMA, "s", (np.array(table, float),), mechanism, scale, epsilon, 1.0, "add-remove")


@pytest.mark.parametrize("scale", [0.2, 1.0, 10.0, 500.0])
def test_expected_noise_is_that_of_a_large_sample(scale: float) -> None:
    rng = np.random.default_rng(3)
    n = 400_000
    p = 1 - np.exp(-1 / scale)
    geometric = np.abs(rng.geometric(p, n) - rng.geometric(p, n))
    laplace = np.abs(rng.laplace(scale=scale, size=n))
    for mechanism, sample in (("geometric", geometric), ("laplace", laplace)):
        error = sample.std() / np.sqrt(n)
        assert expected_noise(mechanism, scale) == pytest.approx(sample.mean(), abs=5 * error)
        assert expected_noise(mechanism, scale) != pytest.approx(sample.mean() + 20 * error, abs=5 * error)


def test_expected_noise_at_the_ends() -> None:
    assert expected_noise("none", 0.0) == 0
    assert expected_noise("geometric", 1e-9) == 0  # no overflow where there is no noise to speak of
    assert expected_noise("geometric", 1e9) == pytest.approx(1e9)
    with pytest.raises(ParameterError, match="mechanism"):
        expected_noise("gaussian", 1.0)


def test_errors_by_hand() -> None:
    exact = counts([[6, 2, 0], [2, 0, 0]], "none")
    assert average_count(exact) == 10 / 6
    found = count_error(counts([[5, 3, -4], [2, 0, 2]]), exact)
    assert found.mean_absolute == (1 + 1 + 4 + 0 + 0 + 2) / 6
    # Shares 0.8, 0.2, 0 have become 7, 3 and 2 of 12: what is below 0 is nobody.
    assert found.total_variation == pytest.approx((0.8 - 7 / 12 + 3 / 12 - 0.2 + 2 / 12) / 2)
    assert count_error(exact, exact).total_variation == count_error(exact, exact).mean_absolute == 0
    nobody = count_error(counts([[-1, -1, -1], [0, 0, 0]]), exact)
    assert nobody.total_variation == pytest.approx((0.8 - 1 / 3 + 1 / 3 - 0.2 + 1 / 3) / 2)


def test_columns_that_are_all_gaussian() -> None:
    """Their n are counts; sums and squares are not looked at."""
    schema = Schema(
        (
            Column("x", "quasi", type="integer", domain=Domain(tuple(map(str, range(10))))),
            Column("s", "sensitive", domain=Domain(("a", "b"))),
        )
    )
    table = Table({"x": ["1", "4", "9"], "s": ["a", "b", "b"]}, schema)
    found = epsilon_curve(table, 0.34, (1.0,), draws=2, gaussian={"x": (0, 9)})
    assert found.reference.count_error.average_count == 1  # two people, two values
    assert found.points[0].count_error.mean_absolute > 0
