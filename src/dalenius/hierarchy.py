"""Hierarchies: how the values of a column are made coarser, level by level.

Level 0 holds the leaves, every further level merges labels of the one before. A hierarchy comes from an
ARX-style file (one row a leaf, one field a level, no header), from interval widths, from masking characters,
or is suppress-only. Whatever it comes from, it is checked: paths of equal length, levels that nest, and labels
that mean one set of leaves wherever they stand.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dalenius.arrays import Ints
from dalenius.errors import InputError, ParameterError, counted, file_error, nearest
from dalenius.reprs import short_repr

__all__ = [
    "MISSING",
    "TOP",
    "Hierarchy",
    "check_widths",
    "from_paths",
    "intervals",
    "mask",
    "read_hierarchy",
    "suppress",
]

TOP = "*"
MISSING = ""  # the canonical text of a missing value, in every column


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """`maps[level][leaf]` is the index into `labels[level]`; level 0 is the leaves themselves."""

    leaves: tuple[str, ...]
    maps: tuple[Ints, ...]
    labels: tuple[tuple[str, ...], ...]
    source: str

    @property
    def height(self) -> int:
        """The highest level; level numbers go from 0 (leaves) to `height`."""
        return len(self.maps) - 1

    def __repr__(self) -> str:
        levels, leaves = counted(self.height + 1, "level", "levels"), counted(len(self.leaves), "value", "values")
        return short_repr(f"Hierarchy from {self.source}: {levels}, {leaves}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self.labels == other.labels and all(
            np.array_equal(a, b) for a, b in zip(self.maps, other.maps, strict=True)
        )

    def __hash__(self) -> int:
        return hash(self.labels)

    def members(self) -> dict[str, Ints]:
        """Every label above the leaves with the leaf codes it covers."""
        codes: dict[str, Ints] = {}
        for map_, labels in zip(self.maps[1:], self.labels[1:], strict=True):
            order = np.argsort(map_, kind="stable").astype(np.int32)
            bounds = np.searchsorted(map_[order], np.arange(len(labels) + 1))
            for i, label in enumerate(labels):
                codes.setdefault(label, order[bounds[i] : bounds[i + 1]])
        return codes

    def arranged(self, leaves: Sequence[str]) -> Hierarchy:
        """The same hierarchy for these leaves in this order; a missing value joins as a branch of its own."""
        position = {leaf: i for i, leaf in enumerate(self.leaves)}
        paths = []
        for leaf in leaves:
            if leaf in position:
                i = position[leaf]
                paths.append([leaf] + [self.labels[h][self.maps[h][i]] for h in range(1, self.height + 1)])
            elif leaf == MISSING:
                paths.append([leaf] * self.height + [self._top()] if self.height else [leaf])
            else:
                raise InputError(f"{self.source}: there is no path for {leaf!r}.{nearest(leaf, self.leaves)}")
        return from_paths(paths, source=self.source)

    def _top(self) -> str:
        """The single label of the last level; without one a missing value stays apart there, too."""
        return self.labels[-1][0] if len(self.labels[-1]) == 1 else MISSING


def from_paths(paths: Sequence[Sequence[str]], *, source: str, lines: Sequence[int] | None = None) -> Hierarchy:
    """Check the paths (leaf first) and build the hierarchy; `lines` are the file's, for the messages."""

    def place(i: int) -> str:
        return f"{source}, line {lines[i]}" if lines is not None else source

    if not paths:
        raise InputError(f"{source}: the hierarchy is empty; it needs one row for each value.")
    depth = len(paths[0])
    seen: dict[str, int] = {}
    for i, path in enumerate(paths):
        if len(path) != depth:
            raise InputError(
                f"{place(i)}: the path of {path[0]!r} has {len(path)} levels, the first row has {depth}. "
                "Every row needs the same number of fields."
            )
        if path[0] in seen:
            raise InputError(f"{place(i)}: {path[0]!r} stands already in {place(seen[path[0]])}.")
        seen[path[0]] = i
    maps: list[Ints] = []
    labels: list[tuple[str, ...]] = []
    for level in range(depth):
        index: dict[str, int] = {}
        first: list[int] = []
        map_ = np.empty(len(paths), dtype=np.int32)
        for i, path in enumerate(paths):
            label = path[level]
            if label == MISSING and path[0] != MISSING:
                raise InputError(f"{place(i)}: the label of {path[0]!r} at level {level} is empty.")
            code = index.setdefault(label, len(index))
            if code == len(first):
                first.append(i)
            map_[i] = code
            # Levels nest if two leaves that share a label share every label above it.
            if level + 1 < depth and path[level + 1] != paths[first[code]][level + 1]:
                raise InputError(
                    f"{place(i)}: {label!r} (level {level}) goes up to {path[level + 1]!r} here but to "
                    f"{paths[first[code]][level + 1]!r} in {place(first[code])}. "
                    "A label may have only one parent."
                )
        maps.append(map_)
        labels.append(tuple(index))
    hierarchy = Hierarchy(tuple(path[0] for path in paths), tuple(maps), tuple(labels), source)
    _check_unambiguous(hierarchy)
    return hierarchy


