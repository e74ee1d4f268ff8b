"""Rows whose values were changed: the fewest that must have been, against an optimal matching of people and rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import dalenius as dl
from dalenius.criteria import KAnonymity
from dalenius.measures import misfit
from dalenius.measures.fidelity import Truth, fidelity, ncp, precision
from dalenius.measures.misfit import misfits
from dalenius.measures.utility import release_utility
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian
from dalenius.releases import Anatomized, Generalized

AGES, PLACES, ILLS = range(6), "abc", ("Flu", "Pox", "Ache")
SCHEMA = dl.Schema(
    (
        dl.Column("age", "quasi", type="integer", domain=dl.Domain(tuple(map(str, AGES))), intervals=(2,)),
        dl.Column("place", "quasi", domain=dl.Domain(tuple(PLACES)), suppress=True),
        dl.Column("ill", "sensitive", domain=dl.Domain(ILLS)),
        dl.Column("pill", "sensitive", domain=dl.Domain(("yes", "no"))),
    )
)
Person = tuple[int, str, str, str]
Row = tuple[Sequence[int], str, str, str]  # ages, places, values; no ages: suppressed


def truth_of(people: Sequence[Person]) -> Truth:
    names = [column.name for column in SCHEMA.columns]
    columns = {name: [person[i] for person in people] for i, name in enumerate(names)}
    return Truth.of(dl.Table(columns, SCHEMA).cells())


def release_of(rows: Sequence[Row]) -> Generalized:
    release = dl.read_release(
        {
            "age": ["{" + ", ".join(map(str, ages)) + "}" if ages else "*" for ages, *_ in rows],
            "place": ["{" + ", ".join(places) + "}" if ages else "*" for ages, places, *_ in rows],
            "ill": [ill for *_, ill, _ in rows],
            "pill": [pill for *_, pill in rows],
        },
        SCHEMA,
    )
    assert isinstance(release, Generalized)
    return release


def fewest(people: Sequence[Person], rows: Sequence[Row], what: str) -> int:
    """Of all ways to give each person a row, the fewest rows that do not fit: in `age`, `place`, or both."""
    wrong = np.ones((len(people), len(rows)), dtype=int)
    for i, person in enumerate(people):
        for j, (ages, places, *values) in enumerate(rows):
            fits = tuple(values) == person[2:]
            fits &= not ages or what == "place" or person[0] in ages
            fits &= not ages or what == "age" or person[1] in places
            wrong[i, j] = not fits
    return int(wrong[linear_sum_assignment(wrong)].sum())


def drawn(seed: int) -> tuple[list[Person], list[Row]]:
    """People, and rows that mostly fit them: some suppressed, some with a changed key, some with a swapped value."""
    rng = random.Random(seed)
    people = [
        (rng.choice(AGES), rng.choice(PLACES), rng.choice(ILLS), rng.choice(("yes", "no")))
        for _ in range(rng.randint(1, 14))
    ]
    is_apart = rng.random() < 0.3  # labels that do not overlap
    rows: list[Row] = []
    for age, place, ill, pill in people:
        kind = rng.choice(["fit", "fit", "fit", "suppressed", "changed"])
        if kind == "changed":
            age, place = rng.choice(AGES), rng.choice(PLACES)
        ages = [age // 2 * 2, age // 2 * 2 + 1] if is_apart else sorted({age, *rng.sample(AGES, rng.randrange(3))})
        places = place if is_apart else "".join(sorted({place, *rng.sample(PLACES, rng.randrange(3))}))
        rows.append(((), "", ill, pill) if kind == "suppressed" else (ages, places, ill, pill))
    if rng.random() < 0.3:  # every column keeps its values, and rows do not
        pills = [row[3] for row in rows]
        rng.shuffle(pills)
        rows = [(ages, places, ill, pill) for (ages, places, ill, _), pill in zip(rows, pills, strict=True)]
    rng.shuffle(rows)
    if all(not ages for ages, *_ in rows):  # a release of suppressed rows alone is one class that everybody fits
        rows = [(AGES, PLACES, ill, pill) for *_, ill, pill in rows]
    return people, rows


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_the_fewest_rows_of_any_matching(seed: int) -> None:
    people, rows = drawn(seed)
    found = misfits(release_of(rows), truth_of(people))
    assert found.rows == fewest(people, rows, "both")
    each = [fewest(people, rows, what) for what in ("age", "place")]
    assert sum(each) <= 2 * found.rows  # or the two oracles contradict each other
    more = max(found.rows - sum(each), 0) / 2
    assert found.cells.tolist() == pytest.approx([one + more for one in each])


def test_both_ways_are_tried() -> None:
    """Releases whose labels are apart are counted, others matched; the test above must see many of both."""
    overlapping = changed = 0
    for seed in range(40):
        people, rows = drawn(seed)
        labels = {(tuple(ages), places) for ages, places, *_ in rows if ages}
        fitting = [sum(person[0] in ages and person[1] in places for ages, places in labels) for person in people]
        overlapping += max(fitting) > 1
        changed += fewest(people, rows, "both") > 0
    assert 10 <= overlapping <= 35
    assert changed >= 10


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_a_changed_cell_costs_what_a_suppressed_one_does(seed: int) -> None:
    people, rows = drawn(seed)
    release, truth = release_of(rows), truth_of(people)
    found, changed = fidelity(release, truth, queries=1), misfits(release, truth)
    assert found["misfit"] == changed.rows
    published = [row for row in rows if row[0]]
    means = []  # of each column: the share of its leaves in a label, and how wide it is
    for a, leaves in enumerate((AGES, PLACES)):
        share = [len(row[a]) / len(leaves) for row in published]
        span = [(max(row[0]) - min(row[0])) / 5 if a == 0 else len(row[1]) / 3 for row in published]
        wide = [w if len(row[a]) > 1 else 0 for w, row in zip(span, published, strict=True)]
        part = []
        for cost in (share, wide):
            mean = sum(cost) / len(cost)
            wrong = min(changed.cells[a], len(published))  # a suppressed row costs as much already
            part.append((sum(cost) + len(rows) - len(published) + wrong * (1 - mean)) / len(rows))
        means.append(part)
    assert found["ncp"] == pytest.approx(sum(wide for _, wide in means) / 2)
    ages, places = (means[0][0] - 1 / 6) / (5 / 6), (means[1][0] - 1 / 3) / (2 / 3)
    assert found["loss"] == pytest.approx(((1 + ages) * (1 + places)) ** 0.5 - 1)
    if not changed.rows:
        assert (found["ncp"], found["loss"]) == (ncp(release), release_utility(release)["loss"])


def perturbed(share: float, seed: int = 0, count: int = 400) -> tuple[Generalized, Truth, int]:
    """Raw values of which a share of the rows had the age drawn anew from the column (PRAM), and how many changed."""
    rng = random.Random(seed)
    people = [(rng.choice(AGES), rng.choice(PLACES), rng.choice(ILLS), rng.choice(("yes", "no"))) for _ in range(count)]
    ages = [person[0] for person in people]
    new = [rng.choice(ages) if rng.random() < share else age for age in ages]
    rows: list[Row] = [([age], place, ill, pill) for age, (_, place, ill, pill) in zip(new, people, strict=True)]
    return release_of(rows), truth_of(people), sum(one != other for one, other in zip(ages, new, strict=True))


def test_a_perturbed_release_is_not_free() -> None:
    release, truth, changed = perturbed(0.3)
    found = fidelity(release, truth, queries=10)
    assert 0 < found["misfit"] <= changed
    assert found["ncp"] == pytest.approx(misfits(release, truth).cells.sum() / 800)
    assert found["ncp"] >= found["misfit"] / 800 > 0
    assert found["precision"] == pytest.approx(1 - found["ncp"])  # values or nothing: both count cells
    assert found["loss"] > 0.01
    same, truth, changed = perturbed(0)
    found = fidelity(same, truth, queries=10)
    assert changed == found["misfit"] == found["ncp"] == 0
    assert found["precision"] == 1
    assert found["loss"] == release_utility(same)["loss"]


def test_tuples_that_were_changed(tmp_path: Path) -> None:
    """Of an anatomized release the quasi-identifiers alone are held against the table."""
    (tmp_path / "r.quasi.csv").write_text("group,age,place\n0,1,a\n0,2,b\n1,3,c\n1,3,c\n", encoding="utf-8")
    (tmp_path / "r.sensitive.csv").write_text(
        "group,ill,pill\n0,Flu,yes\n0,Pox,yes\n1,Flu,no\n1,Ache,no\n", encoding="utf-8"
    )
    release = dl.read_release(tmp_path / "r", SCHEMA)
    assert isinstance(release, Anatomized)
    people: list[Person] = [
        (1, "a", "Flu", "yes"),
        (2, "b", "Pox", "yes"),
        (3, "c", "Flu", "no"),
        (3, "c", "Ache", "no"),
    ]
    found = fidelity(release, truth_of(people), queries=1)
    assert (found["misfit"], found["loss"], found["ncp"], found["precision"]) == (0, 0.0, 0.0, 1.0)
    people[2] = (4, "a", "Flu", "no")
    found = fidelity(release, truth_of(people), queries=1)
    assert found["misfit"] == 1
    assert (found["ncp"], found["precision"]) == pytest.approx((2 / 8, 1 - 2 / 8))
    assert found["loss"] == pytest.approx(0.25)
    people[2] = (1, "c", "Flu", "no")  # every column's values but one are there, in other rows
    people[0] = (3, "a", "Flu", "yes")
    changed = misfits(release, truth_of(people))
    assert (changed.rows, changed.cells.tolist()) == (2, [1.0, 1.0])


def people_table(count: int) -> dl.Table:
    rng = np.random.default_rng(7)
    names = [str(age) for age in range(40)]
    columns = {
        "age": rng.choice(names, count).tolist(),
        "place": rng.choice(list(PLACES), count).tolist(),
        "ill": rng.choice(ILLS, count).tolist(),
    }
    schema = dl.Schema(
        (
            dl.Column("age", "quasi", type="integer", domain=dl.Domain(tuple(names)), intervals=(5, 10, 20)),
            dl.Column("place", "quasi", suppress=True),
            dl.Column("ill", "sensitive"),
        )
    )
    return dl.Table(columns, schema)


PUBLISHERS = {
    "lattice": Lattice([KAnonymity(4)], suppression=0.1),
    "mondrian": Mondrian([KAnonymity(4)]),
    "microaggregation": Microaggregation(3, "ranges"),
    "anatomy": Anatomy(2),
}


@pytest.mark.parametrize("name", PUBLISHERS)
def test_a_truthful_release_keeps_its_figures(name: str) -> None:
    table = people_table(300)
    release = PUBLISHERS[name].publish(table).release  # type: ignore[attr-defined]
    truth = Truth.of(table.cells())
    found = fidelity(release, truth, queries=5)
    assert found["misfit"] == 0
    assert misfits(release, truth).cells.tolist() == [0, 0]
    assert found["loss"] == release_utility(release)["loss"]
    if isinstance(release, Generalized):
        assert found["ncp"] == ncp(release)
        assert found.get("precision", 1) == (precision(release) if "precision" in found else 1)
    else:
        assert (found["loss"], found["ncp"], found["precision"]) == (0.0, 0.0, 1.0)


@pytest.mark.slow
def test_where_there_are_too_many_pairs_the_bound_is_weaker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never above what was changed, and never above the bound that looks at all pairs."""
    monkeypatch.setattr(misfit, "MAX_PAIRS", 0)
    for seed in range(60):
        people, rows = drawn(seed)
        found = misfits(release_of(rows), truth_of(people))
        assert 0 <= found.rows <= fewest(people, rows, "both")
        assert (found.cells >= 0).all()
