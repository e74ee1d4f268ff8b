"""Utilities against their definitions row by row, and the two facts about them that the search relies on."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.measures.utility import UTILITIES
from dalenius.publishers.nodes import GeneralizationLattice
from dalenius.publishers.search import Search
from tests import oracle
from tests.publishers.small import TABLES, Small


def hidden_rows(table: oracle.Lattice, node: oracle.Node, lattice: GeneralizationLattice, passing: np.ndarray) -> set:
    """The rows of the classes that do not pass; classes are told by their representatives' leaves."""
    classes = lattice.classes(node)
    leaves = [column.leaves for column in lattice.quasi]
    hidden: set[int] = set()
    groups = oracle.classes(table.rows, table.trees, node)
    for rep, ok in zip(classes.rep.tolist(), passing.tolist(), strict=True):
        row = tuple(leaves[a][code] for a, code in enumerate(lattice.leaves[rep].tolist()))
        if not ok:
            hidden.update(groups[oracle.generalized(row, table.trees, node)])
    return hidden


@settings(max_examples=30)
@given(table=TABLES, seed=st.integers(0, 10**6))
def test_cost_of_any_node_with_any_classes_suppressed(table: Small, seed: int) -> None:
    rng = random.Random(seed)
    naive, lattice = table.oracle(), GeneralizationLattice(table.cells())
    searches = {name: Search(lattice, [], suppression=1.0, utility=name) for name in UTILITIES}
    for node in rng.sample(oracle.nodes(naive.trees), 4):
        classes = lattice.classes(node)
        for share in (0.0, 0.3, 1.0):
            passing = np.array([rng.random() >= share for _ in range(len(classes))])
            hidden = hidden_rows(naive, node, lattice, passing)
            for name, search in searches.items():
                right = naive.cost(name, node, hidden)
                assert search.cost(node, classes, passing) == pytest.approx(right, rel=1e-9, abs=1e-9), (name, node)
                if not hidden:
                    assert search.unsuppressed_cost(node, classes) == pytest.approx(right, rel=1e-9, abs=1e-9)


@settings(max_examples=25)
@given(table=TABLES, seed=st.integers(0, 10**6))
def test_suppressing_never_pays_and_coarser_never_costs_less(table: Small, seed: int) -> None:
    """What lets the search leave nodes out: cost without suppression is a lower bound, and grows up the lattice."""
    rng = random.Random(seed)
    lattice = GeneralizationLattice(table.cells())
    every = oracle.nodes(table.oracle().trees)
    for name in UTILITIES:
        search = Search(lattice, [], suppression=1.0, utility=name)
        for node in rng.sample(every, 4):
            classes = lattice.classes(node)
            least = search.unsuppressed_cost(node, classes)
            passing = np.array([rng.random() < 0.5 for _ in range(len(classes))])
            if passing.any():
                assert search.cost(node, classes, passing) >= least - 1e-12
            for a, level in enumerate(node):
                if level < lattice.heights[a]:
                    above = (*node[:a], level + 1, *node[a + 1 :])
                    assert search.unsuppressed_cost(above, lattice.classes(above)) >= least - 1e-12
            bound = search.bounds(np.array([node], dtype=np.int16))[0]
            assert bound <= least + 1e-12


def by_hand() -> Small:
    """Four people; zip codes 1, 2, 3, 4 in pairs, of which 4 is nobody's; sex of two values."""
    zips = {str(i): (str(i), "low" if i < 3 else "high", "*") for i in range(1, 5)}
    sexes = {"M": ("M", "*"), "F": ("F", "*")}
    return Small(
        [["1", "1", "2", "3"], ["M", "M", "F", "F"]],
        [["a", "b", "a", "b"]],
        [zips, sexes],
        [{"a": ("a",), "b": ("b",)}],
    )


# zip at its middle level, sex as it is: classes {0, 1}, {2}, {3}; the last suppressed.
BY_HAND = {
    # zip: (½ + ½ + ½ + 1)/4 = 5/8, v = (5/8 − 1/4)/(3/4) = 1/2; sex: (½·3 + 1)/4 = 5/8, v = (5/8 − 1/2)/(1/2) = 1/4
    "loss": (1.5 * 1.25) ** 0.5 - 1,
    # zip: (3·½ + 1)/4, sex: (0 + 1)/4
    "precision": (2.5 / 4 + 1 / 4) / 2,
    # zip, bits: log 3/2 twice, log 3 and log 4, of log 2 twice and log 4 twice; sex: 1 bit of 4
    "entropy": ((2 * np.log2(3 / 2) + np.log2(3) + 2) / 6 + 1 / 4) / 2,
    "discernibility": 4 + 1 + 4,
    "average_class_size": 4 / 3,
}


@pytest.mark.parametrize("name", UTILITIES)
def test_by_hand(name: str) -> None:
    table = by_hand()
    assert table.oracle().cost(name, (1, 0), {3}) == pytest.approx(BY_HAND[name], rel=1e-12)
    lattice = GeneralizationLattice(table.cells())
    classes = lattice.classes((1, 0))
    assert lattice.leaves[classes.rep].tolist() == [[0, 0], [1, 1], [2, 1]]
    cost = Search(lattice, [], suppression=1.0, utility=name).cost((1, 0), classes, np.array([True, True, False]))
    assert cost == pytest.approx(BY_HAND[name], rel=1e-12)


@pytest.mark.parametrize("name", UTILITIES)
def test_a_column_of_one_value_has_nothing_to_lose(name: str) -> None:
    one = Small([["1", "1"], ["M", "F"]], [["a", "b"]], [{"1": ("1", "*")}, {"M": ("M", "*"), "F": ("F", "*")}], [{}])
    one = Small(one.quasi, one.sensitive, one.quasi_trees, [{"a": ("a",), "b": ("b",)}])
    lattice = GeneralizationLattice(one.cells())
    search = Search(lattice, [], utility=name)
    for node in oracle.nodes(one.quasi_trees):
        right = one.oracle().cost(name, node, set())
        assert search.unsuppressed_cost(node, lattice.classes(node)) == pytest.approx(right, abs=1e-12)
    if name in ("loss", "entropy"):
        assert search.bounds(np.array([[0, 0], [1, 0]], dtype=np.int16)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["loss", "precision", "entropy"])
def test_scale(name: str) -> None:
    """The table itself costs 0, everything generalized 1, and everybody suppressed 1, too."""
    lattice = GeneralizationLattice(by_hand().cells())
    search = Search(lattice, [], suppression=1.0, utility=name)
    assert search.bounds(np.array([lattice.bottom, lattice.top], dtype=np.int16)) == pytest.approx([0, 1])
    nobody = np.zeros(len(lattice.classes(lattice.bottom)), dtype=bool)
    assert search.cost(lattice.bottom, lattice.classes(lattice.bottom), nobody) == pytest.approx(1)
