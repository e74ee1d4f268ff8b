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

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.coding import canonical_texts
from dalenius.hierarchy import MISSING
from dalenius.kernel.overlap import join_overlapping
from dalenius.release import GroupedRelease
from dalenius.schema import Column, Schema

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

MAX_PAIRS = 4_000_000_000  # of regions that are compared with each other: some seconds
MAX_LABEL_PAIRS = 500_000_000  # of labels of one column, a byte each


@dataclass(frozen=True, slots=True)
class Differences:
    """What subtracting an earlier release from a later one tells, in numbers of people.

    `joined` and `left` are the fewest that fit the counts. `joined_exposed` and `left_exposed` are those of whom one value is left
    if no more joined or left. `compared` counts the parts, `complete` says whether each has one group on each side. If nothing was
    tested, `reason` says why, and only the totals speak of who joined and left.
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


def subtract(
    earlier: GroupedRelease,
    later: GroupedRelease,
    values: int,
    codes: tuple[Longs, Longs],
    columns: tuple[str, str],
) -> Differences:
    """Subtract the earlier release from the later one, part by part.

    `codes[j]` says which of so many common values each leaf of release j's sensitive column is.
    """
    people = _counts(earlier, columns[0], codes[0], values), _counts(later, columns[1], codes[1], values)
    totals = people[1].sum(axis=0) - people[0].sum(axis=0)
    part = _parts(earlier, later)
    if isinstance(part, str):
        return Differences(*_moved(totals), 0, 0, 0, False, part)
    parts = int(part.max()) + 1
    before, after = part[: earlier.groups], part[earlier.groups :]
    # The last part is that of the suppressed rows, who are the last row of each release's counts.
    held = np.zeros((2, parts + 1, values), dtype=np.int64)
    for mine, own, counts in zip(held, (before, after), people, strict=True):
        np.add.at(mine, np.append(own, parts), counts)
    change = held[1] - held[0]
    joined, left = _moved(totals if earlier.suppressed or later.suppressed else change)
    return Differences(
        joined,
        left,
        _exposed(change, held[1]),
        _exposed(-change, held[0]),
        parts,
        len(np.unique(before)) == len(before) and len(np.unique(after)) == len(after),
    )


def _exposed(more: Longs, held: Longs) -> int:
    """People of one value that a part has more of, where it holds several: it took the other release to tell."""
    told = ((more > 0).sum(axis=1) == 1) & ((held > 0).sum(axis=1) > 1)
    return int(np.maximum(more, 0)[told].sum())


def _moved(change: Longs) -> tuple[int, int]:
    """The fewest who joined and who left."""
    return int(np.maximum(change, 0).sum()), int(np.maximum(-change, 0).sum())


def _counts(release: GroupedRelease, column: str, code: Longs, values: int) -> Longs:
    """People by group and common value; the last row is of the suppressed rows."""
    j = [sensitive.name for sensitive in release.schema.sensitive].index(column)
    cells = release.sensitive
    found = np.zeros((release.groups + 1, values), dtype=np.int64)
    group = np.where(cells.group < 0, release.groups, cells.group)
    np.add.at(found, (group, code[cells.codes[:, j]]), cells.counts)
    return found


def _parts(earlier: GroupedRelease, later: GroupedRelease) -> Ints | str:
    """The part of each group of the earlier release and then of the later one, or why they cannot be compared."""
    regions = []
    for name, release in (("earlier", earlier), ("later", later)):
        found = release.regions()
        if found is None:
            return f"the {name} release publishes {release.kind}, which do not say where a group ends"
        regions.append(found)
    one, other = regions
    shared = [
        (a, b)
        for a, mine in enumerate(earlier.schema.quasi)
        for b, theirs in enumerate(later.schema.quasi)
        if mine.name == theirs.name
    ]
    if len(shared) < max(len(earlier.schema.quasi), len(later.schema.quasi)):
        return "the releases have different quasi-identifiers"
    labels = [(len(one.sets[a]), len(other.sets[b])) for a, b in shared]
    if len(one.owner) * len(other.owner) > MAX_PAIRS or max(x * y for x, y in labels) > MAX_LABEL_PAIRS:
        return "there are too many groups to compare each with each"
    meets = [_meeting(one.sets[a], other.sets[b], _translation(earlier.schema, a, later.schema, b)) for a, b in shared]
    first = np.concatenate(([0], np.cumsum([found.size for found in meets])[:-1])).astype(np.int64)
    parent = np.arange(earlier.groups + later.groups)
    join_overlapping(
        np.ascontiguousarray(one.codes[:, [a for a, _ in shared]]),
        one.owner,
        np.ascontiguousarray(other.codes[:, [b for _, b in shared]]),
        other.owner + earlier.groups,
        np.concatenate([found.ravel() for found in meets]),
        first,
        np.array([width for _, width in labels], dtype=np.int64),
        parent,
    )
    while not np.array_equal(parent[parent], parent):
        parent = parent[parent]
    return np.unique(parent, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _translation(mine: Schema, a: int, theirs: Schema, b: int) -> Ints:
    """Which leaf of the later release's column each leaf of the earlier one's is, −1 where it is none."""
    column: Column = theirs.quasi[b]
    if mine.quasi[a].leaves == column.leaves:
        return np.arange(len(column.leaves), dtype=np.int32)
    texts = [leaf for leaf in mine.quasi[a].leaves if leaf != MISSING]
    canonical = dict(zip(texts, canonical_texts(column, texts, theirs, where="", locate=lambda *_: ""), strict=True))
    place = {leaf: i for i, leaf in enumerate(column.leaves)}
    return np.array([place.get(canonical.get(leaf, leaf), -1) for leaf in mine.quasi[a].leaves], dtype=np.int32)


def _meeting(one: list[Ints], other: list[Ints], translation: Ints) -> Bools:
    """Which labels of the two releases share a leaf: [label, label]."""
    by_leaf: dict[int, list[int]] = {}
    for label, members in enumerate(other):
        for leaf in members.tolist():
            by_leaf.setdefault(leaf, []).append(label)
    found = np.zeros((len(one), len(other)), dtype=bool)
    for label, members in enumerate(one):
        for leaf in translation[members].tolist():
            found[label, by_leaf.get(leaf, [])] = True
    return found
