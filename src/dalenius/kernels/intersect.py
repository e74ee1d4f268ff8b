"""Sets of sensitive values as bits: the values in the groups of a target, and the values that several releases leave."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs, Words

__all__ = ["common_sizes", "gather", "nearest", "sizes", "value_bits"]

_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def value_bits(group: Longs, value: Longs, bits: Words) -> None:
    """Set bit `value[x]` of `bits[group[x]]`."""
    for x in range(group.size):
        bits[group[x], value[x] >> 6] |= _ONE << np.uint64(value[x] & 63)


@njit(cache=True, nogil=True)
def gather(target: Longs, start: Longs, group: Longs, bits: Words, result: Words) -> None:
    """Add the values of the groups `group[start[i]:start[i + 1]]` to `result[target[i]]`."""
    for i in range(target.size):
        t = target[i]
        for x in range(start[i], start[i + 1]):
            q = group[x]
            for w in range(bits.shape[1]):
                result[t, w] |= bits[q, w]


@njit(cache=True, nogil=True)
def sizes(bits: Words) -> Longs:
    """Return how many bits of each row are set."""
    result = np.zeros(bits.shape[0], np.int64)
    for i in range(bits.shape[0]):
        for w in range(bits.shape[1]):
            word = bits[i, w]
            while word:
                word &= word - _ONE
                result[i] += 1
    return result


@njit(cache=True, nogil=True)
def nearest(
    numbers: Floats, categories: Ints, points: Floats, labels: Ints, begin: Longs, room: int
) -> tuple[Longs, Longs]:
    """Return the points nearest to each target, including ties: where each target's points begin, and the points.

    Points `begin[i]` to `begin[i + 1]` have the categories `labels[i]` and are sorted by their first number. A target's number
    that is nan, or a category below 0, does not count; different categories are at distance 1. There is room for `room` points at
    first, and it grows if necessary.
    """
    start = np.zeros(numbers.shape[0] + 1, np.int64)
    which = np.empty(max(room, 1), np.int64)
    used = 0
    seen, distance = np.empty(points.shape[0], np.int64), np.empty(points.shape[0])
    differ = np.empty(labels.shape[0], np.int64)
    for t in range(numbers.shape[0]):
        for i in range(labels.shape[0]):
            differ[i] = 0
            for a in range(labels.shape[1]):
                differ[i] += categories[t, a] >= 0 and labels[i, a] != categories[t, a]
        limit, number = np.inf, 0
        for d in range(labels.shape[1] + 1):  # points that differ in more categories cannot be nearer
            if d > limit:
                break
            for i in range(labels.shape[0]):
                if differ[i] == d:
                    limit, number = _search(
                        numbers[t], d, points, begin[i], begin[i + 1], limit, seen, distance, number
                    )
        first = used
        for x in range(number):
            if distance[x] <= limit:
                if used == which.size:
                    more = np.empty(2 * used, np.int64)
                    more[:used] = which
                    which = more
                which[used] = seen[x]
                used += 1
        which[first:used].sort()
        start[t + 1] = used
    return start, which[:used]


@njit(cache=True, nogil=True)
def _search(
    target: Floats,
    least: float,
    points: Floats,
    low: int,
    high: int,
    limit: float,
    seen: Longs,
    distance: Floats,
    number: int,
) -> tuple[float, int]:
    """Collect the points from `low` to `high` that are not farther than the limit, which shrinks with each nearer one.

    All are at least at distance `least`. The search goes outwards from the target's first number, until that alone is too far away.
    """
    guided = target.size > 0 and target[0] == target[0]
    above = low + np.searchsorted(points[low:high, 0], target[0]) if guided else low
    below = above - 1
    while below >= low or above < high:
        up = np.inf if above == high else points[above, 0] - target[0] if guided else 0.0
        down = np.inf if below < low else target[0] - points[below, 0]
        if least + min(up, down) ** 2 > limit:
            break
        if below < low or (above < high and up <= down):  # also where a number is nan: nothing outside is read
            q = above
            above += 1
        else:
            q = below
            below -= 1
        total = least
        for a in range(target.size):
            away = target[a] - points[q, a]
            if away == away:
                total += away * away
            if total > limit:
                break
        if total <= limit:
            seen[number], distance[number] = q, total
            number += 1
            limit = min(limit, total * (1 + 1e-9) + 1e-12)
    return limit, number


@njit(cache=True, nogil=True)
def common_sizes(first: Longs, left: Words, second: Longs, bits: Words) -> Longs:
    """Return how many bits `left[first[x]]` and `bits[second[x]]` have in common, for each x."""
    result = np.zeros(first.size, np.int64)
    for x in range(first.size):
        for w in range(bits.shape[1]):
            word = left[first[x], w] & bits[second[x], w]
            while word:
                word &= word - _ONE
                result[x] += 1
    return result
