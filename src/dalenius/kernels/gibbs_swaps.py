"""Samplers of the cut link that swap two rows of a group: second opinions beside the blocks of `gibbs_links`, in its words.

`printed_sweeps` is no sampler of the posterior but the deFinetti attack as it was printed (methods E).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs
from dalenius.kernels.gibbs_links import values_of, weigh, write_down


@njit(cache=True, nogil=True, inline="always")
def _two_places(low: int, people: int) -> tuple[int, int]:
    """Two different places of a group, drawn evenly."""
    x = low + int(np.random.random() * people)
    y = low + int(np.random.random() * (people - 1))
    return x, y + (y >= x)


@njit(cache=True, nogil=True)
def _swap(x: int, y: int, rows: Ints, place_value: Ints, row_at: Ints, weight: Floats, value_of: Ints) -> None:
    """The rows at two places change places."""
    one, other = row_at[x], row_at[y]
    s, t = place_value[x], place_value[y]
    for a in range(rows.shape[1]):
        mine, theirs = rows[one, a], rows[other, a]
        weight[mine, s] -= 1.0
        weight[theirs, t] -= 1.0
        weight[mine, t] += 1.0
        weight[theirs, s] += 1.0
    row_at[x], row_at[y] = other, one
    value_of[one], value_of[other] = t, s


@njit(cache=True, nogil=True)
def _meet(row_at: Ints, place_value: Ints, slot: Ints, met: Floats) -> None:
    """Count who has which value."""
    for x in range(row_at.size):
        met[slot[row_at[x]], place_value[x]] += 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def swap_sweeps(
    group_start: Longs,
    rows: Ints,
    place_value: Ints,
    row_at: Ints,
    weight: Floats,
    slot: Ints,
    met: Floats,
    watched_leaf: Longs,
    watched_value: Longs,
    watched_row: Longs,
    trace: Floats,
    states: Ints,
    sweeps: int,
    seed: int,
) -> None:
    """Some sweeps of swaps: two rows of different values, both taken out of the counts, change places or do not.

    Two places of a group are drawn evenly, as often as half of its rows; the move is Metropolis' and symmetric.
    """
    np.random.seed(seed)
    attributes = rows.shape[1]
    value_of = values_of(row_at, place_value)
    for sweep in range(sweeps):
        for g in range(group_start.size - 1):
            low, people = group_start[g], group_start[g + 1] - group_start[g]
            for _ in range((people + 1) // 2 if people > 1 else 0):
                x, y = _two_places(low, people)
                s, t = place_value[x], place_value[y]
                if s == t:
                    continue
                one, other = row_at[x], row_at[y]
                ratio = 1.0
                for a in range(attributes):
                    mine, theirs = rows[one, a], rows[other, a]
                    if mine == theirs:
                        continue
                    ratio *= weight[mine, t] * weight[theirs, s] / ((weight[mine, s] - 1.0) * (weight[theirs, t] - 1.0))
                if np.random.random() < ratio:
                    _swap(x, y, rows, place_value, row_at, weight, value_of)
        _meet(row_at, place_value, slot, met)
        write_down(weight, value_of, watched_leaf, watched_value, watched_row, trace[sweep], states[sweep])


@njit(cache=True, nogil=True, error_model="numpy")
def metropolis_sweeps(
    group_start: Longs,
    rows: Ints,
    place_value: Ints,
    first_leaf: Longs,
    total: Floats,
    row_at: Ints,
    weight: Floats,
    drawn: Floats,
    slot: Ints,
    met: Floats,
    watched_leaf: Longs,
    watched_value: Longs,
    watched_row: Longs,
    trace: Floats,
    states: Ints,
    sweeps: int,
    seed: int,
) -> None:
    """The paper's own sampler (section V): π is drawn given the state, then in each group one swap is proposed under π.

    The leaves of attribute a are `first_leaf[a]` to `first_leaf[a + 1]`, and `total[a, s]` is Σβ plus the rows with value s.
    `drawn[leaf, s]` becomes the last π times that total, to be read like `weight`.
    """
    np.random.seed(seed)
    values = weight.shape[1]
    value_of = values_of(row_at, place_value)
    for sweep in range(sweeps):
        for a in range(rows.shape[1]):
            for s in range(values):
                sum_of = 0.0
                for leaf in range(first_leaf[a], first_leaf[a + 1]):
                    drawn[leaf, s] = np.random.gamma(weight[leaf, s], 1.0)
                    sum_of += drawn[leaf, s]
                for leaf in range(first_leaf[a], first_leaf[a + 1]):
                    # A tiny β can underflow to 0; the smallest number keeps ratios defined.
                    drawn[leaf, s] = max(drawn[leaf, s] / sum_of, 1e-300) * total[a, s]
        for g in range(group_start.size - 1):
            low, people = group_start[g], group_start[g + 1] - group_start[g]
            if people > 1:
                _swap_under(drawn, low, people, rows, place_value, row_at, weight, value_of)
        _meet(row_at, place_value, slot, met)
        write_down(weight, value_of, watched_leaf, watched_value, watched_row, trace[sweep], states[sweep])


@njit(cache=True, nogil=True, error_model="numpy")
def _swap_under(
    fixed: Floats, low: int, people: int, rows: Ints, place_value: Ints, row_at: Ints, weight: Floats, value_of: Ints
) -> None:
    """In a group, propose to swap two rows, and do so with the ratio of the likelihoods under fixed numbers.

    `fixed[leaf, s]` is in proportion to the probability of a leaf given s; every value keeps its number of rows, so that
    what it is in proportion to cancels.
    """
    x, y = _two_places(low, people)
    s, t = place_value[x], place_value[y]
    if s == t:
        return
    one, other = row_at[x], row_at[y]
    ratio = 1.0
    for a in range(rows.shape[1]):
        mine, theirs = rows[one, a], rows[other, a]
        ratio *= fixed[mine, t] * fixed[theirs, s] / (fixed[mine, s] * fixed[theirs, t])
    if np.random.random() < ratio:
        _swap(x, y, rows, place_value, row_at, weight, value_of)


@njit(cache=True, nogil=True, error_model="numpy")
def _permute_under(
    fixed: Floats, low: int, people: int, rows: Ints, place_value: Ints, row_at: Ints, proposed: Ints
) -> bool:
    """In a group, propose a new permutation drawn evenly, and take it with the ratio of the likelihoods; whether it was."""
    for i in range(people):
        proposed[i] = row_at[low + i]
    for i in range(people - 1, 0, -1):
        j = int(np.random.random() * (i + 1))
        proposed[i], proposed[j] = proposed[j], proposed[i]
    ratio = 1.0
    for i in range(people):
        s = place_value[low + i]
        for a in range(rows.shape[1]):
            ratio *= fixed[rows[proposed[i], a], s] / fixed[rows[row_at[low + i], a], s]
    if np.random.random() < ratio:
        for i in range(people):
            row_at[low + i] = proposed[i]
        return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def printed_sweeps(
    group_start: Longs,
    rows: Ints,
    place_value: Ints,
    beta: Floats,
    row_at: Ints,
    weight: Floats,
    whole: bool,
    slot: Ints,
    met: Floats,
    watched_leaf: Longs,
    watched_value: Longs,
    watched_row: Longs,
    trace: Floats,
    states: Ints,
    sweeps: int,
    seed: int,
) -> None:
    """The deFinetti attack as printed: a classifier is made of the state, then each group gets one proposal under it.

    The classifier is the counts of the state with β added; it stays as it is until every group has had its turn, and it has
    seen the very rows that it judges. So the state is held in place by itself, and is no draw from a posterior. A proposal
    swaps two rows or, with `whole`, is another permutation of the group; a likelier one is always taken, a less likely one
    with the ratio of the likelihoods.
    """
    np.random.seed(seed)
    value_of = values_of(row_at, place_value)
    most = 0
    for g in range(group_start.size - 1):
        most = max(most, group_start[g + 1] - group_start[g])
    proposed = np.empty(most, np.int32)
    fixed = np.empty_like(weight)
    for sweep in range(sweeps):
        fixed[:] = weight
        for g in range(group_start.size - 1):
            low, people = group_start[g], group_start[g + 1] - group_start[g]
            if people < 2:
                continue
            if whole:
                _permute_under(fixed, low, people, rows, place_value, row_at, proposed)
            else:
                _swap_under(fixed, low, people, rows, place_value, row_at, weight, value_of)
        if whole:
            weigh(rows, row_at, place_value, beta, weight)
            for x in range(row_at.size):
                value_of[row_at[x]] = place_value[x]
        _meet(row_at, place_value, slot, met)
        write_down(weight, value_of, watched_leaf, watched_value, watched_row, trace[sweep], states[sweep])
