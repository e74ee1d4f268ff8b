"""What DuckDB would do with a file if it were not told otherwise, and what a file can be."""

from __future__ import annotations

import gzip
import math
import tempfile
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dalenius as dl
from dalenius.engine import Recoding, connect, default
from dalenius.engine.duckdb import DuckDB

SCHEMA = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")])


def cells(source: object, schema: dl.Schema = SCHEMA) -> dict[tuple[str, ...], int]:
    found = dl.Table(source, schema).cells()
    leaves = [column.leaves for column in found.schema.coded]
    rows = [tuple(leaves[j][code] for j, code in enumerate(row)) for row in found.codes.tolist()]
    return dict(zip(rows, found.counts.tolist(), strict=True))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["t*", "t[12]", "t?"])
def test_a_name_is_not_a_pattern(tmp_path: Path, name: str, ending: str) -> None:
    for stem in ("t1", "t2", name):
        frame = pd.DataFrame({"q": [stem], "s": ["x"]})
        path = tmp_path / f"{stem}.{ending}"
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    assert cells(tmp_path / f"{name}.{ending}") == {(name, "x"): 1}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_named_like_a_column_says_nothing(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "q=9"
    folder.mkdir()
    frame = pd.DataFrame({"q": ["a"], "s": ["x"]})
    path = folder / f"t.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    assert cells(path) == {("a", "x"): 1}


@pytest.mark.parametrize("text", ["\nq,s\na,x\na,x\n", "\r\n\r\nq,s\r\na,x\r\na,x\r\n", "q,s\na,x\n\na,x\n\n"])
def test_blank_lines_are_nobody(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert cells(path) == {("a", "x"): 2}


def test_header_and_many_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,s\n" + "\n" * 2_000_000, encoding="utf-8")
    with pytest.raises(dl.InputError, match="a header and no rows"):
        cells(path)


def test_bom_and_gzip(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("\ufeffq,s\na,x\n".encode())
    assert cells(tmp_path / "t.csv") == {("a", "x"): 1}
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"q;s\na;x\n"))
    assert cells(tmp_path / "t.csv.gz") == {("a", "x"): 1}
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"q;s\na;x\n" * 9999)[:60])
    with pytest.raises(dl.InputError, match="not a complete gzip file"):
        cells(tmp_path / "cut.csv.gz")


FLOATS = [1.0, 2.5, math.nan, -0.0, 1e16, 1e300, 7.0]
AS_TEXT = {"1", "2.5", "", "0", "10000000000000000", "7"}


@pytest.mark.parametrize("kind", ["parquet", "arrow", "pandas", "polars"])
def test_floats(tmp_path: Path, kind: str) -> None:
    data = {"q": FLOATS, "s": ["x"] * len(FLOATS)}
    source: object = {"arrow": lambda: pa.table(data), "pandas": lambda: pd.DataFrame(data)}.get(
        kind, lambda: pl.DataFrame(data)
    )()
    if kind == "parquet":
        pq.write_table(pa.table(data), tmp_path / "t.parquet")
        source = tmp_path / "t.parquet"
    found = {q for q, _ in cells(source)}
    assert found >= AS_TEXT
    assert len(found) == len(FLOATS)
    assert math.isclose(float((found - AS_TEXT).pop()), 1e300)


