"""The sensitive values of several releases under common names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dalenius.arrays import Longs
from dalenius.errors import InputError, listing
from dalenius.schema import Column


def check_values(
    names: Sequence[str],
    declared: Sequence[Column],
    bound: Sequence[Column],
    mapping: Mapping[str, str],
    option: str = "--map",
) -> None:
    """Refuse declared domains that differ, and releases that have no sensitive value in common."""
    mapped = [[mapping.get(leaf, leaf) for leaf in column.leaves] for column in bound]
    known = {leaf for column in bound for leaf in column.leaves}
    for old, new in mapping.items():
        if old not in known:
            raise InputError(f"{option}: no release has the sensitive value {old!r}.")
        if new not in known and sum(other == new for other in mapping.values()) < 2:
            raise InputError(f"{option}: {old!r} becomes {new!r}, which no release has, and nothing else becomes it.")
    fixed = [j for j, column in enumerate(declared) if column.fixed]
    for j in fixed[1:]:
        _check_same(names[fixed[0]], names[j], set(mapped[fixed[0]]), set(mapped[j]), option)
    for j in range(1, len(mapped)):
        if not set(mapped[0]) & set(mapped[j]):
            _check_same(names[0], names[j], set(mapped[0]), set(mapped[j]), option)


def common_values(bound: Sequence[Column], mapping: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[Longs, ...]]:
    """Return the sensitive values of all releases, and for each release which of them its leaves are."""
    mapped = [[mapping.get(leaf, leaf) for leaf in column.leaves] for column in bound]
    values = tuple(dict.fromkeys(leaf for leaves in mapped for leaf in leaves))
    place = {leaf: i for i, leaf in enumerate(values)}
    return values, tuple(np.array([place[leaf] for leaf in leaves], dtype=np.int64) for leaves in mapped)


def _check_same(first: str, second: str, first_values: set[str], second_values: set[str], option: str) -> None:
    if first_values == second_values:
        return
    sides = ((first, first_values - second_values), (second, second_values - first_values))
    parts = [f"only {name} has {listing(sorted(extra), limit=8)}" for name, extra in sides if extra]
    raise InputError(
        f"The sensitive values of {first} and {second} differ: {'; '.join(parts)}. If they only have other names, write a "
        f"file with the columns from and to, one line per value, and pass it with {option}."
    )
