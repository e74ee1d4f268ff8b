"""From texts to codes, and every way of sorting rows of codes against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius.coding import canonical_texts, distinct_rows, leaf_codes, merge
from dalenius.errors import InputError
from dalenius.hierarchy import from_paths
from dalenius.schema import Column, Domain, Role, Schema

TREE = from_paths([["Heart", "x", "*"], ["Flu", "x", "*"]], source="tree.csv")


def locate(column: str, text: str) -> str:
    return f"row of {column}={text}" if column == "age" else "row 3"


def schema(role: Role) -> Schema:
    column = Column("x", role, type="integer", domain=Domain(("7", "9")))
    return Schema((column, Column("q", "quasi"), Column("d", "sensitive")), missing=("NA",), source="privacy.toml")


def test_texts_become_leaves() -> None:
    found = canonical_texts(schema("quasi")["x"], ["007", "9", "NA", ""], schema("quasi"), where="t", locate=locate)
    assert found == ["7", "9", "", ""]
    codes = leaf_codes(schema("quasi")["x"], ["9", "7", "9"], ["9", "007", "9"], where="t", locate=locate)
    assert codes.tolist() == [1, 0, 1]
    assert codes.dtype == np.int32


@pytest.mark.parametrize(("role", "shown"), [("quasi", True), ("sensitive", False), ("identifier", False)])
def test_only_a_quasi_identifiers_text_is_shown(role: Role, shown: bool) -> None:
    column = schema(role)["x"]
    with pytest.raises(InputError) as wrong_type:
        canonical_texts(column, ["7", "SECRET"], schema(role), where="t.csv", locate=locate)
    with pytest.raises(InputError) as outside:
        leaf_codes(column, ["7", "8888"], ["7", "8888"], where="t.csv", locate=locate)
    for error, text in ((wrong_type, "SECRET"), (outside, "8888")):
        assert "t.csv, row 3, column 'x'" in str(error.value)
        assert (repr(text) in str(error.value)) == shown
        assert (text in str(error.value)) == shown
    assert 'privacy.toml declares type = "integer"' in str(wrong_type.value)
    assert "the declared domain" in str(outside.value)


@pytest.mark.parametrize(("role", "hint"), [("quasi", " Did you mean 'Heart'?"), ("sensitive", "")])
def test_a_leaf_outside_the_hierarchy(role: Role, hint: str) -> None:
    column = Column("x", role, hierarchy=TREE).bound([])
    with pytest.raises(InputError) as caught:
        leaf_codes(column, ["Flu", "Haert"], ["Flu", "Haert"], where="t.csv", locate=locate)
    assert f"is not in tree.csv.{hint} Add it there" in str(caught.value)
    assert ("Heart" in str(caught.value)) == bool(hint)  # no sensitive value in a hint either


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[int]]:
    width = draw(st.integers(1, 4))
    huge = draw(st.booleans())
    # Few combinations are counted in a table, more are sorted as integers, and those of the largest sizes as rows.
    sizes = [draw(st.sampled_from([2**31 - 1] if huge else [1, 2, 3])) for _ in range(width)]
    row = st.tuples(*(st.integers(max(0, size - 3), size - 1) for size in sizes))
    return draw(st.lists(row, max_size=30)), sizes


@given(case=rows(), seed=st.integers(0, 99))
def test_merging_is_counting(case: tuple[list[tuple[int, ...]], list[int]], seed: int) -> None:
    listed, sizes = case
    codes = np.array(listed, dtype=np.int32).reshape(len(listed), len(sizes))
    counts = np.random.default_rng(seed).integers(0, 5, len(listed))
    expected: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(listed, counts.tolist(), strict=True):
        expected[row] += count
    merged, total = merge(codes, counts, sizes)
    people = [(row, count) for row, count in sorted(expected.items()) if count]
    assert list(zip(map(tuple, merged.tolist()), total.tolist(), strict=True)) == people
    assert (merged.dtype, total.dtype) == (np.int32, np.int64)
    distinct, inverse = distinct_rows(codes, sizes)
    assert list(map(tuple, distinct.tolist())) == sorted(set(listed))
    assert [tuple(distinct[i].tolist()) for i in inverse] == listed
