"""Find the boxes that contain a point, by bit sets of boxes for every leaf of every attribute, with a summary above them."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Ints, Longs, Words

__all__ = ["boxes_of", "set_bits", "summary_of"]

_ONE = np.uint64(1)
_SHIFTS = np.array([32, 16, 8, 4, 2, 1], dtype=np.uint64)


@njit(cache=True, nogil=True)
def set_bits(bits: Words, row_of: Longs, order: Longs, start: Longs, first: Longs, members: Ints) -> None:
    """Set bit q of `bits[row_of[leaf]]` for every box q and every leaf of its set; rows of −1 are not kept.

    The boxes `order[start[v]:start[v + 1]]`, ascending, publish set v, which holds `members[first[v]:first[v + 1]]`.
    """
    words = bits.shape[1]
    where = np.empty(words, np.int64)
    what = np.empty(words, np.uint64)
    for v in range(start.size - 1):
        used = 0
        for x in range(start[v], start[v + 1]):
            q = order[x]
            word = q >> 6
            if used == 0 or where[used - 1] != word:
                where[used] = word
                what[used] = np.uint64(0)
                used += 1
            what[used - 1] |= _ONE << np.uint64(q & 63)
        if used == 0:
            continue
        for y in range(first[v], first[v + 1]):
            row = row_of[members[y]]
            if row >= 0:
                for i in range(used):
                    bits[row, where[i]] |= what[i]


@njit(cache=True, nogil=True)
def summary_of(bits: Words) -> Words:
    """Return a summary of each row: bit w says that its word w is not zero."""
    rows, words = bits.shape
    summary = np.zeros((rows, (words + 63) // 64), np.uint64)
    for row in range(rows):
        for word in range(words):
            if bits[row, word]:
                summary[row, word >> 6] |= _ONE << np.uint64(word & 63)
    return summary


@njit(cache=True, nogil=True, inline="always")
def _lowest(word: np.uint64) -> int:
    """Return the place of the lowest bit of a word that is not zero."""
    place = 0
    for shift in _SHIFTS:
        if not word & ((_ONE << shift) - _ONE):
            word >>= shift
            place += int(shift)
    return place


@njit(cache=True, nogil=True)
def boxes_of(rows: Longs, bits: Words, summary: Words, boxes: int, start: Longs, result: Ints) -> int:
    """Write down the boxes of each target while there is room for all boxes. Return how many targets were done.

    `rows[t, a]` is the row of bits of target t's leaf of attribute a, −1 if that is not known. The boxes of target t become
    `result[start[t]:start[t + 1]]`, ascending.
    """
    targets, attributes = rows.shape
    active = np.empty(attributes, np.int64)
    used = 0
    start[0] = 0
    for t in range(targets):
        if used + boxes > result.size:
            return t
        number = 0
        for a in range(attributes):
            if rows[t, a] >= 0:
                active[number] = rows[t, a]
                number += 1
        if number == 0:
            for q in range(boxes):
                result[used] = q
                used += 1
        else:
            for high in range(summary.shape[1]):
                some = summary[active[0], high]
                for i in range(1, number):
                    some &= summary[active[i], high]
                while some:
                    w = 64 * high + _lowest(some)
                    some &= some - _ONE
                    word = bits[active[0], w]
                    for i in range(1, number):
                        word &= bits[active[i], w]
                    while word:
                        result[used] = 64 * w + _lowest(word)
                        used += 1
                        word &= word - _ONE
        start[t + 1] = used
    return int(targets)
