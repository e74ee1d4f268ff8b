"""The base class of criteria.

A criterion gives each group a level. The level of a grouping is that of its worst group. With its threshold, a criterion
says which groups fail, so that a publisher can use it as a constraint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from dalenius.arrays import Bools, Floats, Longs
from dalenius.criteria.axis import AXIS_PANEL, Axis, Tried, parser_of
from dalenius.errors import ParameterError, is_finite
from dalenius.options import Option
from dalenius.releases import Grouping
from dalenius.schema import Column

if TYPE_CHECKING:
    from dalenius.criteria.predicate import Predicate
    from dalenius.releases.prior import Priors

__all__ = [
    "NO_PARAMETERS",
    "SLACK",
    "Criterion",
    "Level",
    "Reported",
    "Setting",
    "at_least",
    "at_most",
    "axis_of",
    "check_positive",
    "cross_counts",
    "is_share_below_one",
    "quotient",
    "reduce",
    "repeated_sizes",
    "shares",
    "table_shares",
    "worst",
]

# Relative slack when a level that is a sum of rounded numbers is compared with a threshold: log 2 + log 2 may come out
# slightly below log 4. Counts are compared exactly.
SLACK = 1e-9
NO_PARAMETERS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Level:
    """The value of a criterion on a grouping, and its worst group, −1 if there is none."""

    value: float
    worst: int


@dataclass(frozen=True, slots=True)
class Reported:
    """One number of a criterion, as JSON, `check`, reports and `[policy]` show it. It does not depend on a threshold."""

    key: str  # in the model's JSON object
    title: str  # of its row in reports
    explanation: str  # what the number is, and whether larger or smaller is safer
    check_title: str = ""  # of its row in `check`, if that says more
    policy_key: str = ""  # in [policy]: min_… or max_…
    is_whole: bool = False  # a count
    headline: str = ""  # its key in `compare` and `frontier`, which show few numbers; empty: it is not shown there


@dataclass(frozen=True, slots=True)
class Setting:
    """What a criterion may need besides the text of its option."""

    priors: Priors | None = None
    known: int = 0
    at_most: bool = False
    predicates: tuple[Predicate, ...] = ()


class Criterion(ABC):
    """A privacy model with its threshold.

    A subclass describes itself: `name` is its key in JSON, `title` names it in sentences, `option` asks for it on the command line,
    and `reported` lists the numbers that `check`, audits, reports and `[policy]` show. One line in `criteria/registry.py`, or an
    entry point of `dalenius.criteria`, makes all of them know it.

    It refuses a threshold that every table meets, such as t = 1 or an infinite β (but k = 1 is allowed: it publishes values).
    `better` says whether a larger or a smaller level is more private. `monotone`: groups that satisfy it still do when
    merged with each other. `absorbing`: a group that satisfies it still does when merged with any other group. A search
    with suppression is monotone only for absorbing criteria.
    """

    __slots__ = ()
    name: ClassVar[str]
    better: ClassVar[Literal["larger", "smaller"]]
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = False
    needs_values: ClassVar[bool] = True
    title: ClassVar[str] = ""
    description: ClassVar[str] = ""  # one sentence, in the JSON schema
    option: ClassVar[Option | None] = None
    tried: ClassVar[Tried] = Tried()  # how `frontier` varies the threshold
    example: ClassVar[float] = 1.0  # a threshold that is allowed
    formula: ClassVar[str] = ""  # the level of a class q, for docs/criteria.md
    refuses: ClassVar[str] = ""  # thresholds that it refuses because every table meets them, for docs/criteria.md
    reported: ClassVar[tuple[Reported, ...]] = ()

    @classmethod
    def from_option(cls, value: Any, setting: Setting) -> Self:  # noqa: ARG003 - few criteria need more than their value
        """Return the criterion that the value of its option asks for."""
        return cls(value)  # type: ignore[call-arg]

    @classmethod
    def measuring(cls, key: str, parameters: Mapping[str, Any] = NO_PARAMETERS) -> Self:  # noqa: ARG003 - most have one key
        """Return a criterion whose level is the number reported under this key. Its threshold is arbitrary.

        `parameters` are those that the user chose for measuring, such as `recursive_l`. A criterion takes its own.
        """
        return cls(cls.example)  # type: ignore[call-arg]

    @classmethod
    def parameters(cls, parameters: Mapping[str, Any] = NO_PARAMETERS) -> dict[str, Any]:  # noqa: ARG003 - few have any
        """Return what else stands in the criterion's JSON object: the parameters that its numbers were measured with."""
        return {}

    def undefined(self, column: Column) -> str:  # noqa: ARG002 - most criteria are defined on every column
        """Return why the criterion has no level on a sensitive column; empty if it has one."""
        return ""

    @property
    def counts_domain(self) -> bool:
        """Whether levels depend on values that the column may have and nobody has."""
        return False

    @abstractmethod
    def levels(self, grouping: Grouping) -> Floats:
        """Return the level of each group; it may be infinite."""

    @abstractmethod
    def satisfied(self, levels: Floats) -> Bools:
        """Return which levels meet the threshold."""

    @abstractmethod
    def describe(self) -> str:
        """Return the criterion as a person writes it, with its threshold."""

    def check_possible(self, people: int, values: Sequence[int]) -> None:  # noqa: B027 - most criteria cannot tell
        """Refuse a threshold that no grouping of this many people, with this many different values, can meet."""

    def level(self, grouping: Grouping) -> Level:
        """Return the worst level over the groups, and the group that has it."""
        return worst(self.levels(grouping), self.better)

    def passes(self, grouping: Grouping) -> Bools:
        """Return which groups satisfy the criterion."""
        return self.satisfied(self.levels(grouping))


