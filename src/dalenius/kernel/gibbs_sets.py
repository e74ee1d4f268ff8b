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
    sweeps: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Run some sweeps on a state, in place: the mean over them of each leaf's posterior mean and of each row's leaf.

    One update of set v: given the rows of all others, p ~ Dir(β + their counts) on its leaves, and its rows are multinomial.
    The share of leaf l of a row of v is averaged as (β + others' count)/Σ, not as the number drawn.
    """
    np.random.seed(seed)
    leaf_mean = np.zeros(beta.size)
    share_mean = np.zeros(members.size)
    everything = beta.sum() + counts.sum()
    weights = np.empty(beta.size)
    for _ in range(sweeps):
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
                weights[x - low] = beta[leaf] + total[leaf]
                sum_of += weights[x - low]
            drawn = 0.0
            for x in range(low, high):
                share_mean[x] += weights[x - low] / sum_of
                weights[x - low] = np.random.gamma(weights[x - low], 1.0)
                drawn += weights[x - low]
            left = counts[v]
            for x in range(low, high):
                n = np.int64(0)
                if left > 0:
                    if x == high - 1 or drawn <= weights[x - low]:
                        n = left
                    elif drawn > 0.0:
                        n = np.random.binomial(left, min(1.0, weights[x - low] / drawn))
                    drawn -= weights[x - low]
                rows[x] = n
                total[members[x]] += n
                left -= n
        for leaf in range(beta.size):
            leaf_mean[leaf] += (beta[leaf] + total[leaf]) / everything
    return leaf_mean / sweeps, share_mean / sweeps
