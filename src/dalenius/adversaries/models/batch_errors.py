"""The Monte-Carlo error of the mean of batches of sweeps, so large that the truth lies within three of these errors.

The plain error, s/√n of n batches, is too small in three cases. Batches that are shorter than the memory of a chain resemble their
neighbours. Few batches give a poor estimate of their own spread. And a mode that is rarely visited makes batches skewed: a run that
has seen too little of it underestimates both the mode and its own error.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import norm
from scipy.stats import t as t_distribution

from dalenius.arrays import Bools, Floats

__all__ = ["ERRORS_WITHIN", "spread"]

MAX_CHANCE = 1e-9  # a difference between chains counts if chance makes it with at most this probability
MIN_BATCHES = 4  # of a chain that remain when neighbours are merged
ERRORS_WITHIN = 3.0  # the truth is within this many errors
MAX_DRAWS = 2_000_000  # in one step


def spread(draws: Floats) -> tuple[Floats, Bools]:
    """Return the Monte-Carlo error of the mean of batches [chain, batch, …], and where chains differ by more than chance.

    Where they do, the error is that between chains. The error of a constant is 0. It is nan where a batch is not defined.
    """
    chains, batches = draws.shape[:2]
    flat = draws.reshape(chains, batches, math.prod(draws.shape[2:]))
    error, differ = np.empty(flat.shape[2]), np.empty(flat.shape[2], dtype=np.bool_)
    step = max(1, MAX_DRAWS // (chains * batches))
    for low in range(0, flat.shape[2], step):
        error[low : low + step], differ[low : low + step] = _spread(flat[:, :, low : low + step])
    return error.reshape(draws.shape[2:]), differ.reshape(draws.shape[2:])


def _spread(draws: Floats) -> tuple[Floats, Bools]:
    chains, batches = draws.shape[:2]
    critical = float(f_distribution.isf(MAX_CHANCE, chains - 1, chains * (batches - 1)))
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)  # of the chains' means
    moving = ~(within <= 1e-24)
    differ = np.where(moving, between * batches > critical * within, between > 1e-18)
    error = np.where(moving, _largest_error(draws), 0.0)
    return np.where(differ, np.sqrt(between / chains), error), differ


def _largest_error(draws: Floats) -> Floats:
    """Return the largest error that batches of any length show: as they are, two merged, four merged, …

    If batches are longer than the memory of the chain, the error is the same for all lengths. If not, it grows with the length,
    by about half as much at each doubling. Then twice the squared error of the merged batches minus that of the others is about
    right (the lugsail estimator of Vats and Flegal, 2018).
    """
    squared, largest = None, np.zeros(draws.shape[2])
    while draws.shape[1] >= MIN_BATCHES or squared is None:
        flat = draws.reshape(-1, draws.shape[2])
        variance = flat.var(axis=0, ddof=1) / len(flat)
        factor = _few(len(flat))
        largest = np.maximum(largest, np.sqrt(variance) * (factor + _skewed(flat)))
        if squared is not None:
            largest = np.maximum(largest, factor * np.sqrt(np.maximum(2 * variance - squared, 0.0)))
        squared = variance
        odd = draws.shape[1] % 2
        draws = (draws[:, odd::2] + draws[:, odd + 1 :: 2]) / 2
    return largest


def _few(number: int) -> float:
    """Return the factor for few batches: Student's quantile where the normal one is 3, divided by 3."""
    return float(t_distribution.isf(norm.sf(ERRORS_WITHIN), number - 1)) / ERRORS_WITHIN


def _skewed(flat: Floats) -> Floats:
    """Return what skewed batches add to the error, as a share of it.

    The limit of a mean of n draws with skewness g at z errors is z s/√n + g s (2z² + 1)/(6n) (Johnson 1978, Hall 1992). The
    skewness that normal draws have by chance is subtracted.
    """
    away = flat - flat.mean(axis=0)
    size = np.abs(away).max(axis=0, initial=0.0)
    away /= np.where(size > 0, size, 1.0)  # cubes of tiny numbers would vanish
    square = (away**2).mean(axis=0)
    cube = np.abs((away * away * away).mean(axis=0))
    number = len(flat)
    skewness = np.divide(cube, square**1.5, out=np.zeros_like(cube), where=square > 0)
    beyond = np.maximum(skewness - math.sqrt(6 / number), 0.0)
    return np.asarray(beyond * (2 * ERRORS_WITHIN**2 + 1) / (6 * ERRORS_WITHIN * math.sqrt(number)))
