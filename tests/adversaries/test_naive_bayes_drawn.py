"""The classifier drawn from the Dirichlet posterior: mean and variance of its parameters against the closed form."""

from __future__ import annotations

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import Targets, make_adversary
from dalenius.adversaries.models.count_classifier import conditionals, shares, totals
from dalenius.adversaries.naive_bayes_drawn import NaiveBayesDrawn
from dalenius.releases import NoisyCounts

COLUMNS = [dl.Column(f"q{a}", "quasi", domain=dl.Domain(tuple(map(str, range(n))))) for a, n in enumerate((2, 3))]
SCHEMA = dl.Schema([*COLUMNS, dl.Column("s", "sensitive", domain=dl.Domain(("x", "y")))]).bind({})
COUNTS = (np.array([[3.0, -5.0], [1.0, 2.0]]), np.array([[10.0, -1.0], [0.0, 0.5], [2.0, -7.0]]))
RELEASE = NoisyCounts(SCHEMA, "s", COUNTS, "laplace", 1.0, 2.0, 2, "add-remove")
DRAWS = 4000


def test_mean_and_variance_of_the_parameters() -> None:
    """Six standard errors of the mean; a share a of parameters that add up to A has variance m(1 − m)/(A + 1), m = a/A."""
    rng = np.random.default_rng(1)
    models = [NaiveBayesDrawn().model(RELEASE, rng) for _ in range(DRAWS)]
    drawn = {names: np.array([model.conditional[names] for model in models]) for names in RELEASE.tables}
    sums = {
        names: (1 + np.maximum(counts, 0)).sum(axis=0) for names, counts in zip(RELEASE.tables, COUNTS, strict=True)
    }
    expected = conditionals(RELEASE)
    for names, found in drawn.items():
        check(found, expected[names], sums[names])
        assert np.abs(found.sum(axis=1) - 1).max() < 1e-12
        # Values are drawn apart from each other.
        assert abs(np.corrcoef(found[:, 0, 0], found[:, 0, 1])[0, 1]) < 6 / np.sqrt(DRAWS)
    check(np.array([model.prior for model in models]), shares(RELEASE), totals(RELEASE).sum() / 2)


def check(found: np.ndarray, mean: np.ndarray, total: np.ndarray) -> None:
    variance = mean * (1 - mean) / (total + 1)
    assert (np.abs(found.mean(axis=0) - mean) < 6 * np.sqrt(variance / DRAWS)).all()
    assert found.var(axis=0) == pytest.approx(variance, rel=0.2)


def test_it_draws_once_for_a_release() -> None:
    """People of the table and others meet the same classifier; another seed is another one."""
    everybody = Targets(SCHEMA, np.array([[a, b] for a in range(2) for b in range(3)], dtype=np.int32))
    adversary, rng = NaiveBayesDrawn(), np.random.default_rng(1)
    first = adversary.attack(RELEASE, everybody, rng=rng).posterior
    assert np.array_equal(first, adversary.attack(RELEASE, everybody, rng=rng).posterior)
    again = NoisyCounts(SCHEMA, "s", COUNTS, "laplace", 1.0, 2.0, 2, "add-remove")  # read once more
    assert np.array_equal(first, adversary.attack(again, everybody, rng=rng).posterior)
    other = NoisyCounts(SCHEMA, "s", (COUNTS[0] + 1, COUNTS[1]), "laplace", 1.0, 2.0, 2, "add-remove")
    assert not np.array_equal(first, adversary.attack(other, everybody, rng=rng).posterior)
    assert np.array_equal(
        first, make_adversary("naive-bayes-drawn").attack(RELEASE, everybody, rng=np.random.default_rng(1)).posterior
    )
    assert not np.array_equal(
        first, make_adversary("naive-bayes-drawn").attack(RELEASE, everybody, rng=np.random.default_rng(2)).posterior
    )


def test_many_people_leave_no_room() -> None:
    many = NoisyCounts(SCHEMA, "s", tuple(1e9 * (1 + np.abs(c)) for c in COUNTS), "laplace", 1.0, 2.0, 2, "add-remove")
    everybody = Targets(SCHEMA, np.array([[0, 1], [1, 2]], dtype=np.int32))
    drawn = make_adversary("naive-bayes-drawn").attack(many, everybody, rng=np.random.default_rng(0)).posterior
    assert np.abs(drawn - make_adversary("naive-bayes").attack(many, everybody).posterior).max() < 1e-3


def test_it_needs_a_generator() -> None:
    with pytest.raises(dl.InputError, match="naive-bayes-drawn draws its classifier at random"):
        make_adversary("naive-bayes-drawn").attack(RELEASE, Targets(SCHEMA, np.zeros((1, 2), dtype=np.int32)))
