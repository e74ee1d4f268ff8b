"""Words that stand in for numbers, and around them."""

from __future__ import annotations

UNDEFINED = "undefined"
INFINITE = "infinite"
NONE = "–"


def span(low: str, high: str) -> str:
    return f"{low} to {high}"


def points(value: str, interval: str) -> str:
    return f"{value} points {interval}"
