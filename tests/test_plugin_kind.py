"""A kind of release that an installed package adds: every command reads it, by its file name, its sidecar or `--kind`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from examples.my_kind import Pivot

import dalenius as dl
from dalenius.errors import InputError
from dalenius.releases import KINDS
from tests.test_plugins import Run, dalenius, install  # noqa: F401 - `dalenius` is a fixture

pytestmark = pytest.mark.slow


@pytest.fixture
def released(dalenius: Run, tmp_path: Path) -> Path:  # noqa: F811
    """`r.csv`, a generalized release, and `r.pivot.csv`, the same as a pivot, in a folder where the plug-in is installed."""
    install(tmp_path / "site", "dalenius.kinds", "pivot", "examples.my_kind:Pivot")
    done = dalenius("publish", "patients.csv", "--k", "5", "-o", "r.csv")
    assert done.returncode == 0, done.stderr
    table = dl.read_release(tmp_path / "r.csv", tmp_path / "privacy.toml").rows()
    assert table is not None
    Pivot.from_rows(table).write(tmp_path / "r.pivot.csv")
    return tmp_path


def document(path: Path) -> dict[str, object]:
    """The JSON that a command wrote, without when and by whom."""
    found: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    del found["run"]
    return found


def test_check_finds_the_same_in_it(dalenius: Run, released: Path) -> None:  # noqa: F811
    shutil.copy(released / "r.pivot.csv", released / "plain.csv")
    ways = (["r.pivot.csv"], ["r"], ["plain.csv", "--kind", "pivot"])
    same = dalenius("check", "r.csv", "--json", "same.json")
    assert same.returncode == 0, same.stderr
    for words in ways:
        done = dalenius("check", *words, "--json", "pivot.json")
        assert done.returncode == 0, done.stderr
        assert "classes, pivot" in done.stdout
        assert document(released / "pivot.json") == {**document(released / "same.json"), "kind": "pivot"}


def test_compare_puts_it_beside_others(dalenius: Run, released: Path) -> None:  # noqa: F811
    done = dalenius("compare", "r.csv", "r.pivot.csv", "--truth", "patients.csv", "--json", "compare.json")
    assert done.returncode == 0, done.stderr
    first, second = json.loads((released / "compare.json").read_text(encoding="utf-8"))["releases"]
    assert (first.pop("kind"), second.pop("kind")) == ("generalized", "pivot")
    assert (first.pop("release"), second.pop("release")) == ("r.csv", "r.pivot.csv")
    assert first == second


def test_attack_gets_the_same_beliefs(dalenius: Run, released: Path) -> None:  # noqa: F811
    for adversary in ("random-worlds", "attacker"):
        for name in ("r.csv", "r.pivot.csv"):
            words = ["--targets", "patients.csv", "--adversary", adversary, "--seed", "1", "-o", f"{name}.beliefs"]
            done = dalenius("attack", name, *words)
            assert done.returncode == 0, done.stderr
        assert (released / "r.csv.beliefs").read_bytes() == (released / "r.pivot.csv.beliefs").read_bytes()


def test_an_audit_of_it_is_complete(dalenius: Run, released: Path) -> None:  # noqa: F811
    numbers = {}
    for name, kind in (("r.csv", "generalized"), ("r.pivot.csv", "pivot")):
        words = ["--truth", "patients.csv", "-o", "report.html", "--json", "audit.json", "--seed", "1"]
        done = dalenius("audit", name, *words)
        assert done.returncode == 0, done.stderr
        assert f"({kind})" in done.stdout
        assert f"({kind})" in (released / "report.html").read_text(encoding="utf-8")
        found = document(released / "audit.json")
        numbers[kind] = [found[key] for key in ("levels", "risks", "utility")]
    assert numbers["pivot"] == numbers["generalized"]


def test_a_kind_that_nobody_installed_is_named(dalenius: Run, tmp_path: Path) -> None:  # noqa: F811
    refused = dalenius("check", "patients.csv", "--kind", "pivots")
    assert refused.returncode == 2
    assert "There is no kind of release 'pivots'." in refused.stderr
    install(tmp_path / "site", "dalenius.kinds", "pivot", "examples.my_kind:Pivot")
    refused = dalenius("check", "patients.csv", "--kind", "pivots")
    assert refused.returncode == 2
    assert "Did you mean 'pivot'?" in refused.stderr


def test_its_sidecar_and_its_name_agree_on_the_kind(tmp_path: Path) -> None:
    """A file of that name is a pivot, unless its sidecar says that it is something else."""
    KINDS.add(Pivot)
    try:
        schema = dl.Schema([dl.Column("q", "quasi"), dl.Column("s", "sensitive")])
        rows = {"q": ["a", "a", "b"], "s": ["x", "y", "x"]}
        table = dl.read_release(rows, schema).rows()
        assert table is not None
        Pivot.from_rows(table).write(tmp_path / "r.pivot.csv")
        assert (tmp_path / "r.pivot.csv").read_text(encoding="utf-8").split() == ["q,x,y", "a,1,1", "b,1,0"]
        assert dl.read_release(tmp_path / "r", schema) == Pivot.from_rows(table)
        table.write(tmp_path / "other.pivot.csv")
        assert dl.read_release(tmp_path / "other.pivot.csv", schema) == table
        assert dl.read_release(tmp_path / "other", schema) == table
        with pytest.raises(InputError, match="A data frame can be a release of kind generalized or centroids"):
            dl.read_release(rows, schema, kind="pivot")
    finally:
        KINDS.remove("pivot")
