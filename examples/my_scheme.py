"""A publisher in one file: it sorts people by quasi-identifiers and publishes each run of k people as ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dalenius.criteria import Criterion, KAnonymity
from dalenius.errors import InputError, ParameterError
from dalenius.options import Option
from dalenius.publishers.base import Example, Publisher, check_numbers_declared, only_criterion
from dalenius.publishers.classes import BottomClasses
from dalenius.publishers.grid import Grid
from dalenius.publishers.parts import PublishedParts
from dalenius.table import Table


@dataclass(frozen=True, slots=True)
class Runs(Publisher):
    """At least k people in a class. People with equal quasi-identifiers are in the same class."""

    name = "runs"
    title = "runs"
    description = "Sorts people by their quasi-identifiers, and puts each run of k people into a class."
    options = (Option("first", "Runs: order people by this column first.", str, metavar="COLUMN"),)
    keeps = (KAnonymity,)  # `frontier` varies these criteria
    grid = Grid(options=("first",))  # what all candidates of `frontier` share
    example = Example((KAnonymity(4),))
    k: int
    first: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise ParameterError("k", "runs", "an int ≥ 1", self.k)

    @classmethod
    def from_options(cls, criteria: Sequence[Criterion], chosen: Mapping[str, Any]) -> Self:
        return cls(only_criterion(criteria, KAnonymity, "k", cls.name, "--k 5").k, **chosen)

    def promises(self) -> tuple[str, ...]:
        return (f"k = {self.k}",)

    def publish(self, table: Table) -> PublishedParts:
        check_numbers_declared(table.declared)  # otherwise no one could know what [20, 39] covers
        bottom = BottomClasses(table.cells())  # distinct quasi-identifiers in their order, with counts
        KAnonymity(self.k).check_possible(bottom.people, ())
        columns = {column.name: a for a, column in enumerate(bottom.quasi)}
        if self.first is not None and self.first not in columns:
            raise InputError(f"--first {self.first!r}: write a quasi-identifier, for example {next(iter(columns))}.")
        key = bottom.leaves[:, columns.get(self.first or "", 0)]
        part, size, number, left = np.zeros(len(key), dtype=np.int32), 0, 0, bottom.people
        for i in np.argsort(key, kind="stable").tolist():
            if size >= self.k and left >= self.k:  # enough in this class, and enough left
                size, number = 0, number + 1
            part[i] = number
            size, left = size + int(bottom.base.sizes[i]), left - int(bottom.base.sizes[i])
        return PublishedParts(self, table, bottom, part)
