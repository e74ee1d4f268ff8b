"""What the readers of grouped releases share: one scan, weights, group ids and the codes of sensitive values."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dalenius.arrays import Ints, Longs
from dalenius.coding import canonical_texts, distinct_rows, leaf_codes
from dalenius.engines import Counted, Engine, Rows, Source, place_of
from dalenius.errors import InputError
from dalenius.releases.base import GroupCells
from dalenius.schema import Column, Schema

__all__ = ["COUNT", "GROUP", "Reading", "check_groups", "numbers", "plain_number", "rank_ids"]

GROUP, COUNT = "group", "count"  # reserved in releases unless the schema declares them
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The distinct rows of a file with their weights; rows of weight 0 are left out."""

    rows: Rows
    counted: Counted
    counts: Longs = field(repr=False)
    grouped: bool = False  # whether there are group ids; a declared column of that name holds none

    @classmethod
    def of(cls, source: Source, schema: Schema, *, engine: Engine) -> Reading:
        """Open a file with the table's columns and, if the schema does not use these names, `group` and `count`."""
        rows = engine.open(source)
        declared = {column.name for column in schema.columns}
        schema.check_columns(rows.columns, where=rows.name, also=(GROUP, COUNT))
        extra = [name for name in (GROUP, COUNT) if name in rows.columns and name not in declared]
        reading = cls.counting(rows, [column.name for column in schema.coded] + extra, weighted=COUNT in extra)
        return dataclasses.replace(reading, grouped=GROUP in extra)

    @classmethod
    def counting(cls, rows: Rows, columns: Sequence[str], *, weighted: bool) -> Reading:
        counted = rows.count(columns)
        reading = cls(rows, counted, counted.counts)
        if not weighted:
            return reading
        weights = reading._weights()
        if float(counted.counts @ weights.astype(np.float64)) >= 2**53:
            raise InputError(f"{rows.name}: the counts add up to more people than can be counted (2^53).")
        counts = counted.counts * weights
        kept = counts > 0
        if not kept.any():
            raise InputError(f"{rows.name}: every row has count 0; there is nobody in the release.")
        slimmer = Counted(counted.columns, counted.texts, counted.codes[kept], counted.counts[kept])
        return cls(rows, slimmer, counts[kept])

    @property
    def where(self) -> str:
        return self.rows.name

    def texts(self, column: str) -> tuple[str, ...]:
        return self.counted.texts[self.counted.columns.index(column)]

    def codes(self, column: str) -> Ints:
        """Which of the column's texts each row has."""
        return self.counted.codes[:, self.counted.columns.index(column)]

    def locate(self, column: str, text: str) -> str:
        """Where a text stands, for an error message."""
        return place_of(self.rows, {column: [text]})

    def leaves(self, column: Column, schema: Schema) -> list[str]:
        """The canonical leaf of each of the column's texts."""
        return canonical_texts(column, self.texts(column.name), schema, where=self.where, locate=self.locate)

    def leaf_codes(self, column: Column, schema: Schema) -> Ints:
        """The code in the column's domain, row by row."""
        leaves = self.leaves(column, schema)
        lookup = leaf_codes(column, leaves, self.texts(column.name), where=self.where, locate=self.locate)
        return lookup[self.codes(column.name)]

    def group_ids(self, rows: Longs | slice = slice(None)) -> tuple[str, ...]:
        """The ids of these rows' groups, each once. An empty one is none."""
        ids = tuple(self.texts(GROUP)[code] for code in np.unique(self.codes(GROUP)[rows]).tolist())
        if "" in ids:
            raise InputError(f"{self.where}, {self.locate(GROUP, '')}: the group is empty.")
        return ids

    def group_ranks(self, rows: Longs | slice = slice(None)) -> Ints:
        """The rank of the group id of each of these rows: by number if all ids are whole numbers, else by text."""
        ids = self.group_ids(rows)
        rank = dict(zip(ids, rank_ids(ids).tolist(), strict=True))
        lookup = np.array([rank.get(text, -1) for text in self.texts(GROUP)], dtype=np.int32)
        return lookup[self.codes(GROUP)[rows]]

    def sensitive_cells(self, group: Ints, schema: Schema) -> GroupCells:
        """The sensitive values of each group."""
        values = np.column_stack([self.leaf_codes(column, schema) for column in schema.sensitive])
        return GroupCells.gather(group, values, self.counts, [len(column.leaves) for column in schema.sensitive])

    def _weights(self) -> Longs:
        numbers = []
        for text in self.texts(COUNT):
            stripped = text.strip().removesuffix(".0")
            if not (stripped.isascii() and stripped.isdigit() and len(stripped) < 16):
                raise InputError(
                    f"{self.where}, {self.locate(COUNT, text)}, column {COUNT!r}: {text!r} is not a whole number ≥ 0."
                )
            numbers.append(int(stripped))
        return np.array(numbers, dtype=np.int64)[self.codes(COUNT)]


def plain_number(text: str) -> float:
    """The number that a text is; nan if it is none. Python's own float() also reads `nan`, `inf` and `1_0`."""
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    return number if math.isfinite(number) else math.nan


def check_groups(ids: Ints, codes: Ints, sizes: Sequence[int], where: str) -> None:
    """Rows that share a group id must share their quasi-identifiers: a group publishes one tuple."""
    pairs, _ = distinct_rows(np.column_stack([ids, codes]), [int(ids.max()) + 1, *sizes])
    repeated = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
    if len(repeated):
        number = int(pairs[repeated[0], 0])
        raise InputError(
            f"{where}: the rows of group number {number} (counting from 0) have different labels. "
            f"Rows of a group share their labels; leave the {GROUP!r} column out if the labels are the groups."
        )


def rank_ids(texts: Sequence[str]) -> Ints:
    """The rank of each id: by number if all are whole numbers, else by text."""
    numeric = all(_WHOLE.fullmatch(text) for text in texts)
    keys = [(int(text), text) if numeric else (0, text) for text in texts]
    rank = np.empty(len(texts), dtype=np.int32)
    rank[sorted(range(len(texts)), key=keys.__getitem__)] = np.arange(len(texts))
    return rank


def numbers(texts: Sequence[str], where: str, column: str) -> list[float]:
    """A column of numbers, each as it is written."""
    values = []
    for i, text in enumerate(texts):
        number = plain_number(text)
        if math.isnan(number):
            # The text is not shown: a table of people that is taken for something else must not be quoted.
            raise InputError(f"{where}, row {i}, column {column!r}: a number is needed there.")
        values.append(number)
    return values
