"""`dalenius compare`: the table and the JSON it prints, and how it refuses."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dalenius as dl
from dalenius.auditing.compare import compare
from dalenius.cli import app
from dalenius.measures.remaining import to_document
from tests.conftest import Run

Answer = tuple[int, str, str]
Cli = Callable[..., Answer]
KEYS = [
    "release", "kind", "classes", "k", "l", "t", "loss", "ncp", "precision", "discernibility", "average_class_size",
    "suppressed", "misfit", "kl_divergence", "relative_error", "relative_error_median", "faithfulness",
    "faithfulness_stderr", "columns_left",
]  # fmt: skip
ASKED = ("relative_error", "relative_error_median")
HEADS = [
    "k", "ℓ", "t", "loss", "NCP", "precision", "discernibility", "average class size", "suppressed rows",
    "KL divergence (nats)", "query error, mean", "query error, median", "faithfulness",
]  # fmt: skip
RELEASES = ("release.csv", "boxes.csv", "points.csv", "cut", "counts", "patients.csv")
TRUTH = ("--truth", "patients.csv", "--queries", "50")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hospital with a release of each kind, one that excludes a patient, and one of fewer patients."""
    place = tmp_path_factory.mktemp("made")
    table = dl.datasets.save_hospital(place, 200, seed=5)
    for output, *how in (
        ("release.csv", "--k", "4", "--suppression", "0.1"),
        ("boxes.csv", "--method", "mondrian", "--k", "5", "--l", "2"),
        ("points.csv", "--method", "microaggregation", "--k", "5"),
        ("cut", "--method", "anatomy", "--l", "3", "--seed", "1"),
        ("counts", "--method", "noisy-counts", "--epsilon", "1"),
    ):
        where = ("-o", str(place / output), "--schema", str(place / "privacy.toml"))
        assert app.run(["publish", str(table), *where, "-q", *how]) == 0
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0]["age"] = "99" if rows[0]["age"] != "99" else "1"
    for name, kept in (("wrong.csv", rows), ("fewer.csv", rows[:-1])):
        with (place / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(kept)
    return place


@pytest.fixture
def cli(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process, in a folder with the hospital's files: exit code, output, message."""
    monkeypatch.chdir(tmp_path)
    for file in made.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = app.run(["compare", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def documents(text: str) -> dict[str, dict[str, Any]]:
    return {one["release"]: one for one in json.loads(text)["releases"]}


# ---------------------------------------------------------------------------- what it says


def test_the_json_has_every_key_of_every_release(cli: Cli) -> None:
    code, out, err = cli(*RELEASES, "wrong.csv", *TRUTH, "--json", "-")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["schema_version"] == 1
    assert (document["queries"], document["seed"]) == (50, 0)
    assert [one["release"] for one in document["releases"]] == [*RELEASES, "wrong.csv"]
    assert all(list(one) == KEYS for one in document["releases"])
    found = documents(out)
    assert {name: one["kind"] for name, one in found.items()} == {
        "release.csv": "generalized", "boxes.csv": "generalized", "points.csv": "centroids", "cut": "anatomized",
        "counts": "noisy-counts", "patients.csv": "generalized", "wrong.csv": "generalized",
    }  # fmt: skip
    undefined = {name: {key for key, value in one.items() if value is None} for name, one in found.items()}
    labels = {"loss", "misfit", "ncp", "precision", "kl_divergence"}
    assert undefined == {
        "release.csv": {"faithfulness_stderr"},  # exact
        "boxes.csv": {"precision", "faithfulness", "faithfulness_stderr"},
        "points.csv": {*labels, "faithfulness", "faithfulness_stderr"},
        "cut": {"faithfulness", "faithfulness_stderr"},
        "counts": set(KEYS) - {"release", "kind", "relative_error", "relative_error_median", "columns_left"},
        "patients.csv": {"faithfulness_stderr"},
        "wrong.csv": {"faithfulness_stderr"},
    }
    assert found["wrong.csv"]["kl_divergence"] == "inf"
    assert {name: one["misfit"] for name, one in found.items() if one["misfit"]} == {"wrong.csv": 1}
    assert found["cut"]["k"] >= found["cut"]["l"] == 3
    assert found["boxes.csv"]["k"] >= 5
    assert 0 < found["release.csv"]["suppressed"] <= 0.1
    assert found["patients.csv"]["relative_error"] == pytest.approx(0, abs=1e-12)


def test_it_says_what_the_library_says(cli: Cli) -> None:
    code, out, _ = cli(*RELEASES, *TRUTH, "--seed", "3", "--json", "-")
    assert code == 0
    found = documents(out)
    sources = {name: name for name in RELEASES}
    for one in compare(sources, "patients.csv", dl.Schema.load("privacy.toml"), queries=50, seed=3):
        told = found[one.name]
        assert (told["kind"], told["classes"]) == (one.kind, one.classes)
        measured = {**one.levels, **one.costs, "columns_left": to_document(one.columns_left)}
        assert {key: value for key, value in told.items() if key in KEYS[3:] and value is not None} == measured


def shown(out: str, name: str) -> list[str]:
    """The numbers in a release's column: a wide table is split into blocks, each with a header of its own."""
    for block in out.split("\n\n"):
        names, *rows = block.splitlines()
        if names.split()[:1] == ["release"] and name in names.split():
            place = names.split().index(name) - len(names.split())  # from the right: the names of measures have spaces
            return [row.split()[place] for row in rows[1:]]
    raise AssertionError(name)


def same(text: str, number: float | str | None) -> bool:
    if number is None:
        return text == "–"
    if number == "inf":
        return text == "infinite"
    return math.isclose(float(text.replace(",", "")), float(number), rel_tol=5e-3, abs_tol=1e-12)


def test_the_table_on_the_terminal(cli: Cli) -> None:
    code, out, err = cli(*RELEASES, *TRUTH)
    assert (code, err) == (0, "")
    blocks = [block.splitlines() for block in out.split("\n\n") if block.strip().startswith("release ")]
    assert [name for block in blocks for name in block[0].split()[1:]] == list(RELEASES)
    for block in blocks:
        assert [line[2:24].strip() for line in block] == ["release", "kind", *HEADS]
        assert {len(line) for line in block} == {len(block[0])}  # columns end at one place
    assert max(map(len, out.splitlines())) <= 80
    found = documents(cli(*RELEASES, *TRUTH, "--json", "-")[1])
    counts = shown(out, "counts")
    assert counts[:-3] == ["–"] * 10
    assert counts[-1] == "–"
    for name in RELEASES:
        numbers = [found[name][key] for key in KEYS[3:-2] if key != "misfit"]  # that has a sentence, if there is any
        texts = shown(out, name)
        assert len(texts) == len(HEADS), texts
        for text, number in zip(texts, numbers, strict=True):
            assert same(text, number), (name, text, number)
    assert "50 count queries (seed 0)" in " ".join(out.split())


def test_columns_stay_apart(cli: Cli) -> None:
    """Numbers that need their whole column must not run into the one before: 0 and infinite, 2 and 0.008339."""
    code, out, _ = cli("wrong.csv", *TRUTH)
    assert code == 0
    texts = shown(out, "wrong.csv")
    assert len(texts) == len(HEADS), texts
    assert texts[HEADS.index("KL divergence (nats)")] == "infinite"
    rows = ["q,s", *(["a,x"] * 501 + ["b,x"] * 499 + ["a,y"] * 497 + ["b,y"] * 503)]
    Path("even.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    Path("even.toml").write_text('[columns.q]\nrole = "quasi"\n[columns.s]\nrole = "sensitive"\n', encoding="utf-8")
    code, out, _ = cli("even.csv", "--truth", "even.csv", "--schema", "even.toml", "--queries", "5")
    assert code == 0
    texts = shown(out, "even.csv")
    assert len(texts) == len(HEADS), texts
    assert texts[1] == "2"
    assert same(texts[2], 501 / 998 - 0.5)


def test_files_or_standard_output_or_silence(cli: Cli) -> None:
    code, out, err = cli("release.csv", "cut", *TRUTH, "--json", "costs.json", "-q")
    assert (code, out, err) == (0, "", "")
    written = Path("costs.json").read_text(encoding="utf-8")
    code, out, _ = cli("release.csv", "cut", *TRUTH, "--json", "-")
    assert documents(out) == documents(written)
    code, out, _ = cli("release.csv", *TRUTH, "--json", "costs.json")
    assert out.startswith("  release")
    assert list(documents(Path("costs.json").read_text(encoding="utf-8"))) == ["release.csv"]


def test_the_seed_and_the_number_of_queries(cli: Cli) -> None:
    def told(*options: str) -> dict[str, Any]:
        code, out, _ = cli("release.csv", "cut", "--truth", "patients.csv", *options, "--json", "-")
        assert code == 0
        document: dict[str, Any] = json.loads(out)
        del document["run"]
        return document

    usual, few, other = told(), told("--queries", "30"), told("--queries", "30", "--seed", "7")
    assert usual == told("--queries", "1000", "--seed", "0")
    assert other == told("--queries", "30", "--seed", "7")
    errors = [[one["relative_error"] for one in document["releases"]] for document in (usual, few, other)]
    assert errors[0] != errors[1] != errors[2] != errors[0]
    assert (other["seed"], other["queries"]) == (7, 30)
    for one, two in zip(usual["releases"], other["releases"], strict=True):
        assert one | dict.fromkeys(ASKED, 0) == two | dict.fromkeys(ASKED, 0)


def test_a_kind_for_files_that_do_not_tell(cli: Cli) -> None:
    Path("points.csv.meta.json").unlink()
    code, _, err = cli("points.csv", *TRUTH)
    assert code == 2
    assert "points.csv, row" in err
    code, out, _ = cli("points.csv", *TRUTH, "--kind", "centroids", "--json", "-")
    assert code == 0
    assert documents(out)["points.csv"]["kind"] == "centroids"


def test_one_file_of_several_names_the_release(cli: Cli) -> None:
    names = ("cut", "cut.quasi.csv", "cut.quasi.csv+cut.sensitive.csv")
    code, out, _ = cli(*names, *TRUTH, "--json", "-")
    assert code == 0
    found = [{**one, "release": ""} for one in documents(out).values()]
    assert len(found) == 3
    assert found[0] == found[1] == found[2]


def test_no_value_of_anybody_is_told(cli: Cli) -> None:
    code, out, err = cli(*RELEASES, *TRUTH)
    assert code == 0
    with Path("patients.csv").open(encoding="utf-8") as file:
        secrets = {row["disease"] for row in csv.DictReader(file)}
    assert not any(value in out + err for value in secrets)


# ---------------------------------------------------------------------------- refusals


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "named twice": (("cut", "release.csv", "cut", *TRUTH), "The release 'cut' is named twice."),
    "a release that is not there": (("relaese.csv", *TRUTH), "Did you mean 'release.csv'?"),
    "one of several that is not there": (("release.csv", "cutt", *TRUTH), "There is no file 'cutt'"),
    "a table that is not there": (("release.csv", "--truth", "patient.csv"), "patient.csv"),
    "no table": (("release.csv",), "--truth"),
    "no release": (TRUTH, "RELEASE"),
    "no schema": (("release.csv", *TRUTH, "--schema", "none.toml"), "none.toml"),
    "of fewer people": (("cut", "fewer.csv", *TRUTH), "fewer.csv has 199 people and the table 200"),
    "no query": (("release.csv", "--truth", "patients.csv", "--queries", "0"), "--queries"),
    "a negative seed": (("release.csv", *TRUTH, "--seed", "-1"), "--seed"),
    "an unknown kind": (("release.csv", *TRUTH, "--kind", "general"), "no kind of release 'general'"),
    "another kind": (("cut", *TRUTH, "--kind", "generalized"), "of kind 'anatomized', not 'generalized'"),
    "half of an anatomy": (("torn", *TRUTH), "torn.sensitive.csv"),
    "no folder for the json": (("release.csv", *TRUTH, "--json", "no/x.json"), "does not exist. Create it first."),
    "a folder as json": (("release.csv", *TRUTH, "--json", "."), "that is a folder"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(cli: Cli, name: str) -> None:
    arguments, message = REFUSED[name]
    Path("torn.quasi.csv").write_bytes(Path("cut.quasi.csv").read_bytes())
    Path("costs.json").write_text("old", encoding="utf-8")
    if "--json" not in arguments:
        arguments = (*arguments, "--json", "costs.json")
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("dalenius: ")
    assert message in err
    assert "Traceback" not in err
    assert Path("costs.json").read_text(encoding="utf-8") == "old"


READ = (
    "patients.csv", "privacy.toml", "boxes.csv", "cut.quasi.csv", "cut.sensitive.csv", "counts.counts.csv", "counts.json",
    "points.csv", "points.csv.meta.json",
)  # fmt: skip


@pytest.mark.parametrize("target", READ)
def test_an_input_is_never_overwritten(cli: Cli, target: str) -> None:
    """Not even one of the several files that a release is read from by its NAME, or the sidecar that tells its kind."""
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    code, out, err = cli("boxes.csv", "cut", "counts", "points.csv", *TRUTH, "--json", target)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
    assert (code, out) == (2, "")
    assert "Cannot write" in err


def test_counts_of_the_second_of_two_sensitive_columns(cli: Cli) -> None:
    """Measured, or refused in words: the queries ask for a value of the first sensitive column, which the counts lack."""
    Path("two.toml").write_text(
        'sensitive = ["s", "u"]\n[columns.a]\nrole = "quasi"\ndomain = ["x", "y"]\n'
        '[columns.s]\nrole = "sensitive"\ndomain = ["p", "q", "r"]\n[columns.u]\nrole = "sensitive"\ndomain = ["1", "2"]\n',
        encoding="utf-8",
    )
    Path("two.csv").write_text("a,s,u\nx,p,1\nx,q,2\ny,r,1\ny,p,2\n", encoding="utf-8")
    counts = "column,value,u,count\na,x,1,1\na,x,2,1\na,y,1,1\na,y,2,1\n"
    Path("of_u.counts.csv").write_text(counts, encoding="utf-8")
    Path("of_u.json").write_text(
        '{"mechanism": "none", "scale": 0, "epsilon": null, "sensitivity": 1, "neighbours": "add-remove"}',
        encoding="utf-8",
    )
    code, _, err = cli("of_u", "--truth", "two.csv", "--schema", "two.toml")
    assert "This is a bug" not in err
    assert code in (0, 2)


@pytest.mark.slow
def test_in_a_process_of_its_own(run: Run, made: Path) -> None:
    """What a shell sees: the exit code, and nothing but the table on standard output."""
    done = run("compare", "cut", "boxes.csv", *TRUTH, cwd=made)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[1] for line in done.stdout.splitlines()[:2]] == ["cut", "anatomized"]
