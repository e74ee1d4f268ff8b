"""The learner: what a release teaches about a person who is not in it (methods A; Boreale, Corradi and Viscardi 2019).

p_L(s | y) ∝ E[π_S(s)] Π_a P(y_a | s), the posterior predictive of somebody of whom y is known; an attribute that is not known
is a factor 1, one that is wrong with probability e counts (1 − e) P(y_a) + e (1 − P(y_a))/(leaves − 1).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import fit
from dalenius.adversary.base import UNKNOWN, Adversary, Targets
from dalenius.adversary.population import Population
from dalenius.adversary.sampling import Effort, sample_sets
from dalenius.belief import Belief
from dalenius.errors import ParameterError
from dalenius.release import Generalized, Release
from dalenius.schema import Schema

Floats = NDArray[np.float64]


def errors_of(error: Mapping[str, float], schema: Schema) -> Floats:
    """The probability that each quasi-identifier is wrong."""
    names = [column.name for column in schema.quasi]
    found = np.zeros(len(names))
    for name, rate in error.items():
        owner = f"column {name!r}"
        if name not in names:
            raise ParameterError("error", owner, f"for a quasi-identifier ({', '.join(names)})", name)
        number = isinstance(rate, int | float) and not isinstance(rate, bool)
        if not number or not 0 <= rate < 1 or (rate and len(schema[name].leaves) < 2):
            raise ParameterError("error", owner, "a probability below 1, of a column with two values at least", rate)
        found[names.index(name)] = rate
    return found


def joint(population: Population, known: NDArray[np.int32], error: Floats) -> Floats:
    """p_L(s, y) for each target and value, not normalised."""
    weights = np.tile(population.values, (len(known), 1))
    for a, attribute in enumerate(population.attributes):
        told = known[:, a] != UNKNOWN
        share = attribute.leaves[:, known[told, a]].T
        if error[a]:
            share = (1 - error[a]) * share + error[a] * (1 - share) / (attribute.leaves.shape[1] - 1)
        weights[told] *= share
    return weights


def refusal(release: Release, effort: Effort | None) -> str | None:
    """Why there is no posterior for a release, or nothing; without an effort only what is exact."""
    if not isinstance(release, Generalized):
        return fit.refusal(release) or "an anatomized release needs a sampler that this version does not have"
    for column in release.schema.sensitive if effort is None else ():
        pending = Population.of(release, column.name, exact=False).pending
        if pending:
            name = release.schema.quasi[pending[0].attribute].name
            return f"the sets of column {name!r} overlap in too many ways for an exact answer; sampling is asked for by an Effort"
    return None


def normalised(weights: Floats) -> Floats:
    """Rows that sum to 1; a row of zeros becomes one of nan."""
    with np.errstate(invalid="ignore"):
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


class Learner(Adversary):
    """Somebody who takes the release for a study of the population."""

    __slots__ = ("effort", "error")
    name = "learner"
    knows = "the release and the target's quasi-identifiers, and takes the target for somebody who is not in it"
    does = "learns from the release how values and quasi-identifiers go together, and applies it to the target"
    assumes_presence = False

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
        table = population.grouping.table
        baseline = table / table.sum()
        if not population.pending:
            return Belief.exact(population.grouping.column, joint(population, known, error)[number], baseline)
        found = sample_sets(
            population, lambda p: (normalised(joint(p, known, error)),), rng or np.random.default_rng(), self.effort
        )
        posterior, errors = found.estimates[0][number], found.errors[0][number]
        wide = np.broadcast_to(baseline, posterior.shape).copy()
        matched = np.ones(len(number), dtype=bool)
        column_of = population.grouping.column
        return Belief(column_of, posterior, wide, errors, matched, "sampled", found.diagnostics)
