"""Collapsed Gibbs for a distribution over leaves if each row gives only a set, and sets overlap (methods A, exact inference 3)."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs
from dalenius.kernels.mode_jumps import draw_parameters, log_mixture

__all__ = ["jump_sets", "start_sets", "sweep_sets"]


@njit(cache=True, nogil=True)
def start_sets(first: Longs, members: Ints, counts: Longs, leaves: int, rank: Longs, seed: int) -> tuple[Longs, Longs]:
    """Return a state: how many rows of each set have each of its leaves, and how many rows have each leaf.

    It is drawn evenly or, if leaves have a `rank`, each set gives all of its rows to its leaf of the first rank.
    """
    np.random.seed(seed)
    rows = np.zeros(members.size, np.int64)
    total = np.zeros(leaves, np.int64)
    for v in range(counts.size):
        left = counts[v]
        best = first[v]
        for x in range(first[v], first[v + 1]):
            if rank.size and rank[members[x]] < rank[members[best]]:
                best = x
        for x in range(first[v], first[v + 1]):
            remaining = first[v + 1] - x
            n = left
            if rank.size and x != best:
                n = 0
            elif not rank.size and remaining > 1:
                n = np.random.binomial(left, 1.0 / remaining)
            rows[x] = n
            total[members[x]] += n
            left -= n
    return rows, total


@njit(cache=True, nogil=True)
def sweep_sets(
    first: Longs,
    members: Ints,
    counts: Longs,
    beta: Floats,
    rows: Longs,
    total: Longs,
    centres: Floats,
    watched: Longs,
    trace: Floats,
    sweeps: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Run some sweeps on a state, in place. Return the means over them of each leaf's posterior mean and of each row's leaf.

    One update of set v: given the rows of all others, p ~ Dir(β + their counts) on its leaves, and its rows are multinomial.
    The share of leaf l of a row of v is averaged as (β + others' count)/Σ, not as the number drawn. Each sweep records the watched
    leaves' numbers of rows. If there are `centres`, a jump between them is proposed before each sweep.
    """
    np.random.seed(seed)
    leaf_mean = np.zeros(beta.size)
    share_mean = np.zeros(members.size)
    everything = beta.sum() + counts.sum()
    weights = np.empty(beta.size)
    ends = np.empty(beta.size)
    urn = np.empty(counts.max() if counts.size else 0, np.int64)
    for sweep in range(sweeps):
        if len(centres):
            jump_sets(first, members, counts, beta, rows, total, centres)
        for v in range(counts.size):
            low, high = first[v], first[v + 1]
            if counts[v] == 0:
                continue
            if high - low == 1:
                share_mean[low] += 1.0
                continue
            sum_of = 0.0
            for x in range(low, high):
                leaf = members[x]
                total[leaf] -= rows[x]
                rows[x] = 0
                weights[x - low] = beta[leaf] + total[leaf]
                sum_of += weights[x - low]
                ends[x - low] = sum_of
            for x in range(low, high):
                share_mean[x] += weights[x - low] / sum_of
            if counts[v] <= high - low:
                _draw_one_by_one(counts[v], ends[: high - low], sum_of, urn, rows[low:high])
            else:
                _draw_together(counts[v], weights[: high - low], rows[low:high])
            for x in range(low, high):
                total[members[x]] += rows[x]
        for leaf in range(beta.size):
            leaf_mean[leaf] += (beta[leaf] + total[leaf]) / everything
        for i in range(watched.size):
            trace[sweep, i] = total[watched[i]]
    return leaf_mean / sweeps, share_mean / sweeps


