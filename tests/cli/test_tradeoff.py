"""`dalenius frontier` over several methods: what is said, the best release, going on after ctrl-C, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dalenius.auditing.axes import RISKS, UTILITIES
from dalenius.cli import app
from tests import stopping
from tests.auditing.people import POLICY, SCHEMA, table
from tests.conftest import LONG

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, str, str]]
SOME = ("people.csv", "--method", "mondrian", "--method", "anatomy", "--k", "4,8,9999", "--l", "2", "--jobs", "1")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(SCHEMA + POLICY, encoding="utf-8")
    Path("none.toml").write_text(SCHEMA, encoding="utf-8")
    Path("strict.toml").write_text(SCHEMA + "[policy]\nmin_k = 5\nmax_attacker_accuracy = 0.01\n", encoding="utf-8")
    table(Path("people.csv"), 240, 1)
    table(Path("others.csv"), 200, 2)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = app.run(list(arguments))
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


def document(path: str = "out.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return found


def test_what_is_said_and_kept(run: Run) -> None:
    code, out, err = run("frontier", *SOME, "--json", "out.json", "-o", "page.html")
    assert (code, err) == (0, "")
    assert max(len(line) for line in out.splitlines() if "dalenius publish" not in line) <= 80
    found = document()
    assert [(p["method"], p["parameters"]) for p in found["points"]] == [
        ("mondrian", {"k": 4, "l": 2}), ("mondrian", {"k": 8, "l": 2}), ("mondrian", {"k": 9999, "l": 2}), ("anatomy", {"l": 2}),
    ]  # fmt: skip
    made = [point for point in found["points"] if point["published"]]
    for point in made:
        (row,) = [
            line for line in out.splitlines() if re.match(rf"  [● ]  {point['method']} .*= {_last(point)} ", line)
        ]
        assert row.startswith("  ●") == point["pareto"]
        assert f" {point['risk']:.1%} " in row
        assert row.endswith("  " + {"incomplete": "not tested"}.get(point["verdict"], point["verdict"]))
    (impossible,) = [point for point in found["points"] if not point["published"]]
    assert (impossible["pareto"], "9999" in impossible["reason"]) == (False, True)
    assert "mondrian k = 9999, ℓ = 2: not published." in out
    assert len(found["run"]["points"]) == 4
    assert found["run"]["points"][0]["seconds"] > 0
    assert "seconds" not in json.dumps(found["points"])
    assert len(list(Path("people.frontier").iterdir())) == 3  # what is not possible now may be later
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert not re.search(r"<script|<link|<img|src=|url\((?!#)|@import", page)
    journal = "".join(path.read_text(encoding="utf-8") for path in Path("people.frontier").iterdir())
    for value in ("Flu", "Pox", "Gout", "Oslo"):  # nothing of a person, or a class
        assert value not in page + out + journal + json.dumps(found)


def _last(point: dict[str, Any]) -> str:
    return "2" if point["method"] == "anatomy" else f"{point['parameters']['k']}, ℓ = 2"


def test_a_point_is_what_the_commands_say(run: Run) -> None:
    assert run("frontier", *SOME, "--json", "out.json", "--holdout", "others.csv", "--risk", "gain")[0] == 0
    point = document()["points"][1]
    assert run("publish", "people.csv", "--method", "mondrian", "--k", "8", "--l", "2", "-o", "by-hand.csv")[0] == 0
    audited = ("audit", "by-hand.csv", "--truth", "people.csv", "--holdout", "others.csv", "--json", "audit.json")
    assert run(*audited)[0] in (0, 1)
    expected = document("audit.json")
    assert point["risk"] == expected["attacks"][0]["gain"]["value"]
    assert point["all_utilities"] == expected["utility"]
    assert point["verdict"] == expected["verdict"]
    assert point["policy"] == expected["policy"]
    assert point["attacks"][0]["success"] == expected["attacks"][0]["success"]


def test_all_methods_by_default_and_the_same_whatever_the_jobs(run: Run) -> None:
    arguments = ("frontier", "people.csv", "--k", "5,20", "--epsilons", "1", "--suppression", "0.05", "--seed", "7")
    code, out, err = run(*arguments, "--json", "one.json", "--resume", "a", "--jobs", "1")
    assert (code, err) == (0, "")
    assert run(*arguments, "--json", "two.json", "--resume", "b", "--jobs", "2") == (0, out, "")
    one, two = document("one.json"), document("two.json")
    assert {p["method"] for p in one["points"]} == {
        "lattice", "mondrian", "microaggregation", "anatomy", "noisy-counts",
    }  # fmt: skip
    del one["run"], two["run"]
    assert one == two
    assert one["seed"] == 7


FEW = ("people.csv", "--method", "mondrian", "--method", "anatomy", "--k", "8", "--l", "2", "--jobs", "1")


def test_another_question_needs_no_new_measuring(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from dalenius.auditing.frontier import Bench

    measured = []
    call = Bench.__call__

    def counted(self: Bench, candidate: Any) -> Any:
        measured.append(candidate)
        return call(self, candidate)

    monkeypatch.setattr(Bench, "__call__", counted)
    assert run("frontier", *FEW)[0] == 0
    assert len(measured) == 2
    for name in set(RISKS) - {"gain"}:  # which needs people held out
        assert run("frontier", *FEW, "--risk", name)[0] == 0
    for name in set(UTILITIES):
        assert run("frontier", *FEW, "--utility", name)[0] == 0
    assert len(measured) == 2
    for other in (
        ("--seed", "1"),
        ("--fresh",),
        ("--holdout", "others.csv"),
        ("--schema", "none.toml"),
        ("--share", "0.5"),
    ):
        measured.clear()
        assert run("frontier", *FEW, *other)[0] == 0
        assert len(measured) == 2, other
    # Limits of the policy are held against what was measured; a threshold of another kind is not.
    text = Path("privacy.toml").read_text(encoding="utf-8")
    for limits, verdict, measuring in (
        ("min_k = 9\nmax_attacker_accuracy = 0.1\n", "violated", 0),
        ("min_k = 2\nmax_attacker_accuracy = 0.999\n", "passed", 0),
        ("max_attacker_gain = 0.1\nmax_suppressed = 0.0\n", "incomplete", 0),  # nobody is held out
        ('max_attacker_gain = 0.1\nepsilon_privacy = ["I:table:1e3:99"]\n', "incomplete", 2),
        ("min_k = 2\n", "passed", 0),  # as without a policy: measured above
    ):
        measured.clear()
        Path("other.toml").write_text(text.partition("[policy]")[0] + "[policy]\n" + limits, encoding="utf-8")
        assert run("frontier", *FEW, "--schema", "other.toml", "--json", "other.json")[0] == 0
        assert len(measured) == measuring, limits
        points = json.loads(Path("other.json").read_text(encoding="utf-8"))["points"]
        assert {point["verdict"] for point in points} == {verdict}
    measured.clear()
    with Path("people.csv").open("a", encoding="utf-8") as file:
        file.write("Oslo,33,Flu\n")
    assert run("frontier", *FEW)[0] == 0
    assert len(measured) == 2


GRID = ("people.csv", "--method", "mondrian", "--method", "lattice", "--k", "2,5,20", "--jobs", "1")


@pytest.mark.parametrize("utility", ["relative_error", "loss"])
def test_the_best_that_satisfies_the_policy(run: Run, utility: str) -> None:
    code, out, err = run("frontier", *GRID, "--utility", utility, "--best", "best.csv", "--json", "out.json")
    assert (code, err) == (0, "")
    found = document()
    passing = [point for point in found["points"] if point["verdict"] == "passed"]
    assert 0 < len(passing) < len(found["points"])
    best = min(passing, key=lambda point: (point["utility"], point["risk"]))
    assert found["best"] == {"method": best["method"], "parameters": best["parameters"]}
    assert run("audit", "best.csv", "--truth", "people.csv", "--strict", "-q")[0] == 0
    (command,) = [line.strip() for line in out.splitlines() if line.strip().startswith("dalenius publish")]
    assert command.endswith("-o best.csv")
    assert found["run"]["command"] == command
    written = {name: Path(name).read_bytes() for name in ("best.csv", "best.csv.meta.json")}
    words = shlex.split(command)[1:]
    assert run(*words[:-1], "again.csv")[0] == 0
    assert Path("again.csv").read_bytes() == written["best.csv"]
    assert Path("again.csv.meta.json").read_bytes() == written["best.csv.meta.json"]


def test_the_best_by_anatomy_is_drawn_anew(run: Run) -> None:
    Path("privacy.toml").write_text(SCHEMA + "[policy]\nmin_l = 2\n", encoding="utf-8")
    arguments = ("frontier", "people.csv", "--method", "anatomy", "--l", "2", "--jobs", "1", "--best")
    drawn = []
    for name in ("a", "b"):
        code, out, _ = run(*arguments, name)
        assert code == 0
        assert max(len(line) for line in out.splitlines() if "dalenius publish" not in line) <= 80
        assert f"Wrote {name}.quasi.csv, {name}.sensitive.csv, {name}.meta.json" in out
        assert run("audit", name, "--truth", "people.csv", "-q")[0] == 0
        drawn.append(Path(f"{name}.quasi.csv").read_bytes())
    assert drawn[0] != drawn[1]


def test_a_new_draw_that_misses_the_policy_is_not_published(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from dalenius.auditing import frontier
    from dalenius.auditing.policy import Threshold

    Path("privacy.toml").write_text(SCHEMA + "[policy]\nmin_l = 2\n", encoding="utf-8")
    arguments = ("frontier", "people.csv", "--method", "anatomy", "--l", "2", "--jobs", "1")
    assert run(*arguments)[0] == 0

    def unlucky(self: Any, candidate: Any, release: Any) -> Any:  # noqa: ARG001
        return frontier.Point(candidate, thresholds=(Threshold("min_l", "≥ 2", 1.0, "violated", ""),))

    monkeypatch.setattr(frontier.Bench, "audited", unlucky)
    code, out, _ = run(*arguments, "--best", "cut")
    assert code == 1
    assert "Nothing was published: a new draw of anatomy ℓ = 2 violates the policy: min_l is 1, ≥ 2 is required." in out
    assert not list(Path().glob("cut*"))


def test_nothing_satisfies_the_policy(run: Run) -> None:
    code, out, err = run(
        "frontier", *GRID, "--schema", "strict.toml", "--best", "best.csv", "--json", "out.json", "-o", "p.html"
    )
    assert (code, err) == (1, "")
    assert "No release that was tried satisfies the policy. The nearest are:" in out
    nearest = out.partition("The nearest are:\n")[2].partition("\n\n")[0]
    near = [" ".join(text.split()) for text in re.split(r"\n(?=  \S)", nearest)]
    assert len(near) == 3
    assert all(
        "max_attacker_accuracy is 0." in line and "≤ 0.01 is required" in line and "min_k" not in line for line in near
    )
    assert document()["best"] is None
    assert "command" not in document()["run"] or "publish" not in document()["run"]["command"]
    assert not Path("best.csv").exists()
    assert "No release that was tried satisfies the policy" in Path("p.html").read_text(encoding="utf-8")


def test_without_a_policy_there_is_no_column_for_it(run: Run) -> None:
    code, out, _ = run("frontier", *SOME, "--schema", "none.toml")
    assert code == 0
    assert not any(line.endswith("policy") for line in out.splitlines())  # as the heading does where there is one
    assert run("frontier", *SOME, "-o", "with.html")[1].count("  policy\n") == 1


def test_json_on_standard_output_is_json_and_quiet_is_quiet(run: Run) -> None:
    assert len(json.loads(run("frontier", *SOME, "--json", "-")[1])["points"]) == 4
    assert run("frontier", *SOME, "-q") == (0, "", "")


def test_what_cannot_be_told_is_refused_before_the_work(run: Run) -> None:
    code, _, err = run("frontier", *SOME, "--risk", "gain")
    assert code == 2
    assert "add --holdout, or --share" in err
    text = Path("privacy.toml").read_text(encoding="utf-8")
    Path("gain.toml").write_text(
        text.partition("[policy]")[0] + "\n[policy]\nmax_attacker_gain = 0.05\n", encoding="utf-8"
    )
    code, _, err = run("frontier", *SOME, "--schema", "gain.toml", "--best", "b.csv")
    assert code == 2
    assert "max_attacker_gain, which needs people who are not in the table" in err
    assert not Path("people.frontier").exists()


def test_where_nothing_can_be_published_that_is_the_answer(run: Run) -> None:
    code, out, err = run("frontier", "people.csv", "--method", "mondrian", "--k", "100000", "--jobs", "1")
    assert (code, out) == (2, "")
    assert "No release could be published: mondrian: " in err


def test_held_out_by_lot(run: Run) -> None:
    code, out, _ = run("frontier", *SOME, "--share", "0.25", "--risk", "gain", "--json", "out.json")
    assert code == 0
    assert "0.25 of the people held out" in " ".join(out.split())
    point = document()["points"][0]
    assert (point["people"], point["attacks"][0]["control"]["n"]) == (180, 60)
    assert point["risk"] == point["attacks"][0]["gain"]["value"]


# Ctrl-C as soon as something is kept: no test has to be quick enough for it.
INTERRUPTED = """
import os, signal
from dalenius.auditing.journal import Journal
from dalenius.cli import main

