"""The nearest centroid in plain loops: what `nearest-centroid` and its rates are compared with.

A centroid is a list of a number (None: missing) or a category for each quasi-identifier. What is known of a person is the
same, with `UNKNOWN` where nothing is known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

UNKNOWN = object()
Point = Sequence[object]


def _mean_and_spread(column: Sequence[object], sizes: Sequence[int]) -> tuple[float, float]:
    there = [(float(number), n) for number, n in zip(column, sizes, strict=True) if number is not None]  # type: ignore[arg-type]
    total = sum(n for _, n in there)
    mean = sum(number * n for number, n in there) / total if there else 0.0
    spread = math.sqrt(sum((number - mean) ** 2 * n for number, n in there) / total) if there else 0.0
    return mean, spread or 1.0


def nearest(person: Point, points: Sequence[Point], sizes: Sequence[int], numeric: Sequence[bool]) -> list[int]:
    """The groups whose centroid is nearest, all that tie. A missing number stands at the mean, as for the publisher."""
    scales = [_mean_and_spread([p[a] for p in points], sizes) if numeric[a] else None for a in range(len(numeric))]
    distances = []
    for point in points:
        total = 0.0
        for mine, theirs, scale in zip(person, point, scales, strict=True):
            if mine is UNKNOWN:
                continue
            if scale is None:
                total += mine != theirs
                continue
            mean, spread = scale
            one, other = (mean if number is None else float(number) for number in (mine, theirs))  # type: ignore[arg-type]
            total += ((one - other) / spread) ** 2
        distances.append(total)
    least = min(distances)
    return [q for q, distance in enumerate(distances) if distance <= least * (1 + 1e-9) + 1e-12]


def belief(groups: Sequence[int], values: Sequence[Sequence[str]]) -> dict[str, Fraction]:
    """Every row of these groups is equally likely the person's."""
    rows = Counter(value for q in groups for value in values[q])
    return {value: Fraction(n, rows.total()) for value, n in rows.items()}


def chance(believed: dict[str, Fraction], truth: str) -> Fraction:
    """That the most believed value is the true one; of c that tie, one in c."""
    first = [value for value, share in believed.items() if share == max(believed.values())]
    return Fraction(truth in first, len(first))