@njit(cache=True, nogil=True)
def jump_sets(
    first: Longs, members: Ints, counts: Longs, beta: Floats, rows: Longs, total: Longs, centres: Floats
) -> bool:
    """Propose another distribution π over the leaves; if it is accepted, draw rows given π. Return whether it was.

    With rows summed out, the posterior density of π is m(π) = Dir(π; β) Π_v π(v)^n_v. With every β at least 1 it is log-concave and
    has one mode; with smaller ones it may have many. π' comes from a mixture of Dirichlet densities, `centres[k, leaf]`, and is
    accepted with m(π') mixture(π) / (m(π) mixture(π')), where π ~ Dir(β + total) goes with the present rows.
    """
    first_leaf = np.array([0, beta.size])
    moving = np.ones(1, np.bool_)
    log_p, other = np.empty((beta.size, 1)), np.empty((beta.size, 1))
    weight = np.empty((beta.size, 1))
    for leaf in range(beta.size):
        weight[leaf, 0] = beta[leaf] + total[leaf]
    draw_parameters(weight, first_leaf, moving, log_p)
    mixture = centres.reshape(len(centres), beta.size, 1)
    draw_parameters(mixture[int(np.random.random() * len(mixture))], first_leaf, moving, other)
    ratio = _log_fit(first, members, counts, beta, other) - log_mixture(other, mixture, first_leaf, moving)
    ratio -= _log_fit(first, members, counts, beta, log_p) - log_mixture(log_p, mixture, first_leaf, moving)
    if not np.log(1.0 - np.random.random()) < ratio:
        return False
    total[:] = 0
    for v in range(counts.size):
        left, top = counts[v], -np.inf
        for x in range(first[v], first[v + 1]):
            top = max(top, other[members[x], 0])
        sum_of = 0.0
        for x in range(first[v], first[v + 1]):
            sum_of += np.exp(other[members[x], 0] - top)
        for x in range(first[v], first[v + 1]):
            share = np.exp(other[members[x], 0] - top)
            n = left
            if x < first[v + 1] - 1 and left > 0 and share < sum_of:
                n = np.random.binomial(left, share / sum_of)
            sum_of -= share
            rows[x] = n
            total[members[x]] += n
            left -= n
    return True


@njit(cache=True, nogil=True)
def _log_fit(first: Longs, members: Ints, counts: Longs, beta: Floats, log_p: Floats) -> float:
    """Return log m(π), up to a constant."""
    log = 0.0
    for leaf in range(beta.size):
        log += (beta[leaf] - 1.0) * log_p[leaf, 0]
    for v in range(counts.size):
        if counts[v] == 0:
            continue
        top = -np.inf
        for x in range(first[v], first[v + 1]):
            top = max(top, log_p[members[x], 0])
        sum_of = 0.0
        for x in range(first[v], first[v + 1]):
            sum_of += np.exp(log_p[members[x], 0] - top)
        log += counts[v] * (top + np.log(sum_of))
    return log


@njit(cache=True, nogil=True)
def _draw_one_by_one(count: int, ends: Floats, sum_of: float, urn: Longs, rows: Longs) -> None:
    """Draw by Pólya's urn: a row takes a leaf by its weight, or the leaf of one of the rows before it."""
    for i in range(count):
        at = np.random.random() * (sum_of + i)
        if at >= sum_of:
            urn[i] = urn[min(int(at - sum_of), i - 1)]
        else:
            urn[i] = min(int(np.searchsorted(ends, at, side="right")), ends.size - 1)
        rows[urn[i]] += 1


@njit(cache=True, nogil=True)
def _draw_together(count: int, weights: Floats, rows: Longs) -> None:
    """Draw p ~ Dirichlet, then a multinomial. `weights` are overwritten."""
    drawn = 0.0
    for x in range(weights.size):
        weights[x] = np.random.gamma(weights[x], 1.0)
        drawn += weights[x]
    left = count
    for x in range(weights.size):
        n = 0
        if left > 0:
            if x == weights.size - 1 or drawn <= weights[x]:
                n = left
            elif drawn > 0.0:
                n = int(np.random.binomial(left, min(1.0, weights[x] / drawn)))
            drawn -= weights[x]
        rows[x] = n
        left -= n
