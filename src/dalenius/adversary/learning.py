"""What learner and attacker share: a model of the release, exact where that is possible, and sampled where it is not.

The release decides. Sets that are nested or disjoint have an exact posterior, and so have overlapping ones that can be shared
out in few ways; other overlapping sets are sampled by collapsed Gibbs, and the link of an anatomized release by drawing
permutations. The belief says which was used and why.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import fit
from dalenius.adversary.base import Adversary, Targets
from dalenius.adversary.links import SAMPLERS, LinkChain, Links
from dalenius.adversary.population import Population
from dalenius.adversary.rows import joint, row_weights
from dalenius.adversary.sampling import Effort, Progress, Sampled, sample
from dalenius.adversary.sets import SetChain
from dalenius.belief import Belief
from dalenius.errors import ParameterError
from dalenius.release import Anatomized, Generalized, Release
from dalenius.schema import Column, Schema

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

ENTRIES = 60_000_000  # of a row's leaf, for each value and set, that are kept


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """What attacker and learner believe of distinct targets, with errors; a target that fits no row has nan."""

    column: Column
    table: Longs
    attacker: Floats | None
    learner: Floats
    attacker_error: Floats | None
    learner_error: Floats
    sampled: Sampled | None
    diagnostics: dict[str, Any]


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


def normalised(weights: Floats) -> Floats:
    """Rows that sum to 1; a row of zeros becomes one of nan."""
    with np.errstate(invalid="ignore"):
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


class Learning(Adversary):
    """Somebody who learns from a release how values and quasi-identifiers go together."""

    __slots__ = ("effort", "error", "progress")

    def __init__(
        self,
        error: Mapping[str, float] | None = None,
        effort: Effort | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.error = dict(error or {})
        self.effort = effort or Effort()
        self.progress = progress

    def refusal(self, release: Release) -> str | None:
        if isinstance(release, Anatomized):
            return None
        if not isinstance(release, Generalized):
            return fit.refusal(release)
        members = sum(len(release.sets(a).members) for a in range(len(release.labels)))
        entries = members * max(len(column.leaves) for column in release.schema.sensitive)
        if entries > ENTRIES:
            return f"its labels and values make {entries:,} probabilities, more than the {ENTRIES:,} that are kept in memory"
        if self.effort.method != "block" and Population.of(release, exact=False).pending:
            return (
                f"{self.effort.method} is a way to draw the link of an anatomized release, and this one is generalized"
            )
        return None

    def believe(
        self,
        release: Release,
        targets: Targets,
        *,
        column: str | None = None,
        rng: np.random.Generator | None = None,
    ) -> Belief:
        assert isinstance(release, Generalized | Anatomized)
        known, number = fit.distinct_targets(targets)
        rng = rng or np.random.default_rng()
        return self._belief(self.views(release, known, column, rng, attacker=self.assumes_presence), number)

    @abstractmethod
    def _belief(self, views: Views, number: Ints) -> Belief:
        """From beliefs about distinct targets; `number` is which one every target is."""

    def views(
        self,
        release: Generalized | Anatomized,
        known: Ints,
        column: str | None,
        rng: np.random.Generator,
        *,
        attacker: bool = True,
    ) -> Views:
        """What attacker and learner believe of distinct targets."""
        error = errors_of(self.error, release.schema)
        seeds = [np.random.default_rng(seed) for seed in rng.integers(2**63, size=self.effort.chains)]
        if isinstance(release, Anatomized):
            links = Links.of(release, column)
            fitting = links.fitting(known, error) if attacker else None
            targets = links.everywhere(known)
            chains = [LinkChain(links, targets, error, self.effort.method, mine) for mine in seeds]

            def of_links(means: list[Floats]) -> tuple[Floats, ...]:
                learner = normalised(means[1])
                return (learner,) if fitting is None else (normalised(fitting @ means[0]), learner)

            told = {"sampler": SAMPLERS[self.effort.method], "why": "the release cuts the link within its groups"}
            found = sample(
                chains, of_links, self.effort, categories=len(links.table), progress=self.progress, told=told
            )
            return _views(links.column, links.table, found)
        population = Population.of(release, column, exact=False, rows=attacker)
        grouping = population.grouping

        def views_of(p: Population) -> tuple[Floats, ...]:
            learner = normalised(joint(p, known, error))
            return (normalised(row_weights(p, known, error)), learner) if attacker else (learner,)

        if not population.pending:
            estimates = views_of(population)
            found = Sampled(estimates, tuple(np.zeros(one.shape) for one in estimates), (), {})
            why = "sets are nested or disjoint, or can be shared out in few ways"
            return _views(grouping.column, grouping.table, found, exact={"sampler": "none", "why": why})
        name = release.schema.quasi[population.pending[0].attribute].name
        told = {"sampler": "collapsed Gibbs on sets", "why": f"sets of column {name!r} overlap"}
        chains_of_sets = [SetChain(population, mine) for mine in seeds]
        found = sample(
            chains_of_sets,
            lambda means: views_of(population.filled(means)),
            self.effort,
            progress=self.progress,
            told=told,
        )
        return _views(grouping.column, grouping.table, found)


def _views(column: Column, table: Longs, found: Sampled, exact: dict[str, Any] | None = None) -> Views:
    both = len(found.estimates) == 2
    return Views(
        column,
        table,
        found.estimates[0] if both else None,
        found.estimates[-1],
        found.errors[0] if both else None,
        found.errors[-1],
        None if exact is not None else found,
        exact if exact is not None else found.diagnostics,
    )
