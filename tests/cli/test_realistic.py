"""Realistic adversaries on the command line: ε of every node of a lattice, and as a criterion of `publish`."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dalenius.auditing.surveying import LatticeSurvey
from dalenius.criteria import Predicate, Realistic
from dalenius.publishers.survey import PRIORS, Sweep
from dalenius.reports import lattice as report
from tests.adversaries.test_realistic import theirs
from tests.cli.realistic_cases import DISEASES, TOWN, TOWNSPEOPLE, Cli, close, document, said, write
from tests.criteria.realistic_oracle import Adversary, Counts, Number, Set
from tests.oracle import Node, classes, minimal, nodes
from tests.reports.page import Page

AGES: dict[str, tuple[str, ...]] = {str(i): (str(i), f"{i // 5}", f"{i // 10}!", "*") for i in range(20, 40)}
TREES: list[dict[str, tuple[str, ...]]] = [AGES, {"F": ("F", "*"), "M": ("M", "*")}]
SIX = ("I:uniform:1e6", "I:table:1e6", "II:1e3", "II:1e6", "III:uniform", "III:table")


ROWS = [(age, sex) for age, sex, _ in TOWNSPEOPLE]
EVERYONE: Counts = tuple(sum(person[2] == value for person in TOWNSPEOPLE) for value in DISEASES)


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
    assert f"{infinite} nodes have an infinite ε against every adversary" in out
    rows = [line.split() for line in out.splitlines() if re.match(r"  \d,\d ", line)]
    assert len(rows) == 8 - infinite
    assert "in the order age, sex;" in out
    for row in rows:
        node = tuple(map(int, row[0].split(",")))
        shown = row[-2:]
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
    [heading] = [heading for heading in page.headings if heading == "Nodes by loss"]
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
    part = html.split("<h2>Which nodes satisfy which conditions</h2>")[1].split("<h2>")[0]
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
    assert "no node satisfies a condition" in said_of
    assert drawn == set()
    said_of, drawn = pictured((20, 20), lambda i, j: i + j > 3)
    assert drawn == set()
    assert "390 nodes satisfy a condition, which is too many to draw" in said_of


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
