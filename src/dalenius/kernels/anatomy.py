"""Anatomy's schedule: the groups that the people of each sensitive value go to. It depends on the counts alone."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Longs

__all__ = ["largest_first"]


@njit(cache=True, nogil=True)
def largest_first(counts: Longs, order: Longs, l: int) -> tuple[Longs, Longs]:  # noqa: E741 - the literature's letter
    """Fill groups with one person of each of the ℓ most common values, until fewer than ℓ values are left.

    `counts` are in descending order, and `order` says which value each belongs to. Return the value of every person in a group,
    group by group, and how many people of each value are left over. If several values tie for the last of the ℓ places, those
    come first that have waited longest at that count. They then move behind the others, so that the counts stay sorted.
    """
    left = counts.copy()
    place = order.copy()
    values = left.size
    groups = left.sum() // l
    taken = np.empty(groups * l, np.int64)
    moved = np.empty(values, np.int64)
    end = 0
    for _ in range(groups):
        last = left[l - 1]
        if last == 0:
            break
        begin = l - 1  # the run of values as common as the ℓ-th
        while begin > 0 and left[begin - 1] == last:
            begin -= 1
        stop = l
        while stop < values and left[stop] == last:
            stop += 1
        for j in range(begin):
            taken[end] = place[j]
            left[j] -= 1
            end += 1
        for j in range(begin, l):
            taken[end] = place[j]
            moved[j - begin] = place[j]
            end += 1
        for j in range(l, stop):
            place[j - (l - begin)] = place[j]
        for j in range(l - begin):
            place[stop - (l - begin) + j] = moved[j]
            left[stop - (l - begin) + j] -= 1
    rest = np.zeros(values, np.int64)
    for j in range(values):
        rest[place[j]] = left[j]
    return taken[:end], rest
