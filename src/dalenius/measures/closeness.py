"""Prior against posterior: total variation, divergence, mutual information, t-closeness, δ-disclosure, differential privacy.

Divergences are in nats here. R = I(X;Y) ≤ t = max D ≤ δ (Rebollo-Monedero et al. 2013, section V-B).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack

from dalenius.arrays import Floats
from dalenius.errors import InputError
from dalenius.measures.loss import Loss, coordinates, distances, hamming
from dalenius.measures.observed import Observed

__all__ = [
    "MAX_RATIOS",
    "MAX_TRANSPORTED",
    "RATIOS_AT_ONCE",
    "Epsilons",
    "Transport",
    "delta_disclosure",
    "epsilons",
    "kl_divergences",
    "mutual_information",
    "t_emd",
    "total_variations",
    "transport",
]

MAX_TRANSPORTED = 120  # values between which a linear programme moves probability
MAX_RATIOS = 400_000_000  # pairs of inputs times outputs that are gone through
RATIOS_AT_ONCE = 4_000_000


def total_variations(observed: Observed) -> Floats:
    """Return ½ Σ|p − q| of every observation."""
    distance: Floats = np.abs(observed.posterior - observed.prior).sum(axis=1) / 2
    return distance


def kl_divergences(observed: Observed) -> Floats:
    """Return D(p ‖ q) = Σ p ln(p/q) of every observation, in nats; infinite where what was impossible is believed."""
    p, q = observed.posterior, observed.prior
    logs = np.zeros(p.shape)
    with np.errstate(divide="ignore"):
        np.log(np.divide(p, q, out=np.full(p.shape, np.inf), where=q > 0), out=logs, where=p > 0)
    divergence: Floats = np.maximum((p * logs).sum(axis=1), 0.0)
    return divergence


def mutual_information(observed: Observed) -> float:
    """Return I(X;Y) = E_Y D(p(·|Y) ‖ p), in nats: the average risk R."""
    return observed.average(kl_divergences(observed))


def delta_disclosure(observed: Observed) -> float:
    """Return max |ln p(x|y)/p(x)| over values that the prior allows; infinite where one vanishes (Brickell and Shmatikov 2008)."""
    p, q = observed.posterior, observed.prior
    possible = q > 0
    if (p[possible] <= 0).any() or (p[~possible] > 0).any():
        return float("inf")
    return float(np.abs(np.log(p[possible] / q[possible])).max())


@dataclass(frozen=True, slots=True)
class Transport:
    """The largest earth mover's distance between a posterior and its prior, and the ground distance; None: not computed."""

    t: float | None
    ground: str
    note: str = ""


def t_emd(observed: Observed, loss: Loss) -> Transport:
    """Return t-closeness as defined by Li et al. (2007).

    The ground distance is the loss. The squared loss is no distance, so its root is used. For any other loss that is no
    distance between values, any two values are at distance 1.
    """
    cost, ground, note = loss.matrix, loss.name, ""
    if loss.estimates != observed.values and set(loss.estimates) != set(observed.values):
        cost, ground, note = hamming(observed.values).matrix, "hamming", "the estimates of the loss are not the values"
    elif loss.estimates != observed.values:
        cost = cost[:, [loss.estimates.index(value) for value in observed.values]]
    is_metric_by_name = ground in ("hamming", "absolute", "squared", "hierarchy")
    if not is_metric_by_name and len(cost) <= MAX_TRANSPORTED and not Loss(ground, cost, observed.values).is_metric:
        cost, ground, note = hamming(observed.values).matrix, "hamming", "the loss is no distance between values"
    if loss.name == "squared" and ground == "squared":
        cost, ground, note = np.sqrt(cost), "absolute", "the root of the squared loss"
    if ground == "hamming" or (loss.name == "hierarchy" and ground == "hierarchy"):
        return Transport(float(_between_blocks(observed, cost).max()), ground, note)
    if ground == "absolute":
        points = coordinates(observed.values, "The absolute loss")
        if points.shape[1] == 1:
            return Transport(float(_on_a_line(observed, points[:, 0]).max()), ground, note)
    if len(cost) > MAX_TRANSPORTED:
        return Transport(
            None,
            ground,
            f"a distance between more than {MAX_TRANSPORTED} values, with no closed form, is not computed",
        )
    return Transport(_largest_transport(observed, cost), ground, note)


