"""The examples of docs/pipelines.md run: each lets a good release pass and stops a bad one, with the exit code of the audit."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from dalenius import datasets
from dalenius.cli.app import run
from tests.conftest import LONG, ROOT

pytestmark = pytest.mark.slow

FOLDER = ROOT / "examples" / "pipelines"
FILES = ["release.csv", "patients.csv", "others.csv", "privacy.toml"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, a control, a policy, and two releases: one satisfies the policy, one does not."""
    folder = tmp_path_factory.mktemp("pipeline")
    datasets.save_hospital(folder, 400, 0, name="patients.csv")
    datasets.save_hospital(folder, 400, 1, name="others.csv")
    schema = folder / "privacy.toml"
    text = schema.read_text(encoding="utf-8")
    schema.write_text(f"{text}\n[policy]\nmin_k = 5\n", encoding="utf-8")
    (folder / "no-policy.toml").write_text(text, encoding="utf-8")
    for k, name in ((5, "good.csv"), (2, "bad.csv")):
        command = ["publish", str(folder / "patients.csv"), "--schema", str(schema), "--method", "mondrian"]
        assert run([*command, "--k", str(k), "-o", str(folder / name)]) == 0
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(prepared, tmp_path / "work"))


@pytest.fixture(params=[("good.csv", 0), ("bad.csv", 1)], ids=["good", "bad"])
def case(request: pytest.FixtureRequest, folder: Path) -> tuple[Path, int]:
    """The folder with one of the releases under the name release.csv, and the exit code that is right for it."""
    name, code = request.param
    for path in folder.glob(f"{name}*"):
        path.rename(folder / path.name.replace(name, "release.csv"))
    return folder, code


