"""Every adversary has its page, which says what it knows and does as the report says it; the table of them is current."""

from __future__ import annotations

import runpy

import pytest
from marked_pages import renewed

from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "adversaries"
WRITER = runpy.run_path(str(ROOT / "scripts" / "write_adversaries.py"))
ROWS = WRITER["rows"]()


def test_the_table_is_current() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert renewed(page, "write_adversaries.py", WRITER["markdown"]()) == page


def test_no_page_is_about_nobody() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {page for page, *_ in ROWS} | {"README"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_adversary_has_its_page(row: tuple[str, str, str, str, str]) -> None:
    page, _, _, knows, does = row
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    words = " ".join(text.split())
    assert f"**Knows**: {knows}" in words
    assert f"**Does**: {does}" in words
    for part in ("**Matters**", "## The formula", "## The command", "```console", "## Limits", "## The paper"):
        assert part in text
    assert len(text.splitlines()) <= 80
