"""Mondrian's cuts: for every part and column the cut nearest to the middle, and the parts after a cut."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Ints, Longs

__all__ = ["covering_levels", "gather_cells", "middle_cuts", "split"]


@njit(cache=True, nogil=True)
def middle_cuts(first: Longs, members: Ints, positions: Ints, people: Longs) -> tuple[Ints, Ints, Ints]:
    """Return the lowest and highest position of each part in each column, and the last position below the cut.

    Part p has the classes `members[first[p]:first[p + 1]]`; class i has `people[i]` people and is at `positions[i, a]`.
    The cut is after the position, except the highest, at or below which the number of people is closest to half; of two the lower.
    It is −1 where all are at one position.
    """
    parts, columns = first.size - 1, positions.shape[1]
    low = np.empty((parts, columns), np.int32)
    high = np.empty((parts, columns), np.int32)
    cut = np.full((parts, columns), -1, np.int32)
    for a in range(columns):
        for p in range(parts):
            begin, end = first[p], first[p + 1]
            least = most = positions[members[begin], a]
            total = 0
            for x in range(begin, end):
                position = positions[members[x], a]
                least, most = min(least, position), max(most, position)
                total += people[members[x]]
            low[p, a], high[p, a] = least, most
            if least == most:
                continue
            width = most - least + 1
            below = 0
            best = np.int64(-1)
            if width <= 4 * (end - begin) + 64:
                count = np.zeros(width, np.int64)
                for x in range(begin, end):
                    count[positions[members[x], a] - least] += people[members[x]]
                for v in range(width - 1):
                    if count[v] > 0:
                        below += count[v]
                        off = abs(2 * below - total)
                        if best < 0 or off < best:
                            best = off
                            cut[p, a] = least + v
            else:
                own = np.empty(end - begin, np.int32)
                for x in range(begin, end):
                    own[x - begin] = positions[members[x], a]
                order = np.argsort(own)
                for j in range(order.size - 1):
                    below += people[members[begin + order[j]]]
                    v = own[order[j]]
                    if v == most:
                        break
                    if own[order[j + 1]] == v:
                        continue
                    off = abs(2 * below - total)
                    if best < 0 or off < best:
                        best = off
                        cut[p, a] = v
    return low, high, cut


@njit(cache=True, nogil=True)
def covering_levels(first: Longs, members: Ints, leaves: Ints, maps: Ints) -> Ints:
    """Return for each part the lowest level of a hierarchy at which all its leaves share a label; height + 1 if there is none.

    `maps[level, leaf]` is the label's code, `leaves[i]` the leaf of class i.
    """
    parts, levels = first.size - 1, maps.shape[0]
    result = np.full(parts, levels, np.int32)
    for p in range(parts):
        for level in range(levels):
            label = maps[level, leaves[members[first[p]]]]
            same = True
            for x in range(first[p] + 1, first[p + 1]):
                if maps[level, leaves[members[x]]] != label:
                    same = False
                    break
            if same:
                result[p] = level
                break
    return result


@njit(cache=True, nogil=True)
def split(
    first: Longs, members: Ints, chosen: Ints, column: Ints, codes: Ints, cut: Ints, labels: int
) -> tuple[Ints, Ints, Longs]:
    """Return the classes of the chosen parts, the new part of each class, and where the new parts of each chosen part begin.

    `codes[i, a]` is the code of class i in column a. A part with `cut` ≥ 0 is split in two, at or below the cut and above. With −1
    it is split into one part for each code, in order of appearance (`labels` is more than any code).
    """
    size = 0
    for p in chosen:
        size += first[p + 1] - first[p]
    classes = np.empty(size, np.int32)
    into = np.empty(size, np.int32)
    begins = np.empty(chosen.size + 1, np.int64)
    number = np.full(labels, -1, np.int32)
    touched = np.empty(labels, np.int32)
    end = 0
    parts = 0
    for u in range(chosen.size):
        p = chosen[u]
        begins[u] = parts
        a = column[u]
        new = 0
        for x in range(first[p], first[p + 1]):
            i = members[x]
            classes[end] = i
            code = codes[i, a]
            if cut[u] >= 0:
                into[end] = parts + (1 if code > cut[u] else 0)
            else:
                if number[code] < 0:
                    number[code] = new
                    touched[new] = code
                    new += 1
                into[end] = parts + number[code]
            end += 1
        for j in range(new):
            number[touched[j]] = -1
        parts += 2 if cut[u] >= 0 else new
    begins[chosen.size] = parts
    return classes, into, begins


@njit(cache=True, nogil=True)
def gather_cells(classes: Ints, start: Longs, values: Ints, counts: Longs) -> tuple[Longs, Ints, Longs]:
    """Return the (class, value) counts of some classes, in their order."""
    begins = np.zeros(classes.size + 1, np.int64)
    for j in range(classes.size):
        begins[j + 1] = begins[j] + start[classes[j] + 1] - start[classes[j]]
    some_values = np.empty(begins[-1], np.int32)
    some_counts = np.empty(begins[-1], np.int64)
    for j in range(classes.size):
        for x in range(begins[j + 1] - begins[j]):
            some_values[begins[j] + x] = values[start[classes[j]] + x]
            some_counts[begins[j] + x] = counts[start[classes[j]] + x]
    return begins, some_values, some_counts
