"""Noisy counts: how many people have each (quasi-identifier value, sensitive value), published with noise."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from dalenius.arrays import Floats, Ints
from dalenius.engines import Engine, Source
from dalenius.errors import DaleniusError, InputError, ParameterError, counted, is_finite, listing, nearest
from dalenius.output import csv_text
from dalenius.releases import sidecar
from dalenius.releases.base import Release, same_columns
from dalenius.releases.coarse import Coarse, sizes
from dalenius.releases.count_lines import CountLines, join_texts
from dalenius.releases.files import FileNames, as_path
from dalenius.releases.moments import QUERIES, Moments, bounds_of, check_columns
from dalenius.releases.sidecar import load_json
from dalenius.schema import Column, Schema

__all__ = [
    "MECHANISMS",
    "NEIGHBOURS",
    "ROUNDING",
    "Mechanism",
    "Neighbours",
    "NoisyCounts",
    "paths_of",
    "read",
    "tables_of",
]

Mechanism = Literal["geometric", "laplace", "none"]
Neighbours = Literal["add-remove", "replace"]
MECHANISMS = ("geometric", "laplace", "none")
NEIGHBOURS = ("add-remove", "replace")
_META = ("mechanism", "scale", "epsilon", "sensitivity", "neighbours")
ROUNDING = 1e-6  # how far, relatively, a stated ε may lie below the real one: somebody wrote 0.333333


@dataclass(frozen=True, slots=True, eq=False)
class NoisyCounts(Release):
    """`noisy[j][v, s]` is a count of table j; negative ones are noise, not an error. `epsilon` is the DP budget as it is stated.

    `noise_epsilon` is what the noise gives. A stated budget below that is refused.

    A table is about one quasi-identifier, or about several jointly (`joint`, by name; v runs through their combinations,
    the last one's values fastest); `tables` lists them: each alone, then the joint ones. A column in `coarse` is counted at
    labels in place of its leaves. One in `moments` has no table: its n, sum and squares are published.
    """

    kind = "noisy-counts"
    description = "Counts of people by quasi-identifier and sensitive value, published with noise."
    file_names = FileNames((".counts.csv", ".json"))
    schema: Schema
    sensitive: str
    noisy: tuple[Floats, ...]
    mechanism: Mechanism
    scale: float
    epsilon: float | None
    sensitivity: float
    neighbours: Neighbours
    joint: tuple[tuple[str, ...], ...] = ()
    coarse: Mapping[str, Coarse] = field(default_factory=dict)
    moments: Mapping[str, Moments] = field(default_factory=dict)

    def __post_init__(self) -> None:
        owner = "noisy counts"
        if self.mechanism not in MECHANISMS:
            raise ParameterError("mechanism", owner, f"one of {listing(MECHANISMS)}", self.mechanism)
        if self.neighbours not in NEIGHBOURS:
            raise ParameterError("neighbours", owner, f"one of {listing(NEIGHBOURS)}", self.neighbours)
        if not is_finite(self.sensitivity) or self.sensitivity <= 0:
            raise ParameterError("sensitivity", owner, "a number > 0", self.sensitivity)
        check_columns(self.schema, self.moments)
        for name, coarse in self.coarse.items():
            if name in self.moments or len(coarse.node) != len(self.schema[name].leaves):
                raise InputError(f"The labels of column {name!r} are not of its values.")
        values = len(self.target.leaves)
        shapes = [(math.prod(self.sizes(names)), values) for names in self.tables]
        if [table.shape for table in self.noisy] != shapes or not all(np.isfinite(t).all() for t in self.noisy):
            raise InputError(
                "Noisy counts need a finite number for each value of each quasi-identifier and sensitive value."
            )
        if any(moments.values.shape[1] != values for moments in self.moments.values()):
            raise InputError("A Gaussian column needs a finite n, sum and squares for each sensitive value.")
        if self.mechanism == "none":
            if self.epsilon is not None or not is_finite(self.scale) or self.scale != 0:
                raise ParameterError("epsilon", owner, "null, with scale 0, for mechanism none", self.epsilon)
            return
        if not is_finite(self.epsilon) or not self.epsilon or self.epsilon <= 0:
            raise ParameterError("epsilon", owner, "a number > 0", self.epsilon)
        if not is_finite(self.scale) or self.scale <= 0:
            raise ParameterError("scale", owner, "a number > 0", self.scale)
        self._check_epsilon()

    @classmethod
    def open(cls, files: Sequence[Source], schema: Schema, *, engine: Engine) -> NoisyCounts:
        return read((as_path(files[0]), as_path(files[1])), schema, engine=engine)

    def _extent(self) -> str:
        return f": {counted(len(self.noisy), 'table', 'tables')}, {self.mechanism} noise, {self.promise}"

    def _check_epsilon(self) -> None:
        """Refuse a promise that the noise does not keep."""
        real = self.noise_epsilon
        if real is not None and self.epsilon is not None and self.epsilon < real * (1 - ROUNDING):
            raise InputError(
                f"The stated ε = {self.epsilon:.6g} is too small: the noise gives ε = {real:.6g} "
                f"({counted(self.queries, 'query counts', 'queries count')} every person, "
                f"{self.neighbours} neighbours, sensitivity {self.sensitivity:g}, scale {self.scale:g}). State "
                "that ε, or publish again with more noise."
            )

    @property
    def queries(self) -> int:
        """How many times each person is counted: once in every table, three times in a Gaussian column."""
        return len(self.tables) + len(QUERIES) * len(self.moments)

    @property
    def noise_epsilon(self) -> float | None:
        """The ε that the noise gives; None without noise.

        Both noises have P(x) ∝ exp(−|x|/scale), so that ε is what a person changes in all, over the scale. That is 1 in each
        query (a Gaussian column's sums and their noise are both R or R² times as large), and 2 where a person is replaced.
        Whoever declares a larger sensitivity is believed: a person may be in several rows.
        """
        if self.mechanism == "none":
            return None
        changed = self.queries if self.neighbours == "add-remove" else 2 * self.queries
        return float(max(self.sensitivity, changed)) / float(self.scale)

    @property
    def promise(self) -> str:
        """ε in words: what the noise gives, and what is stated where that is more."""
        real = self.noise_epsilon
        if real is None or self.epsilon is None:
            return "no noise"
        loose = f" by its noise; the release states {self.epsilon:g}" if self.epsilon > real * (1 + ROUNDING) else ""
        return f"ε = {real:g}{loose}"

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The quasi-identifiers of each table."""
        return tables_of(self.schema, self.joint, self.moments)

    @property
    def counted(self) -> list[Floats]:
        """Every table in which everybody is counted: `noisy`, and each Gaussian column's n, a table of one row."""
        return [*self.noisy, *(moments.values[:1] for moments in self.moments.values())]

    def sizes(self, names: tuple[str, ...]) -> list[int]:
        """How many rows each of a table's quasi-identifiers has."""
        return sizes(self.schema, names, self.coarse)

    def labels(self, names: tuple[str, ...]) -> list[tuple[str, ...]]:
        """What each row of a table is about: a value, or a label, of each of its quasi-identifiers."""
        return list(
            itertools.product(
                *(self.coarse[name].labels if name in self.coarse else self.schema[name].leaves for name in names)
            )
        )

    def counts(self) -> NoisyCounts:
        return self

    def row_of_leaves(self, name: str) -> Ints:
        """Which row of its table each leaf of a counted quasi-identifier is in."""
        if name in self.coarse:
            return self.coarse[name].node
        return np.arange(len(self.schema[name].leaves), dtype=np.int32)

    @property
    def target(self) -> Column:
        return self.schema[self.sensitive]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NoisyCounts):
            return NotImplemented
        own = ("sensitive", "joint", "coarse", "moments", *_META)
        return (
            same_columns(self.schema, other.schema)
            and all(getattr(self, name) == getattr(other, name) for name in own)
            and all(np.array_equal(a, b) for a, b in zip(self.noisy, other.noisy, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def write(self, name: str | Path) -> None:
        """`NAME.counts.csv` and `NAME.json`."""
        sidecar.write(Path(name), self.kind, dict(zip(paths_of(name), self.texts(), strict=True)))

    def texts(self) -> tuple[str, str]:
        """What stands in the two files."""
        if self.sensitive.casefold() in ("column", "value", "count"):
            raise InputError(
                f"Noisy counts need the name {self.sensitive!r} for a column of their own. Rename the column."
            )
        values = self.target.leaves
        lines: list[list[object]] = [
            [join_texts(names), join_texts(label), value, _number(float(table[v, s]))]
            for names, table in zip(self.tables, self.noisy, strict=True)
            for v, label in enumerate(self.labels(names))
            for s, value in enumerate(values)
        ]
        lines += [
            [name, query, value, _number(float(moments.values[q, s]))]
            for name, moments in self.moments.items()
            for q, query in enumerate(QUERIES)
            for s, value in enumerate(values)
        ]
        meta = {key: getattr(self, key) for key in _META}
        if self.moments:
            meta["gaussian"] = {
                name: {"low": moments.low, "high": moments.high} for name, moments in self.moments.items()
            }
        text = json.dumps(meta, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        return csv_text(["column", "value", self.sensitive, "count"], lines), text


def tables_of(
    schema: Schema, joint: Sequence[tuple[str, ...]], gaussian: Collection[str] = ()
) -> tuple[tuple[str, ...], ...]:
    """The quasi-identifiers that no joint table has, each alone, and then the joint tables. Gaussian ones have none."""
    quasi = [column.name for column in schema.quasi]
    together = [name for names in joint for name in names]
    for name in together:
        if name not in quasi:
            raise InputError(f"{name!r} is not a quasi-identifier.{nearest(name, quasi)}")
        if name in gaussian:
            raise InputError(
                f"Column {name!r} is Gaussian and cannot be counted together with others. Leave it out of the joint table, "
                "or count it."
            )
        if together.count(name) > 1:
            raise InputError(f"{name!r} is in two joint tables, or twice in one.")
    if any(len(names) < 2 for names in joint):
        raise InputError("A joint table is about two quasi-identifiers at least.")
    ordered = sorted((tuple(names) for names in joint), key=lambda names: quasi.index(names[0]))
    return (*((name,) for name in quasi if name not in together and name not in gaussian), *ordered)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def paths_of(name: str | Path) -> tuple[Path, Path]:
    """The two files of a release by its NAME."""
    counts, meta = NoisyCounts.file_names.of(name)
    return counts, meta


def read(files: tuple[Path, Path], schema: Schema, *, engine: Engine) -> NoisyCounts:
    """Counts of every value in the schema's domains, and the metadata that says what noise they carry."""
    meta = load_json(files[1])
    for key in meta:
        if key not in (*_META, "gaussian"):
            known = (*_META, "gaussian")
            raise InputError(
                f"{files[1].name}: unknown key {key!r}.{nearest(key, known)} Known keys: {listing(known)}."
            )
    for key in _META:
        if key not in meta:
            raise InputError(f"{files[1].name}: {key!r} is missing. It needs {listing(_META)}.")
    bounds = bounds_of(meta.get("gaussian", {}), schema, files[1].name)
    rows = engine.files.open(files[0])
    names = [column.name for column in schema.sensitive]
    if len(rows.columns) != 4 or {"column", "value", "count"} - set(rows.columns):
        raise InputError(f"{rows.name}: the columns must be column, value, the sensitive column and count.")
    sensitive = next(name for name in rows.columns if name not in ("column", "value", "count"))
    if sensitive not in names:
        raise InputError(f"{rows.name}: {sensitive!r} is not a sensitive column.{nearest(sensitive, names)}")
    lines = CountLines.of(rows, sensitive, schema)
    tables = tables_of(schema, lines.joint, bounds)
    bound, coarse = lines.bind(schema, bounds)
    counts = lines.fill(bound, tables, coarse, exact=meta["mechanism"] == "none")
    moments = {name: Moments(*own, lines.moments(bound, name)) for name, own in bounds.items()}
    noise = {key: meta[key] for key in _META}
    try:
        return NoisyCounts(bound, sensitive, counts, **noise, joint=lines.joint, coarse=coarse, moments=moments)
    except DaleniusError as error:
        raise InputError(f"{files[1].name}: {error}") from None
