"""Anatomy: groups of the promised shape for every possible ℓ, drawn at random, in two files that tell no more."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import dalenius as dl
from dalenius import criteria as c
from dalenius.errors import InputError, ParameterError
from dalenius.publishers.anatomy import Anatomy, PublishedAnatomy, schedule
from tests.publishers import plain


def people(values: list[str], seed: int = 0) -> dict[str, list[str]]:
    """A table of these sensitive values in a random order, with two quasi-identifiers and another column."""
    rng = random.Random(seed)
    shuffled = rng.sample(values, len(values))
    return {
        "id": [f"P{i}" for i in range(len(values))],
        "age": [str(rng.randint(20, 40)) for _ in values],
        "note": [f"note {i}" for i in range(len(values))],
        "s": shuffled,
        "city": [rng.choice(["a", "b, c", ""]) for _ in values],
    }


SCHEMA = dl.Schema(
    [
        dl.Column("id", "identifier"),
        dl.Column("city", "quasi"),
        dl.Column("age", "quasi", "integer"),
        dl.Column("note", "other"),
        dl.Column("s", "sensitive"),
    ]
)


def counted(counts: list[int]) -> list[str]:
    return [f"v{value}" for value, count in enumerate(counts) for _ in range(count)]


def group_of_rows(published: PublishedAnatomy, folder: Path, **options: bool) -> list[int]:
    """Everybody's group, row by row, as the written file tells it."""
    published.write(folder / "out", **options)
    return [int(row["group"]) for row in plain.read_rows(folder / "out.quasi.csv")]


# ---------------------------------------------------------------------------- the shape of the groups


def check_shape(counts: list[int], l: int, seed: int) -> list[int]:  # noqa: E741 - the literature's letter
    """The schedule of these counts against the definition; the sizes of the groups."""
    places, groups = schedule(np.array(counts, dtype=np.int64), l, np.random.default_rng(seed))
    assert [len(own) for own in places] == counts
    values = [f"v{value}" for value, own in enumerate(places) for _ in own]
    group = [q for own in places for q in own.tolist()]
    assert plain.anatomy_faults(values, group, l) == []
    assert groups == sum(counts) // l
    return list(Counter(group).values())


def check_refused(counts: list[int], l: int) -> None:  # noqa: E741 - the literature's letter
    possible = sum(counts) // max(counts)
    with pytest.raises(InputError, match=rf"ℓ = {l} is not possible: .*largest possible ℓ is {possible}\.( |$)"):
        schedule(np.array(counts, dtype=np.int64), l, np.random.default_rng(0))


def test_every_l_of_small_counts() -> None:
    """All tables of up to six values with up to six people each."""
    for kinds in range(1, 7):
        for counts in itertools.combinations_with_replacement(range(1, 7), kinds):
            possible = sum(counts) // max(counts)
            for l in range(2, possible + 1):  # noqa: E741
                check_shape(list(counts), l, seed=sum(counts))
            for l in range(max(2, possible + 1), possible + 4):  # noqa: E741
                check_refused(list(counts), l)


@settings(max_examples=100)
@given(counts=st.lists(st.integers(0, 60), min_size=2, max_size=30).filter(any), seed=st.integers(0, 99))
def test_every_l_of_random_counts(counts: list[int], seed: int) -> None:
    """In any order, with values that nobody has."""
    possible = sum(counts) // max(counts)
    for l in range(2, possible + 1):  # noqa: E741
        check_shape(counts, l, seed)
    check_refused(counts, max(2, possible + 1))


