"""Sets of leaves that parts of a table are published as, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalenius.arrays import Bools, Ints, Longs
from dalenius.hierarchy import MISSING
from dalenius.publishers.base import check_labels
from dalenius.releases.label import LONG, Resolver, Unresolved, label_text, missing_leaf, named_leaves, spelt_out
from dalenius.schema import Column, Schema
from dalenius.table import Table

__all__ = ["distinct_sets", "written_sets"]


def written_sets(
    table: Table, sets: Sequence[Sequence[Ints]], index: Ints, sizes: Longs, *, nodes: bool = False
) -> dict[str, list[str]]:
    """Return for each column the text of each part, which has `sets[a][index[part, a]]` in column a, and `sizes` people.

    With `nodes` a category's set is called as the node of its hierarchy that it is. A complete set that would be long in
    every row is written as a mark, which means the same; spelt out only where a reader needs it.
    """
    schema = table.schema
    texts = [
        _texts(column, own, Resolver(column, schema), nodes=nodes, marked=bool(schema.suppressed))
        for column, own in zip(schema.quasi, sets, strict=True)
    ]
    long = np.column_stack([np.array([t is None for t in own])[index[:, a]] for a, own in enumerate(texts)])
    needed = [_needed(table.declared[column.name], column, texts[a], schema) for a, column in enumerate(schema.quasi)]
    lengths = [sum(map(len, column.leaves)) for column in schema.quasi]
    spelt = spelt_out(long, long, np.array(lengths), sizes, needed=np.array(needed))
    labels: dict[str, list[str]] = {}
    for a, column in enumerate(schema.quasi):
        shown = [schema.suppressed[0] if text is None else text for text in texts[a]]
        own = [shown[i] for i in index[:, a].tolist()]
        known = list(zip(shown, sets[a], strict=True))
        if spelt[:, a].any():
            everything = np.arange(len(column.leaves), dtype=np.int32)
            full = label_text(column, everything, Resolver(column, schema))
            known.append((full, everything))
            for part in np.flatnonzero(spelt[:, a]).tolist():
                own[part] = full
        check_labels(table.declared[column.name], column.leaves, known, schema)
        labels[column.name] = own
    return labels


def _texts(column: Column, sets: Sequence[Ints], resolver: Resolver, *, nodes: bool, marked: bool) -> list[str | None]:
    """Return the text of each set; none for a complete one that is long, which is not even made."""
    names = _node_labels(column, resolver) if nodes and column.type == "category" else {}
    run = column.type == "integer" and MISSING not in column.leaves
    long = marked and not run and sum(len(leaf) + 2 for leaf in column.leaves) > LONG
    return [
        names.get(members.tobytes())
        or (None if long and len(members) == len(column.leaves) else label_text(column, members, resolver))
        for members in sets
    ]


def _needed(declared: Column, column: Column, texts: Sequence[str | None], schema: Schema) -> bool:
    """Return whether a reader would miss a leaf if no complete set were spelt out: one not declared, and in no other label."""
    if None not in texts:
        return False
    source = declared.domain or declared.hierarchy
    known = set(source.leaves) if source is not None else set()
    for text in texts:
        if text is None:
            continue
        try:
            known |= missing_leaf(text, schema) if declared.fixed else named_leaves(declared, [text], schema)
        except Unresolved:
            return True
    return not known.issuperset(column.leaves)


def distinct_sets(
    columns: Sequence[Column], part: Ints, leaves: Ints, parts: int, *, covering: bool = False
) -> tuple[list[list[Ints]], Ints]:
    """Return for each column the distinct sets of leaves that are published, and which of them each part has.

    Row i of `leaves` is in `part[i]`. Integers are published from the smallest to the largest, categories as those that
    occur; with `covering`, those with a hierarchy as the lowest node that covers them.
    """
    order = np.argsort(part, kind="stable")
    starts = np.searchsorted(part[order], np.arange(parts))
    index = np.empty((parts, len(columns)), dtype=np.int32)
    sets: list[list[Ints]] = []
    for a, column in enumerate(columns):
        own = leaves[order, a]
        find = _runs if column.type == "integer" else _held
        column_sets, index[:, a] = find(column, own, starts, covering)
        sets.append(column_sets)
    return sets, index


def _runs(column: Column, leaves: Ints, starts: Longs, _covering: bool) -> tuple[list[Ints], Ints]:
    """Return all numbers from the smallest to the largest, and the missing value where it occurs."""
    assert column.domain is not None
    by_value = np.argsort(column.domain.values(), kind="stable").astype(np.int32)  # a missing one last
    place = np.empty(len(by_value), dtype=np.int32)
    place[by_value] = np.arange(len(place), dtype=np.int32)
    missing = column.leaves.index(MISSING) if MISSING in column.leaves else -1
    known = leaves != missing
    low = np.minimum.reduceat(np.where(known, place[leaves], 2**31 - 1), starts)
    high = np.maximum.reduceat(np.where(known, place[leaves], -1), starts)
    keys = np.column_stack([low, high, np.logical_or.reduceat(~known, starts)]).astype(np.int64)
    distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
    sets = []
    for least, most, gap in distinct.tolist():
        run = by_value[least : most + 1] if most >= 0 else by_value[:0]
        sets.append(np.sort(np.append(run, missing) if gap else run).astype(np.int32))
    return sets, inverse.ravel().astype(np.int32)


def _held(column: Column, leaves: Ints, starts: Longs, covering: bool) -> tuple[list[Ints], Ints]:
    """Return the categories that occur, or the leaves of the lowest node that covers them."""
    parts = len(starts)
    part = np.repeat(np.arange(parts), np.diff(np.append(starts, len(leaves))))
    index = np.empty(parts, dtype=np.int32)
    known: dict[bytes, int] = {}
    sets: list[Ints] = []
    step = max(1, 50_000_000 // len(column.leaves))
    for first in range(0, parts, step):
        last = min(first + step, parts)
        low, high = np.searchsorted(part, [first, last])
        held = np.zeros((last - first, len(column.leaves)), dtype=bool)
        if covering and column.hierarchy is not None:
            _hold_lowest_nodes(held, leaves[low:high], starts[first:last] - low, column.hierarchy.maps)
        else:
            held[part[low:high] - first, leaves[low:high]] = True
        packed = np.packbits(held, axis=1)
        for i in range(last - first):
            number = known.setdefault(packed[i].tobytes(), len(known))
            if number == len(sets):
                sets.append(np.flatnonzero(held[i]).astype(np.int32))
            index[first + i] = number
    return sets, index


def _node_labels(column: Column, resolver: Resolver) -> dict[bytes, str]:
    """Return the sets of a hierarchy's nodes of several leaves, and the label of each that reads as its set and is no mark."""
    labels: dict[bytes, str] = {}
    for label, members in (column.hierarchy.members() if column.hierarchy is not None else {}).items():
        if len(members) > 1:
            read = resolver.resolve(label)
            if not read.is_mark and np.array_equal(read.members, members):
                labels.setdefault(np.asarray(members, dtype=np.int32).tobytes(), label)
    return labels


def _hold_lowest_nodes(held: Bools, leaves: Ints, starts: Longs, maps: Sequence[Ints]) -> None:
    """Hold all leaves of the lowest node that covers those of each part; all leaves where no node does."""
    left = np.arange(len(held))
    for labels in maps:
        nodes = labels[leaves]
        low, high = np.minimum.reduceat(nodes, starts)[left], np.maximum.reduceat(nodes, starts)[left]
        is_covered = low == high
        for node in np.unique(low[is_covered]).tolist():
            held[np.ix_(left[is_covered & (low == node)], labels == node)] = True
        left = left[~is_covered]
    held[left] = True
