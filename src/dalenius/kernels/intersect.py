"""Sets of sensitive values as bits: what the groups of a target hold together, and what several releases leave."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs, Words

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
def nearest(
    numbers: Floats, categories: Ints, points: Floats, labels: Ints, begin: Longs, room: int
) -> tuple[Longs, Longs]:
    """The points nearest to each target, all of those that are as near: from where to where, and which.

    Points `begin[i]` to `begin[i + 1]` have the categories `labels[i]` and are sorted by their first number. A target's number
    that is nan, and a category below 0, counts nothing; different categories are at distance 1. At most `room` points are
    written down to begin with; more are made room for.
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
        limit, found = np.inf, 0
        for d in range(labels.shape[1] + 1):  # points that differ in more categories cannot be nearer
            if d > limit:
                break
            for i in range(labels.shape[0]):
                if differ[i] == d:
                    limit, found = _search(numbers[t], d, points, begin[i], begin[i + 1], limit, seen, distance, found)
        first = used
        for x in range(found):
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
    found: int,
) -> tuple[float, int]:
    """Write down the points from `low` to `high` that are not farther than the limit, which goes down with each nearer one.

    All are at least at distance `least`. They are looked at from the target's first number outwards, until that alone is too
    far away.
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
            seen[found], distance[found] = q, total
            found += 1
            limit = min(limit, total * (1 + 1e-9) + 1e-12)
    return limit, found


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
