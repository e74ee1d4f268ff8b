"""Generalized releases (k-anonymity and kin): each group publishes a set of leaves for every quasi-identifier."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dalenius.arrays import Bools, Ints, Longs
from dalenius.coding import distinct_rows
from dalenius.engines import Engine, Source
from dalenius.errors import InputError
from dalenius.output import csv_text
from dalenius.releases import sidecar
from dalenius.releases.base import GroupCells, GroupedRelease, Regions, same_columns
from dalenius.releases.label import (
    LONG,
    Label,
    Resolver,
    Unresolved,
    label_text,
    missing_leaf,
    named_leaves,
    spelt_out,
)
from dalenius.releases.leaf_sets import LeafSets
from dalenius.releases.reading import COUNT, GROUP, Reading, check_groups
from dalenius.schema import Column, Schema

__all__ = ["Generalized", "Origin", "read"]


@dataclass(frozen=True, slots=True, eq=False)
class Generalized(GroupedRelease):
    """Group q publishes, for quasi-identifier j, the leaves `labels[j][codes[q, j]].members`.

    Labels of a column are distinct as sets and sorted by their leaves; groups are sorted by their label codes.
    """

    kind = "generalized"
    description = "A table in which each class shares labels, sets of values, for its quasi-identifiers."
    reads_tables = True
    schema: Schema
    labels: tuple[tuple[Label, ...], ...]
    codes: Ints
    sensitive: GroupCells
    origin: Origin | None = field(default=None, repr=False)
    _leaf_sets: dict[int, LeafSets] = field(default_factory=dict, init=False, repr=False)

    @property
    def groups(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Generalized):
            return NotImplemented
        return (
            same_columns(self.schema, other.schema)
            and np.array_equal(self.codes, other.codes)
            and self.sensitive == other.sensitive
            and all(
                len(a) == len(b) and all(np.array_equal(x.members, y.members) for x, y in zip(a, b, strict=True))
                for a, b in zip(self.labels, other.labels, strict=True)
            )
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_sets(
        cls,
        schema: Schema,
        sets: list[list[Ints]],
        group: Ints,
        values: Ints,
        counts: Longs,
    ) -> Generalized:
        """Build a release: `sets[q][j]` are group q's leaves of quasi-identifier j; group −1 is suppressed.

        Groups of nobody are left out. If everybody is suppressed, all are one group of which nothing is known.
        """
        index = np.empty((len(sets), len(schema.quasi)), dtype=np.int32)
        distinct: list[list[Ints]] = []
        for j in range(len(schema.quasi)):
            known: dict[bytes, int] = {}
            distinct.append([])
            for q, row in enumerate(sets):
                members = np.unique(np.asarray(row[j], dtype=np.int32))
                index[q, j] = known.setdefault(members.tobytes(), len(known))
                if index[q, j] == len(distinct[j]):
                    distinct[j].append(members)
        return cls.from_labels(schema, distinct, index, group, values, counts)

    @classmethod
    def from_labels(
        cls,
        schema: Schema,
        sets: Sequence[Sequence[Ints]],
        index: Ints,
        group: Ints,
        values: Ints,
        counts: Longs,
    ) -> Generalized:
        """The same from distinct sets: group q has `sets[j][index[q, j]]` in column j, sorted leaves without repeats."""
        values, counts = np.asarray(values, np.int32), np.asarray(counts, np.int64)
        present = np.unique(group[counts > 0])
        if len(present) and present[-1] < 0:
            sets = [[np.arange(len(column.leaves), dtype=np.int32)] for column in schema.quasi]
            group, index = np.zeros(len(group), dtype=np.int32), np.zeros((1, len(schema.quasi)), dtype=np.int32)
        else:
            place = np.full(len(index) + 1, -1, dtype=np.int32)
            place[present[present >= 0]] = np.arange((present >= 0).sum(), dtype=np.int32)
            group, index = place[group], index[present[present >= 0]]
        labels: list[list[Label]] = []
        for j, column in enumerate(schema.quasi):
            resolver = Resolver(column, schema)
            used = set(index[:, j].tolist())
            labels.append(
                [
                    Label(label_text(column, members, resolver) if i in used else "", members)
                    for i, members in enumerate(sets[j])
                ]
            )
        arranged, codes = _arrange(labels, index)
        order = np.lexsort(codes.T[::-1])
        rank = np.full(len(index) + 1, -1, dtype=np.int32)  # the last entry is that of group −1
        rank[order] = np.arange(len(index), dtype=np.int32)
        sizes = [len(column.leaves) for column in schema.sensitive]
        cells = GroupCells.gather(rank[group], values, counts, sizes)
        return cls(schema, arranged, np.ascontiguousarray(codes[order]), cells)

    @classmethod
    def open(cls, files: Sequence[Source], schema: Schema, *, engine: Engine) -> Generalized:
        return read(files[0], schema, engine=engine)

    def leaf_sets(self, attribute: int) -> LeafSets:
        """The leaves of the labels of one quasi-identifier, laid out once."""
        if attribute not in self._leaf_sets:
            members = [label.members for label in self.labels[attribute]]
            self._leaf_sets[attribute] = LeafSets.of(members, len(self.schema.quasi[attribute].leaves))
        return self._leaf_sets[attribute]

    def row_numbers(self, group: int, *, limit: int) -> list[int]:
        """Numbers of the first rows of a group in the file it was read from; none if it was not read."""
        return [] if self.origin is None else self.origin.row_numbers(group, limit=limit)

    def recoded(self, schema: Schema) -> Generalized:
        """In a wider coding, a label that covered every leaf still does."""
        labels = []
        for old, new, old_labels in zip(self.schema.quasi, schema.quasi, self.labels, strict=True):
            resolver, everything = Resolver(new, schema), np.arange(len(new.leaves), dtype=np.int32)
            labels.append(
                tuple(
                    Label(label.text, everything if len(label.members) == len(old.leaves) > 1 else wide.members)
                    for label in old_labels
                    for wide in [resolver.resolve(label.text)]
                )
            )
        sensitive = self.sensitive.recoded(self.schema.sensitive, schema.sensitive)
        return replace(self, schema=schema, labels=tuple(labels), sensitive=sensitive)

    def rows(self) -> Generalized:
        return self

    def locate(self, codes: Ints) -> list[int]:
        fits = np.ones(self.groups, dtype=bool)
        for a, labels in enumerate(self.labels):
            fits &= np.array([codes[a] in label.members for label in labels], dtype=bool)[self.codes[:, a]]
        return np.flatnonzero(fits).tolist()

    def regions(self) -> Regions:
        sets = [[label.members for label in labels] for labels in self.labels]
        return Regions(self.codes, np.arange(self.groups, dtype=np.int64), sets)

    def describe(self, group: int) -> str:
        return ", ".join(
            f"{column.name} {_brief(labels[code])}"
            for column, labels, code in zip(self.schema.quasi, self.labels, self.codes[group].tolist(), strict=True)
        )

    def write(self, name: str | Path) -> None:
        """One line for each (group, value) with its count; a `group` column only where labels are not enough."""
        names = {column.name for column in self.schema.columns}
        keyed = self.groups > 0 and len(np.unique(self.codes, axis=0)) < self.groups
        if keyed and GROUP in names:
            raise InputError(
                f"Groups with equal labels need a {GROUP!r} column, and the schema declares one. Rename that."
            )
        weighted = COUNT not in names
        header = [column.name for column in self.schema.coded]
        header = ([GROUP] if keyed else []) + header + ([COUNT] if weighted else [])
        mark = self.schema.suppressed[0] if self.schema.suppressed else None
        sensitive = self.schema.sensitive
        hidden = self._hidden()
        lines: list[list[object]] = []
        for q, values, count in zip(
            self.sensitive.group.tolist(),
            self.sensitive.codes.tolist(),
            self.sensitive.counts.tolist(),
            strict=True,
        ):
            if q < 0 and mark is None:
                raise InputError("Suppressed rows cannot be written: the schema has suppressed = [].")
            quasi: list[object] = (
                [mark] * len(self.labels)
                if q < 0
                else [
                    mark if hidden[q, j] else self.labels[j][code].text for j, code in enumerate(self.codes[q].tolist())
                ]
            )
            cells = quasi + [column.leaves[value] for column, value in zip(sensitive, values, strict=True)]
            line = ([q] if keyed else []) + cells
            lines.extend([[*line, count]] if weighted else [line] * count)
        sidecar.write(Path(name), self.kind, {Path(name): csv_text(header, lines)})

    def _hidden(self) -> Bools:
        """The cells [group, column] that are written as a mark: complete sets too long to be repeated in every line."""
        long, marks = (np.zeros(self.codes.shape, dtype=bool) for _ in range(2))
        lengths = np.zeros(len(self.labels), dtype=np.int64)
        if not self.schema.suppressed or not self.groups:
            return long
        for j, (column, labels) in enumerate(zip(self.schema.quasi, self.labels, strict=True)):
            full = [len(x.members) == len(column.leaves) and len(x.text) > LONG for x in labels]
            own = [x.text in self.schema.suppressed for x in labels]
            long[:, j], marks[:, j] = (np.array(cells)[self.codes[:, j]] for cells in (full, own))
            lengths[j] = max(len(x.text) for x in labels)
        return long & ~spelt_out(long, long | marks, lengths, self.sizes, needed=np.ones(len(lengths), dtype=bool))


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where a release was read from: finds a group's rows again by the texts that make up its labels."""

    reading: Reading = field(repr=False)
    group: Ints = field(repr=False)
    columns: tuple[str, ...]

    def row_numbers(self, group: int, *, limit: int) -> list[int]:
        in_group = self.group == group
        texts: dict[str, Collection[str]] = {
            name: {self.reading.texts(name)[code] for code in np.unique(self.reading.codes(name)[in_group])}
            for name in self.columns
        }
        return self.reading.rows.find(texts, limit=limit)


