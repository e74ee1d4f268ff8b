"""What the options of noisy counts say of columns: `--joint A,B`, `--level COLUMN=1`, `--gaussian COLUMN=0:99`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dalenius.errors import InputError

WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}\s*", re.ASCII)


def joint_of(items: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """What --joint says: columns that are counted together."""
    return tuple(tuple(name.strip() for name in names.split(",")) for names in items)


def levels_of(items: Sequence[str]) -> dict[str, int]:
    """What --level says: COLUMN=LEVEL."""
    return {name: level for name, (level,) in _of_columns("--level", "COLUMN=1", items).items()}


def bounds_of(items: Sequence[str]) -> dict[str, tuple[int, int]]:
    """What --gaussian says: COLUMN=LOW:HIGH."""
    return {name: (low, high) for name, (low, high) in _of_columns("--gaussian", "COLUMN=0:99", items).items()}


def _of_columns(option: str, example: str, items: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """The whole numbers that an option gives each column, as many as in its example."""
    found: dict[str, tuple[int, ...]] = {}
    for item in items:
        name, _, text = item.rpartition("=")
        numbers = text.split(":")
        if (
            not name.strip()
            or len(numbers) != example.count(":") + 1
            or not all(WHOLE.fullmatch(number) for number in numbers)
        ):
            raise InputError(f"{option} {item!r}: write a column and whole numbers like {option} {example}.")
        if name.strip() in found:
            raise InputError(f"{option} names column {name.strip()!r} twice. Keep one.")
        found[name.strip()] = tuple(int(number) for number in numbers)
    return found
