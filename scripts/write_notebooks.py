"""Write examples/*.ipynb from examples/notebooks/*.py, without outputs.

A source is a Python file in the percent format: `# %%` begins a cell of code, `# %% [markdown]` a cell of text. The same source
always gives the same notebook. A test fails when they differ.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
MARK = re.compile(r"^# %%(.*)$", re.MULTILINE)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def sources() -> list[Path]:
    """Return the sources of the notebooks."""
    return sorted((EXAMPLES / "notebooks").glob("*.py"))


def target(source: Path) -> Path:
    """Return the notebook that a source is written to."""
    return EXAMPLES / f"{source.stem}.ipynb"


def cell(kind: str, body: str, number: int) -> dict[str, Any]:
    """Return one cell of the notebook."""
    text = body.strip("\n")
    if kind.strip() == "[markdown]":
        text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in text.splitlines())
        return {"cell_type": "markdown", "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(True)}
    code = {"cell_type": "code", "execution_count": None, "id": f"cell-{number}", "metadata": {}, "outputs": []}
    return {**code, "source": text.splitlines(True)}


def notebook(text: str) -> str:
    """Return the notebook of a source, as JSON."""
    parts = MARK.split(text)[1:]  # what stands before the first mark is no cell
    cells = [cell(kind, body, n) for n, (kind, body) in enumerate(zip(parts[::2], parts[1::2], strict=True), 1)]
    document = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path in sources():
        target(path).write_text(notebook(path.read_text(encoding="utf-8")), encoding="utf-8")
