"""How far a belief changes because the person is in the release: ε of each target (Machanavajjhala et al. 2009, Definition 4)."""

from __future__ import annotations

import numpy as np

from dalenius.arrays import Floats
from dalenius.belief import Belief

__all__ = ["epsilons"]


def epsilons(belief: Belief) -> Floats:
    """Return max(p_in/p_out, (1 − p_out)/(1 − p_in)) over the values that are believed possible, at least 1.

    Of a target who fits nowhere nothing is learnt: nan. Meant for beliefs whose baseline is the person left out.
    """
    inside, outside = belief.posterior, belief.baseline
    with np.errstate(divide="ignore", invalid="ignore"):
        raised = np.where(outside > 0, inside / outside, np.inf)
        lowered = np.where(inside < 1, (1 - outside) / (1 - inside), np.inf)
    worst: Floats = np.where(inside > 0, np.maximum(raised, lowered), 1.0).max(axis=1)
    return np.where(belief.matched, np.maximum(worst, 1.0), np.nan)
