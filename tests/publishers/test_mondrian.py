"""Mondrian equals a plain recursion over the rows, and what it writes holds what was asked."""

from __future__ import annotations

import csv
import itertools
import json
import random
import re
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dalenius as dl
from dalenius import criteria as c
from dalenius.errors import InputError, ParameterError
from dalenius.hierarchy import from_paths
from dalenius.publishers.mondrian import Mondrian, PublishedMondrian
from dalenius.releases import GroupedRelease
from tests.publishers import plain
from tests.publishers.plain import SHEETS, WITH_TREES, Asked, Quasi, Sheet

ASKED = (
    Asked(k=2),
    Asked(k=3),
    Asked(k=7),
    Asked(distinct=2),
    Asked(distinct=3),
    Asked(entropy="1.5"),
    Asked(entropy="2"),
    Asked(t="0"),
    Asked(t="0.25"),
    Asked(t="0.5"),
    Asked(k=3, distinct=2),
    Asked(k=2, t="0.4"),
    Asked(k=2, entropy="1.8", t="0.5"),
    Asked(k=4, distinct=2, entropy="1.4", t="0.6"),
)

# ---------------------------------------------------------------------------- the same parts


def compare(sheet: Sheet, asked: Asked, *, along: bool = False, others: bool = False) -> PublishedMondrian | None:
    """Publish, and hold every class's labels and values against the recursion; None if both refuse."""
    holds = asked.of_each_knowing_the_others(sheet.values) if others else asked.of(sheet.values)
    parts = plain.mondrian(sheet.rows, sheet.quasi, holds, along=along)
    publisher = Mondrian(asked.criteria(), cuts="hierarchy" if along else "order", others_as_quasi=others)
    if parts is None:
        with pytest.raises(InputError):
            publisher.publish(sheet.table)
        return None
    published = publisher.publish(sheet.table)
    # Boxes do not overlap, so that equal labels and equal values are equal parts.
    assert plain.released(published.release) == sheet.published(parts, along=along)
    assert published.describe()["classes"] == len(parts)
    return published


@pytest.mark.slow
@settings(max_examples=150)
@given(sheet=SHEETS, asked=st.sampled_from(ASKED))
def test_random_tables(sheet: Sheet, asked: Asked) -> None:
    compare(sheet, asked)


@pytest.mark.slow
@settings(max_examples=120)
@given(sheet=WITH_TREES, asked=st.sampled_from(ASKED), along=st.booleans())
def test_random_tables_with_hierarchies(sheet: Sheet, asked: Asked, along: bool) -> None:
    compare(sheet, asked, along=along)


@settings(max_examples=60)
@given(sheet=SHEETS, asked=st.sampled_from(ASKED))
def test_an_attacker_who_knows_the_other_sensitive_columns(sheet: Sheet, asked: Asked) -> None:
    compare(sheet, asked, others=True)


def test_random_tables_are_cut_and_refused() -> None:
    """The tables above are worth something: most are cut, many more than once, and some cannot be published."""
    found: Counter[str] = Counter()
    for seed in range(60):
        sheet = plain.make(seed)
        for asked in ASKED:
            parts = plain.mondrian(sheet.rows, sheet.quasi, asked.of(sheet.values))
            found[
                "refused" if parts is None else "whole" if len(parts) == 1 else "many" if len(parts) > 3 else "few"
            ] += 1
    assert all(found[name] > 60 for name in ("refused", "whole", "few", "many")), found


@pytest.fixture(scope="module")
def adult(data: Path) -> Sheet:
    """Adult and its hierarchies as plain readers see them; `schema` is not used."""
    folder = data / "adult"
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file, delimiter=";"))
    quasi = []
    for name in (name for name in people[0] if name != "occupation"):
        with (folder / f"adult_hierarchy_{name}.csv").open(encoding="utf-8", newline="") as file:
            paths = {path[0]: tuple(path) for path in csv.reader(file, delimiter=";")}
        quasi.append(Quasi(name, "integer" if name == "age" else "category", tuple(paths), paths))
    rows = [tuple(person[column.name] for column in quasi) for person in people]
    table = dl.datasets.adult(data)
    return Sheet({}, table.declared, quasi, rows, [[person["occupation"] for person in people]])


