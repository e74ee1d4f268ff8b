"""Who is in which group: read off the order of lines, and held-out people put in the places of people like them."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from dalenius import datasets
from dalenius import engines as engine
from dalenius.adversaries import UNKNOWN, RandomWorlds
from dalenius.auditing.attacks import attack
from dalenius.auditing.groups import OTHER_ORDER, control_in_groups, in_groups, people_in_groups
from dalenius.auditing.people import Control, People, open_together
from dalenius.publishers.anatomy import Anatomy
from dalenius.releases import Anatomized, GroupCells
from dalenius.schema import Column, Domain, Schema
from dalenius.table import Table

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Patients, others, and an anatomized release of the former, drawn with a seed."""
    found = tmp_path_factory.mktemp("groups")
    datasets.save_hospital(found, 300, 1)
    datasets.save_hospital(found, 200, 2, name="others.csv")
    table = Table(found / "patients.csv", Schema.load(found / "privacy.toml"))
    Anatomy(3).publish(table, seed=4).write(found / "release")
    return found


def read(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def opened(folder: Path, name: str | Path) -> tuple[Anatomized, People, Control | None]:
    schema = Schema.load(folder / "privacy.toml")
    release, people, control = open_together(
        str(name), folder / "patients.csv", folder / "others.csv", schema, kind=None, engine=None
    )
    assert isinstance(release, Anatomized)
    assert people is not None
    return release, people, control


def place(folder: Path, name: str | Path) -> People | str:
    release, people, _ = opened(folder, name)
    return people_in_groups(people, release, str(name), engine.default())


def names_of(people: People) -> Counter[tuple[str, ...]]:
    """(group, leaves…) with how many people have them."""
    schema, group = people.targets.schema, people.targets.group
    assert group is not None
    found: Counter[tuple[str, ...]] = Counter()
    for i, n in enumerate(people.people.tolist()):
        codes = [*people.targets.codes[i].tolist(), *people.values[i].tolist()]
        leaves = [column.leaves[code] for column, code in zip(schema.coded, codes, strict=True)]
        found[str(group[i]), *leaves] += n
    return found


def test_lines_in_the_order_of_the_table_tell_the_groups(folder: Path) -> None:
    found = place(folder, folder / "release")
    assert isinstance(found, People)
    names = ("age", "sex", "zip", "nationality")
    expected = Counter(
        (line["group"], *(line[name] for name in names), person["disease"])
        for line, person in zip(read(folder / "release.quasi.csv"), read(folder / "patients.csv"), strict=True)
    )
    assert names_of(found) == expected
    assert found.count == 300


@pytest.mark.parametrize("how", ["shuffled", "swapped", "weighed"])
def test_another_order_tells_nothing(folder: Path, tmp_path: Path, how: str) -> None:
    """Shuffled lines; two people of two groups, alike but for their disease, who change places; lines with counts."""
    lines, values = read(folder / "release.quasi.csv"), read(folder / "release.sensitive.csv")
    if how == "shuffled":
        lines = random.Random(1).sample(lines, len(lines))
    elif how == "swapped":
        sick = [person["disease"] for person in read(folder / "patients.csv")]
        key = ("age", "sex", "zip", "nationality")
        i, j = next(
            (i, j)
            for i in range(300)
            for j in range(i)
            if all(lines[i][k] == lines[j][k] for k in key)
            and sick[i] != sick[j]
            and lines[i]["group"] != lines[j]["group"]
        )
        lines[i]["group"], lines[j]["group"] = lines[j]["group"], lines[i]["group"]
    else:
        lines = [{**line, "count": "1"} for line in lines]
        lines[0]["count"] = "2"
        values[[v["group"] for v in values].index(lines[0]["group"])]["count"] = "2"
        lines.pop()  # as many people as the table has, and not a line for each
        gone = next(v for v in values if v["group"] == read(folder / "release.quasi.csv")[-1]["group"])
        values.remove(gone)
    write(tmp_path / "other.quasi.csv", lines)
    write(tmp_path / "other.sensitive.csv", values)
    found = place(folder, tmp_path / "other")
    assert found == ("the release does not have one line per person" if how == "weighed" else OTHER_ORDER)


def test_groups_may_have_any_names(folder: Path, tmp_path: Path) -> None:
    """Names that sort otherwise: the groups are the same."""
    for part in ("quasi", "sensitive"):
        rows = read(folder / f"release.{part}.csv")
        write(tmp_path / f"named.{part}.csv", [{**row, "group": f"G{997 * int(row['group']) % 1009}"} for row in rows])
    found, plain = place(folder, tmp_path / "named"), place(folder, folder / "release")
    assert isinstance(found, People)
    assert isinstance(plain, People)
    release = opened(folder, tmp_path / "named")[0]
    back = {str(number): name for name, number in release.group_numbers().items()}
    renamed = Counter({(f"G{997 * int(g) % 1009}", *rest): n for (g, *rest), n in names_of(plain).items()})
    assert Counter({(back[g], *rest): n for (g, *rest), n in names_of(found).items()}) == renamed


def test_held_out_people_stand_where_people_like_them_stand(folder: Path) -> None:
    _, _, control = opened(folder, folder / "release")
    assert control is not None
    wide = control.release
    assert isinstance(wide, Anatomized)
    placed = control_in_groups(control)
    group = placed.people.targets.group
    assert group is not None
    assert placed.people.count == control.people.count == 200
    cells = wide.quasi
    expected: Counter[tuple[int, ...]] = Counter()
    for codes, values, n in zip(
        control.people.targets.codes, control.people.values, control.people.people.tolist(), strict=True
    ):
        mine = np.flatnonzero((cells.codes == codes).all(axis=1))
        for c in mine.tolist():
            share = n * cells.counts[c] / cells.counts[mine].sum()
            expected[int(cells.group[c]), *codes.tolist(), *values.tolist()] += share
        if not len(mine):
            expected[UNKNOWN, *codes.tolist(), *values.tolist()] += n
    found: Counter[tuple[int, ...]] = Counter()
    for g, codes, values, n in zip(
        group.tolist(), placed.people.targets.codes, placed.people.values, placed.people.people.tolist(), strict=True
    ):
        found[g, *codes.tolist(), *values.tolist()] += n
    assert found.keys() == expected.keys()
    for key, n in expected.items():
        assert found[key] == pytest.approx(n)
    assert any(g == UNKNOWN for g, *_ in found)


class Located(RandomWorlds):
    """Random worlds in the target's group: exact, so that rates can be counted by hand."""

    name = "located"
    knows_group = True


def test_rates_of_an_adversary_who_knows_the_group() -> None:
    """Two groups of three; each has one person of each value, so the chance is 1/3 of everybody, and of held-out people too."""
    schema = Schema(
        (
            Column("q", "quasi", domain=Domain(("a", "b"))),
            Column("s", "sensitive", domain=Domain(("x", "y", "z", "w"))),
        )
    )
    table = Table({"q": list("aabbab"), "s": list("xyzxyw")}, schema)
    codes = np.array(
        [["ab".index(q), "xyzw".index(s)] for q, s in zip("aabbab", "xyzxyw", strict=True)], dtype=np.int32
    )
    group = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    people = in_groups(table, codes, group)
    cells = (codes[:, :1], codes[:, 1:])
    release = Anatomized(table.schema, *(GroupCells.gather(group, c, np.ones(6, dtype=np.int64), [4]) for c in cells))
    others = Table({"q": list("aab"), "s": list("xzw")}, schema)
    found = attack(Located(), release, "s", people, Control(release, People.of(others)), np.random.default_rng(0))
    assert found.success.value == pytest.approx(1 / 3)
    assert found.success.n == 6
    # Of the a's two of three stand in group 0 (x, y, z), of the b's one of three: 1/3 · (1 + 2/3 + 2/3) of three people.
    # x is in both groups, z only in the first, w only in the second.
    assert found.control.value == pytest.approx((1 / 3 + 2 / 3 / 3 + 2 / 3 / 3) / 3)
    assert found.control.n == 3
