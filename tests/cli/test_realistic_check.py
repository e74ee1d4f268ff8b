"""Realistic adversaries of `check`: ε of a release with priors, known records, sets of values and cells."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalenius
from dalenius.criteria.cell_prior import cell_beliefs
from tests.adversaries.test_realistic import theirs
from tests.cli.realistic_cases import DISEASES, Cli, close, document, private, said, write
from tests.conftest import Run
from tests.criteria import realistic_oracle as oracle
from tests.criteria.realistic_oracle import Adversary, Counts, Number, Set

# --- Table 3 of the paper ----------------------------------------------------------------------------------------------------

METROPOLIS = (Fraction(12000), Fraction(18000))  # the prior of Example 3
MEN, OLD_MEN, WOMEN = (200, 300), (1800, 2700), (18000, 2000)
CHECK_3 = ("realistic-3.csv",)


@pytest.fixture
def table_3(cli: Cli, tmp_path: Path) -> Cli:  # the folder is the current one
    source = Path(dalenius.__file__).parent / "datasets" / "papers" / "realistic-3"
    for path in source.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path / path.name)
    write(tmp_path, "prior.csv", "value,probability\nCancer,0.6\nFlu,0.4\n")
    return cli


def worst(adversary: Adversary, predicates: Sequence[Set] = ()) -> Number:
    return max(adversary.direct(histogram, predicates) for histogram in (MEN, OLD_MEN, WOMEN))


def test_reference_values(table_3: Cli) -> None:
    """Each under the adversary as it is written, in the order given; infinite is a string."""
    reference: list[tuple[str, Adversary, str]] = [
        ("I:prior.csv:30000", Adversary("I", METROPOLIS), "4.00008"),
        ("II:30000", Adversary("II", total=Fraction(30000)), "60.998"),
        ("II:1e3", Adversary("II", total=Fraction(1000)), "2.998"),
        ("III:prior.csv", Adversary("III", (Fraction(2, 5), Fraction(3, 5))), "6"),
        ("IV", Adversary("IV"), "inf"),
    ]
    asked = [part for text, _, _ in reference for part in ("--adversary", text)]
    found = document(table_3, "check", *CHECK_3, *asked)
    assert list(found["epsilon_privacy"]) == [text for text, _, _ in reference]
    for text, adversary, printed in reference:
        value = found["epsilon_privacy"][text]
        assert value == close(worst(adversary))
        assert f"{float(value):.{len(printed.partition('.')[2])}f}" == printed
    assert found["epsilon_privacy"]["IV"] == "inf"
    assert found["sensitive"]["disease"]["epsilon_privacy"] == found["epsilon_privacy"]
    assert found["known"] == 0


def test_without_adversaries_the_document_is_as_it_was(table_3: Cli) -> None:
    found = document(table_3, "check", *CHECK_3)
    assert not {"epsilon_privacy", "known", "adversaries", "predicates", "withstands"} & set(found)
    assert "epsilon_privacy" not in found["sensitive"]["disease"]
    assert "ε" not in said(table_3, "check", *CHECK_3)


@pytest.mark.parametrize(
    ("known", "printed"), [(10, "4.018171"), (100, "4.189557"), (199, ""), (200, "inf"), (25000, "inf")]
)
def test_known_records(table_3: Cli, known: int, printed: str) -> None:
    """By the option, and at the end of the text, which goes before the option."""
    right = worst(Adversary("I", METROPOLIS, known))
    found = document(table_3, "check", *CHECK_3, "--adversary", "I:prior.csv:30000", "--known", str(known))
    assert found["epsilon_privacy"] == {"I:prior.csv:30000": close(right)}
    assert found["known"] == known
    assert (f"{float(right):.6f}" if printed not in ("", "inf") else printed) == printed
    text = f"I:prior.csv:30000:known={known}"
    assert private(table_3, *CHECK_3, "--adversary", text) == {text: close(right)}
    assert private(table_3, *CHECK_3, "--adversary", text, "--known", "3") == {text: close(right)}


def line_of(out: str, text: str) -> str:
    [line] = [line for line in out.splitlines() if line.split()[:1] == [text]]
    return line


def test_the_text_names_the_worst_class_by_number_and_size(table_3: Cli) -> None:
    """Classes are numbered as they come: young men, old men, women."""
    asked = ("--adversary", "I:prior.csv:30000", "--adversary", "II:1000", "--adversary", "IV", "--known", "10")
    out = said(table_3, "check", *CHECK_3, *asked)
    women = line_of(out, "I:prior.csv:30000")
    assert re.search(r"\(b = 10\) +4\.01817 +smaller +class 2, 20,000 people$", women)
    men = line_of(out, "II:1000")
    exact = float(worst(Adversary("II", known=10, total=Fraction(1000))))
    assert re.search(rf"\(b = 10\) +{exact:.6g} +smaller +class 0, 500 people$", men)
    assert " infinite " in line_of(out, "IV")
    for word in ("Flu", "Cancer", "<40", ">=40"):
        assert word not in out
    assert "  columns      age (2 of 100 values), gender (kept)\n" in out  # how many labels, not which
    assert not re.search(r"\b(gender|age) (?!\()", out)


def test_labels_and_values_with_reveal(table_3: Cli) -> None:
    asked = ("--adversary", "III:prior.csv", "--adversary", "II:1000")
    out = said(table_3, "check", *CHECK_3, *asked, "--reveal")
    assert re.search(r"class 2 +age >=40, gender F: Flu 18,000, Cancer 2,000", out)
    assert re.search(r"class 0 +age <40, gender M: Flu 200, Cancer 300", out)


def test_rows_do_not_stand_beside_a_set_that_everybody_in_the_class_has(cli: Cli, tmp_path: Path) -> None:
    """An infinite ε on a set says that all of the class belong to it: with row numbers that tells on them by row.

    The same rule as for a class of one value, whose rows are not told either.
    """
    write(tmp_path, "privacy.toml", 'sensitive = "ill"\n[columns.city]\nrole = "quasi"\n')
    write(tmp_path, "r.csv", "city,ill\nA,Flu\nA,Pox\nB,Flu\nB,Ache\nB,Pox\n")
    out = said(cli, "check", "r.csv", "--adversary", "II:50", "--predicate", "{Flu, Pox}")
    line = line_of(out, "II:50")
    assert "infinite" in line
    assert "class 0, 2 people" in line
    assert "row" not in line.partition("class")[2]


def test_a_data_set_as_a_prior(table_3: Cli, tmp_path: Path) -> None:
    """11,999 with flu and 17,999 with cancer make D(12000, 18000); class II takes their number, class III their shares."""
    write(tmp_path, "other.csv", "disease,count\nFlu,11000\nCancer,17999\nFlu,999\n")
    hand = private(table_3, *CHECK_3, "--adversary", "I:prior.csv:30000")["I:prior.csv:30000"]
    found = private(
        table_3, *CHECK_3, "--prior-data", "other.csv", "--adversary", "II:data:other.csv", "--adversary",
        "III:data:other.csv",
    )  # fmt: skip
    assert list(found) == ["II:data:other.csv", "III:data:other.csv", "I:data:other.csv"]
    assert found["I:data:other.csv"] == pytest.approx(hand, rel=1e-12) == close(worst(Adversary("I", METROPOLIS)))
    assert found["II:data:other.csv"] == close(worst(Adversary("II", total=Fraction(30000))))
    assert found["III:data:other.csv"] == close(Fraction(6))
    assert (
        private(table_3, *CHECK_3, "--adversary", "I:data:other.csv")["I:data:other.csv"] == found["I:data:other.csv"]
    )


def test_a_data_set_of_rows_and_one_that_lacks_a_value(table_3: Cli, tmp_path: Path) -> None:
    """Rows count once each, other columns do not matter, and a value that nobody was seen with counts 0 + 1."""
    write(tmp_path, "rows.csv", "town,disease\n" + "x,Cancer\n" * 40)
    right = worst(Adversary("I", (Fraction(1), Fraction(41)), 2))
    assert private(table_3, *CHECK_3, "--prior-data", "rows.csv", "--known", "2")["I:data:rows.csv"] == close(right)


def test_a_file_as_a_prior_is_relative_to_where_one_is(table_3: Cli, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("realistic-3.csv", "privacy.toml"):
        shutil.move(tmp_path / name, tmp_path / "sub" / name)
    found = private(table_3, "sub/realistic-3.csv", "--schema", "sub/privacy.toml", "--adversary", "III:prior.csv")
    assert found == {"III:prior.csv": close(Fraction(6))}


def test_the_document_says_what_epsilon_was_measured_against(table_3: Cli) -> None:
    asked = (
        "--adversary",
        "I:prior.csv:30",
        "--adversary",
        "II:30:known=3",
        "--adversary",
        "III:uniform",
        "--known",
        "5",
    )
    found = document(table_3, "check", *CHECK_3, *asked, "--at-most", "--predicate", "Flu")
    assert found["adversaries"] == {
        "I:prior.csv:30": {"known": 5, "at_most": True},
        "II:30:known=3": {"known": 3, "at_most": True},
        "III:uniform": {"known": 5, "at_most": False},
    }
    assert found["predicates"] == ["{Flu}"]
    out = said(table_3, "check", *CHECK_3, *asked, "--predicate", "Flu")
    assert "{Flu}" in out
    assert "b = 5" in line_of(out, "III:uniform")
    assert "b = " not in line_of(out, "II:30:known=3")


@pytest.mark.parametrize("known", [0, 5])
def test_at_most(table_3: Cli, known: int) -> None:
    """By the option and in the text; as bad as the worst of all who are no more stubborn."""
    for sigma in (3, 30, 3000):
        plain, text = f"I:prior.csv:{sigma}", f"I:prior.csv:{sigma}:at-most"
        asked = ("--known", str(known))
        found = private(table_3, *CHECK_3, "--adversary", text, "--adversary", plain, *asked)
        assert private(table_3, *CHECK_3, "--adversary", plain, "--at-most", *asked)[plain] == found[text]
        less = [Fraction(5, 2) + (sigma - Fraction(5, 2)) * Fraction(i, 20) for i in range(21)]
        every = [worst(Adversary("I", (one * Fraction(2, 5), one * Fraction(3, 5)), known)) for one in less]
        assert found[text] == close(max(every))
        assert found[plain] == close(every[-1])


def test_at_most_where_who_has_seen_less_learns_more(table_3: Cli, tmp_path: Path) -> None:
    """The young men alone have the very shares of the prior: the less was seen elsewhere, the more they tell."""
    lines = (tmp_path / "realistic-3.csv").read_text(encoding="utf-8").splitlines()
    write(tmp_path, "men.csv", "\n".join(lines[:3]) + "\n")
    found = private(table_3, "men.csv", "--adversary", "I:prior.csv:900", "--adversary", "I:prior.csv:900:at-most")
    most = Adversary("I", (Fraction(360), Fraction(540)))
    least = Adversary("I", (Fraction(1), Fraction(3, 2)))  # σ = 2.5, of which the rarer value has 1
    assert found == {"I:prior.csv:900": close(most.direct(MEN)), "I:prior.csv:900:at-most": close(least.direct(MEN))}
    assert least.direct(MEN) > most.direct(MEN)


def test_at_most_says_nothing_of_classes_without_stubbornness(table_3: Cli) -> None:
    found = private(table_3, *CHECK_3, "--adversary", "III:prior.csv", "--adversary", "IV", "--at-most")
    assert found == {"III:prior.csv": close(Fraction(6)), "IV": "inf"}


# --- How stubborn an adversary is withstood -----------------------------------------------------------------------------------


def sigmas(span: dict[str, Any], least: float) -> tuple[list[float], list[float]]:
    """Some σ inside an interval, its ends among them, and some a hundredth outside; below `least` is nobody."""
    low, high = float(span["smallest"]), float(span["largest"])
    inside = [max(low, least), low + (min(high, 1e9) - low) * 0.37, min(high, 1e9)]
    outside = [low * 0.99] if low * 0.99 >= least else []
    return [sigma for sigma in inside if sigma >= least], outside + ([high * 1.01] if math.isfinite(high) else [])


@pytest.mark.parametrize("known", [0, 10])
@pytest.mark.parametrize("epsilon", [1.8, 3.2, 4.5])
def test_withstands(table_3: Cli, epsilon: float, known: int) -> None:
    """Inside the interval a check passes; a hundredth outside it fails."""
    named = ("--adversary", "I:prior.csv:30000", "--adversary", "II:30000")
    found = document(table_3, "check", *CHECK_3, *named, "--known", str(known), "--epsilon", str(epsilon))
    assert found["withstands"]["epsilon"] == epsilon
    assert found["withstands"]["known"] == known
    spans = found["withstands"]["sigma"]
    assert list(spans) == ["I:uniform", "I:table", "II", "I:prior.csv"]
    texts: dict[str, bool] = {}
    for prior, span in spans.items():
        inside, outside = sigmas(span, 2.0 if prior == "II" else max(1.0 - known, 1e-3))
        texts |= {f"{prior}:{sigma!r}": sigma in inside for sigma in [*inside, *outside]}
    again = private(
        table_3, *CHECK_3, *(part for text in texts for part in ("--adversary", text)), "--known", str(known)
    )
    assert list(again) == list(texts)
    for text, within in texts.items():
        assert (float(again[text]) <= epsilon * (1 + 1e-9)) == within, text
    assert any(float(span["largest"]) < math.inf for span in spans.values())


def test_withstands_who_has_seen_that_data_set_or_more(table_3: Cli, tmp_path: Path) -> None:
    """The shape of a data set, for any number of people who have it."""
    write(tmp_path, "other.csv", "disease,count\nFlu,1199\nCancer,1799\n")
    asked = ("check", *CHECK_3, "--epsilon", "4.5")
    spans = document(table_3, *asked, "--prior-data", "other.csv", "--adversary", "I:prior.csv:9")["withstands"][
        "sigma"
    ]
    assert list(spans) == ["I:uniform", "I:table", "II", "I:prior.csv", "I:data:other.csv"]
    assert spans["I:data:other.csv"]["largest"] == pytest.approx(spans["I:prior.csv"]["largest"], rel=1e-9)


def test_withstands_in_words_and_none(table_3: Cli) -> None:
    asked = ("check", *CHECK_3, "--epsilon", "1.2", "--known", "300")
    found = document(table_3, *asked)
    assert found["withstands"]["sigma"] == {"I:uniform": None, "I:table": None, "II": None}
    out = said(table_3, *asked)
    assert re.search(r"withstands at ε\s=\s1\.2:", out)
    assert [line_of(out, prior).split()[1:] for prior in ("I:uniform", "I:table", "II")] == [["none"]] * 3
    spans = document(table_3, "check", *CHECK_3, "--epsilon", "4.5")["withstands"]["sigma"]
    out = said(table_3, "check", *CHECK_3, "--epsilon", "4.5")
    assert spans["I:table"]["largest"] == "inf"
    assert "class III" in line_of(out, "I:table")
    largest = line_of(out, "II").split()[-1].replace(",", "")
    assert float(largest) == pytest.approx(spans["II"]["largest"], rel=1e-5)


# --- Sets of values, and several sensitive columns ------------------------------------------------------------------------

CLINIC = """sensitive = ["disease", "drug"]
[columns.city]
role = "quasi"
[columns.disease]
role = "sensitive"
domain = ["Zitterpox", "Yawnfever", "Xanthitis", "Wobbles"]
[columns.drug]
role = "sensitive"
hierarchy = "drugs.csv"
"""
DRUGS = ("Vimto", "Umbra", "Tonic")
# City: how many have each disease, and how many each drug. The rows of `*` are suppressed.
CITIES: dict[str, tuple[Counts, Counts]] = {
    "Quasiville": ((5, 2, 1, 0), (4, 3, 1)),
    "Rowtown": ((2, 2, 3, 0), (2, 1, 4)),
    "Sumpstead": ((1, 1, 4, 0), (3, 2, 1)),
    "*": ((1, 0, 1, 0), (0, 2, 0)),
}
KEPT = ("Quasiville", "Rowtown", "Sumpstead")
SECRETS = {*DISEASES, *DRUGS, *KEPT, "soft", "hard"}


@pytest.fixture
def clinic(cli: Cli, tmp_path: Path) -> Cli:
    """A release with two sensitive columns, one of which has a hierarchy."""
    write(tmp_path, "privacy.toml", CLINIC)
    write(tmp_path, "drugs.csv", "Vimto;soft;*\nUmbra;soft;*\nTonic;hard;*\n")
    lines = ["city,disease,drug"]
    for city, (first, second) in CITIES.items():
        ill = [name for name, n in zip(DISEASES, first, strict=True) for _ in range(n)]
        cured = [name for name, n in zip(DRUGS, second, strict=True) for _ in range(n)]
        lines += [f"{city},{one},{two}" for one, two in zip(ill, cured, strict=True)]
    write(tmp_path, "r.csv", "\n".join(lines) + "\n")
    return cli


def total(place: int) -> Counts:
    return tuple(sum(n) for n in zip(*(counts[place] for counts in CITIES.values()), strict=True))


def of_column(who: str | Adversary, place: int, predicates: Sequence[Set] = ()) -> Number:
    """ε of the disease (0) or the drug (1)."""
    adversary = theirs(who, total(place)) if isinstance(who, str) else who
    return max(adversary.direct(CITIES[city][place], predicates) for city in KEPT)


WRITTEN = (
    "I:uniform:20",
    "I:table:1e6",
    "II:12",
    "II:1e3:known=1",
    "III:uniform",
    "III:table",
    "I:table:9:known=2",
    "IV",
)


def test_of_several_columns_the_worst(clinic: Cli) -> None:
    found = document(clinic, "check", "r.csv", *(part for text in WRITTEN for part in ("--adversary", text)))
    assert found["suppressed"] == 2
    places: Counter[int] = Counter()
    for text in WRITTEN:
        each = [of_column(text, place) for place in (0, 1)]
        for name, right in zip(("disease", "drug"), each, strict=True):
            assert found["sensitive"][name]["epsilon_privacy"][text] == close(right), (name, text)
        assert found["epsilon_privacy"][text] == close(max(each))
        places[each.index(max(each))] += 1
    assert set(places) == {0, 1}  # now the one, now the other is worse


def test_nothing_is_shown_of_people(clinic: Cli) -> None:
    asked = ("check", "r.csv", "--adversary", "I:table:1e6", "--adversary", "II:12", "--known", "1", "--epsilon", "4")
    for options in ((), ("--json", "-"), ("--others-as-quasi",)):
        out = said(clinic, *asked, *options)
        assert not [word for word in SECRETS if word in out]
    out = said(clinic, *asked, "--reveal")
    assert re.search(r"class \d +city (Quasiville|Rowtown|Sumpstead): .*Vimto \d", out)


PREDICATES: list[tuple[tuple[str, ...], dict[int, list[Set]]]] = [
    (("disease={Zitterpox, Yawnfever}",), {0: [frozenset({0, 1})]}),
    (("disease=not Zitterpox",), {0: [frozenset({1, 2, 3})]}),
    (("disease=not {Zitterpox, Wobbles}",), {0: [frozenset({1, 2})]}),
    (("disease=Xanthitis",), {0: [frozenset({2})]}),
    (("drug=soft",), {1: [frozenset({0, 1})]}),
    (("drug=not {soft}",), {1: [frozenset({2})]}),
    (("disease=Zitterpox", "disease={Yawnfever, Xanthitis}"), {0: [frozenset({0}), frozenset({1, 2})]}),
    (("disease={Zitterpox}", "drug={Tonic, Umbra}"), {0: [frozenset({0})], 1: [frozenset({1, 2})]}),
]


@pytest.mark.parametrize(("texts", "members"), PREDICATES, ids=[" ".join(texts) for texts, _ in PREDICATES])
def test_predicates(clinic: Cli, texts: tuple[str, ...], members: dict[int, list[Set]]) -> None:
    """Sets, complements and labels of a hierarchy; of a column that none is named for, every single value."""
    who = ("I:uniform:20", "II:12:known=1", "III:table")
    asked = [part for text in who for part in ("--adversary", text)]
    found = document(clinic, "check", "r.csv", *asked, *(part for text in texts for part in ("--predicate", text)))
    for text in who:
        for place, name in enumerate(("disease", "drug")):
            right = of_column(text, place, members.get(place, []))
            assert found["sensitive"][name]["epsilon_privacy"][text] == close(right), (name, text)


def test_predicates_of_the_only_column_need_no_name(table_3: Cli) -> None:
    flu = frozenset({0})
    for text in ("Flu", "{Flu}", "disease=Flu", "not Cancer", "not {Cancer}"):
        found = private(table_3, *CHECK_3, "--adversary", "II:1000", "--predicate", text)
        assert found == {"II:1000": close(worst(Adversary("II", total=Fraction(1000)), [flu]))}, text


def test_a_file_with_a_prior_for_each_column(clinic: Cli, tmp_path: Path) -> None:
    shares = {"disease": ("0.1", "0.2", "0.3", "0.4"), "drug": ("0.5", "0.3", "0.2")}
    lines = [f"{value},{column},{p}" for column, values in (("disease", DISEASES), ("drug", DRUGS))
             for value, p in zip(values, shares[column], strict=True)]  # fmt: skip
    write(tmp_path, "both.csv", "value,column,probability\n" + "\n".join(reversed(lines)) + "\n")
    found = document(
        clinic, "check", "r.csv", "--adversary", "I:both.csv:50", "--adversary", "III:both.csv", "--epsilon", "3"
    )
    each = {}
    for place, column in enumerate(shares):
        shape = tuple(Fraction(p) for p in shares[column])
        first = of_column(Adversary("I", tuple(50 * p for p in shape)), place)
        third = of_column(Adversary("III", shape), place)
        each[column] = {"I:both.csv:50": close(first), "III:both.csv": close(third)}
        assert found["sensitive"][column]["epsilon_privacy"] == each[column]
    for text in found["epsilon_privacy"]:
        values = [float(found["sensitive"][column]["epsilon_privacy"][text]) for column in shares]
        assert float(found["epsilon_privacy"][text]) == max(values)
    # What both columns withstand is what a check of both finds.
    texts: dict[str, bool] = {}
    for prior, span in found["withstands"]["sigma"].items():
        inside, outside = sigmas(span, 4.0 if prior == "II" else 1.0) if span else ([], [5.0, 50.0])
        texts |= {f"{prior}:{sigma!r}": sigma in inside for sigma in [*inside, *outside]}
    again = private(clinic, "r.csv", *(part for text in texts for part in ("--adversary", text)))
    for text, within in texts.items():
        assert (float(again[text]) <= 3 * (1 + 1e-9)) == within, text
    assert any(found["withstands"]["sigma"].values())


def test_data_with_both_columns(clinic: Cli, tmp_path: Path) -> None:
    write(tmp_path, "seen.csv", "drug,disease,count\nVimto,Wobbles,7\nTonic,Zitterpox,2\n")
    found = document(clinic, "check", "r.csv", "--prior-data", "seen.csv")
    counts = ((3, 1, 1, 8), (8, 1, 3))
    for place, column in enumerate(("disease", "drug")):
        right = of_column(Adversary("I", tuple(map(Fraction, counts[place]))), place)
        assert found["sensitive"][column]["epsilon_privacy"]["I:data:seen.csv"] == close(right)


def test_known_values_of_other_columns_split_the_classes(clinic: Cli) -> None:
    """With --others-as-quasi a class is what has the same city and the same drug."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for city in KEPT:
        ill = [name for name, n in zip(DISEASES, CITIES[city][0], strict=True) for _ in range(n)]
        cured = [name for name, n in zip(DRUGS, CITIES[city][1], strict=True) for _ in range(n)]
        for one, two in zip(ill, cured, strict=True):
            rows.setdefault((city, two), Counter())[one] += 1
    adversary = theirs("II:12", total(0))
    right = max(adversary.direct(tuple(part[name] for name in DISEASES)) for part in rows.values())
    found = document(clinic, "check", "r.csv", "--adversary", "II:12", "--others-as-quasi")
    assert found["sensitive"]["disease"]["epsilon_privacy"]["II:12"] == close(right)


