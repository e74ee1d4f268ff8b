"""Count queries: a reader's estimate of the number of people with some values, and its error.

A reader spreads the people of a class evenly: over the combinations of its labels, over its published tuples, at its centroid, or,
with noisy counts, as if quasi-identifiers were independent given the sensitive value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalenius.adversaries.models import fit
from dalenius.arrays import Bools, Floats, Longs
from dalenius.errors import InputError
from dalenius.releases import Anatomized, Centroids, Generalized, GroupedRelease, NoisyCounts, Release
from dalenius.releases.leaf_sets import LeafSets
from dalenius.releases.moments import numbers_of
from dalenius.schema import Schema

__all__ = [
    "QUERIES",
    "Answer",
    "Asked",
    "Independent",
    "Query",
    "answering",
    "errors_of",
    "relative_error",
    "relative_errors",
    "workload",
]

Answer = Callable[["Query"], float]
QUERIES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """How many people have one of these values in each of some quasi-identifiers, and one of these sensitive values?"""

    quasi: dict[int, Bools]
    values: Bools


def workload(schema: Schema, queries: int = QUERIES, seed: int = 0) -> list[Query]:
    """Draw queries on one to three quasi-identifiers: a run of an integer's leaves, some leaves of a category.

    A condition covers between a tenth and a half of the leaves. Half of the queries also ask for one sensitive value of the
    first sensitive column.
    """
    rng = np.random.default_rng(seed)
    target = len(schema.sensitive[0].leaves)
    workload = []
    for _ in range(queries):
        many = int(rng.integers(1, min(3, len(schema.quasi)) + 1))
        conditions = {}
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
            conditions[a] = holds
        values = np.ones(target, dtype=bool)
        if rng.random() < 0.5:
            values[:] = False
            values[int(rng.integers(target))] = True
        workload.append(Query(conditions, values))
    return workload


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Queries, their true answers, and the smallest number that an error is relative to."""

    queries: list[Query]
    answers: Floats
    floor: float


def relative_error(release: Release, workload: Asked) -> float:
    """Return the mean over queries of |answer − truth| / max(truth, one person, 0.1 % of the people)."""
    return float(relative_errors(release, workload).mean())


def relative_errors(release: Release, workload: Asked) -> Floats:
    """Return the error of each query. Few queries that hardly anybody satisfies can rule the mean, so the median goes with it."""
    answer = answering(release)
    if answer is None:
        raise InputError(
            f"A release of kind {release.kind!r} does not say where its people are, and answers no queries."
        )
    return errors_of(answer, workload)


def errors_of(answer: Answer, workload: Asked) -> Floats:
    """Return the error of each query that is answered so."""
    answers = np.array([answer(query) for query in workload.queries])
    errors: Floats = np.abs(answers - workload.answers) / np.maximum(workload.answers, workload.floor)
    return errors


def answering(release: Release) -> Answer | None:
    """Return what a reader answers a query from; None if the release says nothing of where people are."""
    rows, links, centres, counts = release.rows(), release.links(), release.centres(), release.counts()
    if rows is not None:
        return _spreading(rows, _Boxes(rows))
    if links is not None:
        return _spreading(links, _Tuples(links))
    if centres is not None:
        return _spreading(centres, _Points(centres))
    return None if counts is None else Independent(counts)


def _spreading(release: GroupedRelease, inside: Callable[[Query], Floats]) -> Answer:
    """Return the people of each class, by the share of it that a query asks for; of suppressed rows, by chance."""
    grouping = release.grouping(release.schema.sensitive[0].name)
    counts = fit.counts_of(grouping)
    hidden = grouping.table - np.asarray(counts.sum(axis=0))

    def answer(query: Query) -> float:
        anywhere = math.prod(float(leaves.mean()) for leaves in query.quasi.values())
        # A sum of products, not a dot product: a BLAS that starts threads for it is slower.
        return float((inside(query) * (counts @ query.values)).sum()) + anywhere * float(hidden[query.values].sum())

    return answer


