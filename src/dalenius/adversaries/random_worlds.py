"""Random worlds: every table compatible with the release is equally likely (Kifer 2009; methods A).

p_RW(s | r) ∝ Σ over rows j with value s of the share of j's possibilities that equal r (see `models/fit.py`). A
suppressed row could be anybody.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dalenius.adversaries.base import Adversary, Targets
from dalenius.adversaries.evidence import required
from dalenius.adversaries.models import fit
from dalenius.belief import Belief, normalised
from dalenius.releases import Release

__all__ = ["RandomWorlds"]


class RandomWorlds(Adversary):
    """The attacker that random-worlds reasoning assumes: it uses the release and learns nothing from it."""

    __slots__ = ()
    name = "random-worlds"
    page = "random-worlds.md"
    knows = "the release, that the target is in it, and the target's quasi-identifiers"
    does = "finds the groups that the target fits and treats every row in them as equally likely to be the target's"

    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        classes = required(release.classes(), release)
        grouping = classes.grouping(column)
        counts = fit.counts_of(grouping)
        hidden = grouping.table - np.asarray(counts.sum(axis=0))
        knows_group = release.links() is not None and targets.group is not None
        known, number = fit.distinct_targets(targets, classes.groups if knows_group else None)
        weights = np.zeros((len(known), len(hidden)))
        for some, groups in fit.fits(release, known):
            weights[some] += (groups @ counts).toarray()
        shown = None
        if hidden.any():
            shown = normalised(weights)[number]
            weights += fit.fit_to_suppressed(release, known)[:, None] * hidden
        belief = Belief.exact(grouping.column, weights[number], grouping.table / grouping.table.sum())
        return dataclasses.replace(belief, unless_suppressed=shown)
