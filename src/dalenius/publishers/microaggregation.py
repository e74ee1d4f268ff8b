"""Microaggregation (MDAV): groups of at least k similar people, each published as one point or as ranges.

Integers are standardised, and categories are one-hot columns divided by √2, so that two different values are at distance 1.
Rows are read into memory. People with equal quasi-identifiers may be in different groups, as in any microaggregation, so a
`group` column tells groups apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from dalenius.arrays import Bools, Floats, Ints, Longs
from dalenius.coding import distinct_rows, merge
from dalenius.criteria import Criterion, KAnonymity
from dalenius.engines import Assignment, TableName
from dalenius.errors import InputError, ParameterError, counted
from dalenius.measures.remaining import ColumnLeft
from dalenius.options import Option
from dalenius.publishers.base import (
    PANEL,
    Example,
    Headcount,
    Published,
    Publisher,
    check_name_free,
    check_numbers_declared,
    only_criterion,
    written_columns,
)
from dalenius.publishers.grid import Grid
from dalenius.publishers.label_sets import distinct_sets, written_sets
from dalenius.publishers.tally import Tally, labelled
from dalenius.releases import Centroids, Generalized, GroupCells
from dalenius.releases.centroids import point_text
from dalenius.releases.reading import GROUP
from dalenius.schema import Column
from dalenius.table import Table

if TYPE_CHECKING:
    from dalenius.publishers.given import Given

__all__ = ["MAX_ROWS", "Microaggregation", "PublishedMicroaggregation", "Shown", "encoded"]

Shown = Literal["centroids", "ranges"]
MAX_ROWS = 300_000  # at most in one block: time grows with their square, and these take minutes


@dataclass(frozen=True, slots=True)
class Microaggregation(Publisher):
    """The publisher: at least k people in a group, published as `centroids` (mean, commonest category) or `ranges`.

    With `block`, the rows are first halved, again and again, in the column that varies most, until no block has more rows
    than that, and each block is grouped by itself: a variant for large tables, whose groups are a little wider.
    """

    name = "microaggregation"
    title = "microaggregation"
    publishes = "groups of similar people, as centroids or ranges"
    description = "Puts at least k similar people into a group, of which one point or one range is published."
    options = (
        Option("shown", "What to publish for a group: centroids (default) or ranges.", str, panel=PANEL),
        Option("block", "Group the rows in blocks of at most this size.", int, panel=PANEL),
    )
    keeps = (KAnonymity,)
    example = Example((KAnonymity(4),))
    grid = Grid(unlabelled=frozenset({"shown"}))
    follows_row_order = True  # of rows that are equally far the first is taken
    k: int
    shown: Shown = "centroids"
    block: int | None = None
    given: Given | None = None  # earlier releases; groups that leave too few values with them take in the nearest

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise ParameterError("k", "microaggregation", "an int ≥ 1", self.k)
        if self.shown not in ("centroids", "ranges"):
            raise ParameterError("shown", "microaggregation", "centroids or ranges", self.shown)
        if self.block is not None and (not isinstance(self.block, int) or self.block < 4 * self.k):
            raise ParameterError("block", "microaggregation", f"an int ≥ 4 k = {4 * self.k}", self.block)

    @classmethod
    def from_options(cls, criteria: Sequence[Criterion], chosen: Mapping[str, Any]) -> Self:
        return cls(only_criterion(criteria, KAnonymity, "k", cls.name, "--k 5").k, **chosen)

    @classmethod
    def shared(cls, chosen: Mapping[str, Any], *, utility: str) -> dict[str, Any]:  # noqa: ARG003
        return {"shown": "ranges", **chosen}  # of which more can be measured than of points

    def promises(self) -> tuple[str, ...]:
        return (f"k = {self.k}",)

    def publish(self, table: Table) -> PublishedMicroaggregation:
        """Put every row into a group."""
        from dalenius.kernels.mdav import mdav  # compiled code, which `--help` can do without

        declared = table.declared
        check_numbers_declared(declared)
        check_name_free(GROUP, declared, "Microaggregation")
        people = table.cells().people
        if people < self.k:
            raise InputError(f"k = {self.k} cannot be met: the table has {counted(people, 'person', 'people')}.")
        if self.block is None and people > MAX_ROWS:
            raise InputError(
                f"The table has {people:,} rows, and the time that microaggregation takes grows with their square; at most "
                f"{MAX_ROWS:,} are grouped at once. Group them in blocks: --block 5000."
            )
        codes = _row_codes(table)
        numbers, categories = encoded(table.schema.quasi, codes[:, : len(table.schema.quasi)])
        blocks = _blocks(numbers, categories, self.block or len(codes))
        group = np.empty(len(codes), dtype=np.int32)
        labels = int(categories.max(initial=0)) + 1
        groups = 0
        for rows in blocks:
            numbers_in_block = mdav(
                np.ascontiguousarray(numbers[rows]), np.ascontiguousarray(categories[rows]), labels, self.k
            )
            group[rows] = numbers_in_block + groups
            groups += int(numbers_in_block.max()) + 1
        if self.given is not None:
            from dalenius.publishers.given import joined, joined_as_attacked

            self.given.check_table(table)
            group = joined(self.given, codes, group, _Nearest(numbers, categories, group))
            if self.shown == "centroids":  # an attacker takes the nearest, which may be another group's
                group = joined_as_attacked(
                    self.given, codes, group, lambda own: PublishedMicroaggregation(self, table, codes, own).release
                )
        return PublishedMicroaggregation(self, table, codes, group)


class _Nearest:
    """The group whose mean is nearest, in the distance that groups are made with; it is then part of the one that asked."""

    def __init__(self, numbers: Floats, categories: Ints, group: Ints) -> None:
        self.sizes = np.bincount(group).astype(np.float64)
        sums = [np.bincount(group, weights=column) for column in numbers.T]
        for column in categories.T:  # as one-hot columns divided by √2
            for code in np.unique(column).tolist():
                sums.append(np.bincount(group, weights=column == code) / np.sqrt(2))
        self.means = np.column_stack(sums) / self.sizes[:, None]

    def __call__(self, group: int, others: Bools) -> int:
        some = np.flatnonzero(others)
        away = ((self.means[some] - self.means[group]) ** 2).sum(axis=1)
        other = int(some[np.argmin(away)])
        both = self.sizes[group] + self.sizes[other]
        self.means[group] += (self.means[other] - self.means[group]) * self.sizes[other] / both
        self.sizes[group] = both
        return other


def _row_codes(table: Table) -> Ints:
    """Return the leaf codes of every row, in the file's order. They must be those that were counted."""
    texts, cells = table.texts(), table.cells()
    names = [column.name for column in table.schema.coded]
    columns = zip(*table.rows.read(names), strict=True)
    codes = np.column_stack(
        [
            np.fromiter((texts[name].get(text, -1) for text in column), dtype=np.int32)
            for name, column in zip(names, columns, strict=True)
        ]
    )
    if (codes >= 0).all():
        distinct, counts = merge(codes, np.ones(len(codes), dtype=np.int64), cells.sizes)
        if np.array_equal(distinct, cells.codes) and np.array_equal(counts, cells.counts):
            return codes
    raise InputError(f"{table.rows.name} changed while it was read. Start again. Nothing was written.")


