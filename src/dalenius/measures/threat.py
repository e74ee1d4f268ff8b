"""Relative threats: how much more the attacker knows about a person than the learner (Boreale, Corradi and Viscardi 2019).

A row is threatened under a belief whose most believed value is the row's own (Definition 1). Where c values tie for that
place and the row's own is one of them, it counts 1/c, the mean of breaking ties at random; `GT_A_def1` counts it whole, as
the definition reads. Ti = p_A/p_L of the row's own value, on rows threatened under p_A (16).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Floats, Ints, Longs
from dalenius.measures.accuracy import hits

__all__ = [
    "DRAWS",
    "MAX_COMBINATIONS",
    "TIE",
    "Faithfulness",
    "Threats",
    "absolute_error",
    "faithfulness",
    "faithfulness_of_draws",
    "quantile_of_levels",
    "relative_levels",
    "threats",
]

TIE = 1e-9  # relative: beliefs so close to the largest are as large
MAX_COMBINATIONS = 1_000_000  # of leaves that faithfulness goes through one by one
DRAWS = 200_000


@dataclass(frozen=True, slots=True)
class Threats:
    """The figures of one table, by the names that the paper and the JSON give them."""

    GT_A: float
    GT_A_def1: float
    GT_L: float
    GT_RW: float
    RGT_A: float
    ABS_A: float
    ABS_RW: float
    baseline_accuracy: float
    ideal_accuracy: float
    max_Ti: float
    median_Ti: float
    log2_Ti_above_1: float  # share of all people whose Ti is 2 at least
    log2_Ti_skewness: float


def threats(
    attacker: Floats,
    learner: Floats,
    random_worlds: Floats,
    ideal: Floats,
    truth: Ints,
    people: Longs,
) -> Threats:
    """Make it from beliefs about `people[i]` persons each, whose value is `truth[i]`."""
    total = float(people.sum())

    def share(belief: Floats) -> float:
        return float(hits(belief, truth) @ people) / total

    own = np.arange(len(truth)), truth
    most = attacker.max(axis=1)
    threatened = attacker[own] >= most * (1 - TIE)
    ti = attacker[own][threatened] / learner[own][threatened]
    weight = people[threatened].astype(np.float64)
    logs = np.log2(ti)
    counts = np.bincount(truth, weights=people, minlength=attacker.shape[1])
    gt_a, gt_l = share(attacker), share(learner)
    return Threats(
        GT_A=gt_a,
        GT_A_def1=float(weight.sum()) / total,
        GT_L=gt_l,
        GT_RW=share(random_worlds),
        RGT_A=max(0.0, gt_a - gt_l),
        ABS_A=absolute_error(attacker, truth, people),
        ABS_RW=absolute_error(random_worlds, truth, people),
        baseline_accuracy=float(counts.max()) / total,
        ideal_accuracy=share(ideal),
        max_Ti=float(ti.max(initial=-math.inf)) if len(ti) else math.nan,
        median_Ti=_quantile(ti, weight, 0.5),
        log2_Ti_above_1=float(weight[logs >= 1 - 1e-12].sum()) / total,
        log2_Ti_skewness=_skewness(logs, weight),
    )


def absolute_error(belief: Floats, truth: Ints, people: Longs) -> float:
    """Return Σ over people and values of |1{s is theirs} − p(s)|; of one person it is 2(1 − p(own))."""
    own = belief[np.arange(len(truth)), truth]
    return float((belief.sum(axis=1) - own + (1 - own)) @ people)


def relative_levels(attacker: Floats, learner: Floats, truth: Ints) -> Floats:
    """Return Ti of each person who is threatened under p_A, nan for the others."""
    own = np.arange(len(truth)), truth
    threatened = attacker[own] >= attacker.max(axis=1) * (1 - TIE)
    return np.where(threatened, attacker[own] / learner[own], np.nan)


def quantile_of_levels(levels: Floats, people: Longs, quantile: float) -> float:
    """Return a quantile of Ti over the threatened people."""
    known = ~np.isnan(levels)
    return _quantile(levels[known], people[known].astype(np.float64), quantile)


def _quantile(values: Floats, weights: Floats, quantile: float) -> float:
    if not len(values):
        return math.nan
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(below, quantile * (1 - 1e-12))), len(values) - 1)])


def _skewness(values: Floats, weights: Floats) -> float:
    if not len(values):
        return math.nan
    mean = float(np.average(values, weights=weights))
    spread = math.sqrt(float(np.average((values - mean) ** 2, weights=weights)))
    if spread < 1e-12:
        return math.nan
    return float(np.average((values - mean) ** 3, weights=weights)) / spread**3


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """RF = 1 − TV(p_I, p_L) (Definition 2), its Monte-Carlo error (0: exact), and the paper's own estimate of TV, ETV (21)."""

    RF: float
    stderr: float
    ETV: float


