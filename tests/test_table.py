"""Cells are the same whatever the rows come from, and never lose or merge a value they should not."""

from __future__ import annotations

import collections
import csv
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl

HEADER = ["zip", "age", "note", "disease"]
# Leading zeros, NA as text, empty and quoted-empty, unicode, commas, quotes, line ends, spaces.
ROWS = [
    ["02139", "39", "NA", "Flu"],
    ["02139", "39", "", "Flu"],
    ["2139", "39", '""', "Flu"],
    ["02139", "39", "NA", "Flu"],
    ["00501", "7", "été, 東京", 'say "no"'],
    ["00501", "", "null", "NaN"],
    ["", "41", "None", ""],
    ["02139", "41", "a\nb", "Flu"],
    ["02139", "41", " x ", "Flu"],
    ["02139", "100", "x;y\tz", "∅"],
    ["02139", "-3", "NULL", "Flu"],
]
SCHEMA = dl.Schema(
    [
        dl.Column("zip", "quasi"),
        dl.Column("age", "quasi", "integer"),
        dl.Column("note", "quasi"),
        dl.Column("disease", "sensitive"),
    ]
)


def csv_file(folder: Path) -> Path:
    path = folder / "nasty.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(ROWS)
        file.write("02139,39,,Flu\n")  # an empty cell once more, this time without quotes in a sea of them
        file.write('"02139","39","","Flu"\n')
    return path


def columns(*, with_nulls: bool, integers: bool) -> dict[str, list[object]]:
    rows = [*ROWS, ["02139", "39", "", "Flu"], ["02139", "39", "", "Flu"]]
    table: dict[str, list[object]] = {name: [row[j] for row in rows] for j, name in enumerate(HEADER)}
    if with_nulls:
        table = {name: [value or None for value in values] for name, values in table.items()}
    if integers:
        table["age"] = [None if value in ("", None) else int(str(value)) for value in table["age"]]
    return table


def expected() -> dict[tuple[str, ...], int]:
    rows = [*ROWS, ["02139", "39", "", "Flu"], ["02139", "39", "", "Flu"]]
    return dict(collections.Counter(tuple(row) for row in rows))


def sources(folder: Path) -> dict[str, object]:
    text = columns(with_nulls=False, integers=False)
    nulls = columns(with_nulls=True, integers=False)
    numbers = columns(with_nulls=True, integers=True)
    parquet, typed = folder / "nasty.parquet", folder / "typed.parquet"
    pq.write_table(pa.table(nulls), parquet)
    pq.write_table(pa.table(numbers), typed)
    tabs = folder / "nasty.tsv"
    pd.DataFrame(text).to_csv(tabs, sep="\t", index=False)
    return {
        "csv": csv_file(folder),
        "tab": tabs,
        "parquet": parquet,
        "parquet, typed": typed,
        "pandas": pd.DataFrame(text),
        "pandas, nulls": pd.DataFrame(nulls),
        "pandas, floats": pd.DataFrame(numbers),
        "pandas, object": pd.DataFrame(numbers).astype(object),
        "pandas, categorical": pd.DataFrame(text).astype("category"),
        "polars": pl.DataFrame(text),
        "polars, typed": pl.DataFrame(numbers),
        "polars, lazy": pl.DataFrame(nulls).lazy(),
        "arrow": pa.table(text),
        "arrow, typed": pa.table(numbers),
        "dict": text,
    }


def decoded(cells: dl.Cells) -> dict[tuple[str, ...], int]:
    leaves = [column.leaves for column in cells.schema.coded]
    return {
        tuple(leaves[j][code] for j, code in enumerate(row)): count
        for row, count in zip(cells.codes.tolist(), cells.counts.tolist(), strict=True)
    }


def test_same_cells_from_every_source(tmp_path: Path) -> None:
    found = {name: dl.Table(source, SCHEMA).cells() for name, source in sources(tmp_path).items()}
    for name, cells in found.items():
        assert decoded(cells) == expected(), name
        assert cells == found["csv"], name


def test_windows_line_ends_around_a_quoted_line_end(tmp_path: Path) -> None:
    path = tmp_path / "windows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(HEADER)
        writer.writerows(ROWS)
    assert decoded(dl.Table(path, SCHEMA).cells()) == dict(collections.Counter(tuple(row) for row in ROWS))


def test_cells_are_sorted_and_domains_ordered(tmp_path: Path) -> None:
    cells = dl.Table(csv_file(tmp_path), SCHEMA).cells()
    rows = [tuple(row) for row in cells.codes.tolist()]
    assert rows == sorted(set(rows))
    ages = cells.schema["age"].leaves
    assert ages == ("-3", "7", "39", "41", "100", "")  # by value, the missing value last
    assert cells.schema["zip"].leaves == ("00501", "02139", "2139", "")  # by code point


