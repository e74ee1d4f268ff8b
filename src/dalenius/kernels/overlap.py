"""Join the regions of two releases that overlap into parts that overlap nothing else."""

from __future__ import annotations

from numba import njit

from dalenius.arrays import Bools, Ints, Longs

__all__ = ["join_overlapping"]


@njit(cache=True, nogil=True)
def _root(parent: Longs, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@njit(cache=True, nogil=True)
def join_overlapping(
    first_labels: Ints,
    owner: Longs,
    second_labels: Ints,
    second_owner: Longs,
    meets: Bools,
    first: Longs,
    width: Longs,
    parent: Longs,
) -> None:
    """Join in `parent` (a union–find forest) the owners of every two regions that overlap in all attributes.

    Region i of the first release has label `first_labels[i, a]` in attribute a, region j of the second `second_labels[j, a]`. Two
    labels share a leaf if `meets[first[a] + first_labels[i, a] * width[a] + second_labels[j, a]]`.
    """
    for i in range(first_labels.shape[0]):
        root = _root(parent, owner[i])
        for j in range(second_labels.shape[0]):
            if parent[second_owner[j]] == root:
                continue
            overlap = True
            for a in range(first_labels.shape[1]):
                if not meets[first[a] + first_labels[i, a] * width[a] + second_labels[j, a]]:
                    overlap = False
                    break
            if overlap:
                other_root = _root(parent, second_owner[j])
                parent[other_root] = root
