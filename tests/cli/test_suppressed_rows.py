"""Suppressed rows on the command line: what publishing does with them, and what check and audit say of another tool's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dalenius.cli import app
from dalenius.reports.json_schema import audit_schema

SCHEMA = """sensitive = "disease"
[columns.age]
role = "quasi"
type = "integer"
intervals = [10]
domain = { min = 20, max = 79 }
[columns.city]
role = "quasi"
hierarchy = "suppress"
domain = ["Oslo", "Hamar", "Molde"]
[columns.disease]
role = "sensitive"
domain = ["HIV", "cold", "flu"]
"""
PEOPLE = ["34,Oslo,flu", "34,Oslo,cold"] * 4 + ["52,Hamar,flu", "52,Hamar,cold"] * 4 + ["71,Molde,HIV"]
PUBLISH = ("publish", "t.csv", "-o", "out.csv", "--k", "5", "--l", "2", "--suppression", "0.1", "--json", "out.json")
Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """16 people in two classes, one far from them, and a release in which that one is suppressed."""
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(SCHEMA, encoding="utf-8")
    Path("t.csv").write_text("\n".join(["age,city,disease", *PEOPLE]) + "\n", encoding="utf-8")
    lone = [line.replace("71,Molde", "*,*") for line in PEOPLE]
    Path("lone.csv").write_text("\n".join(["age,city,disease", *lone]) + "\n", encoding="utf-8")

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def document(name: str) -> Any:
    return json.loads(Path(name).read_text(encoding="utf-8"))


def test_a_lone_row_is_not_published_by_itself(cli: Cli) -> None:
    assert cli(*PUBLISH)[0] == 0
    assert document("out.json")["suppressed_rows"] == document("out.csv.meta.json")["suppressed_rows"] == "hold"
    rows = Path("out.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert sum(row.startswith("*,*,") for row in rows) == 17  # one class of all: no row is told apart
    assert cli("check", "out.csv", "--k", "5", "--l", "2")[0] == 0


@pytest.mark.parametrize(
    ("handling", "said", "rows", "people", "suppressed", "hidden"),
    [
        ("hold", "  suppressed 9 rows, which satisfy the criteria as a class of their own", 17, 17, 9, 0),
        ("as-is", "  suppressed 1 row, not held to the criteria: anyone who matches no class is", 17, 17, 1, 0),
        ("hide", "  hidden     1 row left out of the release", 16, 16, 0, 1),
    ],
)
def test_what_is_done_is_said(
    cli: Cli, handling: str, said: str, rows: int, people: int, suppressed: int, hidden: int
) -> None:
    more = ("--suppression", "0.6", "--utility", "discernibility", "--suppressed-rows", handling)
    code, out, _ = cli(*PUBLISH, *more)
    assert code == 0
    assert said in out.splitlines()
    for name in ("out.json", "out.csv.meta.json"):
        found = document(name)
        assert (found["suppressed_rows"], found["people"], found["suppressed"], found["hidden"]) == (
            handling, people, suppressed, hidden,
        )  # fmt: skip
    assert len(Path("out.csv").read_text(encoding="utf-8").splitlines()) == rows + 1
    assert cli("check", "out.csv", "--json", "check.json", "-q")[0] == 0
    assert (document("check.json")["people"], document("check.json")["suppressed"]) == (people, suppressed)
    code = cli("check", "out.csv", "--k", "5", "--l", "2", "-q")[0]
    assert code == (1 if handling == "as-is" else 0)


def test_nothing_is_said_where_nothing_is_suppressed(cli: Cli) -> None:
    out = cli(*PUBLISH)[1]
    assert "0 rows suppressed" in out
    assert "held to the criteria" not in out


CRITERIA = {
    ("--k", "2"): "k = 2",
    ("--l", "2"): "distinct ℓ = 2",
    ("--entropy-l", "1.5"): "entropy ℓ = 1.5",
    ("--recursive-l", "3,2"): "recursive c = 3, ℓ = 2",
    ("--t", "0.5"): "t = 0.5 (equal)",
    ("--t", "0.5:ordered"): "t = 0.5 (ordered)",
    ("--beta", "5"): "basic β = 5",
    ("--enhanced-beta", "5"): "enhanced β = 5",
    ("--alpha", "0.9"): "α = 0.9",
    ("--epsilon-privacy", "I:table:1e3:5"): "ε = 5 against I:table:1e3",
}


@pytest.mark.slow
@pytest.mark.parametrize("asked", CRITERIA, ids=" ".join)
def test_check_holds_suppressed_rows_to_what_is_asked_for(cli: Cli, asked: tuple[str, str]) -> None:
    """The classes satisfy each of these, and the row that is alone none."""
    code, out, _ = cli("check", "lone.csv", *asked, "--json", "check.json")
    assert code == 1
    assert f"  violated  {CRITERIA[asked]} of disease: the suppressed rows fail as a class, level" in re.sub(
        r"\n {8,}", " ", out
    )
    found = document("check.json")
    (threshold,) = found["thresholds"]
    assert (threshold["criterion"], threshold["failing"], threshold["suppressed_hold"], threshold["holds"]) == (
        CRITERIA[asked], 0, False, False,
    )  # fmt: skip
    assert found["suppressed_rows"]["rows"] == 1
    assert "HIV" not in out
    code, out, _ = cli("check", "t.csv", *asked)  # the same person in a class of one
    assert code == 1
    assert "1 class fails" in out
    lines = Path("lone.csv").read_text(encoding="utf-8").splitlines()[:-1]
    Path("without.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, _ = cli("check", "without.csv", *asked, "--json", "check.json")
    assert code == 0
    assert f"  holds     {CRITERIA[asked]} of disease" in out.splitlines()
    assert document("check.json")["suppressed_rows"] is None


def test_check_says_what_suppressed_rows_tell(cli: Cli) -> None:
    code, out, _ = cli("check", "lone.csv", "--json", "check.json")
    assert code == 0  # nothing was asked for
    assert "  1 suppressed row as a class: k 1, ℓ 1, entropy ℓ 1" in out.splitlines()
    found = document("check.json")
    assert found["thresholds"] == []
    assert found["suppressed_rows"]["k_anonymity"] == {"k": 1}
    assert found["suppressed_rows"]["t_closeness"]["equal"] == pytest.approx(16 / 17)
    assert found["k_anonymity"] == {"k": 8}  # of the classes, as before
    with Path("lone.csv").open("a", encoding="utf-8") as file:
        file.write("*,*,flu\n")
    out = cli("check", "lone.csv")[1]
    assert "  2 suppressed rows as a class: k 2, ℓ 2, entropy ℓ 2, t 0.4444" in out.splitlines()


POLICY = {
    "min_k = 2": ("min_k", 1),
    "min_l = 2": ("min_l", 1),
    "min_entropy_l = 1.5": ("min_entropy_l", 1),
    "max_t = 0.5": ("max_t", 16 / 17),
    'epsilon_privacy = ["I:table:1e3:5"]': ("epsilon_privacy", "inf"),
}


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICY)
def test_the_policy_is_held_against_suppressed_rows(cli: Cli, policy: str) -> None:
    Path("privacy.toml").write_text(f"{SCHEMA}[policy]\n{policy}\n", encoding="utf-8")
    key, level = POLICY[policy]
    code, out, _ = cli("audit", "lone.csv", "--truth", "t.csv", "--json", "audit.json", "-o", "audit.html")
    assert code == 1
    why = "in the suppressed rows (1), which form a class for anyone who fits no other"
    assert why in " ".join(out.split())
    assert "Suppressed     1 row, counted above and here as a class: k 1, ℓ 1, entropy ℓ 1" in out
    found, page = document("audit.json"), Path("audit.html").read_text(encoding="utf-8")
    assert why in page
    assert "These have as a class: k 1, ℓ 1" in page
    (threshold,) = found["policy"]
    measured = level if isinstance(level, str) else pytest.approx(level)
    assert threshold == {
        "key": key,
        "asked": threshold["asked"],
        "measured": measured,
        "outcome": "violated",
        "reason": why,
    }
    assert found["suppressed_rows"]["rows"] == 1
    assert "HIV" not in out + page + json.dumps(found)
    schema = audit_schema()
    jsonschema.validate(found, schema)
    assert cli(*PUBLISH, "--json", "held.json")[0] == 0
    code, out, _ = cli("audit", "out.csv", "--truth", "t.csv", "--json", "audit.json")
    assert code == 0
    assert document("audit.json")["suppressed_rows"] is None


def test_the_lattice_and_the_frontier_take_it(cli: Cli) -> None:
    asked = ("lattice", "t.csv", "--k", "5", "--l", "2", "--suppression", "0.1", "--json", "nodes.json")
    for handling, good in (("hold", 1), ("as-is", 6), ("hide", 6)):
        assert cli(*asked, "--suppressed-rows", handling)[0] == 0
        found = document("nodes.json")
        assert found["suppressed_rows"] == handling
        assert sum(node["satisfies"] for node in found["nodes"]) >= good
        finest = next(node for node in found["nodes"] if not any(node["levels"].values()))
        assert finest["satisfies"] == (handling != "hold")
        assert finest["t_closeness"]["equal"] == pytest.approx(
            0 if handling == "hide" else {"hold": 16 / 17}.get(handling, 1 / 17)
        )
    Path("privacy.toml").write_text(f"{SCHEMA}[policy]\nmin_k = 5\nmin_l = 2\n", encoding="utf-8")
    tried = ("frontier", "t.csv", "--method", "lattice", "--k", "5", "--l", "2", "--suppression", "0.1", "--jobs", "1")
    assert cli(*tried, "--json", "points.json", "--best", "best.csv")[0] == 0
    assert cli("check", "best.csv", "--k", "5", "--l", "2", "-q")[0] == 0
    code, _, _ = cli(*tried, "--json", "points.json", "--best", "as-is.csv", "--suppressed-rows", "as-is")
    (point,) = document("points.json")["points"]
    assert (code, point["verdict"], point["parameters"]["suppressed_rows"]) == (1, "violated", "as-is")
    assert not Path("as-is.csv").exists()


REFUSED = {
    "another word": ((*PUBLISH, "--suppressed-rows", "keep"), "must be one of hold, as-is, hide. Got 'keep' instead."),
    "another method": (
        ("publish", "t.csv", "-o", "out.csv", "--method", "mondrian", "--k", "2", "--suppressed-rows", "hold"),
        "--suppressed-rows belongs to lattice and has no effect on mondrian",
    ),
    "lattice": (("lattice", "t.csv", "--k", "2", "--suppressed-rows", "x"), "must be one of hold, as-is, hide"),
    "frontier": (("frontier", "t.csv", "--suppressed-rows", "x"), "must be one of hold, as-is, hide"),
    "hidden from the frontier": (("frontier", "t.csv", "--suppressed-rows", "hide"), "Choose hold or as-is"),
    "frontier without a lattice": (
        ("frontier", "t.csv", "--method", "mondrian", "--suppressed-rows", "as-is"), "Add --method lattice",
    ),
    "hidden from an audit": (
        ("audit", "t.csv", "--method", "lattice", "--k", "2", "--suppressed-rows", "hide"), "audit that file without --truth",
    ),
    "of a release": (("audit", "lone.csv", "--suppressed-rows", "hold"), "Add --method"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(cli: Cli, case: str) -> None:
    arguments, message = REFUSED[case]
    before = sorted(path.name for path in Path().iterdir())
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert sorted(path.name for path in Path().iterdir()) == before


def test_hidden_rows_are_no_part_of_the_truth(cli: Cli) -> None:
    assert cli(*PUBLISH, "--suppressed-rows", "hide")[0] == 0
    code, _, err = cli("audit", "out.csv", "--truth", "t.csv")
    assert code == 2
    assert "A release with hidden rows (--suppressed-rows hide) cannot be compared with it" in err
    assert cli("audit", "out.csv")[0] == 0


def test_a_file_of_another_release_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """-o cut.quasi.csv would destroy the anatomized release cut; out.json next to a release out is nobody's."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("q,s\n" + "a,x\na,y\nb,x\nb,y\n" * 3, encoding="utf-8")
    schema = 'sensitive = "s"\n[columns.q]\nrole = "quasi"\nhierarchy = "suppress"\n[columns.s]\nrole = "sensitive"\n'
    Path("privacy.toml").write_text(schema, encoding="utf-8")
    assert app.run(["publish", "t.csv", "--method", "anatomy", "--l", "2", "-o", "cut", "-q"]) == 0
    before = Path("cut.quasi.csv").read_bytes()
    assert app.run(["publish", "t.csv", "--k", "3", "-o", "cut.quasi.csv", "-q"]) == 2
    assert "it is a file of the release 'cut'" in capsys.readouterr().err
    assert Path("cut.quasi.csv").read_bytes() == before
    assert app.run(["publish", "t.csv", "--k", "3", "-o", "out", "-q"]) == 0
    Path("same.csv").write_text("", encoding="utf-8")
    for name in ("two.quasi.csv", "two.sensitive.csv"):
        Path(name).symlink_to("same.csv")
    assert app.run(["publish", "t.csv", "--method", "anatomy", "--l", "2", "-o", "two", "-q"]) == 2
    assert "two of its files are links to the same file" in capsys.readouterr().err
