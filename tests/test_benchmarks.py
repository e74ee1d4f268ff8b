"""The benchmark's book-keeping: what is printed is kept, one table is made of it, and README's rows have a source."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, ModuleType]:
    """The modules as `make bench` has them, with a folder of their own."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    names = ("harness", "results", "run", "speed")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    found = {name: importlib.import_module(name) for name in names}
    for name in names:
        monkeypatch.delitem(sys.modules, name)  # not to be found by other tests
    monkeypatch.setattr(found["results"], "FOLDER", tmp_path)
    return found


def part(bench: dict[str, ModuleType], name: str, *rows: tuple[str, str, str]) -> object:
    made = tuple(
        bench["harness"].Row(heading, what, value, "≥ 5", "some | detail", 1.25) for heading, what, value in rows
    )
    return bench["results"].Part(name, made, "a machine, 2 cores", "2020-01-01 00:00 UTC", 12.0)


def test_what_is_printed_is_kept(bench: dict[str, ModuleType], capsys: pytest.CaptureFixture[str]) -> None:
    harness = bench["harness"]
    harness.heading("First")
    harness.line("ours / theirs", "12", "≥ 10", "3 s")
    harness.line("  indented", "50%")
    harness.heading("Second")
    harness.line("alone", "1.5 s", detail="a detail")
    printed = capsys.readouterr().out
    rows = harness.taken()
    assert [(row.heading, row.what, row.value, row.target, row.detail) for row in rows] == [
        ("First", "ours / theirs", "12", "≥ 10", "3 s"),
        ("First", "indented", "50%", "", ""),
        ("Second", "alone", "1.5 s", "", "a detail"),
    ]
    assert all(row.value in printed and row.heading in printed for row in rows)
    assert all(row.load >= 0 for row in rows)
    assert harness.taken() == []


def test_parts_are_gathered_and_one_is_replaced(bench: dict[str, ModuleType], tmp_path: Path) -> None:
    results = bench["results"]
    for value in ("1.0", "2.0"):
        results.keep(part(bench, "spine", ("Cells", "time | ratio", value)), tmp_path)
    results.keep(part(bench, "error", ("Channels", "gap", "0"), ("More", "seconds", "9")), tmp_path)
    assert [one.name for one in results.read(["error", "audit", "spine"], tmp_path)] == ["error", "spine"]
    results.gather(["spine", "error"], tmp_path)
    text = (tmp_path / "bench.md").read_text(encoding="utf-8")
    assert "| time \\| ratio | 2.0 | ≥ 5 | some \\| detail | 1.2 |" in text
    assert "| **More** | | | error | |" in text
    assert "1.0" not in text.replace("2020-01-01", "")
    assert "- spine: 2020-01-01 00:00 UTC, 12 s, load 1.2; a machine, 2 cores" in text
    document = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in document["parts"]] == ["spine", "error"]
    assert document["parts"][1]["rows"][0]["value"] == "0"


def test_a_run_writes_the_table_of_its_parts(
    bench: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    harness, run = bench["harness"], bench["run"]

    class Fake:
        @staticmethod
        def run() -> None:
            harness.heading("A part")
            harness.line("what", "7", "≥ 5")

    class Skipped:
        @staticmethod
        def run() -> None:
            print("Skipped: no data.")

    parts = {"error": Fake, "audit": Skipped}
    monkeypatch.setattr(run.importlib, "import_module", parts.__getitem__)
    monkeypatch.setattr(bench["results"].keep, "__defaults__", (tmp_path,))
    monkeypatch.setattr(bench["results"].read, "__defaults__", (tmp_path,))
    monkeypatch.setattr(bench["results"].gather, "__defaults__", (tmp_path,))
    run.main(["error", "audit"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench.json", "bench.md", "error.json"]
    assert "| what | 7 | ≥ 5 |" in (tmp_path / "bench.md").read_text(encoding="utf-8")
    assert "bench.md" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="There is no benchmark 'eror'"):
        run.main(["eror"])


def test_every_row_that_is_quoted_has_a_source(bench: dict[str, ModuleType]) -> None:
    speed, run = bench["speed"], bench["run"]
    rows = speed.quoted(speed.PAGE.read_text(encoding="utf-8"))
    short = speed.quoted((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(short) > 5
    for what, *_ in short:  # README has some of them
        assert sum(what.startswith(key) for key in speed.SOURCES) == 1
    assert len(rows) == len(speed.SOURCES)
    for key, (what, *_) in zip(speed.SOURCES, rows, strict=True):
        assert what.startswith(key)
        assert sum(what.startswith(other) for other in speed.SOURCES) == 1
    for source in speed.SOURCES.values():
        assert source.part in run.PARTS
        code = (ROOT / "benchmarks" / f"{source.part}.py").read_text(encoding="utf-8")
        for text in source.lines:
            if not text[0].isdigit():  # numbers of rows are filled in
                assert f'"{text}' in code, text


def test_rows_beside_what_was_measured(bench: dict[str, ModuleType]) -> None:
    speed = bench["speed"]
    rows = "| MDAV, k = 5, all | – | 2.2 s |\n| new | y | 3 × |\n"
    readme = f"# X\n\n## Speed\n\n| what | against | ratio |\n|---|---|---|\n{rows}\n## Data\n\n| a | b | c |\n"
    measured = part(bench, "publishers", ("MDAV on Adult, 9 rows", "all rows", "2.5 s"), ("Other", "all rows", "9 s"))
    lines = speed.report(readme, [measured])
    assert lines[:4] == [
        "MDAV, k = 5, all, against –: 2.2 s",
        "    measured: all rows 2.5 s (some | detail; load 1.2)",
        "new, against y: 3 ×",
        "    not measured",
    ]
    assert lines[-1] == "publishers: a machine, 2 cores; load 1.2; 2020-01-01 00:00 UTC"


def test_the_machine_is_told_and_not_named(bench: dict[str, ModuleType]) -> None:
    import platform

    text = bench["results"].machine()
    assert "cores" in text
    assert "Python 3" in text
    assert platform.node() not in text
