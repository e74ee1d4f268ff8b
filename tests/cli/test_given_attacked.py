"""`publish --given`, attacked by `compose` on the files that were written: who is left with fewer values than before?"""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dalenius import datasets
from dalenius.cli import app
from tests.conftest import unwarned

PEOPLE = 260
METHODS: dict[str, tuple[str, ...]] = {
    "lattice": ("--method", "lattice", "--k", "3"),
    "suppressing": ("--method", "lattice", "--k", "3", "--suppression", "0.1"),
    "as-is": ("--method", "lattice", "--k", "3", "--suppression", "0.1", "--suppressed-rows", "as-is"),
    "hiding": ("--method", "lattice", "--k", "3", "--suppression", "0.1", "--suppressed-rows", "hide"),
    "mondrian": ("--method", "mondrian", "--k", "3"),
    "along": ("--method", "mondrian", "--k", "3", "--cuts", "hierarchy"),
    "centroids": ("--method", "microaggregation", "--k", "3"),
    "ranges": ("--method", "microaggregation", "--k", "3", "--shown", "ranges"),
    "anatomy": ("--method", "anatomy", "--l", "2", "--seed", "4"),
}
OLD = ("mondrian", "anatomy", "centroids", "suppressing")
Json = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hospitals that share half of their patients, some with a missing value, and what the first has published."""
    folder = tmp_path_factory.mktemp("attacked")
    header, *lines = datasets.save_hospital(folder, 3 * PEOPLE // 2, seed=8).read_text(encoding="utf-8").splitlines()
    at = header.split(",").index("nationality")
    cells = [line.split(",") for line in lines]
    lines = [",".join([*c[:at], "" if i % 13 == 0 else c[at], *c[at + 1 :]]) for i, c in enumerate(cells)]
    for name, some in (("first", lines[:PEOPLE]), ("second", lines[-PEOPLE:])):
        (folder / f"{name}.csv").write_text("\n".join([header, *some]) + "\n", encoding="utf-8")
    for method in OLD:
        options = (*METHODS[method], "--schema", str(folder / "privacy.toml"), "-o", str(folder / f"old-{method}"))
        assert app.run(["publish", str(folder / "first.csv"), *options, "-q"]) == 0
    return folder


@pytest.fixture
def call(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Json:
    monkeypatch.chdir(place)

    def run(*arguments: str) -> dict[str, Any]:
        capsys.readouterr()
        code = app.run([*arguments, "--json", "-"])
        said = capsys.readouterr()
        assert code == 0, said.err
        found: dict[str, Any] = json.loads(said.out)
        return found

    return run


def left_of(call: Json, releases: Sequence[str]) -> list[set[str] | None]:
    """The values that releases leave of everybody in the second hospital, as `compose` says it; None if nobody locates them."""
    both = [*releases, releases[0]] if len(releases) == 1 else [*releases]  # twice the same is as good as once
    call("compose", *both, "--targets", "second.csv", "-o", "rows.csv")
    with Path("rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == PEOPLE
    return [set(json.loads(row["values"])) if row["values"] else None for row in rows]


def diseases() -> list[str]:
    with Path("second.csv").open(encoding="utf-8", newline="") as file:
        return [row["disease"] for row in csv.DictReader(file)]


@pytest.mark.slow
@pytest.mark.parametrize("earlier", [combination for n in (1, 2, 3) for combination in itertools.combinations(OLD, n)])
def test_nobody_is_worse_off_than_in_one_class(call: Json, earlier: tuple[str, ...]) -> None:
    old = [f"old-{name}" for name in earlier]
    before, every = left_of(call, old), set(diseases())
    given = [option for name in old for option in ("--given", name)]
    # Every ℓ after one release. After several, one ℓ for each method, and another for the next combination.
    levels = {
        method: (2, 3, 4) if len(old) == 1 else (2 + (i + len("".join(old))) % 3,) for i, method in enumerate(METHODS)
    }
    for method, options in METHODS.items():
        for l in levels[method]:  # noqa: E741 - the literature's letter
            new = f"new-{method}"
            told = call("publish", "second.csv", *options, *given, "--given-l", str(l), "-o", new)["given"]
            after = left_of(call, [*old, new])
            worse = worsened = 0
            for values, now in zip(before, after, strict=True):
                assert now is not None or method == "hiding"  # everybody else is in the new release
                had = every if values is None else values
                now = had if now is None else now
                worse += len(now) < min(l, len(had & every))
                worsened += len(now) < min(l, len(had))
            assert worse == told["below_l"] == 0, (method, l)
            assert told["worsened"] >= worsened, (method, l)
            assert told["contradicted"] == sum(values == set() for values in before)


def test_a_larger_l_exposes_nobody(call: Json) -> None:
    """The demonstration of the defect: with a larger ℓ, people who were below it already lost all protection."""
    old = ["old-mondrian", "old-anatomy"]
    before = left_of(call, old)
    given = [option for name in old for option in ("--given", name)]
    for l in ("2", "4", "6"):  # noqa: E741 - the literature's letter
        call("publish", "second.csv", *METHODS["mondrian"], *given, "--given-l", l, "-o", "new")
        after = left_of(call, [*old, "new"])
        newly = [
            values
            for values, now in zip(before, after, strict=True)
            if now is not None and len(now) == 1 and (values is None or len(values) > 1)
        ]
        assert newly == []
    assert sum(values is not None and 1 < len(values) < 6 for values in before) > 50


def write(name: str, header: str, lines: Sequence[str]) -> None:
    Path(name).write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def months(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(
        'sensitive = "ill"\n[columns.age]\nrole = "quasi"\ntype = "integer"\nintervals = [10, 100]\n'
        'domain = { min = 0, max = 99 }\n[columns.ill]\nrole = "sensitive"\n',
        encoding="utf-8",
    )
    january = ["30,Flu", "31,Flu", "32,Flu", "33,Cold", "34,Cold"]
    write("jan.csv", "age,ill", january)
    write("feb.csv", "age,ill", [*january, "35,HIV"])


NEWCOMER = {"lattice": ("--k", "5"), "mondrian": ("--k", "5"), "microaggregation": ("--k", "5", "--shown", "ranges")}


@pytest.mark.usefixtures("months")
@pytest.mark.parametrize("method", NEWCOMER)
def test_the_newcomer(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One person joins: subtracting the tables gives her value, and publish and compose say so without telling it."""
    options = ("--method", method, *NEWCOMER[method])
    assert app.run(["publish", "jan.csv", *options, "-o", "old.csv", "-q"]) == 0
    assert app.run(["publish", "feb.csv", *options, "--given", "old.csv", "-o", "new.csv", "--json", "told.json"]) == 0
    said = capsys.readouterr()
    assert "  changes    since old.csv: at least 1 person joined" in said.out
    warned = "WARNING: subtracting old.csv from this release leaves only one possible value for 1 person who joined"
    assert warned in said.err
    assert "HIV" not in said.out + said.err
    # Whoever gets the release is not told who is given away.
    assert "differences" not in json.loads(Path("new.csv.meta.json").read_text(encoding="utf-8"))["given"]
    told = json.loads(Path("told.json").read_text(encoding="utf-8"))["given"]["differences"]
    assert told == [
        {"release": "old.csv", "joined": 1, "left": 0, "joined_exposed": 1, "left_exposed": 0, "compared": 1, "complete": True,
         "reason": None}
    ]  # fmt: skip
    for pair, key in ((("old.csv", "new.csv"), "joined"), (("new.csv", "old.csv"), "left")):
        assert app.run(["compose", *pair, "--targets", "jan.csv", "--json", "both.json"]) == 0
        said = capsys.readouterr()
        assert f"Between {pair[0]} and {pair[1]}, at least 1 person {key}" in said.out
        assert "1   of them has only one possible value" in said.out
        assert "HIV" not in said.out + said.err
        (found,) = json.loads(Path("both.json").read_text(encoding="utf-8"))["differences"]
        assert (found["earlier"], found["later"], found[f"{key}_exposed"]) == (*pair, 1)


