"""The comparison that Cormode 2011 argues for: differential privacy, Anatomy and generalization on one scale.

Risk is how often the best attack on a release is right about the people in it and, for control, about others: naive Bayes on
noisy counts, the majority of the posterior's states on Anatomy, the attacker of methods A on generalized tables. Utility is
the error of a thousand count queries, the same for all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.naive_bayes import NaiveBayes
from dalenius.auditing.attacks import attack
from dalenius.auditing.groups import control_in_groups
from dalenius.auditing.people import Control, People
from dalenius.criteria import KAnonymity
from dalenius.measures import accuracy
from dalenius.measures.accuracy import Rate
from dalenius.measures.fidelity import Truth
from dalenius.measures.queries import QUERIES, relative_error
from dalenius.papers.population_experiments import Study
from dalenius.papers.population_linking import anatomized, predictions
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.noisy_counts import Simulation
from dalenius.table import Table

__all__ = ["CLASSES", "EPSILONS", "LEVELS", "SWEEPS", "Choice", "choices"]

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
LEVELS = ((2, 1), (3, 1), (4, 1), (5, 1), (7, 1), (3, 2), (5, 2), (7, 2))  # ℓ, and how many groups are published as one
CLASSES = (2, 5, 10, 50, 200)  # k
SWEEPS = 400


@dataclass(frozen=True, slots=True)
class Choice:
    """A release: what it is, how often the attack on it is right, of whom, and how far count queries are off."""

    method: str
    parameter: str
    success: Rate
    control: Rate
    error: float

    @property
    def gain(self) -> Rate:
        return accuracy.gain(self.success, self.control)


def choices(
    found: Study,
    *,
    epsilons: Sequence[float] = EPSILONS,
    levels: Sequence[tuple[int, int]] = LEVELS,
    classes: Sequence[int] = CLASSES,
    sweeps: int = SWEEPS,
    seed: int = 0,
) -> list[Choice]:
    """Every release, attacked and asked."""
    return [
        *(_counts(found, epsilon, seed) for epsilon in epsilons),
        *(_anatomy(found, level, merge, sweeps, seed) for level, merge in levels),
        *(_classes(found, k) for k in classes),
    ]


def _counts(found: Study, epsilon: float, seed: int) -> Choice:
    release = Simulation(epsilon).draw(found.counted, seed=seed)
    people, others = People.of(found.counted), Control(release, People.of(found.others))
    made = attack(NaiveBayes(), release, found.target, people, others, np.random.default_rng(seed))
    asked = Truth.of(found.counted.cells()).usual(QUERIES, seed)
    return Choice("noisy counts", f"ε = {epsilon:g}", made.success, made.control, relative_error(release, asked))


def _anatomy(found: Study, level: int, merge: int, sweeps: int, seed: int) -> Choice:
    release, people = anatomized(found, level, merge, seed)
    others = control_in_groups(Control(release, People.of(found.others)))
    rng = np.random.default_rng([seed, level, merge])
    mine, theirs = predictions(release, [people, others.people], found.target, "block", sweeps, rng)
    asked = Truth.of(found.counted.cells()).usual(QUERIES, seed)
    size = "" if merge == 1 else f", groups of {merge * level}"
    return Choice("Anatomy", f"ℓ = {level}{size}", mine["majority"], theirs["majority"], relative_error(release, asked))


def _classes(found: Study, k: int) -> Choice:
    """The finest k-anonymous table in which a column is published as it is, or not at all."""
    declared = found.counted.declared
    columns = tuple(dataclasses.replace(c, suppress=True) if c.role == "quasi" else c for c in declared.columns)
    schema = dataclasses.replace(declared, columns=columns)
    table, others = (Table(source.source, schema) for source in (found.counted, found.others))
    release = Lattice([KAnonymity(k)], suppression=0.02, suppressed_rows="as-is").publish(table).release
    made = attack(
        Attacker(),
        release,
        found.target,
        People.of(table),
        Control(release, People.of(others)),
        np.random.default_rng(0),
    )
    asked = Truth.of(table.cells()).usual(QUERIES, 0)
    return Choice("generalization", f"k = {k}", made.success, made.control, relative_error(release, asked))
