"""k-anonymity: the size of a group (Samarati and Sweeney 1998)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dalenius.arrays import Bools, Floats
from dalenius.criteria.axis import TableSize, Tried, Values, whole_numbers
from dalenius.criteria.base import Criterion, Reported, Setting
from dalenius.errors import InputError, ParameterError, counted
from dalenius.options import Option
from dalenius.releases import Grouping

__all__ = ["USUAL_KS", "KAnonymity"]

USUAL_KS = (2, 5, 10, 25, 50, 100)


def _usual(size: TableSize) -> Values:
    """Return the values that the table allows, or the smallest, whose refusal then says why it is impossible."""
    return tuple(k for k in USUAL_KS if k <= size.people) or USUAL_KS[:1]


@dataclass(frozen=True, slots=True)
class KAnonymity(Criterion):
    """Every group has at least k people."""

    name = "k_anonymity"
    title = "k-anonymity"
    description = "How many people share their quasi-identifiers at least."
    formula = "n(q)"
    refuses = "k = 1, on the command line and in `[policy]`. In Python, `KAnonymity(1)` is allowed: it publishes values unchanged"
    option = Option("k", "At least k people in every class.", int)
    tried = Tried(
        letter="k",
        help="Values of k (2,5,10,25,50,100).",
        metavar="K,K,…",
        parse=whole_numbers("--k", "2,5,10"),
        usual=_usual,
    )
    example = 2
    reported = (
        Reported(
            "k",
            "k-anonymity, k",
            "people in the smallest class; larger is safer",
            policy_key="min_k",
            is_whole=True,
            headline="k",
        ),
    )
    better = "larger"
    absorbing = True
    needs_values = False
    k: int

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise ParameterError("k", "k-anonymity", "an int ≥ 1", self.k)

    @classmethod
    def from_option(cls, value: Any, setting: Setting) -> Self:  # noqa: ARG003
        if value < 2:
            raise ParameterError("--k", "k-anonymity", "an int ≥ 2 (1 demands nothing)", value)
        return cls(value)

    def levels(self, grouping: Grouping) -> Floats:
        return grouping.sizes.astype(np.float64)

    def satisfied(self, levels: Floats) -> Bools:
        return levels >= self.k

    def check_possible(self, people: int, values: Sequence[int]) -> None:  # noqa: ARG002
        if self.k > people:
            raise InputError(f"k = {self.k} is larger than the table, which has {counted(people, 'person', 'people')}.")

    def describe(self) -> str:
        return f"k = {self.k}"
