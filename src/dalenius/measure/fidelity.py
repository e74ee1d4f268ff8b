"""What a release is still good for, held against the table it was made of.

Beside the costs that a release tells of itself (see `utility`): NCP and precision of its labels, the Kullback–Leibler
divergence of the table from what a reader of the release would take it for, and the error of count queries answered from
the release. A reader spreads the people of a class evenly: over the combinations of its labels, over its published tuples,
at its centroid, or, with noisy counts, as if quasi-identifiers were independent given the sensitive value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import fit
from dalenius.coding import distinct_rows
from dalenius.hierarchy import MISSING
from dalenius.measure.utility import release_utility
from dalenius.release import Anatomized, Centroids, Generalized, GroupedRelease, NoisyCounts, Release
from dalenius.schema import Column, Schema

Floats = NDArray[np.float64]
QUERIES = 1000
SANITY = 0.001  # the error is relative to the true count, or to this share of all people if that is more


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The table that a release was made of, in the release's coding: distinct (quasi…, sensitive…) rows and counts."""

    schema: Schema
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]

    @property
    def people(self) -> int:
        return int(self.counts.sum())


def fidelity(release: Release, truth: Truth, *, queries: int = QUERIES, seed: int = 0) -> dict[str, float]:
    """Every cost that can be measured of this kind of release. Smaller is better, but for precision."""
    found: dict[str, float] = release_utility(release) if isinstance(release, GroupedRelease) else {}
    if isinstance(release, Generalized):
        found["ncp"] = ncp(release)
        level = precision(release)
        if not math.isnan(level):
            found["precision"] = level
    if isinstance(release, Anatomized):
        found |= {"ncp": 0.0, "precision": 1.0}  # quasi-identifiers are published as they are
    if isinstance(release, Generalized | Anatomized):
        found["kl_divergence"] = kl_divergence(release, truth)
    # Queries ask for values of the first sensitive column, which counts of another one do not tell.
    silent = isinstance(release, NoisyCounts) and release.sensitive != truth.schema.sensitive[0].name
    if isinstance(release, Generalized | Anatomized | Centroids | NoisyCounts) and not silent:
        found["relative_error"] = relative_error(release, truth, workload(truth.schema, queries, seed))
    return found


# Labels ---------------------------------------------------------------------------------------------------------------


def ncp(release: Generalized) -> float:
    """The normalised certainty penalty: the mean over cells of how wide a label is (Xu et al. 2006).

    Integers: largest less smallest value, as a share of the domain's; categories: leaves covered as a share of all, 0 for a
    single one. A suppressed cell counts 1, but 0 in a column of one leaf, where nothing is hidden.
    """
    total, sizes = 0.0, release.sizes.astype(np.float64)
    for a, (column, labels) in enumerate(zip(release.schema.quasi, release.labels, strict=True)):
        width = np.array([_width(column, label.members) for label in labels])
        whole = 1 if len(column.leaves) > 1 else 0
        total += float(width[release.codes[:, a]] @ sizes) + whole * release.suppressed
    return total / (release.people * len(release.labels))


def _width(column: Column, members: NDArray[np.int32]) -> float:
    if len(members) <= 1:
        return 0.0
    if column.type == "integer":
        assert column.domain is not None
        values = column.domain.values()
        span = np.nanmax(values) - np.nanmin(values)
        mine = values[members]
        if not np.isnan(mine).any() and span > 0:
            return float((mine.max() - mine.min()) / span)
    return len(members) / len(column.leaves)


def precision(release: Generalized) -> float:
    """1 − mean over cells of level / height (Sweeney 2002); nan unless every label is a node of its column's hierarchy."""
    total, sizes = 0.0, release.sizes.astype(np.float64)
    for a, (column, labels) in enumerate(zip(release.schema.quasi, release.labels, strict=True)):
        tree = column.hierarchy
        if tree is None:
            return math.nan
        nodes: dict[bytes, int] = {}  # the set of each node, and the lowest level it stands at
        for level, map_ in enumerate(tree.maps):
            for code in range(len(tree.labels[level])):
                nodes.setdefault(np.flatnonzero(map_ == code).astype(np.int32).tobytes(), level)
        nodes.setdefault(np.arange(len(column.leaves), dtype=np.int32).tobytes(), tree.height)
        levels = [nodes.get(np.sort(label.members).astype(np.int32).tobytes()) for label in labels]
        if any(level is None for level in levels):
            return math.nan
        height = max(tree.height, 1)
        total += float(np.array(levels, dtype=np.float64)[release.codes[:, a]] @ sizes) / height + release.suppressed
    return 1 - total / (release.people * len(release.labels))


