"""Privacy as the attacker's estimation error (Rebollo-Monedero, Parra-Arnau, Diaz and Forné 2013, equations 2 to 5, 8).

P(y) = min over estimates of E[d_A(X, e) | y], the error of a Bayes estimator; the worst case is its minimum over what may be
observed, the average its mean. ΔP(y) is how much better an attacker does who has seen y than one who goes by the prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Floats
from dalenius.measures.closeness import kl_divergences, total_variations
from dalenius.measures.loss import Loss
from dalenius.measures.observed import Observed

__all__ = ["Mistaken", "Privacy", "Reduction", "distortion", "mistaken", "privacy", "reduction"]


@dataclass(frozen=True, slots=True, eq=False)
class Privacy:
    """`conditional[y]` and its summaries; `prior` is the error of an attacker who has seen nothing."""

    conditional: Floats
    average: float
    worst_case: float
    worst: str  # the observation that leaves least
    prior: float


def privacy(observed: Observed, loss: Loss) -> Privacy:
    """Return the figures of equations 2, 3 and 4."""
    conditional = loss.best(observed.posterior)
    worst = int((conditional <= conditional.min() + 1e-12 * loss.largest).argmax())  # of equal ones the first
    return Privacy(
        conditional,
        observed.average(conditional),
        float(conditional[worst]),
        observed.observations[worst],
        _prior_error(observed, loss),
    )


def _prior_error(observed: Observed, loss: Loss) -> float:
    prior = observed.prior
    if observed.has_one_prior:
        return float(loss.best(prior[:1])[0])
    return observed.average(loss.best(prior))


def distortion(source: Floats, matrix: Floats, system: Floats) -> float:
    """Return E d_S(X', Y') (5): `source[x']` = p(x'), `system[x', y']` = d_S."""
    return float(source @ (matrix * system).sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """ΔP(y), and what bounds it: the paper's bounds, and half of each, which holds as well.

    Where several estimates are equally good for the prior, `each` has the one that turns out worst; `average` is the same
    whichever is taken: prior privacy − average privacy, where posteriors average to the prior.

    ΔP = Σ (p − q)(d(x, e_q) − d(x, e_p)) + [E_q d(x, e_q) − E_q d(x, e_p)], and the bracket is ≤ 0 as e_q is best for q (with
    another estimator, such as MAP, it need not be). The factor of p − q lies in [−d_max, d_max], so the sum is at most
    2 d_max TV(p, q): the paper's 4 d_max TV counts every |p − q| twice. Pinsker: TV ≤ √(D/2), D in nats.
    """

    each: Floats
    largest: float
    average: float
    mean_square: float
    total_variation: float  # the largest
    printed_tv: float
    sharp_tv: float
    printed_kl: float
    sharp_kl: float
    printed_information: float  # of mean_square
    sharp_information: float


def reduction(observed: Observed, loss: Loss) -> Reduction:
    """Return ΔP of every observation next to its bounds (8), and E[ΔP²] next to that by mutual information."""
    best = loss.best(observed.posterior)
    # A Bayes estimator is not beaten but by rounding.
    each = np.maximum(loss.error_of(observed.posterior, observed.prior, ties="worst") - best, 0.0)
    tossed = np.maximum(loss.error_of(observed.posterior, observed.prior) - best, 0.0)
    largest = loss.largest
    variation = float(total_variations(observed).max())
    divergences = kl_divergences(observed)
    furthest, information = float(divergences.max()), observed.average(divergences)
    return Reduction(
        each,
        float(each.max()),
        observed.average(tossed),
        observed.average(each**2),
        variation,
        4 * largest * variation,
        2 * largest * variation,
        2 * math.sqrt(2) * largest * math.sqrt(furthest),
        math.sqrt(2) * largest * math.sqrt(furthest),
        8 * largest**2 * information,
        2 * largest**2 * information,
    )


@dataclass(frozen=True, slots=True)
class Mistaken:
    """An attacker with a wrong posterior (Shokri et al. 2011, in the form of section VI-A).

    `certainty`: the entropy of what it believes, in bits; small is certain. `inaccuracy`: the total variation between what
    it believes and what it should. `correctness`: the mean loss of a value drawn from what it believes; None where values are
    no estimates. `error`: the loss of its best estimate, never below the privacy that the right posterior leaves.
    """

    certainty: float
    inaccuracy: float
    correctness: float | None
    error: float


def mistaken(observed: Observed, believed: Floats, loss: Loss) -> Mistaken:
    """Return the same with `believed[y, x]`, the attacker's belief, in place of the posterior."""
    logs = np.log2(believed, out=np.zeros_like(believed), where=believed > 0)
    square = _square(observed, loss)
    drawn = None
    if square is not None:
        drawn = observed.average(((observed.posterior @ square) * believed).sum(axis=1))
    return Mistaken(
        observed.average(-(believed * logs).sum(axis=1)),
        observed.average(np.abs(believed - observed.posterior).sum(axis=1) / 2),
        drawn,
        observed.average(loss.error_of(observed.posterior, believed)),
    )


def _square(observed: Observed, loss: Loss) -> Floats | None:
    """Return the loss with a column for each value, as a value that is drawn is an estimate."""
    if not set(observed.values) <= set(loss.estimates):
        return None
    order = [loss.estimates.index(value) for value in observed.values]
    return loss.matrix[:, order]
