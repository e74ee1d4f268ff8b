"""How many people have each (quasi-identifier value, sensitive value), under ε-differential privacy.

Everybody is counted once in each table. So adding or removing a person changes one count in each table, and replacing a
person two. OpenDP draws the noise and computes the recorded ε. Domains come from the schema, never from the data: only the
counts reveal which values occur. A Gaussian column is three queries in place of
a table: n, sum and squares, which a person changes by at most 1, R and R², R being the distance of its bounds.

With m tables and g Gaussian columns there are m + 3g queries, each with ε/(m + 3g): measured in what one person changes a
query by, the sensitivity is m + 3g, twice that if a person is replaced (by one with another sensitive value, who enters
three sums elsewhere), and scale = sensitivity/ε is the noise of each query in that measure.

`Simulation` draws noise of the same distribution from NumPy with a seed, for experiments. It is not safe for a release, and
its counts cannot be written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from dalenius.arrays import Floats
from dalenius.criteria import Criterion
from dalenius.criteria.axis import AXIS_PANEL, Axis, numbers
from dalenius.engines import TableName
from dalenius.errors import InputError, check_seed
from dalenius.options import Option
from dalenius.publishers.base import PANEL, Example, Published, Publisher
from dalenius.publishers.counting import Counting, Exact, parameters
from dalenius.publishers.counting import exact as exact
from dalenius.publishers.grid import Grid
from dalenius.releases import NoisyCounts
from dalenius.releases.noisy_counts import paths_of
from dalenius.table import Table

__all__ = ["EPSILON", "EPSILONS", "Counts", "PublishedCounts", "SimulatedCounts", "Simulation", "exact"]

EPSILONS = (0.05, 0.1, 0.5, 1.0, 5.0)
EPSILON = Axis(
    "epsilon",
    Option("epsilons", "The budgets to try.", str, metavar="E,E,…", panel=AXIS_PANEL),
    numbers("--epsilons", "> 0", "0.1,0.5,1", lambda epsilon: 0 < epsilon < math.inf),
    usual=lambda size: EPSILONS,  # noqa: ARG005 - no ε is impossible
    letter="ε",
)


@dataclass(frozen=True, slots=True)
class Counts(Counting, Publisher):
    """The publisher. `joint` names quasi-identifiers that are counted together, in one table in place of several.

    `levels` has columns that are counted at a level of their hierarchy; `gaussian` integer columns of which n, sum and
    squares are published, clipped to bounds (LOW, HIGH).
    """

    name = "noisy-counts"
    title = "noisy counts"
    publishes = "counts with noise, under differential privacy"
    description = "Publishes how many people have each value, with noise that gives ε-differential privacy."
    options = (
        Option("epsilon", "The budget of differential privacy.", float, panel=PANEL),
        Option("noise", "The kind of noise: geometric (default) or laplace.", str, panel=PANEL),
        Option("neighbours", "Which tables are neighbours: add-remove (default) or replace.", str, panel=PANEL),
        Option("joint", "Count these columns together.", str, metavar="A,B", is_repeatable=True, panel=PANEL),
        Option(
            "level",
            "Count a column at a level of its hierarchy. Repeatable.",
            str,
            metavar="COLUMN=LEVEL",
            is_repeatable=True,
            panel=PANEL,
        ),
        Option(
            "gaussian",
            "Publish n, sum and squares of an integer column, clipped to these bounds. Repeatable.",
            str,
            metavar="COLUMN=LOW:HIGH",
            is_repeatable=True,
            panel=PANEL,
        ),
    )
    example = Example(options={"epsilon": 1.0})
    grid = Grid(
        (EPSILON,),
        options=("noise", "neighbours", "joint", "level", "gaussian"),
        unlabelled=frozenset({"noise", "neighbours"}),
    )
    is_drawn = True
    refuses_seed = "Noisy counts draw their noise from OpenDP, which takes no seed. Leave --seed out."
    refuses_given = "noisy counts have none"
    has_curve = True

    @classmethod
    def from_options(cls, criteria: Sequence[Criterion], chosen: Mapping[str, Any]) -> Self:
        if criteria:
            raise InputError(
                f"Noisy counts have no classes, so they cannot satisfy {criteria[0].describe()}. "
                "Ask for differential privacy: --epsilon 1."
            )
        if "epsilon" not in chosen:
            raise InputError("Noisy counts need a budget: --epsilon 1, for example.")
        return cls(**parameters(chosen))

    @classmethod
    def not_tried(cls, flag: str) -> str:  # noqa: ARG003 - which of them does not matter
        return f"Options of noisy counts are given, and they are not tried. Add --method {cls.name}."

    @classmethod
    def files(cls, path: Path) -> tuple[Path, ...]:
        return paths_of(path)

    def promises(self) -> tuple[str, ...]:
        return (f"ε = {self.epsilon:g} differential privacy ({self.neighbours})",)

    def trial(self, table: Table, seed: int) -> SimulatedCounts:
        """Return counts with noise that can be drawn again and is never written; another for each ε."""
        bits = int(np.float64(self.epsilon).view(np.uint64))
        own = int(np.random.SeedSequence([seed, bits]).generate_state(1, np.uint64)[0])
        return Simulation(**asdict(self)).draw(table, own)

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


def _measurements(dp: Any, wanted: Counting, truth: Exact) -> tuple[float, float, list[Any]]:
    """Return scale, ε and OpenDP's measurements: the smallest scale whose ε, by OpenDP's maps, is not above ours."""
    per_query = wanted.sensitivity(1)
    if wanted.noise == "geometric":
        domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        make: Any = dp.m.make_geometric
        kind: type[int] | type[float] = int
    else:
        domain, metric = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
        make, kind = dp.m.make_laplace, float
    scale = wanted.sensitivity(truth.query_count) / wanted.epsilon
    while True:
        measurements = [make(domain, metric, scale=scale * unit) for unit in truth.units()]
        spent = [
            measurement.map(d_in=kind(per_query * unit * times))
            for measurement, unit, times in zip(measurements, truth.units(), truth.times(), strict=True)
        ]
        epsilon = _sum_upwards(spent)
        if epsilon <= wanted.epsilon:
            return scale, epsilon, measurements
        scale = math.nextafter(scale, math.inf)  # OpenDP's arithmetic rounds upwards, and so does ours


def _sum_upwards(numbers: Sequence[float]) -> float:
    """Return the smallest float that is not below the sum."""
    exactly = sum(map(Fraction, numbers))
    rounded = float(exactly)
    return rounded if Fraction(rounded) >= exactly else math.nextafter(rounded, math.inf)


@dataclass(eq=False)
class PublishedCounts(Published):
    """The noisy counts. Their description contains only what was known before anybody looked at the table."""

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

    def promises(self) -> tuple[str, ...]:
        release = self.release
        return (f"ε = {release.epsilon:g} differential privacy ({release.neighbours})",)  # what OpenDP says was spent

    def headcount(self) -> None:
        """Return parameters that were known before anybody looked at the table."""

    def details(self) -> dict[str, Any]:
        release = self.release
        return {
            "mechanism": release.mechanism,
            "epsilon": release.epsilon,
            "scale": release.scale,
            "sensitivity": release.sensitivity,
            "neighbours": release.neighbours,
            "tables": [list(names) for names in release.tables],
            "levels": dict(self.publisher.levels),
            "gaussian": {name: {"low": sums.low, "high": sums.high} for name, sums in release.moments.items()},
            "noise": f"OpenDP {self._opendp_version}",
        }

    def notes(self) -> tuple[tuple[str, str], ...]:
        release = self.release
        noise = f"{release.mechanism}, scale {release.scale:.6g}, sensitivity {release.sensitivity:g}"
        return (("noise", f"{noise}, OpenDP {self._opendp_version}"),)

    def contents(self) -> tuple[str, list[str]]:
        """Return the tables, each by its columns as they are counted, and the columns of which there are sums."""
        left = {rest.column: rest.column if rest.state == "kept" else str(rest) for rest in self.columns_left()}
        tables = ["×".join(left[name] for name in names) for names in self.release.tables]
        moments = self.release.moments
        sums = f"n, sum and squares of {', '.join(moments)}" if moments else ""
        if not tables:
            return "", [sums]
        if sums:
            tables[-1] += f"; {sums}"
        return "counts of", tables

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
            "never written. Publish with dalenius.publishers.noisy_counts.Counts."
        )


@dataclass(frozen=True, slots=True)
class Simulation(Counting):
    """Seeded noise of the same distribution, for experiments only."""

    def draw(self, table: Table, seed: int) -> SimulatedCounts:
        """Return counts with noise that this seed gives."""
        check_seed(seed, "the simulation")
        truth = self.exact(table)
        rng = np.random.default_rng(seed)
        scale = self.sensitivity(truth.query_count) / self.epsilon
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
