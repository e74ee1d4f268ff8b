"""A release with changed values: how many rows those are stands in every report, and they are counted in the costs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from tests.conftest import Run

pytestmark = pytest.mark.slow

SCHEMA = """sensitive = "ill"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 29 }
[columns.town]
role = "quasi"
domain = ["Oslo", "Hamar", "Molde"]
hierarchy = "suppress"
[columns.ill]
role = "sensitive"
domain = ["Flu", "Pox", "Gout"]
"""
PEOPLE = 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table, a release that tells the truth in another order, and one in which three ages of ten are drawn anew."""
    rng = random.Random(4)
    rows = [[str(rng.randint(20, 29)), rng.choice(["Oslo", "Hamar", "Molde"]), rng.choice(["Flu", "Pox", "Gout"])]
            for _ in range(PEOPLE)]  # fmt: skip
    pram = [[str(rng.randint(20, 29)) if rng.random() < 0.3 else age, town, ill] for age, town, ill in rows]
    rng.shuffle(pram)
    for name, lines in (("t.csv", rows), ("true.csv", rows[::-1]), ("pram.csv", pram)):
        (tmp_path / name).write_text("\n".join(["age,town,ill", *map(",".join, lines)]) + "\n", encoding="utf-8")
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


def fewest(folder: Path) -> int:
    """Rows of the release that fit nobody, by the best of all ways to give each person a row."""
    people, rows = ((folder / name).read_text(encoding="utf-8").split()[1:] for name in ("t.csv", "pram.csv"))
    wrong = np.array([[person != row for row in rows] for person in people], dtype=int)
    return int(wrong[linear_sum_assignment(wrong)].sum())


def document(folder: Path) -> Any:
    return json.loads((folder / "found.json").read_text(encoding="utf-8"))


def test_audit(folder: Path, run: Run) -> None:
    asked = ("--truth", "t.csv", "-o", "page.html", "--json", "found.json")
    done = run("audit", "pram.csv", *asked, cwd=folder)
    assert done.returncode == 0, done.stderr
    rows, utility = fewest(folder), document(folder)["utility"]
    assert rows > 20  # of some 55; others have somebody else's age, town and illness
    assert utility["misfit"] == rows
    assert utility["ncp"] >= rows / (2 * PEOPLE)
    assert utility["loss"] > 0.03
    said = f"At least {rows} rows were changed: they match nobody who has their sensitive values."
    assert said in " ".join(done.stdout.split())
    assert said in " ".join((folder / "page.html").read_text(encoding="utf-8").split())
    done = run("audit", "true.csv", *asked, cwd=folder)
    assert document(folder)["utility"]["misfit"] == document(folder)["utility"]["ncp"] == 0
    assert "changed" not in done.stdout
    assert "misfit" not in (folder / "page.html").read_text(encoding="utf-8")


def test_compare(folder: Path, run: Run) -> None:
    done = run("compare", "true.csv", "pram.csv", "--truth", "t.csv", "--json", "found.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    right, changed = document(folder)["releases"]
    assert (right["misfit"], right["ncp"]) == (0, 0)
    assert changed["misfit"] == fewest(folder)
    assert changed["ncp"] > 0
    assert f"pram.csv: At least {changed['misfit']} rows were changed" in done.stdout
    assert "true.csv: At least" not in done.stdout


def test_a_threshold_on_the_loss_sees_them(folder: Path, run: Run) -> None:
    with (folder / "privacy.toml").open("a", encoding="utf-8") as file:
        file.write("[policy]\nmax_loss = 0.02\n")
    assert run("audit", "pram.csv", "--truth", "t.csv", cwd=folder).returncode == 1
    assert run("audit", "true.csv", "--truth", "t.csv", cwd=folder).returncode == 0
