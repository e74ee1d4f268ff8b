"""Write the table of methods into docs/publishers.md, between its marks. A test fails when they differ."""

from __future__ import annotations

from pathlib import Path

from marked_pages import rewrite

from dalenius.criteria import CRITERIA, Criterion
from dalenius.publishers.base import Publisher
from dalenius.publishers.registry import PUBLISHERS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "publishers.md"
SCRIPT = "write_publishers.py"


def takes(publisher: type[Publisher]) -> str:
    """Return the criteria that a method keeps, and its own options."""
    kept = [model.option for model in CRITERIA.values() if issubclass(model, publisher.keeps)]
    criteria = [f"`{option.flag}`" for option in kept if option is not None]
    if Criterion in publisher.keeps:
        criteria = ["any criteria"]
    return ", ".join([*criteria, *(f"`{option.flag}`" for option in publisher.options)])


def markdown() -> str:
    """Return the table: a row for each method."""
    lines = ["| method | what it publishes | options | files |", "|---|---|---|---|"]
    for name, publisher in PUBLISHERS.items():
        files = ", ".join(path.name for path in publisher.files(Path("OUT")))
        lines.append(
            f"| `{name}` | {publisher.publishes or publisher.description.removesuffix('.')} | {takes(publisher)} | {files} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    rewrite(PAGE, SCRIPT, markdown())
