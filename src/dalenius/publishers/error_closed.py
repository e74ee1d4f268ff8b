"""Where the attacker's loss is the system's own, the most error that a distortion D buys is known: min(D, P_prior).

X = X', Y = Y', no background, d_A = d_S = d ≥ 0, and every input has an output at distance 0. The attacker may answer Y itself
(and errs E d = D) or the prior's best label e0 (and errs P_prior): neither the average nor the worst case can be above either.
Both are reached, for D < P_prior; that d is a metric, as in the paper's examples, is not needed.

Average: always say e0 with probability a = D / P_prior, else an output at distance 0. Then any y ≠ e0 leaves no error, and an
answer e to e0 errs Σ_x (a p(x) + what truly went to e0) d(x, e) ≥ a P_prior, with equality for e = e0.

Worst case: Q = {π : E_π d(X, e) ≥ D for all e} is a polytope that holds the prior, so that the prior is a mixture of its
extreme points. At an extreme point some E_π d(X, e) = D: were none tight, it would be a single x, which errs 0 < D. Say that e
when the mixture draws that π. All π with the same e together still have e as best answer and err D, which is the distortion.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from dalenius.arrays import Floats
from dalenius.publishers.error_programme import Game

__all__ = ["SLACK_TOLERANCE", "average_mix", "equal_errors"]

SLACK_TOLERANCE = 1e-10  # slacks below count as none


def average_mix(game: Game, level: float) -> Floats:
    """Return the channel of the average case, for D = `level`."""
    errors = game.cost[0].sum(axis=0)
    best = int(errors.argmin())
    share = 1.0 if errors[best] <= level else level / float(errors[best])
    matrix = (1 - share) * game.cheapest()
    matrix[:, best] += share
    return matrix


def equal_errors(game: Game, level: float) -> Floats:
    """Return a channel after which every observation leaves the error `level` (of its output's own answer), by Carathéodory's walk.

    From what is left of the prior, an extreme point of the smallest face of Q that holds it is taken away until an input is
    used up or a constraint becomes tight: a smaller face. What rounding leaves over is said as e0.
    """
    prior = game.mass[0]
    comes = np.flatnonzero(prior > 0)
    losses = game.cost[0][comes] / prior[comes][:, None]
    left, joint = prior[comes].copy(), np.zeros((len(comes), losses.shape[1]))
    for _ in range(sum(losses.shape)):
        if (mass := float(left.sum())) <= SLACK_TOLERANCE:
            break
        point = _extreme(losses, left / mass, level)
        if point is None:
            break
        slack, used = left @ losses - level * mass, point @ losses - level
        steps = [
            np.divide(there, taken, out=np.full(len(there), np.inf), where=taken > SLACK_TOLERANCE)
            for there, taken in ((left, point), (np.maximum(slack, 0.0), used))
        ]
        step = min(mass, *(float(limits.min()) for limits in steps))
        joint[:, int((point @ losses).argmin())] += step * point
        left = np.maximum(left - step * point, 0.0)
    joint[:, int((prior[comes] @ losses).argmin())] += left
    matrix = game.cheapest()
    matrix[comes] = joint / joint.sum(axis=1, keepdims=True)
    return matrix


def _extreme(losses: Floats, inside: Floats, level: float) -> Floats | None:
    """Return an extreme point of the face of Q that holds a point: the one with most of the input that it has most of."""
    tight = inside @ losses - level <= SLACK_TOLERANCE
    solved = linprog(
        -(np.arange(len(inside)) == inside.argmax()).astype(np.float64),
        A_ub=level - losses.T[~tight],
        b_ub=np.zeros(int((~tight).sum())),
        A_eq=np.vstack([np.ones(len(inside)), losses.T[tight] - level]),
        b_eq=np.append(1.0, np.zeros(int(tight.sum()))),
        bounds=np.stack([np.zeros(len(inside)), np.where(inside <= SLACK_TOLERANCE, 0.0, 1.0)], axis=1),
        method="highs-ds",
    )
    if solved.status != 0:
        return None
    point: Floats = np.maximum(solved.x, 0.0) / np.maximum(solved.x, 0.0).sum()
    return point
