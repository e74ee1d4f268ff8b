"""A prior that depends on the quasi-identifiers: the question the realistic-adversaries paper leaves open (Sec. 7).

Every cell c of quasi-identifiers has its own shares p_c ~ Dirichlet(σ_c), independently. A group of a release has m_c
people of cell c and a histogram h of values; X_c, the values of cell c, is Dirichlet-multinomial(m_c, σ_c), and the
release says Σ_c X_c = h. For a person u of cell c

    p_in(s)  = E[X_{c,s} | Σ X = h] / m_c
    p_out(s) = E[(σ_c(s) + X'_{c,s}) / (σ_c + m_c − 1) | Σ X' = h − e_s],   X' without u, whose value is s.

The expectations are sums over the ways in which h can be shared out, made by convolving the cells; leaving one cell out
is done by halves, so that each cell is convolved about log₂ C times instead of C. One cell gives the usual formulas.
Nothing is assumed to be monotone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from dalenius.errors import InputError
from dalenius.release import GroupCells, Grouping

Floats = NDArray[np.float64]
Way = tuple[tuple[int, ...], float]  # how many of each value a cell has, and how likely that is
LIMIT = 300_000_000  # steps that one group may take


def cell_beliefs(people: Sequence[int], sigma: ArrayLike, histogram: ArrayLike) -> tuple[Floats, Floats]:
    """p_in and p_out of the people of each cell and of each value; p_out is nan for a value that nobody has.

    `people[c]` is m_c, `sigma[c, s]` the Dirichlet parameters of cell c, `histogram[s]` the group's values.
    """
    parameters = np.asarray(sigma, dtype=np.float64)
    h = np.asarray(histogram, dtype=np.int64)
    sizes = np.asarray(people, dtype=np.int64)
    _check(sizes, parameters, h)
    inside, outside = np.full(parameters.shape, math.nan), np.full(parameters.shape, math.nan)
    # Values that nobody has are left out, and of the others the last one's count follows from the rest.
    present = np.flatnonzero(h)
    last = present[np.argmax(h[present])]
    free = np.array([s for s in present if s != last], dtype=np.int64)
    order = np.append(free, last)
    bound = h[order]
    _check_steps(sizes, bound)
    laws = [_law(int(m), parameters[c], order, bound) for c, m in enumerate(sizes)]
    fewer = [_law(int(m) - 1, parameters[c], order, bound) for c, m in enumerate(sizes)]
    alone = np.zeros(tuple(bound[:-1] + 1))
    alone.flat[0] = 1.0
    for c, rest in _without_each(laws, alone, 0, len(laws)):
        m, total = int(sizes[c]), float(parameters[c].sum())
        weights = np.array([p * _at(rest, bound, x) for x, p in laws[c]])
        counts = np.array([x for x, _ in laws[c]], dtype=np.float64)
        inside[c] = 0.0
        inside[c, order] = weights @ counts / (weights.sum() * m)
        others = np.array([x for x, _ in fewer[c]], dtype=np.float64)
        for j, s in enumerate(order.tolist()):
            without = bound.copy()
            without[j] -= 1
            weights = np.array([p * _at(rest, without, x) for x, p in fewer[c]])
            seen = float(weights @ others[:, j]) / weights.sum()
            outside[c, s] = (parameters[c, s] + seen) / (total + m - 1)
    return inside, outside


def cell_beliefs_unknown(histogram: ArrayLike, phi_u: ArrayLike, phi_q: ArrayLike) -> tuple[Floats, Floats]:
    """The person's prior is φ_u, everybody else's in the group φ_q, and neither is revised: p_in ∝ h(s)φ_u(s)/φ_q(s)."""
    h, mine, others = (np.asarray(x, dtype=np.float64) for x in (histogram, phi_u, phi_q))
    if ((h > 0) & (others <= 0)).any():
        raise InputError("The prior of the group holds a value for impossible that somebody in it has.")
    weights = np.divide(h * mine, others, out=np.zeros_like(h), where=h > 0)
    if not weights.sum() > 0:
        raise InputError("The prior of the person holds every value of the group for impossible.")
    return weights / weights.sum(), mine


def _check(sizes: NDArray[np.int64], parameters: Floats, h: NDArray[np.int64]) -> None:
    if parameters.ndim != 2 or len(parameters) != len(sizes) or parameters.shape[1] != len(h):
        raise InputError("A prior by cell has a row for each cell of the group and a number for each value.")
    if not (parameters > 0).all() or not np.isfinite(parameters).all():
        raise InputError("A prior by cell has a number below or equal to 0 (counts + 1 are at least 1).")
    if (sizes < 1).any() or (h < 0).any() or sizes.sum() != h.sum() or len(sizes) == 0:
        raise InputError("A group has as many values as people, and at least one of each cell that is named.")


def _check_steps(sizes: NDArray[np.int64], bound: NDArray[np.int64]) -> None:
    """Refuse what would take too long, before it is begun."""
    box = math.prod(int(n) + 1 for n in bound[:-1])
    ways = [min(math.comb(int(m) + len(bound) - 1, len(bound) - 1), box) for m in sizes]
    steps = box * sum(ways) * max(1, math.ceil(math.log2(len(sizes) + 1)))
    if steps > LIMIT:
        raise InputError(
            f"A group of {int(sizes.sum()):,} people, {len(sizes):,} cells and {len(bound)} values has too many ways to "
            "share its values out among the cells."
        )


def _law(m: int, sigma: Floats, order: NDArray[np.int64], bound: NDArray[np.int64]) -> list[Way]:
    """Every histogram of m people of a cell that fits into the group's, with its Dirichlet-multinomial probability.

    Only the values of the group count: those that nobody has add a factor that is the same for all.
    """
    found = []
    mine = sigma[order]
    for x in _histograms(m, bound):
        counts = np.array(x)
        log = gammaln(counts + mine).sum() - gammaln(mine).sum() - gammaln(counts + 1).sum()
        found.append((x, log))
    # The scale is free: beliefs are ratios. The largest is made 1, so that nothing underflows that matters.
    most = max((log for _, log in found), default=0.0)
    return [(x, math.exp(log - most)) for x, log in found]


def _histograms(m: int, bound: NDArray[np.int64]) -> Iterator[tuple[int, ...]]:
    """All tuples of counts up to `bound` that add up to m."""
    for head in itertools.product(*(range(min(m, int(n)) + 1) for n in bound[:-1])):
        tail = m - sum(head)
        if 0 <= tail <= bound[-1]:
            yield (*head, tail)


def _convolved(array: Floats, law: list[Way]) -> Floats:
    """The law of a sum: a cell more. The array is over the counts of all values but the last."""
    out = np.zeros_like(array)
    for x, p in law:
        above = tuple(slice(n, None) for n in x[:-1])
        below = tuple(slice(None, size - n) for n, size in zip(x[:-1], array.shape, strict=True))
        out[above] += p * array[below]
    most = float(out.max())
    return out / most if most > 0 else out


def _without_each(laws: list[list[Way]], rest: Floats, low: int, high: int) -> Iterator[tuple[int, Floats]]:
    """For each cell from low to high the law of all others; `rest` is that of the cells outside."""
    if high - low == 1:
        yield low, rest
        return
    middle = (low + high) // 2
    for mine, theirs in (((low, middle), (middle, high)), ((middle, high), (low, middle))):
        array = rest
        for c in range(*theirs):
            array = _convolved(array, laws[c])
        yield from _without_each(laws, array, *mine)


def _at(array: Floats, bound: NDArray[np.int64], x: tuple[int, ...]) -> float:
    """How likely the others make up what is left of the group when a cell has x of it."""
    left = tuple(int(n) - k for n, k in zip(bound, x, strict=True))
    return float(array[left[:-1]]) if min(left) >= 0 else 0.0


def levels_by_cell(
    grouping: Grouping, composition: GroupCells, prior: NDArray[np.int32], counts: NDArray[np.int64]
) -> Floats:
    """ε of each group against an adversary who has seen another data set and looks at each cell of it by itself.

    `composition` says how many people of which quasi-identifiers are in each group; `prior` holds the data set's cells
    (quasi…, value) and `counts` how often each occurs; counts + 1 are the cells' Dirichlet parameters.
    """
    leaves = len(grouping.column.leaves)
    seen: dict[bytes, Floats] = {}
    for row, number in zip(prior, counts.tolist(), strict=True):
        key = row[:-1].astype(np.int32).tobytes()
        seen.setdefault(key, np.ones(leaves))[row[-1]] += number
    nothing = np.ones(leaves)
    levels = np.ones(grouping.groups)
    first = np.searchsorted(composition.group, np.arange(grouping.groups + 1))
    for q in range(grouping.groups):
        mine = slice(int(first[q]), int(first[q + 1]))
        histogram = np.zeros(leaves, dtype=np.int64)
        part = slice(int(grouping.start[q]), int(grouping.start[q + 1]))
        histogram[grouping.values[part]] = grouping.counts[part]
        sigma = np.array([seen.get(row.astype(np.int32).tobytes(), nothing) for row in composition.codes[mine]])
        try:
            inside, outside = cell_beliefs(composition.counts[mine].tolist(), sigma, histogram)
        except InputError as error:
            raise InputError(f"Class {q}: {error}") from None
        levels[q] = _change(inside, outside, homogeneous=int((histogram > 0).sum()) == 1)
    return levels


def _change(inside: Floats, outside: Floats, *, homogeneous: bool) -> float:
    """The largest change of belief over the cells and the values that somebody there may have."""
    if homogeneous:
        return math.inf
    held = ~np.isnan(outside) & (inside > 0)
    p, q = inside[held], outside[held]
    with np.errstate(divide="ignore"):
        lowered = np.where(p < 1, (1 - q) / np.maximum(1 - p, 1e-300), math.inf)
    return max(1.0, float((p / q).max(initial=1.0)), float(lowered.max(initial=1.0)))
