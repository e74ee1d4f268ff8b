"""How far the share of a value in a group differs from its share in the table: δ-disclosure, β-likeness, (α,k)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Bools, Floats
from dalenius.criteria.axis import Tried
from dalenius.criteria.base import (
    SLACK,
    Criterion,
    Reported,
    at_most,
    check_positive,
    cross_counts,
    is_share_below_one,
    quotient,
    reduce,
    table_shares,
)
from dalenius.errors import ParameterError
from dalenius.options import Option
from dalenius.releases import Grouping

__all__ = ["MAX_PEOPLE", "AlphaAnonymity", "BasicBetaLikeness", "DeltaDisclosure", "EnhancedBetaLikeness"]

MAX_PEOPLE = 2**53  # the largest table


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(Criterion):
    """|ln(q(s)/p(s))| < δ for every value of the table (Brickell and Shmatikov 2008), in nats.

    If a group lacks a value of the table, ln 0 makes the level infinite. The inequality is strict.
    """

    name = "delta_disclosure"
    title = "δ-disclosure privacy"
    description = "How much a class changes the logarithm of a value's share at most."
    formula = "max over the table's values of abs(ln(q(s)/p(s))), in nats"
    refuses = "infinite δ"
    option = Option("delta", "δ-disclosure privacy (nats).")
    tried = Tried(letter="δ", help="Values of δ-disclosure privacy, in nats.", metavar="D,D,…")
    reported = (
        Reported(
            "delta",
            "δ-disclosure, δ",
            "largest change of a value's log share; smaller is safer",
            check_title="δ-disclosure, δ in nats",
        ),
    )
    better = "smaller"
    delta: float

    def __post_init__(self) -> None:
        check_positive("delta", "δ-disclosure privacy", self.delta)

    def levels(self, grouping: Grouping) -> Floats:
        observed, expected, _ = cross_counts(grouping)
        ratio = np.abs(np.log(observed / expected))
        levels = reduce(np.maximum, ratio, grouping).astype(np.float64)
        vanished = np.diff(grouping.start) < np.count_nonzero(grouping.table)
        return np.where(vanished, math.inf, levels)

    def satisfied(self, levels: Floats) -> Bools:
        return levels < self.delta

    def describe(self) -> str:
        return f"δ = {self.delta:g}"


def _gains(grouping: Grouping) -> tuple[Floats, Floats]:
    """Return (q − p)/p and p for each (group, value) that occurs; values a group lacks gain nothing."""
    observed, expected, _ = cross_counts(grouping)
    return (observed - expected) / expected, table_shares(grouping)[grouping.values]


@dataclass(frozen=True, slots=True)
class BasicBetaLikeness(Criterion):
    """(q(s) − p(s))/p(s) ≤ β for every value (Cao and Karras 2012)."""

    name = "basic_beta_likeness"
    title = "basic β-likeness"
    description = "How much a value gains in a class, relative to the table, at most."
    formula = "max (q(s) − p(s))/p(s)"
    refuses = "infinite β, or 2⁵³ and more: no value gains more than N − 1"
    option = Option("beta", "Basic β-likeness.")
    tried = Tried(letter="β", help="Values of basic β-likeness.", metavar="B,B,…")
    reported = (Reported("beta", "basic β-likeness, β", "largest relative gain of a value; smaller is safer"),)
    better = "smaller"
    beta: float

    def __post_init__(self) -> None:
        check_positive("beta", "basic β-likeness", self.beta)
        if self.beta >= MAX_PEOPLE:  # q ≤ 1 and p ≥ 1/N: no value can gain more than N − 1
            raise ParameterError(
                "beta", "basic β-likeness", "below 2^53, the largest table (more demands nothing)", self.beta
            )

    def levels(self, grouping: Grouping) -> Floats:
        gain, _ = _gains(grouping)
        return np.maximum(reduce(np.maximum, gain, grouping).astype(np.float64), 0.0)

    def satisfied(self, levels: Floats) -> Bools:
        return at_most(levels, self.beta)

    def describe(self) -> str:
        return f"basic β = {self.beta:g}"


@dataclass(frozen=True, slots=True)
class EnhancedBetaLikeness(Criterion):
    """(q(s) − p(s))/p(s) ≤ min(β, −ln p(s)) for every value (Cao and Karras 2012).

    The level is the smallest β that holds. It is infinite if a value gains more than −ln p(s): then no β holds.
    """

    name = "enhanced_beta_likeness"
    title = "enhanced β-likeness"
    description = "The same, stricter for common values."
    formula = "the same, but infinite if it is above −ln p(s)"
    refuses = "infinite β"
    option = Option("enhanced-beta", "Enhanced β-likeness.")
    tried = Tried(letter="enhanced β", help="Values of enhanced β-likeness.", metavar="B,B,…")
    reported = (Reported("beta", "enhanced β-likeness, β", "the same, stricter for common values"),)
    better = "smaller"
    beta: float

    def __post_init__(self) -> None:
        check_positive("beta", "enhanced β-likeness", self.beta)

    def levels(self, grouping: Grouping) -> Floats:
        gain, p = _gains(grouping)
        beyond = gain > -np.log(p) * (1 + SLACK)
        levels = reduce(np.maximum, np.where(beyond, math.inf, gain), grouping).astype(np.float64)
        return np.maximum(levels, 0.0)

    def satisfied(self, levels: Floats) -> Bools:
        return at_most(levels, self.beta)

    def describe(self) -> str:
        return f"enhanced β = {self.beta:g}"


@dataclass(frozen=True, slots=True)
class AlphaAnonymity(Criterion):
    """No value has more than a share α of any group: the α of (α,k)-anonymity (Wong et al. 2006); add k beside it."""

    name = "alpha_k_anonymity"
    title = "(α,k)-anonymity"
    description = "How common one value is in a class at most."
    formula = "max q(s)"
    refuses = "α of 1 or more"
    option = Option("alpha", "Largest share of a value in a class.")
    tried = Tried(letter="α", help="Values of α, the largest share of a value in a class.", metavar="A,A,…")
    example = 0.5
    reported = (Reported("alpha", "(α,k)-anonymity, α", "largest share of one value in a class; smaller is safer"),)
    better = "smaller"
    alpha: float

    def __post_init__(self) -> None:
        if not is_share_below_one(self.alpha, zero=False):
            raise ParameterError("alpha", "(α,k)-anonymity", "a number > 0 and below 1 (1 demands nothing)", self.alpha)

    def levels(self, grouping: Grouping) -> Floats:
        return quotient(reduce(np.maximum, grouping.counts, grouping), grouping.sizes)

    def satisfied(self, levels: Floats) -> Bools:
        return at_most(levels, self.alpha)

    def describe(self) -> str:
        return f"α = {self.alpha:g}"
