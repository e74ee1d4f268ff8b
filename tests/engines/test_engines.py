"""The same people in every engine: the same cells, the same releases, and errors that tell no row.

PostgreSQL and Spark Connect are started by the tests; Spark is a cluster of two worker processes.
"""

from __future__ import annotations

import collections
import csv
import datetime as dt
import decimal
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import test_table as nasty

import dalenius as dl
from dalenius import datasets
from dalenius import releases as release
from dalenius.auditing import audit
from dalenius.criteria import DistinctDiversity, KAnonymity
from dalenius.engines import Engine, connect, default
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian
from dalenius.publishers.noisy_counts import exact

pytestmark = pytest.mark.slow

Engines = Callable[[str], Engine]
SERVERS = ["postgres", "spark", "spark-connect"]


def load_postgres(url: str, name: str, columns: dict[str, str], rows: list[tuple[Any, ...]]) -> str:
    """A new table in PostgreSQL; None is null."""
    with psycopg.connect(url, autocommit=True) as connection:
        declared = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
        connection.execute(f"CREATE TABLE {name} ({declared})")
        with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    return name


def nasty_rows(*, nulls: bool = False, integers: bool = False) -> list[tuple[Any, ...]]:
    return list(zip(*nasty.columns(with_nulls=nulls, integers=integers).values(), strict=True))


@pytest.fixture(scope="module")
def postgres_nasty(postgres_url: str) -> str:
    texts = dict.fromkeys(nasty.HEADER, "text")
    load_postgres(postgres_url, "nasty", texts, nasty_rows())
    load_postgres(postgres_url, "nasty_nulls", texts, nasty_rows(nulls=True))
    return load_postgres(
        postgres_url, "nasty_typed", {**texts, "age": "double precision"}, nasty_rows(nulls=True, integers=True)
    )


def database(folder: Path) -> str:
    with duckdb.connect(str(folder / "people.db")) as connection:
        connection.register("arrow", pa.table(nasty.columns(with_nulls=True, integers=True)))
        connection.execute("CREATE TABLE nasty AS SELECT * FROM arrow")
    return f"duckdb://{folder / 'people.db'}"


FILES = ["csv", "tab", "parquet", "parquet, typed", "pandas, floats", "polars", "arrow, typed"]
PLACES = (
    [("duckdb", name) for name in FILES]
    + [("spark", name) for name in FILES]
    + [("spark-connect", name) for name in ("csv", "parquet, typed", "arrow, typed")]
    + [("postgres", name) for name in ("nasty", "nasty_nulls", "nasty_typed", "csv", "pandas, floats")]
    + [("database", "nasty")]
)