def faithfulness(
    values: Floats, ideal: Sequence[Floats], learnt: Sequence[Floats], rng: np.random.Generator, *, etv: bool = True
) -> Faithfulness:
    """Compare both; `values[s]` is p(s) for both, `ideal[a][s, l]` and `learnt[a][s, l]` are the share of leaf l given s.

    TV of products does not factorise, but leaves with the same ratio count as one; where their combinations are few all are
    gone through, otherwise |p_I − p_L|/(p_I + p_L), which is at most 1, is averaged over draws from (p_I + p_L)/2.
    """
    merged = [
        [_merged(first[s], second[s]) for first, second in zip(ideal, learnt, strict=True)] for s in range(len(values))
    ]
    many = max(math.prod(len(p) for p, _ in attributes) for attributes in merged)
    variation = _etv(values, ideal, learnt, rng) if etv else math.nan
    if many <= MAX_COMBINATIONS:
        distance = 0.0
        for s, attributes in enumerate(merged):
            first, second = np.ones(1), np.ones(1)
            for p, q in attributes:
                first, second = np.outer(first, p).ravel(), np.outer(second, q).ravel()
            distance += float(values[s]) * 0.5 * float(np.abs(first - second).sum())
        return Faithfulness(1 - distance, 0.0, variation)
    drawn = rng.choice(len(values), size=DRAWS, p=values / values.sum())
    from_ideal = rng.random(DRAWS) < 0.5
    first, second = np.ones(DRAWS), np.ones(DRAWS)
    for p, q in zip(ideal, learnt, strict=True):
        leaf = np.where(from_ideal, _drawn(p, drawn, rng), _drawn(q, drawn, rng))
        first, second = first * p[drawn, leaf], second * q[drawn, leaf]
    terms = np.abs(first - second) / (first + second)
    return Faithfulness(1 - float(terms.mean()), float(terms.std(ddof=1)) / math.sqrt(DRAWS), variation)


def faithfulness_of_draws(
    values: Floats,
    ideal: Sequence[Floats],
    near: Sequence[Floats],
    learnt: Callable[[Ints, Longs], Floats],
    rng: np.random.Generator,
    draws: int = 20_000,
) -> Faithfulness:
    """Return RF where what is learnt is no product: `learnt(tuples, values)` gives [batch, tuple], the joint p_L in each batch.

    Tuples are drawn from half p_I and half a product `near` p_L, and |p_I − p_L| over their density is averaged. The error is
    that of the draws, that of the batches, and what noise in p_L adds to a distance: told by how much more half of them have.
    """
    s = rng.choice(len(values), size=draws, p=values / values.sum())
    from_ideal = rng.random(draws) < 0.5
    leaves = [np.where(from_ideal, _drawn(p, s, rng), _drawn(q, s, rng)) for p, q in zip(ideal, near, strict=True)]
    first, second = values[s].copy(), values[s].copy()
    for p, q, leaf in zip(ideal, near, leaves, strict=True):
        first, second = first * p[s, leaf], second * q[s, leaf]
    density = (first + second) / 2
    batches = learnt(np.column_stack(leaves).astype(np.int32), s)
    terms = np.abs(first - batches.mean(axis=0)) / density / 2
    each = (np.abs(first - batches) / density / 2).mean(axis=1)
    halves = [np.abs(first - half.mean(axis=0)) / density / 2 for half in np.array_split(batches, 2)]
    noise = max(0.0, float(np.mean(halves)) - float(terms.mean())) / (math.sqrt(2) - 1)
    error = math.hypot(
        float(terms.std(ddof=1)) / math.sqrt(draws), float(each.std(ddof=1)) / math.sqrt(len(each)), noise
    )
    etv = float((np.abs(first - batches.mean(axis=0)) / first)[from_ideal].mean()) / 2
    return Faithfulness(1 - float(terms.mean()), error, etv)


def _merged(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Merge leaves with the same ratio q/p."""
    ratio = np.divide(q, p, out=np.full(len(p), np.inf), where=p > 0)
    _, group = np.unique(np.round(ratio, 12), return_inverse=True)
    first: Floats = np.bincount(group, weights=p).astype(np.float64)
    second: Floats = np.bincount(group, weights=q).astype(np.float64)
    return first, second


def _drawn(shares: Floats, values: Longs, rng: np.random.Generator) -> Longs:
    """Return a leaf for each of the values drawn, by `shares[value]`."""
    leaves = np.empty(len(values), dtype=np.int64)
    uniform = rng.random(len(values))
    for s in np.unique(values).tolist():
        of_value = values == s
        ends = np.cumsum(shares[s])
        leaves[of_value] = np.searchsorted(ends, uniform[of_value] * ends[-1], side="right").clip(max=len(ends) - 1)
    return leaves


def _etv(values: Floats, ideal: Sequence[Floats], learnt: Sequence[Floats], rng: np.random.Generator) -> float:
    """Return ½ of the mean of |1 − p_L/p_I| over draws from p_I."""
    draws = DRAWS // 4
    s = rng.choice(len(values), size=draws, p=values / values.sum())
    ratio = np.ones(draws)
    for p, q in zip(ideal, learnt, strict=True):
        leaf = _drawn(p, s, rng)
        ratio *= q[s, leaf] / p[s, leaf]
    return float(np.abs(1 - ratio).mean()) / 2
