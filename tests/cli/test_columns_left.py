"""A release of which nothing is left satisfies every criterion: whoever makes or reads one is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dalenius.cli import app

SCHEMA = """sensitive = "s"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 39 }
intervals = [10]
[columns.zip]
role = "quasi"
hierarchy = "suppress"
[columns.sex]
role = "quasi"
hierarchy = "suppress"
domain = ["F", "M"]
[columns.note]
role = "other"
"""
POLICY = "[policy]\nmin_k = 3\n"
Answer = tuple[int, str, str]
Cli = Callable[..., Answer]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Twelve people, each alone with a ZIP code: three of each age group and sex."""
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(SCHEMA, encoding="utf-8")
    Path("policy.toml").write_text(SCHEMA + POLICY, encoding="utf-8")
    rows = [f"{20 + 10 * (i // 6) + i % 6},{1000 + i},{'FM'[i // 3 % 2]},note {i},{'xyz'[i % 3]}\n" for i in range(12)]
    Path("t.csv").write_text("age,zip,sex,note,s\n" + "".join(rows), encoding="utf-8")

    def call(*arguments: str) -> Answer:
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def read(path: str) -> Any:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def test_publish_says_first_what_is_left_and_warns(cli: Cli) -> None:
    code, out, err = cli("publish", "t.csv", "--k", "3", "-o", "r.csv", "--json", "p.json")
    assert code == 0
    first, second, *_ = out.splitlines()
    assert first == "Wrote r.csv: age (2 of 20 values), zip (gone), sex (kept)"
    assert second == "  people     12 in 4 classes, 0 rows suppressed (0.00%)"
    assert err == "WARNING: Nothing is left of zip: the release does not tell people apart by it.\n"
    left = read("p.json")["columns_left"]
    assert {name: one["state"] for name, one in left.items()} == {"age": "part", "zip": "gone", "sex": "kept"}
    assert (left["age"]["told_apart"], left["age"]["values"]) == (2, 20)
    assert read("r.csv.meta.json")["columns_left"] == left


def test_a_warning_is_never_left_out(cli: Cli) -> None:
    assert "Nothing is left of zip" in cli("publish", "t.csv", "--k", "3", "-o", "r.csv", "-q")[2]
    assert "Nothing is left of zip" in cli("publish", "t.csv", "--k", "3", "-o", "r.csv", "--json", "-")[2]
    code, out, err = cli("publish", "t.csv", "--k", "12", "-o", "r.csv")
    assert code == 0
    assert out.startswith("Wrote r.csv: age (gone), zip (gone), sex (gone)\n")
    assert "Nothing is left of age, zip, sex:" in err


@pytest.mark.parametrize(
    ("options", "first"),
    [
        (("--method", "mondrian", "--k", "12"), "Wrote r: age (gone), zip (gone), sex (gone)"),
        (("--method", "microaggregation", "--k", "12"), "Wrote r: age (gone), zip (gone), sex (gone)"),
        (("--method", "microaggregation", "--k", "12", "--shown", "ranges"), "Wrote r: age (gone), zip (gone), sex (gone)"),
        (("--method", "anatomy", "--l", "2"), "Wrote r.quasi.csv and r.sensitive.csv: every column kept"),
    ],
)  # fmt: skip
def test_every_method_says_it(cli: Cli, options: tuple[str, ...], first: str) -> None:
    code, out, err = cli("publish", "t.csv", "-o", "r", *options)
    assert code == 0
    assert out.splitlines()[0] == first
    assert ("Nothing is left" in err) == ("gone" in first)


def test_counts_at_the_top_warn(cli: Cli) -> None:
    pytest.importorskip("opendp")
    text = SCHEMA.replace(
        'hierarchy = "suppress"\n[columns.sex]', f"domain = {[str(1000 + i) for i in range(12)]}\n[columns.sex]"
    )
    Path("privacy.toml").write_text(text.replace('role = "other"\n', 'role = "other"\n[columns.s]\nrole = "sensitive"\n'
                                                 'domain = ["x", "y", "z"]\n'), encoding="utf-8")  # fmt: skip
    options = ("--method", "noisy-counts", "--epsilon", "1", "--level", "sex=1", "--level", "age=1")
    code, out, err = cli("publish", "t.csv", "-o", "r", *options)
    assert code == 0, err
    assert out.splitlines()[0] == "Wrote r.counts.csv and r.json: counts of age (2 of 20 values), zip, sex (gone)"
    assert "Nothing is left of sex" in err


def test_audit_says_it_in_every_report(cli: Cli) -> None:
    assert cli("publish", "t.csv", "--k", "3", "-o", "r.csv", "-q")[0] == 0
    code, out, _ = cli("audit", "r.csv", "--truth", "t.csv", "-o", "r.html", "--json", "a.json")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("r.csv: 12 people in 4 classes")
    place = lines.index("  Columns        age (2 of 20 values), zip (gone), sex (kept)")
    assert lines[place + 1].startswith("  WARNING        Nothing is left of zip:")
    assert read("a.json")["release"]["columns_left"] == read("r.csv.meta.json")["columns_left"]
    page = Path("r.html").read_text(encoding="utf-8")
    assert "age (2 of 20 values), zip (gone), sex (kept)" in page
    assert "Nothing is left of zip:" in page


def test_audit_of_a_release_that_lost_nothing_does_not_warn(cli: Cli) -> None:
    code, out, _ = cli("audit", "t.csv", "--truth", "t.csv", "-o", "r.html")
    assert code == 0
    assert "  Columns        every column kept\n" in out
    assert "Nothing is left" not in out + Path("r.html").read_text(encoding="utf-8")


