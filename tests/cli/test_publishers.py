"""`dalenius publish` and `audit` by every method: what is written holds what was asked, and what is refused and how."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped, unused-ignore]
import pytest

import dalenius as dl
from dalenius.adversaries import adversaries_needing
from dalenius.cli import app
from dalenius.criteria import DistinctDiversity, KAnonymity
from dalenius.errors import InputError
from dalenius.publishers import base, counting
from dalenius.publishers.registry import PUBLISHERS, from_options
from dalenius.reports.json_schema import audit_schema
from tests.conftest import Run, unwarned

Answer = tuple[int, str, str]
Cli = Callable[..., Answer]
Row = dict[str, str]
METHODS = tuple(PUBLISHERS)
PEOPLE = 150
QUASI = ("age", "sex", "zip", "nationality")
# For each method a way to ask for something, and the files that it writes for -o out.
ASKED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lattice": (("--k", "4", "--suppression", "0.1"), ("out",)),
    "mondrian": (("--k", "4", "--l", "2"), ("out",)),
    "microaggregation": (("--k", "4"), ("out",)),
    "anatomy": (("--l", "3"), ("out.quasi.csv", "out.sensitive.csv")),
    "noisy-counts": (("--epsilon", "0.5"), ("out.counts.csv", "out.json")),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hospital, other patients, and a release by each method that is called after it."""
    place = tmp_path_factory.mktemp("made")
    table = dl.datasets.save_hospital(place, PEOPLE, seed=5)
    dl.datasets.save_hospital(place, 90, seed=6, name="others.csv")
    for method, (asked, _) in ASKED.items():
        where = ("-o", str(place / method), "--schema", str(place / "privacy.toml"))
        assert app.run(["publish", str(table), "--method", method, *asked, *where, "-q"]) == 0
    return place


