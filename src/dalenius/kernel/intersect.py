"""Sets of sensitive values as bits: what the groups of a target hold together, and what several releases leave."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]

_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def value_bits(group: Longs, value: Longs, bits: Words) -> None:
    """Set bit `value[x]` of `bits[group[x]]`."""
    for x in range(group.size):
        bits[group[x], value[x] >> 6] |= _ONE << np.uint64(value[x] & 63)


@njit(cache=True, nogil=True)
def gather(target: Longs, start: Longs, group: Longs, bits: Words, found: Words) -> None:
    """Join what the groups `group[start[i]:start[i + 1]]` hold into `found[target[i]]`."""
    for i in range(target.size):
        t = target[i]
        for x in range(start[i], start[i + 1]):
            q = group[x]
            for w in range(bits.shape[1]):
                found[t, w] |= bits[q, w]


@njit(cache=True, nogil=True)
def sizes(bits: Words) -> Longs:
    """How many bits of each row are set."""
    found = np.zeros(bits.shape[0], np.int64)
    for i in range(bits.shape[0]):
        for w in range(bits.shape[1]):
            word = bits[i, w]
            while word:
                word &= word - _ONE
                found[i] += 1
    return found


@njit(cache=True, nogil=True)
def nearest(numbers: Floats, categories: Ints, points: Floats, labels: Ints, room: int) -> tuple[Longs, Longs]:
    """The points nearest to each target, all of those that are as near: from where to where, and which.

    A target's number that is nan, and a category below 0, counts nothing; different categories are at distance 1. `room`
    points are written down to begin with; more are made room for. What is farther than the nearest so far is not measured
    to the end.
    """
    start = np.zeros(numbers.shape[0] + 1, np.int64)
    which = np.empty(max(room, 1), np.int64)
    used = 0
    distance = np.empty(points.shape[0])
    for t in range(numbers.shape[0]):
        limit = np.inf
        for q in range(points.shape[0]):
            total = 0.0
            for a in range(categories.shape[1]):
                if categories[t, a] >= 0 and labels[q, a] != categories[t, a]:
                    total += 1.0
            for a in range(numbers.shape[1]):
                if total > limit:
                    break
                away = numbers[t, a] - points[q, a]
                if away == away:
                    total += away * away
            distance[q] = total
            limit = min(limit, total * (1 + 1e-9) + 1e-12)
        for q in range(points.shape[0]):
            if distance[q] <= limit:
                if used == which.size:
                    more = np.empty(2 * used, np.int64)
                    more[:used] = which
                    which = more
                which[used] = q
                used += 1
        start[t + 1] = used
    return start, which[:used]


@njit(cache=True, nogil=True)
def common_sizes(one: Longs, left: Words, other: Longs, bits: Words) -> Longs:
    """How many bits `left[one[x]]` and `bits[other[x]]` have in common, for each x."""
    found = np.zeros(one.size, np.int64)
    for x in range(one.size):
        for w in range(bits.shape[1]):
            word = left[one[x], w] & bits[other[x], w]
            while word:
                word &= word - _ONE
                found[x] += 1
    return found
