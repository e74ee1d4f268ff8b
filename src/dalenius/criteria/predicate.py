"""Sensitive predicates: sets of values that an attacker must not link to anybody.

A single value is a positive disclosure, a set such as {ulcer, dyspepsia} a wider one, and a complement a negative one:
whoever does not have cancer has one of the other diseases (Machanavajjhala, Gehrke and Götz 2009, Sec. 2.1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Bools, Ints, Longs
from dalenius.errors import InputError
from dalenius.releases import Grouping
from dalenius.releases.label import split_set
from dalenius.schema import Column, WrongType

__all__ = ["Counted", "Predicate", "count"]

_NOT = re.compile(r"not\s+(?=\S)|not(?=\{)")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A set of values or hierarchy labels, or all values but these; of one sensitive column, or of every one."""

    values: frozenset[str]
    column: str | None = None
    negated: bool = False

    @classmethod
    def parse(cls, text: str, columns: Sequence[str] = ()) -> Predicate:
        """Parse `cancer`, `{ulcer, dyspepsia}`, `not cancer` or `not {…}`, each also as `COLUMN=…`.

        A single value may hold a `=` as long as no column in `columns` stands before it; with `columns` left out, a
        column is only looked for before a set.
        """
        head, equals, rest = text.partition("=")
        column = None
        if equals and (head.strip() in columns or (not columns and split_set(_NOT.sub("", rest.strip(), 1)))):
            column, text = head.strip(), rest
        body = text.strip()
        negated = _NOT.match(body)
        if negated:
            body = body[negated.end() :]
        members = split_set(body)
        if members is None:
            members = [body]
        if not members or members == [""] or (len(members) > 1 and "" in members and '""' not in body):
            raise InputError(f"The predicate {text!r} names no value. Write VALUE, {{A, B}} or not {{A, B}}.")
        return cls(frozenset(members), column, negated is not None)

    def __str__(self) -> str:
        body = "{" + ", ".join(sorted(self.values)) + "}"
        return f"{'' if self.column is None else self.column + '='}{'not ' if self.negated else ''}{body}"

    def members(self, column: Column) -> Bools:
        """Return which leaves of a bound column the predicate holds for."""
        assert column.domain is not None
        labels = column.hierarchy.members() if column.hierarchy is not None else {}
        holds = np.zeros(len(column.leaves), dtype=bool)
        whole = " ".join(["not", *self.values])
        if self.negated and len(self.values) == 1 and column.domain.code(whole) >= 0:
            raise InputError(
                f"The predicate {self} could mean the value {whole!r} of column {column.name!r} as well. "
                f"Write {{{whole}}} for that value, not {{{next(iter(self.values))}}} for the others."
            )
        for value in self.values:
            code = _code(column, value)
            if code >= 0:
                holds[code] = True
            elif value in labels:
                holds[labels[value]] = True
            else:
                hint = "" if self.column else f" If it is another column's, write COLUMN={{{value}}}."
                raise InputError(
                    f"The predicate {self} names {value!r}, which column {column.name!r} does not have.{hint}"
                )
        if self.negated:
            holds = ~holds
        if holds.all() or not holds.any():
            what = "every value" if holds.all() else "no value"
            raise InputError(
                f"The predicate {self} holds for {what} of column {column.name!r}: there is nothing to disclose."
            )
        return holds


def _code(column: Column, value: str) -> int:
    """Return the code of a leaf; integers by value."""
    assert column.domain is not None
    try:
        return column.domain.code(column.canonical(value, ()))
    except WrongType:
        return -1


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """How many people of each group satisfy each predicate. Predicates that nobody satisfies may be missing."""

    start: Longs
    predicates: Ints
    counts: Longs
    members: Bools | None  # [predicate, leaf]; None: predicate i is leaf i


def count(grouping: Grouping, predicates: Sequence[Predicate]) -> Counted:
    """Count people by the predicates for a grouping's column. Without any, each single value is a predicate."""
    applicable = [p for p in predicates if p.column in (None, grouping.column.name)]
    if not applicable:
        return Counted(grouping.start, grouping.values, grouping.counts, None)
    members = np.array([predicate.members(grouping.column) for predicate in applicable])
    dense = np.zeros((grouping.groups, len(applicable)), dtype=np.int64)
    if grouping.groups:
        for i, holds in enumerate(members):
            dense[:, i] = np.add.reduceat(np.where(holds[grouping.values], grouping.counts, 0), grouping.start[:-1])
    start = np.arange(grouping.groups + 1, dtype=np.int64) * len(applicable)
    numbers = np.tile(np.arange(len(applicable), dtype=np.int32), grouping.groups)
    return Counted(start, numbers, dense.ravel(), members)
