"""An adversary in one file: it counts everyone in the classes that the target fits, however wide these are.

It is cruder than random worlds, which weighs a class by how much of it may be the target's. A package that installs this file
names the class in its pyproject.toml. Every command, report and test then includes it:

    [project.entry-points."dalenius.adversaries"]
    whole-classes = "my_adversary:WholeClasses"
"""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.base import Adversary, Targets
from dalenius.adversaries.evidence import required
from dalenius.adversaries.models import fit
from dalenius.belief import Belief
from dalenius.releases import Release


class WholeClasses(Adversary):
    """p(s | r) ∝ Σ over classes q that r fits of n(q, s); a suppressed row could be anyone's."""

    __slots__ = ()
    name = "whole-classes"
    knows = "the release, that the target is in it, and the target's quasi-identifiers"
    does = "counts everyone in the classes that the target fits, wide ones as much as narrow ones"
    needs = ("rows", "links")  # centroids and counts have no classes that a target could fit

    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        grouping = required(release.classes(), release).grouping(column)
        counts = fit.counts_of(grouping)  # [class, value], sparse
        known, number = fit.distinct_targets(targets)  # targets of whom the same is known are asked once
        weights = np.zeros((len(known), counts.shape[1]))
        weights += grouping.table - np.asarray(counts.sum(axis=0))  # the suppressed
        for some, shares in fit.fits(release, known):  # [target, class]: how much of a class may be the target's
            weights[some] += ((shares > 0).astype(float) @ counts).toarray()
        return Belief.exact(grouping.column, weights[number], grouping.table / grouping.table.sum())
