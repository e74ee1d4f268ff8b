"""Releases of parts: whoever has equal quasi-identifiers is in one part, and each part is published as sets of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from dalenius.arrays import Ints, Longs
from dalenius.engines import Assignment, TableName
from dalenius.measures.remaining import ColumnLeft, labels_left
from dalenius.publishers.base import Headcount, Published, Publisher, written_columns
from dalenius.publishers.classes import BottomClasses
from dalenius.publishers.label_sets import distinct_sets, written_sets
from dalenius.publishers.tally import of_classes
from dalenius.releases import Generalized
from dalenius.releases.label import Label
from dalenius.table import Table

__all__ = ["PublishedParts"]


@dataclass(eq=False)
class PublishedParts(Published):
    """The parts and the release they make. A scheme that only decides who is in which part needs nothing else."""

    kind = Generalized.kind
    publisher: Publisher
    table: Table
    bottom: BottomClasses = field(repr=False)
    part: Ints = field(repr=False)  # of each bottom class, numbered from 0

    @property
    def parts(self) -> int:
        return int(self.part.max()) + 1

    @property
    def is_covering(self) -> bool:
        """Whether a part of a category is published as the lowest node of the hierarchy that covers it, not as its values."""
        return False

    @cached_property
    def _sets(self) -> tuple[list[list[Ints]], Ints]:
        """For each column the distinct sets of leaves that are published, and which of them each part has."""
        bottom = self.bottom
        return distinct_sets(bottom.quasi, self.part, bottom.leaves, self.parts, covering=self.is_covering)

    @cached_property
    def _sizes(self) -> Longs:
        return np.bincount(self.part, weights=self.bottom.base.sizes).astype(np.int64)

    @cached_property
    def release(self) -> Generalized:
        cells = self.table.cells()
        sets, index = self._sets
        group, values = self.part[self.bottom.of_cell], cells.codes[:, len(self.bottom.quasi) :]
        return Generalized.from_labels(cells.schema, sets, index, group, values, cells.counts)

    def headcount(self) -> Headcount:
        return Headcount(self.bottom.people, self.parts)

    def columns_left(self) -> tuple[ColumnLeft, ...]:
        sets, index = self._sets
        labels = [[Label("", own) for own in column] for column in sets]
        return labels_left(self.table.schema, labels, index, self._sizes)

    def people_in_groups(self) -> tuple[Ints, Longs, Ints]:
        cells = self.table.cells()
        return cells.codes, cells.counts, self.part[self.bottom.of_cell]

    def _write_rows(self, targets: Sequence[Path | TableName], *, shuffle: bool) -> None:
        texts = self.table.texts()
        labels = written_sets(self.table, *self._sets, self._sizes, nodes=self.is_covering)
        plan = Assignment(
            written_columns(self.table),
            {column.name: texts[column.name] for column in self.bottom.quasi},
            self.bottom.leaves,
            self.part,
            labels,
            shuffle=shuffle,
            tallies=[of_classes(self.table, self.part[self.bottom.of_cell], labels)],
        )
        self.table.rows.write(plan, targets[0])
