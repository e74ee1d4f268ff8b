"""An adversary of an installed package goes through every command and every report. Its contract: test_toys.py."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dalenius.datasets import save_hospital
from tests.conftest import COMMAND_LINE, LONG, ROOT
from tests.processes import Starter
from tests.test_plugins import install

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]
TOY = ROOT / "examples" / "my_adversary.py"
NAME = "whole-classes"
DOES = "counts everyone in the classes that the target fits, wide ones as much as narrow ones"


@pytest.fixture(scope="module")
def folder(starter: Starter, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hospital with a release, people held out and the plug-in installed."""
    folder = tmp_path_factory.mktemp("toy")
    save_hospital(folder, 300, 1)
    (folder / "others").mkdir()
    save_hospital(folder / "others", 200, 2)
    install(folder / "site", "dalenius.adversaries", NAME, "examples.my_adversary:WholeClasses")
    made = run_in(starter, folder, "publish", "patients.csv", "--k", "3", "--suppression", "0.05", "-o", "r.csv")
    assert made.returncode == 0, made.stderr
    return folder


def path_of(folder: Path) -> str:
    return os.pathsep.join([str(folder / "site"), str(ROOT), str(ROOT / "src")])


def run_in(starter: Starter, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": path_of(folder), "COLUMNS": "200"}
    return starter.run(COMMAND_LINE, list(arguments), cwd=folder, env=environment, timeout=LONG)


@pytest.fixture
def dalenius(starter: Starter, folder: Path) -> Run:
    return lambda *arguments: run_in(starter, folder, *arguments)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_toy_is_one_short_file() -> None:
    assert len(TOY.read_text(encoding="utf-8").splitlines()) <= 60


def test_attack_plays_it(dalenius: Run, folder: Path) -> None:
    assert NAME in "".join(dalenius("attack", "--help").stdout.split())
    attack = ("attack", "r.csv", "--truth", "patients.csv", "--holdout", "others/patients.csv")
    done = dalenius(*attack, "--adversary", NAME, "--json", "attacked.json")
    assert done.returncode == 0, done.stderr
    assert f"{NAME} on disease (exact)" in done.stdout
    found = read(folder / "attacked.json")
    assert found["adversary"] == NAME
    assert 0 < found["success"]["value"] < 1
    targets = ("--targets", "others/patients.csv", "-o", "beliefs.csv", "--skip-unmatched")
    done = dalenius("attack", "r.csv", "--adversary", NAME, *targets)
    assert done.returncode == 0, done.stderr
    assert len((folder / "beliefs.csv").read_text(encoding="utf-8").splitlines()) > 200


def test_a_name_that_is_not_there_is_answered_with_those_that_are(dalenius: Run) -> None:
    done = dalenius("attack", "r.csv", "--truth", "patients.csv", "--adversary", "whole-clases")
    assert done.returncode == 2
    assert f"Did you mean '{NAME}'?" in done.stderr
    assert NAME in done.stderr.partition("Known:")[2]


def test_what_it_does_not_need_is_refused_with_the_reason(dalenius: Run, folder: Path) -> None:
    made = dalenius(
        "publish", "patients.csv", "--method", "microaggregation", "--k", "4", "--shown", "centroids", "-o", "m.csv"
    )
    assert made.returncode == 0, made.stderr
    done = dalenius("attack", "m.csv", "--truth", "patients.csv", "--adversary", NAME)
    assert done.returncode == 2
    assert f"{NAME} cannot attack this release: centroids do not say which values they stand for" in done.stderr
    done = dalenius("audit", "m.csv", "--truth", "patients.csv", "--json", "centroids.json")
    assert done.returncode == 0, done.stderr
    assert {"random-worlds", NAME} <= set(read(folder / "centroids.json")["refused"])


def test_the_audit_reports_it_everywhere(dalenius: Run, folder: Path) -> None:
    reports = ("-o", "report.html", "--json", "audit.json")
    done = dalenius("audit", "r.csv", "--truth", "patients.csv", "--holdout", "others/patients.csv", *reports)
    assert done.returncode == 0, done.stderr
    assert f"\n    {NAME} on disease\n" in done.stdout
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f"<strong>{NAME}</strong> knows the release, that the target is in it" in page
    assert f"it {DOES}." in page
    document = read(folder / "audit.json")
    played = [attack["adversary"] for attack in document["attacks"]]
    assert played[:2] == ["random-worlds", "attacker"]
    assert played[-1] == NAME, "plug-ins come after our own"
    assert document["attacks"][-1]["does"] == DOES
    assert document["attacks"][-1]["knows"].startswith("the release, that the target is in it")
    schema = ROOT / "src" / "dalenius" / "reports" / "audit.schema.json"
    jsonschema.validate(document, read(schema))


def test_our_own_numbers_do_not_depend_on_it(dalenius: Run, folder: Path) -> None:
    assert dalenius("audit", "r.csv", "--truth", "patients.csv", "--json", "with.json", "-q").returncode == 0
    (folder / "site").rename(folder / "away")
    try:
        assert dalenius("audit", "r.csv", "--truth", "patients.csv", "--json", "without.json", "-q").returncode == 0
    finally:
        (folder / "away").rename(folder / "site")
    with_it, without = read(folder / "with.json"), read(folder / "without.json")
    assert with_it["attacks"][:-1] == without["attacks"]
    assert with_it["attacks"][-1]["adversary"] == NAME
    assert with_it["relative_threats"] == without["relative_threats"]


def test_the_policy_holds_it_against_its_limit(dalenius: Run, folder: Path) -> None:
    """A limit between what it achieves and what the others do: it alone decides."""
    attack = read_attacks(dalenius, folder)
    (folder / "limited.toml").write_text(
        (folder / "privacy.toml").read_text(encoding="utf-8")
        + f"\n[policy]\nmax_attacker_accuracy = {max(attack.values()) - 1e-6}\n",
        encoding="utf-8",
    )
    limited = ("audit", "r.csv", "--truth", "patients.csv", "--schema", "limited.toml", "--json", "limited.json")
    assert dalenius(*limited).returncode == 1
    assert read(folder / "limited.json")["policy"][0]["measured"] == pytest.approx(max(attack.values()))


def read_attacks(dalenius: Run, folder: Path) -> dict[str, float]:
    assert dalenius("audit", "r.csv", "--truth", "patients.csv", "--json", "all.json", "-q").returncode == 0
    return {
        one["adversary"]: max(one["success"]["value"], one["success_assumed"]["value"])
        for one in read(folder / "all.json")["attacks"]
    }


def test_the_frontier_has_it(dalenius: Run, folder: Path) -> None:
    grid = ("frontier", "patients.csv", "--method", "lattice", "--k", "3", "--fresh", "--jobs", "1")
    done = dalenius(*grid, "-o", "frontier.html", "--json", "frontier.json")
    assert done.returncode == 0, done.stderr
    points = [one for one in read(folder / "frontier.json")["points"] if not one.get("reason")]
    assert points
    for point in points:
        assert NAME in {one["adversary"] for one in point["attacks"]}
        assert 0 < point["accuracies"][NAME] <= point["risk"]  # by default that of the best adversary
