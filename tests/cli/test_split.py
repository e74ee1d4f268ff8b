"""`dalenius split`: every row in one of two files, as it was, by lot and repeatably."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dalenius.auditing.holdout import split_rows
from dalenius.cli import app
from dalenius.engines import connect
from dalenius.engines.duckdb_engine import DuckDB
from dalenius.errors import InputError

Run = Callable[..., tuple[int, str, str]]
# Texts that a reader may be tempted to mend.
ODD = ["007", " 1.50", "", 'say "x"', "a,b", "NA", "1e3", "line\nbreak", "ünï", "2024-01-01"]
ROWS = [(str(i), ODD[i % len(ODD)]) for i in range(57)]
TO = ("-o", "kept.csv", "--others", "others.csv")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    with Path("t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("row", "text"), *ROWS])

    def call(*arguments: str) -> tuple[int, str, str]:
        code = app.run(["split", *arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


def read(path: str) -> list[tuple[str, ...]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["row", "text"]
    return [tuple(row) for row in rows]


@pytest.mark.parametrize("share", ["0.3", "0.5", "0.01"])
def test_every_row_is_in_one_of_them(run: Run, share: str) -> None:
    code, out, _ = run("t.csv", "--share", share, *TO)
    assert code == 0
    kept, others = read("kept.csv"), read("others.csv")
    assert len(others) == round(float(share) * 57)
    assert f"{len(kept)} rows to publish" in out
    assert f"{len(others)} row{'s' if len(others) > 1 else ''} held out (a share of {share}, drawn with seed 0)" in out
    assert sorted(kept + others, key=lambda row: int(row[0])) == ROWS
    for part in (kept, others):
        assert part == sorted(part, key=lambda row: int(row[0]))


def test_the_seed_says_who(run: Run) -> None:
    found = []
    for seed in ("1", "1", "2"):
        assert run("t.csv", "--seed", seed, *TO, "-q") == (0, "", "")
        found.append(Path("others.csv").read_bytes())
    assert found[0] == found[1] != found[2]
    held = [0] * 57
    for seed in range(12):
        run("t.csv", "--seed", str(seed), "--share", "0.5", *TO, "-q")
        for row, _ in read("others.csv"):
            held[int(row)] += 1
    assert 0 < min(held) <= max(held) < 12  # nobody is always in, or always out


def test_parquet(run: Run) -> None:
    pq.write_table(pa.table({"row": [row for row, _ in ROWS], "text": [text for _, text in ROWS]}), "t.parquet")
    assert run("t.parquet", "-o", "kept.parquet", "--others", "others.csv")[0] == 0
    kept = pq.read_table("kept.parquet").to_pydict()
    assert sorted(
        [*zip(kept["row"], kept["text"], strict=True), *read("others.csv")], key=lambda row: int(row[0])
    ) == ROWS  # fmt: skip


def test_it_is_a_control(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Split, publish, attack: as the documentation says."""
    Path("privacy.toml").write_text('sensitive = "s"\n[columns.q]\nrole = "quasi"\nhierarchy = "suppress"\n', "utf-8")
    Path("p.csv").write_text("q,s\n" + "".join(f"{i % 3},{'xy'[i % 2]}\n" for i in range(90)), "utf-8")
    assert run("p.csv", *TO)[0] == 0
    assert app.run(["publish", "kept.csv", "--k", "2", "-o", "r.csv"]) == 0
    asked = ["--adversary", "attacker", "--truth", "kept.csv", "--holdout", "others.csv"]
    assert app.run(["attack", "r.csv", *asked]) == 0
    assert "n = 27" in capsys.readouterr().out


def test_a_file_that_changes_between_two_reads(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody is in one of the two files, whenever somebody turns the file around."""
    Path("t.csv").write_text("row,text\n" + "".join(f"{i},x\n" for i in range(57)), encoding="utf-8")
    store = DuckDB.store

    def late(self: DuckDB, *arguments: Any) -> None:
        store(self, *arguments)
        header, *lines = Path("t.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        Path("t.csv").write_text("".join([header, *reversed(lines)]), encoding="utf-8")

    monkeypatch.setattr(DuckDB, "store", late)
    assert run("t.csv", *TO)[0] == 0
    split = [number for name in ("kept.csv", "others.csv") for number, _ in read(name)]
    assert sorted(map(int, split)) == list(range(57))


def test_rows_that_cannot_be_split(run: Run) -> None:
    """A table of a database has no order."""
    with duckdb.connect("people.db") as database:
        database.execute("create table people as select range as q from range(9)")
    with pytest.raises(InputError, match="people has no order of rows"):
        split_rows(connect("duckdb://people.db").open("people"), 0.3, Path("kept.csv"), Path("others.csv"))
    assert run("t.csv", *TO)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t.csv", "--share", "0", *TO), "The '--share' parameter of split must be a number above 0 and below 1"),
        (("t.csv", "--share", "1", *TO), "'--share'"),
        (("t.csv", "--share", "nan", *TO), "'--share'"),
        (
            ("t.csv", "--share", "0.001", *TO),
            "t.csv has 57 people: a share of 0.001 is nobody. Hold out a larger share",
        ),
        (("t.csv", "-o", "t.csv", "--others", "others.csv"), "this command reads that file"),
        (("t.csv", "-o", "kept.csv", "--others", "./t.csv"), "this command reads that file"),
        (("t.csv", "-o", "kept.csv", "--others", "./kept.csv"), "Both parts cannot be written to 'kept.csv'"),
        (("nobody.csv", *TO), "nobody.csv"),
        (("ragged.csv", *TO), "ragged.csv, line 3"),
        (("t.csv", "-o", "kept.csv"), "--others"),
        (("t.csv", "-o", "kept.csv", "--others", "no/others.csv"), "the folder 'no' does not exist"),
    ],
)
def test_refused(run: Run, arguments: tuple[str, ...], message: str) -> None:
    Path("ragged.csv").write_text("a,b\n1,2\n3\n", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "bug" not in err
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
