"""Entropies of what an attacker believes, and the sets it would have to search (Rebollo-Monedero et al. 2013, section V-A).

Rényi's entropy of order 0 is Hartley's (how many values are possible), of order 1 Shannon's, of order ∞ min-entropy (how
likely the best guess is): best, average and worst case of the same belief. All are in bits.
"""

from __future__ import annotations

import math

import numpy as np

from dalenius.arrays import Floats, Longs
from dalenius.errors import InputError, ParameterError
from dalenius.measures.observed import Observed

__all__ = [
    "NEAR_ONE",
    "SLACK",
    "SUM_TOLERANCE",
    "conditional",
    "confidence_sets",
    "effective_size",
    "min_entropy",
    "renyi",
    "typical_set_bits",
    "uniform_error",
]

SUM_TOLERANCE = 1e-6  # beliefs whose sum is further from 1 are refused
SLACK = 1e-12  # a set whose probability is short of p by rounding counts as reaching it
NEAR_ONE = 0.5  # orders this close to 1 are computed from their difference from 1


def renyi(posteriors: Floats, order: float) -> Floats:
    """Return H_α of each row: log2(Σ p^α)/(1 − α); its limits at α = 0, 1 and ∞ (section V-A1).

    With m the largest p, Σ p^α = m^α Σ (p/m)^α keeps its digits for large α, where p^α is 0 for a computer. Near α = 1 both
    log Σ p^α and 1 − α vanish; there log Σ p^α = log1p(Σ p (p^{α−1} − 1)), for Σ p = 1, and no digits are lost.
    """
    if isinstance(order, bool) or not isinstance(order, int | float | np.integer | np.floating) or not order >= 0:
        raise ParameterError("order", "renyi", "a number ≥ 0, or inf", order)
    p = _beliefs(posteriors)
    if order == 0:
        entropies: Floats = np.log2((p > 0).sum(axis=1))
        return entropies
    most = p.max(axis=1)
    if math.isinf(order):
        return _above(-np.log2(most))
    if abs(order - 1) < NEAR_ONE:
        logs = np.log(p, where=p > 0, out=np.zeros_like(p))
        if order == 1:
            return _above(-(p * logs).sum(axis=1) / math.log(2))
        return _above(np.log1p((p * np.expm1((order - 1) * logs)).sum(axis=1)) / (1 - order) / math.log(2))
    rest = np.log2(((p / most[:, None]) ** order).sum(axis=1))
    return _above(order / (1 - order) * np.log2(most) + rest / (1 - order))


def effective_size(entropy: Floats | float) -> Floats:
    """Return 2^H, the number of equally likely values that have this entropy."""
    return np.exp2(np.asarray(entropy, dtype=np.float64))


def conditional(observed: Observed, order: float = 1.0) -> float:
    """Return E_y H_α(X|y), the mean over observations; at α = 1 it is H(X|Y). (Arimoto's conditional entropy is another.)"""
    return observed.average(renyi(observed.posterior, order))


def min_entropy(observed: Observed) -> float:
    """Return −log2 Σ_y max_x p(x, y), the average min-entropy (Dodis et al. 2008): −log2 of the best guess's success rate."""
    return float(_above(-np.log2(observed.joint.max(axis=0).sum(keepdims=True)))[0])


def confidence_sets(posteriors: Floats, p: float) -> Longs:
    """Return how many values the smallest set of probability ≥ p has, for each row; of p = 1 it is the support (section V-A1)."""
    if isinstance(p, bool) or not isinstance(p, int | float | np.integer | np.floating) or not 0 < p <= 1:
        raise ParameterError("p", "confidence_sets", "a number > 0 and ≤ 1", p)
    beliefs = _beliefs(posteriors)
    if p == 1:
        support: Longs = (beliefs > 0).sum(axis=1)
        return support
    reached = np.cumsum(np.sort(beliefs, axis=1)[:, ::-1], axis=1)
    slack = SLACK + beliefs.shape[1] * 2.0**-53  # a sum of n numbers is off by n roundings at most
    sizes: Longs = (reached < p - slack).sum(axis=1) + 1
    return sizes


def uniform_error(sizes: Longs) -> Floats:
    """Return 1 − 1/|C|: the error of a guess within a set whose members are held equally likely (section V-A1)."""
    numbers = np.asarray(sizes)
    if (numbers < 1).any():
        raise ParameterError("sizes", "uniform_error", "ints ≥ 1", int(numbers.min()))
    return 1 - 1 / numbers.astype(np.float64)


def typical_set_bits(observed: Observed, repeats: int) -> float:
    """Return k·H(X|Y): log2 of about how many sequences of k values are left once k observations are made (section V-A2)."""
    if isinstance(repeats, bool) or not isinstance(repeats, int | np.integer) or repeats < 0:
        raise ParameterError("repeats", "typical_set_bits", "an int ≥ 0", repeats)
    return int(repeats) * conditional(observed, 1.0)


def _beliefs(posteriors: Floats) -> Floats:
    """Return rows of probabilities that sum to 1 as far as floating point allows."""
    p = np.asarray(posteriors, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] == 0:
        raise InputError(
            f"Beliefs are rows of probabilities, one row for each observation; these have shape {p.shape}."
        )
    total = p.sum(axis=1, keepdims=True)
    if not np.isfinite(p).all() or (p < 0).any() or (np.abs(total - 1) > SUM_TOLERANCE).any():
        raise InputError("Beliefs are rows of probabilities, each ≥ 0, that sum to 1; one of them is not.")
    normalised: Floats = p / total
    return normalised


def _above(bits: Floats) -> Floats:
    """Return the entropy, and 0 if rounding put it below 0."""
    return np.maximum(bits, 0.0) + 0.0
