"""What DuckDB would do with a file if it were not told otherwise, and what a file can be."""

from __future__ import annotations

import gc
import gzip
import math
import tempfile
import threading
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import LONG

import dalenius as dl
from dalenius.cli import app
from dalenius.criteria import KAnonymity
from dalenius.engines import Engine, Recoding, connect, default
from dalenius.engines.duckdb_engine import DuckDB
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian

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


# --- Database files ----------------------------------------------------------------------------------------------------


@pytest.fixture
def clinic(tmp_path: Path) -> str:
    with duckdb.connect(str(tmp_path / "clinic.db")) as connection:
        connection.execute("CREATE TABLE people AS SELECT (range % 7)::text q, (range % 3)::text s FROM range(210)")
        connection.execute("CREATE VIEW seen AS SELECT max(q) q, any_value(s) s FROM people GROUP BY q")
        connection.execute("CREATE TABLE gone AS FROM people")
        connection.execute("CREATE VIEW broken AS FROM gone")
        connection.execute("DROP TABLE gone")
    return f"duckdb://{tmp_path / 'clinic.db'}"


def test_a_release_into_a_database(clinic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    engine = connect(clinic)
    published = Mondrian([KAnonymity(20)]).publish(dl.Table("people", SCHEMA, engine=engine))
    published.write("table:released")
    assert cells_of("released", engine) == cells_of("people", engine)
    assert (tmp_path / "released.meta.json").is_file()
    assert not (tmp_path / "clinic.db.wal").exists()
    for name, said in (
        ("table:released", "already"),
        ("table:RELEASED", "already"),
        ("table:people", "already"),
        ("table:other.main.n", "NAME or SCHEMA.NAME"),
        ("table:nowhere.n", "no such schema"),
    ):
        with pytest.raises(dl.InputError, match=said):
            published.write(name)
    assert cells_of("people", engine)  # and it is open still
    with pytest.raises(dl.InputError, match="no database"):
        Mondrian([KAnonymity(2)]).publish(dl.Table({"q": ["a", "a"], "s": ["x", "x"]}, SCHEMA)).write("table:x")


def cells_of(name: str, engine: Engine) -> dict[tuple[str, ...], int]:
    found = dl.Table(name, SCHEMA, engine=engine).cells()
    return {tuple(row): count for row, count in zip(found.codes.tolist(), found.counts.tolist(), strict=True)}


def test_tables_of_a_database_have_no_order(clinic: str) -> None:
    """The order of a view's rows may differ from query to query: no row may be known by its number."""
    for name in ("people", "seen"):
        rows = connect(clinic).open(name)
        assert not rows.numbered
        assert rows.find({"q": ["1"]}, limit=2) == []
        with pytest.raises(dl.InputError, match="no order of rows"):
            Microaggregation(2).publish(dl.Table(name, SCHEMA, engine=connect(clinic)))
    with pytest.raises(dl.InputError, match="do its tables still exist"):
        connect(clinic).open("broken")


def test_files_that_are_no_databases(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("q,s\na,x\n", encoding="utf-8")
    for path, said in (
        (tmp_path / "nowhere.db", "does not exist"),
        (tmp_path / "text.db", "Is it a DuckDB database file"),
    ):
        with pytest.raises(dl.InputError, match=said):
            connect(f"duckdb://{path}")


def test_frames_that_go_while_a_query_runs_do_not_stop_it() -> None:
    """Rows in a cycle are collected wherever Python's collector happens to run, also in the thread of a query."""
    engine = DuckDB()

    class Holder:
        def __init__(self, rows: object) -> None:
            self.rows, self.me = rows, self

    def work() -> None:
        Holder(engine.open({"q": ["a"], "s": ["x"]}))
        with engine._lock:  # as whoever asks a query does, while another thread runs it
            engine._watched(gc.collect)
        assert cells({"q": ["b"], "s": ["y"]}) == {("b", "y"): 1}

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LONG)
    assert not thread.is_alive()
    assert list(engine._gone)  # noted, and let go of with the next frame
    kept = engine.open({"q": ["a"], "s": ["x"]})
    assert not engine._gone
    assert kept.columns == ("q", "s")


def test_a_table_that_changed_is_not_released(tmp_path: Path) -> None:
    for changed in ("1,x\n" * 4 + "9,x\n", "1,x\n" * 6):  # a value that nobody had, and somebody more
        (tmp_path / "t.csv").write_text("q,s\n" + "1,x\n" * 5, encoding="utf-8")
        published = Mondrian([KAnonymity(2)]).publish(dl.Table(tmp_path / "t.csv", SCHEMA))
        (tmp_path / "t.csv").write_text("q,s\n" + changed, encoding="utf-8")
        with pytest.raises(dl.InputError, match="changed while it was read"):
            published.write(tmp_path / "out.csv")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_a_header_with_another_delimiter_is_quoted(tmp_path: Path) -> None:
    table = {"a;b;c": ["1", "1"], "s": ["x", "y"]}
    default().open(table).write(Recoding(("a;b;c", "s"), {"a;b;c": {"1": "one"}}), tmp_path / "out.csv")
    assert default().open(tmp_path / "out.csv").columns == ("a;b;c", "s")


def test_a_folder_of_parts_is_read_like_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "t.csv"
    folder.mkdir()
    for name, text in (
        ("part-0.csv", "q,s\n"),
        ("part-1.csv", "q,s\na,x\n"),
        ("part-2.csv", "q,s\nb,x\n"),
        ("_SUCCESS", ""),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    assert cells(folder) == {("a", "x"): 1, ("b", "x"): 1}
    pq.write_table(pa.table({"q": ["a"], "s": ["x"]}), tmp_path / "one.parquet")
    (tmp_path / "set.parquet").mkdir()
    for name in ("2024.parquet", "2025.parquet"):
        (tmp_path / "set.parquet" / name).write_bytes((tmp_path / "one.parquet").read_bytes())
    assert cells(tmp_path / "set.parquet") == {("a", "x"): 2}
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "t.csv").write_text("q,s\na,x\n", encoding="utf-8")
    with pytest.raises(dl.InputError, match="that is a folder"):
        cells(tmp_path / "odd")


@pytest.mark.usefixtures("clinic")
def test_a_database_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by a release nor by JSON; and publishing from a table to a file again replaces the file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "privacy.toml").write_text(
        '[columns.q]\nrole = "quasi"\nhierarchy = "suppress"\n[columns.s]\nrole = "sensitive"\n', encoding="utf-8"
    )
    before = (tmp_path / "clinic.db").read_bytes()
    words = ["--engine", "duckdb://clinic.db", "-q"]
    for command in (
        ["publish", "people", "--k", "2", "-o", "clinic.db"],
        ["publish", "people", "--k", "2", "-o", "out.csv", "--json", "clinic.db"],
        ["check", "people", "--json", "clinic.db"],
        ["audit", "people", "-o", "clinic.db"],
        ["audit", "people", "--json", "clinic.db"],
        ["lattice", "people", "--json", "clinic.db"],
        ["attack", "people", "--truth", "people", "--json", "clinic.db"],
        ["compare", "people", "--truth", "people", "--json", "clinic.db"],
    ):
        assert app.run([*command, *words]) == 2, command
        assert (tmp_path / "clinic.db").read_bytes() == before, command
    for _ in range(2):
        assert app.run(["publish", "people", "--k", "2", "-o", "out.csv", *words]) == 0
    engine = connect("duckdb://clinic.db")
    monkeypatch.chdir("/")
    Mondrian([KAnonymity(20)]).publish(dl.Table("people", SCHEMA, engine=engine))
    assert engine.open("people").columns == ("q", "s")


def test_parts_that_are_not_of_one_table(tmp_path: Path) -> None:
    for name, files in {
        "no header": {"part-0.csv": "q,s\na,x\n", "part-1.csv": "b,x\nc,x\n"},
        "another order": {"part-0.csv": "q,s\na,x\n", "part-1.csv": "s,q\nx,b\n"},
        "another delimiter": {"part-0.csv": "q,s\na,x\n", "part-1.csv": "q;s\nb;x\n"},
    }.items():
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(text, encoding="utf-8")
        with pytest.raises(dl.InputError, match="Every part needs the header"):
            cells(tmp_path / name)
    (tmp_path / "words").mkdir()
    for file in ("participants.csv", "partners.csv"):
        (tmp_path / "words" / file).write_text("q,s\na,x\n", encoding="utf-8")
    with pytest.raises(dl.InputError, match="that is a folder"):
        cells(tmp_path / "words")
