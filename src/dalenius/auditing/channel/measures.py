"""Every measure of a channel, and each bound next to what it bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from dalenius.arrays import Floats
from dalenius.errors import InputError
from dalenius.measures import closeness, entropy
from dalenius.measures.communication import ORDERS, degrees
from dalenius.measures.error import Privacy, Reduction, distortion, mistaken, privacy, reduction
from dalenius.measures.loss import Loss
from dalenius.measures.observed import SMALLEST, Observed
from dalenius.releases import Channel

__all__ = ["CONFIDENCE", "NATS", "UNITS", "Bound", "beliefs", "measured"]

CONFIDENCE = 0.95
NATS = math.log(2)  # in a bit
UNITS = {
    "entropies": "bits",
    "mutual_information": "bits",
    "t_kl": "bits",
    "delta_disclosure": "bits",
    "epsilon": "nats",
    "privacy": "units of the loss",
    "distortion": "units of the system's loss",
    "t_emd": "units of the ground distance",
    "total_variation": "probability",
    "epsilon.per_distance": "nats for each unit of the labels' distance",
}


@dataclass(frozen=True, slots=True)
class Bound:
    """A quantity, and the bound that it cannot be above or below."""

    what: str
    exact: float
    direction: Literal["at most", "at least"]
    bound: float
    formula: str


def measured(
    channel: Channel,
    loss: Loss,
    system: Loss | None = None,
    *,
    orders: Sequence[float] = ORDERS,
    confidence: float = CONFIDENCE,
    assumed: Floats | None = None,
) -> dict[str, Any]:
    """Return every measure under its key in `dalenius channel --json`.

    `system` is the loss between inputs and outputs, None where it has no meaning. `assumed[x']` is the prior of a mistaken
    attacker.
    """
    observed = Observed.of_channel(channel)
    document: dict[str, Any] = {
        "values": len(channel.values),
        "inputs": len(channel.inputs),
        "outputs": len(channel.outputs),
        "loss": loss.name,
        "units": UNITS,
        **beliefs(observed, loss, orders=orders, confidence=confidence),
    }
    epsilons = closeness.epsilons(channel.conditional, channel.inputs)  # of all inputs, whatever the prior
    document["epsilon"] = asdict(epsilons)
    document["bounds"] += _epsilon_bound(document["delta_disclosure"] * NATS, epsilons.local, channel)
    source = channel.source.sum(axis=1)
    spent = None if system is None else distortion(source, channel.conditional, system.matrix)
    document["system_loss"] = None if system is None else system.name
    document["distortion"] = spent
    document["utility"] = 1 - spent if spent is not None and system is not None and system.largest <= 1 else None
    document["anonymity"] = asdict(degrees(observed))
    if assumed is not None:
        document["mistaken"] = asdict(mistaken(observed, _believed(channel, assumed), loss))
    return document


def beliefs(
    observed: Observed, loss: Loss, *, orders: Sequence[float] = ORDERS, confidence: float = CONFIDENCE
) -> dict[str, Any]:
    """Return the measures of what an attacker believes after a channel, a release or an attack.

    The posteriors of an attack need not average to one prior. Then `mutual_information` is the mean divergence, and bounds that
    need a common prior are left out.
    """
    errors, lost = privacy(observed, loss), reduction(observed, loss)
    divergences = closeness.kl_divergences(observed) / NATS
    information, furthest = observed.average(divergences), float(divergences.max())
    delta = closeness.delta_disclosure(observed) / NATS
    moved = closeness.t_emd(observed, loss)
    hartley, shannon = (entropy.conditional(observed, order) for order in (0.0, 1.0))
    guess = entropy.min_entropy(observed)
    sizes = entropy.confidence_sets(observed.posterior, confidence)
    before = {name: observed.average(entropy.renyi(observed.prior, a)) for name, a in _ENTROPIES.items()}
    document: dict[str, Any] = {
        "estimate": "label" if loss.points is None else "mean",
        "average_privacy": errors.average,
        "worst_case_privacy": errors.worst_case,
        "worst_observation": errors.worst,
        "prior_privacy": errors.prior,
        "label_privacy": None if loss.points is None else observed.average(loss.best_label(observed.posterior)),
        "mutual_information": information,
        "min_entropy": guess,
        "worst_min_entropy": float(entropy.renyi(observed.posterior, math.inf).min()),
        "shannon_entropy": shannon,
        "hartley_entropy": hartley,
        "prior_entropy": before,
        "renyi_entropy": {_order(order): entropy.conditional(observed, order) for order in orders},
        "effective_sizes": {
            "hartley": 2**hartley, "shannon": 2**shannon, "min": 2**guess,
        },
        "confidence_sets": {
            "confidence": confidence,
            "average_size": observed.average(sizes.astype(np.float64)),
            "smallest": int(sizes.min()),
            "largest": int(sizes.max()),
            "uniform_error": observed.average(entropy.uniform_error(sizes)),
        },
        "total_variation": lost.total_variation,
        "t_kl": furthest,
        "t_emd": moved.t,
        "t_emd_ground": moved.ground,
        "t_emd_note": moved.note,
        "delta_disclosure": delta,
        "delta_disclosure_nats": delta * NATS,
        "privacy_lost": {"largest": lost.largest, "average": lost.average, "mean_square": lost.mean_square},
    }  # fmt: skip
    document["bounds"] = [asdict(bound) for bound in _bounds(observed, loss, errors, lost, document)]
    return document


def _order(order: float) -> str:
    """Return an order as a key: 1, 0.5, inf."""
    return str(int(order)) if math.isfinite(order) and order == int(order) else repr(float(order))


_ENTROPIES = {"hartley": 0.0, "shannon": 1.0, "min": math.inf}


def _bounds(
    observed: Observed, loss: Loss, errors: Privacy, lost: Reduction, document: Mapping[str, Any]
) -> list[Bound]:
    """Return every inequality of the paper, and sharper ones, with the value that it bounds."""
    names = ("shannon_entropy", "hartley_entropy", "min_entropy", "mutual_information", "t_kl", "delta_disclosure")
    shannon, hartley, guess, information, furthest, delta = (document[name] for name in names)
    least = entropy.conditional(observed, math.inf)
    rows = [
        Bound("largest privacy lost", lost.largest, "at most", lost.sharp_tv, "2 d_max TV"),
        Bound("largest privacy lost", lost.largest, "at most", lost.printed_tv, "4 d_max TV (as printed, equation 8)"),
        Bound("largest privacy lost", lost.largest, "at most", lost.sharp_kl, "√2 d_max √t (nats)"),
        Bound("largest privacy lost", lost.largest, "at most", lost.printed_kl, "2√2 d_max √t (nats; as printed, equation 8)"),
        Bound("mean square of privacy lost", lost.mean_square, "at most", lost.sharp_information, "2 d_max² I (nats)"),
        Bound(
            "mean square of privacy lost", lost.mean_square, "at most", lost.printed_information, "8 d_max² I (nats; as printed)"
        ),
        Bound("total variation", lost.total_variation, "at most", math.sqrt(furthest * NATS / 2), "√(t/2) (nats; Pinsker)"),
        Bound("worst-case privacy", errors.worst_case, "at most", errors.average, "average privacy"),
        Bound("mutual information", information, "at most", furthest, "t"),
        Bound("t (divergence)", furthest, "at most", delta, "δ"),
        Bound("min-entropy", guess, "at most", least, "mean of H∞(X|y) (Jensen)"),
        Bound("mean of H∞(X|y)", least, "at most", shannon, "H(X|Y)"),
        Bound("Shannon entropy", shannon, "at most", hartley, "mean of H0(X|y)"),
    ]  # fmt: skip
    if observed.has_one_prior:
        floor = errors.prior - loss.largest * lost.total_variation
        rows += [
            Bound("worst-case privacy", errors.worst_case, "at least", floor, "prior − d_max TV"),
            Bound("average privacy", errors.average, "at most", errors.prior, "prior privacy"),
        ]
    if loss.name == "hamming" and loss.estimates == observed.values:
        n = len(observed.values)
        rows += [
            Bound("average privacy", errors.average, "at most", 1 - 2**-shannon, "1 − 2^−H(X|Y)"),
            Bound("average privacy", errors.average, "at most", 1 - 2**-hartley, "1 − 2^−H0"),
            Bound(
                "average privacy", errors.average, "at least", _fano(shannon, n), "Fano: H(X|Y) ≤ h(P) + P log(n − 1)"
            ),
        ]
    return rows


def _fano(conditional: float, n: int) -> float:
    """Return the least error P with h(P) + P log2(n − 1) ≥ H(X|Y). The left side rises up to P = 1 − 1/n, where it is log2 n."""
    low, high = 0.0, 1 - 1 / n
    for _ in range(60):
        middle = (low + high) / 2
        held = _binary(middle) + (middle * math.log2(n - 1) if n > 1 else 0.0)
        low, high = (middle, high) if held < conditional else (low, middle)
    return low


def _binary(p: float) -> float:
    return 0.0 if p <= 0 or p >= 1 else -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def _epsilon_bound(delta: float, local: float, channel: Channel) -> list[dict[str, Any]]:
    """Return δ ≤ ε if the attacker sees only the outputs: p(x|y)/p(x) = p(y|x)/p(y) is a ratio of mixtures of rows."""
    if channel.background is not None:
        return []
    return [asdict(Bound("δ-disclosure (nats)", delta, "at most", local, "ε between any two inputs"))]


def _believed(channel: Channel, assumed: Floats) -> Floats:
    """Return the posterior of an attacker with another prior. It keeps the prior if it considers its observation impossible."""
    if channel.unknown is not None:
        raise InputError("An assumed prior is about the inputs, but here the unknown is something else.")
    joint = replace(channel, prior=assumed).joint
    right = channel.joint.sum(axis=0) > SMALLEST  # what is ever observed
    seen = joint[:, right]
    total = seen.sum(axis=0)
    posterior: Floats = np.where(total > 0, seen / np.where(total > 0, total, 1.0), assumed[:, None]).T
    return posterior
