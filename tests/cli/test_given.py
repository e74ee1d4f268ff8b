"""`dalenius publish --given`: two hospitals that share patients, what is told and written, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dalenius import datasets
from dalenius.cli import app

Cli = Callable[..., tuple[int, str, str]]
PEOPLE = 240
KEYS = {
    "releases", "people", "located", "l", "smallest_posterior", "below_l", "already_below", "worsened", "contradicted",
    "mean_posterior_anonymity", "differences",
}  # fmt: skip
ASKED = {
    "mondrian": ("--k", "4"),
    "lattice": ("--k", "4"),
    "microaggregation": ("--k", "4"),
    "anatomy": ("--l", "2", "--seed", "1"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The patients of two hospitals, half of whom are in both, and the releases of the first."""
    place = tmp_path_factory.mktemp("given")
    header, *lines = datasets.save_hospital(place, 3 * PEOPLE // 2, seed=5).read_text(encoding="utf-8").splitlines()
    for name, some in (("first", lines[:PEOPLE]), ("second", lines[-PEOPLE:])):
        (place / f"{name}.csv").write_text("\n".join([header, *some]) + "\n", encoding="utf-8")
    for method, asked in ASKED.items():
        where = ("-o", str(place / f"old-{method}"), "--schema", str(place / "privacy.toml"))
        more = ("--l", "2") if method == "mondrian" else ()  # nobody is found out by that one alone
        assert app.run(["publish", str(place / "first.csv"), "--method", method, *asked, *more, *where, "-q"]) == 0
    return place


@pytest.fixture
def cli(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def document(cli: Cli, *arguments: str) -> dict[str, Any]:
    code, out, err = cli(*arguments, "--json", "-")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def publish(cli: Cli, method: str, *options: str, output: str = "new") -> dict[str, Any]:
    return document(cli, "publish", "second.csv", "--method", method, *ASKED[method], "-o", output, *options)


def diseases() -> set[str]:
    lines = Path("second.csv").read_text(encoding="utf-8").splitlines()[1:]
    return {line.rpartition(",")[2] for line in lines}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mondrian", "lattice"])
def test_what_is_left_together(cli: Cli, method: str) -> None:
    """As `compose` attacks the two releases: somebody is found out without --given, and nobody with it."""
    plain = publish(cli, method, output="plain")
    assert "given" not in plain
    shown = publish(cli, method, "--given", "old-mondrian")
    told = shown["given"]
    assert told.keys() == KEYS
    assert (told["releases"], told["people"], told["l"], told["below_l"]) == (1, PEOPLE, 2, 0)
    assert PEOPLE // 2 <= told["located"] < PEOPLE
    assert told["already_below"] == told["contradicted"] == 0
    assert shown["classes"] <= plain["classes"]
    before, after = (
        document(cli, "compose", "old-mondrian", name, "--targets", "second.csv") for name in ("plain", "new")
    )
    assert before["PVP"]["100"] > 0
    assert after["PVP"]["100"] == after["empty_intersections"] == 0
    assert after["mean_posterior_anonymity"] == pytest.approx(told["mean_posterior_anonymity"])
    sidecar = Path("new.meta.json").read_text(encoding="utf-8")
    assert json.loads(sidecar)["given"] == {key: value for key, value in told.items() if key != "differences"}
    assert not any(disease in sidecar for disease in diseases())
    code, out, err = cli(
        "publish", "second.csv", "--method", method, *ASKED[method], "-o", "new", "--given", "old-mondrian"
    )
    assert code == 0
    assert f"  given      1 earlier release locates {told['located']} of {PEOPLE} people\n" in out
    together = " ".join(out.split())
    assert "together intersecting all releases leaves at least 2 values for everybody; " in together
    moved = told["differences"][0]
    assert (
        f"  changes    since old-mondrian: at least {moved['joined']} people joined and {moved['left']} left\n" in out
    )
    # Half of the people are in both hospitals, so that half of each joined and left, and the counts cannot tell all of them.
    assert 0 < moved["joined"] <= PEOPLE // 2
    assert 0 < moved["left"] <= PEOPLE // 2
    assert "finer differences were not tested" in err
    assert not any(disease in out + err for disease in diseases())


@pytest.mark.parametrize("method", list(ASKED))
def test_several_releases_of_every_kind(cli: Cli, method: str) -> None:
    old = [option for name in ("mondrian", "anatomy", "lattice") for option in ("--given", f"old-{name}")]
    told = publish(cli, method, *old, "--given-confidence", "0.34")["given"]
    assert (told["releases"], told["l"], told["below_l"]) == (3, 3, 0)
    assert told["already_below"] > 0
    assert told["smallest_posterior"] < 3  # those who were below
    code, out, _ = cli("publish", "second.csv", "--method", method, *ASKED[method], "-o", "new", *old, "--given-l", "3")
    assert code == 0
    assert f"{told['already_below']} people have fewer than 3 values left, whatever is published" in " ".join(
        out.split()
    )
    assert (
        f"intersecting all releases leaves at least 3 values for {told['people'] - told['already_below'] - told['contradicted']} pe"
        in " ".join(out.split())
    )


def test_centroids_that_contradict(cli: Cli) -> None:
    """The nearest centroid is not always the right one: what it says and what a class says may exclude each other."""
    old = ("--given", "old-microaggregation", "--given", "old-mondrian")
    told = publish(cli, "mondrian", *old)["given"]
    assert told["contradicted"] > 0
    assert told["below_l"] == 0
    code, out, _ = cli("publish", "second.csv", "--method", "mondrian", "--k", "4", "-o", "new", *old)
    assert code == 0
    assert f"leave no value for {told['contradicted']} " in " ".join(out.split())


def test_what_is_missing_is_not_known(cli: Cli) -> None:
    """As in `compose`: a patient without a nationality may be in every class that fits the rest, not only in one of such."""
    for name in ("first.csv", "second.csv"):
        header, *lines = Path(name).read_text(encoding="utf-8").splitlines()
        at = header.split(",").index("nationality")
        cells = [line.split(",") for line in lines]
        cells = [[*c[:at], "", *c[at + 1 :]] if int(c[0][1:]) % 3 == 0 else c for c in cells]
        Path(name).write_text("\n".join([header, *(",".join(c) for c in cells)]) + "\n", encoding="utf-8")
    assert cli("publish", "first.csv", "--method", "mondrian", "--k", "3", "-o", "old", "-q")[0] == 0
    told = publish(cli, "lattice", "--given", "old", "--given", "old-anatomy")["given"]
    # Attacked by the new release as well, which knows who has none: everybody is in their own class of it.
    left = document(cli, "compose", "old", "old-anatomy", "--targets", "second.csv", "-o", "left.csv")
    assert told["located"] == PEOPLE - sum(",,,," in line for line in Path("left.csv").read_text().splitlines())
    assert told["contradicted"] == left["empty_intersections"]
    found = [line.split(",")[3] for line in Path("left.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert told["already_below"] == sum(n == "1" for n in found)
    assert told["already_below"] > 0


def rename(value: str, other: str, domain: str = "") -> None:
    """The earlier release as another tool writes it: the column and one value are called otherwise."""
    header, *lines = Path("old-mondrian").read_text(encoding="utf-8").splitlines()
    lines = [line.removesuffix(value) + other if line.endswith("," + value) else line for line in lines]
    header = header.replace("disease", "diagnosis")
    Path("theirs.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    schema = Path("privacy.toml").read_text(encoding="utf-8").replace("disease", "diagnosis")
    Path("theirs.toml").write_text(f"{schema}{domain}", encoding="utf-8")


def test_a_schema_for_each_and_other_names(cli: Cli) -> None:
    some = sorted(diseases())[0]
    rename(some, "Something else")
    Path("map.csv").write_text(f"from,to\nSomething else,{some}\n", encoding="utf-8")
    mine = publish(cli, "mondrian", "--given", "old-mondrian")
    other = publish(
        cli, "mondrian", "--given", "theirs.csv", "--given-schema", "theirs.toml", "--given-map", "map.csv", output="b"
    )
    assert _unnamed(other["given"]) == _unnamed(mine["given"])
    both = ("--given", "old-mondrian", "--given", "theirs.csv", "--given-map", "map.csv")
    schemas = ("--given-schema", "privacy.toml", "--given-schema", "theirs.toml")
    together = publish(cli, "mondrian", *both, *schemas, output="c")["given"]
    assert len(together["differences"]) == 2
    told = _unnamed(mine["given"])
    assert _unnamed(together) == told | {"releases": 2, "differences": told["differences"] * 2}


def _unnamed(told: dict[str, Any]) -> dict[str, Any]:
    """What is said of earlier releases, but for their names."""
    return told | {"differences": [one | {"release": ""} for one in told["differences"]]}


def test_sensitive_domains_that_differ(cli: Cli) -> None:
    """The values are those of the domains, not of a person."""
    tree = Path("hospital_hierarchy_disease.csv").read_text(encoding="utf-8").splitlines()
    domain = [line.partition(";")[0] for line in tree]
    rename("Flu", "Flu", f"domain = {json.dumps([*domain, 'Plague'], ensure_ascii=False)}\n")
    refused(
        cli, "--given", "theirs.csv", "--given-schema", "theirs.toml",
        says=("second.csv and theirs.csv differ: only theirs.csv has Plague.", "--given-map"),
    )  # fmt: skip


def refused(cli: Cli, *options: str, says: tuple[str, ...], method: str = "mondrian") -> None:
    before = {path: path.read_bytes() for path in Path().iterdir()}
    asked = ASKED.get(method, ("--epsilon", "1"))
    code, out, err = cli("publish", "second.csv", "--method", method, *asked, "-o", "new", *options)
    assert (code, out) == (2, "")
    for words in says:
        assert words in err
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--given", "absent.csv"), ("absent.csv",)),
        (("--given", "old-mondrian", "--given-schema", "absent.toml"), ("absent.toml",)),
        (("--given", "old-mondrian", "--given-map", "absent.csv"), ("absent.csv",)),
        (("--given", "old-mondrian", "--given-l", "1"), ("'--given-l'", "an int ≥ 2. Got 1")),
        (
            ("--given", "old-mondrian", "--given-l", "99"),
            ("99 values are impossible: the table has only 12 sensitive values", "--given-l"),
        ),
        (("--given", "old-mondrian", "--given-confidence", "0"), ("'--given-confidence'", "above 0")),
        (("--given", "old-mondrian", "--given-confidence", "1.5"), ("'--given-confidence'", "at most 1")),
        (("--given-l", "2"), ("--given-l needs an earlier release", "--given RELEASE")),
        (("--given-l", "0"), ("--given-l needs an earlier release",)),
        (("--given-confidence", "0.5"), ("--given-confidence needs an earlier release",)),
        (("--given-schema", "privacy.toml"), ("--given-schema needs an earlier release",)),
        (("--given-map", "first.csv"), ("--given-map needs an earlier release",)),
        (("--given", "old-mondrian", *(("--given-schema", "privacy.toml") * 2)), ("1 earlier release and 2 schemas",)),
        (("--given", "old-mondrian", "--json", "old-mondrian"), ("old-mondrian",)),
        (("--given", "old-anatomy", "--json", "old-anatomy.sensitive.csv"), ("old-anatomy.sensitive.csv",)),
    ],
)
def test_what_is_refused(cli: Cli, options: tuple[str, ...], says: tuple[str, ...]) -> None:
    refused(cli, *options, says=says)


def test_noisy_counts(cli: Cli) -> None:
    assert cli("publish", "first.csv", "--method", "noisy-counts", "--epsilon", "1", "-o", "counts", "-q")[0] == 0
    refused(cli, "--given", "counts", says=("--given counts", "no groups", "Leave it out"))
    refused(cli, "--given", "old-mondrian", method="noisy-counts", says=("noisy counts have none", "Leave it out"))


def test_schemas_that_cannot_be_held_against_each_other(cli: Cli) -> None:
    text = Path("privacy.toml").read_text(encoding="utf-8")
    two = text.replace('sensitive = "disease"', 'sensitive = ["disease", "admission"]').replace(
        '"other"', '"sensitive"'
    )
    Path("two.toml").write_text(two, encoding="utf-8")
    refused(cli, "--given", "old-mondrian", "--schema", "two.toml", says=("one sensitive column, and two.toml has 2",))
    renamed = two.replace("disease", "diagnosis")
    Path("renamed.toml").write_text(renamed, encoding="utf-8")
    refused(cli, "--given", "old-mondrian", "--given-schema", "renamed.toml", says=("2 sensitive columns", "'disease'"))


def test_a_table_too_large_to_be_kept(cli: Cli) -> None:
    refused(
        cli,
        "--given",
        "old-mondrian",
        "--most-cells",
        "150",
        method="lattice",
        says=("one by one", "Raise --most-cells"),
    )


def test_other_columns_altogether(cli: Cli) -> None:
    Path("blood.csv").write_text("blood,disease\nA,Flu\nB,Asthma\n", encoding="utf-8")
    Path("blood.toml").write_text(
        'sensitive = "disease"\n[columns.blood]\nrole = "quasi"\n[columns.disease]\nrole = "sensitive"\n',
        encoding="utf-8",
    )
    refused(
        cli, "--given", "blood.csv", "--given-schema", "blood.toml",
        says=("blood.toml has none of the quasi-identifiers of privacy.toml", "--given-schema"),
    )  # fmt: skip
