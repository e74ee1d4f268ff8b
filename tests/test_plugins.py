"""Parts of other packages: an installed plug-in is known to every command, and a broken one is named in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from dalenius.criteria import CRITERIA, KAnonymity
from dalenius.datasets import save_hospital
from dalenius.errors import InputError
from dalenius.plugins import Registry
from tests.conftest import COMMAND_LINE, LONG, ROOT
from tests.processes import Starter

Run = Callable[..., subprocess.CompletedProcess[str]]


def install(folder: Path, group: str, name: str, value: str) -> None:
    """Do what an installer does with a package that has one entry point."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n", encoding="utf-8")


@pytest.fixture
def dalenius(starter: Starter, tmp_path: Path) -> Run:
    """The command line in a new process, in a folder with a hospital's table; plug-ins are installed in `site`."""
    save_hospital(tmp_path, 400, 1)
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT), str(ROOT / "src")])

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
        return starter.run(COMMAND_LINE, list(arguments), cwd=tmp_path, env=environment, timeout=LONG)

    return run


def test_a_criterion_of_a_plug_in_runs_through_every_command(dalenius: Run, tmp_path: Path) -> None:
    install(tmp_path / "site", "dalenius.criteria", "second_value", "examples.my_criterion:SecondValue")
    for command in ("check", "publish", "lattice", "audit"):
        assert "--second-value" in dalenius(command, "--help").stdout
    made = dalenius("publish", "patients.csv", "--k", "3", "--second-value", "2", "-o", "r.csv")
    assert made.returncode == 0, made.stderr
    assert "k = 3; second value ≥ 2" in made.stdout

    checked = dalenius("check", "r.csv", "--json", "check.json", "--second-value", "2")
    assert checked.returncode == 0, checked.stderr
    assert "second value, m" in checked.stdout
    level = json.loads((tmp_path / "check.json").read_text())["second_value"]["m"]
    assert isinstance(level, int)
    assert level >= 2
    assert dalenius("check", "r.csv", "--second-value", str(level + 1)).returncode == 1

    schema = tmp_path / "privacy.toml"
    schema.write_text(
        schema.read_text(encoding="utf-8") + f"\n[policy]\nmin_second_value = {level + 1}\n", encoding="utf-8"
    )
    audited = dalenius("audit", "r.csv", "--truth", "patients.csv", "-o", "report.html", "--json", "audit.json")
    assert audited.returncode == 1, audited.stderr
    assert "second value, m" in (tmp_path / "report.html").read_text(encoding="utf-8")
    found = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert found["levels"]["second_value"] == {"m": level}
    assert [(one["key"], one["outcome"]) for one in found["policy"]] == [("min_second_value", "violated")]
    described = subprocess.run(
        [sys.executable, "-c", "import json; from dalenius.reports import json_schema as s; print(json.dumps(s.audit_schema()))"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT), str(ROOT / "src")])},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    jsonschema.validate(found, json.loads(described.stdout))


def test_a_policy_key_nobody_knows_is_refused(dalenius: Run, tmp_path: Path) -> None:
    schema = tmp_path / "privacy.toml"
    schema.write_text(schema.read_text(encoding="utf-8") + "\n[policy]\nmin_second_value = 2\n", encoding="utf-8")
    refused = dalenius("check", "patients.csv")
    assert refused.returncode == 2
    assert "unknown key 'min_second_value' in [policy]" in refused.stderr


@pytest.mark.parametrize("value", ["no_such_package:Thing", "examples.my_criterion:NoSuchClass"])
def test_a_plug_in_that_cannot_be_loaded_is_named(dalenius: Run, tmp_path: Path, value: str) -> None:
    install(tmp_path / "site", "dalenius.criteria", "broken", value)
    refused = dalenius("check", "patients.csv")
    assert refused.returncode == 2
    assert f"The plug-in 'broken' ({value}) cannot be loaded" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("group", "code", "words"),
    [
        ("criteria", "Part = 3", "must be a class derived from dalenius.criteria.base.Criterion"),
        (
            "criteria",
            "from dalenius.criteria import Criterion\nclass Part(Criterion): pass",
            "lacks name, title, better",
        ),
        (
            "publishers",
            "from dalenius.publishers.base import Publisher\nclass Part(Publisher): name = 'p'",
            "lacks title",
        ),
        ("criteria", "import sys\nsys.exit(0)", "cannot be loaded: SystemExit"),
        ("criteria", "from dalenius.options import Option\nPart = Option('--k', 'x')", "cannot be loaded: ValueError"),
        ("adversaries", "def Part(): pass", "must be a class derived from dalenius.adversaries.base.Adversary"),
        ("kinds", "from dalenius.releases import Release\nclass Part(Release): kind = 'p'", "lacks description"),
    ],
)
def test_a_part_that_is_none_is_named(dalenius: Run, tmp_path: Path, group: str, code: str, words: str) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "odd_part.py").write_text(code + "\n", encoding="utf-8")
    install(tmp_path / "site", f"dalenius.{group}", "odd", "odd_part:Part")
    refused = dalenius("audit", "patients.csv", "--truth", "patients.csv")
    assert refused.returncode == 2, refused.stderr
    assert f"The plug-in 'odd' (odd_part:Part) {words}" in refused.stderr
    assert "Traceback" not in refused.stderr


