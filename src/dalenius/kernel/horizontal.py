"""The attacker's sum over rows of a generalized release: which groups a target fits, and how well, value by value."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]


@njit(cache=True, nogil=True)
def row_weights(
    targets: Ints,
    error: Floats,
    bits: Words,
    bit_row: Longs,
    codes: Ints,
    start: Longs,
    values: Ints,
    counts: Longs,
    leaves: Longs,
    set_from: Longs,
    set_first: Longs,
    members: Ints,
    share_from: Longs,
    shares: Floats,
    entries: Longs,
) -> Floats:
    """Σ over rows in groups with value s of P(the row's quasi-identifiers are as the target's are known), for each s.

    `targets[t, a]` is a leaf, −1 where it is not known; with probability `error[a]` it is wrong, any other leaf alike. Bit q
    of `bits[bit_row[a] + leaf]` says that group q may have that leaf; the last row is all ones. Group q publishes set
    v = `codes[q, a]`, and has `counts[x]` rows of `values[x]`, x from start[q] to start[q + 1]. The leaves of v are
    `members[set_first[set_from[a] + v]: … + 1]`, ascending, counted on over all attributes; that a row of value s and set v
    has leaf number y of these is `shares[share_from[a] + s·entries[a] + y]`, y counted from the attribute's first.
    """
    people, attributes = targets.shape
    size = 0
    for x in range(values.size):
        size = max(size, values[x] + 1)
    words = bits.shape[1]
    every = bits.shape[0] - 1
    out = np.zeros((people, size))
    rows = np.empty(attributes, np.int64)
    place_of = np.empty(attributes, np.int64)
    for t in range(people):
        for a in range(attributes):
            known = targets[t, a] >= 0 and error[a] == 0.0
            rows[a] = bit_row[a] + targets[t, a] if known else every
        for w in range(words):
            word = bits[every, w]
            for a in range(attributes):
                word &= bits[rows[a], w]
            place = 0
            while word:
                while not word & np.uint64(1):
                    word >>= np.uint64(1)
                    place += 1
                q = 64 * w + place
                word >>= np.uint64(1)
                place += 1
                for a in range(attributes):  # where the target's leaf stands in the group's set, −1 if it does not
                    place_of[a] = -1
                    leaf = targets[t, a]
                    if leaf < 0:
                        continue
                    base = set_first[set_from[a]]
                    low = set_first[set_from[a] + codes[q, a]]
                    high = set_first[set_from[a] + codes[q, a] + 1]
                    end = high
                    while low < high:
                        middle = (low + high) // 2
                        if members[middle] < leaf:
                            low = middle + 1
                        else:
                            high = middle
                    if low < end and members[low] == leaf:
                        place_of[a] = low - base
                for x in range(start[q], start[q + 1]):
                    s = values[x]
                    weight = float(counts[x])
                    for a in range(attributes):
                        if targets[t, a] < 0:
                            continue
                        share = 0.0
                        if place_of[a] >= 0:
                            share = shares[share_from[a] + s * entries[a] + place_of[a]]
                        if error[a] > 0.0:
                            share = (1 - error[a]) * share + error[a] * (1 - share) / (leaves[a] - 1)
                        weight *= share
                    out[t, s] += weight
    return out
