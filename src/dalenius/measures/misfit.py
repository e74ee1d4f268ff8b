"""How many rows of a release must have been changed: values of the truth that do not fit their label.

A release does not say which row belongs to whom, and rows may be in any order. So as many rows as possible are matched with
people of the table who fit them and have their sensitive values: a maximum flow from people to rows. Rows without a match
were changed. More rows may have been changed, because a changed row can fit somebody else.

The same is done for each quasi-identifier by itself. Of an anatomized release only the quasi-identifiers are compared: with
the values it would not be a flow any more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from dalenius.adversaries.models import fit
from dalenius.arrays import Floats, Ints, Longs
from dalenius.coding import distinct_rows, merge
from dalenius.errors import InputError
from dalenius.measures.anonymity import Coded
from dalenius.releases import Anatomized, Generalized, Release

__all__ = ["MAX_PAIRS", "MAX_PEOPLE", "Misfits", "misfits"]

MAX_PAIRS = 5_000_000  # of people and classes that overlap; with more the bound is a weaker one
MAX_PEOPLE = 2**31 - 1  # that a flow can count


@dataclass(frozen=True, slots=True, eq=False)
class Misfits:
    """`rows` were changed at least, and in each quasi-identifier `cells` at least.

    A changed row has a changed cell. If the single columns show fewer changes than there are changed rows, the columns of the
    others are unknown: they are distributed evenly over the columns that can differ.
    """

    rows: int
    cells: Floats

    @classmethod
    def of(cls, rows: int, each: list[int], sizes: list[int]) -> Misfits:
        """Make it from what each column shows and how many values it has. A constant column cannot differ."""
        able = np.array([size > 1 for size in sizes])
        more = max(rows - sum(each), 0) / max(int(able.sum()), 1)
        return cls(rows, np.array(each, dtype=np.float64) + np.where(able, more, 0.0))


def misfits(release: Release, truth: Coded) -> Misfits:
    """Return the smallest number of rows and cells of a release that must have been changed from its table."""
    boxes, links = release.rows(), release.links()
    if boxes is not None:
        return _of_boxes(boxes, truth)
    if links is not None:
        return _of_tuples(links, truth)
    raise InputError(f"A release of kind {release.kind!r} has neither labels nor tuples that could have been changed.")


def _of_boxes(release: Generalized, truth: Coded) -> Misfits:
    compared = _Compared.of(release, truth)
    each = [compared.changed_cells(a) for a in range(len(release.labels))]
    rows = compared.changed_rows()
    sizes = [len(column.leaves) for column in release.schema.quasi]
    return Misfits.of(max(each) if rows is None else rows, each, sizes)


def _of_tuples(release: Anatomized, truth: Coded) -> Misfits:
    sizes = [len(column.leaves) for column in release.schema.quasi]
    published = release.quasi
    both = np.concatenate([published.codes, truth.codes[:, : len(sizes)]]).astype(np.int32)
    more = np.concatenate([published.counts, -truth.counts])

    def surplus(number: Ints) -> int:
        """Return the total excess of the release over the table, over everything it has more of."""
        excess = np.zeros(int(number.max()) + 1, dtype=np.int64)
        np.add.at(excess, number, more)
        return int(np.maximum(excess, 0).sum())

    rows = surplus(distinct_rows(both, sizes)[1])
    return Misfits.of(rows, [surplus(both[:, a]) for a in range(len(sizes))], sizes)


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """A release beside its table: combinations of sensitive values are numbered alike in both."""

    release: Generalized
    quasi: Ints  # of each cell of the table
    values: Ints
    people: Longs
    group: Ints  # of each published cell
    group_values: Ints
    group_people: Longs
    hidden: Longs  # suppressed rows of each combination of values

    @classmethod
    def of(cls, release: Generalized, truth: Coded) -> _Compared:
        m, said = len(release.schema.quasi), release.sensitive
        sizes = [len(column.leaves) for column in release.schema.sensitive]
        both = np.concatenate([said.codes, truth.codes[:, m:]]).astype(np.int32)
        tuples, number = distinct_rows(both, sizes)
        theirs, inside = number[: len(said.group)], said.group >= 0
        hidden = np.zeros(len(tuples), dtype=np.int64)
        np.add.at(hidden, theirs[~inside], said.counts[~inside])
        return cls(
            release, truth.codes[:, :m].astype(np.int32), number[len(said.group) :], truth.counts,
            said.group[inside], theirs[inside], said.counts[inside], hidden,
        )  # fmt: skip

    def changed_cells(self, a: int) -> int:
        """Return how many rows have a label that fits nobody with the row's sensitive values."""
        sets = self.release.leaf_sets(a)
        order = np.argsort(sets.members, kind="stable")
        start = np.searchsorted(sets.members[order], np.arange(sets.leaves + 1))
        label = np.repeat(np.arange(len(sets)), np.diff(sets.first))[order]
        labels = self.release.codes[self.group, a]
        changed = self._changed(self.quasi[:, [a]], [sets.leaves], start, label, labels, len(sets))
        return 0 if changed is None else changed

    def changed_rows(self) -> int | None:
        """Return how many rows fit nobody with their sensitive values; None if there are too many pairs to compare."""
        sizes = [len(column.leaves) for column in self.release.schema.quasi]
        known, number = distinct_rows(self.quasi, sizes)
        targets, groups, pairs = [], [], 0
        for some, start, inside in fit.inside_boxes(self.release, known):
            targets.append(np.repeat(some, np.diff(start)))
            groups.append(inside)
            pairs += len(inside)
            if pairs > MAX_PAIRS + len(known):
                return None
        target, group = np.concatenate(targets), np.concatenate(groups)
        order = np.argsort(target, kind="stable")
        start = np.searchsorted(target[order], np.arange(len(known) + 1))
        cells = number[:, None].astype(np.int32)
        return self._changed(cells, [len(known)], start, group[order], self.group, self.release.groups)

    def _changed(
        self, cells: Ints, sizes: list[int], start: Longs, fitting: NDArray[np.integer], group: Ints, groups: int
    ) -> int | None:
        """Return how many rows nobody can be given; people of cell x fit the groups `fitting[start[x]:start[x + 1]]`."""
        values = len(self.hidden)
        have, people = merge(np.column_stack([cells, self.values]).astype(np.int32), self.people, [*sizes, values])
        rows = np.column_stack([group, self.group_values]).astype(np.int32)
        want, places = merge(rows, self.group_people, [groups, values])
        keys = want[:, 0].astype(np.int64) * values + want[:, 1]
        many = np.diff(start)[have[:, 0]]
        if int(many.sum()) > MAX_PAIRS + len(have):
            return None
        cell = np.repeat(np.arange(len(have)), many)
        within = np.arange(len(cell)) - np.repeat(np.cumsum(many) - many, many)
        wanted = fitting[start[have[cell, 0]] + within].astype(np.int64) * values + have[cell, 1]
        at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        fits = keys[at] == wanted
        placed_people = _count_placeable(people, have[:, 1], places, want[:, 1], cell[fits], at[fits], self.hidden)
        return None if placed_people is None else self.release.people - placed_people


