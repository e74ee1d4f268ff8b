"""The Pareto front: what no other choice beats in both risk and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence


def front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Which (risk, cost) are on the front, smaller being better in both.

    One is beaten by another that is no worse in either and better in one. Equal ones are on the front together, or not at
    all. What is undefined in either is not on it.
    """
    order = sorted(
        (i for i, point in enumerate(points) if not any(map(math.isnan, point))),
        key=lambda i: (points[i][1], points[i][0]),
    )
    found = [False] * len(points)
    least: tuple[float, float] | None = None  # the last on the front: the smallest risk at this cost or below
    for i in order:
        if least is None or points[i][0] < least[0] or points[i] == least:
            found[i], least = True, points[i]
    return found
