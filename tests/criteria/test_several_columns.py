"""Several sensitive columns: each alone, and with the others known to the attacker."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalenius as dl
from dalenius.releases import GroupedRelease
from tests.criteria.models import NAMES, THRESHOLDS, theirs
from tests.oracle import Model, Sensitive

SCHEMA = dl.Schema(
    (
        dl.Column("x", "quasi", domain=dl.Domain(("1", "2", "3"))),
        dl.Column("one", "sensitive", domain=dl.Domain(("a", "b", "c"))),
        dl.Column("two", "sensitive", domain=dl.Domain(("p", "q", "r"))),
        dl.Column("three", "sensitive"),
    )
)
NAMED = {"one": 1, "two": 2, "three": 3}
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3", "*"]),
        st.sampled_from(["a", "b", "c", ""]),
        st.sampled_from("pqr"),
        st.sampled_from("uv"),
    ),
    min_size=1,
    max_size=25,
)


def levels(release: GroupedRelease, rows: list[tuple[str, ...]], name: str, *, split: bool) -> None:
    """Compare the levels of every class (or part of one, by the other columns) with the definitions, class by class."""
    index = NAMED[name]
    visible = [row for row in rows if row[0] != "*"] or rows  # nothing else: one class
    others = [i for i in NAMED.values() if i != index]
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in visible:
        key = (row[0], *(row[i] for i in others)) if split else (row[0],)
        groups.setdefault(key, []).append(row[index])
    everyone = [row[index] for row in rows]
    grouping = release.grouping(name, others_as_quasi=split)
    leaves = grouping.column.leaves
    column = Sensitive(leaves)
    assert grouping.table.tolist() == [everyone.count(leaf) for leaf in leaves]
    assert grouping.suppressed == len(rows) - len(visible)
    counted = []
    for q in range(grouping.groups):
        cells = slice(int(grouping.start[q]), int(grouping.start[q + 1]))
        group = []
        for value, count in zip(grouping.values[cells].tolist(), grouping.counts[cells].tolist(), strict=True):
            group += [leaves[value]] * count
        counted.append(group)
    assert sorted(map(sorted, counted)) == sorted(map(sorted, groups.values()))
    for model in (Model(one, Fraction(THRESHOLDS[one][0])) for one in NAMES if one != "hierarchical"):
        right = [float(model.level(group, everyone, column)) for group in counted]
        found = theirs(model).levels(grouping).tolist()
        assert all(
            a == b or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12) for a, b in zip(found, right, strict=True)
        ), model
    if split:
        # `parent` names the class that each part belongs to: its people are that class's.
        assert grouping.parent is not None
        sizes = [0] * release.groups
        for part, size in zip(grouping.parent.tolist(), grouping.sizes.tolist(), strict=True):
            sizes[part] += size
        assert sizes == release.sizes.tolist()


@pytest.mark.slow
@settings(max_examples=40)
@given(rows=ROWS)
def test_each_alone_and_with_the_others_known(rows: list[tuple[str, ...]]) -> None:
    columns = dict(zip(["x", *NAMED], map(list, zip(*rows, strict=True)), strict=True))
    release = dl.read_release(columns, SCHEMA)
    assert isinstance(release, GroupedRelease)
    for name in NAMED:
        levels(release, rows, name, split=False)
        levels(release, rows, name, split=True)


def test_a_single_column_has_no_others() -> None:
    schema = dl.Schema((dl.Column("x", "quasi"), dl.Column("s", "sensitive")))
    release = dl.read_release({"x": ["1", "1", "2"], "s": ["a", "b", "a"]}, schema)
    assert isinstance(release, GroupedRelease)
    alone, with_others = release.grouping(), release.grouping(others_as_quasi=True)
    assert alone.counts.tolist() == with_others.counts.tolist()
    assert with_others.parent is None
