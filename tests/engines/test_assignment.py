"""Rows written by an assignment: each into the group of its key, with that group's labels, in the rows' order."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dalenius.engines import Assignment, Rows, default
from dalenius.errors import InputError

Columns = dict[str, list[str | None]]
NOTHING = np.empty((0, 0), dtype=np.int32)


def as_csv(columns: Columns, folder: Path) -> object:
    path = folder / "in.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def as_parquet(columns: Columns, folder: Path) -> object:
    pq.write_table(pa.table(columns), folder / "in.parquet", row_group_size=100)
    return folder / "in.parquet"


SOURCES: dict[str, Callable[[Columns, Path], object]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "arrow": lambda columns, _: pa.table(columns),
    "dict": lambda columns, _: columns,
}


@pytest.fixture(params=SOURCES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Columns], Rows]:
    """Opens columns as each kind of source in turn."""
    return lambda columns: default().open(SOURCES[request.param](columns, tmp_path))


@pytest.fixture(params=["csv", "parquet"])
def out(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"out.{request.param}"


def read(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Header and rows, by readers other than ours; null is empty, and so are all texts of it."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return table.column_names, [
            tuple("" if value is None else str(value) for value in row.values()) for row in table.to_pylist()
        ]
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, [tuple(row) for row in rows]


def people(n: int = 500) -> Columns:
    rng = np.random.default_rng(n)
    return {
        "id": [f"P{i}" for i in range(n)],
        "q": rng.choice(["a", "b", "c"], n).tolist(),
        "note": [f'x "{i}", é\n' if i % 3 else "" for i in range(n)],
        "r": rng.choice(["0", "1", "01"], n).tolist(),  # 01 is another text of the second value
    }


CODES = {"q": {"a": 0, "b": 1, "c": 2}, "r": {"0": 0, "1": 1, "01": 1}}
KEYS = np.array([[q, r] for q in range(3) for r in range(2)], dtype=np.int32)
GROUP = np.array([0, 1, 2, 2, 1, 3], dtype=np.int32)  # of each key
LABELS = {"q": ["{a}", "{a, c}", "{b}", '"c"'], "r": ["0", "[0, 1]", "", "1"]}


def groups_of(columns: Columns) -> list[int]:
    """By a loop: the group of each row."""
    keys = [tuple(key) for key in KEYS.tolist()]
    codes = [(CODES["q"][q or ""], CODES["r"][r or ""]) for q, r in zip(columns["q"], columns["r"], strict=True)]
    return [int(GROUP[keys.index(code)]) for code in codes]


# ---------------------------------------------------------------------------- by key


def test_by_key(opened: Callable[[Columns], Rows], out: Path) -> None:
    columns = people()
    plan = Assignment(("q", "note", "r"), CODES, KEYS, GROUP, LABELS)
    opened(columns).write(plan, out)
    found = [
        (LABELS["q"][g], note, LABELS["r"][g]) for g, note in zip(groups_of(columns), columns["note"], strict=True)
    ]
    assert read(out) == (["q", "note", "r"], found)


def test_by_key_with_the_group_in_front(opened: Callable[[Columns], Rows], out: Path) -> None:
    """Columns without labels keep their texts, also those that are part of the key."""
    columns = people()
    plan = Assignment(("r", "q", "id"), CODES, KEYS, GROUP, {"q": LABELS["q"]}, number="group")
    opened(columns).write(plan, out)
    found = [
        (str(g), r, LABELS["q"][g], i) for g, r, i in zip(groups_of(columns), columns["r"], columns["id"], strict=True)
    ]
    assert read(out) == (["group", "r", "q", "id"], found)


def test_without_labels_and_without_number(opened: Callable[[Columns], Rows], out: Path) -> None:
    """Nothing is asked for, and nothing changes."""
    columns = people(40)
    opened(columns).write(Assignment(("q", "id"), CODES, KEYS, GROUP, {}), out)
    assert read(out) == (["q", "id"], list(zip(columns["q"], columns["id"], strict=True)))


def test_keys_in_any_order(out: Path) -> None:
    columns = people(60)
    turned = np.random.default_rng(0).permutation(len(KEYS))
    default().open(columns).write(Assignment(("id",), CODES, KEYS[turned], GROUP[turned], {}, number="group"), out)
    assert [row[0] for row in read(out)[1]] == [str(g) for g in groups_of(columns)]


# ---------------------------------------------------------------------------- by key and number within it


def indexed(columns: Columns, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """A group for each person of a key, the first, the second …; and by a loop the group of each row."""
    rng = np.random.default_rng(seed)
    codes = [(CODES["q"][q or ""], CODES["r"][r or ""]) for q, r in zip(columns["q"], columns["r"], strict=True)]
    places = [(key, nth) for key, count in Counter(codes).items() for nth in range(count)]
    group = rng.permutation(len(places))
    drawn = dict(zip(places, group.tolist(), strict=True))
    seen: Counter[tuple[int, int]] = Counter()
    expected = []
    for code in codes:
        expected.append(drawn[code, seen[code]])
        seen[code] += 1
    keys = np.array([key for key, _ in places], dtype=np.int32)
    return keys, group.astype(np.int32), np.array([nth for _, nth in places], dtype=np.int64), expected


def test_by_key_with_index(opened: Callable[[Columns], Rows], out: Path) -> None:
    """Rows of one key are told apart by their order: each has a group of its own here."""
    columns = people()
    keys, group, index, expected = indexed(columns, 1)
    labels = {"q": [f"g{g}" for g in range(len(group))]}
    opened(columns).write(Assignment(("q", "id"), CODES, keys, group, labels, index=index, number="group"), out)
    found = [(str(g), f"g{g}", i) for g, i in zip(expected, columns["id"], strict=True)]
    assert read(out) == (["group", "q", "id"], found)


@pytest.mark.slow
def test_many_rows_keep_their_order(tmp_path: Path) -> None:
    """More than an engine reads at once, from a file in several parts."""
    columns = people(150_000)
    keys, group, index, expected = indexed(columns, 2)
    rows = default().open(as_parquet(columns, tmp_path))
    rows.write(Assignment(("id",), CODES, keys, group, {}, index=index, number="group"), tmp_path / "out.csv")
    assert read(tmp_path / "out.csv")[1] == [(str(g), i) for g, i in zip(expected, columns["id"], strict=True)]


def test_odd_labels(opened: Callable[[Columns], Rows], out: Path) -> None:
    columns = people()
    keys, _, index, _ = indexed(columns, 3)
    group = (np.arange(500) % 7).astype(np.int32)
    labels = {"r": [f"{g}.5" for g in range(7)], "note": ["", "*", "a,b", '"', "\n", "é", "null"]}
    plan = Assignment(("note", "q", "r", "id"), CODES, keys, group, labels, index=index, number="group")
    opened(columns).write(plan, out)
    header, rows = read(out)
    assert header == ["group", "note", "q", "r", "id"]
    assert [(row[2], row[4]) for row in rows] == list(zip(columns["q"], columns["id"], strict=True))
    assert all((row[1], row[3]) == (labels["note"][int(row[0])], labels["r"][int(row[0])]) for row in rows)
    assert len({row[0] for row in rows}) == 7


def test_one_row(opened: Callable[[Columns], Rows], out: Path) -> None:
    one = np.zeros((1, 1), dtype=np.int32)
    plan = Assignment(("q",), {"q": {"a": 0}}, one, one[0], {"q": ["all"]}, number="group")
    opened({"q": ["a"], "s": ["x"]}).write(plan, out)
    assert read(out) == (["group", "q"], [("0", "all")])


# ---------------------------------------------------------------------------- nulls and empty texts


@pytest.mark.parametrize("source", ["parquet", "pandas", "polars", "arrow", "dict"])
def test_null_and_empty_are_one_text(source: str, tmp_path: Path, out: Path) -> None:
    """As a key both are the text ''; in a column that is kept, both read as empty."""
    columns: Columns = {"q": ["a", None, "", "a", None], "note": ["1", "", None, "4", "5"]}
    rows = default().open(SOURCES[source](columns, tmp_path))
    codes, keys = {"q": {"a": 0, "": 1}}, np.array([[0], [1]], dtype=np.int32)
    plan = Assignment(
        ("q", "note"), codes, keys, np.array([0, 1], dtype=np.int32), {"q": ["A", "none"]}, number="group"
    )
    rows.write(plan, out)
    found = [("0", "A", "1"), ("1", "none", ""), ("1", "none", ""), ("0", "A", "4"), ("1", "none", "5")]
    assert read(out)[1] == found
    # Counted on together, null or not.
    index = Assignment(
        ("q",),
        codes,
        np.array([[0], [0], [1], [1], [1]], dtype=np.int32),
        np.arange(5, dtype=np.int32),
        {},
        index=np.array([0, 1, 0, 1, 2]),
        number="group",
    )
    rows.write(index, out)
    assert [row[0] for row in read(out)[1]] == ["0", "2", "3", "1", "4"]


def test_labels_may_be_empty(out: Path) -> None:
    """An empty label is written, and read by us as the missing value that it is."""
    keys = np.array([[0], [1]], dtype=np.int32)
    plan = Assignment(("q", "r"), {"q": {"x": 0, "y": 1}}, keys, keys[:, 0], {"q": ["", "b"], "r": ["", ""]})
    default().open({"q": ["x", "y"], "r": ["x", "y"]}).write(plan, out)
    assert read(out)[1] == [("", ""), ("b", "")]
    assert default().open(out).read(("q", "r")) == [("", ""), ("b", "")]


# ---------------------------------------------------------------------------- names


INTERNAL = (
    "row",
    "group",
    "key0",
    "key1",
    "code",
    "nth",
    "nth_key",
    "label0",
    "label1",
    "text",
    "labelled",
    "row_",
    "code_",
)


@pytest.mark.parametrize("upper", [False, True], ids=["lower", "upper"])
@pytest.mark.parametrize("way", ["key", "index"])
def test_columns_named_like_our_own(way: str, upper: bool, out: Path) -> None:
    """Whatever names the query uses for itself, a table may use, too: as key, with a label, or only kept."""
    names = [name.upper() if upper else name for name in INTERNAL]
    n = 30
    rng = np.random.default_rng(1)
    columns: Columns = {name: [f"{name} {i}" for i in range(n)] for name in names}
    first, second, third = "row", "code", "label0"
    if upper:
        first, second, third = first.upper(), second.upper(), third.upper()
    columns[first] = rng.choice(["a", "b"], n).tolist()
    columns[second] = rng.choice(["0", "1"], n).tolist()
    group = rng.integers(0, 4, n)
    labels = {first: list("wxyz"), third: list("WXYZ")}
    codes = {first: {"a": 0, "b": 1}, second: {"0": 0, "1": 1}}
    pairs = [
        (codes[first][a or ""], codes[second][b or ""]) for a, b in zip(columns[first], columns[second], strict=True)
    ]
    if way == "key":
        keys, index = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32), None
        assigned = np.array([2, 0, 3, 1], dtype=np.int32)
        group = np.array([assigned[2 * a + b] for a, b in pairs])
    else:
        order = [pairs[:i].count(pair) for i, pair in enumerate(pairs)]
        keys, index, assigned = np.array(pairs, dtype=np.int32), np.array(order), group.astype(np.int32)
    expected = [
        tuple(labels[name][g] if name in labels else str(columns[name][i]) for name in names)
        for i, g in enumerate(group.tolist())
    ]
    rows = default().open(columns)
    rows.write(Assignment(tuple(names), codes, keys, assigned, labels, index=index), out)
    assert read(out) == (names, expected)
    # With a number that no column is named like.
    rows.write(Assignment(tuple(names), codes, keys, assigned, labels, index=index, number="class"), out)
    assert read(out) == (["class", *names], [(str(g), *row) for g, row in zip(group.tolist(), expected, strict=True)])


@pytest.mark.parametrize("name", INTERNAL)
def test_the_number_may_have_any_name(name: str, tmp_path: Path) -> None:
    """The column that holds the group is called as asked, whatever the query calls its own columns."""
    columns = people(50)
    keys, group, index, expected = indexed(columns, 5)
    plan = Assignment(("q", "id"), CODES, keys, group, {"q": [f"g{g}" for g in range(50)]}, index=index, number=name)
    default().open(columns).write(plan, tmp_path / "out.csv")
    found = [(str(g), f"g{g}", i) for g, i in zip(expected, columns["id"], strict=True)]
    assert read(tmp_path / "out.csv") == ([name, "q", "id"], found)


@pytest.mark.parametrize("name", ["q", "Q"])
def test_a_number_named_like_a_column_is_not_renamed_in_silence(name: str, tmp_path: Path) -> None:
    """A file whose group column is called otherwise than asked cannot be read: better none."""
    plan = Assignment(("q", "r"), {}, NOTHING, np.array([0, 1], dtype=np.int32), {}, number=name)
    with pytest.raises(InputError):
        default().open({"q": ["a", "b"], "r": ["x", "y"]}).write(plan, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_column_that_is_not_there(out: Path) -> None:
    plan = Assignment(("q", "z"), {}, NOTHING, np.array([0], dtype=np.int32), {})
    with pytest.raises(InputError, match="no column 'z'"):
        default().open({"q": ["a"]}).write(plan, out)
    assert not out.exists()


# ---------------------------------------------------------------------------- shuffled


@pytest.mark.parametrize("way", ["key", "index"])
def test_shuffled(way: str, opened: Callable[[Columns], Rows], out: Path) -> None:
    """The same rows in another order, drawn anew each time; each with its own group still."""
    columns = people()
    keys, group, index, expected = indexed(columns, 7)
    if way == "key":
        expected = groups_of(columns)
        plan = Assignment(("id",), CODES, KEYS, GROUP, {}, number="group", shuffle=True)
    else:
        plan = Assignment(("id",), CODES, keys, group, {}, index=index, number="group", shuffle=True)
    found = [(str(g), i) for g, i in zip(expected, columns["id"], strict=True)]
    rows = opened(columns)
    orders = []
    for _ in range(2):
        rows.write(plan, out)
        header, written = read(out)
        assert header == ["group", "id"]
        assert sorted(written) == sorted(found)
        orders.append(written)
    # Two orders of 500 rows are the same with probability 1/500!.
    assert orders[0] != found
    assert orders[1] != found
    assert orders[0] != orders[1]
    # Where a row ends up has nothing to do with where it was (a correlation of 0.27 is 6 standard deviations).
    place = {row: i for i, row in enumerate(found)}
    assert abs(np.corrcoef(np.arange(500), [place[row] for row in orders[0]])[0, 1]) < 0.27


def test_save(out: Path) -> None:
    """Columns that are made and not read, by name and in their order."""
    default().save(
        {"group": np.array([0, 1], np.int32), "s": np.array(["", 'a "b", c'], dtype=object), "n": [3, 4]}, out
    )
    assert read(out) == (["group", "s", "n"], [("0", "", "3"), ("1", 'a "b", c', "4")])
