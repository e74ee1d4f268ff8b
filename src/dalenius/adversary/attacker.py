"""The attacker: the learner who knows that the target is in the release (Lemma 1 of Boreale, Corradi and Viscardi 2019).

p_A(s | y) ∝ Σ over rows j with value s of P(row j's quasi-identifiers are as the target's are known | release). The belief is
compared with the learner's: what it knows beyond that, it knows about the person.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import fit
from dalenius.adversary.base import UNKNOWN, Adversary, Targets
from dalenius.adversary.learner import errors_of, joint, normalised, refusal
from dalenius.adversary.population import Population
from dalenius.adversary.sampling import Effort, sample_sets
from dalenius.belief import Belief
from dalenius.kernel.horizontal import row_weights
from dalenius.release import Generalized, Release

Floats = NDArray[np.float64]


class Attacker(Adversary):
    """Somebody who knows that the target is in the release."""

    __slots__ = ("effort", "error")
    name = "attacker"
    knows = "the release, that the target is in it, and the target's quasi-identifiers"
    does = "learns from the release how values and quasi-identifiers go together, and weighs with it which row is the target's"
    baseline_is_table = False

    def __init__(self, error: Mapping[str, float] | None = None, effort: Effort | None = None) -> None:
        self.error = dict(error or {})
        self.effort = effort

    def refusal(self, release: Release) -> str | None:
        return refusal(release, self.effort)

    def believe(
        self,
        release: Release,
        targets: Targets,
        *,
        column: str | None = None,
        rng: np.random.Generator | None = None,
    ) -> Belief:
        assert isinstance(release, Generalized)
        population = Population.of(release, column, exact=False)
        known, number = fit.distinct_targets(targets)
        error = errors_of(self.error, release.schema)

        def weights(p: Population) -> Floats:
            return of_groups(p, known, error) + of_suppressed(p, known, error)

        column_of = population.grouping.column
        if not population.pending:
            baseline = normalised(joint(population, known, error))
            return Belief.exact(column_of, weights(population)[number], baseline[number])
        found = sample_sets(
            population,
            lambda p: (normalised(weights(p)), normalised(joint(p, known, error))),
            rng or np.random.default_rng(),
            self.effort,
        )
        posterior, baseline = (estimate[number] for estimate in found.estimates)
        matched = np.logical_not(np.isnan(posterior).any(axis=1))
        errors = np.where(matched[:, None], found.errors[0][number], 0.0)
        return Belief(column_of, posterior, baseline, errors, matched, "sampled", found.diagnostics)


def of_groups(population: Population, known: NDArray[np.int32], error: Floats) -> Floats:
    """The rows in groups, value by value."""
    release, grouping = population.release, population.grouping
    sets = [attribute.sets for attribute in population.attributes]
    begins = _before([len(s.members) for s in sets])
    found = np.zeros((len(known), len(grouping.table)))
    sure = np.where(error > 0, UNKNOWN, known).astype(np.int32)  # what may be wrong rules no group out
    for some, start, group in fit.inside_boxes(release, sure):
        out = np.zeros((len(some), found.shape[1]))
        row_weights(
            known[some],
            error,
            start,
            group,
            release.codes,
            grouping.start,
            grouping.values,
            grouping.counts,
            np.array([s.leaves for s in sets], dtype=np.int64),
            _before([len(s) + 1 for s in sets]),
            np.concatenate([s.first + begin for s, begin in zip(sets, begins, strict=True)]),
            np.concatenate([s.members for s in sets]),
            _before([attribute.shares.size for attribute in population.attributes]),
            np.concatenate([attribute.shares.ravel() for attribute in population.attributes]),
            np.array([len(s.members) for s in sets], dtype=np.int64),
            out,
        )
        found[some] += out
    return found


def _before(sizes: list[int]) -> NDArray[np.int64]:
    """How much comes before each of some pieces that are laid one after the other."""
    return np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int64)


def of_suppressed(population: Population, known: NDArray[np.int32], error: Floats) -> Floats:
    """The rows that could be anybody, value by value."""
    weights = np.tile(population.hidden.astype(np.float64), (len(known), 1))
    some = population.hidden > 0
    weights[:, ~some] = 0.0
    for a, attribute in enumerate(population.attributes):
        told = np.flatnonzero(known[:, a] != UNKNOWN)
        share = attribute.hidden[some][:, known[told, a]].T
        if error[a]:
            share = (1 - error[a]) * share + error[a] * (1 - share) / (attribute.leaves.shape[1] - 1)
        weights[np.ix_(told, np.flatnonzero(some))] *= share
    return weights
