"""Random worlds: every table compatible with the release is equally likely (Kifer 2009; methods A).

p_RW(s | r) ∝ Σ over rows j with value s of the share of j's possibilities that equal r: 1/|l| for a row published as a
box l that contains r, multiplicity/n for a group published as its exact tuples. A suppressed row could be anybody: its
box is everything. Of an attribute that the adversary does not know, every leaf counts: its factor is 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary.base import UNKNOWN, Adversary, Targets
from dalenius.belief import Belief
from dalenius.coding import distinct_rows
from dalenius.release import Anatomized, Generalized, GroupedRelease, Release
from dalenius.release.base import Grouping

BLOCK = 20_000_000  # entries of a (target × group) block


class RandomWorlds(Adversary):
    """The attacker that random-worlds reasoning assumes: it uses the release and learns nothing from it."""

    __slots__ = ()
    name = "random-worlds"
    knows = "the release, that the target is in it, and the target's quasi-identifiers"
    does = "finds the groups that the target fits and takes every row in them for equally likely the target's"

    def refusal(self, release: Release) -> str | None:
        if isinstance(release, Generalized | Anatomized):
            return None
        if isinstance(release, GroupedRelease):
            return "centroids do not say which values they stand for; composition's nearest-centroid attack does"
        return f"a release of kind {release.kind!r} has no groups"

    def believe(
        self,
        release: Release,
        targets: Targets,
        *,
        column: str | None = None,
        rng: np.random.Generator | None = None,  # noqa: ARG002 - exact: nothing is drawn
    ) -> Belief:
        assert isinstance(release, Generalized | Anatomized)
        grouping = release.grouping(column)
        baseline = grouping.table / grouping.table.sum()
        # Many people share their quasi-identifiers: each distinct target is thought about once.
        sizes = [len(c.leaves) + 1 for c in targets.schema.quasi]
        distinct, number = distinct_rows((targets.codes + 1).astype(np.int32), sizes)
        known = distinct - 1
        if isinstance(release, Generalized):
            weights = _generalized(release, grouping, known)
        else:
            weights = _anatomized(release, grouping, known)
        return Belief.exact(grouping.column, weights[number], baseline)


def _generalized(release: Generalized, grouping: Grouping, known: NDArray[np.int32]) -> NDArray[np.float64]:
    """Σ_q n(q,s) Π_a (share of the group's leaves of a that equal the target's), and suppressed rows likewise."""
    # factors[a][target's code + 1, label]: 1/|set| if the leaf is in the set, else 0; the first row is for unknown.
    factors = []
    suppressed = np.ones(len(known))
    for a, (column, labels) in enumerate(zip(release.schema.quasi, release.labels, strict=True)):
        factor = np.zeros((len(column.leaves) + 1, len(labels)))
        factor[0] = 1.0
        for code, label in enumerate(labels):
            factor[label.members + 1, code] = 1.0 / max(len(label.members), 1)
        factors.append(factor)
        suppressed *= np.where(known[:, a] == UNKNOWN, 1.0, 1.0 / max(len(column.leaves), 1))
    counts = _dense(grouping)
    weights = np.empty((len(known), len(grouping.table)))
    step = max(1, BLOCK // max(release.groups, 1))
    for low in range(0, len(known), step):
        part = slice(low, low + step)
        fit = np.ones((len(known[part]), release.groups))
        for a, factor in enumerate(factors):
            fit *= factor[np.ix_(known[part, a] + 1, release.codes[:, a])]
        weights[part] = fit @ counts
    hidden = grouping.table - counts.sum(axis=0)
    weights += suppressed[:, None] * hidden
    return weights


def _anatomized(release: Anatomized, grouping: Grouping, known: NDArray[np.int32]) -> NDArray[np.float64]:
    """Σ_q n(q,s) · (how many of the group's tuples fit the target) / n(q)."""
    tuples = release.quasi
    share: NDArray[np.float64] = _dense(grouping) / grouping.sizes[:, None]
    weights = np.empty((len(known), len(grouping.table)))
    step = max(1, BLOCK // max(len(tuples.group), 1))
    for low in range(0, len(known), step):
        part = known[low : low + step]
        fits = np.ones((len(part), len(tuples.group)), dtype=bool)
        for a in range(part.shape[1]):
            fits &= (part[:, a, None] == UNKNOWN) | (part[:, a, None] == tuples.codes[None, :, a])
        # People of each group that fit: tuples come sorted by group.
        start = np.searchsorted(tuples.group, np.arange(release.groups))
        people = np.add.reduceat(fits * tuples.counts, start, axis=1)
        weights[low : low + step] = people @ share
    return weights


def _dense(grouping: Grouping) -> NDArray[np.float64]:
    """n(q,s) as a matrix."""
    counts = np.zeros((grouping.groups, len(grouping.table)))
    counts[np.repeat(np.arange(grouping.groups), np.diff(grouping.start)), grouping.values] = grouping.counts
    return counts