@cache
def axis_of(model: type[Criterion]) -> Axis | None:
    """Return the axis of `frontier` that varies a criterion's threshold; None if the criterion has no option."""
    option, tried = model.option, model.tried
    if option is None:
        return None
    of_publish = option.help[:1].lower() + option.help[1:] if option.help[1:2].islower() else option.help
    usual = tried.usual
    if usual is None and option.type is not str:
        usual = lambda size: (model.example,)  # noqa: ARG005, E731 - the example suits every table
    return Axis(
        option.parameter,
        Option(
            option.name,
            tried.help or f"Values to try: {of_publish}",
            str,
            metavar=tried.metavar or "V,V,…",
            panel=AXIS_PANEL,
        ),
        tried.parse or parser_of(option, model.example),
        usual=usual,
        letter=tried.letter,
        criterion=lambda value: model.from_option(value, Setting()),
    )


def worst(levels: Floats, better: str) -> Level:
    if len(levels) == 0:
        return Level(float("nan"), -1)
    index = int(np.argmin(levels) if better == "larger" else np.argmax(levels))
    return Level(float(levels[index]), index)


def at_least(levels: Floats, threshold: float) -> Bools:
    return levels >= threshold - SLACK * abs(threshold)


def at_most(levels: Floats, threshold: float) -> Bools:
    return levels <= threshold + SLACK * abs(threshold)


def is_share_below_one(value: object, *, zero: bool) -> bool:
    """Return whether a value is a share below 1. A share of 1, or one that `at_most` rounds to 1, demands nothing."""
    if not is_finite(value):
        return False
    assert isinstance(value, int | float)
    return (value >= 0 if zero else value > 0) and value * (1 + SLACK) < 1


def check_positive(name: str, owner: str, value: object) -> None:
    """Refuse a threshold that is not a finite number > 0. An infinite one demands nothing."""
    if not is_finite(value) or not value > 0:  # type: ignore[operator]
        raise ParameterError(name, owner, "a finite number > 0", value)


def reduce(ufunc: np.ufunc, values: NDArray[Any], grouping: Grouping) -> NDArray[Any]:
    """Fold a number for each (group, value) into one for each group. No group is empty."""
    return ufunc.reduceat(values, grouping.start[:-1])


def quotient(above: NDArray[Any], below: NDArray[Any] | np.int64) -> Floats:
    result: Floats = np.divide(above, below)
    return result


def shares(grouping: Grouping) -> Floats:
    """Return q(s) = n(q,s)/n(q) for each (group, value) that occurs."""
    return quotient(grouping.counts, repeated_sizes(grouping))


def table_shares(grouping: Grouping) -> Floats:
    """Return p(s), the share of each value in the whole table, suppressed rows included."""
    return quotient(grouping.table, grouping.table.sum())


def repeated_sizes(grouping: Grouping) -> Longs:
    """Return n(q) for each (group, value)."""
    return np.repeat(grouping.sizes, np.diff(grouping.start))


def cross_counts(grouping: Grouping) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return n(q,s)·N and n(q)·n(s) for each (group, value), and N: q(s) against p(s) without a division.

    These are whole numbers, and exact as long as N² fits into 64 bits: up to three billion people.
    """
    total = int(grouping.table.sum())
    kind = np.int64 if total <= 3_000_000_000 else np.float64
    observed = grouping.counts.astype(kind) * total
    return observed, repeated_sizes(grouping).astype(kind) * grouping.table[grouping.values].astype(kind), total
