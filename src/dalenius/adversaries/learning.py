"""What learner and attacker share: a posterior of the release, exact where that is possible, and sampled where it is not.

The release decides. Sets that are nested or disjoint have an exact posterior, and so have overlapping ones that can be shared
out in few ways; other overlapping sets are sampled by collapsed Gibbs, and the link of an anatomized release by drawing
permutations. The belief says which was used and why. A posterior does not depend on the targets: once sampled it answers for
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

from dalenius.adversaries import fit
from dalenius.adversaries.base import Adversary, Targets
from dalenius.adversaries.evidence import lacking, required
from dalenius.adversaries.links import SAMPLERS, LinkChain, Links
from dalenius.adversaries.modes import explore
from dalenius.adversaries.population import Population
from dalenius.adversaries.rows import joint, of_groups, row_weights
from dalenius.adversaries.sampling import PRINTED, Batch, Chain, Effort, Evaluate, Prepare, Progress, Sampled, sample
from dalenius.adversaries.sets import SetChain, disperse
from dalenius.arrays import Floats, Ints, Longs
from dalenius.belief import Belief, normalised
from dalenius.coding import distinct_rows
from dalenius.errors import ParameterError
from dalenius.releases import Release
from dalenius.schema import Column, Schema

ENTRIES = 60_000_000  # of a row's leaf, for each value and set, that are kept
KEPT_ENTRIES = 4_000_000  # the same where they are sampled: every batch has its own


class Views(NamedTuple):
    """For each target and value: the attacker's sum over rows, and the learner's joint probability; not normalised."""

    attacker: Floats
    learner: Floats


class Beliefs(NamedTuple):
    """Normalised: of attacker and learner, and those of each batch [chain, batch, target, value] if they were sampled."""

    attacker: Floats
    learner: Floats
    attacker_draws: Floats | None
    learner_draws: Floats | None


@dataclass(slots=True, eq=False)
class Posterior:
    """What a release teaches about one sensitive column."""

    release: Release
    column: Column
    table: Longs  # rows of each value
    model: Population | Links
    told: dict[str, Any]
    sampled: Sampled | None = None

    @classmethod
    def of(cls, release: Release, column: str | None = None, effort: Effort | None = None) -> Posterior:
        """Exact, or yet to be sampled."""
        tuples = release.links()
        if tuples is not None:
            links = Links.of(tuples, column)
            sampler = SAMPLERS[(effort or Effort()).method]
            told = {"sampler": sampler, "why": "the release cuts the link within its groups"}
            return cls(release, links.column, links.table, links, told)
        population = Population.of(required(release.rows(), release), column, exact=False)
        grouping = population.grouping
        if population.pending:
            name = release.schema.quasi[population.pending[0].attribute].name
            told = {"sampler": "collapsed Gibbs on sets", "why": f"sets of column {name!r} overlap"}
        else:
            told = {"sampler": "none", "why": "sets are nested or disjoint, or can be shared out in few ways"}
        return cls(release, grouping.column, grouping.table, population, told)

    @property
    def exact(self) -> bool:
        return isinstance(self.model, Population) and not self.model.pending

    @property
    def compares(self) -> bool:
        """Whether an attacker's belief is held against a learner's."""
        return True

    @property
    def categories(self) -> int:
        """Of what is watched from sweep to sweep: the values of rows, or nothing."""
        return len(self.table) if isinstance(self.model, Links) else 0

    @property
    def diagnostics(self) -> dict[str, Any]:
        return self.told if self.sampled is None else self.sampled.diagnostics

    def may_go_on(self, effort: Effort) -> bool:
        """It was sampled, converged, and more sweeps are allowed."""
        told = self.diagnostics
        return (
            self.sampled is not None
            and told["converged"]
            and not told["interrupted"]
            and told["sweeps"] < effort.most_sweeps
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
        """Sample until beliefs about these targets are sharp; what was sampled before goes on, with the targets it had.

        With `again` it does so by one round at least.
        """
        if self.sampled is not None:
            run = self.sampled.run
            self.sampled = sample(
                run.chains, run.evaluate, effort, categories=self.categories, progress=progress, told=self.told,
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
            sets = [SetChain(self.model, mine) for mine in seeds]
            modes = disperse(sets, rng.spawn(1)[0])
            prepare = (lambda _pool: modes) if modes.places > 1 else None
            chains += sets
        self.sampled = sample(
            chains, look, effort, categories=self.categories, progress=progress, told=self.told,
            compare=self.compares, prepare=prepare,
        )  # fmt: skip

    @staticmethod
    def _link_chains(links: Links, effort: Effort, seeds: Sequence[np.random.Generator]) -> list[LinkChain]:
        """The first chain starts evenly, each other where the links follow another attribute: no two in the same place."""
        if effort.method in PRINTED:
            return [LinkChain(links, effort.method, mine) for mine in seeds]
        attributes = links.rows.shape[1]
        follows = [None, *(i % attributes for i in range(len(seeds) - 1))]
        return [LinkChain(links, effort.method, mine, a) for mine, a in zip(seeds, follows, strict=True)]

    def looking(self, known: Ints, error: Floats) -> Evaluate:
        """From a batch to the beliefs of attacker and learner about these targets."""
        views = self.viewing(known, error)
        return lambda batch: tuple(normalised(one) for one in views(batch))

    def viewing(self, known: Ints, error: Floats) -> Callable[[Batch | None], Views]:
        """What a batch says of these targets, or, without one, the exact posterior."""
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
        """What attacker and learner go by, of all states together: neither is normalised."""
        view = self.viewing(known, error)
        if self.sampled is None:
            return view(None)
        if not isinstance(self.model, Links):
            return view(self.sampled.whole)
        seen = [view(batch) for mine in self.sampled.batches for batch in mine]
        return Views(*(np.mean([one[j] for one in seen], axis=0) for j in range(2)))

    def unless_suppressed(self, known: Ints, error: Floats) -> Floats | None:
        """What the attacker believes exactly of targets who are not suppressed; nothing where no row is."""
        if isinstance(self.model, Links) or not self.model.hidden.any():
            return None
        return normalised(of_groups(self.model, known, error))

    def beliefs(self, known: Ints, error: Floats, deleted: int = 0) -> Beliefs:
        """What attacker and learner believe of these targets, all in all and, if it was sampled, in each batch.

        Of so many `deleted` rows nothing was published: the attacker takes each to be as a learner would.
        """
        seen_by = self.viewing(known, error)

        def view(batch: Batch | None) -> Views:
            attacker, learner = seen_by(batch)
            return Views(attacker + deleted * learner, learner)

        if self.sampled is None:
            exact = view(None)
            return Beliefs(normalised(exact.attacker), normalised(exact.learner), None, None)
        seen = [[view(batch) for batch in mine] for mine in self.sampled.batches]
        if isinstance(self.model, Links):  # sums over states: what all say is the mean of what batches say
            whole = Views(*(np.mean([one[j] for mine in seen for one in mine], axis=0) for j in range(2)))
        else:
            whole = view(self.sampled.whole)
        attacker, learner = (np.array([[normalised(one[j]) for one in mine] for mine in seen]) for j in range(2))
        return Beliefs(normalised(whole.attacker), normalised(whole.learner), attacker, learner)


@dataclass(slots=True, eq=False)
class Memory:
    """Posteriors that were worked out: learner and attacker who ask one release about the same targets share them.

    Other targets have one of their own where it is sampled: what is sharp enough for some is not for others.
    """

    known: dict[tuple[int, str, Effort, bytes], Posterior] = field(default_factory=dict)

    def recall(self, release: Release, column: str, effort: Effort, known: Ints, error: Floats) -> Posterior | None:
        found = self.known.get((id(release), column, effort, self._asked(known, error)))
        return found if found is not None and found.release is release else None

    def keep(self, posterior: Posterior, effort: Effort, known: Ints, error: Floats) -> None:
        self.known[id(posterior.release), posterior.column.name, effort, self._asked(known, error)] = posterior

    @staticmethod
    def _asked(known: Ints, error: Floats) -> bytes:
        shape = str(known.shape).encode()
        return hashlib.sha256(shape + np.ascontiguousarray(known).tobytes() + error.tobytes()).digest()


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


def too_many(entries: int, limit: int, what: str) -> str | None:
    """Why so many probabilities are not worked with, or nothing."""
    if entries <= limit:
        return None
    return f"{what} make {entries:,} probabilities, more than the {limit:,} that are kept in memory"


class Learning(Adversary):
    """Somebody who learns from a release how values and quasi-identifiers go together."""

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
        links, rows = release.links(), release.rows()
        if links is not None:
            tuples = distinct_rows(links.quasi.codes, [len(column.leaves) for column in links.schema.quasi])[0]
            entries = len(tuples) * max(len(column.leaves) for column in release.schema.sensitive)
            return too_many(entries, KEPT_ENTRIES, "its distinct tuples and values")
        if rows is None:
            return lacking(release, self.needs)
        members = sum(len(rows.leaf_sets(a).members) for a in range(len(rows.labels)))
        entries = members * max(len(column.leaves) for column in release.schema.sensitive)
        reason = too_many(entries, ENTRIES, "its labels and values")
        if reason is None and entries > KEPT_ENTRIES:
            names = [column.name for column in release.schema.sensitive]
            pending = [Population.of(rows, name, exact=False).pending for name in names]
            sampled = max(sum(len(one.family.members) for one in mine) for mine in pending)
            reason = too_many(sampled, KEPT_ENTRIES, "the sets that overlap and their values")
        if reason is not None:
            return reason
        if self.effort.method != "block":
            return (
                f"{self.effort.method} is a way to draw the link of an anatomized release, and this one is generalized"
            )
        return None

    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        known, number = self._asked(release, targets)
        error = errors_of(self.error, release.schema)
        posterior = self.posterior(release, known, error, column, rng or np.random.default_rng())
        return self._belief(posterior, known, error, number)

    def taught(self, posterior: Posterior, targets: Targets) -> Belief:
        """What is believed of any targets after a posterior as it is: nothing more is sampled, however blunt it is for them."""
        known, number = self._asked(posterior.release, targets)
        return self._belief(posterior, known, errors_of(self.error, posterior.release.schema), number)

    def posterior(
        self,
        release: Release,
        known: Ints,
        error: Floats,
        column: str | None,
        rng: np.random.Generator,
    ) -> Posterior:
        """The posterior of a release, remembered if it was asked for before; sampled for these targets if it must be."""
        name = required(release.classes(), release).grouping(column).column.name
        if self.memory is not None:
            found = self.memory.recall(release, name, self.effort, known, error)
            if found is not None:
                if found.diagnostics.get("interrupted", False):
                    found.sample(known, error, self.effort, rng, self.progress)
                return found
        found = self._posterior_of(release, name)
        if not found.exact:
            found.sample(known, error, self.effort, rng, self.progress)
        if self.memory is not None:
            self.memory.keep(found, self.effort, known, error)
        return found

    def _posterior_of(self, release: Release, column: str) -> Posterior:
        return Posterior.of(release, column, self.effort)

    def _asked(self, release: Release, targets: Targets) -> tuple[Ints, Ints]:  # noqa: ARG002
        """What is known of each distinct target, and which one every target is."""
        return fit.distinct_targets(targets)

    @abstractmethod
    def _belief(self, posterior: Posterior, known: Ints, error: Floats, number: Ints) -> Belief:
        """What is believed of distinct targets; `number` is which one every target is."""
