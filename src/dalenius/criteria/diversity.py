"""ℓ-diversity: how diverse the sensitive values of a group are (Machanavajjhala et al. 2007)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dalenius.arrays import Bools, Floats
from dalenius.criteria.axis import TableSize, Tried, Values, whole_numbers
from dalenius.criteria.base import (
    NO_PARAMETERS,
    SLACK,
    Criterion,
    Reported,
    Setting,
    at_least,
    check_positive,
    quotient,
    reduce,
    shares,
)
from dalenius.errors import InputError, ParameterError, is_finite
from dalenius.options import Option
from dalenius.releases import Grouping

__all__ = ["USUAL_LS", "DistinctDiversity", "EntropyDiversity", "RecursiveDiversity"]

USUAL_LS = (2, 3, 5, 8)


def _usual(size: TableSize) -> Values:
    """Return the values that the table allows, or the smallest, whose refusal then says why it is impossible."""
    possible = size.people // max(size.commonest, 1)
    return tuple(level for level in USUAL_LS if level <= possible) or USUAL_LS[:1]


def _pairs(text: str) -> Values:
    """Return texts `C,L`. Semicolons separate them, because a comma is part of each; `3,2,9,2` is read as two pairs."""
    pairs: list[str] = []
    for part in text.split(";"):
        numbers = [number.strip() for number in part.split(",")]
        pairs += [",".join(numbers[i : i + 2]) for i in range(0, len(numbers), 2)]
    return tuple(pairs)


@dataclass(frozen=True, slots=True)
class DistinctDiversity(Criterion):
    """Every group has at least ℓ different values."""

    name = "distinct_l_diversity"
    title = "distinct ℓ-diversity"
    description = "How many different values a class has at least."
    formula = "number of different values"
    refuses = "ℓ of 1 or less"
    option = Option("l", "Distinct ℓ-diversity.", int)
    tried = Tried(
        letter="ℓ",
        help="Values of ℓ, distinct (anatomy: 2,3,5,8).",
        metavar="L,L,…",
        parse=whole_numbers("--l", "2,3"),
        usual=_usual,
    )
    example = 2
    reported = (
        Reported(
            "l",
            "distinct ℓ-diversity, ℓ",
            "fewest different values in a class; larger is safer",
            policy_key="min_l",
            is_whole=True,
            headline="l",
        ),
    )
    better = "larger"
    absorbing = True
    l: int  # noqa: E741 - the literature's letter

    def __post_init__(self) -> None:
        if isinstance(self.l, bool) or not isinstance(self.l, int) or self.l < 2:
            raise ParameterError("l", "distinct ℓ-diversity", "an int ≥ 2 (1 demands nothing)", self.l)

    def levels(self, grouping: Grouping) -> Floats:
        return np.diff(grouping.start).astype(np.float64)

    def satisfied(self, levels: Floats) -> Bools:
        return levels >= self.l

    def check_possible(self, people: int, values: Sequence[int]) -> None:  # noqa: ARG002
        _check_values(self.describe(), self.l, values)

    def describe(self) -> str:
        return f"distinct ℓ = {self.l}"


@dataclass(frozen=True, slots=True)
class EntropyDiversity(Criterion):
    """exp of the Shannon entropy of the values in every group is at least ℓ. Concave, so merging keeps it."""

    name = "entropy_l_diversity"
    title = "entropy ℓ-diversity"
    description = "How many values a class has in effect, at least."
    formula = "exp of the Shannon entropy of q"
    refuses = "ℓ of 1 or less"
    option = Option("entropy-l", "Entropy ℓ-diversity.")
    tried = Tried(letter="entropy ℓ", help="Values of entropy ℓ-diversity.", metavar="L,L,…")
    example = 2.0
    reported = (
        Reported(
            "l",
            "entropy ℓ-diversity, ℓ",
            "effective number of values in a class; larger is safer",
            policy_key="min_entropy_l",
        ),
    )
    better = "larger"
    l: float  # noqa: E741 - the literature's letter

    def __post_init__(self) -> None:
        if not is_finite(self.l) or self.l * (1 - SLACK) <= 1:
            raise ParameterError("l", "entropy ℓ-diversity", "a finite number > 1 (1 demands nothing)", self.l)

    def levels(self, grouping: Grouping) -> Floats:
        share = shares(grouping)
        entropy = -1.0 * reduce(np.add, share * np.log(share), grouping)
        # Rounding may put the entropy of one value slightly below 0, and that of ℓ equal values above log ℓ.
        distinct = np.diff(grouping.start)
        return np.clip(np.exp(entropy), 1.0, distinct.astype(np.float64))

    def satisfied(self, levels: Floats) -> Bools:
        return at_least(levels, self.l)

    def check_possible(self, people: int, values: Sequence[int]) -> None:  # noqa: ARG002
        _check_values(self.describe(), self.l, values)

    def describe(self) -> str:
        return f"entropy ℓ = {self.l:g}"


@dataclass(frozen=True, slots=True)
class RecursiveDiversity(Criterion):
    """r₁ < c (r_ℓ + … + r_m), the counts of a group sorted in descending order: the most common value is not too common.

    The level is r₁ / (r_ℓ + … + r_m), infinite if fewer than ℓ values occur. The criterion holds for every c *above* it,
    because the inequality is strict.
    """

    name = "recursive_c_l_diversity"
    title = "recursive (c,ℓ)-diversity"
    description = "How much the commonest value of a class outweighs the rest."
    formula = "r₁/(r_ℓ + … + r_m), with counts sorted in descending order"
    refuses = "infinite c, ℓ = 1"
    option = Option("recursive-l", "Recursive (c,ℓ)-diversity.", str, "C,L")
    tried = Tried(
        letter="recursive c,ℓ",
        help="Pairs c,ℓ of recursive diversity, separated by semicolons.",
        metavar="C,L;C,L;…",
        parse=_pairs,
    )
    reported = (
        Reported(
            "c",
            "recursive (c,2)-diversity, c",
            "commonest value against the rest; smaller is safer",
            check_title="recursive (c,ℓ)-diversity, c",
        ),
    )
    better = "smaller"
    c: float
    l: int = 2  # noqa: E741 - the literature's letter

    def __post_init__(self) -> None:
        check_positive("c", "recursive (c,ℓ)-diversity", self.c)
        if isinstance(self.l, bool) or not isinstance(self.l, int) or self.l < 2:
            raise ParameterError("l", "recursive (c,ℓ)-diversity", "an int ≥ 2", self.l)

    @classmethod
    def from_option(cls, value: Any, setting: Setting) -> Self:  # noqa: ARG003
        first, comma, second = value.partition(",")
        try:
            return cls(float(first), int(second)) if comma else cls(float(first))
        except ParameterError:
            raise
        except ValueError:
            raise ParameterError("--recursive-l", "publish", "c,ℓ such as 3,2", value) from None

    @classmethod
    def measuring(cls, key: str, parameters: Mapping[str, Any] = NO_PARAMETERS) -> Self:  # noqa: ARG003
        return cls(1.0, **cls.parameters(parameters))

    @classmethod
    def parameters(cls, parameters: Mapping[str, Any] = NO_PARAMETERS) -> dict[str, Any]:
        return {"l": parameters.get("recursive_l", 2)}

    def levels(self, grouping: Grouping) -> Floats:
        widths = np.diff(grouping.start)
        group = np.repeat(np.arange(grouping.groups), widths)
        order = np.lexsort((-grouping.counts, group))  # within each group by descending count
        counts = grouping.counts[order]
        rank = np.arange(len(counts)) - np.repeat(grouping.start[:-1], widths)
        first = counts[grouping.start[:-1]]
        tail = reduce(np.add, np.where(rank >= self.l - 1, counts, 0), grouping)
        with np.errstate(divide="ignore"):
            return quotient(first, tail)

    def satisfied(self, levels: Floats) -> Bools:
        return levels < self.c

    def check_possible(self, people: int, values: Sequence[int]) -> None:  # noqa: ARG002
        _check_values(self.describe(), self.l, values)

    def describe(self) -> str:
        return f"recursive c = {self.c:g}, ℓ = {self.l}"


def _check_values(what: str, least: float, values: Sequence[int]) -> None:
    if least > min(values):
        raise InputError(f"{what} is impossible: the table has only {min(values)} different values.")
