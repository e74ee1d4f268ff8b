"""Labels: the text of a released cell and the set of leaves it stands for.

A cell is resolved in this order: suppressed mark, leaf, hierarchy label, set `{a, b}`, mask `4550*`, interval
(integer columns), and `a~b`, a foreign set or range. Writing goes the other way and checks itself: whatever is
written resolves to the set it was written for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from dalenius.arrays import Bools, Ints, Longs
from dalenius.bands import NUMBER, read_band
from dalenius.errors import InputError, nearest
from dalenius.hierarchy import MISSING
from dalenius.schema import MAX_RANGE, Column, Schema, WrongType

__all__ = [
    "LONG",
    "Label",
    "Resolver",
    "Unresolved",
    "interval",
    "label_text",
    "missing_leaf",
    "named_leaves",
    "spelt_out",
    "split_set",
]

_DECIMAL = re.compile(rf"\s*{NUMBER}\s*")
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()
LONG = 200  # characters of a complete set that are not repeated in every row
_NEEDS_QUOTES = re.compile(r'[,{}"]|^\s|\s$|^$')


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """A released cell: its text, the codes of the leaves it may stand for, and whether it is a suppressed mark."""

    text: str = field(repr=False)
    members: Ints = field(repr=False)
    is_mark: bool = False


class Unresolved(ValueError):
    """A label that matches nothing; the reason is a sentence, the caller adds row and column."""


class Resolver:
    """Resolves the labels of one bound column."""

    def __init__(self, column: Column, schema: Schema) -> None:
        assert column.domain is not None
        self._column = column
        self._domain = column.domain
        self._missing = schema.missing
        self._suppressed = frozenset(schema.suppressed)
        self._labels = column.hierarchy.members() if column.hierarchy is not None else {}
        self._values = column.domain.values() if column.type == "integer" else None
        self._all = np.arange(len(column.domain), dtype=np.int32)
        if self._values is not None:  # codes by value, without the missing one
            self._by_value = np.argsort(self._values, kind="stable")[: int((~np.isnan(self._values)).sum())]
            self._ascending = self._values[self._by_value]

    def resolve(self, text: str) -> Label:
        if text in self._suppressed:
            return Label(text, self._all, is_mark=True)
        members = self._leaf(text)
        if members is None:
            members = self._labels.get(text)
        if members is None:
            members = self._set(text)
        if members is None and "*" in text:
            members = self._mask(text)
        if members is None and self._values is not None:
            bounds = interval(text)
            if bounds is not None:
                low, high = bounds
                first, last = (
                    np.searchsorted(self._ascending, low),
                    np.searchsorted(self._ascending, high, side="right"),
                )
                members = np.sort(self._by_value[first:last]).astype(np.int32)
        if members is None and "~" in text:
            members = self._union(text.split("~"))
        if members is None:
            parts = [part.strip() for part in text.split(",")]
            hint = nearest(text, self._known())
            if len(parts) > 1 and self._values is None and self._union(parts) is not None:
                hint = f" If it is a set, write it with braces: {{{text}}}."
            elif self._values is not None and _DECIMAL.fullmatch(text):
                hint = " If it is the mean of a group, say so: --kind centroids."
            raise Unresolved(f"{text!r} matches nothing.{hint}")
        if len(members) == 0:
            raise Unresolved(f"{text!r} covers no value of the column's domain.")
        return Label(text, members)

    def has_missing(self, first: int, last: int) -> bool:
        """Whether the missing value's code is between two codes."""
        return first <= self._domain.code(MISSING) <= last

    def _known(self) -> Iterator[str]:
        yield from self._labels
        yield from self._domain.leaves

    def _leaf(self, text: str) -> Ints | None:
        try:
            code = self._domain.code(self._column.canonical(text, self._missing))
        except WrongType:
            return None
        return None if code < 0 else self._all[code : code + 1]

    def _set(self, text: str) -> Ints | None:
        parts = split_set(text)
        if parts is None:
            return None
        members = self._union(parts)
        if members is None:
            unknown = next(part for part in parts if self._union([part]) is None)
            raise Unresolved(f"{unknown!r} in the set {text!r} matches nothing.{nearest(unknown, self._known())}")
        return members

    def _union(self, parts: Sequence[str]) -> Ints | None:
        """The union of leaves and hierarchy labels; None if one of them is neither."""
        leaves: list[Ints] = []
        for part in parts:
            members = self._leaf(part)
            if members is None:
                members = self._labels.get(part)
            if members is None:
                return None
            leaves.append(members)
        return np.unique(np.concatenate(leaves)).astype(np.int32) if leaves else np.empty(0, dtype=np.int32)

    def _mask(self, text: str) -> Ints | None:
        """Each `*` is one character; if no leaf is that long, a trailing (leading) `*` is any end (beginning)."""
        pattern = re.compile("".join("." if char == "*" else re.escape(char) for char in text), re.DOTALL)
        codes = [i for i, leaf in enumerate(self._domain.leaves) if pattern.fullmatch(leaf)]
        kept = text.strip("*")
        if not codes and kept and "*" not in kept and text.startswith("*") != text.endswith("*"):
            fits = str.startswith if text.endswith("*") else str.endswith
            codes = [i for i, leaf in enumerate(self._domain.leaves) if fits(leaf, kept)]
        return np.array(codes, dtype=np.int32) if codes else None


