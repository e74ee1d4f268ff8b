"""Samplers of the cut link of an anatomized release: which row of a group has which of its values (methods A, 4).

Every value of a group has as many places as rows have it. A state says which row is at each place. `weight[leaf, s]` is β plus
the number of rows with value s that have the leaf; leaves are numbered over all attributes. `total[a, s]` is its sum over the
leaves of attribute a, and `scale[s]` is about the inverse of a product of these, which keeps numbers small. The rows of a group
come one after the other, and so do its places, sorted by value.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats, Ints, Longs
from dalenius.kernels.exchanges import exchange_kind, exchange_values

__all__ = ["LOOK_EVERY", "add_joint", "block_sweeps", "record", "start_links", "values_of", "weigh"]

MAX_BLOCK = 8  # values that are permuted together
LOOK_EVERY = 4  # sweeps of blocks from one count of the links to the next: neighbouring states are too much alike


@njit(cache=True, nogil=True)
def start_links(
    group_start: Longs, rows: Ints, place_value: Ints, beta: Floats, values: int, seed: int
) -> tuple[Ints, Floats]:
    """Return a state drawn evenly, and its weights."""
    np.random.seed(seed)
    row_at = np.empty(place_value.size, np.int32)
    for g in range(group_start.size - 1):
        low, high = group_start[g], group_start[g + 1]
        for x in range(low, high):
            row_at[x] = x
        for x in range(high - 1, low, -1):
            y = low + int(np.random.random() * (x - low + 1))
            row_at[x], row_at[y] = row_at[y], row_at[x]
    weight = np.empty((beta.size, values))
    weigh(rows, row_at, place_value, beta, weight)
    return row_at, weight


@njit(cache=True, nogil=True)
def weigh(rows: Ints, row_at: Ints, place_value: Ints, beta: Floats, weight: Floats) -> None:
    """Count the weights of a state again."""
    for leaf in range(beta.size):
        for s in range(weight.shape[1]):
            weight[leaf, s] = beta[leaf]
    for x in range(row_at.size):
        for a in range(rows.shape[1]):
            weight[rows[row_at[x], a], place_value[x]] += 1.0


@njit(cache=True, nogil=True)
def values_of(row_at: Ints, place_value: Ints) -> Ints:
    """Return the value that each row has in a state."""
    value_of = np.empty(row_at.size, np.int32)
    for x in range(row_at.size):
        value_of[row_at[x]] = place_value[x]
    return value_of


@njit(cache=True, nogil=True)
def record(
    weight: Floats,
    value_of: Ints,
    watched_leaf: Longs,
    watched_value: Longs,
    watched_row: Longs,
    trace: Floats,
    states: Ints,
) -> None:
    """Record the watched numbers of the current state."""
    for i in range(watched_leaf.size):
        trace[i] = weight[watched_leaf[i], watched_value[i]]
    for i in range(watched_row.size):
        states[i] = value_of[watched_row[i]]


@njit(cache=True, nogil=True)
def _choose(values: int, low: int, run_start: Longs, order: Longs, size: int, places: Longs) -> None:
    """Draw `size` of a group's values evenly, and one place of each."""
    for i in range(size):
        j = i
        if size < values:
            j = i + int(np.random.random() * (values - i))
            order[i], order[j] = order[j], order[i]
        run = low + order[i]
        width = run_start[run + 1] - run_start[run]
        places[i] = run_start[run]
        if width > 1:
            places[i] += int(np.random.random() * width)


