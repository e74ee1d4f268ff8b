"""The nearest centroid: what somebody makes of a microaggregated release who looks a person up in it.

p(s | r) ∝ rows with value s in the groups whose centroid is nearest to r, all groups that are equally near together. The
distance is the publisher's, as far as the centroids tell it (see `location`).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from dalenius.adversaries.base import Adversary, Targets
from dalenius.adversaries.evidence import required
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.location import places
from dalenius.belief import Belief
from dalenius.releases import Release


class NearestCentroid(Adversary):
    """The attacker who takes the nearest group for the target's own. It never doubts that, and is wrong now and then."""

    __slots__ = ()
    name = "nearest-centroid"
    page = "nearest-centroid.md"
    knows = "the release, that the target is in it, and the target's quasi-identifiers"
    does = "goes to the group whose centroid is nearest and takes every row in it for equally likely the target's"
    needs = ("centres",)
    usual_for = ("centres",)

    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        centres = required(release.centres(), release)
        grouping = centres.grouping(column)
        counts = fit.counts_of(grouping)
        known, number = fit.distinct_targets(targets)
        weights = np.zeros((len(known), len(grouping.table)))
        for some, start, group in places(centres, known, sure=False):
            near = csr_array((np.ones(len(group)), group, start), shape=(len(some), centres.groups))
            weights[some] = (near @ counts).toarray()
        return Belief.exact(grouping.column, weights[number], grouping.table / grouping.table.sum())