def test_missing_marks_are_one_value(tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    path.write_text("q,s\nNA,x\n?,x\n,x\nb,x\n", encoding="utf-8")
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")], missing=("", "NA", "?"))
    assert decoded(dl.Table(path, schema).cells()) == {("", "x"): 3, ("b", "x"): 1}


def test_integers_meet_by_value(tmp_path: Path) -> None:
    path = tmp_path / "ages.csv"
    path.write_text("q,s\n39,x\n039,x\n 39 ,x\n39.0,x\n+39,x\n-0,x\n0,x\n", encoding="utf-8")
    schema = dl.Schema([dl.Column("q", "quasi", "integer"), dl.Column("s", "sensitive")])
    assert decoded(dl.Table(path, schema).cells()) == {("39", "x"): 5, ("0", "x"): 2}


def test_wrong_type_names_row_and_value(tmp_path: Path) -> None:
    path = tmp_path / "ages.csv"
    path.write_text("q,s\n39,x\n40,x\nforty,x\n", encoding="utf-8")
    schema = dl.Schema([dl.Column("q", "quasi", "integer"), dl.Column("s", "sensitive")])
    with pytest.raises(dl.InputError, match=r"ages.csv, row 2, column 'q': 'forty' is not a whole number"):
        dl.Table(path, schema).cells()


def test_value_outside_the_domain_names_row_and_nearest(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,s\nMale,x\nFemal,x\n", encoding="utf-8")
    column = dl.Column("q", "quasi", domain=dl.Domain(("Male", "Female")))
    with pytest.raises(dl.InputError, match=r"row 1, column 'q': 'Femal' is not in .* Did you mean 'Female'"):
        dl.Table(path, dl.Schema([column, dl.Column("s", "sensitive")])).cells()


def test_a_sensitive_value_outside_the_domain_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,s\nMale,x\nMale,SECRET\n", encoding="utf-8")
    column = dl.Column("s", "sensitive", domain=dl.Domain(("x", "SECRETS")))
    with pytest.raises(dl.InputError, match="row 1, column 's'") as caught:
        dl.Table(path, dl.Schema([dl.Column("q", "quasi"), column])).cells()
    assert "SECRET" not in str(caught.value)


def test_frames_with_bad_columns_are_refused() -> None:
    with pytest.raises(dl.InputError, match="twice"):
        dl.Table(pd.DataFrame([["a", "b", "c"]], columns=["q", "q", "s"]), SCHEMA).cells()
    with pytest.raises(dl.InputError, match="needs a name"):
        dl.Table(pd.DataFrame([["a", "b"]]), SCHEMA).cells()
    with pytest.raises(dl.InputError, match="no rows"):
        dl.Table(pd.DataFrame({name: [] for name in HEADER}), SCHEMA).cells()
    with pytest.raises(dl.InputError, match="a path, a pandas"):
        dl.Table([1, 2], SCHEMA).cells()
    with pytest.raises(dl.InputError, match="not text, numbers or dates"):
        dl.Table(pa.table({name: [["a"]] for name in HEADER}), SCHEMA).cells()


TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=30))
def test_cells_count_like_python(rows: list[tuple[str, str]]) -> None:
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")])
    table = dl.Table({"q": [q for q, _ in rows], "s": [s for _, s in rows]}, schema)
    assert decoded(table.cells()) == dict(collections.Counter(rows))


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12))
def test_csv_cells_count_like_python(rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(["q", "s"])
        writer.writerows(rows)
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")])
    assert decoded(dl.Table(path, schema).cells()) == dict(collections.Counter(rows))


def test_many_columns_do_not_overflow() -> None:
    rng = np.random.default_rng(1)
    names = [f"q{i}" for i in range(14)]
    rows = rng.integers(0, 60, (400, 14))
    rows = np.concatenate([rows, rows[:100]])
    schema = dl.Schema([*(dl.Column(name, "quasi", "integer") for name in names), dl.Column("s", "sensitive")])
    table = dl.Table({**{name: rows[:, j] for j, name in enumerate(names)}, "s": ["x"] * 500}, schema)
    counted = collections.Counter((*map(str, row), "x") for row in rows.tolist())
    assert decoded(table.cells()) == dict(counted)


def test_adult(data: Path) -> None:
    cells = dl.datasets.adult(data).cells()
    assert cells.people == 30_162
    with (data / "adult" / "adult.csv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    names = [column.name for column in cells.schema.coded]
    assert decoded(cells) == dict(collections.Counter(tuple(row[name] for name in names) for row in rows))


def test_nobody_can_change_what_a_table_keeps(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,s\na,x\na,y\nb,x\n", encoding="utf-8")
    table = dl.Table(path, dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")]))
    cells, marginals = table.cells(), table.marginals()
    part = table.part(np.array([1, 0, 1])).cells()
    kept = [cells.codes, cells.counts, part.codes, part.counts, marginals.tuples, marginals.counts, *marginals.columns]
    order = table.schema["q"].order()
    assert order is not None
    for array in [*kept, order]:
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0
