"""The nearest centroid: the attack of somebody who looks a person up in a microaggregated release.

p(s | r) ∝ rows with value s in the groups whose centroid is nearest to r. All groups that are equally near count. The distance is
the publisher's, as far as the centroids show it (see `models/location.py`).
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

__all__ = ["NearestCentroid"]


class NearestCentroid(Adversary):
    """Assume that the nearest group is the target's own. That is sometimes wrong, and the belief does not show it."""

    __slots__ = ()
    name = "nearest-centroid"
    page = "nearest-centroid.md"
    knows = "the release, that the target is in it, and the target's quasi-identifiers"
    does = "goes to the group whose centroid is nearest and treats every row in it as equally likely to be the target's"
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
