"""The sampler of Boreale, Corradi and Viscardi (2019), section V-B, for anatomized tables, in plain NumPy: the one to beat.

Metropolis within Gibbs: draw π given the table as it now stands, then propose in every group to swap the sensitive values of
two random rows, and accept with the ratio of likelihoods (37). All groups at once; no loop over rows or groups.
Needs NumPy alone. Run as a program it checks itself on an example whose answer is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(slots=True)
class State:
    """A full table. `leaf` [attribute, row] numbers the leaves of all attributes through, rows stand group by group."""

    leaf: Integers
    sensitive: Integers  # of each row; the only thing that a sweep changes, with `delta` and `log_pi`
    begin: Integers  # first row of each group of two or more; the others have nothing to swap
    size: Integers
    starts: Integers  # first leaf of each attribute
    alpha: Floats  # [value]
    beta: Floats  # [leaf]
    gamma: Floats  # rows with each value, which no swap changes
    delta: Integers  # [value, leaf] rows
    pi: Floats  # of the values
    log_pi: Floats  # [value, leaf] of each attribute's leaves given the value


@dataclass(frozen=True, slots=True)
class Keep:
    """What to keep: beliefs about these targets [target, attribute], every so many sweeps, after so many."""

    targets: NDArray[np.integer]
    every: int = 1
    burn_in: int = 0
    learner: bool = True
    attacker: bool = True


@dataclass(frozen=True, slots=True)
class Draws:
    """[draw, target, value], neither normalised over the values."""

    attacker: Floats  # rows that are as the target is and have the value
    learner: Floats  # (α + γ)/(α₀ + N) · Π (β + δ)/(Σβ + γ)
    accepted: float  # share of the proposed swaps
    sensitive: Integers  # of each row as it came, at the end


def start(
    codes: NDArray[np.integer],
    sensitive: NDArray[np.integer],
    group: NDArray[np.integer],
    sizes: Sequence[int],
    values: int,
    alpha: Sequence[float] | None = None,
    beta: Sequence[Sequence[float]] | None = None,
) -> tuple[State, Integers]:
    """The state, from any table that agrees with the release, and the order its rows stand in."""
    order = np.argsort(group, kind="stable")
    _, begin, size = np.unique(group[order], return_index=True, return_counts=True)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
    state = State(
        leaf=np.ascontiguousarray((codes[order] + starts).T, dtype=np.intp),
        sensitive=sensitive[order].astype(np.intp),
        begin=begin[size > 1].astype(np.intp),
        size=size[size > 1].astype(np.intp),
        starts=starts,
        alpha=np.ones(values) if alpha is None else np.array(alpha, dtype=float),
        beta=np.ones(sum(sizes)) if beta is None else np.concatenate([np.array(b, dtype=float) for b in beta]),
        gamma=np.bincount(sensitive, minlength=values).astype(float),
        delta=np.empty((values, sum(sizes)), dtype=np.intp),
        pi=np.empty(values),
        log_pi=np.empty((values, sum(sizes))),
    )
    count(state)
    return state, order


def count(state: State) -> None:
    """δ of the whole table."""
    cells = state.sensitive * len(state.beta) + state.leaf
    state.delta = np.bincount(cells.ravel(), minlength=state.delta.size).reshape(state.delta.shape)


def sweep(state: State, rng: np.random.Generator) -> int:
    """Draw π, then one swap in every group; how many were accepted."""
    # 1. π_S ~ Dir(α + γ), π_{a|s} ~ Dir(β_a + δ_a): gammas over their sums.
    state.pi = rng.dirichlet(state.alpha + state.gamma)
    drawn = np.maximum(rng.standard_gamma(state.beta + state.delta), np.finfo(float).tiny)
    totals = np.add.reduceat(drawn, state.starts, axis=1)
    lengths = np.diff(state.starts, append=len(state.beta))
    state.log_pi = np.log(drawn) - np.repeat(np.log(totals), lengths, axis=1)

    # 2. Two different rows of each group.
    groups = len(state.size)
    uniform = rng.random((2, groups))
    first = (uniform[0] * state.size).astype(np.intp)
    second = (uniform[1] * (state.size - 1)).astype(np.intp)
    second += second >= first
    first += state.begin
    second += state.begin

    # 3. log of f(r₁|s₂) f(r₂|s₁) / f(r₁|s₁) f(r₂|s₂); π_S cancels, as the values stay the same.
    table = state.log_pi.ravel()
    one, other = state.sensitive.take(first), state.sensitive.take(second)
    row_one, row_other = one * len(state.beta), other * len(state.beta)
    ratio = np.zeros(groups)
    # Attribute by attribute: three times as fast as all together, as what is looked up stays in the cache.
    for leaves in state.leaf:
        leaf_one, leaf_other = leaves.take(first), leaves.take(second)
        ratio += table.take(row_other + leaf_one)
        ratio -= table.take(row_one + leaf_one)
        ratio += table.take(row_one + leaf_other)
        ratio -= table.take(row_other + leaf_other)

    # 4. Accept with min(1, ratio): −log of a uniform number is exponential.
    accepted = ratio > -rng.standard_exponential(groups)
    rows = np.concatenate([first[accepted], second[accepted]])
    had = state.sensitive[rows]
    has = np.concatenate([other[accepted], one[accepted]])
    state.sensitive[rows] = has
    # 5. δ follows the rows that were swapped: some 20 % of them, faster than counting the whole table again.
    leaf = state.leaf[:, rows]
    for values, sign in ((has, 1), (had, -1)):
        cells = (values * len(state.beta) + leaf).ravel()
        state.delta += sign * np.bincount(cells, minlength=state.delta.size).reshape(state.delta.shape)
    return len(rows) // 2


def run(
    codes: NDArray[np.integer],
    sensitive: NDArray[np.integer],
    group: NDArray[np.integer],
    sizes: Sequence[int],
    values: int,
    sweeps: int,
    seed: int,
    keep: Keep,
    *,
    alpha: Sequence[float] | None = None,
    beta: Sequence[Sequence[float]] | None = None,
) -> Draws:
    """One chain. `codes` [row, attribute], `sensitive` and `group` [row]; `sizes` tells how many leaves each attribute has."""
    rng = np.random.default_rng(seed)
    state, order = start(codes, sensitive, group, sizes, values, alpha, beta)
    targets = np.asarray(keep.targets, dtype=np.intp).reshape(-1, len(sizes))
    which, row = same(targets, codes[order])
    leaf = (targets + state.starts).T  # [attribute, target]
    prior = np.add.reduceat(state.beta, state.starts)
    # What does not change: (α + γ)/(α₀ + N) over Π (Σβ + γ), and β + δ is multiplied up.
    fixed = np.log(state.alpha + state.gamma) - np.log(state.alpha.sum() + len(sensitive))
    fixed = fixed - np.log(prior + state.gamma[:, None]).sum(axis=1)
    kept = range(keep.burn_in, sweeps, keep.every)
    shape = (len(kept), len(targets), values)
    attacker = np.empty(shape if keep.attacker else (0, *shape[1:]))
    learner = np.empty(shape if keep.learner else (0, *shape[1:]))
    accepted = 0
    draw = 0
    for i in range(sweeps):
        accepted += sweep(state, rng)
        if i not in kept:
            continue
        if keep.attacker:
            cells = which * values + state.sensitive[row]
            attacker[draw] = np.bincount(cells, minlength=len(targets) * values).reshape(shape[1:])
        if keep.learner:
            seen = np.log(state.beta + state.delta).T.copy()  # [leaf, value]
            total = np.broadcast_to(fixed, shape[1:]).copy()
            for leaves in leaf:
                total += seen[leaves]
            np.exp(total, out=learner[draw])
        draw += 1
    final = np.empty_like(state.sensitive)
    final[order] = state.sensitive
    return Draws(attacker, learner, accepted / max(1, sweeps * len(state.size)), final)


def same(targets: Integers, codes: NDArray[np.integer]) -> tuple[Integers, Integers]:
    """All pairs of a target and a row with its codes."""
    _, number = np.unique(np.concatenate([targets, codes]), axis=0, return_inverse=True)
    number = number.ravel()
    mine, theirs = number[: len(targets)], number[len(targets) :]
    order = np.argsort(theirs, kind="stable")
    ordered = theirs[order]
    begin, end = np.searchsorted(ordered, mine), np.searchsorted(ordered, mine, side="right")
    lengths = end - begin
    which = np.repeat(np.arange(len(targets)), lengths)
    place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(begin, lengths)
    return which, order[place]


def table_of(release: Any) -> tuple[Integers, Integers, Integers, list[int], int]:
    """`codes`, `sensitive`, `group`, `sizes` and `values` of some table that an anatomized release of Dalenius could come from."""
    quasi, values = release.quasi, release.sensitive
    # Both are sorted by group, and the groups are as large: row by row they belong together.
    return (
        np.repeat(quasi.codes, quasi.counts, axis=0).astype(np.intp),
        np.repeat(values.codes[:, 0], values.counts).astype(np.intp),
        np.repeat(quasi.group, quasi.counts).astype(np.intp),
        [len(column.leaves) for column in release.schema.quasi],
        len(release.schema.sensitive[0].leaves),
    )


def check() -> None:
    """A person with leaf 0 and value 0, and a group of leaves 0, 1 and values 0, 1. By hand: leaf 0 has value 0 with 2/3,
    so p_A(·, leaf 0) ∝ 5/3, 1/3, and p_L(·, leaf 0) = 2/5, 8/45."""
    codes, sensitive, group = np.array([[0], [0], [1]]), np.array([0, 0, 1]), np.array([0, 1, 1])
    draws = run(codes, sensitive, group, [2], 2, 10_000, 1, Keep(np.array([[0]]), burn_in=100))
    # Standard errors are 0.006 and 0.001.
    assert np.abs(draws.attacker.mean(axis=0) - [5 / 3, 1 / 3]).max() < 0.03, draws.attacker.mean(axis=0)
    assert np.abs(draws.learner.mean(axis=0) - [2 / 5, 8 / 45]).max() < 0.005, draws.learner.mean(axis=0)


if __name__ == "__main__":
    check()
    print("as worked by hand")
