"""The most estimation error that a distortion buys, from the definition: coefficients term by term, and every vertex."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from dalenius.measures.loss import Loss
from dalenius.releases.channel import Channel

Floats = np.ndarray


def names(kind: str, count: int) -> tuple[str, ...]:
    return tuple(f"{kind}{i}" for i in range(count))


def blank(inputs: int, outputs: int) -> Floats:
    """Some matrix; no design may look at it."""
    return np.random.default_rng(inputs).dirichlet(np.ones(outputs), size=inputs)


def simple(prior: Floats, outputs: int) -> Channel:
    return Channel(names("x", len(prior)), names("y", outputs), blank(len(prior), outputs), prior)


def any_loss(matrix: Floats) -> Loss:
    return Loss("matrix", matrix, names("e", matrix.shape[1]))


def hamming(count: int) -> Floats:
    return 1.0 - np.eye(count)


def coefficients(channel: Channel, loss: Loss) -> tuple[Floats, Floats]:
    """[o, e, x', y'] of p(o) E[d_A(X, e) | o], and [o, x', y'] of p(o)."""
    source = channel.source
    outputs = len(channel.outputs)
    seen = np.eye(outputs) if channel.observation is None else channel.observation.matrix
    known = np.ones((source.shape[1], 1)) if channel.background is None else channel.background.matrix
    pairs = list(product(range(seen.shape[1]), range(known.shape[1])))
    error = np.zeros((len(pairs), loss.matrix.shape[1], len(source), outputs))
    weight = np.zeros((len(pairs), len(source), outputs))
    for (o, (y, b)), x_in, x, y_out in product(
        enumerate(pairs), range(len(source)), range(source.shape[1]), range(outputs)
    ):
        probability = source[x_in, x] * known[x, b] * seen[y_out, y]
        weight[o, x_in, y_out] += probability
        for e in range(loss.matrix.shape[1]):
            error[o, e, x_in, y_out] += probability * loss.matrix[x, e]
    return error, weight


def vertices(rows: Floats, sums: Floats, above: Floats, least: Floats) -> Floats:
    """Every vertex of {w : rows w = sums, above w ≥ least}."""
    free = rows.shape[1] - len(rows)
    chosen = np.array(list(combinations(range(len(above)), free)))
    systems = np.concatenate([np.broadcast_to(rows, (len(chosen), *rows.shape)), above[chosen]], axis=1)
    sides = np.concatenate([np.broadcast_to(sums, (len(chosen), len(sums))), least[chosen]], axis=1)
    sound = np.abs(np.linalg.det(systems)) > 1e-12
    points = np.linalg.solve(systems[sound], sides[sound][:, :, None])[:, :, 0]
    return points[(points @ above.T >= least - 1e-9).all(axis=1)]


def row_sums(channel: Channel) -> Floats:
    return np.kron(np.eye(len(channel.inputs)), np.ones(len(channel.outputs)))


def true_average(channel: Channel, loss: Loss, system: Floats, distortion: float) -> float:
    """For every rule that answers each observation: where it is the best, the error is linear, and largest at a vertex."""
    error, _ = coefficients(channel, loss)
    error = error.reshape(*error.shape[:2], -1)
    spent = (channel.source.sum(axis=1)[:, None] * system).ravel()
    best = -np.inf
    for rule in product(range(error.shape[1]), repeat=len(error)):
        answers = error[np.arange(len(error)), rule]
        others = [error[o, e] - answers[o] for o, e in np.ndindex(error.shape[:2]) if e != rule[o]]
        above = np.vstack([np.eye(len(spent)), -spent[None, :], *[other[None, :] for other in others]])
        least = np.zeros(len(above))
        least[len(spent)] = -distortion
        found = vertices(row_sums(channel), np.ones(len(channel.inputs)), above, least)
        if len(found):
            best = max(best, float((found @ answers.sum(axis=0)).max()))
    return best


def true_worst_spends(channel: Channel, loss: Loss, system: Floats, t: float) -> float:
    """D*(t): of all vertices where every observation and estimate errs at least t, the cheapest."""
    error, weight = coefficients(channel, loss)
    spent = (channel.source.sum(axis=1)[:, None] * system).ravel()
    slack = (error - t * weight[:, None]).reshape(-1, len(spent))
    above = np.vstack([np.eye(len(spent)), slack[np.abs(slack).max(axis=1) > 0]])
    found = vertices(row_sums(channel), np.ones(len(channel.inputs)), above, np.zeros(len(above)))
    return float((found @ spent).min()) if len(found) else np.inf


def true_worst(channel: Channel, loss: Loss, system: Floats, distortion: float) -> float:
    """Bisection on t."""
    low, high = 0.0, float(loss.matrix.max())
    while high - low > 2e-7:
        t = (low + high) / 2
        low, high = (t, high) if true_worst_spends(channel, loss, system, t) <= distortion + 1e-10 else (low, t)
    return low
