"""One class is one class: numbers of one with their nouns, in all that is said of a release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dalenius.cli import app
from dalenius.errors import counted

# A row that is alone, one that is suppressed, and everything that is said of them.
SCHEMA = """sensitive = "s"
[columns.a]
role = "quasi"
domain = ["x", "y", "z"]
hierarchy = "suppress"
[columns.s]
role = "sensitive"
"""
WRONG = re.compile(r"(?<![\d.,])1 (classes|people|rows|nodes|groups|targets|held-out people)\b")


def test_counted() -> None:
    assert [counted(n, "class", "classes") for n in (0, 1, 2, 2000)] == [
        "0 classes",
        "1 class",
        "2 classes",
        "2,000 classes",
    ]


@pytest.mark.parametrize("rows", ["x,u\n", "x,u\n*,u\n"])
def test_one_of_everything(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(SCHEMA, encoding="utf-8")
    Path("t.csv").write_text("a,s\n" + rows.replace("*", "y"), encoding="utf-8")
    Path("r.csv").write_text("a,s\n" + rows, encoding="utf-8")
    Path("o.csv").write_text("a,s\nz,u\n", encoding="utf-8")
    everything = ["--truth", "t.csv", "--holdout", "o.csv"]
    for arguments in (
        ["check", "r.csv"],
        ["audit", "r.csv", *everything, "-o", "r.html"],
        ["publish", "t.csv", "-o", "out.csv", "--k", "2", "--minimal"],
        ["publish", "t.csv", "-o", "out.csv", "--k", "2", "--method", "mondrian"],
        ["publish", "t.csv", "-o", "out.csv", "--k", "9", "--method", "microaggregation"],
        ["publish", "t.csv", "-o", "out.csv", "--k", "9", "--method", "mondrian"],
        ["lattice", "t.csv", "-o", "l.html"],
    ):
        app.run(arguments)
        said = capsys.readouterr()
        assert not WRONG.search(said.out + said.err), (arguments, said.out, said.err)
        assert "bug" not in said.err
    for page in ("r.html", "l.html"):
        assert not WRONG.search(re.sub("<[^>]*>", "", Path(page).read_text(encoding="utf-8")))
