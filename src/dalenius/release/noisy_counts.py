"""Noisy counts: how many people have each (quasi-identifier value, sensitive value), published with noise."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dalenius.engine import Engine, place_of
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
    """`counts[j][v, s]` of table j; negative ones are noise, not an error. `epsilon` is the DP budget.

    A table is about one quasi-identifier, or about several jointly (`joint`, by name; v runs through their combinations,
    the last one's values fastest); `tables` lists them: each alone, then the joint ones.
    """

    kind = "noisy-counts"
    schema: Schema
    sensitive: str
    counts: tuple[NDArray[np.float64], ...]
    mechanism: Mechanism
    scale: float
    epsilon: float | None
    sensitivity: float
    neighbours: Neighbours
    joint: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        owner = "noisy counts"
        if self.mechanism not in MECHANISMS:
            raise ParameterError("mechanism", owner, f"one of {listing(MECHANISMS)}", self.mechanism)
        if self.neighbours not in NEIGHBOURS:
            raise ParameterError("neighbours", owner, f"one of {listing(NEIGHBOURS)}", self.neighbours)
        if not _is_number(self.sensitivity) or self.sensitivity <= 0:
            raise ParameterError("sensitivity", owner, "a number > 0", self.sensitivity)
        shapes = [
            (math.prod(len(self.schema[name].leaves) for name in names), len(self.target.leaves))
            for names in self.tables
        ]
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
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The quasi-identifiers of each table."""
        return tables_of(self.schema, self.joint)

    def leaves(self, names: tuple[str, ...]) -> list[tuple[str, ...]]:
        """What each row of a table is about: a value of each of its quasi-identifiers."""
        return list(itertools.product(*(self.schema[name].leaves for name in names)))

    @property
    def target(self) -> Column:
        return self.schema[self.sensitive]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NoisyCounts):
            return NotImplemented
        return (
            same_columns(self.schema, other.schema)
            and all(getattr(self, name) == getattr(other, name) for name in ("sensitive", "joint", *_META))
            and all(np.array_equal(a, b) for a, b in zip(self.counts, other.counts, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def write(self, name: str | Path) -> None:
        """`NAME.counts.csv` and `NAME.json`."""
        write_texts(dict(zip(paths_of(name), self.texts(), strict=True)))

    def texts(self) -> tuple[str, str]:
        """What stands in the two files."""
        if self.sensitive.casefold() in ("column", "value", "count"):
            raise InputError(
                f"Noisy counts need the name {self.sensitive!r} for a column of their own. Rename the column."
            )
        values = self.target.leaves
        lines: list[list[object]] = [
            [_written(names), _written(leaf), value, _number(float(table[v, s]))]
            for names, table in zip(self.tables, self.counts, strict=True)
            for v, leaf in enumerate(self.leaves(names))
            for s, value in enumerate(values)
        ]
        meta = {key: getattr(self, key) for key in _META}
        text = json.dumps(meta, indent=2, allow_nan=False) + "\n"
        return csv_text(["column", "value", self.sensitive, "count"], lines), text


def tables_of(schema: Schema, joint: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The quasi-identifiers that no joint table has, each alone, and then the joint tables."""
    quasi = [column.name for column in schema.quasi]
    together = [name for names in joint for name in names]
    for name in together:
        if name not in quasi:
            raise InputError(f"{name!r} is not a quasi-identifier.{nearest(name, quasi)}")
        if together.count(name) > 1:
            raise InputError(f"{name!r} is in two joint tables, or twice in one.")
    if any(len(names) < 2 for names in joint):
        raise InputError("A joint table is about two quasi-identifiers at least.")
    ordered = sorted((tuple(names) for names in joint), key=lambda names: quasi.index(names[0]))
    return (*((name,) for name in quasi if name not in together), *ordered)


def _written(texts: tuple[str, ...]) -> str:
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
    rows = engine.files.open(files[0])
    names = [column.name for column in schema.sensitive]
    if len(rows.columns) != 4 or {"column", "value", "count"} - set(rows.columns):
        raise InputError(f"{rows.name}: the columns must be column, value, the sensitive column and count.")
    sensitive = next(name for name in rows.columns if name not in ("column", "value", "count"))
    if sensitive not in names:
        raise InputError(f"{rows.name}: {sensitive!r} is not a sensitive column.{nearest(sensitive, names)}")
    reading = Reading.counting(rows, ["column", "value", sensitive, "count"], weighted=False)
    target = schema[sensitive]
    known = [column.name for column in schema.quasi]
    owners: dict[int, tuple[str, ...]] = {}  # the names that each text of `column` holds
    for i, text in enumerate(reading.texts("column")):
        owners[i] = _split(text, known)
        for name in owners[i]:
            if name not in known:
                raise InputError(
                    f"{rows.name}, {reading.locate('column', text)}: {name!r} is not a quasi-identifier."
                    f"{nearest(name, known)}"
                )
    joint = tuple(sorted({names for names in owners.values() if len(names) > 1}, key=lambda n: known.index(n[0])))
    tables_of(schema, joint)
    parsed = _parsed(reading, owners, schema)
    observed: dict[str, set[str]] = {name: set() for name in known}
    for (c, _), leaves in parsed.items():
        for name, leaf in zip(owners[c], leaves, strict=True):
            observed[name].add(leaf)
    bound = schema.bind(observed | {sensitive: set(reading.leaves(target, schema))})
    counts = _fill(reading, bound, bound[sensitive], owners, parsed, joint, meta["mechanism"] == "none")
    return NoisyCounts(bound, sensitive, counts, **{key: meta[key] for key in _META}, joint=joint)


Parsed = dict[tuple[int, int], tuple[str, ...]]  # codes of `column` and of `value`: the leaves


def _parsed(reading: Reading, owners: dict[int, tuple[str, ...]], schema: Schema) -> Parsed:
    found: Parsed = {}
    for c, v in sorted(set(zip(reading.codes("column").tolist(), reading.codes("value").tolist(), strict=True))):
        text = reading.texts("value")[v]
        texts = _split(text, ()) if len(owners[c]) > 1 else (text,)
        if len(texts) != len(owners[c]):
            raise _wrong(reading, c, v, f"{text!r} is not a list of {len(owners[c])} values.")
        leaves = []
        for name, part in zip(owners[c], texts, strict=True):
            try:
                leaves.append(schema[name].canonical(part, schema.missing))
            except ValueError:
                raise _wrong(reading, c, v, f"{part!r} is not a whole number, as column {name!r} needs.") from None
        found[c, v] = tuple(leaves)
    return found


def _wrong(reading: Reading, c: int, v: int, what: str) -> InputError:
    place = {"column": [reading.texts("column")[c]], "value": [reading.texts("value")[v]]}
    return InputError(f"{reading.where}, {place_of(reading.rows, place)}: {what}")


def _fill(
    reading: Reading,
    schema: Schema,
    target: Column,
    owners: dict[int, tuple[str, ...]],
    parsed: Parsed,
    joint: tuple[tuple[str, ...], ...],
    exact: bool,
) -> tuple[NDArray[np.float64], ...]:
    values = reading.leaf_codes(target, schema)
    tables = {
        names: np.full((math.prod(len(schema[name].leaves) for name in names), len(target.leaves)), np.nan)
        for names in tables_of(schema, joint)
    }
    amounts = _amounts(reading)
    for c, v, s, amount in zip(
        reading.codes("column").tolist(),
        reading.codes("value").tolist(),
        values.tolist(),
        amounts.tolist(),
        strict=True,
    ):
        names, code = owners[c], 0
        for name, leaf in zip(names, parsed[c, v], strict=True):
            domain = schema[name].domain
            assert domain is not None
            if domain.code(leaf) < 0:
                hint = nearest(leaf, domain.leaves)
                raise _wrong(reading, c, v, f"{leaf!r} is not a value of column {name!r}.{hint}")
            code = code * len(domain) + domain.code(leaf)
        if not np.isnan(tables[names][code, s]):
            raise InputError(
                f"{reading.where}: column {_written(names)!r}, value {_written(parsed[c, v])!r}: a count is given twice."
            )
        tables[names][code, s] = amount
    if (reading.counts > 1).any():
        raise InputError(f"{reading.where}: a count is given twice.")
    for names, table in tables.items():
        absent = int(np.isnan(table).sum())
        if absent and not exact:
            raise InputError(
                f"{reading.where}: {absent} counts of column {_written(names)!r} are missing. Noisy counts need every value "
                "of the domain, also those nobody has: what is left out tells who is not there."
            )
        np.nan_to_num(table, copy=False, nan=0.0)
    return tuple(tables.values())


def _amounts(reading: Reading) -> NDArray[np.float64]:
    numbers = []
    for text in reading.texts("count"):
        number = plain_number(text)
        if math.isnan(number):
            raise InputError(f"{reading.where}, {reading.locate('count', text)}: the count {text!r} is not a number.")
        numbers.append(number)
    return np.array(numbers)[reading.codes("count")]
