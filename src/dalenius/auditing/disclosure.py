"""ε-privacy in an audit: what realistic adversaries learn because a person is in the release."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalenius.adversaries.models.fit import inside_boxes
from dalenius.auditing.policy import Part
from dalenius.auditing.suppressed import evaluate_criteria, of_suppressed
from dalenius.criteria import EpsilonPrivacy, Predicate, Realistic
from dalenius.criteria.parsing import epsilon_privacy
from dalenius.engines import Engine
from dalenius.errors import DaleniusError, InputError, listing
from dalenius.releases import GroupCells, GroupedRelease, Release
from dalenius.releases.prior import Priors
from dalenius.releases.reading import COUNT, Reading
from dalenius.schema import Schema

__all__ = ["Disclosure", "composition", "described", "disclose", "policy_criteria", "policy_epsilons", "usual"]


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The smallest ε for which a sensitive column is private against an adversary, and the class that is worst."""

    adversary: str
    known: int
    at_most: bool
    predicates: tuple[str, ...]  # none: every single value
    sensitive: str
    epsilon: float
    worst_class: int
    class_size: int


def usual(release: GroupedRelease, known: int = 0) -> list[Realistic]:
    """Return the adversaries of an audit that names none. They have seen as many people elsewhere as the release has."""
    leaves = max(len(column.leaves) for column in release.schema.sensitive)
    sigma = max(release.people, leaves)
    return [
        Realistic("I", shape="table", sigma=sigma, known=known, text=f"I:table:{sigma}"),
        Realistic("II", sigma=sigma, known=known, text=f"II:{sigma}"),
        Realistic("III", shape="uniform", known=known, text="III:uniform"),
        Realistic("III", shape="table", known=known, text="III:table"),
    ]


def disclose(
    release: GroupedRelease, adversaries: Sequence[Realistic], predicates: Sequence[Predicate] = ()
) -> tuple[Disclosure, ...]:
    """Return ε of every sensitive column against every adversary."""
    disclosures = []
    sizes = release.sizes
    for column in release.schema.sensitive:
        grouping = release.grouping(column.name)
        for adversary in adversaries:
            level = EpsilonPrivacy(adversary, predicates=tuple(predicates)).level(grouping)
            disclosures.append(
                Disclosure(
                    adversary.text,
                    adversary.known,
                    adversary.at_most,
                    tuple(str(predicate) for predicate in predicates),
                    column.name,
                    level.value,
                    level.worst,
                    int(sizes[level.worst]),
                )
            )
    return tuple(disclosures)


def described(adversaries: Sequence[Realistic], sets: Sequence[Predicate]) -> dict[str, Any]:
    """Return what ε was measured against, as JSON has it."""
    return {
        "adversaries": {
            adversary.text: {"known": adversary.known, "at_most": adversary.at_most} for adversary in adversaries
        },
        "predicates": [str(predicate) for predicate in sets],
    }


def policy_criteria(schema: Schema, priors: Priors) -> list[EpsilonPrivacy]:
    """Return the thresholds that `[policy]` sets under epsilon_privacy. Their files are relative to the schema's folder."""
    texts = schema.policy.get("epsilon_privacy")
    assert texts is None or isinstance(texts, list | tuple)
    with _in_policy(schema):
        return [epsilon_privacy(str(text), priors) for text in texts or ()]


def policy_epsilons(release: GroupedRelease, criteria: Sequence[EpsilonPrivacy]) -> tuple[Part, ...]:
    """Return each threshold with its limit and the worst ε of all classes, suppressed rows and sensitive columns."""
    with _in_policy(release.schema):
        return tuple(_part(release, criterion) for criterion in criteria)


def _part(release: GroupedRelease, criterion: EpsilonPrivacy) -> Part:
    outcomes = evaluate_criteria(release, [criterion])
    level = max(outcome.level for outcome in outcomes)
    theirs = max((each.suppressed_level for each in outcomes if each.suppressed_level is not None), default=level)
    shown = f"≤ {criterion.epsilon:g} against {criterion.adversary.text}"
    return Part(shown, criterion.epsilon, max(level, theirs), of=of_suppressed(release) if theirs > level else "")


@contextlib.contextmanager
def _in_policy(schema: Schema) -> Iterator[None]:
    """Add the place of the policy to errors about it."""
    try:
        yield
    except DaleniusError as error:
        raise InputError(f"{schema.source}, [policy] epsilon_privacy: {error}") from None


def composition(release: Release, population: Path | None, engine: Engine) -> GroupCells:
    """Return how many people with which quasi-identifiers are in each class.

    An anatomized release says so itself. For a generalized one, `population` is a file with the quasi-identifiers of exactly its
    people, for example from a register.
    """
    links, boxes = release.links(), release.rows()
    if links is not None:
        return links.quasi
    if boxes is None:
        raise InputError(f"A release of kind {release.kind!r} does not say which people are in a class.")
    if population is None:
        raise InputError(
            "A generalized release does not contain the quasi-identifiers of its people. Pass --population FILE."
        )
    rows = engine.open(population)
    names = [column.name for column in boxes.schema.quasi]
    absent = [name for name in names if name not in rows.columns]
    if absent:
        raise InputError(f"{rows.name}: the population lacks the quasi-identifiers {listing(absent)}.")
    declared = {column.name for column in boxes.schema.columns}
    weighted = COUNT in rows.columns and COUNT not in declared
    reading = Reading.counting(rows, [*names, *([COUNT] if weighted else [])], weighted=weighted)
    codes = np.column_stack([reading.leaf_codes(column, boxes.schema) for column in boxes.schema.quasi])
    group = np.full(len(codes), -1, dtype=np.int32)
    times = np.zeros(len(codes), dtype=np.int64)
    for some, start, inside in inside_boxes(boxes, codes):
        is_inside = np.diff(start) > 0
        group[some[is_inside]] = inside[start[:-1][is_inside]]
        times[some] += np.diff(start)
    if (times > 1).any():
        raise InputError(f"{rows.name}: somebody fits several classes, so their class is unknown.")
    people = GroupCells.gather(group, codes, reading.counts, [len(c.leaves) for c in boxes.schema.quasi])
    kept = people.group >= 0
    sizes = np.bincount(people.group[kept], weights=people.counts[kept], minlength=boxes.groups)
    if not np.array_equal(sizes, boxes.sizes):
        q = int(np.flatnonzero(sizes != boxes.sizes)[0])
        raise InputError(
            f"{rows.name}: {int(sizes[q]):,} people fit class {q}, which has {int(boxes.sizes[q]):,}. The population must "
            "be the people of the release."
        )
    return GroupCells(people.group[kept], people.codes[kept], people.counts[kept])
