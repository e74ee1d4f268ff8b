"""A table of people: rows in an engine, a schema, and the cells that everything else is computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dalenius import engine as _engine
from dalenius.coding import canonical_texts, leaf_codes, merge
from dalenius.engine import Engine, Rows, Source, place_of
from dalenius.schema import Schema


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The distinct coded rows of a table, sorted, with counts.

    Column j of `codes` indexes the domain of `schema.coded[j]`: quasi-identifiers first, then sensitive columns.
    """

    schema: Schema
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cells):
            return NotImplemented
        return (
            [(c.name, c.leaves) for c in self.schema.coded] == [(c.name, c.leaves) for c in other.schema.coded]
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def people(self) -> int:
        return int(self.counts.sum())

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of leaves of each column."""
        return tuple(len(column.leaves) for column in self.schema.coded)


@dataclass(slots=True)
class Table:
    """A CSV or Parquet file, or a pandas, Polars or Arrow frame, read through a schema.

    >>> import dalenius as dl
    >>> import pyarrow as pa
    >>> schema = dl.Schema((dl.Column("zip", "quasi"), dl.Column("disease", "sensitive")))
    >>> table = dl.Table(pa.table({"zip": ["02139", "02139"], "disease": ["Flu", "Flu"]}), schema)
    >>> table.cells().counts.tolist()
    [2]
    """

    source: Source
    declared: Schema
    engine: Engine
    _rows: Rows | None = field(default=None, repr=False)
    _cells: Cells | None = field(default=None, repr=False)
    _texts: Mapping[str, Mapping[str, int]] | None = field(default=None, repr=False)

    def __init__(self, source: Source, schema: Schema | str | Path, *, engine: Engine | str | None = None) -> None:
        self.source = source
        self.declared = schema if isinstance(schema, Schema) else Schema.load(schema)
        if engine is None:
            engine = _engine.default()
        self.engine = _engine.connect(engine) if isinstance(engine, str) else engine
        self._rows = None
        self._cells = None
        self._texts = None

    @property
    def rows(self) -> Rows:
        """The rows in their engine, opened once, with the header checked against the schema."""
        if self._rows is None:
            rows = self.engine.open(self.source)
            self.declared.check_columns(rows.columns, where=rows.name)
            self._rows = rows
        return self._rows

    @property
    def schema(self) -> Schema:
        """The schema bound to this table: every domain fixed."""
        return self.cells().schema

    def cells(self) -> Cells:
        """The distinct (quasi…, sensitive) rows as codes with counts. One scan, whatever is asked afterwards."""
        if self._cells is None:
            self._cells = self._count()
        return self._cells

    def _count(self) -> Cells:
        rows = self.rows
        counted = rows.count([column.name for column in self.declared.coded])

        def locate(column: str, text: str) -> str:
            return place_of(rows, {column: [text]})

        where = rows.name
        leaves = {
            column.name: canonical_texts(column, counted.texts[j], self.declared, where=where, locate=locate)
            for j, column in enumerate(self.declared.coded)
        }
        schema = self.declared.bind(leaves)
        codes = np.empty_like(counted.codes)
        texts: dict[str, dict[str, int]] = {}
        for j, column in enumerate(schema.coded):
            lookup = leaf_codes(column, leaves[column.name], counted.texts[j], where=where, locate=locate)
            codes[:, j] = lookup[counted.codes[:, j]]
            texts[column.name] = dict(zip(counted.texts[j], lookup.tolist(), strict=True))
        self._texts = texts
        merged, counts = merge(codes, counted.counts, [len(column.leaves) for column in schema.coded])
        return Cells(schema, merged, counts)

    def texts(self) -> Mapping[str, Mapping[str, int]]:
        """For each coded column, the texts that occur in the rows and the leaf code that each one names."""
        self.cells()
        assert self._texts is not None
        return self._texts
