"""Write the guide's table into docs/guide.md, between its two marks. A test fails when the page and the table differ."""

from __future__ import annotations

import sys
from pathlib import Path

from dalenius.measure.guide import markdown

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide.md"
BEGIN = "<!-- from here on written by scripts/write_guide.py -->\n"
END = "<!-- until here -->\n"


def renewed(page: str) -> str:
    """The page with the table as it is now."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{PAGE}: the marks are not there.")
    return f"{before}{BEGIN}\n{markdown()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
