"""The Pareto front: the choices that no other choice beats in both risk and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["front"]


def front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return for each (risk, cost) whether it is on the front. Smaller is better in both.

    A point is beaten by another that is no worse in either and better in one. Equal points are on the front together, or not at
    all. A point that is undefined in either is not on the front.
    """
    order = sorted(
        (i for i, point in enumerate(points) if not any(map(math.isnan, point))),
        key=lambda i: (points[i][1], points[i][0]),
    )
    is_on_front = [False] * len(points)
    least: tuple[float, float] | None = None  # the last on the front: the smallest risk at this cost or below
    for i in order:
        if least is None or points[i][0] < least[0] or points[i] == least:
            is_on_front[i], least = True, points[i]
    return is_on_front