whole = Journal.write
def write(self, *arguments):
    whole(self, *arguments)
    os.kill(os.getpid(), signal.SIGINT)

Journal.write = write
if __name__ == "__main__":
    main()
"""


def test_ctrl_c_and_going_on(run: Run, tmp_path: Path) -> None:
    ks = ",".join(map(str, range(2, 18)))
    command = ("frontier", "people.csv", "--method", "mondrian", "--k", ks, "--jobs", "2")
    journal = tmp_path / "people.frontier"
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *command], cwd=tmp_path, capture_output=True, text=True, timeout=LONG
    )  # fmt: skip
    err = done.stderr
    assert (done.returncode, done.stdout) == (130, ""), err
    kept = {path.name: path.stat().st_mtime_ns for path in journal.iterdir()}
    assert 0 < len(kept) < 16
    assert f"dalenius: Interrupted. {len(kept)} of 16 releases are measured and kept in 'people.frontier'." in err
    assert "Run the same command again" in err
    assert "Traceback" not in err
    assert not [name for name in kept if not name.endswith(".json")]
    code, out, _ = run(*command[:-1], "1")
    assert code == 0
    assert "16 releases by 1 method" in out
    after = {path.name: path.stat().st_mtime_ns for path in journal.iterdir()}
    assert len(after) == 16
    assert {name: after[name] for name in kept} == kept


def test_ctrl_c_while_an_attacker_is_sampled(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is cut short is not kept as if it were all, and nothing more is begun."""
    from dalenius.adversaries.models import sampling

    command = ("frontier", "people.csv", "--method", "anatomy", "--method", "mondrian", "--l", "2", "--jobs", "1")
    with monkeypatch.context() as patched:
        rounds = stopping.in_the_second_round(patched)
        patched.setattr(sampling, "MAX_RHAT", 0.0)  # never enough after a round
        code, _, err = run(*command)
    assert (code, "Interrupted." in err) == (130, True)
    assert len(rounds) == 2
    assert not Path("people.frontier").exists()
    assert run(*command)[0] == 0


