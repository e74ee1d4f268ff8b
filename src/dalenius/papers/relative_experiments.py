"""The experiments of Boreale, Corradi and Viscardi 2019, Section VI, and its example: publish, attack, measure.

What is shown of them, and beside which printed numbers, is in `relative`.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dalenius import datasets
from dalenius.adversaries import RandomWorlds, Targets
from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.learner import Learner
from dalenius.adversaries.models.sampling import Effort
from dalenius.arrays import Floats
from dalenius.auditing.people import People
from dalenius.auditing.threat import relative_threats
from dalenius.criteria import DistinctDiversity, KAnonymity
from dalenius.errors import InputError
from dalenius.measures.accuracy import hits
from dalenius.measures.fidelity import Truth
from dalenius.measures.threat import Faithfulness, Threats
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.releases import Anatomized, Generalized, GroupedRelease
from dalenius.schema import Column, Domain, Schema
from dalenius.table import Cells, Table

__all__ = [
    "EDGES",
    "EFFORT",
    "EXAMPLE",
    "LEVELS",
    "LIMITS",
    "QUICK",
    "QUICK_ROWS",
    "ROWS",
    "SUPPRESSION",
    "VICTIM",
    "Example",
    "Experiments",
    "Measured",
    "Points",
    "example",
    "experiments",
    "measured",
    "points",
    "possible_levels",
    "remark5",
    "subset",
    "table",
]

ROWS, QUICK_ROWS = 5692, 1000
LEVELS = (4, 6)  # of k and ℓ
SUPPRESSION = 0.05  # our choice: the paper says only that its groups are not disjoint, and so something is suppressed
LIMITS = (0.0, 0.01, 0.02, SUPPRESSION, 0.1)  # how much depends on that choice is shown
# Many chains rather than long ones: they settle in different places and stay there, however long they are.
EFFORT = Effort(mcse=0.01, relative=0.1, chains=8, most_sweeps=1000)
QUICK = Effort(mcse=0.02, relative=0.2, chains=4, most_sweeps=160)
EXAMPLE = Effort(mcse=0.001, relative=0.01)
EDGES = tuple(x / 4 for x in range(-24, 57))  # of the histograms of log2 Ti

VICTIM = ("Malaysia", "45501")


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Figs. 2 and 3: for each person who is threatened, p_L and p_A of their own value."""

    learner: Floats
    attacker: Floats

    @property
    def logs(self) -> Floats:
        """log2 Ti."""
        found: Floats = np.log2(self.attacker / self.learner)
        return found

    @property
    def attacker_surer(self) -> float:
        """The share of them whom the attacker is at least as sure of."""
        return float((self.attacker >= self.learner * (1 - 1e-9)).mean())

    @property
    def doubled(self) -> float:
        """The share with log2 Ti ≥ 1."""
        return float((self.logs >= 1 - 1e-9).mean())

    @property
    def skewness(self) -> float:
        """γ, the third standardized moment of log2 Ti."""
        away = self.logs - self.logs.mean()
        return float((away**3).mean() / (away**2).mean() ** 1.5)

    def counts(self) -> list[int]:
        """People between the EDGES; what is beyond the last or the first counts there."""
        inside = self.logs.clip(EDGES[0], math.nextafter(EDGES[-1], 0))
        return [int(n) for n in np.histogram(inside, bins=np.array(EDGES))[0]]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A release and what the paper measures of it. `errors` has a Monte-Carlo error for what was sampled."""

    level: int
    release: GroupedRelease
    threats: Threats
    faithfulness: Faithfulness
    under_attacker: Points
    under_learner: Points
    errors: dict[str, float] = field(default_factory=dict)
    diagnostics: dict[str, Any] = field(default_factory=dict)

    @property
    def average_size(self) -> float:
        return float(self.release.sizes.mean())

    def value(self, name: str) -> float:
        """A measure by the paper's name."""
        return self.faithfulness.RF if name == "RF" else float(getattr(self.threats, name))

    def error(self, name: str) -> float:
        return self.faithfulness.stderr if name == "RF" else self.errors.get(name, 0.0)

    def shown(self, name: str) -> str:
        """A measure with its Monte-Carlo error, if it has one."""
        value, error = self.value(name), self.error(name)
        digits = 2 if name.startswith("ABS") else 4
        return f"{value:.{digits}f}" + (f" ± {error:.{digits}f}" if error else "")


@dataclass(frozen=True, slots=True, eq=False)
class Experiments:
    """Section VI: k-anonymous and anatomized releases of one table; the former for every limit of suppression, too."""

    people: Table
    about: str  # which table this is
    by_limit: dict[float, tuple[Measured, ...]]
    vertical: tuple[Measured, ...]

    @property
    def horizontal(self) -> tuple[Measured, ...]:
        return self.by_limit[SUPPRESSION]

    @property
    def disjoint(self) -> Measured:
        """Without suppression."""
        return self.by_limit[0.0][0]


def subset(whole: Table, rows: int, seed: int = 0) -> Table:
    """Some people of a table, drawn at random."""
    cells = whole.cells()
    person = np.repeat(np.arange(len(cells)), cells.counts)
    drawn = np.sort(np.random.default_rng(seed).choice(person, rows, replace=False))
    texts = {
        column.name: np.array(column.leaves, dtype=np.str_)[cells.codes[drawn, j]]
        for j, column in enumerate(cells.schema.coded)
    }
    coded = Schema(
        tuple(column for column in whole.declared.columns if column.name in texts),
        prior=whole.declared.prior,
        source=whole.declared.source,
    )
    return Table(texts, coded)


