"""The numbers that a label carries: `7`, `-1.5`, `7.3e+07`, `10-19`, `[10, 20)`, `<5`, `90+`, with or without a unit.

This is the only place where labels are read as numbers or ranges. Ends are decimals: two labels that differ as decimals do
not become equal by rounding.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["NUMBER", "Band", "order_by_number", "read_band"]

NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_UNIT = r"(?:\s*([^\W\d_]+|[%€$£]))?"  # one word, or a sign
_PLAIN = re.compile(rf"({NUMBER}){_UNIT}")
_BRACKETS = re.compile(rf"([\[\](])\s*({NUMBER})\s*[,;]\s*({NUMBER})\s*([\[\])]){_UNIT}")
_DASH = re.compile(rf"({NUMBER})\s*[-–~]\s*({NUMBER}){_UNIT}")
_PLUS = re.compile(rf"({NUMBER})\s*\+{_UNIT}")
_ONE_SIDED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({NUMBER}){_UNIT}")
_INFINITE = Decimal("Infinity")


@dataclass(frozen=True, slots=True)
class Band:
    """The numbers from `low` to `high`, and whether these two belong to it."""

    low: Decimal
    has_low: bool
    high: Decimal
    has_high: bool
    unit: str = ""
    is_number: bool = False  # a single one, not written as a range

    @property
    def begins(self) -> tuple[Decimal, int]:
        """Where it begins, to compare: after 5 is later than at 5."""
        return self.low, 0 if self.has_low else 1

    @property
    def ends(self) -> tuple[Decimal, int]:
        """Where it ends, to compare: before 5 is earlier than at 5."""
        return self.high, 0 if self.has_high else -1


def read_band(text: str) -> Band | None:
    """The number or range that a label says, or None if it is neither."""
    text = text.strip()
    match = _PLAIN.fullmatch(text)
    if match:
        value = Decimal(match[1])
        return Band(value, True, value, True, match[2] or "", is_number=True)
    match = _BRACKETS.fullmatch(text)
    if match:
        left, low, high, right, unit = match.groups()
        return Band(Decimal(low), left == "[", Decimal(high), right == "]", unit or "")
    match = _DASH.fullmatch(text)
    if match:
        return Band(Decimal(match[1]), True, Decimal(match[2]), True, match[3] or "")
    return _read_one_sided(text)


def _read_one_sided(text: str) -> Band | None:
    match = _PLUS.fullmatch(text)
    if match:
        return Band(Decimal(match[1]), True, _INFINITE, True, match[2] or "")
    match = _ONE_SIDED.fullmatch(text)
    if match is None:
        return None
    sign, bound, unit = match[1], Decimal(match[2]), match[3] or ""
    if sign in ("<", "<=", "≤"):
        return Band(-_INFINITE, True, bound, sign != "<", unit)
    return Band(bound, sign != ">", _INFINITE, True, unit)


def order_by_number(labels: Sequence[str]) -> list[int] | None:
    """The positions of the labels in the order of their numbers; None unless the numbers decide.

    All labels need numbers, in one unit. Of two labels one must begin and end no later than the other: if one lies inside
    the other, or both say the same, nothing decides.
    """
    bands: list[Band] = []
    for label in labels:
        band = read_band(label)
        if band is None or band.begins > (band.high, 0) or band.unit != (bands[0].unit if bands else band.unit):
            return None
        bands.append(band)
    order = sorted(range(len(bands)), key=lambda i: (bands[i].begins, bands[i].ends))
    for first, second in itertools.pairwise(order):
        before, after = bands[first], bands[second]
        if after.ends < before.ends or (before.begins, before.ends) == (after.begins, after.ends):
            return None
    return order
