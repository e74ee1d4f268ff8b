"""ε-privacy of groups: the largest change of belief over the sensitive predicates of each group, in one pass."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs

__all__ = ["group_epsilons"]


@njit(cache=True, nogil=True)
def group_epsilons(
    start: Longs,
    predicates: Ints,
    counts: Longs,
    sizes: Longs,
    known: int,
    weight: float,
    parameters: Floats,
    total: float,
) -> Floats:
    """Return ε of each group. Group q has `counts[x]` people in predicate `predicates[x]`, x from start[q] to start[q + 1].

    p_in = n/(N − known) and p_out = (weight·(n − 1) + parameters[φ]) / (weight·(N − 1) + total); weight 0 is an adversary
    who does not use the data. Differences from 1 are computed from counts, so that nothing cancels.
    """
    groups = start.size - 1
    levels = np.ones(groups)
    for q in range(groups):
        size = sizes[q]
        left = size - known
        worst = 1.0
        below = weight * (size - 1) + total
        for x in range(start[q], start[q + 1]):
            n = counts[x]
            if n == 0:
                continue
            above = weight * (n - 1) + parameters[predicates[x]]
            if n >= left or above <= 0.0:
                worst = np.inf
                break
            raised = n * below / (left * above)
            lowered = (weight * (size - n) + total - parameters[predicates[x]]) * left / (below * (left - n))
            worst = max(worst, raised, lowered)
        levels[q] = np.inf if left <= 0 else worst
    return levels
