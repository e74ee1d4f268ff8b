"""A table of people: rows in an engine, a schema, and the cells that everything else is computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dalenius import engines as _engine
from dalenius.arrays import Ints, Longs, read_only
from dalenius.coding import canonical_texts, leaf_codes, merge
from dalenius.engines import Counted, Engine, Rows, Source, TooMany, place_of, source_name
from dalenius.errors import InputError, ParameterError, counted
from dalenius.reprs import named, short_repr
from dalenius.schema import ROLES, Schema

__all__ = ["MAX_CELLS", "MOST_CELLS", "NO_LIMIT", "Cells", "Marginals", "Table"]

NO_LIMIT = 2**62
MAX_CELLS = 20_000_000  # distinct rows that are kept in memory
MOST_CELLS = MAX_CELLS  # the former name


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The distinct coded rows of a table, sorted, with counts.

    Column j of `codes` indexes the domain of `schema.coded[j]`: quasi-identifiers first, then sensitive columns.
    """

    schema: Schema
    codes: Ints
    counts: Longs

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        title = (
            f"Cells: {counted(len(self), 'distinct row', 'distinct rows')}, {counted(self.people, 'person', 'people')}"
        )
        return short_repr(title, named("columns", [column.name for column in self.schema.coded]))

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


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """How often each leaf of each coded column occurs, and each tuple of sensitive leaves; tuples are sorted."""

    columns: tuple[Longs, ...]
    tuples: Ints
    counts: Longs

    def __repr__(self) -> str:
        return short_repr(f"Marginals of {counted(len(self.columns), 'column', 'columns')}, {self.people:,} people")

    @property
    def people(self) -> int:
        return int(self.counts.sum())

    def different(self, first: int) -> list[int]:
        """How many leaves occur in each coded column from this one on."""
        return [int((column > 0).sum()) for column in self.columns[first:]]


