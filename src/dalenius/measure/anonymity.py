"""Risks that follow from the sizes of classes alone: singling out and linkage, as regulators read them.

A person in a class of n people is re-identified by somebody who knows their quasi-identifiers, and that they are in the
release, with probability 1/n (the prosecutor's risk).
"""

from __future__ import annotations

from dataclasses import dataclass

from dalenius.coding import merge
from dalenius.release import Anatomized, GroupedRelease

AT_RISK = 0.2  # a person is at risk above this probability of re-identification; ARX's default


@dataclass(frozen=True, slots=True)
class ClassRisks:
    """Shares of all people in the release, suppressed rows counted as not singled out."""

    singled_out: float  # share of people who are alone in their class
    highest: float  # 1 / smallest class
    average: float  # mean of 1/n over people in classes = classes / people in classes
    at_risk: float  # share of people with 1/n above AT_RISK


def class_risks(release: GroupedRelease) -> ClassRisks:
    """The risks of a release; where exact quasi-identifiers are published, people who share theirs are the class."""
    sizes = release.sizes
    if isinstance(release, Anatomized):
        columns = [len(column.leaves) for column in release.schema.quasi]
        _, sizes = merge(release.quasi.codes, release.quasi.counts, columns)
    people, inside = release.people, int(sizes.sum())
    small = sizes[1.0 / sizes > AT_RISK * (1 + 1e-12)]
    return ClassRisks(
        singled_out=float((sizes == 1).sum()) / people,
        highest=1.0 / float(sizes.min()),
        average=len(sizes) / inside,
        at_risk=float(small.sum()) / people,
    )
