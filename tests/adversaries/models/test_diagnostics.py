"""Diagnostics against arviz, against processes whose answer is known, and on chains that stand still."""

from __future__ import annotations

import numpy as np
import pytest
from arviz_stats.base import array_stats  # type: ignore[attr-defined]
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.stats import chi2, kstest

from dalenius.adversaries.models import diagnostics
from dalenius.adversaries.models.diagnostics import ess, geweke, mcse, rhat, weiss
from dalenius.errors import ParameterError

Floats = NDArray[np.float64]
AXES = {"chain_axis": 0, "draw_axis": 1}


def autoregression(rng: np.random.Generator, shape: tuple[int, ...], rho: float) -> Floats:
    """Stationary AR(1) along axis 1, with variance 1."""
    noise = rng.normal(size=shape) * np.sqrt(1 - rho**2)
    noise[:, 0] /= np.sqrt(1 - rho**2)
    return np.asarray(lfilter([1.0], [1.0, -rho], noise, axis=1))


def lazy(rng: np.random.Generator, shape: tuple[int, ...], shares: list[float], stay: float) -> NDArray[np.int64]:
    """DAR(1) states along axis 1: they stay with this probability, and are else drawn anew."""
    fresh = rng.choice(len(shares), size=shape, p=shares)
    drawn = rng.random(shape) >= stay
    drawn[:, 0] = True
    places = np.arange(shape[1]).reshape(1, -1, *[1] * (len(shape) - 2))
    return np.take_along_axis(fresh, np.maximum.accumulate(np.where(drawn, places, 0), axis=1), axis=1)


def kinds_of_draws() -> dict[str, Floats]:
    rng = np.random.default_rng(1)
    walk = rng.normal(size=(3, 150, 8)).cumsum(axis=1)
    late = autoregression(rng, (4, 200, 8), 0.5)
    late[0, 100:] += 1
    return {
        "independent": rng.normal(size=(4, 100, 8)),
        "slow": autoregression(rng, (4, 101, 8), 0.95),
        "antithetic": autoregression(rng, (4, 100, 8), -0.8),
        "walks": walk,
        "chains apart": rng.normal(size=(4, 50, 8)) + np.arange(4)[:, None, None],
        "a chain that moved late": late,
        "heavy tails": rng.standard_cauchy((4, 120, 8)),
        "wider chain": rng.normal(size=(4, 100, 8)) * np.array([1, 1, 1, 5])[:, None, None],
        "counts": rng.poisson(1.5, size=(4, 80, 8)).astype(float),
        "zero or one": (rng.random((4, 90, 8)) < [0.03, 0.1, 0.3, 0.5, 0.5, 0.6, 0.9, 0.97]).astype(float),
        "lazy": lazy(rng, (4, 90, 8), [0.2, 0.5, 0.3], 0.8).astype(float),
        "few": rng.normal(size=(2, 4, 8)),
        "five": rng.normal(size=(2, 5, 8)),
        "six": rng.normal(size=(3, 6, 8)),
        "seven": rng.normal(size=(3, 7, 8)),
        "large offset": 1000 + rng.normal(size=(4, 100, 8)),
    }