@pytest.mark.usefixtures("months")
def test_differences_that_were_not_tested(capsys: pytest.CaptureFixture[str]) -> None:
    """Centroids do not say where a group ends, and of classes that overlap only the sums are subtracted."""
    assert app.run(["publish", "jan.csv", "--method", "microaggregation", "--k", "2", "-o", "old.csv", "-q"]) == 0
    assert app.run(["publish", "feb.csv", "--method", "mondrian", "--k", "2", "--given", "old.csv", "-o", "a.csv"]) == 0
    said = capsys.readouterr()
    assert "since old.csv: at least 1 person joined" in said.out
    assert "Note: differences from old.csv were not tested: the earlier release publishes centroids" in said.err
    assert app.run(["publish", "jan.csv", "--method", "mondrian", "--k", "2", "-o", "cut.csv", "-q"]) == 0
    assert app.run(["publish", "feb.csv", "--method", "mondrian", "--k", "6", "--given", "cut.csv", "-o", "b.csv"]) == 0
    said = capsys.readouterr()
    assert "WARNING: subtracting cut.csv from this release leaves only one possible value for 1 person" in said.err
    assert (
        "Note: only sums over overlapping classes of cut.csv were subtracted; finer differences were not tested"
        in said.err
    )
    assert app.run(["compose", "cut.csv", "b.csv", "--targets", "jan.csv"]) == 0
    assert "finer differences were not tested" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("months")