VARIANT = """
from dataclasses import dataclass
from dalenius.criteria import KAnonymity, Option

@dataclass(frozen=True, slots=True)
class Part(KAnonymity):
    name = "variant"
    {option}
"""


@pytest.mark.parametrize(
    ("option", "words", "code"),
    [
        ("", "The criteria 'k_anonymity' and 'variant' both have --k. Rename one of them.", 2),
        ("option = Option('kk', 'Help.', int)", "both have min_k of [policy]", 2),
        ("option = '--kk'", "The option of the criterion 'variant' must be a dalenius.options.Option.", 2),
        ("reported = 3", "The commands cannot be loaded (TypeError", 70),
    ],
)
def test_two_criteria_cannot_share_a_name(dalenius: Run, tmp_path: Path, option: str, words: str, code: int) -> None:
    """Else the later one would decide a policy that was written for the other."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "odd_part.py").write_text(VARIANT.format(option=option), encoding="utf-8")
    install(tmp_path / "site", "dalenius.criteria", "odd", "odd_part:Part")
    refused = dalenius("check", "patients.csv")
    assert words in refused.stderr
    assert refused.returncode == code
    assert "Traceback" not in refused.stderr


def test_a_broken_plug_in_leaves_the_others_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    class Entry:
        def __init__(self, name: str, part: object) -> None:
            self.name, self.value, self.part = name, f"m:{name}", part

        def load(self) -> object:
            return self.part

    def entries(group: str) -> list[Entry]:  # noqa: ARG001 - as importlib.metadata has it
        return [Entry("good", str), Entry("bad", 3)]

    monkeypatch.setattr(importlib.metadata, "entry_points", entries)
    registry: Registry[type] = Registry("dalenius.none", [int], lambda part: part.__name__, base=object)
    for _ in range(2):
        with pytest.raises(InputError, match=r"The plug-in 'bad' \(m:bad\) must be a class"):
            len(registry)


FLAGGED = """
from examples.my_scheme import Runs
from dalenius.options import Option

class Flagged(Runs):
    name = "flagged"
    options = (Option("quickly", "Flagged: be quick.", bool),)
"""


def test_a_flag_of_a_plug_in_disturbs_nobody(dalenius: Run, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "flagged_part.py").write_text(FLAGGED, encoding="utf-8")
    install(tmp_path / "site", "dalenius.publishers", "flagged", "flagged_part:Flagged")
    assert "--quickly" in dalenius("publish", "--help").stdout
    done = dalenius("audit", "patients.csv", "--truth", "patients.csv", "-q")
    assert done.returncode == 0, done.stderr
    done = dalenius("frontier", "patients.csv", "--method", "mondrian", "--k", "5", "--risk", "random-worlds", "-q")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("value", ["-3", "0", "1.5", "true", "inf"])
def test_a_threshold_that_the_criterion_refuses_is_refused(dalenius: Run, tmp_path: Path, value: str) -> None:
    install(tmp_path / "site", "dalenius.criteria", "second_value", "examples.my_criterion:SecondValue")
    schema = tmp_path / "privacy.toml"
    schema.write_text(schema.read_text(encoding="utf-8") + f"\n[policy]\nmin_second_value = {value}\n", "utf-8")
    refused = dalenius("check", "patients.csv")
    assert refused.returncode == 2
    assert "policy.min_second_value" in refused.stderr


def test_a_misspelt_key_of_a_plug_in_is_recognised(dalenius: Run, tmp_path: Path) -> None:
    install(tmp_path / "site", "dalenius.criteria", "second_value", "examples.my_criterion:SecondValue")
    schema = tmp_path / "privacy.toml"
    schema.write_text(schema.read_text(encoding="utf-8") + "\n[policy]\nmin_secnd_value = 2\n", "utf-8")
    refused = dalenius("check", "patients.csv")
    assert "Did you mean 'min_second_value'?" in refused.stderr


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(InputError, match=r"the name 'k_anonymity' is taken by dalenius\.criteria\.size\.KAnonymity"):
        CRITERIA.add(KAnonymity)
    assert CRITERIA["k_anonymity"] is KAnonymity


def test_a_registry_keeps_its_order_and_forgets() -> None:
    registry: Registry[str] = Registry("dalenius.none", ["b", "a"], str)
    registry.add("c")
    assert list(registry) == ["b", "a", "c"]
    registry.remove("c")
    assert len(registry) == 2
