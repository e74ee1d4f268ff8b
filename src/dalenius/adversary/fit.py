"""How well targets fit the groups of a release: what adversaries that do not learn from the release go by.

The fit of a target and a group is the share of a row's possibilities that equal the target: 1/|box| for a row published as
a box that contains it, multiplicity/n(q) for a group published as its exact tuples; of an attribute that the adversary
does not know, every leaf counts and its factor is 1. A suppressed row could be anybody: its box is everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary.base import UNKNOWN, Targets
from dalenius.coding import distinct_rows
from dalenius.release import Anatomized, Generalized, GroupedRelease, Grouping, Release

BLOCK = 20_000_000  # entries of a (target × group) block
Floats = NDArray[np.float64]
Fitting = Callable[[NDArray[np.int32]], Floats]


def refusal(release: Release) -> str | None:
    """Why targets cannot be placed in a release, or nothing."""
    if isinstance(release, Generalized | Anatomized):
        return None
    if isinstance(release, GroupedRelease):
        return "centroids do not say which values they stand for; composition's nearest-centroid attack does"
    return f"a release of kind {release.kind!r} has no groups"


def distinct_targets(targets: Targets) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Many people share their quasi-identifiers: each distinct target, and which one every target is."""
    sizes = [len(c.leaves) + 1 for c in targets.schema.quasi]
    distinct, number = distinct_rows((targets.codes + 1).astype(np.int32), sizes)
    return distinct - 1, number


def fits(release: Generalized | Anatomized, known: NDArray[np.int32]) -> Iterator[tuple[slice, Floats, Floats]]:
    """Some targets at a time: which, their fit to each group, and their fit to a suppressed row."""
    step = max(1, BLOCK // max(_width(release), 1))
    find = _boxes(release) if isinstance(release, Generalized) else _tuples(release)
    anything = np.array([1.0 / max(len(column.leaves), 1) for column in release.schema.quasi])
    for low in range(0, len(known), step):
        part = known[low : low + step]
        yield slice(low, low + step), find(part), np.where(part == UNKNOWN, 1.0, anything).prod(axis=1)


def _width(release: Generalized | Anatomized) -> int:
    return release.groups if isinstance(release, Generalized) else len(release.quasi.group)


def _boxes(release: Generalized) -> Fitting:
    # factors[a][target's code + 1, label]: 1/|set| if the leaf is in the set, else 0; the first row is for unknown.
    factors = []
    for column, labels in zip(release.schema.quasi, release.labels, strict=True):
        factor = np.zeros((len(column.leaves) + 1, len(labels)))
        factor[0] = 1.0
        for code, label in enumerate(labels):
            factor[label.members + 1, code] = 1.0 / max(len(label.members), 1)
        factors.append(factor)

    def find(part: NDArray[np.int32]) -> Floats:
        fit = np.ones((len(part), release.groups))
        for a, factor in enumerate(factors):
            fit *= factor[np.ix_(part[:, a] + 1, release.codes[:, a])]
        return fit

    return find


def _tuples(release: Anatomized) -> Fitting:
    tuples = release.quasi
    start = np.searchsorted(tuples.group, np.arange(release.groups))  # tuples come sorted by group
    sizes = np.add.reduceat(tuples.counts, start)

    def find(part: NDArray[np.int32]) -> Floats:
        equal = np.ones((len(part), len(tuples.group)), dtype=bool)
        for a in range(part.shape[1]):
            equal &= (part[:, a, None] == UNKNOWN) | (part[:, a, None] == tuples.codes[None, :, a])
        people: Floats = np.add.reduceat(equal * tuples.counts, start, axis=1) / sizes
        return people

    return find


def dense(grouping: Grouping) -> Floats:
    """n(q,s) as a matrix."""
    counts = np.zeros((grouping.groups, len(grouping.table)))
    counts[np.repeat(np.arange(grouping.groups), np.diff(grouping.start)), grouping.values] = grouping.counts
    return counts
