"""What is counted for noisy counts: which tables, at which levels, and what one person changes in them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from dalenius.arrays import Floats, Longs
from dalenius.errors import InputError, ParameterError, listing, nearest
from dalenius.releases import NoisyCounts
from dalenius.releases.coarse import Coarse, at_level, sizes
from dalenius.releases.moments import QUERIES, Moments, check_bounds, check_columns, numbers_of, units
from dalenius.releases.noisy_counts import NEIGHBOURS, Mechanism, Neighbours, tables_of
from dalenius.schema import Schema
from dalenius.table import Cells, Table

__all__ = [
    "MAX_CELLS",
    "MAX_EPSILON",
    "MIN_EPSILON",
    "NOISES",
    "WHOLE_NUMBER",
    "Counted",
    "Counting",
    "Exact",
    "bounds_of",
    "exact",
    "joint_of",
    "levels_of",
    "parameters",
]

MIN_EPSILON, MAX_EPSILON = 1e-9, 1e9  # beyond this there is only noise, or none
NOISES: tuple[Mechanism, ...] = ("geometric", "laplace")
MAX_CELLS = 5_000_000  # of one table: each is drawn and written, even if nobody has it
WHOLE_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*", re.ASCII)
Counted = TypeVar("Counted", bound=NoisyCounts)


@dataclass(frozen=True, slots=True)
class Counting:
    """What the publisher and the simulation share: which counts, what budget, which neighbours."""

    epsilon: float
    noise: Mechanism = "geometric"
    neighbours: Neighbours = "add-remove"
    joint: tuple[tuple[str, ...], ...] = ()
    levels: Mapping[str, int] | tuple[tuple[str, int], ...] = ()
    gaussian: Mapping[str, tuple[int, int]] | tuple[tuple[str, tuple[int, int]], ...] = ()

    def __post_init__(self) -> None:
        owner = "noisy counts"
        number = isinstance(self.epsilon, int | float) and not isinstance(self.epsilon, bool)
        if not number or not 0 < self.epsilon < math.inf:
            raise ParameterError("epsilon", owner, "a number > 0", self.epsilon)
        if not MIN_EPSILON <= self.epsilon <= MAX_EPSILON:
            raise ParameterError(
                "epsilon", owner, f"a number > 0, from {MIN_EPSILON:g} to {MAX_EPSILON:g}", self.epsilon
            )
        if self.noise not in NOISES:
            raise ParameterError("noise", owner, f"one of {listing(NOISES)}", self.noise)
        if self.neighbours not in NEIGHBOURS:
            raise ParameterError("neighbours", owner, f"one of {listing(NEIGHBOURS)}", self.neighbours)
        for option in ("levels", "gaussian"):
            object.__setattr__(self, option, _by_column(option, getattr(self, option)))
        for name, bounds in dict(self.gaussian).items():
            if not isinstance(bounds, tuple) or len(bounds) != 2:
                raise ParameterError("gaussian", owner, "two bounds (LOW, HIGH) for each column", bounds)
            check_bounds(*bounds, f"Gaussian column {name!r}")
            if name in dict(self.levels):
                raise InputError(
                    f"Column {name!r} is Gaussian and not counted: it has no level. Leave one of the two out."
                )

    def sensitivity(self, queries: int) -> int:
        return queries if self.neighbours == "add-remove" else 2 * queries

    def exact(self, table: Table) -> Exact:
        return exact(table, self.joint, dict(self.levels), dict(self.gaussian))


def _by_column(option: str, columns: Any) -> tuple[tuple[str, Any], ...]:
    """Return hashable pairs of a column and its setting."""
    pairs = tuple(columns.items()) if isinstance(columns, Mapping) else columns
    if not isinstance(pairs, tuple) or not all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    ):
        raise ParameterError(option, "noisy counts", "a mapping from columns, or a tuple of pairs", columns)
    if len(dict(pairs)) < len(pairs):
        raise InputError(f"The '{option}' of noisy counts name a column twice. Keep one.")
    return pairs


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """The counts and moments without noise, and what each table is about."""

    schema: Schema
    tables: tuple[tuple[str, ...], ...]
    counts: list[Longs]
    coarse: dict[str, Coarse]
    bounds: dict[str, tuple[int, int]]
    moments: dict[str, Longs]

    @property
    def query_count(self) -> int:
        """How many queries share the budget: a table is one, a Gaussian column three."""
        return len(self.tables) + len(QUERIES) * len(self.bounds)

    @property
    def sizes(self) -> list[int]:
        """How many numbers of the first vector are of each table, and of each n."""
        return [counts.size for counts in self.counts] + [own.shape[1] for own in self.moments.values()]

    def units(self) -> list[int]:
        """Return what one person changes each vector of numbers by, in each of its queries."""
        return [1, *(unit for own in self.bounds.values() for unit in units(*own)[1:])]

    def times(self) -> list[int]:
        """Return how many queries each vector holds: the first one all tables and every n."""
        return [len(self.tables) + len(self.bounds), *(1 for _ in self.units()[1:])]

    def queries(self) -> list[Longs]:
        """Return the vectors: what has noise of one scale together."""
        first = [counts.ravel() for counts in self.counts] + [own[0] for own in self.moments.values()]
        return [np.concatenate(first), *(row for own in self.moments.values() for row in own[1:])]

    def release(
        self, kind: type[Counted], wanted: Counting, drawn: list[Floats], scale: float, epsilon: float
    ) -> Counted:
        """Return a release of numbers with noise, in the order of `queries`."""
        parts = np.split(drawn[0], np.cumsum(self.sizes)[:-1])
        tables = [part.reshape(counts.shape) for part, counts in zip(parts, self.counts, strict=False)]
        moments = {
            name: Moments(*own, np.stack([parts[len(tables) + i], drawn[1 + 2 * i], drawn[2 + 2 * i]]))
            for i, (name, own) in enumerate(self.bounds.items())
        }
        return kind(
            self.schema,
            self.schema.sensitive[0].name,
            tuple(tables),
            wanted.noise,
            scale,
            epsilon,
            float(wanted.sensitivity(self.query_count)),
            wanted.neighbours,
            tuple(names for names in self.tables if len(names) > 1),
            self.coarse,
            moments,
        )


def exact(
    table: Table,
    joint: Sequence[tuple[str, ...]],
    levels: Mapping[str, int] | None = None,
    gaussian: Mapping[str, tuple[int, int]] | None = None,
) -> Exact:
    """Return the counts without noise. Refuse domains that are known from the data only."""
    declared, levels, gaussian = table.declared, levels or {}, gaussian or {}
    if len(declared.sensitive) > 1:
        raise InputError(
            f"Noisy counts are about one sensitive column, and {declared.source} has {len(declared.sensitive)}. "
            'Give the others role = "other".'
        )
    check_columns(declared, gaussian)
    tables = tables_of(declared, joint, gaussian)
    for column in declared.coded:
        if not column.fixed:
            raise InputError(
                f"Column {column.name!r} has no declared values, and taking them from the data would reveal who is in the table. "
                f"Declare domain = […] in {declared.source}."
            )
    bound = declared.bind({})
    coarse = _coarse(bound, levels)
    for names in tables:
        _check_size(bound, names, coarse)
    cells = table.cells()
    for column in cells.schema.coded:
        if len(column.leaves) > len(bound[column.name].leaves):
            raise InputError(
                f"Column {column.name!r} has missing values, and its declared domain has none: that somebody lacks a value "
                'would be told without noise. Add "" to the domain.'
            )
    counts = [_table(cells, names, coarse) for names in tables]
    moments = {name: _moments(cells, name, *own) for name, own in gaussian.items()}
    return Exact(cells.schema, tables, counts, coarse, dict(gaussian), moments)


def _coarse(bound: Schema, levels: Mapping[str, int]) -> dict[str, Coarse]:
    """Return the labels of the columns that are not counted value by value."""
    known = [column.name for column in bound.quasi]
    coarse_columns = {}
    for name, level in levels.items():
        if name not in known:
            raise InputError(f"{name!r} is not a quasi-identifier, so it has no level.{nearest(name, known)}")
        coarse = at_level(bound[name], level, bound)
        if coarse is not None:
            coarse_columns[name] = coarse
    return coarse_columns


def _check_size(bound: Schema, names: tuple[str, ...], coarse: Mapping[str, Coarse]) -> None:
    """Refuse a table of more counts than can be drawn and written."""
    cells = math.prod(sizes(bound, (*names, bound.sensitive[0].name), coarse))
    if cells > MAX_CELLS:
        remedy = (
            "Count fewer columns together, count them at a level, or declare smaller domains."
            if len(names) > 1
            else "Count it at a level, or declare a smaller domain."
        )
        raise InputError(
            f"The table of {' × '.join(names)} and {bound.sensitive[0].name} has {cells:,} counts, one for each "
            f"combination of declared values; at most {MAX_CELLS:,} can be published. {remedy}"
        )


def _table(cells: Cells, names: tuple[str, ...], coarse: Mapping[str, Coarse]) -> Longs:
    quasi = [column.name for column in cells.schema.quasi]
    code = np.zeros(len(cells), dtype=np.int64)
    rows = 1
    for name, size in zip(names, sizes(cells.schema, names, coarse), strict=True):
        own = cells.codes[:, quasi.index(name)]
        code = code * size + (coarse[name].node[own] if name in coarse else own)
        rows *= size
    values = cells.sizes[-1]
    counted = np.bincount(code * values + cells.codes[:, -1], weights=cells.counts, minlength=rows * values)
    return counted.astype(np.int64).reshape(rows, values)


def _moments(cells: Cells, name: str, low: int, high: int) -> Longs:
    """Return n, sum and squares of a Gaussian column by sensitive value, leaving out people without a number."""
    numbers = numbers_of(cells.schema[name])[cells.codes[:, [c.name for c in cells.schema.quasi].index(name)]]
    known = ~np.isnan(numbers)
    x = np.clip(numbers[known], low, high).astype(np.int64) - low
    sums = np.zeros((len(QUERIES), cells.sizes[-1]), dtype=np.int64)
    for query, each in enumerate((np.ones_like(x), x, x**2)):
        np.add.at(sums[query], cells.codes[known, -1], each * cells.counts[known])
    return sums


def parameters(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that options ask for: `--joint A,B`, `--level COLUMN=1`, `--gaussian COLUMN=0:99` and others."""
    return {
        **{name: value for name, value in chosen.items() if name not in ("joint", "level", "gaussian")},
        "joint": joint_of(chosen.get("joint", ())),
        "levels": levels_of(chosen.get("level", ())),
        "gaussian": bounds_of(chosen.get("gaussian", ())),
    }


