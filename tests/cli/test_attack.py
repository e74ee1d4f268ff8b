"""`dalenius attack`: beliefs about targets as a file, and with the truth how threatened people are."""

from __future__ import annotations

import collections
import contextlib
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import Targets
from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.learner import Learner
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


def guessed_right(people: str) -> float:
    """The share of people whose value is the most believed one in beliefs.csv; of c values that tie, one in c."""
    with Path(people).open(encoding="utf-8", newline="") as file:
        truth = [row["disease"] for row in csv.DictReader(file)]
    total = 0.0
    for i, value in enumerate(truth):
        mine = {row["value"]: float(row["posterior"]) for row in beliefs() if row["target"] == str(i)}
        best = [name for name, belief in mine.items() if belief >= max(mine.values()) * (1 - 1e-9)]
        total += (value in best) / len(best)
    return total / len(truth)


@pytest.mark.slow
def test_every_figure_follows_what_the_attacker_knows(run: Run) -> None:
    """GT, success, control and random worlds are of an attacker who knows the sex alone, with and without targets."""
    lines(
        "others.csv",
        ("city", "sex", "disease"),
        [("Oslo", "M", "Pox"), ("Hamar", "F", "Flu"), ("Oslo", "F", "Gout")] * 5,
    )
    asked = ("release.csv", "--truth", "people.csv", "--holdout", "others.csv", "--json", "told.json")

    def told(*options: str) -> dict[str, Any]:
        assert run(*asked, *options)[0] == 0
        found: dict[str, Any] = json.loads(Path("told.json").read_text(encoding="utf-8"))
        return found

    for knows in ((), ("--knows", "sex"), ("--knows", "city")):
        expected = {}
        for key, name, people in (
            ("GT_A", "attacker", "people.csv"), ("GT_L", "learner", "people.csv"), ("GT_RW", "random-worlds", "people.csv"),
            ("holdout_success", "attacker", "others.csv"),
        ):  # fmt: skip
            assert run("release.csv", "--adversary", name, "--targets", people, "-o", "beliefs.csv", *knows)[0] == 0
            expected[key] = guessed_right(people)
        for more in ((), TO):
            found = told("--adversary", "attacker", *knows, *more)
            for key in ("GT_A", "GT_L", "GT_RW"):
                assert found[key] == pytest.approx(expected[key])
            assert found["success"]["value"] == pytest.approx(expected["GT_A"])
            assert found["random_worlds"]["value"] == pytest.approx(expected["GT_RW"])
            assert found["holdout_success"]["value"] == pytest.approx(expected["holdout_success"])
            assert found["gain"]["value"] == pytest.approx(expected["GT_A"] - expected["holdout_success"])
    by_all, by_sex = told(), told("--knows", "sex")
    assert by_sex["GT_A"] < by_all["GT_A"]
    assert by_sex["max_Ti"] < by_all["max_Ti"]
    assert by_sex["ideal_accuracy"] <= by_all["ideal_accuracy"]
    assert by_sex["RF"] == by_all["RF"]  # how faithful the release is does not depend on who reads it


