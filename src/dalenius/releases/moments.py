"""Gaussian columns: of each sensitive value how many people there are, and the sums of x and of x² (x clipped, from LOW on).

A person changes n by 1 at most, the sum by R = HIGH − LOW and the squares by R²; the noise of the three is as wide as that:
scale, scale·R and scale·R², with the scale of the counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dalenius.arrays import Floats
from dalenius.errors import InputError, listing, nearest
from dalenius.schema import Column, Schema

__all__ = [
    "LEAST_VARIANCE",
    "QUERIES",
    "WIDEST",
    "Moments",
    "bounds_of",
    "check_bounds",
    "check_columns",
    "numbers_of",
    "units",
]

QUERIES = ("n", "sum", "squares")
WIDEST = 3_000  # HIGH − LOW: squares of a billion people are still whole numbers that a float holds, whoever is counted
LEAST_VARIANCE = 1 / 12  # of a number that is somewhere within a step of 1


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """`values[q, s]`: n, sum and squares of x − low, x clipped to [low, high], of the people with sensitive value s."""

    low: int
    high: int
    values: Floats = field(repr=False)

    def __post_init__(self) -> None:
        check_bounds(self.low, self.high, "a Gaussian column")
        if self.values.ndim != 2 or len(self.values) != len(QUERIES) or not np.isfinite(self.values).all():
            raise InputError("A Gaussian column needs a finite n, sum and squares for each sensitive value.")

    @property
    def reach(self) -> int:
        """R: how much one person changes the sum at most."""
        return self.high - self.low

    @property
    def units(self) -> tuple[int, int, int]:
        """How much one person changes n, sum and squares at most."""
        return units(self.low, self.high)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        return (self.low, self.high) == (other.low, other.high) and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]

    def fitted(self) -> tuple[Floats, Floats]:
        """Mean and variance of each sensitive value, as far as noise lets them be those of numbers in [low, high].

        n is 1 at least, the mean within the bounds, the variance from 1/12 to R²/4, the largest of numbers so bounded.
        """
        n = np.maximum(self.values[0], 1.0)
        mean = np.clip(self.values[1] / n, 0.0, self.reach)
        variance = np.clip(self.values[2] / n - mean**2, LEAST_VARIANCE, max(self.reach**2 / 4, LEAST_VARIANCE))
        return self.low + mean, variance

    def log_density(self, numbers: Floats) -> Floats:
        """ln of the Gaussian density [number, s] at the clipped numbers; 0, a factor of 1, where there is none (nan)."""
        mean, variance = self.fitted()
        x = np.clip(numbers, self.low, self.high)[:, None]
        density: Floats = -0.5 * (np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance)
        return np.where(np.isnan(x), 0.0, density)

    def probabilities(self, numbers: Floats) -> Floats:
        """Pr[number | s] if these numbers are all there are; of a missing one 0, unless there is no other."""
        density = np.where(np.isnan(numbers)[:, None], -np.inf, self.log_density(numbers))
        if np.isnan(numbers).all():
            return np.full(density.shape, 1.0 / len(numbers))
        weights = np.exp(density - density.max(axis=0))
        shares: Floats = weights / weights.sum(axis=0)
        return shares


def units(low: int, high: int) -> tuple[int, int, int]:
    return 1, high - low, (high - low) ** 2


def check_bounds(low: object, high: object, owner: str) -> None:
    """Two whole numbers, the first one smaller, not too far apart."""
    for name, bound in (("low", low), ("high", high)):
        if isinstance(bound, bool) or not isinstance(bound, int):
            raise InputError(f"The bound {name} of {owner} must be a whole number. Got {bound!r} instead.")
    assert isinstance(low, int)
    assert isinstance(high, int)
    if low >= high:
        raise InputError(f"The bounds of {owner} must be LOW < HIGH. Got {low} and {high} instead.")
    if high - low > WIDEST:
        raise InputError(
            f"The bounds of {owner} are {high - low:,} apart; at most {WIDEST:,} can be. Count in larger units."
        )


def check_columns(schema: Schema, names: Mapping[str, object]) -> None:
    """Gaussian columns are integer quasi-identifiers."""
    known = [column.name for column in schema.quasi]
    for name in names:
        if name not in known:
            raise InputError(f"{name!r} is not a quasi-identifier, so it cannot be Gaussian.{nearest(name, known)}")
        if schema[name].type != "integer":
            raise InputError(
                f'Column {name!r} cannot be Gaussian: it has no numbers. Declare type = "integer" in {schema.source}, or '
                "count it."
            )


def bounds_of(meta: object, schema: Schema, where: str) -> dict[str, tuple[int, int]]:
    """The key `gaussian` of the metadata: the bounds of each Gaussian column."""
    example = '{"COLUMN": {"low": 1, "high": 99}}'
    if not isinstance(meta, dict):
        raise InputError(f"{where}: 'gaussian' must be an object such as {example}.")
    check_columns(schema, meta)
    bounds_by_column = {}
    for name, bounds in meta.items():
        if not isinstance(bounds, dict) or set(bounds) != {"low", "high"}:
            raise InputError(
                f"{where}: 'gaussian' of column {name!r} needs {listing(('low', 'high'))}, as in {example}."
            )
        check_bounds(bounds["low"], bounds["high"], f"Gaussian column {name!r} in {where}")
        bounds_by_column[name] = (bounds["low"], bounds["high"])
    return bounds_by_column


def numbers_of(column: Column) -> Floats:
    """The values of a bound integer column as numbers, the missing one as nan."""
    assert column.domain is not None
    return column.domain.values()
