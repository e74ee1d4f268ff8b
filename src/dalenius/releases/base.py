"""What all releases share: they are frozen data, and grouped ones answer with counts per group and value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dalenius.arrays import Ints, Longs, read_only
from dalenius.coding import distinct_rows, merge
from dalenius.engines import Engine, Source
from dalenius.errors import InputError, counted, nearest
from dalenius.releases.evidence import SHAPES, Shape
from dalenius.releases.files import FileNames
from dalenius.reprs import named, short_repr
from dalenius.schema import Column, Schema

if TYPE_CHECKING:
    from dalenius.releases.anatomized import Anatomized
    from dalenius.releases.centroids import Centroids
    from dalenius.releases.generalized import Generalized
    from dalenius.releases.noisy_counts import NoisyCounts

__all__ = ["GroupCells", "GroupedRelease", "Grouping", "Regions", "Release", "same_columns", "wider_codes"]


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Counts n(q, s) of one sensitive column: group q holds `counts[start[q]:start[q+1]]` of `values[…]`.

    `table` counts every row of the release, suppressed ones included; `suppressed` says how many those are.
    """

    column: Column
    start: Longs
    values: Ints
    counts: Longs
    table: Longs
    suppressed: int
    parent: Ints | None = None

    def __repr__(self) -> str:
        people = counted(int(self.counts.sum()), "person", "people")
        title = f"Grouping of {self.column.name}: {people} in {counted(self.groups, 'class', 'classes')}"
        return short_repr(f"{title}, {self.suppressed:,} suppressed")

    @property
    def groups(self) -> int:
        return len(self.start) - 1

    @property
    def sizes(self) -> Longs:
        """n(q), the number of people in each group."""
        if len(self.counts) == 0:
            return np.zeros(self.groups, dtype=np.int64)
        return np.add.reduceat(self.counts, self.start[:-1])

    def read_only(self) -> Grouping:
        """Make the arrays read-only, because several callers share a cached grouping; return the grouping."""
        for array in (self.start, self.values, self.counts, self.table, self.parent):
            if array is not None:
                read_only(array)
        return self


