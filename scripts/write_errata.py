"""Write docs/errata.md. A test fails when the page and the errata differ."""

from __future__ import annotations

from pathlib import Path

from dalenius.papers.errata import ERRATA, markdown
from dalenius.papers.registry import TITLES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errata.md"


def page() -> str:
    """The whole page."""
    count = sum(map(len, ERRATA.values()))
    return (
        "# Errata of the five papers\n\n"
        "<!-- written by scripts/write_errata.py -->\n\n"
        f"{count} places where the print is wrong, or says less than it could: what it says, what is right, why, and the test\n"
        "that shows it. The page of `dalenius reproduce` has the same beside the tables and figures.\n\n"
        f"{markdown(TITLES)}"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
