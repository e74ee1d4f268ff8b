"""The table of adversaries is current, and every page that an adversary names says what the adversary knows and does."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from marked_pages import renewed

from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "adversaries"
WRITER = runpy.run_path(str(ROOT / "scripts" / "write_adversaries.py"))
ROWS = WRITER["rows"]()


def test_the_table_is_current() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    advice = "docs/adversaries/README.md is out of date: run scripts/write_adversaries.py"
    assert renewed(page, "write_adversaries.py", WRITER["markdown"]()) == page, advice


def test_every_page_belongs_to_an_adversary() -> None:
    assert {path.name for path in FOLDER.glob("*.md")} == {row.page for row in ROWS if row.page} | {"README.md"}


@pytest.mark.parametrize("row", [row for row in ROWS if row.page], ids=lambda row: row.page)
def test_the_page_that_an_adversary_names_is_complete(row: Any) -> None:
    path = FOLDER / row.page
    assert path.exists(), f"{row.name} names the page {row.page}: write docs/adversaries/{row.page}"
    text = path.read_text(encoding="utf-8")
    words = " ".join(text.split())
    assert f"**Knows**: {row.knows}" in words
    assert f"**Does**: {row.does}" in words
    for part in ("**Matters**", "## The formula", "## The command", "```console", "## Limits", "## The paper"):
        assert part in text
    assert len(text.splitlines()) <= 80


def test_a_page_is_optional() -> None:
    without = WRITER["Row"]("", "quick", "generalized", "the release", "guesses")
    assert without.markdown() == "| quick | generalized | the release | guesses |"
