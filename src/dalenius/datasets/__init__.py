"""Data to try things on: a made-up hospital, UCI Adult, and the tables that the papers print."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dalenius.datasets import _hospital
from dalenius.datasets._adult import adult
from dalenius.errors import InputError, listing, nearest
from dalenius.output import csv_text, write_texts
from dalenius.releases import Release, read
from dalenius.schema import Schema
from dalenius.table import Table

hospital_joint = _hospital.joint
hospital_conditional = _hospital.conditional

_PAPERS = Path(__file__).parent / "papers"
PAPERS: tuple[str, ...] = tuple(sorted(path.name for path in _PAPERS.iterdir() if path.is_dir()))


def hospital(n: int = 3000, seed: int = 0) -> Table:
    """n made-up patients; the distribution they are drawn from is `hospital_joint()`.

    >>> from dalenius import datasets
    >>> datasets.hospital(100, seed=1).cells().people
    100
    """
    columns = _hospital.draw(n, seed)
    with tempfile.TemporaryDirectory() as folder:
        _write_schema(Path(folder))
        schema = Schema.load(Path(folder) / "privacy.toml")
    return Table(columns, schema)


def save_hospital(folder: str | Path, n: int = 3000, seed: int = 0, *, name: str = "patients.csv") -> Path:
    """Write a table of patients, its hierarchies and `privacy.toml` into a folder; the path of the table."""
    folder = Path(folder)
    columns = _hospital.draw(n, seed)
    _write_schema(folder)
    path = folder / name
    write_texts({path: csv_text(list(columns), zip(*(values.tolist() for values in columns.values()), strict=True))})
    return path


def _write_schema(folder: Path) -> None:
    files = {folder / name: text for name, text in _hospital.hierarchies().items()}
    write_texts({**files, folder / "privacy.toml": _hospital.SCHEMA_TOML})


def paper(name: str) -> Release:
    """A table that one of the five papers prints, as a release; `PAPERS` lists them by paper and table number."""
    if name not in PAPERS:
        raise InputError(
            f"There is no printed table {name!r}.{nearest(name, PAPERS)} Known: {listing(PAPERS, limit=99)}."
        )
    folder = _PAPERS / name
    whole = folder / f"{name}.csv"
    return read(whole if whole.is_file() else folder / name, folder / "privacy.toml")


__all__ = ["PAPERS", "adult", "hospital", "hospital_conditional", "hospital_joint", "paper", "save_hospital"]