@pytest.fixture(scope="module")
def adult_table(data: Path) -> dl.Table:
    return dl.datasets.adult(data)


@pytest.mark.slow
@pytest.mark.parametrize("cuts", ["order", "hierarchy"])
@pytest.mark.parametrize(
    ("asked", "least"), [(Asked(k=5), 2500), (Asked(k=5, distinct=3), 2500), (Asked(t="0.3"), 100)], ids=str
)
def test_adult(adult: Sheet, adult_table: dl.Table, tmp_path: Path, asked: Asked, least: int, cuts: str) -> None:
    parts = plain.mondrian(adult.rows, adult.quasi, asked.of(adult.values), along=cuts == "hierarchy")
    assert parts is not None
    assert len(parts) > least  # the recursion did cut
    published = Mondrian(asked.criteria(), cuts=cuts).publish(adult_table)
    path = tmp_path / "adult.csv"
    published.write(path)
    written = plain.read_rows(path)
    names = [column.name for column in adult.quasi]
    assert plain.partition(tuple(row[name] for name in names) for row in written) == set(map(frozenset, parts))
    assert [row["occupation"] for row in written] == adult.values[0]
    back = dl.read_release(path, adult_table.declared)
    assert back == published.release
    assert isinstance(back, GroupedRelease)
    for criterion in asked.criteria():
        assert criterion.passes(back.grouping()).all()
    # The label says what the reference would say, and covers the row's own values.
    sets = adult.published(parts, along=cuts == "hierarchy")
    for a, column in enumerate(adult.quasi):
        members = {label: column.members(label) for label in {row[column.name] for row in written}}
        assert {key[a] for key in sets} == set(members.values())
        assert all(own[a] in members[row[column.name]] for row, own in zip(written, adult.rows, strict=True))


def test_labels_of_adult_are_intervals_and_sets(adult: Sheet, adult_table: dl.Table, tmp_path: Path) -> None:
    """`[lo, hi]` and `{a, b}`: who reads them needs no hierarchy file. Adult's labels such as 20-24 would need one."""
    Mondrian([c.KAnonymity(5)]).publish(adult_table).write(tmp_path / "adult.csv")
    written = plain.read_rows(tmp_path / "adult.csv")
    labels = [(column, {row[column.name] for row in written}) for column in adult.quasi]
    coarser = [(column, label) for column, found in labels for label in found - set(column.leaves)]
    forms = {"integer": r"\[\d+, \d+\]", "category": r"\{.+, .+\}"}
    assert len(coarser) > 100
    assert sorted(label for column, label in coarser if not re.fullmatch(forms[column.type], label)) == []


# ---------------------------------------------------------------------------- the rules, one by one


def cut(columns: dict[str, list[str]], declared: list[dl.Column], k: int = 2, **options: object) -> set[frozenset[int]]:
    """The parts of a table under k-anonymity."""
    n = len(next(iter(columns.values())))
    table = dl.Table({**columns, "s": ["x"] * n}, dl.Schema([*declared, dl.Column("s", "sensitive")]))
    published = Mondrian([c.KAnonymity(k)], **options).publish(table)  # type: ignore[arg-type]
    place = {leaves: i for i, leaves in enumerate(map(tuple, published.bottom.leaves.tolist()))}
    codes = [[table.texts()[column.name][text] for text in columns[column.name]] for column in declared]
    return plain.partition(int(published.part[place[row]]) for row in zip(*codes, strict=True))


def parts(*rows: list[int]) -> set[frozenset[int]]:
    return set(map(frozenset, rows))


