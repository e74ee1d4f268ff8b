"""The lattice of full-domain generalizations: its nodes, and the classes of each, rolled up from finer ones."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dalenius.arrays import Ints, Longs
from dalenius.errors import InputError
from dalenius.hierarchy import Hierarchy
from dalenius.measures.remaining import ColumnLeft, labels_left
from dalenius.publishers.classes import BottomClasses, Classes
from dalenius.releases.label import Label
from dalenius.schema import Column
from dalenius.table import Cells

__all__ = ["MAX_CACHED_CELLS", "GeneralizationLattice", "Node"]

Node = tuple[int, ...]
MAX_CACHED_CELLS = 60_000_000  # (class, value) counts kept for rolling further nodes up


class GeneralizationLattice(BottomClasses):
    """Nodes are levels, one for each quasi-identifier. Classes are made once and kept while there is room."""

    rollups: ClassVar[str] = "memory"  # where classes are counted that are not rolled up from finer ones

    def __init__(self, cells: Cells, *, values: bool = True) -> None:
        super().__init__(cells, values=values)
        self._prepare(room=max(MAX_CACHED_CELLS, len(self.base.values)))
        self._keep(self.bottom, self.base)

    def _prepare(self, *, room: int) -> None:
        self.trees = tuple(_tree(column) for column in self.quasi)
        self.heights: Node = tuple(tree.height for tree in self.trees)
        self.bottom: Node = (0,) * len(self.quasi)
        self.top: Node = self.heights
        self.nodes = math.prod(height + 1 for height in self.heights)
        self._tables, self._labels, self._offsets = self._key_tables()
        self._cache: dict[Node, Classes] = {}
        self._made: list[Classes] = []
        self._levels = np.empty((64, len(self.quasi)), dtype=np.int16)
        self._cells = np.empty(64, dtype=np.int64)
        self._room = room

    def _key_tables(self) -> tuple[Longs, Ints, list[list[int]]]:
        """Return for each attribute and level the codes of its labels, with and without stride, and where each table starts.

        A stride is the product of the numbers of leaves before it while that fits 62 bits; after that a random odd
        number, with which sums are still a good hash of a class, if no longer a number of its own for each.
        """
        strided: list[Longs] = []
        plain: list[Ints] = []
        offsets: list[list[int]] = []
        exact = math.prod(len(tree.leaves) for tree in self.trees) < 2**62
        draw = np.random.default_rng(0)
        stride, end = 1, 0
        for tree in self.trees:
            offsets.append([])
            for map_ in tree.maps:
                with np.errstate(over="ignore"):
                    strided.append(map_.astype(np.int64) * np.int64(stride))
                plain.append(map_)
                offsets[-1].append(end)
                end += len(map_)
            stride = stride * len(tree.leaves) if exact else int(draw.integers(2**62)) * 2 + 1
        return np.concatenate(strided), np.concatenate(plain), offsets

    def classes(self, node: Node) -> Classes:
        """Return the classes of a node, rolled up from the made node below it that has the fewest cells."""
        if node in self._cache:
            return self._cache[node]
        from dalenius.kernels.rollup import smallest_below

        levels = np.array(node, dtype=np.int16)
        finest = smallest_below(self._levels, self._cells, len(self._made), levels)
        classes = self._counted(node) if finest < 0 else self._rolled_up(self._made[finest], node)
        self._keep(node, classes)
        return classes

    def fits(self, node: Node) -> bool:  # noqa: ARG002 - others may have nodes that are too large
        """Return whether a node's classes can be made."""
        return True

    def _counted(self, node: Node) -> Classes:
        """Return the classes of a node when there is none to roll them up from."""
        raise AssertionError(f"{node} stands below the bottom")  # which is always kept

    def _rolled_up(self, finer: Classes, node: Node) -> Classes:
        from dalenius.kernels.rollup import merge_cells, merge_classes, merge_sizes

        into, rep = merge_classes(finer.rep, finer.leaves, self._tables, self._labels, self._node_offsets(node))
        sizes = merge_sizes(finer.sizes, into, len(rep))
        if len(self.tuples) == 1:
            start = np.arange(len(rep) + 1, dtype=np.int64)
            return Classes(finer.leaves, rep, start, np.zeros(len(rep), dtype=np.int32), sizes, sizes)
        start, values, counts = merge_cells(finer.start, finer.values, finer.counts, into, len(rep), len(self.tuples))
        return Classes(finer.leaves, rep, start, values, counts, sizes)

    def _keep(self, node: Node, classes: Classes) -> None:
        """Remember a node's classes, to answer again and to roll coarser nodes up from, while there is room."""
        if len(classes.values) > self._room:
            return
        if len(self._made) == len(self._levels):
            self._levels = np.concatenate([self._levels, self._levels])
            self._cells = np.concatenate([self._cells, self._cells])
        self._room -= len(classes.values)
        self._cache[node] = classes
        self._levels[len(self._made)] = node
        self._cells[len(self._made)] = len(classes.values)
        self._made.append(classes)

    def _node_offsets(self, node: Node) -> Longs:
        return np.array([self._offsets[a][level] for a, level in enumerate(node)], dtype=np.int64)

    def membership(self, node: Node, quasi: Ints) -> Ints:
        """Return the number of the class of each row of leaf codes, as `classes(node)` numbers them."""
        from dalenius.kernels.rollup import merge_classes

        classes = self.classes(node)
        rep = classes.rep
        # Representatives come first, so that numbering by first appearance is theirs.
        leaves = np.concatenate([classes.leaves[rep], quasi]).astype(np.int32)
        every = np.arange(len(leaves), dtype=np.int32)
        into, _ = merge_classes(every, leaves, self._tables, self._labels, self._node_offsets(node))
        return into[len(rep) :]

    def columns_left(self, node: Node, kept: Classes) -> tuple[ColumnLeft, ...]:
        """Return what a node leaves of each column, for the classes that are not suppressed."""
        labels: list[list[Label]] = []
        index = np.empty((len(kept), len(node)), dtype=np.int32)
        for a, (tree, level) in enumerate(zip(self.trees, node, strict=True)):
            map_ = tree.maps[level]
            order = np.argsort(map_, kind="stable").astype(np.int32)
            members = np.split(order, np.searchsorted(map_[order], np.arange(1, len(tree.labels[level]))))
            labels.append([Label(text, own) for text, own in zip(tree.labels[level], members, strict=True)])
            index[:, a] = map_[kept.leaves[kept.rep, a]]
        return labels_left(self.schema, labels, index, kept.sizes)

    def levels_of(self, node: Node) -> dict[str, int]:
        return {column.name: level for column, level in zip(self.quasi, node, strict=True)}


def _tree(column: Column) -> Hierarchy:
    if column.hierarchy is None:
        raise InputError(
            f"Column {column.name!r} has no hierarchy, which a lattice needs. Declare one for [columns.{column.name}]: "
            'hierarchy = "FILE", intervals = […], mask = "right", or hierarchy = "suppress" to publish it whole or not '
            "at all."
        )
    return column.hierarchy
