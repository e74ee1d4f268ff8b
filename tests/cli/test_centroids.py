"""Centroids through the command line: who attacks them, and that every message leads somewhere."""

from __future__ import annotations

import contextlib
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dalenius as dl
from dalenius.cli import app
from tests.adversaries import plain_centroids as plain

Run = Callable[..., tuple[int, str, str]]
QUASI = ("age", "sex", "zip", "nationality")
NUMERIC = (True, False, False, False)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Patients, others like them, and the patients' centroids, three to a group: as lines, shuffled, and by a script."""
    folder = tmp_path_factory.mktemp("clinic")
    dl.datasets.save_hospital(folder, 240, 1)
    dl.datasets.save_hospital(folder, 160, 2, name="others.csv")
    with contextlib.chdir(folder):
        asked = ["publish", "patients.csv", "--method", "microaggregation", "--k", "3", "-q"]
        assert app.run([*asked, "-o", "points.csv"]) == 0
        assert app.run([*asked, "-o", "shuffled.csv", "--shuffle"]) == 0
        assert app.run(["publish", "patients.csv", "-o", "boxes.csv", "--k", "3", "-q"]) == 0
    return folder


@pytest.fixture
def run(clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(clinic)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = app.run([*arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


def rows(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def known(person: dict[str, str], columns: tuple[str, ...] = QUASI) -> list[object]:
    told = (float(person[name]) if number else person[name] for name, number in zip(QUASI, NUMERIC, strict=True))
    return [value if name in columns else plain.UNKNOWN for name, value in zip(QUASI, told, strict=True)]


def believed(person: dict[str, str], columns: tuple[str, ...] = QUASI) -> dict[str, Any]:
    lines = rows("points.csv")
    ids = sorted({line["group"] for line in lines}, key=int)
    groups = [[line for line in lines if line["group"] == name] for name in ids]
    where = plain.nearest(known(person, columns), [known(g[0]) for g in groups], [len(g) for g in groups], NUMERIC)
    return plain.belief(where, [[line["disease"] for line in group] for group in groups])


def right(people: list[dict[str, str]], columns: tuple[str, ...] = QUASI) -> float:
    return float(sum(plain.chance(believed(one, columns), one["disease"]) for one in people) / len(people))


TO = ("--targets", "others.csv", "-o", "beliefs.csv")
TRUTH = ("--truth", "patients.csv")
ALL = (*TRUTH, "--holdout", "others.csv")


@pytest.mark.parametrize("named", [(), ("--adversary", "nearest-centroid")])
@pytest.mark.parametrize("columns", [QUASI, ("age",), ("sex", "zip")])
def test_beliefs_about_targets(run: Run, named: tuple[str, ...], columns: tuple[str, ...]) -> None:
    knows = () if columns == QUASI else ("--knows", ",".join(columns))
    code, out, err = run("attack", "points.csv", *TO, *named, *knows)
    assert (code, err) == (0, "")
    assert "Wrote beliefs.csv: beliefs of nearest-centroid about 160 targets (exact)" in out
    found = rows("beliefs.csv")
    for i, person in enumerate(rows("others.csv")[:40]):
        expected = believed(person, columns)
        for line in (line for line in found if line["target"] == str(i)):
            assert float(line["posterior"]) == pytest.approx(float(expected.get(line["value"], 0)), abs=1e-12)
            assert float(line["stderr"]) == 0


@pytest.mark.parametrize("more", [(), TO])
def test_rates(run: Run, more: tuple[str, ...]) -> None:
    """With the truth, rates without being asked for, whether people are held out or not; and no threats."""
    code, out, err = run("attack", "points.csv", *ALL, *more, "--json", "found.json")
    assert (code, err) == (0, "")
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert (found["adversary"], found["method"], found["converged"]) == ("nearest-centroid", "exact", True)
    mine, others = right(rows("patients.csv")), right(rows("others.csv"))
    assert found["success"]["value"] == pytest.approx(mine)
    assert found["holdout_success"]["value"] == pytest.approx(others)
    assert found["gain"]["value"] == pytest.approx(mine - others)
    assert found["verdict"] == "leaks about persons"
    assert found["random_worlds"]["n"] == 0
    assert found["group_known"] is True
    assert 0.3 < found["right_group"]["value"] < 1
    assert found["right_group"]["n"] == 240
    assert "GT_A" not in found
    assert "nearest-centroid on disease (exact): leaks information about individuals" in out
    assert "correct group found" in out
    alone = json.loads(run("attack", "points.csv", *TRUTH, "--json", "-")[1])
    assert alone["success"] == found["success"]
    assert alone["gain"]["n"] == 0


def test_rates_follow_what_the_attacker_knows(run: Run) -> None:
    code, out, _ = run("attack", "points.csv", *ALL, "--knows", "age,sex", "--json", "-")
    found = json.loads(out)
    assert code == 0
    assert found["success"]["value"] == pytest.approx(right(rows("patients.csv"), ("age", "sex")))
    assert found["holdout_success"]["value"] == pytest.approx(right(rows("others.csv"), ("age", "sex")))
    whole = json.loads(run("attack", "points.csv", *ALL, "--json", "-")[1])
    assert found["right_group"]["value"] < whole["right_group"]["value"]


def test_in_another_order_the_right_group_is_not_known(run: Run) -> None:
    code, out, err = run("attack", "shuffled.csv", *ALL, "--json", "found.json")
    assert (code, err) == (0, "")
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["right_group"] == {"value": None, "low": None, "high": None, "n": 0}
    assert found["group_known"] is False
    assert "not in the order of the table" in found["group_unknown_because"]
    assert "It is not known how often the nearest centroid is the correct one (the lines of the release" in " ".join(
        out.split()
    )
    assert found["success"]["value"] == pytest.approx(
        json.loads(run("attack", "points.csv", *ALL, "--json", "-")[1])["success"]["value"]
    )


BAD = {
    "attacker": ((*TO, "--adversary", "attacker"), "attacker cannot attack this release"),
    "attacker, truth": ((*TRUTH, "--adversary", "attacker"), "attacker cannot attack this release"),
    "learner, truth": ((*TRUTH, "--adversary", "learner"), "learner cannot attack this release"),
    "random worlds": ((*TO, "--adversary", "random-worlds"), "random-worlds cannot attack this release"),
    "realistic": ((*TO, "--adversary", "I:uniform:30"), "I:uniform:30 cannot attack this release"),
    "links": ((*TO, "--adversary", "definetti-majority"), "definetti-majority cannot attack this release"),
    "counts": ((*TO, "--adversary", "naive-bayes"), "naive-bayes cannot attack this release"),
    "error": ((*TO, "--error", "age=0.1"), "nearest-centroid takes what it knows for right: leave --error out"),
    "sampling": ((*TO, "--mcse", "0.01"), "nearest-centroid has nothing to sample: leave it out"),
    "deleted": ((*TO, "--deleted", "3"), "leave it out"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_done_is_refused_and_says_what_can(run: Run, case: str) -> None:
    Path("beliefs.csv").unlink(missing_ok=True)
    arguments, message = BAD[case]
    code, out, err = run("attack", "points.csv", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not Path("beliefs.csv").exists()
    if "cannot attack" in message and case not in ("links", "counts"):
        assert "nearest-centroid attacks them" in err
    for other in ("compose", "audit"):
        assert other not in err


def test_other_releases_have_no_centroids(run: Run) -> None:
    code, _, err = run("attack", "boxes.csv", *TO, "--adversary", "nearest-centroid")
    assert code == 2
    assert "random-worlds and attacker attack these" in err


def test_the_ideal_learner_does_not_need_classes(run: Run) -> None:
    code, out, err = run("attack", "points.csv", *TRUTH, *TO, "--adversary", "ideal")
    assert (code, err) == (0, "")
    assert "beliefs of ideal about 160 targets" in out


def test_no_command_sends_in_a_circle(run: Run) -> None:
    """`audit`, `compose` and `attack` each name another command or adversary; following it gives an answer."""
    code, out, err = run("compose", "points.csv", "--targets", "others.csv")
    assert code == 2
    assert "attack this one with `attack`" in err
    assert run("attack", "points.csv", *TO)[0] == 0
    code, out, err = run("compose", "points.csv", "boxes.csv", "--targets", "others.csv", "--beliefs", "b.csv")
    assert code == 2
    assert "Leave --beliefs and --presence out" in err
    assert run("compose", "points.csv", "boxes.csv", "--targets", "others.csv")[0] == 0
    code, out, err = run("audit", "points.csv", *ALL)
    assert (code, err) == (0, "")
    assert "nearest-centroid attacks them" in " ".join(out.split())
    assert "nearest-centroid on disease\n" in out
    assert "  Inference: correct guesses of each adversary" in out
    code, out, err = run("audit", "points.csv")
    assert (code, err) == (0, "")
    assert "nearest-centroid on disease\n      correctness unknown" in out


def test_a_release_whose_kind_is_not_told(run: Run, clinic: Path) -> None:
    """Without its sidecar a file of means is taken for labels; the message says how to say what it is."""
    (clinic / "bare.csv").write_bytes((clinic / "points.csv").read_bytes())
    code, _, err = run("attack", "bare.csv", *TO)
    assert code == 2
    assert "--kind centroids" in err
    assert run("attack", "bare.csv", *TO, "--kind", "centroids")[0] == 0
    assert run("audit", "bare.csv", "--kind", "centroids")[0] == 0