def _brief(label: Label) -> str:
    """The text, but not thousands of values."""
    return label.text if len(label.text) <= LONG else f"{label.text[:40]}… ({len(label.members):,} values)"


def read(source: Source, schema: Schema, *, engine: Engine) -> Generalized:
    """A file or frame with the table's columns, by whatever tool it was made; a raw table is a release of leaves."""
    reading = Reading.of(source, schema, engine=engine)
    bound = _bind(schema, reading)
    labels = [_resolve(column, bound, reading) for column in bound.quasi]
    is_mark = np.ones(len(reading.counts), dtype=bool)
    for column, resolved in zip(bound.quasi, labels, strict=True):
        is_mark &= np.array([label.is_mark for label in resolved])[reading.codes(column.name)]
    # Suppressed rows are no class, unless nothing else is there.
    kept = np.flatnonzero(~is_mark | is_mark.all())
    index = np.column_stack([reading.codes(column.name)[kept] for column in bound.quasi])
    arranged, codes = _arrange(labels, index)
    key, sizes = codes, [len(column) for column in arranged]
    names = tuple(column.name for column in bound.quasi)
    if reading.grouped:
        ids = reading.group_ranks(kept)
        check_groups(ids, codes, sizes, reading.where)
        key, sizes, names = np.column_stack([codes, ids]), [*sizes, int(ids.max()) + 1], (*names, GROUP)
    distinct, inverse = distinct_rows(key, sizes)
    group = np.full(len(reading.counts), -1, dtype=np.int32)
    group[kept] = inverse
    cells = reading.sensitive_cells(group, bound)
    origin = Origin(reading, group, names)
    return Generalized(bound, arranged, np.ascontiguousarray(distinct[:, : len(labels)]), cells, origin)