BAD = {
    "nobody": ((), "No targets given."),
    "nowhere to write": (("--targets", "targets.csv"), "go together"),
    "ideal without truth": ((*TO, "--adversary", "ideal"), "Pass --truth TABLE"),
    "unknown adversary": ((*TO, "--adversary", "atacker"), "There is no adversary 'atacker'"),
    "unknown column": ((*TO, "--knows", "cty"), "--knows 'cty' is not a quasi-identifier. Did you mean 'city'?"),
    "error of nothing": ((*TO, "--error", "city"), "write COLUMN=RATE"),
    "error of another": ((*TO, "--error", "town=0.1"), "'town'"),
    "error of certainty": ((*TO, "--error", "city=1"), "a probability below 1"),
    "knowledge of no column": (("--truth", "people.csv", "--knows", "sx"), "--knows 'sx' is not a quasi-identifier"),
    "errors and figures": ((*TO, "--truth", "people.csv", "--error", "sex=0.1"), "--error changes beliefs about targets"),
    "deleted and figures": ((*TO, "--truth", "people.csv", "--deleted", "3"), "--deleted changes beliefs about targets"),
    "error about nobody": (("--truth", "people.csv", "--error", "sex=0.1"), "--error needs targets"),
    "error where none can be": ((*TO, "--error", "city=0.1", "--adversary", "random-worlds"), "Leave --error out"),
    "over the targets": (("--targets", "targets.csv", "-o", "targets.csv"), "this command reads that file"),
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


def test_the_prior_is_not_overwritten(run: Run) -> None:
    prior = "value,probability\nFlu,0.5\nPox,0.25\nGout,0.25\n"
    Path("prior.csv").write_text(prior, encoding="utf-8")
    who = ("release.csv", "--adversary", "I:prior.csv:10", "--targets", "targets.csv")
    for outputs in (("-o", "prior.csv"), ("-o", "beliefs.csv", "--json", "prior.csv")):
        code, _, error = run(*who, *outputs)
        assert code == 2
        assert "prior.csv" in error
        assert Path("prior.csv").read_text(encoding="utf-8") == prior
        assert not Path("beliefs.csv").exists()
    assert run(*who, "-o", "beliefs.csv")[0] == 0


def test_a_value_that_is_none(run: Run) -> None:
    lines("targets.csv", ("city",), [("Oslo",), ("Osloo",)])
    code, _, err = run("release.csv", *TO)
    assert code == 2
    assert "targets.csv, row 1, column 'city': 'Osloo' is not in" in err
    assert "Did you mean 'Oslo'?" in err
    lines("targets.csv", ("town",), [("Oslo",)])
    assert "have none of the quasi-identifiers city, sex" in run("release.csv", *TO)[2]


# --- Rates: the people of the release, and others ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hospital's table, others like its people, a generalized release and noisy counts."""
    folder = tmp_path_factory.mktemp("clinic")
    dl.datasets.save_hospital(folder, 1500, 1)
    dl.datasets.save_hospital(folder, 1200, 2, name="others.csv")
    with contextlib.chdir(folder):
        assert app.run(["publish", "patients.csv", "-o", "release.csv", "--k", "5", "-q"]) == 0
        assert (
            app.run(["publish", "patients.csv", "-o", "counts", "--method", "noisy-counts", "--epsilon", "2", "-q"])
            == 0
        )
    return folder


RATES = ("success", "holdout_success", "naive", "random_worlds", "gain", "high_confidence")


def people_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "adversary"),
    [
        ("release.csv", "random-worlds"),
        ("release.csv", "attacker"),
        ("release.csv", "learner"),
        ("counts", "naive-bayes"),
    ],
)
def test_rates_are_what_beliefs_about_everybody_give(
    release: str, adversary: str, clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recounted from the beliefs that the command writes about the people of the table and about the others."""
    monkeypatch.chdir(clinic)
    words = ["attack", release, "--adversary", adversary, "-q"]
    found = str(tmp_path / "found.json")
    assert app.run([*words, "--truth", "patients.csv", "--holdout", "others.csv", "--json", found]) == 0
    document = json.loads(Path(found).read_text(encoding="utf-8"))
    recounted = {}
    for name, key in (("patients.csv", "success"), ("others.csv", "holdout_success")):
        people = people_of(clinic / name)
        out = str(tmp_path / "beliefs.csv")
        assert app.run([*words, "--targets", name, "--skip-unmatched", "-o", out]) == 0
        beliefs: dict[int, dict[str, float]] = {}
        for line in people_of(Path(out)):
            text = line["posterior"] or line["baseline"]
            beliefs.setdefault(int(line["target"]), {})[line["value"]] = float(text)
        hits = 0.0
        for i, person in enumerate(people):
            most = max(beliefs[i].values())
            tied = [value for value, belief in beliefs[i].items() if belief >= most * (1 - 1e-9)]
            hits += (person["disease"] in tied) / len(tied)
        recounted[key] = hits / len(people)
        assert document[key]["n"] == len(people)
    for key, value in recounted.items():
        assert document[key]["value"] == pytest.approx(value, abs=1e-9)
    assert document["gain"]["value"] == pytest.approx(recounted["success"] - recounted["holdout_success"], abs=1e-9)
    commonest = collections.Counter(person["disease"] for person in people_of(clinic / "patients.csv")).most_common(1)[
        0
    ][1]
    assert document["naive"]["value"] == pytest.approx(commonest / 1500)  # with ε = 2 the commonest is the commonest
    for key in RATES:
        assert set(document[key]) == {"value", "low", "high", "n"}
        if document[key]["n"]:
            assert document[key]["low"] <= document[key]["value"] <= document[key]["high"]
    assert (document["random_worlds"]["n"] == 0) == (release == "counts")
    assert ("GT_A" in document) == (adversary in ("attacker", "learner"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["counts", "--truth", "patients.csv"], "--adversary naive-bayes"),
        (["counts", "--adversary", "learner", "--truth", "patients.csv"], "--adversary naive-bayes"),
        (["release.csv", "--adversary", "naive-bayes", "--truth", "patients.csv"], "does not count"),
        (
            ["release.csv", "--holdout", "others.csv", "--targets", "others.csv", "-o", "b.csv"],
            "--holdout needs --truth",
        ),
        (["release.csv", "--adversary", "ideal", "--truth", "patients.csv"], "needs --targets"),
        (["release.csv", "--truth", "patients.csv", "--holdout", "patients.csv"], "They must be other"),
        (
            [
                "release.csv",
                "--adversary",
                "ideal",
                "--targets",
                "others.csv",
                "-o",
                "b.csv",
                "--truth",
                "patients.csv",
                "--holdout",
                "others.csv",
            ],
            "Leave --holdout out",
        ),
    ],
)
def test_rates_that_cannot_be_had(
    words: list[str], said: str, clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(clinic)
    assert app.run(["attack", *words]) == 2
    assert said in capsys.readouterr().err
    assert not (clinic / "b.csv").exists()


def test_the_audit_of_noisy_counts_plays_naive_bayes(
    clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(clinic)
    found, page = tmp_path / "a.json", tmp_path / "a.html"
    words = [
        "audit",
        "counts",
        "--truth",
        "patients.csv",
        "--holdout",
        "others.csv",
        "--json",
        str(found),
        "-o",
        str(page),
    ]
    assert app.run(words) == 0
    assert "naive-bayes on disease" in capsys.readouterr().out
    document = json.loads(found.read_text(encoding="utf-8"))
    (attack,) = document["attacks"]
    assert attack["adversary"] == "naive-bayes"
    assert app.run(["attack", "counts", "--adversary", "naive-bayes", "--truth", "patients.csv", "--holdout", "others.csv",
                    "--json", str(tmp_path / "b.json"), "-q"]) == 0  # fmt: skip
    rates = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    assert attack["success"] == rates["success"]
    assert attack["control"]["value"] == rates["holdout_success"]["value"]
    assert attack["verdict"] == rates["verdict"]
    assert document["at_risk"] == []
    assert "naive Bayes classifier" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("option", [("--error", "city=0.2"), ("--deleted", "3")])
def test_who_fits_nowhere_may_still_be_there(run: Run, option: tuple[str, str]) -> None:
    """What is known may be wrong, or the row left out: then nobody is ruled out, and a belief is written."""
    lines("release.csv", ("city", "sex", "disease"), [row for row in RELEASE if row[0] == "Oslo"])
    lines("targets.csv", ("city", "sex"), [("Hamar", "M")])
    code, _, err = run("release.csv", "--targets", "targets.csv", "-o", "b.csv")
    assert code == 2
    assert "fits no group" in err
    code, _, err = run("release.csv", "--targets", "targets.csv", "-o", "b.csv", *option)
    assert code == 0, err
    with Path("b.csv").open(encoding="utf-8", newline="") as file:
        assert sum(float(line["posterior"]) for line in csv.DictReader(file)) == pytest.approx(1)


def test_targets_and_people_who_fit_nowhere_are_counted_apart(run: Run) -> None:
    lines("targets.csv", ("city", "sex"), [("Oslo", "F"), ("Bergen", "F")])
    code, out, err = run(
        "release.csv", "--targets", "targets.csv", "-o", "b.csv", "--truth", "people.csv", "--adversary", "attacker",
        "--skip-unmatched", "--json", "-",
    )  # fmt: skip
    assert code == 0, err
    found = json.loads(out)
    assert found["targets"] == 2
    assert found["unmatched"] == 0
    assert found["people_unmatched"] == 0


@pytest.mark.parametrize("options", [("--adversary", "random-worlds"), ("--adversary", "I:uniform:30")])
def test_sampling_options_where_nothing_is_sampled(run: Run, options: tuple[str, ...]) -> None:
    """With targets alone, too."""
    code, _, err = run("release.csv", "--targets", "targets.csv", "-o", "b.csv", *options, "--mcse", "0.1")
    assert code == 2
    assert "--mcse is for sampling" in err
