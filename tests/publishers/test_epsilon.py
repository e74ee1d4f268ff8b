"""ε-privacy on lattices: every node, every search and every point of the stubbornness charts against a recount by rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalenius.publishers.search as search_module
import dalenius.publishers.survey as survey_module
from dalenius import criteria as c
from dalenius.criteria.parsing import adversary as written
from dalenius.criteria.parsing import epsilon_privacy
from dalenius.errors import InputError
from dalenius.publishers.lattice import Lattice as Publisher
from dalenius.publishers.nodes import GeneralizationLattice
from dalenius.publishers.search import Search
from dalenius.publishers.survey import PRIORS, SIGMAS, epsilons, every_node, stubbornness, survey
from tests.adversaries.test_realistic import theirs
from tests.criteria.realistic_oracle import Counts, Number, Set
from tests.oracle import Lattice, Node, Sensitive, classes, minimal, nodes
from tests.publishers.small import TABLES, Small, make
from tests.publishers.test_search import LIMITS, verify

ADVERSARIES = (
    "I:uniform:1e6",
    "I:table:1e6",
    "I:uniform:8:known=1",
    "I:table:30",
    "II:6",
    "II:1e3:known=2",
    "III:uniform",
    "III:table",
    "IV",
)
ASKED = (  # at which small tables have some good nodes and some bad ones
    ("I:table:1e6:2.5",),
    ("I:uniform:20:2",),
    ("I:uniform:6:known=1:3",),
    ("I:uniform:20:at-most:2",),
    ("II:6:3",),
    ("II:8:known=1:6",),
    ("III:uniform:2.5",),
    ("III:table:3",),
    ("I:table:1e6:3", "II:6:4"),
)


# --- The recount --------------------------------------------------------------------------------------------------------


def tally(values: Sequence[object], column: Sensitive) -> Counts:
    counted = Counter(values)
    assert set(counted) <= set(column.order)
    return tuple(counted[value] for value in column.order)


@cache
def level(text: str, histogram: Counts, table: Counts, predicates: tuple[Set, ...] = ()) -> Number:
    """ε of a class; of at most a stubbornness the worse of the two ends."""
    plain = text.replace(":at-most", "")
    found = theirs(plain, table).direct(histogram, predicates)
    if plain == text:
        return found
    kind, shape, _, *rest = plain.split(":")
    share = Fraction(1, len(table)) if shape == "uniform" else Fraction(min(n for n in table if n), sum(table))
    return max(found, theirs(":".join([kind, shape, str(1 / share), *rest]), table).direct(histogram, predicates))


def of_class(text: str, lattice: Lattice, members: Sequence[int]) -> Number:
    """ε of a class: of several sensitive columns the worst."""
    return max(
        level(text, tally([values[i] for i in members], column), tally(values, column))
        for values, column in zip(lattice.values, lattice.columns, strict=True)
    )


def of_node(text: str, lattice: Lattice, node: Node, hidden: frozenset[int] | set[int] = frozenset()) -> Number:
    found = classes(lattice.rows, lattice.trees, node).values()
    return max(of_class(text, lattice, members) for members in found if not hidden >= set(members))


def same(found: float, right: Number) -> bool:
    return found == math.inf if right == math.inf else math.isclose(found, float(right), rel_tol=1e-10)


def possible(texts: Sequence[str], lattice: Lattice) -> list[str]:
    """Class II has seen each value: not those who have seen too few of these tables."""
    leaves = max(len(column.order) for column in lattice.columns)
    return [text for text in texts if not text.startswith("II:") or float(text.split(":")[1]) >= leaves]


# --- Every node ---------------------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(table=TABLES)
def test_every_node_against_every_adversary(table: Small) -> None:
    naive, lattice = table.oracle(), GeneralizationLattice(table.cells())
    for column, known in zip(lattice.schema.sensitive, naive.columns, strict=True):
        assert set(column.leaves) == set(known.order)  # uniform and class II are over these
    texts = possible(ADVERSARIES, naive)
    every, found = epsilons(lattice, [written(text) for text in texts])
    assert every == every_node(lattice)
    assert set(every) == set(nodes(naive.trees))
    assert [sum(node) for node in every] == sorted(sum(node) for node in every)
    assert found.shape == (len(every), len(texts))
    for node, row in zip(every, found, strict=True):
        for text, epsilon in zip(texts, row, strict=True):
            assert same(epsilon, of_node(text, naive, node)), (node, text)


@settings(max_examples=12)
@given(table=TABLES, draw=st.data())
def test_sets_of_values(table: Small, draw: st.DataObject) -> None:
    """Predicates of one column; of another column, every single value."""
    naive, lattice = table.oracle(), GeneralizationLattice(table.cells())
    order = [str(value) for value in naive.columns[0].order if value != ""]
    chosen = draw.draw(st.sets(st.sampled_from(order), min_size=1, max_size=len(order)))
    if len(chosen) == len(naive.columns[0].order):
        chosen.pop()
    negated = draw.draw(st.booleans())
    texts = possible(("I:uniform:12", "I:table:40:known=1", "II:7", "III:table"), naive)
    predicate = c.Predicate(frozenset(chosen), "s0", negated)
    every, found = epsilons(lattice, [written(text) for text in texts], predicates=[predicate])
    members = frozenset(s for s, value in enumerate(naive.columns[0].order) if (value in chosen) != negated)
    for node, row in zip(every, found, strict=True):
        for text, epsilon in zip(texts, row, strict=True):
            worst: Number = 1
            for rows in classes(naive.rows, naive.trees, node).values():
                for j, (values, column) in enumerate(zip(naive.values, naive.columns, strict=True)):
                    histogram = tally([values[i] for i in rows], column)
                    one = level(text, histogram, tally(values, column), () if j else (members,))
                    worst = max(worst, one)
            assert same(epsilon, worst), (node, text, predicate)


def test_no_adversaries_and_too_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice = GeneralizationLattice(make(3).cells())
    every, found = epsilons(lattice, [])
    assert found.shape == (len(every), 0)
    monkeypatch.setattr(survey_module, "MAX_ENUMERATED_NODES", 1)
    with pytest.raises(InputError, match="too many to list"):
        epsilons(lattice, [written("III:uniform")])


@settings(max_examples=12)
@given(table=TABLES, suppression=st.sampled_from(["0", "0.2", "0.6"]))
def test_the_survey_tells_epsilon_of_what_remains(table: Small, suppression: str) -> None:
    """Without criteria nothing is suppressed; with them, what fails is, where the limit allows it."""
    naive, lattice = table.oracle(), GeneralizationLattice(table.cells())
    texts = possible(("I:table:1e6", "II:6", "III:uniform:known=1"), naive)
    adversaries = [written(text) for text in texts]
    plain = survey(lattice, adversaries=adversaries)
    asked = "III:table:3"
    private = survey(
        lattice,
        [epsilon_privacy(asked)],
        suppression=float(suppression),
        adversaries=adversaries,
        suppressed_rows="as-is",
    )
    failing = recount([asked], naive, 1)
    feasible = naive.feasible(failing, suppression)
    assert [entry["levels"] for entry in plain] == [entry["levels"] for entry in private]
    for bare, entry in zip(plain, private, strict=True):
        node = tuple(bare["levels"].values())
        hidden = feasible.get(node, set())
        assert "satisfies" not in bare
        assert entry["satisfies"] == (node in feasible)
        assert (bare["suppressed"], entry["suppressed"]) == (0, len(hidden))
        assert list(bare["epsilon"]) == list(entry["epsilon"]) == texts
        for text in texts:
            assert same(bare["epsilon"][text], of_node(text, naive, node))
            assert same(entry["epsilon"][text], of_node(text, naive, node, hidden))


def test_adversaries_that_are_written_alike_are_refused() -> None:
    """ε is listed under the text: one would hide the other."""
    lattice = GeneralizationLattice(make(3).cells())
    with pytest.raises(InputError, match="same text"):
        survey(lattice, adversaries=[c.Realistic("IV", text="X"), c.Realistic("III", shape="table", text="X")])


# --- Searching ----------------------------------------------------------------------------------------------------------


def recount(asked: Sequence[str], lattice: Lattice, k: int) -> dict[Node, set[int]]:
    """For each node the rows of the classes that fail some threshold; ε is what is written after the last colon."""
    limits = [(text.rpartition(":")[0], Fraction(text.rpartition(":")[2])) for text in asked]
    found = {}
    for node in nodes(lattice.trees):
        bad: set[int] = set()
        for members in classes(lattice.rows, lattice.trees, node).values():
            if len(members) < k or any(of_class(text, lattice, members) > limit for text, limit in limits):
                bad.update(members)
        found[node] = bad
    return found


def compare(table: Small, asked: Sequence[str], k: int, *, minimal_too: bool) -> tuple[int, int]:
    """Searches with every limit and some utilities against the recount: how many had a solution, and how many not."""
    naive = table.oracle()
    criteria: list[c.Criterion] = [epsilon_privacy(text) for text in asked]
    failing = recount(asked, naive, k)
    outcomes = [0, 0]
    for suppression in LIMITS:
        feasible = naive.feasible(failing, suppression)
        for utility in ("loss", "discernibility"):
            lattice = GeneralizationLattice(table.cells())
            wanted = [c.KAnonymity(k), *criteria] if k > 1 else criteria
            found = Search(
                lattice, wanted, suppression=float(suppression), utility=utility, suppressed_rows="as-is"
            ).run(minimal=minimal_too)
            if minimal_too:
                assert found.minimal is not None
                assert set(found.minimal) == minimal(feasible)
                assert len(found.minimal) == len(set(found.minimal))
            outcomes[not feasible] += 1
            if not feasible:
                assert found.best is None
                continue
            costs = {node: naive.cost(utility, node, hidden) for node, hidden in feasible.items()}
            verify(found, feasible, costs)
            assert found.best is not None
            assert found.best.cost == pytest.approx(min(costs.values()), rel=1e-9, abs=1e-9)
            assert found.optimal
    return outcomes[0], outcomes[1]


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_optimum_and_minimal_nodes(asked: tuple[str, ...], k: int) -> None:
    """As exhaustive search finds them; of some tables something can be published, and of some too little."""
    total = np.zeros(2, dtype=int)
    for seed in (0, 1, 2, 3, 5, 8):
        table = make(seed)
        if not possible(asked, table.oracle()):
            continue
        total += compare(table, asked, k, minimal_too=True)
    assert (total > 0).all()


@pytest.mark.parametrize("asked", ASKED[::2], ids=" ".join)
def test_optimum_of_a_lattice_too_large_to_keep(asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "MAX_ENUMERATED_NODES", 0)
    for seed in range(4):
        compare(make(seed), asked, 1 + seed % 2, minimal_too=False)


def test_predicates_constrain_the_search() -> None:
    """What must not be learnt of one set may be published in more detail than what must not be learnt of any value."""
    finer = 0
    for seed in range(20):
        table = make(seed, sensitive=1)
        naive = table.oracle()
        value = str(naive.columns[0].order[0])
        limit = Fraction("1.5")
        criterion = epsilon_privacy("III:table:1.5", predicates=[c.Predicate.parse(value)])
        found = Search(GeneralizationLattice(table.cells()), [criterion]).run(minimal=True)
        values, column = naive.values[0], naive.columns[0]
        everyone = tally(values, column)
        good = [
            node
            for node in nodes(naive.trees)
            if all(
                level("III:table", tally([values[i] for i in rows], column), everyone, (frozenset({0}),)) <= limit
                for rows in classes(naive.rows, naive.trees, node).values()
            )
        ]
        assert found.minimal is not None
        assert set(found.minimal) == minimal(good)
        every = Search(GeneralizationLattice(table.cells()), [epsilon_privacy("III:table:1.5")]).run(minimal=True)
        finer += set(every.minimal or ()) != set(found.minimal)
    assert finer > 5


def test_what_no_release_can_withstand_is_refused() -> None:
    from dalenius.datasets import hospital

    table = hospital(60, seed=1)
    for text, message in (
        ("IV:2.5", r"class IV .* Name an adversary of class I, II or III"),
        ("II:100:known=60:2.5", "nobody is left to protect"),
        ("III:uniform:1", r"No release satisfies the criteria.*ε = 1 against III:uniform fails"),
    ):
        with pytest.raises(InputError, match=message):
            Publisher([epsilon_privacy(text)]).publish(table)


# --- What stubbornness costs -------------------------------------------------------------------------------------------


def prior(name: str, sigma: float, known: int) -> str:
    """The adversary of a line of the chart at one σ, as a person writes it; ∞ never learns."""
    kind, _, shape = name.partition(":")
    if math.isinf(sigma):
        return "IV" if kind == "II" else f"III:{shape}:known={known}"
    return f"{name}:{Fraction(sigma)}:known={known}"


@pytest.mark.parametrize("known", [0, 1])
@pytest.mark.parametrize("sigmas", [SIGMAS, (2.0, 3.0, 5.0, 8.0, 13.0, 40.0, 1e3, math.inf)], ids=["paper", "few"])
def test_every_point_of_the_stubbornness_charts(
    sigmas: tuple[float, ...], known: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey_module, "SIGMAS", sigmas)
    seen: Counter[str] = Counter()
    for seed in range(5):
        table = make(seed)
        naive, lattice = table.oracle(), GeneralizationLattice(table.cells())
        leaves = max(len(column.order) for column in naive.columns)
        epsilon = Fraction(("2", "2.5", "4")[seed % 3])
        every = nodes(naive.trees)
        shown = every[seed % len(every)]
        sweep = stubbornness(lattice, float(epsilon), node=shown, known=known)
        assert sweep.sigmas == sigmas
        assert tuple(sweep.node.values()) == shown
        assert set(sweep.epsilon) == set(PRIORS) == {"I:uniform", "I:table", "II"}
        assert set(sweep.cost) >= {"discernibility", "average_class_size"}
        for name in PRIORS:
            for i, sigma in enumerate(sigmas):
                text = prior(name, sigma, known)
                if name == "II" and sigma < leaves:  # nobody has seen so few of so many values
                    assert math.isnan(sweep.epsilon[name][i])
                    assert all(math.isnan(sweep.cost[utility][name][i]) for utility in sweep.cost)
                    seen["too few"] += 1
                    continue
                assert same(sweep.epsilon[name][i], of_node(text, naive, shown)), (name, sigma)
                good = [node for node in every if of_node(text, naive, node) <= epsilon]
                seen["none" if not good else "all" if len(good) == len(every) else "some"] += 1
                for utility, lines in sweep.cost.items():
                    costs = [naive.cost(utility, node, set()) for node in good]
                    assert lines[name][i] == pytest.approx(min(costs, default=math.nan), rel=1e-9, nan_ok=True), (
                        utility, name, sigma, known,
                    )  # fmt: skip
    assert seen["some"] > 20
    assert seen["none"] > 20
    assert (seen["too few"] > 0) == (sigmas is not SIGMAS)


def test_the_node_that_is_shown_unless_one_is_named() -> None:
    """The one of least loss that is private against a uniform prior with σ = 10^6, else the most general one."""
    kinds = set()
    for seed in range(8):
        table = make(seed)
        naive, lattice = table.oracle(), GeneralizationLattice(table.cells())
        for epsilon in ("1.2", "2.5", "6"):
            good = [n for n in nodes(naive.trees) if of_node("I:uniform:1e6", naive, n) <= Fraction(epsilon)]
            node = tuple(stubbornness(lattice, float(epsilon)).node.values())
            kinds.add(bool(good))
            if good:
                assert node in good
                least = min(naive.cost("loss", one, set()) for one in good)
                assert naive.cost("loss", node, set()) == pytest.approx(least)
            else:
                assert node == lattice.top
    assert kinds == {True, False}


def test_sets_of_values_in_the_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "SIGMAS", (5.0, 60.0, math.inf))
    table = make(4, sensitive=1)
    naive, lattice = table.oracle(), GeneralizationLattice(table.cells())
    values, column = naive.values[0], naive.columns[0]
    everyone, chosen = tally(values, column), frozenset({0, 1})
    assert len(column.order) > 2
    sets = [c.Predicate(frozenset(str(column.order[s]) for s in chosen))]
    sweep = stubbornness(lattice, 2.0, node=lattice.bottom, predicates=sets)

    def of(text: str, node: Node) -> Number:
        found = classes(naive.rows, naive.trees, node).values()
        return max(level(text, tally([values[i] for i in rows], column), everyone, (chosen,)) for rows in found)

    for name in PRIORS:
        for i, sigma in enumerate((5.0, 60.0, math.inf)):
            text = prior(name, sigma, 0)
            assert same(sweep.epsilon[name][i], of(text, lattice.bottom))
            costs = [naive.cost("discernibility", n, set()) for n in nodes(naive.trees) if of(text, n) <= 2]
            assert sweep.cost["discernibility"][name][i] == pytest.approx(min(costs, default=math.nan), nan_ok=True)


@pytest.mark.parametrize("epsilon", [0.5, math.nan, -1.0])
def test_an_epsilon_that_is_none(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        stubbornness(GeneralizationLattice(make(3).cells()), epsilon)
