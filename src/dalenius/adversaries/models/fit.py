"""How well targets fit the groups of a release. Adversaries that do not learn from the release use this.

The fit of a target to a group is the share of a row's possibilities that equal the target. For a row published as a box that
contains the target it is 1/|box|; for a group published as its exact tuples it is multiplicity/n(q). If the adversary does not know
an attribute, every leaf counts and the factor is 1. A suppressed row could be anybody: its box is everything.

Most targets fit few groups, so fits are sparse. Memory grows with the pairs that fit, not with all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from dalenius.adversaries.base import UNKNOWN, Targets
from dalenius.adversaries.evidence import required
from dalenius.arrays import Floats, Ints, Longs, Words
from dalenius.coding import distinct_rows
from dalenius.kernels.boxes import boxes_of, set_bits, summary_of
from dalenius.releases import Anatomized, Generalized, Grouping, Release

__all__ = ["MAX_PAIRS", "counts_of", "distinct_targets", "equal_rows", "fit_to_suppressed", "fits", "inside_boxes"]

MAX_PAIRS = 8_000_000  # of a target and a group, in one step
MAX_BIT_BYTES = 2**27  # of bit sets in memory at a time


def distinct_targets(targets: Targets, groups: int | None = None) -> tuple[Ints, Ints]:
    """Return the distinct targets, and which of them every target is. Many people share their quasi-identifiers.

    If the number of `groups` of a release is passed, the target's group is the first code, −1 where it is not known.
    """
    codes, sizes = targets.codes, [len(c.leaves) + 1 for c in targets.schema.quasi]
    if groups is not None:
        group = np.full(len(targets), UNKNOWN, dtype=np.int32) if targets.group is None else targets.group
        codes, sizes = np.column_stack([group, codes]), [groups + 1, *sizes]
    distinct, number = distinct_rows((codes + 1).astype(np.int32), sizes)
    return distinct - 1, number


def counts_of(grouping: Grouping) -> csr_array:
    """Return n(q,s) as a sparse matrix."""
    shape = (grouping.groups, len(grouping.table))
    return csr_array((grouping.counts.astype(np.float64), grouping.values, grouping.start), shape=shape)


def fit_to_suppressed(release: Release, known: Ints) -> Floats:
    """Return the fit of each target to a suppressed row."""
    share = np.array([1.0 / max(len(column.leaves), 1) for column in release.schema.quasi])
    result: Floats = np.where(known == UNKNOWN, 1.0, share).prod(axis=1)
    return result


def fits(release: Release, known: Ints) -> Iterator[tuple[Longs, csr_array]]:
    """Yield some targets at a time, and their fit to each group.

    A target may come several times, with other groups each time: add up the fits. For a release of tuples, the first code may be
    the target's group.
    """
    links = release.links()
    if links is not None:
        yield from _tuples(links, known)
        return
    rows = required(release.rows(), release)
    width = [1.0 / np.maximum(np.diff(rows.leaf_sets(a).first), 1) for a in range(known.shape[1])]
    for part, start, group in inside_boxes(rows, known):
        target = np.repeat(part, np.diff(start))
        weight = np.ones(len(group))
        for a in range(known.shape[1]):
            factor = width[a][rows.codes[group, a]]
            weight *= np.where(known[target, a] == UNKNOWN, 1.0, factor) if (known[:, a] < 0).any() else factor
        yield part, csr_array((weight, group, start), shape=(len(part), rows.groups))


# Boxes ----------------------------------------------------------------------------------------------------------------


def inside_boxes(release: Generalized, known: Ints) -> Iterator[tuple[Longs, Longs, Ints]]:
    """Yield some targets at a time, and the groups whose boxes contain each of them."""
    attributes = known.shape[1]
    rows = np.full(known.shape, UNKNOWN, dtype=np.int64)
    row_of = []  # the row of bits of each leaf that a target has
    number = 0
    for a, column in enumerate(release.schema.quasi):
        is_known = known[:, a] != UNKNOWN
        used = np.unique(known[is_known, a])
        row_of.append(np.full(len(column.leaves), -1, dtype=np.int64))
        row_of[a][used] = np.arange(number, number + len(used))
        rows[is_known, a] = row_of[a][known[is_known, a]]
        number += len(used)
    sets = [release.leaf_sets(a) for a in range(attributes)]
    words = max(1, min(MAX_BIT_BYTES // (8 * max(number, 1)), (release.groups + 63) // 64))
    for low in range(0, release.groups, 64 * words):
        codes = release.codes[low : low + 64 * words]
        bits = np.zeros((number, words), dtype=np.uint64)
        for a, family in enumerate(sets):
            order = np.argsort(codes[:, a], kind="stable")
            start = np.searchsorted(codes[order, a], np.arange(len(family) + 1))
            set_bits(bits, row_of[a], order, start, family.first, family.members)
        for part, start, group in _find_boxes(rows, bits, len(codes)):
            yield part, start, group + low


def _find_boxes(rows: Longs, bits: Words, boxes: int) -> Iterator[tuple[Longs, Longs, Ints]]:
    summary = summary_of(bits)
    buffer = np.empty(max(MAX_PAIRS, boxes), dtype=np.int32)
    done = 0
    while done < len(rows):
        start = np.empty(len(rows) - done + 1, dtype=np.int64)
        more = boxes_of(rows[done:], bits, summary, boxes, start, buffer)
        yield np.arange(done, done + more), start[: more + 1], buffer[: start[more]].copy()
        done += more


# Tuples ---------------------------------------------------------------------------------------------------------------


def _tuples(release: Anatomized, known: Ints) -> Iterator[tuple[Longs, csr_array]]:
    cells = release.quasi
    share = cells.counts / release.sizes[cells.group]
    codes, sizes = cells.codes, [len(column.leaves) for column in release.schema.quasi]
    if known.shape[1] > len(sizes):
        codes, sizes = np.column_stack([cells.group, codes]), [release.groups, *sizes]
    for some, start, taken in equal_rows(known, codes, sizes):
        shape = (len(some), release.groups)
        yield some, csr_array((share[taken], cells.group[taken], start), shape=shape)


def equal_rows(known: Ints, codes: Ints, sizes: list[int]) -> Iterator[tuple[Longs, Longs, Longs]]:
    """Yield some targets at a time, and the rows of codes that equal each of them in the attributes that are known.

    Targets with the same known attributes are joined with the rows by these attributes.
    """
    pattern, number = distinct_rows((known != UNKNOWN).astype(np.int32), [2] * known.shape[1])
    for i, is_known in enumerate(pattern.astype(bool)):
        some = np.flatnonzero(number == i)
        both = np.concatenate([known[np.ix_(some, is_known)], codes[:, is_known]])
        known_sizes = [size for size, use in zip(sizes, is_known, strict=True) if use]
        key = distinct_rows(both, known_sizes)[1] if known_sizes else np.zeros(len(both), dtype=np.int32)
        row_key = key[len(some) :]
        order = np.argsort(row_key, kind="stable")
        begin, end = (np.searchsorted(row_key[order], key[: len(some)], side=side) for side in ("left", "right"))
        for low, high in _steps(end - begin):
            start = np.concatenate(([0], np.cumsum((end - begin)[low:high])))
            yield (
                some[low:high],
                start,
                order[np.repeat(begin[low:high] - start[:-1], np.diff(start)) + np.arange(start[-1])],
            )


def _steps(pairs: Longs) -> Iterator[tuple[int, int]]:
    """Yield the bounds of steps through the targets, so that no step has too many pairs."""
    total = np.concatenate(([0], np.cumsum(pairs)))
    low = 0
    while low < len(pairs):
        high = max(low + 1, int(np.searchsorted(total, total[low] + MAX_PAIRS, side="right")) - 1)
        yield low, high
        low = high