@njit(cache=True, nogil=True, error_model="numpy")
def block_sweeps(
    group_start: Longs,
    rows: Ints,
    place_value: Ints,
    group_run: Longs,
    run_start: Longs,
    total: Floats,
    scale: Floats,
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
    heat: float,
    exchanging: bool = True,
) -> None:
    """Run sweeps of exact draws: take a row of each value of a group, and draw which of them has which value, given all others.

    The values of group g are the runs `group_run[g]` to `group_run[g + 1]` of places; run r starts at `run_start[r]`. Groups of
    distinct values are drawn whole. In the last sweep, and every few sweeps before it, the probability that a row has value s
    given all others is added to `met[slot[row], s]` if the row was drawn, and 1 for its value if it was not. Nothing is added if
    `met` is empty. Each sweep records the watched weights, and the value of each watched row. With a `heat` below 1 the
    likelihood counts only with this power, so that chains leave states that are hard to leave. Without `exchanging` a chain stays
    in its mode.
    """
    np.random.seed(seed)
    attributes = rows.shape[1]
    most = 0
    for g in range(group_start.size - 1):
        most = max(most, group_run[g + 1] - group_run[g])
    size_max = min(most, MAX_BLOCK)
    order = np.empty(most, np.int64)
    places = np.empty(size_max, np.int64)
    block = np.empty(size_max, np.int32)
    w = np.empty((size_max, size_max))
    forward = np.empty(1 << size_max)
    backward = np.empty(1 << size_max)
    steps, step_start = _steps(size_max)
    value = np.empty(size_max, np.int64)
    share = np.empty((size_max, size_max))
    sums = np.empty((size_max, size_max))
    drawn = np.empty(size_max, np.int64)
    before = np.empty(size_max, np.int32)
    change = np.empty(weight.shape[0])
    taking = np.empty(2 * group_start.size, np.int64)
    value_of = values_of(row_at, place_value)
    for sweep in range(sweeps):
        looking = met.size > 0 and (sweeps - 1 - sweep) % LOOK_EVERY == 0
        for g in range(group_start.size - 1):
            low = group_run[g]
            values = group_run[g + 1] - low
            people = group_start[g + 1] - group_start[g]
            size = min(values, MAX_BLOCK)
            whole = people == values and values <= MAX_BLOCK
            if not whole:
                for i in range(values):
                    order[i] = i
            rounds = (people + size - 1) // size if size > 1 else 1
            for again in range(rounds):
                last = looking and again == rounds - 1
                if whole:
                    for i in range(size):
                        places[i] = group_start[g] + i
                else:
                    _choose(values, low, run_start, order, size, places)
                for i in range(size):
                    row = row_at[places[i]]
                    block[i] = row
                    s = place_value[places[i]]
                    value[i] = s
                    for a in range(attributes):
                        weight[rows[row, a], s] -= 1.0
                if size == 1:
                    share[0, 0] = 1.0
                else:
                    for i in range(size):
                        row = block[i]
                        top = 0.0
                        for k in range(size):
                            s = value[k]
                            product = scale[s]
                            for a in range(attributes):
                                product *= weight[rows[row, a], s]
                            w[i, k] = product
                            top = max(top, product)
                        if not 1e-250 < top < 1e250:
                            top = _by_logarithms(rows[row], weight, total, value[:size], w[i])
                        top = 1.0 / top
                        for k in range(size):
                            w[i, k] *= top
                    if heat != 1.0:  # apart from the loop above, which it would slow down
                        for i in range(size):
                            for k in range(size):
                                w[i, k] **= heat
                    block_steps = steps[step_start[size] : step_start[size + 1]]
                    _permute(size, w, backward, block_steps, block, drawn, before)
                    if last:
                        _find_shares(size, w, forward, backward, block_steps, drawn, sums, share)
                for k in range(size):
                    row = block[k]
                    s = value[k]
                    row_at[places[k]] = row
                    value_of[row] = s
                    for a in range(attributes):
                        weight[rows[row, a], s] += 1.0
                if last:
                    if people == size:
                        for i in range(size):
                            for k in range(size):
                                met[slot[block[i]], value[k]] += share[i, k]
                    else:
                        for x in range(group_start[g], group_start[g + 1]):
                            met[slot[row_at[x]], place_value[x]] += 1.0
                        for i in range(size):
                            met[slot[block[i]], value[i]] -= 1.0
                            for k in range(size):
                                met[slot[block[i]], value[k]] += share[i, k]
        # Now and then: an exchange that is always accepted would be undone by the next.
        if exchanging and weight.shape[1] > 1:
            if np.random.random() < 0.5:
                exchange_values(group_run, run_start, place_value, rows, row_at, weight, value_of, change, taking, heat)
            if np.random.random() < 0.9:
                exchange_kind(group_run, run_start, place_value, rows, row_at, weight, value_of, change, taking, heat)
        record(weight, value_of, watched_leaf, watched_value, watched_row, trace[sweep], states[sweep])


@njit(cache=True, nogil=True)
def _by_logarithms(leaves: Ints, weight: Floats, total: Floats, value: Longs, w: Floats) -> float:
    """Compute a row's products if very many attributes make them too large or too small. The largest becomes 1."""
    top = -np.inf
    for k in range(value.size):
        s = value[k]
        w[k] = 0.0
        for a in range(leaves.size):
            w[k] += np.log(weight[leaves[a], s] / total[a, s])
        top = max(top, w[k])
    for k in range(value.size):
        w[k] = np.exp(w[k] - top)
    return 1.0


