"""Write numbers for readers. Every report formats its numbers here."""

from __future__ import annotations

import math

from dalenius.measures.accuracy import Rate
from dalenius.reports.words import numbers as say

__all__ = ["interval", "level", "number", "per_hundred", "percent", "plus_minus", "points", "rate", "signed"]


def number(value: float) -> str:
    """Return a number with four digits; a large one in full, with commas."""
    if math.isnan(value):
        return say.UNDEFINED
    if math.isinf(value):
        return say.INFINITE
    value = 0.0 if abs(value) < 1e-12 else value  # what rounding leaves
    return f"{value:.4g}" if abs(value) < 1000 or abs(value) >= 1e15 else f"{value:,.0f}"


def level(value: float) -> str:
    """Return the level of a privacy model with six digits."""
    if math.isnan(value):
        return say.UNDEFINED
    return say.INFINITE if value == math.inf else f"{value:,.6g}"


def percent(value: float) -> str:
    """Return a share in per cent; one that is small but not zero must not look like zero."""
    if math.isnan(value):
        return say.NONE
    return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"


def rate(share: Rate) -> str:
    """Return a share with its interval."""
    if share.n == 0:
        return say.NONE
    return f"{share.value:.1%} {interval(f'{share.low:.1%}', f'{share.high:.1%}')}"


def points(difference: Rate) -> tuple[str, str]:
    """Return a difference of shares in percentage points, and its interval."""
    low, high = f"{100 * difference.low:+.1f}", f"{100 * difference.high:+.1f}"
    return f"{100 * difference.value:+.1f}", interval(low, high)


def signed(difference: Rate) -> str:
    """Return a difference of shares in percentage points with its interval, as one text."""
    return say.NONE if difference.n == 0 else say.points(*points(difference))


def interval(low: str, high: str) -> str:
    """Return an interval in parentheses."""
    return f"({say.span(low, high)})"


def per_hundred(share: float) -> str:
    """Return a share as a whole number of people in 100; a minus sign is typeset."""
    return f"{round(100 * share):d}".replace("-", "−")


def plus_minus(error: float | None) -> str:
    """Return the Monte-Carlo error of a share, or nothing if there is none."""
    return f" ± {error:.2%}" if error else ""
