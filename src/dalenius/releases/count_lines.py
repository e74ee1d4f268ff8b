"""The lines of a file of counts: which table each is about, which row of it, which sensitive value."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dalenius.arrays import Floats
from dalenius.engines import Rows as Lines
from dalenius.engines import place_of
from dalenius.errors import InputError, nearest
from dalenius.releases.coarse import Coarse, Rows, sizes
from dalenius.releases.label import missing_leaf
from dalenius.releases.moments import QUERIES
from dalenius.releases.reading import Reading, plain_number
from dalenius.schema import Schema, WrongType

__all__ = ["MAX_COUNT", "CountLines", "join_texts"]

MAX_COUNT = 2.0**63  # of a count: far more than people, and sums stay finite


@dataclass(slots=True, eq=False)
class CountLines:
    """`owners`: the names that each text of `column` holds; `parts`: the texts that each pair of column and value holds."""

    reading: Reading
    sensitive: str
    owners: dict[int, tuple[str, ...]] = field(repr=False)
    parts: dict[tuple[int, int], tuple[str, ...]] = field(repr=False)
    joint: tuple[tuple[str, ...], ...]
    rows: dict[str, Rows] = field(default_factory=dict)  # what the texts of each column stand for, once bound

    @classmethod
    def of(cls, lines: Lines, sensitive: str, schema: Schema) -> CountLines:
        reading = Reading.counting(lines, ["column", "value", sensitive, "count"], weighted=False)
        known = [column.name for column in schema.quasi]
        owners: dict[int, tuple[str, ...]] = {}
        for i, text in enumerate(reading.texts("column")):
            owners[i] = _split(text, known)
            for name in owners[i]:
                if name not in known:
                    raise InputError(
                        f"{lines.name}, {reading.locate('column', text)}: {name!r} is not a quasi-identifier."
                        f"{nearest(name, known)}"
                    )
        joint = tuple(sorted({names for names in owners.values() if len(names) > 1}, key=lambda n: known.index(n[0])))
        count_lines = cls(reading, sensitive, owners, {}, joint)
        pairs = zip(reading.codes("column").tolist(), reading.codes("value").tolist(), strict=True)
        for c, v in sorted(set(pairs)):
            text = reading.texts("value")[v]
            texts = _split(text, ()) if len(owners[c]) > 1 else (text,)
            if len(texts) != len(owners[c]):
                raise count_lines._wrong(c, v, f"{text!r} is not a list of {len(owners[c])} values.")
            count_lines.parts[c, v] = texts
        return count_lines

    def bind(self, schema: Schema, gaussian: Collection[str]) -> tuple[Schema, dict[str, Coarse]]:
        """The schema with its domains, and the columns whose labels are coarser than that."""
        texts: dict[str, dict[str, tuple[int, int]]] = {
            column.name: {} for column in schema.quasi
        }  # and where they stand
        for (c, v), parts in self.parts.items():
            for name, part in zip(self.owners[c], parts, strict=True):
                if name not in gaussian:
                    texts[name].setdefault(part, (c, v))
        observed: dict[str, set[str]] = {}
        for name, places in texts.items():
            column = schema[name]
            observed[name] = set()
            for text, place in places.items():
                try:
                    observed[name].add(column.canonical(text, schema.missing))
                except WrongType:
                    if not column.fixed:
                        raise self._not_whole(place, text, name) from None
                    observed[name] |= missing_leaf(text, schema)
        target = schema[self.sensitive]
        bound = schema.bind(observed | {self.sensitive: set(self.reading.leaves(target, schema))})
        coarse: dict[str, Coarse] = {}
        for name, places in texts.items():
            rows = self.rows[name] = Rows(bound[name], bound, places)
            for text in rows.unknown:
                column = bound[name]
                try:
                    column.canonical(text, schema.missing)
                except WrongType:
                    raise self._not_whole(places[text], text, name) from None
                hint = nearest(text, column.leaves)
                raise self._wrong(*places[text], f"{text!r} is not a value of column {name!r}.{hint}")
            if not rows.are_leaves:
                coarse[name] = rows.coarse(self.reading.where)
        return bound, coarse

    def fill(
        self, schema: Schema, tables: Sequence[tuple[str, ...]], coarse: Mapping[str, Coarse], *, exact: bool
    ) -> tuple[Floats, ...]:
        """The counts of each table; of exact ones those that are left out are 0."""
        values = len(schema[self.sensitive].leaves)
        counts = {names: np.full((math.prod(sizes(schema, names, coarse)), values), np.nan) for names in tables}
        rows: dict[tuple[int, int], int] = {}
        for (c, v), parts in self.parts.items():
            if self.owners[c] not in counts:
                continue  # a Gaussian column
            code = 0
            for name, part, size in zip(self.owners[c], parts, sizes(schema, self.owners[c], coarse), strict=True):
                code = code * size + self.rows[name].code(part, coarse.get(name))
            rows[c, v] = code
        self._put(schema, counts, rows)
        for names, table in counts.items():
            absent = int(np.isnan(table).sum())
            if absent and not exact:
                raise InputError(
                    f"{self.reading.where}: {absent} counts of column {join_texts(names)!r} are missing. Noisy counts need every "
                    "value of the domain, also those nobody has: what is left out tells who is not there."
                )
            np.nan_to_num(table, copy=False, nan=0.0)
        return tuple(counts.values())

    def moments(self, schema: Schema, name: str) -> Floats:
        """The n, sum and squares of a Gaussian column."""
        table = np.full((len(QUERIES), len(schema[self.sensitive].leaves)), np.nan)
        rows: dict[tuple[int, int], int] = {}
        for (c, v), parts in self.parts.items():
            if self.owners[c] != (name,):
                continue
            if parts[0] not in QUERIES:
                raise self._wrong(
                    c, v, f"{parts[0]!r} is not one of n, sum and squares, as Gaussian column {name!r} needs."
                )
            rows[c, v] = QUERIES.index(parts[0])
        self._put(schema, {(name,): table}, rows)
        for query, row in zip(QUERIES, table, strict=True):
            absent = int(np.isnan(row).sum())
            if absent:
                raise InputError(
                    f"{self.reading.where}: {absent} of the rows {query!r} of Gaussian column {name!r} are missing. It needs n, "
                    "sum and squares of every sensitive value."
                )
        return table

    def _put(
        self, schema: Schema, tables: Mapping[tuple[str, ...], Floats], rows: Mapping[tuple[int, int], int]
    ) -> None:
        reading = self.reading
        values = reading.leaf_codes(schema[self.sensitive], schema)
        for c, v, s, amount in zip(
            reading.codes("column").tolist(),
            reading.codes("value").tolist(),
            values.tolist(),
            _amounts(reading).tolist(),
            strict=True,
        ):
            if (c, v) not in rows:
                continue
            names, row = self.owners[c], rows[c, v]
            if not np.isnan(tables[names][row, s]):
                raise InputError(
                    f"{reading.where}: column {join_texts(names)!r}, value {join_texts(self.parts[c, v])!r}: a count is "
                    "given twice."
                )
            tables[names][row, s] = amount
        if (reading.counts > 1).any():
            raise InputError(f"{reading.where}: a count is given twice.")

    def _wrong(self, c: int, v: int, what: str) -> InputError:
        place = {"column": [self.reading.texts("column")[c]], "value": [self.reading.texts("value")[v]]}
        return InputError(f"{self.reading.where}, {place_of(self.reading.rows, place)}: {what}")

    def _not_whole(self, place: tuple[int, int], text: str, name: str) -> InputError:
        return self._wrong(*place, f"{text!r} is not a whole number, as column {name!r} needs.")


def join_texts(texts: tuple[str, ...]) -> str:
    """One text as it is, several as a JSON list."""
    return texts[0] if len(texts) == 1 else json.dumps(list(texts), ensure_ascii=False)


def _split(text: str, known: Collection[str]) -> tuple[str, ...]:
    """The names that a cell of the column `column` holds."""
    if text not in known and text.startswith("["):
        try:
            names = json.loads(text)
        except json.JSONDecodeError:
            return (text,)
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return tuple(names)
    return (text,)


def _amounts(reading: Reading) -> Floats:
    numbers = []
    for text in reading.texts("count"):
        number = plain_number(text)
        if math.isnan(number):
            raise InputError(f"{reading.where}, {reading.locate('count', text)}: the count {text!r} is not a number.")
        if abs(number) > MAX_COUNT:
            raise InputError(
                f"{reading.where}, {reading.locate('count', text)}: the count {text!r} is larger than any count can be (2^63)."
            )
        numbers.append(number)
    return np.array(numbers)[reading.codes("count")]
