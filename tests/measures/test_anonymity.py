"""Singling out and linkage, against plain loops over people and rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from dalenius.auditing import audit
from dalenius.criteria import KAnonymity
from dalenius.measures.anonymity import ClassRisks, class_risks
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian
from dalenius.releases import Anatomized, Generalized, GroupedRelease
from dalenius.schema import Column, Domain, Schema

NUMBERS = tuple(str(i) for i in range(8))
SCHEMA = Schema(
    (
        Column("place", "quasi", domain=Domain(NUMBERS)),
        Column("disease", "sensitive", domain=Domain(("Flu", "Pox"))),
    )
)
TWO = Schema(
    (
        Column("age", "quasi", type="integer", domain=Domain(NUMBERS)),
        Column("place", "quasi", domain=Domain(("a", "b", "c"))),
        Column("disease", "sensitive", domain=Domain(("Flu", "Pox"))),
    )
)
Person = tuple[int, str]
Row = tuple[range, str]  # the ages and the places that fit it; no age: it is suppressed
NOBODY = range(0)


@dataclass(frozen=True)
class Expected:
    singled_out: float
    highest: float
    average: float
    at_risk: float

    @classmethod
    def of(cls, rows: Sequence[int]) -> Expected:
        """Of each person the number of rows among which theirs is looked for; 0: in none."""
        chance = [1 / n if n else 0.0 for n in rows]
        people = len(rows)
        return cls(
            sum(n == 1 for n in rows) / people,
            max(chance),
            sum(chance) / people,
            sum(0 < n < 5 for n in rows) / people,
        )

    def check(self, found: ClassRisks) -> None:
        for name in ("singled_out", "highest", "average", "at_risk"):
            assert getattr(found, name) == pytest.approx(getattr(self, name)), name


def released(places: list[str]) -> Generalized:
    release = dl.read_release({"place": places, "disease": ["Flu"] * len(places)}, SCHEMA)
    assert isinstance(release, Generalized)
    return release


# Without the truth ----------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from("01234567*"), min_size=1, max_size=40))
def test_classes_that_do_not_overlap(places: list[str]) -> None:
    """Suppressed people are those who fit no class: they look for their row among the suppressed ones."""
    found = class_risks(released(places))
    Expected.of([places.count(place) for place in places]).check(found)
    assert not found.upper_bound


def test_a_class_of_five_is_not_above_a_fifth() -> None:
    assert class_risks(released(["1"] * 5)).at_risk == 0
    assert class_risks(released(["1"] * 5 + ["2"] * 4)).at_risk == pytest.approx(4 / 9)


@pytest.mark.parametrize(
    ("places", "overlap"),
    [
        (["{0, 1}"] * 3 + ["{2, 3}"] * 3, False),
        (["{0, 1}"] * 3 + ["{1, 2}"] * 3, True),
        (["{0, 1}"] * 3 + ["0"] * 3, True),
        (["{0, 1}"] * 3 + ["*"], False),
    ],
)
def test_where_classes_overlap_their_sizes_are_a_bound(places: list[str], overlap: bool) -> None:
    found = class_risks(released(places))
    Expected.of([places.count(place) for place in places]).check(found)
    assert found.upper_bound == overlap


def test_boxes_may_be_apart_though_their_labels_overlap() -> None:
    """{0-3} × {a}, {2-5} × {b}: ages overlap, the boxes do not."""
    rows = {"age": ["[0, 3]"] * 2 + ["[2, 5]"] * 2, "place": ["a"] * 2 + ["b"] * 2, "disease": ["Flu"] * 4}
    assert not risks(rows).upper_bound
    assert risks({**rows, "place": ["a"] * 4}).upper_bound
    assert not risks({**rows, "place": ["a"] * 4, "age": ["[0, 3]"] * 2 + ["[4, 5]"] * 2}).upper_bound


def risks(rows: dict[str, list[str]]) -> ClassRisks:
    release = dl.read_release(rows, TWO)
    assert isinstance(release, GroupedRelease)
    return class_risks(release)


# With the truth -------------------------------------------------------------------------------------------------------


def rows_of(person: Person, people: Sequence[Person], rows: Sequence[Row]) -> int:
    """The rows among which a person is looked for: those that fit; if none does, those that are suppressed."""

    def fitting(other: Person) -> int:
        return sum(other[0] in ages and other[1] in places for ages, places in rows)

    hidden = sum(not ages for ages, _ in rows)
    lost = sum(not fitting(other) for other in people)
    return fitting(person) or (max(hidden, lost) if hidden else 0)


def check_people(people: Sequence[Person], rows: Sequence[Row]) -> ClassRisks:
    release = dl.read_release(
        {
            "age": [f"[{ages[0]}, {ages[-1]}]" if ages else "*" for ages, _ in rows],
            "place": ["{" + ", ".join(places) + "}" if ages else "*" for ages, places in rows],
            "disease": ["Flu"] * len(rows),
        },
        TWO,
    )
    assert isinstance(release, Generalized)
    cells = dl.Table(
        {"age": [p[0] for p in people], "place": [p[1] for p in people], "disease": ["Flu"] * len(people)}, TWO
    ).cells()
    found = class_risks(release, cells)
    if any(ages for ages, _ in rows):  # if all rows are suppressed they are a class that fits everybody
        Expected.of([rows_of(person, people, rows) for person in people]).check(found)
    else:
        Expected.of([len(rows)] * len(people)).check(found)
    return found


@given(st.integers(0, 2**32))
def test_people_look_for_the_rows_that_fit(seed: int) -> None:
    rng = random.Random(seed)
    people = [(rng.randrange(8), rng.choice("abc")) for _ in range(rng.randint(1, 12))]
    rows: list[Row] = []
    for age, place in people:  # each row fits its person, is suppressed, or was changed
        kind = rng.choice(["fit", "fit", "fit", "suppressed", "changed"])
        near = rng.randrange(8) if kind == "changed" else age
        ages = range(max(0, near - rng.randrange(3)), min(8, near + 1 + rng.randrange(3)))
        places = "".join(sorted({place, *rng.sample("abc", rng.randrange(3))}))
        rows.append((NOBODY, "") if kind == "suppressed" else (ages, places))
    rng.shuffle(rows)
    check_people(people, rows)


def test_whoever_fits_no_class_looks_among_the_suppressed_rows() -> None:
    inside = [(1, "a")] * 4
    published: list[Row] = [(range(0, 2), "a")] * 4
    hidden: list[Row] = [(NOBODY, "")]
    found = check_people([*inside, (7, "c")], [*published, *hidden])  # alone there: singled out
    assert (found.singled_out, found.highest, found.average) == (1 / 5, 1.0, pytest.approx(2 / 5))
    assert not found.upper_bound
    found = check_people([*inside, (1, "a")], [*published, *hidden])  # fits a class, and is not in it
    assert (found.singled_out, found.highest) == (0, 0.25)
    assert found.upper_bound
    found = check_people([*inside, (7, "c"), (7, "c")], [*published, *hidden * 2])
    assert (found.singled_out, found.highest) == (0, 0.5)


def test_whoever_fits_nothing_finds_no_row() -> None:
    """Values that were changed: two people fit the two rows of another age, and two fit none."""
    found = check_people([(1, "a")] * 2 + [(5, "a")] * 2, [(range(1, 2), "a")] * 2 + [(range(7, 8), "a")] * 2)
    assert (found.average, found.highest, found.singled_out) == (0.25, 0.5, 0)


def people_table(count: int, seed: int) -> dl.Table:
    rng = np.random.default_rng(seed)
    ages = rng.integers(18, 90, count)
    rows = {
        "age": ages.tolist(),
        "hours": rng.integers(0, 60, count).tolist(),
        "zip": rng.choice(list("ab"), count).tolist(),
        "disease": rng.choice(["Flu", "Pox", "Ache"], count).tolist(),
    }
    schema = Schema(
        (
            Column("age", "quasi", type="integer", domain=Domain(tuple(map(str, range(100))))),
            Column("hours", "quasi", type="integer", domain=Domain(tuple(map(str, range(60))))),
            Column("zip", "quasi", suppress=True),
            Column("disease", "sensitive"),
        )
    )
    return dl.Table(rows, schema)


def by_loops(release: Generalized, table: dl.Table) -> Expected:
    """Every person of the table against every row of a release without suppressed ones."""
    cells, counted = table.cells(), []
    rows = [
        ([set(labels[code].members.tolist()) for labels, code in zip(release.labels, codes, strict=True)], size)
        for codes, size in zip(release.codes.tolist(), release.sizes.tolist(), strict=True)
    ]
    for person, count in zip(cells.codes.tolist(), cells.counts.tolist(), strict=True):
        fitting = sum(
            size for sets, size in rows if all(leaf in leaves for leaf, leaves in zip(person, sets, strict=False))
        )
        counted += [fitting] * count
    return Expected.of(counted)


def test_microaggregation_with_ranges_overlaps() -> None:
    table = people_table(240, 3)
    release = Microaggregation(3, "ranges").publish(table).release
    assert isinstance(release, Generalized)
    expected, found = by_loops(release, table), class_risks(release, table.cells())
    expected.check(found)
    assert not found.upper_bound
    bound = class_risks(release)
    assert bound.upper_bound
    assert bound.highest >= found.highest
    assert bound.average > found.average
    assert bound.at_risk > found.at_risk


def test_mondrian_does_not() -> None:
    table = people_table(240, 3)
    release = Mondrian([KAnonymity(3)]).publish(table).release
    assert isinstance(release, Generalized)
    found, sizes = class_risks(release, table.cells()), class_risks(release)
    by_loops(release, table).check(found)
    assert (sizes.average, sizes.highest, sizes.at_risk) == pytest.approx((found.average, found.highest, found.at_risk))
    assert not sizes.upper_bound


def test_tuples_are_looked_for_in_all_groups(tmp_path: Path) -> None:
    """Anatomy prints the quasi-identifiers: the rows that fit are those with the person's, in whatever group."""
    (tmp_path / "r.quasi.csv").write_text("group,age,place\n0,1,a\n0,2,a\n1,1,a\n1,3,b\n", encoding="utf-8")
    (tmp_path / "r.sensitive.csv").write_text("group,disease\n0,Flu\n0,Pox\n1,Flu\n1,Pox\n", encoding="utf-8")
    release = dl.read_release(tmp_path / "r", TWO)
    assert isinstance(release, Anatomized)
    people = {"age": [1, 2, 1, 3], "place": list("aaab"), "disease": ["Flu", "Pox", "Pox", "Flu"]}
    for found in (class_risks(release), class_risks(release, dl.Table(people, TWO).cells())):
        Expected.of([2, 1, 2, 1]).check(found)
        assert not found.upper_bound
    others = {**people, "age": [1, 2, 5, 3]}  # one person was changed: nobody of that age is printed
    Expected.of([2, 1, 0, 1]).check(class_risks(release, dl.Table(others, TWO).cells()))


def test_an_audit_counts_the_rows_that_fit() -> None:
    table = people_table(120, 5)
    release = Microaggregation(3, "ranges").publish(table).release
    assert isinstance(release, Generalized)
    blind = audit(release, table.schema)
    assert blind.risks is not None
    assert blind.risks.upper_bound
    rows = {name: [text for (text,) in table.rows.read([name])] for name in ("age", "hours", "zip", "disease")}
    seen = audit(release, table.schema, truth=rows)
    assert seen.risks is not None
    by_loops(release, table).check(seen.risks)
    assert seen.to_document()["risks"]["average"] == seen.risks.average < blind.risks.average
