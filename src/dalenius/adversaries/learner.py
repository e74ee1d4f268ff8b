"""The learner: what a release reveals about a person who is not in it (methods A; Boreale, Corradi and Viscardi 2019).

p_L(s | y) ∝ E[π_S(s) Π_a P(y_a | s, π)] is the posterior predictive of a person about whom y is known. The factor of an unknown
attribute is 1. An attribute that is wrong with probability e has the factor (1 − e) P(y_a) + e (1 − P(y_a))/(leaves − 1).
"""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.models.learning import Learning, Posterior
from dalenius.arrays import Floats, Ints
from dalenius.belief import Belief, Replicates

__all__ = ["Learner"]


class Learner(Learning):
    """An adversary that treats the release as a study of the population."""

    __slots__ = ()
    name = "learner"
    page = "learner.md"
    knows = "the release and the target's quasi-identifiers, and assumes that the target is not in it"
    does = "learns from the release how values and quasi-identifiers go together, and applies it to the target"
    assumes_presence = False
    is_relative = True
    is_audited = False  # what it believes is the attacker's baseline

    def _belief(self, posterior: Posterior, known: Ints, error: Floats, number: Ints) -> Belief:
        beliefs = posterior.beliefs(known, error)
        learner, errors = beliefs.learner[number], np.zeros((len(number), len(posterior.table)))
        baseline = np.broadcast_to(posterior.table / posterior.table.sum(), learner.shape).copy()
        matched = np.ones(len(number), dtype=bool)
        if beliefs.learner_draws is None:
            return Belief(posterior.column, learner, baseline, errors, matched, "exact", posterior.diagnostics)
        assert posterior.sampled is not None
        errors = posterior.sampled.spread(beliefs.learner_draws)[number]
        draws = Replicates(beliefs.learner_draws, None, number)
        return Belief(posterior.column, learner, baseline, errors, matched, "sampled", posterior.diagnostics, draws)
