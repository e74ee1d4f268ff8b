"""The attacker's sum over rows of a generalized release: how well a target fits the rows of groups, for each value."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs

__all__ = ["row_weights"]


@njit(cache=True, nogil=True)
def row_weights(
    targets: Ints,
    error: Floats,
    fit_start: Longs,
    fit_group: Ints,
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
    out: Floats,
) -> None:
    """Add to `out[t, s]` the sum over rows with value s of P(the row has the known quasi-identifiers of target t).

    `targets[t, a]` is a leaf, −1 where it is not known; with probability `error[a]` it is wrong, all other leaves equally likely.
    The groups of target t are `fit_group[fit_start[t]:fit_start[t + 1]]`. Group q publishes set v = `codes[q, a]`, and has
    `counts[x]` rows of `values[x]`, x from start[q] to start[q + 1]. The leaves of v are `members[set_first[set_from[a] + v]: … +
    1]`, ascending, counted on over all attributes; that a row of value s and set v has leaf number y of these is
    `shares[share_from[a] + s·entries[a] + y]`, y counted from the attribute's first.
    """
    people, attributes = targets.shape
    place_of = np.empty(attributes, np.int64)
    for t in range(people):
        for z in range(fit_start[t], fit_start[t + 1]):
            q = fit_group[z]
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