def _between_blocks(observed: Observed, cost: Floats) -> Floats:
    """Return an ultrametric d(x, z) = Σ_i (c_{i+1} − c_i)·[x, z in different blocks of {d ≤ c_i}]; so is the transport, with TV."""
    heights = np.unique(cost)
    distance = np.zeros(len(observed.posterior))
    for low, high in pairwise(heights.tolist()):
        _, block = np.unique(cost <= low, axis=0, return_inverse=True)
        member = np.zeros((len(cost), int(block.max()) + 1))
        member[np.arange(len(cost)), block.ravel()] = 1.0
        distance += (high - low) * np.abs((observed.posterior - observed.prior) @ member).sum(axis=1) / 2
    return distance


def _on_a_line(observed: Observed, points: Floats) -> Floats:
    """Return ∫ |F − G|, the difference of both distribution functions."""
    order = np.argsort(points, kind="stable")
    gaps = np.diff(points[order])
    ahead = np.cumsum((observed.posterior - observed.prior)[:, order], axis=1)[:, :-1]
    distance: Floats = np.abs(ahead) @ gaps
    return distance


def _largest_transport(observed: Observed, cost: Floats) -> float:
    """Solve programmes in the order of their upper bounds d_max·TV, until none can be larger."""
    most = cost.max() * total_variations(observed)
    best = 0.0
    for y in np.argsort(-most).tolist():
        if most[y] <= best:
            break
        best = max(best, transport(observed.posterior[y], observed.prior[y], cost))
    return best


def transport(p: Floats, q: Floats, cost: Floats) -> float:
    """Return the cost of moving p to q: min Σ f c over flows f ≥ 0 with rows p and columns q."""
    rows, columns = np.flatnonzero(p > 0), np.flatnonzero(q > 0)
    some = cost[np.ix_(rows, columns)]
    if len(columns) == 1:
        return float(p[rows] @ some[:, 0] / p[rows].sum())
    out = kron(eye_array(len(rows)), np.ones((1, len(columns))))
    into = kron(np.ones((1, len(rows))), eye_array(len(columns)), format="csr")
    # One constraint follows from the others; it is left out, or rounding would make them contradict each other.
    equal = vstack([out, into[:-1]], format="csr")
    target = np.concatenate([p[rows] / p[rows].sum(), (q[columns] / q[columns].sum())[:-1]])
    solved = linprog(some.ravel(), A_eq=equal, b_eq=target, bounds=(0, None), method="highs-ds")
    if solved.status != 0:
        raise InputError("The earth mover's distance could not be computed for these numbers.")
    return float(solved.fun)


@dataclass(frozen=True, slots=True)
class Epsilons:
    """The ε of differential privacy of a channel, in nats: between any two inputs (local), between inputs next to each other
    in order, and for each unit of distance (geo-indistinguishability). None if the labels are not numbers, or there
    are too many."""

    local: float
    adjacent: float | None
    per_distance: float | None


def epsilons(matrix: Floats, inputs: tuple[str, ...]) -> Epsilons:
    """Return max ln p(y|x)/p(y|x') over outputs y and neighbours x, x'."""
    with np.errstate(divide="ignore"):
        logs = np.log(matrix)
    occurs = matrix.max(axis=0) > 0
    logs = logs[:, occurs]
    local = float((logs.max(axis=0) - logs.min(axis=0)).max()) if len(logs) > 1 else 0.0
    try:
        points = coordinates(inputs, "A distance")
    except InputError:
        return Epsilons(local, None, None)
    adjacent = None
    if points.shape[1] == 1 and len(points) > 1:
        ordered = logs[np.argsort(points[:, 0], kind="stable")]
        adjacent = float(_largest_difference(ordered[:-1], ordered[1:]).max())
    return Epsilons(local, adjacent, _per_distance(logs, points))


def _largest_difference(first: Floats, second: Floats) -> Floats:
    """Return max |a − b| of each row; two logarithms of 0 are no difference."""
    both = np.isneginf(first) & np.isneginf(second)
    off = np.abs(np.subtract(first, second, out=np.zeros(first.shape), where=~both))
    largest: Floats = off.max(axis=-1)
    return largest


def _per_distance(logs: Floats, points: Floats) -> float | None:
    n, m = logs.shape
    if n < 2 or n * n * m > MAX_RATIOS:
        return None
    apart = distances(points, points)
    if (apart + np.eye(n) <= 0).any():
        return None  # two inputs at one place
    most, step = 0.0, max(1, RATIOS_AT_ONCE // (n * m))
    for low in range(0, n, step):
        some = logs[low : low + step]
        off = _largest_difference(
            np.broadcast_to(some[:, None, :], (len(some), n, m)), np.broadcast_to(logs[None], (len(some), n, m))
        )
        own = np.arange(low, low + len(some))
        far = apart[low : low + step].copy()
        far[np.arange(len(some)), own] = 1.0
        most = max(most, float((off / far).max()))
    return most
