"""What a release leaves of each quasi-identifier: how many of its values can still be told apart.

A release of which nothing is left satisfies every criterion, so publishers and reports say what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dalenius.arrays import Floats, Ints, Longs
from dalenius.errors import counted, listing
from dalenius.releases import NoisyCounts, Release
from dalenius.releases.label import Label
from dalenius.schema import Column, Schema

__all__ = [
    "WIDTH",
    "ColumnLeft",
    "Shown",
    "State",
    "columns_left",
    "from_document",
    "labels_left",
    "summary",
    "to_document",
    "warnings",
    "wrapped",
    "wrapped_items",
]

State = Literal["kept", "part", "gone"]
Shown = Literal["labels", "means", "commonest", "sums"]
WIDTH = 80


@dataclass(frozen=True, slots=True)
class ColumnLeft:
    """What is left of one column. Suppressed rows do not count: nothing is left of any column there."""

    column: str
    state: State  # kept: single values; gone: one label for everybody, or only suppressed cells
    values: int  # that the column can have; 0 if nobody says
    told_apart: float | None  # how many of these can be; None: neither values nor labels are published
    overlapping: bool = False  # labels overlap, and `told_apart` is values / (their mean width)
    blank_rows: int = 0  # whose label could be any value
    shown: Shown = "labels"

    def __str__(self) -> str:
        return f"{self.column} ({self.words})"

    @property
    def words(self) -> str:
        """For example `8 of 74 values`."""
        if self.state == "gone":
            return "gone"
        if self.shown == "sums":
            return "n, sum and squares"
        assert self.told_apart is not None
        if self.shown == "means":
            return counted(round(self.told_apart), "mean", "means")
        number = _rounded(self.told_apart) if self.overlapping else f"{round(self.told_apart):,}"
        about, values = "about " if self.overlapping else "", counted(self.values, "value", "values")
        left = "kept" if self.state == "kept" else f"{about}{number} of {values}"
        return f"{left} but for {counted(self.blank_rows, 'row', 'rows')}" if self.blank_rows else left


def columns_left(release: Release) -> tuple[ColumnLeft, ...]:
    """Return what is left of each quasi-identifier of a release."""
    rows, links, centres, counts = release.rows(), release.links(), release.centres(), release.counts()
    if rows is not None:
        return labels_left(rows.schema, rows.labels, rows.codes, rows.sizes)
    if links is not None:
        return tuple(ColumnLeft(c.name, "kept", len(c.leaves), float(len(c.leaves))) for c in links.schema.quasi)
    if centres is not None:
        return tuple(_points_left(column, centres.points[:, a]) for a, column in enumerate(centres.schema.quasi))
    return () if counts is None else _counted_left(counts)


def labels_left(
    schema: Schema,
    labels: Sequence[Sequence[Label]],
    index: Ints,
    sizes: Longs,
) -> tuple[ColumnLeft, ...]:
    """Return the same of groups: group q has `sizes[q]` people and label `labels[a][index[q, a]]` in column a, distinct as sets."""
    left = []
    for a, column in enumerate(schema.quasi):
        people = np.bincount(index[:, a], weights=sizes, minlength=len(labels[a])).astype(np.int64)
        used = [(label, count) for label, count in zip(labels[a], people.tolist(), strict=True) if count]
        left.append(_labels_left(column.name, len(column.leaves), used, schema.suppressed))
    return tuple(left)


def _labels_left(name: str, values: int, used: Sequence[tuple[Label, int]], marks: Sequence[str]) -> ColumnLeft:
    telling = [(label.members, count) for label, count in used if not _is_blank(label, values, marks)]
    blank = sum(count for _, count in used) - sum(count for _, count in telling)
    if not telling or (len(used) == 1 and len(telling[0][0]) > 1):
        return ColumnLeft(name, "gone", values, 1.0, blank_rows=blank)
    widths = np.array([len(members) for members, _ in telling])
    if (widths == 1).all():
        return ColumnLeft(name, "kept", values, float(len(telling)), blank_rows=blank)
    covered = len(np.unique(np.concatenate([members for members, _ in telling])))
    if covered == widths.sum():
        return ColumnLeft(name, "part", values, float(len(telling)), blank_rows=blank)
    people = np.array([count for _, count in telling])
    return ColumnLeft(name, "part", values, values * float(people.sum()) / float(widths @ people), True, blank)


def _is_blank(label: Label, values: int, marks: Sequence[str]) -> bool:
    return label.text in marks or not len(label.members) or len(label.members) == values > 1


def _points_left(column: Column, points: Floats) -> ColumnLeft:
    """Return what centroids leave of each column."""
    distinct = len(np.unique(points))
    shown: Shown = "means" if column.type == "integer" else "commonest"
    state: State = "gone" if distinct == 1 and len(column.leaves) > 1 else "part"
    return ColumnLeft(column.name, state, len(column.leaves), float(distinct), shown=shown)


def _counted_left(release: NoisyCounts) -> tuple[ColumnLeft, ...]:
    """Return what counts leave of each column: the values or labels by which people are counted."""
    left = []
    for column in release.schema.quasi:
        name, values = column.name, len(column.leaves)
        if name in release.moments:
            left.append(ColumnLeft(name, "part", values, None, shown="sums"))
        elif name in release.coarse:
            labels = len(release.coarse[name])
            left.append(ColumnLeft(name, "gone" if labels == 1 else "part", values, float(labels)))
        else:
            left.append(ColumnLeft(name, "kept", values, float(values)))
    return tuple(left)


def _rounded(number: float) -> str:
    """Return an average with two digits."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"


# In words and in JSON -------------------------------------------------------------------------------------------------


def summary(columns: Iterable[ColumnLeft]) -> str:
    """Return the summary, such as `age (8 of 74 values), zip (gone), sex (kept)`."""
    return ", ".join(_items(columns))


def _items(columns: Iterable[ColumnLeft]) -> list[str]:
    listed = list(columns)
    whole = all(left.state == "kept" and not left.blank_rows for left in listed)
    return ["every column kept"] if whole and len(listed) > 1 else list(map(str, listed))


def wrapped(begin: str, columns: Iterable[ColumnLeft], *, indent: int, width: int = WIDTH) -> list[str]:
    """Return `begin` and the summary in lines that fit a screen, without splitting a column's entry."""
    return wrapped_items(begin, _items(columns), indent=indent, width=width)


def wrapped_items(begin: str, items: Iterable[str], *, indent: int, width: int = WIDTH) -> list[str]:
    """Return a list in lines that break between its items only."""
    lines, ending = [begin], ""
    for item in items:
        lines[-1] += ending
        if len(lines[-1]) + 1 + len(item) + 1 > width and lines[-1].strip():
            lines.append(" " * (indent - 1))
        lines[-1] += f" {item}"
        ending = ","
    return lines


def warnings(columns: Iterable[ColumnLeft]) -> list[str]:
    """Return a sentence, if nothing is left of some columns."""
    gone = [left.column for left in columns if left.state == "gone"]
    if not gone:
        return []
    them = "it" if len(gone) == 1 else "them"
    return [f"Nothing is left of {listing(gone)}: the release does not tell people apart by {them}."]


def to_document(columns: Iterable[ColumnLeft]) -> dict[str, Any]:
    """Return the entries by column, as JSON has them."""
    return {left.column: {key: value for key, value in asdict(left).items() if key != "column"} for left in columns}


def from_document(document: Mapping[str, Mapping[str, Any]]) -> tuple[ColumnLeft, ...]:
    """Return what `to_document` made."""
    return tuple(ColumnLeft(name, **entries) for name, entries in document.items())
