"""Jumps between modes of the posterior of an anatomized release, through its parameters (methods A, 4).

Given the parameters π the groups are independent, and the links of a group can be summed exactly. So the posterior density of π
is known up to a constant, m(π) = Dir(π; β) Π_g links_g(π), with all links summed out. It is a function of as many numbers as
there are leaves and values, however many people there are. A jump proposes π from a mixture of Dirichlet densities, one for each
place where a chain has been. If it is accepted, all links are drawn again.

`log_p[leaf, s]` is log π, with leaves numbered over all attributes. The other names are those of `gibbs_links`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from dalenius.arrays import Bools, Floats, Ints, Longs

__all__ = [
    "MAX_STATES",
    "draw_parameters",
    "draw_seed",
    "jump",
    "log_dirichlet",
    "log_fit",
    "log_mixture",
    "log_weight",
    "states_of_groups",
]

MAX_STATES = 4096  # of a group's dynamic programming; a jump leaves the links of larger groups as they are


@njit(cache=True, nogil=True)
def draw_seed(seed: int) -> None:
    """Seed the generator of this thread's compiled code."""
    np.random.seed(seed)


@njit(cache=True, nogil=True)
def draw_parameters(weight: Floats, first_leaf: Longs, moving: Bools, log_p: Floats) -> None:
    """Draw log π ~ Dir(weight) of each attribute and each value that moves."""
    for s in range(weight.shape[1]):
        if not moving[s]:
            continue
        for a in range(first_leaf.size - 1):
            top = -np.inf
            for leaf in range(first_leaf[a], first_leaf[a + 1]):
                shape = weight[leaf, s]
                # Gamma(c) is Gamma(c + 1) U^(1/c): its logarithm does not underflow where c is tiny.
                log_p[leaf, s] = math.log(np.random.gamma(shape + 1.0, 1.0))
                log_p[leaf, s] += math.log(1.0 - np.random.random()) / shape
                top = max(top, log_p[leaf, s])
            sum_of = 0.0
            for leaf in range(first_leaf[a], first_leaf[a + 1]):
                sum_of += math.exp(log_p[leaf, s] - top)
            for leaf in range(first_leaf[a], first_leaf[a + 1]):
                log_p[leaf, s] -= top + math.log(sum_of)


@njit(cache=True, nogil=True)
def log_dirichlet(log_p: Floats, centre: Floats, first_leaf: Longs, moving: Bools) -> float:
    """Return the log density Dir(π; centre) over all attributes and the values that move."""
    log = 0.0
    for s in range(centre.shape[1]):
        if not moving[s]:
            continue
        for a in range(first_leaf.size - 1):
            sum_of = 0.0
            for leaf in range(first_leaf[a], first_leaf[a + 1]):
                c = centre[leaf, s]
                sum_of += c
                log += (c - 1.0) * log_p[leaf, s] - math.lgamma(c)
            log += math.lgamma(sum_of)
    return log


@njit(cache=True, nogil=True)
def log_mixture(log_p: Floats, centres: Floats, first_leaf: Longs, moving: Bools) -> float:
    """Return the log density of the mixture of Dirichlet densities, all centres being equally likely."""
    logs = np.empty(len(centres))
    for k in range(len(centres)):
        logs[k] = log_dirichlet(log_p, centres[k], first_leaf, moving)
    top = logs.max()
    return float(top + math.log(np.exp(logs - top).mean()))


@njit(cache=True, nogil=True)
def states_of_groups(group_run: Longs, run_start: Longs) -> Longs:
    """Return how many states the dynamic programming has in each group, at most `MAX_STATES` + 1."""
    states = np.ones(group_run.size - 1, np.int64)
    for g in range(states.size):
        for run in range(group_run[g], group_run[g + 1]):
            states[g] = min(states[g] * (run_start[run + 1] - run_start[run] + 1), MAX_STATES + 1)
    return states


@njit(cache=True, nogil=True)
def _weights(
    low: int,
    people: int,
    run: int,
    runs: int,
    run_start: Longs,
    rows: Ints,
    place_value: Ints,
    log_p: Floats,
    w: Floats,
) -> float:
    """Set `w[i, k]` to the likelihood of value k for row i, over the row's largest. Return the sum of the logs of the largest."""
    log = 0.0
    for i in range(people):
        top = -np.inf
        for k in range(runs):
            s = place_value[run_start[run + k]]
            w[i, k] = 0.0
            for a in range(rows.shape[1]):
                w[i, k] += log_p[rows[low + i, a], s]
            top = max(top, w[i, k])
        for k in range(runs):
            w[i, k] = math.exp(w[i, k] - top)
        log += top
    return log


@njit(cache=True, nogil=True)
def _sum_links(people: int, run: int, runs: int, run_start: Longs, w: Floats, left: Longs, sums: Floats) -> float:
    """Sum over all links of a group, and return the sum.

    `sums[state]` becomes the sum over the links of the last rows with the remaining places. A state is how many places of each
    value remain. States are numbers in mixed radix, a digit for each value. With distinct values they are subsets, and this is a
    permanent.
    """
    left[:runs] = 0
    sums[0] = 1.0
    remaining, state = 0, 0
    while remaining < people:
        state += 1
        for k in range(runs):  # the next number
            if left[k] < run_start[run + k + 1] - run_start[run + k]:
                left[k] += 1
                remaining += 1
                break
            remaining -= left[k]
            left[k] = 0
        i = people - remaining
        sums[state] = 0.0
        stride = 1
        for k in range(runs):
            if left[k] > 0:
                sums[state] += w[i, k] * sums[state - stride]
            stride *= run_start[run + k + 1] - run_start[run + k] + 1
    return float(sums[state])


