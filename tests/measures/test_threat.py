"""Relative threats against plain loops over people, and faithfulness against every combination of leaves."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dalenius.auditing.threat import RelativeThreats
from dalenius.belief import Belief
from dalenius.measures import threat
from dalenius.measures.threat import (
    Faithfulness,
    absolute_error,
    faithfulness,
    quantile_of_levels,
    relative_levels,
    threats,
)
from dalenius.schema import Column, Domain


def random_beliefs(rng: np.random.Generator, people: int, values: int) -> np.ndarray:
    found = rng.dirichlet(np.ones(values), size=people)
    tied = rng.random(people) < 0.3  # the two largest alike
    for i in np.flatnonzero(tied):
        order = np.argsort(found[i])
        found[i, order[-2:]] = found[i, order[-2:]].mean()
    return found


@pytest.mark.parametrize("seed", range(20))
def test_every_figure_by_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 30, 4
    attacker, learner, worlds, ideal = (random_beliefs(rng, n, k) for _ in range(4))
    truth = rng.integers(0, k, n).astype(np.int32)
    people = rng.integers(1, 5, n)
    found = threats(attacker, learner, worlds, ideal, truth, people)
    persons = [i for i in range(n) for _ in range(people[i])]

    def share(belief: np.ndarray) -> float:
        total = 0.0
        for i in persons:
            best = [s for s in range(k) if belief[i, s] >= max(belief[i]) * (1 - 1e-9)]
            total += (truth[i] in best) / len(best)
        return total / len(persons)

    threatened = [i for i in persons if attacker[i, truth[i]] >= max(attacker[i]) * (1 - 1e-9)]
    levels = sorted(attacker[i, truth[i]] / learner[i, truth[i]] for i in threatened)
    assert pytest.approx(share(attacker)) == found.GT_A
    assert found.GT_A_def1 == pytest.approx(len(threatened) / len(persons))
    assert found.GT_A_def1 >= found.GT_A
    assert pytest.approx((share(learner), share(worlds))) == (found.GT_L, found.GT_RW)
    assert found.ideal_accuracy == pytest.approx(share(ideal))
    assert pytest.approx(max(0, share(attacker) - share(learner))) == found.RGT_A
    assert found.max_Ti == pytest.approx(levels[-1])
    assert found.median_Ti == pytest.approx(levels[math.ceil(len(levels) / 2) - 1])
    assert found.log2_Ti_above_1 == pytest.approx(sum(level >= 2 for level in levels) / len(persons))
    logs = np.log2(levels)
    assert found.log2_Ti_skewness == pytest.approx(((logs - logs.mean()) ** 3).mean() / logs.std() ** 3)
    counts = np.bincount([truth[i] for i in persons], minlength=k)
    assert found.baseline_accuracy == pytest.approx(counts.max() / len(persons))
    for belief, error in ((attacker, found.ABS_A), (worlds, found.ABS_RW)):
        assert error == pytest.approx(sum(abs((truth[i] == s) - belief[i, s]) for i in persons for s in range(k)))
        assert absolute_error(belief, truth, people) == error
    each = relative_levels(attacker, learner, truth)
    assert {i for i in range(n) if not math.isnan(each[i])} == set(threatened)
    assert quantile_of_levels(each, people, 1.0) == pytest.approx(levels[-1])


def test_nobody_threatened() -> None:
    belief = np.array([[0.9, 0.1]])
    found = threats(belief, belief, belief, belief, np.array([1], dtype=np.int32), np.array([3]))
    assert (found.GT_A, found.log2_Ti_above_1) == (0, 0)
    assert math.isnan(found.max_Ti)
    assert math.isnan(found.median_Ti)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_faithfulness(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    values = rng.dirichlet(np.ones(3))
    sizes = rng.integers(1, 5, size=3)
    ideal = [rng.dirichlet(np.ones(size), size=3) for size in sizes]
    learnt = [rng.dirichlet(np.ones(size), size=3) if a else ideal[a].copy() for a, size in enumerate(sizes)]
    distance = 0.0
    for s in range(3):
        for leaves in itertools.product(*map(range, sizes)):
            one = math.prod(p[s, leaf] for p, leaf in zip(ideal, leaves, strict=True))
            other = math.prod(q[s, leaf] for q, leaf in zip(learnt, leaves, strict=True))
            distance += values[s] * abs(one - other) / 2
    exact = faithfulness(values, ideal, learnt, np.random.default_rng(0))
    # ETV averages ½|1 − p_L/p_I| over draws from p_I: its mean is the distance, its spread by enumeration.
    square = sum(
        values[s] * one * (abs(1 - other / one) / 2) ** 2
        for s in range(3)
        for leaves in itertools.product(*map(range, sizes))
        for one in [math.prod(p[s, leaf] for p, leaf in zip(ideal, leaves, strict=True))]
        for other in [math.prod(q[s, leaf] for q, leaf in zip(learnt, leaves, strict=True))]
    )
    spread = math.sqrt(max(square - distance**2, 0.0) / (threat.DRAWS // 4))
    assert abs(exact.ETV - distance) <= 6 * spread + 1e-9
    assert (exact.RF, exact.stderr) == (pytest.approx(1 - distance, abs=1e-9), 0)
    monkeypatch.setattr(threat, "MAX_COMBINATIONS", 0)
    sampled = faithfulness(values, ideal, learnt, np.random.default_rng(0))
    assert abs(sampled.RF - exact.RF) <= 6 * sampled.stderr + 1e-12
    if distance > 1e-9:
        assert 0 < sampled.stderr < 0.01
    same = faithfulness(values, ideal, ideal, np.random.default_rng(0))
    assert (pytest.approx(1), pytest.approx(0, abs=1e-12)) == (same.RF, same.ETV)


def test_the_histogram_counts_every_threatened_person() -> None:
    levels = np.array([1.0, np.nan, 2.0, 1.9, 0.5, 8.0, 2.9])
    people = np.array([1, 50, 2, 3, 4, 5, 6])
    # Whose level is known is believed to have the first value, which is theirs; the other is not.
    known = ~np.isnan(levels)
    posterior = np.column_stack([known, ~known]).astype(np.float64)
    baseline = np.column_stack([1 / np.where(known, levels, 1), np.ones(7)])
    column = Column("s", "sensitive", domain=Domain(("x", "y")))
    belief = Belief(column, posterior, baseline, np.zeros((7, 2)), np.ones(7, dtype=bool))
    truth = np.zeros(7, dtype=np.int32)
    figures = threats(*([np.ones((1, 1))] * 4), np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.int64))
    nothing: Any = None  # of what was learnt nothing is asked
    found = RelativeThreats(figures, {}, Faithfulness(1, 0, 0), belief, truth, people, nothing, nothing).histogram()
    assert found == [
        {"low": -1.0, "high": -0.5, "people": 4},
        {"low": 0.0, "high": 0.5, "people": 1},
        {"low": 0.5, "high": 1.0, "people": 3},
        {"low": 1.0, "high": 1.5, "people": 2},
        {"low": 1.5, "high": 2.0, "people": 6},
        {"low": 3.0, "high": 3.5, "people": 5},
    ]
