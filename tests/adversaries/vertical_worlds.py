"""Every world of a tiny anatomized release, weighed by the model of methods A with fractions: nothing of ours is used.

A world gives every row of a group one of the group's sensitive values, each as often as published. Rows are labelled: a world is
who has what. Given the model its probability is a product over values and attributes of Dirichlet-multinomial probabilities
of the sequence of leaves; that of the values is the same in all worlds, as their counts are published. It makes no
difference whether distinct worlds or permutations of the published values are counted as alike a priori: in a group that has
value s n_s times, each distinct assignment is reached by Π n_s! permutations, the same number for all.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.adversaries.relative_worlds import Known, normal, told

Leaves = tuple[int, ...]  # a row's quasi-identifiers
Group = tuple[tuple[Leaves, ...], tuple[int, ...]]
Beliefs = list[list[Fraction]]

NUMBERS = [Fraction(n, d) for n, d in ((1, 1), (1, 2), (2, 1), (1, 4), (3, 1), (7, 2))]


@dataclass(frozen=True)
class Vertical:
    """Groups of rows' leaves and as many values; α for each value, β for each leaf of each attribute."""

    groups: tuple[Group, ...]
    alpha: tuple[Fraction, ...]
    beta: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        assert all(len(rows) == len(values) for rows, values in self.groups)

    @property
    def rows(self) -> list[Leaves]:
        """Of all groups, one after the other: the order in which a world names their values."""
        return [leaves for rows, _ in self.groups for leaves in rows]

    @property
    def counts(self) -> list[int]:
        """How often each value was published."""
        found = Counter(s for _, values in self.groups for s in values)
        return [found[s] for s in range(len(self.alpha))]

    @property
    def worlds(self) -> int:
        number = 1
        for _, values in self.groups:
            number *= math.factorial(len(values)) // math.prod(map(math.factorial, Counter(values).values()))
        return number


def weighed(release: Vertical) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every distinct world, a value for each row, with its weight, which is not normalised."""
    choices = [sorted(set(itertools.permutations(values))) for _, values in release.groups]
    rows = release.rows
    totals = [sum(beta) for beta in release.beta]
    for chosen in itertools.product(*choices):
        world = tuple(itertools.chain.from_iterable(chosen))
        seen: Counter[tuple[int, int, int]] = Counter()
        met: Counter[int] = Counter()
        weight = Fraction(1)
        for leaves, s in zip(rows, world, strict=True):
            for a, leaf in enumerate(leaves):
                weight *= (release.beta[a][leaf] + seen[a, s, leaf]) / (totals[a] + met[s])
                seen[a, s, leaf] += 1
            met[s] += 1
        yield world, weight


def joint(release: Vertical, targets: Sequence[Known], error: Sequence[Fraction]) -> tuple[Beliefs, Beliefs]:
    """For every target y and value s, averaged over the worlds and not normalised over s: p_L(s, y) and Σ_{j: s_j = s} P(y | r_j).

    p_L(s, y) is the probability that one person more has value s and is said to be y.
    """
    values = range(len(release.alpha))
    learner = [[Fraction(0) for _ in values] for _ in targets]
    attacker = [[Fraction(0) for _ in values] for _ in targets]
    rows, counts = release.rows, release.counts
    totals = [sum(beta) for beta in release.beta]
    everything = Fraction(0)
    for world, weight in weighed(release):
        everything += weight
        seen = Counter((a, s, leaf) for leaves, s in zip(rows, world, strict=True) for a, leaf in enumerate(leaves))
        for t, target in enumerate(targets):
            for s in values:
                p = weight * (release.alpha[s] + counts[s]) / (sum(release.alpha) + len(rows))
                for a, said in enumerate(target):
                    if said is not None:
                        p *= sum(
                            (b + seen[a, s, leaf])
                            / (totals[a] + counts[s])
                            * told(leaf, said, len(release.beta[a]), error[a])
                            for leaf, b in enumerate(release.beta[a])
                        )
                learner[t][s] += p
            for leaves, s in zip(rows, world, strict=True):
                attacker[t][s] += weight * said_of(leaves, target, release, error)
    return [[p / everything for p in row] for row in learner], [[p / everything for p in row] for row in attacker]


def said_of(leaves: Leaves, target: Known, release: Vertical, error: Sequence[Fraction]) -> Fraction:
    """The probability that somebody with these leaves is said to be the target: an unknown attribute is a factor 1."""
    p = Fraction(1)
    for a, said in enumerate(target):
        if said is not None:
            p *= told(leaves[a], said, len(release.beta[a]), error[a])
    return p


def beliefs(release: Vertical, targets: Sequence[Known], error: Sequence[Fraction]) -> tuple[Beliefs, Beliefs]:
    """p_L and p_A of every target, normalised; p_A is all 0 for a target who fits no row."""
    learner, attacker = joint(release, targets, error)
    return [normal(row) for row in learner], [normal(row) for row in attacker]


def marginals(release: Vertical) -> list[Beliefs]:
    """For each group [row][value]: the probability that the row has the value."""
    everything = Fraction(0)
    flat = [[Fraction(0) for _ in release.alpha] for _ in release.rows]
    for world, weight in weighed(release):
        everything += weight
        for j, s in enumerate(world):
            flat[j][s] += weight
    found = iter([[p / everything for p in row] for row in flat])
    return [list(itertools.islice(found, len(rows))) for rows, _ in release.groups]


def random_release(rng: np.random.Generator, *, worlds: int = 5000) -> Vertical:
    """1–3 attributes of 2–3 leaves, 2–4 values, groups of 2–4 rows, in some values or whole rows repeated; some values unseen."""
    while True:
        leaves = [int(n) for n in rng.integers(2, 4, size=rng.integers(1, 4))]
        values = int(rng.integers(2, 5))
        groups = []
        for _ in range(int(rng.integers(1, 5))):
            size = int(rng.integers(2, 5))
            repeats = size > values or rng.random() < 0.4
            drawn = rng.choice(values, size=size, replace=repeats)
            rows = [tuple(int(rng.integers(n)) for n in leaves) for _ in range(size)]
            if rng.random() < 0.2:
                rows = [rows[0]] * size
            groups.append((tuple(rows), tuple(drawn.tolist())))
        even = rng.random() < 0.3
        alpha = tuple(Fraction(1) if even else NUMBERS[rng.integers(6)] for _ in range(values))
        beta = tuple(tuple(Fraction(1) if even else NUMBERS[rng.integers(6)] for _ in range(n)) for n in leaves)
        found = Vertical(tuple(groups), alpha, beta)
        if found.worlds <= worlds:
            return found
