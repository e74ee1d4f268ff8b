"""A kind of release in one file, `NAME.pivot.csv`: the labels of each class, and how many of its people have each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dalenius.engines import Engine, Source
from dalenius.errors import InputError
from dalenius.output import csv_text
from dalenius.releases import FileNames, Generalized, Release, sidecar
from dalenius.schema import Schema


@dataclass(frozen=True, slots=True)
class Pivot(Release):
    """The evidence is the equivalent generalized release, `table`, which serves as both classes and rows."""

    kind = "pivot"
    description = "A line for each class, with the number of its people who have each sensitive value."
    file_names = FileNames((".pivot*",))
    schema: Schema = field(compare=False)
    table: Generalized

    def rows(self) -> Generalized:
        return self.table

    classes = rows  # a generalized release is grouped, too

    @classmethod
    def open(cls, files: Sequence[Source], schema: Schema, *, engine: Engine) -> Pivot:
        lines, quasi = engine.open(files[0]), [column.name for column in schema.quasi]
        values = [name for name in lines.columns if name not in quasi]
        if set(quasi) - set(lines.columns) or not values or len(schema.sensitive) != 1:
            raise InputError(f"{lines.name}: a pivot has quasi-identifiers, and the values of a sensitive column.")
        cells = []  # one for each class and value, as a generalized release has them
        for line in lines.read([*quasi, *values]):
            cells += [(*line[: len(quasi)], *pair) for pair in zip(values, line[len(quasi) :], strict=True)]
        frame = dict(zip([*quasi, schema.sensitive[0].name, "count"], zip(*cells, strict=True), strict=True))
        return cls.from_rows(Generalized.open([frame], schema, engine=engine))

    @classmethod
    def from_rows(cls, rows: Generalized) -> Pivot:
        return cls(rows.schema, rows)

    def recoded(self, schema: Schema) -> Pivot:
        return Pivot.from_rows(self.table.recoded(schema))

    def write(self, name: str | Path) -> None:
        values, said = self.schema.sensitive[0].leaves, self.table.sensitive
        counts = {q: [0] * len(values) for q in said.group.tolist()}  # −1 holds the suppressed rows
        for q, (code,), count in zip(said.group.tolist(), said.codes.tolist(), said.counts.tolist(), strict=True):
            counts[q][code] = count
        lines: list[list[object]] = []
        for q, numbers in counts.items():
            labels = [own[code].text for own, code in zip(self.table.labels, self.table.codes[q], strict=True)]
            lines.append([*(labels if q >= 0 else self.schema.suppressed[:1] * len(labels)), *numbers])
        text = csv_text([*(column.name for column in self.schema.quasi), *values], lines)
        sidecar.write(Path(name), self.kind, {Path(name): text})
