"""What an anatomized release reveals: the link within groups is drawn, and beliefs are averaged over the draws.

A state gives every row of a group one of its values. Given a state, the model of methods A is a table of counts. A learner's joint
probability is a product of them. An attacker's is how often a row with the target's quasi-identifiers has each value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from dalenius.adversaries.base import UNKNOWN
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.population import Prior
from dalenius.adversaries.models.sampling import PRINTED, WATCHED, Batch, Method, states_of
from dalenius.arrays import Bools, Floats, Ints, Longs
from dalenius.coding import distinct_rows
from dalenius.kernels import gibbs_links as kernel
from dalenius.kernels import gibbs_swaps as swaps
from dalenius.kernels import mode_jumps
from dalenius.releases import Anatomized
from dalenius.schema import Column

__all__ = ["SAMPLERS", "Jumps", "LinkChain", "Links", "choose_watched"]

SAMPLERS: dict[Method, str] = {
    "block": "collapsed Gibbs on blocks, each permutation drawn exactly",
    "swaps": "collapsed Metropolis on swaps of two rows",
    "metropolis": "Metropolis within Gibbs: π drawn, then one swap in each group",
    "printed-swaps": "the deFinetti attack as printed, a heuristic: one swap in each group under a classifier of the state",
    "printed-permutations": "the deFinetti attack as printed, a heuristic: one permutation in each group likewise",
}
START_HEAT = 0.5  # the power of the likelihood that chains start with
KEEP_EVERY = 5  # sweeps from one state that is kept for the learner, or one jump, to the next
FOLLOW_SWEEPS = 20  # in which only one attribute counts


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The rows of an anatomized release group by group, and the places of its values, sorted by group and value."""

    column: Column
    table: Longs  # rows of each value
    group_start: Longs
    rows: Ints  # leaves of each row, counted on over attributes
    place_value: Ints
    group_run: Longs  # the runs of equal values of each group
    run_start: Longs
    tuples: Ints  # distinct rows of leaf codes, after the group if `grouped`
    slot: Ints  # which of them each row is
    grouped: bool
    first_leaf: Longs
    beta: Floats  # of all attributes' leaves
    values: Floats  # E[π_S]
    total: Floats  # Σβ + rows of the value, for each attribute and value
    scale: Floats  # of each value

    @classmethod
    def of(cls, release: Anatomized, column: str | None = None, *, grouped: bool = False) -> Links:
        """Return the links of a release. `grouped` keeps rows of different groups apart, for adversaries that know the group."""
        grouping = release.grouping(column)
        prior = Prior.of(release.schema, grouping.column)
        sizes = [len(quasi.leaves) for quasi in release.schema.quasi]
        first_leaf = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        codes = np.repeat(release.quasi.codes, release.quasi.counts, axis=0)
        group = np.repeat(release.quasi.group, release.quasi.counts)
        group_start = np.searchsorted(group, np.arange(release.groups + 1)).astype(np.int64)
        if grouped:
            tuples, slot = distinct_rows(np.column_stack([group, codes]).astype(np.int32), [release.groups, *sizes])
        else:
            tuples, slot = distinct_rows(codes, sizes)
        total: Floats = np.array([beta.sum() for beta in prior.beta])[:, None] + grouping.table.astype(np.float64)
        return cls(
            column=grouping.column,
            table=grouping.table,
            group_start=group_start,
            rows=np.ascontiguousarray(codes + first_leaf[:-1], dtype=np.int32),
            place_value=np.repeat(grouping.values, grouping.counts).astype(np.int32),
            group_run=grouping.start.astype(np.int64),
            run_start=np.concatenate(([0], np.cumsum(grouping.counts))).astype(np.int64),
            tuples=tuples,
            slot=slot,
            grouped=grouped,
            first_leaf=first_leaf,
            beta=np.concatenate(prior.beta),
            values=(prior.alpha + grouping.table) / (prior.alpha.sum() + grouping.table.sum()),
            total=total,
            scale=(np.array(sizes)[:, None] / total).prod(axis=0),
        )

    @property
    def leaves(self) -> Longs:
        """Return the number of leaves of each attribute."""
        return np.diff(self.first_leaf)

    def fitting(self, known: Ints, error: Floats) -> csr_array:
        """Return P(what is known about a target | a person with a tuple), for each target and each tuple of the release.

        If rows of different groups are kept apart, the first code of a target is its group.
        """
        before = int(self.grouped)
        certain = known.copy()
        certain[:, before:][:, error > 0] = UNKNOWN
        doubtful = np.flatnonzero(error > 0)
        parts = []
        sizes = [len(self.group_start) - 1] * before + self.leaves.tolist()
        for some, start, taken in fit.equal_rows(certain, self.tuples, sizes):
            target = np.repeat(some, np.diff(start))
            weight = np.ones(len(taken))
            for a in doubtful.tolist():
                code = known[target, before + a]
                other = error[a] / (self.leaves[a] - 1)
                factor = np.where(code == self.tuples[taken, before + a], 1 - error[a], other)
                weight *= np.where(code == UNKNOWN, 1.0, factor)
            parts.append((target, taken, weight))
        rows, columns, data = (np.concatenate(column) for column in zip(*parts, strict=True))
        return csr_array((data, (rows, columns)), shape=(len(known), len(self.tuples)))

    def joint(self, batch: Batch, known: Ints, error: Floats) -> Floats:
        """Return p_L(s, y) for each target and value, not normalised, on average over the states of a batch."""
        assert batch.kept is not None
        known = known[:, int(self.grouped) :]
        targets = np.where(known == UNKNOWN, -1, known + self.first_leaf[:-1]).astype(np.int64)
        sums = np.zeros((len(known), len(self.table)))
        kernel.add_joint(targets, error, self.leaves, batch.kept, self.total, self.values, sums)
        return sums / len(batch.kept)

    def expected(self) -> list[Floats]:
        """Return E[π_{a|s}(leaf)] of each attribute if all links of the rows of a group were equally likely."""
        groups = len(self.group_start) - 1
        sizes = np.diff(self.group_start)
        owner = np.repeat(np.arange(groups), sizes)
        shares = csr_array((1 / sizes[owner], (np.arange(len(owner)), owner)), shape=(len(owner), groups)) @ csr_array(
            (np.ones(len(owner)), (owner, self.place_value)), shape=(groups, len(self.table))
        )
        means = []
        for a in range(self.rows.shape[1]):
            low, high = self.first_leaf[a : a + 2].tolist()
            here = csr_array(
                (np.ones(len(owner)), (self.rows[:, a] - low, np.arange(len(owner)))), shape=(high - low, len(owner))
            )
            counts = (here @ shares).toarray()
            means.append(((self.beta[low:high, None] + counts) / self.total[a]).T)
        return means


