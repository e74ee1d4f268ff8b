"""The check of imports: the package is clean, and every kind of wrong import is seen."""

from __future__ import annotations

import tomllib
from pathlib import Path

import check_layers
import pytest

USUAL = (
    "adversaries/base",
    "adversaries/evidence",
    "adversaries/models/fit",
    "adversaries/other",
    "adversaries/registry",
    "cli/common",
    "datasets/_rows",
    "releases/generalized",
)


def planted(root: Path, files: dict[str, str]) -> Path:
    """A small package: the usual modules, empty, and the given files."""
    for name, text in {**dict.fromkeys(USUAL, ""), **files}.items():
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.slow
def test_the_package_is_clean() -> None:
    assert check_layers.check(check_layers.ROOT, check_layers.LISTED) == []


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("schema", "from dalenius.releases import read", "stands above schema"),
        ("unheard", "from dalenius import table", "stands above unheard"),
        ("releases/base", "import dalenius.table", "stands above releases"),
        ("releases/base", "import dalenius", "stands above releases"),
        ("adversaries/mine", "def late():\n    from dalenius.table import Table", "stands above adversaries"),
        ("hierarchy", "from . import schema", "relative import"),
        ("reports/mine", "from dalenius.cli import app", "nothing imports the command line"),
        ("public", "def late():\n    import dalenius.cli", "nothing imports the command line"),
        ("adversaries/mine", "from dalenius.adversaries.other import Other", "a sibling"),
        ("adversaries/mine", "from dalenius.adversaries import other", "a sibling"),
        ("adversaries/mine", "import dalenius.adversaries.other", "a sibling"),
        ("adversaries/models/mine", "from dalenius.adversaries.other import Other", "a sibling"),
        (
            "adversaries/models/mine",
            "from dalenius.adversaries.registry import usual_adversary",
            "whose members import",
        ),
        ("adversaries/mine", "from dalenius.adversaries import make_adversary", "a sibling"),
        ("cli/mine", "from dalenius.cli.other import x", "a sibling"),
        ("adversaries/mine", "from dalenius.releases.generalized import _cut", "_cut is private"),
        ("adversaries/mine", "from dalenius.releases import _cuts", "_cuts is private"),
        ("adversaries/mine", "from dalenius.releases import generalized\ngeneralized._cut()", "uses generalized._cut"),
        ("adversaries/mine", "def sizes(release):\n    return release._sizes", "uses release._sizes"),
        ("adversaries/mine", "import importlib\nimportlib.import_module('x')", "calls import_module"),
        ("adversaries/mine", "from importlib import import_module\nimport_module('x')", "calls import_module"),
        ("adversaries/mine", "__import__('x')", "calls __import__"),
        ("adversaries/mine", "def late():\n    from importlib.metadata import entry_points", "importlib.metadata"),
        ("adversaries/mine", "import importlib.metadata", "importlib.metadata"),
        ("adversaries/mine", "from importlib import metadata", "importlib.metadata"),
        ("cli/mine", "import numpy as np", "at module level"),
        ("cli/mine", "if True:\n    from scipy.special import gammaln", "at module level"),
        ("cli/mine", "class Mine:\n    import pandas", "at module level"),
        ("table", "import duckdb", "belongs in engines"),
        ("cli/mine", "def late():\n    import ibis", "belongs in engines"),
        ("auditing/mine", "import typer", "belongs in cli"),
    ],
)
def test_a_wrong_import_is_seen(tmp_path: Path, file: str, text: str, said: str) -> None:
    (problem,) = check_layers.check(planted(tmp_path, {file: text}))
    assert said in problem
    assert problem.startswith(f"{file}.py:")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("adversaries/mine", "from dalenius.adversaries.base import Adversary"),
        ("adversaries/mine", "from dalenius.releases.generalized import Generalized"),
        (
            "adversaries/mine",
            "from dalenius.adversaries.models import fit\nfrom dalenius.adversaries.evidence import x",
        ),
        ("adversaries/models/mine", "from dalenius.adversaries.models import fit"),
        ("adversaries/models/mine", "def late():\n    from dalenius.adversaries.registry import usual_adversary"),
        ("adversaries/__init__", "from dalenius.adversaries.models.fit import fits"),
        (
            "adversaries/registry",
            "import importlib\nfrom dalenius.adversaries import other\nimportlib.import_module('x')",
        ),
        ("datasets/__init__", "from dalenius.datasets import _rows\nfrom dalenius.datasets._rows import rows"),
        (
            "adversary__mine",
            "class A:\n    def __init__(self):\n        self._x = 1\n    def __eq__(self, o): return o._x",
        ),
        ("adversaries/mine", "class A(B):\n    def f(self): return self._inherited + super()._inherited"),
        ("adversaries/mine", "import os\nos._exit(1)"),
        ("cli/mine", "def late():\n    import numpy"),
        ("cli/mine", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy"),
        ("cli/mine", "import typer\nfrom dalenius.cli.common import x\nfrom dalenius.reports import html"),
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, file: str, text: str) -> None:
    assert check_layers.check(planted(tmp_path, {file: text})) == []


def test_models_do_not_import_each_other_in_a_circle(tmp_path: Path) -> None:
    files = {
        "adversaries/models/first": "from dalenius.adversaries.models.second import x",
        "adversaries/models/second": "from dalenius.adversaries.models import third",
        "adversaries/models/third": "",
    }
    root = planted(tmp_path, files)
    assert check_layers.check(root) == []
    planted(root, {"adversaries/models/third": "import dalenius.adversaries.models.first"})
    problems = check_layers.check(root)
    assert [problem.partition(".py:")[0].rpartition("/")[2] for problem in problems] == ["first", "second", "third"]
    assert all("a circle" in problem for problem in problems)


def test_a_private_module_is_private_to_its_package(tmp_path: Path) -> None:
    wrong = "from dalenius.datasets import _rows"
    assert len(check_layers.check(planted(tmp_path, {"papers/mine": wrong}))) == 1


def test_the_list_excuses_what_it_names_and_only_shrinks(tmp_path: Path) -> None:
    root = planted(
        tmp_path / "package", {"adversaries/mine": "from dalenius.adversaries import other, base, make_adversary"}
    )
    listed = tmp_path / "allowed.toml"
    assert len(check_layers.check(root, listed)) == 2
    check_layers.update(root, listed, accept=False)
    assert len(check_layers.check(root, listed)) == 2, "nothing is added unless it is accepted"
    check_layers.update(root, listed, accept=True)
    assert check_layers.check(root, listed) == []
    planted(root, {"adversaries/mine": "from dalenius.adversaries import other"})
    (problem,) = check_layers.check(root, listed)
    assert "__init__ is listed under siblings but no longer needed" in problem
    check_layers.update(root, listed, accept=False)
    assert check_layers.check(root, listed) == []
    assert tomllib.loads(listed.read_text(encoding="utf-8"))["siblings"] == {"adversaries/mine.py": ["other"]}


def test_a_wrong_layer_cannot_be_listed(tmp_path: Path) -> None:
    root = planted(tmp_path / "package", {"schema": "import duckdb\nfrom dalenius import table"})
    check_layers.update(root, tmp_path / "allowed.toml", accept=True)
    assert len(check_layers.check(root, tmp_path / "allowed.toml")) == 2


def test_every_look_up_by_name_has_a_reason() -> None:
    listed = tomllib.loads(check_layers.LISTED.read_text(encoding="utf-8"))
    assert set(listed["dynamic"]) <= set(check_layers.REASONS)
