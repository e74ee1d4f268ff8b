"""What is said of many releases: the front as steps, notes on what is missing, the best, and nothing to draw."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

from dalenius.auditing.axes import RISKS, UTILITIES
from dalenius.auditing.candidates import Candidate
from dalenius.auditing.frontier import Point, TradeOff
from dalenius.auditing.policy import Threshold
from dalenius.reports import tradeoff
from dalenius.reports.charts import apart, risk_against_utility
from dalenius.reports.tradeoff_chart import Dot, risk_against_cost, steps
from dalenius.reports.words import frontier as say

PASSED, MISSED = Threshold("min_k", "≥ 5", 7.0, "passed", ""), Threshold("min_k", "≥ 5", 2.0, "violated", "")


def point(method: str, k: int, risk: float, error: float, *, passed: bool = True, kind: str = "generalized") -> Point:
    figures = {"attacker": risk} if not math.isnan(risk) else {}
    return Point(
        Candidate(method, {"k": k}),
        kind=kind,
        levels={"k": k, "l": 2, "t": 0.25},
        accuracies={"random-worlds": risk, "commonest value": 0.2},
        commonest=0.2,
        risks=figures,
        utility={} if math.isnan(error) else {"relative_error": error},
        thresholds=(PASSED if passed else MISSED,),
    )


SOME = (
    point("mondrian", 2, 0.6, 0.1, passed=False),
    point("mondrian", 5, 0.4, 0.3),
    point("lattice", 5, 0.45, 0.5),
    point("lattice", 9, 0.3, math.nan),
    Point(Candidate("lattice", {"k": 99}), reason="k = 99 cannot be met <here>."),
)
WORSE = tuple(Point(Candidate("anatomy", {"l": i}), reason="nothing to cut") for i in (2, 3))
FOUND = TradeOff(SOME, RISKS["attacker"], UTILITIES["relative_error"], 4)


def dot(cost: float, risk: float, *, front: bool) -> Dot:
    return Dot("lattice", "k = 2", risk, cost, front=front, passed=True)


def test_the_front_as_steps() -> None:
    dots = [dot(3, 0.1, front=True), dot(1, 0.5, front=True), dot(1, 0.5, front=True), dot(2, 0.9, front=False)]
    assert steps(dots) == [(1, 0.5), (3, 0.5), (3, 0.1)]
    assert steps([dot(1, 1, front=False)]) == []


def test_one_release_can_be_drawn_and_marks_are_as_many_as_releases() -> None:
    assert "<svg" in risk_against_cost([dot(0, 0, front=True)], ("cost", "risk"), {})
    drawn = risk_against_cost(
        [dot(i + 1, 0.9 - i / 5, front=i < 2) for i in range(4)], ("cost", "risk"), {"naive": 0.1}
    )
    assert drawn.count(">k = 2<") == 2  # those of the front are named
    assert ">naive<" in drawn


def test_rows_by_usefulness_and_marked() -> None:
    lines = tradeoff.lines("people.csv", FOUND)
    rows = [line for line in lines if re.match(r"  [● ]  (mondrian|lattice) k = \d  ", line)]
    assert [row[:20].split() for row in rows] == [
        ["●", "mondrian", "k", "=", "2"],
        ["●", "mondrian", "k", "=", "5"],
        ["lattice", "k", "=", "5"],
        ["lattice", "k", "=", "9"],
    ]
    assert [row.split()[-1] for row in rows] == ["violated", "passed", "passed", "passed"]
    text = " ".join(" ".join(lines).split())
    assert "4 releases by 2 methods, 1 could not be published, no held-out people, seed 4" in text
    assert "2 releases are on the front" in text
    assert "1 release has no relative_error" in text
    assert "lattice k = 99: not published. k = 99 cannot be met <here>." in text
    assert "always guessing the most common value is correct for 20.0% of people" in text
    assert "Learner and attacker were not tried on 4 releases" in text


def test_the_best_is_said_with_its_command() -> None:
    first, command = tradeoff.chosen(FOUND, "dalenius publish x")  # and no more
    assert first == "Most useful release that satisfies the policy: mondrian k = 5, relative_error 0.3, risk 40.0%."
    assert command == "dalenius publish x"
    gain = replace(SOME[1], thresholds=(PASSED, replace(PASSED, key="max_attacker_gain")))
    assert tradeoff.chosen(TradeOff((gain,), FOUND.risk, FOUND.utility, 0), "x")[2:] == [say.CHOSEN]
    lacking = TradeOff(SOME[3:4], FOUND.risk, FOUND.utility, 0)
    assert tradeoff.chosen(lacking, "") == [
        "lattice k = 9: satisfies the policy but has no relative_error. Choose another --utility."
    ]
    violated = TradeOff(SOME[:1], FOUND.risk, FOUND.utility, 0)
    assert tradeoff.chosen(violated, "")[1] == "mondrian k = 2: min_k is 2, ≥ 5 is required"


def test_the_same_release_is_shown_once() -> None:
    """Other parameters need not make another release; another method's is another one, whatever its figures."""
    again = replace(SOME[1], candidate=Candidate("mondrian", {"k": 4}))
    other = replace(SOME[1], candidate=Candidate("lattice", {"k": 5}))
    found = replace(FOUND, points=(*SOME, again, other))
    assert found.alike == {0: [0], 1: [1, 5], 2: [2], 3: [3], 4: [4], 6: [6]}
    text = "\n".join(tradeoff.lines("people.csv", found))
    assert len(re.findall(r"^  ●  mondrian k = 5 ", text, re.MULTILINE)) == 1
    assert not re.search(r"^  .  mondrian k = 4 ", text, re.MULTILINE)
    assert "Shown once, because their figures are equal: mondrian k = 5, mondrian k = 4." in text
    assert "3 releases are on the front" in text
    page = tradeoff.page("people.csv", found, "", {})
    assert page.count("<tr><td>●</td>") == 3
    assert len(found.to_document()["points"]) == 7


