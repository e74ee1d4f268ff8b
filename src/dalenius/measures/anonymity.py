"""Singling out and linkage, as regulators define them: how many rows of a release fit a person.

Somebody who knows a person's quasi-identifiers, and that the person is in the release, picks one of the n rows that fit and
is right with probability 1/n (the prosecutor's risk). A person who fits no class must be among the suppressed rows, so the
attacker searches there. A person who fits a class is searched for in the classes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dalenius.adversaries.models import fit
from dalenius.arrays import Bools, Ints, Longs
from dalenius.coding import distinct_rows, merge
from dalenius.errors import InputError
from dalenius.releases import Anatomized, Generalized, GroupedRelease, Release
from dalenius.releases.leaf_sets import LeafSets

__all__ = ["AT_RISK", "MAX_COMPARED", "ClassRisks", "Coded", "class_risks"]

AT_RISK = 0.2  # a person is at risk above this probability of re-identification; ARX's default
MAX_COMPARED = 5_000  # classes that are compared each with each; of more they are taken to overlap


class Coded(Protocol):
    """Distinct rows of codes, quasi-identifiers first, with counts: the cells of a table."""

    @property
    def codes(self) -> Ints: ...
    @property
    def counts(self) -> Longs: ...


@dataclass(frozen=True, slots=True)
class ClassRisks:
    """Shares and means over everybody in the release, suppressed rows included."""

    singled_out: float  # share of people whom one row fits
    highest: float  # the largest probability 1/n
    average: float  # its mean
    at_risk: float  # share of people for whom it is above AT_RISK
    upper_bound: bool = False  # somebody may fit more rows than were counted, or is not in the class that they fit


def class_risks(release: Release, truth: Coded | None = None) -> ClassRisks:
    """Return the risks of a release: from the rows that fit each person of the table, or without it from the sizes of the classes.

    Everybody fits the rows of their own class, so that sizes give an upper bound where classes overlap.
    """
    classes, borders = release.classes(), release.borders()
    if classes is None:
        raise InputError(f"A release of kind {release.kind!r} has no classes in which a person could be singled out.")
    if truth is None or borders is None:
        rows = _class_sizes(classes, release.links())
        return _risks(rows, rows, upper_bound=not _is_disjoint(release))
    columns = [len(column.leaves) for column in classes.schema.quasi]
    known, people = merge(np.ascontiguousarray(truth.codes[:, : len(columns)]), truth.counts, columns)
    rows = _fitting_rows(borders, known)
    lost = int(people[rows == 0].sum())
    if classes.suppressed:
        # No more people than there are suppressed rows can be behind them.
        rows = np.where(rows == 0, max(classes.suppressed, lost), rows)
    astray = int(people.sum()) - lost > classes.people - classes.suppressed
    return _risks(rows, people, upper_bound=astray)


def _risks(rows: Longs, people: Longs, *, upper_bound: bool) -> ClassRisks:
    """Return the risks if `people[i]` persons are each looked for among `rows[i]` rows; 0: there is no such row."""
    total, is_linked = float(people.sum()), rows > 0
    rows, people = rows[is_linked], people[is_linked]
    return ClassRisks(
        singled_out=float(people[rows == 1].sum()) / total,
        highest=1.0 / float(rows.min()) if len(rows) else 0.0,
        average=float((people / rows).sum()) / total,
        at_risk=float(people[1.0 / rows > AT_RISK * (1 + 1e-12)].sum()) / total,
        upper_bound=upper_bound,
    )


def _class_sizes(classes: GroupedRelease, links: Anatomized | None) -> Longs:
    """Return how many rows each class has. Where tuples are published, people who share theirs are the class."""
    if links is not None:
        columns = [len(column.leaves) for column in links.schema.quasi]
        return merge(links.quasi.codes, links.quasi.counts, columns)[1]
    return np.append(classes.sizes, classes.suppressed) if classes.suppressed else classes.sizes


def _fitting_rows(release: Generalized | Anatomized, known: Ints) -> Longs:
    """Return how many rows of the classes fit each combination of quasi-identifiers."""
    rows, boxes, links = np.zeros(len(known), dtype=np.int64), release.rows(), release.links()
    pairs: Iterator[tuple[Longs, Longs, NDArray[np.integer]]]
    if boxes is not None:
        sizes, pairs = boxes.sizes, fit.inside_boxes(boxes, known)
    else:
        assert links is not None
        columns, sizes = [len(column.leaves) for column in links.schema.quasi], links.quasi.counts
        pairs = fit.equal_rows(known, links.quasi.codes, columns)
    for some, start, taken in pairs:
        before = np.concatenate(([0], np.cumsum(sizes[taken])))
        rows[some] += before[start[1:]] - before[start[:-1]]
    return rows


def _is_disjoint(release: Release) -> bool:
    """Return whether it is certain that nobody fits two classes."""
    rows = release.rows()
    if rows is None:
        return release.links() is not None  # centroids do not say whom they stand for
    return _are_apart(rows)


def _are_apart(release: Generalized) -> bool:
    """Return whether no two groups have a combination of leaves in common."""
    meets = []  # of the columns in which labels overlap, which labels do
    apart = []  # the columns in which two labels have no leaf in common
    for a in range(len(release.labels)):
        sets = release.leaf_sets(a)
        if not len(sets.members):  # suppressed in every row and without declared values: it distinguishes nobody
            continue
        if np.bincount(sets.members, minlength=sets.leaves).max() <= 1:
            apart.append(a)
        elif release.groups > MAX_COMPARED:
            return False
        else:
            meets.append((a, _common(sets)))
    if not meets:
        return len(distinct_rows(release.codes, [len(labels) for labels in release.labels])[0]) == release.groups
    for q in range(release.groups - 1):
        codes, others = release.codes[q], release.codes[q + 1 :]
        both = (others[:, apart] == codes[apart]).all(axis=1)
        for a, common in meets:
            both &= common[codes[a]][others[:, a]]
        if both.any():
            return False
    return True


def _common(sets: LeafSets) -> Bools:
    """Return which two sets have a leaf in common."""
    shape = (len(sets), sets.leaves)
    members = csr_array((np.ones(len(sets.members), dtype=np.int32), sets.members, sets.first), shape=shape)
    overlap: Bools = (members @ members.T).toarray() > 0
    return overlap
