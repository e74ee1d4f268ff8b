"""Singling out and linkage from the sizes of classes, against a loop over people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from dalenius.measure.anonymity import class_risks
from dalenius.release import Generalized
from dalenius.schema import Column, Domain, Schema

SCHEMA = Schema(
    (
        Column("place", "quasi", domain=Domain(tuple(str(i) for i in range(8)))),
        Column("disease", "sensitive", domain=Domain(("Flu", "Pox"))),
    )
)


def released(places: list[str]) -> Generalized:
    release = dl.read_release({"place": places, "disease": ["Flu"] * len(places)}, SCHEMA)
    assert isinstance(release, Generalized)
    return release


@given(st.lists(st.sampled_from("01234567*"), min_size=1, max_size=40))
def test_risks_against_a_loop_over_people(places: list[str]) -> None:
    found = class_risks(released(places))
    # If everybody is suppressed, all are one class; else suppressed people are in no class and not singled out.
    inside = [place for place in places if place != "*"] or places
    risk = [1 / inside.count(place) for place in inside]
    assert found.singled_out == pytest.approx(sum(r == 1 for r in risk) / len(places))
    assert found.highest == pytest.approx(max(risk))
    assert found.average == pytest.approx(sum(risk) / len(inside))
    assert found.at_risk == pytest.approx(sum(inside.count(place) < 5 for place in inside) / len(places))


def test_a_class_of_five_is_not_above_a_fifth() -> None:
    assert class_risks(released(["1"] * 5)).at_risk == 0
    assert class_risks(released(["1"] * 5 + ["2"] * 4)).at_risk == pytest.approx(4 / 9)