@njit(cache=True, nogil=True)
def _steps(most: int) -> tuple[Ints, Longs]:
    """Return for each size of a block the steps that add a row to a subset of rows: the subset, the row, the subset's size."""
    start = np.zeros(most + 2, np.int64)
    for size in range(most + 1):
        start[size + 1] = start[size] + (size << size >> 1)
    steps = np.empty((start[most + 1], 3), np.int32)
    x = 0
    for size in range(most + 1):
        for mask in range((1 << size) - 1):
            has = 0
            for i in range(size):
                has += mask >> i & 1
            for i in range(size):
                if not mask >> i & 1:
                    steps[x, 0], steps[x, 1], steps[x, 2] = mask, i, has
                    x += 1
    return steps, start


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _permute(size: int, w: Floats, backward: Floats, steps: Ints, block: Ints, drawn: Longs, before: Ints) -> None:
    """Draw which row of the block gets which place, with probability proportional to the product of weights.

    Dynamic programming over subsets: `backward[mask]` sums over the assignments of the rows that are not in the mask to the last
    places. `drawn[k]` becomes the number in the block of the row at place k.
    """
    full = (1 << size) - 1
    for mask in range(full):
        backward[mask] = 0.0
    backward[full] = 1.0
    for x in range(len(steps) - 1, -1, -1):
        mask, i, k = steps[x, 0], steps[x, 1], steps[x, 2]
        backward[mask] += w[i, k] * backward[mask | 1 << i]
    mask = 0
    for k in range(size):
        left = np.random.random() * backward[mask]
        pick = -1
        for i in range(size):
            if not mask >> i & 1:
                pick = i
                left -= w[i, k] * backward[mask | 1 << i]
                if left < 0.0:
                    break
        drawn[k] = pick
        mask |= 1 << pick
    for k in range(size):
        before[k] = block[k]
    for k in range(size):
        block[k] = before[drawn[k]]


@njit(cache=True, nogil=True, error_model="numpy")
def _find_shares(
    size: int, w: Floats, forward: Floats, backward: Floats, steps: Ints, drawn: Longs, sums: Floats, share: Floats
) -> None:
    """`share[k, j]` becomes the probability that the row drawn for place k has place j.

    `forward[mask]` sums over the assignments of the rows in the mask to the first places.
    """
    full = (1 << size) - 1
    for mask in range(1, full + 1):
        forward[mask] = 0.0
    forward[0] = 1.0
    for i in range(size):
        for k in range(size):
            sums[i, k] = 0.0
    for x in range(len(steps)):
        mask, i, k = steps[x, 0], steps[x, 1], steps[x, 2]
        term = forward[mask] * w[i, k]
        forward[mask | 1 << i] += term
        sums[i, k] += term * backward[mask | 1 << i]
    whole = 1.0 / forward[full]
    for k in range(size):
        for j in range(size):
            share[k, j] = sums[drawn[k], j] * whole


@njit(cache=True, nogil=True)
def add_joint(
    targets: Longs, error: Floats, leaves: Longs, states: Floats, total: Floats, values: Floats, out: Floats
) -> None:
    """Add to `out[t, s]` the learner's joint probability, in each state, of value s and of what is known about target t.

    `targets[t, a]` is a leaf, numbered over all attributes, −1 where it is not known; `values[s]` is P(s).
    """
    people, attributes = targets.shape
    size = values.size
    of_leaf = np.full(states.shape[1], -1, np.int64)  # the attribute of each leaf that somebody has
    for t in range(people):
        for a in range(attributes):
            if targets[t, a] >= 0:
                of_leaf[targets[t, a]] = a
    share = np.empty((states.shape[1], size))
    product = np.empty(size)
    for state in range(states.shape[0]):
        for leaf in range(of_leaf.size):
            a = of_leaf[leaf]
            if a >= 0:
                for s in range(size):
                    p = states[state, leaf, s] / total[a, s]
                    if error[a] > 0.0:
                        p = (1 - error[a]) * p + error[a] * (1 - p) / (leaves[a] - 1)
                    share[leaf, s] = p
        for t in range(people):
            for s in range(size):
                product[s] = values[s]
            for a in range(attributes):
                leaf = targets[t, a]
                if leaf >= 0:
                    for s in range(size):
                        product[s] *= share[leaf, s]
            for s in range(size):
                out[t, s] += product[s]
