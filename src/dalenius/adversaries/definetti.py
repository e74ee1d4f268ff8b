"""deFinetti attacks on anatomized releases (Kifer 2009, Cormode 2011; methods E): the link is learnt from the release itself.

A release does not say which row of a group has which of its values, but some links make quasi-identifiers and values go together as
they do everywhere else. A state links all rows. Four predictions use the states:

- permutation: the value of the target's row in the last state;
- majority: its value in most states;
- group: naive Bayes from the counts of the states, limited to the values of the target's group;
- open: naive Bayes without that limit.

All but the last know the target's group. If a group is not known, every row like the target counts.

States come from the sampler of the posterior (see `models/links.py`) or, with a `printed-…` method, from the attack as it was
printed. That one is a heuristic: its classifier has seen the rows that it judges, as they are linked at that moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from dalenius.adversaries.base import UNKNOWN, Targets
from dalenius.adversaries.evidence import lacking, required
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.learning import MAX_SAMPLED_ENTRIES, Learning, Posterior, too_many
from dalenius.adversaries.models.links import SAMPLERS, LinkChain, Links
from dalenius.adversaries.models.sampling import Batch, Effort, Evaluate
from dalenius.arrays import Bools, Floats, Ints, Longs
from dalenius.belief import Belief, Replicates, normalised
from dalenius.coding import distinct_rows
from dalenius.releases import Release

__all__ = ["DeFinetti", "Group", "LinkedRows", "Majority", "Open", "Permutation"]

ROWS, GROUP, OPEN = range(3)  # the three beliefs that states give


@dataclass(frozen=True, slots=True, eq=False)
class Restriction:
    """Naive Bayes limited to the values of a target's group. Several groups that may be the target's count by their rows."""

    target: Longs  # of each pair of a target and a set of values
    values: Longs
    weight: Floats
    allowed: Bools  # [set, value]
    targets: int

    @classmethod
    def of(cls, links: Links, fitting: csr_array) -> Restriction:
        groups = len(links.group_start) - 1
        here = np.zeros((groups, len(links.table)), dtype=np.int32)
        owner = np.repeat(np.arange(groups), np.diff(links.group_start))
        here[owner, links.place_value] = 1
        allowed, set_of_group = distinct_rows(here, [2] * here.shape[1])
        cells = np.arange(len(links.tuples))
        people = np.bincount(links.slot, minlength=len(cells)).astype(np.float64)
        shape = (len(cells), len(allowed))
        pairs = (fitting @ csr_array((people, (cells, set_of_group[links.tuples[:, 0]])), shape=shape)).tocoo()
        return cls(
            pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data, allowed.astype(bool), fitting.shape[0]
        )

    def __call__(self, joint: Floats) -> Floats:
        """Return the belief about each target from p(s, y), not normalised; zeros for a target who fits nowhere."""
        result = np.zeros(joint.shape)
        step = max(1, fit.MAX_PAIRS // max(joint.shape[1], 1))
        for low in range(0, len(self.target), step):
            some = slice(low, low + step)
            limited = joint[self.target[some]] * self.allowed[self.values[some]]
            limited *= (self.weight[some] / limited.sum(axis=1))[:, None]
            here = csr_array(
                (np.ones(len(limited)), (self.target[some], np.arange(len(limited)))),
                shape=(self.targets, len(limited)),
            )
            result += here @ limited
        return result


@dataclass(slots=True, eq=False)
class LinkedRows(Posterior):
    """The links of a release, with rows of different groups kept apart. The first code of a target is its group."""

    @classmethod
    def of(cls, release: Release, column: str | None = None, effort: Effort | None = None) -> LinkedRows:
        links = Links.of(required(release.links(), release), column, grouped=True)
        method = {
            "sampler": SAMPLERS[(effort or Effort()).method],
            "why": "the release cuts the link within its groups",
        }
        return cls(release, links.column, links.table, links, method)

    @property
    def compares(self) -> bool:
        return False

    def looking(self, known: Ints, error: Floats) -> Evaluate:
        counted, restricted = self.counting(known, error)

        def look(batch: Batch) -> tuple[Floats, ...]:
            rows, joint = counted(batch)
            return normalised(rows), normalised(restricted(joint)), normalised(joint)

        return look

    def counting(
        self, known: Ints, error: Floats
    ) -> tuple[Callable[[Batch], tuple[Floats, Floats]], Callable[[Floats], Floats]]:
        """Return two functions: from a batch to the sums over the target's rows and p(s, y), and the restriction of the latter."""
        links = self.model
        assert isinstance(links, Links)
        fitting = links.fitting(known, error)
        sizes = [int(n) + 1 for n in links.leaves]
        alike, number = distinct_rows((known[:, 1:] + 1).astype(np.int32), sizes)
        alone = np.column_stack([np.full(len(alike), UNKNOWN), alike - 1]).astype(np.int32)

        def counted(batch: Batch) -> tuple[Floats, Floats]:
            return fitting @ batch.means[0], links.joint(batch, alone, error)[number]

        return counted, Restriction.of(links, fitting)

    def predicted(self, known: Ints, error: Floats, view: int) -> tuple[Floats, Floats]:
        """Return one of the three beliefs, over all states and in each batch [chain, batch, target, value]."""
        assert self.sampled is not None
        counted, restricted = self.counting(known, error)
        seen = [[counted(batch)[min(view, 1)] for batch in batches] for batches in self.sampled.batches]
        whole: Floats = np.mean([weights for chain in seen for weights in chain], axis=0)
        limit: Callable[[Floats], Floats] = restricted if view == GROUP else lambda weights: weights
        draws = np.array([[normalised(limit(weights)) for weights in chain] for chain in seen])
        return normalised(limit(whole)), draws

    def last_state(self, known: Ints, error: Floats) -> Floats:
        """Return the share of a target's rows that have each value in the last state of the first chain."""
        links = self.model
        assert isinstance(links, Links)
        assert self.sampled is not None
        chain = self.sampled.run.chains[0]
        assert isinstance(chain, LinkChain)
        return normalised(links.fitting(known, error) @ chain.state())


