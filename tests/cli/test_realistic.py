"""Realistic adversaries on the command line: ε of a release, of every node of a lattice, as a criterion; and bad input."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalenius
from dalenius.auditing.surveying import LatticeSurvey
from dalenius.cli import app
from dalenius.criteria import Predicate, Realistic
from dalenius.criteria.cell_prior import cell_beliefs
from dalenius.publishers.survey import PRIORS, Sweep
from dalenius.reports import lattice as report
from tests.adversaries.test_realistic import theirs
from tests.conftest import Run, unwarned
from tests.criteria import realistic_oracle as oracle
from tests.criteria.realistic_oracle import Adversary, Counts, Number, Set
from tests.oracle import Node, classes, minimal, nodes
from tests.reports.page import Page

Answer = tuple[int, str, str]
Cli = Callable[..., Answer]
METROPOLIS = (Fraction(12000), Fraction(18000))  # the prior of Example 3


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process and in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def said(cli: Cli, *arguments: str) -> str:
    code, out, err = cli(*arguments)
    assert (code, unwarned(err)) == (0, ""), err
    return out


def document(cli: Cli, *arguments: str) -> dict[str, Any]:
    found = json.loads(said(cli, *arguments, "--json", "-"))
    assert isinstance(found, dict)
    return found


def private(cli: Cli, *arguments: str) -> dict[str, Any]:
    found = document(cli, "check", *arguments)["epsilon_privacy"]
    assert isinstance(found, dict)
    return found


def close(value: Number) -> Any:
    """ε as JSON has it."""
    return "inf" if value == math.inf else pytest.approx(float(value), rel=1e-9)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


# --- Table 3 of the paper ----------------------------------------------------------------------------------------------------

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
    assert "  left             age (2 of 100 values), gender (kept)\n" in out  # how many labels, not which
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
    assert re.search(r"withstands, at ε = 1\.2", out)
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
DISEASES = ("Zitterpox", "Yawnfever", "Xanthitis", "Wobbles")
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


# --- The lattice, and publishing ------------------------------------------------------------------------------------------

TOWN = """sensitive = "ill"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 39 }
intervals = [5, 10]
[columns.sex]
role = "quasi"
domain = ["F", "M"]
hierarchy = "suppress"
[columns.ill]
role = "sensitive"
domain = ["Zitterpox", "Yawnfever", "Xanthitis", "Wobbles"]
"""
AGES: dict[str, tuple[str, ...]] = {str(i): (str(i), f"{i // 5}", f"{i // 10}!", "*") for i in range(20, 40)}
TREES: list[dict[str, tuple[str, ...]]] = [AGES, {"F": ("F", "*"), "M": ("M", "*")}]
SIX = ("I:uniform:1e6", "I:table:1e6", "II:1e3", "II:1e6", "III:uniform", "III:table")


def townspeople() -> list[tuple[str, str, str]]:
    rng = random.Random(11)
    return [
        (str(rng.randint(20, 39)), rng.choice("FM"), rng.choices(DISEASES[:3], weights=(5, 3, 2))[0]) for _ in range(70)
    ]


TOWNSPEOPLE = townspeople()
ROWS = [(age, sex) for age, sex, _ in TOWNSPEOPLE]
EVERYONE: Counts = tuple(sum(person[2] == value for person in TOWNSPEOPLE) for value in DISEASES)


@pytest.fixture
def town(cli: Cli, tmp_path: Path) -> Cli:
    write(tmp_path, "privacy.toml", TOWN)
    lines = [f"Person{i},{','.join(person)}" for i, person in enumerate(TOWNSPEOPLE)]
    write(tmp_path, "t.csv", "name,age,sex,ill\n" + "\n".join(lines) + "\n")
    return cli


def histograms(node: Node) -> list[Counts]:
    return [
        tuple(sum(TOWNSPEOPLE[i][2] == value for i in members) for value in DISEASES)
        for members in classes(ROWS, TREES, node).values()
    ]


def of_node(who: str | Adversary, node: Node, predicates: Sequence[Set] = ()) -> Number:
    adversary = theirs(who, EVERYONE) if isinstance(who, str) else who
    return max(adversary.direct(histogram, predicates) for histogram in histograms(node))


def test_lattice_document(town: Cli, tmp_path: Path) -> None:
    """Every node once, ε against each adversary by a recount from the rows, infinite as a string, and the utilities."""
    asked = [part for text in SIX for part in ("--adversary", text)]
    assert town("lattice", "t.csv", *asked, "--json", "out.json", "-q") == (0, "", "")
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert found["people"] == 70
    assert len(found["nodes"]) == 8
    seen = {}
    for entry in found["nodes"]:
        assert list(entry["levels"]) == ["age", "sex"]
        node = tuple(entry["levels"].values())
        seen[node] = entry
        assert list(entry["epsilon"]) == list(SIX)
        for text in SIX:
            assert entry["epsilon"][text] == close(of_node(text, node)), (node, text)
        groups = histograms(node)
        assert entry["classes"] == len(groups)
        assert entry["discernibility"] == sum(sum(group) ** 2 for group in groups)
        assert entry["average_class_size"] == pytest.approx(70 / len(groups))
        assert entry["suppressed"] == 0
    assert set(seen) == set(nodes(TREES))
    values = [entry["epsilon"][text] for entry in seen.values() for text in SIX]
    assert "inf" in values
    assert sum(isinstance(value, float) for value in values) > 12


def test_lattice_options(town: Cli, tmp_path: Path) -> None:
    """Known records, sets, at most, data: as in a check."""
    write(tmp_path, "seen.csv", "ill,count\nZitterpox,30\nXanthitis,4\n")
    asked = ("--adversary", "I:uniform:30", "--prior-data", "seen.csv", "--known", "1", "--predicate",
             "{Zitterpox, Xanthitis}", "--at-most")  # fmt: skip
    found = document(town, "lattice", "t.csv", *asked)
    assert found["known"] == 1
    chosen = [frozenset({0, 2})]
    for entry in found["nodes"]:
        node = tuple(entry["levels"].values())
        uniform = max(of_node(f"I:uniform:{sigma}:known=1", node, chosen) for sigma in (30, 4))
        shape = [Fraction(n, 38) for n in (31, 1, 5, 1)]  # at most 38 who have this shape: between 38 and 38
        data = of_node(Adversary("I", tuple(38 * p for p in shape), 1), node, chosen)
        assert entry["epsilon"] == {"I:uniform:30": close(uniform), "I:data:seen.csv": close(data)}


def test_lattice_of_two_columns_has_the_worst(town: Cli, tmp_path: Path) -> None:
    write(tmp_path, "privacy.toml", TOWN.replace('sensitive = "ill"', 'sensitive = ["ill", "sex"]').replace(
        'role = "quasi"\ndomain = ["F", "M"]\nhierarchy = "suppress"', 'role = "sensitive"\ndomain = ["F", "M"]'))  # fmt: skip
    found = document(town, "lattice", "t.csv", "--adversary", "II:40")
    assert len(found["nodes"]) == 4
    for entry in found["nodes"]:
        groups = classes([(age,) for age, _ in ROWS], TREES[:1], (entry["levels"]["age"],)).values()
        every: list[Number] = []
        for members in groups:
            every.append(
                theirs("II:40", EVERYONE).direct(tuple(sum(TOWNSPEOPLE[i][2] == v for i in members) for v in DISEASES))
            )
            every.append(
                theirs("II:40", (1, 1)).direct(tuple(sum(TOWNSPEOPLE[i][1] == v for i in members) for v in "FM"))
            )
        assert entry["epsilon"]["II:40"] == close(max(every))


def test_lattice_text(town: Cli) -> None:
    out = said(town, "lattice", "t.csv", "--adversary", "I:table:1e6", "--adversary", "II:20")
    infinite = sum(of_node("I:table:1e6", n) == of_node("II:20", n) == math.inf for n in nodes(TREES))
    assert f"{infinite} have an infinite ε against each adversary" in out
    rows = [line for line in out.splitlines() if re.search(r"age \d, sex \d$", line)]
    assert len(rows) == 8 - infinite
    for line in rows:
        node = tuple(map(int, re.findall(r"\d", line.rpartition("age")[2])))
        shown = line.split("age")[0].split()[-2:]
        for text, word in zip(("I:table:1e6", "II:20"), shown, strict=True):
            right = of_node(text, node)
            assert word == "infinite" if right == math.inf else float(word) == pytest.approx(float(right), rel=1e-4)
    assert not [word for word in (*DISEASES, "Person") if word in out]


def test_the_page_is_one_file(town: Cli, tmp_path: Path) -> None:
    """No script, nothing to fetch; the table and the counts are those of the document."""
    asked = ("--adversary", "I:table:1e6", "--adversary", "II:20", "--adversary", "IV")
    out = said(town, "lattice", "t.csv", *asked, "-o", "page.html", "--json", "out.json", "--epsilon", "2")
    assert "page.html" in out
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in html
    assert "<link" not in html
    assert not re.findall(r"""(?:src|href|data)\s*=\s*["'](?!#)""", html)
    assert not re.findall(r"@import|url\((?!#)", html)
    # What is left are names of XML vocabularies, which nobody fetches.
    assert set(re.findall(r"https?://[^\"'\s<>]+", html)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert html.count("<svg") == 4
    page = Page(html)
    assert not [word for word in (*DISEASES, "Person") if word in page.text]
    found = {tuple(n["levels"].values()): n for n in json.loads((tmp_path / "out.json").read_text())["nodes"]}
    [heading] = [heading for heading in page.headings if "most detailed first" in heading]
    rows = page.table(heading)
    assert len(rows) == 8
    # Those that hold against nobody come last; for the rest the most detailed is first.
    order = [(row[4:] == ["infinite"] * 3, float(row[1])) for row in rows]
    assert order == sorted(order)
    assert len({hopeless for hopeless, _ in order}) == 2
    for row in rows:
        node = tuple(map(int, row[0].split(",")))
        assert (row[2], row[3]) == (str(found[node]["classes"]), str(found[node]["k_anonymity"]["k"]))
        for cell, text in zip(row[4:], ("I:table:1e6", "II:20", "IV"), strict=True):
            shown = math.inf if cell == "infinite" else float(cell.replace(",", ""))
            assert shown == pytest.approx(float(found[node]["epsilon"][text]), rel=1e-3)
            bold = f"<strong>{cell}</strong>" in html
            assert bold or of_node(text, node) > 2
    for text in ("I:table:1e6", "II:20", "IV"):
        holds = sum(of_node(text, node) <= 2 for node in found)
        assert f"ε ≤ 2 against {text}: {holds} of 8" in page.text
    assert html.count("<strong>") == sum(of_node(t, n) <= 2 for t in ("I:table:1e6", "II:20", "IV") for n in found) > 0


def test_a_page_without_adversaries_says_how_to_name_one(town: Cli, tmp_path: Path) -> None:
    said(town, "lattice", "t.csv", "-o", "page.html", "-q")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "--adversary" in page.text
    said(town, "lattice", "t.csv", "--k", "5", "-o", "page.html", "-q")
    good = sum(min(map(sum, histograms(node))) >= 5 for node in nodes(TREES))
    assert f"the criteria: {good} of 8" in Page((tmp_path / "page.html").read_text(encoding="utf-8")).text


def pictured(shape: tuple[int, int], good: Callable[[int, int], bool]) -> tuple[str, set[str]]:
    """The page of a made-up lattice: what it says of the picture, and the nodes that are drawn."""
    made: list[dict[str, Any]] = [
        {
            "levels": {"a": i, "b": j},
            "loss": float(i + j),
            "classes": 1,
            "k_anonymity": {"k": 1},
            "epsilon": {"II:9": 2.0 if good(i, j) else 3.0},
        }
        for i, j in itertools.product(*map(range, shape))
    ]
    line = {prior: [1.5] for prior in PRIORS}
    sweep = Sweep((1e3,), line, {"a": 0, "b": 0}, {"discernibility": line, "average_class_size": line})
    surveyed = LatticeSurvey(
        name="made up", people=1, criteria=(), adversaries=(Realistic("II", sigma=9, known=1, at_most=True, text="II:9"),),
        predicates=(Predicate.parse("not {<b>}"),), known=1, suppression=0.1, suppressed_rows="hold", rollups="memory",
        most_cells=1, not_looked_at=0, nodes=tuple(made), good=(), hopeless=0, best_left=(), sweep=sweep, sweep_epsilon=2.5,
    )  # fmt: skip
    html = report.page(surveyed, {"command": ["x"]})
    part = html.split("<h2>Which nodes satisfy what</h2>")[1].split("<h2>")[0]
    assert "II:9 knows 1 record." in html
    assert "not {&lt;b&gt;}" in html
    return part, set(re.findall(r">(\d+,\d+)<", part))


def test_which_nodes_are_drawn() -> None:
    """All of a small lattice; of a wide one those that satisfy something and what is a step finer."""
    said_of, drawn = pictured((4, 5), lambda i, j: i + j > 5)
    assert drawn == {f"{i},{j}" for i in range(4) for j in range(5)}
    assert "3 of 20 nodes" in said_of
    said_of, drawn = pictured((15, 15), lambda i, j: i + j > 25)
    good = {(i, j) for i in range(15) for j in range(15) if i + j > 25}
    below = {(i - (1 - a), j - a) for i, j in good for a in (0, 1)}
    assert drawn == {f"{i},{j}" for i, j in good | below}
    assert f"{len(good)} of 225 nodes" in said_of
    said_of, drawn = pictured((15, 15), lambda *_: False)
    assert "no node satisfies any" in said_of
    assert drawn == set()
    said_of, drawn = pictured((20, 20), lambda i, j: i + j > 3)
    assert drawn == set()
    assert "390 nodes satisfy some, too many to draw" in said_of


def test_what_is_too_much_to_draw_is_what_satisfies_something() -> None:
    """126 nodes can be drawn, if not with the 25 that are a step finer; and 151 do not satisfy anything."""
    said_of, drawn = pictured((14, 30), lambda i, j: i > 6 and j > 11)
    assert "126 of 420" in said_of
    assert "151 nodes" not in said_of
    assert {f"{i},{j}" for i in range(7, 14) for j in range(12, 30)} <= drawn


def failing(asked: Sequence[tuple[str | Adversary, Fraction]]) -> dict[Node, set[int]]:
    """For each node the rows of the classes that fail."""
    found = {}
    for node in nodes(TREES):
        bad: set[int] = set()
        for members in classes(ROWS, TREES, node).values():
            histogram = tuple(sum(TOWNSPEOPLE[i][2] == value for i in members) for value in DISEASES)
            for who, limit in asked:
                adversary = theirs(who, EVERYONE) if isinstance(who, str) else who
                if adversary.direct(histogram) > limit:
                    bad.update(members)
        found[node] = bad
    return found


def test_publish_and_check(town: Cli) -> None:
    """The release that is written has the ε of its node, and the minimal nodes are those of a search of all."""
    published = document(town, "publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "I:table:1e6:2.5", "--minimal")
    good = {node for node, bad in failing([("I:table:1e6", Fraction("2.5"))]).items() if not bad}
    assert 0 < len(good) < 8
    assert {tuple(node.values()) for node in published["minimal"]} == minimal(sorted(good))
    node = tuple(published["node"].values())
    assert node in good
    assert published["criteria"] == ["ε = 2.5 against I:table:1e6"]
    found = document(town, "check", "out.csv", "--adversary", "I:table:1e6")
    assert found["epsilon_privacy"]["I:table:1e6"] == close(of_node("I:table:1e6", node))
    assert found["epsilon_privacy"]["I:table:1e6"] <= 2.5
    assert found["classes"] == published["classes"] == len(histograms(node))


SEARCHES = (
    (("I:table:1e6:2",), "0"),
    (("I:table:1e6:2",), "0.1"),
    (("I:table:1e6:1.6",), "0.4"),
    (("II:20:3", "III:table:2"), "0.3"),
    (("I:uniform:15:known=1:2.5",), "0.2"),
)


@pytest.mark.parametrize(("asked", "share"), SEARCHES, ids=str)
def test_publish_with_suppression(town: Cli, asked: tuple[str, ...], share: str) -> None:
    """Of all nodes, with the classes that fail suppressed, the one of least loss; and what is written has that ε.

    The suppressed still count in the table's own shares.
    """
    limits = [(text.rpartition(":")[0], Fraction(text.rpartition(":")[2])) for text in asked]
    bad = failing(limits)
    feasible = {node: rows for node, rows in bad.items() if len(rows) <= Fraction(share) * 70 and len(rows) < 70}
    options = [part for text in asked for part in ("--epsilon-privacy", text)]
    published = document(
        town, "publish", "t.csv", "-o", "out.csv", *options, "--suppression", share, "--minimal", "--utility",
        "discernibility", "--suppressed-rows", "as-is",
    )  # fmt: skip
    assert {tuple(node.values()) for node in published["minimal"]} == minimal(feasible)
    costs = {
        node: sum(
            len(members) * (70 if set(members) <= rows else len(members))
            for members in classes(ROWS, TREES, node).values()
        )
        for node, rows in feasible.items()
    }
    node = tuple(published["node"].values())
    assert published["cost"] == min(costs.values()) == costs[node]
    assert published["suppressed"] == len(feasible[node])
    who = [part for text, _ in limits for part in ("--adversary", text)]
    found = document(town, "check", "out.csv", *who)
    assert found["suppressed"] == published["suppressed"]
    kept = [members for members in classes(ROWS, TREES, node).values() if not set(members) <= feasible[node]]
    for text, limit in limits:
        adversary = theirs(text, EVERYONE)
        right = max(
            adversary.direct(tuple(sum(TOWNSPEOPLE[i][2] == value for i in members) for value in DISEASES))
            for members in kept
        )
        assert found["epsilon_privacy"][text] == close(right)
        assert right <= limit


def test_some_of_those_searches_suppress_and_some_do_not() -> None:
    """What the searches above are worth: with suppression other nodes are good than without."""
    more = 0
    for asked, share in SEARCHES:
        bad = failing([(text.rpartition(":")[0], Fraction(text.rpartition(":")[2])) for text in asked])
        without = {node for node, rows in bad.items() if not rows}
        more += {node for node, rows in bad.items() if len(rows) <= Fraction(share) * 70} != without
        assert 0 < len(without) < 8
    assert more >= 3


def test_publish_against_who_has_seen_a_data_set(town: Cli, tmp_path: Path) -> None:
    write(tmp_path, "seen.csv", "ill,count\nZitterpox,300\nYawnfever,200\nXanthitis,100\nWobbles,50\n")
    prior = Adversary("I", tuple(Fraction(n) for n in (301, 201, 101, 51)), 1)
    bad = failing([(prior, Fraction(3))])
    good = {node for node, rows in bad.items() if not rows}
    assert 0 < len(good) < 8
    options = ("--epsilon-privacy", "I:data:seen.csv:3", "--known", "1", "--minimal", "-o", "out.csv")
    published = document(town, "publish", "t.csv", *options)
    assert {tuple(node.values()) for node in published["minimal"]} == minimal(sorted(good))
    write(tmp_path, "prior.csv", "value,probability\nZitterpox,0.5\nYawnfever,0.25\nXanthitis,0.125\nWobbles,0.125\n")
    shape = tuple(Fraction(1, n) for n in (2, 4, 8, 8))
    good = {node for node, rows in failing([(Adversary("III", shape), Fraction(3))]).items() if not rows}
    published = document(town, "publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "III:prior.csv:3", "--minimal")
    assert {tuple(node.values()) for node in published["minimal"]} == minimal(sorted(good))


def test_publish_with_sets(town: Cli) -> None:
    chosen, limit = [frozenset({0, 1})], Fraction("1.2")
    good = {node for node in nodes(TREES) if of_node("III:table", node, chosen) <= limit}
    every = {node for node in nodes(TREES) if of_node("III:table", node) <= limit}
    assert good != every
    published = document(
        town, "publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "III:table:1.2", "--predicate",
        "not {Xanthitis, Wobbles}", "--minimal",
    )  # fmt: skip
    assert {tuple(node.values()) for node in published["minimal"]} == minimal(sorted(good))


def test_publish_against_all_who_have_seen_no_more(town: Cli) -> None:
    """Who has seen little learns from the whole table even where its shares are the prior: --at-most asks for that too."""
    top, rarest = (3, 1), min(n for n in EVERYONE if n)
    limit = Fraction("1.001")
    assert of_node("I:table:1e6", top) <= limit < of_node(f"I:table:{Fraction(70, rarest)}", top)
    for text, options in (("I:table:1e6:1.001", ("--at-most",)), ("I:table:1e6:at-most:1.001", ())):
        code, out, err = town("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", text, *options)
        assert (code, out) == (2, "")
        assert "No release satisfies the criteria" in err
    published = document(town, "publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "I:table:1e6:1.001")
    assert tuple(published["node"].values()) == top
    # Classes III and IV have no stubbornness: the option says nothing of them, as in a check.
    published = document(town, "publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "III:table:1", "--at-most")
    assert tuple(published["node"].values()) == top


def test_lattice_with_epsilon_privacy_as_a_criterion(town: Cli) -> None:
    asked = (
        "--epsilon-privacy",
        "III:table:2",
        "--suppression",
        "0.2",
        "--adversary",
        "III:table",
        "--suppressed-rows",
        "as-is",
    )
    found = document(town, "lattice", "t.csv", *asked)
    bad = failing([("III:table", Fraction(2))])
    for entry in found["nodes"]:
        node = tuple(entry["levels"].values())
        assert entry["satisfies"] == (len(bad[node]) <= 14)
        assert (float(entry["epsilon"]["III:table"]) <= 2) == entry["satisfies"]


# --- Bad input --------------------------------------------------------------------------------------------------------------

FILES = {
    "prior.csv": "value,probability\nZitterpox,0.4\nYawnfever,0.3\nXanthitis,0.2\nWobbles,0.1\n",
    "header.csv": "value,share\nZitterpox,1\n",
    "more.csv": "value,probability,note\nZitterpox,1,x\n",
    "missing.csv": "value,probability\nZitterpox,0.5\nYawnfever,0.5\n",
    "twice.csv": "value,probability\nZitterpox,0.4\nYawnfever,0.3\nXanthitis,0.2\nWobbles,0.05\nWobbles,0.05\n",
    "nine.csv": "value,probability\nZitterpox,0.4\nYawnfever,0.3\nXanthitis,0.1\nWobbles,0.1\n",
    "negative.csv": "value,probability\nZitterpox,1.4\nYawnfever,-0.4\nXanthitis,0\nWobbles,0\n",
    "words.csv": "value,probability\nZitterpox,most\nYawnfever,some\nXanthitis,few\nWobbles,none\n",
    "nan.csv": "value,probability\nZitterpox,nan\nYawnfever,1\nXanthitis,0\nWobbles,0\n",
    "unknown.csv": "value,probability\nZitterpox,0.4\nYawnfever,0.3\nXanthitis,0.2\nVertigo,0.1\n",
    "rows.csv": "value,probability\n",
    "nothing.csv": "",
    "other.csv": "age,sex,ill\n21,F,Zitterpox\n",
    "no-ill.csv": "age,sex\n21,F\n",
    "same.csv": "name,age,sex,ill\n" + "Person0,21,F,Zitterpox\n" * 5,
    "abroad.csv": "age,sex,ill\n81,F,Zitterpox\n",
    "no-age.csv": "sex,ill\nF,Zitterpox\n",
    "stranger.csv": "age,sex,ill\n21,F,Vertigo\n",
    "counts.csv": "ill,count\nZitterpox,few\n",
    "zero.csv": "ill,count\nZitterpox,0\n",
    "latin.csv": "",
    "column.csv": "column,value,probability\nsex,F,0.5\n",
}
VALUES_BAD = (*DISEASES, "Vertigo")
ADVERSARIES: dict[str, tuple[str, str]] = {
    "no class": ("V:table:1e6", "'V:table:1e6' is not a realistic adversary"),
    "a small letter": ("i:table:1e6", "is not a realistic adversary"),
    "nothing": ("", "is not a realistic adversary"),
    "no sigma, I": ("I", "lacks its stubbornness σ"),
    "no sigma, II": ("II", "lacks its stubbornness σ"),
    "no sigma after a shape": ("I:table", "stubbornness σ is not a number"),
    "no sigma after a file": ("I:prior.csv", "stubbornness σ is not a number"),
    "no shape, I": ("I:1e6", "lacks its shape"),
    "no shape, III": ("III", "lacks its shape"),
    "sigma for class III": ("III:1e6", "1e6"),
    "sigma in words": ("I:table:many", "stubbornness σ is not a number"),
    "sigma of nothing": ("II:nan", "The 'sigma' parameter of a realistic adversary must be"),
    "infinite sigma": ("II:inf", "The 'sigma' parameter of a realistic adversary must be"),
    "negative sigma": ("I:table:-5", "The 'sigma' parameter of a realistic adversary must be"),
    "sigma of 0": ("I:table:0", "The 'sigma' parameter of a realistic adversary must be"),
    "sigma + b below 1": ("I:uniform:0.5", "at least 1, together with the known records"),
    "class II, sigma below the number of values": ("II:3", "σ ≥ 4"),
    "a shape for class II": ("II:uniform:30", "a part too many"),
    "a part for class IV": ("IV:3", "a part too many"),
    "data for class IV": ("IV:data:other.csv", "a part too many"),
    "negative known": ("II:30:known=-1", "stubbornness σ is not a number"),
    "known in words": ("II:30:known=all", "stubbornness σ is not a number"),
    "at most for class III": ("III:uniform:at-most", "no stubbornness"),
    "at most less than can be": ("I:uniform:3:at-most", "nobody who has seen at most σ = 3"),
    "no such prior": ("I:none.csv:30", "none.csv"),
    "no such data": ("I:data:none.csv", "none.csv"),
    "a folder": ("III:.", "that is a folder"),
    "another header": ("I:header.csv:30", "header.csv: a prior of ill has the columns probability, value"),
    "a column too many": ("I:more.csv:30", "more.csv: a prior of ill has the columns"),
    "values missing": ("I:missing.csv:30", "2 are missing"),
    "a value twice": ("I:twice.csv:30", "twice.csv, row 4: the value stands there for the second time"),
    "nine tenths": ("I:nine.csv:30", "nine.csv: the probabilities of 'ill' sum to 0.9, not to 1"),
    "a negative share": ("I:negative.csv:30", "negative.csv: a probability of 'ill' is below 0"),
    "words for numbers": ("III:words.csv", "words.csv, row 0, column 'probability': a number is needed there"),
    "no number": ("III:nan.csv", "nan.csv, row 0, column 'probability': a number is needed there"),
    "an unknown value": ("I:unknown.csv:30", "1 are unknown"),
    "no rows": ("III:rows.csv", "rows.csv"),
    "an empty file": ("III:nothing.csv", "nothing.csv: the file is empty"),
    "not text": ("III:latin.csv", "latin.csv"),
    "a column that is not sensitive": ("III:column.csv", "column.csv, row 0: 'sex' is not a sensitive column"),
    "data without the sensitive column": ("I:data:no-ill.csv", "no-ill.csv"),
    "data with an unknown value": ("I:data:stranger.csv", "1 are unknown"),
    "data with counts in words": ("I:data:counts.csv", "counts.csv, row 0, column 'count'"),
    "data of nobody": ("I:data:zero.csv", "zero.csv: every row has count 0"),
}


@pytest.fixture
def bad(town: Cli, tmp_path: Path) -> Callable[..., str]:
    """Run a command that must fail: one message, code 2, nobody's value in it, older files as they were."""
    for name, text in FILES.items():
        write(tmp_path, name, text)
    (tmp_path / "latin.csv").write_bytes("value,probability\nfièvre,1\n".encode("latin-1"))
    lines = [f'"[{int(age) // 10 * 10}, {int(age) // 10 * 10 + 9}]",{sex},{ill}' for age, sex, ill in TOWNSPEOPLE]
    write(tmp_path, "r.csv", "age,sex,ill\n" + "\n".join(lines) + "\n")
    for name in ("out.csv", "out.json", "page.html"):
        write(tmp_path, name, "old\n")

    def call(*arguments: str) -> str:
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        code, out, err = town(*arguments)
        assert (code, out) == (2, ""), err
        assert err.startswith("dalenius: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        typed = " ".join(arguments)
        assert not [value for value in VALUES_BAD if value in err and value not in typed]
        assert not [word for word in ("Person", "fièvre", "vre") if word in err]
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
        return err

    return call


ELSEWHERE = (  # seen when the text is read, when a file is, and when it meets the column's values
    "no class",
    "negative sigma",
    "no such prior",
    "nine tenths",
    "class II, sigma below the number of values",
    "at most less than can be",
    "values missing",
    "data with an unknown value",
)


@pytest.mark.parametrize("case", ADVERSARIES)
def test_bad_adversaries(bad: Callable[..., str], case: str) -> None:
    text, message = ADVERSARIES[case]
    for command in (("check", "r.csv"), ("lattice", "t.csv"), ("audit", "r.csv")):
        if command[0] == "check" or case in ELSEWHERE:
            assert message in bad(*command, "--adversary", "III:uniform", "--adversary", text, "--json", "out.json")


@pytest.mark.parametrize("case", [*ELSEWHERE, "no sigma, I", "no shape, I", "sigma + b below 1", "a value twice"])
def test_bad_adversaries_of_a_publisher(bad: Callable[..., str], case: str) -> None:
    """With an ε after it, each is as bad."""
    text, message = ADVERSARIES[case]
    err = bad("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", f"{text}:2.5", "--json", "out.json")
    assert message in err
    if case in ELSEWHERE:
        assert message in bad("lattice", "t.csv", "--epsilon-privacy", f"{text}:2.5", "-o", "page.html")


CASES: dict[str, tuple[tuple[str, ...], str]] = {
    "twice": (("check", "r.csv", "--adversary", "II:30", "--adversary", "II:30"), "'II:30' is named twice"),
    "twice as data": (
        ("check", "r.csv", "--adversary", "I:data:other.csv", "--prior-data", "other.csv"),
        "'I:data:other.csv' is named twice",
    ),
    "twice on the lattice": (("lattice", "t.csv", "--adversary", "IV", "--adversary", "IV"), "'IV' is named twice"),
    "epsilon below 1": (("check", "r.csv", "--epsilon", "0.9"), "a finite number ≥ 1"),
    "epsilon of nothing": (("check", "r.csv", "--epsilon", "nan"), "a finite number ≥ 1"),
    "population alone": (("check", "r.csv", "--population", "t.csv"), "only used by --prior-cells"),
    "cells without population": (("check", "r.csv", "--prior-cells", "other.csv"), "Pass --population"),
    "cells of no file": (("check", "r.csv", "--prior-cells", "none.csv", "--population", "t.csv"), "none.csv"),
    "population of no file": (("check", "r.csv", "--prior-cells", "other.csv", "--population", "none.csv"), "none.csv"),
    "cells without a quasi-identifier": (
        ("check", "r.csv", "--prior-cells", "no-age.csv", "--population", "t.csv"),
        "no-age.csv",
    ),
    "cells without the sensitive column": (
        ("check", "r.csv", "--prior-cells", "no-ill.csv", "--population", "t.csv"),
        "no-ill.csv",
    ),
    "cells with an unknown value": (
        ("check", "r.csv", "--prior-cells", "stranger.csv", "--population", "t.csv"),
        "stranger.csv: a value of 'ill' there is none of this table's",
    ),
    "population without a quasi-identifier": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "no-age.csv"),
        "no-age.csv: the population lacks the quasi-identifiers age",
    ),
    "population of other people": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "other.csv"),
        "The population must be the people of the release",
    ),
    "cells beside others as quasi": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "t.csv", "--schema", "two.toml",
         "--others-as-quasi"),
        "cannot be combined",
    ),
    "an unknown value": (
        ("check", "r.csv", "--adversary", "II:30", "--predicate", "Zitter"),
        "names 'Zitter', which column 'ill' does not have",
    ),
    "a set with an unknown value": (
        ("lattice", "t.csv", "--adversary", "II:30", "--predicate", "{Zitterpox, Zitter}"),
        "names 'Zitter', which column 'ill' does not have",
    ),
    "a set of everything": (
        ("check", "r.csv", "--adversary", "II:30", "--predicate", "{Zitterpox, Yawnfever, Xanthitis, Wobbles}"),
        "holds for every value of column 'ill'",
    ),
    "a set of nothing": (
        ("check", "r.csv", "--adversary", "II:30", "--predicate", "not {Zitterpox, Yawnfever, Xanthitis, Wobbles}"),
        "holds for no value of column 'ill'",
    ),
    "an empty set": (("check", "r.csv", "--adversary", "II:30", "--predicate", "{}"), "names no value"),
    "an empty predicate": (("audit", "r.csv", "--adversary", "II:30", "--predicate", ""), "names no value"),
    "a predicate for publishing": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "II:30:3", "--predicate", "Zitter"),
        "names 'Zitter'",
    ),
    "class IV cannot be published for": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "IV:2.5"),
        "Name an adversary of class I, II or III",
    ),
    "everybody is known": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "II:30:3", "--known", "70"),
        "nobody is left to protect",
    ),
    "more than everybody is known": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "II:30:known=71:3"),
        "nobody is left to protect",
    ),
    "no epsilon": (("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "IV"), "not an adversary with an ε"),
    "epsilon in words": (("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "III:table:low"), "is not a number"),
    "epsilon for publishing below 1": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "III:table:0.99"),
        "a finite number ≥ 1",
    ),
    "no solution": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "II:1e6:2"),
        "ε = 2 against II:1e6 fails: the level of 'ill' there is",
    ),
    "at most for class III, publishing": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "III:table:at-most:2"),
        "no stubbornness",
    ),
    "everybody has the same": (
        ("publish", "same.csv", "-o", "out.csv", "--epsilon-privacy", "I:uniform:30:3"),
        "a sensitive column has one value, and everybody has it",
    ),
    "a criterion for an audit": (("audit", "r.csv", "--epsilon-privacy", "III:table:2"), "add --method"),
    "epsilon of the page below 1": (
        ("lattice", "t.csv", "--adversary", "II:30", "-o", "page.html", "--json", "out.json", "--epsilon", "0.5"),
        "a finite number ≥ 1",
    ),
    "epsilon of no page": (("lattice", "t.csv", "--adversary", "II:30", "--epsilon", "3"), "add -o FILE, or leave it out"),
    "page and document in one file": (
        ("lattice", "t.csv", "--adversary", "II:30", "-o", "page.html", "--json", "page.html"),
        "page.html",
    ),
    "a document over a prior": (("check", "r.csv", "--adversary", "III:prior.csv", "--json", "prior.csv"), "Name another"),
    "a document over the data": (("check", "r.csv", "--prior-data", "other.csv", "--json", "other.csv"), "Name another"),
    "a document over the cells": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "t.csv", "--json", "other.csv"),
        "Name another",
    ),
    "a document over the population": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "t.csv", "--json", "t.csv"),
        "Name another",
    ),
    "a release over a prior": (
        ("publish", "t.csv", "--epsilon-privacy", "III:prior.csv:3", "-o", "prior.csv"),
        "Name another",
    ),
    "a page over a prior": (("lattice", "t.csv", "--adversary", "III:prior.csv", "-o", "prior.csv"), "Name another"),
    "a report over a prior": (("audit", "r.csv", "--adversary", "III:prior.csv", "-o", "prior.csv"), "Name another"),
    "known to nobody": (("check", "r.csv", "--known", "3"), "--known describes realistic adversaries, and none is named"),
    "at most of nobody": (("check", "r.csv", "--at-most"), "--at-most describes realistic adversaries"),
    "a set for nobody": (("check", "r.csv", "--predicate", "Zitterpox"), "--predicate describes realistic adversaries"),
    "known to nobody, publishing": (("publish", "t.csv", "-o", "out.csv", "--k", "2", "--known", "3"), "--known describes"),
    "known to nobody of the lattice": (("lattice", "t.csv", "--known", "3"), "--known describes"),
    "a prior without a name": (("check", "r.csv", "--adversary", "I:data:"), "lacks the name of its file"),
    "cells of strangers": (
        ("check", "r.csv", "--prior-cells", "abroad.csv", "--population", "t.csv"),
        "abroad.csv: nobody there has quasi-identifiers of this table's domains",
    ),
    "a page over the table": (("lattice", "t.csv", "--adversary", "II:30", "-o", "t.csv"), "Name another"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input(bad: Callable[..., str], tmp_path: Path, case: str) -> None:
    two = TOWN.replace('sensitive = "ill"', 'sensitive = ["ill", "note"]')
    write(tmp_path, "two.toml", two + '[columns.note]\nrole = "sensitive"\n')
    if case == "cells beside others as quasi":
        lines = (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()
        write(tmp_path, "r.csv", "\n".join([lines[0] + ",note", *(line + ",n" for line in lines[1:])]) + "\n")
    arguments, message = CASES[case]
    assert message in bad(*arguments)


@pytest.mark.parametrize("arguments", [("--known", "-1"), ("--known", "few"), ("--epsilon", "low")], ids=" ".join)
def test_what_the_parser_refuses(bad: Callable[..., str], town: Cli, arguments: tuple[str, str]) -> None:
    del bad  # for its files
    code, out, err = town("check", "r.csv", "--adversary", "II:30", *arguments)
    assert (code, out) == (2, "")
    assert arguments[0] in err
    assert "Traceback" not in err


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


def test_in_a_process_of_its_own(run: Run, table_3: Cli, tmp_path: Path) -> None:
    """As in the issue: a prior of probabilities, known records, JSON on standard output."""
    del table_3  # for its files
    done = run("check", *CHECK_3, "--schema", "privacy.toml", "--adversary", "I:prior.csv:30000", "--known", "10",
               "--json", "-", cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["epsilon_privacy"]["I:prior.csv:30000"] == pytest.approx(4.018171, abs=5e-7)
