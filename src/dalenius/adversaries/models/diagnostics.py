"""Convergence diagnostics for many quantities at once. A chain that never moves does not pass.

Draws are an array [chain, draw, …quantity]. R-hat, ESS and MCSE are those of Vehtari et al. (2021, arXiv:1903.08008), as in
arviz, but computed for all quantities together: arviz takes one at a time, and calls a chain that never moves well mixed.
Quantities with a draw that is not finite get nan. Geweke's z and Weiß' test are the ones of methods A (papers/000, section VI).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import chi2

from dalenius.arrays import Bools, Floats, Longs
from dalenius.errors import ParameterError

__all__ = ["Homogeneity", "ess", "geweke", "mcse", "rhat", "weiss"]

ROUNDING = 1e-12  # draws that differ by less than this share of their size differ by rounding
MAX_DRAWS = 500_000  # in one step: bounds the memory, and more is not faster


def rhat(draws: ArrayLike) -> Floats:
    """Return the rank-normalised split R-hat, the larger of bulk and tail.

    It is 1 if all draws are equal, and inf if chains, or their halves, stay at different places.
    """
    return _each(draws, _rhat, 2, "rhat")


def ess(draws: ArrayLike, *, kind: Literal["bulk", "mean"] = "bulk") -> Floats:
    """Return the effective sample size, of the ranks ("bulk") or for the mean.

    It is inf if all draws are equal. Chains that stay at different places are worth one draw each.
    """
    if kind not in ("bulk", "mean"):
        raise ParameterError("kind", "ess", "'bulk' or 'mean'", kind)
    return _each(draws, _ess_bulk if kind == "bulk" else _ess_mean, 1, "ess")


def mcse(draws: ArrayLike) -> Floats:
    """Return the Monte-Carlo standard error of the mean over all chains and draws.

    It is 0 if all draws are equal. If each chain stays at a place of its own, it is the standard error between chains.
    """
    return _each(draws, _mcse, 1, "mcse")


def geweke(draws: ArrayLike, *, first: float = 0.1, last: float = 0.5) -> Floats:
    """Return Geweke's z [chain, …quantity]: the mean of a chain's first part against its last, about N(0, 1) after burn-in.

    The variance of a part's mean is its spectral density at 0 over its length; the density is that of an autoregression
    (Yule-Walker, order by AIC, at most 10 log₁₀ n), much as in R's coda. It is 0 if both parts stay at the same place, ±inf if at
    different ones. The variance of a short part is underestimated: if the first one is worth only ten independent draws,
    |z| > 1.96 in 10 % of converged chains, not in 5 %.
    """
    drawn = _checked(draws, 1, "geweke")
    number = drawn.shape[1]
    for name, share in (("first", first), ("last", last)):
        if not 0 < share < 1:
            raise ParameterError(name, "geweke", "between 0 and 1", share)
    if first + last > 1:
        raise ParameterError("last", "geweke", f"at most 1 - first = {1 - first:g}", last)
    lengths = (int(first * number), int(last * number))
    if min(lengths) < 10:
        raise ParameterError("draws", "geweke", "chains with at least 10 draws in both parts", f"{number} draws")
    result = np.empty((drawn.shape[0], drawn.shape[2]))
    for begin, end, part in _chunks(drawn):
        finite = np.asarray(np.isfinite(part).all(axis=2))
        part = np.where(finite[:, :, None], part, 0.0)
        size = np.abs(part).max(axis=2, initial=0.0)
        scaled = part / np.where(size > 0, size, 1.0)[:, :, None]  # squares of tiny draws would vanish
        ahead, behind = scaled[:, :, : lengths[0]], scaled[:, :, number - lengths[1] :]
        difference = ahead.mean(axis=2) - behind.mean(axis=2)
        difference[np.abs(difference) <= ROUNDING] = 0.0
        error = np.sqrt(_at_zero(ahead) / lengths[0] + _at_zero(behind) / lengths[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(difference == 0, 0.0, difference / error)
        result[:, begin:end] = np.where(finite, z, np.nan).T
    return result.reshape(drawn.shape[0], *np.shape(draws)[2:])


@dataclass(frozen=True, slots=True, eq=False)
class Homogeneity:
    """A χ² test of equal distributions, for each variable: a small `p` means that they differ.

    `dependence` is the φ that the statistic was adjusted by. Near 1 the states hardly moved, and the test has no power.
    """

    statistic: Floats
    degrees: Longs
    p: Floats
    dependence: Floats


def weiss(states: Sequence[NDArray[np.integer]] | NDArray[np.integer], categories: int) -> Homogeneity:
    """Test whether chains, or parts of one, visit the categories equally often: [draw, …variable] for each, of any length.

    Weiß (2013), as Deonovic and Smith use it (arXiv:1706.04919, section 3): for DAR(1) states, which stay with probability φ
    and are drawn again otherwise, Pearson's X² over (1 + φ)/(1 − φ) is asymptotically χ². Categories that no chain visits do not
    count for the degrees of freedom. Chains that never move, at different places, give inf and p = 0.

    Parts of one chain: `weiss([x[: n // 10], x[n // 2 :]], categories)`.
    """
    parts = [np.asarray(part) for part in states]
    if len(parts) < 2:
        raise ParameterError("states", "weiss", "at least 2 chains or parts of a chain", len(parts))
    if any(part.ndim == 0 or len(part) < 2 or part.shape[1:] != parts[0].shape[1:] for part in parts):
        raise ParameterError(
            "states", "weiss", "at least 2 draws of the same variables", [part.shape for part in parts]
        )
    for part in parts:
        if part.size and (part.dtype.kind not in "iu" or part.min() < 0 or part.max() >= categories):
            raise ParameterError(
                "states", "weiss", f"whole numbers from 0 to {categories - 1}", (part.dtype, part.min())
            )
    lengths = np.array([len(part) for part in parts])
    # [part, category, …variable]
    counts = np.array([[(part == i).sum(axis=0) for i in range(categories)] for part in parts], dtype=np.float64)
    shares = counts / lengths.reshape(-1, *[1] * (counts.ndim - 1))
    together = counts.sum(axis=0) / lengths.sum()
    seen = together > 0
    away = (shares - together) ** 2 / np.where(seen, together, 1.0)
    pearson = np.tensordot(lengths, away.sum(axis=1), axes=1)

    # φ is Cohen's κ at lag 1, 1 − P(moves)/P(two independent draws differ), within the parts: over all of them together,
    # parts that differ would look like dependence.
    moves = np.sum([(part[1:] != part[:-1]).sum(axis=0) for part in parts], axis=0).astype(np.float64)
    differ = np.tensordot(lengths - 1, 1 - (shares**2).sum(axis=1), axes=1)
    moved = moves > 0  # then some part has two categories, and differ > 0
    kappa = 1 - np.divide(moves, differ, out=np.zeros_like(moves), where=moved)
    # With n draws E[1 − Σ p̂²] = (1 − Σ p²)(1 − V/n), V = (1 + φ)/(1 − φ), so κ ≈ 1 − (1 − φ)(1 + V/n) = φ − (1 + φ)/n:
    # that is added again. A part is worth at least one draw: V ≤ n, that is φ ≤ (n − 1)/(n + 1).
    n = lengths.mean()
    phi = np.clip(kappa + (1 + kappa) / n, 0.0, (n - 1) / (n + 1))
    statistic = pearson * (1 - phi) / (1 + phi)
    phi = np.where(moved, phi, 1.0)
    several = seen.sum(axis=0) > 1
    statistic = np.where(moved, statistic, np.where(several, np.inf, 0.0))
    degrees = (seen.sum(axis=0) - 1) * (len(parts) - 1)
    p = np.where(several, chi2.sf(statistic, np.maximum(degrees, 1)), 1.0)
    return Homogeneity(statistic, degrees, p, phi)


# ---------------------------------------------------------------------------- all quantities, some at a time


def _checked(draws: ArrayLike, chains: int, owner: str) -> Floats:
    """Return the draws as [chain, draw, quantity]."""
    drawn = np.asarray(draws, dtype=np.float64)
    if drawn.ndim < 2 or drawn.shape[0] < chains or drawn.shape[1] < 4:
        least = f"an array [chain, draw, …] with at least {chains} chain{'s' * (chains > 1)} of 4 draws"
        raise ParameterError("draws", owner, least, f"shape {drawn.shape}")
    return drawn.reshape(*drawn.shape[:2], -1)


def _chunks(drawn: Floats) -> Iterator[tuple[int, int, Floats]]:
    """Yield begin, end, and a copy [quantity, chain, draw] of the quantities between."""
    step = max(1, MAX_DRAWS // (drawn.shape[0] * drawn.shape[1]))
    for begin in range(0, drawn.shape[2], step):
        part = drawn[:, :, begin : begin + step]
        yield begin, begin + part.shape[2], np.ascontiguousarray(np.moveaxis(part, 2, 0))


def _each(draws: ArrayLike, compute: Callable[[Floats, Bools, Bools], Floats], chains: int, owner: str) -> Floats:
    """Apply `compute` to the finite quantities. It gets which of them are constant, and which are constant in each chain."""
    drawn = _checked(draws, chains, owner)
    result = np.full(drawn.shape[2], np.nan)
    for begin, end, part in _chunks(drawn):
        finite = np.isfinite(part).all(axis=(1, 2))
        part = part if finite.all() else part[finite]
        high, low = part.max(axis=2, initial=-np.inf), part.min(axis=2, initial=np.inf)
        room = ROUNDING * np.maximum(np.abs(high), np.abs(low)).max(axis=1, keepdims=True)
        apart = (high - low <= room).all(axis=1)
        constant = high.max(axis=1) - low.min(axis=1) <= room[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            result[begin:end][finite] = compute(part, constant, apart & ~constant)
    return result.reshape(np.shape(draws)[2:])


def _split(part: Floats) -> Floats:
    """Return the two halves of each chain as chains, without the middle draw of an odd number."""
    half = part.shape[2] // 2
    return np.concatenate([part[:, :, :half], part[:, :, -half:]], axis=1)


def _normal_scores(split: Floats) -> Floats:
    """Return z of the ranks over all chains, with the mean rank for ties: Φ⁻¹((rank − 3/8)/(size + 1/4))."""
    flat = split.reshape(len(split), -1)
    size = flat.shape[1]
    order = np.argsort(flat, axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    place = np.arange(size, dtype=np.int32)
    new = np.ones(flat.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    # The mean rank is 1 + (begin + end)/2, one of 2·size − 1 numbers.
    scores = ndtri((1 + np.arange(2 * size - 1) / 2 - 3 / 8) / (size + 1 / 4))
    result = np.empty_like(flat)
    if new.all():
        np.put_along_axis(result, order, scores[None, ::2], axis=1)
        return result.reshape(split.shape)
    begin = np.maximum.accumulate(np.where(new, place, np.int32(0)), axis=1)
    new[:, :-1], new[:, -1] = new[:, 1:].copy(), True  # now: the last of its ties
    end = np.minimum.accumulate(np.where(new, place, np.int32(size))[:, ::-1], axis=1)[:, ::-1]
    np.put_along_axis(result, order, scores[begin + end], axis=1)
    return result.reshape(split.shape)


def _plain_rhat(split: Floats) -> Floats:
    """Return √((B/W + n − 1)/n); nan where nothing differs, inf where chains differ and none moves."""
    number = split.shape[2]
    still = (split == split[:, :, :1]).all(axis=(1, 2))  # exactly: rounding leaves a variance above 0
    within = np.where(still, 0.0, split.var(axis=2, ddof=1).mean(axis=1))
    means = np.where(still[:, None], split[:, :, 0], split.mean(axis=2))
    between = number * means.var(axis=1, ddof=1)
    between[(means == means[:, :1]).all(axis=1)] = 0.0
    return np.asarray(np.sqrt((between / within + number - 1) / number))


def _rhat(part: Floats, constant: Bools, apart: Bools) -> Floats:
    split = _split(part)
    median = np.median(split.reshape(len(split), -1), axis=1)
    bulk = _plain_rhat(_normal_scores(split))
    tail = _plain_rhat(_normal_scores(np.abs(split - median[:, None, None])))
    # The tail may be undefined for draws of two values that are as far from the median; the bulk then is not,
    # unless only the middle draw, which is left out, moved.
    result = np.fmax(bulk, tail)
    return np.where(constant, 1.0, np.where(apart, np.inf, np.where(np.isnan(result), 1.0, result)))


def _plain_ess(split: Floats) -> Floats:
    """Return the effective size by Geyer's initial monotone sequence of the chains' mean autocovariances."""
    chains, number = split.shape[1:]
    covariance = _autocovariance(split, number, mean=1)  # [quantity, lag]
    within = covariance[:, 0] * number / (number - 1)
    total = covariance[:, 0] + (split.mean(axis=2).var(axis=1, ddof=1) if chains > 1 else 0.0)
    rho = 1 - (within[:, None] - covariance) / total[:, None]
    rho[:, 0] = 1.0
    # Sums of neighbours ρ₂ₖ + ρ₂ₖ₊₁ are positive and falling for a reversible chain: they are used up to the first that is not
    # positive (or the last lag that is any good), and none may be above the one before. Of that first one, ρ₂ₖ counts
    # once if positive.
    final = max(number - 3, 1) // 2
    pairs = rho[:, : 2 * final + 2].reshape(len(rho), final + 1, 2).sum(axis=2)
    ends = pairs <= 0
    ends[:, final] = True
    end = ends.argmax(axis=1)
    falling = np.minimum.accumulate(pairs, axis=1)
    falling[np.arange(final + 1) >= end[:, None]] = 0.0
    rows = np.arange(len(rho))
    last = rho[rows, 2 * end]
    last = np.where(pairs[rows, end] >= 0, last, np.maximum(last, 0.0))
    size = chains * number
    return np.asarray(size / np.maximum(2 * falling.sum(axis=1) - 1 + last, 1 / np.log10(size)))


def _scaled(part: Floats) -> Floats:
    """Scale draws to 0 … 1, because the squares of tiny draws would vanish."""
    low = part.min(axis=(1, 2), keepdims=True)
    width = part.max(axis=(1, 2), keepdims=True) - low
    return np.asarray((part - low) / np.where(width > 0, width, 1.0))


def _ess_bulk(part: Floats, constant: Bools, apart: Bools) -> Floats:
    return _worth(_plain_ess(_normal_scores(_split(part))), part, constant, apart)


def _ess_mean(part: Floats, constant: Bools, apart: Bools) -> Floats:
    return _worth(_plain_ess(_split(_scaled(part))), part, constant, apart)


def _worth(moving: Floats, part: Floats, constant: Bools, apart: Bools) -> Floats:
    # Not a number: only the middle draw, which splitting leaves out, moved.
    chains = float(part.shape[1])
    return np.where(constant, np.inf, np.where(apart | np.isnan(moving), chains, moving))


def _mcse(part: Floats, constant: Bools, apart: Bools) -> Floats:
    spread = part.std(axis=(1, 2), ddof=1)
    moving = spread / np.sqrt(_ess_mean(part, constant, apart))
    chains = part.shape[1]
    if chains > 1:
        between = part.mean(axis=2).std(axis=1, ddof=1) / np.sqrt(chains)
        moving = np.where(apart, between, moving)
    return np.where(constant, 0.0, moving)


def _autocovariance(series: Floats, lags: int, mean: int | None = None) -> Floats:
    """Return autocovariances along the last axis, divided by the length at every lag, and averaged along axis `mean`."""
    number = series.shape[-1]
    padded = next_fast_len(2 * number, real=True)
    waves = rfft(series - series.mean(axis=-1, keepdims=True), n=padded, axis=-1)
    power = waves.real**2 + waves.imag**2
    covariance: Floats = irfft(power if mean is None else power.mean(axis=mean), n=padded, axis=-1)[..., :lags]
    covariance /= number
    return covariance


def _at_zero(series: Floats) -> Floats:
    """Return the spectral density at 0 of each series along the last axis, by the autoregression of smallest AIC; 0 if constant."""
    number = series.shape[-1]
    orders = min(number // 4, int(10 * np.log10(number)))
    covariance = _autocovariance(series, orders + 1)
    still = np.ptp(series, axis=-1) <= ROUNDING
    variance = np.where(still, 1.0, covariance[..., 0])
    rho = covariance / variance[..., None]
    rho[still] = 0.0
    # Levinson and Durbin: from the coefficients of order m − 1 to those of order m, all series at once.
    coefficients = np.zeros((*variance.shape, orders))
    left = np.ones(variance.shape)  # share of the variance that order m does not explain
    best = np.zeros(variance.shape)  # AIC, without what all orders share
    density = np.full(variance.shape, number / (number - 1))
    for m in range(1, orders + 1):
        known = coefficients[..., : m - 1]
        partial = (rho[..., m] - (known * rho[..., m - 1 : 0 : -1]).sum(axis=-1)) / left
        known -= partial[..., None] * known[..., ::-1].copy()
        coefficients[..., m - 1] = partial
        left = left * np.maximum(1 - partial**2, 1e-15)
        aic = number * np.log(left) + 2 * m
        better = aic < best
        best = np.where(better, aic, best)
        own = left * number / (number - m - 1) / (1 - coefficients[..., :m].sum(axis=-1)) ** 2
        density = np.where(better, own, density)
    return np.asarray(np.where(still, 0.0, density * variance))
