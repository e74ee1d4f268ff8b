"""MDAV: groups of k records around the records that are farthest out (Domingo-Ferrer and Torra 2005)."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints

__all__ = ["mdav"]

ROUNDING = 1e-9  # squared distances that differ by less are equal


@njit(cache=True, nogil=True)
def mdav(numbers: Floats, categories: Ints, labels: int, k: int) -> Ints:
    """Return the group of each record.

    The squared distance of two records is Σ of squared differences of `numbers` plus the number of `categories` that differ,
    which is the distance of one-hot columns divided by √2. While at least 3k records are left, the record farthest from their
    centroid and its k − 1 nearest records form a group, and so do the record farthest from that one and its k − 1 nearest of the
    rest. With 2k to 3k − 1 records left, only the first of these groups is formed, and the rest is the last group. Ties go to the
    first record.
    """
    n, p = numbers.shape
    c = categories.shape[1]
    group = np.full(n, -1, np.int32)
    alive = np.arange(n)
    left = n
    groups = 0
    near = np.empty(k, np.int64)
    distance = np.empty(k)
    mean = np.empty(p)
    share = np.empty((c, labels))
    while left >= 2 * k:
        # The record farthest from the centroid: in one-hot columns (1 − 2·share + Σ share²)/2.
        mean[:] = 0.0
        share[:] = 0.0
        for x in range(left):
            i = alive[x]
            for a in range(p):
                mean[a] += numbers[i, a]
            for a in range(c):
                share[a, categories[i, a]] += 1.0
        squares = 0.0
        for a in range(p):
            mean[a] /= left
        for a in range(c):
            for v in range(labels):
                share[a, v] /= left
                squares += share[a, v] * share[a, v]
        far, most = 0, -1.0
        for x in range(left):
            i = alive[x]
            d = 0.0
            for a in range(p):
                d += (numbers[i, a] - mean[a]) ** 2
            for a in range(c):
                d += 0.5 - share[a, categories[i, a]]
            d += 0.5 * squares
            if d > most + ROUNDING:
                far, most = i, d
        if left >= 3 * k:
            # The record farthest from that one is determined before its group is removed.
            opposite, most = 0, -1.0
            for x in range(left):
                i = alive[x]
                d = 0.0
                for a in range(p):
                    d += (numbers[i, a] - numbers[far, a]) ** 2
                for a in range(c):
                    if categories[i, a] != categories[far, a]:
                        d += 1.0
                if d > most + ROUNDING:
                    opposite, most = i, d
            centres = 2
        else:
            opposite = far
            centres = 1
        for turn in range(centres):
            centre = far if turn == 0 else opposite
            if turn == 1 and group[opposite] >= 0:
                break  # fewer than k records differ from the first centre: the next round takes others
            held = 0
            for x in range(left):
                i = alive[x]
                limit = distance[held - 1] if held == k else np.inf
                d = 0.0
                for a in range(p):
                    d += (numbers[i, a] - numbers[centre, a]) ** 2
                for a in range(c):
                    if categories[i, a] != categories[centre, a]:
                        d += 1.0
                if i == centre:
                    d = -1.0  # itself first, even if others equal it
                if d >= limit - ROUNDING:
                    continue
                if held < k:
                    held += 1
                j = held - 1
                while j > 0 and distance[j - 1] > d + ROUNDING:
                    distance[j] = distance[j - 1]
                    near[j] = near[j - 1]
                    j -= 1
                distance[j] = d
                near[j] = i
            for j in range(k):
                group[near[j]] = groups
            groups += 1
            kept = 0
            for x in range(left):
                if group[alive[x]] < 0:
                    alive[kept] = alive[x]
                    kept += 1
            left = kept
    for x in range(left):
        group[alive[x]] = groups
    return group
