"""Moves that relink many groups at once: two values exchange their rows, in every group or in all groups of one kind.

Changes of single groups cannot lead from one mode of the posterior to another: on the way the counts fit neither. An exchange
gets there in one step. What the exchange leaves unchanged decides which groups take part, so that the same draw leads back. The
proposal is therefore symmetric, and Metropolis' ratio is that of the likelihoods.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs

__all__ = ["EVERYWHERE", "exchange_kind", "exchange_values"]

EVERYWHERE = -1  # no group that others have to resemble


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
    """Propose that two values exchange their rows in every group that has as many of the one as of the other (Metropolis).

    Chains get stuck where two values have each other's rows everywhere. No step in a single group leads out of that.
    """
    first = int(np.random.random() * weight.shape[1])
    second = int(np.random.random() * (weight.shape[1] - 1))
    second += second >= first
    s, t = min(first, second), max(first, second)
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
    """Propose that two values exchange their rows in all groups where the same two kinds of rows have them (Metropolis).

    A group is drawn evenly, then two of its values, and the attributes that define a kind: all, or one. An exchange does not change
    which kinds of rows have the two values together, so the same draw leads back.
    """
    g = int(np.random.random() * (group_run.size - 1))
    values = group_run[g + 1] - group_run[g]
    every = np.random.random() < 0.75
    attribute = EVERYWHERE if every else int(np.random.random() * rows.shape[1])
    if values < 2:
        return
    i = int(np.random.random() * values)
    j = int(np.random.random() * (values - 1))
    j += j >= i
    first, second = group_run[g] + min(i, j), group_run[g] + max(i, j)
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
    """Write the runs of s and t of the groups that take part into `taking`, pair by pair. Return how many pairs.

    These groups have as many rows of s as of t, of the same kinds as in the group `model`, if there is one.
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
            kinds = _kinds(first, second, attribute, run_start, rows, row_at)
            if kinds[0] != low or kinds[1] != high:
                continue
        taking[2 * number], taking[2 * number + 1] = first, second
        number += 1
    return number


@njit(cache=True, nogil=True, inline="always")
def _runs_of(g: int, s: int, t: int, group_run: Longs, run_start: Longs, place_value: Ints) -> tuple[int, int]:
    """Return the runs of two values in a group, −1 for a value that it does not have."""
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
    """Return numbers for the kinds of rows that two runs have, the smaller first: an exchange does not change them.

    They are sums of hashes of the rows. If two kinds have the same number, they take part together, which is as valid.
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
    """Propose that the rows of s and t change places in each pair of runs (Metropolis)."""
    if number == 0:
        return
    change[:] = 0.0
    for i in range(number):
        first, second = taking[2 * i], taking[2 * i + 1]
        for j in range(run_start[first + 1] - run_start[first]):
            row_s, row_t = row_at[run_start[first] + j], row_at[run_start[second] + j]
            for a in range(rows.shape[1]):
                change[rows[row_t, a]] += 1.0
                change[rows[row_s, a]] -= 1.0
    ratio = 0.0
    for leaf in range(change.size):
        if change[leaf] != 0.0:
            weight_s, weight_t = weight[leaf, s], weight[leaf, t]
            ratio += math.lgamma(weight_s + change[leaf]) + math.lgamma(weight_t - change[leaf])
            ratio -= math.lgamma(weight_s) + math.lgamma(weight_t)
    if np.log(np.random.random()) >= heat * ratio:
        return
    for leaf in range(change.size):
        weight[leaf, s] += change[leaf]
        weight[leaf, t] -= change[leaf]
    for i in range(number):
        first, second = taking[2 * i], taking[2 * i + 1]
        for j in range(run_start[first + 1] - run_start[first]):
            x, y = run_start[first] + j, run_start[second] + j
            row_s, row_t = row_at[x], row_at[y]
            row_at[x], row_at[y] = row_t, row_s
            value_of[row_s], value_of[row_t] = t, s
