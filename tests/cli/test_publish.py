"""`dalenius publish` and `dalenius lattice`: what they write and say, and how they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dalenius.cli import app
from tests.conftest import Run, unwarned
from tests.oracle import UTILITIES, Lattice, Model, Sensitive, classes, minimal, nodes

SCHEMA = """sensitive = "disease"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 39 }
intervals = [5, 10]
[columns.sex]
role = "quasi"
domain = ["M", "F"]
hierarchy = "suppress"
[columns.note]
role = "other"
[columns.disease]
role = "sensitive"
domain = ["Ache", "Flu", "Pox"]
"""
PEOPLE = [
    ("Ann", "21", "F", "a,b", "Flu"),
    ("Bob", "22", "M", "", "Flu"),
    ("Cid", "23", "M", "*", "Pox"),
    ("Dot", "24", "F", 'say "x"', "Ache"),
    ("Eve", "31", "F", "e", "Flu"),
    ("Fay", "32", "F", "f", "Pox"),
    ("Gus", "33", "M", "g", "Ache"),
    ("Hal", "38", "M", "h", "Flu"),
]
Answer = tuple[int, str, str]
Cli = Callable[..., Answer]


def oracle() -> Lattice:
    ages = {str(i): (str(i), f"{i // 5}", f"{i // 10}!", "*") for i in range(20, 40)}
    sexes = {"M": ("M", "*"), "F": ("F", "*")}
    rows = [(person[1], person[2]) for person in PEOPLE]
    return Lattice(rows, [ages, sexes], [[person[4] for person in PEOPLE]], [Sensitive(("Ache", "Flu", "Pox"))])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table, its schema, and an older release that a refused run must leave alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    lines = [",".join('"' + field.replace('"', '""') + '"' for field in person) for person in PEOPLE]
    (tmp_path / "t.csv").write_text("name,age,sex,note,disease\n" + "\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "out.csv").write_text("old\n", encoding="utf-8")
    (tmp_path / "out.csv.meta.json").write_text("{}\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def cli(folder: Path, capsys: pytest.CaptureFixture[str]) -> Cli:  # noqa: ARG001 - the folder is the current one
    """The command line in this process: its exit code, what it printed, and its message."""

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


PUBLISH = ("publish", "t.csv", "-o", "out.csv")
REFUSED = {
    "k larger than the table": (("--k", "9"), "k = 9 is larger than the table, which has 8 people"),
    "k of none": (("--k", "0"), "The '--k' parameter of k-anonymity must be an int ≥ 2 (1 demands nothing). Got 0 instead."),
    "l larger than the number of values": (("--l", "4"), "distinct ℓ = 4 is impossible"),
    "entropy l too large": (("--entropy-l", "3.5"), "the table has only 3 different values"),
    "recursive l too large": (("--recursive-l", "2,4"), "the table has only 3 different values"),
    "t below 0": (("--t", "-0.1"), "must be a number ≥ 0 and below 1 (1 demands nothing). Got -0.1 instead."),
    "t above 1": (("--t", "1.5"), "must be a number ≥ 0 and below 1 (1 demands nothing). Got 1.5 instead."),
    "t of nothing": (("--t", "nan"), "below 1 (1 demands nothing). Got nan instead."),
    "no criterion": ((), "No criterion was given. Add at least one, for example k = 5."),
    "no number for c": (("--recursive-l", "x,2"), "must be c,ℓ such as 3,2. Got 'x,2' instead."),
    "no number for l": (("--recursive-l", "3,two"), "must be c,ℓ such as 3,2. Got '3,two' instead."),
    "three numbers": (("--recursive-l", "3,2,1"), "must be c,ℓ such as 3,2. Got '3,2,1' instead."),
    "l of one": (("--recursive-l", "3,1"), "must be an int ≥ 2. Got 1 instead."),
    "c of nothing": (("--recursive-l", "0,2"), "must be a finite number > 0. Got 0.0 instead."),
    "unknown ground": (("--t", "0.2:euclid"), "t:hierarchical, such as 0.2:ordered. Got '0.2:euclid' instead."),
    "no number for t": (("--t", "close"), "such as 0.2:ordered. Got 'close' instead."),
    "no hierarchy for t": (("--t", "0.2:hierarchical"), "'disease' has no hierarchy, which hierarchical t-closeness"),
    "delta of 0": (("--delta", "0"), "must be a finite number > 0. Got 0.0 instead."),
    "beta below 0": (("--beta", "-1"), "must be a finite number > 0. Got -1.0 instead."),
    "enhanced beta below 0": (("--enhanced-beta", "-1"), "must be a finite number > 0. Got -1.0 instead."),
    "alpha above 1": (("--alpha", "1.1"), "must be a number > 0 and below 1 (1 demands nothing). Got 1.1 instead."),
    "suppression above 1": (("--k", "2", "--suppression", "1.5"), "must be a number from 0 to 1. Got 1.5 instead."),
    "suppression below 0": (("--k", "2", "--suppression", "-0.5"), "must be a number from 0 to 1. Got -0.5 instead."),
    "unknown utility": (("--k", "2", "--utility", "beauty"), "Got 'beauty' instead."),
    "unknown method": (("--k", "2", "--method", "magic"), "microaggregation, anatomy, noisy-counts. Got 'magic' instead."),
    "no time": (("--k", "2", "--time-limit", "0"), "must be a number of seconds > 0. Got 0.0 instead."),
    "no solution": (("--alpha", "0.2"), "generalized, α = 0.2 fails: the level of 'disease' there is 0.5."),
    "no solution, recursive": (("--recursive-l", "0.8,2"), "c = 0.8, ℓ = 2 fails: the level of 'disease' there is 1."),
    "no solution, two criteria": (("--k", "2", "--alpha", "0.3"), "generalized, α = 0.3 fails"),
    "no folder": (("--k", "2", "-o", "nowhere/out.csv"), "the folder 'nowhere' does not exist. Create it first."),
    "a folder": (("--k", "2", "-o", "."), "that is a folder, but a file is needed"),
    "the table itself": (("--k", "2", "-o", "t.csv"), "Name another"),
    "the schema": (("--k", "2", "-o", "privacy.toml"), "Name another"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(cli: Cli, folder: Path, case: str) -> None:
    arguments, message = REFUSED[case]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = cli(*PUBLISH, *arguments)
    assert message in err
    assert (code, out) == (2, "")
    assert err.startswith("dalenius: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_column_without_hierarchy_is_offered_one(cli: Cli, folder: Path) -> None:
    (folder / "privacy.toml").write_text(SCHEMA.replace('hierarchy = "suppress"', ""), encoding="utf-8")
    for command in (PUBLISH, ("lattice", "t.csv")):
        code, out, err = cli(*command, "--k", "2")
        assert (code, out) == (2, "")
        assert "Column 'sex' has no hierarchy, which a lattice needs" in err
        assert 'hierarchy = "suppress"' in err
    assert (folder / "out.csv").read_text(encoding="utf-8") == "old\n"


@pytest.mark.parametrize("arguments", [("--k", "two"), ("--l", "2.5"), ("--suppression", "all"), ("--kk", "2")])
def test_what_the_parser_refuses(cli: Cli, arguments: tuple[str, str]) -> None:
    code, out, err = cli(*PUBLISH, *arguments)
    assert (code, out) == (2, "")
    assert arguments[0] in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_in_a_process_of_its_own(run: Run, folder: Path) -> None:
    """The exit code and the message as a shell sees them."""
    done = run(*PUBLISH, "--k", "9", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dalenius: k = 9 is larger than the table, which has 8 people.\n"


def without_run(text: str) -> dict[str, Any]:
    document = json.loads(text)
    del document["run"]
    return document


@pytest.mark.slow
def test_publish_writes_the_release_the_sidecar_and_the_json(run: Run, cli: Cli, folder: Path) -> None:
    arguments = (*PUBLISH, "--k", "2", "--suppression", "0.13", "--suppressed-rows", "as-is", "--minimal", "--json")
    done = run(*arguments, "-", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    document = without_run(done.stdout)
    naive = oracle()
    models = [Model("k", Fraction(2))]
    feasible = naive.feasible(naive.failing(models), "0.13")
    costs = {node: naive.cost("loss", node, hidden) for node, hidden in feasible.items()}
    node = (document["node"]["age"], document["node"]["sex"])
    assert document["schema_version"] == 1
    assert document["loss"] == pytest.approx(min(costs.values()))
    assert document["loss"] == pytest.approx(costs[node])
    assert document["suppressed"] == len(feasible[node])
    kept = [one for one in classes(naive.rows, naive.trees, node).values() if not feasible[node] >= set(one)]
    assert document["classes"] == len(kept)
    assert document["nodes"] == len(nodes(naive.trees))
    assert 0 < document["checked"] <= document["nodes"]
    assert {(one["age"], one["sex"]) for one in document["minimal"]} == minimal(feasible)
    # The same again is the same again, whatever is written where.
    text = (folder / "out.csv").read_text(encoding="utf-8")
    assert cli(*arguments, "doc.json")[0] == 0
    assert without_run((folder / "doc.json").read_text(encoding="utf-8")) == document
    assert (folder / "out.csv").read_text(encoding="utf-8") == text
    sidecar = json.loads((folder / "out.csv.meta.json").read_text(encoding="utf-8"))
    for key in ("classes", "suppressed", "node", "loss", "nodes", "checked", "minimal", "criteria"):
        assert sidecar[key] == document[key]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--k", "2"),
        ("--k", "3", "--l", "2", "--suppression", "0.5"),
        ("--entropy-l", "2", "--alpha", "0.7"),
        ("--t", "0.3", "--t", "0.2:ordered"),
        ("--recursive-l", "3,2", "--beta", "1.5"),
        ("--delta", "1.2", "--enhanced-beta", "2", "--suppression", "1"),
        ("--recursive-l", "2"),
    ],
    ids=" ".join,
)
def test_check_finds_what_publish_was_asked_for(cli: Cli, arguments: tuple[str, ...]) -> None:
    code, out, err = cli(*PUBLISH, *arguments, "--json", "-")
    assert (code, unwarned(err)) == (0, "")
    published = json.loads(out)
    code, out, _ = cli("check", "out.csv", "--json", "-")
    assert code == 0
    found = json.loads(out)
    assert (found["classes"], found["suppressed"]) == (published["classes"], published["suppressed"])
    asked = dict(zip(arguments[::2], arguments[1::2], strict=True))
    inf = float("inf")
    assert found["k_anonymity"]["k"] >= int(asked.get("--k", 1))
    assert found["distinct_l_diversity"]["l"] >= int(asked.get("--l", 1))
    assert found["entropy_l_diversity"]["l"] >= float(asked.get("--entropy-l", 1)) - 1e-9
    assert found["alpha_k_anonymity"]["alpha"] <= float(asked.get("--alpha", 1))
    assert float(found["recursive_c_l_diversity"]["c"]) < float(asked.get("--recursive-l", "inf").split(",")[0]) or (
        "--recursive-l" not in asked
    )
    assert float(found["delta_disclosure"]["delta"]) < float(asked.get("--delta", inf)) or "--delta" not in asked
    assert float(found["basic_beta_likeness"]["beta"]) <= float(asked.get("--beta", inf))
    assert float(found["enhanced_beta_likeness"]["beta"]) <= float(asked.get("--enhanced-beta", inf))
    if "--t" in asked:
        assert found["t_closeness"]["equal"] <= 0.3 + 1e-9
        assert found["t_closeness"]["ordered"] <= 0.2 + 1e-9


def test_what_is_said(cli: Cli) -> None:
    code, out, err = cli(*PUBLISH, "--k", "2", "--l", "2", "--minimal")
    assert (code, err) == (0, "")
    assert "Wrote out.csv: age (2 of 20 values), sex (kept)\n  people     8 in 4 classes" in out
    assert "satisfies  k = 2; distinct ℓ = 2" in out
    assert "optimal" in out
    assert not any(word in out for person in PEOPLE for word in (person[0], person[4]))
    assert cli(*PUBLISH, "--k", "2", "--quiet") == (0, "", "")


def test_time_ran_out(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from dalenius.publishers import search

    for enumerable in (10**6, 0):
        monkeypatch.setattr(search, "MAX_ENUMERATED_NODES", enumerable)
        code, out, err = cli(*PUBLISH, "--k", "2", "--time-limit", "1e-9")
        assert (code, out) == (2, "")
        assert "No release was found in the time given (0 of 8 nodes checked)" in err


@pytest.mark.parametrize(
    "asked",
    [(), ("--k", "2"), ("--k", "3", "--suppression", "0.5", "--suppressed-rows", "as-is"), ("--alpha", "0.4")],
    ids=str,
)
def test_lattice_lists_every_node(cli: Cli, asked: tuple[str, ...]) -> None:
    code, out, err = cli("lattice", "t.csv", *asked, "--json", "-")
    assert (code, unwarned(err)) == (0, "")
    document, naive = json.loads(out), oracle()
    options = dict(zip(asked[::2], asked[1::2], strict=True))
    names = {"--k": "k", "--alpha": "alpha"}
    models = [Model(names[key], Fraction(text)) for key, text in options.items() if key in names]
    assert document["people"] == len(PEOPLE)
    listed = {(node["levels"]["age"], node["levels"]["sex"]): node for node in document["nodes"]}
    assert len(document["nodes"]) == len(listed) == len(nodes(naive.trees))
    assert set(listed) == set(nodes(naive.trees))
    assert [sum(node["levels"].values()) for node in document["nodes"]] == sorted(map(sum, listed))
    feasible = naive.feasible(naive.failing(models), options.get("--suppression", "0"))
    everyone = naive.values[0]
    for node, entry in listed.items():
        assert entry.get("satisfies") == ((node in feasible) if models else None)
        hidden = feasible.get(node, set())
        groups = [
            [everyone[i] for i in members]
            for members in classes(naive.rows, naive.trees, node).values()
            if not hidden >= set(members)
        ]
        assert (entry["classes"], entry["suppressed"]) == (len(groups), len(hidden))
        for name in UTILITIES:
            cost = naive.cost(name, node, hidden)
            assert entry[name] == pytest.approx(1 - cost if name == "precision" else cost), name
        column = naive.columns[0]
        assert entry["k_anonymity"] == {"k": min(map(len, groups))}
        assert entry["distinct_l_diversity"] == {"l": min(len(set(group)) for group in groups)}
        for place, key, model in (
            ("alpha_k_anonymity", "alpha", "alpha"),
            ("recursive_c_l_diversity", "c", "recursive"),
            ("t_closeness", "equal", "equal"),
            ("t_closeness", "ordered", "ordered"),
            ("delta_disclosure", "delta", "delta"),
            ("basic_beta_likeness", "beta", "basic_beta"),
            ("enhanced_beta_likeness", "beta", "enhanced_beta"),
        ):
            worst = max(Model(model, Fraction(1)).level(group, everyone, column) for group in groups)
            assert entry[place][key] == ("inf" if worst == float("inf") else pytest.approx(float(worst))), place
        assert entry["t_closeness"]["hierarchical"] is None


@pytest.mark.parametrize("share", ["1.5", "-0.1", "nan"])
def test_lattice_refuses_a_share_that_is_none(cli: Cli, share: str) -> None:
    code, out, err = cli("lattice", "t.csv", "--k", "2", "--suppression", share)
    assert (code, out) == (2, "")
    assert "must be a number from 0 to 1" in err


def crowd(folder: Path) -> None:
    """One more person, so that there are 8 ages and 9 distinct rows."""
    with (folder / "t.csv").open("a", encoding="utf-8") as file:
        file.write('"Ida","21","M","i","Flu"\n')


def test_more_distinct_rows_than_are_kept(cli: Cli, folder: Path) -> None:
    """The engine rolls up: that is said at once, in the summary and in the JSON, and the release is the same."""
    crowd(folder)
    code, out, err = cli(*PUBLISH, "--k", "2", "--l", "2", "--json", "plain.json")
    assert (code, err) == (0, "")
    assert "engine" not in out
    plain, file = json.loads((folder / "plain.json").read_text()), (folder / "out.csv").read_text()
    assert (plain["rollups"], plain["not_looked_at"]) == ("memory", 0)
    code, out, err = cli(*PUBLISH, "--k", "2", "--l", "2", "--most-cells", "8", "--json", "engine.json")
    assert code == 0
    assert err == "t.csv has more than 8 distinct rows (--most-cells): roll-ups run in the engine.\n"
    assert "roll-ups   in the engine: the table has more than 8 distinct rows" in out
    found = json.loads((folder / "engine.json").read_text())
    assert found["rollups"] == "engine"
    assert found["node"] == plain["node"]
    assert found["cost"] == plain["cost"]
    assert (folder / "out.csv").read_text() == file
    assert (found["not_looked_at"] > 0) == ("not looked at" in out)
    assert cli(*PUBLISH, "--k", "2", "--l", "2", "--most-cells", "8", "--quiet") == (0, "", "")


def test_nodes_that_are_too_large_are_counted(cli: Cli, folder: Path) -> None:
    """Every node satisfies β = 10¹², and only the raw one has 9 distinct rows."""
    crowd(folder)
    code, out, _ = cli(*PUBLISH, "--beta", "1e12", "--most-cells", "8", "--minimal", "--json", "found.json")
    found = json.loads((folder / "found.json").read_text())
    assert code == 0
    assert (found["rollups"], found["not_looked_at"], found["minimal"], found["optimal"]) == ("engine", 1, None, False)
    assert found["bound"] == 0
    assert "no node costs less than 0.0000" in " ".join(out.split())
    assert "too large  1 node was not looked at" in out


def test_methods_that_need_the_distinct_rows_refuse_too_many(cli: Cli, folder: Path) -> None:
    crowd(folder)
    for method, asked in (("mondrian", ("--k", "2")), ("anatomy", ("--l", "2"))):
        code, out, err = cli("publish", "t.csv", "-o", "new", "--method", method, *asked, "--most-cells", "8")
        assert (code, out) == (2, "")
        assert "t.csv has more than 8 distinct rows, which are not kept in memory" in err
        assert "--method lattice" in err
        assert "roll-ups run" not in err
    code, _, err = cli(*PUBLISH, "--k", "2", "--most-cells", "0")
    assert code == 2
    assert "--most-cells" in err


def test_lattice_leaves_out_what_is_too_large(cli: Cli, folder: Path) -> None:
    crowd(folder)
    _, out, _ = cli("lattice", "t.csv", "--k", "2", "--json", "-")
    whole = json.loads(out)
    assert (whole["rollups"], whole["not_looked_at"]) == ("memory", 0)
    code, out, err = cli("lattice", "t.csv", "--k", "2", "--most-cells", "8", "--json", "-")
    assert code == 0
    assert "roll-ups run in the engine" in err
    document = json.loads(out)
    large = [node for node in whole["nodes"] if node not in document["nodes"]]
    assert [node["levels"] for node in large] == [{"age": 0, "sex": 0}]
    assert document["not_looked_at"] == 1
    assert len(document["nodes"]) + len(large) == len(whole["nodes"])
    code, out, _ = cli("lattice", "t.csv", "--k", "2", "--most-cells", "8")
    assert "1 more node has more than 8 distinct rows and was not examined" in out
    code, out, err = cli("lattice", "t.csv", "--k", "2", "--most-cells", "8", "-o", "page.html")
    assert (code, out) == (2, "")
    assert "The page compares every node" in err
