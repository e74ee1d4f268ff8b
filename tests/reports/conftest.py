"""Audits of a small hospital as the command line writes them: HTML, JSON and terminal text of each."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import dalenius as dl
from dalenius.cli import app

POLICY = """
[policy]
min_k = 2
min_entropy_l = 1.5
max_t = 0.2
max_attacker_accuracy = 0.9
max_attacker_gain = 0.5
max_relative_threat = { quantile = 0.99, value = 4 }
min_faithfulness = 0.5
epsilon_privacy = ["I:table:1e6:2.5"]
max_perfect_breach = 0.5
max_loss = 0.9
max_suppressed = 0.5
"""


@dataclass(frozen=True)
class Report:
    """What one run of `dalenius audit` left behind."""

    code: int
    html: str
    document: dict[str, Any]
    terminal: str
    path: Path


Call = Callable[..., tuple[int, str, str]]


def call(folder: Path, *arguments: str | Path) -> tuple[int, str, str]:
    """Run the command line in this process, in a folder: its exit code, what it printed, and its messages."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = app.run([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def report(folder: Path, name: str, *arguments: str | Path) -> Report:
    page, data = folder / f"{name}.html", folder / f"{name}.json"
    code, out, err = call(folder, "audit", *arguments, "-o", page, "--json", data)
    assert err == ""
    document = json.loads(data.read_text(encoding="utf-8"))
    return Report(code, page.read_text(encoding="utf-8"), document, out, page)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, a release of it, its two halves as an anatomized release, other people, and schemas."""
    place = tmp_path_factory.mktemp("reports")
    table = dl.datasets.save_hospital(place, 300, seed=8)
    (place / "others").mkdir()
    dl.datasets.save_hospital(place / "others", 200, seed=9)
    schema = (place / "privacy.toml").read_text(encoding="utf-8")
    (place / "policy.toml").write_text(schema + POLICY, encoding="utf-8")
    two = schema.replace('sensitive = "disease"', 'sensitive = ["disease", "admission"]')
    two = two.replace('[columns.admission]\nrole = "other"', '[columns.admission]\nrole = "sensitive"')
    (place / "two.toml").write_text(two, encoding="utf-8")
    ages = schema.replace('role = "quasi"', 'role = "other"').replace('"other"\ntype', '"quasi"\ntype')
    (place / "ages.toml").write_text(ages, encoding="utf-8")
    code, _, _ = call(place, "publish", table, "-o", "release.csv", "--k", "3", "--suppression", "0.05", "-q")
    assert code == 0
    lines = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()]
    for part, columns in (("quasi", (1, 2, 3, 4)), ("sensitive", (6,))):
        text = [",".join(["group", *(lines[0][c] for c in columns)])]
        text += [",".join([str(i // 4), *(line[c] for c in columns)]) for i, line in enumerate(lines[1:])]
        (place / f"anatomy.{part}.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    silent = ["age,sex,zip,nationality,disease", *(f"*,*,*,*,{line[6]}" for line in lines[1:])]
    (place / "silent.csv").write_text("\n".join(silent) + "\n", encoding="utf-8")
    return place


HELD_OUT = ("--holdout", "others/patients.csv")
TRUTH = ("--truth", "patients.csv")
COMMANDS: dict[str, tuple[str, ...]] = {
    "full": ("release.csv", *TRUTH, *HELD_OUT, "--schema", "policy.toml"),
    "truth": ("release.csv", *TRUTH),
    "blind": ("release.csv", "--schema", "policy.toml"),
    "revealed": ("release.csv", *TRUTH, *HELD_OUT, "--reveal"),
    "two": ("release.csv", *TRUTH, *HELD_OUT, "--schema", "two.toml"),
    "anatomy": ("anatomy", *TRUTH, *HELD_OUT),
    "raw": ("patients.csv", *TRUTH, *HELD_OUT),
    "silent": ("silent.csv", *TRUTH, *HELD_OUT),
    "centroids": ("patients.csv", *TRUTH, "--schema", "ages.toml", "--kind", "centroids"),
    "method": ("patients.csv", "--method", "lattice", "--k", "5", "--suppression", "0.02", *HELD_OUT),
}


@pytest.fixture(scope="session")
def reports(folder: Path) -> dict[str, Report]:
    return {name: report(folder, name, *arguments) for name, arguments in COMMANDS.items()}


@pytest.fixture(scope="session")
def full(reports: dict[str, Report]) -> Report:
    """With truth, held-out people and a policy that uses every key."""
    return reports["full"]
