"""What every engine offers, and nothing more: read text columns, count distinct rows, find rows, write rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# A path, a pandas, Polars or Arrow frame, or a dict of columns. Frames are known by their module's name.
Source = Any


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Distinct rows of text with counts: column j of row i reads `texts[j][codes[i, j]]`; null reads as ''."""

    columns: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a glance at a column shows, missing texts aside.

    `texts` are all distinct texts if they are at most the limit asked for, else only those met first.
    """

    rows: int
    missing: int
    distinct: int
    not_integer: int
    shortest: int
    longest: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recoding:
    """How a release is written from a table's rows: texts replaced column by column, then rows suppressed.

    `labels[column]` maps each text that occurs to the label published for it. A row whose labels, in the order of
    `labels`, are among `suppress` gets `mark` in each of those columns. `columns` are those written, in that order.
    """

    columns: tuple[str, ...]
    labels: Mapping[str, Mapping[str, str]]
    suppress: Collection[tuple[str, ...]] = ()
    mark: str = "*"
    shuffle: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """How a release is written whose groups no column tells: each row is put into a group, by a key.

    The key is a row's codes in `codes` (column → text → code), looked up in `keys`; with `index`, rows of equal key are
    numbered in their order and the number is part of the key. Without codes the key is the number of the row, and
    `group[i]` is the group of row i. `labels[column][q]` is what is published for group q in place of the column's text;
    `number` names a column that is put in front and holds the group.
    """

    columns: tuple[str, ...]
    codes: Mapping[str, Mapping[str, int]]
    keys: NDArray[np.int32]
    group: NDArray[np.int32]
    labels: Mapping[str, Sequence[str]]
    index: NDArray[np.int64] | None = None
    number: str | None = None
    shuffle: bool = False


class Rows(Protocol):
    """A table inside an engine, every column read as text."""

    @property
    def name(self) -> str:
        """What messages call it: the file's name, or the frame's kind."""
        ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    def count(self, columns: Sequence[str]) -> Counted:
        """One scan: the distinct rows of these columns and how often each occurs, in no particular order."""
        ...

    def summaries(self, *, limit: int) -> dict[str, Summary]:
        """A glance at each column."""
        ...

    def find(self, texts: Mapping[str, Collection[str]], *, limit: int) -> list[int]:
        """Numbers (from 0) of the first rows whose texts are among the given ones, in every given column."""
        ...

    def read(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """The texts of these columns, row by row in the file's order: for small files only."""
        ...

    def write(self, plan: Recoding | Assignment, path: Path) -> None:
        """Write the rows as planned, in their order or shuffled, as Parquet if the path ends so, else as CSV."""
        ...


class Engine(Protocol):
    """A connection. `open` reads only what it must to know the columns."""

    def open(self, source: Source) -> Rows: ...

    def save(self, columns: Mapping[str, Any], path: Path) -> None:
        """Write columns (arrays or lists, by name) as Parquet if the path ends so, else as CSV."""
        ...
