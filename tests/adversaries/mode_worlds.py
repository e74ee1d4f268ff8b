"""Releases with several modes, and their exact answers: repeated groups are counted, not listed.

A family is a few kinds of groups, each repeated many times. Groups of one kind are exchangeable: a world's probability depends
only on how many groups of each kind are linked in each way. So the sum over all worlds is a sum over these numbers, with
multinomial coefficients, and stays small where the number of worlds is astronomical. Nothing of the sampler is used.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tests.adversaries.vertical_worlds import Group, Leaves, Vertical

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Family:
    """Kinds of groups and how often each is repeated; `leaves` of each attribute, number of `values`; α = β = `beta`."""

    name: str
    kinds: tuple[tuple[Group, int], ...]
    leaves: tuple[int, ...]
    values: int
    beta: Fraction = Fraction(1)

    def release(self) -> Vertical:
        groups = tuple(group for group, times in self.kinds for _ in range(times))
        return Vertical(groups, (self.beta,) * self.values, tuple((self.beta,) * n for n in self.leaves))

    @property
    def tuples(self) -> list[Leaves]:
        return sorted({row for (rows, _), _ in self.kinds for row in rows})


def _shared(number: int, ways: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum of so many."""
    for bars in itertools.combinations(range(number + ways - 1), ways - 1):
        ends = (-1, *bars, number + ways - 1)
        yield tuple(ends[i + 1] - ends[i] - 1 for i in range(ways))


def _kind(group: Group, times: int, family: Family) -> tuple[Floats, Floats, Floats]:
    """For each way to split the repetitions over the links: log coefficient, and counts of (leaf, value) and (tuple, value)."""
    rows, values = group
    starts = np.concatenate(([0], np.cumsum(family.leaves)))
    tuples = {row: i for i, row in enumerate(family.tuples)}
    links = sorted(set(itertools.permutations(values)))
    of_leaf = np.zeros((len(links), int(starts[-1]), family.values))
    of_tuple = np.zeros((len(links), len(tuples), family.values))
    for i, link in enumerate(links):
        for row, s in zip(rows, link, strict=True):
            of_tuple[i, tuples[row], s] += 1
            for a, leaf in enumerate(row):
                of_leaf[i, starts[a] + leaf, s] += 1
    splits = np.array(list(_shared(times, len(links))), dtype=np.float64)
    return (
        gammaln(times + 1) - gammaln(splits + 1).sum(axis=1),
        np.tensordot(splits, of_leaf, axes=1),
        np.tensordot(splits, of_tuple, axes=1),
    )


def exact(family: Family) -> tuple[Floats, Floats]:
    """p_L and p_A [tuple, value] of each distinct tuple of the release, normalised over values."""
    beta = float(family.beta)
    starts = np.concatenate(([0], np.cumsum(family.leaves)))
    sizes = np.array(family.leaves, dtype=np.float64)
    met = Counter(s for (_, values), times in family.kinds for s in values for _ in range(times))
    counts = np.array([met[s] for s in range(family.values)], dtype=np.float64)
    parts = [_kind(group, times, family) for group, times in family.kinds]
    tuples = family.tuples
    pieces: list[tuple[float, Floats, Floats]] = []  # largest logarithm, and sums of weight × joint, weight × counts
    for logs, leaf_counts, tuple_counts in _products(parts):
        log = logs + gammaln(beta + leaf_counts).sum(axis=(1, 2))
        top = float(log.max())
        weight = np.exp(log - top)
        learner = np.zeros((len(tuples), family.values))
        for i, row in enumerate(tuples):
            p = np.tile(beta + counts, (len(weight), 1))
            for a, leaf in enumerate(row):
                p *= (beta + leaf_counts[:, starts[a] + leaf]) / (beta * sizes[a] + counts)
            learner[i] = weight @ p
        pieces.append((top, learner, np.tensordot(weight, tuple_counts, axes=1)))
    highest = max(top for top, _, _ in pieces)
    both = [sum(np.exp(piece[0] - highest) * piece[j] for piece in pieces) for j in (1, 2)]
    return both[0] / both[0].sum(axis=1, keepdims=True), both[1] / both[1].sum(axis=1, keepdims=True)


