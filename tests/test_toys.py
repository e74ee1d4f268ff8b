"""The four parts in `examples/`, installed as a package by pip: every command, report and contract test knows them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dalenius.datasets import save_hospital
from tests.conftest import LONG, ROOT
from tests.processes import Starter

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
TOYS = ("my_adversary", "my_criterion", "my_kind", "my_scheme")
LONGEST = 60  # lines of a part
FEWEST = {"second_value": 3, "runs": 9, "whole-classes": 40, "pivot": 3}  # contract tests of each
AS_MODULE = "import runpy; runpy.run_module('dalenius', run_name='__main__', alter_sys=True)"  # python -m dalenius
Run = Callable[..., subprocess.CompletedProcess[str]]
POLICY = """
[policy]
min_second_value = 1
max_attacker_accuracy = 0.99
"""
WRITE_PIVOT = """
import dalenius as dl
from my_kind import Pivot
table = dl.read_release("r.csv", "privacy.toml").rows()
Pivot.from_rows(table).write("r.pivot.csv")
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package: built and installed by pip, without the network."""
    target = tmp_path_factory.mktemp("toys") / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*pip, *offline, str(EXAMPLES)], check=True, capture_output=True)
    return target


def environment(site: Path) -> dict[str, str]:
    # Not the root of the source: what is installed must do without it.
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT / "src")]), "COLUMNS": "200"}


@pytest.fixture(scope="module")
def folder(site: Path) -> Path:
    """A hospital's table with a schema and a policy, and a release that the toy publisher made for the toy criterion."""
    here = site.parent
    save_hospital(here, 400, 1)
    schema = here / "privacy.toml"
    schema.write_text(schema.read_text(encoding="utf-8") + POLICY, encoding="utf-8")
    return here


@pytest.fixture(scope="module")
def dalenius(starter: Starter, site: Path, folder: Path) -> Run:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return starter.run(AS_MODULE, list(arguments), cwd=folder, env=environment(site), timeout=LONG)

    return run


@pytest.fixture(scope="module")
def released(dalenius: Run, folder: Path) -> subprocess.CompletedProcess[str]:
    """What `publish` said when it wrote r.csv; r.pivot.csv is the same release, of the toy kind."""
    done = dalenius(
        "publish", "patients.csv", "--method", "runs", "--k", "8", "-o", "r.csv", "--json", "published.json"
    )
    assert done.returncode == 0, done.stderr
    site = folder / "site"
    subprocess.run([sys.executable, "-c", WRITE_PIVOT], cwd=folder, env=environment(site), check=True)
    return done


def written(folder: Path, name: str) -> dict[str, object]:
    document: dict[str, object] = json.loads((folder / name).read_text(encoding="utf-8"))
    del document["run"]
    return document


@pytest.mark.parametrize("toy", TOYS)
def test_a_part_is_one_short_file(toy: str) -> None:
    assert len((EXAMPLES / f"{toy}.py").read_text(encoding="utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("check", ["--second-value", "pivot"]),
        ("publish", ["--second-value", "--first", "runs"]),
        ("lattice", ["--second-value"]),
        ("attack", ["whole-classes", "pivot"]),
        ("audit", ["--second-value", "--first", "pivot"]),
        ("frontier", ["runs", "--first", "--second-value"]),
    ],
)
def test_help_names_them(dalenius: Run, command: str, words: list[str]) -> None:
    page = "".join(dalenius(command, "--help").stdout.split())  # a line may end at a hyphen
    assert [word for word in words if word not in page] == []


