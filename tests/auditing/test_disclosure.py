"""ε-privacy in an audit: thresholds of the policy one by one, priors from files beside it, and what the document says."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import dalenius as dl
from dalenius.auditing import Audit, audit
from dalenius.auditing.disclosure import disclose, policy_criteria, usual
from dalenius.cli import app
from dalenius.criteria import Predicate, Realistic
from dalenius.criteria.parsing import adversary as written
from dalenius.errors import DaleniusError, InputError
from dalenius.releases import GroupedRelease
from dalenius.reports.document import plain
from dalenius.reports.json_schema import audit_schema
from tests.adversaries.test_realistic import theirs
from tests.criteria.realistic_oracle import Adversary, Counts, Number

SCHEMA = """sensitive = ["disease", "drug"]
[columns.city]
role = "quasi"
domain = ["Oslo", "Bergen", "Hamar"]
[columns.disease]
role = "sensitive"
domain = ["Ache", "Flu", "Pox", "Never"]
[columns.drug]
role = "sensitive"
domain = ["Pill", "Tea"]
"""
VALUES = {"disease": ("Ache", "Flu", "Pox", "Never"), "drug": ("Pill", "Tea")}
# Classes by city: how many have each disease, and how many each drug; the rows of `*` are suppressed.
CLASSES: dict[str, tuple[Counts, Counts]] = {
    "Oslo": ((3, 4, 2, 0), (5, 4)),
    "Bergen": ((1, 2, 2, 0), (2, 3)),
    "Hamar": ((4, 1, 1, 0), (3, 3)),
    "*": ((1, 3, 2, 0), (4, 2)),
}
KEPT = ("Bergen", "Hamar", "Oslo")
HELD = (*KEPT, "*")  # what thresholds are held against
POLICY = ["I:table:1e6:2.5", "II:50:known=1:3"]


def table(column: str) -> Counts:
    place = list(VALUES).index(column)
    return tuple(sum(n) for n in zip(*(counts[place] for counts in CLASSES.values()), strict=True))


def recount(who: str | Callable[[str], Adversary], columns: Sequence[str], classes: Sequence[str] = KEPT) -> Number:
    """ε of the release: of all columns and classes the worst; suppressed rows are a class for thresholds alone."""
    found: list[Number] = []
    for column in columns:
        one = theirs(who, table(column)) if isinstance(who, str) else who(column)
        found += [one.direct(CLASSES[city][list(VALUES).index(column)]) for city in classes]
    return max(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release, and its schema in a folder of its own."""
    lines = ["city,disease,drug"]
    for city, histograms in CLASSES.items():
        values = [
            [value for value, n in zip(VALUES[name], counts, strict=True) for _ in range(n)]
            for name, counts in zip(VALUES, histograms, strict=True)
        ]
        lines += [f"{city},{disease},{drug}" for disease, drug in zip(*values, strict=True)]
    (tmp_path / "release.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "rules").mkdir()
    return tmp_path


def one_column(text: str) -> str:
    """The schema with the disease alone sensitive."""
    text = text.replace('sensitive = ["disease", "drug"]', 'sensitive = "disease"')
    return text.replace('[columns.drug]\nrole = "sensitive"', '[columns.drug]\nrole = "other"')


def ruled(folder: Path, policy: str | Sequence[str] | None, *, columns: int = 2) -> dl.Schema:
    """The schema with a policy on ε-privacy."""
    text = SCHEMA if columns == 2 else one_column(SCHEMA)
    if policy is not None:
        asked = policy if isinstance(policy, str) else json.dumps(list(policy))
        text += f"\n[policy]\nepsilon_privacy = {asked}\n"
    path = folder / "rules" / "privacy.toml"
    path.write_text(text, encoding="utf-8")
    return dl.Schema.load(path)


def audited(folder: Path, policy: str | Sequence[str] | None, *, columns: int = 2, **options: Any) -> Audit:
    return audit(folder / "release.csv", ruled(folder, policy, columns=columns), **options)


# --- Thresholds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 2])
def test_each_threshold_has_its_own_outcome(folder: Path, columns: int) -> None:
    """Both, in their order, each with what was found; of several sensitive columns the worst."""
    names = list(VALUES)[:columns]
    right = [recount("I:table:1e6", names, HELD), recount("II:50:known=1", names, HELD)]
    found = audited(folder, POLICY, columns=columns)
    assert [t.key for t in found.thresholds] == ["epsilon_privacy"] * 2
    assert [t.measured for t in found.thresholds] == pytest.approx([float(one) for one in right], rel=1e-12)
    assert right[0] <= Fraction("2.5")
    assert right[1] > 3
    assert [t.outcome for t in found.thresholds] == ["passed", "violated"]
    assert found.verdict == "violated"
    for threshold, who, limit in zip(found.thresholds, ("I:table:1e6", "II:50:known=1"), ("2.5", "3"), strict=True):
        assert who in threshold.asked
        assert f"≤ {limit} " in threshold.asked
        assert threshold.reason == ""


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("who", ["I:table:1e6", "I:uniform:40:known=1", "II:50:known=1", "III:uniform", "III:table"])
def test_passed_at_what_is_found_and_violated_below_it(folder: Path, who: str, columns: int) -> None:
    epsilon = float(recount(who, list(VALUES)[:columns], HELD))
    assert 1.01 < epsilon < math.inf
    for limit, outcome in ((epsilon, "passed"), (epsilon * 1.01, "passed"), (epsilon * 0.99, "violated")):
        found = audited(folder, [f"{who}:{limit!r}"], columns=columns)
        assert found.verdict == outcome
        [threshold] = found.thresholds
        assert threshold.outcome == outcome
        assert threshold.measured == pytest.approx(epsilon, rel=1e-12)


def test_thresholds_are_judged_one_by_one(folder: Path) -> None:
    """One that is violated makes the verdict; the others keep their outcomes."""
    epsilon = float(recount("III:table", list(VALUES), HELD))
    policy = [f"III:table:{epsilon + 1}", f"III:table:{epsilon / 1.1}", f"III:table:{epsilon + 2}"]
    found = audited(folder, policy)
    assert [t.outcome for t in found.thresholds] == ["passed", "violated", "passed"]
    assert found.verdict == "violated"
    assert audited(folder, policy[::2]).verdict == "passed"


def test_nothing_withstands_class_IV_or_who_knows_a_class(folder: Path) -> None:
    for text in ("IV:1e9", "I:uniform:10:known=5:1e9", "II:10:known=100:1e9"):
        found = audited(folder, [text])
        assert found.verdict == "violated"
        assert found.thresholds[0].measured == math.inf


def test_other_thresholds_stand_beside(folder: Path) -> None:
    schema = ruled(folder, '["III:uniform:100"]\nmin_k = 5\nmax_loss = 0.99')
    found = audit(folder / "release.csv", schema)
    assert Counter(t.key for t in found.thresholds) == {"epsilon_privacy": 1, "min_k": 1, "max_loss": 1}
    assert found.verdict == "passed"


def test_no_adversary_at_all_is_no_threshold(folder: Path) -> None:
    """An empty list asks for nothing, and a policy that asks for nothing is refused."""
    with pytest.raises(InputError, match=r"policy\.epsilon_privacy: The list is empty and demands nothing"):
        audited(folder, "[]")


# --- Priors from files -------------------------------------------------------------------------------------------------------


def test_files_are_relative_to_the_schema(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to where the command is run, where files of the same names say something else."""
    shares = {"disease": ("1/5", "2/5", "3/10", "1/10"), "drug": ("3/4", "1/4")}
    lines = ["column,value,probability"]
    lines += [
        f"{column},{value},{float(Fraction(p))}"
        for column, row in shares.items()
        for value, p in zip(VALUES[column], row, strict=True)
    ]
    (folder / "rules" / "prior.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    seen = ["disease,drug", *["Ache,Pill"] * 30, *["Flu,Tea"] * 10, *["Never,Pill"] * 5]
    (folder / "rules" / "other.csv").write_text("\n".join(seen) + "\n", encoding="utf-8")
    for name in ("prior.csv", "other.csv"):
        (folder / name).write_text("nonsense\n1\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    counts = {"disease": (31, 11, 1, 6), "drug": (36, 11)}

    def given(column: str) -> Adversary:
        return Adversary("I", tuple(300 * Fraction(p) for p in shares[column]))

    def counted(column: str) -> Adversary:
        return Adversary("I", tuple(Fraction(n) for n in counts[column]), 1)

    found = audited(folder, ["I:prior.csv:300:9", "I:data:other.csv:known=1:9", "III:prior.csv:9"])
    right = [
        recount(given, list(VALUES), HELD),
        recount(counted, list(VALUES), HELD),
        recount(lambda column: Adversary("III", tuple(map(Fraction, shares[column]))), list(VALUES), HELD),
    ]
    assert [t.measured for t in found.thresholds] == pytest.approx([float(one) for one in right], rel=1e-12)
    # The schema by a relative path from elsewhere, and by its name alone from where it is.
    for place, path in ((folder, "rules/privacy.toml"), (folder / "rules", "privacy.toml")):
        monkeypatch.chdir(place)
        again = audit(folder / "release.csv", dl.Schema.load(Path(path)))
        assert [t.measured for t in again.thresholds] == [t.measured for t in found.thresholds]


# --- What cannot be meant ----------------------------------------------------------------------------------------------------

MALFORMED = {
    "no epsilon": "III:uniform",
    "no sigma": "II:3",
    "nothing": "",
    "no class": "V:table:1e6:2.5",
    "a shape for class II": "II:uniform:50:2.5",
    "sigma that is no number": "I:table:many:2.5",
    "epsilon that is no number": "I:table:1e6:little",
    "sigma below 0": "I:table:-1:2.5",
    "sigma of nothing": "I:table:nan:2.5",
    "sigma below 1": "I:table:0.5:2.5",
    "epsilon below 1": "I:table:1e6:0.5",
    "epsilon of nothing": "I:table:1e6:nan",
    "known after epsilon": "II:50:3:known=1",
    "no such prior": "I:nowhere.csv:30:2.5",
    "no such data": "I:data:nowhere.csv:2.5",
    "a prior that does not sum to 1": "I:short.csv:30:2.5",
    "a prior with another header": "I:header.csv:30:2.5",
    "at most for class III": "III:uniform:at-most:2.5",
}
FILES = {
    "short.csv": "column,value,probability\ndisease,Ache,0.5\ndisease,Flu,0.1\ndisease,Pox,0.1\ndisease,Never,0.1\n",
    "header.csv": "value,share\nAche,1\n",
    "half.csv": "column,value,probability\ndisease,Ache,0.5\ndisease,Flu,0.5\ndrug,Pill,1\ndrug,Tea,0\n",
    "one.csv": "column,value,probability\ndisease,Ache,1\ndisease,Flu,0\ndisease,Pox,0\ndisease,Never,0\n",
    "stranger.csv": "disease,drug\nGout,Pill\n",
}


def refusal(folder: Path, policy: Sequence[str]) -> str:
    for name, text in FILES.items():
        (folder / "rules" / name).write_text(text, encoding="utf-8")
    with pytest.raises(DaleniusError) as caught:
        audited(folder, policy)
    return str(caught.value)


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_text_names_the_schema(folder: Path, case: str) -> None:
    message = refusal(folder, ["III:uniform:3", MALFORMED[case]])
    assert "privacy.toml" in message
    assert "epsilon_privacy" in message
    assert "\n" not in message


# Right in form, and wrong for these columns: that too stands in the policy and must be looked for there.
UNFIT = {
    "class II that has seen too few": "II:3:2.5",
    "a prior that lacks values": "I:half.csv:30:2.5",
    "a prior that lacks a column": "III:one.csv:2.5",
    "data with a value that is none": "I:data:stranger.csv:2.5",
    "nobody has so few of so many": "I:uniform:3:at-most:2.5",
}


@pytest.mark.parametrize("case", UNFIT)
def test_what_does_not_fit_the_columns_names_the_schema(folder: Path, case: str) -> None:
    message = refusal(folder, [UNFIT[case]])
    assert "Gout" not in message
    assert "\n" not in message
    assert "privacy.toml" in message


@pytest.mark.parametrize("policy", ['"III:uniform:2.5"', "2.5", "[2.5]", '{ adversary = "IV" }'])
def test_a_policy_that_is_no_list_of_texts(folder: Path, policy: str) -> None:
    with pytest.raises(DaleniusError, match=r"privacy\.toml.*epsilon_privacy"):
        ruled(folder, policy)


def test_the_command_line_says_it_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    ruled(folder, ["I:table:1e6"])
    assert app.run(["audit", "release.csv", "--schema", "rules/privacy.toml", "--json", "found.json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("dalenius: privacy.toml, [policy] epsilon_privacy: ")
    assert said.err.count("\n") == 1
    assert not (folder / "found.json").exists()


@pytest.mark.parametrize("option", ["-o", "--json"])
def test_a_report_does_not_replace_a_prior_of_the_policy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    """Inputs are never overwritten, those that the policy names among them."""
    monkeypatch.chdir(folder)
    prior = folder / "rules" / "prior.csv"
    prior.write_text("value,probability\nAche,0.4\nFlu,0.3\nPox,0.2\nNever,0.1\n", encoding="utf-8")
    before = prior.read_text(encoding="utf-8")
    ruled(folder, ["III:prior.csv:9"], columns=1)
    code = app.run(["audit", "release.csv", "--schema", "rules/privacy.toml", option, "rules/prior.csv", "-q"])
    assert prior.read_text(encoding="utf-8") == before
    assert code == 2
    assert "prior.csv" in capsys.readouterr().err


def test_exit_codes(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(folder)
    for epsilon, code, word in (("1e6", 0, "passed"), ("1.001", 1, "violated")):
        ruled(folder, [f"III:table:{epsilon}"])
        assert app.run(["audit", "release.csv", "--schema", "rules/privacy.toml"]) == code
        out = capsys.readouterr().out
        [line] = [line for line in out.splitlines() if "epsilon_privacy" in line]
        assert word in line
        assert "III:table" in line


# --- The adversaries of an audit ---------------------------------------------------------------------------------------------


def opened(folder: Path, columns: int = 2) -> GroupedRelease:
    release = dl.read_release(folder / "release.csv", ruled(folder, None, columns=columns))
    assert isinstance(release, GroupedRelease)
    return release


@pytest.mark.parametrize("columns", [1, 2])
def test_the_usual_ones_when_none_is_named(folder: Path, columns: int) -> None:
    """They have seen as many people as the release has, 26, suppressed ones among them."""
    texts = ["I:table:26", "II:26", "III:uniform", "III:table"]
    found = audited(folder, None, columns=columns)
    entries = found.to_document()["epsilon_privacy"]
    assert sum(map(sum, (counts[0] for counts in CLASSES.values()))) == 26
    names = list(VALUES)[:columns]
    assert [(entry["sensitive"], entry["adversary"]) for entry in entries] == [(n, t) for n in names for t in texts]
    check(entries, found)
    assert found.verdict == "none"
    assert [one.text for one in usual(opened(folder))] == texts
    knowing = audited(folder, None, columns=columns, known=1).to_document()["epsilon_privacy"]
    assert [entry["adversary"] for entry in knowing] == [entry["adversary"] for entry in entries]
    for entry in knowing:
        assert entry["known"] == 1
        right = recount(entry["adversary"] + ":known=1", [entry["sensitive"]])
        assert entry["epsilon"] == pytest.approx(float(right), rel=1e-12)


def check(entries: list[dict[str, Any]], found: Audit) -> None:
    """Each entry by a recount: ε, and a class that has it."""
    for entry in entries:
        fields = {"adversary", "known", "at_most", "predicates", "sensitive", "epsilon", "worst_class", "class_size"}
        assert set(entry) == fields
        assert (entry["at_most"], list(entry["predicates"])) == (False, [])
        column = entry["sensitive"]
        place = list(VALUES).index(column)
        one = theirs(entry["adversary"], table(column))
        assert entry["known"] == one.known
        by_class = {city: one.direct(CLASSES[city][place]) for city in KEPT}
        assert entry["epsilon"] == pytest.approx(float(max(by_class.values())), rel=1e-12)
        release = found.release
        assert isinstance(release, GroupedRelease)
        [city] = [city for city in KEPT if f"city {city}" in release.describe(entry["worst_class"])]
        assert float(by_class[city]) == pytest.approx(entry["epsilon"], rel=1e-12)
        assert entry["class_size"] == sum(CLASSES[city][place])


def test_a_class_II_of_a_tiny_release_has_seen_every_value(folder: Path) -> None:
    """Fewer people than values: σ is the number of values, below which class II is nobody."""
    release = dl.read_release({"city": ["Oslo", "Oslo"], "disease": ["Ache", "Flu"], "drug": ["Pill", "Tea"]},
                              ruled(folder, None))  # fmt: skip
    assert isinstance(release, GroupedRelease)
    adversaries = usual(release)
    assert [one.sigma for one in adversaries] == [4, 4, None, None]
    assert len(disclose(release, adversaries)) == 8


def test_named_adversaries_take_their_place(folder: Path) -> None:
    texts = ["I:table:7.5", "II:50:known=2", "IV"]
    found = audited(folder, POLICY, adversaries=[written(text) for text in texts])
    entries = found.to_document()["epsilon_privacy"]
    policys = ["I:table:1e6", "II:50:known=1"]  # always tried, after those that are named
    expected = [(n, t) for n in VALUES for t in texts] + [(n, t) for n in VALUES for t in policys]
    assert [(entry["sensitive"], entry["adversary"]) for entry in entries] == expected
    check(entries, found)
    assert [t.asked.rpartition(" ")[2] for t in found.thresholds] == ["I:table:1e6", "II:50:known=1"]


def test_sets_of_values(folder: Path) -> None:
    """Predicates change what is disclosed, and not what the policy asks for."""
    sets = [Predicate.parse("disease={Flu, Pox}"), Predicate.parse("disease=not Ache", ["disease", "drug"])]
    found = disclose(opened(folder), [written("II:50")], sets)
    assert found[0].predicates == ("disease={Flu, Pox}", "disease=not {Ache}")
    one = theirs("II:50", table("disease"))
    right = max(one.direct(CLASSES[city][0], [frozenset({1, 2}), frozenset({1, 2, 3})]) for city in KEPT)
    assert found[0].epsilon == pytest.approx(float(right), rel=1e-12)
    assert found[1].epsilon == pytest.approx(float(recount("II:50", ["drug"])), rel=1e-12)
    plain_ = audited(folder, POLICY)
    with_sets = audited(folder, POLICY, predicates=sets)
    assert [t.measured for t in with_sets.thresholds] == [t.measured for t in plain_.thresholds]
    assert with_sets.disclosures != plain_.disclosures


def test_policy_criteria_in_their_order(folder: Path) -> None:
    found = policy_criteria(ruled(folder, POLICY), None)
    assert [(one.adversary.text, one.epsilon) for one in found] == [("I:table:1e6", 2.5), ("II:50:known=1", 3.0)]
    assert found[1].adversary.known == 1
    assert policy_criteria(ruled(folder, None), None) == []


# --- The document and the reports ----------------------------------------------------------------------------------------------


def test_the_document_is_as_its_schema_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Infinite as a string, and every field that the schema has."""
    monkeypatch.chdir(folder)
    ruled(folder, POLICY)
    named = ["--adversary", "IV", "--adversary", "I:uniform:30", "--adversary", "II:50", "--known", "1"]
    assert app.run(["audit", "release.csv", "--schema", "rules/privacy.toml", *named, "--json", "-"]) in (0, 1)
    document = json.loads(capsys.readouterr().out)
    schema = audit_schema()
    jsonschema.Draft202012Validator(schema).validate(document)
    entries = document["epsilon_privacy"]
    assert [entry["epsilon"] for entry in entries if entry["adversary"] == "IV"] == ["inf", "inf"]
    assert {entry["known"] for entry in entries if entry["adversary"] != "I:table:1e6"} == {1}
    for entry in entries:
        if entry["adversary"] != "IV":
            known = "" if entry["adversary"] in ("I:table:1e6", "II:50:known=1") else ":known=1"
            right = recount(entry["adversary"] + known, [entry["sensitive"]])
            assert entry["epsilon"] == pytest.approx(float(right), rel=1e-12)
    assert [entry["measured"] for entry in document["policy"]] == pytest.approx(
        [float(recount("I:table:1e6", list(VALUES), HELD)), float(recount("II:50:known=1", list(VALUES), HELD))]
    )
    broken = json.loads(json.dumps(document))
    broken["epsilon_privacy"][0]["epsilon"] = 0.5
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(broken))


def test_reports_tell_epsilon_and_nobodys_value(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    ruled(folder, POLICY)
    arguments = ["audit", "release.csv", "--schema", "rules/privacy.toml", "--adversary", "II:50", "--adversary", "IV"]
    assert app.run([*arguments, "-o", "report.html"]) in (0, 1)
    out = capsys.readouterr().out
    page = (folder / "report.html").read_text(encoding="utf-8")
    for text in (out, page):
        for column in VALUES:
            assert f"{float(recount('II:50', [column])):.4g}" in text
        assert "II:50" in text
        assert "infinite" in text
        assert not [value for values in VALUES.values() for value in values if value in text]
    assert "knowing" not in page


def test_an_anatomized_release_has_epsilon_too(folder: Path) -> None:
    schema = ruled(folder, ["II:50:3"], columns=1)
    quasi = ["group,city", *(f"{q},Oslo" for q, n in ((0, 9), (1, 5)) for _ in range(n))]
    values = ["group,disease,count", "0,Ache,3", "0,Flu,4", "0,Pox,2", "1,Ache,1", "1,Flu,2", "1,Pox,2"]
    (folder / "parts.quasi.csv").write_text("\n".join(quasi) + "\n", encoding="utf-8")
    (folder / "parts.sensitive.csv").write_text("\n".join(values) + "\n", encoding="utf-8")
    found = audit(folder / "parts", schema)
    one = theirs("II:50", (4, 6, 4, 0))
    right = max(one.direct((3, 4, 2, 0)), one.direct((1, 2, 2, 0)))
    assert found.thresholds[0].measured == pytest.approx(float(right), rel=1e-12)


def test_numbers_of_the_document_are_plain(folder: Path) -> None:
    document = plain(audited(folder, POLICY, adversaries=[Realistic("IV")]).to_document())
    assert document["epsilon_privacy"][0]["epsilon"] == "inf"
    assert not any(isinstance(value, np.generic) for entry in document["epsilon_privacy"] for value in entry.values())
    json.dumps(document, allow_nan=False)