def environment(first: Path | None = None, **more: str) -> dict[str, str]:
    """The environment with our command on the PATH, behind a folder that may hold a stand-in for it."""
    folders = [*([str(first)] if first else []), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {**os.environ, "PATH": os.pathsep.join(folders), **more}


def bash(script: str, folder: Path, env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", script, "bash", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=LONG)


def stand_in(folder: Path, code: int) -> Path:
    """A command `dalenius` that only exits with a code."""
    place = folder / "stand-in"
    place.mkdir()
    (place / "dalenius").write_text(f"#!/bin/sh\necho stopped >&2\nexit {code}\n", encoding="utf-8")
    (place / "dalenius").chmod(0o755)
    return place


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_shell_step(case: tuple[Path, int]) -> None:
    folder, code = case
    done = bash('"$@"', folder, environment(), str(FOLDER / "gate.sh"), *FILES, "gate.html")
    assert done.returncode == code, done.stderr
    assert ("may go out" in done.stdout) == (code == 0)
    assert ("violates the policy" in done.stderr) == (code == 1)
    assert (folder / "gate.html").is_file()


@pytest.mark.parametrize(("code", "word"), [(2, "bad input"), (3, "converge"), (4, "memory"), (143, "143")])
def test_the_shell_step_passes_every_code_on(code: int, word: str, folder: Path) -> None:
    done = bash('"$@"', folder, environment(stand_in(folder, code)), str(FOLDER / "gate.sh"), *FILES)
    assert done.returncode == code
    assert word in done.stderr.splitlines()[-1]


def action_step() -> tuple[str, dict[str, str], dict[str, Any]]:
    action = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    (step,) = action["runs"]["steps"]
    assert step["shell"] == "bash"
    return step["run"], step["env"], action["inputs"]


def test_the_action(case: tuple[Path, int]) -> None:
    folder, code = case
    script, variables, inputs = action_step()
    values = dict(zip(["release", "truth", "holdout", "schema"], FILES, strict=True))
    env = {}
    for name, expression in variables.items():  # as GitHub fills them in
        key = expression.removeprefix("${{ inputs.").removesuffix(" }}")
        env[name] = values.get(key) or inputs[key]["default"]
    done = bash("set -eo pipefail\n" + script, folder, environment(**env))
    assert done.returncode == code, done.stderr
    assert ("::error::" in done.stdout) == (code == 1)
    assert (folder / "report.html").is_file()


def test_the_pre_commit_hook(case: tuple[Path, int]) -> None:
    folder, code = case
    (repository,) = yaml.safe_load((FOLDER / "pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    (hook,) = repository["hooks"]
    assert hook["pass_filenames"] is False
    done = bash(shlex.join(shlex.split(hook["entry"])), folder, environment())
    assert done.returncode == code, done.stderr


def test_the_dvc_stages(folder: Path) -> None:
    stages = yaml.safe_load((FOLDER / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    for stage in stages.values():
        done = bash(stage["cmd"], folder, environment())
        assert done.returncode == 0, done.stderr
        assert all((folder / name).is_file() for name in [*stage["deps"], *stage["outs"]])
    assert stages["gate"]["deps"][0] in stages["publish"]["outs"]
    schema = folder / "privacy.toml"
    schema.write_text(schema.read_text(encoding="utf-8").replace("min_k = 5", "min_k = 50"), encoding="utf-8")
    assert bash(stages["gate"]["cmd"], folder, environment()).returncode == 1


def test_the_python_gate_is_open(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", environment()["PATH"])
    assert load("gate").gate("good.csv", *FILES[1:]) == "report.html"
    assert Path("report.html").is_file()


@pytest.mark.parametrize(("code", "retry"), [(1, False), (2, False), (3, False), (4, True), (143, True)])
def test_the_python_gate_knows_every_code(
    code: int, retry: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load("gate")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", environment(stand_in(folder, code))["PATH"])
    with pytest.raises(module.GateClosed, match="stopped") as caught:
        module.gate(*FILES)
    assert (caught.value.code, caught.value.retry) == (code, retry)


def test_a_schema_without_a_policy_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit itself exits with 0 there: no threshold, no verdict."""
    files = ["good.csv", "patients.csv", "others.csv", "no-policy.toml"]
    audit = "dalenius audit good.csv --truth patients.csv --schema no-policy.toml --strict"
    assert bash(audit, folder, environment()).returncode == 0
    assert bash('"$@"', folder, environment(), str(FOLDER / "gate.sh"), *files).returncode == 2
    script, variables, _ = action_step()
    env = dict(zip(["RELEASE", "TRUTH", "HOLDOUT", "SCHEMA"], files, strict=True)) | {"REPORT": "report.html"}
    assert set(env) == set(variables)
    assert bash("set -eo pipefail\n" + script, folder, environment(**env)).returncode == 2
    module = load("gate")
    monkeypatch.chdir(folder)
    with pytest.raises(module.GateClosed, match="no \\[policy\\]"):
        module.gate(*files)


@pytest.fixture
def airflow(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The Airflow example, with stand-ins for Airflow: tasks are plain functions, and a DAG is not run."""
    load("gate")

    def dag(**_: Any) -> Callable[..., Any]:
        return lambda function: lambda: function.__name__

    monkeypatch.setitem(sys.modules, "pendulum", SimpleNamespace(datetime=lambda *_, **__: None))
    monkeypatch.setitem(sys.modules, "airflow", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "airflow.sdk", SimpleNamespace(dag=dag, task=lambda function: function))
    failed = type("AirflowFailException", (Exception,), {})
    monkeypatch.setitem(sys.modules, "airflow.exceptions", SimpleNamespace(AirflowFailException=failed))
    return load("airflow_dag")


def test_the_airflow_task_fails(airflow: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", environment()["PATH"])
    with pytest.raises(airflow.AirflowFailException, match="violates the policy"):
        airflow.privacy_gate("bad.csv", *FILES[1:])


def test_airflow_may_retry_what_a_second_try_can_mend(
    airflow: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", environment(stand_in(folder, 4))["PATH"])
    with pytest.raises(airflow.GateClosed, match="memory"):
        airflow.privacy_gate(*FILES)


def test_every_example_is_on_the_page() -> None:
    page = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
    for path in FOLDER.iterdir():
        if path.is_file():
            assert f"(../examples/pipelines/{path.name})" in page, path.name
