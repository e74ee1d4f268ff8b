"""The learner: what a release teaches about a person who is not in it (methods A; Boreale, Corradi and Viscardi 2019).

p_L(s | y) ∝ E[π_S(s) Π_a P(y_a | s, π)], the posterior predictive of somebody of whom y is known; an attribute that is not known
is a factor 1, one that is wrong with probability e counts (1 − e) P(y_a) + e (1 − P(y_a))/(leaves − 1).
"""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.models.learning import Learning, Posterior
from dalenius.arrays import Floats, Ints
from dalenius.belief import Belief, Replicates


class Learner(Learning):
    """Somebody who takes the release for a study of the population."""

    __slots__ = ()
    name = "learner"
    page = "learner.md"
    knows = "the release and the target's quasi-identifiers, and takes the target for somebody who is not in it"
    does = "learns from the release how values and quasi-identifiers go together, and applies it to the target"
    assumes_presence = False
    is_relative = True
    is_audited = False  # what it believes is the attacker's baseline

    def _belief(self, posterior: Posterior, known: Ints, error: Floats, number: Ints) -> Belief:
        found = posterior.beliefs(known, error)
        learner, errors = found.learner[number], np.zeros((len(number), len(posterior.table)))
        baseline = np.broadcast_to(posterior.table / posterior.table.sum(), learner.shape).copy()
        matched = np.ones(len(number), dtype=bool)
        if found.learner_draws is None:
            return Belief(posterior.column, learner, baseline, errors, matched, "exact", posterior.diagnostics)
        assert posterior.sampled is not None
        errors = posterior.sampled.spread(found.learner_draws)[number]
        mine = Replicates(found.learner_draws, None, number)
        return Belief(posterior.column, learner, baseline, errors, matched, "sampled", posterior.diagnostics, mine)
