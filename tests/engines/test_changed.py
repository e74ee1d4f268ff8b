"""A table that changes while a release is made of it: what is published is what was decided, or nothing is.

Every method, every engine, and every moment: after the table was counted, and at the last one, when the rows are written.
"""

from __future__ import annotations

import collections
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.test_engines import load_postgres

import dalenius as dl
from dalenius.cli import app
from dalenius.criteria import DistinctDiversity, KAnonymity
from dalenius.engines import Engine, connect, default
from dalenius.engines.duckdb_engine import DuckDB
from dalenius.engines.ibis_rows import IbisRows
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.base import Published
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian

Row = tuple[str, str, str, str]
Change = Callable[[list[Row]], list[Row]]
Engines = Callable[[str], Engine]
HEADER = ("age", "sex", "note", "illness")
SCHEMA = """sensitive = "illness"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 79 }
intervals = [10, 20]
[columns.sex]
role = "quasi"
domain = ["F", "M", "X"]
hierarchy = "suppress"
[columns.note]
role = "other"
"""
REFUSED = "changed while it was read"
METHODS: dict[str, Any] = {
    "lattice": Lattice([KAnonymity(5), DistinctDiversity(2)], suppression=0.1, suppressed_rows="as-is"),
    "lattice, rows left out": Lattice([KAnonymity(5), DistinctDiversity(2)], suppression=0.1, suppressed_rows="hide"),
    "lattice in the engine": Lattice([KAnonymity(5), DistinctDiversity(2)], suppression=0.1, suppressed_rows="as-is"),
    "lattice in the engine, sizes alone": Lattice([KAnonymity(5)], suppression=0.1, suppressed_rows="as-is"),
    "mondrian": Mondrian([KAnonymity(5)]),
    "centroids": Microaggregation(5),
    "ranges": Microaggregation(5, shown="ranges"),
    "anatomy": Anatomy(3),
}
ORDERED = ("centroids", "ranges")  # methods that need an order of rows


def people() -> list[Row]:
    rng = np.random.default_rng(5)
    rows = [
        (str(20 + int(rng.integers(0, 36))), "FM"[i % 2], f"note {i}", f"illness {int(rng.integers(0, 6))}")
        for i in range(240)
    ]
    return [
        *rows,
        *((str(78 + i % 2), "X", f"last {i}", "illness 0") for i in range(3)),
    ]  # too few: the lattice suppresses them