def test_one_reason_is_said_once() -> None:
    found = replace(FOUND, points=(*SOME, *WORSE))
    assert "  anatomy ℓ = 2; ℓ = 3: not published. nothing to cut" in tradeoff.lines("people.csv", found)
    assert tradeoff.page("people.csv", found, "", {}).count("nothing to cut") == 1


def test_names_do_not_lie_on_each_other() -> None:
    near = [dot(1 + i / 100, 0.5 - i / 1000, front=True) for i in range(5)]
    drawn = risk_against_cost([*near, dot(9, 0.1, front=True)], ("cost", "risk"), {})
    assert drawn.count(">k = 2<") == 2


def test_the_page() -> None:
    page = tradeoff.page("people.csv", FOUND, "dalenius publish x", {"command": ["dalenius", "frontier"]})
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page))
    assert "<code>dalenius publish x</code>" in page
    assert "k = 99 cannot be met &lt;here&gt;." in page
    assert "Filled marks satisfy the policy" in text
    assert "not for publication" in text
    assert page.count("<tr><td>●</td>") == 2
    assert page.count("<tr><td></td>") == 2
    nothing = tradeoff.page("people.csv", TradeOff(SOME[3:], FOUND.risk, FOUND.utility, 0), "", {})
    assert "there is nothing to draw" in nothing
    assert "<svg" not in nothing


def test_the_docs_have_every_risk_and_utility() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "frontier.md").read_text(encoding="utf-8")
    for risk in RISKS.values():
        assert f"| `{risk.name}` | {risk.says} | {risk.lacks} |" in docs
    for utility in UTILITIES.values():
        better = "larger" if utility.larger_is_better else "smaller"
        assert f"| `{utility.name}` | {utility.says} | {better} | {utility.lacks} |" in docs


def test_names_that_have_room() -> None:
    """The first of two at one place, and whatever is beside or above it."""
    boxes = [(0.0, 30.0, 5.0), (20.0, 50.0, 9.0), (31.0, 60.0, 5.0), (0.0, 30.0, 17.0)]
    assert apart(boxes) == [True, False, True, True]
    rows = [("a", "one", 0.5, 1.0), ("a", "two", 0.5, 1.01), ("b", "three", 0.2, 1.0)]
    drawn = risk_against_utility(rows, ("cost", "risk"))
    assert [f">{name}<" in drawn for name in ("one", "two", "three")] == [True, False, True]
