"""The deFinetti attack as printed, on tiny releases, with nothing of ours: its chain as a matrix over all worlds.

From a world a classifier is made of all its rows, β added; then every group, on its own, proposes one swap of two of its rows
or one permutation of them, drawn evenly, and takes it with the ratio of the likelihoods under that classifier. The groups'
moves are independent given the classifier, so the probability of a sweep is a product over groups. In the long run the chain
is in each world as often as the matrix' fixed point says.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tests.adversaries.vertical_worlds import Leaves, Vertical

World = tuple[tuple[int, ...], ...]  # for each group the value of each of its rows


def worlds_of(release: Vertical) -> list[World]:
    return list(itertools.product(*(sorted(set(itertools.permutations(values))) for _, values in release.groups)))


def classifier(release: Vertical, world: World) -> dict[tuple[int, int, int], float]:
    """Pr[leaf | s] of each attribute, all rows counted."""
    seen: Counter[tuple[int, int, int]] = Counter()
    met: Counter[int] = Counter()
    for (rows, _), values in zip(release.groups, world, strict=True):
        for leaves, s in zip(rows, values, strict=True):
            met[s] += 1
            for a, leaf in enumerate(leaves):
                seen[a, s, leaf] += 1
    return {
        (a, s, leaf): float((b + seen[a, s, leaf]) / (sum(beta) + met[s]))
        for a, beta in enumerate(release.beta)
        for s in range(len(release.alpha))
        for leaf, b in enumerate(beta)
    }


def likelihood(rows: Sequence[Leaves], values: Sequence[int], given: dict[tuple[int, int, int], float]) -> float:
    found = 1.0
    for leaves, s in zip(rows, values, strict=True):
        for a, leaf in enumerate(leaves):
            found *= given[a, s, leaf]
    return found


def moved(
    rows: Sequence[Leaves], values: tuple[int, ...], given: dict[tuple[int, int, int], float], *, whole: bool
) -> Counter[tuple[int, ...]]:
    """Where one group's proposal leads, with probabilities."""
    n = len(values)
    if whole:
        proposals = [tuple(values[i] for i in order) for order in itertools.permutations(range(n))]
    else:
        proposals = []
        for i, j in itertools.permutations(range(n), 2):
            other = list(values)
            other[i], other[j] = values[j], values[i]
            proposals.append(tuple(other))
    found: Counter[tuple[int, ...]] = Counter()
    now = likelihood(rows, values, given)
    for other in proposals or [values]:
        share = 1 / max(len(proposals), 1)
        taken = min(1.0, likelihood(rows, other, given) / now)
        found[other] += share * taken
        found[values] += share * (1 - taken)
    return found


def matrix(release: Vertical, *, whole: bool) -> NDArray[np.float64]:
    worlds = worlds_of(release)
    place = {world: i for i, world in enumerate(worlds)}
    found = np.zeros((len(worlds), len(worlds)))
    for i, world in enumerate(worlds):
        given = classifier(release, world)
        moves = [
            moved(rows, values, given, whole=whole) for (rows, _), values in zip(release.groups, world, strict=True)
        ]
        for chosen in itertools.product(*(move.items() for move in moves)):
            p = 1.0
            for _, q in chosen:
                p *= q
            found[i, place[tuple(values for values, _ in chosen)]] += p
    return found


def printed_marginals(release: Vertical, *, whole: bool = False) -> list[NDArray[np.float64]]:
    """For each group [row, value]: how often the row has the value in the long run, whatever the chain began with."""
    steps = matrix(release, whole=whole)
    # Averages over time of the chain begun anywhere alike: the lazy chain has the same, and no period.
    lazy = (steps + np.eye(len(steps))) / 2
    share = np.full(len(steps), 1 / len(steps)) @ np.linalg.matrix_power(lazy, 2**20)
    found = [np.zeros((len(rows), len(release.alpha))) for rows, _ in release.groups]
    for p, world in zip(share, worlds_of(release), strict=True):
        for g, values in enumerate(world):
            for j, s in enumerate(values):
                found[g][j, s] += p
    return found
