"""Subtracting one release from another: what happens to people who are in only one of them.

Two releases cover the same people except for those who joined and those who left. An attacker who knows who joined counts each
value where that person may be. The surplus of the second release belongs to those who joined, the deficit to those who left.

Groups are compared in parts. A part is a set of groups of both releases whose regions overlap each other and no others, so that
everybody who stayed is in the same part of both. With n₁(s) and n₂(s) people of value s in a part, at least Σ max(0, n₂(s) − n₁(s))
joined there and Σ max(0, n₁(s) − n₂(s)) left. If no more did, these are exactly their values: where only one value is left, it
is theirs. Parts where one release alone has only one value are not counted: that release reveals it without the other. A part with
one group on each side is tested completely; in a larger part only the sums are tested.

The attack assumes that everybody who stayed kept their quasi-identifiers and value.

Suppressed rows are a part of their own, as the attack assumes that nobody was suppressed in one release and shown in the other.
The numbers of people who joined and left do not assume that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dalenius.arrays import Bools, Ints, Longs
from dalenius.hierarchy import MISSING
from dalenius.kernels.overlap import join_overlapping
from dalenius.releases import GroupedRelease
from dalenius.schema import Column, Schema

__all__ = ["Counted", "Differences", "earlier_together", "subtract"]

MAX_PAIRS = 4_000_000_000  # of regions that are compared with each other: some seconds
MAX_LABEL_PAIRS = 500_000_000  # of labels of one column, a byte each


@dataclass(frozen=True, slots=True)
class Differences:
    """What subtracting an earlier release from a later one reveals, in numbers of people.

    `joined` and `left` are the fewest that fit the counts. `joined_exposed` and `left_exposed` are those with one possible value
    if no more joined or left than that. `compared` counts the parts, `complete` says whether each has one group on each side. If
    nothing was tested, `reason` says why, and the numbers who joined and left come from the totals.
    """

    joined: int
    left: int
    joined_exposed: int
    left_exposed: int
    compared: int
    complete: bool
    reason: str | None = None

    @property
    def exposed(self) -> int:
        return self.joined_exposed + self.left_exposed

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


NO_VALUE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A release with the sensitive column that is counted: `codes` says which common value each leaf of it is."""

    release: GroupedRelease
    codes: Longs
    column: str

    def counts(self, values: int) -> Longs:
        """Return people by group and common value; the last row counts the suppressed rows."""
        release = self.release
        j = [sensitive.name for sensitive in release.schema.sensitive].index(self.column)
        cells = release.sensitive
        people = np.zeros((release.groups + 1, values), dtype=np.int64)
        group = np.where(cells.group < 0, release.groups, cells.group)
        np.add.at(people, (group, self.codes[cells.codes[:, j]]), cells.counts)
        return people


def earlier_together(earlier: Sequence[Counted], values: int) -> list[list[int]]:
    """Return the sets of earlier releases to subtract from a later one: each alone and, if no two overlap, all together."""
    alone = [[i] for i in range(len(earlier))]
    for j in range(len(earlier)):
        for i in range(j):
            result = subtract([earlier[i]], earlier[j], values)
            if result.reason is not None or result.compared < earlier[i].release.groups + earlier[j].release.groups:
                return alone
    return [*alone, list(range(len(earlier)))] if len(earlier) > 1 else alone


def subtract(earlier: Sequence[Counted], later: Counted, values: int, missing: int = NO_VALUE) -> Differences:
    """Subtract earlier releases, no two of which have people in common, from a later one, part by part.

    Nobody is exposed as having the value `missing`.
    """
    before = [counted.counts(values) for counted in earlier]
    after = later.counts(values)
    suppressed = sum(counted.release.suppressed for counted in (*earlier, later))
    # The last part is that of the suppressed rows, who are the last row of each release's counts.
    totals = after.sum(axis=0) - sum(counts.sum(axis=0) for counts in before)
    part = _parts([counted.release for counted in earlier], later.release)
    if isinstance(part, str):
        return Differences(*_moved(totals), 0, 0, 0, False, part)
    parts = int(part.max()) + 1
    ends = np.cumsum([counted.release.groups for counted in (*earlier, later)])
    places = np.split(part, ends[:-1])
    held = np.zeros((2, parts + 1, values), dtype=np.int64)
    for side, own, counts in zip([0] * len(before) + [1], places, [*before, after], strict=True):
        np.add.at(held[side], np.append(own, parts), counts)
    change = held[1] - held[0]
    joined, left = _moved(totals if suppressed else change)
    groups = len(part)
    return Differences(
        joined,
        left,
        min(joined, _exposed(change, held[1], missing)),
        min(left, _exposed(-change, held[0], missing)),
        parts,
        bool((np.bincount(part[: groups - later.release.groups], minlength=parts) <= 1).all())
        and len(np.unique(places[-1])) == later.release.groups,
    )


