"""Samplers of the cut link that swap two rows of a group: second opinions to the blocks of `gibbs_links`, with its names.

`printed_sweeps` does not sample the posterior: it is the deFinetti attack as it was printed (methods E).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs
from dalenius.kernels.gibbs_links import record, values_of, weigh

__all__ = ["metropolis_sweeps", "printed_sweeps", "swap_sweeps"]


@njit(cache=True, nogil=True, inline="always")
def _two_places(low: int, people: int) -> tuple[int, int]:
    """Draw two different places of a group evenly."""
    x = low + int(np.random.random() * people)
    y = low + int(np.random.random() * (people - 1))
    return x, y + (y >= x)


@njit(cache=True, nogil=True)
def _swap(x: int, y: int, rows: Ints, place_value: Ints, row_at: Ints, weight: Floats, value_of: Ints) -> None:
    """Swap the rows at two places."""
    row_x, row_y = row_at[x], row_at[y]
    s, t = place_value[x], place_value[y]
    for a in range(rows.shape[1]):
        leaf_x, leaf_y = rows[row_x, a], rows[row_y, a]
        weight[leaf_x, s] -= 1.0
        weight[leaf_y, t] -= 1.0
        weight[leaf_x, t] += 1.0
        weight[leaf_y, s] += 1.0
    row_at[x], row_at[y] = row_y, row_x
    value_of[row_x], value_of[row_y] = t, s


@njit(cache=True, nogil=True)
def _count_links(row_at: Ints, place_value: Ints, slot: Ints, met: Floats) -> None:
    """Count which row has which value."""
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
    """Run sweeps that propose to swap two rows of different values, both taken out of the counts.

    Two places of a group are drawn evenly, half as often as it has rows. The move is Metropolis' and symmetric.
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
                row_x, row_y = row_at[x], row_at[y]
                ratio = 1.0
                for a in range(attributes):
                    leaf_x, leaf_y = rows[row_x, a], rows[row_y, a]
                    if leaf_x == leaf_y:
                        continue
                    ratio *= (
                        weight[leaf_x, t] * weight[leaf_y, s] / ((weight[leaf_x, s] - 1.0) * (weight[leaf_y, t] - 1.0))
                    )
                if np.random.random() < ratio:
                    _swap(x, y, rows, place_value, row_at, weight, value_of)
        _count_links(row_at, place_value, slot, met)
        record(weight, value_of, watched_leaf, watched_value, watched_row, trace[sweep], states[sweep])


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
    """Run sweeps of the paper's own sampler (section V): draw π given the state, then propose one swap in each group under π.

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
                    # A tiny β can underflow to 0; a smallest number keeps ratios defined.
                    drawn[leaf, s] = max(drawn[leaf, s] / sum_of, 1e-300) * total[a, s]
        for g in range(group_start.size - 1):
            low, people = group_start[g], group_start[g + 1] - group_start[g]
            if people > 1:
                _swap_under(drawn, low, people, rows, place_value, row_at, weight, value_of)
        _count_links(row_at, place_value, slot, met)
        record(weight, value_of, watched_leaf, watched_value, watched_row, trace[sweep], states[sweep])


@njit(cache=True, nogil=True, error_model="numpy")
def _swap_under(
    fixed: Floats, low: int, people: int, rows: Ints, place_value: Ints, row_at: Ints, weight: Floats, value_of: Ints
) -> None:
    """Propose to swap two rows of a group, and accept with the ratio of the likelihoods under fixed numbers.

    `fixed[leaf, s]` is proportional to the probability of a leaf given s. Every value keeps its number of rows, so that the factors
    cancel.
    """
    x, y = _two_places(low, people)
    s, t = place_value[x], place_value[y]
    if s == t:
        return
    row_x, row_y = row_at[x], row_at[y]
    ratio = 1.0
    for a in range(rows.shape[1]):
        leaf_x, leaf_y = rows[row_x, a], rows[row_y, a]
        ratio *= fixed[leaf_x, t] * fixed[leaf_y, s] / (fixed[leaf_x, s] * fixed[leaf_y, t])
    if np.random.random() < ratio:
        _swap(x, y, rows, place_value, row_at, weight, value_of)


@njit(cache=True, nogil=True, error_model="numpy")
def _permute_under(
    fixed: Floats, low: int, people: int, rows: Ints, place_value: Ints, row_at: Ints, proposed: Ints
) -> bool:
    """Propose a permutation of a group, and accept it with the ratio of the likelihoods. Return whether it was accepted."""
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
    """Run sweeps of the deFinetti attack as printed: build a classifier from the state, then make one proposal in each group.

    The classifier is the counts of the state plus β. It stays the same until every group has had its turn, and it has seen the
    very rows that it judges. So the state confirms itself, and is no draw from a posterior. A proposal swaps two rows or, with
    `whole`, is another permutation of the group. A likelier one is always accepted, a less likely one with the ratio of the
    likelihoods.
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
        _count_links(row_at, place_value, slot, met)
        record(weight, value_of, watched_leaf, watched_value, watched_row, trace[sweep], states[sweep])
