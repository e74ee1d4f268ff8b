"""Write the examples into docs/extending.md, each between the marks of its section. A test fails when they differ."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "extending.md"
FENCES = {".py": "python", ".toml": "toml"}
END = "<!-- end -->\n"
BEGIN = "<!-- examples/"


def renewed(page: str) -> str:
    """The page with each example as it is now, after the mark `<!-- examples/NAME -->`."""
    text, *parts = page.split(BEGIN)
    for part in parts:
        name, _, rest = part.partition(" -->\n")
        old, end, after = rest.partition(END)
        if not end or BEGIN in old:
            sys.exit(f"The mark of {name} has no end.")
        code = (ROOT / "examples" / name).read_text(encoding="utf-8")
        text += f"{BEGIN}{name} -->\n\n```{FENCES[Path(name).suffix]}\n{code}```\n\n{END}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
