"""What PostgreSQL adds: its types and collations, credentials, tables as outputs, and a query that must end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.conftest import LONG
from tests.engines.servers import SECRET

import dalenius as dl
from dalenius.cli import app
from dalenius.engines import Engine, connect

pytestmark = pytest.mark.slow

SCHEMA = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")])


def made(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def cells(name: str, engine: Engine) -> dict[tuple[str, ...], int]:
    found = dl.Table(name, SCHEMA, engine=engine).cells()
    leaves = [column.leaves for column in found.schema.coded]
    rows = [tuple(leaves[j][code] for j, code in enumerate(row)) for row in found.codes.tolist()]
    return dict(zip(rows, found.counts.tolist(), strict=True))


TYPES = {
    "double precision": ["1", "2.5", "'NaN'", "-0.0", "1e16", "'Infinity'", "1e300"],
    "real": ["7", "0.1"],
    "numeric(6,2)": ["1.50", "2", "'NaN'"],
    "char(5)": ["'ab'"],
    "boolean": ["true", "false"],
    "date": ["'2020-01-31'"],
    "timestamptz": ["'2020-01-31 12:00:00+02'"],
    "uuid": ["'6b1f3a3e-8d1c-4c55-9a0e-000000000001'"],
}
TEXTS = {
    "double precision": ["1", "2.5", "", "0", "10000000000000000", "inf", "1e+300"],
    "real": ["7", "0.1"],
    "numeric(6,2)": ["1.50", "2.00", ""],
    "char(5)": ["ab"],
    "boolean": ["true", "false"],
    "date": ["2020-01-31"],
    "timestamptz": ["2020-01-31 10:00:00+00"],
    "uuid": ["6b1f3a3e-8d1c-4c55-9a0e-000000000001"],
}


@pytest.mark.parametrize("kind", list(TYPES))
def test_types(kind: str, postgres_url: str, engines: Callable[[str], Engine]) -> None:
    name = "typed_" + "".join(filter(str.isalnum, kind))
    values = ", ".join(f"({value}::{kind}, 'x')" for value in TYPES[kind])
    made(postgres_url, f'CREATE TABLE {name} (q {kind}, s text)', f"INSERT INTO {name} VALUES {values}")  # fmt: skip
    assert cells(name, engines("postgres")) == {(text, "x"): 1 for text in TEXTS[kind]}


def test_a_collation_does_not_merge_values(postgres_url: str, engines: Callable[[str], Engine]) -> None:
    """A collation that takes Flu and FLU for equal is the database's; counting is by bytes."""
    made(
        postgres_url,
        "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE folded (q text COLLATE blind, s text)",
        "INSERT INTO folded VALUES ('Flu', 'x'), ('FLU', 'x'), ('flu', 'x')",
    )
    assert cells("folded", engines("postgres")) == {("Flu", "x"): 1, ("FLU", "x"): 1, ("flu", "x"): 1}


@pytest.mark.parametrize("kind", ["bytea", "json", "text[]", "odd"])
def test_types_without_a_text(kind: str, postgres_url: str, engines: Callable[[str], Engine]) -> None:
    name = "refused_" + kind[:4]
    made(
        postgres_url,
        *(["CREATE TYPE odd AS (a int)"] if kind == "odd" else []),
        f"CREATE TABLE {name} (q {kind}, s text)",
    )
    with pytest.raises(dl.InputError, match="'q' holds"):
        cells(name, engines("postgres"))