def _nth(codes: Ints, sizes: Sequence[int]) -> Longs:
    """Return for each row how many earlier rows equal it."""
    _, cell = distinct_rows(codes, sizes)
    order = np.argsort(cell, kind="stable")
    nth = np.empty(len(cell), dtype=np.int64)
    nth[order] = np.arange(len(cell)) - np.searchsorted(cell[order], cell[order])
    return nth


def encoded(columns: Sequence[Column], codes: Ints) -> tuple[Floats, Ints]:
    """Return standardised integers (missing: the mean; a constant column: 0) and the codes of categories."""
    numbers, categories = [], []
    for j, column in enumerate(columns):
        if column.type != "integer":
            categories.append(codes[:, j])
            continue
        assert column.domain is not None
        values = column.domain.values()[codes[:, j]]
        known = ~np.isnan(values)
        mean = values[known].mean() if known.any() else 0.0
        spread = values[known].std() if known.any() else 0.0
        numbers.append(np.where(known, values - mean, 0.0) / (spread if spread > 0 else 1.0))
    n = len(codes)
    return (
        np.ascontiguousarray(np.column_stack(numbers)) if numbers else np.zeros((n, 0)),
        np.ascontiguousarray(np.column_stack(categories), dtype=np.int32) if categories else np.zeros((n, 0), np.int32),
    )


