"""The commands as a user sees them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from dalenius.schema import Schema
from tests.conftest import Run

pytestmark = pytest.mark.slow


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout == "dalenius 0.1.0\n"
    bare = run()
    assert bare.returncode == 0
    assert bare.stdout == run("--help").stdout
    assert all(command in bare.stdout for command in ("init", "check", "demo"))


def test_check_of_another_tools_release(run: Run, tmp_path: Path, data: Path, adult_schema: Path) -> None:
    release = data / "releases" / "arx_adult_k5.csv"
    done = run("check", release, "--schema", adult_schema, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    assert (document["classes"], document["suppressed"], document["people"]) == (222, 506, 30_162)
    assert document["k_anonymity"] == {"k": 5}
    assert document["schema_version"] == 1
    assert "222" in done.stdout
    assert "506" in done.stdout


def test_json_alone_on_standard_output_and_quiet(run: Run) -> None:
    run("demo", "--quick", "--people", "300")
    arguments = ["check", "demo/patients.csv", "--schema", "demo/privacy.toml"]
    assert json.loads(run(*arguments, "--json", "-").stdout)["people"] == 300
    assert run(*arguments, "--quiet").stdout == ""


def test_init_of_adult_finds_the_hierarchies(run: Run, tmp_path: Path, data: Path) -> None:
    done = run("init", data / "adult" / "adult.csv")
    assert done.returncode == 0, done.stderr
    raw = tomllib.loads((tmp_path / "privacy.toml").read_text())
    assert raw["columns"]["age"]["type"] == "integer"
    schema = Schema.load(tmp_path / "privacy.toml")
    assert all(column.hierarchy is not None for column in schema.coded)
    assert run("check", data / "adult" / "adult.csv").returncode == 0


def test_init_guesses_and_says_so(run: Run, tmp_path: Path) -> None:
    rows = ["person,age,zip code,sex,diagnosis,comment"]
    rows += [f"P{i},{20 + i % 50},0213{i % 10},{'MF'[i % 2]},D{i % 4},text {i}" for i in range(100)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert run("init", "t.csv").returncode == 0
    text = (tmp_path / "privacy.toml").read_text()
    raw = tomllib.loads(text)
    roles = {name: column["role"] for name, column in raw["columns"].items()}
    assert roles == {
        "person": "identifier", "age": "quasi", "zip code": "quasi", "sex": "quasi", "diagnosis": "sensitive",
        "comment": "quasi",
    }  # fmt: skip
    assert raw["sensitive"] == "diagnosis"
    assert raw["columns"]["age"]["domain"] == {"min": 20, "max": 69}
    assert raw["columns"]["zip code"]["mask"] == "right"
    assert all("GUESS" in line for line in text.splitlines() if line.startswith(("role", "sensitive")))
    assert run("check", "t.csv").returncode == 0


@pytest.mark.parametrize("name", ['we"ird', "dots.and spaces", "ünïcode", "a]b"])
def test_init_quotes_odd_names(run: Run, tmp_path: Path, name: str) -> None:
    quoted = name.replace('"', '""')
    (tmp_path / "t.csv").write_text(f'"{quoted}",disease\n' + "a,x\nb,y\n" * 30, encoding="utf-8")
    assert run("init", "t.csv").returncode == 0
    assert Schema.load(tmp_path / "privacy.toml").quasi[0].name == name
    assert run("check", "t.csv").returncode == 0


def test_demo(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--quick", "--people", "500")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "patients.csv").is_file()
    again = run("check", "demo/patients.csv", "--schema", "demo/privacy.toml", "--json", "-")
    document = json.loads(again.stdout)
    assert document["people"] == 500


def test_same_command_same_json(run: Run) -> None:
    run("demo", "--quick", "--people", "300")
    first, second = (
        json.loads(run("check", "demo/patients.csv", "--schema", "demo/privacy.toml", "--json", "-").stdout)
        for _ in range(2)
    )
    assert first.pop("run") != second.pop("run")
    assert first == second


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://u:SECRET@h:5432/db", "postgres://h:5432/db"),
        ("postgres://u:SE/CRET@h/db", "postgres://…"),
        ("postgres://u:SE?CRET@h/db", "postgres://…"),
        ("postgres://h/db?password=SEC@RET", "postgres://…"),
        ("postgres://h/db?pass%77ord=SECRET", "postgres://h/db"),
        ("sc://h:1/;x-api-key=SECRET", "sc://h:1/"),
        ("sc://h:1/;authorization=Bearer SECRET", "sc://h:1/"),
        ("spark://h:7077", "spark://h:7077"),
        ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
        ("duckdb://", "duckdb://"),
        ("host=h password=SECRET", "…"),
    ],
)
def test_the_command_line_is_kept_without_secrets(url: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from dalenius.cli.common import run_details

    for words, kept in ((["--engine", url], ["--engine", shown]), ([f"--engine={url}"], [f"--engine={shown}"])):
        monkeypatch.setattr("sys.argv", ["dalenius", "check", "people", *words])
        assert run_details()["command"] == ["dalenius", "check", "people", *kept]
