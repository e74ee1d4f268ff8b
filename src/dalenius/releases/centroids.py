"""Microaggregated releases: each group publishes one point, its centroid, instead of sets of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dalenius.arrays import Floats, Ints, Longs
from dalenius.coding import distinct_rows
from dalenius.engines import Engine, Source
from dalenius.errors import InputError
from dalenius.hierarchy import MISSING
from dalenius.output import csv_text
from dalenius.releases import sidecar
from dalenius.releases.base import GroupCells, GroupedRelease, same_columns, wider_codes
from dalenius.releases.reading import COUNT, GROUP, Reading, check_groups, plain_number
from dalenius.schema import Column, Schema

__all__ = ["Centroids", "point_text", "read"]


@dataclass(frozen=True, slots=True, eq=False)
class Centroids(GroupedRelease):
    """`points[q, j]` is group q's mean of an integer quasi-identifier (nan: missing), or a category's leaf code."""

    kind = "centroids"
    description = "A table in which each class publishes one point, its centroid, for its quasi-identifiers."
    reads_tables = True
    schema: Schema
    points: Floats
    sensitive: GroupCells

    def __post_init__(self) -> None:
        if not np.array_equal(np.unique(self.sensitive.group), np.arange(len(self.points))):
            raise InputError("Centroids need a point for each group, people in each group, and no suppressed rows.")

    @property
    def groups(self) -> int:
        return len(self.points)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Centroids):
            return NotImplemented
        return (
            same_columns(self.schema, other.schema)
            and np.array_equal(self.points, other.points, equal_nan=True)
            and self.sensitive == other.sensitive
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def open(cls, files: Sequence[Source], schema: Schema, *, engine: Engine) -> Centroids:
        return read(files[0], schema, engine=engine)

    def recoded(self, schema: Schema) -> Centroids:
        points = self.points.copy()
        for a, (old, new) in enumerate(zip(self.schema.quasi, schema.quasi, strict=True)):
            if old.type != "integer":  # means are numbers, and stay
                points[:, a] = wider_codes(old, new)[points[:, a].astype(np.int64)]
        sensitive = self.sensitive.recoded(self.schema.sensitive, schema.sensitive)
        return replace(self, schema=schema, points=points, sensitive=sensitive)

    def centres(self) -> Centroids:
        return self

    def leaves(self) -> Ints:
        """The centroids as leaf codes: a mean is the nearest number of the domain, the smaller of two that are as near."""
        codes = np.empty(self.points.shape, dtype=np.int32)
        for a, column in enumerate(self.schema.quasi):
            points = self.points[:, a]
            if column.type != "integer":
                codes[:, a] = points
                continue
            assert column.domain is not None
            missing = column.leaves.index(MISSING) if MISSING in column.leaves else 0
            codes[:, a] = np.where(np.isnan(points), missing, _nearest(points, column.domain.values()))
        return codes

    def write(self, name: str | Path) -> None:
        """A line for each (group, value) with its count; a sidecar says that these are centroids."""
        path = Path(name)
        names = {column.name for column in self.schema.columns}
        if {GROUP, COUNT} & names:
            raise InputError("Centroids need the columns 'group' and 'count', which the schema declares. Rename them.")
        header = [GROUP, *(column.name for column in self.schema.coded), COUNT]
        lines: list[list[object]] = []
        for q, values, count in zip(
            self.sensitive.group.tolist(),
            self.sensitive.codes.tolist(),
            self.sensitive.counts.tolist(),
            strict=True,
        ):
            cells: list[object] = [
                point_text(point, column, self.schema) if column.type == "integer" else column.leaves[int(point)]
                for column, point in zip(self.schema.quasi, self.points[q].tolist(), strict=True)
            ]
            cells += [column.leaves[value] for column, value in zip(self.schema.sensitive, values, strict=True)]
            lines.append([q, *cells, count])
        sidecar.write(path, self.kind, {path: csv_text(header, lines)})


def _nearest(points: Floats, values: Floats) -> Longs:
    """Which number is nearest to each point, the smaller of two that are as near."""
    order = np.argsort(values, kind="stable")[: int((~np.isnan(values)).sum())]  # nan comes last
    numbers = values[order]
    above = np.searchsorted(numbers, points).clip(0, len(numbers) - 1)
    below = np.maximum(above - 1, 0)
    nearer = np.where(np.abs(numbers[above] - points) < np.abs(points - numbers[below]), above, below)
    places: Longs = order[nearer]
    return places


def point_text(point: float, column: Column, schema: Schema) -> str:
    """How the mean of an integer column is written: `99`, or `99.0` where `99` marks a missing value."""
    if math.isnan(point):
        return MISSING
    number = repr(float(point))
    for text in (number.removesuffix(".0"), number):
        if text not in schema.missing:
            return text
    raise InputError(
        f"The mean {number} of column {column.name!r} would be read as a missing value: {schema.source} has it among "
        "missing = […]. Leave that mark out, or publish ranges."
    )


def read(source: Source, schema: Schema, *, engine: Engine) -> Centroids:
    """Equal centroids form a group, unless a `group` column tells groups apart."""
    reading = Reading.of(source, schema, engine=engine)
    observed: dict[str, list[str]] = {}
    numbers: dict[str, Floats] = {}
    for column in schema.coded:
        if column.role != "quasi" or column.type != "integer":
            observed[column.name] = reading.leaves(column, schema)
            continue
        if not column.fixed:
            raise InputError(
                f"{reading.where}: the values of column {column.name!r} cannot be told from centroids. "
                f"Declare domain = {{ min = …, max = … }} in {schema.source}."
            )
        numbers[column.name] = _points(reading, column.name, schema)
        observed[column.name] = [""] if np.isnan(numbers[column.name]).any() else []
    bound = schema.bind(observed)
    points = np.column_stack(
        [
            numbers[column.name][reading.codes(column.name)]
            if column.type == "integer"
            else reading.leaf_codes(column, bound).astype(np.float64)
            for column in bound.quasi
        ]
    )
    codes = np.column_stack([_ranks(points[:, j]) for j in range(points.shape[1])])
    sizes = [int(code.max()) + 1 for code in codes.T]
    if reading.grouped:
        ids = reading.group_ranks()
        check_groups(ids, codes, sizes, reading.where)
        codes, sizes = ids[:, None], [int(ids.max()) + 1]
    distinct, group = distinct_rows(codes, sizes)
    first = np.empty(len(distinct), dtype=np.int64)
    first[group[::-1]] = np.arange(len(codes))[::-1]
    return Centroids(bound, points[first], reading.sensitive_cells(group, bound))


def _ranks(points: Floats) -> Ints:
    return np.unique(points, return_inverse=True)[1].astype(np.int32)


def _points(reading: Reading, column: str, schema: Schema) -> Floats:
    """The number that each text of the column is; a missing mark is nan."""
    points = []
    for text in reading.texts(column):
        missing = text == "" or text in schema.missing
        number = math.nan if missing else plain_number(text)
        if math.isnan(number) and not missing:
            raise InputError(
                f"{reading.where}, {reading.locate(column, text)}, column {column!r}: {text!r} is not a number, "
                "and centroids of integer columns are."
            )
        points.append(number)
    return np.array(points)