def test_lattice_says_it_of_the_best_node(cli: Cli) -> None:
    code, out, err = cli("lattice", "t.csv", "--k", "3", "--json", "l.json")
    assert code == 0
    assert "  Columns in the first node: age (2 of 20 values), zip (gone), sex (kept)\n" in out
    assert "WARNING: Nothing is left of zip" in err
    told = read("l.json")
    best = min((node for node in told["nodes"] if node["satisfies"]), key=lambda node: node["loss"])
    assert told["best"]["levels"] == best["levels"]
    assert told["best"]["columns_left"]["zip"]["state"] == "gone"
    assert "in the first node" not in cli("lattice", "t.csv")[1]  # nothing is asked for: there is no best


def test_frontier_says_it_of_the_best_release(cli: Cli) -> None:
    asked = ("--method", "lattice", "--k", "3", "--suppression", "0", "--jobs", "1", "--schema", "policy.toml")
    code, out, err = cli("frontier", "t.csv", *asked, "-o", "f.html", "--json", "f.json")
    assert code == 0, err
    told = " ".join(out.split())
    assert "Most useful release that satisfies the policy: lattice k = 3" in told
    assert "Columns: age (2 of 20 values), zip (gone), sex (kept)." in told
    assert "Nothing is left of zip" in told
    assert "Nothing is left of zip" in Path("f.html").read_text(encoding="utf-8")
    (point,) = read("f.json")["points"]
    assert point["columns_left"]["zip"]["state"] == "gone"
    again = cli("frontier", "t.csv", *asked)  # from what was kept
    assert "Columns: age (2 of 20 values), zip (gone), sex (kept)." in " ".join(again[1].split())


def test_frontier_names_releases_that_lost_a_column(cli: Cli) -> None:
    """Without a policy, too: a release of which nothing is left must not look like a good one."""
    grid = ("--method", "lattice", "--method", "mondrian", "--k", "2,12", "--jobs", "1", "--fresh")
    code, out, _ = cli("frontier", "t.csv", *grid, "-o", "f.html")
    assert code == 0
    page = " ".join(Path("f.html").read_text(encoding="utf-8").split())
    text = " ".join(out.split())
    assert "Nothing is left of sex in lattice k = 12" in text
    assert "Nothing is left of sex in lattice k = 12" in page
    assert "Nothing is left of zip in lattice k = 2" in text


def test_audit_without_the_table_of_columns_that_nobody_declares(cli: Cli) -> None:
    code, _, _ = cli("publish", "t.csv", "--k", "12", "-o", "r.csv")
    assert code == 0
    Path("bare.toml").write_text(SCHEMA.replace('domain = ["F", "M"]\n', ""), encoding="utf-8")
    code, out, err = cli("audit", "r.csv", "--schema", "bare.toml")
    assert (code, err) == (0, "")
    assert "Nothing is left of age, zip, sex" in out


def test_compare_names_the_columns_that_are_gone(cli: Cli) -> None:
    Path("fine.csv").write_bytes(Path("t.csv").read_bytes())
    assert cli("publish", "t.csv", "--k", "3", "-o", "coarse.csv", "-q")[0] == 0
    code, out, _ = cli("compare", "fine.csv", "coarse.csv", "--truth", "t.csv", "--json", "c.json")
    assert code == 0
    assert "  coarse.csv: Nothing is left of zip:" in out
    assert "fine.csv: Nothing" not in out
    fine, coarse = read("c.json")["releases"]
    assert fine["columns_left"]["zip"]["state"] == "kept"
    assert coarse["columns_left"]["zip"]["state"] == "gone"


def test_check_warns(cli: Cli) -> None:
    assert cli("publish", "t.csv", "--k", "3", "-o", "r.csv", "-q")[0] == 0
    code, out, _ = cli("check", "r.csv", "--json", "c.json")
    assert code == 0
    assert "  columns      age (2 of 20 values), zip (gone), sex (kept)\n" in out
    assert read("c.json")["columns_left"]["sex"]["state"] == "kept"


@pytest.mark.parametrize("handling", ["hold", "as-is"])
def test_other_columns_of_suppressed_rows_are_published_and_it_is_said(cli: Cli, handling: str) -> None:
    """A row of which no quasi-identifier is left still has its `other` columns."""
    schema = 'sensitive = "s"\n[columns.q]\nrole = "quasi"\nhierarchy = "suppress"\n[columns.note]\nrole = "other"\n'
    Path("privacy.toml").write_text(schema, encoding="utf-8")
    rows = [f"{q},note {i},{'xy'[i % 2]}\n" for i, q in enumerate("aaaaaaaabbbbbbbbcd")]
    Path("t.csv").write_text("q,note,s\n" + "".join(rows), encoding="utf-8")
    asked = ("--k", "2", "--suppression", "0.2", "--suppressed-rows", handling)
    assert cli("publish", "t.csv", *asked, "-o", "r.csv", "-q")[0] == 0
    lines = [line.split(",") for line in Path("r.csv").read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if line[0] == "*"] == [["*", "note 16", "x"], ["*", "note 17", "y"]]
    cli("audit", "r.csv", "-o", "r.html")
    page = Path("r.html").read_text(encoding="utf-8")
    assert "share of rows without quasi-identifiers; their sensitive and other columns are published" in page
    assert "only the sensitive value" not in page
