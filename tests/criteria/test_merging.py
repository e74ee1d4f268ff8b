"""`monotone` and `absorbing`: what a search may conclude from merged classes, and what it may not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.criteria.models import ALL, DEEPER, NAMES, Case, cases, theirs
from tests.oracle import Model

MODELS = ALL + DEEPER


def merged(case: Case, groups: list[list[str]]) -> Case:
    """The chosen classes as one; everybody else is suppressed, so that the table's distribution stays."""
    rest = list(case.everyone)
    one = [value for group in groups for value in group]
    for value in one:
        rest.remove(value)
    return Case([one], rest, case.column)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(case=cases(), choice=st.data())
def test_monotone(name: str, case: Case, choice: st.DataObject) -> None:
    """Classes that satisfy a criterion still do when merged with each other."""
    for model in (model for model in MODELS if model.name == name):
        criterion = theirs(model)
        assert criterion.monotone
        passing = [group for group, ok in zip(case.groups, criterion.passes(case.grouping()), strict=True) if ok]
        if passing:
            chosen = choice.draw(st.lists(st.sampled_from(range(len(passing))), min_size=1, unique=True))
            together = merged(case, [passing[i] for i in chosen])
            assert criterion.passes(together.grouping()).all(), (model, passing, chosen)


@pytest.mark.parametrize("name", [name for name in NAMES if name in ("k", "distinct")])
@given(case=cases(), choice=st.data())
def test_absorbing(name: str, case: Case, choice: st.DataObject) -> None:
    """A class that satisfies k or distinct ℓ still does when merged with any other."""
    for model in (model for model in MODELS if model.name == name):
        criterion = theirs(model)
        assert criterion.absorbing
        for group, ok in zip(case.groups, criterion.passes(case.grouping()), strict=True):
            if ok:
                others = [other for other in case.groups if other is not group]
                taken = choice.draw(st.lists(st.sampled_from(others), max_size=3)) if others else []
                whole = Case([[value for one in [group, *taken] for value in one]], [], case.column)
                assert criterion.passes(whole.grouping()).all()


# A class that satisfies the model, and one that spoils it when merged; the rest of the table is suppressed.
SPOILT = {
    "entropy": ("1.9", "ab", "aaaa", ""),
    "recursive": ("1.5", "ab", "aaaa", ""),
    "alpha": ("0.5", "ab", "aaaa", ""),
    "equal": ("0.2", "aabb", "aaaaaaaa", "bbbbbbbb"),
    "ordered": ("0.2", "aabb", "aaaaaaaa", "bbbbbbbb"),
    "hierarchical": ("0.2", "aabb", "aaaaaaaa", "bbbbbbbb"),
    "delta": ("0.5", "aabb", "aaaaaaaa", "bbbbbbbb"),
    "basic_beta": ("0.3", "aabb", "aaaaaaaa", "bbbbbbbb"),
    "enhanced_beta": ("0.3", "aabb", "aaaaaaaa", "bbbbbbbb"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_not_absorbing(name: str) -> None:
    """The flag is not merely cautious: here is a class that stops to satisfy the criterion."""
    from fractions import Fraction

    from tests.criteria.test_edges import AB

    text, good, spoiler, rest = SPOILT[name]
    model = Model(name, Fraction(text))
    apart = Case([list(good), list(spoiler)], list(rest), AB)
    together = Case([list(good + spoiler)], list(rest), AB)
    assert model.holds(apart.groups[0], apart.everyone, AB)
    assert not model.holds(together.groups[0], together.everyone, AB)
    criterion = theirs(model)
    assert not criterion.absorbing
    assert criterion.passes(apart.grouping())[0]
    assert not criterion.passes(together.grouping())[0]


def test_every_criterion_is_either_shown_absorbing_or_shown_not_to_be() -> None:
    assert set(SPOILT) | {"k", "distinct"} == set(NAMES)


@settings(max_examples=30)
@given(case=cases())
def test_the_order_of_classes_plays_no_part(case: Case) -> None:
    back = Case(case.groups[::-1], case.suppressed, case.column)
    for model in MODELS:
        criterion = theirs(model)
        assert criterion.levels(back.grouping()).tolist() == criterion.levels(case.grouping()).tolist()[::-1]
