"""`import dalenius as dl`: each function is what the command of that name calls, and stays callable whatever is imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dalenius as dl
from dalenius.cli import app

FUNCTIONS = ("attack", "audit", "channel", "check", "compare", "compose", "frontier", "lattice", "publish", "split")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    dl.datasets.save_hospital(tmp_path, 300, 1)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(*arguments: str) -> dict[str, Any]:
    """The JSON of a command, without what differs between equal runs."""
    assert app.run([*arguments, "-q", "--json", "said.json"]) in (0, 1)
    document: dict[str, Any] = json.loads(Path("said.json").read_text(encoding="utf-8"))
    for key in ("run", "dalenius", "schema_version"):
        del document[key]
    return document


def plain(document: dict[str, Any]) -> dict[str, Any]:
    from dalenius.reports.document import plain

    result: dict[str, Any] = json.loads(json.dumps(plain(document)))
    return result


@pytest.mark.slow
def test_functions_stay_callable_after_every_module_is_imported() -> None:
    code = (
        "import pkgutil, importlib, dalenius as dl\n"
        "for part in pkgutil.walk_packages(dl.__path__, 'dalenius.'):\n"
        "    if not part.name.endswith('__main__'): importlib.import_module(part.name)\n"
        f"assert all(callable(getattr(dl, name)) for name in {FUNCTIONS}), 'a module hides a function'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("folder")
def test_publish_check_and_audit_are_the_commands() -> None:
    dl.publish("patients.csv", k=5, suppression=0.02, output="r.csv")
    assert app.run(["publish", "patients.csv", "--k", "5", "--suppression", "0.02", "-o", "s.csv", "-q"]) == 0
    assert Path("r.csv").read_bytes() == Path("s.csv").read_bytes()

    assert plain(dl.check("r.csv", k=5, l=2).to_document()) == said("check", "r.csv", "--k", "5", "--l", "2")
    with_objects = dl.check("r.csv", dl.Schema.load("privacy.toml"), engine="duckdb://", k=5, l=2)
    assert with_objects.to_document() == dl.check("r.csv", k=5, l=2).to_document()

    found = dl.audit("r.csv", truth="patients.csv").to_document()
    assert plain(found) == said("audit", "r.csv", "--truth", "patients.csv")
    found = dl.attack("r.csv", truth=Path("patients.csv"), adversary="random-worlds").to_document()
    assert plain(found) == said("attack", "r.csv", "--truth", "patients.csv", "--adversary", "random-worlds")


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_others_are_the_commands_too() -> None:
    dl.split("patients.csv", "half.csv", "rest.csv", share=0.5, seed=1)
    for table, name in (("patients.csv", "first.csv"), ("half.csv", "second.csv")):
        dl.publish(table, method="mondrian", k=5, output=name)
    names = ["first.csv", "second.csv"]
    found = dl.compose(names, "half.csv").to_document()
    assert plain(found) == said("compose", *names, "--targets", "half.csv")
    found = dl.compare(["first.csv"], "patients.csv").to_document()
    assert plain(found) == said("compare", "first.csv", "--truth", "patients.csv")
    found = dl.lattice("patients.csv", k=5).to_document()
    assert plain(found) == said("lattice", "patients.csv", "--k", "5")
    found = dl.channel(model="crowds:n=5,p=0.3").to_document()
    assert plain(found) == said("channel", "--model", "crowds:n=5,p=0.3")
    explored = dl.frontier("patients.csv", method="mondrian", k=[5], risk="random-worlds", jobs=1)
    grid = ("--method", "mondrian", "--k", "5", "--risk", "random-worlds", "--jobs", "1")
    assert plain(explored.to_document()) == said("frontier", "patients.csv", *grid)


@pytest.mark.usefixtures("folder")
def test_what_is_misspelt_is_refused() -> None:
    with pytest.raises(TypeError, match=r"publish\(\) has no option 'kk'\. Did you mean 'k'"):
        dl.publish("patients.csv", kk=5)
    with pytest.raises(dl.InputError, match="no_such"):
        dl.check("patients.csv", "no_such.toml")
