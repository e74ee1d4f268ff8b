"""docs/api.md is what scripts/write_api.py would write, and everything in it says what it is for."""

from __future__ import annotations

import runpy

import dalenius as dl
from tests.conftest import ROOT

WRITER = runpy.run_path(str(ROOT / "scripts" / "write_api.py"))
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_page_is_current() -> None:
    assert WRITER["markdown"]() == PAGE, "run scripts/write_api.py"


def test_every_public_name_is_there() -> None:
    for name in dl.__all__:
        if not name.startswith("__"):
            assert f"### `{name}`" in PAGE


def test_everything_says_what_it_is_for() -> None:
    for part in PAGE.split("\n### ")[1:]:
        words = part.split("```")[-1].strip() if "```" in part else part.partition("\n")[2].strip()
        assert words, part.partition("\n")[0]


def test_nothing_of_this_machine() -> None:
    assert "0x" not in PAGE
    assert str(ROOT) not in PAGE
