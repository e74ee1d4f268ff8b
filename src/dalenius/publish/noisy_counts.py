"""Noisy counts: how many people have each (quasi-identifier value, sensitive value), under ε-differential privacy.

Everybody is counted once in each table, so that adding or removing a person changes the counts by as many as there are
tables, and replacing one by twice that. The noise is OpenDP's, and so is the ε that is recorded. Domains come from the
schema, never from the data: which values occur is told by the counts alone.

`Simulation` draws noise of the same distribution from NumPy with a seed, for experiments. It is not fit for a release, and
what it makes cannot be written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.engine import TableName
from dalenius.errors import InputError, ParameterError, check_seed, listing
from dalenius.publish.base import Published
from dalenius.release import NoisyCounts
from dalenius.release.noisy_counts import NEIGHBOURS, Mechanism, Neighbours, paths_of, tables_of
from dalenius.schema import Column, Schema
from dalenius.table import Cells, Table

LEAST, MOST = 1e-9, 1e9  # of ε: what lies beyond is noise alone, or none at all
NOISES: tuple[Mechanism, ...] = ("geometric", "laplace")
CELLS = 5_000_000  # of one table at most: every one is drawn and written, also those that nobody has
Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Counting:
    """What the publisher and the simulation share: which counts, what budget, which neighbours."""

    epsilon: float
    noise: Mechanism = "geometric"
    neighbours: Neighbours = "add-remove"
    joint: tuple[tuple[str, ...], ...] = ()

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

    def sensitivity(self, tables: int) -> int:
        return tables if self.neighbours == "add-remove" else 2 * tables


@dataclass(frozen=True, slots=True)
class Counts(_Counting):
    """The publisher. `joint` names quasi-identifiers that are counted together, in one table in place of several."""

    def publish(self, table: Table) -> PublishedCounts:
        """Count everybody and draw the noise, once."""
        dp = _opendp()
        exact, tables = exact_counts(table, self.joint)
        measurement, sensitivity, scale = _measurement(dp, self, len(tables))
        kind = int if self.noise == "geometric" else float
        flat = np.concatenate([counts.ravel() for counts in exact])
        noisy = np.array(measurement([kind(count) for count in flat.tolist()]), dtype=np.float64)
        split = np.split(noisy, np.cumsum([counts.size for counts in exact])[:-1])
        schema = table.schema
        release = NoisyCounts(
            schema,
            schema.sensitive[0].name,
            tuple(part.reshape(counts.shape) for part, counts in zip(split, exact, strict=True)),
            self.noise,
            scale,
            float(measurement.map(d_in=kind(sensitivity))),
            float(sensitivity),
            self.neighbours,
            tuple(names for names in tables if len(names) > 1),
        )
        return PublishedCounts(self, table, release)


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise InputError(
            "Noisy counts draw their noise from OpenDP, which is not installed. Install it with: pip install 'dalenius[dp]'"
        ) from None
    dp.enable_features("contrib")
    return dp


def _measurement(dp: Any, wanted: _Counting, tables: int) -> tuple[Any, int, float]:
    """OpenDP's measurement, the sensitivity and the scale: the smallest whose ε, by OpenDP's map, is not above ours."""
    sensitivity = wanted.sensitivity(tables)
    distance: float = sensitivity
    if wanted.noise == "geometric":
        domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        make = dp.m.make_geometric
    else:
        domain, metric = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
        make, distance = dp.m.make_laplace, float(sensitivity)
    scale = sensitivity / wanted.epsilon
    measurement = make(domain, metric, scale=scale)
    while measurement.map(d_in=distance) > wanted.epsilon:  # its arithmetic rounds upwards
        scale = math.nextafter(scale, math.inf)
        measurement = make(domain, metric, scale=scale)
    return measurement, sensitivity, scale


def exact_counts(table: Table, joint: Sequence[tuple[str, ...]]) -> tuple[list[Longs], tuple[tuple[str, ...], ...]]:
    """The counts without noise, and what each table is about. Refuses domains that only the data tell."""
    declared = table.declared
    if len(declared.sensitive) > 1:
        raise InputError(
            f"Noisy counts are about one sensitive column, and {declared.source} has {len(declared.sensitive)}. "
            'Give the others role = "other".'
        )
    tables = tables_of(declared, joint)
    for column in declared.coded:
        if not column.fixed:
            raise InputError(
                f"Column {column.name!r} has no declared values, and taking them from the data would tell who is there. "
                f"Declare domain = […] in {declared.source}."
            )
    for names in tables:
        _check_size(declared, names)
    cells = table.cells()
    for column in cells.schema.coded:
        if len(column.leaves) > len(_declared_leaves(declared[column.name])):
            raise InputError(
                f"Column {column.name!r} has missing values, and its declared domain has none: that somebody lacks a value "
                'would be told without noise. Add "" to the domain.'
            )
    return [_table(cells, names) for names in tables], tables


def _declared_leaves(column: Column) -> tuple[str, ...]:
    if column.domain is not None:
        return column.domain.leaves
    return column.hierarchy.leaves if column.hierarchy is not None else ()


def _check_size(declared: Schema, names: tuple[str, ...]) -> None:
    """Refuse a table of more counts than can be drawn and written."""
    cells = math.prod(len(_declared_leaves(declared[name])) for name in (*names, declared.sensitive[0].name))
    if cells > CELLS:
        remedy = (
            "Count fewer columns together, or declare smaller domains."
            if len(names) > 1
            else "Declare a smaller domain."
        )
        raise InputError(
            f"The table of {' × '.join(names)} and {declared.sensitive[0].name} has {cells:,} counts, one for each "
            f"combination of declared values; at most {CELLS:,} can be published. {remedy}"
        )


def _table(cells: Cells, names: tuple[str, ...]) -> Longs:
    quasi = [column.name for column in cells.schema.quasi]
    code = np.zeros(len(cells), dtype=np.int64)
    rows = 1
    for name in names:
        j = quasi.index(name)
        code = code * cells.sizes[j] + cells.codes[:, j]
        rows *= cells.sizes[j]
    values = cells.sizes[-1]
    counted = np.bincount(code * values + cells.codes[:, -1], weights=cells.counts, minlength=rows * values)
    return counted.astype(np.int64).reshape(rows, values)


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
        exact, tables = exact_counts(table, self.joint)
        rng = np.random.default_rng(seed)
        sensitivity = self.sensitivity(len(tables))
        scale = sensitivity / self.epsilon
        noisy = []
        for counts in exact:
            if self.noise == "laplace":
                noise = rng.laplace(scale=scale, size=counts.shape)
            else:  # the difference of two geometric numbers: P(x) ∝ exp(−|x|/scale)
                p = -math.expm1(-1 / scale)
                noise = (rng.geometric(p, counts.shape) - rng.geometric(p, counts.shape)).astype(np.float64)
            noisy.append(counts + noise)
        schema = table.schema
        name = schema.sensitive[0].name
        joint = tuple(names for names in tables if len(names) > 1)
        return SimulatedCounts(
            schema, name, tuple(noisy), self.noise, scale, self.epsilon, float(sensitivity), self.neighbours, joint
        )
