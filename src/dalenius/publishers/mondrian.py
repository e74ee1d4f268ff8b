"""Cut the table in two, and each part again, as long as every part satisfies the criteria (LeFevre 2006).

Strict and multidimensional: all people with the same quasi-identifiers stay together, and each part may be cut in a
different column. Values have positions: integers by value (missing last), categories in code-point order. The cut is made in
the column whose range is widest compared with that of the whole table (the first if several are equal). Each column allows
one cut, the one nearest to the middle. With hierarchies, a category is cut into the children of the lowest node that covers
the part.

All parts of one depth are cut together: the cuts in one column form one grouping, which the criteria judge at once.
Compiled code is imported where it runs, so that `--help` can list the options of this method without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dalenius.arrays import Bools, Floats, Ints, Longs
from dalenius.criteria import Criterion, KAnonymity
from dalenius.errors import InputError, ParameterError, listing
from dalenius.hierarchy import MISSING
from dalenius.options import Option
from dalenius.publishers.base import (
    OTHERS_AS_QUASI,
    PANEL,
    Example,
    Publisher,
    check_criteria,
    check_numbers_declared,
)
from dalenius.publishers.classes import BottomClasses, Classes
from dalenius.publishers.parts import PublishedParts
from dalenius.schema import Column
from dalenius.table import Table

if TYPE_CHECKING:
    from dalenius.publishers.given import Given

__all__ = ["Cuts", "Mondrian", "PublishedMondrian", "positions"]

Cuts = Literal["order", "hierarchy"]


@dataclass(frozen=True, slots=True)
class Mondrian(Publisher):
    """The publisher: criteria that every part satisfies, and how categories are cut.

    >>> from dalenius import datasets
    >>> from dalenius.criteria import KAnonymity
    >>> published = Mondrian([KAnonymity(5)]).publish(datasets.hospital(500, seed=1))
    >>> int(published.release.sizes.min()) >= 5
    True
    """

    name = "mondrian"
    title = "Mondrian"
    publishes = "boxes, made by cutting the data into smaller and smaller parts"
    description = "Cuts the table in two, and each part again, as long as every part satisfies the criteria."
    options = (
        Option("cuts", "How to cut categories: order (default) or hierarchy.", str, panel=PANEL),
        OTHERS_AS_QUASI,
    )
    not_in_audit = frozenset({"others-as-quasi"})
    keeps = (Criterion,)
    example = Example((KAnonymity(4),))
    criteria: Sequence[Criterion]
    cuts: Cuts = "order"
    others_as_quasi: bool = False
    given: Given | None = None  # earlier releases, together with which every part must leave enough values

    def __post_init__(self) -> None:
        check_criteria(self.criteria, "Mondrian")
        if self.cuts not in ("order", "hierarchy"):
            raise ParameterError("cuts", "Mondrian", "order or hierarchy", self.cuts)

    def promises(self) -> tuple[str, ...]:
        return tuple(criterion.describe() for criterion in self.criteria)

    def publish(self, table: Table) -> PublishedMondrian:
        """Cut the table. The release is made when it is first used."""
        check_numbers_declared(table.declared)
        cells = table.cells()
        m = len(cells.schema.quasi)
        for criterion in self.criteria:
            criterion.check_possible(
                cells.people, [len(np.unique(cells.codes[:, m + j])) for j in range(len(cells.schema.sensitive))]
            )
        if self.given is not None:
            self.given.check_table(table)
        values = self.others_as_quasi or self.given is not None or any(c.needs_values for c in self.criteria)
        bottom = BottomClasses(cells, values=values)
        return PublishedMondrian(self, table, bottom, _Cutter(self, bottom).run())


def positions(column: Column) -> Ints:
    """Return where each leaf of a column stands: integers by value, a missing one last; categories in code-point order."""
    leaves = column.leaves
    if column.type == "integer":
        numbers = [int(leaf) for leaf in leaves if leaf != MISSING]
        low, high = min(numbers, default=0), max(numbers, default=0)
        if high - low >= 2**31 - 2:
            raise InputError(f"The values of column {column.name!r} are too far apart to be cut by value.")
        return np.array([high - low + 1 if leaf == MISSING else int(leaf) - low for leaf in leaves], dtype=np.int32)
    rank = np.empty(len(leaves), dtype=np.int32)
    rank[sorted(range(len(leaves)), key=leaves.__getitem__)] = np.arange(len(leaves))
    return rank


class _Cutter:
    """The cutting of all parts of one depth at a time."""

    def __init__(self, publisher: Mondrian, bottom: BottomClasses) -> None:
        self.publisher, self.bottom = publisher, bottom
        self.positions = np.column_stack(
            [positions(column)[bottom.leaves[:, a]] for a, column in enumerate(bottom.quasi)]
        ).astype(np.int32)
        span = self.positions.max(axis=0) - self.positions.min(axis=0)
        self.span = np.maximum(span, 1).astype(np.float64)
        # For each category that is cut along its hierarchy: label codes by level, a root above all added.
        self.maps: dict[int, Ints] = {}
        for a, column in enumerate(bottom.quasi):
            if publisher.cuts == "hierarchy" and column.type == "category" and column.hierarchy is not None:
                levels = [*column.hierarchy.maps]
                if len(column.hierarchy.labels[-1]) > 1:
                    levels.append(np.zeros(len(column.leaves), dtype=np.int32))
                self.maps[a] = np.array(levels, dtype=np.int32)
        if publisher.cuts == "hierarchy" and not self.maps:
            raise InputError("--cuts hierarchy cuts categories along their hierarchies, and no category has one.")

    def run(self) -> Ints:
        """Return the part of each bottom class."""
        bottom = self.bottom
        first = np.array([0, len(bottom.leaves)], dtype=np.int64)
        members = np.arange(len(bottom.leaves), dtype=np.int32)
        whole = self._classes(members, np.zeros(len(members), dtype=np.int32), 1)
        if not self._passing(whole)[0]:
            raise InputError(_no_solution(self.publisher.criteria, bottom, whole, self.publisher.others_as_quasi))
        part = np.zeros(len(members), dtype=np.int32)
        done = 0
        while len(first) > 1:
            first, members, finished, numbers = self._cut_all(first, members)
            part[finished] = numbers + done
            done += int(numbers[-1]) + 1 if len(numbers) else 0
        return part

    def _cut_all(self, first: Longs, members: Ints) -> tuple[Longs, Ints, Ints, Ints]:
        """Cut all parts. Return the new parts, the classes of parts that cannot be cut, and the numbers of these parts from 0."""
        from dalenius.kernels.mondrian import covering_levels, middle_cuts, split

        publisher = self.publisher
        low, high, cut = middle_cuts(first, members, self.positions, self.bottom.base.sizes)
        width = (high - low) / self.span
        levels: dict[int, Ints] = {}
        for a, maps in self.maps.items():
            levels[a] = covering_levels(first, members, np.ascontiguousarray(self.bottom.leaves[:, a]), maps)
            width[:, a] = self._covered(a, levels[a], first, members)
        order = np.argsort(-width, axis=1, kind="stable").astype(np.int32)
        open_ = np.arange(len(first) - 1, dtype=np.int32)
        cut_parts: list[tuple[Ints, Ints]] = []  # classes and the new part of each, numbered on
        parts = 0
        for rank in range(width.shape[1]):
            column = order[open_, rank]
            can = width[open_, column] > 0
            tried, column = open_[can], column[can]
            if not len(tried):
                break
            accepted = np.zeros(len(first) - 1, dtype=bool)
            for where, columns, codes, cuts in self._alike(tried, column, cut, levels):
                labels = 1 if codes is self.positions else int(codes.max()) + 1  # cuts in two count none
                classes, into, begins = split(first, members, where, columns, codes, cuts, labels)
                tried_parts = self._classes(classes, into, int(begins[-1]))
                passing = self._passing(tried_parts)
                if publisher.given is not None:
                    passing &= self._keeping(publisher.given, tried_parts, classes, into)
                failed = np.add.reduceat(~passing, begins[:-1]) > 0
                accepted[where[~failed]] = True
                # The new parts of those accepted, numbered on from the parts made so far.
                number = np.cumsum(np.repeat(~failed, np.diff(begins))) - 1 + parts
                keep = np.repeat(~failed, first[where + 1] - first[where])
                cut_parts.append((classes[keep], number[into[keep]].astype(np.int32)))
                parts += int(np.diff(begins)[~failed].sum())
            open_ = open_[~accepted[open_]]
        uncut = np.zeros(len(first) - 1, dtype=bool)
        uncut[open_] = True
        sizes = np.diff(first)
        finished = members[np.repeat(uncut, sizes)]
        numbers = np.repeat(np.arange(len(open_), dtype=np.int32), sizes[uncut])
        if not cut_parts:
            return np.zeros(1, dtype=np.int64), members[:0], finished, numbers
        classes = np.concatenate([c for c, _ in cut_parts])
        into = np.concatenate([i for _, i in cut_parts])
        by_part = np.argsort(into, kind="stable")
        starts = np.searchsorted(into[by_part], np.arange(parts + 1)).astype(np.int64)
        return starts, classes[by_part], finished, numbers

    def _alike(self, tried: Ints, column: Ints, cut: Ints, levels: dict[int, Ints]) -> Iterator[tuple[Ints, ...]]:
        """Yield the parts to be cut in two, and those to be cut along a hierarchy, by column and level of their children.

        For each kind: the parts, the column of codes for each, the codes of all classes, and the cut for each.
        """
        if not self.maps:
            yield tried, column, self.positions, cut[tried, column]
            return
        ordered = ~np.isin(column, list(self.maps))
        if ordered.any():
            where, columns = tried[ordered], column[ordered]
            yield where, columns, self.positions, cut[where, columns]
        for a, maps in self.maps.items():
            in_column = tried[column == a]
            for level in np.unique(levels[a][in_column]).tolist():
                where = in_column[levels[a][in_column] == level]
                codes = maps[level - 1][self.bottom.leaves[:, a]][:, None].astype(np.int32)
                zeros = np.zeros(len(where), dtype=np.int32)
                yield where, zeros, np.ascontiguousarray(codes), zeros - 1

    def _covered(self, a: int, level: Ints, first: Longs, members: Ints) -> Floats:
        """Return how many leaves the lowest covering node has, but one, as a share of all but one."""
        maps = self.maps[a]
        leaves = maps.shape[1]
        under = np.array([np.bincount(labels, minlength=leaves)[labels] for labels in maps])
        first_leaf = self.bottom.leaves[members[first[:-1]], a]
        share: Floats = (under[level, first_leaf] - 1) / max(leaves - 1, 1)
        return share

    def _classes(self, classes: Ints, into: Ints, parts: int) -> Classes:
        from dalenius.kernels.mondrian import gather_cells
        from dalenius.kernels.rollup import merge_cells, merge_sizes

        base = self.bottom.base
        rep = np.zeros(parts, dtype=np.int32)
        rep[into[::-1]] = classes[::-1]
        sizes = merge_sizes(base.sizes[classes], into, parts)
        if len(self.bottom.tuples) == 1:
            zeros = np.zeros(parts, dtype=np.int32)
            return Classes(self.bottom.leaves, rep, np.arange(parts + 1, dtype=np.int64), zeros, sizes, sizes)
        begins, values, counts = gather_cells(classes, base.start, base.values, base.counts)
        start, values, counts = merge_cells(begins, values, counts, into, parts, len(self.bottom.tuples))
        return Classes(self.bottom.leaves, rep, start, values, counts, sizes)

    def _keeping(self, given: Given, parts: Classes, classes: Ints, into: Ints) -> Bools:
        """Return which parts leave enough values together with the earlier releases; everybody in one part always does."""
        owner = np.repeat(np.arange(len(parts)), np.diff(parts.start))
        bits = given.bits(owner, self.bottom.tuples[parts.values, 0], len(parts))
        return given.keeps(classes.astype(np.int64), into.astype(np.int64), bits)

    def _passing(self, classes: Classes) -> Bools:
        publisher = self.publisher
        return self.bottom.passing(classes, publisher.criteria, others_as_quasi=publisher.others_as_quasi)


def _no_solution(criteria: Sequence[Criterion], bottom: BottomClasses, whole: Classes, others: bool) -> str:
    """Return which criterion the whole table fails, and by how much."""
    reasons = []
    for criterion in criteria:
        groupings = bottom.groupings(whole) if criterion.needs_values else [bottom.sizes_only(whole)]
        if others and len(bottom.schema.sensitive) > 1:
            groupings = bottom.split_groupings(whole)
        for grouping in groupings:
            if not criterion.passes(grouping).all():
                level = criterion.level(grouping).value
                reasons.append(f"{criterion.describe()} fails: the level is {level:.6g}")
    return f"No release satisfies the criteria. With everybody in one class, {'; '.join(reasons)}. Weaken the criteria."


@dataclass(eq=False)
class PublishedMondrian(PublishedParts):
    """The parts and the release they make."""

    publisher: Mondrian

    @property
    def is_covering(self) -> bool:
        return self.publisher.cuts == "hierarchy"

    def details(self) -> dict[str, Any]:
        return {
            "cuts": self.publisher.cuts,
            "hierarchies_not_used": self._not_used(),
            "others_as_quasi": self.publisher.others_as_quasi,
        }

    def notes(self) -> tuple[tuple[str, str], ...]:
        lists = self._not_used()
        if not lists:
            return ()
        cut = "cut in the order of their values and published as lists of them; --cuts hierarchy goes along the hierarchies"
        return (("lists", f"{listing(lists)}: {cut}"),)

    def _not_used(self) -> list[str]:
        """Return categories with several levels that were cut in the order of their values, so that lists are published."""
        if self.publisher.cuts == "hierarchy":
            return []
        quasi = [column for column in self.table.schema.quasi if column.type == "category"]
        return [c.name for c in quasi if c.hierarchy is not None and c.hierarchy.height > 1]