def _count_placeable(
    people: Longs, values: Ints, places: Longs, place_values: Ints, cell: Longs, at: Longs, hidden: Longs
) -> int | None:
    """Return how many people can be given a row: cell[i] fits place at[i], and a suppressed row fits whoever has its values."""
    if len(np.unique(cell)) == len(cell):  # nobody fits two places: no choice
        load = np.zeros(len(places), dtype=np.int64)
        np.add.at(load, at, people[cell])
        fitting = np.zeros(len(hidden), dtype=np.int64)
        np.add.at(fitting, place_values, np.minimum(load, places))
        left = -fitting
        np.add.at(left, values, people)
        return int((fitting + np.minimum(left, hidden)).sum())
    if len(cell) > MAX_PAIRS or max(int(people.sum()), int(places.sum() + hidden.sum())) > MAX_PEOPLE:
        return None
    first, second, third = 1, 1 + len(people), 1 + len(people) + len(places)
    sink = third + len(hidden)
    arcs = [
        (np.zeros(len(people), dtype=np.int64), first + np.arange(len(people)), people),
        (first + cell, second + at, np.minimum(people[cell], places[at])),
        (first + np.arange(len(people)), third + values, people),
        (second + np.arange(len(places)), np.full(len(places), sink), places),
        (third + np.arange(len(hidden)), np.full(len(hidden), sink), hidden),
    ]
    begin, end, room = (np.concatenate(parts) for parts in zip(*arcs, strict=True))
    graph = csr_array((room.astype(np.int32), (begin, end)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, 0, sink).flow_value)
