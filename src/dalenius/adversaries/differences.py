"""Subtracting one release from another: what happens to people who are in only one of them.

Two releases cover the same people except for those who joined and those who left. An attacker who knows who joined counts each
value where that person may be: what the second release has more than the first belongs to those who joined, what it has less to
those who left.

Groups are compared in parts. A part is a set of groups of both releases whose regions overlap each other and no others, so that
everybody who stayed is in the same part of both. With n₁(s) and n₂(s) people of value s in a part, at least Σ max(0, n₂(s) − n₁(s))
joined there and Σ max(0, n₁(s) − n₂(s)) left. If no more did, these are exactly their values: where only one value is left, it
is theirs. Parts where one release alone holds one value are not counted: they give it away without the other. A part with one
group on each side has been tested completely; in a larger part only the sums were.

Everybody who stayed is taken to have kept their quasi-identifiers and value.

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

MAX_PAIRS = 4_000_000_000  # of regions that are compared with each other: some seconds
MAX_LABEL_PAIRS = 500_000_000  # of labels of one column, a byte each


@dataclass(frozen=True, slots=True)
class Differences:
    """What subtracting an earlier release from a later one tells, in numbers of people.

    `joined` and `left` are the fewest that fit the counts. `joined_exposed` and `left_exposed` are those with one possible value
    if no more joined or left than that. `compared` counts the parts, `complete` says whether each has one group on each side. If
    nothing was tested, `reason` says why, and only the totals tell who joined and left.
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