def joint_of(items: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return what --joint says: columns that are counted together."""
    return tuple(tuple(name.strip() for name in names.split(",")) for names in items)


def levels_of(items: Sequence[str]) -> dict[str, int]:
    """Return what --level says: COLUMN=LEVEL."""
    return {name: level for name, (level,) in _of_columns("--level", "COLUMN=1", items).items()}


def bounds_of(items: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return what --gaussian says: COLUMN=LOW:HIGH."""
    return {name: (low, high) for name, (low, high) in _of_columns("--gaussian", "COLUMN=0:99", items).items()}


def _of_columns(option: str, example: str, items: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the whole numbers that an option gives each column, as many as in its example."""
    bounds: dict[str, tuple[int, ...]] = {}
    for item in items:
        name, _, text = item.rpartition("=")
        numbers = text.split(":")
        if (
            not name.strip()
            or len(numbers) != example.count(":") + 1
            or not all(WHOLE_NUMBER.fullmatch(number) for number in numbers)
        ):
            raise InputError(f"{option} {item!r}: write a column and whole numbers like {option} {example}.")
        if name.strip() in bounds:
            raise InputError(f"{option} names column {name.strip()!r} twice. Keep one.")
        bounds[name.strip()] = tuple(int(number) for number in numbers)
    return bounds
