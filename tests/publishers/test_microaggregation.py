"""Microaggregation: MDAV's groups are those of a plain quadratic MDAV, and each is published as what its people are."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalenius as dl
from dalenius import criteria as c
from dalenius.errors import InputError, ParameterError
from dalenius.publishers import microaggregation
from dalenius.publishers.microaggregation import Microaggregation, PublishedMicroaggregation
from tests.publishers import plain
from tests.publishers.plain import SHEETS, Quasi, Sheet


def groups(published: PublishedMicroaggregation) -> list[list[int]]:
    """The rows of each group."""
    return [np.flatnonzero(published.group == q).tolist() for q in range(published.groups)]


def check_sizes(sizes: list[int], k: int, people: int) -> None:
    assert sum(sizes) == people
    if people < 2 * k:
        assert sizes == [people]
    else:
        assert all(k <= size < 2 * k for size in sizes)


# ---------------------------------------------------------------------------- the same groups


def compare(sheet: Sheet, k: int, *, tied: bool) -> bool:
    """Publish and hold the groups against the reference, also where ties decide if `tied`; whether they do."""
    published = Microaggregation(k).publish(sheet.table)
    check_sizes([len(rows) for rows in groups(published)], k, len(sheet.rows))
    found, ties = plain.mdav(plain.matrix(sheet.rows, sheet.quasi), k)
    if tied or not ties:
        assert set(map(frozenset, groups(published))) == set(map(frozenset, found))
    return ties > 0


@pytest.mark.slow
@settings(max_examples=100)
@given(sheet=SHEETS, k=st.integers(1, 7))
def test_random_tables(sheet: Sheet, k: int) -> None:
    if len(sheet.rows) >= k:
        compare(sheet, k, tied=False)
        return
    with pytest.raises(InputError, match=f"k = {k} cannot be met: the table has {len(sheet.rows)} p(eople|erson)"):
        Microaggregation(k).publish(sheet.table)


@pytest.mark.slow
def test_random_tables_in_which_ties_decide() -> None:
    """Different people who are equally far or near: the first row is taken, whatever rounding does."""
    tied = 0
    for seed in (*range(100), 135, 276):
        sheet = plain.make(seed)
        tied += compare(sheet, min(2 + seed % 4, len(sheet.rows)), tied=True)
    assert 20 < tied < 80  # both kinds are tried, here and above


def scattered(seed: int, n: int, *, integers: int = 2) -> Sheet:
    """Wide integers and two categories: few people are equally far from anybody."""
    rng = np.random.default_rng(seed)
    numbers = [rng.normal(0, 300, n).round().astype(int) for _ in range(integers)]
    numbers[-1] += numbers[0] // 2
    texts = [*numbers, rng.choice(list("abcde"), n, p=[0.5, 0.2, 0.15, 0.1, 0.05]), rng.choice(["F", "M"], n)]
    domain = tuple(str(i) for i in range(-3000, 3001))
    quasi = [Quasi(f"q{j}", "integer", domain) for j in range(integers)]
    quasi += [Quasi(f"q{integers}", "category", tuple("abcde")), Quasi(f"q{integers + 1}", "category", ("F", "M"))]
    columns: dict[str, list[str | None]] = {f"q{j}": [str(x) for x in own] for j, own in enumerate(texts)}
    rows = list(zip(*columns.values(), strict=True))
    columns["s"] = rng.choice(["x", "y", "z"], n).astype(str).tolist()
    schema = dl.Schema(
        [
            *(dl.Column(one.name, "quasi", one.type, domain=dl.Domain(one.leaves)) for one in quasi),  # type: ignore[arg-type]
            dl.Column("s", "sensitive"),
        ]
    )
    return Sheet(columns, schema, quasi, rows, [columns["s"]])  # type: ignore[list-item]


@pytest.mark.parametrize("k", [2, 3, 5, 10, 49, 99, 100, 150, 199])
def test_scattered_people(k: int) -> None:
    sheet = scattered(k, 200)
    published = Microaggregation(k).publish(sheet.table)
    found, ties = plain.mdav(plain.matrix(sheet.rows, sheet.quasi), k)
    assert not ties
    assert groups(published) == [sorted(rows) for rows in found]  # also in the order in which they are made
    check_sizes([len(rows) for rows in groups(published)], k, 200)


@pytest.fixture(scope="module")
def adult(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Sheet, dl.Table]:
    """Some hundred people of Adult, from here and there."""
    folder = data / "adult"
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file, delimiter=";"))[::70]
    quasi = []
    for name in (name for name in people[0] if name != "occupation"):
        with (folder / f"adult_hierarchy_{name}.csv").open(encoding="utf-8", newline="") as file:
            leaves = tuple(path[0] for path in csv.reader(file, delimiter=";"))
        quasi.append(Quasi(name, "integer" if name == "age" else "category", leaves))
    path = tmp_path_factory.mktemp("adult") / "some.csv"
    pl.DataFrame(people).write_csv(path)
    schema = dl.datasets.adult(data).declared
    rows = [tuple(person[column.name] for column in quasi) for person in people]
    return Sheet({}, schema, quasi, rows, [[person["occupation"] for person in people]]), dl.Table(path, schema)


@pytest.mark.parametrize("k", [3, 5, 12])
def test_adult(adult: tuple[Sheet, dl.Table], k: int, tmp_path: Path) -> None:
    sheet, table = adult
    assert len(sheet.rows) > 400
    published = Microaggregation(k).publish(table)
    found, _ = plain.mdav(plain.matrix(sheet.rows, sheet.quasi), k)
    published.write(tmp_path / "out.csv")
    written = plain.read_rows(tmp_path / "out.csv")
    assert plain.partition(row["group"] for row in written) == set(map(frozenset, found))
    assert dl.read_release(tmp_path / "out.csv", sheet.schema) == published.release


def test_ties_go_to_the_first_row() -> None:
    """Rows 0 and 2 are equally far from the centroid: shares are a 2/5, b 1/5, c 2/5 and a 2/5, b 3/5."""
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("r", "quasi"), dl.Column("s", "sensitive")])
    columns = {"q": list("acbca"), "r": list("abbba"), "s": list("xxxxx")}
    assert groups(Microaggregation(2).publish(dl.Table(columns, schema))) == [[0, 4], [1, 2, 3]]


def test_people_who_are_all_alike() -> None:
    """They are split all the same, the first rows first."""
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")])
    published = Microaggregation(3).publish(dl.Table({"q": ["a"] * 10, "s": ["x"] * 10}, schema))
    assert groups(published) == [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]


def test_a_group_by_hand() -> None:
    """Ages with the mean 30: 70 is farthest, 60 is next to it; then 10 is farthest from 70, with 11."""
    ages = ["10", "11", "19", "20", "20", "60", "70"]
    schema = dl.Schema(
        [
            dl.Column("age", "quasi", "integer", domain=dl.Domain(tuple(str(i) for i in range(100)))),
            dl.Column("s", "sensitive"),
        ]
    )
    published = Microaggregation(2).publish(dl.Table({"age": ages, "s": ["x"] * 7}, schema))
    assert groups(published) == [[5, 6], [0, 1], [2, 3, 4]]
    assert published.release.points.ravel().tolist() == [65.0, 10.5, 59 / 3]  # type: ignore[union-attr]


# ---------------------------------------------------------------------------- what is published


def centroid(sheet: Sheet, rows: list[int]) -> list[str | float]:
    """The mean of those that are not missing, "" if all are; the commonest category, of equals the first leaf."""
    found: list[str | float] = []
    for a, column in enumerate(sheet.quasi):
        texts = [sheet.rows[i][a] for i in rows]
        if column.type == "integer":
            known = [int(text) for text in texts if text]
            found.append(math.fsum(known) / len(known) if known else "")
        else:
            times = Counter(texts)
            found.append(max(column.leaves, key=lambda leaf: (times[leaf], -column.leaves.index(leaf))))
    return found


def check_rows(sheet: Sheet, written: list[dict[str, str]], published: PublishedMicroaggregation) -> None:
    """In the table's order, with every column but identifiers, the group in front."""
    names = [column.name for column in sheet.quasi]
    assert list(written[0]) == ["group", *(name for name in sheet.columns if name != "id")]
    assert [int(row["group"]) for row in written] == published.group.tolist()
    for name in sheet.columns:
        if name != "id" and name not in names:
            assert [row[name] for row in written] == [text or "" for text in sheet.columns[name]]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@settings(max_examples=25)