def test_what_else_the_figures_depend_on(run: Run) -> None:
    """A schema with a byte order mark is one; hierarchies under other names are others."""
    import duckdb

    few = ("people.csv", "--method", "mondrian", "--k", "8", "--jobs", "1")
    Path("marked.toml").write_text("\ufeff" + SCHEMA, encoding="utf-8")
    assert run("frontier", *few, "--schema", "marked.toml")[0] == 0
    assert run("frontier", *few, "--schema", "none.toml")[0] == 0
    assert len(list(Path("people.frontier").iterdir())) == 1  # the same schema
    with duckdb.connect("h.db") as database:
        for name in ("people", "others"):
            database.execute(f"create table {name} as select * from read_csv('{name}.csv', all_varchar=true)")
    held = (
        "frontier",
        "people",
        "--engine",
        "duckdb://h.db",
        "--holdout",
        "others",
        "--method",
        "mondrian",
        "--k",
        "8",
    )
    for kept in (1, 1, 2):
        assert run(*held, "--resume", "engine")[0] == 0
        assert len(list(Path("engine").iterdir())) == kept
        if kept == 1 and Path("once").exists():
            with duckdb.connect("h.db") as database:
                database.execute("delete from others where rowid % 2 = 0")
        Path("once").touch()


def test_hierarchies_by_their_names(run: Run, tmp_path: Path) -> None:
    text = '[columns.a]\nrole = "quasi"\nhierarchy = "a.csv"\n[columns.b]\nrole = "quasi"\nhierarchy = "b.csv"\n'
    Path("two.toml").write_text(text + '[columns.s]\nrole = "sensitive"\n', encoding="utf-8")
    Path("two.csv").write_text("a,b,s\n" + "1,2,x\n2,1,y\n3,3,x\n1,1,y\n" * 9, encoding="utf-8")
    one, other = "1;low;*\n2;low;*\n3;high;*\n", "1;low;*\n2;high;*\n3;high;*\n"
    for first, second in ((one, other), (other, one)):
        (tmp_path / "a.csv").write_text(first, encoding="utf-8")
        (tmp_path / "b.csv").write_text(second, encoding="utf-8")
        assert (
            run("frontier", "two.csv", "--schema", "two.toml", "--method", "mondrian", "--k", "4", "--jobs", "1")[0]
            == 0
        )
    assert len(list(Path("two.frontier").iterdir())) == 2