class _Boxes:
    """The share of each class's combinations that a query asks for."""

    def __init__(self, release: Generalized) -> None:
        self.codes = [np.ascontiguousarray(column) for column in release.codes.T]
        sets = [release.leaf_sets(a) for a in range(len(release.labels))]
        self.runs = [_runs(family) for family in sets]
        self.widths = [np.diff(family.first) for family in sets]

    def __call__(self, query: Query) -> Floats:
        share = np.ones(len(self.codes[0]))
        for a, leaves in query.quasi.items():
            covered = _covered(leaves, *self.runs[a]) / self.widths[a]
            share *= covered[self.codes[a]]
        return share


def _runs(sets: LeafSets) -> tuple[Longs, Longs, Longs]:
    """Return sets as runs of consecutive codes: the start of each run, its end, and the first run of each set."""
    members = sets.members
    begins = np.ones(len(members), dtype=bool)
    np.not_equal(members[1:] - members[:-1], 1, out=begins[1:])
    begins[sets.first[:-1]] = True
    at = np.flatnonzero(begins)
    ends = np.append(at[1:], len(members)) - 1
    return members[at].astype(np.int64), members[ends].astype(np.int64) + 1, np.searchsorted(at, sets.first[:-1])


def _covered(leaves: Bools, begin: Longs, end: Longs, first: Longs) -> Longs:
    """Return how many leaves of each set a query asks for."""
    before = np.concatenate(([0], np.cumsum(leaves)))
    sums: Longs = np.add.reduceat(before[end] - before[begin], first)
    return sums


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
        self.codes = release.leaves()

    def __call__(self, query: Query) -> Floats:
        holds = np.ones(len(self.codes), dtype=bool)
        for a, leaves in query.quasi.items():
            holds &= leaves[self.codes[:, a]]
        return holds.astype(np.float64)


class Independent:
    """Answers from noisy counts, negative ones as 0, as if quasi-identifiers were independent given the value."""

    def __init__(self, release: NoisyCounts) -> None:
        names = [column.name for column in release.schema.quasi]
        self.tables = [tuple(names.index(name) for name in table) for table in release.tables]
        self.rows = {a: release.row_of_leaves(name) for a, name in enumerate(names) if name not in release.moments}
        self.counts = [np.maximum(counts, 0.0) for counts in release.noisy]
        self.given = {
            names.index(name): moments.probabilities(numbers_of(release.schema[name]))
            for name, moments in release.moments.items()
        }
        totals = [counts.sum(axis=0) for counts in self.counts]
        totals += [np.maximum(moments.values[0], 0.0) for moments in release.moments.values()]
        self.people = np.mean(totals, axis=0)

    def __call__(self, query: Query) -> float:
        answer = np.where(query.values, self.people, 0.0)
        for attributes, counts in zip(self.tables, self.counts, strict=True):
            if not any(a in query.quasi for a in attributes):
                continue
            holds = np.ones(1)
            for a in attributes:
                holds = (holds[:, None] * self._share(a, query)[None, :]).ravel()
            total = counts.sum(axis=0)
            # Of a label that the query cuts, people are spread evenly over its leaves.
            part = (holds[holds > 0, None] * counts[holds > 0]).sum(axis=0)
            answer = answer * np.divide(part, total, out=np.zeros_like(total), where=total > 0)
        for a, shares in self.given.items():
            if a in query.quasi:
                answer = answer * shares[query.quasi[a]].sum(axis=0)
        return float(answer.sum())

    def _share(self, attribute: int, query: Query) -> Floats:
        """Return the share of each row's leaves that the query asks for."""
        rows = self.rows[attribute]
        leaves = query.quasi.get(attribute, np.ones(len(rows), dtype=bool))
        means: Floats = np.bincount(rows, weights=leaves) / np.bincount(rows)
        return means