def test_groups_are_as_even_as_can_be() -> None:
    """ℓ or ℓ + 1 people, whenever there is a group for each of those left over (N − ℓ ⌊N/ℓ⌋ ≤ ⌊N/ℓ⌋).

    That this can always be had: deal the people, sorted by value, to the groups in turn.
    """
    for kinds in range(2, 7):
        for counts in itertools.combinations_with_replacement(range(1, 6), kinds):
            for l in range(2, sum(counts) // max(counts) + 1):  # noqa: E741
                groups, left = divmod(sum(counts), l)
                sizes = check_shape(list(counts), l, seed=1)
                if left <= groups:
                    assert set(sizes) <= {l, l + 1}, (counts, l)


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_many_people_are_even(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(50, 1000, 12).tolist()
    for l in range(2, sum(counts) // max(counts) + 1):  # noqa: E741
        assert set(check_shape(counts, l, seed)) <= {l, l + 1}


def test_the_commonest_values_are_taken_first() -> None:
    """Of 4, 2, 2 the commonest is in every group of two; taken otherwise it would be left over three times."""
    for seed in range(20):
        places, groups = schedule(np.array([4, 2, 2]), 2, np.random.default_rng(seed))
        assert groups == 4
        assert sorted(places[0].tolist()) == [0, 1, 2, 3]
        assert sorted([*places[1], *places[2]]) == [0, 1, 2, 3]


@pytest.mark.parametrize("sensitive", ["occupation", "education"])
def test_adult(data: Path, sensitive: str, tmp_path: Path) -> None:
    table = dl.datasets.adult(data, sensitive=sensitive)
    rows = plain.read_rows(data / "adult" / "adult.csv", ";")
    values = [row[sensitive] for row in rows]
    most = len(values) // max(Counter(values).values())
    for l in range(2, most + 1):  # noqa: E741
        published = Anatomy(l).publish(table, seed=l)
        assert set(published.release.sizes.tolist()) <= {l, l + 1}
        assert c.DistinctDiversity(l).passes(published.release.grouping()).all()
    with pytest.raises(InputError, match=rf"largest possible ℓ is {most}\."):
        Anatomy(most + 1).publish(table)
    group = group_of_rows(published, tmp_path)
    assert plain.anatomy_faults(values, group, most) == []


# ---------------------------------------------------------------------------- who goes where


def check_files(columns: dict[str, list[str]], published: PublishedAnatomy, folder: Path) -> list[int]:
    """Both files against the table: the quasi-identifiers row by row, the sensitive values group by group."""
    group = group_of_rows(published, folder)
    quasi, sensitive = plain.read_rows(folder / "out.quasi.csv"), plain.read_rows(folder / "out.sensitive.csv")
    assert list(quasi[0]) == ["group", *(name for name in columns if name not in ("id", "s"))]
    for name in quasi[0]:
        if name != "group":
            assert [row[name] for row in quasi] == columns[name]
    assert list(sensitive[0]) == ["group", "s", "count"]
    # Row i's group holds row i's value: exactly the values of the group's people.
    told = Counter({(int(row["group"]), row["s"]): int(row["count"]) for row in sensitive})
    assert told == Counter(zip(group, columns["s"], strict=True))
    # By group and value, whatever the order of the rows was.
    keys = [(int(row["group"]), row["s"]) for row in sensitive]
    assert keys == sorted(set(keys))
    return group


@pytest.mark.slow
@settings(max_examples=40)
@given(
    counts=st.lists(st.integers(1, 12), min_size=2, max_size=6),
    seed=st.integers(0, 10**6),
    draw=st.data(),
)
def test_people_and_files(
    counts: list[int], seed: int, draw: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    possible = sum(counts) // max(counts)
    columns, folder = people(counted(counts), seed), tmp_path_factory.mktemp("anatomy")
    table = dl.Table(columns, SCHEMA)
    if possible < 2:
        with pytest.raises(InputError, match=r"largest possible ℓ is 1\. Anatomy needs at least 2"):
            Anatomy(2).publish(table)
        return
    l = draw.draw(st.integers(2, possible))  # noqa: E741
    published = Anatomy(l).publish(table, seed=seed)
    group = check_files(columns, published, folder)
    assert plain.anatomy_faults(columns["s"], group, l) == []
    back = dl.read_release(folder / "out", SCHEMA)
    assert isinstance(back, dl.Anatomized)
    assert back == published.release
    assert (back.people, back.groups) == (sum(counts), sum(counts) // l)
    assert c.DistinctDiversity(l).passes(back.grouping()).all()
    # Each group's tuples and values are those of the same people.
    tuples = Counter(zip(group, columns["city"], columns["age"], strict=True))
    assert _quasi(back) == tuples


def _quasi(release: dl.Anatomized) -> Counter[tuple[int, str, str]]:
    city, age = (column.leaves for column in release.schema.quasi)
    cells = release.quasi
    return Counter(
        {
            (group, city[codes[0]], age[codes[1]]): count
            for group, codes, count in zip(
                cells.group.tolist(), cells.codes.tolist(), cells.counts.tolist(), strict=True
            )
        }
    )


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars"])
def test_sources(kind: str, tmp_path: Path) -> None:
    columns = people(counted([30, 25, 20, 15]), 3)
    frame = pl.DataFrame(columns)
    if kind == "csv":
        frame.write_csv(tmp_path / "in.csv")
    if kind == "parquet":
        frame.write_parquet(tmp_path / "in.parquet")
    source = {"pandas": pd.DataFrame(columns), "polars": frame}.get(kind, tmp_path / f"in.{kind}")
    published = Anatomy(3).publish(dl.Table(source, SCHEMA), seed=1)
    group = check_files(columns, published, tmp_path)
    assert plain.anatomy_faults(columns["s"], group, 3) == []
    assert dl.read_release(tmp_path / "out", SCHEMA) == published.release


def test_texts_that_mean_the_same_value(tmp_path: Path) -> None:
    """007 and 7 are one age, ? and nothing are one disease; the file keeps the texts of quasi-identifiers."""
    schema = dl.Schema(
        [dl.Column("age", "quasi", "integer"), dl.Column("s", "sensitive")], missing=("", "?"), suppressed=("*",)
    )
    columns = {"age": ["007", "7", "7.0", "?", "", "8"], "s": ["", "?", "*", "x", "*", "x"]}
    published = Anatomy(2).publish(dl.Table(columns, schema), seed=5)
    group = group_of_rows(published, tmp_path)
    assert plain.anatomy_faults(["", "", "*", "x", "*", "x"], group, 2) == []
    assert [row["age"] for row in plain.read_rows(tmp_path / "out.quasi.csv")] == columns["age"]
    assert dl.read_release(tmp_path / "out", schema) == published.release


def test_the_sensitive_file_is_not_in_the_order_of_the_rows(tmp_path: Path) -> None:
    """Nor does the order of the rows say anything: two orders of one table give the same file if the draw is the same."""
    columns = people(counted([20, 20, 20]), 1)
    turned = {name: texts[::-1] for name, texts in columns.items()}
    texts = []
    for table in (columns, turned):
        Anatomy(2).publish(dl.Table(table, SCHEMA), seed=7).write(tmp_path / "out")
        texts.append((tmp_path / "out.sensitive.csv").read_text(encoding="utf-8"))
    assert texts[0] == texts[1]


# ---------------------------------------------------------------------------- merged groups


@pytest.mark.parametrize("merge", [1, 2, 3, 5])
def test_merged_groups(merge: int, tmp_path: Path) -> None:
    """Neighbours are joined, the last handful of fewer with the one before it; the draw is the same."""
    columns = people(counted([9, 8, 7, 6, 5]), 2)
    table = dl.Table(columns, SCHEMA)
    single = group_of_rows(Anatomy(3).publish(table, seed=4), tmp_path)
    published = Anatomy(3, merge=merge).publish(table, seed=4)
    group = check_files(columns, published, tmp_path)
    joined = (35 // 3) // merge
    assert group == [min(q // merge, joined - 1) for q in single]
    sizes = published.release.sizes.tolist()
    assert len(sizes) == joined
    assert all(3 * merge <= size for size in sizes)
    assert dl.read_release(tmp_path / "out", SCHEMA) == published.release
    document = json.loads((tmp_path / "out.meta.json").read_text(encoding="utf-8"))
    assert (document["l"], document["merge"], document["classes"]) == (3, merge, joined)


def test_more_groups_merged_than_there_are() -> None:
    table = dl.Table(people(counted([4, 4, 4])), SCHEMA)
    assert Anatomy(3, merge=4).publish(table, seed=0).release.groups == 1
    with pytest.raises(InputError, match=r"--merge 5 is larger than the number of groups, 4"):
        Anatomy(3, merge=5).publish(table, seed=0)


# ---------------------------------------------------------------------------- chance


def test_seeds(tmp_path: Path) -> None:
    table = dl.Table(people(counted([20, 20, 20])), SCHEMA)
    drawn = [group_of_rows(Anatomy(3).publish(table, seed=seed), tmp_path) for seed in (1, 1, 2, None, None)]
    assert drawn[0] == drawn[1]
    # Two draws of 60 people agree with probability 1/20!³.
    different = [drawn[0], *drawn[2:]]
    assert all(one != other for one, other in itertools.combinations(different, 2))


def test_the_seed_is_told_nowhere(tmp_path: Path) -> None:
    published = Anatomy(3).publish(dl.Table(people(counted([20, 20, 20])), SCHEMA), seed=987654321)
    published.write(tmp_path / "out")
    for file in tmp_path.iterdir():
        text = file.read_text(encoding="utf-8")
        assert "987654321" not in text
        assert "seed" not in text
    assert "seed" not in published.describe()
    assert "987654321" not in repr(published)


def test_everybody_of_a_value_is_as_likely_to_be_in_each_of_its_groups() -> None:
    """Also to be with each person of the other value, and together in each order; equal quasi-identifiers or not.

    Two values of five people each make five groups. Who is where is a permutation of five, and for a fair one 4/5 of the
    usual statistic is χ² with 4² degrees of freedom. A fair draw passes the limit once in a million; the seeds are fixed.
    """
    columns = {"q": list("aaabbaabbc"), "s": list("xxxxxyyyyy")}
    table = dl.Table(columns, dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")]))
    value = table.cells().codes[:, 1]
    runs = 2000
    orders: Counter[tuple[int, ...]] = Counter()
    found = {"x in a group": np.zeros((5, 5)), "y in a group": np.zeros((5, 5)), "x with y": np.zeros((5, 5))}
    for seed in range(runs):
        published = Anatomy(2).publish(table, seed=seed)
        one, other = (published.group[value[published.cell] == s] for s in (0, 1))
        found["x in a group"][np.arange(5), one] += 1
        found["y in a group"][np.arange(5), other] += 1
        found["x with y"] += one[:, None] == other[None, :]
        orders[tuple(one.tolist())] += 1
    for what, times in found.items():
        statistic = ((times - runs / 5) ** 2 / (runs / 5)).sum()
        assert 4 / 5 * statistic < chi2.isf(1e-6, 16), what
    # All 120 orders, and not five rotations of one.
    expected = runs / 120
    missed = (120 - len(orders)) * expected
    statistic = sum((times - expected) ** 2 / expected for times in orders.values()) + missed
    assert statistic < chi2.isf(1e-6, 119)


def test_those_left_over_are_spread_at_random() -> None:
    """Five values of three people each and ℓ = 2 leave one over, with five of the seven groups to choose from."""
    where: Counter[int] = Counter()
    runs = 2000
    for seed in range(runs):
        places, groups = schedule(np.array([3] * 5), 2, np.random.default_rng(seed))
        sizes = np.bincount(np.concatenate(places), minlength=groups)
        assert sorted(sizes.tolist()) == [2] * 6 + [3]
        where[int(sizes.argmax())] += 1
    assert len(where) == 5
    assert sum((times - runs / 5) ** 2 / (runs / 5) for times in where.values()) < chi2.isf(1e-6, 4)


def test_shuffled(tmp_path: Path) -> None:
    columns = people(counted([40, 40, 40]), 9)
    published = Anatomy(3).publish(dl.Table(columns, SCHEMA), seed=1)
    published.write(tmp_path / "plain")
    published.write(tmp_path / "mixed", shuffle=True)
    rows = {name: plain.read_rows(tmp_path / f"{name}.quasi.csv") for name in ("plain", "mixed")}
    order = {name: [tuple(row.items()) for row in own] for name, own in rows.items()}
    assert order["plain"] != order["mixed"]
    assert sorted(order["plain"]) == sorted(order["mixed"])
    one, other = ((tmp_path / f"{name}.sensitive.csv").read_bytes() for name in ("plain", "mixed"))
    assert one == other
    assert dl.read_release(tmp_path / "mixed", SCHEMA) == published.release
    assert json.loads((tmp_path / "mixed.meta.json").read_text(encoding="utf-8"))["shuffled"] is True
    assert json.loads((tmp_path / "plain.meta.json").read_text(encoding="utf-8"))["shuffled"] is False


def test_sidecar(tmp_path: Path) -> None:
    Anatomy(3).publish(dl.Table(people(counted([20, 20, 20])), SCHEMA)).write(tmp_path / "out")
    assert {file.name for file in tmp_path.iterdir()} == {"out.quasi.csv", "out.sensitive.csv", "out.meta.json"}
    document = json.loads((tmp_path / "out.meta.json").read_text(encoding="utf-8"))
    assert (document["kind"], document["method"]) == ("anatomized", "anatomy")
    assert document["criteria"] == ["distinct ℓ = 3"]
    assert (document["people"], document["classes"], document["suppressed"]) == (60, 20, 0)
    assert set(document["sha256"]) == {"release"}


# ---------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("l", [1, 0, -3, True, 2.0, "3", None])
def test_l_is_a_whole_number_from_2_on(l: object) -> None:  # noqa: E741
    with pytest.raises(ParameterError, match=f"'l' parameter of Anatomy must be an int ≥ 2. Got {l!r} instead"):
        Anatomy(l)  # type: ignore[arg-type]


@pytest.mark.parametrize("merge", [0, -1, True, 1.5, "2"])
def test_merge_is_a_whole_number_from_1_on(merge: object) -> None:
    with pytest.raises(ParameterError, match=f"'merge' parameter of Anatomy must be an int ≥ 1. Got {merge!r} instead"):
        Anatomy(2, merge=merge)  # type: ignore[arg-type]


def test_too_large_an_l() -> None:
    """The message tells the counts of no value by name."""
    table = dl.Table(people(counted([7, 5, 3, 1])), SCHEMA)
    with pytest.raises(InputError, match=r"most common value has 7 of 16 people.*largest possible ℓ is 2") as caught:
        Anatomy(3).publish(table)
    assert "v0" not in str(caught.value)
    with pytest.raises(InputError, match=r"largest possible ℓ is 1\. Anatomy needs at least 2"):
        Anatomy(2).publish(dl.Table(people(["x"] * 4 + ["y"]), SCHEMA))
    with pytest.raises(InputError, match=r"largest possible ℓ is 1\. Anatomy needs at least 2"):
        Anatomy(2).publish(dl.Table(people(["x"] * 4), SCHEMA))


def test_several_sensitive_columns() -> None:
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive"), dl.Column("t", "sensitive")])
    with pytest.raises(
        InputError, match=r"one sensitive column, and the schema has 2.*role = \"identifier\", which is dropped"
    ):
        Anatomy(2).publish(dl.Table({"q": ["a", "b"], "s": ["x", "y"], "t": ["x", "y"]}, schema))


@pytest.mark.parametrize("role", ["quasi", "other"])
@pytest.mark.parametrize("name", ["group", "Group", "GROUP"])
def test_a_column_named_group_is_refused(name: str, role: str, tmp_path: Path) -> None:
    """Also in upper case, which engines do not tell apart: the file would lack its group column."""
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column(name, role), dl.Column("s", "sensitive")])  # type: ignore[arg-type]

    def publish() -> None:
        table = dl.Table({"q": ["a", "b"], name: ["1", "2"], "s": ["x", "y"]}, schema)
        Anatomy(2).publish(table, seed=0).write(tmp_path / "out")

    with pytest.raises(InputError, match=r"column 'group'.*Rename"):
        publish()


@pytest.mark.parametrize("name", ["group", "Group"])
def test_an_identifier_named_group(name: str, tmp_path: Path) -> None:
    """It is not written: either the file has a group column of its own, or the table is refused."""
    schema = dl.Schema([dl.Column(name, "identifier"), dl.Column("q", "quasi"), dl.Column("s", "sensitive")])
    table = dl.Table({name: ["1", "2"], "q": ["a", "b"], "s": ["x", "y"]}, schema)
    try:
        Anatomy(2).publish(table, seed=0).write(tmp_path / "out")
    except InputError as error:
        assert "Rename" in str(error)  # noqa: PT017
    else:
        assert list(plain.read_rows(tmp_path / "out.quasi.csv")[0]) == ["group", "q"]


@pytest.mark.parametrize("role", ["quasi", "other"])
def test_a_column_named_count_is_kept(role: str, tmp_path: Path) -> None:
    """The name is taken: the sensitive file has a line a person."""
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("count", role), dl.Column("s", "sensitive")])  # type: ignore[arg-type]
    columns = {"q": list("abcdef"), "count": list("135791"), "s": list("xyxyxy")}
    published = Anatomy(2, merge=3).publish(dl.Table(columns, schema), seed=0)
    published.write(tmp_path / "out")
    assert [row["count"] for row in plain.read_rows(tmp_path / "out.quasi.csv")] == columns["count"]
    lines = plain.read_rows(tmp_path / "out.sensitive.csv")
    assert [tuple(line.items()) for line in lines] == [(("group", "0"), ("s", value)) for value in "xxxyyy"]
    assert dl.read_release(tmp_path / "out", schema) == published.release


@pytest.mark.parametrize("name", ["count", "Count", "value", "row", "s, t"])
def test_the_sensitive_column_may_have_any_name(name: str, tmp_path: Path) -> None:
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column(name, "sensitive")])
    published = Anatomy(2).publish(dl.Table({"q": list("abcd"), name: list("xyxy")}, schema), seed=0)
    published.write(tmp_path / "out")
    assert dl.read_release(tmp_path / "out", schema) == published.release
