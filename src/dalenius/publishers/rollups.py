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


def lattice_of(table: Table, *, values: bool = True) -> GeneralizationLattice:
    """The lattice of a table: in memory, or counted by the engine where the table is too large; that is told."""
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
        found = table.marginals()
        self.table = table
        self.schema = table.schema
        self.quasi = table.schema.quasi
        self.people = found.people
        self.marginals = found.columns
        self.tuples = found.tuples if values else np.zeros((1, 0), dtype=np.int32)
        self._prepare(room=_nodes.CACHED_CELLS)
        self._too_large = np.empty((0, len(self.quasi)), dtype=np.int16)

    def fits(self, node: Node) -> bool:
        """Whether a node has few enough distinct rows. What is learnt of others on the way is kept.

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
        """From a node to the top, step by step, each time in the column that has the most labels left."""
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
        """The classes of a node with their values, whether or not the lattice keeps values, and what these stand for."""
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
            mine = np.array([node], dtype=np.int16)
            finer = (self._too_large <= mine).all(axis=1)
            self._too_large = np.concatenate([self._too_large[~finer], mine])
            raise

    def _known_large(self, node: Node) -> bool:
        """Whether the node, or a coarser one, was found to be too large."""
        return bool((np.array(node, dtype=np.int16) <= self._too_large).all(axis=1).any())

    def _rolled_up(self, finer: Classes, node: Node) -> Classes:
        # With leaves of its own: those of the finer node are not held when that one goes.
        found = super()._rolled_up(finer, node)
        every = np.arange(len(found), dtype=np.int32)
        return Classes(found.leaves[found.rep], every, found.start, found.values, found.counts, found.sizes)

    def _ask(self, node: Node, tuples: Ints) -> Classes:
        """The classes of a node as the engine counts them, with values if the tuples have any."""
        rows, texts = self.table.rows, self.table.texts()
        maps = [tree.maps[level] for tree, level in zip(self.trees, node, strict=True)]
        labels = {
            column.name: {text: str(map_[leaf]) for text, leaf in texts[column.name].items()}
            for column, map_ in zip(self.quasi, maps, strict=True)
        }
        if tuples.shape[1]:
            for column in self.schema.sensitive:
                labels[column.name] = {text: str(leaf) for text, leaf in texts[column.name].items()}
        found = rows.count(list(labels), labels=labels, limit=self.table.most_cells)
        # A text that was not there when the columns were counted has no label, which reads as ''.
        codes = [
            np.array([int(text or -1) for text in told], dtype=np.int32)[found.codes[:, j]]
            for j, told in enumerate(found.texts)
        ]
        self._check_unchanged(codes, found.counts, maps)
        m = len(self.quasi)
        sizes = [len(tree.labels[level]) for tree, level in zip(self.trees, node, strict=True)]
        base, group = distinct_rows(np.column_stack(codes[:m]), sizes)
        value = self._numbered(codes[m:], tuples) if codes[m:] else np.zeros(len(group), dtype=np.int32)
        order = np.argsort(group, kind="stable")
        start = np.searchsorted(group[order], np.arange(len(base) + 1)).astype(np.int64)
        counts = found.counts[order]
        leaves = np.column_stack([_bearers(map_)[base[:, a]] for a, map_ in enumerate(maps)])
        every = np.arange(len(base), dtype=np.int32)
        return Classes(leaves, every, start, value[order], counts, np.add.reduceat(counts, start[:-1]))

    def _check_unchanged(self, codes: Sequence[Ints], counts: Longs, maps: Sequence[Ints]) -> None:
        """Every column must have its labels as often as when it was counted alone: each query reads the table anew."""
        same = int(counts.sum()) == self.people
        for j, own in enumerate(codes):
            marginal = self.marginals[j]
            before = np.bincount(maps[j], weights=marginal) if j < len(maps) else marginal
            same = same and bool((own >= 0).all()) and np.array_equal(np.bincount(own, counts, len(before)), before)
        if not same:
            raise InputError(f"{self.table.rows.name} changed while it was read. Start again.")

    def _numbered(self, codes: Sequence[Ints], tuples: Ints) -> Ints:
        """The number of each row of sensitive leaves among the tuples, which are sorted and are all that occur."""
        sizes = [len(column.leaves) for column in self.schema.sensitive]
        distinct, number = distinct_rows(np.concatenate([tuples, np.column_stack(codes)]), sizes)
        if len(distinct) != len(tuples):
            raise InputError(f"{self.table.rows.name} changed while it was read. Start again.")
        return number[len(tuples) :]


def _bearers(map_: Ints) -> Ints:
    """For each label of a level a leaf that it stands for."""
    found = np.empty(int(map_.max()) + 1, dtype=np.int32)
    found[map_] = np.arange(len(map_), dtype=np.int32)
    return found