def split_set(text: str) -> list[str] | None:
    """The members of `{a, "b, c"}`, or None if the text is not a set."""
    body = text.strip()
    if not (body.startswith("{") and body.endswith("}") and len(body) >= 2):
        return None
    # By position, never by what is left of the text: a set may have very many members.
    end = len(body) - 1
    parts: list[str] = []
    at = _skip(body, 1)
    more = at < end
    while more:
        if body[at] == '"':
            try:
                part, at = _DECODER.raw_decode(body, at)
            except json.JSONDecodeError:
                return None
            at = _skip(body, at)
            if at < end and body[at] != ",":
                return None
            more = at < end
        else:
            comma = body.find(",", at, end)
            more = comma >= 0
            part, at = body[at : comma if more else end].rstrip(), comma if more else end
        parts.append(part)
        at = _skip(body, at + 1)
    return parts


def _skip(text: str, at: int) -> int:
    """The next position that is no white space."""
    space = _SPACE.match(text, at)
    assert space is not None
    return space.end()


def interval(text: str) -> tuple[float, float] | None:
    """The whole numbers that an interval covers, both ends included: `[20, 40)` is (20, 39); None if it is none."""
    band = read_band(text)
    if band is None or band.is_number or band.unit:
        return None
    return _closed(float(band.low), band.has_low, float(band.high), band.has_high)


def _closed(low: float, has_low: bool, high: float, has_high: bool) -> tuple[float, float]:
    if math.isfinite(low):
        low = math.ceil(low) if has_low else math.floor(low) + 1
    if math.isfinite(high):
        high = math.floor(high) if has_high else math.ceil(high) - 1
    return low, high


def named_leaves(column: Column, texts: Iterable[str], schema: Schema) -> set[str]:
    """The leaves that a release names, for a column without a declared domain or hierarchy file.

    Masks and intervals do not name their leaves; only `intervals = […]` in the schema makes an interval readable.
    """
    remedy = (
        f"Declare the values of column {column.name!r} in {schema.source}: domain = […]"
        + (" or { min = …, max = … }" if column.type == "integer" else "")
        + ', or hierarchy = "FILE".'
    )
    leaves: set[str] = set()
    for text in texts:
        if text in schema.suppressed:
            continue
        parts = split_set(text)
        if parts is None and column.type == "category" and "~" in text and all(text.split("~")):
            parts = text.split("~")
        if parts is None:
            parts = [text]
        for part in parts:
            if "*" in part:
                raise Unresolved(f"{part!r} is a mask, and its leaves are not known. {remedy}")
            try:
                leaves.add(column.canonical(part, schema.missing))
            except WrongType:
                bounds = interval(part)
                if bounds is None:
                    raise Unresolved(f"{part!r} is neither a whole number nor an interval.") from None
                low, high = bounds
                if column.intervals is None or not math.isfinite(high - low) or high - low >= MAX_RANGE:
                    raise Unresolved(f"{part!r} is an interval, and its leaves are not known. {remedy}") from None
                leaves.update(str(value) for value in range(int(low), int(high) + 1))
    return leaves


def missing_leaf(text: str, schema: Schema) -> set[str]:
    """The missing value, if the label names it, alone or in a set: it joins a declared domain when it occurs."""
    if text in schema.suppressed:
        return set()
    parts = split_set(text) or [text]
    return {MISSING} if any(part == MISSING or part in schema.missing for part in parts) else set()


def label_text(column: Column, members: Ints, resolver: Resolver) -> str:
    """How a set of leaves is written: the leaf itself, `[lo, hi]` for a run of integers, else `{a, b}`."""
    if not len(members):
        raise InputError(f"A label of column {column.name!r} covers no value.")
    first, last = int(members[0]), int(members[-1])
    if len(members) == 1:
        text = column.leaves[first]
    elif column.type == "integer" and last - first + 1 == len(members) and not resolver.has_missing(first, last):
        text = f"[{column.leaves[first]}, {column.leaves[last]}]"
    else:
        text = "{" + ", ".join(_member(column.leaves[code]) for code in members.tolist()) + "}"
    if not _means(text, members, resolver):
        # The plain text reads as something else (a leaf named `*`, say); quoted members cannot.
        leaves = [column.leaves[code] for code in members.tolist()]
        text = "{" + ", ".join(json.dumps(leaf, ensure_ascii=False) for leaf in leaves) + "}"
        if not _means(text, members, resolver):
            raise InputError(f"The set {text} of column {column.name!r} cannot be written as a label of its own.")
    return text


def spelt_out(
    long: Bools,
    marks: Bools,
    lengths: Longs,
    sizes: Longs,
    *,
    needed: Bools,
) -> Bools:
    """Which cells [group, column] of those with `long` complete sets are spelt out; the others can be marks.

    `marks` are all cells that would then be marks. A group of nothing but marks would be read as suppressed: of its long
    sets the shortest is spelt out. And in columns where it is `needed`, since nobody declares the leaves, that of the
    smallest group at least.
    """
    spelt = np.zeros_like(long)
    lost = np.flatnonzero(marks.all(axis=1) & long.any(axis=1))
    spelt[lost, np.where(long[lost], lengths, np.iinfo(np.int64).max).argmin(axis=1)] = True
    for j in np.flatnonzero(needed & long.any(axis=0) & ~spelt.any(axis=0)).tolist():
        having = np.flatnonzero(long[:, j])
        spelt[having[sizes[having].argmin()], j] = True
    return spelt


def _member(leaf: str) -> str:
    return json.dumps(leaf, ensure_ascii=False) if _NEEDS_QUOTES.search(leaf) else leaf


def _means(text: str, members: Ints, resolver: Resolver) -> bool:
    try:
        label = resolver.resolve(text)
    except Unresolved:
        return False
    return not label.is_mark and np.array_equal(label.members, members)
