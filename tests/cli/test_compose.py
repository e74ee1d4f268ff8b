"""`dalenius compose`: two hospitals, releases of every grouped kind, other names for values, and what contradicts itself."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dalenius import datasets
from dalenius.cli import app

Run = Callable[..., tuple[int, str, str]]
PAPERS = Path(datasets.__file__).parent / "papers"
KEYS = {
    "targets", "PVP", "VP", "mean_prior_anonymity", "mean_posterior_anonymity", "mean_drop", "drop_of_means",
    "already_certain", "empty_intersections", "unlocated", "suppressed_share", "PVP_sure", "VP_sure",
    "mean_prior_anonymity_sure", "mean_posterior_anonymity_sure", "already_certain_sure", "empty_intersections_sure",
    "differences",
}  # fmt: skip
AGE = """[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 25 }
"""
SCHEMA = f"""sensitive = "disease"
{AGE}[columns.city]
role = "quasi"
[columns.disease]
role = "sensitive"
"""


def write(name: str, header: str, lines: Sequence[str]) -> None:
    Path(name).write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(SCHEMA, encoding="utf-8")
    write(
        "a.csv",
        "age,city,disease",
        ['"[20, 22]",Oslo,Flu', '"[20, 22]",Oslo,Pox', '"[23, 25]",*,Gout', '"[23, 25]",*,Flu'],
    )
    write("b.csv", "age,city,disease", ["*,Oslo,Flu", "*,Oslo,Ache", "*,Moss,Pox", "*,Moss,Gout"])
    write("people.csv", "age,city,disease", ["20,Oslo,Flu", "24,Moss,Gout", "21,Oslo,Flu"])

    def call(*arguments: str) -> tuple[int, str, str]:
        code = app.run(["compose", *arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


def document(run: Run, *arguments: str) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json", "-")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_two_hospitals(run: Run) -> None:
    """Table 1: of Alice, AIDS alone is left."""
    write("alice.csv", "zip,age", ["13012,28"])
    schema = PAPERS / "composition-1a" / "privacy.toml"
    files = [str(PAPERS / f"composition-1{x}" / f"composition-1{x}.csv") for x in "ab"]
    found = document(run, *files, "--schema", str(schema), "--targets", "alice.csv", "-o", "rows.csv")
    assert found.keys() >= KEYS
    assert found["PVP"] == {"100": 100, "50": 100, "33": 100, "25": 100}
    assert found["VP"] == 100
    assert found["mean_prior_anonymity"] == [3, 4]
    assert found["mean_posterior_anonymity"] == 1
    assert found["mean_drop"] == found["drop_of_means"] == 2
    assert found["already_certain"] == found["empty_intersections"] == found["unlocated"] == 0
    with Path("rows.csv").open(encoding="utf-8", newline="") as file:
        (row,) = list(csv.DictReader(file))
    assert row == {
        "target": "0", "prior_1": "3", "prior_2": "4", "posterior": "1", "drop": "2", "confidence": "1.0", "values": '["AIDS"]',
        "posterior_sure": "1",
    }  # fmt: skip
    code, out, _ = run(*files, "--schema", str(schema), "--targets", "alice.csv")
    assert code == 0
    assert "AIDS" not in out  # what is left of a person is in the file that was asked for, and nowhere else
    assert "100.0%   of targets have one value left" in out


def test_with_the_truth(run: Run) -> None:
    found = document(run, "a.csv", "b.csv", "--targets", "people.csv", "--truth", "people.csv")
    assert found["PVP"]["100"] == 100
    assert found["truth"] == {
        "true_value_left": 100.0, "true_value_left_sure": 100.0, "certain_and_right": 100.0, "true_value_in_group": [100.0, 100.0],
        "located_right": [None, None],
    }  # fmt: skip
    write("wrong.csv", "disease", ["Pox", "Gout", "Flu"])
    found = document(run, "a.csv", "b.csv", "--targets", "people.csv", "--truth", "wrong.csv")
    assert found["truth"]["true_value_left"] == pytest.approx(200 / 3)
    assert found["truth"]["true_value_in_group"] == pytest.approx([100.0, 200 / 3])


def test_that_a_value_is_missing_is_not_found_out(run: Run) -> None:
    """Of the first target only "missing" is left, of the second Gout or missing, which is Gout if there is a value."""
    write(
        "a.csv",
        "age,city,disease",
        ['"[20, 22]",Oslo,', '"[20, 22]",Oslo,', '"[23, 25]",*,Gout', '"[23, 25]",*,'],
    )
    write("b.csv", "age,city,disease", ["*,Oslo,", "*,Oslo,Ache", "*,Moss,", "*,Moss,Gout", "*,Moss,Pox"])
    write("people.csv", "age,city,disease", ["20,Oslo,", "24,Moss,Gout", "24,Moss,"])
    call = ("a.csv", "b.csv", "--targets", "people.csv", "--truth", "people.csv")
    found = document(run, *call, "--beliefs", "beliefs.csv", "-o", "rows.csv")
    with Path("rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["posterior"], row["values"]) for row in rows] == [("", ""), ("1", '["Gout"]'), ("1", '["Gout"]')]
    assert (found["certainly_missing"], found["empty_intersections"], found["unlocated"]) == (1, 0, 0)
    assert found["PVP"]["100"] == pytest.approx(200 / 3)
    assert found["mean_prior_anonymity"] == [1, 2]
    assert (found["probabilistic"]["success"]["n"], found["probabilistic"]["success"]["value"]) == (1, 1.0)
    assert "1   targets certainly have no value, which does not count as a secret" in run(*call)[1]
    schema = Path("privacy.toml").read_text(encoding="utf-8")
    Path("privacy.toml").write_text("missing_is_secret = true\n" + schema, encoding="utf-8")
    secret = document(run, *call, "--beliefs", "beliefs.csv")
    assert (secret["certainly_missing"], secret["PVP"]["100"]) == (0, pytest.approx(100 / 3))
    assert secret["probabilistic"]["success"]["n"] == 3


def test_how_often_the_nearest_centroid_is_the_persons_own(run: Run) -> None:
    """A release that was made of the truth, its lines in order, tells which group is whose."""
    write("three.csv", "age,city,disease", ["20,Oslo,Flu", "24,Moss,Gout", "20,Oslo,Flu", "23,Moss,Pox"])
    lines = ["10,21,Oslo,Flu", "2,24,Moss,Gout", "10,21,Oslo,Flu", "10,21,Oslo,Pox"]  # 2 comes before 10
    write("mean.csv", "group,age,city,disease", lines)
    Path("mean.csv.meta.json").write_text('{"kind": "centroids"}', encoding="utf-8")
    found = document(run, "a.csv", "mean.csv", "--targets", "three.csv", "--truth", "three.csv")
    # 23 in Moss is nearer to 24 in Moss: the last one of four is looked for in another group than its own.
    assert found["truth"]["located_right"] == [None, 75.0]
    # Of labels it is not said: whose box holds a person's values is never missed.
    write("boxes.csv", "group,age,city,disease", ["1,*,Oslo,Flu", "5,*,*,Gout", "1,*,Oslo,Flu", "2,*,Oslo,Pox"])
    found = document(run, "boxes.csv", "mean.csv", "--targets", "three.csv", "--truth", "three.csv")
    assert found["truth"]["located_right"] == [None, 75.0]
    code, out, _ = run("a.csv", "mean.csv", "--targets", "three.csv", "--truth", "three.csv")
    assert code == 0
    assert "75.0%   of targets are found in their own group of mean.csv" in out


def test_lines_of_other_people_with_the_same_values_are_not_taken_for_theirs(run: Run) -> None:
    """Two people have the same disease and change places: line by line the values agree, but the centroids do not."""
    lines = ["1,20,Oslo,Flu", "1,20,Oslo,Gout", "2,24,Moss,Flu", "2,24,Moss,Pox"]
    write("mean.csv", "group,age,city,disease", lines)
    Path("mean.csv.meta.json").write_text('{"kind": "centroids"}', encoding="utf-8")
    people = ["20,Oslo,Flu", "20,Oslo,Gout", "24,Moss,Flu", "24,Moss,Pox"]
    for order, expected in (((0, 1, 2, 3), 100.0), ((2, 1, 0, 3), None)):
        write("three.csv", "age,city,disease", [people[i] for i in order])
        found = document(run, "a.csv", "mean.csv", "--targets", "three.csv", "--truth", "three.csv")
        assert found["truth"]["located_right"] == [None, expected]


def test_three_releases_of_three_kinds_each_with_its_schema(run: Run) -> None:
    write("cut.quasi.csv", "group,city", ["0,Oslo", "0,Moss", "1,Oslo"])
    write("cut.sensitive.csv", "group,disease", ["0,Flu", "0,Gout", "1,Ache"])
    Path("city.toml").write_text(
        SCHEMA.replace('[columns.age]\nrole = "quasi"\ntype = "integer"\ndomain = { min = 20, max = 25 }\n', "")
    )
    write("mean.csv", "age,city,disease", ["20.5,Oslo,Flu", "20.5,Oslo,Gout", "24,Moss,Pox", "24,Moss,Gout"])
    Path("mean.csv.meta.json").write_text('{"kind": "centroids"}', encoding="utf-8")
    schemas = ("--schema", "privacy.toml", "--schema", "city.toml", "--schema", "privacy.toml")
    found = document(run, "b.csv", "cut", "mean.csv", *schemas, "--targets", "people.csv", "-o", "rows.csv")
    # Oslo: {Flu, Ache}, groups 0 and 1 {Flu, Gout, Ache}, centroid 20.5 {Flu, Gout}. Moss: {Pox, Gout}, group 0, {Pox, Gout}.
    with Path("rows.csv").open(encoding="utf-8", newline="") as file:
        rows = [(r["prior_1"], r["prior_2"], r["prior_3"], r["values"]) for r in csv.DictReader(file)]
    assert rows == [("2", "3", "2", '["Flu"]'), ("2", "2", "2", '["Gout"]'), ("2", "3", "2", '["Flu"]')]
    assert found["VP"] == 100


def test_what_contradicts_and_who_is_absent_is_counted(run: Run) -> None:
    """In a.csv somebody aged 24 has Gout or Flu; b.csv says Pox or Gout in Moss, and knows nobody in Hamar."""
    write("odd.csv", "age,city", ["20,Moss", "24,Hamar", ",Oslo", "24,Moss"])
    found = document(run, "a.csv", "b.csv", "--targets", "odd.csv", "-o", "rows.csv")
    assert found["targets"] == 4
    assert found["unlocated"] == 2  # 20 in Moss is not in a.csv, Hamar not in b.csv
    assert found["empty_intersections"] == 0
    write("c.csv", "age,city,disease", ["*,Moss,Pox", "*,Oslo,Gout"])
    found = document(run, "a.csv", "c.csv", "--targets", "odd.csv")
    assert found["empty_intersections"] == 1  # 24 in Moss: {Gout, Flu} and {Pox}
    code, out, _ = run("a.csv", "c.csv", "--targets", "odd.csv")
    assert code == 0
    assert "targets have no value left" in out
    assert "match no group in at least one release" in out
    write("nobody.csv", "age,city", ["20,Bergen"])
    found = document(run, "b.csv", "c.csv", "--targets", "nobody.csv")
    assert found["unlocated"] == 1
    assert found["PVP"]["25"] == 0
    assert found["mean_posterior_anonymity"] is None


def test_other_names_for_values(run: Run) -> None:
    write("d.csv", "age,city,disease", ["*,Oslo,Influenza", "*,Oslo,Smallpox", "*,Moss,Podagra"])
    code, _, err = run("a.csv", "d.csv", "--targets", "people.csv")
    assert code == 2
    for value in ("only a.csv has Flu, Gout, Pox", "only d.csv has Influenza", "--map"):
        assert value in err
    write("map.csv", "from,to", ["Influenza,Flu", "Smallpox,Pox", "Podagra,Gout"])
    found = document(run, "a.csv", "d.csv", "--targets", "people.csv", "--map", "map.csv", "--truth", "people.csv")
    assert found["truth"]["true_value_left"] == 100
    assert found["mean_posterior_anonymity"] == pytest.approx(5 / 3)


def test_declared_domains_must_be_the_same(run: Run) -> None:
    for name, values in (("one.toml", '["Flu", "Pox", "Gout"]'), ("other.toml", '["Flu", "Pox", "Gout", "Ache"]')):
        Path(name).write_text(SCHEMA + f"domain = {values}\n", encoding="utf-8")
    code, _, err = run("a.csv", "b.csv", "--schema", "one.toml", "--schema", "other.toml", "--targets", "people.csv")
    assert code == 2
    assert "only b.csv has Ache" in err


def test_probabilities(run: Run) -> None:
    found = document(
        run, "a.csv", "b.csv", "--targets", "people.csv", "--truth", "people.csv", "--beliefs", "b.beliefs.csv"
    )
    told = found["probabilistic"]
    assert told["converged"]
    assert told["pooled"]
    assert told["success"]["value"] == 1
    assert told["calibration"]
    with Path("b.beliefs.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["value"] for line in lines} == {"Flu", "Pox", "Gout", "Ache"}
    for t in range(3):
        assert sum(float(line["posterior"]) for line in lines if line["target"] == str(t)) == pytest.approx(1)
    sure = document(run, "a.csv", "b.csv", "--targets", "people.csv", "--truth", "people.csv", "--presence", "1,0.5")
    assert sure["probabilistic"]["success"]["n"] == 3
    code, _, err = run("a.csv", "a.csv", "--targets", "people.csv", "--presence", "1,1")
    assert code == 0
    assert "counted twice" in err
    assert "beliefs are too confident if other people" in " ".join(err.split())


def test_a_truth_in_another_order_is_refused(run: Run) -> None:
    write("shuffled.csv", "age,city,disease", ["24,Moss,Gout", "20,Oslo,Flu", "21,Oslo,Flu"])
    code, _, err = run("a.csv", "b.csv", "--targets", "people.csv", "--truth", "shuffled.csv")
    assert code == 2
    assert "shuffled.csv, row 0: the truth is about somebody else" in err


def test_a_value_that_no_release_has_is_never_guessed_and_a_missing_one_is_left_out(run: Run) -> None:
    write("truth.csv", "disease", ["Flu", "Plague", ""])
    found = document(run, "a.csv", "b.csv", "--targets", "people.csv", "--truth", "truth.csv", "--presence", "1,1")
    assert found["truth"]["true_value_left"] == 50
    told = found["probabilistic"]["success"]
    assert (told["value"], told["n"]) == (0.5, 2)
    assert sum(one["right"]["n"] for one in found["probabilistic"]["calibration"]) == 2


def test_two_names_that_become_one_are_added_up(run: Run) -> None:
    """In one release Flu comes as two kinds: with the map its rows count together, and beliefs are those of one kind."""
    kinds = ["*,Oslo,Flu", "*,Oslo,Flu", "*,Oslo,Ache", "*,Moss,Pox", "*,Moss,Gout"]
    write("one.csv", "age,city,disease", kinds)
    write("two.csv", "age,city,disease", [kinds[0].replace("Flu", "FluB"), *kinds[1:]])
    write("map.csv", "from,to", ["FluB,Flu"])
    domain = 'domain = ["Flu", "Ache", "Pox", "Gout"]\n'
    Path("four.toml").write_text(SCHEMA + domain, encoding="utf-8")
    Path("five.toml").write_text(SCHEMA + domain.replace('"Flu"', '"Flu", "FluB"'), encoding="utf-8")
    for name, schema, more in (("one.csv", "four.toml", ()), ("two.csv", "five.toml", ("--map", "map.csv"))):
        document(
            run, "a.csv", name, "--schema", "four.toml", "--schema", schema, "--targets", "people.csv",
            "--beliefs", f"{name}.out", *more,
        )  # fmt: skip
        with Path(f"{name}.out").open(encoding="utf-8", newline="") as file:
            found = {(line["target"], line["value"]): float(line["posterior"]) for line in csv.DictReader(file)}
        assert {value for _, value in found} == {"Flu", "Ache", "Pox", "Gout"}
        assert found["0", "Flu"] == pytest.approx(1)
    code, _, err = run("a.csv", "two.csv", "--targets", "people.csv", "--presence", "1,1")
    assert code == 0, err
    write("typo.csv", "from,to", ["FluB,Flue"])
    code, _, err = run("a.csv", "two.csv", "--targets", "people.csv", "--map", "typo.csv")
    assert code == 2
    assert "'FluB' becomes 'Flue', which no release has" in err
    write("unknown.csv", "from,to", ["Plague,Flu"])
    code, _, err = run("a.csv", "two.csv", "--targets", "people.csv", "--map", "unknown.csv")
    assert code == 2
    assert "no release has the sensitive value 'Plague'" in err


def test_naming_the_schema_twice_changes_no_belief_but_what_is_learnt_from_all(run: Run) -> None:
    """A value that only the smaller release has stays possible for who may not be in the larger."""
    Path("copy.toml").write_text(SCHEMA, encoding="utf-8")
    options = ("--targets", "people.csv", "--presence", "0.5,1")
    document(run, "a.csv", "b.csv", *options, "--beliefs", "once.csv")
    code, _, err = run(
        "a.csv", "b.csv", "--schema", "privacy.toml", "--schema", "copy.toml", *options, "--beliefs", "twice.csv"
    )
    assert code == 0
    found = []
    for name in ("once.csv", "twice.csv"):
        with Path(name).open(encoding="utf-8", newline="") as file:
            found.append({(line["target"], line["value"]): float(line["posterior"]) for line in csv.DictReader(file)})
    assert found[1]["0", "Ache"] > 0.05
    for key, posterior in found[0].items():
        assert found[1][key] == pytest.approx(posterior, abs=0.2)
    assert ("comes from the largest release" in " ".join(err.split())) == (found[0] != found[1])


def test_suppressed_rows(run: Run) -> None:
    """Whoever fits a class is taken not to be suppressed; what is left if they may be is said next to it."""
    write(
        "hidden.csv",
        "age,city,disease",
        ['"[20, 22]",Oslo,Flu', '"[20, 22]",Oslo,Pox', '"[23, 25]",*,Gout', "*,*,Ache"],
    )
    asked = ("hidden.csv", "b.csv", "--targets", "people.csv")
    found = document(run, *asked, "--truth", "people.csv", "-o", "rows.csv")
    with Path("rows.csv").open(encoding="utf-8", newline="") as file:
        rows = [(r["prior_1"], r["values"], r["posterior_sure"]) for r in csv.DictReader(file)]
    assert rows == [("2", '["Flu"]', "2"), ("1", '["Gout"]', "1"), ("2", '["Flu"]', "2")]
    assert found["unlocated"] == 0
    assert found["suppressed_share"] == [25.0, 0.0]
    assert found["PVP"]["100"] == 100
    assert found["PVP_sure"] == {"100": pytest.approx(100 / 3), "50": 100, "33": 100, "25": 100}
    assert (found["mean_prior_anonymity"], found["mean_prior_anonymity_sure"]) == ([5 / 3, 2], [8 / 3, 2])
    assert found["mean_posterior_anonymity_sure"] == pytest.approx(5 / 3)
    assert found["truth"]["true_value_left"] == found["truth"]["true_value_left_sure"] == 100
    code, out, _ = run(*asked)
    assert code == 0
    assert "may be wrong for 25% of people in hidden.csv" in " ".join(out.split())
    assert "33.3%   of targets have one value left even without that assumption" in out
    twice = document(run, "hidden.csv", "hidden.csv", "--targets", "people.csv", "--presence", "1,1")
    assert twice["probabilistic"]["shared_groups"] == 3
    assert twice["probabilistic"]["undefined"] == 0


@pytest.mark.slow
def test_a_few_suppressed_rows_on_adult(run: Run, data: Path, adult_schema: Path) -> None:
    """Fourteen rows of `*`, one for each occupation, in two releases: the attack on everybody else stays what it was."""
    schema = str(adult_schema)
    lines = (data / "adult" / "adult.csv").read_text(encoding="utf-8").splitlines()
    write("first.csv", lines[0], lines[1:9001])
    write("second.csv", lines[0], lines[6001:15001])
    write("both.csv", lines[0], lines[6001:9001])
    for name in ("first", "second"):
        options = ("--schema", schema, "--method", "mondrian", "--k", "5", "-o", f"{name}-release.csv", "-q")
        assert app.run(["publish", f"{name}.csv", *options]) == 0
        header, *rows = Path(f"{name}-release.csv").read_text(encoding="utf-8").splitlines()
        at = header.split(",").index("occupation")
        occupations = sorted({row[at] for row in csv.reader(rows)})
        assert len(occupations) == 14
        stars = [",".join([*["*"] * 7, occupation, "*"]) for occupation in occupations]
        write(f"{name}-stars.csv", header, [*rows, *stars])
    asked = ("--schema", schema, "--targets", "both.csv")
    plain = document(run, "first-release.csv", "second-release.csv", *asked)
    starred = document(run, "first-stars.csv", "second-stars.csv", *asked)
    assert plain["PVP"]["100"] > 1
    assert plain["PVP"]["25"] > 30
    for key in ("PVP", "VP", "mean_posterior_anonymity", "empty_intersections"):
        assert starred[key] == plain[key]
    assert starred["PVP_sure"] == {"100": 0, "50": 0, "33": 0, "25": 0}
    assert all(0 < share < 0.2 for share in starred["suppressed_share"])
    # And the next release is made against the attack, not against what holds in any case.
    told = {}
    for name in ("release", "stars"):
        options = (
            "--method",
            "mondrian",
            "--k",
            "5",
            "--schema",
            schema,
            "--given",
            f"first-{name}.csv",
            "-o",
            "next.csv",
        )
        assert app.run(["publish", "both.csv", *options, "--json", f"{name}.json"]) == 0
        told[name] = json.loads(Path(f"{name}.json").read_text(encoding="utf-8"))["given"]
    assert told["stars"]["already_below"] == told["release"]["already_below"] > 0
    assert told["stars"]["mean_posterior_anonymity"] == told["release"]["mean_posterior_anonymity"]


def test_centroids_cannot_be_weighed(run: Run) -> None:
    write("mean.csv", "age,city,disease", ["20.5,Oslo,Flu", "24,Moss,Pox"])
    Path("mean.csv.meta.json").write_text('{"kind": "centroids"}', encoding="utf-8")
    code, _, err = run("a.csv", "mean.csv", "--targets", "people.csv", "--beliefs", "x.csv")
    assert code == 2
    assert "mean.csv: Centroids do not say which values they stand for" in err
    assert not Path("x.csv").exists()


def test_two_sensitive_columns(run: Run) -> None:
    """The one that is named, suppressed rows too."""
    Path("privacy.toml").write_text(
        SCHEMA.replace('sensitive = "disease"\n', "") + '[columns.job]\nrole = "sensitive"\n', encoding="utf-8"
    )
    write("p.csv", "age,city,disease,job", ['"[20, 22]",Oslo,Flu,Cook', "*,*,Pox,Judge", '"[23, 25]",Moss,Gout,Monk'])
    write("q.csv", "age,city,disease,job", ["*,Oslo,Flu,Judge", "*,Moss,Gout,Monk"])
    options = ("p.csv", "q.csv", "--targets", "people.csv", "-o", "rows.csv", "--sensitive")
    for column, left in (
        ("disease", ['["Flu"]', '["Gout"]', '["Flu"]']),
        ("job", ['["Judge"]', '["Monk"]', '["Judge"]']),  # no cook in Oslo: they were suppressed
    ):
        document(run, *options, column)
        with Path("rows.csv").open(encoding="utf-8", newline="") as file:
            assert [row["values"] for row in csv.DictReader(file)] == left
    code, _, err = run("p.csv", "q.csv", "--targets", "people.csv")
    assert code == 2
    assert "--sensitive" in err


def test_beliefs_that_have_not_converged_end_with_exit_code_3(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from dalenius.adversaries import composition

    whole = composition.compose

    def shaky(*arguments: Any, **options: Any) -> Any:
        return dataclasses.replace(whole(*arguments, **options), converged=False)

    monkeypatch.setattr("dalenius.auditing.compose.weigh", shaky)
    code, _, err = run("a.csv", "b.csv", "--targets", "people.csv", "--presence", "1,1")
    assert code == 3
    assert "NOT CONVERGED" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("a.csv",), "two releases or more"),
        (
            ("a.csv", "b.csv", "--schema", "privacy.toml", "--schema", "privacy.toml", "--schema", "privacy.toml"),
            "3 schemas",
        ),
        (("a.csv", "absent.csv"), "absent.csv"),
        (("a.csv", "b.csv", "--presence", "1,x"), "--presence"),
        (("a.csv", "b.csv", "--presence", "1"), "each of the 2 releases"),
        (("a.csv", "b.csv", "--presence", "1,0"), "above 0"),
        (("a.csv", "b.csv", "--sensitive", "age"), "'age' is not a sensitive column"),
        (("a.csv", "b.csv", "--map", "people.csv"), "from and to"),
        (("a.csv", "b.csv", "--mcse", "0.1"), "--mcse is about probabilities"),
        (("a.csv", "b.csv", "--truth", "a.csv"), "the rows of the targets"),
        (("a.csv", "b.csv", "-o", "a.csv"), "a.csv"),
        (("a.csv", "b.csv", "-o", "x.csv", "--json", "x.csv"), "one file"),
    ],
)
def test_bad_input(run: Run, arguments: tuple[str, ...], says: str) -> None:
    code, _, err = run(*arguments, "--targets", "people.csv")
    assert code == 2, err
    assert says in err


def test_targets_that_share_no_column(run: Run) -> None:
    write("names.csv", "name", ["x"])
    code, _, err = run("a.csv", "b.csv", "--targets", "names.csv")
    assert code == 2
    assert "none of the quasi-identifiers" in err


def test_counts_have_no_groups(run: Run) -> None:
    write("n.counts.csv", "column,value,disease,count", ["city,Oslo,Flu,1"])
    Path("n.json").write_text(
        '{"mechanism": "none", "scale": 0, "epsilon": null, "sensitivity": 1, "neighbours": "add-remove"}',
        encoding="utf-8",
    )
    Path("city.toml").write_text(
        SCHEMA.replace('[columns.age]\nrole = "quasi"\ntype = "integer"\ndomain = { min = 20, max = 25 }\n', "")
    )
    code, _, err = run("b.csv", "n", "--schema", "privacy.toml", "--schema", "city.toml", "--targets", "people.csv")
    assert code == 2
    assert "no groups" in err
