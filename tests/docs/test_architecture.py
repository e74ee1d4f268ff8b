"""Every function and class that docs/architecture.md names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "src" / "dalenius"
NAMED = re.compile(r"`([\w/]+\.py):([\w.]+)`")


def defined(body: list[ast.stmt], within: str = "") -> set[str]:
    """The functions, classes and variables of a module, and those of its classes as `Class.name`."""
    found = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(within + node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {within + target.id for target in targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.ClassDef):
            found |= defined(node.body, f"{within}{node.name}.")
    return found


def missing(text: str, package: Path = PACKAGE) -> list[str]:
    """The names of a page that are not in the package."""
    wrong = []
    for file, name in NAMED.findall(text):
        path = package / file
        if not path.exists() or name not in defined(ast.parse(path.read_text(encoding="utf-8")).body):
            wrong.append(f"{file}:{name}")
    return wrong


def test_every_name_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(NAMED.findall(text)) > 20  # the pattern sees the page's names
    assert missing(text) == []


def test_a_wrong_name_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("X = 1\nclass C:\n    def f(self): ...\ndef g(): ...\n", encoding="utf-8")
    assert missing("`a.py:C.f` `a.py:C` `a.py:g` `a.py:X` a.py:none", tmp_path) == []
    assert missing("`a.py:f` `b.py:g` `a.py:C.g`", tmp_path) == ["a.py:f", "b.py:g", "a.py:C.g"]