def test_a_table_in_an_engine(run: Run) -> None:
    import duckdb

    with duckdb.connect("h.db") as database:
        database.execute("create table people as select * from read_csv('people.csv', all_varchar=true)")
    command = ("frontier", "people", "--engine", "duckdb://h.db", "--method", "mondrian", "--k", "5,20", "--best")
    code, out, err = run(*command, "table:best")
    assert (code, err) == (0, "")
    assert "Wrote table:best\n" in out
    assert "--engine …" in out
    assert len(list(Path("people.frontier").iterdir())) == 2
    assert run("audit", "best", "--truth", "people", "--engine", "duckdb://h.db", "-q")[0] == 0
    with duckdb.connect("h.db") as database:
        database.execute("insert into people values ('Oslo', '33', 'Flu')")
    assert run(*command, "again.csv")[0] == 0
    assert len(list(Path("people.frontier").iterdir())) == 4  # another table
    code, out, err = run(*command, "table:more", "--method", "anatomy")
    assert (code, out) == (2, "")
    assert "anatomy writes several files" in err


def test_help_names_every_risk_and_utility(run: Run) -> None:
    text = re.sub(r"-\s+", "-", re.sub(r"\s+", " ", run("frontier", "--help")[1]))
    for name in (*RISKS, *UTILITIES):
        assert re.search(rf"[ :]{name}[ ,.]", text), name


