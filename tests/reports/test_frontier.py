"""What is said of several ε: only what holds at every larger one, and nothing of people who cannot be compared."""

from __future__ import annotations

import dataclasses

import pytest

import dalenius as dl
from dalenius.auditing.epsilon_curve import EpsilonCurve, Point, epsilon_curve
from dalenius.measures.accuracy import Rate
from dalenius.measures.draws import Spread
from dalenius.reports.frontier import page, sentence, summary


@pytest.fixture(scope="module")
def found() -> EpsilonCurve:
    return epsilon_curve(dl.datasets.hospital(300, seed=1), epsilons=(0.1, 1.0, 10.0), draws=2)


def changed(
    found: EpsilonCurve, rates: list[float], relative: list[float], verdicts: list[str], **more: object
) -> EpsilonCurve:
    """The same frontier with other figures; the commonest value is right for 0.2, and no noise for 0.5."""

    def spread(value: float) -> Spread:
        return Spread(Rate(value, value - 0.01, value + 0.01, 100), value, value)

    def point(old: Point, rate: float, off: float, verdict: str) -> Point:
        error = dataclasses.replace(old.count_error, relative=off)
        new = {
            "success": spread(rate),
            "confidence": rate,
            "count_error": error,
            "verdict": verdict,
            "gain": spread(0.03),
        }
        return dataclasses.replace(old, **{**new, **more})  # type: ignore[arg-type]

    points = tuple(point(*one) for one in zip(found.points, rates, relative, verdicts, strict=True))
    free = dataclasses.replace(found.reference, success=spread(0.5), naive=spread(0.2))
    return dataclasses.replace(found, points=points, reference=free)


POPULATION, LEAK, FEW = "only about the population", "leaks about persons", "not enough data to say"


def test_from_some_epsilon_on(found: EpsilonCurve) -> None:
    """A lucky draw at a small ε is no beginning: what follows must hold, too."""
    text = " ".join(summary(changed(found, [0.3, 0.15, 0.495], [0.05, 0.2, 0.01], [POPULATION, POPULATION, LEAK])))
    assert (
        "ε from 0.1 to 1: being counted adds little or nothing to what an attacker can guess. The largest gain is +3.0"
        in text
    )
    assert "ε = 10: being counted exposes individuals. The gain is +3.0 points (+2.0 to +4.0)." in text
    assert (
        "From ε = 10, the counts reveal more than the most common value, and from ε = 10 nearly as much as without noise"
        in text
    )
    assert "From ε = 10, counts are off by less than a tenth of the average count." in text
    assert "more confident than correct" not in text


def test_what_holds_at_no_epsilon_is_not_promised(found: EpsilonCurve) -> None:
    text = " ".join(summary(changed(found, [0.1, 0.15, 0.2], [90, 20, 0.2], [FEW] * 3)))
    assert "ε from 0.1 to 10: there are too few people to tell what being counted adds." in text
    assert "At no ε tried do the counts reveal significantly more than the most common value" in text
    assert (
        "At every ε tried, counts are off by more than a tenth of the average count; at ε = 10, by 20.0% of it" in text
    )


def test_confidence_that_is_noise(found: EpsilonCurve) -> None:
    text = " ".join(summary(changed(found, [0.1, 0.15, 0.2], [90, 20, 0.2], [FEW] * 3, confidence=0.6)))
    assert "more confident than correct: by 50 points at ε = 0.1" in text


def test_people_who_cannot_be_compared(found: EpsilonCurve) -> None:
    unlike = changed(found, [0.1, 0.15, 0.2], [90, 20, 0.2], [FEW] * 3, comparable=False)
    assert "the held-out people differ from those counted" in summary(unlike)[0]
    assert "the held-out people differ from those counted" in sentence(unlike, unlike.points[0])
    assert "90 times the average count" in sentence(unlike, unlike.points[0])


def test_names_are_escaped_and_the_seed_is_there(found: EpsilonCurve) -> None:
    text = page("<b>.csv", dataclasses.replace(found, sensitive="<i>s", seed=321), {"command": ["<u>"]})
    for name in ("<b>", "<i>", "<u>"):
        assert name not in text
    assert "<td><code>321</code></td>" in text


def test_the_page_says_what_is_not_counted_value_by_value() -> None:
    schema = dl.Schema(
        (
            dl.Column("x", "quasi", type="integer", domain=dl.Domain(tuple(map(str, range(10)))), intervals=(5,)),
            dl.Column("y", "quasi", type="integer", domain=dl.Domain(tuple(map(str, range(10))))),
            dl.Column("s", "sensitive", domain=dl.Domain(("a", "b"))),
        )
    )
    table = dl.Table({"x": list("0123456789"), "y": list("0123456789"), "s": list("abababbbaa")}, schema)
    found = epsilon_curve(table, 0.3, (1.0,), draws=2, levels={"x": 1}, gaussian={"y": (0, 9)})
    text = page("t.csv", found, {})
    assert "x at level 1, y as a Gaussian from 0 to 9" in text
    assert "not for publication" in text.partition("</figure>")[0]
