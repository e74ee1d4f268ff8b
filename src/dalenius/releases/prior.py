"""Priors from files: probabilities of values, or a data set in which somebody has counted them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dalenius.arrays import Ints, Longs
from dalenius.coding import Locate, canonical_texts, merge
from dalenius.engines import Engine, Rows
from dalenius.errors import InputError, listing
from dalenius.releases.reading import COUNT, Reading, numbers
from dalenius.schema import Schema

__all__ = ["ROUNDING", "Priors", "Shares"]

ROUNDING = 5e-7  # for each value: probabilities printed with six digits still count as summing to 1
Shares = Mapping[str, Mapping[str, float]]  # for each sensitive column a number for each value


@dataclass(frozen=True, slots=True)
class Priors:
    """Reads the files that an adversary's prior is made of; paths are relative to `folder`."""

    schema: Schema
    engine: Engine
    folder: Path = Path()
    files: list[Path] = field(default_factory=list)  # those that were read: no output may replace them

    def _open(self, path: str) -> Rows:
        if not path.strip():
            raise InputError("A prior lacks the name of its file.")
        self.files.append(self.folder / path)
        return self.engine.files.open(self.folder / path)

    def probabilities(self, path: str) -> Shares:
        """A file `value,probability`; with several sensitive columns also `column`."""
        rows = self._open(path)
        names = [column.name for column in self.schema.sensitive]
        wanted = {"value", "probability"} | ({"column"} if len(names) > 1 or "column" in rows.columns else set())
        if set(rows.columns) != wanted:
            raise InputError(f"{rows.name}: a prior of {listing(names)} has the columns {listing(sorted(wanted))}.")
        keys = ("value", "probability", *(["column"] if "column" in wanted else []))
        columns = list(zip(*rows.read(keys), strict=True))
        if not columns:
            raise InputError(f"{rows.name}: the prior is empty.")
        by_column: dict[str, dict[str, float]] = {}
        owners = columns[2] if len(columns) > 2 else [names[0]] * len(columns[0])
        shares = numbers(columns[1], rows.name, "probability")
        for i, (text, share, owner) in enumerate(zip(columns[0], shares, owners, strict=True)):
            if owner not in names:
                raise InputError(f"{rows.name}, row {i}: {owner!r} is not a sensitive column ({listing(names)}).")
            value = canonical_texts(self.schema[owner], [text], self.schema, where=rows.name, locate=_row(i))[0]
            if value in by_column.setdefault(owner, {}):
                raise InputError(f"{rows.name}, row {i}: the value stands there for the second time.")
            by_column[owner][value] = share
        for owner, shares_of in by_column.items():
            total = sum(shares_of.values())
            if min(shares_of.values()) < 0:
                raise InputError(f"{rows.name}: a probability of {owner!r} is below 0.")
            if abs(total - 1) > ROUNDING * len(shares_of):
                raise InputError(f"{rows.name}: the probabilities of {owner!r} sum to {total:.9g}, not to 1.")
        return by_column

    def counts(self, path: str) -> Shares:
        """How often each sensitive value occurs in another data set; a `count` column weighs its rows."""
        by_column: dict[str, dict[str, float]] = {}
        reading = self._reading(path, [column.name for column in self.schema.sensitive])
        for column in self.schema.sensitive:
            leaves = reading.leaves(column, self.schema)
            totals = by_column.setdefault(column.name, {})
            for code, count in zip(reading.codes(column.name).tolist(), reading.counts.tolist(), strict=True):
                totals[leaves[code]] = totals.get(leaves[code], 0.0) + count
        return by_column

    def _reading(self, path: str, columns: list[str]) -> Reading:
        rows = self._open(path)
        absent = [name for name in columns if name not in rows.columns]
        if absent:
            raise InputError(
                f"{rows.name}: a data set that a prior is made of has the column{'s' if len(absent) > 1 else ''} "
                f"{listing(absent)}. The file has: {listing(rows.columns)}."
            )
        declared = {column.name for column in self.schema.columns}
        weighted = COUNT in rows.columns and COUNT not in declared
        return Reading.counting(rows, [*columns, *([COUNT] if weighted else [])], weighted=weighted)

    def cells(self, path: str, bound: Schema, column: str) -> tuple[Ints, Longs]:
        """Distinct (quasi…, value of one sensitive column) of another data set, as codes of a bound schema, with counts.

        Rows with a quasi-identifier outside the schema's domains are about nobody in the release and are left out.
        """
        wanted = [*bound.quasi, bound[column]]
        reading = self._reading(path, [c.name for c in wanted])
        codes = []
        for c in wanted:
            assert c.domain is not None
            lookup = np.array([c.domain.code(leaf) for leaf in reading.leaves(c, self.schema)], dtype=np.int32)
            codes.append(lookup[reading.codes(c.name)])
        rows = np.column_stack(codes)
        if (rows[:, -1] < 0).any():
            raise InputError(
                f"{reading.where}: a value of {column!r} there is none of this table's. Declare them all: domain = […]."
            )
        kept = (rows >= 0).all(axis=1)
        if not kept.any():
            raise InputError(
                f"{reading.where}: nobody there has quasi-identifiers of this table's domains. Are they written alike?"
            )
        return merge(rows[kept], reading.counts[kept], [len(c.leaves) for c in wanted])


def _row(number: int) -> Locate:
    return lambda _column, _text: f"row {number}"
