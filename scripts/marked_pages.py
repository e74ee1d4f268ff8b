"""Pages of which a part is written by a script, between two marks."""

from __future__ import annotations

import sys
from pathlib import Path

END = "<!-- until here -->\n"


def renewed(page: str, script: str, part: str) -> str:
    """The page with this part between the marks of the script."""
    begin = f"<!-- from here on written by scripts/{script} -->\n"
    before, found, rest = page.partition(begin)
    _, end, after = rest.partition(END)
    if not found or not end:
        sys.exit(f"The page has no marks of scripts/{script}.")
    return f"{before}{begin}\n{part}\n{END}{after}"


def rewrite(path: Path, script: str, part: str) -> None:
    path.write_text(renewed(path.read_text(encoding="utf-8"), script, part), encoding="utf-8")
