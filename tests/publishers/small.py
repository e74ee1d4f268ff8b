"""Small random tables with random hierarchies, for the project and for the oracle alike."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import dalenius as dl
from dalenius.coding import merge
from dalenius.hierarchy import from_paths
from dalenius.table import Cells
from tests import oracle


@dataclass(frozen=True)
class Small:
    """A table of texts, column by column, and for each column its hierarchy (sensitive ones too)."""

    quasi: list[list[str]]
    sensitive: list[list[str]]
    quasi_trees: list[dict[str, tuple[str, ...]]]
    sensitive_trees: list[dict[str, tuple[str, ...]]]

    def schema(self) -> dl.Schema:
        columns = [
            dl.Column(f"{role[0]}{j}", role, hierarchy=from_paths(list(tree.values()), source="test"))
            for role, group in (("quasi", self.quasi_trees), ("sensitive", self.sensitive_trees))
            for j, tree in enumerate(group)
        ]
        return dl.Schema(columns)

    def columns(self) -> dict[str, list[str]]:
        named = {f"q{j}": column for j, column in enumerate(self.quasi)}
        return {**named, **{f"s{j}": column for j, column in enumerate(self.sensitive)}}

    def cells(self) -> Cells:
        """As `Table` makes them, without an engine: many small tables are wanted."""
        columns = self.columns()
        schema = self.schema().bind(columns)
        codes = np.array(
            [[column.domain.code(text) for text in columns[column.name]] for column in schema.coded if column.domain]
        ).T.astype(np.int32)
        return Cells(schema, *merge(codes, np.ones(len(codes), np.int64), [len(c.leaves) for c in schema.coded]))

    def oracle(self) -> oracle.Lattice:
        """With the missing value as a leaf where it occurs: a branch of its own up to a single root."""
        quasi = [_with_missing(tree, column) for tree, column in zip(self.quasi_trees, self.quasi, strict=True)]
        known = [_with_missing(tree, column) for tree, column in zip(self.sensitive_trees, self.sensitive, strict=True)]
        rows = list(zip(*self.quasi, strict=True))
        columns = [oracle.Sensitive(tuple(tree), tree) for tree in known]
        return oracle.Lattice(rows, quasi, [list(column) for column in self.sensitive], columns)


def _with_missing(tree: dict[str, tuple[str, ...]], column: Sequence[str]) -> dict[str, tuple[str, ...]]:
    if "" not in column or "" in tree:
        return tree
    tops = {path[-1] for path in tree.values()}
    height = len(next(iter(tree.values()))) - 1
    return {**tree, "": ("",) * height + ((tops.pop() if len(tops) == 1 else ""),)}


def grow(rng: random.Random, leaves: Sequence[str], name: str, *, most: int) -> dict[str, tuple[str, ...]]:
    """A random hierarchy: each level merges some labels of the one below; the top is one root or, at times, several."""
    height = rng.randint(1, most)
    labels = [list(leaves)]
    for level in range(1, height + 1):
        below = list(dict.fromkeys(labels[-1]))
        if level == height and rng.random() < 0.75:
            parent = dict.fromkeys(below, "*")
        else:
            parts = rng.randint(1, max(1, len(below) - 1)) if level < height else 2
            parent = {label: f"{name}{level}.{rng.randrange(parts)}" for label in below}
        labels.append([parent[label] for label in labels[-1]])
    return dict(zip(leaves, zip(*labels, strict=True), strict=True))


def make(seed: int, *, most: int = 40, sensitive: int = 2) -> Small:
    """2 or 3 quasi columns with hierarchies of height 1 to 3, 5 to `most` rows, some values missing or never used."""
    rng = random.Random(seed)
    n, count = rng.randint(5, most), rng.randint(2, 3)
    quasi_trees = [
        grow(rng, [f"{letter}{i}" for i in range(rng.randint(2, 5))], letter.upper(), most=3)
        for letter in "abc"[:count]
    ]
    sensitive_trees = [
        grow(rng, [f"{letter}{i}" for i in range(rng.randint(2, 4))], letter.upper(), most=2)
        for letter in "st"[: rng.randint(1, sensitive)]
    ]

    def column(tree: dict[str, tuple[str, ...]]) -> list[str]:
        choices = [*tree, *([""] if rng.random() < 0.25 else [])]
        # Some values are common and some rare, so that classes differ in size.
        return rng.choices(choices, weights=[rng.random() ** 2 + 0.02 for _ in choices], k=n)

    return Small(
        [column(tree) for tree in quasi_trees],
        [column(tree) for tree in sensitive_trees],
        quasi_trees,
        sensitive_trees,
    )


TABLES = st.builds(make, st.integers(0, 10**6))
