"""The oracle's models beside the project's criteria, and random groupings to try both on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import dalenius as dl
from dalenius import criteria as c
from dalenius.hierarchy import from_paths
from dalenius.releases import Grouping
from tests.oracle import Model, Sensitive

NAMES = (
    *("k", "alpha", "distinct", "entropy", "recursive", "equal", "ordered", "hierarchical"),
    *("delta", "basic_beta", "enhanced_beta"),
)
# Thresholds at which random groupings both pass and fail.
THRESHOLDS = {
    "k": ("2", "4"),
    "alpha": ("0.4", "0.5", "0.75"),
    "distinct": ("2", "3"),
    "entropy": ("1.5", "2", "2.5"),
    "recursive": ("0.8", "1", "2", "3.5"),
    "equal": ("0.15", "0.25", "0.5"),
    "ordered": ("0.1", "0.25", "0.5"),
    "hierarchical": ("0.1", "0.25", "0.5"),
    "delta": ("0.7", "1.2", "2"),
    "basic_beta": ("0.5", "1", "2"),
    "enhanced_beta": ("0.4", "1", "2"),
}
ALL = tuple(Model(name, Fraction(text)) for name in NAMES for text in THRESHOLDS[name])
DEEPER = tuple(Model("recursive", Fraction(text), depth) for text in ("1.5", "4") for depth in (3, 4))


def theirs(model: Model) -> c.Criterion:
    """The criterion of the project that a model of the oracle stands for."""
    number = float(model.threshold)
    whole = int(model.threshold)
    if model.name in c.GROUNDS:
        return c.TCloseness(number, model.name)  # type: ignore[arg-type]
    if model.name == "recursive":
        return c.RecursiveDiversity(number, model.depth)
    if model.name in ("k", "distinct"):
        return c.KAnonymity(whole) if model.name == "k" else c.DistinctDiversity(whole)
    kinds: dict[str, type[c.Criterion]] = {
        "alpha": c.AlphaAnonymity,
        "entropy": c.EntropyDiversity,
        "delta": c.DeltaDisclosure,
        "basic_beta": c.BasicBetaLikeness,
        "enhanced_beta": c.EnhancedBetaLikeness,
    }
    return kinds[model.name](number)  # type: ignore[call-arg]


@dataclass(frozen=True)
class Case:
    """Classes as lists of values, the values of suppressed rows, and the column they belong to."""

    groups: list[list[str]]
    suppressed: list[str]
    column: Sensitive

    @property
    def everyone(self) -> list[str]:
        return [value for group in self.groups for value in group] + self.suppressed

    def grouping(self, *, times: int = 1, shuffle: int = 0) -> Grouping:
        """The same as counts; within a class the values stand in a random order, as roll-ups leave them."""
        order = [str(value) for value in self.column.order]
        code = {value: i for i, value in enumerate(order)}
        mixer = random.Random(shuffle)
        start, values, counts = [0], [], []
        for group in self.groups:
            present = sorted(set(group))
            mixer.shuffle(present)
            values += [code[value] for value in present]
            counts += [group.count(value) * times for value in present]
            start.append(len(values))
        everyone = self.everyone
        return Grouping(
            bound(self.column),
            np.array(start, dtype=np.int64),
            np.array(values, dtype=np.int32),
            np.array(counts, dtype=np.int64),
            np.array([everyone.count(value) * times for value in order], dtype=np.int64),
            len(self.suppressed) * times,
        )


def bound(column: Sensitive) -> dl.Column:
    order = [str(value) for value in column.order]
    tree = from_paths([column.paths[value] for value in order], source="test") if column.paths else None
    return dl.Column("s", "sensitive", domain=dl.Domain(tuple(order)), hierarchy=tree)


@st.composite
def trees(draw: st.DrawFn, leaves: Sequence[str], name: str = "", *, most: int = 3) -> dict[str, tuple[str, ...]]:
    """A random hierarchy: each level merges some labels of the one below; the top is one root or, rarely, several."""
    height = draw(st.integers(1, most))
    labels: list[list[str]] = [list(leaves)]
    for level in range(1, height + 1):
        below = list(dict.fromkeys(labels[-1]))
        if level == height and draw(st.integers(0, 5)):
            parent = dict.fromkeys(below, "*")
        else:
            parts = draw(st.integers(1, len(below)))
            chosen = draw(st.lists(st.integers(0, parts - 1), min_size=len(below), max_size=len(below)))
            parent = {label: f"{name}{level}.{part}" for label, part in zip(below, chosen, strict=True)}
        labels.append([parent[label] for label in labels[-1]])
    return {leaf: tuple(path) for leaf, path in zip(leaves, zip(*labels, strict=True), strict=True)}


@st.composite
def cases(draw: st.DrawFn, *, groups: int = 6, rows: int = 10) -> Case:
    """Random classes; values of the domain may be absent from a class, from all of them, or from the table."""
    domain = [f"v{i}" for i in range(draw(st.integers(1, 5)))]
    some = st.lists(st.sampled_from(domain), min_size=1, max_size=rows)
    drawn = draw(st.lists(some, min_size=1, max_size=groups))
    hidden = draw(st.lists(st.sampled_from(domain), max_size=rows))
    paths = draw(trees(domain))
    return Case(drawn, hidden, Sensitive(tuple(domain), paths))
