"""Write the tables of criteria into docs/criteria.md, between their marks. A test fails when they differ."""

from __future__ import annotations

from pathlib import Path

from marked_pages import renewed

from dalenius.criteria import CRITERIA, Criterion

PAGE = Path(__file__).resolve().parent.parent / "docs" / "criteria.md"
LEVELS, REFUSED = "write_criteria.py (levels)", "write_criteria.py (refused)"


def keys(model: type[Criterion]) -> str:
    """Return where the numbers of a criterion stand in JSON: the first in full, the others as `.key`."""
    names = list(dict.fromkeys([*(reported.key for reported in model.reported), *model.parameters()]))
    if not names:
        return f"`{model.name}`"
    return ", ".join([f"`{model.name}.{names[0]}`", *(f"`.{name}`" for name in names[1:])])


def levels() -> str:
    """Return the table of what each criterion measures."""
    lines = ["| model | key in JSON | level of a class | level of a release | safer |", "|---|---|---|---|---|"]
    for model in CRITERIA.values():
        worst = "smallest" if model.better == "larger" else "largest"
        formula = model.formula or model.description
        lines.append(f"| {model.title} | {keys(model)} | {formula} | {worst} | {model.better} |")
    return "\n".join(lines) + "\n"


def refused() -> str:
    """Return the table of thresholds that demand nothing."""
    lines = ["| criterion | refused values |", "|---|---|"]
    lines += [f"| {model.title} | {model.refuses} |" for model in CRITERIA.values() if model.refuses]
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """Return the page with both tables as they are now."""
    return renewed(renewed(text, LEVELS, levels()), REFUSED, refused())


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
