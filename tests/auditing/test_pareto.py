"""The Pareto front against every pair of points."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from dalenius.auditing.pareto import front

# Few numbers, so that there are ties; and what is infinite or undefined.
number = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, math.inf, math.nan])


def beaten(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return other[0] <= one[0] and other[1] <= one[1] and (other[0] < one[0] or other[1] < one[1])


@given(st.lists(st.tuples(number, number), max_size=12))
def test_against_every_pair(points: list[tuple[float, float]]) -> None:
    expected = [
        not any(map(math.isnan, one))
        and not any(beaten(one, other) for other in points if not any(map(math.isnan, other)))
        for one in points
    ]
    assert front(points) == expected


def test_by_hand() -> None:
    points = [(0.5, 1.0), (0.4, 2.0), (0.4, 3.0), (0.3, 5.0), (0.5, 1.0), (0.6, 1.0), (math.nan, 0.0)]
    assert front(points) == [True, True, False, True, True, False, False]
    assert front([]) == []
