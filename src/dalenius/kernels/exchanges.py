"""Moves that relink many groups at once: two values exchange their rows, in every group or in all groups of one kind.

Single groups cannot lead from one mode of the posterior to another: on the way the counts fit neither. An exchange goes there
in one step. Which groups take part is decided by what the exchange leaves as it was, so that the same draw leads back: the
proposal is symmetric, and Metropolis' ratio is that of the likelihoods.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs

EVERYWHERE = -1  # no group that others have to be like


@njit(cache=True, nogil=True)
def exchange_values(
    group_run: Longs,
    run_start: Longs,
    place_value: Ints,
    rows: Ints,
    row_at: Ints,
    weight: Floats,
    value_of: Ints,
    change: Floats,
    taking: Longs,
    heat: float,
) -> None:
    """Two values exchange their rows in every group that has as many of the one as of the other, or do not (Metropolis).

    Chains get caught where two values have each other's rows all over; no step in one group leads out of that.
    """
    one = int(np.random.random() * weight.shape[1])
    other = int(np.random.random() * (weight.shape[1] - 1))
    other += other >= one
    s, t = min(one, other), max(one, other)
    number = _groups_like(EVERYWHERE, s, t, 0, group_run, run_start, place_value, rows, row_at, taking)
    _exchange(s, t, number, run_start, rows, row_at, weight, value_of, change, taking, heat)


@njit(cache=True, nogil=True)
def exchange_kind(
    group_run: Longs,
    run_start: Longs,
    place_value: Ints,
    rows: Ints,
    row_at: Ints,
    weight: Floats,
    value_of: Ints,
    change: Floats,
    taking: Longs,
    heat: float,
) -> None:
    """Two values exchange their rows in all groups where the same two kinds of rows have them, or do not (Metropolis).

    A group is drawn evenly, two of its values, and the attributes that are looked at: all, or one. Which kinds of rows have
    the two values, no matter which has which, an exchange does not change: it leads back by the same draw.
    """
    g = int(np.random.random() * (group_run.size - 1))
    values = group_run[g + 1] - group_run[g]
    every = np.random.random() < 0.75
    attribute = EVERYWHERE if every else int(np.random.random() * rows.shape[1])
    if values < 2:
        return
    one = int(np.random.random() * values)
    other = int(np.random.random() * (values - 1))
    other += other >= one
    first, second = group_run[g] + min(one, other), group_run[g] + max(one, other)
    s, t = place_value[run_start[first]], place_value[run_start[second]]
    number = _groups_like(g, s, t, attribute, group_run, run_start, place_value, rows, row_at, taking)
    _exchange(s, t, number, run_start, rows, row_at, weight, value_of, change, taking, heat)


@njit(cache=True, nogil=True)
def _groups_like(
    model: int,
    s: int,
    t: int,
    attribute: int,
    group_run: Longs,
    run_start: Longs,
    place_value: Ints,
    rows: Ints,
    row_at: Ints,
    taking: Longs,
) -> int:
    """The groups that take part: `taking` gets the runs of s and t, one pair after the other; how many pairs.

    They have as many rows of s as of t, and what kinds of rows these are is the same as in the group `model`, if there is one.
    """
    low = high = 0
    if model != EVERYWHERE:
        first, second = _runs_of(model, s, t, group_run, run_start, place_value)
        if run_start[first + 1] - run_start[first] != run_start[second + 1] - run_start[second]:
            return 0
        low, high = _kinds(first, second, attribute, run_start, rows, row_at)
    number = 0
    for g in range(group_run.size - 1):
        first, second = _runs_of(g, s, t, group_run, run_start, place_value)
        if first < 0 or second < 0:
            continue
        if run_start[first + 1] - run_start[first] != run_start[second + 1] - run_start[second]:
            continue
        if model != EVERYWHERE:
            mine = _kinds(first, second, attribute, run_start, rows, row_at)
            if mine[0] != low or mine[1] != high:
                continue
        taking[2 * number], taking[2 * number + 1] = first, second
        number += 1
    return number


@njit(cache=True, nogil=True, inline="always")
def _runs_of(g: int, s: int, t: int, group_run: Longs, run_start: Longs, place_value: Ints) -> tuple[int, int]:
    """The runs of two values in a group, −1 for one that it does not have."""
    first = second = -1
    for run in range(group_run[g], group_run[g + 1]):
        value = place_value[run_start[run]]
        if value == s:
            first = run
        elif value == t:
            second = run
    return first, second


@njit(cache=True, nogil=True)
def _kinds(first: int, second: int, attribute: int, run_start: Longs, rows: Ints, row_at: Ints) -> tuple[int, int]:
    """What kinds of rows two runs have, the smaller number first: it is the same after an exchange.

    Sums of numbers that rows are mixed into. Different kinds with one number would only take part together, which is as right.
    """
    mixed = np.zeros(2, np.int64)
    for which in range(2):
        run = second if which else first
        for x in range(run_start[run], run_start[run + 1]):
            number = np.int64(0)
            for a in range(rows.shape[1]):
                if attribute in (EVERYWHERE, a):
                    number = (number ^ np.int64(rows[row_at[x], a])) * np.int64(0x100000001B3)
            mixed[which] += number ^ (number >> 29)
    return min(mixed[0], mixed[1]), max(mixed[0], mixed[1])


@njit(cache=True, nogil=True)
def _exchange(
    s: int,
    t: int,
    number: int,
    run_start: Longs,
    rows: Ints,
    row_at: Ints,
    weight: Floats,
    value_of: Ints,
    change: Floats,
    taking: Longs,
    heat: float,
) -> None:
    """In each pair of runs the rows of s and t change places, or all stay (Metropolis)."""
    if number == 0:
        return
    change[:] = 0.0
    for i in range(number):
        first, second = taking[2 * i], taking[2 * i + 1]
        for j in range(run_start[first + 1] - run_start[first]):
            mine, theirs = row_at[run_start[first] + j], row_at[run_start[second] + j]
            for a in range(rows.shape[1]):
                change[rows[theirs, a]] += 1.0
                change[rows[mine, a]] -= 1.0
    ratio = 0.0
    for leaf in range(change.size):
        if change[leaf] != 0.0:
            one, other = weight[leaf, s], weight[leaf, t]
            ratio += math.lgamma(one + change[leaf]) + math.lgamma(other - change[leaf])
            ratio -= math.lgamma(one) + math.lgamma(other)
    if np.log(np.random.random()) >= heat * ratio:
        return
    for leaf in range(change.size):
        weight[leaf, s] += change[leaf]
        weight[leaf, t] -= change[leaf]
    for i in range(number):
        first, second = taking[2 * i], taking[2 * i + 1]
        for j in range(run_start[first + 1] - run_start[first]):
            x, y = run_start[first] + j, run_start[second] + j
            mine, theirs = row_at[x], row_at[y]
            row_at[x], row_at[y] = theirs, mine
            value_of[mine], value_of[theirs] = t, s