NONE = -1  # no value


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A release with the sensitive column that is counted: `codes` says which common value each leaf of it is."""

    release: GroupedRelease
    codes: Longs
    column: str

    def counts(self, values: int) -> Longs:
        """People by group and common value; the last row is of the suppressed rows."""
        release = self.release
        j = [sensitive.name for sensitive in release.schema.sensitive].index(self.column)
        cells = release.sensitive
        found = np.zeros((release.groups + 1, values), dtype=np.int64)
        group = np.where(cells.group < 0, release.groups, cells.group)
        np.add.at(found, (group, self.codes[cells.codes[:, j]]), cells.counts)
        return found


def earlier_together(earlier: Sequence[Counted], values: int) -> list[list[int]]:
    """Which earlier releases are subtracted from a later one: each alone and, if no two of them overlap, all of them."""
    alone = [[i] for i in range(len(earlier))]
    for j in range(len(earlier)):
        for i in range(j):
            found = subtract([earlier[i]], earlier[j], values)
            if found.reason is not None or found.compared < earlier[i].release.groups + earlier[j].release.groups:
                return alone
    return [*alone, list(range(len(earlier)))] if len(earlier) > 1 else alone


def subtract(earlier: Sequence[Counted], later: Counted, values: int, missing: int = NONE) -> Differences:
    """Subtract earlier releases, no two of which have people in common, from a later one, part by part.

    Nobody is exposed as having the value `missing`.
    """
    before = [one.counts(values) for one in earlier]
    after = later.counts(values)
    suppressed = sum(one.release.suppressed for one in (*earlier, later))
    # The last part is that of the suppressed rows, who are the last row of each release's counts.
    totals = after.sum(axis=0) - sum(counts.sum(axis=0) for counts in before)
    part = _parts([one.release for one in earlier], later.release)
    if isinstance(part, str):
        return Differences(*_moved(totals), 0, 0, 0, False, part)
    parts = int(part.max()) + 1
    ends = np.cumsum([one.release.groups for one in (*earlier, later)])
    places = np.split(part, ends[:-1])
    held = np.zeros((2, parts + 1, values), dtype=np.int64)
    for mine, own, counts in zip([0] * len(before) + [1], places, [*before, after], strict=True):
        np.add.at(held[mine], np.append(own, parts), counts)
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
    """People of one value that a part has more of, where it holds several: it took the other release to tell."""
    told = ((more > 0).sum(axis=1) == 1) & ((held > 0).sum(axis=1) > 1)
    if missing != NONE:
        told &= more[:, missing] <= 0
    return int(np.maximum(more, 0)[told].sum())


def _moved(change: Longs) -> tuple[int, int]:
    """The fewest who joined and who left."""
    return int(np.maximum(change, 0).sum()), int(np.maximum(-change, 0).sum())


def _parts(earlier: Sequence[GroupedRelease], later: GroupedRelease) -> Ints | str:
    """The part of each group of the earlier releases and then of the later one, or why they cannot be compared."""
    theirs = later.regions()
    if theirs is None:
        return f"the later release publishes {later.kind}, which do not say where a group ends"
    before = np.concatenate(([0], np.cumsum([release.groups for release in earlier])))
    parent = np.arange(before[-1] + later.groups)
    for release, first in zip(earlier, before[:-1].tolist(), strict=True):
        mine = release.regions()
        if mine is None:
            return f"the earlier release publishes {release.kind}, which do not say where a group ends"
        columns = _shared(release.schema, later.schema)
        if isinstance(columns, str):
            return columns
        labels = [(len(mine.sets[a]), len(theirs.sets[b])) for a, b, _ in columns]
        if len(mine.owner) * len(theirs.owner) > MAX_PAIRS or max(x * y for x, y in labels) > MAX_LABEL_PAIRS:
            return "there are too many groups to compare each with each"
        meets = [
            _meeting(mine.sets[a], len(release.schema.quasi[a].leaves), theirs.sets[b], len(later.schema.quasi[b].leaves), codes)
            for a, b, codes in columns
        ]  # fmt: skip
        join_overlapping(
            np.ascontiguousarray(mine.codes[:, [a for a, _, _ in columns]]),
            mine.owner + first,
            np.ascontiguousarray(theirs.codes[:, [b for _, b, _ in columns]]),
            theirs.owner + before[-1],
            np.concatenate([found.ravel() for found in meets]),
            np.concatenate(([0], np.cumsum([found.size for found in meets])[:-1])).astype(np.int64),
            np.array([width for _, width in labels], dtype=np.int64),
            parent,
        )
    while not np.array_equal(parent[parent], parent):
        parent = parent[parent]
    return np.unique(parent, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _shared(mine: Schema, theirs: Schema) -> list[tuple[int, int, Ints]] | str:
    """Each quasi-identifier's number in both releases, and which leaf of the later one each leaf of the earlier one is."""
    names = [column.name for column in theirs.quasi]
    if sorted(column.name for column in mine.quasi) != sorted(names):
        return "the releases have different quasi-identifiers"
    found = []
    for a, column in enumerate(mine.quasi):
        b = names.index(column.name)
        codes = _translation(column, theirs.quasi[b], theirs)
        if codes is None:
            return f"the releases code column {column.name!r} in different ways"
        found.append((a, b, codes))
    return found


def _translation(mine: Column, theirs: Column, schema: Schema) -> Ints | None:
    """Which leaf of the later release's column each leaf of the earlier one's is, −1 where it is none; None if none is."""
    if mine.leaves == theirs.leaves:
        return np.arange(len(theirs.leaves), dtype=np.int32)
    if mine.type != theirs.type:
        return None
    place = {leaf: i for i, leaf in enumerate(theirs.leaves)}
    texts = [leaf if leaf == MISSING else theirs.canonical(leaf, schema.missing) for leaf in mine.leaves]
    found = np.array([place.get(text, -1) for text in texts], dtype=np.int32)
    return found if (found >= 0).any() else None


def _meeting(one: list[Ints], leaves: int, other: list[Ints], other_leaves: int, translation: Ints) -> Bools:
    """Which labels of the two releases share a leaf: [label, label].

    A label that covers its whole column covers every leaf that the other release has, too: a missing value, say, that no label
    of its own release names.
    """
    by_leaf: dict[int, list[int]] = {}
    for label, members in enumerate(other):
        for leaf in members.tolist():
            by_leaf.setdefault(leaf, []).append(label)
    found = np.zeros((len(one), len(other)), dtype=bool)
    for label, members in enumerate(one):
        for leaf in translation[members].tolist():
            found[label, by_leaf.get(leaf, [])] = True
    found[[len(members) == leaves for members in one], :] = True
    found[:, [len(members) == other_leaves for members in other]] = True
    return found
