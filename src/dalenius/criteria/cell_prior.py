"""A prior that depends on the quasi-identifiers: the question the realistic-adversaries paper leaves open (Sec. 7).

Every cell c of quasi-identifiers has its own shares p_c ~ Dirichlet(σ_c), independently. A group of a release has m_c
people of cell c and a histogram h of values; X_c, the values of cell c, is Dirichlet-multinomial(m_c, σ_c), and the
release says Σ_c X_c = h. For a person u of cell c

    p_in(s)  = E[X_{c,s} | Σ X = h] / m_c
    p_out(s) = E[(σ_c(s) + X'_{c,s}) / (σ_c + m_c − 1) | Σ X' = h − e_s],   X' without u, whose value is s.

The expectations are sums over the ways in which h can be shared out, made by convolving the cells; leaving one cell out
is done by halves, so that each cell is convolved about log₂ C times instead of C. One cell gives the usual formulas. All
probabilities are kept as logarithms: what a release says may be all but impossible under the prior. Nothing is assumed to
be monotone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dalenius.arrays import Floats, Ints, Longs
from dalenius.errors import InputError
from dalenius.releases import GroupCells, Grouping

__all__ = ["MAX_STEPS", "cell_beliefs", "cell_beliefs_unknown", "levels_by_cell"]

MAX_STEPS = 100_000_000  # steps that one group may take


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """How many of each value a cell may have, and the logarithm of how likely each way is, up to a constant."""

    ways: Longs  # [way, value]
    logs: Floats


def cell_beliefs(people: Sequence[int], sigma: ArrayLike, histogram: ArrayLike) -> tuple[Floats, Floats]:
    """Return p_in and p_out of the people of each cell and of each value; p_out is nan for a value that nobody has.

    `people[c]` is m_c, `sigma[c, s]` the Dirichlet parameters of cell c, `histogram[s]` the group's values.
    """
    parameters = np.asarray(sigma, dtype=np.float64)
    h = np.asarray(histogram, dtype=np.int64)
    sizes = np.asarray(people, dtype=np.int64)
    _check(sizes, parameters, h)
    present = np.flatnonzero(h)
    inside, outside = np.zeros(parameters.shape), np.full(parameters.shape, math.nan)
    absent = np.delete(parameters, present, axis=1).sum(axis=1)
    beliefs = _beliefs(sizes, parameters[:, present], absent, h[present])
    inside[:, present], outside[:, present] = beliefs.inside, beliefs.outside
    return inside, outside


@dataclass(frozen=True, slots=True, eq=False)
class _Beliefs:
    """p_in and p_out, and 1 less each as a sum of its own: where a belief is all but certain, nothing cancels."""

    inside: Floats
    outside: Floats
    doubt_inside: Floats
    doubt_outside: Floats


def _beliefs(sizes: Longs, sigma: Floats, absent: Floats, h: Longs) -> _Beliefs:
    """Return the same for the values that somebody has; `absent[c]` is what σ_c has for the others."""
    others = 1.0 - np.eye(len(h))
    counts = np.empty((len(sizes), len(h)))  # expected number of each value among the cell's people
    left = np.empty((len(sizes), len(h), len(h)))  # the same without a person who has value s, for each s
    if len(sizes) == 1:
        counts[0], left[0] = h, h - np.eye(len(h))
    else:
        _expect(sizes, sigma, h, counts, left)
    more = left + sigma[:, None, :]
    own, rest = np.einsum("css->cs", more), (more * others).sum(axis=2) + absent[:, None]
    people = sizes[:, None].astype(np.float64)
    return _Beliefs(counts / people, own / (own + rest), counts @ others / people, rest / (own + rest))


def _expect(sizes: Longs, sigma: Floats, h: Longs, counts: Floats, left: Floats) -> None:
    """Fill in the expected counts of every cell, by convolution."""
    # The count of the commonest value follows from the others': it is put last and left out of the arrays.
    order = np.argsort(h, kind="stable")
    bound, parameters = h[order], sigma[:, order]
    _check_steps(sizes, bound)
    laws = [_law(int(m), parameters[c], bound) for c, m in enumerate(sizes)]
    fewer = [_law(int(m) - 1, parameters[c], bound) for c, m in enumerate(sizes)]
    nobody = np.full(tuple(bound[:-1] + 1), -math.inf)
    nobody.flat[0] = 0.0
    for c, rest in _without_each(laws, nobody, 0, len(laws)):
        counts[c, order] = _mean(laws[c], rest, bound)
        for j, s in enumerate(order.tolist()):
            without = bound.copy()
            without[j] -= 1
            left[c, s, order] = _mean(fewer[c], rest, without)


def cell_beliefs_unknown(histogram: ArrayLike, phi_u: ArrayLike, phi_q: ArrayLike) -> tuple[Floats, Floats]:
    """Return p_in ∝ h(s)φ_u(s)/φ_q(s) and p_out, for fixed priors φ_u of the person and φ_q of everybody else in the group."""
    h, user_shares, others = (np.array(x, dtype=np.float64) for x in (histogram, phi_u, phi_q))
    for shares in (user_shares, others):
        if not np.isfinite(shares).all() or (shares < 0).any() or abs(shares.sum() - 1) > 1e-6:
            raise InputError("The priors of the person and of the group are probabilities that sum to 1.")
    if ((h > 0) & (others <= 0)).any():
        raise InputError("The prior of the group holds a value for impossible that somebody in it has.")
    weights = np.divide(h * user_shares, others, out=np.zeros_like(h), where=h > 0)
    if not weights.sum() > 0:
        raise InputError("The prior of the person holds every value of the group for impossible.")
    return weights / weights.sum(), user_shares


def _check(sizes: Longs, parameters: Floats, h: Longs) -> None:
    if parameters.ndim != 2 or len(parameters) != len(sizes) or parameters.shape[1] != len(h):
        raise InputError("A prior by cell has a row for each cell of the group and a number for each value.")
    if not (parameters > 0).all() or not np.isfinite(parameters).all():
        raise InputError("A prior by cell has a number below or equal to 0 (counts + 1 are at least 1).")
    if (sizes < 1).any() or (h < 0).any() or sizes.sum() != h.sum() or len(sizes) == 0:
        raise InputError("A group has as many values as people, and at least one of each cell that is named.")


def _check_steps(sizes: Longs, bound: Longs) -> None:
    """Refuse what would take too long, before it is begun."""
    box = math.prod(int(n) + 1 for n in bound[:-1])
    ways = [min(math.comb(int(m) + len(bound) - 1, len(bound) - 1), box) for m in sizes]
    steps = box * sum(ways) * max(1, math.ceil(math.log2(len(sizes) + 1)))
    if steps > MAX_STEPS:
        raise InputError(
            f"a group of {int(sizes.sum()):,} people, {len(sizes):,} cells and {len(bound)} values has too many ways to "
            "share its values out among the cells."
        )


def _law(m: int, sigma: Floats, bound: Longs) -> _Law:
    """Return every histogram of m people of a cell that fits into the group's, with its Dirichlet-multinomial probability.

    Only the values of the group count: those that nobody has add a factor that is the same for all. Rising factorials are
    sums of logarithms, which do not cancel where σ is large.
    """
    ways = np.array(list(_histograms(m, bound)), dtype=np.int64).reshape(-1, len(bound))
    from scipy.special import gammaln  # takes longer to import than most criteria take to measure

    logs = -gammaln(ways + 1.0).sum(axis=1)
    for s in range(len(bound)):
        rising = np.concatenate(([0.0], np.cumsum(np.log(sigma[s] + np.arange(min(m, int(bound[s])))))))
        logs += rising[ways[:, s]]
    return _Law(ways, logs)


def _histograms(m: int, bound: Longs) -> Iterator[tuple[int, ...]]:
    """Yield all tuples of counts up to `bound` that add up to m."""
    for head in itertools.product(*(range(min(m, int(n)) + 1) for n in bound[:-1])):
        tail = m - sum(head)
        if 0 <= tail <= bound[-1]:
            yield (*head, tail)


def _convolved(array: Floats, law: _Law) -> Floats:
    """Return the law of a sum: a cell more. The array is over the counts of all values but the last."""
    out = np.full_like(array, -math.inf)
    for x, log in zip(law.ways[:, :-1].tolist(), law.logs.tolist(), strict=True):
        above = tuple(slice(n, None) for n in x)
        below = tuple(slice(None, size - n) for n, size in zip(x, array.shape, strict=True))
        out[above] = np.logaddexp(out[above], log + array[below])
    return out


def _without_each(laws: list[_Law], rest: Floats, low: int, high: int) -> Iterator[tuple[int, Floats]]:
    """Yield each cell from low to high with the law of all others; `rest` is the law of the cells outside."""
    if high - low == 1:
        yield low, rest
        return
    middle = (low + high) // 2
    for half, other_half in (((low, middle), (middle, high)), ((middle, high), (low, middle))):
        array = rest
        for c in range(*other_half):
            array = _convolved(array, laws[c])
        yield from _without_each(laws, array, *half)


def _mean(law: _Law, rest: Floats, total: Longs) -> Floats:
    """Return the expected counts of a cell, when it and the others together have `total`."""
    left = total - law.ways
    possible = (left >= 0).all(axis=1)
    logs = law.logs[possible] + rest[tuple(left[possible, :-1].T)]
    most = logs.max(initial=-math.inf)
    if not math.isfinite(most):
        raise ArithmeticError("no way to share the values out")  # a group's own people always are one
    weights = np.exp(logs - most)
    mean: Floats = weights @ law.ways[possible] / weights.sum()
    return mean


def levels_by_cell(grouping: Grouping, composition: GroupCells, prior: Ints, counts: Longs) -> Floats:
    """Return ε of each group against an adversary who has seen another data set and looks at each cell of it by itself.

    `composition` says how many people of which quasi-identifiers are in each group; `prior` holds the data set's cells
    (quasi…, value) and `counts` how often each occurs; counts + 1 are the cells' Dirichlet parameters.
    """
    seen: dict[bytes, dict[int, int]] = {}
    for row, number in zip(np.ascontiguousarray(prior, dtype=np.int32), counts.tolist(), strict=True):
        values = seen.setdefault(row[:-1].tobytes(), {})
        values[int(row[-1])] = values.get(int(row[-1]), 0) + number
    codes = np.ascontiguousarray(composition.codes, dtype=np.int32)
    first = np.searchsorted(composition.group, np.arange(grouping.groups + 1))
    levels = np.full(grouping.groups, math.inf)
    for q in range(grouping.groups):
        part = slice(int(grouping.start[q]), int(grouping.start[q + 1]))
        values, h = grouping.values[part].tolist(), grouping.counts[part]
        if len(values) == 1:
            continue  # everybody has it
        rows = slice(int(first[q]), int(first[q + 1]))
        known = [seen.get(row.tobytes(), {}) for row in codes[rows]]
        sigma = np.array([[1.0 + cell.get(value, 0) for value in values] for cell in known])
        unseen = len(grouping.column.leaves) - len(values)
        absent = [unseen + sum(n for value, n in cell.items() if value not in set(values)) for cell in known]
        try:
            beliefs = _beliefs(composition.counts[rows], sigma, np.array(absent, dtype=np.float64), h)
        except InputError as error:
            raise InputError(f"Class {q}: {error}") from None
        levels[q] = _change(beliefs)
    return levels


def _change(beliefs: _Beliefs) -> float:
    """Return the largest change of belief over the cells and the values that somebody there may have."""
    held = beliefs.inside > 0
    with np.errstate(divide="ignore"):
        ratios = np.concatenate(
            [beliefs.inside[held] / beliefs.outside[held], beliefs.doubt_outside[held] / beliefs.doubt_inside[held]]
        )
    if np.isnan(ratios).any():
        raise ArithmeticError("a belief is not a number")
    return max(1.0, float(ratios.max(initial=1.0)))
