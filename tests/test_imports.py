"""What is imported when. Who may import whom is in test_layers.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dalenius as dl

HEAVY = {
    *("ibis", "duckdb", "pyarrow", "numpy", "numba", "pandas", "polars", "altair", "arviz_stats", "opendp"),
    *("pydantic", "typer", "rich", "scipy"),
}


def loaded_after(code: str, cwd: Path | None = None) -> set[str]:
    script = f"{code}\nimport sys\nprint('\\nLOADED', *{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=cwd)
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.mark.parametrize(
    "code",
    ["import dalenius", "import sys; sys.argv = ['dalenius', '--version']; from dalenius.cli import main; main()"],
)
def test_nothing_heavy_is_imported(code: str) -> None:
    assert not loaded_after(code) & HEAVY


def test_help_needs_no_engine() -> None:
    loaded = loaded_after("from dalenius.cli.app import run; run(['check', '--help'])")
    assert "typer" in loaded  # the probe sees what is imported
    assert not loaded & {"ibis", "duckdb", "pyarrow", "numba", "pandas", "altair", "opendp"}


def test_cells_do_not_need_pandas(tmp_path: Path) -> None:
    code = (
        "import dalenius as dl\n"
        "schema = dl.Schema([dl.Column('q', 'quasi'), dl.Column('s', 'sensitive')])\n"
        "open('t.csv', 'w').write('q,s\\na,b\\n')\n"
        "dl.Table('t.csv', schema).cells()"
    )
    loaded = loaded_after(code, tmp_path)
    assert "duckdb" in loaded
    assert not loaded & {"pandas", "polars", "numba", "altair", "opendp"}


def test_every_public_name_is_there() -> None:
    for name in dl.__all__:
        assert getattr(dl, name) is not None
    assert set(dl.__all__) - {"__version__"} <= set(dir(dl))
    with pytest.raises(AttributeError, match="nonsense"):
        dl.nonsense  # noqa: B018