def fewer(rows: list[Row]) -> list[Row]:
    return rows[: len(rows) // 2]


def moved(rows: list[Row]) -> list[Row]:
    """As many people as before, all values known; one of them has become somebody else."""
    return [*rows[:-4], rows[0], *rows[-3:]]


def swapped(rows: list[Row]) -> list[Row]:
    """Quasi-identifiers stay; two people whose labels differ whatever the method have changed illnesses."""
    young = next(i for i, row in enumerate(rows) if row[0] < "24" and row[1] == "F" and row[3] == "illness 1")
    old = next(i for i, row in enumerate(rows) if "52" < row[0] < "56" and row[1] == "M" and row[3] == "illness 2")
    found = list(rows)
    found[young], found[old] = (*rows[young][:3], rows[old][3]), (*rows[old][:3], rows[young][3])
    return found


def ill(rows: list[Row]) -> list[Row]:
    """Somebody has an illness that nobody had."""
    return [(*rows[0][:3], "SECRET illness"), *rows[1:]]


def turned(rows: list[Row]) -> list[Row]:
    """The same people in another order."""
    return [rows[i] for i in np.random.default_rng(1).permutation(len(rows)).tolist()]


CHANGES: dict[str, Change] = {change.__name__: change for change in (fewer, moved, swapped, ill)}
TARGETS = ("file", "table")
# Two files are no table. Where sizes alone were counted, nothing that was decided changes when two people swap illnesses.
IN_DATABASES = [
    (method, change, target)
    for method in METHODS
    for change in CHANGES
    for target in TARGETS
    if method not in ORDERED
    and (method, target) != ("anatomy", "table")
    and not ("sizes alone" in method and change == "swapped")
]


def as_csv(path: Path, rows: list[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(HEADER)
        writer.writerows(rows)


def as_parquet(path: Path, rows: list[Row]) -> None:
    pq.write_table(pa.table(dict(zip(HEADER, map(list, zip(*rows, strict=True)), strict=True))), path)


SAVE = {".csv": as_csv, ".parquet": as_parquet}


def publish(method: str, source: object, schema: Path, engine: Engine | None = None) -> Published:
    most = 100 if "in the engine" in method else 1000
    table = dl.Table(source, schema, engine=engine, most_cells=most)
    options = {"seed": 1} if method == "anatomy" else {}
    published: Published = METHODS[method].publish(table, **options)
    if "in the engine" in method:
        assert published.describe()["rollups"] == "engine"
    if method.startswith("lattice"):
        told = published.describe()
        assert told["suppressed"] + told.get("hidden", 0) == 3
    return published


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def refused(published: Published, out: Path | str, folder: Path) -> None:
    """One sentence without anybody's value, and nothing in the folder is touched."""
    before = contents(folder)
    with pytest.raises(dl.InputError, match=REFUSED) as caught:
        published.write(out)
    assert "SECRET" not in str(caught.value)
    assert "illness" not in str(caught.value)
    assert contents(folder) == before


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path / "privacy.toml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


# --- Files ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("last", [False, True], ids=["before writing", "at the last moment"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("change", list(CHANGES))
@pytest.mark.parametrize("method", list(METHODS))
def test_files(
    method: str, change: str, ending: str, last: bool, schema: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = schema.with_name(f"people{ending}")
    SAVE[ending](source, people())
    published = publish(method, source, schema)
    out = folder / ("cut" if method == "anatomy" else f"out{ending}")
    published.write(out)
    store = DuckDB.store

    def late(self: DuckDB, *arguments: Any, **options: Any) -> None:
        SAVE[ending](source, CHANGES[change](people()))
        store(self, *arguments, **options)

    if last:
        monkeypatch.setattr(DuckDB, "store", late)
    else:
        SAVE[ending](source, CHANGES[change](people()))
    if method == "lattice in the engine, sizes alone" and change == "swapped":
        published.write(out)  # it was decided of sizes, and of how many people have each illness in all
        return
    refused(published, out, folder)
    monkeypatch.undo()
    SAVE[ending](source, people())
    published.write(out)  # the publisher is still of use


@pytest.mark.slow
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("method", list(METHODS))
def test_rows_in_another_order(method: str, shuffle: bool, schema: Path, folder: Path) -> None:
    """Each person keeps their group: none is given to whoever stands at the same place."""
    source = schema.with_name("people.csv")
    as_csv(source, people())
    published = publish(method, source, schema)
    out = folder / ("cut" if method == "anatomy" else "out.csv")
    published.write(out)
    file = folder / "cut.quasi.csv" if method == "anatomy" else out
    expected = written(file)
    as_csv(source, turned(people()))
    published.write(out, shuffle=shuffle)
    assert anonymous(written(file), shuffle) == anonymous(expected, shuffle)


def written(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def anonymous(rows: list[dict[str, str]], shuffle: bool) -> dict[tuple[str, ...], int]:
    """Rows as a multiset, without notes (people alike in all else may change places) and without shuffled numbers."""
    left = [{k: v for k, v in row.items() if k != "note" and not (shuffle and k == "group")} for row in rows]
    return dict(collections.Counter(tuple(row.values()) for row in left))


def test_rows_of_a_group_belong_there(schema: Path, folder: Path) -> None:
    """The centroid of each group is the mean of the people who are in it, also when rows change places meanwhile."""
    source = schema.with_name("people.csv")
    as_csv(source, people())
    published = publish("centroids", source, schema)
    as_csv(source, turned(people()))
    published.write(folder / "out.csv")
    age = {row[2]: int(row[0]) for row in people()}
    ages: dict[tuple[str, str], list[int]] = {}
    for row in written(folder / "out.csv"):
        ages.setdefault((row["group"], row["age"]), []).append(age[row["note"]])
    for (_, mean), members in ages.items():
        assert np.mean(members) == pytest.approx(float(mean))


@pytest.mark.parametrize("method", ORDERED)
@pytest.mark.parametrize("change", list(CHANGES))
def test_rows_that_are_read_one_by_one(method: str, change: str, schema: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Microaggregation counts the table, then reads its rows: both must be of the same people."""
    source = schema.with_name("people.csv")
    as_csv(source, people())
    table = dl.Table(source, schema)
    rows = table.rows
    read = type(rows).read

    def late(self: Any, columns: Any) -> Any:
        as_csv(source, CHANGES[change](people()))
        return read(self, columns)

    monkeypatch.setattr(type(rows), "read", late)
    with pytest.raises(dl.InputError, match=REFUSED) as caught:
        METHODS[method].publish(table)
    assert "SECRET" not in str(caught.value)


def test_a_frame_that_changes(schema: Path, folder: Path) -> None:
    """Arrow may share the memory of a NumPy array, which anybody can write to."""
    rows = people()
    ages = np.array([int(row[0]) for row in rows])
    columns = {"age": ages, **{name: [row[j] for row in rows] for j, name in enumerate(HEADER) if j}}
    published = publish("mondrian", columns, schema)
    published.write(folder / "out.csv")
    ages[:100] = 20
    before = contents(folder)
    try:
        published.write(folder / "out.csv")
    except dl.InputError as error:
        assert REFUSED in str(error)  # noqa: PT017 - whether memory is shared is Arrow's affair
    assert contents(folder)["out.csv"] == before["out.csv"]


def test_the_command_line(schema: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(schema.parent)
    as_csv(Path("people.csv"), people())
    assert app.run(["publish", "people.csv", "--k", "5", "--suppression", "0.1", "-o", "out.csv"]) == 0
    before = contents(schema.parent)
    store = DuckDB.store

    def late(self: DuckDB, *arguments: Any, **options: Any) -> None:
        as_csv(Path("people.csv"), ill(people()))
        store(self, *arguments, **options)

    monkeypatch.setattr(DuckDB, "store", late)
    capsys.readouterr()
    assert app.run(["publish", "people.csv", "--k", "5", "--suppression", "0.1", "-o", "out.csv"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "dalenius: people.csv changed while it was read. Start again. Nothing was written.\n"
    as_csv(Path("people.csv"), people())
    assert contents(schema.parent) == before


# --- Tables of a DuckDB file ------------------------------------------------------------------------------------------


def into_database(path: Path, rows: list[Row]) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow", pa.table(dict(zip(HEADER, map(list, zip(*rows, strict=True)), strict=True))))
        connection.execute("CREATE OR REPLACE TABLE people AS FROM arrow")


@pytest.mark.slow
@pytest.mark.parametrize(("method", "change", "target"), IN_DATABASES)
def test_tables_of_a_database(
    method: str, change: str, target: str, schema: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    database = schema.with_name("people.db")
    into_database(database, people())
    engine: Any = connect(f"duckdb://{database}")
    published = publish(method, "people", schema, engine)
    # Nobody else can write to a file that is open here.
    engine._connection.con.execute("DETACH dalenius_database")
    into_database(database, CHANGES[change](people()))
    engine._attach(database)
    out = folder / "out.csv" if target == "file" else "table:released"
    refused(published, out, folder)
    assert not engine.has(dl.engines.TableName(("released",)))
    engine._connection.con.execute("DETACH dalenius_database")
    into_database(database, people())
    engine._attach(database)
    published.write(out)
    if target == "table":
        assert engine.has(dl.engines.TableName(("released",)))


def test_an_interrupt_when_the_table_is_there(
    schema: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the terminal says is true: the table was made, and its sidecar was not."""
    monkeypatch.chdir(schema.parent)
    into_database(Path("people.db"), people())
    write = IbisRows.write

    def interrupted(self: IbisRows, *arguments: Any) -> None:
        write(self, *arguments)
        raise KeyboardInterrupt

    words = ["publish", "people", "--engine", "duckdb://people.db", "--k", "5", "--suppression", "0.1"]
    monkeypatch.setattr(IbisRows, "write", interrupted)
    assert app.run([*words, "-o", "table:released"]) == 130
    assert capsys.readouterr().err == "dalenius: Interrupted. Already written: table:released.\n"
    assert connect("duckdb://people.db").has(dl.engines.TableName(("released",)))
    assert not Path("released.meta.json").exists()
    assert app.run([*words, "-o", "out.csv"]) == 130
    assert capsys.readouterr().err == "dalenius: Interrupted. Nothing was written.\n"


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("method", "change", "target"), IN_DATABASES)
def test_postgres(
    method: str,
    change: str,
    target: str,
    schema: Path,
    folder: Path,
    engines: Engines,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One transaction sees one table. The second release is written in another."""
    monkeypatch.chdir(folder)
    name = f"changing_{target}_{change}_{''.join(filter(str.isalpha, method))}"
    load_postgres(postgres_url, name, dict.fromkeys(HEADER, "text"), list(people()))
    engine = engines("postgres")
    published = publish(method, name, schema, engine)
    published.write(folder / ("cut" if method == "anatomy" else "out.csv"))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"TRUNCATE {name}")
        with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in CHANGES[change](people()):
                copy.write_row(row)
    out = folder / ("cut" if method == "anatomy" else "out.csv") if target == "file" else f"table:{name}_out"
    refused(published, out, folder)
    assert not engine.has(dl.engines.TableName((f"{name}_out",)))
    with psycopg.connect(postgres_url, autocommit=True) as connection:  # nothing is held
        connection.execute(f"SET lock_timeout = '300s'; ALTER TABLE {name} ADD COLUMN z text")


# --- Spark ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("change", ["moved", "swapped"])
@pytest.mark.parametrize(
    ("name", "method", "target"),
    [("spark", method, target) for method in ("lattice", "lattice in the engine", "mondrian") for target in TARGETS]
    + [("spark", "anatomy", "file"), ("spark-connect", "mondrian", "table"), ("spark-connect", "lattice", "file")],
)
def test_spark(
    name: str,
    method: str,
    change: str,
    target: str,
    schema: Path,
    folder: Path,
    engines: Engines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    engine: Any = engines(name)
    source = schema.with_name("people.csv")
    same = list(people())
    as_csv(source, same)
    length = source.stat().st_size
    published = publish(method, source, schema, engine)
    changed = CHANGES[change](people())
    as_csv(source, changed)
    # Spark notes a file's length when it opens it, and would not read beyond.
    source.write_bytes(source.read_bytes()[:length].ljust(length, b"\n"))
    table = f"released_{change}_{method.split()[0]}_{name.replace('-', '_')}"
    out = folder / ("cut" if method == "anatomy" else "out.csv") if target == "file" else f"table:{table}"
    refused(published, out, folder)
    assert not [one.name for one in engine._session.catalog.listTables() if one.name.startswith("released")]
    as_csv(source, same)
    published.write(out)
    if target == "table":
        assert engine.has(dl.engines.TableName((table,)))
        engine._session.sql(f"DROP TABLE {table}")
    else:
        assert json.loads((folder / f"{Path(out).name}.meta.json").read_text(encoding="utf-8"))["people"] == len(same)
        assert default().open(folder / "out.csv" if method != "anatomy" else folder / "cut.quasi.csv").total() == len(
            same
        )
