"""Collapsed Gibbs for a distribution over leaves of which rows say only sets that overlap (methods A, exact inference 3)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@njit(cache=True, nogil=True)
def start_sets(first: Longs, members: Ints, counts: Longs, leaves: int, seed: int) -> tuple[Longs, Longs]:
    """A state: how many rows of each set have each of its leaves, drawn evenly, and how many rows have each leaf."""
    np.random.seed(seed)
    rows = np.zeros(members.size, np.int64)
    total = np.zeros(leaves, np.int64)
    for v in range(counts.size):
        left = counts[v]
        for x in range(first[v], first[v + 1]):
            remaining = first[v + 1] - x
            n = left if remaining == 1 else np.random.binomial(left, 1.0 / remaining)
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
    watched: Longs,
    trace: Floats,
    sweeps: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Run some sweeps on a state, in place: the mean over them of each leaf's posterior mean and of each row's leaf.

    One update of set v: given the rows of all others, p ~ Dir(β + their counts) on its leaves, and its rows are multinomial.
    The share of leaf l of a row of v is averaged as (β + others' count)/Σ, not as the number drawn. Each sweep writes down
    the watched leaves' numbers of rows.
    """
    np.random.seed(seed)
    leaf_mean = np.zeros(beta.size)
    share_mean = np.zeros(members.size)
    everything = beta.sum() + counts.sum()
    weights = np.empty(beta.size)
    ends = np.empty(beta.size)
    urn = np.empty(counts.max() if counts.size else 0, np.int64)
    for sweep in range(sweeps):
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
def _draw_one_by_one(count: int, ends: Floats, sum_of: float, urn: Longs, rows: Longs) -> None:
    """Pólya's urn: a row takes a leaf by its weight, or the leaf of one of the rows before it."""
    for i in range(count):
        at = np.random.random() * (sum_of + i)
        if at >= sum_of:
            urn[i] = urn[min(int(at - sum_of), i - 1)]
        else:
            urn[i] = min(int(np.searchsorted(ends, at, side="right")), ends.size - 1)
        rows[urn[i]] += 1


@njit(cache=True, nogil=True)
def _draw_together(count: int, weights: Floats, rows: Longs) -> None:
    """p ~ Dirichlet, then a multinomial; `weights` are overwritten."""
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
