"""Noisy counts: how many people have each (quasi-identifier value, sensitive value), under ε-differential privacy.

Everybody is counted once in each table, so that adding or removing a person changes the counts by as many as there are
tables, and replacing one by twice that. The noise is OpenDP's, and so is the ε that is recorded. Domains come from the
schema, never from the data: which values occur is told by the counts alone. A Gaussian column is three queries in place of
a table: n, sum and squares, which a person changes by at most 1, R and R², R being the distance of its bounds.

With m tables and g Gaussian columns there are m + 3g queries, each with ε/(m + 3g): measured in what one person changes a
query by, the sensitivity is m + 3g, twice that if a person is replaced (by one with another sensitive value, who enters
three sums elsewhere), and scale = sensitivity/ε is the noise of each query in that measure.

`Simulation` draws noise of the same distribution from NumPy with a seed, for experiments. It is not fit for a release, and
what it makes cannot be written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dalenius.engine import TableName
from dalenius.errors import InputError, ParameterError, check_seed, listing, nearest
from dalenius.publish.base import Published
from dalenius.release import NoisyCounts
from dalenius.release.coarse import Coarse, at_level, sizes
from dalenius.release.moments import QUERIES, Moments, check_bounds, check_columns, numbers_of, units
from dalenius.release.noisy_counts import NEIGHBOURS, Mechanism, Neighbours, paths_of, tables_of
from dalenius.schema import Schema
from dalenius.table import Cells, Table

LEAST, MOST = 1e-9, 1e9  # of ε: what lies beyond is noise alone, or none at all
NOISES: tuple[Mechanism, ...] = ("geometric", "laplace")
CELLS = 5_000_000  # of one table at most: every one is drawn and written, also those that nobody has
Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Counted = TypeVar("Counted", bound=NoisyCounts)


@dataclass(frozen=True, slots=True)
class _Counting:
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
        if not LEAST <= self.epsilon <= MOST:
            raise ParameterError("epsilon", owner, f"a number > 0, from {LEAST:g} to {MOST:g}", self.epsilon)
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


def _by_column(option: str, given: Any) -> tuple[tuple[str, Any], ...]:
    """Pairs of a column and what is given for it, which can be hashed."""
    pairs = tuple(given.items()) if isinstance(given, Mapping) else given
    if not isinstance(pairs, tuple) or not all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    ):
        raise ParameterError(option, "noisy counts", "a mapping from columns, or a tuple of pairs", given)
    if len(dict(pairs)) < len(pairs):
        raise InputError(f"The '{option}' of noisy counts name a column twice. Keep one.")
    return pairs


@dataclass(frozen=True, slots=True)
class Counts(_Counting):
    """The publisher. `joint` names quasi-identifiers that are counted together, in one table in place of several.

    `levels` has columns that are counted at a level of their hierarchy; `gaussian` integer columns of which n, sum and
    squares are published, clipped to bounds (LOW, HIGH).
    """

    def publish(self, table: Table) -> PublishedCounts:
        """Count everybody and draw the noise, once."""
        dp = _opendp()
        truth = self.exact(table)
        scale, epsilon, measurements = _measurements(dp, self, truth)
        kind = int if self.noise == "geometric" else float
        drawn = [
            np.array(measurement([kind(number) for number in query.tolist()]), dtype=np.float64)
            for measurement, query in zip(measurements, truth.queries(), strict=True)
        ]
        return PublishedCounts(self, table, truth.release(NoisyCounts, self, drawn, scale, epsilon))


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise InputError(
            "Noisy counts draw their noise from OpenDP, which is not installed. Install it with: pip install 'dalenius[dp]'"
        ) from None
    dp.enable_features("contrib")
    return dp


def _measurements(dp: Any, wanted: _Counting, truth: Exact) -> tuple[float, float, list[Any]]:
    """The scale, ε and OpenDP's measurement of each query: the smallest scale whose ε, by OpenDP's maps, is not above ours."""
    one = wanted.sensitivity(1)
    if wanted.noise == "geometric":
        domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        make: Any = dp.m.make_geometric
        kind: type[int] | type[float] = int
    else:
        domain, metric = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
        make, kind = dp.m.make_laplace, float
    scale = wanted.sensitivity(truth.asked) / wanted.epsilon
    while True:
        measurements = [make(domain, metric, scale=scale * unit) for unit in truth.units()]
        spent = [
            measurement.map(d_in=kind(one * unit * times))
            for measurement, unit, times in zip(measurements, truth.units(), truth.times(), strict=True)
        ]
        epsilon = _sum_upwards(spent)
        if epsilon <= wanted.epsilon:
            return scale, epsilon, measurements
        scale = math.nextafter(scale, math.inf)  # OpenDP's arithmetic rounds upwards, and so does ours


def _sum_upwards(numbers: Sequence[float]) -> float:
    """The smallest float that is not below the sum."""
    exactly = sum(map(Fraction, numbers))
    found = float(exactly)
    return found if Fraction(found) >= exactly else math.nextafter(found, math.inf)


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
    def asked(self) -> int:
        """How many queries share the budget: a table is one, a Gaussian column three."""
        return len(self.tables) + len(QUERIES) * len(self.bounds)

    @property
    def sizes(self) -> list[int]:
        """How many numbers of the first vector are of each table, and of each n."""
        return [counts.size for counts in self.counts] + [own.shape[1] for own in self.moments.values()]

    def units(self) -> list[int]:
        """What one person changes each vector of numbers by, in each of its queries."""
        return [1, *(unit for own in self.bounds.values() for unit in units(*own)[1:])]

    def times(self) -> list[int]:
        """How many queries each vector holds: the first one all tables and every n."""
        return [len(self.tables) + len(self.bounds), *(1 for _ in self.units()[1:])]

    def queries(self) -> list[Longs]:
        """The vectors: what has noise of one scale together."""
        first = [counts.ravel() for counts in self.counts] + [own[0] for own in self.moments.values()]
        return [np.concatenate(first), *(row for own in self.moments.values() for row in own[1:])]

    def release(
        self, kind: type[Counted], wanted: _Counting, drawn: list[Floats], scale: float, epsilon: float
    ) -> Counted:
        """A release of numbers with noise, in the order of `queries`."""
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
            float(wanted.sensitivity(self.asked)),
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
    """What is counted, without noise. Refuses domains that only the data tell."""
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
                f"Column {column.name!r} has no declared values, and taking them from the data would tell who is there. "
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
    """The labels of the columns that are not counted value by value."""
    known = [column.name for column in bound.quasi]
    found = {}
    for name, level in levels.items():
        if name not in known:
            raise InputError(f"{name!r} is not a quasi-identifier, so it has no level.{nearest(name, known)}")
        coarse = at_level(bound[name], level, bound)
        if coarse is not None:
            found[name] = coarse
    return found


def _check_size(bound: Schema, names: tuple[str, ...], coarse: Mapping[str, Coarse]) -> None:
    """Refuse a table of more counts than can be drawn and written."""
    cells = math.prod(sizes(bound, (*names, bound.sensitive[0].name), coarse))
    if cells > CELLS:
        remedy = (
            "Count fewer columns together, count them at a level, or declare smaller domains."
            if len(names) > 1
            else "Count it at a level, or declare a smaller domain."
        )
        raise InputError(
            f"The table of {' × '.join(names)} and {bound.sensitive[0].name} has {cells:,} counts, one for each "
            f"combination of declared values; at most {CELLS:,} can be published. {remedy}"
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
    """n, sum and squares of a Gaussian column by sensitive value; who has no number is in none of them."""
    numbers = numbers_of(cells.schema[name])[cells.codes[:, [c.name for c in cells.schema.quasi].index(name)]]
    known = ~np.isnan(numbers)
    x = np.clip(numbers[known], low, high).astype(np.int64) - low
    found = np.zeros((len(QUERIES), cells.sizes[-1]), dtype=np.int64)
    for query, each in enumerate((np.ones_like(x), x, x**2)):
        np.add.at(found[query], cells.codes[known, -1], each * cells.counts[known])
    return found


@dataclass(eq=False)
class PublishedCounts(Published):
    """The noisy counts. What is described of them was known before the table was looked at."""

    kind = NoisyCounts.kind
    publisher: Counts
    table: Table
    counts: NoisyCounts = field(repr=False)

    @property
    def release(self) -> NoisyCounts:
        return self.counts

    @cached_property
    def _opendp_version(self) -> str:
        from importlib.metadata import version

        return version("opendp")

    def describe(self) -> dict[str, Any]:
        release = self.release
        return {
            "method": "noisy-counts",
            "criteria": [f"ε = {release.epsilon:g} differential privacy ({release.neighbours})"],
            "mechanism": release.mechanism,
            "epsilon": release.epsilon,
            "scale": release.scale,
            "sensitivity": release.sensitivity,
            "neighbours": release.neighbours,
            "tables": [list(names) for names in release.tables],
            "levels": dict(self.publisher.levels),
            "gaussian": {name: {"low": one.low, "high": one.high} for name, one in release.moments.items()},
            "noise": f"OpenDP {self._opendp_version}",
        }

    def files(self, path: Path) -> tuple[Path, ...]:
        return paths_of(path)

    def _write_rows(self, targets: Sequence[Path | TableName], *, shuffle: bool) -> None:
        if shuffle:
            raise InputError("Noisy counts have no rows to shuffle: leave --shuffle out.")
        for path, text in zip(targets, self.release.texts(), strict=True):
            assert isinstance(path, Path)
            path.write_text(text, encoding="utf-8", newline="")


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedCounts(NoisyCounts):
    """Counts with simulated noise: adversaries can be tried on them, and nothing can be written."""

    kind = "simulated-noisy-counts"

    def texts(self) -> tuple[str, str]:
        raise InputError(
            "Simulated noise comes from a seeded generator, which an attacker could run again: it is for experiments and is "
            "never written. Publish with dalenius.publish.noisy_counts.Counts."
        )


@dataclass(frozen=True, slots=True)
class Simulation(_Counting):
    """Seeded noise of the same distribution, for experiments only."""

    def draw(self, table: Table, seed: int) -> SimulatedCounts:
        """Counts with noise that this seed gives."""
        check_seed(seed, "the simulation")
        truth = self.exact(table)
        rng = np.random.default_rng(seed)
        scale = self.sensitivity(truth.asked) / self.epsilon
        first, *others = truth.queries()
        noise = np.concatenate([self._noise(rng, scale, size) for size in truth.sizes])
        drawn = [first + noise]
        drawn += [
            query + self._noise(rng, scale * unit, query.size)
            for unit, query in zip(truth.units()[1:], others, strict=True)
        ]
        return truth.release(SimulatedCounts, self, drawn, scale, self.epsilon)

    def _noise(self, rng: np.random.Generator, scale: float, size: int) -> Floats:
        if self.noise == "laplace":
            return rng.laplace(scale=scale, size=size)
        # The difference of two geometric numbers: P(x) ∝ exp(−|x|/scale).
        p = -math.expm1(-1 / scale)
        return (rng.geometric(p, size) - rng.geometric(p, size)).astype(np.float64)
