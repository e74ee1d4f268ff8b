"""The posterior mean of a distribution over leaves if each row gives only a set of leaves, and sets are nested or disjoint."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs

__all__ = ["tree_means"]


@njit(cache=True, nogil=True)
def tree_means(first: Longs, members: Ints, counts: Longs, beta: Floats) -> tuple[bool, Floats, Floats]:
    """Return whether the sets are laminar and, if they are, the posterior mean of each leaf and of each set.

    Set v has the leaves `members[first[v]:first[v + 1]]`, and `counts[v]` rows give it. Sets come by size, the largest first, and
    no two are equal. `beta` are the prior's parameters. The sets are the inner nodes of a tree. At a node the branches are
    Dirichlet with parameters β(c) + M(c), where M(c) counts the rows that give a set inside c (methods A).
    """
    sets, leaves = first.size - 1, beta.size
    owner = np.full(leaves, -1, np.int64)  # the smallest set so far that has a leaf; −1 is the root
    parent = np.empty(sets, np.int64)
    weight = np.zeros(sets)  # β of the set
    for v in range(sets):
        above = owner[members[first[v]]]
        for x in range(first[v], first[v + 1]):
            if owner[members[x]] != above:
                return False, np.empty(0), np.empty(0)
            weight[v] += beta[members[x]]
        parent[v] = above
        for x in range(first[v], first[v + 1]):
            owner[members[x]] = v
    inside = counts.copy()  # rows that give a set inside, itself included
    total = np.int64(0)
    for v in range(sets - 1, -1, -1):
        if parent[v] >= 0:
            inside[parent[v]] += inside[v]
        else:
            total += inside[v]
    root = beta.sum() + total
    of_sets = np.empty(sets)
    for v in range(sets):
        u = parent[v]
        if u < 0:
            of_sets[v] = (weight[v] + inside[v]) / root
        else:
            of_sets[v] = of_sets[u] * (weight[v] + inside[v]) / (weight[u] + inside[u] - counts[u])
    of_leaves = np.empty(leaves)
    for leaf in range(leaves):
        u = owner[leaf]
        if u < 0:
            of_leaves[leaf] = beta[leaf] / root
        elif first[u + 1] - first[u] == 1:
            of_leaves[leaf] = of_sets[u]
        else:
            of_leaves[leaf] = of_sets[u] * beta[leaf] / (weight[u] + inside[u] - counts[u])
    return True, of_leaves, of_sets
