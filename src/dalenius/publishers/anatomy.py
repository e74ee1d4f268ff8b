"""Quasi-identifiers and sensitive values in two tables, linked by groups of ℓ different values (Xiao 2006).

Each group takes one person of each of the ℓ most common values that are left. Those left over at the end, at most one per
value, join groups that do not have their value. Which person of a value goes where is drawn at random. The seed is never
published: with it, and the order of the quasi-identifiers, an attacker could restore much of the link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dalenius.arrays import Bools, Ints, Longs
from dalenius.criteria import Criterion, DistinctDiversity
from dalenius.engines import Assignment, TableName
from dalenius.errors import InputError, ParameterError, check_seed
from dalenius.options import Option
from dalenius.publishers.base import (
    PANEL,
    Example,
    Headcount,
    Published,
    Publisher,
    check_name_free,
    only_criterion,
    written_columns,
)
from dalenius.publishers.tally import Tally
from dalenius.releases import Anatomized, GroupCells
from dalenius.releases.anatomized import paths_of
from dalenius.releases.reading import COUNT, GROUP
from dalenius.table import Table

if TYPE_CHECKING:
    from dalenius.publishers.given import Given

__all__ = ["Anatomy", "PublishedAnatomy", "schedule"]


@dataclass(frozen=True, slots=True)
class Anatomy(Publisher):
    """The publisher: ℓ different values in every group; `merge` neighbouring groups are published as one.

    >>> from dalenius import datasets
    >>> published = Anatomy(3).publish(datasets.hospital(500, seed=1), seed=0)
    >>> int(published.release.sizes.min())
    3
    """

    name = "anatomy"
    title = "Anatomy"
    publishes = "exact quasi-identifiers and exact values, without the link between them"
    description = (
        "Publishes quasi-identifiers and sensitive values in two tables, linked by groups of ℓ different values."
    )
    options = (Option("merge", "Number of groups to publish as one (1).", int, panel=PANEL),)
    keeps = (DistinctDiversity,)
    example = Example((DistinctDiversity(2),))
    is_drawn = True
    takes_seed = True
    l: int  # noqa: E741 - the literature's letter
    merge: int = 1
    given: Given | None = None  # earlier releases; groups that leave too few values with them are merged

    def __post_init__(self) -> None:
        if isinstance(self.l, bool) or not isinstance(self.l, int) or self.l < 2:
            raise ParameterError("l", "Anatomy", "an int ≥ 2", self.l)
        if isinstance(self.merge, bool) or not isinstance(self.merge, int) or self.merge < 1:
            raise ParameterError("merge", "Anatomy", "an int ≥ 1", self.merge)

    @classmethod
    def from_options(cls, criteria: Sequence[Criterion], chosen: Mapping[str, Any]) -> Self:
        return cls(only_criterion(criteria, DistinctDiversity, "ℓ", cls.name, "--l 3").l, **chosen)

    @classmethod
    def files(cls, path: Path) -> tuple[Path, ...]:
        return paths_of(path)

    def promises(self) -> tuple[str, ...]:
        return (f"distinct ℓ = {self.l}",)

    def publish(self, table: Table, *, seed: int | None = None) -> PublishedAnatomy:
        """Put everybody into a group. Without a seed nobody can repeat the draw, which is right for a release."""
        if seed is not None:
            check_seed(seed, "Anatomy")
        cells = table.cells()
        sensitive = cells.schema.sensitive
        if len(sensitive) > 1:
            raise InputError(
                f"Anatomy separates one sensitive column, and {table.declared.source} has {len(sensitive)}. Publish "
                'one at a time and give the others role = "identifier", which is dropped; "other" would publish them as they are.'
            )
        check_name_free(GROUP, table.declared, "Anatomy")
        counts = np.bincount(cells.codes[:, -1], weights=cells.counts, minlength=len(sensitive[0].leaves)).astype(
            np.int64
        )
        rng = np.random.default_rng(seed)
        people, groups = schedule(counts, self.l, rng)
        if self.merge > groups:
            raise InputError(f"--merge {self.merge} is larger than the number of groups, {groups:,}.")
        cell, drawn = _drawn(cells.codes[:, -1], cells.counts, people, rng)
        # So many neighbouring groups are one; a last handful of fewer joins the one before it.
        group = np.minimum(drawn // self.merge, groups // self.merge - 1).astype(np.int32)
        if self.given is not None:
            from dalenius.publishers.given import joined

            self.given.check_table(table)
            group = joined(self.given, cells.codes[cell], group, _next)
        return PublishedAnatomy(self, table, cell, group)


def _next(group: int, others: Bools) -> int:
    """Return the first of the groups after this one, and after the last the first."""
    after = int(np.argmax(others[group + 1 :])) + group + 1 if group + 1 < len(others) else 0
    return after if others[after] else int(np.argmax(others))


def schedule(counts: Longs, l: int, rng: np.random.Generator) -> tuple[list[Longs], int]:  # noqa: E741
    """Return for each value the groups its people go to, one each, and the number of groups."""
    from dalenius.kernels.anatomy import largest_first  # compiled code, which `--help` can do without

    total, most = int(counts.sum()), int(counts.max())
    possible = total // most
    if l > possible:
        raise InputError(
            f"ℓ = {l} is not possible: the most common value has {most:,} of {total:,} people, and no group may have two of "
            f"them. The largest possible ℓ is {possible}." + (" Anatomy needs at least 2." if possible < 2 else "")
        )
    order = np.lexsort((np.arange(len(counts)), -counts))
    taken, left = largest_first(counts[order], order, l)
    groups = len(taken) // l
    place = np.repeat(np.arange(groups, dtype=np.int64), l)
    by_value = np.argsort(taken, kind="stable")
    starts = np.searchsorted(taken[by_value], np.arange(len(counts) + 1))
    people = [place[by_value[starts[s] : starts[s + 1]]] for s in range(len(counts))]
    for value, chosen in _assign_left_over(np.repeat(np.arange(len(counts)), left).tolist(), people, groups, rng):
        people[value] = np.append(people[value], chosen)
    return people, groups


def _assign_left_over(
    values: list[int], people: list[Longs], groups: int, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Return a group for each person left over: one without their value, and distinct groups as far as possible.

    If all their groups are taken, others move on to make room (augmenting paths).
    """
    wanted = {value: np.setdiff1d(np.arange(groups), people[value]) for value in values}
    holder: dict[int, int] = {}  # group → value

    def settle(value: int, tried: set[int]) -> bool:
        start = int(rng.integers(len(wanted[value])))
        for group in np.roll(wanted[value], -start).tolist():
            if group in tried:
                continue
            tried.add(group)
            if group not in holder or settle(holder[group], tried):
                holder[group] = value
                return True
        return False

    crowded = [value for value in values if not settle(value, set())]
    settled = [(value, group) for group, value in holder.items()]
    return settled + [(value, int(rng.choice(wanted[value]))) for value in crowded]


