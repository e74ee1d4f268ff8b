"""How often the nearest centroid is that of a person's own group, and when that can be known."""

from __future__ import annotations

from pathlib import Path

import pytest

import dalenius as dl
from dalenius.auditing.holdout import split_rows
from dalenius.engines import default
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.releases import Centroids
from tests.auditing.centroids import DISEASES, Plain, audited, read, released, write
from tests.conftest import lacking


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_how_often_the_group_is_the_persons_own(missing: float, tmp_path: Path) -> None:
    """Held against the groups that the publisher made; of c groups as near, one in c."""
    folder = released(tmp_path, 3, missing=missing)
    (attack,) = audited(folder).attacks
    loops = Plain(folder)
    made = Microaggregation(3).publish(dl.Table(folder / "people.csv", dl.Schema.load(folder / "privacy.toml")))
    chances = []
    for person, group in zip(read(folder / "people.csv"), made.group.tolist(), strict=True):
        where = loops.nearest(person)
        chances.append((group in where) / len(where))
    assert attack.right_group.n == 300
    assert attack.right_group.value == pytest.approx(sum(chances) / 300, abs=1e-12)
    assert 0.5 < attack.right_group.value < 1
    assert attack.right_group.low < attack.right_group.value < attack.right_group.high


def test_of_groups_that_are_as_near_the_own_one_counts_in_part(tmp_path: Path) -> None:
    """Three groups of three at one point: nobody can tell which is whose, and one in three is right."""
    folder = released(tmp_path, 3)
    alike = [{"age": "30", "pay": "500", "city": "Oslo", "disease": DISEASES[i % 5]} for i in range(9)]
    write(folder / "people.csv", alike + [{**one, "age": "60"} for one in alike[:3]])
    table = dl.Table(folder / "people.csv", dl.Schema.load(folder / "privacy.toml"))
    Microaggregation(3).publish(table).write(folder / "points.csv")
    assert len(Plain(folder).nearest(alike[0])) == 3
    (attack,) = audited(folder, holdout=None).attacks
    assert attack.right_group.value == pytest.approx((9 / 3 + 3) / 12)


@pytest.mark.slow
def test_right_groups_are_not_told_where_they_are_not_known(tmp_path: Path) -> None:
    folder = released(tmp_path, 3, shuffle=True)
    (attack,) = audited(folder).attacks
    assert attack.right_group.n == 0
    assert attack.success.value == pytest.approx(Plain(folder).success(read(folder / "people.csv")), abs=1e-12)
    # The table in another order: values alone could agree by chance, the means of the groups do not.
    rows = read(folder / "people.csv")
    Microaggregation(3).publish(dl.Table(folder / "people.csv", dl.Schema.load(folder / "privacy.toml"))).write(
        folder / "points.csv"
    )
    assert audited(folder).attacks[0].right_group.n == 300
    ages = [row["age"] for row in rows]
    moved = [{**row, "age": age} for row, age in zip(rows, [*ages[1:], ages[0]], strict=True)]
    write(folder / "people.csv", moved)
    assert audited(folder).attacks[0].right_group.n == 0


def test_a_release_without_group_numbers(tmp_path: Path) -> None:
    """As other tools write it: rows in the order of the table, equal centroids are a group."""
    folder = released(tmp_path, 3)
    lines = [{name: text for name, text in line.items() if name != "group"} for line in read(folder / "points.csv")]
    before = audited(folder).attacks[0]
    write(folder / "points.csv", lines)
    (folder / "points.csv.meta.json").unlink()
    after = audited(folder, kind="centroids").attacks[0]
    assert after.success == before.success
    assert after.right_group == before.right_group
    assert after.right_group.n == 300


def test_one_line_for_several_people_has_no_order(tmp_path: Path) -> None:
    folder = released(tmp_path, 3)
    schema = dl.Schema.load(folder / "privacy.toml")
    release = dl.read_release(folder / "points.csv", schema)
    assert isinstance(release, Centroids)
    before = audited(folder).attacks[0]
    (folder / "points.csv").unlink()
    (folder / "points.csv.meta.json").unlink()
    release.write(folder / "points.csv")
    after = audited(folder).attacks[0]
    assert after.success == before.success
    assert after.right_group.n == 0


@pytest.mark.slow
def test_adult(data: Path, tmp_path: Path) -> None:
    """The figures of docs/adversaries/nearest-centroid.md: 32,561 real people, three to a group."""
    if not (data / "adult" / "adult.data").is_file():
        lacking("adult/adult.data in $DALENIUS_DATA")
    numbers = {"age": 120, "education-num": 20, "hours": 100, "gain": 100_000}
    columns = {"age": 0, "education-num": 4, "hours": 12, "gain": 10, "sex": 9, "occupation": 6}
    with (data / "adult" / "adult.data").open(encoding="utf-8") as file:
        cells = [[cell.strip() for cell in line.split(",")] for line in file if line.strip()]
    write(tmp_path / "adult.csv", [{name: line[j] for name, j in columns.items()} for line in cells])
    text = 'sensitive = "occupation"\nmissing = ["?"]\n[columns.sex]\nrole = "quasi"\n[columns.occupation]\nrole = "sensitive"\n'
    for name, most in numbers.items():
        text += f'[columns.{name}]\nrole = "quasi"\ntype = "integer"\ndomain = {{ min = 0, max = {most} }}\n'
    (tmp_path / "privacy.toml").write_text(text, encoding="utf-8")
    schema = dl.Schema.load(tmp_path / "privacy.toml")
    split_rows(default().open(tmp_path / "adult.csv"), 0.3, tmp_path / "people.csv", tmp_path / "others.csv", seed=1)
    Microaggregation(3).publish(dl.Table(tmp_path / "people.csv", schema)).write(tmp_path / "points.csv")
    (attack,) = audited(tmp_path).attacks
    assert (attack.success.n, attack.control.n, attack.right_group.n) == (
        21_545,
        9_173,
        22_793,
    )  # 1,248 and 595 have no occupation
    assert attack.success.value == pytest.approx(0.420, abs=0.0006)
    assert attack.control.value == pytest.approx(0.264, abs=0.0006)
    assert attack.right_group.value == pytest.approx(0.508, abs=0.0006)
    assert attack.verdict == "leaks about persons"