def _products(parts: list[tuple[Floats, Floats, Floats]]) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Every choice of a split for each kind; those of the longest kind come together, as arrays."""
    longest = max(range(len(parts)), key=lambda i: len(parts[i][0]))
    rest = [part for i, part in enumerate(parts) if i != longest]
    for chosen in itertools.product(*(range(len(part[0])) for part in rest)):
        logs, leaf_counts, tuple_counts = parts[longest]
        for part, i in zip(rest, chosen, strict=True):
            logs, leaf_counts, tuple_counts = logs + part[0][i], leaf_counts + part[1][i], tuple_counts + part[2][i]
        yield logs, leaf_counts, tuple_counts


# ---------------------------------------------------------------------------- the families of the campaign

A_X, B_Y, A_Y, B_X = (0, 0), (1, 1), (0, 1), (1, 0)


def crossed(n: int, m: int | None = None, first: int = 10, second: int = 10, beta: Fraction = Fraction(1)) -> Family:
    """The first attribute may decide, or the second: {(a,x), (b,y)} n times, {(a,y), (b,x)} m times, and single rows.

    By symmetry p(Flu | a, y) = ½ if the single rows of both kinds are as many.
    """
    m = n if m is None else m
    kinds = (
        (((A_X, B_Y), (0, 1)), n),
        (((A_Y, B_X), (0, 1)), m),
        (((A_X,), (0,)), first),
        (((B_Y,), (1,)), second),
    )
    return Family(f"crossed {n}/{m}, singles {first}/{second}", kinds, (2, 2), 2, beta)


def leaning(n: int, extra: int) -> Family:
    """As `crossed`, but some single rows (a, y) with Flu: the first attribute is the likelier one to decide."""
    family = crossed(n)
    kinds = (*family.kinds, ((((0, 1),), (0,)), extra))
    return Family(f"leaning {n}, {extra} more singles", kinds, (2, 2), 2)


def three_values(n: int) -> Family:
    """Groups of three values: turning the links of one kind round is no exchange of two values."""
    kinds = (
        ((((0, 0), (1, 1), (2, 2)), (0, 1, 2)), n),
        ((((0, 1), (1, 2), (2, 0)), (0, 1, 2)), n),
        ((((0, 0),), (0,)), 10),
        ((((1, 1),), (1,)), 10),
        ((((2, 2),), (2,)), 10),
    )
    return Family(f"three values {n}", kinds, (3, 3), 3)


def three_attributes(n: int) -> Family:
    """Any of three attributes may decide."""
    kinds = (
        ((((0, 0, 0), (1, 1, 1)), (0, 1)), n),
        ((((0, 1, 1), (1, 0, 0)), (0, 1)), n),
        ((((0, 0, 1), (1, 1, 0)), (0, 1)), n),
        ((((0, 1, 0), (1, 0, 1)), (0, 1)), n),
        ((((0, 0, 0),), (0,)), 10),
        ((((1, 1, 1),), (1,)), 10),
    )
    return Family(f"three attributes {n}", kinds, (2, 2, 2), 2)


def two_pairs(n: int) -> Family:
    """Two families side by side, with values of their own: four modes."""
    one = crossed(n).kinds
    other = tuple(
        ((tuple((a + 2, b + 2) for a, b in rows), tuple(s + 2 for s in values)), times) for (rows, values), times in one
    )
    return Family(f"two pairs {n}", (*one, *other), (4, 4), 4)


def repeated_values(n: int) -> Family:
    """Groups of four rows in which each value stands twice."""
    kinds = (
        (((A_X, A_X, B_Y, B_Y), (0, 0, 1, 1)), n),
        (((A_Y, A_Y, B_X, B_X), (0, 0, 1, 1)), n),
        (((A_X,), (0,)), 10),
        (((B_Y,), (1,)), 10),
    )
    return Family(f"repeated values {n}", kinds, (2, 2), 2)


def campaign() -> list[Family]:
    """What docs/proof.md is about: two modes of the same mass at four sizes, unequal ones, and more values and attributes."""
    return [
        *(crossed(n) for n in (5, 15, 40, 200)),
        crossed(15, 9, 10, 6),
        crossed(40, 25, 10, 6),
        leaning(5, 1),
        leaning(15, 1),
        leaning(15, 2),
        leaning(40, 1),
        crossed(8, 8, 3, 3, Fraction(1, 10)),
        three_values(5),
        three_values(8),
        three_attributes(5),
        three_attributes(10),
        two_pairs(4),
        repeated_values(5),
    ]
