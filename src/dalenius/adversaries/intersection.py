"""The intersection attack on several releases (Ganta, Kasiviswanathan and Smith 2008; methods C).

For each release the attack collects the values that occur where the target may be. It keeps the values that occur in every release.
LeafSets are bits, 64 values per word, whatever the number of people.

The attack of the paper assumes that a target who fits a group was not suppressed. If that leaves no value, the assumption was
wrong, and the values of suppressed rows are possible, too. With `sure` there is no such assumption: they are possible for
everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.adversaries.base import Targets
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.location import places
from dalenius.arrays import Bools, Longs, Words
from dalenius.kernels.intersect import gather, sizes, value_bits
from dalenius.releases import GroupedRelease

__all__ = ["Intersection", "contains", "intersect", "members"]


@dataclass(frozen=True, slots=True, eq=False)
class Intersection:
    """`sets[j]` are the possible values of each target in release j, none where it fits nowhere; `left` those in all releases.

    A release in which a target fits nowhere says nothing about it, and does not take part in its intersection.
    """

    values: tuple[str, ...]
    sets: tuple[Words, ...]
    located: Bools  # [release, target]
    left: Words

    @property
    def prior(self) -> Longs:
        """Return EA: how many values each release leaves each target [release, target], 0 where it fits nowhere."""
        return np.array([sizes(bits) for bits in self.sets])

    @property
    def posterior(self) -> Longs:
        """Return ÊA: how many values all releases leave; 0 where they contradict each other, or the target fits nowhere."""
        return sizes(self.left)

    def holds(self, value: Longs) -> Bools:
        """Return whether a value of each target is among those left; a value of −1 is not."""
        return contains(self.left, value)


def members(bits: Words, values: int) -> Bools:
    """Return which values each row of bits has: [row, value]."""
    return np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, :values].astype(bool)


def contains(bits: Words, value: Longs) -> Bools:
    """Return whether bit `value[i]` of row i is set."""
    some = np.maximum(value, 0)
    word = bits[np.arange(len(bits)), some >> 6]
    result: Bools = ((word >> (some & 63).astype(np.uint64)) & np.uint64(1)).astype(bool) & (value >= 0)
    return result


def intersect(
    releases: Sequence[GroupedRelease],
    targets: Sequence[Targets],
    values: Sequence[str],
    codes: Sequence[Longs],
    columns: Sequence[str],
    *,
    sure: bool = False,
) -> Intersection:
    """Attack targets, who are coded in each release's own schema, in the same order.

    `values` are the sensitive values of all releases; `codes[j]` says which of them each leaf of release j's column is.
    """
    words = max(1, -(-len(values) // 64))
    sets, located = [], []
    for release, people, code, column in zip(releases, targets, codes, columns, strict=True):
        known, number = fit.distinct_targets(people)
        grouping = release.grouping(column)
        bits = np.zeros((release.groups + 1, words), dtype=np.uint64)
        owner = np.repeat(np.arange(release.groups), np.diff(grouping.start))
        value_bits(owner, code[grouping.values], bits)
        if grouping.suppressed:
            cells = release.sensitive
            j = [c.name for c in release.schema.sensitive].index(column)
            hidden = cells.codes[cells.group < 0, j]
            value_bits(np.full(len(hidden), release.groups), code[hidden], bits)
        bits_of = np.zeros((len(known), words), dtype=np.uint64)
        there = np.zeros(len(known), dtype=bool)
        for some, start, group in places(release, known, sure=sure):
            gather(some, start, group, bits, bits_of)
            there[some[np.diff(start) > 0]] = True
        sets.append(bits_of[number])
        located.append(there[number])
    there = np.array(located)
    left = np.zeros((len(targets[0]), words), dtype=np.uint64)
    left[there.any(axis=0)] = ~np.uint64(0)
    for bits_of, here in zip(sets, there, strict=True):
        left[here] &= bits_of[here]
    wrong = np.flatnonzero(there.any(axis=0) & ~left.any(axis=1))
    if not sure and len(wrong) and any(release.suppressed for release in releases):
        mistaken = [Targets(people.schema, people.codes[wrong]) for people in targets]
        left[wrong] = intersect(releases, mistaken, values, codes, columns, sure=True).left
    return Intersection(tuple(values), tuple(sets), there, left)
