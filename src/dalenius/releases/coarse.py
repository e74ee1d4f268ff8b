"""Columns that are counted at labels coarser than their values: labels whose leaves partition the column's domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dalenius.arrays import Ints
from dalenius.errors import InputError, ParameterError
from dalenius.releases.label import Resolver, Unresolved, label_text
from dalenius.schema import Column, Schema, WrongType

__all__ = ["Coarse", "Rows", "at_level", "sizes"]


@dataclass(frozen=True, slots=True, eq=False)
class Coarse:
    """`node[leaf]` is the place in `labels` of the one label that covers the leaf. Labels are in the order of their first leaf."""

    labels: tuple[str, ...] = field(repr=False)
    node: Ints = field(repr=False)

    def __post_init__(self) -> None:
        used, first = np.unique(self.node, return_index=True)
        if used.tolist() != list(range(len(self.labels))) or (np.diff(first) <= 0).any():
            raise ValueError("every label covers a leaf, and labels are in the order of their first leaf")

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coarse) and self.labels == other.labels and np.array_equal(self.node, other.node)

    __hash__ = None  # type: ignore[assignment]


def at_level(column: Column, level: int, schema: Schema) -> Coarse | None:
    """A bound column at a level of its hierarchy; nothing at level 0, where its rows are its leaves."""
    tree = column.hierarchy
    if tree is None:
        raise InputError(
            f"Column {column.name!r} has no hierarchy to be counted at a level of. Declare intervals, mask or hierarchy in "
            f"{schema.source}."
        )
    if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= tree.height:
        raise ParameterError("level", f"column {column.name!r}", f"an int from 0 to {tree.height}", level)
    if level == 0:
        return None
    map_, texts = tree.maps[level], tree.labels[level]
    if len(texts) == len(map_):  # every label covers one leaf
        return None
    rows = Rows(column, schema, texts)
    resolver = Resolver(column, schema)
    order = np.argsort(map_, kind="stable").astype(np.int32)
    members = np.split(order, np.searchsorted(map_[order], np.arange(1, len(texts))))
    # A label that the reader would take for something else is spelt out as a set.
    labels = tuple(
        text if rows.covers(text, leaves) else label_text(column, leaves, resolver)
        for text, leaves in zip(texts, members, strict=True)
    )
    return Coarse(labels, map_.copy())


class Rows:
    """What the texts of a counted column stand for: its leaves, or labels that partition them."""

    def __init__(self, column: Column, schema: Schema, texts: Iterable[str]) -> None:
        """Texts that are neither a value nor a label are in `unknown`, in their order."""
        self.column = column
        assert column.domain is not None
        domain, resolver = column.domain, Resolver(column, schema)
        self.unknown: list[str] = []
        self._members: dict[str, tuple[int, ...]] = {}
        for text in texts:
            try:
                code = domain.code(column.canonical(text, schema.missing))
            except WrongType:
                code = -1
            if code >= 0:
                self._members[text] = (code,)
                continue
            try:
                self._members[text] = tuple(resolver.resolve(text).members.tolist())
            except Unresolved:
                self.unknown.append(text)

    def covers(self, text: str, members: Ints) -> bool:
        return self._members.get(text) == tuple(members.tolist())

    @property
    def are_leaves(self) -> bool:
        return all(len(members) == 1 for members in self._members.values())

    def coarse(self, where: str) -> Coarse:
        """The partition; labels that overlap, or leave a value out, are refused."""
        first = {members: text for text, members in reversed(self._members.items())}
        node = np.full(len(self.column.leaves), -1, dtype=np.int32)
        labels: list[str] = []
        for members in sorted(first):
            codes = list(members)
            if (node[codes] >= 0).any():
                other = labels[int(node[codes].max())]
                raise InputError(
                    f"{where}, column {self.column.name!r}: the labels {other!r} and {first[members]!r} overlap, so that some "
                    "people are counted twice. Labels must cover every value once."
                )
            node[codes] = len(labels)
            labels.append(first[members])
        if (node < 0).any():
            leaf = self.column.leaves[int((node < 0).argmax())]
            raise InputError(
                f"{where}, column {self.column.name!r}: no label covers the value {leaf!r}. Labels must cover every value of "
                "the domain, also those nobody has: what is left out tells who is not there."
            )
        return Coarse(tuple(labels), node)

    def code(self, text: str, coarse: Coarse | None) -> int:
        leaf = self._members[text][0]
        return leaf if coarse is None else int(coarse.node[leaf])


def sizes(schema: Schema, names: Sequence[str], coarse: Mapping[str, Coarse]) -> list[int]:
    """How many rows each of the columns has in a table."""
    return [len(coarse[name]) if name in coarse else len(schema[name].leaves) for name in names]