# --- A prior that depends on the quasi-identifiers ------------------------------------------------------------------------

PEOPLE_SCHEMA = """sensitive = "ill"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 39 }
intervals = [10]
[columns.sex]
role = "quasi"
domain = ["F", "M"]
hierarchy = "suppress"
[columns.ill]
role = "sensitive"
domain = ["Flu", "Pox", "Ache"]
"""
ILLS = ("Flu", "Pox", "Ache")
# Each person: age, sex, value; the classes are the tens of ages, of unknown sex.
PERSONS = [
    (21, "F", "Flu"), (21, "F", "Pox"), (21, "M", "Flu"), (25, "M", "Flu"), (25, "M", "Ache"),
    (31, "F", "Pox"), (31, "F", "Pox"), (33, "F", "Flu"), (39, "M", "Pox"), (39, "M", "Ache"),
]  # fmt: skip
# What the adversary has seen elsewhere, also of people who are in no class.
SEEN = {(21, "F", "Flu"): 3, (21, "M", "Pox"): 2, (31, "F", "Pox"): 5, (39, "M", "Ache"): 1, (22, "F", "Ache"): 9}
GROUPS: list[list[int]] = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def by_cells(groups: list[list[int]], column: int = 2) -> Number:
    """Every world of every group: each person of a cell, each value that she may have."""
    found: list[Number] = [Fraction(1)]
    for group in groups:
        cells = sorted({PERSONS[i][:2] for i in group})
        people = [sum(PERSONS[i][:2] == cell for i in group) for cell in cells]
        sigma = [[Fraction(SEEN.get((*cell, value), 0) + 1) for value in ILLS] for cell in cells]
        histogram = tuple(sum(PERSONS[i][column] == value for i in group) for value in ILLS)
        priors = [oracle.dirichlet(row) for row in sigma]
        inside, outside = cell_beliefs(people, np.array(sigma, dtype=float), histogram)
        for c in range(len(cells)):
            p_in = oracle.cell_worlds(people, priors, histogram, c)
            assert inside[c] == pytest.approx([float(p) for p in p_in], abs=1e-12)
            for s in (s for s, n in enumerate(histogram) if n):
                p_out = oracle.cell_worlds(people, priors, histogram, c, own=s)[s]
                assert outside[c, s] == pytest.approx(float(p_out), rel=1e-10)
                found.append(oracle.ratio(p_in[s], p_out))
    return max(found)