def _drawn(values: Ints, counts: Longs, people: list[Longs], rng: np.random.Generator) -> tuple[Longs, Ints]:
    """Return the cell of every person and the group drawn for them, cell by cell."""
    cell = np.repeat(np.arange(len(counts)), counts)
    by_value = np.argsort(values[cell], kind="stable")
    group = np.empty(len(cell), dtype=np.int32)
    group[by_value] = np.concatenate([rng.permutation(places) for places in people])
    return cell, group


@dataclass(eq=False)
class PublishedAnatomy(Published):
    """Everybody's group, and the release it makes."""

    kind = Anatomized.kind
    publisher: Anatomy
    table: Table
    cell: Longs = field(repr=False)  # of each person, ascending
    group: Ints = field(repr=False)

    @cached_property
    def release(self) -> Anatomized:
        cells = self.table.cells()
        m = len(cells.schema.quasi)
        codes = cells.codes[self.cell]
        ones = np.ones(len(self.cell), dtype=np.int64)
        sizes = [len(column.leaves) for column in cells.schema.coded]
        return Anatomized(
            cells.schema,
            GroupCells.gather(self.group, codes[:, :m], ones, sizes[:m]),
            GroupCells.gather(self.group, codes[:, m:], ones, sizes[m:]),
        )

    def people_in_groups(self) -> tuple[Ints, Longs, Ints]:
        return self.table.cells().codes[self.cell], np.ones(len(self.cell), dtype=np.int64), self.group

    def headcount(self) -> Headcount:
        return Headcount(len(self.cell), int(self.group.max()) + 1)

    def details(self) -> dict[str, Any]:
        return {"l": self.publisher.l, "merge": self.publisher.merge}

    def _write_rows(self, targets: Sequence[Path | TableName], *, shuffle: bool) -> None:
        cells, texts = self.table.cells(), self.table.texts()
        schema = cells.schema
        target = schema.sensitive[0]
        first = np.searchsorted(self.cell, np.arange(len(cells)))
        nth = np.arange(len(self.cell)) - first[self.cell]  # the how-manieth person of their cell
        plan = Assignment(
            tuple(name for name in written_columns(self.table) if name != target.name),
            {column.name: texts[column.name] for column in schema.coded},
            cells.codes[self.cell],
            self.group,
            {},
            index=nth,
            number=GROUP,
            shuffle=shuffle,
            tallies=[self._tally()],
        )
        assert isinstance(targets[1], Path)
        self.table.rows.write(plan, targets[0])
        sensitive = self.release.sensitive
        columns: dict[str, Any] = {
            GROUP: sensitive.group,
            target.name: np.array(target.leaves, dtype=object)[sensitive.codes[:, 0]],
        }
        if COUNT in {column.name.casefold() for column in schema.columns}:  # the name is taken: one line per person
            columns = {name: np.repeat(column, sensitive.counts) for name, column in columns.items()}
        else:
            columns[COUNT] = sensitive.counts
        self.table.engine.save(columns, targets[1])

    def _tally(self) -> Tally:
        """Return what was decided: the quasi-identifiers of each group.

        That the sensitive values are those of the same people needs no count. Each row is put into its group by all its
        values, and one that has others than were counted gets none.
        """
        quasi, texts = self.release.quasi, self.table.texts()
        groups = {GROUP: {str(q): q for q in range(self.release.groups)}}
        known = {column.name: texts[column.name] for column in self.table.schema.quasi}
        rows = np.column_stack([quasi.group, quasi.codes]).astype(np.int32)
        return Tally({**groups, **known}, rows, quasi.counts)