@pytest.mark.parametrize("kind", list(kinds_of_draws()))
def test_as_arviz(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are the same arithmetic in another order: they differ by rounding, which 1e-9 leaves room for."""
    draws = kinds_of_draws()[kind]
    monkeypatch.setattr(diagnostics, "MAX_DRAWS", 3 * draws[..., 0].size)  # eight quantities: three chunks
    with np.errstate(all="ignore"):
        theirs = {
            "rhat": array_stats.rhat(draws, **AXES),
            "bulk": array_stats.ess(draws, method="bulk", **AXES),
            "mean": array_stats.ess(draws, method="mean", **AXES),
            "mcse": array_stats.mcse(draws, method="mean", **AXES),
        }
    ours = {"rhat": rhat(draws), "bulk": ess(draws), "mean": ess(draws, kind="mean"), "mcse": mcse(draws)}
    for name, found in ours.items():
        assert np.isfinite(found).all(), name
        np.testing.assert_allclose(found, theirs[name], rtol=1e-9, err_msg=name)


def test_shapes_and_scales() -> None:
    draws = kinds_of_draws()["slow"]
    shaped = draws.reshape(4, 101, 2, 4)
    for function in (rhat, ess, mcse):
        np.testing.assert_array_equal(function(shaped), function(draws).reshape(2, 4))
        assert function(draws[:, :, 0]).shape == ()
        assert function(draws[:, :, :0]).shape == (0,)
    assert geweke(shaped).shape == (4, 2, 4)
    tiny = draws * 1e-200  # its squares are 0
    np.testing.assert_allclose(ess(tiny, kind="mean"), ess(draws, kind="mean"), rtol=1e-9)
    np.testing.assert_allclose(geweke(tiny), geweke(draws), rtol=1e-9)
    np.testing.assert_allclose(rhat(tiny), rhat(draws), rtol=1e-9)


def test_standing_still() -> None:
    """What arviz calls as good as independent, or not a number."""
    rng = np.random.default_rng(2)
    draws = rng.normal(size=(4, 50, 6))
    draws[:, :, 0] = 0.1 + 0.2
    draws[:, :, 1] = np.array([0.0, 0.0, 0.0, 0.3])[:, None]  # each chain at a place of its own
    draws[:, :, 2] = 0.3 * (1 + 1e-15 * rng.normal(size=(4, 50)))  # rounding
    draws[:, :, 3] = 0.0
    draws[:, :, 4] = np.arange(50) >= 25  # halves that do not move, all chains alike
    found = rhat(draws)
    assert found[[0, 2, 3]].tolist() == [1, 1, 1]
    assert found[[1, 4]].tolist() == [np.inf, np.inf]
    assert 0.9 < found[5] < 1.1
    for kind in ("bulk", "mean"):
        found = ess(draws, kind=kind)  # type: ignore[arg-type]
        assert found[[0, 2, 3]].tolist() == [np.inf] * 3
        assert found[1] == 4
        assert found[4] < 10
    error = mcse(draws)
    assert error[[0, 2, 3]].tolist() == [0, 0, 0]
    assert error[1] == pytest.approx(0.15 / 2)  # four means of standard deviation 0.15
    assert error[4] > 0.1
    z = geweke(np.repeat(draws, 4, axis=1))
    assert (z[:, [0, 2, 3]] == 0).all()
    assert (z[:, 1] == 0).all()  # within each chain nothing happens
    assert (z[:, 4] == -np.inf).all()


def test_a_tiny_quantity_that_moves_is_not_still() -> None:
    """Unnormalised products are far below 1e-12; arviz takes them for constant, and their size for their worth."""
    rng = np.random.default_rng(3)
    draws = 1e-20 * (1 + 0.1 * autoregression(rng, (4, 400), 0.9))
    assert ess(draws, kind="mean") < 300
    assert mcse(draws) > 0
    draws[0] += 1e-20
    assert rhat(draws) > 1.5


def test_only_the_middle_draw_moves() -> None:
    """Splitting leaves it out: the halves stand still, the chain does not."""
    draws = np.zeros((2, 21))
    draws[1, 10] = 1
    assert rhat(draws) == 1
    assert ess(draws) == ess(draws, kind="mean") == 2
    assert mcse(draws) > 0


def test_draws_that_are_no_numbers() -> None:
    draws = np.random.default_rng(4).normal(size=(4, 100, 3))
    draws[2, 7, 0], draws[0, 99, 1] = np.nan, np.inf
    for function in (rhat, ess, mcse):
        assert np.isnan(function(draws)).tolist() == [True, True, False]
    z = geweke(draws)
    assert np.isnan(z).sum() == 2
    assert np.isnan(z[2, 0])
    assert np.isnan(z[0, 1])


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.5, 0.9])
def test_ess_of_an_autoregression(rho: float) -> None:
    """n(1 − ρ)/(1 + ρ). One estimate errs by some 10 %; the mean of 100, by the error of the method, a few %."""
    draws = autoregression(np.random.default_rng(5), (4, 1000, 100), rho)
    true = 4000 * (1 - rho) / (1 + rho)
    for kind in ("bulk", "mean"):
        assert ess(draws, kind=kind).mean() == pytest.approx(true, rel=0.06)  # type: ignore[arg-type]
    # The error of the mean is what the 100 means, whose true value is 0, really have: χ² with 100 degrees of freedom
    # over 100 is within 1 ± 0.45 but once in some thousand times.
    assert np.mean((draws.mean(axis=(0, 1)) / mcse(draws)) ** 2) == pytest.approx(1, abs=0.45)


# ---------------------------------------------------------------------------- Geweke


@pytest.mark.slow
@pytest.mark.parametrize(("rho", "number"), [(0.0, 1000), (0.5, 2000), (0.8, 4000)])
def test_geweke_of_stationary_chains(rho: float, number: int) -> None:
    """5 % of 2,000 chains, give or take 0.5 %; the first part is worth 44 draws or more, and its uncertain variance adds some."""
    z = geweke(autoregression(np.random.default_rng(6), (2000, number), rho))
    assert z.shape == (2000,)
    assert 0.02 < np.mean(np.abs(z) > 1.96) < 0.09
    assert abs(z.mean()) < 0.1  # standard error 0.022
    assert z.std() == pytest.approx(1, abs=0.15)


def test_geweke_of_drifting_chains() -> None:
    """Two standard deviations over the run: the parts' means differ by 1.4 of them, their error is some 0.18."""
    draws = autoregression(np.random.default_rng(7), (200, 1000), 0.5) + np.linspace(0, 2, 1000)
    z = geweke(draws)
    assert np.mean(z < -1.96) > 0.95
    assert np.mean(geweke(-draws) > 1.96) > 0.95


def test_geweke_by_hand() -> None:
    """White noise chooses order 0 or a small one; with order 0 it is Welch's t."""
    rng = np.random.default_rng(8)
    draws = rng.normal(size=(300, 2000))
    ahead, behind = draws[:, :400], draws[:, 1000:]
    welch = (ahead.mean(axis=1) - behind.mean(axis=1)) / np.sqrt(
        ahead.var(axis=1, ddof=1) / 400 + behind.var(axis=1, ddof=1) / 1000
    )
    z = geweke(draws, first=0.2, last=0.5)
    # AIC takes order 0 of white noise in some 70 % of series, and both parts must.
    assert np.mean(np.isclose(z, welch, rtol=1e-9)) > 0.35
    assert np.corrcoef(z, welch)[0, 1] > 0.97


def test_geweke_finds_the_density_of_an_autoregression() -> None:
    """Of AR(1) with variance 1 it is (1 + ρ)/(1 − ρ) = 9; 50 long series give it within a few %."""
    series = autoregression(np.random.default_rng(9), (50, 20_000), 0.8)
    assert diagnostics._at_zero(series).mean() == pytest.approx(9, rel=0.05)


# ---------------------------------------------------------------------------- Weiß


def pearson(states: NDArray[np.int64], categories: int) -> tuple[Floats, int]:
    """X² and its degrees of freedom, as for independent draws; [chain, draw, run]."""
    counts = np.array([[(chain == i).sum(axis=0) for i in range(categories)] for chain in states])
    expected = counts.sum(axis=0) * counts.sum(axis=1, keepdims=True) / counts.sum(axis=(0, 1))
    return ((counts - expected) ** 2 / expected).sum(axis=(0, 1)), (categories - 1) * (len(states) - 1)


@pytest.mark.parametrize("stay", [0.0, 0.5, 0.8])
def test_weiss_under_homogeneity(stay: float) -> None:
    """500 runs at a time. Seeded; with another seed the test at 0.001 fails once in a thousand times."""
    states = lazy(np.random.default_rng(10), (3, 1000, 500), [0.25, 0.5, 0.05, 0.2], stay)
    found = weiss(states, 4)
    assert kstest(found.p, "uniform").pvalue > 0.001
    assert (found.degrees == 6).all()
    assert found.dependence.mean() == pytest.approx(stay, abs=0.01)
    statistic, degrees = pearson(states, 4)
    np.testing.assert_allclose(
        found.statistic * (1 + found.dependence) / (1 - found.dependence), statistic, rtol=1e-9, atol=1e-12
    )
    if stay:
        assert kstest(chi2.sf(statistic, degrees), "uniform").pvalue < 1e-9


def test_weiss_of_parts_of_one_chain() -> None:
    """Of different lengths: the first tenth and the last half."""
    chains = lazy(np.random.default_rng(11), (1, 4000, 500), [0.3, 0.3, 0.4], 0.6)[0]
    assert kstest(weiss([chains[:400], chains[2000:]], 3).p, "uniform").pvalue > 0.001
    late = chains.copy()
    late[:400] = lazy(np.random.default_rng(12), (1, 400, 500), [0.6, 0.3, 0.1], 0.6)[0]
    assert np.mean(weiss([late[:400], late[2000:]], 3).p < 0.05) > 0.95


def test_weiss_finds_different_chains() -> None:
    rng = np.random.default_rng(13)
    parts = [lazy(rng, (1, 1000, 200), [0.25, 0.5, 0.05, 0.2], 0.8)[0] for _ in range(2)]
    parts.append(lazy(rng, (1, 1000, 200), [0.6, 0.2, 0.05, 0.15], 0.8)[0])
    found = weiss(parts, 4)
    assert np.mean(found.p < 0.05) > 0.95
    assert found.dependence.mean() == pytest.approx(0.8, abs=0.01)  # their difference is no dependence


def test_weiss_of_categories_never_seen() -> None:
    states = lazy(np.random.default_rng(14), (3, 200), [0.5, 0.5], 0.3)
    few, many = weiss(states, 2), weiss(2 * states + 1, 9)
    assert few.degrees == many.degrees == 2
    assert few.p == many.p
    # One that is seen in one chain alone stays in.
    states[0, :20] = 2
    assert weiss(states, 3).degrees == 4


def test_weiss_by_hand() -> None:
    """Eight draws each, three and five of category 0; κ = 1 − (1 + 5)/(7·30/64 + 7·30/64)."""
    one = np.array([0, 0, 0, 1, 1, 1, 1, 1])  # moves once
    other = np.array([1, 0, 0, 1, 0, 0, 1, 0])  # moves five times
    found = weiss([one, other], 2)
    kappa = 1 - 6 / (2 * 7 * 30 / 64)
    phi = kappa + (1 + kappa) / 8
    assert found.dependence == pytest.approx(phi)
    assert found.statistic == pytest.approx(1.0 * (1 - phi) / (1 + phi))  # X² = 4 · 1²/4
    assert found.p == pytest.approx(chi2.sf(float(found.statistic), 1))


def test_weiss_of_states_that_never_move() -> None:
    same, apart = np.ones((3, 50), dtype=int), np.arange(3)[:, None] + np.zeros((3, 50), dtype=int)
    found = weiss(np.stack([same, apart], axis=2), 3)
    assert found.statistic.tolist() == [0, np.inf]
    assert found.degrees.tolist() == [0, 4]
    assert found.p.tolist() == [1, 0]
    assert found.dependence.tolist() == [1, 1]


# ---------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("function", [rhat, ess, mcse])
def test_too_few_draws(function: object) -> None:
    with pytest.raises(ParameterError, match=r"'draws' parameter of \w+ must be an array .* Got 'shape \(4, 3, 2\)'"):
        function(np.zeros((4, 3, 2)))  # type: ignore[operator]
    with pytest.raises(ParameterError, match="draws"):
        function(np.zeros(10))  # type: ignore[operator]


def test_refused() -> None:
    with pytest.raises(ParameterError, match="at least 2 chains"):
        rhat(np.zeros((1, 100)))
    with pytest.raises(ParameterError, match="kind"):
        ess(np.zeros((2, 100)), kind="tail")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="at least 10 draws"):
        geweke(np.zeros((2, 50)))
    with pytest.raises(ParameterError, match="first"):
        geweke(np.zeros((2, 500)), first=0)
    with pytest.raises(ParameterError, match="last"):
        geweke(np.zeros((2, 500)), first=0.6, last=0.5)
    with pytest.raises(ParameterError, match="at least 2 chains or parts"):
        weiss(np.zeros((1, 50), dtype=int), 2)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        weiss(np.full((2, 50), 2), 2)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        weiss(np.zeros((2, 50)), 2)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="same variables"):
        weiss([np.zeros((50, 2), dtype=int), np.zeros((50, 3), dtype=int)], 2)
