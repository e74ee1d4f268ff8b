"""Rates over draws of noise: intervals that hold for people and draws together, and what they are made of."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dalenius.measures import accuracy
from dalenius.measures.accuracy import Rate, rate
from dalenius.measures.draws import paired_gain, pooled


def test_equal_draws_are_one_draw() -> None:
    """The same people guessed the same way nine times are no more people: nothing becomes surer."""
    one, other = rate(30, 100), rate(20, 80)
    found = pooled([one] * 9)
    for key in ("value", "low", "high", "n"):
        assert getattr(found.rate, key) == pytest.approx(getattr(one, key))
    assert (found.least, found.most) == (0.3, 0.3)
    gained, once = paired_gain([one] * 9, [other] * 9).rate, accuracy.gain(one, other)
    for key in ("value", "low", "high", "n"):
        assert getattr(gained, key) == pytest.approx(getattr(once, key))


def test_draws_that_differ_widen_the_interval() -> None:
    rates = [rate(k, 100) for k in (20, 30, 40)]
    found, steady = pooled(rates), rate(30, 100)
    assert (found.rate.value, found.least, found.most) == (pytest.approx(0.3), 0.2, 0.4)
    half = 4.302653 * 0.1 / math.sqrt(3)  # Student's quantile of two degrees of freedom
    assert found.rate.low == pytest.approx(max(0, 0.3 - math.hypot(0.3 - steady.low, half)))
    assert found.rate.high == pytest.approx(0.3 + math.hypot(steady.high - 0.3, half))


def test_a_gain_is_paired_by_draw() -> None:
    """Noise that moves both alike does not make their difference unsure."""
    counted = [rate(k, 100) for k in (20, 50, 80)]
    moved = paired_gain(counted, [rate(k - 10, 100) for k in (20, 50, 80)])
    crossed = paired_gain(counted, [rate(k - 10, 100) for k in (80, 50, 20)])
    assert moved.rate.value == crossed.rate.value == pytest.approx(0.1)
    assert (moved.least, moved.most) == (pytest.approx(0.1), pytest.approx(0.1))
    assert moved.rate.high - moved.rate.low < 0.5 * (crossed.rate.high - crossed.rate.low)


def test_draws_that_are_sure_of_nobody_weigh_nothing() -> None:
    nobody = Rate.undefined()
    found = pooled([rate(8, 10), nobody, rate(1, 2)])
    assert found.rate.value == pytest.approx(9 / 12)
    assert (found.rate.n, found.least, found.most) == (4, 0.5, 0.8)
    empty = pooled([nobody, nobody])
    assert (empty.rate.n, math.isnan(empty.rate.value), math.isnan(empty.least)) == (0, True, True)
    assert paired_gain([rate(1, 2)], [nobody]).rate.n == 0


def test_coverage() -> None:
    """Crossed people and draws: the interval holds the truth 95 % of the time, and counting guesses as people would not."""
    rng = np.random.default_rng(1)
    people, draws, mean = 60, 9, 0.4
    held = gains = narrow = 0
    trials = 400
    for _ in range(trials):
        noise = rng.normal(0, 0.05, draws)  # what a draw does to everybody
        both = []
        for _side in range(2):
            person = rng.beta(4, 6, people)  # mean 0.4
            chance = np.clip(person[:, None] + noise, 0, 1)
            both.append([rate(float(k), people) for k in (rng.random((people, draws)) < chance).sum(axis=0)])
        found = pooled(both[0]).rate
        held += found.low <= mean <= found.high
        gained = paired_gain(*both).rate
        gains += gained.low <= 0 <= gained.high
        all_guesses = rate(sum(one.value * one.n for one in both[0]), people * draws)
        narrow += all_guesses.low <= mean <= all_guesses.high
    assert held / trials > 0.93
    assert gains / trials > 0.93
    assert narrow / trials < 0.9
