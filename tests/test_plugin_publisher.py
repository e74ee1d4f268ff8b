"""A publisher of another package: installed as a plug-in, every command knows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.test_plugins import Run, dalenius, install  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow

LISTED = "lattice, mondrian, microaggregation, anatomy, noisy-counts, runs."


@pytest.fixture
def installed(dalenius: Run, tmp_path: Path) -> Run:  # noqa: F811
    """The command line with the example's publisher installed."""
    install(tmp_path / "site", "dalenius.publishers", "runs", "examples.my_scheme:Runs")
    return dalenius


def add_policy(folder: Path, text: str) -> None:
    schema = folder / "privacy.toml"
    schema.write_text(f"{schema.read_text(encoding='utf-8')}\n[policy]\n{text}\n", encoding="utf-8")


def test_publish_writes_the_release_and_says_what_it_is(installed: Run, tmp_path: Path) -> None:
    told = installed("publish", "--help").stdout
    assert "--first" in told
    assert LISTED in " ".join(told.split())

    made = installed(
        "publish", "patients.csv", "--method", "runs", "--k", "4", "--first", "sex", "-o", "r.csv", "--json", "p.json"
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("Wrote r.csv: age")
    assert "  people     400 in" in made.stdout
    assert "  satisfies  k = 4\n" in made.stdout
    document = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    sidecar = json.loads((tmp_path / "r.csv.meta.json").read_text(encoding="utf-8"))
    for key in ("method", "criteria", "people", "classes", "suppressed", "columns_left"):
        assert document[key] == sidecar[key]
    assert (document["method"], document["people"], sidecar["kind"]) == ("runs", 400, "generalized")
    assert installed("check", "r.csv", "--k", "4").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--method", "lattice", "--k", "3", "--first", "sex"),
            "--first belongs to runs and has no effect on lattice.",
        ),
        (("--method", "runs", "--k", "3", "--cuts", "order"), "--cuts belongs to mondrian and has no effect on runs."),
        (("--method", "runs", "--l", "2"), "runs can satisfy k only, not distinct ℓ = 2."),
        (("--method", "runs"), "runs needs k: --k 5, for example."),
        (("--method", "runs", "--k", "3", "--first", "city"), "--first 'city': write a quasi-identifier"),
        (
            ("--method", "runs", "--k", "3", "--seed", "1"),
            "--seed repeats the draws of anatomy, and runs draws nothing.",
        ),
        (
            ("--method", "runs", "--k", "3", "--given", "x.csv"),
            "and this method does not plan with them. Leave it out.",
        ),
        (("--method", "run", "--k", "3"), "anatomy, noisy-counts, runs"),
    ],
)
def test_what_it_cannot_do_is_refused(installed: Run, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    refused = installed("publish", "patients.csv", *arguments, "-o", "r.csv")
    assert refused.returncode == 2, refused.stdout
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "r.csv").exists()


def test_it_is_published_and_audited_at_once(installed: Run, tmp_path: Path) -> None:
    add_policy(tmp_path, "min_k = 4")
    audited = installed(
        "audit", "patients.csv", "--method", "runs", "--k", "4", "-o", "report.html", "--json", "a.json"
    )
    assert audited.returncode == 0, audited.stderr
    found = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert found["levels"]["k_anonymity"]["k"] >= 4
    assert installed("audit", "patients.csv", "--method", "runs", "--k", "3").returncode == 1


def test_the_frontier_tries_it_and_publishes_the_best(installed: Run, tmp_path: Path) -> None:
    add_policy(tmp_path, "min_k = 5")
    assert "--first" in installed("frontier", "--help").stdout
    tried = installed(
        "frontier", "patients.csv", "--method", "runs", "--k", "3,5,9", "--first", "zip", "--best", "best.csv", "-o", "f.html",
        "--json", "f.json", "--utility", "loss", "--jobs", "2",
    )  # fmt: skip
    assert tried.returncode == 0, tried.stderr
    found = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))
    assert [point["parameters"] for point in found["points"]] == [{"k": k, "first": "zip"} for k in (3, 5, 9)]
    assert [point["verdict"] for point in found["points"]] == ["violated", "passed", "passed"]
    assert found["best"] == {"method": "runs", "parameters": {"k": 5, "first": "zip"}}
    assert "dalenius publish patients.csv --method runs --k 5 --first zip -o best.csv" in tried.stdout
    assert "Wrote best.csv, best.csv.meta.json" in tried.stdout
    assert installed("check", "best.csv", "--k", "5").returncode == 0
    assert "runs k = 9" in (tmp_path / "f.html").read_text(encoding="utf-8")

    foreign = installed("frontier", "patients.csv", "--method", "mondrian", "--first", "zip")
    assert foreign.returncode == 2
    assert "--first belongs to runs, which is not tried. Add --method runs." in foreign.stderr


def test_the_frontier_of_all_methods_has_it(installed: Run, tmp_path: Path) -> None:
    values = ("--k", "5", "--l", "2", "--suppression", "0", "--epsilons", "1", "--risk", "random-worlds")
    tried = installed("frontier", "patients.csv", *values, "--json", "f.json", "-o", "f.html", "--jobs", "1")
    assert tried.returncode == 0, tried.stderr
    points = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))["points"]
    methods = ["lattice", "mondrian", "microaggregation", "anatomy", "noisy-counts", "runs"]
    assert [point["method"] for point in points] == methods