def integer(name: str, low: int, high: int) -> dl.Column:
    return dl.Column(name, "quasi", "integer", domain=dl.Domain(tuple(str(i) for i in range(low, high + 1))))


def test_the_cut_is_closest_to_half_and_the_lower_of_two() -> None:
    ages = integer("q", 0, 99)
    assert cut({"q": ["1", "2", "3", "4"]}, [ages]) == parts([0, 1], [2, 3])
    # 3 of 8 at or below 1, 5 of 8 at or below 2: equally close, the lower.
    assert cut({"q": list("11122333")}, [ages], k=3) == parts([0, 1, 2], [3, 4, 5, 6, 7])
    # 1 of 6 or 4 of 6: the upper one is closer, and 2 people are too few: no other cut is tried.
    assert cut({"q": list("122233")}, [ages], k=3) == parts(range(6))
    # 2 of 7 or 5 of 7 are equally close: the lower.
    assert cut({"q": list("1122233")}, [ages]) == parts([0, 1], [2, 3, 4], [5, 6])


def test_the_widest_column_that_can_be_cut() -> None:
    q, r = integer("q", 0, 99), integer("r", 0, 99)
    # The whole range in both: q is first in the schema, though the table has r first.
    columns = {"r": ["0", "1", "0", "1"], "q": ["0", "0", "50", "50"]}
    assert cut(columns, [q, r]) == parts([0, 1], [2, 3])
    assert cut(columns, [r, q]) == parts([0, 2], [1, 3])
    # q cannot be cut in two parts of two: r is, which is as wide.
    assert cut({"q": ["0", "9", "9", "9"], "r": ["0", "1", "0", "1"]}, [q, r]) == parts([0, 2], [1, 3])
    # After a cut in q (0 against 90…99) the right part is 9/99 wide in q and all of r's range wide: r is next.
    columns = {"q": ["0"] * 4 + ["90", "99", "90", "99"], "r": ["5"] * 4 + ["1", "1", "9", "9"]}
    assert cut(columns, [q, r]) == parts([0, 1, 2, 3], [4, 5], [6, 7])


def test_ranges_are_those_of_the_table_not_of_the_domain() -> None:
    """q runs over all that the table has, 0 to 2, a fiftieth of its domain; r over all of its own, too: q is first."""
    q, r = integer("q", 0, 100), integer("r", 0, 2)
    columns = {"q": ["0", "0", "2", "2"], "r": ["0", "2", "0", "2"]}
    assert cut(columns, [q, r]) == parts([0, 1], [2, 3])


def test_people_who_are_alike_stay_together() -> None:
    assert cut({"q": ["1"] * 9 + ["2"]}, [integer("q", 0, 9)]) == parts(range(10))
    assert cut({"q": ["1"] * 9}, [integer("q", 0, 9)]) == parts(range(9))


def test_categories_by_code_point_whatever_the_domain_says() -> None:
    texts = ["a", "B", "é", "b", "10", "9"]  # in order: 10, 9, B, a, b, é
    expected = parts([4, 5, 1], [0, 3, 2])
    for domain in (None, ("é", "9", "a", "10", "b", "B"), tuple(sorted(texts))):
        column = dl.Column("q", "quasi", domain=None if domain is None else dl.Domain(domain))
        assert cut({"q": texts}, [column]) == expected


def test_a_number_that_is_declared_a_category_is_cut_as_text() -> None:
    """100 < 11 < 2 < 9 by code points: a sensible result, if not the best one for numbers."""
    numbers = ["2", "9", "11", "100"]
    assert cut({"q": numbers}, [dl.Column("q", "quasi")]) == parts([3, 2], [0, 1])
    assert cut({"q": numbers}, [integer("q", 0, 100)]) == parts([0, 1], [2, 3])