@pytest.mark.parametrize(("name", "source"), PLACES)
def test_identical_cells(
    name: str, source: str, engines: Engines, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Cells are sorted by codes, so that equal ones are identical arrays."""
    usual = dl.Table(nasty.csv_file(tmp_path), nasty.SCHEMA).cells()
    assert nasty.decoded(usual) == nasty.expected()
    engine = connect(database(tmp_path)) if name == "database" else engines(name)
    place: object = source
    if source in FILES:
        place = nasty.sources(tmp_path)[source]
    elif name == "postgres":
        request.getfixturevalue("postgres_nasty")
    found = dl.Table(place, nasty.SCHEMA, engine=engine).cells()
    assert found == usual
    assert found.codes.dtype == usual.codes.dtype


def test_a_table_of_spark(engines: Engines) -> None:
    spark: Any = engines("spark")
    frame = spark._session.createDataFrame(pa.table(nasty.columns(with_nulls=True, integers=True)))
    frame.createOrReplaceTempView("nasty_in_spark")
    found = dl.Table("nasty_in_spark", nasty.SCHEMA, engine=spark).cells()
    assert nasty.decoded(found) == nasty.expected()


# --- Releases ----------------------------------------------------------------------------------------------------------

PEOPLE = 3000


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hospital's table as a file, with its schema beside it."""
    folder = tmp_path_factory.mktemp("hospital")
    datasets.save_hospital(folder, PEOPLE, seed=3)
    return folder


@pytest.fixture(scope="module")
def postgres_people(people: Path, postgres_url: str) -> str:
    with (people / "patients.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return load_postgres(postgres_url, "patients", dict.fromkeys(header, "text"), [tuple(row) for row in rows])


def placed(name: str, people: Path, request: pytest.FixtureRequest, engines: Engines) -> dl.Table:
    """The hospital's table in an engine."""
    schema = dl.Schema.load(people / "privacy.toml")
    source = request.getfixturevalue("postgres_people") if name == "postgres" else people / "patients.csv"
    return dl.Table(source, schema, engine=engines(name))


def multiset(path: Path) -> dict[tuple[str, ...], int]:
    rows = default().open(path)
    return dict(collections.Counter([rows.columns, *rows.read(rows.columns)]))


PUBLISHERS: dict[str, Any] = {
    "lattice": Lattice([KAnonymity(8)], suppression=0.05),
    "lattice, rows hidden": Lattice([KAnonymity(8)], suppression=0.05, suppressed_rows="hide"),
    "lattice, nobody suppressed": Lattice([KAnonymity(3), DistinctDiversity(2)]),
    "mondrian": Mondrian([KAnonymity(6)]),
}


@pytest.mark.parametrize("method", list(PUBLISHERS))
@pytest.mark.parametrize("name", SERVERS)
def test_the_same_release(
    name: str, method: str, people: Path, engines: Engines, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    expected = PUBLISHERS[method].publish(placed("duckdb", people, request, engines))
    expected.write(tmp_path / "expected.csv")
    found = PUBLISHERS[method].publish(placed(name, people, request, engines))
    assert found.describe() == expected.describe()
    found.write(tmp_path / "found.csv")
    assert multiset(tmp_path / "found.csv") == multiset(tmp_path / "expected.csv")
    hidden = expected.describe().get("hidden", 0)
    assert (hidden > 0) == (method == "lattice, rows hidden")
    if method == "lattice":
        assert expected.describe()["suppressed"] > 0
    if name != "postgres":
        found.write(tmp_path / "found.parquet", shuffle=True)
        assert multiset(tmp_path / "found.parquet") == multiset(tmp_path / "expected.csv")
    # What was written reads as the release it is, also by the engine that wrote it.
    schema = dl.Schema.load(people / "privacy.toml")
    back = release.read(tmp_path / "found.csv", schema, engine=engines(name))
    assert back.people == PEOPLE - hidden
    assert sorted(back.sizes.tolist()) == sorted(found.release.sizes.tolist())
    # A folder of part files is as good as a file: what is changed in it is noticed.
    file = next(iter(sorted((tmp_path / "found.csv").glob("part*"))), tmp_path / "found.csv")
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(dl.InputError, match=f"{file.relative_to(tmp_path)} was changed after found.csv.meta.json"):
        release.read(tmp_path / "found.csv", schema, engine=engines(name))


@pytest.mark.parametrize("name", SERVERS)
def test_the_same_anatomy(
    name: str, people: Path, engines: Engines, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    for place in ("duckdb", name):
        Anatomy(3).publish(placed(place, people, request, engines), seed=5).write(tmp_path / place)
    for part in ("quasi", "sensitive"):
        assert multiset(tmp_path / f"{name}.{part}.csv") == multiset(tmp_path / f"duckdb.{part}.csv")
    back = release.read(tmp_path / name, dl.Schema.load(people / "privacy.toml"), engine=engines(name))
    assert back.people == PEOPLE


@pytest.mark.parametrize("name", SERVERS)
def test_the_same_attack_on_centroids(
    name: str, people: Path, engines: Engines, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """A release of means and the table it was made of, both where the people are."""
    schema = dl.Schema.load(people / "privacy.toml")
    Microaggregation(4).publish(placed("duckdb", people, request, engines)).write(tmp_path / "points.csv")
    (expected,) = audit(tmp_path / "points.csv", schema, truth=people / "patients.csv").attacks
    source, truth = str(tmp_path / "points.csv"), str(people / "patients.csv")
    if name == "postgres":
        truth = request.getfixturevalue("postgres_people")
        with (tmp_path / "points.csv").open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        columns = {**dict.fromkeys(header, "text"), "age": "double precision", "group": "integer"}
        source = load_postgres(request.getfixturevalue("postgres_url"), "points", columns, [tuple(row) for row in rows])
    (found,) = audit(source, schema, truth=truth, kind="centroids", engine=engines(name)).attacks
    assert (found.success, found.confidence) == (expected.success, expected.confidence)
    assert found.perfect_breach == expected.perfect_breach
    assert (expected.right_group.n, found.right_group.n) == (PEOPLE, 0)  # rows have an order in a file alone


@pytest.mark.parametrize("name", SERVERS)
def test_the_same_counts_before_noise(
    name: str, people: Path, engines: Engines, request: pytest.FixtureRequest
) -> None:
    expected, found = (exact(placed(place, people, request, engines), [("sex", "age")]) for place in ("duckdb", name))
    assert found.tables == expected.tables
    for mine, theirs in zip(found.counts, expected.counts, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert sum(table.size for table in expected.counts) > 100


@pytest.mark.parametrize("name", SERVERS)
def test_roll_ups_in_the_engine(
    name: str, people: Path, engines: Engines, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """With more distinct rows than may be kept: the same node as from all cells, and the same release."""
    publisher = Lattice([KAnonymity(60)])
    expected = publisher.publish(placed("duckdb", people, request, engines))
    expected.write(tmp_path / "expected.csv")
    small = placed(name, people, request, engines)
    told: list[str] = []
    found = publisher.publish(
        dl.Table(small.source, small.declared, engine=small.engine, most_cells=1500, notify=told.append)
    )
    assert found.describe()["rollups"] == "engine"
    assert "roll-ups run in the engine" in told[0]
    assert found.node == expected.node
    found.write(tmp_path / "found.csv")
    assert multiset(tmp_path / "found.csv") == multiset(tmp_path / "expected.csv")


# --- Stopping, and being stopped ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["spark", "spark-connect"])
def test_an_interrupt_ends_the_query_in_spark(name: str, engines: Engines) -> None:
    spark: Any = engines(name)
    endless = spark._session.range(10**13).selectExpr("CAST(id % 7 AS STRING) AS q", "CAST(id % 3 AS STRING) AS s")
    endless.createOrReplaceTempView("endless")
    rows = spark.open("endless")
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        if sum("tasks" in one for one in told) == 2:  # it runs, and a line is shown
            os.kill(os.getpid(), signal.SIGINT)

    spark.notify = tell
    try:
        with pytest.raises(KeyboardInterrupt):
            rows.count(["q", "s"])
    finally:
        spark.notify = None
    assert told[-1] == ""  # the line is wiped
    if name == "spark":
        assert spark._session.sparkContext.statusTracker().getActiveJobsIds() == []
    # The next one has the workers to itself.
    assert spark._session.range(10).count() == 10


@pytest.mark.parametrize("name", ["spark", "spark-connect"])
def test_a_ragged_file_is_told_without_its_rows(name: str, engines: Engines, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\na,x\nSECRET\n", encoding="utf-8")
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")])
    with pytest.raises(dl.InputError, match="more or fewer fields") as caught:
        dl.Table(tmp_path / "t.csv", schema, engine=engines(name)).cells()
    error: BaseException | None = caught.value
    while error is not None:
        assert "SECRET" not in str(error)
        error = error.__cause__ or error.__context__


FILES_OF_TROUBLE = {
    "line ends inside quotes": (b'q,s\r\n1,a\r\n2,"b\r\nc"\r\n3,"b\nc"\r\n4,"d\re"\r\n', None),
    "mixed line ends": (b"q,s\n1,x\r\n2,y\r\n", "mixed line ends"),
    "a mark of byte order": ("\ufeffq,s\na,x\n".encode(), None),
    "blank lines": (b"q,s\na,x\n\na,x\n\n", None),
    "not UTF-8 far below": (b"q,s\n" + b"1,a\n" * 300_000 + b"\xe9,c\n\xea,c\n", "not UTF-8"),
    "a stray quote": (b'q,s\n"ab"c,c\n', "quote|cannot be told apart|complete"),
}


@pytest.mark.parametrize("trouble", list(FILES_OF_TROUBLE))
def test_spark_reads_text_as_duckdb_does(trouble: str, engines: Engines, tmp_path: Path) -> None:
    content, refused = FILES_OF_TROUBLE[trouble]
    (tmp_path / "t.csv").write_bytes(content)
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")])
    tables = [dl.Table(tmp_path / "t.csv", schema, engine=engines(name)) for name in ("duckdb", "spark")]
    if refused is None:
        assert tables[0].cells() == tables[1].cells()
        return
    for table in tables:
        with pytest.raises(dl.InputError, match=refused):
            table.cells()


def test_a_file_by_its_uri(engines: Engines, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"q,s\r\n1,x\r\n2,y\r\n")
    schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")])
    found = dl.Table(f"file://{tmp_path / 't.csv'}", schema, engine=engines("spark")).cells()
    assert found == dl.Table(tmp_path / "t.csv", schema).cells()


def test_numbers_and_times_have_one_text(engines: Engines, tmp_path: Path) -> None:
    floats = [0.0001, 12345678.25, 1e22, 1e-5, 1.5e-10, 2.5, -0.001, 1e300, float("inf"), 0.1 + 0.2, -7.0, float("nan")]
    moments = [dt.datetime(2020, 1, 1, 12, i, tzinfo=dt.UTC) for i in range(len(floats))]
    pq.write_table(
        pa.table({"q": floats, "t": pa.array(moments, pa.timestamp("us", "UTC")), "f": pa.array(floats, pa.float32()),
                  "n": pa.array([decimal.Decimal(i) / 4 for i in range(len(floats))]),
                  "l": pa.array([moment.replace(tzinfo=None) for moment in moments]), "s": ["x"] * len(floats)}),
        tmp_path / "t.parquet",
    )  # fmt: skip
    schema = dl.Schema([*(dl.Column(name, "quasi") for name in "qtfnl"), dl.Column("s", "sensitive")])
    expected, *others = (
        dl.Table(tmp_path / "t.parquet", schema, engine=engines(name)).cells()
        for name in ("duckdb", "spark", "spark-connect")
    )
    for found in others:
        for mine, theirs in zip(found.schema.coded, expected.schema.coded, strict=True):
            assert mine.leaves == theirs.leaves
        assert found == expected


def test_another_master_in_one_process_is_refused(engines: Engines) -> None:
    engines("spark")
    with pytest.raises(dl.InputError, match="another master"):
        connect("local[3]")
    with pytest.raises(dl.InputError, match="There is no engine"):
        connect("yarnish")


def test_rows_without_an_order(people: Path, engines: Engines, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    table = placed("postgres", people, request, engines)
    assert table.rows.find({"sex": ["Male"]}, limit=3) == []
    with pytest.raises(dl.InputError, match="no order of rows"):
        Microaggregation(5).publish(table).write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    narrow = dl.Schema([dl.Column(c.name, c.role, domain=dl.Domain(("Male",))) if c.name == "sex" else c
                        for c in table.declared.columns])  # fmt: skip
    with pytest.raises(dl.InputError, match="some row"):
        dl.Table("patients", narrow, engine=engines("postgres")).cells()
