"""`dalenius attack`: beliefs about targets as a file, and with the truth how threatened people are."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversary import Targets
from dalenius.adversary.attacker import Attacker
from dalenius.adversary.learner import Learner
from dalenius.cli import app

Run = Callable[..., tuple[int, str, str]]
SCHEMA = """sensitive = "disease"
[columns.city]
role = "quasi"
hierarchy = "suppress"
domain = ["Oslo", "Bergen", "Hamar"]
[columns.sex]
role = "quasi"
hierarchy = "suppress"
domain = ["F", "M"]
[columns.disease]
role = "sensitive"
domain = ["Flu", "Pox", "Gout"]
"""
PEOPLE = [
    ("Oslo", "F", "Flu"), ("Oslo", "F", "Pox"), ("Oslo", "M", "Flu"), ("Bergen", "M", "Gout"), ("Bergen", "M", "Gout"),
    ("Hamar", "F", "Flu"), ("Hamar", "M", "Pox"), ("Hamar", "M", "Flu"),
]  # fmt: skip
RELEASE = [("Oslo", "*", d) for c, _, d in PEOPLE if c == "Oslo"] + [
    ("{Bergen, Hamar}", s, d) for c, s, d in PEOPLE if c != "Oslo"
]


def lines(path: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(SCHEMA, encoding="utf-8")
    lines("people.csv", ("city", "sex", "disease"), PEOPLE)
    lines("release.csv", ("city", "sex", "disease"), RELEASE)
    lines("targets.csv", ("name", "city", "sex"), [("a", "Oslo", "F"), ("b", "Hamar", ""), ("c", "", "")])

    def call(*arguments: str) -> tuple[int, str, str]:
        code = app.run(["attack", *arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


def beliefs() -> list[dict[str, str]]:
    with Path("beliefs.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


TO = ("--targets", "targets.csv", "-o", "beliefs.csv")


@pytest.mark.parametrize("name", ["attacker", "learner"])
@pytest.mark.parametrize("options", [(), ("--knows", "sex"), ("--error", "city=0.2", "--error", "sex=0.1")])
def test_beliefs_are_the_adversarys(run: Run, name: str, options: tuple[str, ...]) -> None:
    code, out, _ = run("release.csv", "--adversary", name, *TO, *options)
    assert code == 0
    assert f"beliefs of {name} about 3 targets (exact)" in out
    release = dl.read_release("release.csv", "privacy.toml")
    codes = np.array([[0, 0], [2, -1], [-1, -1]], dtype=np.int32)
    error = {"city": 0.2, "sex": 0.1} if "--error" in options else {}
    if "--knows" in options:
        codes[:, 0] = -1
    made = {"attacker": Attacker, "learner": Learner}[name](error)
    expected = made.attack(release, Targets(release.schema, codes))  # type: ignore[attr-defined]
    found = beliefs()
    assert [(row["target"], row["value"]) for row in found] == [
        (str(i), v) for i in range(3) for v in ("Flu", "Pox", "Gout")
    ]
    for key in ("posterior", "baseline", "stderr"):
        np.testing.assert_allclose([float(row[key]) for row in found], getattr(expected, key).ravel(), rtol=1e-12)


def test_a_target_who_fits_nowhere(run: Run) -> None:
    lines("release.csv", ("city", "sex", "disease"), [row for row in RELEASE if row[0] != "Oslo"])
    code, _, err = run("release.csv", *TO)
    assert code == 2
    assert "targets.csv, row 0: the target fits no group of the release" in err
    assert not Path("beliefs.csv").exists()
    assert run("release.csv", *TO, "--skip-unmatched")[0] == 0
    assert [row["posterior"] for row in beliefs()[:3]] == ["", "", ""]
    assert all(row["posterior"] for row in beliefs()[3:])
    assert run("release.csv", *TO, "--adversary", "learner")[0] == 0
    assert all(row["posterior"] for row in beliefs())


def test_another_table_is_not_the_truth(run: Run) -> None:
    """Figures about other people must not be given, and nothing is written by then."""
    lines("people.csv", ("city", "sex", "disease"), PEOPLE[:-1])
    for more in ((), TO):
        code, _, err = run("release.csv", "--truth", "people.csv", *more)
        assert code == 2
        assert "The release has 8 people and the table 7" in err
    lines("people.csv", ("city", "sex", "disease"), [*PEOPLE[:-1], ("Hamar", "M", "Pox")])
    code, _, err = run("release.csv", "--truth", "people.csv", *TO)
    assert code == 2
    assert "do not have the same values of 'disease'" in err
    assert not Path("beliefs.csv").exists()


def test_threats(run: Run) -> None:
    code, out, _ = run("release.csv", "--truth", "people.csv", "--json", "threats.json")
    assert code == 0
    document: dict[str, Any] = json.loads(Path("threats.json").read_text(encoding="utf-8"))
    keys = ["GT_A", "GT_L", "GT_RW", "RGT_A", "RF", "ABS_A", "ABS_RW", "baseline_accuracy", "ideal_accuracy", "max_Ti"]
    assert all(isinstance(document[key], float) for key in keys)
    assert document["baseline_accuracy"] == 0.5
    assert document["RGT_A"] == pytest.approx(max(0, document["GT_A"] - document["GT_L"]))
    for key in ("GT_A", "RF", "max_Ti"):
        assert key in out
    # The raw table is the identity release: nothing is lost, and the learner is the ideal one.
    assert run("people.csv", "--truth", "people.csv", "--json", "threats.json")[0] == 0
    document = json.loads(Path("threats.json").read_text(encoding="utf-8"))
    assert document["RF"] == pytest.approx(1)
    assert document["GT_L"] == document["ideal_accuracy"]
    code, _, _ = run("release.csv", "--adversary", "ideal", "--truth", "people.csv", *TO)
    assert code == 0


BAD = {
    "nobody": ((), "Whom to attack?"),
    "nowhere to write": (("--targets", "targets.csv"), "go together"),
    "ideal without truth": ((*TO, "--adversary", "ideal"), "name --truth TABLE"),
    "unknown adversary": ((*TO, "--adversary", "atacker"), "There is no adversary 'atacker'"),
    "unknown column": ((*TO, "--knows", "cty"), "--knows 'cty' is not a quasi-identifier. Did you mean 'city'?"),
    "error of nothing": ((*TO, "--error", "city"), "write COLUMN=RATE"),
    "error of another": ((*TO, "--error", "town=0.1"), "'town'"),
    "error of certainty": ((*TO, "--error", "city=1"), "a probability below 1"),
    "an adversary of nobody": (("--truth", "people.csv", "--adversary", "learner"), "--adversary is about targets"),
    "knowledge of nobody": (("--truth", "people.csv", "--knows", "sex"), "--knows is about targets"),
    "error about nobody": (("--truth", "people.csv", "--error", "sex=0.1"), "--error is about targets"),
    "error where none can be": ((*TO, "--error", "city=0.1", "--adversary", "random-worlds"), "leave --error out"),
    "over the targets": (("--targets", "targets.csv", "-o", "targets.csv"), "that file is read here"),
    "one file for two": ((*TO, "--json", "beliefs.csv"), "cannot both be written"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(run: Run, case: str) -> None:
    arguments, message = BAD[case]
    code, _, err = run("release.csv", *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert not Path("beliefs.csv").exists()


def test_a_value_that_is_none(run: Run) -> None:
    lines("targets.csv", ("city",), [("Oslo",), ("Osloo",)])
    code, _, err = run("release.csv", *TO)
    assert code == 2
    assert "targets.csv, row 1, column 'city': 'Osloo' is not in" in err
    assert "Did you mean 'Oslo'?" in err
    lines("targets.csv", ("town",), [("Oslo",)])
    assert "have none of the quasi-identifiers city, sex" in run("release.csv", *TO)[2]
