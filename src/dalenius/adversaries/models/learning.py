"""What learner and attacker share: the posterior given a release, exact where that is possible and sampled where it is not.

The release decides. LeafSets that are nested or disjoint have an exact posterior, and so have overlapping sets whose rows can be
distributed in few ways. Other overlapping sets are sampled by collapsed Gibbs, and the link of an anatomized release by drawing
permutations. The belief says which was used and why. A posterior does not depend on the targets: once sampled, it answers for
any of them.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from dalenius.adversaries.base import Adversary, Targets
from dalenius.adversaries.evidence import lacking, required
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.links import SAMPLERS, LinkChain, Links
from dalenius.adversaries.models.modes import explore
from dalenius.adversaries.models.population import Population
from dalenius.adversaries.models.row_weights import joint, of_groups, row_weights
from dalenius.adversaries.models.sampling import (
    PRINTED,
    Batch,
    Chain,
    Effort,
    Evaluate,
    Prepare,
    Progress,
    Sampled,
    sample,
)
from dalenius.adversaries.models.set_chain import SetChain, disperse
from dalenius.arrays import Floats, Ints, Longs
from dalenius.belief import Belief, normalised
from dalenius.coding import distinct_rows
from dalenius.errors import ParameterError
from dalenius.releases import Release
from dalenius.schema import Column, Schema

__all__ = [
    "MAX_SAMPLED_ENTRIES",
    "Beliefs",
    "Learning",
    "Memory",
    "Posterior",
    "Views",
    "errors_of",
    "refusal",
    "too_many",
]

MAX_ENTRIES = 60_000_000  # probabilities of a row's leaf, for each value and set
MAX_SAMPLED_ENTRIES = 4_000_000  # the same where they are sampled: every batch has its own


class Views(NamedTuple):
    """For each target and value: the attacker's sum over rows, and the learner's joint probability; not normalised."""

    attacker: Floats
    learner: Floats


class Beliefs(NamedTuple):
    """Normalised beliefs of attacker and learner, and those of each batch [chain, batch, target, value] if they were sampled."""

    attacker: Floats
    learner: Floats
    attacker_draws: Floats | None
    learner_draws: Floats | None


@dataclass(slots=True, eq=False)
class Posterior:
    """What a release reveals about one sensitive column."""

    release: Release
    column: Column
    table: Longs  # rows of each value
    model: Population | Links
    method: dict[str, Any]  # which sampler is used, and why
    sampled: Sampled | None = None

    @classmethod
    def of(cls, release: Release, column: str | None = None, effort: Effort | None = None) -> Posterior:
        """Return the posterior: exact, or yet to be sampled."""
        tuples = release.links()
        if tuples is not None:
            links = Links.of(tuples, column)
            sampler = SAMPLERS[(effort or Effort()).method]
            method = {"sampler": sampler, "why": "the release cuts the link within its groups"}
            return cls(release, links.column, links.table, links, method)
        population = Population.of(required(release.rows(), release), column, exact=False)
        grouping = population.grouping
        if population.pending:
            name = release.schema.quasi[population.pending[0].attribute].name
            method = {"sampler": "collapsed Gibbs on sets", "why": f"sets of column {name!r} overlap"}
        else:
            method = {"sampler": "none", "why": "sets are nested or disjoint, or can be shared out in few ways"}
        return cls(release, grouping.column, grouping.table, population, method)

    @property
    def exact(self) -> bool:
        return isinstance(self.model, Population) and not self.model.pending

    @property
    def compares(self) -> bool:
        """Return whether an attacker's belief is compared with a learner's."""
        return True

    @property
    def categories(self) -> int:
        """Return how many categories the values of watched rows have, 0 if no rows are watched."""
        return len(self.table) if isinstance(self.model, Links) else 0

    @property
    def diagnostics(self) -> dict[str, Any]:
        return self.method if self.sampled is None else self.sampled.diagnostics

    def may_go_on(self, effort: Effort) -> bool:
        """Return whether more sweeps are allowed: it was sampled and converged, and the limit is not reached."""
        diagnostics = self.diagnostics
        return (
            self.sampled is not None
            and diagnostics["converged"]
            and not diagnostics["interrupted"]
            and diagnostics["sweeps"] < effort.most_sweeps
        )

    def sample(
        self,
        known: Ints,
        error: Floats,
        effort: Effort,
        rng: np.random.Generator,
        progress: Progress | None = None,
        *,
        again: bool = False,
    ) -> None:
        """Sample until beliefs about these targets are precise. An earlier run continues, with the targets that it had.

        With `again` it continues for at least one round.
        """
        if self.sampled is not None:
            run = self.sampled.run
            self.sampled = sample(
                run.chains, run.evaluate, effort, categories=self.categories, progress=progress, method=self.method,
                before=self.sampled, again=again,
            )  # fmt: skip
            return
        seeds = [np.random.default_rng(seed) for seed in rng.integers(2**63, size=effort.chains)]
        look = self.looking(known, error)
        chains: list[Chain] = []
        prepare: Prepare | None = None
        if isinstance(self.model, Links):
            linked = self._link_chains(self.model, effort, seeds)
            chains += linked
            if effort.method not in PRINTED and effort.burn_in:
                prepare = partial(explore, self.model, linked, rng.spawn(1)[0], effort.burn_in // 3)
        else:
            set_chains = [SetChain(self.model, generator) for generator in seeds]
            modes = disperse(set_chains, rng.spawn(1)[0])
            prepare = (lambda _pool: modes) if modes.places > 1 else None
            chains += set_chains
        self.sampled = sample(
            chains, look, effort, categories=self.categories, progress=progress, method=self.method,
            compare=self.compares, prepare=prepare,
        )  # fmt: skip

    @staticmethod
    def _link_chains(links: Links, effort: Effort, seeds: Sequence[np.random.Generator]) -> list[LinkChain]:
        """Return chains that start in different states: the first evenly, each other where the links follow one attribute."""
        if effort.method in PRINTED:
            return [LinkChain(links, effort.method, generator) for generator in seeds]
        attributes = links.rows.shape[1]
        follows = [None, *(i % attributes for i in range(len(seeds) - 1))]
        return [LinkChain(links, effort.method, generator, a) for generator, a in zip(seeds, follows, strict=True)]

    def looking(self, known: Ints, error: Floats) -> Evaluate:
        """Return a function from a batch to the beliefs of attacker and learner about these targets."""
        views = self.viewing(known, error)
        return lambda batch: tuple(normalised(weights) for weights in views(batch))

    def viewing(self, known: Ints, error: Floats) -> Callable[[Batch | None], Views]:
        """Return a function from a batch to the weights of these targets; from None to those of the exact posterior."""
        model = self.model
        if isinstance(model, Links):
            fitting = model.fitting(known, error)

            def of_links(batch: Batch | None) -> Views:
                assert batch is not None
                return Views(fitting @ batch.means[0], model.joint(batch, known, error))

            return of_links

        def of_sets(batch: Batch | None) -> Views:
            population = model if batch is None else model.filled(batch.means)
            return Views(row_weights(population, known, error), joint(population, known, error))

        return of_sets

    def weights(self, known: Ints, error: Floats) -> Views:
        """Return the weights of attacker and learner over all states together, not normalised."""
        view = self.viewing(known, error)
        if self.sampled is None:
            return view(None)
        if not isinstance(self.model, Links):
            return view(self.sampled.whole)
        seen = [view(batch) for batches in self.sampled.batches for batch in batches]
        return Views(*(np.mean([views[j] for views in seen], axis=0) for j in range(2)))

    def unless_suppressed(self, known: Ints, error: Floats) -> Floats | None:
        """Return the attacker's exact belief about targets who are not suppressed; None if no row is suppressed."""
        if isinstance(self.model, Links) or not self.model.hidden.any():
            return None
        return normalised(of_groups(self.model, known, error))

    def beliefs(self, known: Ints, error: Floats, deleted: int = 0) -> Beliefs:
        """Return what attacker and learner believe about these targets, in total and, if it was sampled, in each batch.

        Nothing was published about the `deleted` rows: the attacker believes about them what the learner does.
        """
        seen_by = self.viewing(known, error)

        def view(batch: Batch | None) -> Views:
            attacker, learner = seen_by(batch)
            return Views(attacker + deleted * learner, learner)

        if self.sampled is None:
            exact = view(None)
            return Beliefs(normalised(exact.attacker), normalised(exact.learner), None, None)
        seen = [[view(batch) for batch in batches] for batches in self.sampled.batches]
        if isinstance(self.model, Links):  # sums over states: the whole is the mean of the batches
            whole = Views(*(np.mean([views[j] for chain in seen for views in chain], axis=0) for j in range(2)))
        else:
            whole = view(self.sampled.whole)
        attacker, learner = (np.array([[normalised(views[j]) for views in chain] for chain in seen]) for j in range(2))
        return Beliefs(normalised(whole.attacker), normalised(whole.learner), attacker, learner)


