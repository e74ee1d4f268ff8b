"""Anatomized releases: exact quasi-identifiers and exact sensitive values of each group, the link between them cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dalenius.arrays import Ints
from dalenius.engines import Engine, Source
from dalenius.errors import InputError, nearest
from dalenius.output import csv_text
from dalenius.releases import sidecar
from dalenius.releases.base import GroupCells, GroupedRelease, Regions, same_columns
from dalenius.releases.files import FileNames, as_path
from dalenius.releases.reading import COUNT, GROUP, Reading, rank_ids
from dalenius.schema import Schema

__all__ = ["Anatomized", "paths_of", "read"]


@dataclass(frozen=True, slots=True, eq=False)
class Anatomized(GroupedRelease):
    """`quasi` holds each group's multiset of quasi-identifier tuples, `sensitive` its multiset of values.

    `ids` are the groups' names in the file they were read from; without them a group's name is its number.
    """

    kind = "anatomized"
    description = "Two tables, of quasi-identifiers and of sensitive values, that share only the number of a group."
    file_names = FileNames((".quasi*", ".sensitive*"), is_joined=True)
    schema: Schema
    quasi: GroupCells
    sensitive: GroupCells
    ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for cells in (self.quasi, self.sensitive):
            if (cells.group < 0).any():
                raise InputError("An anatomized release has no suppressed rows.")
        if _sizes(self.quasi) != _sizes(self.sensitive):
            raise InputError("The groups of the quasi-identifiers and of the sensitive values differ in size.")
        if 0 in _sizes(self.sensitive):
            raise InputError("A group of an anatomized release is empty.")

    @property
    def groups(self) -> int:
        return int(self.sensitive.group.max(initial=-1)) + 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Anatomized):
            return NotImplemented
        return (
            same_columns(self.schema, other.schema) and self.quasi == other.quasi and self.sensitive == other.sensitive
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def open(cls, files: Sequence[Source], schema: Schema, *, engine: Engine) -> Anatomized:
        return read((as_path(files[0]), as_path(files[1])), schema, engine=engine)

    def group_numbers(self) -> dict[str, int]:
        """The number of the group of each name."""
        return {name: q for q, name in enumerate(self.ids or map(str, range(self.groups)))}

    def recoded(self, schema: Schema) -> Anatomized:
        quasi = self.quasi.recoded(self.schema.quasi, schema.quasi)
        sensitive = self.sensitive.recoded(self.schema.sensitive, schema.sensitive)
        return replace(self, schema=schema, quasi=quasi, sensitive=sensitive)

    def links(self) -> Anatomized:
        return self

    def locate(self, codes: Ints) -> list[int]:
        groups: list[int] = np.unique(self.quasi.group[(self.quasi.codes == codes).all(axis=1)]).tolist()
        return groups

    def regions(self) -> Regions:
        leaves = [
            [np.array([leaf], dtype=np.int32) for leaf in range(len(column.leaves))] for column in self.schema.quasi
        ]
        return Regions(self.quasi.codes, self.quasi.group.astype(np.int64), leaves)

    def write(self, name: str | Path) -> None:
        """Return `NAME.quasi.csv`, one line per person, and `NAME.sensitive.csv`, one line per group and value with its count."""
        if GROUP in {column.name for column in self.schema.columns}:
            raise InputError(f"An anatomized release needs a column {GROUP!r}, which the schema declares. Rename it.")
        weighted = COUNT not in {column.name for column in self.schema.columns}
        lines: list[list[list[object]]] = [[], []]
        for i, (cells, columns) in enumerate(
            [(self.quasi, self.schema.quasi), (self.sensitive, self.schema.sensitive)]
        ):
            for q, codes, count in zip(cells.group.tolist(), cells.codes.tolist(), cells.counts.tolist(), strict=True):
                line: list[object] = [
                    q,
                    *(column.leaves[code] for column, code in zip(columns, codes, strict=True)),
                ]
                lines[i].extend([[*line, count]] if i == 1 and weighted else [line] * count)
        quasi = [GROUP, *(column.name for column in self.schema.quasi)]
        sensitive = [
            GROUP,
            *(column.name for column in self.schema.sensitive),
            *([COUNT] if weighted else []),
        ]
        first, second = paths_of(name)
        texts = {first: csv_text(quasi, lines[0]), second: csv_text(sensitive, lines[1])}
        sidecar.write(Path(name), self.kind, texts)


def _sizes(cells: GroupCells) -> list[int]:
    return np.bincount(cells.group, weights=cells.counts).astype(int).tolist() if len(cells.group) else []


def paths_of(name: str | Path, ending: str = ".csv") -> tuple[Path, Path]:
    """The two files of a release by its NAME."""
    quasi, sensitive = Anatomized.file_names.of(name, ending)
    return quasi, sensitive


def read(files: tuple[Path, Path], schema: Schema, *, engine: Engine) -> Anatomized:
    """The two files: `group` and the quasi-identifiers; `group`, the sensitive columns and perhaps `count`."""
    declared = {column.name for column in schema.columns}
    if GROUP in declared:
        raise InputError(
            f"An anatomized release needs a column {GROUP!r} of its own, and {schema.source} declares one. Rename that."
        )
    readings = []
    for path, columns in zip(files, (schema.quasi, schema.sensitive), strict=True):
        rows = engine.open(path)
        names = [column.name for column in columns]
        for name in [GROUP, *names]:
            if name not in rows.columns:
                raise InputError(f"{rows.name}: the column {name!r} of an anatomized release is missing.")
        for name in rows.columns:
            if name not in declared and name not in (GROUP, COUNT):
                raise InputError(
                    f"{rows.name}: column {name!r} is not declared in {schema.source}."
                    f"{nearest(name, declared - set(rows.columns))}"
                )
        weighted = COUNT in rows.columns and COUNT not in declared
        readings.append(Reading.counting(rows, [GROUP, *names, *([COUNT] if weighted else [])], weighted=weighted))
    observed = {
        column.name: reading.leaves(column, schema)
        for reading, columns in zip(readings, (schema.quasi, schema.sensitive), strict=True)
        for column in columns
    }
    bound = schema.bind(observed)
    ids = sorted({text for reading in readings for text in reading.group_ids()})  # not those of lines of count 0
    rank = dict(zip(ids, rank_ids(ids).tolist(), strict=True))
    cells = []
    for reading, columns in zip(readings, (bound.quasi, bound.sensitive), strict=True):
        group = np.array([rank.get(text, -1) for text in reading.texts(GROUP)], dtype=np.int32)[reading.codes(GROUP)]
        codes = np.column_stack([reading.leaf_codes(column, bound) for column in columns])
        cells.append(GroupCells.gather(group, codes, reading.counts, [len(column.leaves) for column in columns]))
    names = sorted(ids, key=rank.__getitem__)
    _check_sizes(cells[0], cells[1], names, files)
    return Anatomized(bound, cells[0], cells[1], tuple(names))


def _check_sizes(quasi: GroupCells, sensitive: GroupCells, ids: list[str], files: tuple[Path, Path]) -> None:
    counts = [
        np.bincount(cells.group, weights=cells.counts, minlength=len(ids)).astype(int) for cells in (quasi, sensitive)
    ]
    differ = np.flatnonzero(counts[0] != counts[1])
    if len(differ):
        q = int(differ[0])
        raise InputError(
            f"Group {ids[q]!r} has {counts[0][q]} people in {files[0].name} and {counts[1][q]} sensitive values in "
            f"{files[1].name}; both files must tell of the same people."
        )
