"""What `make test-fast` runs: some tests of every folder, and everything that is not marked slow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

TESTS = ROOT / "tests"
FOLDERS = sorted({path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")})


def marked(nodes: list[ast.expr]) -> bool:
    """Tell whether one of the decorators or marks is the marker `slow`."""
    return any(ast.unparse(part) == "pytest.mark.slow" for node in nodes for part in ast.walk(node))


def fast(source: str) -> Iterator[str]:
    """The tests of a module that have no marker `slow`, neither of their own nor of the module."""
    module = ast.parse(source).body
    marks = [
        node.value for node in module if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    if not marked(marks):
        functions = (node for node in module if isinstance(node, ast.FunctionDef))
        yield from (one.name for one in functions if one.name.startswith("test_") and not marked(one.decorator_list))


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_fast_loop_has_tests_of_every_folder(folder: str) -> None:
    files = (TESTS / folder).glob("test_*.py")
    assert any(True for path in files for _ in fast(path.read_text(encoding="utf-8")))


def test_every_package_has_tests() -> None:
    packages = {path.parent.name for path in (ROOT / "src" / "dalenius").glob("*/__init__.py")}
    files = {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")}
    assert packages <= {Path(folder).name for folder in FOLDERS} | files


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def test_a(): ...\ndef test_b(): ...\ndef other(): ...", ["test_a", "test_b"]),
        ("@pytest.mark.slow\ndef test_a(): ...\ndef test_b(): ...", ["test_b"]),
        ("pytestmark = pytest.mark.slow\ndef test_a(): ...", []),
        ("pytestmark = [pytest.mark.slow]\ndef test_a(): ...", []),
        ("@pytest.mark.parametrize('x', [1])\n@pytest.mark.slow\ndef test_a(x): ...", []),
        ("@pytest.mark.parametrize('x', ['slow'])\ndef test_a(x): ...", ["test_a"]),
    ],
)
def test_marked_tests_are_seen(source: str, expected: list[str]) -> None:
    assert list(fast(source)) == expected