@dataclass(slots=True)
class Table:
    """A CSV or Parquet file, or a pandas, Polars or Arrow frame, read through a schema.

    At most `most_cells` distinct rows are kept in memory. With more of them the table is `many`: it has no cells, and
    its columns are counted one by one. `notify` gets a line if the table is read in another way because of that.

    >>> import dalenius as dl
    >>> import pyarrow as pa
    >>> schema = dl.Schema((dl.Column("zip", "quasi"), dl.Column("disease", "sensitive")))
    >>> table = dl.Table(pa.table({"zip": ["02139", "02139"], "disease": ["Flu", "Flu"]}), schema)
    >>> table.cells().counts.tolist()
    [2]
    """

    source: Source | None  # None: a part of another table, without rows
    declared: Schema
    engine: Engine
    most_cells: int
    notify: Callable[[str], None] | None = field(repr=False)
    _rows: Rows | None = field(default=None, repr=False)
    _many: bool | None = field(default=None, repr=False)  # nothing has been counted yet
    _schema: Schema | None = field(default=None, repr=False)
    _cells: Cells | None = field(default=None, repr=False)
    _texts: Mapping[str, Mapping[str, int]] | None = field(default=None, repr=False)
    _marginals: Marginals | None = field(default=None, repr=False)

    def __init__(
        self,
        source: Source | None,
        schema: Schema | str | Path,
        *,
        engine: Engine | str | None = None,
        most_cells: int = MAX_CELLS,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        if isinstance(most_cells, bool) or not isinstance(most_cells, int) or most_cells < 1:
            raise ParameterError("most_cells", "Table", "an int ≥ 1", most_cells)
        self.source = source
        self.declared = schema if isinstance(schema, Schema) else Schema.load(schema)
        if engine is None:
            engine = _engine.default()
        self.engine = _engine.connect(engine) if isinstance(engine, str) else engine
        self.most_cells = most_cells
        self.notify = notify
        self._rows = None
        self._many = None
        self._schema = None
        self._cells = None
        self._texts = None
        self._marginals = None

    def __repr__(self) -> str:
        name = "part of a table" if self.source is None else source_name(self.source)
        known = "" if self._cells is None else f", {counted(self._cells.people, 'row', 'rows')}"
        roles = [named(role, [c.name for c in self.declared.columns if c.role == role]) for role in ROLES]
        return short_repr(f"Table: {name.replace('the data', 'a data')}{known}", *roles)

    def part(self, counts: Longs) -> Table:
        """Some of the people: `counts[i]` of those in cell i. It has cells, and no rows of its own."""
        cells = self.cells()
        if counts.shape != cells.counts.shape or (counts < 0).any() or (counts > cells.counts).any():
            raise ParameterError("counts", "Table.part", "a number for each cell, at most the cell's own", counts.shape)
        some = counts > 0
        part = Table(None, self.declared, engine=self.engine, most_cells=self.most_cells, notify=self.notify)
        part._many, part._schema = False, self.schema
        part._cells = _shared_cells(cells.schema, cells.codes[some], counts[some].astype(np.int64))
        return part

    @property
    def rows(self) -> Rows:
        """The rows in their engine, opened once, with the header checked against the schema."""
        if self.source is None:
            raise InputError("A part of a table has cells and no rows of its own. Name a file with those people.")
        if self._rows is None:
            rows = self.engine.open(self.source)
            self.declared.check_columns(rows.columns, where=rows.name)
            self._rows = rows
        return self._rows

    @property
    def schema(self) -> Schema:
        """The schema bound to this table: every domain fixed."""
        self._read_columns()
        assert self._schema is not None
        return self._schema

    @property
    def many(self) -> bool:
        """Whether the distinct rows are more than `most_cells`."""
        if self._many is None:
            self._cells = self._read()
            self._many = self._cells is None
        return self._many

    def cells(self) -> Cells:
        """The distinct (quasi…, sensitive) rows as codes with counts. One scan, whatever is asked afterwards."""
        if self.many:
            raise InputError(
                f"{self.rows.name} has more than {counted(self.most_cells, 'distinct row', 'distinct rows')}, which are not "
                "kept in memory. Publish with --method lattice, which rolls them up in the engine; coarsen or drop "
                "columns; or raise --most-cells of publish and lattice (in Python, most_cells of Table)."
            )
        assert self._cells is not None
        return self._cells

    def texts(self) -> Mapping[str, Mapping[str, int]]:
        """For each coded column, the texts that occur in the rows and the leaf code that each one names."""
        self._read_columns()
        assert self._texts is not None
        return self._texts

    def marginals(self) -> Marginals:
        """The counts of each coded column alone, and of the sensitive ones together."""
        self._read_columns()
        if self._marginals is None:
            assert self._cells is not None
            cells, sizes = self._cells, self._cells.sizes
            columns = tuple(_tally(cells.codes[:, j], cells.counts, size) for j, size in enumerate(sizes))
            m = len(cells.schema.quasi)
            self._marginals = _shared_marginals(columns, *merge(cells.codes[:, m:], cells.counts, sizes[m:]))
        return self._marginals

    def _read(self) -> Cells | None:
        """The distinct rows, in one scan; None if they are too many."""
        try:
            rows = self.rows.count([column.name for column in self.declared.coded], limit=self.most_cells)
        except TooMany:
            return None
        self._schema, self._texts, (codes,) = self._coded([rows])
        sizes = [len(column.leaves) for column in self._schema.coded]
        return _shared_cells(self._schema, *merge(codes, rows.counts, sizes))

    def _read_columns(self) -> None:
        """Bind the schema; where the distinct rows are too many, from each quasi-identifier and all sensitive columns."""
        if not self.many or self._schema is not None:
            return
        parts = [[column.name] for column in self.declared.quasi]
        parts.append([column.name for column in self.declared.sensitive])
        counts = [self._count(names) for names in parts]
        schema, texts, coded = self._coded(counts)
        m = len(schema.quasi)
        sizes = [len(column.leaves) for column in schema.coded]
        columns = [_tally(coded[j][:, 0], counts[j].counts, sizes[j]) for j in range(m)]
        columns += [_tally(coded[m][:, j], counts[m].counts, size) for j, size in enumerate(sizes[m:])]
        self._marginals = _shared_marginals(columns, *merge(coded[m], counts[m].counts, sizes[m:]))
        self._schema, self._texts = schema, texts

    def _count(self, names: Sequence[str]) -> Counted:
        try:
            return self.rows.count(names, limit=self.most_cells)
        except TooMany:
            pass
        quoted = ", ".join(map(repr, names))
        what = f"column {quoted} alone has" if len(names) == 1 else f"columns {quoted} together have"
        raise InputError(
            f"{self.rows.name}: {what} more than {counted(self.most_cells, 'distinct value', 'distinct values')}. "
            "Coarsen or drop columns, or raise --most-cells of publish and lattice (in Python, most_cells of Table)."
        )

    def _coded(self, counts: Sequence[Counted]) -> tuple[Schema, dict[str, dict[str, int]], list[Ints]]:
        """The bound schema, the leaf code of each text of each column, and what was counted as leaf codes."""
        rows = self.rows

        def locate(column: str, text: str) -> str:
            return place_of(rows, {column: [text]})

        where = rows.name
        seen = {name: texts for part in counts for name, texts in zip(part.columns, part.texts, strict=True)}
        leaves = {
            column.name: canonical_texts(column, seen[column.name], self.declared, where=where, locate=locate)
            for column in self.declared.coded
        }
        schema = self.declared.bind(leaves)
        lookups = {
            column.name: leaf_codes(column, leaves[column.name], seen[column.name], where=where, locate=locate)
            for column in schema.coded
        }
        coded = []
        for part in counts:
            codes = np.empty_like(part.codes)
            for j, name in enumerate(part.columns):
                codes[:, j] = lookups[name][part.codes[:, j]]
            coded.append(codes)
        texts = {name: dict(zip(seen[name], lookup.tolist(), strict=True)) for name, lookup in lookups.items()}
        return schema, texts, coded


def _tally(codes: Ints, counts: Longs, size: int) -> Longs:
    """How many people have each code. Floats, in which they are added up, are exact below 2^53."""
    return np.bincount(codes, weights=counts, minlength=size).astype(np.int64)


def _shared_cells(schema: Schema, codes: Ints, counts: Longs) -> Cells:
    """Return cells that a table keeps and hands to everybody who asks."""
    return Cells(schema, read_only(codes), read_only(counts))


def _shared_marginals(columns: Sequence[Longs], tuples: Ints, counts: Longs) -> Marginals:
    return Marginals(tuple(map(read_only, columns)), read_only(tuples), read_only(counts))