def test_other_types_as_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "q": pa.array([18262, None], pa.date32()),
            "s": pa.array([True, False]),
            "z": pa.array(["a", "b"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    schema = dl.Schema([*SCHEMA.columns, dl.Column("z", "quasi")])
    for source in (table, tmp_path / "t.parquet"):
        assert cells(source, schema) == {("2020-01-01", "a", "true"): 1, ("", "b", "false"): 1}


def test_names_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,Q,s\na,b,x\n", encoding="utf-8")
    pq.write_table(pa.table({"q": ["a"], "Q": ["b"], "s": ["x"]}), tmp_path / "t.parquet")
    for source in (tmp_path / "t.csv", tmp_path / "t.parquet", pa.table({"q": ["a"], "Q": ["b"], "s": ["x"]})):
        with pytest.raises(dl.InputError, match="case"):
            cells(source)


def test_a_column_named_row_or_count(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Row,Count,s\na,1,x\nb,1,x\n", encoding="utf-8")
    schema = dl.Schema([dl.Column("Row", "quasi"), dl.Column("Count", "quasi"), dl.Column("s", "sensitive")])
    assert cells(tmp_path / "t.csv", schema) == {("a", "1", "x"): 1, ("b", "1", "x"): 1}
    assert default().open(tmp_path / "t.csv").find({"Row": ["b"]}, limit=5) == [1]


def test_more_columns_than_numpy_has_dimensions() -> None:
    names = [f"c{i}" for i in range(80)]
    schema = dl.Schema([*(dl.Column(name, "quasi") for name in names), dl.Column("s", "sensitive")])
    assert cells({**{name: ["a", "a"] for name in names}, "s": ["x", "y"]}, schema) == {
        (*["a"] * 80, "x"): 1,
        (*["a"] * 80, "y"): 1,
    }


class Odd:
    def __str__(self) -> str:
        raise RuntimeError("SECRET")


@pytest.mark.parametrize(
    "frame",
    [
        {"q": ["a", "b"], "s": ["x"]},
        {"q": [Odd()], "s": ["x"]},
        pl.Series("q", ["a"]),
        pa.table({"q": pa.array([["a"]]), "s": ["x"]}),
        pa.table({"q": pa.array([b"a"]), "s": ["x"]}),
    ],
)
def test_frames_that_cannot_be_read(frame: object) -> None:
    with pytest.raises(dl.InputError) as caught:
        cells(frame)
    assert "SECRET" not in str(caught.value)


def test_mixed_and_huge_values_become_text() -> None:
    assert cells({"q": [1, "one", 2**70], "s": ["x"] * 3}) == {("1", "x"): 1, ("one", "x"): 1, (str(2**70), "x"): 1}
    assert cells(pd.DataFrame({"q": [1, "one", None], "s": ["x"] * 3}, dtype=object)) == {
        ("1", "x"): 1, ("one", "x"): 1, ("", "x"): 1,
    }  # fmt: skip


def test_errors_do_not_carry_the_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\na,x\nSECRET\n", encoding="utf-8")
    with pytest.raises(dl.InputError, match="line 3") as caught:
        cells(tmp_path / "t.csv")
    error: BaseException | None = caught.value
    while error is not None:
        assert "SECRET" not in str(error)
        error = error.__cause__ or error.__context__


def test_threads_share_an_engine() -> None:
    engine = connect()
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for i in range(5):
                values = np.random.default_rng([seed, i]).integers(0, 9, 50).astype(str).tolist()
                found = dl.Table({"q": values, "s": ["x"] * 50}, SCHEMA, engine=engine).cells()
                assert found.counts.tolist() == [values.count(leaf) for leaf in found.schema["q"].leaves]
        except BaseException as error:  # noqa: BLE001 - told to the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_nothing_is_fetched_and_spills_are_private() -> None:
    query = "SELECT " + ", ".join(
        f"current_setting('{name}')"
        for name in ("autoinstall_known_extensions", "autoload_known_extensions", "temp_directory")
    )
    install, load, spill = DuckDB()._connection.con.execute(query).fetchone()
    assert (install, load) == (False, False)
    assert str(spill).startswith(str(Path(tempfile.gettempdir()) / "dalenius-"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_write_keeps_order_and_other_columns(tmp_path: Path, ending: str) -> None:
    n = 5000
    rng = np.random.default_rng(5)
    table = {
        "id": [f"P{i}" for i in range(n)],
        "q": rng.integers(0, 30, n).astype(str).tolist(),
        "note": [f'x "{i}", é\n' if i % 3 else "" for i in range(n)],
        "s": rng.integers(0, 4, n).astype(str).tolist(),
    }
    rows = default().open(table)
    labels = {"q": {str(i): f"[{i // 10}, …]" for i in range(30)}}
    path = tmp_path / f"out.{ending}"
    rows.write(Recoding(("q", "note", "s"), labels, [("[1, …]",)], "*"), path)
    read = default().open(path).read(("q", "note", "s"))
    expected = ["*" if 10 <= int(q) < 20 else f"[{int(q) // 10}, …]" for q in table["q"]]
    assert read == list(zip(expected, table["note"], table["s"], strict=True))


@pytest.mark.parametrize("header", ['"age";"income, yearly";s', '"group","a;b;c",s', '"a\tb",q,s'])
def test_quoted_names_may_hold_another_delimiter(tmp_path: Path, header: str) -> None:
    mark = ";" if header.startswith('"age"') else ","
    (tmp_path / "t.csv").write_text(f"{header}\n1{mark}2{mark}3\n", encoding="utf-8")
    rows = default().open(tmp_path / "t.csv")
    assert len(rows.columns) == 3
    assert rows.read(rows.columns) == [("1", "2", "3")]


@pytest.mark.parametrize("header", ['"a\rb",s', 'q,"s'])
def test_headers_that_cannot_be_read(tmp_path: Path, header: str) -> None:
    (tmp_path / "t.csv").write_text(f"{header}\n1,2\n", encoding="utf-8", newline="")
    with pytest.raises(dl.InputError, match=r"header|carriage return"):
        default().open(tmp_path / "t.csv")