def test_a_missing_integer_stands_after_the_largest_and_a_missing_category_first() -> None:
    assert cut({"q": ["", "1", "2", ""]}, [integer("q", 0, 9)]) == parts([1, 2], [0, 3])
    assert cut({"q": ["", "a", "b", ""]}, [dl.Column("q", "quasi")]) == parts([0, 3], [1, 2])
    assert cut({"q": ["", "", ""]}, [integer("q", 0, 9)]) == parts([0, 1, 2])


def test_hierarchy_cuts_make_as_many_parts_as_there_are_children() -> None:
    paths = [("a", "A", "*"), ("z", "A", "*"), ("b", "B", "*"), ("y", "B", "*"), ("c", "C", "*"), ("d", "D", "*")]
    column = dl.Column("q", "quasi", hierarchy=from_paths(paths, source="test"))
    texts = ["a", "z", "a", "z", "b", "y", "c", "c"]
    assert cut({"q": texts}, [column], cuts="hierarchy") == parts([0, 2], [1, 3], [4, 5], [6, 7])
    assert cut({"q": texts}, [column]) == parts([0, 2, 4], [6, 7], [1, 3, 5])  # a b | c | y z
    # One child is too small: the node is not cut at all, however large the others are.
    assert cut({"q": texts[:7]}, [column], cuts="hierarchy") == parts(range(7))


# ---------------------------------------------------------------------------- files


def check_file(sheet: Sheet, published: PublishedMondrian, path: Path, found: plain.Parts) -> None:
    """The written rows against the table's: order, columns, labels, classes."""
    written = plain.read_rows(path)
    names = [column.name for column in sheet.quasi]
    assert list(written[0]) == [name for name in sheet.columns if name != "id"]
    assert len(written) == len(sheet.rows)
    for name in sheet.columns:
        if name != "id" and name not in names:
            assert [row[name] for row in written] == [text or "" for text in sheet.columns[name]]
    for a, column in enumerate(sheet.quasi):
        for row, own in zip(written, sheet.rows, strict=True):
            assert own[a] in column.members(row[column.name])
    assert plain.partition(tuple(row[name] for name in names) for row in written) == set(map(frozenset, found))
    back = dl.read_release(path, sheet.schema)
    assert isinstance(back, GroupedRelease)
    whole = published.release
    unknown = [set(b.leaves) ^ set(a.leaves) for a, b in zip(back.schema.quasi, whole.schema.quasi, strict=True)]
    if any(unknown):
        # A label of a hierarchy, alone in its column, does not tell a reader that somebody lacks a value under it.
        assert set().union(*unknown) == {""}
        assert back.groups == whole.groups
        assert back.sensitive == whole.sensitive
    else:
        assert back == whole
    for criterion in published.publisher.criteria:
        for sensitive in sheet.schema.sensitive:
            assert criterion.passes(back.grouping(sensitive.name)).all()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), asked=st.sampled_from(ASKED), trees=st.booleans(), along=st.booleans())
@example(seed=151, asked=Asked(k=2, distinct=1, entropy="1", t="0.4"), trees=True, along=True)  # a missing value
def test_written_and_read_back(
    ending: str, seed: int, asked: Asked, trees: bool, along: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sheet, along = plain.make(seed, trees=trees), along and trees
    found = plain.mondrian(sheet.rows, sheet.quasi, asked.of(sheet.values), along=along)
    if found is None:
        return
    published = Mondrian(asked.criteria(), cuts="hierarchy" if along else "order").publish(sheet.table)
    path = tmp_path_factory.mktemp("written") / f"out.{ending}"
    published.write(path)
    check_file(sheet, published, path, found)


@pytest.fixture(scope="module")
def sheet() -> Sheet:
    """200 people whose rows have a text of their own (`note`), so that an order can be told from another."""
    made = plain.make(72, most=60)
    rng = random.Random(4)
    pick = [rng.randrange(len(made.rows)) for _ in range(200)]
    columns = {name: [texts[i] for i in pick] for name, texts in made.columns.items()}
    columns["note"] = [f"note {i}" for i in range(200)]
    values = [[column[i] for i in pick] for column in made.values]
    return Sheet(columns, made.schema, made.quasi, [made.rows[i] for i in pick], values)


FRAMES: dict[str, Callable[[dict[str, list[str | None]]], object]] = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "arrow": pa.table,
}


