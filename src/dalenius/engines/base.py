"""The protocols of engines: read text columns, count distinct rows, find rows, write rows."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias

from dalenius.arrays import Ints, Longs
from dalenius.engines.watching import Notify
from dalenius.errors import InputError

PREFIX = "table:"  # says that a name is that of a table inside the engine
_PART = r'(?:"(?:[^"]|"")+"|[^".:/\\\s]+)'


class ArrowFrame(Protocol):
    """A data frame that offers its columns as Arrow: pandas, Polars and pyarrow tables do, and frames of other libraries."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class LazyFrame(Protocol):
    """A Polars query that is not run yet."""

    def collect(self) -> Any: ...


# What a table or a release is read from: a path, the name of a table in an engine, a data frame, or columns by name.
Source: TypeAlias = str | Path | ArrowFrame | LazyFrame | Mapping[str, Any]
FRAME = "the data frame"  # what messages call a data frame, which has no name


def source_name(source: object) -> str:
    """Return what messages call a source. A data frame is never printed: its text has rows of people."""
    return str(source) if isinstance(source, str | Path) else FRAME


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Distinct rows of text with counts: column j of row i is `texts[j][codes[i, j]]`. Null is read as ''."""

    columns: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...] = field(repr=False)  # values of people, as all that is hidden here
    codes: Ints = field(repr=False)
    counts: Longs = field(repr=False)


class Tally(Protocol):
    """How often each combination of some columns must occur in a release. It is compared with the written rows."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def limit(self) -> int:
        """The largest possible number of distinct rows of these columns."""
        ...

    def holds(self, counted: Counted) -> bool:
        """Return whether these are exactly the rows that the release must have."""
        ...


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a column. Missing texts are counted only in `missing`.

    `texts` are all distinct texts if there are at most `limit` of them, else the first ones.
    """

    rows: int
    missing: int
    distinct: int
    not_integer: int
    shortest: int
    longest: int
    texts: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Recoding:
    """How to write a release from the rows of a table: replace texts column by column, then suppress rows.

    `labels[column]` maps each text that occurs to the label published for it. A row whose labels, in the order of
    `labels`, are among `suppress` gets `mark` in each of those columns, or is left out. `columns` are those written, in order.
    Nothing is published unless every one of `tallies` holds for the written rows.
    """

    columns: tuple[str, ...]
    labels: Mapping[str, Mapping[str, str]] = field(repr=False)
    suppress: Collection[tuple[str, ...]] = field(default=(), repr=False)
    mark: str = "*"
    shuffle: bool = False
    tallies: Sequence[Tally] = field(default=(), repr=False)
    leave_out: bool = False  # rows that are among `suppress` are not written at all


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """How to write a release whose groups are in no column: each row is put into a group, by a key.

    The key is a row's codes in `codes` (column → text → code), looked up in `keys`; with `index`, rows of equal key are
    numbered in their order and the number is part of the key. A row is identified by its values and never by its position,
    which may change when the table is read again. `group[i]` is the group of key i. `labels[column][q]` is what is
    published for group q in place of the column's text; `number` names a column that is put in front and holds the group.
    Nothing is published unless every one of `tallies` holds for the written rows.
    """

    columns: tuple[str, ...]
    codes: Mapping[str, Mapping[str, int]] = field(repr=False)
    keys: Ints = field(repr=False)
    group: Ints = field(repr=False)
    labels: Mapping[str, Sequence[str]] = field(repr=False)
    index: Longs | None = field(default=None, repr=False)
    number: str | None = None
    shuffle: bool = False
    tallies: Sequence[Tally] = field(default=(), repr=False)


class TooMany(Exception):
    """There are more distinct rows than the limit."""


@dataclass(frozen=True, slots=True)
class TableName:
    """A table inside an engine: its name and whatever stands before it, as in `catalog.schema.table`.

    >>> TableName.parse('clinic."odd.name"').parts
    ('clinic', 'odd.name')
    """

    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> TableName:
        """Parse a name, with or without the prefix `table:`. A part in double quotes is taken literally."""
        body = text.removeprefix(PREFIX)
        if not re.fullmatch(rf"{_PART}(\.{_PART})*", body):
            raise InputError(f'{text!r} is not a table name: write NAME, SCHEMA.NAME, or quote odd parts as "…".')
        parts = re.findall(_PART, body)
        return cls(tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts))

    def quoted(self, mark: str = '"') -> str:
        """Return the name quoted for SQL."""
        return ".".join(mark + part.replace(mark, 2 * mark) + mark for part in self.parts)

    def __str__(self) -> str:
        return ".".join(self.parts)


class Rows(Protocol):
    """A table inside an engine, every column read as text."""

    @property
    def numbered(self) -> bool:
        """Whether rows have an order. Rows of a file do, rows of a database table do not."""
        ...

    @property
    def name(self) -> str:
        """The name for messages: that of the file or the table, or "the data frame"."""
        ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    def count(
        self, columns: Sequence[str], *, labels: Mapping[str, Mapping[str, str]] | None = None, limit: int | None = None
    ) -> Counted:
        """Count the distinct rows of these columns in one scan, in no particular order.

        With `labels`, each text of a column is replaced by its label first. More than `limit` distinct rows raise TooMany.
        """
        ...

    def summaries(self, *, limit: int) -> dict[str, Summary]:
        """Return a summary of each column."""
        ...

    def find(self, texts: Mapping[str, Collection[str]], *, limit: int) -> list[int]:
        """Return the numbers (from 0) of the first rows that have one of these texts in each of these columns.

        The list is empty if rows have no order.
        """
        ...

    def read(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the texts of these columns, row by row in the order of the file. For small files only."""
        ...

    def total(self) -> int:
        """Return the number of rows."""
        ...

    def copy(self, target: Path) -> None:
        """Write all rows unchanged and in order, in one scan. The original may change between two scans; the copy does not."""
        ...

    def pick(self, rows: Longs, target: Path) -> None:
        """Write the rows with these numbers, unchanged and in order."""
        ...

    def write(self, plan: Recoding | Assignment, target: Path | TableName) -> None:
        """Write the rows as planned, in their order if they have one, or shuffled.

        The target is a file (Parquet if its name ends so, else CSV) or a new table of the engine. The written rows are counted:
        if a tally of the plan does not hold, that is an error. The caller must then remove the file; a table is not created.
        """
        ...