def _bind(schema: Schema, reading: Reading) -> Schema:
    """Fix the domains: declared leaves, or those that the release names."""
    observed: dict[str, set[str]] = {}
    for column in schema.quasi:
        observed[column.name] = set()
        for text in reading.texts(column.name):
            try:
                if column.fixed:
                    observed[column.name] |= missing_leaf(text, schema)
                else:
                    observed[column.name] |= named_leaves(column, [text], schema)
            except Unresolved as error:
                raise _misread(error, column, text, reading) from None
    for column in schema.sensitive:
        observed[column.name] = set(reading.leaves(column, schema))
    return schema.bind(observed)


def _resolve(column: Column, schema: Schema, reading: Reading) -> list[Label]:
    resolver = Resolver(column, schema)
    labels = []
    for text in reading.texts(column.name):
        try:
            labels.append(resolver.resolve(text))
        except Unresolved as error:
            raise _misread(error, column, text, reading) from None
    return labels


def _misread(error: Unresolved, column: Column, text: str, reading: Reading) -> InputError:
    return InputError(f"{reading.where}, {reading.locate(column.name, text)}, column {column.name!r}: {error}")


def _arrange(labels: Sequence[Sequence[Label]], index: Ints) -> tuple[tuple[tuple[Label, ...], ...], Ints]:
    """The distinct sets that occur, in the order of their leaves, and the code of each row's label in each column.

    Row i has label `labels[j][index[i, j]]` in column j. Of labels with equal sets the text that sorts first is kept,
    a mark only if there is no other: a class whose sets are all complete must not be written like a suppressed row.
    """
    codes = np.empty_like(index)
    arranged: list[tuple[Label, ...]] = []
    for j, column in enumerate(labels):
        present = np.unique(index[:, j]).tolist()
        keys = [_set_key(column[i]) for i in present]
        chosen: dict[int | bytes, Label] = {}
        for i, key in zip(present, keys, strict=True):
            label, other = column[i], chosen.get(key)
            if other is None or (label.is_mark, label.text) < (other.is_mark, other.text):
                chosen[key] = label
        ordered = sorted(chosen.items(), key=lambda item: _set_order(item[0], item[1]))
        position = {key: code for code, (key, _) in enumerate(ordered)}
        lookup = np.full(len(column), -1, dtype=np.int32)
        lookup[present] = [position[key] for key in keys]
        codes[:, j] = lookup[index[:, j]]
        arranged.append(tuple(Label(x.text, x.members) if x.is_mark else x for _, x in ordered))
    return tuple(arranged), codes


def _set_key(label: Label) -> int | bytes:
    """Equal for equal sets. A raw table has a label a value, millions perhaps, so single leaves are kept cheap."""
    return int(label.members[0]) if len(label.members) == 1 else label.members.tobytes()


def _set_order(key: int | bytes, label: Label) -> tuple[int, int, bytes]:
    if isinstance(key, int):
        return key, -1, b""
    members = label.members
    # Bytes of numbers with the highest byte first sort as the numbers do.
    return int(members[0]) if len(members) else -1, -len(members), members.astype(">i4").tobytes()
