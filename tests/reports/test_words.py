"""All words of the reports are in the catalogue: report modules hold no prose, and every entry exists and is used."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dalenius import reports
from dalenius.reports import words

REPORTS = Path(reports.__file__).parent
CATALOGUE = REPORTS / "words" / words.LANGUAGE
# These hold what a Python user sees and a report does not: short reprs, errors of `save` and `to_pandas`, styles of notebook cells.
FOR_PYTHON = {"short.py", "results.py", "tables.py", "notebook.py"}
MODULES = sorted(path for path in REPORTS.glob("*.py") if path.name not in FOR_PYTHON)
# Constants that hold style sheets, and strings that are expressions of the chart language.
STYLE_SHEETS = {"_STYLE", "STYLE"}
CHART_EXPRESSIONS = ("datum.value < 0 ? '' : datum.label", "datum.expected > 0", "datum.measured > 0")
VALUES = ("not tested", "at least", "at most", "answers with labels", *(  # values of the JSON reports
    "leaks about persons", "only about the population", "not enough data to say"
))  # fmt: skip
PROSE = re.compile(r"[A-Za-z]{2,}[,;:.)]? +\(?[A-Za-z]{2,}")
TAG = re.compile(r"<[^<>]*(?:>|$)|^[^<>]*>")  # a tag may be cut where an f-string is filled in


def prose(source: str) -> list[str]:
    """String literals with two or more words, apart from docstrings, style sheets, tags, and values of reports."""
    tree = ast.parse(source)
    ignored: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            ignored.add(id(node.body[0].value))  # type: ignore[attr-defined]
        if isinstance(node, ast.Assign) and {ast.unparse(target) for target in node.targets} & STYLE_SHEETS:
            ignored.add(id(node.value))
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in ignored
    ]
    return [text for text in texts if text not in (*CHART_EXPRESSIONS, *VALUES) and PROSE.search(TAG.sub(" ", text))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_report_modules_hold_no_prose(path: Path) -> None:
    assert prose(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    ['x = "two words"', 'f"{n} of people"', 'def f():\n    return "<p>how many people</p>"', '["a", "see below"]'],
)
def test_prose_is_caught(source: str) -> None:
    assert prose(source)


def uses(path: Path) -> Iterator[tuple[str, str]]:
    """The entries that a module uses: (module of the catalogue, name)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "dalenius.reports.words":
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            yield names[node.value.id], node.attr


def entries(path: Path) -> Iterator[str]:
    """The names that a module of the catalogue defines and does not use itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        names += [statement.name] if isinstance(statement, ast.FunctionDef) else []
        yield from (name for name in names if name not in inside)


def test_every_entry_exists_and_is_used() -> None:
    used = {entry for path in MODULES for entry in uses(path)}
    assert len(used) > 300
    assert [(module, name) for module, name in sorted(used) if not hasattr(words.load(module), name)] == []
    defined = {(path.stem, name) for path in CATALOGUE.glob("[a-z]*.py") for name in entries(path)}
    assert sorted(defined - used) == []


def test_words_are_those_of_the_language() -> None:
    assert words.load("audit") is importlib.import_module(f"dalenius.reports.words.{words.LANGUAGE}.audit")
    with pytest.raises(ModuleNotFoundError):
        words.load("audit", "xx")
