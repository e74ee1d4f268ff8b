"""Gaussian columns in the classifier: scikit-learn's densities without noise, and what is left of moments that noise spoils."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.naive_bayes import GaussianNB

import dalenius as dl
from dalenius.adversaries import UNKNOWN, Targets, adversaries_needing, make_adversary
from dalenius.adversaries.models.count_classifier import shares
from dalenius.releases import NoisyCounts
from dalenius.releases.moments import LEAST_VARIANCE, Moments

LOW, HIGH = 0, 80
LEAVES = (*map(str, range(-10, 100)), "")
SCHEMA = dl.Schema(
    [
        dl.Column("x", "quasi", "integer", domain=dl.Domain(LEAVES)),
        dl.Column("q", "quasi", domain=dl.Domain(("a", "b", "c"))),
        dl.Column("s", "sensitive", domain=dl.Domain(("u", "v", "w"))),
    ]
).bind({})


def release(x: np.ndarray, q: np.ndarray, s: np.ndarray) -> NoisyCounts:
    """Moments and counts without noise, added up in the plainest way."""
    moments, counts = np.zeros((3, 3)), np.zeros((3, 3))
    for one, row, value in zip(x.tolist(), q.tolist(), s.tolist(), strict=True):
        clipped = min(max(one, LOW), HIGH) - LOW
        moments[:, value] += [1, clipped, clipped**2]
        counts[row, value] += 1
    own = {"x": Moments(LOW, HIGH, moments)}
    return NoisyCounts(SCHEMA, "s", (counts,), "none", 0.0, None, 4, "add-remove", moments=own)


@pytest.mark.parametrize("seed", range(4))
def test_without_noise_it_is_scikit_learns(seed: int) -> None:
    """Its densities, mean and variance by value, times the printed Pr[q | s] and Pr[s]."""
    rng = np.random.default_rng(seed)
    s = rng.integers(3, size=300)
    x = np.clip(np.rint(rng.normal(20 + 15 * s, 5 + 4 * s)), LOW, HIGH).astype(int)
    q = rng.integers(3, size=300)
    found = release(x, q, s)
    model = GaussianNB(priors=[1 / 3] * 3, var_smoothing=0).fit(x[:, None], s)
    mean, variance = found.moments["x"].fitted()
    assert mean == pytest.approx(model.theta_[:, 0], rel=1e-12)
    assert variance == pytest.approx(model.var_[:, 0], rel=1e-9)
    numbers = np.arange(LOW, HIGH + 1)
    codes = np.column_stack([numbers + 10, np.full(len(numbers), UNKNOWN)]).astype(np.int32)
    belief = make_adversary("naive-bayes").attack(found, Targets(SCHEMA, codes))
    expected = model.predict_proba(numbers[:, None]) * shares(found)
    assert np.abs(belief.posterior - expected / expected.sum(axis=1, keepdims=True)).max() < 1e-9
    both = (
        make_adversary("naive-bayes").attack(found, Targets(SCHEMA, np.array([[40, 2]], dtype=np.int32))).posterior[0]
    )
    given = (1 + found.noisy[0]) / (1 + found.noisy[0]).sum(axis=0)
    right = shares(found) * given[2] * norm.pdf(30, model.theta_[:, 0], np.sqrt(model.var_[:, 0]))
    assert both == pytest.approx(right / right.sum(), abs=1e-9)


def test_the_n_is_one_table_of_pr_s() -> None:
    found = release(np.array([5, 6, 7, 30]), np.array([0, 1, 2, 0]), np.array([0, 0, 0, 1]))
    totals = np.array([(3 + 3) + (3 + 1), (1 + 3) + (1 + 1), 3 + 1])
    assert shares(found) == pytest.approx(totals / totals.sum(), abs=1e-15)


@pytest.mark.parametrize("name", sorted(adversaries_needing("counts")))
def test_numbers_beyond_the_bounds_missing_and_unknown(name: str) -> None:
    """Clipped as the moments were; where there is no number, the factor is 1."""
    rng = np.random.default_rng(1)
    s = rng.integers(3, size=300)
    found = release(np.clip(np.rint(rng.normal(20 + 20 * s, 4)), LOW, HIGH).astype(int), s, s)

    def believed(leaf: str | None) -> np.ndarray:
        code = UNKNOWN if leaf is None else LEAVES.index(leaf)
        targets = Targets(SCHEMA, np.array([[code, 1]], dtype=np.int32))
        return make_adversary(name).attack(found, targets, rng=np.random.default_rng(0)).posterior[0]

    assert np.array_equal(believed("-7"), believed("0"))
    assert np.array_equal(believed("99"), believed("80"))
    assert np.array_equal(believed(""), believed(None))
    assert np.abs(believed("20") - believed("")).max() > 1e-3


def test_moments_that_noise_spoils() -> None:
    """n below 1, means outside the bounds, variances below 0 or too large: each is brought back where it can be."""
    values = np.array([[-50.0, 10.0, 10.0, 10.0], [30.0, -99.0, 500.0, 200.0], [100.0, 50.0, 9.0, 1e9]])
    mean, variance = Moments(5, 45, values).fitted()
    assert mean.tolist() == [35.0, 5.0, 45.0, 25.0]
    assert variance == pytest.approx([LEAST_VARIANCE, 5.0, LEAST_VARIANCE, 400.0])
    density = Moments(5, 45, values).log_density(np.array([5.0, 30.0, np.nan]))
    assert np.isfinite(density).all()
    assert density[2].tolist() == [0.0] * 4
    assert Moments(5, 45, values).probabilities(np.arange(0.0, 60)).sum(axis=0) == pytest.approx([1.0] * 4)