def place_of(rows: Rows, texts: Mapping[str, Collection[str]]) -> str:
    """Return the number of the first row with these texts, for a message; "some row" if rows have no order."""
    numbers = rows.find(texts, limit=1)
    return f"row {numbers[0]}" if numbers else "some row"


class Engine(Protocol):
    """A connection. `open` reads no more than it needs to know the columns."""

    notify: Notify | None  # gets a line about what the engine is doing

    @property
    def files(self) -> Engine:
        """The engine that reads small files on this machine: targets, priors, metadata."""
        ...

    @property
    def own_files(self) -> tuple[Path, ...]:
        """The files of the engine itself. No output may replace them."""
        ...

    def open(self, source: Source) -> Rows: ...

    def has(self, name: TableName) -> bool:
        """Return whether the engine has this table."""
        ...

    def check_target(self, target: Path | TableName) -> None:
        """Refuse a target that cannot be written, before any work is done: a file format, or a table that exists."""
        ...

    def holds(self, name: str) -> bool:
        """Return whether a text names a table of the engine, not a file. If `table:NAME` does not exist, that is an error."""
        ...

    def save(self, columns: Mapping[str, Any], path: Path) -> None:
        """Write columns (arrays or lists, by name) as Parquet if the path ends so, else as CSV."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows can be: in a file that an engine reads, or in a table of it."""

    engine: str  # the engine's name
    title: str
    is_table: bool
    has_order: bool  # whether rows have an order, so that two equal rows can be told apart


class Connector(ABC):
    """Describe an engine and connect to it. `ENGINES` (registry.py) lists all of them.

    The file of a connector must be quick to import: `connect` imports the engine's libraries.
    """

    name: ClassVar[str]
    prefixes: ClassVar[tuple[str, ...]]  # how its URLs begin; a bare word is a whole URL
    extra: ClassVar[str | None] = None  # the extra of this package that installs its libraries
    places: ClassVar[tuple[Place, ...]]

    @classmethod
    @abstractmethod
    def connect(cls, url: str, files: Callable[[], Engine]) -> Engine:
        """Connect to a URL. `files` returns the engine that reads files on this machine."""
