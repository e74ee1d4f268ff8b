"""Noisy counts: how many people have each (quasi-identifier value, sensitive value), published with noise."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dalenius.engine import Engine
from dalenius.errors import InputError, ParameterError, listing, nearest
from dalenius.output import csv_text, write_texts
from dalenius.release.base import Release, same_columns
from dalenius.release.reading import Reading, plain_number
from dalenius.release.sidecar import load_json
from dalenius.schema import Column, Schema

Mechanism = Literal["geometric", "laplace", "none"]
Neighbours = Literal["add-remove", "replace"]
MECHANISMS = ("geometric", "laplace", "none")
NEIGHBOURS = ("add-remove", "replace")
_META = ("mechanism", "scale", "epsilon", "sensitivity", "neighbours")


@dataclass(frozen=True, slots=True, eq=False)
class NoisyCounts(Release):
    """`counts[j][v, s]` for quasi-identifier j; negative ones are noise, not an error. `epsilon` is the DP budget."""

    kind = "noisy-counts"
    schema: Schema
    sensitive: str
    counts: tuple[NDArray[np.float64], ...]
    mechanism: Mechanism
    scale: float
    epsilon: float | None
    sensitivity: float
    neighbours: Neighbours

    def __post_init__(self) -> None:
        owner = "noisy counts"
        if self.mechanism not in MECHANISMS:
            raise ParameterError("mechanism", owner, f"one of {listing(MECHANISMS)}", self.mechanism)
        if self.neighbours not in NEIGHBOURS:
            raise ParameterError("neighbours", owner, f"one of {listing(NEIGHBOURS)}", self.neighbours)
        if not _is_number(self.sensitivity) or self.sensitivity <= 0:
            raise ParameterError("sensitivity", owner, "a number > 0", self.sensitivity)
        shapes = [(len(column.leaves), len(self.target.leaves)) for column in self.schema.quasi]
        if [table.shape for table in self.counts] != shapes or not all(np.isfinite(t).all() for t in self.counts):
            raise InputError(
                "Noisy counts need a finite number for each value of each quasi-identifier and sensitive value."
            )
        if self.mechanism == "none":
            if self.epsilon is not None or self.scale != 0:
                raise ParameterError("epsilon", owner, "null, with scale 0, for mechanism none", self.epsilon)
            return
        if not _is_number(self.epsilon) or not self.epsilon or self.epsilon <= 0:
            raise ParameterError("epsilon", owner, "a number > 0", self.epsilon)
        if not _is_number(self.scale) or self.scale <= 0:
            raise ParameterError("scale", owner, "a number > 0", self.scale)

    @property
    def target(self) -> Column:
        return self.schema[self.sensitive]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NoisyCounts):
            return NotImplemented
        return (
            same_columns(self.schema, other.schema)
            and all(getattr(self, name) == getattr(other, name) for name in ("sensitive", *_META))
            and all(np.array_equal(a, b) for a, b in zip(self.counts, other.counts, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def write(self, name: str | Path) -> None:
        """`NAME.counts.csv` and `NAME.json`."""
        if self.sensitive in ("column", "value", "count"):
            raise InputError(
                f"Noisy counts need the name {self.sensitive!r} for a column of their own. Rename the column."
            )
        values = self.target.leaves
        lines: list[list[object]] = [
            [column.name, leaf, value, _number(float(table[v, s]))]
            for column, table in zip(self.schema.quasi, self.counts, strict=True)
            for v, leaf in enumerate(column.leaves)
            for s, value in enumerate(values)
        ]
        meta = {key: getattr(self, key) for key in _META}
        first, second = paths_of(name)
        text = json.dumps(meta, indent=2, allow_nan=False) + "\n"
        write_texts({first: csv_text(["column", "value", self.sensitive, "count"], lines), second: text})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def paths_of(name: str | Path) -> tuple[Path, Path]:
    """The two files of a release by its NAME."""
    return Path(f"{name}.counts.csv"), Path(f"{name}.json")


def read(files: tuple[Path, Path], schema: Schema, *, engine: Engine) -> NoisyCounts:
    """Counts of every value in the schema's domains, and the metadata that says what noise they carry."""
    meta = load_json(files[1])
    for key in meta:
        if key not in _META:
            raise InputError(
                f"{files[1].name}: unknown key {key!r}.{nearest(key, _META)} Known keys: {listing(_META)}."
            )
    for key in _META:
        if key not in meta:
            raise InputError(f"{files[1].name}: {key!r} is missing. It needs {listing(_META)}.")
    rows = engine.open(files[0])
    names = [column.name for column in schema.sensitive]
    if len(rows.columns) != 4 or {"column", "value", "count"} - set(rows.columns):
        raise InputError(f"{rows.name}: the columns must be column, value, the sensitive column and count.")
    sensitive = next(name for name in rows.columns if name not in ("column", "value", "count"))
    if sensitive not in names:
        raise InputError(f"{rows.name}: {sensitive!r} is not a sensitive column.{nearest(sensitive, names)}")
    reading = Reading.counting(rows, ["column", "value", sensitive, "count"], weighted=False)
    target = schema[sensitive]
    known = {column.name: column for column in schema.quasi}
    for text in reading.texts("column"):
        if text not in known:
            raise InputError(
                f"{rows.name}, {reading.locate('column', text)}: {text!r} is not a quasi-identifier."
                f"{nearest(text, known)}"
            )
    by_column = _values_by_column(reading, schema)
    bound = schema.bind(by_column | {sensitive: reading.leaves(target, schema)})
    counts = _fill(reading, bound, bound[sensitive], meta["mechanism"] == "none")
    return NoisyCounts(bound, sensitive, counts, **{key: meta[key] for key in _META})


