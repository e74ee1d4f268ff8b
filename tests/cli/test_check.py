"""`dalenius check`: the document's keys and values, and what it shows of people only when told to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dalenius.cli import app
from tests.conftest import Run
from tests.oracle import Model, Sensitive

SCHEMA = """sensitive = ["disease", "drug"]
[columns.name]
role = "identifier"
[columns.city]
role = "quasi"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 0, max = 99 }
[columns.note]
role = "other"
[columns.disease]
role = "sensitive"
domain = ["Zitterpox", "Yawnfever", "Xanthitis", "Wobbles"]
[columns.drug]
role = "sensitive"
hierarchy = "drugs.csv"
"""
DRUGS = {"Vimto": ("Vimto", "soft", "*"), "Umbra": ("Umbra", "soft", "*"), "Tonic": ("Tonic", "hard", "*")}
ROWS = [
    ("Annabel", "Quasiville", "[20, 29]", "Noted1", "Zitterpox", "Vimto"),
    ("Bartleby", "Quasiville", "[20, 29]", "Noted2", "Yawnfever", "Umbra"),
    ("Cornelius", "Rowtown", "[30, 39]", "Noted3", "Zitterpox", "Vimto"),
    ("Dorothea", "Quasiville", "[20, 29]", "Noted4", "Zitterpox", "Tonic"),
    ("Engelbert", "Rowtown", "[30, 39]", "Noted5", "Zitterpox", "Tonic"),
    ("Florentine", "*", "*", "Noted6", "Xanthitis", "Vimto"),
    ("Gottfried", "Sumpstead", "44", "Noted7", "Yawnfever", "Umbra"),
]
CLASSES = [[0, 1, 3], [2, 4], [6]]
SECRETS = {word for row in ROWS for word in (row[0], row[1], row[3], row[4], row[5])} - {"*"} | {"[20, 29]", "[30, 39]"}
DISEASE = Sensitive(("Zitterpox", "Yawnfever", "Xanthitis", "Wobbles"))
DRUG = Sensitive(tuple(DRUGS), DRUGS)
PLACES = {
    ("k_anonymity", "k"): "k",
    ("alpha_k_anonymity", "alpha"): "alpha",
    ("distinct_l_diversity", "l"): "distinct",
    ("entropy_l_diversity", "l"): "entropy",
    ("recursive_c_l_diversity", "c"): "recursive",
    ("t_closeness", "equal"): "equal",
    ("t_closeness", "ordered"): "ordered",
    ("t_closeness", "hierarchical"): "hierarchical",
    ("delta_disclosure", "delta"): "delta",
    ("basic_beta_likeness", "beta"): "basic_beta",
    ("enhanced_beta_likeness", "beta"): "enhanced_beta",
}
LARGER = ("k", "distinct", "entropy")
Answer = tuple[int, str, str]
Cli = Callable[..., Answer]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process and in a folder with a release and its schema."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "drugs.csv").write_text("\n".join(map(";".join, DRUGS.values())) + "\n", encoding="utf-8")
    lines = ["name;city;age;note;disease;drug", *map(";".join, ROWS)]
    (tmp_path / "r.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def levels(name: str, groups: list[list[str]], everyone: list[str], column: Sensitive, depth: int) -> Any:
    """The worst level of a model, as JSON has it."""
    if name == "hierarchical" and column.paths is None:
        return None
    found = [Model(name, 1, depth).level(group, everyone, column) for group in groups]  # type: ignore[arg-type]
    worst = min(found) if name in LARGER else max(found)
    if worst == float("inf"):
        return "inf"
    return int(worst) if name in ("k", "distinct") else float(worst)


def close(value: Any) -> Any:
    """A level to compare with: rounded numbers nearly, all else exactly."""
    return pytest.approx(value, rel=1e-12, abs=1e-12) if isinstance(value, float) else value


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("split", [False, True], ids=["alone", "others as quasi"])
def test_document(cli: Cli, depth: int, split: bool) -> None:
    options = ["--recursive-l", str(depth)] if depth != 2 else []
    options += ["--others-as-quasi"] if split else []
    code, out, err = cli("check", "r.csv", "--json", "-", *options)
    assert (code, err) == (0, "")
    document = json.loads(out)
    shape: dict[str, set[str]] = {}
    for model, key in PLACES:
        shape.setdefault(model, set()).add(key)
    shape["recursive_c_l_diversity"].add("l")
    others = {"schema_version", "dalenius", "kind", "people", "classes", "suppressed", "class_sizes", "uniques"}
    others |= {"suppressed_rows", "thresholds", "columns_left"}
    assert set(document) == {*shape, *others, "sensitive", "others_as_quasi", "run"}
    assert document["thresholds"] == []
    assert set(document["suppressed_rows"]) == {"rows", *shape}
    assert document["suppressed_rows"]["rows"] == 1
    for model, keys in shape.items():
        assert set(document[model]) == keys
        for one in document["sensitive"].values():
            assert set(one[model]) == keys
    assert set(document["sensitive"]["disease"]) == set(shape)
    assert (document["kind"], document["people"], document["classes"], document["suppressed"]) == (
        "generalized",
        7,
        3,
        1,
    )
    assert document["class_sizes"] == {"smallest": 1, "median": 2.0, "mean": 2.0, "largest": 3}
    assert (document["uniques"], document["others_as_quasi"]) == (1, split)
    for name, index, column in (("disease", 4, DISEASE), ("drug", 5, DRUG)):
        everyone = [row[index] for row in ROWS]
        groups: dict[object, list[str]] = {}
        for number, members in enumerate(CLASSES):
            for i in members:
                other = ROWS[i][9 - index] if split else None
                groups.setdefault((number, other), []).append(ROWS[i][index])
        for (model, key), oracle in PLACES.items():
            right = levels(oracle, list(groups.values()), everyone, column, depth)
            assert document["sensitive"][name][model][key] == close(right), (name, model, key)
        assert document["sensitive"][name]["recursive_c_l_diversity"]["l"] == depth
    for (model, key), oracle in PLACES.items():
        both = [document["sensitive"][name][model][key] for name in ("disease", "drug")]
        defined = [float(value) for value in both if value is not None]
        worst = min(defined) if oracle in LARGER else max(defined)
        assert float(document[model][key]) == worst
        alone = [  # the one suppressed row as a class
            levels(oracle, [[ROWS[5][index]]], [row[index] for row in ROWS], column, depth)
            for index, column in ((4, DISEASE), (5, DRUG))
        ]
        known = [value for value in alone if value is not None]
        worst = (min if oracle in LARGER else max)(known, key=float)
        assert document["suppressed_rows"][model][key] == close(worst), (model, key)
    assert document["recursive_c_l_diversity"]["l"] == depth


def test_infinite_is_a_string_and_undefined_is_null(cli: Cli) -> None:
    document = json.loads(cli("check", "r.csv", "--json", "-")[1])
    assert document["sensitive"]["disease"]["t_closeness"]["hierarchical"] is None
    assert document["sensitive"]["drug"]["t_closeness"]["hierarchical"] > 0
    for model, key in (
        ("delta_disclosure", "delta"),
        ("recursive_c_l_diversity", "c"),
        ("enhanced_beta_likeness", "beta"),
    ):
        assert document["sensitive"]["disease"][model][key] == "inf"
    assert type(document["k_anonymity"]["k"]) is type(document["distinct_l_diversity"]["l"]) is int


def test_nothing_of_people_is_shown_unless_told_to(cli: Cli) -> None:
    for options in ((), ("--others-as-quasi",), ("--json", "-"), ("--recursive-l", "3")):
        code, out, err = cli("check", "r.csv", *options)
        assert code == 0
        assert not [word for word in SECRETS if word in out + err]
    code, out, err = cli("check", "r.csv", "--reveal")
    assert (code, err) == (0, "")
    # Sumpstead's only person is worst in k and more; the name and the note are nobody's business even then.
    assert re.search(r"class \d+ +city Sumpstead, age 44: Yawnfever 1", out)
    assert re.search(r"class \d+ +city Sumpstead, age 44: Umbra 1", out)
    assert not [row for row in ROWS if row[0] in out or row[3] in out]


def test_a_raw_table_keeps_its_secrets_too(cli: Cli, tmp_path: Path) -> None:
    kept = [row for row in ROWS if row[2].isdigit()] + [("Hannah", "Tumbledown", "45", "Noted8", "Wobbles", "Tonic")]
    lines = ["name,city,age,note,disease,drug", *map(",".join, kept)]
    (tmp_path / "raw.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, _ = cli("check", "raw.csv")
    assert code == 0
    assert not [word for word in (*SECRETS, "Tumbledown", "Hannah", "Noted8", "Wobbles") if word in out]
    assert "2 people in 2 classes" in out


def test_worst_classes_by_number_size_and_rows(cli: Cli) -> None:
    """Each model's line names a class whose level is the one shown; its rows are the class's own."""
    out = cli("check", "r.csv")[1]
    sections = re.split(r"\n\n", out)
    for name, index, column in (("disease", 4, DISEASE), ("drug", 5, DRUG)):
        section = next(part for part in sections if part.strip().startswith(name))
        lines = re.sub(r"\n {20,}", " ", section).splitlines()[1:12]  # a long place goes on below itself
        assert len(lines) == len(PLACES)
        everyone = [row[index] for row in ROWS]
        for line, oracle in zip(lines, PLACES.values(), strict=True):
            place = re.search(r"class \d+, (\d+) (?:person|people), rows? ([\d, ]+)$", line)
            if oracle == "hierarchical" and column.paths is None:
                assert "undefined" in line
                assert place is None
                continue
            if place is None:  # a class of one value: its rows must not stand beside a level that may tell the value
                number = int(re.search(r"class (\d+), ", line)[1])  # type: ignore[index]
                assert any(len({ROWS[i][index] for i in members}) == 1 for members in CLASSES), line
                assert oracle != "k"
                assert number < len(CLASSES)
                continue
            rows = [int(number) for number in place[2].split(", ")]
            assert rows in CLASSES
            assert int(place[1]) == len(rows)
            every = [[ROWS[i][index] for i in members] for members in CLASSES]
            mine = levels(oracle, [[ROWS[i][index] for i in rows]], everyone, column, 2)
            assert mine == close(levels(oracle, every, everyone, column, 2))
            shown = line.split("  larger" if "  larger" in line else "  smaller")[0].split()[-1]
            assert shown == "infinite" if mine == "inf" else float(shown) == pytest.approx(mine, rel=1e-5, abs=1e-6)


@pytest.mark.slow
def test_arx_release(run: Run, data: Path, adult_schema: Path) -> None:
    """Another tool's release, in a process of its own; the values by a count in plain Python."""
    import csv

    path = data / "releases" / "arx_adult_k5.csv"
    done = run("check", path, "--schema", adult_schema, "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        labels = tuple(value for name, value in row.items() if name != "occupation")
        if set(labels) != {"*"}:
            groups.setdefault(labels, []).append(row["occupation"])
    everyone = [row["occupation"] for row in rows]
    assert (document["classes"], document["suppressed"]) == (222, 506)
    for (model, key), oracle in PLACES.items():
        if oracle in ("k", "alpha", "distinct", "entropy", "recursive", "basic_beta"):
            right = levels(oracle, list(groups.values()), everyone, DISEASE, 2)
            assert document[model][key] == close(right), model
    gone = len(set(everyone)) > min(len(set(group)) for group in groups.values())
    assert (document["delta_disclosure"]["delta"] == "inf") == gone


REFUSED = {
    "recursive l of one": (("r.csv", "--recursive-l", "1"), "must be an int ≥ 2, or c,ℓ such as 3,2. Got '1' instead."),
    "no such release": (("none.csv",), "There is no file 'none.csv'"),
    "no such kind": (("r.csv", "--kind", "magic"), "There is no kind of release 'magic'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(cli: Cli, tmp_path: Path, case: str) -> None:
    arguments, message = REFUSED[case]
    (tmp_path / "doc.json").write_text("old", encoding="utf-8")
    code, out, err = cli("check", *arguments, "--json", "doc.json")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert (tmp_path / "doc.json").read_text(encoding="utf-8") == "old"
