"""Which regions of two releases overlap, joined into parts that overlap nothing else."""

from __future__ import annotations

from numba import njit

from dalenius.arrays import Bools, Ints, Longs


@njit(cache=True, nogil=True)
def _root(parent: Longs, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@njit(cache=True, nogil=True)
def join_overlapping(
    one: Ints, owner: Longs, other: Ints, other_owner: Longs, meets: Bools, first: Longs, width: Longs, parent: Longs
) -> None:
    """Join in `parent` (a union–find forest) the owners of every two regions that overlap in all attributes.

    Region i of the first release has label `one[i, a]` in attribute a, region j of the second `other[j, a]`. Two labels share a
    leaf if `meets[first[a] + one[i, a] * width[a] + other[j, a]]`.
    """
    for i in range(one.shape[0]):
        mine = _root(parent, owner[i])
        for j in range(other.shape[0]):
            if parent[other_owner[j]] == mine:
                continue
            overlap = True
            for a in range(one.shape[1]):
                if not meets[first[a] + one[i, a] * width[a] + other[j, a]]:
                    overlap = False
                    break
            if overlap:
                theirs = _root(parent, other_owner[j])
                parent[theirs] = mine