@njit(cache=True, nogil=True)
def _draw_links(
    low: int, people: int, run: int, runs: int, run_start: Longs, w: Floats, left: Longs, sums: Floats, row_at: Ints
) -> None:
    """Draw one of the links summed before: the row at each place."""
    state = 0
    stride = 1
    for k in range(runs):
        left[k] = run_start[run + k + 1] - run_start[run + k]
        state += stride * left[k]
        stride *= left[k] + 1
    for i in range(people):
        at = np.random.random() * sums[state]
        pick, picked_stride = -1, 0
        stride = 1
        for k in range(runs):
            if left[k] > 0:
                pick, picked_stride = k, stride
                at -= w[i, k] * sums[state - stride]
                if at < 0.0:
                    break
            stride *= run_start[run + k + 1] - run_start[run + k] + 1
        left[pick] -= 1
        row_at[run_start[run + pick] + left[pick]] = low + i
        state -= picked_stride


@njit(cache=True, nogil=True)
def log_fit(
    group_start: Longs,
    rows: Ints,
    place_value: Ints,
    group_run: Longs,
    run_start: Longs,
    states: Longs,
    beta: Floats,
    moving: Bools,
    log_p: Floats,
    row_at: Ints,
    draw: bool,
) -> float:
    """Return log m(π), without the contribution of values that do not move. With `draw` the links are drawn, given π.

    Groups without a value that moves are left out. Groups that are too large to sum count with the links that they have.
    """
    width, most = 1, 1
    for g in range(group_start.size - 1):
        width = max(width, group_run[g + 1] - group_run[g])
        most = max(most, group_start[g + 1] - group_start[g])
    w = np.empty((most, width))
    left = np.zeros(width, np.int64)
    sums = np.empty(MAX_STATES + 1)
    log = 0.0
    for s in range(log_p.shape[1]):
        if moving[s]:
            for leaf in range(beta.size):
                log += (beta[leaf] - 1.0) * log_p[leaf, s]
    for g in range(group_start.size - 1):
        low, people = group_start[g], group_start[g + 1] - group_start[g]
        run, runs = group_run[g], group_run[g + 1] - group_run[g]
        moves = False
        for k in range(runs):
            moves |= moving[place_value[run_start[run + k]]]
        if not moves:
            continue
        if states[g] > MAX_STATES or runs == 1:
            for x in range(low, low + people):
                for a in range(rows.shape[1]):
                    log += log_p[rows[row_at[x], a], place_value[x]]
            continue
        log += _weights(low, people, run, runs, run_start, rows, place_value, log_p, w)
        total = _sum_links(people, run, runs, run_start, w, left, sums)
        if not total > 0.0:
            return -np.inf
        log += math.log(total)
        if draw:
            _draw_links(low, people, run, runs, run_start, w, left, sums, row_at)
    return log


@njit(cache=True, nogil=True)
def log_weight(
    group_start: Longs,
    rows: Ints,
    place_value: Ints,
    group_run: Longs,
    run_start: Longs,
    states: Longs,
    first_leaf: Longs,
    beta: Floats,
    moving: Bools,
    weight: Floats,
    centre: Floats,
    row_at: Ints,
    seed: int,
) -> float:
    """Return log m(π) − log Dir(π; centre) at one π ~ Dir(weight)."""
    np.random.seed(seed)
    log_p = np.empty_like(weight)
    draw_parameters(weight, first_leaf, moving, log_p)
    return log_fit(
        group_start, rows, place_value, group_run, run_start, states, beta, moving, log_p, row_at, False
    ) - log_dirichlet(log_p, centre, first_leaf, moving)


@njit(cache=True, nogil=True)
def jump(
    group_start: Longs,
    rows: Ints,
    place_value: Ints,
    group_run: Longs,
    run_start: Longs,
    states: Longs,
    first_leaf: Longs,
    beta: Floats,
    centres: Floats,
    moving: Bools,
    row_at: Ints,
    weight: Floats,
    seed: int,
) -> bool:
    """Propose other parameters of the values that move; if they are accepted, draw links given them. Return whether they were.

    1. π | links ~ Dir(weight): links and π together are a draw from their joint posterior.
    2. π' from the mixture, for the values that move: an independence proposal for the posterior of π, links summed out.
    3. Accept with m(π') mixture(π) / (m(π) mixture(π')); then links | π', exactly. The caller must count `weight` again.
    """
    np.random.seed(seed)
    everything = np.ones(weight.shape[1], np.bool_)
    log_p = np.empty_like(weight)
    draw_parameters(weight, first_leaf, everything, log_p)
    here = log_fit(
        group_start, rows, place_value, group_run, run_start, states, beta, moving, log_p, row_at, False
    ) - log_mixture(log_p, centres, first_leaf, moving)
    draw_parameters(centres[int(np.random.random() * len(centres))], first_leaf, moving, log_p)
    there = log_fit(
        group_start, rows, place_value, group_run, run_start, states, beta, moving, log_p, row_at, False
    ) - log_mixture(log_p, centres, first_leaf, moving)
    # Where numbers underflow, a state is neither entered nor left: that is symmetric, too.
    if not (np.isfinite(here) and np.isfinite(there)) or math.log(1.0 - np.random.random()) >= there - here:
        return False
    log_fit(group_start, rows, place_value, group_run, run_start, states, beta, moving, log_p, row_at, True)
    return True