@pytest.mark.parametrize("library", FRAMES)
def test_frames(library: str, sheet: Sheet, tmp_path: Path) -> None:
    asked = Asked(k=3)
    found = plain.mondrian(sheet.rows, sheet.quasi, asked.of(sheet.values))
    assert found is not None
    assert len(found) > 5
    table = dl.Table(FRAMES[library](sheet.columns), sheet.schema)
    published = Mondrian(asked.criteria()).publish(table)
    published.write(tmp_path / "out.csv")
    check_file(sheet, published, tmp_path / "out.csv", found)


@pytest.mark.parametrize("source", ["csv", "parquet"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files(source: str, ending: str, sheet: Sheet, tmp_path: Path) -> None:
    asked = Asked(k=4, distinct=2)
    frame = pl.DataFrame(sheet.columns)
    frame.write_csv(tmp_path / "in.csv") if source == "csv" else frame.write_parquet(tmp_path / "in.parquet")
    found = plain.mondrian(sheet.rows, sheet.quasi, asked.of(sheet.values))
    assert found is not None
    published = Mondrian(asked.criteria()).publish(dl.Table(tmp_path / f"in.{source}", sheet.schema))
    published.write(tmp_path / f"out.{ending}")
    check_file(sheet, published, tmp_path / f"out.{ending}", found)


def test_shuffled(sheet: Sheet, tmp_path: Path) -> None:
    published = Mondrian([c.KAnonymity(3)]).publish(sheet.table)
    orders = []
    for name, shuffle in (("plain", False), ("one", True), ("two", True)):
        published.write(tmp_path / name, shuffle=shuffle)
        orders.append([tuple(sorted(row.items())) for row in plain.read_rows(tmp_path / name)])
        text = (tmp_path / f"{name}.meta.json").read_text(encoding="utf-8")
        assert json.loads(text)["shuffled"] is shuffle
        assert "seed" not in text
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(orders[2])
    # The notes are all different: 200 people come twice into the same order with probability 1/200!.
    assert orders[0] != orders[1]
    assert orders[0] != orders[2]
    assert orders[1] != orders[2]
    assert dl.read_release(tmp_path / "one", sheet.schema) == published.release
    # Not merely turned or reversed: few stay where they were, few keep their neighbour.
    place = {row: i for i, row in enumerate(orders[0])}
    moved = [place[row] for row in orders[1]]
    assert sum(a == b for a, b in enumerate(moved)) < 20
    assert sum(abs(a - b) == 1 for a, b in itertools.pairwise(moved)) < 40


def test_sidecar(sheet: Sheet, tmp_path: Path) -> None:
    published = Mondrian([c.KAnonymity(3), c.TCloseness(0.9)]).publish(sheet.table)
    published.write(tmp_path / "out.csv", extra={"command": "x"})
    document = json.loads((tmp_path / "out.csv.meta.json").read_text(encoding="utf-8"))
    assert document["kind"] == "generalized"
    assert (document["method"], document["cuts"]) == ("mondrian", "order")
    assert document["criteria"] == ["k = 3", "t = 0.9 (equal)"]
    assert (document["people"], document["suppressed"]) == (200, 0)
    assert document["classes"] == published.release.groups
    assert document["command"] == "x"
    assert set(document["sha256"]) == {"release"}


def test_labels_that_need_care(tmp_path: Path) -> None:
    """Sets with commas, braces, quotes and marks, a whole domain under a root `*`, and missing numbers in a set."""
    cities = ["a, b", "{c}", '"d"', "*"]
    schema = dl.Schema(
        [
            dl.Column("city", "quasi", domain=dl.Domain(tuple(cities))),
            integer("age", 20, 29),
            dl.Column("sex", "quasi", hierarchy=from_paths([("F", "*"), ("M", "*")], source="test")),
            dl.Column("s", "sensitive"),
        ]
    )
    columns = {"city": [*cities, *cities], "age": ["21", "24", "", "26"] * 2, "sex": list("FMFMFMFM"), "s": ["x"] * 8}
    for cuts in ("order", "hierarchy"):
        published = Mondrian([c.KAnonymity(8)], cuts=cuts).publish(dl.Table(columns, schema))
        published.write(tmp_path / "out.csv")
        (row,) = {tuple(row.items()) for row in plain.read_rows(tmp_path / "out.csv")}
        assert dict(row)["city"] == '{"a, b", "{c}", "\\"d\\"", *}'
        assert dict(row)["age"] == '{21, 22, 23, 24, 25, 26, ""}'
        assert dict(row)["sex"] == "{F, M}"  # and not the root, which would read as suppressed
        back = dl.read_release(tmp_path / "out.csv", schema)
        assert isinstance(back, GroupedRelease)
        assert (back == published.release, back.suppressed, back.groups) == (True, 0, 1)


def test_intervals_beside_a_domain(tmp_path: Path) -> None:
    """Interval widths are the lattice's affair: here the numbers are published as they fall."""
    domain = dl.Domain(tuple(map(str, range(20, 60))))
    schema = dl.Schema(
        [dl.Column("age", "quasi", "integer", intervals=(5, 10), domain=domain), dl.Column("s", "sensitive")],
        missing=("", "?"),
    )
    columns = {"age": ["21", "22", "28", "37", "38", "?", "55", "39"], "s": list("xyxyxyxy")}
    published = Mondrian([c.KAnonymity(2)]).publish(dl.Table(columns, schema))
    published.write(tmp_path / "out.csv")
    assert [row["age"] for row in plain.read_rows(tmp_path / "out.csv")] == [
        *["[21, 22]"] * 2, *["[28, 37]"] * 2, *["[38, 39]", '{55, ""}', '{55, ""}', "[38, 39]"],
    ]  # fmt: skip
    back = dl.read_release(tmp_path / "out.csv", schema)
    assert isinstance(back, GroupedRelease)
    assert (back == published.release, back.sizes.tolist()) == (True, [2, 2, 2, 2])


# ---------------------------------------------------------------------------- complete sets of very many leaves


CODES = tuple(f"code{i:03}" for i in range(40))
WORDS = tuple(f"word{i:03}" for i in range(30))


def complete(
    path: Path, quasi: list[dl.Column], columns: dict[str, list[str]], *, k: int, cuts: str = "order", **options: Any
) -> list[dict[str, str]]:
    """Publish, read back the same release, and give the rows as they stand in the file."""
    people = len(next(iter(columns.values())))
    schema = dl.Schema([*quasi, dl.Column("s", "sensitive")], **options)
    table = dl.Table({**columns, "s": [str(i % 3) for i in range(people)]}, schema)
    published = Mondrian([c.KAnonymity(k)], cuts=cuts).publish(table)  # type: ignore[arg-type]
    published.write(path / "out.csv")
    published.release.write(path / "again.csv")
    for name in ("out.csv", "again.csv"):
        back = dl.read_release(path / name, schema)
        assert isinstance(back, GroupedRelease)
        assert (back == published.release, back.suppressed) == (True, 0), name
    assert len(published.release.describe(0)) < 400
    return plain.read_rows(path / "out.csv")


def spelt(leaves: Sequence[str]) -> str:
    return "{" + ", ".join(leaf or '""' for leaf in leaves) + "}"


AGE = dl.Column("age", "quasi", "integer", domain=dl.Domain(tuple(map(str, range(100)))))
AGES = ["20", "70"] * 40  # cut in two, each half with all codes
TWICE = [code for code in CODES for _ in range(2)]


@pytest.mark.parametrize("cuts", ["order", "hierarchy"])
def test_a_complete_set_is_a_mark(cuts: str, tmp_path: Path) -> None:
    """In every row it would make a file of gigabytes of tens of thousands of leaves."""
    tree = from_paths([[code, code[:6], "*"] for code in CODES], source="test")
    code = dl.Column("code", "quasi", hierarchy=tree)
    rows = complete(tmp_path, [AGE, code], {"age": AGES, "code": TWICE}, k=40, cuts=cuts)
    assert Counter((row["age"], row["code"]) for row in rows) == {("20", "*"): 40, ("70", "*"): 40}
    rows = complete(tmp_path, [AGE, code], {"age": AGES, "code": TWICE}, k=40, cuts=cuts, suppressed=("NA", "*"))
    assert {row["code"] for row in rows} == {"NA"}
    rows = complete(tmp_path, [AGE, code], {"age": AGES, "code": TWICE}, k=40, cuts=cuts, suppressed=())
    assert {row["code"] for row in rows} == {spelt(CODES)} if cuts == "order" else {"*"}


def test_a_row_of_marks_alone_would_be_suppressed(tmp_path: Path) -> None:
    """Of two complete sets the shorter is spelt out."""
    word = dl.Column("word", "quasi", domain=dl.Domain(WORDS))
    code = dl.Column("code", "quasi", domain=dl.Domain(CODES))
    words = [WORDS[i % 30] for i in range(80)]
    (row,) = {
        (row["code"], row["word"]) for row in complete(tmp_path, [code, word], {"code": TWICE, "word": words}, k=80)
    }
    assert row == ("*", spelt(WORDS))
    rows = complete(tmp_path, [code], {"code": TWICE}, k=80, suppressed=("NA",))
    assert {row["code"] for row in rows} == {spelt(CODES)}


def test_leaves_that_nobody_declares_are_named_once(tmp_path: Path) -> None:
    """A reader who is not told the leaves must find them in the release: in the rows of the smallest part."""
    code = dl.Column("code", "quasi")
    ages = [*AGES, "20", "20"]
    rows = complete(tmp_path, [AGE, code], {"age": ages, "code": [*TWICE, CODES[0], CODES[0]]}, k=40)
    assert Counter((row["age"], row["code"]) for row in rows) == {("20", "*"): 42, ("70", spelt(CODES)): 40}


def test_a_missing_number_is_named_once(tmp_path: Path) -> None:
    """It joins a declared domain where a label names it, and a mark does not."""
    sex = dl.Column("sex", "quasi", domain=dl.Domain(("F", "M")))
    ages = [str(i) for i in range(100)] + [""]
    columns = {"sex": ["F"] * 101 + ["M"] * 103, "age": [*ages, *ages, "3", "4"]}
    # Neither half can be cut by age: that would leave fewer than k.
    rows = complete(tmp_path, [sex, AGE], columns, k=101)
    assert Counter((row["sex"], row["age"]) for row in rows) == {("F", spelt(ages)): 101, ("M", "*"): 103}


@pytest.mark.slow
def test_a_long_category_makes_a_small_file(tmp_path: Path) -> None:
    leaves = [f"c{i:05}" for i in range(20_000)]
    tree = from_paths([[leaf, leaf[:3], "*"] for leaf in leaves], source="test")
    columns = {"age": ["20", "70"] * 400, "code": random.Random(1).sample(leaves, 800)}
    rows = complete(tmp_path, [AGE, dl.Column("code", "quasi", hierarchy=tree)], columns, k=400, cuts="hierarchy")
    assert {row["code"] for row in rows} == {"*"}
    assert (tmp_path / "out.csv").stat().st_size < 10_000


# ---------------------------------------------------------------------------- what is refused


TINY = {"q": ["1", "2", "3"], "s": ["x", "y", "y"]}


def tiny(**column: object) -> dl.Table:
    options = {"type": "integer", "domain": dl.Domain(("1", "2", "3")), **column}
    return dl.Table(TINY, dl.Schema([dl.Column("q", "quasi", **options), dl.Column("s", "sensitive")]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (c.KAnonymity(4), r"k = 4 is larger than the table, which has 3 people"),
        (c.DistinctDiversity(3), r"distinct ℓ = 3 is impossible: the table has only 2"),
        (c.EntropyDiversity(2.0), r"entropy ℓ = 2 fails: the level is 1\.88988.*Weaken"),
        (c.AlphaAnonymity(0.5), r"one class.*fails: the level is 0\.666667.*Weaken"),
    ],
    ids=["k", "distinct", "entropy", "alpha"],
)
def test_impossible_criteria(criterion: c.Criterion, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Mondrian([criterion]).publish(tiny())
    with pytest.raises(InputError, match=message):
        Mondrian([c.KAnonymity(1), criterion]).publish(tiny())


def test_what_is_possible_at_the_edge() -> None:
    assert Mondrian([c.KAnonymity(3)]).publish(tiny()).release.sizes.tolist() == [3]
    assert Mondrian([c.TCloseness(0.0)]).publish(tiny()).release.groups == 1
    assert Mondrian([c.KAnonymity(1)]).publish(tiny()).release.groups == 3


@pytest.mark.parametrize(
    "declared", [{}, {"suppress": True}, {"intervals": (2, 4)}], ids=["none", "suppress", "widths"]
)
def test_numbers_without_a_domain(declared: dict[str, object]) -> None:
    """Nobody could say what [1, 3] stands for; with widths a reader would take other leaves than the table has."""
    with pytest.raises(InputError, match=r"'q' has no declared values.*domain = \{ min = …, max = … \} in the schema"):
        Mondrian([c.KAnonymity(2)]).publish(tiny(domain=None, **declared))


def test_numbers_too_far_apart() -> None:
    """2³¹ positions and more are refused, and not cut at the wrong place; a little fewer are fine."""
    for far, possible in ((2**31, False), (2**31 - 10, True)):
        column = dl.Column("q", "quasi", "integer", domain=dl.Domain(("-3", "0", "5", str(far - 3))))
        columns = {"q": ["-3", "0", str(far - 3), str(far - 3)]}
        if possible:
            assert cut(columns, [column]) == parts([0, 1], [2, 3])
            continue
        with pytest.raises(InputError, match="values of column 'q' are too far apart"):
            cut(columns, [column])


def test_parameters() -> None:
    with pytest.raises(InputError, match=r"No criterion was given.*k = 5"):
        Mondrian([])
    with pytest.raises(ParameterError, match=r"'cuts' parameter of Mondrian must be order or hierarchy. Got 'median'"):
        Mondrian([c.KAnonymity(2)], cuts="median")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no category has one"):
        Mondrian([c.KAnonymity(2)], cuts="hierarchy").publish(tiny())


def test_a_table_is_not_overwritten(sheet: Sheet, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pl.DataFrame(sheet.columns).write_csv(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="overwrite the table"):
        Mondrian([c.KAnonymity(3)]).publish(dl.Table(path, sheet.schema)).write(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]


# ---------------------------------------------------------------------------- size


def test_a_wide_domain_costs_no_memory_for_each_class() -> None:
    """Incomes from 0 to 199,999: what a class publishes is two numbers, not a flag for each of them."""
    rng = np.random.default_rng(1)
    schema = dl.Schema([integer("income", 0, 199_999), dl.Column("s", "sensitive")])
    columns = {"income": rng.integers(0, 200_000, 2_000).astype(str).tolist(), "s": ["x"] * 2_000}
    published = Mondrian([c.KAnonymity(5)]).publish(dl.Table(columns, schema))
    tracemalloc.start()
    try:
        assert published.release.groups > 250
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40e6, f"{peak / 1e6:.0f} MB for {published.parts} classes"
