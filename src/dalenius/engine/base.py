"""What every engine offers, and nothing more: read text columns, count distinct rows, find rows, write rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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
    """What a glance at a column shows: rows, distinct texts, rows that hold no plain integer, commonest texts."""

    rows: int
    distinct: int
    missing: int
    not_integer: int
    shortest: int
    longest: int
    commonest: tuple[str, ...]


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

    def summary(self, column: str, *, limit: int) -> Summary:
        """A glance at one column, with its commonest texts (missing ones aside)."""
        ...

    def find(self, texts: Mapping[str, Collection[str]], *, limit: int) -> list[int]:
        """Numbers (from 0) of the first rows whose texts are among the given ones, in every given column."""
        ...

    def read(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """The texts of these columns, row by row in the file's order: for small files only."""
        ...


class Engine(Protocol):
    """A connection. `open` reads only what it must to know the columns."""

    def open(self, source: Source) -> Rows: ...
