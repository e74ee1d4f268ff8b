"""What is left of each column, against counting by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from dalenius.criteria import KAnonymity
from dalenius.measures import remaining
from dalenius.measures.remaining import ColumnLeft, columns_left
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian
from dalenius.publishers.noisy_counts import Simulation
from dalenius.releases.generalized import Generalized

LEAVES = "abcdef"


def generalized(labels: list[set[int]], group: list[int]) -> Generalized:
    """A release with one column of six values: person i has label `labels[group[i]]`, or is suppressed (−1)."""
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")]).bind({"q": list(LEAVES), "s": ["x"]})
    sets = [[np.array(sorted(members), dtype=np.int32)] for members in labels]
    nothing = np.zeros((len(group), 1), dtype=np.int32)
    return Generalized.from_sets(schema, sets, np.array(group, dtype=np.int32), nothing, np.ones(len(group), np.int64))


def by_hand(people: list[set[int]]) -> tuple[str, float, int]:
    """State, values told apart and blank rows of people who each have a set of values."""
    different = {frozenset(one) for one in people}
    telling = [one for one in people if len(one) < len(LEAVES)]
    if len(different) == 1 and len(people[0]) > 1:
        return "gone", 1.0, len(people) - len(telling)
    blank = len(people) - len(telling)
    labels = {frozenset(one) for one in telling}
    if not labels:
        return "gone", 1.0, blank
    if all(len(one) == 1 for one in telling):
        return "kept", float(len(labels)), blank
    if all(not one & other for one, other in itertools.combinations(labels, 2)):
        return "part", float(len(labels)), blank
    return "part", len(LEAVES) / (sum(map(len, telling)) / len(telling)), blank


SETS = st.sets(st.integers(0, len(LEAVES) - 1), min_size=1)


@given(st.lists(SETS, min_size=1, max_size=5), st.lists(st.integers(-1, 4), min_size=1, max_size=12))
def test_labels_by_hand(labels: list[set[int]], group: list[int]) -> None:
    group = [min(q, len(labels) - 1) for q in group]
    people = [labels[q] for q in group if q >= 0] or [set(range(len(LEAVES)))] * len(group)
    (found,) = columns_left(generalized(labels, group))
    assert (found.state, found.told_apart, found.blank_rows) == pytest.approx(by_hand(people))
    assert found.values == len(LEAVES)


@pytest.fixture(scope="module")
def hospital() -> dl.Table:
    return dl.datasets.hospital(400, seed=7)


@pytest.mark.parametrize(
    "publisher",
    [
        Lattice([KAnonymity(4)], suppression=0.05),
        Lattice([KAnonymity(400)]),
        Mondrian([KAnonymity(4)]),
        Mondrian([KAnonymity(4)], cuts="hierarchy"),
        Mondrian([KAnonymity(400)]),
        Microaggregation(4, shown="ranges"),
        Microaggregation(4),
        Anatomy(3),
    ],
    ids=repr,
)
def test_publishers_say_of_a_release_what_it_says_itself(publisher: object, hospital: dl.Table) -> None:
    published = publisher.publish(hospital)  # type: ignore[attr-defined]
    found = columns_left(published.release)
    assert published.columns_left() == found
    assert published.document()["columns_left"] == remaining.to_document(found)
    assert [one.column for one in found] == [column.name for column in hospital.schema.quasi]
    assert remaining.from_document(remaining.to_document(found)) == found


def test_one_class_leaves_nothing(hospital: dl.Table) -> None:
    for publisher in (Lattice([KAnonymity(400)]), Mondrian([KAnonymity(400)]), Microaggregation(400)):
        assert {one.state for one in publisher.publish(hospital).columns_left()} == {"gone"}  # type: ignore[attr-defined]


def test_a_column_of_one_value_is_not_lost() -> None:
    """Everybody has it already, so nothing is taken away by giving everybody the same."""
    rows = {"q": ["a"] * 6, "r": ["x", "y"] * 3, "n": [30] * 6, "s": ["u", "v"] * 3}
    numbers = dl.Domain(tuple(map(str, range(20, 40))))
    columns = [dl.Column("q", "quasi"), dl.Column("r", "quasi"), dl.Column("n", "quasi", "integer", domain=numbers)]
    table = dl.Table(rows, dl.Schema([*columns, dl.Column("s", "sensitive")]))
    for publisher in (Mondrian([KAnonymity(2)]), Microaggregation(2), Microaggregation(2, shown="ranges")):
        left = {one.column: one.state for one in publisher.publish(table).columns_left()}  # type: ignore[attr-defined]
        assert (left["q"], left["n"]) == ("kept", "kept")


def test_counts_at_the_top_of_a_hierarchy_leave_nothing_of_it(hospital: dl.Table) -> None:
    top = hospital.schema["zip"].hierarchy
    assert top is not None
    found = Simulation(1.0, levels={"zip": top.height}, gaussian={"age": (18, 90)}).draw(hospital, 1)
    left = {one.column: one for one in columns_left(found)}
    assert left["zip"].state == "gone"
    assert left["age"].words == "n, sum and squares"
    assert left["sex"].state == "kept"


def test_words() -> None:
    assert ColumnLeft("age", "part", 74, 8.0).words == "8 of 74 values"
    assert ColumnLeft("age", "part", 74, 8.43, overlapping=True).words == "about 8.4 of 74 values"
    assert ColumnLeft("zip", "part", 30_000, 1234.5, overlapping=True).words == "about 1,234 of 30,000 values"
    assert ColumnLeft("zip", "gone", 74, 1.0, blank_rows=5).words == "gone"
    assert ColumnLeft("sex", "kept", 2, 2.0, blank_rows=1).words == "kept but for 1 row"
    assert ColumnLeft("age", "part", 74, 27.0, shown="means").words == "27 means"
    some = [ColumnLeft("age", "part", 74, 8.0), ColumnLeft("zip", "gone", 9, 1.0), ColumnLeft("sex", "kept", 2, 2.0)]
    assert remaining.summary(some) == "age (8 of 74 values), zip (gone), sex (kept)"
    assert remaining.summary(some[2:] * 2) == "every column kept"
    assert remaining.warnings(some)[0].startswith("Nothing is left of zip:")
    assert remaining.warnings(some[2:]) == []


def test_many_columns_fill_lines_that_fit_and_are_not_cut_within_a_column() -> None:
    some = [ColumnLeft(f"column number {i}", "part", 74, 8.0) for i in range(20)]
    lines = remaining.wrapped("Wrote out.csv:", some, indent=2)
    assert all(len(line) <= remaining.WIDTH for line in lines)
    assert lines[0].startswith("Wrote out.csv: column number 0 (8 of 74 values),")
    assert all(line.startswith("  column") for line in lines[1:])
    assert all(line.endswith("),") for line in lines[:-1])
    assert " ".join(line.strip() for line in lines) == f"Wrote out.csv: {remaining.summary(some)}"
