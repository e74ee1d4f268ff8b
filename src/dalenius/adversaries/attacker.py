"""The attacker: the learner who knows that the target is in the release (Lemma 1 of Boreale, Corradi and Viscardi 2019).

p_A(s | y) ∝ Σ over rows j with value s of P(row j has the known quasi-identifiers of the target | release). The belief is compared
with the learner's: the difference is what the attacker knows about the person. If n₀ rows were deleted before the release was made,
each of them follows the learner's belief: n₀ p_L(s, y) is added.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dalenius.adversaries.models.learning import Learning, Memory, Posterior
from dalenius.adversaries.models.sampling import Effort, Progress
from dalenius.arrays import Floats, Ints
from dalenius.belief import Belief, Replicates
from dalenius.errors import ParameterError

__all__ = ["Attacker"]


class Attacker(Learning):
    """An adversary that knows that the target is in the release."""

    __slots__ = ("deleted",)
    name = "attacker"
    page = "attacker.md"
    knows = "the release, that the target is in it, and the target's quasi-identifiers"
    does = "learns from the release how values and quasi-identifiers go together, and uses that to weigh which row is the target's"
    baseline_is_table = False
    baseline_is_learner = True
    usual_for = ("rows", "links")
    weighs_deleted = True
    is_relative = True

    def __init__(
        self,
        error: Mapping[str, float] | None = None,
        effort: Effort | None = None,
        *,
        deleted: int = 0,
        memory: Memory | None = None,
        progress: Progress | None = None,
    ) -> None:
        """`deleted` is how many rows of the table are not in the release at all. The target may be one of them."""
        super().__init__(error, effort, memory=memory, progress=progress)
        if isinstance(deleted, bool) or not isinstance(deleted, int) or deleted < 0:
            raise ParameterError("deleted", "the attacker", "an int, 0 or more", deleted)
        self.deleted = deleted

    def _belief(self, posterior: Posterior, known: Ints, error: Floats, number: Ints) -> Belief:
        beliefs = posterior.beliefs(known, error, self.deleted)
        attacker, learner = beliefs.attacker[number], beliefs.learner[number]
        matched = np.logical_not(np.isnan(attacker).any(axis=1))
        errors = np.zeros(attacker.shape)
        if beliefs.attacker_draws is None:
            shown = None if self.deleted else posterior.unless_suppressed(known, error)
            return Belief(
                posterior.column, attacker, learner, errors, matched, "exact", posterior.diagnostics,
                unless_suppressed=None if shown is None else shown[number],
            )  # fmt: skip
        assert posterior.sampled is not None
        errors[matched] = posterior.sampled.spread(beliefs.attacker_draws)[number][matched]
        both = Replicates(beliefs.attacker_draws, beliefs.learner_draws, number)
        return Belief(posterior.column, attacker, learner, errors, matched, "sampled", posterior.diagnostics, both)