# The whole distribution -----------------------------------------------------------------------------------------------


def kl_divergence(release: Generalized | Anatomized, truth: Truth) -> float:
    """Σ p ln(p/p̂) over (quasi, sensitive…) in nats; infinite if the release says that somebody of the table cannot be."""
    m = len(truth.schema.quasi)
    sizes = [len(column.leaves) for column in truth.schema.coded]
    known, number = distinct_rows(truth.codes[:, :m], sizes[:m])
    tuples, value = distinct_rows(
        np.concatenate([release.sensitive.codes, truth.codes[:, m:]]).astype(np.int32), sizes[m:]
    )
    mine, theirs = value[: len(release.sensitive.group)], value[len(release.sensitive.group) :]
    counts = np.zeros((release.groups + 1, len(tuples)))  # the last row: suppressed
    np.add.at(counts, (release.sensitive.group, mine), release.sensitive.counts)
    estimate = np.empty(len(truth.counts))
    order = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(len(known) + 1))
    for part, groups, suppressed in fit.fits(release, known):
        weights = groups @ counts[:-1] + suppressed[:, None] * counts[-1]
        cells = order[bounds[part.start] : bounds[min(part.stop, len(known))]]
        estimate[cells] = weights[number[cells] - part.start, theirs[cells]]
    share = truth.counts / truth.people
    with np.errstate(divide="ignore"):
        return max(0.0, float((share * np.log(share * release.people / estimate)).sum()))


# Count queries --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """How many people have one of these values in each of some quasi-identifiers, and one of these sensitive values?"""

    quasi: dict[int, NDArray[np.bool_]]
    values: NDArray[np.bool_]


def workload(schema: Schema, queries: int = QUERIES, seed: int = 0) -> list[Query]:
    """Seeded queries on one to three quasi-identifiers: a run of an integer's leaves, some leaves of a category.

    A condition covers between a tenth and a half of the leaves. Half of the queries also ask for one sensitive value of the
    first sensitive column.
    """
    rng = np.random.default_rng(seed)
    target = len(schema.sensitive[0].leaves)
    found = []
    for _ in range(queries):
        many = int(rng.integers(1, min(3, len(schema.quasi)) + 1))
        asked = {}
        for a in sorted(rng.choice(len(schema.quasi), many, replace=False).tolist()):
            column = schema.quasi[a]
            leaves = len(column.leaves)
            width = max(1, round(leaves * float(rng.uniform(0.1, 0.5))))
            holds = np.zeros(leaves, dtype=bool)
            if column.type == "integer":
                low = int(rng.integers(0, leaves - width + 1))
                holds[low : low + width] = True
            else:
                holds[rng.choice(leaves, width, replace=False)] = True
            asked[a] = holds
        values = np.ones(target, dtype=bool)
        if rng.random() < 0.5:
            values[:] = False
            values[int(rng.integers(target))] = True
        found.append(Query(asked, values))
    return found


def relative_error(release: Release, truth: Truth, queries: list[Query]) -> float:
    """The mean over queries of |answer − truth| / max(truth, 0.1 % of the people)."""
    m = len(truth.schema.quasi)
    answer = _answering(release)
    floor = SANITY * truth.people
    errors = []
    for query in queries:
        holds = query.values[truth.codes[:, m]]
        for a, leaves in query.quasi.items():
            holds = holds & leaves[truth.codes[:, a]]
        exact = float(truth.counts[holds].sum())
        errors.append(abs(answer(query) - exact) / max(exact, floor))
    return float(np.mean(errors))