def _check_unambiguous(hierarchy: Hierarchy) -> None:
    """A label found on two levels must cover the same leaves on both, else a released cell could not be read."""
    # As levels nest, covering the same leaves is covering equally many, given one leaf in common.
    seen: dict[str, tuple[int, int, int]] = {}
    for level, (map_, labels) in enumerate(zip(hierarchy.maps, hierarchy.labels, strict=True)):
        sizes = np.bincount(map_, minlength=len(labels))
        firsts = np.full(len(labels), len(map_))
        np.minimum.at(firsts, map_, np.arange(len(map_)))
        for label, size, first in zip(labels, sizes.tolist(), firsts.tolist(), strict=True):
            if label in seen and seen[label][1:] != (size, first):
                raise InputError(
                    f"{hierarchy.source}: the label {label!r} covers {counted(seen[label][1], 'value', 'values')} at level "
                    f"{seen[label][0]} and {size} at level {level}. Rename one of them: a released cell "
                    "must have one meaning."
                )
            seen.setdefault(label, (level, size, first))


def read_hierarchy(path: Path, *, leaf: Callable[[str], str] = str) -> Hierarchy:
    """An ARX-style file: `;`, `,` or tab, quoted fields allowed, one row a leaf, no header.

    `leaf` makes a leaf's text canonical; if it cannot read one, its InputError is passed on with the line.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise file_error(error, path, "read the hierarchy") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name}: the hierarchy is not a UTF-8 text file.") from None
    if not text.strip():
        raise InputError(f"{path.name}: the hierarchy is empty; it needs one row for each value.")
    paths, lines = _records(text, path.name)
    for row, line in zip(paths, lines, strict=True):
        try:
            row[0] = leaf(row[0])
        except InputError as error:
            raise InputError(f"{path.name}, line {line}: {error}") from None
    return from_paths(paths, source=path.name, lines=lines)


def _records(text: str, source: str) -> tuple[list[list[str]], list[int]]:
    """The rows and the line on which each starts, cut by the delimiter that cuts the most of them.

    Of several it is the first of `;`, tab and `,`, since labels such as `[20, 24]` hold commas themselves. That every
    row is cut alike is not asked here: a row with a level too few must be reported, not cut in another way.
    """
    best: tuple[int, list[list[str]], list[int], int | None] = (-1, [], [], None)
    for delimiter in ";\t,":
        rows: list[list[str]] = []
        lines: list[int] = []
        broken: int | None = None
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        previous = 0
        try:
            for row in reader:
                start, previous = previous + 1, reader.line_num
                if row:
                    rows.append(row)
                    lines.append(start)
        except csv.Error:
            broken = previous + 1
        cut = sum(len(row) > 1 for row in rows)
        if cut > best[0]:
            best = cut, rows, lines, broken
    _, rows, lines, broken = best
    if broken is not None:
        raise InputError(f"{source}, line {broken}: a quote is not closed, or text follows a closing quote.")
    return rows, lines


def check_widths(widths: Sequence[int], *, source: str) -> None:
    """Whole numbers, each a larger multiple of the one before, so that the intervals nest."""
    if not widths or any(isinstance(w, bool) or not isinstance(w, int) or w < 2 for w in widths):
        raise ParameterError("intervals", source, "a list of whole numbers ≥ 2", list(widths))
    for narrow, wide in itertools.pairwise(widths):
        if wide <= narrow or wide % narrow:
            raise InputError(
                f"{source}: interval width {wide} is not a larger multiple of {narrow}, so the levels would "
                "not nest. Use for example [5, 10, 20, 40]."
            )


def intervals(leaves: Sequence[str], widths: Sequence[int], *, source: str) -> Hierarchy:
    """Integer leaves in `[lo, hi]` of the given widths, aligned at multiples of the width, then `*`."""
    check_widths(widths, source=source)

    def label(leaf: str, width: int) -> str:
        if leaf == MISSING:
            return MISSING
        low = int(leaf) // width * width
        return f"[{low}, {low + width - 1}]"

    return from_paths([[leaf, *(label(leaf, w) for w in widths), TOP] for leaf in leaves], source=source)


def mask(leaves: Sequence[str], side: str, *, source: str) -> Hierarchy:
    """Characters replaced by `*`, one more a level, from the right or the left; the last level is `*`.

    Values of different length keep their length, so `*` always stands for one character until the last level.
    """
    if side not in ("right", "left"):
        raise ParameterError("mask", source, "'right' or 'left'", side)
    longest = max((len(leaf) for leaf in leaves), default=0)

    def label(leaf: str, keep: int) -> str:
        hidden = max(0, len(leaf) - keep)
        return leaf[: len(leaf) - hidden] + TOP * hidden if side == "right" else TOP * hidden + leaf[hidden:]

    keeps = range(longest - 1, 0, -1)
    return from_paths([[leaf, *(label(leaf, keep) for keep in keeps), TOP] for leaf in leaves], source=source)


def suppress(leaves: Sequence[str], *, source: str) -> Hierarchy:
    """The smallest hierarchy: a value is published as it is, or not at all."""
    return from_paths([[leaf, TOP] for leaf in leaves], source=source)
