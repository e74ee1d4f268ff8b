"""From texts to codes: what an engine counted as text becomes integer codes in the schema's domains."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dalenius.arrays import Ints, Longs
from dalenius.errors import InputError, nearest
from dalenius.schema import Column, Schema, WrongType

__all__ = ["Locate", "canonical_texts", "distinct_rows", "leaf_codes", "merge", "quoted"]

# Where a text stands: (column, text) → "row 17"; asked only for an error message.
Locate = Callable[[str, str], str]


def canonical_texts(column: Column, texts: Sequence[str], schema: Schema, *, where: str, locate: Locate) -> list[str]:
    """Each text as the leaf it names; a text that the declared type cannot read is an error."""
    leaves = []
    for text in texts:
        try:
            leaves.append(column.canonical(text, schema.missing))
        except WrongType:
            raise InputError(
                f"{where}, {locate(column.name, text)}, column {column.name!r}: {quoted(column, text)} is not a whole "
                f'number, but {schema.source} declares type = "integer". Fix the value, list it under missing, '
                'or declare type = "category".'
            ) from None
    return leaves


def leaf_codes(column: Column, leaves: Sequence[str], texts: Sequence[str], *, where: str, locate: Locate) -> Ints:
    """The codes of leaves in a bound column's domain; one outside it is an error naming row and nearest leaf."""
    assert column.domain is not None
    codes = np.fromiter((column.domain.code(leaf) for leaf in leaves), dtype=np.int32, count=len(leaves))
    if (codes < 0).any():
        i = int(np.argmax(codes < 0))
        source = column.hierarchy.source if column.hierarchy is not None else "the declared domain"
        where = f"{where}, {locate(column.name, texts[i])}, column {column.name!r}"
        if column.role == "sensitive" and texts[i].strip() == "*":
            raise InputError(
                f"{where}: '*' hides the value of a column that is declared sensitive. If the release generalizes this column, "
                "declare it quasi, and declare the column that is published unchanged as sensitive."
            )
        hint = "" if column.role == "sensitive" else nearest(leaves[i], column.leaves)
        raise InputError(
            f"{where}: {quoted(column, texts[i])} is not in {source}.{hint} Add it there, or fix the value."
        )
    return codes


def quoted(column: Column, text: str) -> str:
    """A value as a message may show it: never a sensitive one, never an identifier."""
    return repr(text) if column.role == "quasi" else "the value there (not shown)"


def merge(codes: Ints, counts: Longs, sizes: Sequence[int]) -> tuple[Ints, Longs]:
    """Sort rows of codes lexicographically and add up the counts of equal ones; rows that nobody has are left out.

    Code j is below sizes[j]; counts are not negative.
    """
    if len(codes) == 0:
        return codes, counts
    if math.prod(sizes) <= 4 * len(codes) and int(counts.sum()) < 2**53:
        # Most combinations occur: counting into a table of all of them beats sorting. Floats are exact below 2^53.
        dense = np.bincount(_keys(codes, sizes), weights=counts)
        keys = np.flatnonzero(dense)
        return _unkeyed(keys, sizes), dense[keys].astype(np.int64)
    order, starts = _sorted_runs(codes, sizes)
    total = np.add.reduceat(counts[order], starts)
    return codes[order[starts]][total > 0], total[total > 0]


def distinct_rows(codes: Ints, sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """The distinct rows of codes in lexicographic order, and for each row the number of the one it equals."""
    order, starts = _sorted_runs(codes, sizes)
    inverse = np.empty(len(codes), dtype=np.int32)
    lengths = np.diff(np.append(starts, len(codes)))
    inverse[order] = np.repeat(np.arange(len(starts), dtype=np.int32), lengths)
    return codes[order[starts]], inverse


def _keys(codes: Ints, sizes: Sequence[int]) -> Longs:
    """Each row as one integer in mixed radix, so that integers compare as rows do."""
    keys = np.zeros(len(codes), dtype=np.int64)
    for j, size in enumerate(sizes):
        keys *= size
        keys += codes[:, j]
    return keys


def _unkeyed(keys: Longs, sizes: Sequence[int]) -> Ints:
    """The rows that have these keys."""
    codes = np.empty((len(keys), len(sizes)), dtype=np.int32)
    for j in range(len(sizes) - 1, -1, -1):
        keys, codes[:, j] = np.divmod(keys, sizes[j])
    return codes


def _sorted_runs(codes: Ints, sizes: Sequence[int]) -> tuple[Longs, Longs]:
    """The order that sorts the rows, and where in it each run of equal rows starts."""
    if len(codes) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    if math.prod(sizes) < 2**62:
        keys = _keys(codes, sizes)
        order = np.argsort(keys, kind="stable")
        new = np.diff(keys[order]) != 0
    else:
        order = np.lexsort(codes.T[::-1])
        new = (np.diff(codes[order], axis=0) != 0).any(axis=1)
    return order, np.flatnonzero(np.concatenate(([True], new)))
