"""Merge classes: from the classes of a finer node of a lattice to those of a coarser one, without the rows."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dalenius.arrays import Ints, Longs

__all__ = ["merge_cells", "merge_classes", "merge_sizes", "smallest_below"]


@njit(cache=True, nogil=True)
def merge_classes(rep: Ints, leaves: Ints, tables: Longs, labels: Ints, offsets: Longs) -> tuple[Ints, Ints]:
    """Return the coarser class of each class, and a representative of each coarser class.

    One of its bottom classes, `rep`, represents a class. `leaves[r, a]` is the leaf code of attribute a of that one, and
    `labels[offsets[a] + leaf]` the code of its label at the coarser node. `tables` holds that code times a stride, so that the sum
    over the attributes is a distinct key for each class. If there are too many attributes for that, the strides are random, sums
    wrap around, and labels distinguish classes with the same key. Classes are numbered in order of appearance.
    """
    classes = rep.size
    size = 16
    while size < 2 * classes:
        size *= 2
    mask = size - 1
    slots = np.full(size, -1, np.int32)
    keys = np.empty(size, np.int64)
    into = np.empty(classes, np.int32)
    representatives = np.empty(classes, np.int32)
    count = 0
    for i in range(classes):
        key = np.int64(0)
        for a in range(offsets.size):
            key += tables[offsets[a] + leaves[rep[i], a]]
        # Fibonacci hashing: keys are sums of products of small numbers and would collide in runs otherwise.
        hashed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(hashed >> np.uint64(20)) & mask
        while slots[slot] >= 0:
            if keys[slot] == key:
                same = True
                other = representatives[slots[slot]]
                for a in range(offsets.size):
                    if labels[offsets[a] + leaves[rep[i], a]] != labels[offsets[a] + leaves[other, a]]:
                        same = False
                        break
                if same:
                    break
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = count
            keys[slot] = key
            representatives[count] = rep[i]
            count += 1
        into[i] = slots[slot]
    return into, representatives[:count].copy()


@njit(cache=True, nogil=True)
def merge_sizes(sizes: Longs, into: Ints, classes: int) -> Longs:
    """Return the number of people in each coarser class."""
    merged = np.zeros(classes, np.int64)
    for i in range(into.size):
        merged[into[i]] += sizes[i]
    return merged


@njit(cache=True, nogil=True)
def smallest_below(levels: NDArray[np.int16], cells: Longs, nodes: int, node: NDArray[np.int16]) -> int:
    """Return the node with the fewest cells, of the first `nodes`, that is nowhere coarser than `node`."""
    best = -1
    for i in range(nodes):
        if best >= 0 and cells[i] >= cells[best]:
            continue
        below = True
        for a in range(node.size):
            if levels[i, a] > node[a]:
                below = False
                break
        if below:
            best = i
    return best


@njit(cache=True, nogil=True)
def merge_cells(
    start: Longs, values: Ints, counts: Longs, into: Ints, classes: int, domain: int
) -> tuple[Longs, Ints, Longs]:
    """Return the (class, value) counts after merging class i into `into[i]`: class c has `counts[start[c]:start[c + 1]]`."""
    # Sort finer classes by their coarser one: a counting sort.
    first = np.zeros(classes + 1, np.int64)
    for i in range(into.size):
        first[into[i] + 1] += 1
    for c in range(classes):
        first[c + 1] += first[c]
    place = first[:-1].copy()
    order = np.empty(into.size, np.int32)
    for i in range(into.size):
        order[place[into[i]]] = i
        place[into[i]] += 1
    # For each coarser class, add up in a row of all values, and remember which were touched.
    row = np.full(domain, -1, np.int64)
    new_start = np.zeros(classes + 1, np.int64)
    new_values = np.empty(values.size, np.int32)
    new_counts = np.empty(counts.size, np.int64)
    end = 0
    for c in range(classes):
        begin = end
        for j in range(first[c], first[c + 1]):
            i = order[j]
            for x in range(start[i], start[i + 1]):
                value = values[x]
                if row[value] < 0:
                    row[value] = end
                    new_values[end] = value
                    new_counts[end] = counts[x]
                    end += 1
                else:
                    new_counts[row[value]] += counts[x]
        for x in range(begin, end):
            row[new_values[x]] = -1
        new_start[c + 1] = end
    return new_start, new_values[:end].copy(), new_counts[:end].copy()