@pytest.fixture
def cells(cli: Cli, tmp_path: Path) -> Cli:
    """A table, a generalized and an anatomized release of it, and what somebody saw elsewhere."""
    write(tmp_path, "privacy.toml", PEOPLE_SCHEMA)
    lines = [f"{age},{sex},{ill}" for age, sex, ill in PERSONS]
    write(tmp_path, "people.csv", "age,sex,ill\n" + "\n".join(lines) + "\n")
    write(tmp_path, "register.csv", "sex,age\n" + "\n".join(f"{p[1]},{p[0]}" for p in reversed(PERSONS)) + "\n")
    released = [f'"[{age // 10 * 10}, {age // 10 * 10 + 9}]",*,{ill}' for age, _, ill in PERSONS]
    write(tmp_path, "r.csv", "age,sex,ill\n" + "\n".join(released) + "\n")
    seen = [f"{age},{sex},{ill},{n}" for (age, sex, ill), n in SEEN.items()]
    write(tmp_path, "seen.csv", "age,sex,ill,count\n" + "\n".join(seen) + "\n45,F,Flu,7\n")
    groups = [q for q, group in enumerate(GROUPS) for _ in group]
    parts = {"quasi": ("age,sex", [f"{p[0]},{p[1]}" for p in PERSONS]), "sensitive": ("ill", [p[2] for p in PERSONS])}
    for part, (head, body) in parts.items():
        text = [f"{q},{one}" for q, one in zip(groups, body, strict=True)]
        write(tmp_path, f"a.{part}.csv", f"group,{head}\n" + "\n".join(text) + "\n")
    return cli