@pytest.fixture
def cli(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process, in a folder with all those files: exit code, output, message."""
    monkeypatch.chdir(tmp_path)
    for file in made.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def publish(cli: Cli, method: str, *options: str) -> dict[str, Any]:
    """Publish the hospital as `out`; what the command says of it."""
    arguments = options if "-o" in options else ("-o", "out", *options)
    code, out, err = cli("publish", "patients.csv", "--method", method, *arguments, "--json", "-")
    assert code == 0, err
    document: dict[str, Any] = json.loads(out)
    gone = [name for name, left in document["columns_left"].items() if left["state"] == "gone"]
    assert err.startswith(f"WARNING: Nothing is left of {', '.join(gone)}:" if gone else "")
    assert len(err.splitlines()) == bool(gone)
    return document


def rows(name: str) -> list[Row]:
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def column(lines: Sequence[Row], name: str) -> list[str]:
    return [line[name] for line in lines]


# ---------------------------------------------------------------------------- what was asked holds


def checked(cli: Cli, arguments: Sequence[str]) -> dict[str, Any]:
    """What `check` reads back from the disk, asked about the adversaries that were named."""
    pairs = list(zip(arguments[::2], arguments[1::2], strict=True))
    options: list[str] = []
    for option, text in pairs:
        if option == "--epsilon-privacy":
            options += ["--adversary", text.rpartition(":")[0]]
        if option in ("--known", "--predicate"):
            options += [option, text]
        if option == "--recursive-l":
            options += [option, text.partition(",")[2]]
    code, out, err = cli("check", "out", *options, "--json", "-")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def assert_holds(found: dict[str, Any], arguments: Sequence[str]) -> None:
    """Every criterion among the arguments, against the levels."""
    slack = 1e-9
    for option, text in zip(arguments[::2], arguments[1::2], strict=True):
        number = float(text) if text.replace(".", "").isdigit() else 0.0
        if option == "--k":
            assert found["k_anonymity"]["k"] >= number
        elif option == "--l":
            assert found["distinct_l_diversity"]["l"] >= number
        elif option == "--entropy-l":
            assert found["entropy_l_diversity"]["l"] >= number - slack
        elif option == "--recursive-l":
            assert found["recursive_c_l_diversity"]["l"] == int(text.partition(",")[2])
            assert float(found["recursive_c_l_diversity"]["c"]) < float(text.partition(",")[0])
        elif option == "--t":
            t, _, ground = text.partition(":")
            assert found["t_closeness"][ground or "equal"] <= float(t) + slack
        elif option == "--alpha":
            assert found["alpha_k_anonymity"]["alpha"] <= number + slack
        elif option == "--delta":
            assert float(found["delta_disclosure"]["delta"]) < number
        elif option == "--beta":
            assert found["basic_beta_likeness"]["beta"] <= number + slack
        elif option == "--enhanced-beta":
            assert found["enhanced_beta_likeness"]["beta"] <= number + slack
        elif option == "--epsilon-privacy":
            who, _, epsilon = text.rpartition(":")
            assert float(found["epsilon_privacy"][who]) <= float(epsilon) + slack
        else:
            assert option in IDLE


IDLE = ("--known", "--predicate", "--cuts")
CRITERIA = (
    ("--k", "7"),
    ("--l", "4"),
    ("--entropy-l", "3.5"),
    ("--recursive-l", "2,3"),
    ("--t", "0.35"),
    ("--t", "0.4:hierarchical", "--t", "0.25:ordered"),
    ("--alpha", "0.4", "--k", "3"),
    ("--beta", "3"),
    ("--enhanced-beta", "1.9"),
    ("--k", "5", "--l", "3", "--t", "0.5"),
    ("--epsilon-privacy", "I:table:200:3"),
    ("--k", "4", "--epsilon-privacy", "II:200:40", "--known", "1"),
    ("--epsilon-privacy", "III:table:3", "--predicate", "{HIV, Hepatitis}", "--l", "2"),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [*CRITERIA, *((*asked, "--cuts", "hierarchy") for asked in CRITERIA[::5])], ids=" ".join
)
def test_mondrian_holds_any_conjunction(cli: Cli, asked: tuple[str, ...]) -> None:
    told = publish(cli, "mondrian", *asked)
    found = checked(cli, asked)
    assert_holds(found, asked)
    assert (found["kind"], found["people"], found["suppressed"]) == ("generalized", PEOPLE, 0)
    assert found["classes"] == told["classes"] > 1
    assert told["cuts"] == ("hierarchy" if "--cuts" in asked else "order")
    assert len(told["criteria"]) == sum(option not in IDLE for option in asked[::2])


def test_what_only_one_class_satisfies_is_one_class(cli: Cli) -> None:
    """δ is infinite where a value of the table is wanting; t = 0 is the table's distribution."""
    for asked in (("--delta", "0.01"), ("--t", "0"), ("--k", str(PEOPLE))):
        assert publish(cli, "mondrian", *asked)["classes"] == 1
        assert_holds(checked(cli, asked), asked)
        assert set(column(rows("out"), "sex")) == {"{F, M}"}


LATTICE = (("--k", "5", "--l", "3"), ("--t", "0.5", "--epsilon-privacy", "I:table:200:4"))


@pytest.mark.parametrize("asked", LATTICE, ids=" ".join)
def test_the_lattice_holds_what_it_held(cli: Cli, asked: tuple[str, ...]) -> None:
    told = publish(cli, "lattice", *asked, "--suppression", "0.1")
    found = checked(cli, asked)
    assert_holds(found, asked)
    assert (found["classes"], found["suppressed"]) == (told["classes"], told["suppressed"])


BY_K = (("--k", "2"), ("--k", "7"), ("--k", "75"), ("--k", "150"), ("--k", "5", "--block", "40"))


@pytest.mark.parametrize("asked", BY_K, ids=" ".join)
def test_microaggregation_holds_k(cli: Cli, asked: tuple[str, ...]) -> None:
    shown = "ranges" if asked[1] in ("7", "150") else "centroids"
    told = publish(cli, "microaggregation", *asked, "--shown", shown)
    found = checked(cli, asked[:2])
    assert_holds(found, asked[:2])
    k = int(asked[1])
    assert found["kind"] == ("centroids" if shown == "centroids" else "generalized")
    assert found["people"] == PEOPLE
    assert found["class_sizes"]["largest"] <= 2 * k - 1
    assert found["classes"] == told["classes"]
    if "--block" not in asked:
        assert found["classes"] == PEOPLE // k


def largest_l(people: Sequence[Row]) -> int:
    return len(people) // max(Counter(column(people, "disease")).values())


def test_anatomy_holds_every_possible_l_and_refuses_the_others(cli: Cli) -> None:
    most = largest_l(rows("patients.csv"))
    assert most >= 3
    for l in range(2, most + 1):  # noqa: E741 - the literature's letter
        told = publish(cli, "anatomy", "--l", str(l))
        found = checked(cli, ())
        assert found["distinct_l_diversity"]["l"] >= l
        assert found["class_sizes"]["smallest"] >= l
        assert found["alpha_k_anonymity"]["alpha"] <= 1 / l + 1e-9  # no value twice
        assert (found["kind"], found["classes"]) == ("anatomized", told["classes"])
        assert told["classes"] == PEOPLE // l
    before = files()
    for l in (most + 1, most + 2, PEOPLE):  # noqa: E741
        code, out, err = cli("publish", "patients.csv", "--method", "anatomy", "--l", str(l), "-o", "out")
        assert (code, out) == (2, "")
        assert f"ℓ = {l} is not possible" in err
        assert f"The largest possible ℓ is {most}." in err
    assert files() == before


def test_anatomy_merged(cli: Cli) -> None:
    told = publish(cli, "anatomy", "--l", "2", "--merge", "3")
    found = checked(cli, ())
    assert found["k_anonymity"]["k"] >= 6
    assert found["distinct_l_diversity"]["l"] >= 2
    assert found["alpha_k_anonymity"]["alpha"] <= 1 / 2 + 1e-9
    assert told["classes"] == found["classes"] == PEOPLE // 2 // 3
    assert told["merge"] == 3


# ---------------------------------------------------------------------------- the files


def sensitive_values(lines: Sequence[Row]) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in lines:
        found[line["disease"]] += int(line["count"])
    return found


@pytest.mark.parametrize("method", ["lattice", "mondrian", "microaggregation"])
def test_row_order_and_columns_are_the_tables(cli: Cli, method: str) -> None:
    table = rows("patients.csv")
    for options in ((), ("--shown", "ranges")) if method == "microaggregation" else ((),):
        publish(cli, method, *ASKED[method][0], *options)
        found = rows("out")
        expected = [name for name in table[0] if name != "patient"]
        assert list(found[0]) == (["group", *expected] if method == "microaggregation" else expected)
        for name in ("admission", "disease"):
            assert column(found, name) == column(table, name)
        assert not any(person["patient"] in Path("out").read_text(encoding="utf-8") for person in table)
        # Nobody is excluded from their own class: the divergence of boxes is finite.
        code, out, _ = cli("compare", "out", "--truth", "patients.csv", "--queries", "5", "--json", "-")
        assert code == 0
        (cost,) = json.loads(out)["releases"]
        assert cost["kl_divergence"] != "inf"


def test_anatomys_files_tell_the_tables_people(cli: Cli) -> None:
    publish(cli, "anatomy", "--l", "3")
    table, quasi, sensitive = rows("patients.csv"), rows("out.quasi.csv"), rows("out.sensitive.csv")
    assert list(quasi[0]) == ["group", *(name for name in table[0] if name not in ("patient", "disease"))]
    assert list(sensitive[0]) == ["group", "disease", "count"]
    for name in (*QUASI, "admission"):
        assert column(quasi, name) == column(table, name)
    assert sensitive_values(sensitive) == Counter(column(table, "disease"))
    # Everybody's own value is in their group.
    pairs = {(line["group"], line["disease"]) for line in sensitive}
    groups = column(quasi, "group")
    assert all((group, person["disease"]) in pairs for group, person in zip(groups, table, strict=True))


def test_the_seed_of_anatomy_repeats_the_draw_and_without_it_there_is_another(cli: Cli) -> None:
    drawn = []
    for options in (("--seed", "4"), ("--seed", "4"), ("--seed", "5"), (), ()):
        publish(cli, "anatomy", "--l", "3", *options)
        drawn.append(Path("out.quasi.csv").read_bytes())
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 4


@pytest.mark.parametrize("method", [method for method in METHODS if method != "noisy-counts"])
def test_shuffle(cli: Cli, method: str) -> None:
    """The same lines in another order, drawn anew each time; the sidecar says that they are shuffled, and no more."""
    options = (*ASKED[method][0], *(("--seed", "1") if method == "anatomy" else ()))
    publish(cli, method, *options)
    name = ASKED[method][1][0]
    plain = Path(name).read_text(encoding="utf-8").splitlines()
    others = {file: Path(file).read_bytes() for file in ASKED[method][1][1:]}
    orders = []
    for _ in range(2):
        publish(cli, method, *options, "--shuffle")
        orders.append(Path(name).read_text(encoding="utf-8").splitlines())
        assert json.loads(Path("out.meta.json").read_text(encoding="utf-8"))["shuffled"] is True
    assert orders[0] != orders[1]
    for order in orders:
        assert order[0] == plain[0]
        assert order[1:] != plain[1:]
        if method == "microaggregation":  # groups are numbered anew, too: the number stands in front
            assert [line.partition(",")[2] for line in order[1:]] != [line.partition(",")[2] for line in plain[1:]]
            assert sorted(line.partition(",")[2] for line in order) == sorted(line.partition(",")[2] for line in plain)
        else:
            assert sorted(order) == sorted(plain)
    assert {file: Path(file).read_bytes() for file in others} == others


def test_noisy_counts_have_every_value_of_the_domains(cli: Cli) -> None:
    publish(cli, "noisy-counts", "--epsilon", "0.5", "--joint", "sex,nationality", "--noise", "laplace")
    lines = rows("out.counts.csv")
    assert list(lines[0]) == ["column", "value", "disease", "count"]

    def leaves(name: str) -> list[str]:
        text = Path(f"hospital_hierarchy_{name}.csv").read_text(encoding="utf-8")
        return [line.split(";")[0] for line in text.splitlines()]

    expected = {
        **{name: set(leaves(name)) for name in ("age", "zip")},
        '["sex", "nationality"]': {json.dumps([a, b]) for a in leaves("sex") for b in leaves("nationality")},
    }
    assert {name: {line["value"] for line in lines if line["column"] == name} for name in expected} == expected
    values = set(leaves("disease"))
    assert len(lines) == sum(map(len, expected.values())) * len(values)
    meta = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert meta == {
        "mechanism": "laplace", "scale": pytest.approx(6), "epsilon": pytest.approx(0.5), "sensitivity": 3,
        "neighbours": "add-remove",
    }  # fmt: skip
    assert meta["epsilon"] <= 0.5
    assert publish(cli, "noisy-counts", "--epsilon", "0.5", "--neighbours", "replace")["sensitivity"] == 8


def test_counts_of_labels_and_of_gaussian_columns(cli: Cli) -> None:
    """Nationality at level 1, zip and sex together, ages as moments; read back, attacked and audited."""
    asked = ("--level", "nationality=1", "--level", "zip=2", "--joint", "zip,sex", "--gaussian", "age=18:90")
    said = publish(cli, "noisy-counts", "--epsilon", "2", *asked)
    assert said["levels"] == {"nationality": 1, "zip": 2}
    assert said["gaussian"] == {"age": {"low": 18, "high": 90}}
    assert said["sensitivity"] == 2 + 3
    lines = rows("out.counts.csv")
    text = Path("hospital_hierarchy_nationality.csv").read_text(encoding="utf-8")
    nations = {line["value"] for line in lines if line["column"] == "nationality"}
    assert nations == {line.split(";")[1] for line in text.splitlines()}
    assert {line["value"] for line in lines if line["column"] == "age"} == {"n", "sum", "squares"}
    code, out, err = cli("audit", "out", "--truth", "patients.csv", "--holdout", "others.csv", "--json", "-")
    assert (code, err) == (0, "")
    assert {one["adversary"] for one in json.loads(out)["attacks"]} == {"naive-bayes"}
    code, out, err = cli("compare", "out", "--truth", "patients.csv", "--queries", "20", "--json", "-")
    assert (code, err) == (0, "")
    code, _, err = cli(
        "audit", "patients.csv", "--method", "noisy-counts", "--epsilon", "1", *asked, "-q", "-o", "a.html"
    )
    assert (code, err) == (0, "")
    page = Path("a.html").read_text(encoding="utf-8")
    assert "counts every value (every label of nationality, zip) of each quasi-identifier" in page
    assert "For age, it gives the number of people, the sum and the sum of squares instead of counts." in page
    code, out, err = cli("publish", "patients.csv", "--method", "noisy-counts", "--epsilon", "2", *asked, "-o", "again")
    assert (code, err) == (0, "")
    told = "counts of nationality (5 of 12 values),\n  zip (3 of 24 values)×sex; n, sum and squares of age\n"
    assert told in out


@pytest.mark.parametrize("adversary", sorted(adversaries_needing("counts")))
def test_every_adversary_on_counts(cli: Cli, adversary: str) -> None:
    publish(cli, "noisy-counts", "--epsilon", "2", "--level", "zip=2", "--gaussian", "age=18:90")
    people = ("--truth", "patients.csv", "--holdout", "others.csv")
    code, out, err = cli("attack", "out", "--adversary", adversary, *people, "--json", "-")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["adversary"] == adversary
    assert found["success"]["n"] == PEOPLE
    assert found["holdout_success"]["n"] == 90
    again = json.loads(cli("attack", "out", "--adversary", adversary, *people, "--json", "-")[1])
    assert {key: again[key] for key in ("success", "gain", "calibration")} == {
        key: found[key] for key in ("success", "gain", "calibration")
    }


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--level", "age"), "--level 'age': write a column and whole numbers like --level COLUMN=1"),
        (("--level", "=1"), "--level '=1': write a column"),
        (("--level", "age=1.5"), "--level 'age=1.5': write a column"),
        (("--level", "age=1", "--level", "age=2"), "--level names column 'age' twice"),
        (("--level", "age=9"), "'level' parameter of column 'age' must be an int from 0 to"),
        (("--level", "ages=1"), "'ages' is not a quasi-identifier, so it has no level. Did you mean 'age'"),
        (("--gaussian", "age=18"), "--gaussian 'age=18': write a column and whole numbers like --gaussian COLUMN=0:99"),
        (("--gaussian", "age=a:b"), "--gaussian 'age=a:b': write a column"),
        (("--gaussian", "age=90:18"), "must be LOW < HIGH. Got 90 and 18"),
        (("--gaussian", "sex=0:1"), "'sex' cannot be Gaussian: it has no numbers"),
        (("--gaussian", "age=18:90", "--joint", "age,sex"), "'age' is Gaussian and cannot be counted together"),
        (("--gaussian", "age=18:90", "--level", "age=1"), "'age' is Gaussian and not counted"),
    ],
    ids=str,
)  # fmt: skip
def test_levels_and_bounds_that_cannot_be(cli: Cli, asked: tuple[str, ...], message: str) -> None:
    code, _, err = cli("publish", "patients.csv", "--method", "noisy-counts", "--epsilon", "1", *asked, "-o", "none")
    assert code == 2
    assert message in err
    assert not Path("none.counts.csv").exists()


