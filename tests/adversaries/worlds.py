"""Every world of a tiny release, one by one: the oracle of random worlds. Plain Python, nothing of ours.

A world is a table that could have been published as this release. The adversary takes all worlds for equally likely and
the target for any of the rows, each alike; it knows the target's quasi-identifiers, some of them or all. So the
probability of a value is the expected number of rows with those quasi-identifiers and that value, normalised. Nothing
here uses that rows are independent of each other: that is for the closed form to rely on, and for these worlds to show.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

Leaf = str
Known = tuple[Leaf | None, ...]  # None: the adversary does not know it
World = list[tuple[tuple[Leaf, ...], str]]  # rows of quasi-identifiers and a value
Box = tuple[frozenset[Leaf], ...]


def generalized(rows: Sequence[tuple[Box | None, str]], domains: Sequence[Sequence[Leaf]]) -> Iterator[World]:
    """Each row is any tuple of leaves in its box, whatever the others are; a suppressed row (None) is any at all."""
    everything = tuple(frozenset(domain) for domain in domains)
    choices = [list(itertools.product(*map(sorted, box or everything))) for box, _ in rows]
    for chosen in itertools.product(*choices):
        yield [(leaves, value) for leaves, (_, value) in zip(chosen, rows, strict=True)]


def anatomized(groups: Sequence[tuple[Sequence[tuple[Leaf, ...]], Sequence[str]]]) -> Iterator[World]:
    """Each group's values stand beside its tuples in any order, whatever the other groups do."""
    links = [list(itertools.permutations(values)) for _, values in groups]
    for orders in itertools.product(*links):
        yield [
            (leaves, value)
            for (tuples, _), order in zip(groups, orders, strict=True)
            for leaves, value in zip(tuples, order, strict=True)
        ]


def count_worlds_of_boxes(rows: Sequence[tuple[Box | None, str]], domains: Sequence[Sequence[Leaf]]) -> int:
    """How many worlds there are, to keep them few."""
    worlds = 1
    for box, _ in rows:
        for a, domain in enumerate(domains):
            worlds *= len(domain) if box is None else len(box[a])
    return worlds


def beliefs(
    worlds: Iterator[World], targets: Sequence[Known], values: Sequence[str]
) -> list[tuple[Fraction, ...] | None]:
    """For each target the probability of each value; nothing for a target that fits no row of any world."""
    expected = [[0] * len(values) for _ in targets]
    place = {value: i for i, value in enumerate(values)}
    for world in worlds:
        for leaves, value in world:
            for t, known in enumerate(targets):
                if all(mine is None or mine == leaf for mine, leaf in zip(known, leaves, strict=True)):
                    expected[t][place[value]] += 1
    return [tuple(Fraction(n, sum(row)) for n in row) if sum(row) else None for row in expected]