@given(sheet=SHEETS, k=st.integers(1, 5))
def test_centroids(ending: str, sheet: Sheet, k: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    if len(sheet.rows) < k:
        return
    published = Microaggregation(k).publish(sheet.table)
    path = tmp_path_factory.mktemp("written") / f"out.{ending}"
    published.write(path)
    written = plain.read_rows(path)
    check_rows(sheet, written, published)
    for rows in groups(published):
        expected = centroid(sheet, rows)
        for i in rows:
            for column, point in zip(sheet.quasi, expected, strict=True):
                text = written[i][column.name]
                if isinstance(point, float):
                    assert float(text) == pytest.approx(point, rel=1e-12, abs=1e-12)
                else:
                    assert text == point
    back = dl.read_release(path, sheet.schema)
    assert isinstance(back, dl.Centroids)
    assert back.people == len(sheet.rows)
    assert back.groups == published.groups
    assert _leaves_of(back) == _leaves_of(published.release)
    # Values of every group, whatever the domains.
    for q, rows in enumerate(groups(published)):
        values = Counter(tuple(column[i] for column in sheet.values) for i in rows)
        assert _values(back, q) == values
        assert _values(published.release, q) == values  # type: ignore[arg-type]


def _values(release: dl.Centroids | dl.Generalized, q: int) -> Counter[tuple[str, ...]]:
    cells, sensitive = release.sensitive, release.schema.sensitive
    return Counter(
        {
            tuple(column.leaves[code] for column, code in zip(sensitive, codes, strict=True)): count
            for group, codes, count in zip(
                cells.group.tolist(), cells.codes.tolist(), cells.counts.tolist(), strict=True
            )
            if group == q
        }
    )


def _leaves_of(release: object) -> list[list[str | float | None]]:
    """The points as texts and numbers: a code means something only with its domain."""
    assert isinstance(release, dl.Centroids)
    return [
        [
            (None if math.isnan(point) else point) if column.type == "integer" else column.leaves[int(point)]
            for column, point in zip(release.schema.quasi, points, strict=True)
        ]
        for points in release.points.tolist()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@settings(max_examples=25)
@given(sheet=SHEETS, k=st.integers(1, 5))
def test_ranges(ending: str, sheet: Sheet, k: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    if len(sheet.rows) < k:
        return
    published = Microaggregation(k, shown="ranges").publish(sheet.table)
    path = tmp_path_factory.mktemp("written") / f"out.{ending}"
    published.write(path)
    written = plain.read_rows(path)
    check_rows(sheet, written, published)
    # As wide as the group's people and no wider.
    for rows in groups(published):
        for a, column in enumerate(sheet.quasi):
            expected = column.published([sheet.rows[i][a] for i in rows])
            assert {column.members(written[i][column.name]) for i in rows} == {expected}
    back = dl.read_release(path, sheet.schema)
    assert isinstance(back, dl.Generalized)
    assert back == published.release
    assert c.KAnonymity(k).passes(back.grouping(sheet.schema.sensitive[0].name)).all()


def test_read_back_equals_what_was_published(tmp_path: Path) -> None:
    sheet = scattered(3, 150)
    for shown in ("centroids", "ranges"):
        published = Microaggregation(4, shown=shown).publish(sheet.table)  # type: ignore[arg-type]
        published.write(tmp_path / shown)
        assert dl.read_release(tmp_path / shown, sheet.schema) == published.release
        document = json.loads((tmp_path / f"{shown}.meta.json").read_text(encoding="utf-8"))
        assert document["kind"] == {"centroids": "centroids", "ranges": "generalized"}[shown]
        assert (document["method"], document["k"], document["shown"]) == ("microaggregation", 4, shown)
        assert (document["people"], document["classes"]) == (150, published.groups)


def test_centroids_are_right_when_means_are_odd_numbers(tmp_path: Path) -> None:
    """Thirds, negative means, a mean that is whole, numbers near 2^53, a group whose numbers are all missing."""
    domain = dl.Domain((*map(str, range(-5, 5)), str(2**53 - 2), str(2**53 - 1)))
    schema = dl.Schema([dl.Column("q", "quasi", "integer", domain=domain), dl.Column("s", "sensitive")])
    table = {"q": ["-5", "-4", "-4", "", None, "", str(2**53 - 2), str(2**53 - 1), str(2**53 - 1)], "s": ["x"] * 9}
    published = Microaggregation(3).publish(dl.Table(table, schema))
    published.write(tmp_path / "out.csv")
    back = dl.read_release(tmp_path / "out.csv", schema)
    assert back == published.release
    written = plain.read_rows(tmp_path / "out.csv")
    assert {tuple(row["q"] for row in written if row["group"] == q) for q in "012"} == {
        ("-4.333333333333333",) * 3,
        ("",) * 3,
        (repr((3 * 2**53 - 4) / 3).removesuffix(".0"),) * 3,
    }


def test_ranges_of_numbers_that_are_far_apart(tmp_path: Path) -> None:
    """Nothing is cut by position here: a range is two numbers of the domain, however far apart."""
    numbers = [str(2**40 * i) for i in range(4)]
    schema = dl.Schema(
        [dl.Column("q", "quasi", "integer", domain=dl.Domain(tuple(numbers))), dl.Column("s", "sensitive")]
    )
    published = Microaggregation(2, shown="ranges").publish(dl.Table({"q": numbers, "s": list("xyxy")}, schema))
    published.write(tmp_path / "out.csv")
    assert [row["q"] for row in plain.read_rows(tmp_path / "out.csv")] == [
        *[f"[0, {2**40}]"] * 2,
        *[f"[{2**41}, {3 * 2**40}]"] * 2,
    ]
    assert dl.read_release(tmp_path / "out.csv", schema) == published.release


MEANS = {"q": ["98", "100", "3", "5"], "s": list("xyxy")}


def published_means(missing: tuple[str, ...]) -> tuple[PublishedMicroaggregation, dl.Schema]:
    domain = dl.Domain(tuple(str(i) for i in range(101) if str(i) not in missing))
    schema = dl.Schema(
        [dl.Column("q", "quasi", "integer", domain=domain), dl.Column("s", "sensitive")], missing=missing
    )
    return Microaggregation(2).publish(dl.Table(MEANS, schema)), schema


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_mean_that_looks_like_a_missing_mark(ending: str, tmp_path: Path) -> None:
    """98 and 100 have the mean 99, which nobody has: there it marks a missing value."""
    published, schema = published_means(("", "99"))
    published.write(tmp_path / f"out.{ending}")
    back = dl.read_release(tmp_path / f"out.{ending}", schema)
    assert back == published.release
    assert sorted(back.points.ravel().tolist()) == [4.0, 99.0]  # type: ignore[attr-defined]
    if ending == "csv":
        assert [row["q"] for row in plain.read_rows(tmp_path / "out.csv")] == ["99.0", "99.0", "4", "4"]
        published.release.write(tmp_path / "again.csv")  # type: ignore[attr-defined]
        assert dl.read_release(tmp_path / "again.csv", schema) == published.release


def test_a_mean_that_cannot_be_told_from_missing(tmp_path: Path) -> None:
    published, _ = published_means(("", "99", "99.0"))
    with pytest.raises(InputError, match=r"mean 99\.0 of column 'q' would be read as a missing value"):
        published.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def members(lines: list[dict[str, str]]) -> list[list[tuple[str, ...]]]:
    """The rows of each group but for its number, in an order of their own."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in lines:
        found.setdefault(row["group"], []).append(tuple(text for name, text in row.items() if name != "group"))
    return sorted(sorted(rows) for rows in found.values())


@pytest.mark.parametrize("shown", ["centroids", "ranges"])
def test_shuffled_group_numbers_tell_nothing_of_the_rows(shown: str, tmp_path: Path) -> None:
    """Groups are made block by block in the order of the rows; under shuffle their numbers are drawn, anew each time."""
    domain = dl.Domain(tuple(map(str, range(400))))
    schema = dl.Schema(
        [dl.Column("row", "other"), dl.Column("q", "quasi", "integer", domain=domain), dl.Column("s", "sensitive")]
    )
    rows = [str(i) for i in range(400)]
    table = dl.Table({"row": rows, "q": rows, "s": ["x", "y"] * 200}, schema)
    published = Microaggregation(4, shown=shown, block=16).publish(table)  # type: ignore[arg-type]

    def numbers(**options: bool) -> list[int]:
        """The group of each row of the table."""
        published.write(tmp_path / "out", **options)
        lines = plain.read_rows(tmp_path / "out")
        assert members(lines) == together
        return [int(line["group"]) for line in sorted(lines, key=lambda line: int(line["row"]))]

    published.write(tmp_path / "out")
    together = members(plain.read_rows(tmp_path / "out"))
    assert numbers() == published.group.tolist()
    assert np.corrcoef(numbers(), range(400))[0, 1] > 0.9
    one, other = numbers(shuffle=True), numbers(shuffle=True)
    assert one != other
    # Of 100 numbers in an order at random the correlation has a spread of 0.1.
    assert max(abs(np.corrcoef(drawn, range(400))[0, 1]) for drawn in (one, other)) < 0.6


def test_shuffled(tmp_path: Path) -> None:
    sheet = scattered(5, 300)
    published = Microaggregation(5).publish(sheet.table)
    published.write(tmp_path / "plain")
    published.write(tmp_path / "mixed", shuffle=True)
    one, other = (plain.read_rows(tmp_path / name) for name in ("plain", "mixed"))
    assert one != other
    assert members(one) == members(other)
    assert {row["group"] for row in one} == {row["group"] for row in other}
    assert len(dl.read_release(tmp_path / "mixed", sheet.schema).sizes) == published.groups  # type: ignore[attr-defined]
    text = (tmp_path / "mixed.meta.json").read_text(encoding="utf-8")
    assert json.loads(text)["shuffled"] is True
    assert "seed" not in text


# ---------------------------------------------------------------------------- in blocks


def test_more_rows_than_are_grouped_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = scattered(1, 100)
    monkeypatch.setattr(microaggregation, "MAX_ROWS", 100)
    assert len(Microaggregation(4).publish(sheet.table).group) == 100
    monkeypatch.setattr(microaggregation, "MAX_ROWS", 99)
    with pytest.raises(
        InputError, match=r"The table has 100 rows, .* at most 99 are grouped at once\. .* --block 5000"
    ):
        Microaggregation(4).publish(sheet.table)
    assert len(Microaggregation(4, block=50).publish(sheet.table).group) == 100


@pytest.mark.parametrize(("k", "block", "n"), [(2, 8, 100), (3, 12, 101), (5, 20, 333), (5, 64, 500), (3, 40, 41)])
def test_blocks(k: int, block: int, n: int) -> None:
    # One integer: two would vary alike, by exactly 1, and which one is halved first would be open.
    sheet = scattered(n, n, integers=1)
    published = Microaggregation(k, block=block).publish(sheet.table)
    found = groups(published)
    check_sizes([len(rows) for rows in found], k, n)
    # Every group lies in a block, and is the one that MDAV makes of the block alone.
    made = plain.blocks(sheet.rows, sheet.quasi, block)
    assert len(made) > 1
    assert all(block / 2 <= len(rows) + 1 <= block + 1 for rows in made)
    owner = {i: b for b, rows in enumerate(made) for i in rows}
    assert all(len({owner[i] for i in rows}) == 1 for rows in found)
    points = plain.matrix(sheet.rows, sheet.quasi)
    expected = [[rows[i] for i in group] for rows in made for group in plain.mdav(points[rows], k)[0]]
    assert set(map(frozenset, found)) == set(map(frozenset, expected))
    again = Microaggregation(k, block=block).publish(sheet.table)
    assert np.array_equal(again.group, published.group)
    assert published.describe()["block"] == block


def test_a_block_as_large_as_the_table_changes_nothing() -> None:
    sheet = scattered(1, 120)
    whole = Microaggregation(4).publish(sheet.table).group
    assert np.array_equal(Microaggregation(4, block=120).publish(sheet.table).group, whole)
    assert not np.array_equal(Microaggregation(4, block=119).publish(sheet.table).group, whole)


# ---------------------------------------------------------------------------- what is refused


def table(**columns: list[str]) -> dl.Table:
    declared = [dl.Column(name, "sensitive" if name == "s" else "quasi") for name in columns]
    return dl.Table(columns, dl.Schema(declared))


@pytest.mark.parametrize("k", [0, -1, True, 2.0, "3", None])
def test_k_is_a_whole_number(k: object) -> None:
    with pytest.raises(
        ParameterError, match=f"'k' parameter of microaggregation must be an int ≥ 1. Got {k!r} instead"
    ):
        Microaggregation(k)  # type: ignore[arg-type]


def test_other_parameters() -> None:
    with pytest.raises(ParameterError, match="'shown' parameter of microaggregation must be centroids or ranges"):
        Microaggregation(2, shown="means")  # type: ignore[arg-type]
    for block in (0, 11, 2.5, "x", True):
        with pytest.raises(ParameterError, match=r"'block' parameter of microaggregation must be an int ≥ 4 k = 12"):
            Microaggregation(3, block=block)  # type: ignore[arg-type]
    assert Microaggregation(3, block=12).block == 12


def test_more_people_than_there_are() -> None:
    with pytest.raises(InputError, match=r"k = 3 cannot be met: the table has 2 people"):
        Microaggregation(3).publish(table(q=["a", "b"], s=["x", "y"]))


@pytest.mark.parametrize("widths", [None, (2, 4)])
@pytest.mark.parametrize("shown", ["centroids", "ranges"])
def test_numbers_without_a_domain(shown: str, widths: tuple[int, ...] | None) -> None:
    schema = dl.Schema([dl.Column("q", "quasi", "integer", intervals=widths), dl.Column("s", "sensitive")])
    with pytest.raises(InputError, match=r"'q' has no declared values.*domain = \{ min = …, max = … \} in the schema"):
        Microaggregation(1, shown=shown).publish(dl.Table({"q": ["1"], "s": ["x"]}, schema))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["group", "Group", "GROUP"])
def test_a_column_named_group_is_refused(name: str, tmp_path: Path) -> None:
    """Also in upper case, which engines do not tell apart: the file would lack its group column."""
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column(name, "other"), dl.Column("s", "sensitive")])

    def publish() -> None:
        Microaggregation(1).publish(dl.Table({"q": ["a"], name: ["1"], "s": ["x"]}, schema)).write(tmp_path / "out.csv")

    with pytest.raises(InputError, match=r"column 'group'.*Rename"):
        publish()


def test_a_column_named_count_is_kept(tmp_path: Path) -> None:
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("count", "other"), dl.Column("s", "sensitive")])
    columns = {"q": list("aabb"), "count": list("9753"), "s": list("xyxy")}
    for shown in ("centroids", "ranges"):
        published = Microaggregation(2, shown=shown).publish(dl.Table(columns, schema))  # type: ignore[arg-type]
        published.write(tmp_path / "out.csv")
        assert [row["count"] for row in plain.read_rows(tmp_path / "out.csv")] == list("9753")
        assert dl.read_release(tmp_path / "out.csv", schema) == published.release
