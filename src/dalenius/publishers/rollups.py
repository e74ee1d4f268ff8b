"""A lattice of a table whose distinct rows are too many to be kept: the engine counts its nodes.

A node is asked for as it is: texts are replaced by the labels of its levels inside the engine, and only the distinct rows
of labels come back. Coarser nodes are rolled up from it in memory. A node with more of them than the table's limit is too
large, and so is every finer one, since labels of a level tell those of the next.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalenius.arrays import Ints, Longs
from dalenius.coding import distinct_rows
from dalenius.engines import TooMany
from dalenius.errors import InputError, counted
from dalenius.publishers import nodes as _nodes
from dalenius.publishers.classes import Classes
from dalenius.publishers.nodes import GeneralizationLattice, Node
from dalenius.table import Table

__all__ = ["EngineLattice", "lattice_of"]


def lattice_of(table: Table, *, values: bool = True) -> GeneralizationLattice:
    """Return the lattice of a table, in memory or, if the table is too large, counted by the engine (with a notice)."""
    if not table.many:
        return GeneralizationLattice(table.cells(), values=values)
    lattice = EngineLattice(table, values=values)
    if table.notify is not None:
        table.notify(
            f"{table.rows.name} has more than {counted(table.most_cells, 'distinct row', 'distinct rows')} (--most-cells): "
            "roll-ups run in the engine."
        )
    return lattice


class EngineLattice(GeneralizationLattice):
    """A lattice whose nodes are counted by the engine, unless a finer one is there to be rolled up.

    `classes` raises TooMany for a node of more distinct rows than the table may keep.
    """

    rollups = "engine"

    def __init__(self, table: Table, *, values: bool = True) -> None:
        marginals = table.marginals()
        self.table = table
        self.schema = table.schema
        self.quasi = table.schema.quasi
        self.people = marginals.people
        self.marginals = marginals.columns
        self.tuples = marginals.tuples if values else np.zeros((1, 0), dtype=np.int32)
        self._prepare(room=_nodes.MAX_CACHED_CELLS)
        self._too_large = np.empty((0, len(self.quasi)), dtype=np.int16)

    def fits(self, node: Node) -> bool:
        """Return whether a node has few enough distinct rows. What is learnt of others on the way is kept.

        If it has not, its coarser nodes are tried by bisection: one that is too large settles all that are finer.
        """
        if self._known_large(node):
            return False
        try:
            self.classes(node)
        except TooMany:
            pass
        else:
            return True
        chain = self._chain(node)
        low, high = 1, len(chain) - 1
        while low <= high:
            middle = (low + high) // 2
            try:
                self.classes(chain[middle])
            except TooMany:
                low = middle + 1
            else:
                high = middle - 1
        return False

    def _chain(self, node: Node) -> list[Node]:
        """Yield nodes up to the top, step by step, each time in the column that has the most labels left."""
        chain = [node]
        while chain[-1] != self.top:
            here = chain[-1]
            labels = [
                len(tree.labels[level]) if level < tree.height else -1
                for tree, level in zip(self.trees, here, strict=True)
            ]
            a = int(np.argmax(labels))
            chain.append((*here[:a], here[a] + 1, *here[a + 1 :]))
        return chain

    def valued(self, node: Node) -> tuple[Classes, Ints]:
        """Return the classes of a node with their values, whether or not the lattice keeps values, and what these stand for."""
        tuples = self.table.marginals().tuples
        if self.tuples.shape == tuples.shape:
            return self.classes(node), tuples
        return self._ask(node, tuples), tuples

    def _counted(self, node: Node) -> Classes:
        if self._known_large(node):
            raise TooMany(self.table.most_cells)
        try:
            return self._ask(node, self.tuples)
        except TooMany:
            own = np.array([node], dtype=np.int16)
            finer = (self._too_large <= own).all(axis=1)
            self._too_large = np.concatenate([self._too_large[~finer], own])
            raise

    def _known_large(self, node: Node) -> bool:
        """Return whether the node, or a coarser one, was found to be too large."""
        return bool((np.array(node, dtype=np.int16) <= self._too_large).all(axis=1).any())

    def _rolled_up(self, finer: Classes, node: Node) -> Classes:
        # With leaves of its own: those of the finer node are not held when that one goes.
        classes = super()._rolled_up(finer, node)
        every = np.arange(len(classes), dtype=np.int32)
        return Classes(classes.leaves[classes.rep], every, classes.start, classes.values, classes.counts, classes.sizes)

    def _ask(self, node: Node, tuples: Ints) -> Classes:
        """Return the classes of a node as the engine counts them, with values if the tuples have any."""
        rows, texts = self.table.rows, self.table.texts()
        maps = [tree.maps[level] for tree, level in zip(self.trees, node, strict=True)]
        labels = {
            column.name: {text: str(map_[leaf]) for text, leaf in texts[column.name].items()}
            for column, map_ in zip(self.quasi, maps, strict=True)
        }
        if tuples.shape[1]:
            for column in self.schema.sensitive:
                labels[column.name] = {text: str(leaf) for text, leaf in texts[column.name].items()}
        counted = rows.count(list(labels), labels=labels, limit=self.table.most_cells)
        # A text that was not there when the columns were counted has no label, which reads as ''.
        codes = [
            np.array([int(text or -1) for text in texts], dtype=np.int32)[counted.codes[:, j]]
            for j, texts in enumerate(counted.texts)
        ]
        self._check_unchanged(codes, counted.counts, maps)
        m = len(self.quasi)
        sizes = [len(tree.labels[level]) for tree, level in zip(self.trees, node, strict=True)]
        base, group = distinct_rows(np.column_stack(codes[:m]), sizes)
        value = self._numbered(codes[m:], tuples) if codes[m:] else np.zeros(len(group), dtype=np.int32)
        order = np.argsort(group, kind="stable")
        start = np.searchsorted(group[order], np.arange(len(base) + 1)).astype(np.int64)
        counts = counted.counts[order]
        leaves = np.column_stack([_bearers(map_)[base[:, a]] for a, map_ in enumerate(maps)])
        every = np.arange(len(base), dtype=np.int32)
        return Classes(leaves, every, start, value[order], counts, np.add.reduceat(counts, start[:-1]))

    def _check_unchanged(self, codes: Sequence[Ints], counts: Longs, maps: Sequence[Ints]) -> None:
        """Refuse columns whose labels are not as frequent as when they were counted alone: each query reads the table anew."""
        same = int(counts.sum()) == self.people
        for j, own in enumerate(codes):
            marginal = self.marginals[j]
            before = np.bincount(maps[j], weights=marginal) if j < len(maps) else marginal
            same = same and bool((own >= 0).all()) and np.array_equal(np.bincount(own, counts, len(before)), before)
        if not same:
            raise InputError(f"{self.table.rows.name} changed while it was read. Start again.")

    def _numbered(self, codes: Sequence[Ints], tuples: Ints) -> Ints:
        """Return the number of each row of sensitive leaves among the tuples, which are sorted and are all that occur."""
        sizes = [len(column.leaves) for column in self.schema.sensitive]
        distinct, number = distinct_rows(np.concatenate([tuples, np.column_stack(codes)]), sizes)
        if len(distinct) != len(tuples):
            raise InputError(f"{self.table.rows.name} changed while it was read. Start again.")
        return number[len(tuples) :]


def _bearers(map_: Ints) -> Ints:
    """Return for each label of a level a leaf that it stands for."""
    first_leaf = np.empty(int(map_.max()) + 1, dtype=np.int32)
    first_leaf[map_] = np.arange(len(map_), dtype=np.int32)
    return first_leaf