def test_negative_counts_are_read_back(cli: Cli) -> None:
    """At ε = 0.02 the noise is ±200 and more; half of the counts of nobody are below 0."""
    publish(cli, "noisy-counts", "--epsilon", "0.02")
    lines = rows("out.counts.csv")
    assert sum(line["count"].startswith("-") for line in lines) > len(lines) / 4
    code, out, err = cli("compare", "out", "--truth", "patients.csv", "--queries", "20", "--json", "-")
    assert (code, err) == (0, "")
    assert json.loads(out)["releases"][0]["relative_error"] > 0
    code, _, err = cli("audit", "out", "--truth", "patients.csv", "-q", "--json", "a.json")
    assert (code, err) == (0, "")
    code, _, err = cli("check", "out")
    assert code == 2
    assert "a release of kind 'noisy-counts' has no classes, so there is nothing to check" in err


# ---------------------------------------------------------------------------- the sidecars


def keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


PARAMETERS: dict[str, dict[str, object]] = {
    "lattice": {"kind": "generalized", "criteria": ["k = 4"], "suppression": 0.1, "utility": "loss"},
    "mondrian": {"kind": "generalized", "criteria": ["k = 4", "distinct ℓ = 2"], "cuts": "order", "suppressed": 0},
    "microaggregation": {"kind": "centroids", "criteria": ["k = 4"], "k": 4, "shown": "centroids", "block": None},
    "anatomy": {"kind": "anatomized", "criteria": ["distinct ℓ = 3"], "l": 3, "merge": 1},
    "noisy-counts": {
        "kind": "noisy-counts", "mechanism": "geometric", "epsilon": 0.5, "scale": 8.0, "sensitivity": 4.0,
        "neighbours": "add-remove", "tables": [[name] for name in QUASI],
        "criteria": ["ε = 0.5 differential privacy (add-remove)"],
    },
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_the_sidecar(cli: Cli, method: str, tmp_path: Path) -> None:
    asked, written = ASKED[method]
    seed = ("--seed", "918273645") if method == "anatomy" else ()
    before = set(files())
    told = publish(cli, method, *asked, *seed)
    assert set(files()) - before == {*written, "out.meta.json"}
    text = Path("out.meta.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["method"] == method
    assert {key: document[key] for key in PARAMETERS[method]} == PARAMETERS[method]
    assert document["shuffled"] is False
    assert set(document["versions"]) >= {"dalenius", "python", "numpy"}
    assert document["versions"]["dalenius"] == dl.__version__
    together = b"".join(Path(name).read_bytes() for name in written)
    assert document["sha256"] == {"release": hashlib.sha256(together).hexdigest()}
    each = {name.replace("out", "NAME", 1): hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in written}
    assert document["files"] == each
    if method != "noisy-counts":
        assert (document["people"], document["classes"]) == (PEOPLE, told["classes"])
    # No seed, no path, nothing of the table but what the release tells anyway.
    assert not any("seed" in key for key in keys(document))
    for secret in ("918273645", str(tmp_path), "/", "patients", "out", *column(rows("patients.csv"), "disease")):
        assert secret not in text, secret
    # The JSON says the same of the release.
    del told["run"], told["schema_version"], told["dalenius"]
    assert {key: document[key] for key in told} == told


@pytest.mark.slow
def test_the_seed_is_written_nowhere(run: Run, made: Path, tmp_path: Path) -> None:
    """As the help says. In a process of its own, since the JSON tells of the command line."""
    done = run(
        "publish", made / "patients.csv", "--method", "anatomy", "--l", "3", "-o", "out", "--seed", "918273645",
        "--json", "out.doc.json", "--schema", made / "privacy.toml",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "918273645" not in done.stdout
    files = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert set(files) == {"out.quasi.csv", "out.sensitive.csv", "out.meta.json", "out.doc.json"}
    assert [name for name, text in files.items() if "918273645" in text] == []


@pytest.mark.parametrize("method", ["lattice", "mondrian"])
def test_a_priors_path_is_not_in_the_sidecar(cli: Cli, method: str, tmp_path: Path) -> None:
    """The file of a prior is the publisher's own; where it lies on their disk is nobody's business."""
    text = Path("hospital_hierarchy_disease.csv").read_text(encoding="utf-8")
    values = [line.split(";")[0] for line in text.splitlines()]
    lines = [f"{value},{1 / len(values)}" for value in values]
    Path("prior.csv").write_text("value,probability\n" + "\n".join(lines) + "\n", encoding="utf-8")
    publish(cli, method, "--epsilon-privacy", f"I:{tmp_path / 'prior.csv'}:300:30")
    assert str(tmp_path) not in Path("out.meta.json").read_text(encoding="utf-8")


def test_of_noisy_counts_only_the_counts_tell_anything(cli: Cli) -> None:
    """Sidecar, metadata and JSON are the same for another table, of other people and another number of them."""
    told = []
    for table in ("patients.csv", "others.csv"):
        code, out, err = cli(
            "publish", table, "-o", "out", "--method", "noisy-counts", "--epsilon", "0.5", "--joint", "age,sex",
            "--json", "-",
        )  # fmt: skip
        assert (code, err) == (0, "")
        document, sidecar = json.loads(out), json.loads(Path("out.meta.json").read_text(encoding="utf-8"))
        del document["run"], sidecar["sha256"], sidecar["files"]
        places = [(line["column"], line["value"], line["disease"]) for line in rows("out.counts.csv")]
        told.append((document, sidecar, Path("out.json").read_bytes(), places))
    assert told[0] == told[1]
    code, one, _ = cli("publish", "patients.csv", "-o", "out", "--method", "noisy-counts", "--epsilon", "0.5")
    code, two, _ = cli("publish", "others.csv", "-o", "out", "--method", "noisy-counts", "--epsilon", "0.5")
    assert one == two


# ---------------------------------------------------------------------------- what is said


SAID = {
    "lattice": ("Wrote out: age (", "people     150 in", "satisfies  k = 4", "levels     age"),
    "mondrian": ("Wrote out: age (about", "people     150 in", "satisfies  k = 4; distinct ℓ = 2"),
    "microaggregation": ("Wrote out: age (", "people     150 in 37 classes, 0 rows suppressed", "satisfies  k = 4"),
    "anatomy": (
        "Wrote out.quasi.csv and out.sensitive.csv: every column kept",
        "people     150 in 50 classes",
        "satisfies  distinct ℓ = 3",
    ),
    "noisy-counts": (
        "Wrote out.counts.csv and out.json: counts of age, sex, zip, nationality",
        "satisfies  ε = 0.5 differential privacy (add-remove)",
        "noise      geometric, scale 8, sensitivity 4, OpenDP",
    ),
}


@pytest.mark.parametrize("method", METHODS)
def test_what_is_said(cli: Cli, method: str) -> None:
    arguments = ("publish", "patients.csv", "-o", "out", "--method", method, *ASKED[method][0])
    code, out, err = cli(*arguments)
    assert (code, unwarned(err)) == (0, "")
    for words in SAID[method]:
        assert words in out
    assert not any(value in out for value in column(rows("patients.csv"), "disease"))
    if method in ("anatomy", "noisy-counts"):
        assert cli(*arguments, "--quiet") == (0, "", "")


# ---------------------------------------------------------------------------- refusals


def refused(cli: Cli, *arguments: str, message: str) -> None:
    """Exit code 2, one message, and every file as it was."""
    before = files()
    code, out, err = cli(*arguments)
    assert message in err
    assert (code, out) == (2, "")
    assert err.startswith("dalenius: ")
    assert "Traceback" not in err
    assert files() == before


OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # Whose it is, and how it is given.
    "--suppression": (("lattice",), ("0",)),
    "--suppressed-rows": (("lattice",), ("hold",)),
    "--utility": (("lattice",), ("loss",)),
    "--minimal": (("lattice",), ()),
    "--time-limit": (("lattice",), ("5",)),
    "--cuts": (("mondrian",), ("order",)),
    "--shown": (("microaggregation",), ("centroids",)),
    "--block": (("microaggregation",), ("100",)),
    "--merge": (("anatomy",), ("1",)),
    "--epsilon": (("noisy-counts",), ("1",)),
    "--noise": (("noisy-counts",), ("geometric",)),
    "--neighbours": (("noisy-counts",), ("add-remove",)),
    "--joint": (("noisy-counts",), ("age,sex",)),
    "--others-as-quasi": (("lattice", "mondrian"), ()),
}
NOT_OF_AUDIT = ("--utility", "--minimal", "--time-limit", "--others-as-quasi")


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_another_method_is_refused_by_name(cli: Cli, option: str) -> None:
    """Even where it asks for what would be done anyway. Every wrong method, and the last of them by the command line."""
    owners, given = OPTIONS[option]
    name = option.removeprefix("--").replace("-", "_")
    for method in (method for method in METHODS if method not in owners):
        message = f"{option} belongs to {', '.join(owners)} and has no effect on {method}. Leave it out."
        with pytest.raises(InputError) as error:
            from_options(method, [KAnonymity(2)], {name: given[0] if given else True})
        assert str(error.value) == message
    asked = [text for text in ASKED[method][0] if text not in ("--suppression", "0.1")]
    arguments = ("--method", method, *asked, option, *given)
    refused(cli, "publish", "patients.csv", "-o", "out", *arguments, message=message)
    if option not in NOT_OF_AUDIT:
        refused(cli, "audit", "patients.csv", "-o", "report.html", *arguments, message=message)


CRITERION = {
    "--k": ("5", "k = 5"),
    "--l": ("2", "distinct ℓ = 2"),
    "--entropy-l": ("2", "entropy ℓ = 2"),
    "--recursive-l": ("3,2", "recursive "),
    "--t": ("0.5", "t = 0.5"),
    "--delta": ("2", "δ = 2"),
    "--beta": ("2", ""),
    "--enhanced-beta": ("2", "enhanced "),
    "--alpha": ("0.5", "α = 0.5"),
    "--epsilon-privacy": ("II:100:9", "ε = 9 against II:100"),
}


@pytest.mark.parametrize("option", CRITERION)
def test_a_criterion_that_a_method_cannot_keep_is_refused(cli: Cli, option: str) -> None:
    text, words = CRITERION[option]
    for method, kept, letter in (("microaggregation", "--k", "k"), ("anatomy", "--l", "ℓ")):
        if option != kept:
            message = f"{method} can satisfy {letter} only, not {words}"
            arguments = ("--method", method, kept, "3", option, text)
            refused(cli, "publish", "patients.csv", "-o", "out", *arguments, message=message)
    arguments = ("--method", "noisy-counts", "--epsilon", "1", option, text)
    message = f"Noisy counts have no classes, so they cannot satisfy {words}"
    refused(cli, "publish", "patients.csv", "-o", "out", *arguments, message=message)


def test_a_criterion_alone_that_a_method_cannot_keep_is_refused(cli: Cli) -> None:
    """Not with a request for the one that it can keep: the user wants something else."""
    for method, option, words in (
        ("microaggregation", "--l", "microaggregation can satisfy k only, not distinct ℓ = 3. Use mondrian."),
        ("anatomy", "--k", "can satisfy ℓ only, not k = 3. Use mondrian."),
        ("noisy-counts", "--k", "Noisy counts have no classes, so they cannot satisfy k = 3"),
    ):
        refused(cli, "publish", "patients.csv", "-o", "out", "--method", method, option, "3", message=words)


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "mondrian, no criterion": (("mondrian",), "No criterion was given. Add at least one, for example k = 5."),
    "mondrian, k larger than the table": (("mondrian", "--k", "151"), "k = 151 is larger than the table, which has 150"),
    "mondrian, more values than there are": (("mondrian", "--l", "40"), "distinct ℓ = 40 is impossible"),
    "mondrian, impossible": (("mondrian", "--k", "3", "--alpha", "0.05"), "With everybody in one class, α = 0.05 fails"),
    "mondrian, unknown cuts": (("mondrian", "--k", "3", "--cuts", "median"), "must be order or hierarchy. Got 'median'"),
    "mondrian, k of none": (("mondrian", "--k", "0"), "must be an int ≥ 2 (1 demands nothing). Got 0 instead."),
    "microaggregation, no k": (("microaggregation",), "microaggregation needs k: --k 5, for example."),
    "microaggregation, k too large": (("microaggregation", "--k", "151"), "k = 151 cannot be met: the table has 150 people."),
    "microaggregation, k of none": (("microaggregation", "--k", "0"), "must be an int ≥ 2 (1 demands nothing). Got 0 instead."),
    "microaggregation, unknown shape": (("microaggregation", "--k", "3", "--shown", "mean"), "centroids or ranges. Got 'mean'"),
    "microaggregation, tiny blocks": (("microaggregation", "--k", "5", "--block", "19"), "an int ≥ 4 k = 20. Got 19"),
    "anatomy, no l": (("anatomy",), "anatomy needs ℓ: --l 3, for example."),
    "anatomy, l of one": (("anatomy", "--l", "1"), "must be an int ≥ 2 (1 demands nothing). Got 1 instead."),
    "anatomy, merge of none": (("anatomy", "--l", "2", "--merge", "0"), "must be an int ≥ 1. Got 0 instead."),
    "anatomy, merge of too many": (("anatomy", "--l", "2", "--merge", "76"), "--merge 76 is larger than the number of groups, 75"),
    "counts, no epsilon": (("noisy-counts",), "Noisy counts need a budget: --epsilon 1, for example."),
    "counts, epsilon 0": (("noisy-counts", "--epsilon", "0"), "must be a number > 0. Got 0.0 instead."),
    "counts, epsilon below 0": (("noisy-counts", "--epsilon", "-1"), "must be a number > 0. Got -1.0 instead."),
    "counts, epsilon of nothing": (("noisy-counts", "--epsilon", "nan"), "must be a number > 0. Got nan instead."),
    "counts, epsilon without end": (("noisy-counts", "--epsilon", "inf"), "must be a number > 0. Got inf instead."),
    "counts, unknown noise": (("noisy-counts", "--epsilon", "1", "--noise", "none"), "one of geometric, laplace. Got 'none'"),
    "counts, unknown neighbours": (("noisy-counts", "--epsilon", "1", "--neighbours", "all"), "add-remove, replace. Got 'all'"),
    "counts, a seed": (("noisy-counts", "--epsilon", "1", "--seed", "3"), "OpenDP, which takes no seed. Leave --seed out."),
    "counts, shuffled": (("noisy-counts", "--epsilon", "1", "--shuffle"), "no rows to shuffle: leave --shuffle out."),
    "counts, an unknown column": (
        ("noisy-counts", "--epsilon", "1", "--joint", "age,sexx"), "'sexx' is not a quasi-identifier. Did you mean 'sex'?"
    ),
    "counts, a sensitive column": (("noisy-counts", "--epsilon", "1", "--joint", "age,disease"), "'disease' is not a quasi"),
    "counts, one column": (("noisy-counts", "--epsilon", "1", "--joint", "age"), "two quasi-identifiers at least"),
    "counts, a column twice": (("noisy-counts", "--epsilon", "1", "--joint", "age,sex", "--joint", "sex,zip"), "'sex' is in two"),
    "an unknown method": (("magic", "--k", "3"), "microaggregation, anatomy, noisy-counts. Got 'magic' instead."),
    "no folder": (("anatomy", "--l", "3", "-o", "nowhere/out"), "the folder 'nowhere' does not exist. Create it first."),
    "a folder": (("mondrian", "--k", "3", "-o", "."), "that is a folder, but a file is needed"),
    "the folder itself": (("anatomy", "--l", "3", "-o", "."), "that is a folder, but a file is needed"),
    "the folder above": (("noisy-counts", "--epsilon", "1", "-o", ".."), "that is a folder, but a file is needed"),
    "the table as a name": (("anatomy", "--l", "3", "-o", "patients.csv"), "Name another"),
    "the table": (("mondrian", "--k", "3", "-o", "patients.csv"), "Name another"),
    "the schema": (("microaggregation", "--k", "3", "-o", "privacy.toml"), "Name another"),
    "a folder for the json": (("anatomy", "--l", "3", "--json", "nowhere/x.json"), "does not exist. Create it first."),
    "the json over the table": (("anatomy", "--l", "3", "--json", "patients.csv"), "Name another"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_refused(cli: Cli, case: str) -> None:
    """With older files in the place of all that would be written."""
    for name in ("out", "out.quasi.csv", "out.sensitive.csv", "out.counts.csv", "out.json", "out.meta.json"):
        Path(name).write_text("old\n", encoding="utf-8")
    arguments, message = WRONG[case]
    where = () if "-o" in arguments else ("-o", "out")
    refused(cli, "publish", "patients.csv", "--method", *arguments, *where, message=message)


@pytest.mark.parametrize("case", [
    "mondrian, no criterion", "mondrian, k larger than the table", "mondrian, impossible", "microaggregation, no k",
    "microaggregation, k too large", "anatomy, l of one", "anatomy, merge of too many", "counts, no epsilon",
    "counts, epsilon below 0", "counts, an unknown column", "an unknown method",
])  # fmt: skip
def test_the_audit_refuses_the_same(cli: Cli, case: str) -> None:
    arguments, message = WRONG[case]
    Path("report.html").write_text("old\n", encoding="utf-8")
    refused(cli, "audit", "patients.csv", "--method", *arguments, "-o", "report.html", message=message)


@pytest.mark.parametrize("method", METHODS)
def test_a_folder_of_the_same_name(cli: Cli, method: str) -> None:
    """A NAME of several files is not written itself; the files are, and each must be free."""
    Path("out").mkdir()
    asked = ("publish", "patients.csv", "--method", method, *ASKED[method][0], "-o", "out")
    if len(ASKED[method][1]) == 1:
        refused(cli, *asked, message="that is a folder, but a file is needed")
        return
    code, _, err = cli(*asked)
    assert (code, err) == (0, "")
    assert cli("audit", "out", "-q")[0] == 0
    for name in (*ASKED[method][1], "out.meta.json"):
        Path(name).unlink()
        Path(name).mkdir()
        code, _, err = cli(*asked)
        assert (code, f"Cannot write '{name}': that is a folder" in err) == (2, True)
        Path(name).rmdir()


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [(a, b) for a in ASKED for b in ASKED])
def test_the_sidecar_of_another_release_stays(cli: Cli, first: str, second: str) -> None:
    """`out.meta.json` tells how `out` was made, or `out.quasi.csv` and the other; whichever is there, it is kept."""
    (asked, made), (wanted, others) = ASKED[first], ASKED[second]
    publish(cli, first, *asked)
    before = files()
    code, _, err = cli("publish", "patients.csv", "--method", second, *wanted, "-o", "out", "-q")
    if made == others:
        assert (code, unwarned(err)) == (0, "")
        return
    assert code == 2
    assert err.startswith(f"dalenius: Cannot write 'out.meta.json': it tells how {made[0]!r} was made"), err
    assert files() == before
    for name in made:
        Path(name).unlink()
    assert cli("publish", "patients.csv", "--method", second, *wanted, "-o", "out", "-q")[0] == 0


def test_the_sidecar_of_another_release_stays_in_python_too(cli: Cli) -> None:
    publish(cli, "microaggregation", "--k", "4")
    before = files()
    published = from_options("anatomy", [DistinctDiversity(3)], {}, seed=1).run(dl.datasets.hospital(150), seed=1)
    with pytest.raises(InputError, match=r"'out\.meta\.json': it tells how 'out' was made"):
        published.write("out")
    assert files() == before


def test_a_joint_table_of_too_many_counts(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_CELLS", 28_799)
    asked = ("--method", "noisy-counts", "--epsilon", "1", "--joint", "age,zip", "-o", "out")
    refused(cli, "publish", "patients.csv", *asked, message="The table of age × zip and disease has 28,800 counts")


@pytest.mark.parametrize(("method", "name"), [(m, name) for m in ("anatomy", "noisy-counts") for name in ASKED[m][1]])
def test_one_of_several_files_over_the_table(cli: Cli, method: str, name: str) -> None:
    """The release's NAME is free, but one of its files is the table, or the schema, or a link to it."""
    Path(name).write_bytes(Path("patients.csv").read_bytes())
    asked = ("--method", method, *ASKED[method][0], "-o", "out")
    refused(cli, "publish", name, *asked, message="Name another")
    Path(name).unlink()
    Path(name).symlink_to(Path("patients.csv").resolve())
    refused(cli, "publish", "patients.csv", *asked, message="Name another")
    Path(name).unlink()
    Path(name).write_bytes(Path("privacy.toml").read_bytes())
    refused(cli, "publish", "patients.csv", *asked, "--schema", name, message="Name another")


@pytest.mark.parametrize(
    ("method", "name"), [(m, name) for m in METHODS[-3:] for name in (*ASKED[m][1], "out.meta.json")]
)
def test_the_json_over_the_release_itself(cli: Cli, method: str, name: str) -> None:
    """`-o counts --json counts.json` names the same file twice: the release would be lost."""
    for old in (*ASKED[method][1], "out.meta.json"):
        Path(old).write_text("old\n", encoding="utf-8")
    arguments = ("publish", "patients.csv", "--method", method, *ASKED[method][0], "-o", "out", "--json", name)
    refused(cli, *arguments, message="another")


@pytest.mark.parametrize("method", ["lattice", "mondrian"])
def test_a_hierarchy_is_an_input_too(cli: Cli, method: str) -> None:
    arguments = ("--method", method, *ASKED[method][0], "-o", "hospital_hierarchy_age.csv")
    refused(cli, "publish", "patients.csv", *arguments, message="Name another")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (OSError(28, "No space left on device"), 2, "Cannot write 'out"),
        (KeyboardInterrupt(), 130, "Interrupted. Nothing was written."),
    ],
    ids=["full disk", "interrupted"],
)
def test_a_failed_write_leaves_the_old_files(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, method: str, failure: BaseException, code: int, words: str
) -> None:
    """It fails when all rows are written, before anything is renamed."""
    asked, written = ASKED[method]
    for name in (*written, "out.meta.json"):
        Path(name).write_text("old\n", encoding="utf-8")
    before = files()
    seen: list[int] = []

    def fail(_release: Path, _files: list[Path], drafts: list[Path]) -> str:
        seen.extend(draft.stat().st_size for draft in drafts)
        raise failure

    monkeypatch.setattr(base.sidecar, "digests", fail)
    found, out, err = cli("publish", "patients.csv", "--method", method, *asked, "-o", "out", "--json", "doc.json")
    assert len(seen) == len(written)
    assert all(seen)
    assert (found, out) == (code, "")
    assert words in err
    assert files() == before


def test_what_is_too_much_for_a_method(cli: Cli) -> None:
    """Domains that only the data tell, and two sensitive columns: refused where they would give people away."""
    text = Path("privacy.toml").read_text(encoding="utf-8")
    Path("bare.toml").write_text(text.replace('hierarchies = "."', ""), encoding="utf-8")
    for method, words in (
        ("mondrian", "Column 'age' has no declared values"),
        ("microaggregation", "Column 'age' has no declared values"),
        ("noisy-counts", "taking them from the data would reveal who is in the table"),
    ):
        arguments = ("publish", "patients.csv", "-o", "out", "--method", method, *ASKED[method][0])
        refused(cli, *arguments, "--schema", "bare.toml", message=words)
    two = text.replace('sensitive = "disease"', 'sensitive = ["disease", "admission"]').replace(
        '"other"', '"sensitive"'
    )
    Path("two.toml").write_text(two, encoding="utf-8")
    for method, words in (
        ("anatomy", "Anatomy separates one sensitive column"),
        ("noisy-counts", "one sensitive column"),
    ):
        arguments = ("publish", "patients.csv", "-o", "out", "--method", method, *ASKED[method][0])
        refused(cli, *arguments, "--schema", "two.toml", message=words)
    code, _, err = cli(
        "publish", "patients.csv", "-o", "out", "-q", "--method", "mondrian", "--l", "3", "--schema", "two.toml"
    )
    assert (code, err) == (0, "")
    code, out, _ = cli("check", "out", "--schema", "two.toml", "--json", "-")
    levels = json.loads(out)["sensitive"]
    assert set(levels) == {"disease", "admission"}
    assert all(level["distinct_l_diversity"]["l"] >= 3 for level in levels.values())


# ---------------------------------------------------------------------------- the audit of every kind


SCHEMA = audit_schema()
KINDS = {
    "lattice": "generalized", "mondrian": "generalized", "microaggregation": "centroids", "anatomy": "anatomized",
    "noisy-counts": "noisy-counts",
}  # fmt: skip
QUERIED = ("relative_error", "relative_error_median")
COSTS = {
    "generalized": {"discernibility", "average_class_size", "suppressed", "loss", "misfit", "ncp", "kl_divergence", *QUERIED},
    "centroids": {"discernibility", "average_class_size", "suppressed", *QUERIED},
    "anatomized": {
        "discernibility", "average_class_size", "suppressed", "loss", "misfit", "ncp", "kl_divergence", "precision", *QUERIED
    },
    "noisy-counts": {*QUERIED},
}  # fmt: skip


def audited(cli: Cli, *arguments: str) -> tuple[dict[str, Any], str]:
    """The JSON of an audit, as its schema says, and the page, which must need nothing else."""
    code, out, err = cli("audit", *arguments, "-o", "report.html", "--json", "audit.json")
    assert (code, err) == (0, "")
    assert "Report: report.html" in out
    document = json.loads(Path("audit.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    for fetched in ("<script", "<link", "<iframe", "@import", " src=", "url("):
        assert fetched not in page, fetched
    return document, page


def assert_audited(document: dict[str, Any], kind: str) -> None:
    release = document["release"]
    assert release["kind"] == kind
    assert document["truth"] is True
    assert document["held_out"] == 90
    exact = {"precision", "faithfulness"}  # where labels are nodes of hierarchies
    assert set(document["utility"]) - exact == COSTS[kind] - exact
    told = [found for found in document["relative_threats"].values() if found["method"] == "exact"]
    assert ("faithfulness" in document["utility"]) == bool(told)
    if kind == "noisy-counts":
        assert (release["people"], release["classes"], release["suppressed"]) == (None, None, None)
        assert (document["levels"], document["risks"], document["epsilon_privacy"]) == (None, None, [])
    else:
        assert release["people"] == PEOPLE
        assert document["levels"]["k_anonymity"]["k"] >= 3
        assert document["risks"] is not None
        assert document["epsilon_privacy"]
    if kind in ("generalized", "anatomized"):
        played = ["random-worlds"] + ["attacker"] * bool(document["relative_threats"])
        assert [attack["adversary"] for attack in document["attacks"]] == played
        for attack in document["attacks"]:
            assert attack["success"]["n"] == PEOPLE
            assert attack["control"]["n"] == 90
            assert attack["unmatched"] == 0
        assert document["refused"] == {}
    else:
        own = {"noisy-counts": "naive-bayes", "centroids": "nearest-centroid"}[kind]
        assert [attack["adversary"] for attack in document["attacks"]] == [own]
        assert [attack["control"]["n"] for attack in document["attacks"]] == [90]
        assert "random-worlds" in document["refused"]
        assert any("random-worlds was not tried" in limit for limit in document["limits"])


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_table_published_and_audited_in_one_go(cli: Cli, method: str) -> None:
    before = files()
    document, page = audited(
        cli, "patients.csv", "--method", method, *ASKED[method][0], "--holdout", "others.csv", "--seed", "2"
    )
    assert_audited(document, KINDS[method])
    assert set(files()) - set(before) == {"report.html", "audit.json"}
    assert not any(person["patient"] in page for person in rows("patients.csv"))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_release_read_from_its_files_and_audited(cli: Cli, method: str) -> None:
    document, page = audited(cli, method, "--truth", "patients.csv", "--holdout", "others.csv")
    assert_audited(document, KINDS[method])
    assert "Audit of " + method in page
    # The costs are those of `compare`, and the checksum that of the sidecar.
    code, out, _ = cli("compare", method, "--truth", "patients.csv", "--json", "-")
    assert code == 0
    (costs,) = json.loads(out)["releases"]
    assert {key: costs[key] for key in document["utility"]} == document["utility"]
    assert all(costs[key] is None for key in set().union(*COSTS.values()) - set(document["utility"]))
    sidecar = json.loads(Path(f"{method}.meta.json").read_text(encoding="utf-8"))
    assert document["release"]["sha256"]["release"] == sidecar["sha256"]["release"]
    # Without the truth: less is said, and nothing is made up.
    code, _, err = cli("audit", method, "--json", "alone.json", "-q")
    assert (code, err) == (0, "")
    alone = json.loads(Path("alone.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(alone)
    assert alone["truth"] is False
    assert not {"kl_divergence", "relative_error"} & set(alone["utility"])
    assert all(attack["success"]["n"] == 0 for attack in alone["attacks"])


@pytest.mark.parametrize("method", ["microaggregation"])
def test_an_adversary_that_was_not_tried_is_named_on_the_screen(cli: Cli, method: str) -> None:
    """However much else there is that was not tested: a column that is not looked at, thresholds that cannot be tested."""
    with Path("privacy.toml").open("a", encoding="utf-8") as file:
        file.write("\n[policy]\nmin_faithfulness = 0.5\nmax_loss = 0.5\nmax_perfect_breach = 0.9\n")
    code, out, err = cli("audit", method, "--truth", "patients.csv", "--holdout", "others.csv")
    assert (code, err) == (0, "")
    assert "    nearest-centroid on disease\n" in out
    untested = " ".join(out.split()).split("Not tested ")[1:]
    assert "random-worlds was not tried" in untested[0]
    assert "Singling out, linkability and privacy models assume that a person's group is known" in untested[1]
    assert "Relative threats of learner and attacker were not measured" in untested[2]
    assert len(untested) == 6


def test_held_out_people_with_a_value_that_is_not_counted(cli: Cli) -> None:
    lines = Path("others.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    person, _, rest = lines[3].split(",", 2)
    lines[3] = f"{person},,{rest}"
    Path("gap.csv").write_text("".join(lines), encoding="utf-8")
    message = "has a missing value in column 'age' that the noisy counts do not include. Leave those people out"
    refused(cli, "audit", "noisy-counts", "--truth", "patients.csv", "--holdout", "gap.csv", message=message)
    one_go = ("--method", "noisy-counts", "--epsilon", "1", "--holdout", "gap.csv")
    refused(cli, "audit", "patients.csv", *one_go, message=message)


def test_mondrian_says_which_hierarchies_it_did_not_use(cli: Cli) -> None:
    """Cut in their order, categories are published as lists of values: large, and nobody's labels."""
    _, out, _ = cli(
        "publish", "patients.csv", "--method", "mondrian", "--k", "5", "-o", "lists.csv", "--json", "lists.json"
    )
    told = json.loads(Path("lists.json").read_text(encoding="utf-8"))["hierarchies_not_used"]
    assert told
    line = " ".join(out.partition("\n  lists ")[2].split())
    assert all(name in line for name in told)
    assert "--cuts hierarchy" in line
    _, out, _ = cli(
        "publish", "patients.csv", "--method", "mondrian", "--k", "5", "--cuts", "hierarchy", "-o", "nodes.csv"
    )
    assert "  lists " not in out


@pytest.mark.slow
def test_the_release_of_one_go_is_the_one_that_is_written(cli: Cli) -> None:
    """Where nothing is drawn, publishing and auditing say the same apart as together."""
    for method in ("mondrian", "microaggregation"):
        options = ASKED[method][0]
        cli("audit", "patients.csv", "--method", method, *options, "--json", "one.json", "-q")
        cli("audit", method, "--truth", "patients.csv", "--json", "two.json", "-q")
        one, two = (json.loads(Path(name).read_text(encoding="utf-8")) for name in ("one.json", "two.json"))
        for document in (one, two):
            del document["run"], document["release"]["sha256"]
            document["limits"] = [
                limit for limit in document["limits"] if not limit.startswith("Columns that were not")
            ]
        # Of classes with equal figures the one that is named depends on how the labels are spelt.
        for key in ("release", "levels", "risks", "attacks", "utility", "limits"):
            assert one[key] == two[key], (method, key)


def test_a_release_that_excludes_somebody(cli: Cli) -> None:
    """An infinite divergence is the text "inf", in JSON that its schema allows, and in the page."""
    table = rows("patients.csv")
    table[0]["age"] = "99" if table[0]["age"] != "99" else "1"
    with Path("wrong.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    document, page = audited(cli, "wrong.csv", "--truth", "patients.csv")
    assert document["utility"]["kl_divergence"] == "inf"
    assert "infinite" in page or "∞" in page


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS[-3:])
def test_a_policy_gates_every_kind(cli: Cli, method: str) -> None:
    """Counts have no classes: what needs them is not tested, which --strict does not let pass."""
    with Path("privacy.toml").open("a", encoding="utf-8") as file:
        file.write("\n[policy]\nmin_k = 3\nmax_suppressed = 0.1\n")
    code, _, err = cli("audit", method, "--truth", "patients.csv", "--strict", "-q", "--json", "audit.json")
    assert err == ""
    verdict = json.loads(Path("audit.json").read_text(encoding="utf-8"))["verdict"]
    assert (code, verdict) == ((1, "incomplete") if method == "noisy-counts" else (0, "passed"))


def test_a_policy_that_no_kind_satisfies(cli: Cli) -> None:
    with Path("privacy.toml").open("a", encoding="utf-8") as file:
        file.write("\n[policy]\nmin_k = 140\n")
    for method, code in (("microaggregation", 1), ("anatomy", 1), ("noisy-counts", 0)):
        assert cli("audit", method, "-q") == (code, "", "")


@pytest.mark.parametrize(("option", "name"), [("-o", "anatomy.quasi.csv"), ("--json", "anatomy.sensitive.csv")])
def test_the_audit_does_not_overwrite_a_file_of_the_release(cli: Cli, option: str, name: str) -> None:
    refused(cli, "audit", "anatomy", "--truth", "patients.csv", option, name, message="Cannot write")


@pytest.mark.parametrize("name", ["anatomy.quasi.csv", "anatomy.sensitive.csv"])
def test_check_does_not_overwrite_a_file_of_the_release(cli: Cli, name: str) -> None:
    refused(cli, "check", "anatomy", "--json", name, message="Cannot write")


@pytest.mark.parametrize("method", ["lattice", "mondrian", "microaggregation"])
def test_a_seed_where_nothing_is_drawn_is_refused(cli: Cli, method: str) -> None:
    refused(cli, "publish", "patients.csv", "--method", method, *ASKED[method][0], "--seed", "1", "-o", "out.csv",
            message=f"{method} draws nothing. Leave it out.")  # fmt: skip
