"""`dalenius frontier`: what ε means for a table, in the terminal, as JSON and as a page; and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dalenius.cli import app
from dalenius.publishers.noisy_counts import Simulation

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, str, str]]
SCHEMA = """sensitive = "disease"
[columns.city]
role = "quasi"
domain = ["Oslo", "Bergen", "Hamar"]
[columns.sex]
role = "quasi"
domain = ["F", "M"]
[columns.disease]
role = "sensitive"
domain = ["Flu", "Pox", "Gout"]
"""
SOME = ("--epsilons", "2,0.05", "--draws", "3")


def table(name: str, n: int, seed: int) -> None:
    """The disease goes with the city."""
    rng = np.random.default_rng(seed)
    cities, diseases = ("Oslo", "Bergen", "Hamar"), ("Flu", "Pox", "Gout")
    lines = ["city,sex,disease"]
    for _ in range(n):
        city = int(rng.integers(3))
        disease = city if rng.random() < 0.5 else int(rng.integers(3))
        lines.append(f"{cities[city]},{'FM'[int(rng.integers(2))]},{diseases[disease]}")
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(SCHEMA, encoding="utf-8")
    table("people.csv", 1000, 1)
    table("others.csv", 600, 2)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = app.run(["frontier", *arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


def document(path: str = "out.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if key != "run"}


def test_what_is_said(run: Run) -> None:
    code, out, err = run("people.csv", *SOME, "--json", "out.json", "-o", "page.html")
    assert (code, err) == (0, "")
    found = document()
    assert found["split"] == {"kind": "drawn", "people": 700, "held_out": 300, "share": 0.3}
    assert (found["seed"], found["draws"], found["sensitive"]) == (0, 3, "disease")
    assert [point["parameters"] for point in found["points"]] == [{"epsilon": 0.05}, {"epsilon": 2.0}]
    for point in (*found["points"], found["reference"]):
        assert point["method"] == "noisy-counts"
        for key in ("success", "holdout_success", "gain", "naive"):
            assert point[key]["low"] <= point[key]["value"] <= point[key]["high"]
            assert point[key]["min"] - 1e-12 <= point[key]["value"] <= point[key]["max"] + 1e-12
        assert set(point["count_error"]) == {
            "expected", "mean_absolute", "min", "max", "average_count", "relative", "total_variation",
        }  # fmt: skip
        assert point["verdict"] == "only about the population" or point["gain"]["high"] > 0.05
    assert found["reference"]["parameters"] == {"epsilon": "inf"}
    assert "700 people counted, 300 held out (a share of 0.3, drawn with seed 0)" in " ".join(out.split())
    for point in found["points"]:
        begin = re.compile(rf" +{point['parameters']['epsilon']:g}  ")  # a row of each of two tables
        row, errors = [line for line in out.splitlines() if begin.match(line) and "%" in line]
        assert f" {point['success']['value']:.1%} " in row
        assert f" {point['holdout_success']['value']:.1%} " in row
        short = {"only about the population": "population only", "leaks about persons": "leak"}
        assert row.endswith("  " + short.get(point["verdict"], "unclear"))
        assert f" {point['high_confidence']['share']:.1%} " in errors
    row, _ = [line for line in out.splitlines() if line.lstrip().startswith("no noise  ")]
    assert f" {found['reference']['success']['value']:.1%} " in row
    assert "Without noise, disease is guessed correctly for" in " ".join(out.split())


def test_the_page_is_one_file_without_network(run: Run) -> None:
    assert run("people.csv", *SOME, "-o", "page.html", "--json", "out.json")[0] == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert not re.search(r"<script|<link|<img|src=|url\((?!#)|@import", page)
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page))
    found = document()
    for point in found["points"]:
        assert f"At ε = {point['parameters']['epsilon']:g}, " in text
        assert f"{point['success']['min']:.1%} to {point['success']['max']:.1%}" in text
    for word in ("people counted", "held-out people", "without noise", "most common value", "not for publication"):
        assert word in text
    assert "nan" not in text


def test_one_epsilon_is_answered_in_a_sentence(run: Run) -> None:
    code, out, _ = run("people.csv", "--epsilons", "0.5", "--draws", "2", "--holdout", "others.csv")
    assert code == 0
    assert "1,000 people counted, 600 held out" in out
    assert "somebody who reads the counts guesses disease correctly for" in " ".join(out.split())
    assert "A count is off by" in " ".join(out.split())


def test_json_on_standard_output_is_json_and_quiet_is_quiet(run: Run) -> None:
    code, out, _ = run("people.csv", *SOME, "--json", "-")
    assert code == 0
    assert len(json.loads(out)["points"]) == 2
    assert run("people.csv", *SOME, "-q") == (0, "", "")


def test_the_same_seed_gives_the_same(run: Run) -> None:
    for name, seed in (("a.json", "4"), ("b.json", "4"), ("c.json", "5")):
        assert run("people.csv", *SOME, "--seed", seed, "--json", name)[0] == 0
    assert document("a.json") == document("b.json")
    assert document("a.json")["points"] != document("c.json")["points"]


def test_the_options_of_noisy_counts(run: Run) -> None:
    more = ("--noise", "laplace", "--neighbours", "replace", "--joint", "city, sex", "--share", "0.5")
    code, out, _ = run("people.csv", *SOME, *more, "--json", "out.json")
    assert code == 0
    assert document()["points"][0]["count_error"]["expected"] == 2 / 0.05
    assert document()["split"]["held_out"] == 500
    assert "laplace noise, replace neighbours, city × sex jointly" in " ".join(out.split())


def test_one_of_everything(run: Run) -> None:
    Path("two.csv").write_text("city,sex,disease\nOslo,F,Flu\nOslo,M,Pox\n", encoding="utf-8")
    code, out, err = run("two.csv", "--epsilons", "1,1e9", "--draws", "1", "--share", "0.5", "-o", "page.html")
    assert (code, err) == (0, "")
    assert "1 person counted, 1 held out" in out
    assert "1 draw for each ε" in " ".join(out.split())
    page = Path("page.html").read_text(encoding="utf-8")
    assert "1 draw of noise" in page
    assert "a single draw does not show how much others would differ" in page


UNDECLARED = SCHEMA.replace('domain = ["F", "M"]\n', "")
REFUSED = {
    "not numbers": (("people.csv", "--epsilons", "0.1,much"), "--epsilons '0.1,much': write numbers > 0"),
    "zero": (("people.csv", "--epsilons", "0"), "--epsilons '0': write numbers > 0"),
    "not finite": (("people.csv", "--epsilons", "inf"), "--epsilons 'inf'"),
    "no numbers": (("people.csv", "--epsilons", ""), "--epsilons ''"),
    "tiny": (("people.csv", "--epsilons", "1e-12"), "from 1e-09 to 1e+09"),
    "no draws": (("people.csv", "--draws", "0"), "'--draws'"),
    "share 0": (
        ("people.csv", "--share", "0"),
        "The '--share' parameter of frontier must be a number above 0 and below 1",
    ),
    "share 1": (("people.csv", "--share", "1"), "'--share'"),
    "share nan": (("people.csv", "--share", "nan"), "'--share'"),
    "both": (("people.csv", "--share", "0.5", "--holdout", "others.csv"), "Use one of them"),
    "same people": (("people.csv", "--holdout", "people.csv"), "The held-out people are the people of the table"),
    "copied people": (("people.csv", "--holdout", "copy.csv"), "The held-out people are the people of the table"),
    "too small": (("one.csv", "--method", "noisy-counts"), "one.csv has 1 person: a share of 0.3 is nobody"),
    "no method": (("people.csv", "--method", "counts"), "The '--method' parameter of frontier must be one of lattice"),
    "undeclared": (
        ("people.csv", "--method", "noisy-counts", "--schema", "undeclared.toml"),
        "Column 'sex' has no declared values",
    ),
    "joint": (("people.csv", "--joint", "city,age"), "age"),
    "noise": (("people.csv", "--noise", "gauss"), "The 'noise' parameter of noisy counts must be"),
    "no table": (("nobody.csv",), "nobody.csv"),
    "input": (("people.csv", "-o", "people.csv"), "this command reads that file"),
    "held-out input": (
        ("people.csv", "--holdout", "others.csv", "--json", "others.csv"),
        "this command reads that file",
    ),
    "twice": (("people.csv", "-o", "out", "--json", "out"), "Name another file"),
    "missing": (
        ("people.csv", "--method", "noisy-counts", "--holdout", "missing.csv"),
        "missing.csv: somebody has no value in column 'city'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(run: Run, case: str) -> None:
    Path("undeclared.toml").write_text(UNDECLARED, encoding="utf-8")
    Path("one.csv").write_text("city,sex,disease\nOslo,F,Flu\n", encoding="utf-8")
    Path("missing.csv").write_text("city,sex,disease\n,F,Flu\n", encoding="utf-8")
    Path("copy.csv").write_bytes(Path("people.csv").read_bytes())
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    arguments, message = REFUSED[case]
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "bug" not in err
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_interrupted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    draw = Simulation.draw

    def until_then(self: Simulation, *arguments: Any) -> Any:
        drawn.append(1)
        if len(drawn) == 4:
            raise KeyboardInterrupt
        return draw(self, *arguments)

    monkeypatch.setattr(Simulation, "draw", until_then)
    code, out, err = run("people.csv", *SOME, "--json", "out.json", "-o", "page.html")
    assert (code, out) == (130, "")
    assert "Interrupted. Nothing was written." in err
    assert not Path("out.json").exists()
    assert not Path("page.html").exists()
