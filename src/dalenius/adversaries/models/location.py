"""Where a person may be in a release: the groups whose labels or tuples fit, or whose centroid is nearest.

All groups that fit are kept. A suppressed row reveals only its value and may be anybody's. Suppressed rows are one more place,
numbered after the groups. It is a place for people who fit no group, who must be there if they are in the release at all. With
`sure` it is a place for everybody. Without `sure` the attacker assumes that whoever fits a group was not suppressed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dalenius.adversaries.base import UNKNOWN
from dalenius.adversaries.evidence import required
from dalenius.adversaries.models import fit
from dalenius.arrays import Bools, Floats, Ints, Longs
from dalenius.kernels.intersect import nearest
from dalenius.releases import Centroids, GroupedRelease

__all__ = ["Places", "is_own_group_found", "nearest_groups", "places"]

Places = tuple[Longs, Longs, Longs]  # targets, where the groups of each begin and end, and the groups

MAX_TARGETS = 20_000  # compared with centroids in one step


def places(release: GroupedRelease, known: Ints, *, sure: bool) -> Iterator[Places]:
    """Yield some targets at a time with their groups. A target may come several times, with other groups each time."""
    rows, links = release.rows(), release.links()
    if rows is not None:
        fits_a_group = np.zeros(len(known), dtype=bool)
        for part, start, group in fit.inside_boxes(rows, known):
            fits_a_group[part[np.diff(start) > 0]] = True
            yield part, start, group.astype(np.int64)
        if release.suppressed:
            some = np.arange(len(known)) if sure else np.flatnonzero(~fits_a_group)
            yield some, np.arange(len(some) + 1), np.full(len(some), release.groups)
    elif links is not None:
        for some, start, taken in fit.equal_rows(known, links.quasi.codes, _sizes(release)):
            yield some, start, links.quasi.group[taken].astype(np.int64)
    else:
        numbers, categories, points, labels = _scaled(required(release.centres(), release), known)
        combined, number = np.unique(labels, axis=0, return_inverse=True)
        number = number.reshape(-1)
        order = np.lexsort((*points.T[:1], number))
        begin = np.searchsorted(number[order], np.arange(len(combined) + 1))
        points = np.ascontiguousarray(points[order])
        for low in range(0, len(known), MAX_TARGETS):
            high = min(low + MAX_TARGETS, len(known))
            start, which = nearest(numbers[low:high], categories[low:high], points, combined, begin, 2 * (high - low))
            yield np.arange(low, high), start, order[which]


def is_own_group_found(release: GroupedRelease, known: Ints, group: Ints) -> Bools:
    """Return whether `places` finds the group that each target is in. `group` is −1 where that is not known."""
    is_found = np.zeros(len(known), dtype=bool)
    for some, start, which in places(release, known, sure=True):
        owner = np.repeat(some, np.diff(start))
        is_found[owner[which == group[owner]]] = True
    return is_found


def nearest_groups(release: Centroids, codes: Ints) -> list[int]:
    """Return the groups whose centroid is nearest to one person."""
    return [int(q) for _, _, which in places(release, codes[None, :], sure=False) for q in which]


def _sizes(release: GroupedRelease) -> list[int]:
    return [len(column.leaves) for column in release.schema.quasi]


def _scaled(release: Centroids, known: Ints) -> tuple[Floats, Ints, Floats, Ints]:
    """Return targets and centroids in the units of the publisher's distance.

    Integers are divided by their standard deviation, as far as the centroids show it; a missing one is at the mean. Categories are
    equal or different. Unknown attributes do not count.
    """
    integers = [a for a, column in enumerate(release.schema.quasi) if column.type == "integer"]
    # The search uses the first column. The one with the most distinct means excludes most.
    integers.sort(key=lambda a: -len(np.unique(release.points[:, a])))
    others = [a for a, column in enumerate(release.schema.quasi) if column.type != "integer"]
    numbers, points = np.empty((len(known), len(integers))), np.empty((release.groups, len(integers)))
    for j, a in enumerate(integers):
        domain = release.schema.quasi[a].domain
        assert domain is not None
        means = release.points[:, a]
        mean, scale = _mean_and_spread(means, release.sizes)
        points[:, j] = (np.where(np.isnan(means), mean, means) - mean) / scale
        values = domain.values()[known[:, a]]
        away = np.where(np.isnan(values), mean, values) - mean
        numbers[:, j] = np.where(known[:, a] == UNKNOWN, np.nan, away / scale)
    categories = np.ascontiguousarray(known[:, others], dtype=np.int32)
    labels = np.ascontiguousarray(release.points[:, others], dtype=np.int32)
    return numbers, categories, points, labels


def _mean_and_spread(points: Floats, people: Longs) -> tuple[float, float]:
    """Return mean and spread if everybody has the number of their group. The spread is 1 if all are equal or missing."""
    there = ~np.isnan(points)
    if not there.any():
        return 0.0, 1.0
    mean = float(np.average(points[there], weights=people[there]))
    spread = float(np.sqrt(np.average((points[there] - mean) ** 2, weights=people[there])))
    return mean, spread if spread > 0 else 1.0
