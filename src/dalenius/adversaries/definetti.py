"""deFinetti attacks on anatomized releases (Kifer 2009, Cormode 2011; methods E): the link is learnt from the release itself.

Which row of a group has which of its values is not published, but some ways to link them make quasi-identifiers and values go
together as they do everywhere else. Of states that link all rows four predictions are made: the value that the target's row
has in the last state (permutation) or in most of them (majority), and what naive Bayes, made of the states' counts, says of the
target, of the values of its group (group) or of all (open). Which group the target is in is known to all but the last; of
a target whose group is not known, every row like it counts.

States come from the sampler of the posterior (see `links`) or, with a `printed-…` method, from the attack as it was printed.
That is a heuristic: its classifier has seen the rows that it judges, as they are linked now.
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
from dalenius.adversaries.models.learning import KEPT_ENTRIES, Learning, Posterior, too_many
from dalenius.adversaries.models.links import SAMPLERS, LinkChain, Links
from dalenius.adversaries.models.sampling import Batch, Effort, Evaluate
from dalenius.arrays import Bools, Floats, Ints, Longs
from dalenius.belief import Belief, Replicates, normalised
from dalenius.coding import distinct_rows
from dalenius.releases import Release

ROWS, GROUP, OPEN = range(3)  # the three beliefs that states give


@dataclass(frozen=True, slots=True, eq=False)
class Restriction:
    """Naive Bayes allowed only the values of a target's group; of several groups that may be its own, by their rows."""

    target: Longs  # of each pair of a target and a set of values
    values: Longs
    weight: Floats
    sets: Bools  # [set, value]
    targets: int

    @classmethod
    def of(cls, links: Links, fitting: csr_array) -> Restriction:
        groups = len(links.group_start) - 1
        here = np.zeros((groups, len(links.table)), dtype=np.int32)
        owner = np.repeat(np.arange(groups), np.diff(links.group_start))
        here[owner, links.place_value] = 1
        sets, which = distinct_rows(here, [2] * here.shape[1])
        cells = np.arange(len(links.tuples))
        people = np.bincount(links.slot, minlength=len(cells)).astype(np.float64)
        shape = (len(cells), len(sets))
        pairs = (fitting @ csr_array((people, (cells, which[links.tuples[:, 0]])), shape=shape)).tocoo()
        return cls(
            pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data, sets.astype(bool), fitting.shape[0]
        )

    def __call__(self, joint: Floats) -> Floats:
        """From p(s, y), not normalised, to what is believed of each target; a target who fits nowhere has zeros."""
        found = np.zeros(joint.shape)
        step = max(1, fit.PAIRS // max(joint.shape[1], 1))
        for low in range(0, len(self.target), step):
            some = slice(low, low + step)
            allowed = joint[self.target[some]] * self.sets[self.values[some]]
            allowed *= (self.weight[some] / allowed.sum(axis=1))[:, None]
            here = csr_array(
                (np.ones(len(allowed)), (self.target[some], np.arange(len(allowed)))),
                shape=(self.targets, len(allowed)),
            )
            found += here @ allowed
        return found


@dataclass(slots=True, eq=False)
class LinkedRows(Posterior):
    """The links of a release, rows of different groups kept apart; what is known of a target begins with its group."""

    @classmethod
    def of(cls, release: Release, column: str | None = None, effort: Effort | None = None) -> LinkedRows:
        links = Links.of(required(release.links(), release), column, grouped=True)
        told = {
            "sampler": SAMPLERS[(effort or Effort()).method],
            "why": "the release cuts the link within its groups",
        }
        return cls(release, links.column, links.table, links, told)

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
        """From a batch to sums over the target's rows and to p(s, y), neither normalised; and the latter's restriction."""
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
        """One of the three beliefs, of all states and of each batch [chain, batch, target, value]."""
        assert self.sampled is not None
        counted, restricted = self.counting(known, error)
        seen = [[counted(batch)[min(view, 1)] for batch in mine] for mine in self.sampled.batches]
        whole: Floats = np.mean([one for mine in seen for one in mine], axis=0)
        made: Callable[[Floats], Floats] = restricted if view == GROUP else lambda weights: weights
        draws = np.array([[normalised(made(one)) for one in mine] for mine in seen])
        return normalised(made(whole)), draws

    def last_state(self, known: Ints, error: Floats) -> Floats:
        """The share of a target's rows that have each value in the state where the first chain stands."""
        links = self.model
        assert isinstance(links, Links)
        assert self.sampled is not None
        chain = self.sampled.run.chains[0]
        assert isinstance(chain, LinkChain)
        return normalised(links.fitting(known, error) @ chain.state())


class DeFinetti(Learning):
    """Somebody who learns from an anatomized release how its rows are linked."""

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
        return too_many(cells, KEPT_ENTRIES, "its rows and values")

    def _posterior_of(self, release: Release, column: str) -> Posterior:
        return LinkedRows.of(release, column, self.effort)

    def _asked(self, release: Release, targets: Targets) -> tuple[Ints, Ints]:
        groups = required(release.links(), release).groups
        if targets.group is not None and ((targets.group < UNKNOWN) | (targets.group >= groups)).any():
            raise ValueError("a target's group is not one of the release")
        if not self.knows_group:
            targets = Targets(targets.schema, targets.codes)
        return fit.distinct_targets(targets, groups)

    def _belief(self, posterior: Posterior, known: Ints, error: Floats, number: Ints) -> Belief:
        assert isinstance(posterior, LinkedRows)
        found, draws = posterior.predicted(known, error, self.view)
        matched = np.logical_not(np.isnan(found).any(axis=1))[number]
        errors = np.zeros((len(number), len(posterior.table)))
        assert posterior.sampled is not None
        errors[matched] = posterior.sampled.spread(draws)[number][matched]
        baseline = np.broadcast_to(posterior.table / posterior.table.sum(), errors.shape).copy()
        others = None
        if self.view != OPEN:  # what the release teaches about anybody: all that is left of a target who fits nowhere
            learnt, others = posterior.predicted(known, error, OPEN)
            baseline = learnt[number]
        return Belief(
            posterior.column,
            found[number],
            baseline,
            errors,
            matched,
            "sampled",
            posterior.diagnostics,
            Replicates(draws, others, number),
            self._guess(posterior, known, error, number),
        )

    def _guess(self, posterior: LinkedRows, known: Ints, error: Floats, number: Ints) -> Floats | None:
        return None


class Permutation(DeFinetti):
    """As the attack was first described: one state's word for it. What is believed is how often states say so."""

    __slots__ = ()
    name = "definetti-permutation"
    page = "definetti-permutation.md"
    does = "links the rows of all groups with their values as they go together best, and says what the target's row got last"

    def _guess(self, posterior: LinkedRows, known: Ints, error: Floats, number: Ints) -> Floats | None:
        return posterior.last_state(known, error)[number]


class Majority(DeFinetti):
    __slots__ = ()
    name = "definetti-majority"
    page = "definetti-majority.md"
    does = "links rows and values of all groups as they go together, many times, and says what the target's row got most often"


class Group(DeFinetti):
    __slots__ = ()
    name = "definetti-group"
    page = "definetti-group.md"
    does = "links the rows of all groups, learns naive Bayes from that, and lets it choose among the values of the target's group"
    view = GROUP


class Open(DeFinetti):
    __slots__ = ()
    name = "definetti-open"
    page = "definetti-open.md"
    knows = "the release and the target's quasi-identifiers; it is the same to it whether the target is in it"
    does = "links the rows of all groups, learns naive Bayes from that, and applies it to the target"
    assumes_presence = False
    knows_group = False
    baseline_is_table = True
    view = OPEN