class DeFinetti(Learning):
    """An adversary that learns from an anatomized release how its rows are linked."""

    __slots__ = ()
    knows = "the release, that the target is in it and in which group, and the target's quasi-identifiers"
    needs = ("links",)
    is_audited = False
    knows_group = True
    baseline_is_table = False
    view: ClassVar[int] = ROWS

    def refusal(self, release: Release) -> str | None:
        links = release.links()
        if links is None:
            return lacking(release, self.needs)
        cells = len(links.quasi.codes) * max(len(column.leaves) for column in release.schema.sensitive)
        return too_many(cells, MAX_SAMPLED_ENTRIES, "its rows and values")

    def _posterior_of(self, release: Release, column: str) -> Posterior:
        return LinkedRows.of(release, column, self.effort)

    def _distinct(self, release: Release, targets: Targets) -> tuple[Ints, Ints]:
        groups = required(release.links(), release).groups
        if targets.group is not None and ((targets.group < UNKNOWN) | (targets.group >= groups)).any():
            raise ValueError("a target's group is not one of the release")
        if not self.knows_group:
            targets = Targets(targets.schema, targets.codes)
        return fit.distinct_targets(targets, groups)

    def _belief(self, posterior: Posterior, known: Ints, error: Floats, number: Ints) -> Belief:
        assert isinstance(posterior, LinkedRows)
        posteriors, draws = posterior.predicted(known, error, self.view)
        matched = np.logical_not(np.isnan(posteriors).any(axis=1))[number]
        errors = np.zeros((len(number), len(posterior.table)))
        assert posterior.sampled is not None
        errors[matched] = posterior.sampled.spread(draws)[number][matched]
        baseline = np.broadcast_to(posterior.table / posterior.table.sum(), errors.shape).copy()
        learnt_draws = None
        if self.view != OPEN:  # what the release reveals about anybody, also about a target who fits nowhere
            learnt, learnt_draws = posterior.predicted(known, error, OPEN)
            baseline = learnt[number]
        return Belief(
            posterior.column,
            posteriors[number],
            baseline,
            errors,
            matched,
            "sampled",
            posterior.diagnostics,
            Replicates(draws, learnt_draws, number),
            self._guess(posterior, known, error, number),
        )

    def _guess(self, posterior: LinkedRows, known: Ints, error: Floats, number: Ints) -> Floats | None:
        return None


class Permutation(DeFinetti):
    """The attack as first described: it guesses from one state. Its belief is how often the states agree with that."""

    __slots__ = ()
    name = "definetti-permutation"
    page = "definetti-permutation.md"
    does = "links the rows of all groups with the values that fit them best, and reports the last value of the target's row"

    def _guess(self, posterior: LinkedRows, known: Ints, error: Floats, number: Ints) -> Floats | None:
        return posterior.last_state(known, error)[number]


class Majority(DeFinetti):
    """Guess the value that the target's row has in most states."""

    __slots__ = ()
    name = "definetti-majority"
    page = "definetti-majority.md"
    does = "links rows and values of all groups many times, and reports the most frequent value of the target's row"


class Group(DeFinetti):
    """Let naive Bayes choose among the values of the target's group."""

    __slots__ = ()
    name = "definetti-group"
    page = "definetti-group.md"
    does = "links the rows of all groups, learns naive Bayes from that, and lets it choose among the values of the target's group"
    view = GROUP


class Open(DeFinetti):
    """Let naive Bayes choose among all values."""

    __slots__ = ()
    name = "definetti-open"
    page = "definetti-open.md"
    knows = "the release and the target's quasi-identifiers; whether the target is in it makes no difference"
    does = "links the rows of all groups, learns naive Bayes from that, and applies it to the target"
    assumes_presence = False
    knows_group = False
    baseline_is_table = True
    view = OPEN
