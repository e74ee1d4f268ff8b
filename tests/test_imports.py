"""What is imported when, and who may import whom."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import dalenius as dl

ROOT = Path(__file__).resolve().parent.parent
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


def layers() -> object:
    spec = importlib.util.spec_from_file_location("check_layers", ROOT / "scripts" / "check_layers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_layers_hold() -> None:
    assert layers().check() == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("schema.py", "from dalenius.release import read"),
        ("table.py", "import duckdb"),
        ("release/generalized.py", "from dalenius.release import channel"),
        ("release/base.py", "import dalenius.table"),
        ("hierarchy.py", "from . import schema"),
        ("unheard.py", "from dalenius import table"),
    ],
)
def test_the_layer_check_sees_a_wrong_import(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / "release").mkdir()
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert len(layers().check(tmp_path)) == 1  # type: ignore[attr-defined]
