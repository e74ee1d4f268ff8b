"""What every registered criterion owes: it describes itself, its option makes it, and its levels do not depend on accidents."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalenius as dl
from dalenius.criteria import CRITERIA, Criterion, Measured, document, measure, measured, policy_places
from dalenius.criteria.base import Setting
from dalenius.releases import GroupedRelease

REPORTED = [pytest.param(one, id=".".join(one.place)) for one in measured()]
MODELS = [pytest.param(model, id=name) for name, model in CRITERIA.items()]
VALUES = ["flu", "gout", "flu", "pox", "gout", "gout", "pox", "flu", "flu", "flu"]
PLACES = ["a", "a", "a", "a", "b", "b", "b", "b", "c", "c"]
SCHEMA = dl.Schema(
    [
        dl.Column("place", "quasi", domain=dl.Domain(("a", "b", "c"))),
        dl.Column("ill", "sensitive", domain=dl.Domain(("flu", "gout", "pox"))),
    ]
)


def release(order: list[int] | None = None, names: dict[str, str] | None = None) -> GroupedRelease:
    rows = order or list(range(len(VALUES)))
    names = names or {}
    frame = {"place": [names.get(PLACES[i], PLACES[i]) for i in rows], "ill": [VALUES[i] for i in rows]}
    classes = dl.read_release(frame, SCHEMA).classes()
    assert classes is not None
    return classes


@pytest.mark.parametrize("model", MODELS)
def test_it_describes_itself(model: type[Criterion]) -> None:
    assert model.title
    assert model.better in ("larger", "smaller")
    assert model.option is None or model.option.help.endswith(".")
    assert not model.reported or model.description.endswith(".")


def test_no_two_share_an_option_a_place_or_a_policy_key() -> None:
    options = [model.option.name for model in CRITERIA.values() if model.option is not None]
    places = [one.place for one in measured()]
    keys = [one.reported.policy_key for one in measured() if one.reported.policy_key]
    assert len(set(options)) == len(options) == len(CRITERIA)
    assert len(set(places)) == len(places)
    assert len(set(keys)) == len(keys) == len(policy_places())


@pytest.mark.parametrize("one", REPORTED)
def test_policy_keys_tell_which_way_is_safer(one: Measured) -> None:
    key = one.reported.policy_key
    begin = "min_" if one.model.better == "larger" else "max_"
    assert not key or key.startswith(begin)


@pytest.mark.parametrize("one", REPORTED)
def test_the_level_is_that_of_the_worst_class(one: Measured) -> None:
    criterion: Criterion = one.criterion()
    grouping = release().grouping()
    if criterion.undefined(grouping.column):
        assert math.isnan(measure(grouping)[one.place].value)
        return
    levels = criterion.levels(grouping)
    level = criterion.level(grouping)
    assert level.value == (levels.min() if criterion.better == "larger" else levels.max())
    assert levels[level.worst] == level.value
    assert measure(grouping)[one.place] == level


@pytest.mark.parametrize("one", [one for one in REPORTED if "hierarchical" not in str(one.id)])  # there is no hierarchy
def test_neither_order_nor_names_of_classes_matter(one: Measured) -> None:
    criterion: Criterion = one.criterion()
    shuffled = np.random.default_rng(3).permutation(len(VALUES)).tolist()
    other = release(shuffled, {"a": "c", "c": "a"})
    assert criterion.level(other.grouping()).value == pytest.approx(
        criterion.level(release().grouping()).value, rel=1e-12
    )


@pytest.mark.parametrize(
    "model", [pytest.param(m, id=n) for n, m in CRITERIA.items() if m.option and m.option.type is not str]
)
def test_its_option_makes_it(model: type[Criterion]) -> None:
    made = model.from_option(model.example, Setting())
    assert isinstance(made, model)
    assert made == model.measuring(model.reported[0].key)
    assert str(made.describe()).endswith(f"{model.example:g}")


def test_json_has_every_number_once() -> None:
    found = document(measure(release().grouping()))
    assert {(model, key) for model, inner in found.items() for key in inner} >= {one.place for one in measured()}
    for one in measured():
        assert isinstance(found[one.model.name][one.reported.key], int) == one.reported.is_whole
