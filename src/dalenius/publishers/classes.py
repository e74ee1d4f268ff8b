"""The classes of a table's distinct quasi-identifiers and what criteria say of classes: what publishers start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Bools, Ints, Longs
from dalenius.coding import distinct_rows, merge
from dalenius.criteria import Criterion
from dalenius.releases import Grouping
from dalenius.table import Cells

__all__ = ["BottomClasses", "Classes"]


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The classes of a node: the row of `leaves` that represents each, and its counts per value (see `Grouping`)."""

    leaves: Ints  # leaf codes of the quasi-identifiers, shared with the classes that these were made of
    rep: Ints
    start: Longs
    values: Ints
    counts: Longs
    sizes: Longs

    def __len__(self) -> int:
        return len(self.rep)


class BottomClasses:
    """The finest classes: distinct quasi-identifiers, with the counts of their values.

    Several sensitive columns are counted together: a value is a tuple of theirs. With `values` false only sizes are kept.
    """

    def __init__(self, cells: Cells, *, values: bool = True) -> None:
        self.schema = cells.schema
        self.quasi = cells.schema.quasi
        self.people = cells.people
        m = len(self.quasi)
        sizes = [len(column.leaves) for column in cells.schema.coded]
        base, group = distinct_rows(cells.codes[:, :m], sizes[:m])
        tuples, value = distinct_rows(cells.codes[:, m:], sizes[m:])
        self.tuples = tuples if values else np.zeros((1, 0), dtype=np.int32)
        self.leaves = np.ascontiguousarray(base)  # [bottom class, attribute]
        self.of_cell = group  # the bottom class of each cell
        self.base = self._bottom_classes(group, value if values else np.zeros_like(value), cells.counts, len(base))
        self.marginals = tuple(
            np.bincount(cells.codes[:, j], weights=cells.counts, minlength=sizes[j]).astype(np.int64)
            for j in range(len(sizes))
        )

    def _bottom_classes(self, group: Ints, value: Ints, counts: Longs, groups: int) -> Classes:
        from dalenius.kernels.rollup import merge_cells

        # Cells come sorted by their codes, so equal groups stand together.
        start = np.searchsorted(group, np.arange(groups + 1)).astype(np.int64)
        domain = int(value.max()) + 1
        same = np.arange(groups, dtype=np.int32)
        start, values, merged = merge_cells(start, value, counts, same, groups, domain)
        sizes = np.add.reduceat(merged, start[:-1])
        return Classes(self.leaves, same, start, values, merged, sizes)

    def kept(self, classes: Classes, passing: Bools) -> Classes:
        """Return the classes that pass, without the others."""
        if passing.all():
            return classes
        widths = np.diff(classes.start)
        cells = np.repeat(passing, widths)
        start = np.concatenate(([0], np.cumsum(widths[passing])))
        kept = classes.rep[passing]
        return Classes(
            classes.leaves, kept, start, classes.values[cells], classes.counts[cells], classes.sizes[passing]
        )

    def _whole(self, classes: Classes, j: int, *, alone: bool) -> Longs:
        """Return how often each value of a sensitive column occurs in the table, or in these classes alone."""
        m = len(self.quasi)
        if not alone:
            return self.marginals[m + j]
        values, leaves = self.tuples[:, j][classes.values], len(self.marginals[m + j])
        return np.bincount(values, weights=classes.counts, minlength=leaves).astype(np.int64)

    def groupings(self, classes: Classes, *, alone: bool = False) -> list[Grouping]:
        """Return the counts of each sensitive column; with several, each is counted by itself.

        With `alone` these classes are all that is published: the table's distribution is theirs.
        """
        from dalenius.kernels.rollup import merge_cells

        groupings = []
        for j, column in enumerate(self.schema.sensitive):
            values = self.tuples[:, j][classes.values]
            start, counts = classes.start, classes.counts
            if len(self.schema.sensitive) > 1:
                same = np.arange(len(classes), dtype=np.int32)
                start, values, counts = merge_cells(start, values, counts, same, len(classes), len(column.leaves))
            groupings.append(Grouping(column, start, values, counts, self._whole(classes, j, alone=alone), 0))
        return groupings

    def split_groupings(self, classes: Classes, *, alone: bool = False) -> list[Grouping]:
        """Return the counts of each sensitive column when all others are known: they split the classes (see `parent`)."""
        groupings = []
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
            whole = self._whole(classes, j, alone=alone)
            groupings.append(Grouping(column, start, merged[:, 2], counts, whole, 0, parent))
        return groupings

    def sizes_only(self, classes: Classes) -> Grouping:
        """Return a grouping for criteria that look at sizes alone."""
        start = np.arange(len(classes) + 1, dtype=np.int64)
        column = self.schema.sensitive[0]
        zeros = np.zeros(len(classes), dtype=np.int32)
        return Grouping(column, start, zeros, classes.sizes, np.array([self.people]), 0)

    def passing(
        self, classes: Classes, criteria: Sequence[Criterion], *, others_as_quasi: bool = False, alone: bool = False
    ) -> Bools:
        """Return which classes satisfy every criterion, for every sensitive column.

        With `others_as_quasi` the attacker knows the other sensitive columns; every part they leave must satisfy.
        """
        ok = np.ones(len(classes), dtype=bool)
        if others_as_quasi and len(self.schema.sensitive) > 1:
            for grouping in self.split_groupings(classes, alone=alone):
                for criterion in criteria:
                    assert grouping.parent is not None
                    ok[grouping.parent[~criterion.passes(grouping)]] = False
            return ok
        for criterion in criteria:
            if not criterion.needs_values:
                ok &= criterion.passes(self.sizes_only(classes))
        valued = [criterion for criterion in criteria if criterion.needs_values]
        if valued:
            for grouping in self.groupings(classes, alone=alone):
                for criterion in valued:
                    ok &= criterion.passes(grouping)
        return ok
