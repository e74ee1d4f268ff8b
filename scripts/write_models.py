"""Write the table of channel models into docs/error.md, between its two marks. A test fails when they differ."""

from __future__ import annotations

from pathlib import Path

from marked_pages import rewrite

from dalenius.releases.models import table

if __name__ == "__main__":
    rewrite(Path(__file__).resolve().parent.parent / "docs" / "error.md", "write_models.py", table())