def test_publish_says_what_it_made(released: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert "k = 8" in released.stdout
    document = written(folder, "published.json")
    assert (document["method"], document["people"]) == ("runs", 400)
    assert json.loads((folder / "r.csv.meta.json").read_text(encoding="utf-8"))["method"] == "runs"


@pytest.mark.parametrize("release", ["r.csv", "r.pivot.csv"])
@pytest.mark.usefixtures("released")
def test_check_measures_the_criterion(dalenius: Run, folder: Path, release: str) -> None:
    done = dalenius("check", release, "--k", "8", "--json", "checked.json")
    assert done.returncode == 0, done.stderr
    assert "second value, m" in done.stdout
    document = written(folder, "checked.json")
    level = document["second_value"]["m"]  # type: ignore[index]
    assert dalenius("check", release, "--second-value", str(level + 1), "-q").returncode == 1
    if level:
        assert dalenius("check", release, "--second-value", str(level), "-q").returncode == 0


@pytest.mark.parametrize("release", ["r.csv", "r.pivot.csv"])
@pytest.mark.usefixtures("released")
def test_attack_plays_the_adversary(dalenius: Run, folder: Path, release: str) -> None:
    common = ("--adversary", "whole-classes", "--truth", "patients.csv", "--json", "attacked.json")
    done = dalenius("attack", release, *common)
    assert done.returncode == 0, done.stderr
    document = written(folder, "attacked.json")
    assert document["adversary"] == "whole-classes"
    assert 0 < document["success"]["value"] < 1  # type: ignore[index]


@pytest.mark.parametrize("release", ["r.csv", "r.pivot.csv"])
@pytest.mark.usefixtures("released")
def test_audit_knows_all_of_them(dalenius: Run, site: Path, folder: Path, release: str) -> None:
    common = ("--truth", "patients.csv", "-o", "report.html", "--json", "audit.json")
    done = dalenius("audit", release, *common)
    assert done.returncode in (0, 1), done.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    for words in ("whole-classes", "second value, m"):
        assert words in page
    assert "whole-classes on" in done.stdout
    document = written(folder, "audit.json")
    played = {attack["adversary"]: attack for attack in document["attacks"]}  # type: ignore[attr-defined]
    assert played["whole-classes"]["does"].startswith("counts everyone in the classes")
    assert "m" in document["levels"]["second_value"]  # type: ignore[index]
    keys = {threshold["key"] for threshold in document["policy"]}  # type: ignore[attr-defined]
    assert keys == {"min_second_value", "max_attacker_accuracy"}
    described = subprocess.run(
        [sys.executable, "-c", "import json; from dalenius.reports import json_schema as s; print(json.dumps(s.audit_schema()))"],
        env=environment(site), capture_output=True, text=True, check=True,
    )  # fmt: skip
    whole = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    jsonschema.validate(whole, json.loads(described.stdout))


def test_both_kinds_give_the_same_audit(
    dalenius: Run, folder: Path, released: subprocess.CompletedProcess[str]
) -> None:
    assert released.returncode == 0
    found = []
    for release in ("r.csv", "r.pivot.csv"):
        assert dalenius("audit", release, "--truth", "patients.csv", "--json", "audit.json", "-q").returncode in (0, 1)
        document = written(folder, "audit.json")
        for key in ("kind", "sha256"):
            document["release"].pop(key)  # type: ignore[attr-defined]
        del document["limits"]  # a pivot does not publish the other columns, and the audit says so
        found.append(document)
    assert found[0] == found[1]


def test_audit_publishes_by_the_method(dalenius: Run, folder: Path) -> None:
    done = dalenius("audit", "patients.csv", "--method", "runs", "--k", "8", "--json", "audit.json")
    assert done.returncode in (0, 1), done.stderr
    assert written(folder, "audit.json")["release"]["kind"] == "generalized"  # type: ignore[index]


def test_frontier_tries_the_method_and_publishes_the_best(dalenius: Run, folder: Path) -> None:
    grid = ("--method", "runs", "--k", "8,40", "--risk", "random-worlds", "--jobs", "1", "--fresh")
    done = dalenius(
        "frontier", "patients.csv", *grid, "--json", "frontier.json", "-o", "frontier.html", "--best", "b.csv"
    )
    assert done.returncode == 0, done.stderr
    points = written(folder, "frontier.json")["points"]
    assert [point["method"] for point in points] == ["runs", "runs"]  # type: ignore[attr-defined]
    assert "runs" in (folder / "frontier.html").read_text(encoding="utf-8")
    assert dalenius("check", "b.csv", "--second-value", "1", "-q").returncode == 0  # the policy asks for that


def test_frontier_varies_the_criterion(dalenius: Run, folder: Path) -> None:
    grid = ("--method", "mondrian", "--second-value", "1,3", "--risk", "random-worlds", "--jobs", "1", "--fresh")
    done = dalenius("frontier", "patients.csv", *grid, "--json", "frontier.json")
    assert done.returncode == 0, done.stderr
    assert "second value 3" in done.stdout
    points: Any = written(folder, "frontier.json")["points"]
    assert [point["parameters"] for point in points] == [{"second_value": 1}, {"second_value": 3}]
    assert points[1]["classes"] < points[0]["classes"]
    refused = dalenius("frontier", "patients.csv", "--method", "runs", "--second-value", "1")
    assert refused.returncode == 2
    assert "--second-value has no effect on runs: only lattice, mondrian take it." in refused.stderr
    refused = dalenius("frontier", "patients.csv", "--method", "mondrian", "--second-value", "0")
    assert refused.returncode == 2
    assert "second value must be an int ≥ 1" in refused.stderr


def test_the_contracts_hold_for_them(site: Path) -> None:
    """The suite iterates the registries, so that it finds the toys by itself.

    Cases with a toy in their name run, and tests that iterate a registry themselves. The other cases know of no toy.
    """
    cases = " or ".join([*FEWEST, "not ["])
    path = os.pathsep.join([str(site), str(ROOT), str(ROOT / "src"), str(ROOT / "scripts")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-k", cases, "tests/contract"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    for toy, fewest in FEWEST.items():
        assert len(re.findall(rf"\[[^]]*{toy}[^]]*\] PASSED", done.stdout)) >= fewest, toy
