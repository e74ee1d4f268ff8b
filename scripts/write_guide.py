"""Write the guide's table into docs/guide.md, between its two marks. A test fails when the page and the table differ."""

from __future__ import annotations

from pathlib import Path

from marked_pages import rewrite

from dalenius.reports.guide import markdown

if __name__ == "__main__":
    rewrite(Path(__file__).resolve().parent.parent / "docs" / "guide.md", "write_guide.py", markdown())