def test_prior_cells_on_a_generalized_release(cells: Cli) -> None:
    right = by_cells(GROUPS)
    assert 1 < right < math.inf
    for population in ("people.csv", "register.csv"):
        found = document(cells, "check", "r.csv", "--prior-cells", "seen.csv", "--population", population)
        assert found["epsilon_privacy"] == {"cells:seen.csv": close(right)}
        assert found["sensitive"]["ill"]["epsilon_privacy"] == found["epsilon_privacy"]
    out = said(cells, "check", "r.csv", "--prior-cells", "seen.csv", "--population", "people.csv")
    assert re.search(rf"cells:seen\.csv +{float(right):.6g} +smaller +class \d, 5 people", out)


def test_prior_cells_on_an_anatomized_release(cells: Cli) -> None:
    """It says itself who is in a class."""
    found = private(cells, "a", "--prior-cells", "seen.csv", "--adversary", "II:30", "--prior-data", "seen.csv")
    assert set(found) == {"cells:seen.csv", "II:30", "I:data:seen.csv"}
    assert found["cells:seen.csv"] == close(by_cells(GROUPS))


def test_a_population_of_counted_rows(cells: Cli, tmp_path: Path) -> None:
    counted = Counter(p[:2] for p in PERSONS)
    write(tmp_path, "counted.csv", "age,sex,count\n" + "".join(f"{a},{x},{n}\n" for (a, x), n in counted.items()))
    found = private(cells, "r.csv", "--prior-cells", "seen.csv", "--population", "counted.csv")
    assert found == {"cells:seen.csv": close(by_cells(GROUPS))}


