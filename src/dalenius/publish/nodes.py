"""The lattice of full-domain generalizations: its nodes, and the classes of each, rolled up from finer ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.coding import distinct_rows, merge
from dalenius.criterion import Criterion
from dalenius.errors import InputError
from dalenius.hierarchy import Hierarchy
from dalenius.kernel.rollup import merge_cells, merge_classes, merge_sizes, smallest_below
from dalenius.release import Grouping
from dalenius.schema import Column
from dalenius.table import Cells

Node = tuple[int, ...]
CACHED_CELLS = 60_000_000  # (class, value) counts kept for rolling further nodes up


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The classes of a node: a bottom class that represents each, and its counts per value (see `Grouping`)."""

    rep: NDArray[np.int32]
    start: NDArray[np.int64]
    values: NDArray[np.int32]
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rep)


class GeneralizationLattice:
    """Nodes are levels, one for each quasi-identifier. Classes are made once and kept while there is room."""

    def __init__(self, cells: Cells, *, values: bool = True) -> None:
        self.schema = cells.schema
        self.quasi = cells.schema.quasi
        self.trees = tuple(_tree(column) for column in self.quasi)
        self.heights: Node = tuple(tree.height for tree in self.trees)
        self.people = cells.people
        self.bottom: Node = (0,) * len(self.quasi)
        self.top: Node = self.heights
        self.nodes = math.prod(height + 1 for height in self.heights)
        m = len(self.quasi)
        sizes = [len(column.leaves) for column in cells.schema.coded]
        base, group = distinct_rows(cells.codes[:, :m], sizes[:m])
        # Several sensitive columns are counted together: a value is a tuple of theirs.
        tuples, value = distinct_rows(cells.codes[:, m:], sizes[m:])
        self.tuples = tuples if values else np.zeros((1, 0), dtype=np.int32)
        self.leaves = np.ascontiguousarray(base)  # [bottom class, attribute]
        self._base = self._bottom_classes(group, value if values else np.zeros_like(value), cells.counts, len(base))
        self.marginals = tuple(
            np.bincount(cells.codes[:, j], weights=cells.counts, minlength=sizes[j]).astype(np.int64)
            for j in range(len(sizes))
        )
        self._tables, self._labels, self._offsets = self._key_tables()
        self._cache: dict[Node, Classes] = {}
        self._made: list[Classes] = []
        self._levels = np.empty((64, m), dtype=np.int16)
        self._cells = np.empty(64, dtype=np.int64)
        self._room = max(CACHED_CELLS, len(self._base.values))
        self._keep(self.bottom, self._base)

    def _bottom_classes(
        self, group: NDArray[np.int32], value: NDArray[np.int32], counts: NDArray[np.int64], groups: int
    ) -> Classes:
        # Cells come sorted by their codes, so equal groups stand together.
        start = np.searchsorted(group, np.arange(groups + 1)).astype(np.int64)
        domain = int(value.max()) + 1
        same = np.arange(groups, dtype=np.int32)
        start, values, merged = merge_cells(start, value, counts, same, groups, domain)
        sizes = np.add.reduceat(merged, start[:-1])
        return Classes(same, start, values, merged, sizes)

    def _key_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int32], list[list[int]]]:
        """For each attribute and level its labels' codes, times a stride and as they are, and where each table starts.

        A stride is the product of the numbers of leaves before it while that fits 62 bits; after that a random odd
        number, with which sums are still a good hash of a class, if no longer a number of its own for each.
        """
        strided: list[NDArray[np.int64]] = []
        plain: list[NDArray[np.int32]] = []
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
        """The classes of a node, rolled up from the made node below it that has the fewest cells."""
        if node in self._cache:
            return self._cache[node]
        levels = np.array(node, dtype=np.int16)
        finer = self._made[smallest_below(self._levels, self._cells, len(self._made), levels)]
        into, rep = merge_classes(finer.rep, self.leaves, self._tables, self._labels, self._node_offsets(node))
        sizes = merge_sizes(finer.sizes, into, len(rep))
        if len(self.tuples) == 1:
            start = np.arange(len(rep) + 1, dtype=np.int64)
            classes = Classes(rep, start, np.zeros(len(rep), dtype=np.int32), sizes, sizes)
        else:
            start, values, counts = merge_cells(
                finer.start, finer.values, finer.counts, into, len(rep), len(self.tuples)
            )
            classes = Classes(rep, start, values, counts, sizes)
        self._keep(node, classes)
        return classes

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

    def _node_offsets(self, node: Node) -> NDArray[np.int64]:
        return np.array([self._offsets[a][level] for a, level in enumerate(node)], dtype=np.int64)

    def membership(self, node: Node, quasi: NDArray[np.int32]) -> NDArray[np.int32]:
        """The number of the class of each row of leaf codes, as `classes(node)` numbers them."""
        rep = self.classes(node).rep
        # Representatives come first, so that numbering by first appearance is theirs.
        leaves = np.concatenate([self.leaves[rep], quasi]).astype(np.int32)
        every = np.arange(len(leaves), dtype=np.int32)
        into, _ = merge_classes(every, leaves, self._tables, self._labels, self._node_offsets(node))
        return into[len(rep) :]

    def kept(self, classes: Classes, passing: NDArray[np.bool_]) -> Classes:
        """The classes that pass, without the others."""
        if passing.all():
            return classes
        widths = np.diff(classes.start)
        cells = np.repeat(passing, widths)
        start = np.concatenate(([0], np.cumsum(widths[passing])))
        return Classes(
            classes.rep[passing], start, classes.values[cells], classes.counts[cells], classes.sizes[passing]
        )

    def groupings(self, classes: Classes) -> list[Grouping]:
        """The counts of each sensitive column; with several, each is counted alone."""
        found = []
        m = len(self.quasi)
        for j, column in enumerate(self.schema.sensitive):
            values = self.tuples[:, j][classes.values]
            start, counts = classes.start, classes.counts
            if len(self.schema.sensitive) > 1:
                same = np.arange(len(classes), dtype=np.int32)
                start, values, counts = merge_cells(start, values, counts, same, len(classes), len(column.leaves))
            found.append(Grouping(column, start, values, counts, self.marginals[m + j], 0))
        return found

    def split_groupings(self, classes: Classes) -> list[Grouping]:
        """The counts of each sensitive column when all others are known: they split the classes (see `parent`)."""
        found = []
        m = len(self.quasi)
        owner = np.repeat(np.arange(len(classes), dtype=np.int32), np.diff(classes.start))
        for j, column in enumerate(self.schema.sensitive):
            others = np.delete(self.tuples, j, axis=1)
            sizes = [len(c.leaves) for i, c in enumerate(self.schema.sensitive) if i != j]
            _, other = distinct_rows(others, sizes)
            rows = np.column_stack([owner, other[classes.values], self.tuples[:, j][classes.values]])
            merged, counts = merge(rows, classes.counts, [len(classes), int(other.max()) + 1, len(column.leaves)])
            new = np.concatenate(([True], (np.diff(merged[:, :2], axis=0) != 0).any(axis=1)))
            start = np.append(np.flatnonzero(new), len(merged)).astype(np.int64)
            parent = merged[new, 0]
            found.append(Grouping(column, start, merged[:, 2], counts, self.marginals[m + j], 0, parent))
        return found

    def sizes_only(self, classes: Classes) -> Grouping:
        """A grouping for criteria that look at sizes alone."""
        start = np.arange(len(classes) + 1, dtype=np.int64)
        column = self.schema.sensitive[0]
        zeros = np.zeros(len(classes), dtype=np.int32)
        return Grouping(column, start, zeros, classes.sizes, np.array([self.people]), 0)

    def passing(
        self, classes: Classes, criteria: Sequence[Criterion], *, others_as_quasi: bool = False
    ) -> NDArray[np.bool_]:
        """Which classes satisfy every criterion, for every sensitive column.

        With `others_as_quasi` the attacker knows the other sensitive columns; every part they leave must satisfy.
        """
        ok = np.ones(len(classes), dtype=bool)
        if others_as_quasi and len(self.schema.sensitive) > 1:
            for grouping in self.split_groupings(classes):
                for criterion in criteria:
                    assert grouping.parent is not None
                    ok[grouping.parent[~criterion.passes(grouping)]] = False
            return ok
        for criterion in criteria:
            if not criterion.needs_values:
                ok &= criterion.passes(self.sizes_only(classes))
        valued = [criterion for criterion in criteria if criterion.needs_values]
        if valued:
            for grouping in self.groupings(classes):
                for criterion in valued:
                    ok &= criterion.passes(grouping)
        return ok

    def named(self, node: Node) -> dict[str, int]:
        return {column.name: level for column, level in zip(self.quasi, node, strict=True)}


def _tree(column: Column) -> Hierarchy:
    if column.hierarchy is None:
        raise InputError(
            f"Column {column.name!r} has no hierarchy, which a lattice needs. Declare one for [columns.{column.name}]: "
            'hierarchy = "FILE", intervals = […], mask = "right", or hierarchy = "suppress" to publish it whole or not '
            "at all."
        )
    return column.hierarchy
