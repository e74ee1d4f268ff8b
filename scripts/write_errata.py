"""Write docs/errata.md. A test fails when the page and the errata differ."""

from __future__ import annotations

from pathlib import Path

from dalenius.papers.errata import ERRATA, markdown
from dalenius.papers.registry import TITLES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errata.md"


def page() -> str:
    """Return the whole page."""
    count = sum(map(len, ERRATA.values()))
    return (
        "# Errata of the five papers\n\n"
        "<!-- written by scripts/write_errata.py -->\n\n"
        f"This page lists {count} places where one of the papers is wrong, or where its statement can be sharpened. Each\n"
        "entry gives what is printed, the correction, the reason, and the test that shows it. The page that\n"
        "`dalenius reproduce` writes has the same entries next to the tables and figures.\n\n"
        f"{markdown(TITLES)}"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
