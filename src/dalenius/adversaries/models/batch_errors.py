"""The Monte-Carlo error of what batches of sweeps say on average, stated so that three of them hold.

The plain error, s/√n of n batches, is too small in three cases. Batches that are shorter than the memory of a chain resemble
their neighbours. Few batches tell their own spread badly. And a mode that is rarely visited makes batches skewed: runs that
have seen too little of it take it for rarer, and themselves for surer, than is right.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import norm
from scipy.stats import t as t_distribution

from dalenius.arrays import Bools, Floats

CHANCE = 1e-9  # how improbable a difference between chains must be to count
LEAST = 4  # batches of a chain that remain when neighbours are taken together
STANDARD = 3.0  # errors that are to hold
CHUNK = 2_000_000  # draws worked on at once


def spread(draws: Floats) -> tuple[Floats, Bools]:
    """The Monte-Carlo error of the mean of batches [chain, batch, …], and where chains differ more than by chance.

    Where they do the error is that between chains. What is constant has no error, and what is not defined in every batch has
    none that is known.
    """
    chains, batches = draws.shape[:2]
    flat = draws.reshape(chains, batches, math.prod(draws.shape[2:]))
    error, differ = np.empty(flat.shape[2]), np.empty(flat.shape[2], dtype=np.bool_)
    step = max(1, CHUNK // (chains * batches))
    for low in range(0, flat.shape[2], step):
        error[low : low + step], differ[low : low + step] = _spread(flat[:, :, low : low + step])
    return error.reshape(draws.shape[2:]), differ.reshape(draws.shape[2:])


def _spread(draws: Floats) -> tuple[Floats, Bools]:
    chains, batches = draws.shape[:2]
    critical = float(f_distribution.isf(CHANCE, chains - 1, chains * (batches - 1)))
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)  # of the chains' means
    moving = ~(within <= 1e-24)
    differ = np.where(moving, between * batches > critical * within, between > 1e-18)
    found = np.where(moving, stated(draws), 0.0)
    return np.where(differ, np.sqrt(between / chains), found), differ


def stated(draws: Floats) -> Floats:
    """The largest error that batches of any length tell: as they are, two taken together, four, …

    If batches are longer than the memory of the chain, the error is the same for all lengths. If not, it grows with the length,
    by about half as much at each doubling: twice the squared error of the doubled ones less that of the others is about right
    (the lugsail estimator of Vats and Flegal, 2018).
    """
    squared, largest = None, np.zeros(draws.shape[2])
    while draws.shape[1] >= LEAST or squared is None:
        flat = draws.reshape(-1, draws.shape[2])
        mine = flat.var(axis=0, ddof=1) / len(flat)
        known = _few(len(flat))
        largest = np.maximum(largest, np.sqrt(mine) * (known + _skewed(flat)))
        if squared is not None:
            largest = np.maximum(largest, known * np.sqrt(np.maximum(2 * mine - squared, 0.0)))
        squared = mine
        odd = draws.shape[1] % 2
        draws = (draws[:, odd::2] + draws[:, odd + 1 :: 2]) / 2
    return largest


def _few(number: int) -> float:
    """By how much more so few batches must say: Student's quantile where the normal one is 3, over 3."""
    return float(t_distribution.isf(norm.sf(STANDARD), number - 1)) / STANDARD


def _skewed(flat: Floats) -> Floats:
    """The same because batches are skewed: a share of their error.

    The limit of a mean of n draws with skewness g at z errors is z s/√n + g s (2z² + 1)/(6n) (Johnson 1978, Hall 1992). What
    normal draws would have for g by chance is left out.
    """
    away = flat - flat.mean(axis=0)
    size = np.abs(away).max(axis=0, initial=0.0)
    away /= np.where(size > 0, size, 1.0)  # cubes of tiny numbers would vanish
    square = (away**2).mean(axis=0)
    cube = np.abs((away * away * away).mean(axis=0))
    number = len(flat)
    skewness = np.divide(cube, square**1.5, out=np.zeros_like(cube), where=square > 0)
    beyond = np.maximum(skewness - math.sqrt(6 / number), 0.0)
    return np.asarray(beyond * (2 * STANDARD**2 + 1) / (6 * STANDARD * math.sqrt(number)))
