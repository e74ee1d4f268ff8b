"""The learner: what a release teaches about a person who is not in it (methods A; Boreale, Corradi and Viscardi 2019).

p_L(s | y) ∝ E[π_S(s) Π_a P(y_a | s, π)], the posterior predictive of somebody of whom y is known; an attribute that is not known
is a factor 1, one that is wrong with probability e counts (1 − e) P(y_a) + e (1 − P(y_a))/(leaves − 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary.learning import Learning, Views
from dalenius.belief import Belief, Replicates


class Learner(Learning):
    """Somebody who takes the release for a study of the population."""

    __slots__ = ()
    name = "learner"
    knows = "the release and the target's quasi-identifiers, and takes the target for somebody who is not in it"
    does = "learns from the release how values and quasi-identifiers go together, and applies it to the target"
    assumes_presence = False

    def _belief(self, views: Views, number: NDArray[np.int32]) -> Belief:
        posterior, errors = views.learner[number], views.learner_error[number]
        baseline = np.broadcast_to(views.table / views.table.sum(), posterior.shape).copy()
        matched = np.ones(len(number), dtype=bool)
        if views.sampled is None:
            return Belief(views.column, posterior, baseline, errors, matched, "exact", views.diagnostics)
        replicates = Replicates(views.sampled.replicates[0], None, number)
        return Belief(views.column, posterior, baseline, errors, matched, "sampled", views.diagnostics, replicates)