def test_names(
    postgres_url: str, engines: Callable[[str], Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines("postgres")
    monkeypatch.chdir(tmp_path)
    made(
        postgres_url,
        "CREATE SCHEMA clinic",
        'CREATE TABLE clinic."Odd.Name; --" (q text, s text)',
        "INSERT INTO clinic.\"Odd.Name; --\" VALUES ('a', 'x')",
        "CREATE TABLE both_here (q text, s text)",
        "INSERT INTO both_here VALUES ('table', 'x')",
        "CREATE TABLE empty_one (q text, s text)",
    )
    assert cells('clinic."Odd.Name; --"', engine) == {("a", "x"): 1}
    (tmp_path / "both_here").write_text("q,s\nfile,x\n", encoding="utf-8")
    with pytest.raises(dl.InputError, match="is both a file and a table"):
        cells("both_here", engine)
    assert cells("table:both_here", engine) == {("table", "x"): 1}
    assert cells("./both_here", engine) == {("file", "x"): 1}
    with pytest.raises(dl.InputError, match="no table 'nowhere'"):
        cells("table:nowhere", engine)
    with pytest.raises(dl.InputError, match="no rows"):
        cells("empty_one", engine)
    for text in ("table:", 'table:"open', "table:a..b"):
        with pytest.raises(dl.InputError, match="not a table name"):
            cells(text, engine)


def test_passwords_are_not_repeated(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = postgres_url.replace("clerk@", "clerk:hunter2@")
    for url, said in (
        (wrong, "the password is wrong"),
        (
            postgres_url.replace("/postgres", "/nowhere").replace("clerk@", f"clerk:{SECRET}@"),
            "no such user or database",
        ),
        ("postgres://clerk:hunter2@127.0.0.1:1/x", "nothing answers"),
        ("postgres//clerk:hunter2@here", "There is no engine"),
        ("mysql://clerk:hunter2@here/x", "There is no engine 'mysql'"),
        ("host=127.0.0.1 password=hunter2 user=x:y", "There is no engine"),
    ):
        with pytest.raises(dl.InputError, match=said) as caught:
            connect(url)
        error: BaseException | None = caught.value
        while error is not None:
            assert "hunter2" not in str(error)
            assert SECRET not in str(error)
            error = error.__cause__ or error.__context__
    monkeypatch.delenv("PGPASSWORD")
    with pytest.raises(dl.InputError, match="PGPASSWORD"):
        connect(postgres_url)
    # Nor in the JSON, which holds the command line.
    made(
        postgres_url.replace("clerk@", f"clerk:{SECRET}@"),
        "CREATE TABLE secret_people (q text, s text)",
        "INSERT INTO secret_people VALUES ('a', 'x'), ('a', 'y')",
    )
    (tmp_path / "p.toml").write_text('[columns.q]\nrole = "quasi"\n[columns.s]\nrole = "sensitive"\n', encoding="utf-8")
    url = postgres_url.replace("clerk@", f"clerk:{SECRET}@")
    words = ["check", "secret_people", "--schema", str(tmp_path / "p.toml"), "--engine", url, "--json", "-"]
    monkeypatch.setattr(sys, "argv", ["dalenius", *words])
    assert app.run(words) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["k_anonymity"]["k"] == 2
    assert f'"{postgres_url.replace("clerk@", "")}"' in said.out
    assert SECRET not in said.out + said.err


def test_the_extra_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for library, url, extra in (("psycopg", "postgres://x", "postgres"), ("pyspark", "local[2]", "spark")):
        for name in [*sys.modules]:
            if name.partition(".")[0] == library or name == f"dalenius.engines.{extra}":
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(dl.InputError, match=rf"pip install 'dalenius\[{extra}\]'"):
            connect(url)


def query_count(url: str) -> int:
    """Queries of ours that run in the server right now."""
    with psycopg.connect(url, autocommit=True) as connection:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND application_name = 'dalenius'"
        found = connection.execute(asked).fetchone()
        assert found is not None
        return int(found[0])


def wait_until(true: Callable[[], bool]) -> None:
    """By looking again and again: how long it takes is the machine's affair."""
    given_up = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < given_up
        time.sleep(0.1)


def test_an_interrupt_ends_the_query_in_the_server(postgres_url: str, tmp_path: Path) -> None:
    made(
        postgres_url,
        "CREATE VIEW slow AS SELECT 'a' || pg_sleep(36000)::text AS q, 'x'::text AS s FROM generate_series(1, 9)",
    )
    (tmp_path / "privacy.toml").write_text(
        '[columns.q]\nrole = "quasi"\n[columns.s]\nrole = "sensitive"\n', encoding="utf-8"
    )
    command = [sys.executable, "-c", "from dalenius.cli import main; main()", "check", "slow", "--engine", postgres_url]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: query_count(postgres_url) == 1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 130, errors
    assert "Interrupted" in errors
    wait_until(lambda: query_count(postgres_url) == 0)


def test_a_release_into_a_table(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From table to table: no row leaves the database, and the release can be audited there."""
    monkeypatch.chdir(tmp_path)
    made(
        postgres_url,
        "CREATE TABLE staff (id text, age int, pay text)",
        "INSERT INTO staff SELECT 'P' || i, 20 + i % 40, 'pay' || i % 5 FROM generate_series(1, 400) i",
    )
    (tmp_path / "privacy.toml").write_text(
        '[columns.id]\nrole = "identifier"\n[columns.age]\nrole = "quasi"\ntype = "integer"\nintervals = [5, 10]\n'
        'domain = { min = 20, max = 59 }\n[columns.pay]\nrole = "sensitive"\n',
        encoding="utf-8",
    )  # fmt: skip
    engine = ["--engine", postgres_url]
    assert app.run(["publish", "staff", "-o", "table:released", "--k", "20", *engine]) == 0
    assert (tmp_path / "released.meta.json").is_file()
    assert json.loads((tmp_path / "released.meta.json").read_text(encoding="utf-8"))["table"] == "released"
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute("SELECT age, count(*) FROM released GROUP BY 1 ORDER BY 1").fetchall()
    assert found == [(f"[{low}, {low + 4}]", 50) for low in range(20, 60, 5)]
    capsys.readouterr()
    assert app.run(["audit", "table:released", "--truth", "staff", "--json", "-", *engine]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["release"]["people"] == 400
    assert document["levels"]["k_anonymity"]["k"] == 50
    assert document["release"]["sha256"] == {}
    assert app.run(["publish", "staff", "-o", "table:released", "--k", "20", *engine]) == 2
    assert "already" in capsys.readouterr().err
    assert app.run(["publish", "staff", "-o", "table:cut", "--method", "anatomy", "--l", "2", *engine]) == 2
    assert "several files" in capsys.readouterr().err
    assert app.run(["publish", "staff", "-o", "out.parquet", "--k", "20", *engine]) == 2
    assert "ends in .csv" in capsys.readouterr().err
    assert not (tmp_path / "out.parquet").exists()
    assert app.run(["init", "staff", "-o", "guess.toml", *engine]) == 0
    assert 'role = "identifier"' in (tmp_path / "guess.toml").read_text(encoding="utf-8")


def test_what_is_counted_is_what_is_written(
    postgres_url: str, engines: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who joins the table after it was opened is neither counted nor written."""
    from dalenius.criteria import KAnonymity
    from dalenius.publishers.mondrian import Mondrian

    made(
        postgres_url,
        "CREATE TABLE growing (q text, s text)",
        "INSERT INTO growing SELECT 'a' || i % 3, 'x' FROM generate_series(1, 30) i",
    )
    monkeypatch.chdir(tmp_path)
    published = Mondrian([KAnonymity(5)]).publish(dl.Table("growing", SCHEMA, engine=engines("postgres")))
    made(postgres_url, "INSERT INTO growing VALUES ('new', 'x')")
    published.write("table:grown")
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM grown").fetchone() == (30,)
    published = Mondrian([KAnonymity(5)]).publish(dl.Table("grown", SCHEMA, engine=engines("postgres")))
    made(postgres_url, "INSERT INTO grown VALUES ('new', 'x')")
    published.write(tmp_path / "out.csv")
    assert "new" not in (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert len((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()) == 31


def test_names_of_too_many_parts(engines: Callable[[str], Engine]) -> None:
    for name in ("elsewhere.public.people", "a.b.c.d"):
        assert not engines("postgres").holds(name)
    with pytest.raises(dl.InputError, match="no table"):
        cells("table:a.b.c.d", engines("postgres"))
    assert engines("postgres").holds("pg_catalog.pg_class")  # and it answers still


def test_settings_of_the_url_are_kept(postgres_url: str) -> None:
    made(
        postgres_url,
        "CREATE SCHEMA ward",
        "CREATE TABLE ward.inside (q text, s text)",
        "INSERT INTO ward.inside VALUES ('a', 'x')",
    )
    engine = connect(f"{postgres_url}?options=-csearch_path%3Dward")
    assert cells("inside", engine) == {("a", "x"): 1}


def test_a_cancelled_table_never_comes_to_be(
    postgres_url: str, engines: Callable[[str], Engine], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The interrupt comes when the table is made and not yet there for others."""
    from dalenius.criteria import KAnonymity
    from dalenius.engines import TableName, postgres
    from dalenius.publishers.mondrian import Mondrian

    monkeypatch.chdir(tmp_path)
    made(
        postgres_url,
        "CREATE TABLE source_of (q text, s text)",
        "INSERT INTO source_of SELECT 'a' || i % 3, 'x' FROM generate_series(1, 30) i",
    )
    engine = engines("postgres")
    table = dl.Table("source_of", SCHEMA, engine=engine)
    published = Mondrian([KAnonymity(5)]).publish(table)

    def interrupted(action: Callable[[], Any], **_: Any) -> Any:
        found = action()
        if engine.has(TableName(("cut_off",))):
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patched:
        patched.setattr(postgres, "watched", interrupted)
        with pytest.raises(KeyboardInterrupt):
            published.write("table:cut_off")
    assert not engine.has(TableName(("cut_off",)))
    assert list(tmp_path.iterdir()) == []
    # The table that was open is still of use, and nothing is held once the release is there.
    published.write("table:whole")
    assert engine.has(TableName(("whole",)))
    published.write(tmp_path / "out.csv")
    made(postgres_url, "SET lock_timeout = '300s'; ALTER TABLE source_of ADD COLUMN z text")


def test_sidecars_of_tables(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table's sidecar does not replace that of files of the same name."""
    monkeypatch.chdir(tmp_path)
    made(
        postgres_url,
        "CREATE TABLE beside (q text, s text)",
        "INSERT INTO beside SELECT 'a' || i % 3, 'x' || i % 4 FROM generate_series(1, 60) i",
    )
    (tmp_path / "privacy.toml").write_text(
        '[columns.q]\nrole = "quasi"\nhierarchy = "suppress"\n[columns.s]\nrole = "sensitive"\n', encoding="utf-8"
    )
    engine = ["--engine", postgres_url]
    assert app.run(["publish", "beside", "--method", "anatomy", "--l", "2", "-o", "cut", *engine]) == 0
    before = (tmp_path / "cut.meta.json").read_text(encoding="utf-8")
    assert app.run(["publish", "beside", "--k", "3", "-o", "table:cut", *engine]) == 2
    assert "another release" in capsys.readouterr().err
    assert (tmp_path / "cut.meta.json").read_text(encoding="utf-8") == before
    (tmp_path / "folder").mkdir()
    assert app.run(["publish", "beside", "--k", "3", "-o", "table:folder", *engine]) == 0
    assert (tmp_path / "folder.meta.json").is_file()