@dataclass(slots=True, eq=False)
class Memory:
    """Posteriors already computed: learner and attacker share them if they attack the same targets in the same release.

    Other targets get a posterior of their own if it is sampled: what is precise enough for some targets is not for others.
    """

    known: dict[tuple[int, str, Effort, bytes], Posterior] = field(default_factory=dict)

    def recall(self, release: Release, column: str, effort: Effort, known: Ints, error: Floats) -> Posterior | None:
        posterior = self.known.get((id(release), column, effort, self._key(known, error)))
        return posterior if posterior is not None and posterior.release is release else None

    def keep(self, posterior: Posterior, effort: Effort, known: Ints, error: Floats) -> None:
        self.known[id(posterior.release), posterior.column.name, effort, self._key(known, error)] = posterior

    @staticmethod
    def _key(known: Ints, error: Floats) -> bytes:
        shape = str(known.shape).encode()
        return hashlib.sha256(shape + np.ascontiguousarray(known).tobytes() + error.tobytes()).digest()


def errors_of(error: Mapping[str, float], schema: Schema) -> Floats:
    """Return the probability that each quasi-identifier is wrong."""
    names = [column.name for column in schema.quasi]
    rates = np.zeros(len(names))
    for name, rate in error.items():
        owner = f"column {name!r}"
        if name not in names:
            raise ParameterError("error", owner, f"for a quasi-identifier ({', '.join(names)})", name)
        number = isinstance(rate, int | float) and not isinstance(rate, bool)
        if not number or not 0 <= rate < 1 or (rate and len(schema[name].leaves) < 2):
            raise ParameterError("error", owner, "a probability below 1, of a column with two values at least", rate)
        rates[names.index(name)] = rate
    return rates