@dataclass(slots=True, eq=False)
class Jumps:
    """The places that a chain jumps between, and the kinds of jumps (see `modes`)."""

    centres: Floats  # [place, leaf, value]: densities to propose parameters from
    means: Floats  # [place, leaf, value]: where the places are; a chain is near one of them
    moving: Bools  # [kind, value]: the values whose parameters a kind of jump proposes
    states: Longs
    works: Bools  # kinds that were accepted at least once

    @classmethod
    def of(cls, links: Links, centres: Floats, means: Floats, moving: Bools) -> Jumps:
        states = mode_jumps.states_of_groups(links.group_run, links.run_start)
        return cls(centres, means, moving, states, np.zeros(len(moving), dtype=np.bool_))

    def keep(self, works: Bools) -> None:
        """Keep only these kinds."""
        self.moving, self.works = self.moving[works], works[works]

    def nearest(self, weight: Floats) -> int:
        """Return the place that a state is nearest to."""
        return int(np.abs(self.means - weight).sum(axis=(1, 2)).argmin())


@dataclass(slots=True, eq=False)
class LinkChain:
    """One chain over the links. It starts evenly or, if it `follows` an attribute, as if only that attribute counted."""

    links: Links
    method: Method
    rng: np.random.Generator
    follows: int | None = None
    jumps: Jumps | None = None
    row_at: Ints = field(init=False)
    weight: Floats = field(init=False)
    watched: tuple[Longs, Longs, Longs] = field(init=False)
    visits: list[int] = field(default_factory=list)  # the nearest place, at every look
    jumped: list[int] = field(default_factory=lambda: [0, 0])  # proposed, accepted

    def __post_init__(self) -> None:
        links = self.links
        self.row_at, self.weight = kernel.start_links(
            links.group_start, links.rows, links.place_value, links.beta, len(links.table), self.seed()
        )
        self.watched = choose_watched(links)

    def state(self) -> Floats:
        """Return how many rows of each tuple have each value now."""
        met = np.zeros((len(self.links.tuples), len(self.links.table)))
        np.add.at(met, (self.links.slot[self.row_at], self.links.place_value), 1.0)
        return met

    def seed(self) -> int:
        return int(self.rng.integers(2**31))

    @property
    def states(self) -> int:
        return states_of(self.weight.size, self.links.tuples.size * len(self.links.table))

    @property
    def crossings(self) -> int:
        """Return how often it has gone from one place to another."""
        return int(np.count_nonzero(np.diff(self.visits)))

    def forget_visits(self) -> None:
        self.visits, self.jumped = [], [0, 0]

    def move_to(self, row_at: Ints) -> None:
        """Continue from another state."""
        self.row_at = row_at.copy()
        self._count()

    def _count(self) -> None:
        links = self.links
        kernel.weigh(links.rows, self.row_at, links.place_value, links.beta, self.weight)

    def settle(self, sweeps: int) -> None:
        """Find a likely state: draw blocks while the likelihood counts more and more, then with all of it.

        From a state drawn evenly, chains often get stuck where two values have each other's rows (Adult, ℓ = 4: one in four). They
        leave such states as soon as the likelihood counts a little less. The printed attack starts without this.
        """
        if self.method in PRINTED:
            self.advance(sweeps)
            return
        self.cool(sweeps, START_HEAT)
        if self.method != "block":
            self.advance(sweeps)

    def cool(self, sweeps: int, start_heat: float, *, exchanging: bool = True) -> None:
        """Run sweeps in which the power of the likelihood grows from `start_heat` to 1; the last third has all of it."""
        if self.follows is not None:
            self._follow(self.follows)
        warm = 2 * sweeps // 3
        for sweep in range(sweeps):
            heat = start_heat + (1 - start_heat) * sweep / warm if sweep < warm else 1.0
            self.warm(1, heat, exchanging=exchanging)

    def warm(self, sweeps: int, heat: float, *, exchanging: bool = True) -> None:
        """Run sweeps of which nothing is kept, with the likelihood to a power."""
        trace, states = np.empty((sweeps, len(self.watched[0]))), np.empty((sweeps, len(self.watched[2])), np.int32)
        self._blocks(np.empty((0, 0)), trace, states, sweeps, heat, exchanging=exchanging)

    def _follow(self, attribute: int) -> None:
        """Link rows and values as if only one attribute counted."""
        links = self.links
        rows = np.ascontiguousarray(links.rows[:, attribute : attribute + 1])
        total = links.total[attribute : attribute + 1]
        none = np.empty(0, dtype=np.int64)
        kernel.weigh(rows, self.row_at, links.place_value, links.beta, self.weight)
        for sweep in range(FOLLOW_SWEEPS):
            heat = min(1.0, START_HEAT + sweep / FOLLOW_SWEEPS)
            kernel.block_sweeps(
                links.group_start, rows, links.place_value, links.group_run, links.run_start,
                total, links.leaves[attribute] / total[0], self.row_at, self.weight, links.slot, np.empty((0, 0)), none, none, none,
                np.empty((1, 0)), np.empty((1, 0), dtype=np.int32), 1, self.seed(), heat, True,
            )  # fmt: skip
        self._count()

    def try_jumps(self, number: int) -> None:
        """Propose `number` jumps of each kind, and record which kinds are accepted."""
        assert self.jumps is not None
        for _ in range(number):
            for kind in range(len(self.jumps.moving)):
                self.jumps.works[kind] |= self._jump(kind)
                self.warm(1, 1.0)

    def _jump(self, kind: int) -> bool:
        links, jumps = self.links, self.jumps
        assert jumps is not None
        taken = mode_jumps.jump(
            links.group_start, links.rows, links.place_value, links.group_run, links.run_start, jumps.states,
            links.first_leaf, links.beta, jumps.centres, jumps.moving[kind], self.row_at, self.weight, self.seed(),
        )  # fmt: skip
        self.jumped[0] += 1
        if taken:
            self.jumped[1] += 1
            self._count()
        return bool(taken)

    def advance(self, sweeps: int) -> Batch:
        """Return how often a row of each tuple has each value, on average, and some of the tables that a learner uses."""
        links = self.links
        met = np.zeros((len(links.tuples), len(links.table)))
        kept = []
        trace = np.empty((sweeps, len(self.watched[0])))
        states = np.empty((sweeps, len(self.watched[2])), dtype=np.int32)
        self._count()  # so that rounding does not add up
        looks = 0
        # Odd: swaps that are always accepted come and go, and every other state would be the same.
        every = max(KEEP_EVERY, -(-sweeps // self.states)) | 1
        for low in range(0, sweeps, every):
            high = min(low + every, sweeps)
            looks += -(-(high - low) // kernel.LOOK_EVERY) if self.method == "block" else high - low
            kept.append(self._walk(met, trace[low:high], states[low:high], high - low).copy())
            self._look_around()
        return Batch([met / looks], np.array(kept), trace, states)

    def _look_around(self) -> None:
        """Record the nearest place, and propose jumps if any are accepted. The samplers of the papers do not jump."""
        if self.jumps is None:
            return
        self.visits.append(self.jumps.nearest(self.weight))
        if self.method == "block" and len(self.jumps.moving):
            # First the one that moves most values, the last: it leads from any place to any other.
            self._jump(-1)
            self._jump(int(self.rng.integers(len(self.jumps.moving))))

    def _walk(self, met: Floats, trace: Floats, states: Ints, sweeps: int) -> Floats:
        """Run some sweeps and return the table that the learner uses afterwards."""
        links = self.links
        seen = links.slot, met, *self.watched, trace, states, sweeps, self.seed()
        if self.method == "metropolis":
            parameters = np.empty_like(self.weight)
            swaps.metropolis_sweeps(
                links.group_start, links.rows, links.place_value, links.first_leaf, links.total,
                self.row_at, self.weight, parameters, *seen,
            )  # fmt: skip
            return parameters
        if self.method == "swaps":
            swaps.swap_sweeps(links.group_start, links.rows, links.place_value, self.row_at, self.weight, *seen)
        elif self.method in PRINTED:
            swaps.printed_sweeps(
                links.group_start, links.rows, links.place_value, links.beta, self.row_at, self.weight,
                self.method == "printed-permutations", *seen,
            )  # fmt: skip
        else:
            self._blocks(met, trace, states, sweeps)
        return self.weight

    def _blocks(
        self, met: Floats, trace: Floats, states: Ints, sweeps: int, heat: float = 1.0, *, exchanging: bool = True
    ) -> None:
        links = self.links
        kernel.block_sweeps(
            links.group_start, links.rows, links.place_value, links.group_run, links.run_start,
            links.total, links.scale,
            self.row_at, self.weight, links.slot, met, *self.watched, trace, states, sweeps, self.seed(), heat, exchanging,
        )  # fmt: skip


def choose_watched(links: Links) -> tuple[Longs, Longs, Longs]:
    """Return leaves and values whose counts are recorded at every sweep, and rows whose value is: the same for all chains."""
    rng = np.random.default_rng(0)
    sizes = np.diff(links.group_start)
    runs = np.diff(links.group_run)
    movable = np.flatnonzero(np.repeat(runs > 1, sizes))
    rows = np.sort(rng.choice(movable, min(WATCHED, len(movable)), replace=False)) if len(movable) else movable
    column = rng.integers(0, links.rows.shape[1], len(rows))
    leaf = links.rows[rows, column].astype(np.int64)
    value = links.place_value[rng.permutation(rows)].astype(np.int64) if len(rows) else rows
    return leaf, value, rows.astype(np.int64)
