"""The tables of docs/engines.md are what the registries say. tests/engines/test_matrix.py tries what they say."""

from __future__ import annotations

import runpy

from marked_pages import renewed

from tests.conftest import ROOT

WRITER = runpy.run_path(str(ROOT / "scripts" / "write_engines.py"))


def test_the_page_is_current() -> None:
    page = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    assert renewed(page, "write_engines.py", WRITER["markdown"]()) == page, "run scripts/write_engines.py"