def table(path: str | Path | None = None, *, rows: int = ROWS, seed: int = 0) -> tuple[Table, str]:
    """Some rows of Adult and a sentence that says so; made-up patients if no folder was named and there is no Adult."""
    try:
        whole = datasets.adult(path)
    except InputError:
        if path is not None or os.environ.get("DALENIUS_DATA"):
            raise
        about = (
            f"Adult is not at hand: ours is {rows:,} made-up patients with their disease, and nothing is comparable."
        )
        return subset(datasets.hospital(rows, seed=seed), rows, seed), about
    return subset(whole, rows, seed), f"Ours is {rows:,} rows of Adult, drawn at random; the print is of 5,692 others."


def experiments(path: str | Path | None = None, *, quick: bool = False, seed: int = 0) -> Experiments:
    """Publish and attack. `quick` is a smaller table and fewer sweeps, for tests."""
    people, about = table(path, rows=QUICK_ROWS if quick else ROWS, seed=seed)
    effort = QUICK if quick else EFFORT

    def rng(level: int) -> np.random.Generator:
        return np.random.default_rng([seed, level])  # one release's numbers do not depend on which others are made

    def recoded(level: int, suppression: float) -> Measured:
        criteria = [KAnonymity(level), DistinctDiversity(level)]
        return measured(
            people,
            Lattice(criteria, suppression=suppression, suppressed_rows="as-is").publish(people).release,
            level,
            effort,
            rng(level),
        )

    by_limit = {limit: tuple(recoded(level, limit) for level in LEVELS) for limit in LIMITS}
    vertical = tuple(
        measured(people, Anatomy(level).publish(people, seed=seed).release, level, effort, rng(level))
        for level in possible_levels(people)
    )
    return Experiments(people, about, by_limit, vertical)


def possible_levels(people: Table) -> tuple[int, ...]:
    """The paper's ℓ or, where the commonest value is too common for these, the two largest that there are."""
    cells = people.cells()
    most = cells.people // int(np.bincount(cells.codes[:, -1], weights=cells.counts).max())
    return LEVELS if most >= max(LEVELS) else (most - 1, most)


def measured(
    people: Table, release: Generalized | Anatomized, level: int, effort: Effort, rng: np.random.Generator
) -> Measured:
    """Learner, attacker, random worlds and the ideal learner, about everybody in the table."""
    found = relative_threats(release, People.of(people), people.schema.sensitive[0].name, rng, effort=effort)
    cells, attacker, learner = people.cells(), found.belief.answer, found.belief.baseline
    return Measured(
        level,
        release,
        found.threats,
        found.faithfulness,
        points(attacker, learner, attacker, cells),
        points(attacker, learner, learner, cells),
        dict(found.errors),
        dict(found.belief.diagnostics),
    )


def points(attacker: Floats, learner: Floats, threatened_under: Floats, cells: Cells) -> Points:
    """The people whose own value is the most believed one, or one of these (Definition 1)."""
    truth = cells.codes[:, len(cells.schema.quasi)]
    some = np.flatnonzero(hits(threatened_under, truth) > 0)
    mine = np.repeat(some, cells.counts[some])
    return Points(learner[mine, truth[mine]], attacker[mine, truth[mine]])


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """What is believed of the victim, (Malaysia, 45501), for each disease."""

    diseases: tuple[str, ...]
    ideal: Floats
    learner: Floats
    attacker: Floats
    random_worlds: Floats
    error: Floats  # of the attacker's


def example(name: str, effort: Effort = EXAMPLE, seed: int = 0) -> Example:
    """One of Tables I(a), I(b), I(c), as `relative-1a`, `relative-1b`, `relative-1c`."""
    release, original = datasets.paper(name).classes(), datasets.paper("relative-1a").rows()
    assert release is not None
    assert original is not None
    codes = [column.leaves.index(value) for column, value in zip(release.schema.quasi, VICTIM, strict=True)]
    victim = Targets(release.schema, np.array([codes], dtype=np.int32))
    belief = Attacker(effort=effort).attack(release, victim, rng=np.random.default_rng(seed))
    return Example(
        belief.column.leaves,
        Learner().attack(original, victim).posterior[0],
        belief.baseline[0],
        belief.posterior[0],
        RandomWorlds().attack(release, victim).posterior[0],
        belief.stderr[0],
    )


def remark5() -> float:
    """p_I(s0 | r_v) where s0 and r_v occur once, both in one row of a million; two values, a thousand quasi-identifiers."""
    places, people = 1000, 10**6
    quasi = Column("r", "quasi", domain=Domain(tuple(map(str, range(places)))))
    sensitive = Column("s", "sensitive", domain=Domain(("s0", "s1")))
    schema = Schema((quasi, sensitive)).bind({})
    codes = np.array([(r, int(r > 0)) for r in range(places)], dtype=np.int32)
    share, rest = divmod(people - 1, places - 1)
    counts = np.array([1, share + rest, *[share] * (places - 2)], dtype=np.int64)
    victim = Targets(schema, np.array([[0]], dtype=np.int32))
    return float(Learner().attack(Truth(schema, codes, counts).identity, victim).posterior[0, 0])
