"""The optimum of the lattice equals an exhaustive search that generalizes row by row."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalenius.publishers.search as search_module
from dalenius.errors import InputError
from dalenius.measures.utility import UTILITIES
from dalenius.publishers.nodes import GeneralizationLattice
from dalenius.publishers.search import Search, SearchResult
from tests.criteria.models import NAMES, theirs
from tests.oracle import Lattice, Model, minimal
from tests.publishers.small import TABLES, Small, make

LIMITS = ("0", "0.1", "0.5", "1")
# One threshold a model, at which small tables have some good nodes and some bad ones.
MODELS = {
    "k": ("2", "3", "5"),
    "alpha": ("0.5", "0.75"),
    "distinct": ("2", "3"),
    "entropy": ("1.5", "2"),
    "recursive": ("1.5", "3"),
    "equal": ("0.2", "0.4"),
    "ordered": ("0.2", "0.4"),
    "hierarchical": ("0.2", "0.4"),
    "delta": ("0.8", "2"),
    "basic_beta": ("0.5", "1.5"),
    "enhanced_beta": ("0.5", "2"),
}
MIXED = (("k", "distinct"), ("k", "equal"), ("distinct", "recursive", "k"), ("entropy", "alpha"), ("k", "delta"))


def asked(draw: st.DataObject, names: tuple[str, ...]) -> list[Model]:
    return [Model(name, Fraction(draw.draw(st.sampled_from(MODELS[name])))) for name in names]


def compare(table: Small, models: list[Model], lattice: Lattice, failing: dict, suppression: str, utility: str) -> bool:
    """One search against the oracle; whether there was a solution."""
    feasible = lattice.feasible(failing, suppression)
    search = Search(
        GeneralizationLattice(table.cells()),
        [theirs(model) for model in models],
        suppression=float(suppression),
        utility=utility,
        suppressed_rows="as-is",
    )
    small = search.lattice.nodes <= search_module.MAX_ENUMERATED_NODES
    found = search.run(minimal=small)
    assert found.nodes == len(failing)
    if small:
        assert found.minimal is not None
        assert set(found.minimal) == minimal(feasible)
        assert len(found.minimal) == len(set(found.minimal))
    if not feasible:
        assert found.best is None
        assert not found.optimal
        return False
    costs = {node: lattice.cost(utility, node, hidden) for node, hidden in feasible.items()}
    verify(found, feasible, costs)
    assert found.best is not None
    assert found.best.cost == pytest.approx(min(costs.values()), rel=1e-9, abs=1e-9)
    assert found.optimal
    return True


def verify(found: SearchResult, feasible: dict, costs: dict) -> None:
    """The node that was found is one that the oracle finds good, at the cost and with the rows it says."""
    assert found.best is not None
    node = found.best.node
    assert found.best.feasible
    assert node in feasible
    assert found.best.suppressed == len(feasible[node])
    assert found.best.cost == pytest.approx(costs[node], rel=1e-9, abs=1e-9)
    assert found.bound <= min(costs.values()) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("names", [*((name,) for name in NAMES), *MIXED], ids="+".join)
@settings(max_examples=14)
@given(table=TABLES, draw=st.data())
def test_optimum(names: tuple[str, ...], table: Small, draw: st.DataObject) -> None:
    models, lattice = asked(draw, names), table.oracle()
    failing = lattice.failing(models)
    for suppression in LIMITS:
        for utility in UTILITIES:
            compare(table, models, lattice, failing, suppression, utility)


@pytest.mark.slow
@pytest.mark.parametrize("names", [*((name,) for name in NAMES), *MIXED], ids="+".join)
@settings(max_examples=10)
@given(table=TABLES, draw=st.data())
def test_optimum_of_a_lattice_too_large_to_keep(names: tuple[str, ...], table: Small, draw: st.DataObject) -> None:
    models, lattice = asked(draw, names), table.oracle()
    failing = lattice.failing(models)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "MAX_ENUMERATED_NODES", 0)
        for suppression in LIMITS:
            for utility in UTILITIES:
                compare(table, models, lattice, failing, suppression, utility)


class Clock:
    """Time that passes only when it is looked at: a limit of n seconds is n looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("enumerable", [10**6, 0], ids=["kept", "too large to keep"])
@settings(max_examples=10)
@given(table=TABLES, draw=st.data())
def test_time_limit(enumerable: int, table: Small, draw: st.DataObject) -> None:
    """Whenever time runs out: what was found is valid, and the optimum lies between the bound and its cost."""
    names = draw.draw(st.sampled_from([("k",), ("k", "distinct"), ("entropy",), ("k", "alpha")]))
    models, lattice = asked(draw, names), table.oracle()
    suppression = draw.draw(st.sampled_from(LIMITS))
    utility = draw.draw(st.sampled_from(UTILITIES))
    feasible = lattice.feasible(lattice.failing(models), suppression)
    costs = {node: lattice.cost(utility, node, hidden) for node, hidden in feasible.items()}
    criteria = [theirs(model) for model in models]
    stopped = 0
    for looks in (0.5, *range(1, 25)):  # at half a second nothing can be looked at
        search = Search(
            GeneralizationLattice(table.cells()),
            criteria,
            suppression=float(suppression),
            utility=utility,
            suppressed_rows="as-is",
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_module, "MAX_ENUMERATED_NODES", enumerable)
            patch.setattr(search_module, "time", Clock())
            found = search.run(time_limit=looks, minimal=enumerable > 0)
        stopped += not found.optimal
        if looks < 1:
            assert found.best is None
            assert math.isfinite(found.bound)  # what tells "no time" from "no solution"
        if found.best is not None:
            verify(found, feasible, costs)
        if costs:
            assert found.bound <= min(costs.values()) + 1e-9
        else:
            assert found.best is None
        if found.optimal:
            assert found.best is not None
            assert found.best.cost == pytest.approx(min(costs.values()), rel=1e-9, abs=1e-9)
        if found.minimal is not None:  # unfinished, there is no list rather than a wrong one
            assert set(found.minimal) == minimal(feasible)
    assert stopped or len(costs) == len(lattice.failing(models))


def test_too_many_nodes_to_list_the_minimal_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make(3)
    monkeypatch.setattr(search_module, "MAX_ENUMERATED_NODES", 1)
    with pytest.raises(InputError, match="too many to list the minimal ones"):
        Search(GeneralizationLattice(table.cells()), [theirs(Model("k", Fraction(2)))]).run(minimal=True)


def test_the_limit_is_a_share_of_rows_as_it_is_written() -> None:
    """0.29 × 100 is 28.999999999999996 in binary; 29 rows may go."""
    for people in range(5, 200):
        for share in ("0.02", "0.07", "0.1", "0.14", "0.29", "0.5", "0.57", "1"):
            rows = Small([["a0"] * people], [["s0"] * people], [{"a0": ("a0", "*")}], [{"s0": ("s0", "*")}])
            search = Search(GeneralizationLattice(rows.cells()), [], suppression=float(share))
            assert search.limit == int(Fraction(share) * people), (people, share)