def _exposed(more: Longs, held: Longs, missing: int) -> int:
    """Return the people in parts with a surplus of one value only, if the part has several: it takes both releases to see this."""
    is_exposed = ((more > 0).sum(axis=1) == 1) & ((held > 0).sum(axis=1) > 1)
    if missing != NO_VALUE:
        is_exposed &= more[:, missing] <= 0
    return int(np.maximum(more, 0)[is_exposed].sum())


def _moved(change: Longs) -> tuple[int, int]:
    """Return the fewest people who joined and who left."""
    return int(np.maximum(change, 0).sum()), int(np.maximum(-change, 0).sum())


def _parts(earlier: Sequence[GroupedRelease], later: GroupedRelease) -> Ints | str:
    """Return the part of each group, first of the earlier releases, then of the later one; or why they cannot be compared."""
    theirs = later.regions()
    if theirs is None:
        return f"the later release publishes {later.kind}, which do not say where a group ends"
    before = np.concatenate(([0], np.cumsum([release.groups for release in earlier])))
    parent = np.arange(before[-1] + later.groups)
    for release, first in zip(earlier, before[:-1].tolist(), strict=True):
        ours = release.regions()
        if ours is None:
            return f"the earlier release publishes {release.kind}, which do not say where a group ends"
        columns = _shared(release.schema, later.schema)
        if isinstance(columns, str):
            return columns
        labels = [(len(ours.sets[a]), len(theirs.sets[b])) for a, b, _ in columns]
        if len(ours.owner) * len(theirs.owner) > MAX_PAIRS or max(x * y for x, y in labels) > MAX_LABEL_PAIRS:
            return "there are too many groups to compare each with each"
        meets = [
            _meeting(ours.sets[a], len(release.schema.quasi[a].leaves), theirs.sets[b], len(later.schema.quasi[b].leaves), codes)
            for a, b, codes in columns
        ]  # fmt: skip
        join_overlapping(
            np.ascontiguousarray(ours.codes[:, [a for a, _, _ in columns]]),
            ours.owner + first,
            np.ascontiguousarray(theirs.codes[:, [b for _, b, _ in columns]]),
            theirs.owner + before[-1],
            np.concatenate([matrix.ravel() for matrix in meets]),
            np.concatenate(([0], np.cumsum([matrix.size for matrix in meets])[:-1])).astype(np.int64),
            np.array([width for _, width in labels], dtype=np.int64),
            parent,
        )
    while not np.array_equal(parent[parent], parent):
        parent = parent[parent]
    return np.unique(parent, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _shared(earlier: Schema, later: Schema) -> list[tuple[int, int, Ints]] | str:
    """Return each quasi-identifier's number in both releases, and the leaf of the later one for each leaf of the earlier one."""
    names = [column.name for column in later.quasi]
    if sorted(column.name for column in earlier.quasi) != sorted(names):
        return "the releases have different quasi-identifiers"
    columns = []
    for a, column in enumerate(earlier.quasi):
        b = names.index(column.name)
        codes = _translation(column, later.quasi[b], later)
        if codes is None:
            return f"the releases code column {column.name!r} in different ways"
        columns.append((a, b, codes))
    return columns


def _translation(earlier: Column, later: Column, schema: Schema) -> Ints | None:
    """Return the leaf of the later release for each leaf of the earlier one, −1 where there is none; None if there are none."""
    if earlier.leaves == later.leaves:
        return np.arange(len(later.leaves), dtype=np.int32)
    if earlier.type != later.type:
        return None
    place = {leaf: i for i, leaf in enumerate(later.leaves)}
    texts = [leaf if leaf == MISSING else later.canonical(leaf, schema.missing) for leaf in earlier.leaves]
    codes = np.array([place.get(text, -1) for text in texts], dtype=np.int32)
    return codes if (codes >= 0).any() else None


def _meeting(first: list[Ints], leaves: int, second: list[Ints], second_leaves: int, translation: Ints) -> Bools:
    """Return which labels of the two releases share a leaf: [label, label].

    A label that covers its whole column also covers every leaf of the other release: for example a missing value that no label of
    its own release names.
    """
    by_leaf: dict[int, list[int]] = {}
    for label, members in enumerate(second):
        for leaf in members.tolist():
            by_leaf.setdefault(leaf, []).append(label)
    meets = np.zeros((len(first), len(second)), dtype=bool)
    for label, members in enumerate(first):
        for leaf in translation[members].tolist():
            meets[label, by_leaf.get(leaf, [])] = True
    meets[[len(members) == leaves for members in first], :] = True
    meets[:, [len(members) == second_leaves for members in second]] = True
    return meets