def _values_by_column(reading: Reading, schema: Schema) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {column.name: set() for column in schema.quasi}
    pairs = set(zip(reading.codes("column").tolist(), reading.codes("value").tolist(), strict=True))
    for c, v in pairs:
        column = schema[reading.texts("column")[c]]
        found[column.name].add(_leaf(column, reading.texts("value")[v], schema, reading))
    return found


def _leaf(column: Column, text: str, schema: Schema, reading: Reading) -> str:
    try:
        return column.canonical(text, schema.missing)
    except ValueError:
        row = reading.rows.find({"column": [column.name], "value": [text]}, limit=1)[0]
        raise InputError(
            f"{reading.where}, row {row}: {text!r} is not a whole number, as column {column.name!r} needs."
        ) from None


def _fill(reading: Reading, schema: Schema, target: Column, exact: bool) -> tuple[NDArray[np.float64], ...]:
    values = reading.leaf_codes(target, schema)
    tables = {column.name: np.full((len(column.leaves), len(target.leaves)), np.nan) for column in schema.quasi}
    columns, texts, amounts = reading.texts("column"), reading.texts("value"), _amounts(reading)
    for c, v, s, amount in zip(
        reading.codes("column").tolist(),
        reading.codes("value").tolist(),
        values.tolist(),
        amounts.tolist(),
        strict=True,
    ):
        column = schema[columns[c]]
        leaf = _leaf(column, texts[v], schema, reading)
        code = column.domain.code(leaf) if column.domain is not None else -1
        if code < 0:
            row = reading.rows.find({"column": [column.name], "value": [texts[v]]}, limit=1)[0]
            raise InputError(
                f"{reading.where}, row {row}: {texts[v]!r} is not a value of column {column.name!r}."
                f"{nearest(leaf, column.leaves)}"
            )
        if not np.isnan(tables[column.name][code, s]):
            raise InputError(f"{reading.where}: column {column.name!r}, value {leaf!r}: a count is given twice.")
        tables[column.name][code, s] = amount
    if (reading.counts > 1).any():
        raise InputError(f"{reading.where}: a count is given twice.")
    for name, table in tables.items():
        absent = int(np.isnan(table).sum())
        if absent and not exact:
            raise InputError(
                f"{reading.where}: {absent} counts of column {name!r} are missing. Noisy counts need every value of "
                "the domain, also those nobody has: what is left out tells who is not there."
            )
        np.nan_to_num(table, copy=False, nan=0.0)
    return tuple(tables[column.name] for column in schema.quasi)


def _amounts(reading: Reading) -> NDArray[np.float64]:
    numbers = []
    for text in reading.texts("count"):
        number = plain_number(text)
        if math.isnan(number):
            raise InputError(f"{reading.where}, {reading.locate('count', text)}: the count {text!r} is not a number.")
        numbers.append(number)
    return np.array(numbers)[reading.codes("count")]
