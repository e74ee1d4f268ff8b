"""Every exhibit's findings are asserted: the tests that are named in `findings` are there, and so they are in docs/reproduce.md."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from dalenius.papers import registry
from tests.papers.findings import FINDINGS, NOTHING_TO_ASSERT

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "reproduce.md"
HEADING = "## What is asserted"


@cache
def asserted_in(module: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((HERE / module).read_text(encoding="utf-8"))
    return {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def with_numbers() -> set[tuple[str, str]]:
    return {(paper, exhibit) for paper, found in FINDINGS.items() for exhibit, tests in found.items() if tests}


@pytest.mark.parametrize(
    "name", sorted({name for found in FINDINGS.values() for tests in found.values() for name in tests})
)
def test_what_is_named_is_a_test_that_can_fail(name: str) -> None:
    module, _, test = name.partition("::")
    assert test in asserted_in(module)
    assert any(isinstance(node, ast.Assert) for node in ast.walk(asserted_in(module)[test]))
    assert test != "test_the_exhibits"


def test_every_exhibit_has_a_test_or_a_reason() -> None:
    assert list(FINDINGS) == list(registry.TITLES)
    every = {(paper, exhibit) for paper, found in FINDINGS.items() for exhibit in found}
    assert every - with_numbers() == set(NOTHING_TO_ASSERT)
    assert all(reason.endswith(".") for reason in NOTHING_TO_ASSERT.values())
    for found in FINDINGS.values():
        assert all(len(set(tests)) == len(tests) for tests in found.values())


@pytest.mark.parametrize("paper", FINDINGS)
def test_a_papers_own_tests_compare_its_exhibits(paper: str) -> None:
    """That these are all exhibits is asserted where the paper is built, so that none is built twice."""
    about = asserted_in(f"test_{paper}.py")["test_the_exhibits"]
    assert f"paper.exhibits] == list(FINDINGS['{paper}'])" in ast.unparse(about)


def rows() -> list[tuple[str, set[str], list[str]]]:
    """The table of the page: a paper, exhibits of it, and the cells beside these."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    found = []
    for line in lines:
        first, *rest = (cell.strip() for cell in line.strip("|").split(" | "))
        paper, *exhibits = first.split(", ")
        found.append((paper.strip("`"), set(exhibits), rest))
    return found


def test_the_page_says_what_each_of_them_asserts() -> None:
    """A row has a finding, a tolerance with its reason, and tests: together those that `FINDINGS` names of the same exhibit."""
    told: dict[tuple[str, str], set[str]] = {}
    for paper, exhibits, (what, tolerance, tests) in rows():
        assert what
        assert tolerance
        for exhibit in exhibits:
            told.setdefault((paper, exhibit), set()).update(re.findall(r"`(\w+\.py::\w+)`", tests))
    assert set(told) == with_numbers()
    for (paper, exhibit), tests_named in told.items():
        assert tests_named == set(FINDINGS[paper][exhibit]), (paper, exhibit)


def test_the_page_says_where_nothing_can_be_asserted() -> None:
    text = PAGE.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")[2].partition("\n## ")[0]
    for paper, exhibit in NOTHING_TO_ASSERT:
        assert f"{exhibit} of `{paper}`" in text