def test_one_cell_is_the_usual_prior(cells: Cli, tmp_path: Path) -> None:
    """Where everybody has the same quasi-identifiers, nothing depends on them."""
    write(tmp_path, "same.csv", "age,sex,ill\n" + "".join(f"21,F,{p[2]}\n" for p in PERSONS))
    write(tmp_path, "there.csv", "age,sex,ill,count\n21,F,Flu,3\n21,F,Pox,8\n")
    found = private(
        cells, "same.csv", "--prior-cells", "there.csv", "--population", "same.csv", "--prior-data", "there.csv"
    )
    assert found["cells:there.csv"] == pytest.approx(found["I:data:there.csv"], rel=1e-9)
    assert found["cells:there.csv"] == close(Adversary("I", (Fraction(4), Fraction(9), Fraction(1))).direct((4, 4, 2)))


def test_suppressed_people_are_in_no_cell(cells: Cli, tmp_path: Path) -> None:
    """The thirties are suppressed: the population still has them, and they fit nowhere."""
    lines = ['"[20, 29]",*,' + p[2] for p in PERSONS[:5]] + ["*,*," + p[2] for p in PERSONS[5:]]
    write(tmp_path, "s.csv", "age,sex,ill\n" + "\n".join(lines) + "\n")
    found = document(cells, "check", "s.csv", "--prior-cells", "seen.csv", "--population", "people.csv")
    assert found["suppressed"] == 5
    assert found["epsilon_privacy"]["cells:seen.csv"] == close(by_cells(GROUPS[:1]))


