"""Every criterion against its definition: level, worst class and which classes pass, on random groupings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius import criteria as c
from tests.criteria.models import ALL, DEEPER, NAMES, Case, cases, theirs
from tests.oracle import SMALLER_IS_BETTER, Model, Number


def same(found: float, right: Number) -> bool:
    return found == right if right == math.inf else math.isclose(found, right, rel_tol=1e-12, abs_tol=1e-12)


def check(case: Case, model: Model, *, shuffle: int = 0) -> None:
    """Compare levels, the worst one, its class, and which classes pass."""
    criterion, grouping = theirs(model), case.grouping(shuffle=shuffle)
    right = [model.level(group, case.everyone, case.column) for group in case.groups]
    found = criterion.levels(grouping)
    assert len(found) == len(right)
    for one, other in zip(found, right, strict=True):
        assert same(one, other), (model, case)
    worst = criterion.level(grouping)
    extreme = max(right) if SMALLER_IS_BETTER[model.name] else min(right)
    assert same(worst.value, extreme)
    assert same(worst.value, right[worst.worst])  # rounding may choose another of several equally bad classes
    if model.name in ("k", "distinct"):
        assert worst.worst == right.index(extreme)
    holds = [model.holds(group, case.everyone, case.column) for group in case.groups]
    assert criterion.passes(grouping).tolist() == holds, (model, case)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(case=cases(), shuffle=st.integers(0, 99))
def test_random_groupings(name: str, case: Case, shuffle: int) -> None:
    for model in (model for model in ALL + DEEPER if model.name == name):
        check(case, model, shuffle=shuffle)


@given(case=cases())
def test_levels_do_not_depend_on_how_many_people_there_are(case: Case) -> None:
    """Everything a thousand million times: counts overflow 32 bits and N² overflows 64, and no share has changed."""
    once, often = case.grouping(), case.grouping(times=10**9)
    for name in NAMES:
        criterion = theirs(next(model for model in ALL if model.name == name))
        factor = 10**9 if name == "k" else 1
        np.testing.assert_allclose(
            criterion.levels(often), factor * criterion.levels(once), rtol=1e-12, atol=1e-12, err_msg=name
        )


@pytest.mark.slow
@given(case=cases())
def test_measure_gathers_the_same_levels(case: Case) -> None:
    grouping = case.grouping()
    found = c.measure(grouping, {"recursive_l": 3})
    assert list(found) == [one.place for one in c.measured()]
    models = {
        ("k_anonymity", "k"): Model("k", 1),
        ("alpha_k_anonymity", "alpha"): Model("alpha", 1),
        ("distinct_l_diversity", "l"): Model("distinct", 1),
        ("entropy_l_diversity", "l"): Model("entropy", 1),
        ("recursive_c_l_diversity", "c"): Model("recursive", 1, 3),
        **{("t_closeness", ground): Model(ground, 1) for ground in c.GROUNDS},
        ("delta_disclosure", "delta"): Model("delta", 1),
        ("basic_beta_likeness", "beta"): Model("basic_beta", 1),
        ("enhanced_beta_likeness", "beta"): Model("enhanced_beta", 1),
    }
    assert models.keys() <= found.keys()  # a new criterion has an oracle in a file of its own
    for place, level in ((place, found[place]) for place in models):
        levels = [models[place].level(group, case.everyone, case.column) for group in case.groups]
        extreme = max if SMALLER_IS_BETTER[models[place].name] else min
        assert same(level.value, extreme(levels)), place


@given(one=cases(), other=cases())
def test_of_several_columns_the_worst_counts(one: Case, other: Case) -> None:
    measured = [c.measure(case.grouping()) for case in (one, other)]
    for (model, key), level in c.worst_of(measured).items():
        both = [levels[model, key].value for levels in measured]
        larger_is_better = c.CRITERIA[model].better == "larger"
        assert level.value == (min(both) if larger_is_better else max(both))


def test_an_undefined_level_does_not_hide_a_defined_one() -> None:
    undefined = {one.place: c.Level(math.nan, -1) for one in c.measured()}
    defined = {one.place: c.Level(0.5, 3) for one in c.measured()}
    for order in ([undefined, defined], [defined, undefined]):
        assert set(c.worst_of(order).values()) == {c.Level(0.5, 3)}
    assert all(math.isnan(level.value) for level in c.worst_of([undefined, undefined]).values())
