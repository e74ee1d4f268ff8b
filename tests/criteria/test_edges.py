"""Criteria at their edges: one class, one value, all distinct, vanished and missing values, infinite results."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dalenius as dl
from dalenius import criteria as c
from dalenius.errors import InputError, ParameterError
from dalenius.releases import GroupedRelease
from tests.criteria.models import ALL, NAMES, THRESHOLDS, Case, theirs
from tests.criteria.test_levels import check
from tests.oracle import Model, Sensitive

AB = Sensitive(("a", "b"), {"a": ("a", "*"), "b": ("b", "*")})
ABC = Sensitive(("a", "b", "c"), {"a": ("a", "ab", "*"), "b": ("b", "ab", "*"), "c": ("c", "c", "*")})
ONE = Sensitive(("a",), {"a": ("a", "*")})
EDGES = {
    "one class": Case([["a", "a", "b", "c"]], [], ABC),
    "one person": Case([["a"]], [], ONE),
    "one value": Case([["a", "a"], ["a"]], ["a"], ONE),
    "one value of several": Case([["b", "b"], ["b"]], [], ABC),
    "all distinct": Case([["a", "b", "c"]], [], ABC),
    "every class one person": Case([["a"], ["b"], ["c"]], [], ABC),
    "a value vanished": Case([["a", "b"], ["a", "b", "c"]], [], ABC),
    "a value only among the suppressed": Case([["a", "b"], ["a", "a", "b"]], ["c"], ABC),
    "a homogeneous class": Case([["a", "a", "a"], ["a", "b", "c"]], [], ABC),
    "a missing value": Case([["", "a"], ["", ""]], [], Sensitive(("a", ""), {"a": ("a", "*"), "": ("", "*")})),
    "a tree without levels": Case([["a", "b"], ["b"]], [], Sensitive(("a", "b"), {"a": ("a",), "b": ("b",)})),
    "several roots": Case(
        [["a", "b"], ["b", "c"]], [], Sensitive(("a", "b", "c"), {"a": ("a", "x"), "b": ("b", "x"), "c": ("c", "y")})
    ),
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges(edge: str) -> None:
    for model in ALL:
        check(EDGES[edge], model)


def level(name: str, groups: list[list[str]], suppressed: list[str] | None = None, column: Sensitive = ABC) -> float:
    model = next(model for model in ALL if model.name == name)
    return theirs(model).level(Case(groups, suppressed or [], column).grouping()).value


def test_two_equal_values_have_entropy_diversity_two() -> None:
    """exp(log 2) must not come out a hair below 2 and be cut to 1, as pyCANON has it."""
    for times in (1, 2, 3, 7, 1000):
        grouping = Case([["a", "b"] * times], [], AB).grouping()
        assert c.EntropyDiversity(2.0).level(grouping).value == 2.0
        assert c.EntropyDiversity(2.0).passes(grouping).all()
        assert not c.EntropyDiversity(2.001).passes(grouping).any()


@pytest.mark.parametrize("count", range(2, 40))
def test_equal_values_pass_their_own_number_and_nothing_above_it(count: int) -> None:
    order = tuple(f"v{i:02}" for i in range(count))
    grouping = Case([list(order) * 3], [], Sensitive(order)).grouping()
    assert c.EntropyDiversity(float(count)).passes(grouping).all()
    assert not c.EntropyDiversity(count + 1e-6).passes(grouping).any()
    assert c.EntropyDiversity(float(count)).level(grouping).value == pytest.approx(count, rel=1e-14)


def test_the_commonest_value_is_the_first_of_the_recursive_counts() -> None:
    """pyCANON takes the rarest: 5, 3, 1 would give 1/8 instead of 5/4."""
    group = ["a"] * 5 + ["b"] * 3 + ["c"]
    assert level("recursive", [group]) == 5 / 4
    assert c.RecursiveDiversity(9, 3).level(Case([group], [], ABC).grouping()).value == 5.0
    assert level("recursive", [["a", "a"]]) == math.inf
    # The inequality is strict, and a class without enough values fails for every c.
    grouping = Case([["a", "b"], ["a", "a"]], [], ABC).grouping()
    assert c.RecursiveDiversity(1.0).passes(grouping).tolist() == [False, False]
    assert c.RecursiveDiversity(1.0000001).passes(grouping).tolist() == [True, False]
    assert c.RecursiveDiversity(1e300).passes(grouping).tolist() == [True, False]


def test_a_vanished_value_makes_delta_infinite() -> None:
    """pyCANON skips values that a class lacks."""
    assert level("delta", [["a", "b"], ["a", "b", "c"]]) == math.inf
    assert level("delta", [["a", "b"]], ["c"]) == math.inf
    assert level("delta", [["a", "b"]], column=ABC) == 0  # c is in the domain and in no row
    assert not c.DeltaDisclosure(1e300).passes(Case([["a", "b"]], ["c"], ABC).grouping()).any()
    assert level("delta", [["a", "b", "b"], ["a", "a", "b"]]) == pytest.approx(math.log(3 / 2), rel=1e-15)
    half = Case([["a", "b", "b", "b"], ["a", "a", "a", "b"]], [], AB).grouping()
    assert not c.DeltaDisclosure(math.log(2)).passes(half).any()  # |ln ½| < ln 2 does not hold: strict


def test_likeness_by_hand() -> None:
    """p = (4/10, 6/10), q = (4/4, 0): a gains 3/2, more than −ln 0.4 = 0.916, so no enhanced β is enough."""
    groups = [["a"] * 4, ["b"] * 6]
    assert level("basic_beta", groups, column=AB) == pytest.approx(1.5)
    assert level("enhanced_beta", groups, column=AB) == math.inf
    # p = (1/10, 9/10), q = (2/10, 8/10): a gains 1 < −ln 0.1 = 2.3
    groups = [["a"] * 2 + ["b"] * 8, ["b"] * 10]
    assert level("basic_beta", groups, column=AB) == pytest.approx(1.0)
    grouping = Case(groups, [], AB).grouping()
    enhanced = c.EnhancedBetaLikeness(1.0)
    assert enhanced.levels(grouping).tolist() == [pytest.approx(1.0), math.inf]  # b: 1/9 > −ln 0.9 = 0.105
    assert enhanced.passes(grouping).tolist() == [True, False]


def test_the_printed_example_of_t_closeness() -> None:
    """Li, Li, Venkatasubramanian 2007, Sec. 5: salaries 3k … 11k, classes {3,4,5} and {6,8,11}: 0.375 and 0.167."""
    order = tuple(f"{i}k" for i in range(3, 12))
    groups = [["3k", "4k", "5k"], ["6k", "8k", "11k"], ["7k", "9k", "10k"]]
    grouping = Case(groups, [], Sensitive(order)).grouping()
    assert c.TCloseness(0.5, "ordered").levels(grouping)[:2] == pytest.approx([0.375, 1 / 6])


def test_t_of_zero_asks_for_the_tables_own_distribution() -> None:
    for ground in c.GROUNDS:
        same = Case([["a", "b", "c"] * 7, ["c", "b", "a"] * 49], [], ABC).grouping()
        assert c.TCloseness(0, ground).passes(same).all()
        other = Case([["a", "b", "c"] * 1000, ["a", "b", "c"] * 999 + ["a", "b", "b"]], [], ABC).grouping()
        assert not c.TCloseness(0, ground).passes(other).any()


def test_hierarchical_closeness_needs_a_hierarchy() -> None:
    grouping = Case([["a", "b"]], [], Sensitive(("a", "b"))).grouping()
    with pytest.raises(InputError, match="'s' has no hierarchy"):
        c.TCloseness(0.5, "hierarchical").level(grouping)
    assert math.isnan(c.measure(grouping)["t_closeness", "hierarchical"].value)


def test_everything_suppressed_is_one_class() -> None:
    schema = dl.Schema(
        (dl.Column("x", "quasi", domain=dl.Domain(("1", "2"))), dl.Column("s", "sensitive", domain=dl.Domain(AB.order)))
    )
    release = dl.read_release({"x": ["*", "*", "*"], "s": ["a", "b", "b"]}, schema)
    assert isinstance(release, GroupedRelease)
    assert (release.groups, release.suppressed) == (1, 0)
    found = c.measure(release.grouping())
    assert found["k_anonymity", "k"] == c.Level(3, 0)
    assert found["t_closeness", "equal"] == c.Level(0, 0)
    assert found["delta_disclosure", "delta"] == c.Level(0, 0)


def test_suppressed_rows_stay_in_the_tables_distribution() -> None:
    schema = dl.Schema((dl.Column("x", "quasi"), dl.Column("s", "sensitive", domain=dl.Domain(ABC.order))))
    columns = {"x": ["1", "1", "*", "2", "2", "*"], "s": ["a", "b", "c", "a", "a", "c"]}
    release = dl.read_release(columns, schema)
    assert isinstance(release, GroupedRelease)
    case = Case([["a", "b"], ["a", "a"]], ["c", "c"], ABC)
    for model in ALL:
        if model.name != "hierarchical":
            right = [model.level(group, case.everyone, ABC) for group in case.groups]
            assert theirs(model).levels(release.grouping()).tolist() == pytest.approx(right)


def test_missing_values_are_a_value_wherever_they_stand() -> None:
    """Null, empty and declared marks are one value of their own, in quasi and in sensitive columns."""
    schema = dl.Schema((dl.Column("x", "quasi"), dl.Column("s", "sensitive")), missing=("", "?"))
    columns = {"x": ["", "?", None, "1", "1"], "s": ["", "?", None, "", "a"]}
    release = dl.read_release(columns, schema)
    assert isinstance(release, GroupedRelease)
    case = Case([["a", ""], ["", "", ""]], [], Sensitive(("a", "")))
    assert sorted(release.sizes.tolist()) == [2, 3]
    for model in ALL:
        if model.name != "hierarchical":
            right = [model.level(group, case.everyone, case.column) for group in case.groups]
            assert theirs(model).levels(release.grouping()).tolist() == pytest.approx(right)


BAD = {
    "k": [0, -1, 2.5, True, math.nan, "5"],
    "distinct": [0, 1.5, True, "2"],
    "entropy": [0.9, math.nan, math.inf, True, "2"],
    "recursive": [0, -1, math.nan, True, "2"],
    "equal": [-0.1, 1.1, math.nan, math.inf, True, "0.1"],
    "delta": [0, -1, math.nan, True, "1"],
    "basic_beta": [0, -1, math.nan, True, "1"],
    "enhanced_beta": [0, -1, math.nan, True, "1"],
    "alpha": [0, -0.1, 1.1, math.nan, True, "0.5"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_thresholds(name: str, value: object) -> None:
    kind = type(theirs(Model(name, Fraction(THRESHOLDS[name][0]))))
    with pytest.raises(ParameterError, match=r"must be .* Got .* instead"):
        kind(value)  # type: ignore[call-arg]


def test_bad_second_parameters() -> None:
    for l in (1, 0, 2.0, True):  # noqa: E741
        with pytest.raises(ParameterError, match="'l' parameter"):
            c.RecursiveDiversity(2.0, l)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="equal, ordered, hierarchical"):
        c.TCloseness(0.1, "euclidean")  # type: ignore[arg-type]


def test_impossible_thresholds_are_refused_before_the_search() -> None:
    with pytest.raises(InputError, match="k = 6 is larger than the table, which has 5 people"):
        c.KAnonymity(6).check_possible(5, [3])
    for criterion in (c.DistinctDiversity(4), c.EntropyDiversity(3.5), c.RecursiveDiversity(2, 4)):
        with pytest.raises(InputError, match="the table has only 3 different values"):
            criterion.check_possible(100, [9, 3])
    for name in NAMES:
        theirs(next(model for model in ALL if model.name == name)).check_possible(100, [9, 3])