def _answering(release: Release) -> Callable[[Query], float]:
    if isinstance(release, NoisyCounts):
        return _Independent(release)
    assert isinstance(release, GroupedRelease)
    first = release.schema.sensitive[0].name
    counts = fit.dense(release.grouping(first))
    hidden = release.grouping(first).table - counts.sum(axis=0)
    if isinstance(release, Generalized):
        inside: _Boxes | _Tuples | _Points = _Boxes(release)
    elif isinstance(release, Anatomized):
        inside = _Tuples(release)
    else:
        assert isinstance(release, Centroids)
        inside = _Points(release)

    def answer(query: Query) -> float:
        anywhere = math.prod(float(leaves.mean()) for leaves in query.quasi.values())
        return float(inside(query) @ (counts @ query.values)) + anywhere * float(hidden @ query.values)

    return answer


class _Boxes:
    """The share of each class's combinations that a query asks for."""

    def __init__(self, release: Generalized) -> None:
        self.release = release
        self.labels = [[label.members for label in labels] for labels in release.labels]

    def __call__(self, query: Query) -> Floats:
        share = np.ones(self.release.groups)
        for a, leaves in query.quasi.items():
            covered = np.array([leaves[members].mean() for members in self.labels[a]])
            share *= covered[self.release.codes[:, a]]
        return share


class _Tuples:
    """The share of each group's tuples that a query asks for."""

    def __init__(self, release: Anatomized) -> None:
        self.release = release
        self.sizes = release.sizes

    def __call__(self, query: Query) -> Floats:
        cells = self.release.quasi
        holds = np.ones(len(cells.group), dtype=bool)
        for a, leaves in query.quasi.items():
            holds &= leaves[cells.codes[:, a]]
        people = np.bincount(cells.group, weights=holds * cells.counts, minlength=self.release.groups)
        return people / self.sizes


class _Points:
    """Whether a query asks for a group's centroid: an integer's mean rounded to the nearest leaf."""

    def __init__(self, release: Centroids) -> None:
        self.codes = np.empty(release.points.shape, dtype=np.int64)
        for a, column in enumerate(release.schema.quasi):
            points = release.points[:, a]
            if column.type != "integer":
                self.codes[:, a] = points.astype(np.int64)
                continue
            assert column.domain is not None
            values = column.domain.values()
            numbers = np.where(np.isnan(values), np.inf, values)
            missing = column.leaves.index(MISSING) if MISSING in column.leaves else 0
            nearest = np.abs(np.where(np.isnan(points), 0.0, points)[:, None] - numbers[None, :]).argmin(axis=1)
            self.codes[:, a] = np.where(np.isnan(points), missing, nearest)

    def __call__(self, query: Query) -> Floats:
        holds = np.ones(len(self.codes), dtype=bool)
        for a, leaves in query.quasi.items():
            holds &= leaves[self.codes[:, a]]
        return holds.astype(np.float64)


class _Independent:
    """Answers from noisy counts, negative ones as 0, as if quasi-identifiers were independent given the value."""

    def __init__(self, release: NoisyCounts) -> None:
        names = [column.name for column in release.schema.quasi]
        self.sizes = [len(column.leaves) for column in release.schema.quasi]
        self.tables = [tuple(names.index(name) for name in table) for table in release.tables]
        self.counts = [np.maximum(counts, 0.0) for counts in release.counts]
        self.people = np.mean([counts.sum(axis=0) for counts in self.counts], axis=0)

    def __call__(self, query: Query) -> float:
        answer = np.where(query.values, self.people, 0.0)
        for attributes, counts in zip(self.tables, self.counts, strict=True):
            if not any(a in query.quasi for a in attributes):
                continue
            holds = np.ones(1, dtype=bool)
            for a in attributes:
                leaves = query.quasi.get(a, np.ones(self.sizes[a], dtype=bool))
                holds = (holds[:, None] & leaves[None, :]).ravel()
            total = counts.sum(axis=0)
            answer = answer * np.divide(counts[holds].sum(axis=0), total, out=np.zeros_like(total), where=total > 0)
        return float(answer.sum())
