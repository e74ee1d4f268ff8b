"""`dalenius audit`: exit codes, what it writes and says, and how it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dalenius as dl
from dalenius.auditing import audit
from dalenius.cli import app
from dalenius.measures import remaining
from tests.conftest import Run

Answer = tuple[int, str, str]
Cli = Callable[..., Answer]
OUT = ("-o", "report.html", "--json", "audit.json")
OLD = "an older report\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hospital with a release of it, other people, and a release of fewer people."""
    place = tmp_path_factory.mktemp("made")
    table = dl.datasets.save_hospital(place, 200, seed=5)
    (place / "others").mkdir()
    dl.datasets.save_hospital(place / "others", 120, seed=6)
    assert app.run(["publish", str(table), "-o", str(place / "release.csv"), "--k", "5", "-q", *schema_of(place)]) == 0
    lines = (place / "release.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (place / "fewer.csv").write_text("".join(lines[:-1]), encoding="utf-8")
    return place


def schema_of(place: Path) -> tuple[str, str]:
    return "--schema", str(place / "privacy.toml")


@pytest.fixture
def cli(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process, in a folder with the hospital's files: exit code, output, message."""
    monkeypatch.chdir(tmp_path)
    for file in made.rglob("*.*"):
        target = tmp_path / file.relative_to(made)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.read_bytes())

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = app.run(["audit", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def policy(*lines: str) -> None:
    """Add thresholds to the schema in the current folder."""
    with Path("privacy.toml").open("a", encoding="utf-8") as file:
        file.write("\n[policy]\n" + "\n".join(lines) + "\n")


def written() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path("audit.json").read_text(encoding="utf-8"))
    return document


# --- Exit codes --------------------------------------------------------------------------------------------------------

TRUTH = ("release.csv", "--truth", "patients.csv")
HOLDOUT = ("--holdout", "others/patients.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("thresholds", "arguments", "code", "verdict", "words"),
    [
        ((), (*TRUTH, *HOLDOUT), 0, "none", "The policy sets no thresholds"),
        (("min_k = 5", "max_attacker_accuracy = 0.99"), TRUTH, 0, "passed", "The release satisfies the policy"),
        (("min_k = 5", "max_attacker_accuracy = 0.01"), TRUTH, 1, "violated", "The release violates the policy"),
        (("min_k = 150",), ("release.csv",), 1, "violated", "The release violates the policy"),
        (("max_attacker_gain = 0.99",), TRUTH, 0, "incomplete", "some could not be tested"),
        (("min_k = 5", "max_attacker_accuracy = 0.99"), ("release.csv",), 0, "incomplete", "some could not be"),
        (("min_k = 150", "min_faithfulness = 0.5"), TRUTH, 1, "violated", "The release violates the policy"),
    ],
)  # fmt: skip
def test_the_exit_code_is_the_verdicts(
    cli: Cli, thresholds: tuple[str, ...], arguments: tuple[str, ...], code: int, verdict: str, words: str
) -> None:
    if thresholds:
        policy(*thresholds)
    found, out, err = cli(*arguments, *OUT)
    assert (found, err) == (code, "")
    assert words in out
    assert words in Path("report.html").read_text(encoding="utf-8")
    assert written()["verdict"] == verdict


@pytest.mark.slow
def test_the_process_exits_with_it(run: Run, made: Path, tmp_path: Path) -> None:
    """What a shell sees, so that an export job can stop: 1 and nothing on standard error."""
    text = (made / "privacy.toml").read_text(encoding="utf-8").replace('"."', f'"{made}"')
    (tmp_path / "strict.toml").write_text(text + "\n[policy]\nmin_k = 150\n", encoding="utf-8")
    done = run("audit", made / "release.csv", "--schema", tmp_path / "strict.toml", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "holdout without truth": (("release.csv", *HOLDOUT), "--holdout needs --truth"),
    "truth of another size": (("fewer.csv", "--truth", "patients.csv"), "199 people and the table 200"),
    "truth that is not there": (("release.csv", "--truth", "patient.csv"), "patient.csv"),
    "release that is not there": (("relaese.csv",), "Did you mean 'release.csv'?"),
    "criteria without a method": (("release.csv", "--k", "5"), "Add --method"),
    "suppression without a method": (("release.csv", "--suppression", "0.1"), "Add --method"),
    "method and truth": (("patients.csv", "--method", "lattice", "--k", "5", *TRUTH[1:]), "Leave --truth out"),
    "an unknown method": (("patients.csv", "--method", "latice", "--k", "5"), "'--method' parameter of audit"),
    "a method without criteria": (("patients.csv", "--method", "lattice"), "criteri"),
    "an unknown kind": ((*TRUTH, "--kind", "general"), "no kind of release 'general'"),
    "no schema": ((*TRUTH, "--schema", "missing.toml"), "missing.toml"),
    "a negative seed": ((*TRUTH, "--seed", "-1"), "--seed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(cli: Cli, name: str) -> None:
    """Exit code 2, one message, and older reports left alone."""
    arguments, message = REFUSED[name]
    for path in ("report.html", "audit.json"):
        Path(path).write_text(OLD, encoding="utf-8")
    code, out, err = cli(*arguments, *OUT)
    assert (code, out) == (2, "")
    assert err.startswith("dalenius: ")
    assert message in err
    assert "Traceback" not in err
    for path in ("report.html", "audit.json"):
        assert Path(path).read_text(encoding="utf-8") == OLD


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("min_kk = 5", "unknown key 'min_kk' in [policy]. Did you mean 'min_k'?"),
        ("max_accuracy = 0.5", "unknown key 'max_accuracy' in [policy]"),
        ("max_relative_threat = { quantile = 0.9, valu = 4 }", "unknown key 'valu'"),
        ("min_k = 0", "policy.min_k"),
        ('min_k = "5"', "policy.min_k"),
        ("max_attacker_gain = 1.5", "policy.max_attacker_gain"),
    ],
)
def test_unknown_and_impossible_thresholds_are_refused(cli: Cli, line: str, message: str) -> None:
    policy(line)
    code, out, err = cli(*TRUTH, *OUT)
    assert (code, out) == (2, "")
    assert message in err
    assert not Path("report.html").exists()


@pytest.mark.parametrize("option", ["-o", "--json"])
@pytest.mark.parametrize(
    "target", ["release.csv", "patients.csv", "privacy.toml", "others/patients.csv", "others", "no/x"]
)
def test_outputs_that_cannot_be_written_are_refused_first(cli: Cli, option: str, target: str) -> None:
    """An input is never overwritten, and nothing is computed for a folder that is not there."""
    before = {path: path.read_bytes() for path in Path().rglob("*.*") if path.is_file()}
    code, out, err = cli(*TRUTH, *HOLDOUT, option, target)
    assert (code, out) == (2, "")
    assert "Cannot write" in err
    assert {path: path.read_bytes() for path in Path().rglob("*.*") if path.is_file()} == before


# --- What it does ------------------------------------------------------------------------------------------------------


def test_nothing_is_written_unless_asked(cli: Cli) -> None:
    before = set(Path().rglob("*"))
    code, out, _ = cli(*TRUTH)
    assert code == 0
    assert "random-worlds on disease" in out
    assert set(Path().rglob("*")) == before


def test_json_to_standard_output_is_json_and_nothing_else(cli: Cli) -> None:
    code, out, err = cli(*TRUTH, "--json", "-")
    assert (code, err) == (0, "")
    assert json.loads(out)["truth"] is True


def test_quiet_says_nothing(cli: Cli) -> None:
    assert cli(*TRUTH, *OUT, "--quiet") == (0, "", "")
    assert Path("report.html").read_text(encoding="utf-8").endswith("</html>\n")


@pytest.mark.slow
def test_publish_and_attack_in_one_go(cli: Cli) -> None:
    """`audit TABLE --method lattice --k 5` says what publishing and auditing the release say; no release is written."""
    one_go = ("patients.csv", "--method", "lattice", "--k", "5", *HOLDOUT)
    before = set(Path().rglob("*"))
    code, out, _ = cli(*one_go)
    assert code == 0
    assert "patients.csv: 200 people" in out
    assert set(Path().rglob("*")) == before
    assert cli(*one_go, *OUT)[0] == 0
    together = written()
    assert cli(*TRUTH, *HOLDOUT, *OUT)[0] == 0
    apart = written()
    for document in (together, apart):
        document.pop("run")
        document["release"].pop("sha256")
    for document, told in (
        (together, ""),
        (apart, ", not published"),
    ):  # what was not written has no columns to look at
        (seen,) = [limit for limit in document["limits"] if limit.startswith("Columns that were not analysed")]
        assert f"patient (identifier{told})" in seen
        document["limits"].remove(seen)
    assert together == apart
    assert together["levels"]["k_anonymity"]["k"] >= 5


def test_criteria_are_those_of_publishing(cli: Cli) -> None:
    criteria = ("--k", "4", "--l", "2", "--suppression", "0.05")
    code, _, _ = cli("patients.csv", "--method", "lattice", *criteria, *OUT)
    assert code == 0
    document = written()
    assert document["levels"]["k_anonymity"]["k"] >= 4
    assert document["levels"]["distinct_l_diversity"]["l"] >= 2
    assert document["release"]["suppressed"] <= 0.05 * 200
    code, _, err = cli("patients.csv", "--method", "lattice", "--k", "201", *OUT)
    assert code == 2
    assert "larger than the table" in err


def test_a_policy_gates_a_publication(cli: Cli) -> None:
    policy("min_k = 20")
    assert cli("patients.csv", "--method", "lattice", "--k", "2", "--suppression", "0.1", "-q")[0] == 1
    assert cli("patients.csv", "--method", "lattice", "--k", "20", "--suppression", "0.1", "-q")[0] == 0


def test_the_command_line_says_what_the_library_says(cli: Cli) -> None:
    assert cli(*TRUTH, *HOLDOUT, *OUT, "--seed", "3")[0] == 0
    found = audit(
        "release.csv", dl.Schema.load("privacy.toml"), truth="patients.csv", holdout="others/patients.csv", seed=3
    )
    from dalenius.reports.document import plain

    document = written()
    for key, value in plain(found.to_document()).items():
        assert document[key] == value


def test_reveal_is_off_unless_asked(cli: Cli) -> None:
    assert cli(*TRUTH, *OUT)[0] == 0
    assert not any("value" in person for person in written()["at_risk"])
    assert cli(*TRUTH, *OUT, "--reveal")[0] == 0
    values = {row.split(",")[-1] for row in Path("patients.csv").read_text(encoding="utf-8").splitlines()[1:]}
    assert {person["value"] for person in written()["at_risk"]} <= values


def test_parquet_says_the_same_as_csv(cli: Cli) -> None:
    pandas = pytest.importorskip("pandas")
    assert cli(*TRUTH, *OUT)[0] == 0
    from_csv = written()
    for name in ("release", "patients"):
        pandas.read_csv(f"{name}.csv", dtype=str, keep_default_na=False).to_parquet(f"{name}.parquet")
    assert cli("release.parquet", "--truth", "patients.parquet", *OUT)[0] == 0
    from_parquet = written()
    for document in (from_csv, from_parquet):
        document.pop("run")
        document["release"].pop("sha256")
    assert from_csv == from_parquet


def test_a_channel_is_refused_in_words(cli: Cli) -> None:
    Path("channel.csv").write_text("input,a,b\nx,0.5,0.5\ny,1,0\n", encoding="utf-8")
    code, _, err = cli("channel.csv", "--kind", "channel")
    assert code == 2
    assert "A release of kind 'channel' is not about a table of people" in err


def test_counts_have_no_classes(cli: Cli) -> None:
    """Nothing that needs classes is said of them, and what could not be tested is named."""
    Path("noisy.json").write_text(
        '{"mechanism": "none", "scale": 0, "epsilon": null, "sensitivity": 1, "neighbours": "add-remove"}',
        encoding="utf-8",
    )
    table = dl.Table("patients.csv", "privacy.toml")
    lines = ["column,value,disease,count"]
    for column in table.schema.quasi:
        lines += [
            f"{column.name},{leaf},{value},1" for leaf in column.leaves for value in table.schema["disease"].leaves
        ]
    Path("noisy.counts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for truth in ((), ("--truth", "patients.csv")):
        code, out, _ = cli("noisy", *truth, *OUT)
        assert code == 0
        assert "counts (noisy-counts), none, no noise" in out
        document = written()
        assert document["release"] | {"sha256": None} == {
            "kind": "noisy-counts", "people": None, "classes": None, "suppressed": None, "sha256": None, "epsilon": None,
            "quasi": [column.name for column in table.schema.quasi], "sensitive": ["disease"],
            "columns_left": remaining.to_document(remaining.columns_left(dl.read_release("noisy", "privacy.toml"))),
        }  # fmt: skip
        assert {one["state"] for one in document["release"]["columns_left"].values()} == {"kept"}
        assert (document["levels"], document["risks"], document["epsilon_privacy"]) == (None, None, [])
        assert set(document["utility"]) == ({"relative_error", "relative_error_median"} if truth else set())
        assert any("has no classes" in limit for limit in document["limits"])
    code, _, err = cli("noisy", "--adversary", "III:uniform")
    assert code == 2
    assert "Realistic adversaries look at classes" in err