def too_many(entries: int, limit: int, what: str) -> str | None:
    """Return why there are too many probabilities to compute, or None."""
    if entries <= limit:
        return None
    return f"{what} make {entries:,} probabilities, more than the {limit:,} that are kept in memory"


def refusal(release: Release) -> str | None:
    """Return why nobody can learn from a release, or None: it offers no rows, or too many of them."""
    links, rows = release.links(), release.rows()
    if links is not None:
        columns = release.schema.sensitive
        tuples = distinct_rows(links.quasi.codes, [len(column.leaves) for column in links.schema.quasi])[0]
        entries = len(tuples) * max(len(column.leaves) for column in columns)
        return too_many(entries, MAX_SAMPLED_ENTRIES, "its distinct tuples and values")
    if rows is None:
        return lacking(release, Adversary.needs)
    columns = release.schema.sensitive
    members = sum(len(rows.leaf_sets(a).members) for a in range(len(rows.labels)))
    entries = members * max(len(column.leaves) for column in columns)
    reason = too_many(entries, MAX_ENTRIES, "its labels and values")
    if reason is None and entries > MAX_SAMPLED_ENTRIES:
        pending = [Population.of(rows, column.name, exact=False).pending for column in columns]
        sampled = max(sum(len(pair.family.members) for pair in pairs) for pairs in pending)
        reason = too_many(sampled, MAX_SAMPLED_ENTRIES, "the sets that overlap and their values")
    return reason


class Learning(Adversary):
    """An adversary that learns from a release how values and quasi-identifiers go together."""

    __slots__ = ("effort", "error", "memory", "progress")
    samples = True

    def __init__(
        self,
        error: Mapping[str, float] | None = None,
        effort: Effort | None = None,
        *,
        memory: Memory | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.error = dict(error or {})
        self.effort = effort or Effort()
        self.memory = memory
        self.progress = progress

    @classmethod
    def with_effort(cls, effort: Effort) -> Self:
        return cls(effort=effort)

    def is_exact(self, release: Release, column: str) -> bool:
        return Posterior.of(release, column).exact

    def refusal(self, release: Release) -> str | None:
        if self.effort.method in PRINTED:
            return (
                f"{self.effort.method} is the printed deFinetti attack, which does not sample what {self.name} believes"
            )
        reason = refusal(release)
        if reason is not None or release.links() is not None:
            return reason
        if self.effort.method != "block":
            return f"{self.effort.method} draws the link of an anatomized release, and this one is generalized"
        return None

    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        known, number = self._distinct(release, targets)
        error = errors_of(self.error, release.schema)
        posterior = self.posterior(release, known, error, column, rng or np.random.default_rng())
        return self._belief(posterior, known, error, number)

    def taught(self, posterior: Posterior, targets: Targets) -> Belief:
        """Return the belief about any targets from a posterior as it is. Nothing more is sampled."""
        known, number = self._distinct(posterior.release, targets)
        return self._belief(posterior, known, errors_of(self.error, posterior.release.schema), number)

    def posterior(
        self,
        release: Release,
        known: Ints,
        error: Floats,
        column: str | None,
        rng: np.random.Generator,
    ) -> Posterior:
        """Return the posterior given a release: from memory if it is there, sampled for these targets if necessary."""
        name = required(release.classes(), release).grouping(column).column.name
        if self.memory is not None:
            posterior = self.memory.recall(release, name, self.effort, known, error)
            if posterior is not None:
                if posterior.diagnostics.get("interrupted", False):
                    posterior.sample(known, error, self.effort, rng, self.progress)
                return posterior
        posterior = self._posterior_of(release, name)
        if not posterior.exact:
            posterior.sample(known, error, self.effort, rng, self.progress)
        if self.memory is not None:
            self.memory.keep(posterior, self.effort, known, error)
        return posterior

    def _posterior_of(self, release: Release, column: str) -> Posterior:
        return Posterior.of(release, column, self.effort)

    def _distinct(self, release: Release, targets: Targets) -> tuple[Ints, Ints]:
        """Return what is known about each distinct target, and which of them every target is."""
        return fit.distinct_targets(targets)

    @abstractmethod
    def _belief(self, posterior: Posterior, known: Ints, error: Floats, number: Ints) -> Belief:
        """Return the belief about all targets. `known` are the distinct ones, `number` says which of them every target is."""