@dataclass(frozen=True, slots=True, eq=False)
class GroupCells:
    """Distinct (group, codes…) with counts, sorted. Group −1 holds the suppressed rows."""

    group: Ints
    codes: Ints
    counts: Longs
    _groupings: dict[tuple[int, int, bool], tuple[Schema, Grouping]] = field(
        default_factory=dict, init=False, repr=False
    )
    _sizes: dict[int, Longs] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def gather(cls, group: Ints, codes: Ints, counts: Longs, sizes: list[int]) -> GroupCells:
        """Sort, add up equal rows and drop empty ones."""
        groups = int(group.max(initial=-1)) + 2
        rows = np.column_stack([group + 1, codes]).astype(np.int32)
        merged, total = merge(rows, counts, [groups, *sizes])
        kept = total > 0
        codes = np.ascontiguousarray(merged[kept, 1:])
        return cls(read_only(merged[kept, 0] - 1), read_only(codes), read_only(total[kept]))

    def __repr__(self) -> str:
        rows = counted(len(self.counts), "distinct row", "distinct rows")
        return short_repr(
            f"GroupCells: {rows} of {counted(self.codes.shape[1], 'column', 'columns')}, {self.people:,} people"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupCells):
            return NotImplemented
        return (
            np.array_equal(self.group, other.group)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def people(self) -> int:
        return int(self.counts.sum())

    def sizes(self, groups: int) -> Longs:
        """Return the number of people in each group, counted once."""
        if groups not in self._sizes:
            kept = self.group >= 0
            sizes = np.bincount(self.group[kept], weights=self.counts[kept], minlength=groups)
            self._sizes[groups] = read_only(sizes.astype(np.int64))
        return self._sizes[groups]

    def recoded(self, old: Sequence[Column], new: Sequence[Column]) -> GroupCells:
        """The same cells with their codes in wider domains of the columns."""
        codes = np.empty_like(self.codes)
        for j, (before, after) in enumerate(zip(old, new, strict=True)):
            codes[:, j] = wider_codes(before, after)[self.codes[:, j]]
        return GroupCells.gather(self.group, codes, self.counts, [len(column.leaves) for column in new])


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Where the groups of a release may be: region i is the set `sets[a][codes[i, a]]` in each quasi-identifier a, and belongs
    to group `owner[i]`.
    """

    codes: Ints
    owner: Longs
    sets: list[list[Ints]]

    def __repr__(self) -> str:
        return short_repr(f"Regions: {len(self.codes):,} of {counted(len(self.sets), 'column', 'columns')}")


class Release(ABC):
    """What the world sees. Subclasses are frozen data that describe themselves: `KINDS` (registry.py) lists them.

    A release states which evidence it offers (evidence.py). Each method of that name returns one shape of evidence, or None if the
    release does not offer it. Criteria, adversaries and measures look at evidence and never ask for the class of a release. A new
    kind may return itself, or the same information as the frozen data of another kind.
    """

    __slots__ = ()
    kind: ClassVar[str]  # its name in sidecars, in `--kind` and in JSON
    description: ClassVar[str]  # one sentence for whoever chooses a kind
    file_names: ClassVar[FileNames] = FileNames()  # one file of any name
    reads_tables: ClassVar[bool] = False  # whether a frame, or a table of an engine, can be read as this kind
    schema: Schema  # of the columns it is about; a channel has none

    def __init_subclass__(cls) -> None:
        """Give every kind the short repr: one that a dataclass makes itself would print arrays and values of people."""
        super().__init_subclass__()
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Release.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        schema: Schema | None = getattr(self, "schema", None)
        roles = () if schema is None else ("quasi", "sensitive")
        names = [
            named(role, [column.name for column in schema.coded if column.role == role]) for role in roles if schema
        ]
        return short_repr(f"{type(self).__name__}, a release of kind {self.kind}{self._extent()}", *names)

    def _extent(self) -> str:
        """Return how many people and classes there are, for `__repr__`."""
        classes = self.classes()
        if classes is None:
            return ""
        people = f"{counted(classes.people, 'person', 'people')} in {counted(classes.groups, 'class', 'classes')}"
        return f": {people}, {classes.suppressed:,} suppressed"

    @classmethod
    def open(cls, files: Sequence[Source], schema: Schema, *, engine: Engine) -> Release:  # noqa: ARG003 - for kinds
        """Read a release from its files, in the order of `file_names`, or from a frame or a table of the engine."""
        raise InputError(f"A release of kind {cls.kind!r} is not read from files.")

    def write(self, name: str | Path) -> None:  # noqa: ARG002 - for kinds
        """Write the files of the release NAME, with a sidecar that says the kind, so that `open` reads back an equal one."""
        raise InputError(f"A release of kind {self.kind!r} cannot be written.")

    def recoded(self, schema: Schema) -> Release:  # noqa: ARG002 - for kinds
        """The same release in a wider coding: a bound schema that has every value of its own, and more."""
        raise InputError(
            f"The people have values that the release of kind {self.kind!r} does not know. Declare the columns' "
            "domains, or write the release to a file and name that."
        )

    @classmethod
    def from_rows(cls, rows: Generalized) -> Release:  # noqa: ARG003 - for kinds
        """The release of this kind that says the same as these rows. The contract suite tries a plug-in's kind with it."""
        raise InputError(f"A release of kind {cls.kind!r} cannot be made of generalized rows.")

    @classmethod
    def offers(cls) -> tuple[Shape, ...]:
        """The shapes of evidence that releases of this kind offer."""
        return tuple(shape for shape in SHAPES if getattr(cls, shape) is not getattr(Release, shape))

    def classes(self) -> GroupedRelease | None:
        """Groups of people with counts per sensitive value."""
        return None

    def rows(self) -> Generalized | None:
        """Independent rows, each with the set of leaves that it may have in each quasi-identifier."""
        return None

    def links(self) -> Anatomized | None:
        """Groups of exact tuples and of values whose link has been cut."""
        return None

    def centres(self) -> Centroids | None:
        """Groups that are described by a point, without borders."""
        return None

    def counts(self) -> NoisyCounts | None:
        """Numbers that are linear in the table, with their noise."""
        return None

    def draws(self) -> Generalized | None:
        """Rows that belong to nobody, drawn from a model of the table."""
        return None

    def borders(self) -> Generalized | Anatomized | None:
        """Rows or links, the evidence that says where each group ends, so that a person can be placed; None of centroids."""
        rows = self.rows()
        return self.links() if rows is None else rows


class GroupedRelease(Release):
    """A release of groups, each with its multiset of sensitive values: what criteria and most attacks start from."""

    __slots__ = ()
    schema: Schema
    sensitive: GroupCells

    @property
    @abstractmethod
    def groups(self) -> int:
        """The number of groups; suppressed rows are none."""

    @property
    def people(self) -> int:
        """Everybody in the release, suppressed rows included."""
        return self.sensitive.people

    @property
    def suppressed(self) -> int:
        """Rows of which no quasi-identifier is published; sensitive and `other` columns are."""
        return int(self.sensitive.counts[self.sensitive.group < 0].sum())

    @property
    def sizes(self) -> Longs:
        """The number of people in each group; counted once."""
        return self.sensitive.sizes(self.groups)

    def classes(self) -> GroupedRelease:
        return self

    def row_numbers(self, group: int, *, limit: int) -> list[int]:  # noqa: ARG002 - only some kinds know
        """Numbers of the first rows of a group in the file it was read from; none where that cannot be known."""
        return []

    def locate(self, codes: Ints) -> list[int]:  # noqa: ARG002 - only some kinds know
        """The groups that a person with these leaf codes fits."""
        return []

    def regions(self) -> Regions | None:
        """Where each group may be; nothing if the release does not say where a group ends."""
        return None

    def describe(self, group: int) -> str:
        """What the release says of a group, for those who may see it."""
        return f"group {group}"

    def grouping(self, column: str | None = None, *, others_as_quasi: bool = False) -> Grouping:
        """Counts per group and value of one sensitive column; with a single one it need not be named.

        With `others_as_quasi` the attacker knows the other sensitive columns: they split the groups, and `parent` says
        which group each part belongs to.
        """
        index = self._sensitive_index(column)
        split = others_as_quasi and len(self.schema.sensitive) > 1
        kept, place = self.sensitive._groupings, (self.groups, index, split)
        if place not in kept or kept[place][0] is not self.schema:
            grouping = self._split_grouping(index) if split else self._whole_grouping(index)
            kept[place] = self.schema, grouping.read_only()
        return kept[place][1]

    def _whole_grouping(self, index: int) -> Grouping:
        cells = self.sensitive
        target = self.schema.sensitive[index]
        leaves = len(target.leaves)
        rows = np.column_stack([cells.group + 1, cells.codes[:, index]]).astype(np.int32)
        merged, counts = merge(rows, cells.counts, [self.groups + 1, leaves])
        table = np.bincount(merged[:, 1], weights=counts, minlength=leaves).astype(np.int64)
        kept = merged[:, 0] > 0
        group = merged[kept, 0] - 1
        start = np.searchsorted(group, np.arange(self.groups + 1)).astype(np.int64)
        return Grouping(target, start, merged[kept, 1], counts[kept], table, int(counts[~kept].sum()))

    def suppressed_grouping(self, column: str | None = None, *, others_as_quasi: bool = False) -> Grouping | None:
        """The suppressed rows as one group, in a table of everybody; None if there are none.

        Whoever fits no group is among them, so that they tell values as a group does.
        """
        if not self.suppressed:
            return None
        whole, cells = self.grouping(column).table, self.sensitive
        gone = cells.group < 0
        together = _Together(self.schema, GroupCells(cells.group[gone] + 1, cells.codes[gone], cells.counts[gone]))
        return replace(together.grouping(column, others_as_quasi=others_as_quasi), table=whole)

    def _split_grouping(self, index: int) -> Grouping:
        cells = self.sensitive
        target = self.schema.sensitive[index]
        leaves = len(target.leaves)
        others = np.delete(cells.codes, index, axis=1)
        sizes = [len(c.leaves) for j, c in enumerate(self.schema.sensitive) if j != index]
        kept = cells.group >= 0
        parts, number = distinct_rows(np.column_stack([cells.group, others])[kept], [self.groups, *sizes])
        rows = np.column_stack([number, cells.codes[kept, index]]).astype(np.int32)
        merged, counts = merge(rows, cells.counts[kept], [len(parts), leaves])
        table = np.bincount(cells.codes[:, index], weights=cells.counts, minlength=leaves).astype(np.int64)
        start = np.searchsorted(merged[:, 0], np.arange(len(parts) + 1)).astype(np.int64)
        return Grouping(target, start, merged[:, 1], counts, table, self.suppressed, parts[:, 0])

    def _sensitive_index(self, column: str | None) -> int:
        names = [c.name for c in self.schema.sensitive]
        if column is None:
            if len(names) > 1:
                raise InputError(f"There are several sensitive columns; name one of {', '.join(names)}.")
            return 0
        if column not in names:
            raise InputError(f"{column!r} is not a sensitive column.{nearest(column, names)}")
        return names.index(column)


@dataclass(frozen=True, slots=True, eq=False)
class _Together(GroupedRelease):
    """Everybody in one group."""

    kind = "together"
    schema: Schema
    sensitive: GroupCells

    @property
    def groups(self) -> int:
        return 1


def wider_codes(old: Column, new: Column) -> Ints:
    """The code in a wider domain of each leaf of a column."""
    place = {leaf: code for code, leaf in enumerate(new.leaves)}
    return np.array([place[leaf] for leaf in old.leaves], dtype=np.int32)


def same_columns(first: Schema, second: Schema) -> bool:
    """Whether two bound schemas code their quasi and sensitive columns alike."""
    return [(c.name, c.role, c.leaves) for c in first.coded] == [(c.name, c.role, c.leaves) for c in second.coded]