def test_a_homogeneous_class_is_certain_whatever_the_cells(cells: Cli, tmp_path: Path) -> None:
    write(tmp_path, "h.csv", "age,sex,ill\n" + '"[20, 29]",*,Flu\n' * 5 + '"[30, 39]",*,Pox\n' * 5)
    found = document(cells, "check", "h.csv", "--prior-cells", "seen.csv", "--population", "people.csv")
    assert found["epsilon_privacy"] == {"cells:seen.csv": "inf"}


@pytest.mark.parametrize("option", [("--known", "1"), ("--predicate", "{Flu, Pox}")], ids=" ".join)
def test_cells_say_nothing_of_known_records_and_sets(cells: Cli, option: tuple[str, str]) -> None:
    """Cells are worked out for single values and with nobody known: asked for more, that must be refused, or given."""
    asked = ("check", "r.csv", "--prior-cells", "seen.csv", "--population", "people.csv")
    plain = document(cells, *asked)["epsilon_privacy"]["cells:seen.csv"]
    code, out, err = cells(*asked, *option, "--json", "-")
    assert code == 2 or json.loads(out)["epsilon_privacy"]["cells:seen.csv"] != plain, err


def test_somebody_who_fits_two_classes(cells: Cli, tmp_path: Path) -> None:
    write(tmp_path, "o.csv", "age,sex,ill\n" + '"[20, 29]",*,Flu\n' * 5 + '"[25, 39]",*,Pox\n' * 5)
    code, out, err = cells("check", "o.csv", "--prior-cells", "seen.csv", "--population", "people.csv")
    assert (code, out) == (2, "")
    assert "people.csv: somebody fits" in err
    assert err.count("\n") == 1


