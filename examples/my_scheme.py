"""A publishing scheme in one file: people in the order of their quasi-identifiers, k after k, published as ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.engine import Assignment, TableName
from dalenius.errors import InputError, ParameterError
from dalenius.publish.base import Published, check_numbers_declared, written_columns
from dalenius.publish.classes import BottomClasses
from dalenius.publish.sets import distinct_sets, written_sets
from dalenius.publish.tally import of_classes
from dalenius.release import Generalized
from dalenius.table import Table

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Runs:
    """The publisher: at least k people in a class. Who has equal quasi-identifiers is in one class."""

    k: int

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise ParameterError("k", "runs", "an int ≥ 1", self.k)

    def publish(self, table: Table) -> PublishedRuns:
        check_numbers_declared(table.declared)  # else nobody could say what [20, 39] covers
        bottom = BottomClasses(table.cells())  # distinct quasi-identifiers in their order, with counts
        if bottom.people < self.k:
            raise InputError(f"k = {self.k} cannot be met: the table has {bottom.people:,} people.")
        before = np.cumsum(bottom.base.sizes) - bottom.base.sizes
        part, begun, number = np.zeros(len(before), dtype=np.int32), 0, 0
        for i, people in enumerate(before.tolist()):
            if people - begun >= self.k and bottom.people - people >= self.k:  # enough behind, and enough to come
                begun, number = people, number + 1
            part[i] = number
        return PublishedRuns(self, table, bottom, part)


@dataclass(eq=False)
class PublishedRuns(Published):
    """What was made: the release as data, how it was made, and how it is written."""

    kind = Generalized.kind
    publisher: Runs
    table: Table
    bottom: BottomClasses = field(repr=False)
    part: Ints = field(repr=False)  # the class of each distinct quasi-identifier

    @cached_property
    def _sets(self) -> tuple[list[list[Ints]], Ints]:
        return distinct_sets(self.bottom.quasi, self.part, self.bottom.leaves, int(self.part.max()) + 1)

    @cached_property
    def release(self) -> Generalized:
        cells = self.table.cells()
        group, values = self.part[self.bottom.of_cell], cells.codes[:, len(self.bottom.quasi) :]
        return Generalized.from_labels(cells.schema, *self._sets, group, values, cells.counts)

    def describe(self) -> dict[str, Any]:
        classes = int(self.part.max()) + 1
        return {"method": "runs", "criteria": [f"k = {self.publisher.k}"], "classes": classes, "suppressed": 0}

    def _write_rows(self, targets: Sequence[Path | TableName], *, shuffle: bool) -> None:
        texts = self.table.texts()
        sizes = np.bincount(self.part, weights=self.bottom.base.sizes).astype(np.int64)
        labels = written_sets(self.table, *self._sets, sizes)
        plan = Assignment(
            written_columns(self.table),
            {column.name: texts[column.name] for column in self.bottom.quasi},
            self.bottom.leaves,
            self.part,
            labels,
            shuffle=shuffle,
            tallies=[of_classes(self.table, self.part[self.bottom.of_cell], labels)],  # what must be in the file
        )
        self.table.rows.write(plan, targets[0])  # the engine writes, wherever the rows are


# The one line, for `dalenius publish --method runs`: a function that makes a Runs of the options, under its name in
# _BUILDERS of cli/methods.py, and the name in METHODS.
