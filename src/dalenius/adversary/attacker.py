"""The attacker: the learner who knows that the target is in the release (Lemma 1 of Boreale, Corradi and Viscardi 2019).

p_A(s | y) ∝ Σ over rows j with value s of P(row j's quasi-identifiers are as the target's are known | release). The belief is
compared with the learner's: what it knows beyond that, it knows about the person.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary.learning import Learning, Views
from dalenius.belief import Belief, Replicates


class Attacker(Learning):
    """Somebody who knows that the target is in the release."""

    __slots__ = ()
    name = "attacker"
    knows = "the release, that the target is in it, and the target's quasi-identifiers"
    does = "learns from the release how values and quasi-identifiers go together, and weighs with it which row is the target's"
    baseline_is_table = False

    def _belief(self, views: Views, number: NDArray[np.int32]) -> Belief:
        assert views.attacker is not None
        assert views.attacker_error is not None
        posterior, baseline = views.attacker[number], views.learner[number]
        matched = np.logical_not(np.isnan(posterior).any(axis=1))
        errors = np.where(matched[:, None], views.attacker_error[number], 0.0)
        if views.sampled is None:
            return Belief(views.column, posterior, baseline, errors, matched, "exact", views.diagnostics)
        replicates = Replicates(views.sampled.replicates[0], views.sampled.replicates[1], number)
        return Belief(views.column, posterior, baseline, errors, matched, "sampled", views.diagnostics, replicates)
