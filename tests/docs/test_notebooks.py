"""The notebooks in examples/: each is what its source gives, every cell runs, and what it shows is HTML without script."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from tests.conftest import LONG, ROOT

WRITER = runpy.run_path(str(ROOT / "scripts" / "write_notebooks.py"))
pytestmark = pytest.mark.slow
SOURCES = WRITER["sources"]()


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_notebook_is_what_its_source_gives(source: Path) -> None:
    expected = WRITER["notebook"](source.read_text(encoding="utf-8"))
    assert WRITER["target"](source).read_text(encoding="utf-8") == expected, "run scripts/write_notebooks.py"


def test_there_are_three_notebooks() -> None:
    assert sorted(path.stem for path in (ROOT / "examples").glob("*.ipynb")) == ["pipeline", "researcher", "steward"]


def shown(cell: Any) -> list[str]:
    """The HTML that a cell shows."""
    return [output["data"]["text/html"] for output in cell.outputs if "text/html" in output.get("data", {})]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_cell_runs(source: Path, tmp_path: Path) -> None:
    book = nbformat.read(WRITER["target"](source), as_version=4)
    nbclient.NotebookClient(book, timeout=LONG, resources={"metadata": {"path": str(tmp_path)}}).execute()
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    pieces = [piece for cell in cells for piece in shown(cell)]
    assert any("<svg" in piece for piece in pieces)  # a result shows its charts
    for piece in pieces:
        assert not re.search(r"<script|\son\w+=|javascript:", piece, re.IGNORECASE)
        assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", piece, re.IGNORECASE)