def test_the_same_people_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["publish", "jan.csv", "--k", "5", "-o", "old.csv", "-q"]) == 0
    assert app.run(["publish", "jan.csv", "--k", "5", "--given", "old.csv", "-o", "new.csv"]) == 0
    said = capsys.readouterr()
    assert "changes    nobody is known to have joined or left" in said.out
    assert unwarned(said.err) == ""


@pytest.mark.usefixtures("months")
def test_who_is_worse_off_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """The earlier release leaves Pox of everybody, which nobody in the table has: no release of it could."""
    write("old.csv", "age,ill", ['"[30, 39]",Flu', '"[30, 39]",Pox', '"[40, 49]",Cold'])
    assert (
        app.run(["publish", "jan.csv", "--k", "5", "--given", "old.csv", "-o", "new.csv", "--json", "told.json"]) == 0
    )
    said = capsys.readouterr()
    told = json.loads(Path("told.json").read_text(encoding="utf-8"))["given"]
    assert (told["worsened"], told["already_below"], told["below_l"], told["smallest_posterior"]) == (5, 5, 0, 1)
    assert "  worsened   5 people have fewer values left than before this release" in said.out


@pytest.mark.usefixtures("months")
def test_two_wards_and_then_the_hospital(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither ward alone tells who joined; subtracting both does."""
    write("one.csv", "age,ill", ['"[0, 49]",Flu', '"[0, 49]",Cold'])
    write("two.csv", "age,ill", ['"[50, 99]",Flu', '"[50, 99]",Cold'])
    write("all.csv", "age,ill", ["31,Flu", "32,Cold", "61,Flu", "62,Cold", "63,HIV"])
    given = ("--given", "one.csv", "--given", "two.csv")
    assert app.run(["publish", "all.csv", "--k", "5", *given, "-o", "new.csv", "--json", "told.json"]) == 0
    said = capsys.readouterr()
    assert "subtracting one.csv and two.csv from this release leaves only one possible value for 1 person" in said.err
    assert "HIV" not in said.out + said.err
    told = json.loads(Path("told.json").read_text(encoding="utf-8"))["given"]["differences"]
    assert [(one["release"], one["joined"], one["joined_exposed"]) for one in told] == [
        ("one.csv", 3, 0), ("two.csv", 3, 0), ("one.csv and two.csv", 1, 1),
    ]  # fmt: skip
    assert app.run(["compose", "one.csv", "two.csv", "new.csv", "--targets", "all.csv"]) == 0
    assert "Between one.csv and two.csv and new.csv, at least 1 person joined" in capsys.readouterr().out


def attack(capsys: pytest.CaptureFixture[str], *releases: str) -> list[list[str]]:
    """The values left of each person of t.csv."""
    assert app.run(["compose", *releases, "--targets", "t.csv", "-o", "rows.csv"]) == 0
    capsys.readouterr()
    with Path("rows.csv").open(encoding="utf-8", newline="") as file:
        return [json.loads(row["values"]) for row in csv.DictReader(file)]


CITY = 'missing = ["", "?"]\nsensitive = "ill"\n[columns.city]\nrole = "quasi"\ndomain = ["a", "b", "c"]\n'


@pytest.mark.usefixtures("months")
def test_every_mark_of_a_missing_value_is_unknown_to_the_attacker(capsys: pytest.CaptureFixture[str]) -> None:
    Path("privacy.toml").write_text(
        f'{CITY}hierarchy = "suppress"\n[columns.ill]\nrole = "sensitive"\n', encoding="utf-8"
    )
    old = ["?,Flu", "?,Cold", "?,Flu", "a,HIV", "a,Flu", "b,Cold", "b,HIV", "b,Pox", "?,Pox"]
    write("old_t.csv", "city,ill", old)
    write("t.csv", "city,ill", ["?,Flu", "?,HIV", "a,HIV", "a,Flu", "a,Cold", "b,Pox", "b,HIV"])
    assert app.run(["publish", "old_t.csv", "--method", "mondrian", "--k", "2", "-o", "old.csv", "-q"]) == 0
    assert app.run(["publish", "t.csv", "--method", "mondrian", "--k", "2", "--given", "old.csv", "-o", "new.csv"]) == 0
    assert min(map(len, attack(capsys, "old.csv", "new.csv"))) >= 2
    for name, table, k in (("top.csv", "old_t.csv", "9"), ("newtop.csv", "t.csv", "7")):
        assert app.run(["publish", table, "--k", k, "-o", name, "-q"]) == 0
    assert min(map(len, attack(capsys, "top.csv", "newtop.csv"))) >= 2


@pytest.mark.usefixtures("months")
@pytest.mark.parametrize("method", ["mondrian", "microaggregation"])
def test_people_of_whom_the_earlier_releases_leave_none_of_the_tables_values(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """31 and 32 fit a class of Pox and Mumps, so they were suppressed: one class of everybody leaves them Flu and HIV."""
    columns = '[columns.age]\nrole = "quasi"\ntype = "integer"\nintervals = [10, 100]\ndomain = { min = 0, max = 99 }\n'
    city = '[columns.city]\nrole = "quasi"\nhierarchy = "suppress"\ndomain = ["a", "b"]\n'
    schema = f'sensitive = "ill"\n{columns}{city}[columns.ill]\nrole = "sensitive"\n'
    Path("privacy.toml").write_text(schema, encoding="utf-8")
    shown = [f'"[30, 39]",{city},{ill}' for city in "ab" for ill in ("Pox", "Mumps")]
    write("old.csv", "age,city,ill", [*shown, "*,*,Flu", "*,*,HIV"])
    write("t.csv", "age,city,ill", ["31,,Flu", "32,,Flu", "55,a,HIV", "56,b,Flu", "57,a,Cold"])
    options = ("--method", method, "--k", "2", "--given", "old.csv", "-o", "new.csv", "--json", "told.json")
    assert app.run(["publish", "t.csv", *options]) == 0
    told = json.loads(Path("told.json").read_text(encoding="utf-8"))["given"]
    left = attack(capsys, "old.csv", "new.csv")
    assert min(map(len, left)) == 2 <= told["smallest_posterior"]
    assert told["already_below"] == told["worsened"] == told["below_l"] == 0


@pytest.mark.usefixtures("months")
def test_people_about_whom_earlier_releases_contradict_each_other() -> None:
    """Nothing is left of 31 and 32; the new release must not give them away by itself."""
    write("a.csv", "age,ill", ['"[30, 39]",Pox', '"[30, 39]",Mumps', '"[50, 59]",Cold', '"[50, 59]",HIV'])
    write("b.csv", "age,ill", ['"[30, 39]",Ache', '"[30, 39]",Flu'])
    write("t.csv", "age,ill", ["31,Flu", "32,Flu", "55,HIV", "56,Cold"])
    given = ("--given", "a.csv", "--given", "b.csv", "--json", "told.json")
    assert app.run(["publish", "t.csv", "--method", "mondrian", "--k", "2", *given, "-o", "new.csv", "-q"]) == 0
    told = json.loads(Path("told.json").read_text(encoding="utf-8"))["given"]
    assert (told["contradicted"], told["below_l"]) == (2, 0)
    with Path("new.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["age"], row["ill"]) for row in csv.DictReader(file)]
    assert all(len({ill for own, ill in rows if own == age}) >= 2 for age, _ in rows)


@pytest.mark.usefixtures("months")
def test_missing_values_join_and_leave_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    """A release that is all `*` names no missing value, and covers it all the same."""
    write("t.csv", "age,ill", ["1,Flu", "2,Cold", ",Flu", ",Cold"])
    write("more.csv", "age,ill", ["1,Flu", "2,Cold", ",Flu", ",Cold", ",HIV"])
    assert app.run(["publish", "t.csv", "--k", "4", "-o", "old.csv", "-q"]) == 0
    asked = ("--method", "mondrian", "--k", "2", "--given", "old.csv", "-o", "new.csv", "--json", "told.json")
    for table, expected in (("t.csv", (0, 0, 0)), ("more.csv", (1, 0, 1))):
        assert app.run(["publish", table, *asked]) == 0
        (told,) = json.loads(Path("told.json").read_text(encoding="utf-8"))["given"]["differences"]
        assert (told["joined"], told["left"], told["joined_exposed"]) == expected
        for schemas in (("privacy.toml",), ("privacy.toml", "privacy.toml")):
            named = [option for schema in schemas for option in ("--schema", schema)]
            for pair, key in ((("old.csv", "new.csv"), "joined"), (("new.csv", "old.csv"), "left")):
                assert app.run(["compose", *pair, "--targets", "t.csv", *named, "--json", "both.json"]) == 0
                (found,) = json.loads(Path("both.json").read_text(encoding="utf-8"))["differences"]
                assert (found[key], found[f"{key}_exposed"]) == (expected[0], expected[2])
    capsys.readouterr()


@pytest.mark.usefixtures("months")
def test_columns_that_are_coded_in_different_ways(capsys: pytest.CaptureFixture[str]) -> None:
    write("bands.csv", "age,ill", ["0-29,Flu", "0-29,Cold", "30-99,Flu", "30-99,Cold"])
    text = Path("privacy.toml").read_text(encoding="utf-8")
    bands = text.replace('type = "integer"\nintervals = [10, 100]\ndomain = { min = 0, max = 99 }\n', "")
    Path("bands.toml").write_text(bands, encoding="utf-8")
    write("people.csv", "age,ill", [",Flu"])
    pairs = [("bands.csv", "bands.toml"), ("jan.csv", "privacy.toml")]
    for first, second in (pairs, pairs[::-1]):
        named = ("--schema", first[1], "--schema", second[1])
        assert app.run(["compose", first[0], second[0], *named, "--targets", "people.csv"]) == 0
        assert "differences were not tested: the releases code column 'age' in different ways" in " ".join(
            capsys.readouterr().out.split()
        )


@pytest.mark.usefixtures("months")
def test_rows_suppressed_in_one_release_only(capsys: pytest.CaptureFixture[str]) -> None:
    """The same people twice: nobody joined, and nobody is said to be exposed by having joined."""
    write("t.csv", "age,ill", ["30,Flu", "31,Flu", "32,Cold", "33,Cold", "45,HIV", "55,Flu", "56,Cold", "57,Flu"])
    old = ("--k", "2", "--suppression", "0.2", "--suppressed-rows", "as-is", "-o", "old.csv", "-q")
    assert app.run(["publish", "t.csv", *old]) == 0
    new = ("--method", "mondrian", "--k", "2", "--given", "old.csv", "-o", "new.csv")
    assert app.run(["publish", "t.csv", *new, "--json", "told.json"]) == 0
    (told,) = json.loads(Path("told.json").read_text(encoding="utf-8"))["given"]["differences"]
    assert (told["joined"], told["left"], told["joined_exposed"], told["left_exposed"]) == (0, 0, 0, 0)
    assert "WARNING" not in capsys.readouterr().err