def test_too_many_ways_to_share_values_out(cells: Cli, tmp_path: Path) -> None:
    """Refused before it is begun, with the class by its number and nobody's value."""
    rng = random.Random(3)
    many = [(rng.randint(20, 39), rng.choice("FM"), rng.choice(ILLS)) for _ in range(1500)]
    write(tmp_path, "many.csv", "age,sex,ill\n" + "".join(f"{a},{s},{i}\n" for a, s, i in many))
    write(tmp_path, "top.csv", "age,sex,ill\n" + "".join(f'"[20, 39]","{{F, M}}",{i}\n' for _, _, i in many))
    code, out, err = cells("check", "top.csv", "--prior-cells", "seen.csv", "--population", "many.csv")
    assert (code, out) == (2, "")
    assert "Class 0: " in err
    assert "1,500 people, 40 cells and 3 values has too many ways" in err
    assert not [value for value in ILLS if value in err]


def test_suffixes_in_any_order_are_the_options(table_3: Cli) -> None:
    texts = ["I:prior.csv:30:" + ":".join(order) for order in itertools.permutations(("known=5", "at-most"))]
    found = private(table_3, *CHECK_3, *(part for text in texts for part in ("--adversary", text)))
    assert list(found) == texts
    options = private(table_3, *CHECK_3, "--adversary", "I:prior.csv:30", "--known", "5", "--at-most")
    assert set(found.values()) == set(options.values())
    assert options != private(table_3, *CHECK_3, "--adversary", "I:prior.csv:30")


@pytest.mark.slow
def test_in_a_process_of_its_own(run: Run, table_3: Cli, tmp_path: Path) -> None:
    """As in the issue: a prior of probabilities, known records, JSON on standard output."""
    del table_3  # for its files
    done = run("check", *CHECK_3, "--schema", "privacy.toml", "--adversary", "I:prior.csv:30000", "--known", "10",
               "--json", "-", cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["epsilon_privacy"]["I:prior.csv:30000"] == pytest.approx(4.018171, abs=5e-7)