def _blocks(numbers: Floats, categories: Ints, most: int) -> list[Longs]:
    """Return rows in blocks of at most this size, halved in the column that varies most."""
    done, todo = [], [np.arange(len(numbers))]
    while todo:
        rows = todo.pop()
        if len(rows) <= most:
            done.append(rows)
            continue
        spreads = [float(numbers[rows, a].var()) for a in range(numbers.shape[1])]
        for a in range(categories.shape[1]):
            share = np.bincount(categories[rows, a]) / len(rows)
            spreads.append((1 - float(share @ share)) / 2)
        a = int(np.argmax(spreads))
        key = numbers[rows, a] if a < numbers.shape[1] else categories[rows, a - numbers.shape[1]]
        ordered = rows[np.argsort(key, kind="stable")]
        todo += [np.sort(ordered[: len(rows) // 2]), np.sort(ordered[len(rows) // 2 :])]
    return sorted(done, key=lambda rows: int(rows[0]))


@dataclass(eq=False)
class PublishedMicroaggregation(Published):
    """Every row's group, and the release it makes."""

    publisher: Microaggregation
    table: Table
    codes: Ints = field(repr=False)  # [row, column]
    group: Ints = field(repr=False)

    @property
    def kind(self) -> str:  # type: ignore[override]
        return Centroids.kind if self.publisher.shown == "centroids" else Generalized.kind

    @property
    def groups(self) -> int:
        return int(self.group.max()) + 1

    @cached_property
    def release(self) -> Centroids | Generalized:
        schema = self.table.schema
        m = len(schema.quasi)
        sizes = [len(column.leaves) for column in schema.sensitive]
        ones = np.ones(len(self.group), dtype=np.int64)
        if self.publisher.shown == "ranges":
            sets, index = self._sets
            values, counts = self.codes[:, m:], ones
            return Generalized.from_labels(schema, sets, index, self.group, values, counts)
        points = np.column_stack([self._points(j, column) for j, column in enumerate(schema.quasi)])
        return Centroids(schema, points, GroupCells.gather(self.group, self.codes[:, m:], ones, sizes))

    def _points(self, j: int, column: Column) -> Floats:
        """Return the mean of an integer (nan if all are missing), the commonest category (of equals the first leaf)."""
        if column.type == "integer":
            assert column.domain is not None
            values = column.domain.values()[self.codes[:, j]]
            known = ~np.isnan(values)
            people = np.bincount(self.group[known], minlength=self.groups)
            total = np.bincount(self.group[known], weights=values[known], minlength=self.groups)
            means: Floats = np.divide(total, people, out=np.full(self.groups, np.nan), where=people > 0)
            return means
        pairs, counts = merge(
            np.column_stack([self.group, self.codes[:, j]]),
            np.ones(len(self.group), dtype=np.int64),
            [self.groups, len(column.leaves)],
        )
        best = np.lexsort((pairs[:, 1], -counts, pairs[:, 0]))
        first = np.concatenate(([True], np.diff(pairs[best, 0]) != 0))
        modes: Floats = pairs[best[first], 1].astype(np.float64)
        return modes

    @cached_property
    def _sets(self) -> tuple[list[list[Ints]], Ints]:
        """For each column the distinct sets that are published, and which of them each group has."""
        m = len(self.table.schema.quasi)
        return distinct_sets(self.table.schema.quasi, self.group, self.codes[:, :m], self.groups)

    def columns_left(self) -> tuple[ColumnLeft, ...]:
        """Return what the release leaves. A column that had one value anyway has lost nothing."""
        same = [bool((column == column[0]).all()) for column in self.codes[:, : len(self.table.schema.quasi)].T]
        pairs = zip(super().columns_left(), same, strict=True)
        return tuple(replace(left, state="kept") if alike else left for left, alike in pairs)

    def people_in_groups(self) -> tuple[Ints, Longs, Ints]:
        return self.codes, np.ones(len(self.group), dtype=np.int64), self.group

    def headcount(self) -> Headcount:
        return Headcount(len(self.group), self.groups)

    def details(self) -> dict[str, Any]:
        publisher = self.publisher
        return {"k": publisher.k, "shown": publisher.shown, "block": publisher.block}

    def _write_rows(self, targets: Sequence[Path | TableName], *, shuffle: bool) -> None:
        schema = self.table.schema
        if self.publisher.shown == "ranges":
            labels = written_sets(self.table, *self._sets, np.bincount(self.group))
        else:
            labels = {
                column.name: [
                    point_text(point, column, schema) if column.type == "integer" else column.leaves[int(point)]
                    for point in self._points(j, column).tolist()
                ]
                for j, column in enumerate(schema.quasi)
            }
        number = np.arange(self.groups, dtype=np.int32)  # what each group is called
        if shuffle:
            # Groups were numbered block by block in the order of the rows, which must not be revealed.
            number = np.random.default_rng().permutation(number)
            order = np.argsort(number).tolist()
            labels = {name: [texts[q] for q in order] for name, texts in labels.items()}
        texts = self.table.texts()
        plan = Assignment(
            written_columns(self.table),
            {column.name: texts[column.name] for column in schema.coded},
            self.codes,
            number[self.group],
            labels,
            index=_nth(self.codes, [len(column.leaves) for column in schema.coded]),
            number=GROUP,
            shuffle=shuffle,
            tallies=[self._tally(labels, number[self.group])],
        )
        self.table.rows.write(plan, targets[0])

    def _tally(self, labels: Mapping[str, Sequence[str]], group: Ints) -> Tally:
        """Return what was decided: the people of each group by their sensitive values."""
        schema, texts = self.table.schema, self.table.texts()
        m = len(schema.quasi)
        known = {column.name: texts[column.name] for column in schema.sensitive}
        numbered = {GROUP: [str(q) for q in range(self.groups)], **labels}
        index = np.repeat(group[:, None], m + 1, axis=1)
        return labelled(numbered, index, known, self.codes[:, m:], np.ones(len(group), dtype=np.int64))