REFUSED = {
    "no policy": (("people.csv", "--best", "best.csv", "--schema", "none.toml"), "none.toml has none. Add one"),
    "best of a part": (("people.csv", "--best", "best.csv", "--share", "0.3"), "Split the table first"),
    "risk": (("people.csv", "--risk", "danger"), "The '--risk' parameter of frontier must be one of attacker, gain"),
    "utility": (("people.csv", "--utility", "use"), "The '--utility' parameter of frontier must be one of relative_error"),
    "k": (("people.csv", "--k", "2,many"), "--k '2,many': write whole numbers ≥ 2, separated by commas, for example 2,5,10"),
    "negative k": (("people.csv", "--k", "-2"), "--k '-2': write whole numbers"),
    "k zero": (("people.csv", "--k", "0"), "--k '0': write whole numbers ≥ 2"),
    "no k": (("people.csv", "--k", ""), "--k ''"),
    "l": (("people.csv", "--l", "2.5"), "--l '2.5': write whole numbers"),
    "l one": (("people.csv", "--l", "1", "--method", "anatomy"), "--l '1': write whole numbers ≥ 2"),
    "t": (("people.csv", "--t", "near"), "such as 0.2:ordered. Got 'near' instead"),
    "suppression": (("people.csv", "--suppression", "2"), "--suppression '2': write numbers from 0 to 1"),
    "k of anatomy": (
        ("people.csv", "--method", "anatomy", "--k", "2,3"),
        "--k has no effect on anatomy: only lattice, mondrian, microaggregation take it. Leave it out, or add --method lattice.",
    ),
    "suppression of mondrian": (
        ("people.csv", "--method", "mondrian", "--k", "5", "--suppression", "0"),
        "--suppression has no effect on mondrian: only lattice takes it. Leave it out, or add --method lattice.",
    ),
    "alpha": (("people.csv", "--alpha", "0.5,high"), "--alpha '0.5,high': write numbers, separated by commas, for example 0.5."),
    "alpha one": (("people.csv", "--alpha", "1"), "must be a number > 0 and below 1 (1 demands nothing)"),
    "recursive l": (("people.csv", "--recursive-l", "3,2;some"), "must be c,ℓ such as 3,2. Got 'some' instead"),
    "epsilon-privacy": (("people.csv", "--epsilon-privacy", "I:prior.csv:30:2.5"), "names a file"),
    "mcse": (("people.csv", "--mcse", "0"), "mcse"),
    "draws": (("people.csv", "--k", "5", "--draws", "3"), "--draws is for noisy counts alone"),
    "counts not tried": (("people.csv", "--method", "mondrian", "--epsilons", "1"), "Add --method noisy-counts"),
    "jobs": (("people.csv", "--jobs", "0"), "'--jobs'"),
    "jobs of an engine": (("people.csv", "--jobs", "2", "--engine", "duckdb://some.db"), "--jobs is for tables in files"),
    "best is the table": (("people.csv", "--best", "people.csv"), "this command reads that file"),
    "best is the page": (("people.csv", "--best", "x.csv", "-o", "x.csv"), "also a file of the release"),
    "journal is a file": (("people.csv", "--resume", "others.csv"), "'others.csv' is a file"),
    "journal nowhere": (("people.csv", "--resume", "no/where"), "does not exist"),
    "no table": (("nobody.csv", "--k", "5"), "nobody.csv"),
    "held out": (("people.csv", "--k", "5", "--holdout", "short.csv"), "short.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(run: Run, case: str) -> None:
    Path("short.csv").write_text("city,disease\nOslo,Flu\n", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    arguments, message = REFUSED[case]
    code, out, err = run("frontier", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "bug" not in err
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
