"""Realistic adversaries of ε-privacy (Machanavajjhala, Gehrke and Götz 2009).

ε-privacy compares what an adversary believes about a person in the release with what it would believe without that
person. Its prior on the values inside a group is a Dirichlet distribution: a shape (its best guess of the shares) times a
stubbornness σ (how many people it has seen). For a person of group q and a predicate φ, a set of values,

    p_in  = n(q,φ) / (n(q) − b),  1 if n(q) − b ≤ n(q,φ);    b records are known to the adversary (Eq. 8)
    p_out = (n(q,φ) + σ(φ) − 1) / (n(q) + σ − 1)             (Eq. 9; −1 once for a predicate, not once for a value)
    ε     = max(p_in/p_out, (1 − p_out)/(1 − p_in))          (Definition 4)

and ε of a grouping is the largest over groups and predicates that somebody satisfies. Class I: shape and σ are given.
Class II: only σ; the worst prior has seen nobody who satisfies φ, σ(φ) = |φ|. Class III: only the shape, σ → ∞. Class IV:
neither; no release is private. Theorems 1–3 give sufficient conditions for the same inequality; this is the exact form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from dalenius.arrays import Bools, Floats
from dalenius.criteria.base import table_shares
from dalenius.errors import InputError, ParameterError
from dalenius.releases import Grouping
from dalenius.releases.prior import ROUNDING
from dalenius.schema import Column

__all__ = [
    "KINDS",
    "MAX_COUNT",
    "Bound",
    "Kind",
    "Realistic",
    "Shape",
    "beliefs",
    "check_known",
]

Kind = Literal["I", "II", "III", "IV"]
KINDS: tuple[Kind, ...] = ("I", "II", "III", "IV")
# "uniform", "table", a probability (or a count) for each value, or such a mapping for each sensitive column.
Shape = str | Mapping[str, float] | Mapping[str, Mapping[str, float]]
MAX_COUNT = 1e15  # of stubbornness and of known records: whole numbers up to here are exact


class Bound(NamedTuple):
    """One prior, ready for a column: p_out = (weight·(n − 1) + parameters[φ]) / (weight·(N − 1) + total)."""

    weight: float
    parameters: Floats
    total: float


@dataclass(frozen=True, slots=True, eq=False)
class Realistic:
    """An adversary with a Dirichlet prior in every group.

    `shape` is "uniform", "table" (the release's own shares) or a probability for each value; `sigma` its stubbornness;
    `known` the number b of records that it knows exactly, whichever they are. `at_most`: any stubbornness up to sigma
    that a data set could give (counts + 1, so σ(s) ≥ 1). With `counts` the shape is one of counts that somebody saw:
    counts + 1 are the Dirichlet parameters. `text` is how a person wrote it, `shape_text` the part that names the shape.

    >>> Realistic("I", shape="uniform", sigma=1e6).text
    'I:uniform:1000000.0'
    """

    kind: Kind
    shape: Shape | None = None
    sigma: float | None = None
    known: int = 0
    at_most: bool = False
    counts: bool = False
    text: str = ""
    shape_text: str = ""

    def __post_init__(self) -> None:
        owner = "a realistic adversary"
        if self.kind not in KINDS:
            raise ParameterError("kind", owner, "I, II, III or IV", self.kind)
        check_known(self.known, owner)
        self._check_sigma(owner)
        self._check_shape(owner)
        if self.at_most and self.kind not in ("I", "II"):
            raise ParameterError("at_most", owner, "false for classes III and IV, which have no stubbornness", True)
        if not self.shape_text and self.shape is not None:
            object.__setattr__(self, "shape_text", self.shape if isinstance(self.shape, str) else "given")
        if not self.text:
            object.__setattr__(self, "text", self._written())

    def _check_sigma(self, owner: str) -> None:
        has_sigma = self.sigma is not None
        if self.counts and self.kind in ("I", "II"):
            if has_sigma:
                raise ParameterError("sigma", owner, "left out where counts give it", self.sigma)
            return
        if has_sigma != (self.kind in ("I", "II")):
            wanted = "a number for classes I and II, and none for III and IV"
            raise ParameterError("sigma", owner, wanted, self.sigma)
        if not has_sigma:
            return
        sigma = self.sigma
        if sigma is None or not _is_number(sigma) or not 0 < sigma <= MAX_COUNT:
            raise ParameterError("sigma", owner, f"a number > 0 and at most {MAX_COUNT:g}", sigma)
        if sigma + self.known < 1:
            raise ParameterError(
                "sigma",
                owner,
                "at least 1, together with the known records (below that, merging groups may harm)",
                sigma,
            )

    def _check_shape(self, owner: str) -> None:
        needs = self.kind in ("I", "III") or (self.counts and self.kind == "II")
        if needs != (self.shape is not None):
            wanted = 'for classes I and III "uniform", "table" or a probability for each value, and none for II and IV'
            raise ParameterError("shape", owner, wanted, self.shape if isinstance(self.shape, str) else "another")
        if self.shape is None or self.shape in ("uniform", "table"):
            if self.counts:
                raise ParameterError("counts", owner, "a count for each value", self.shape)
            return
        if not isinstance(self.shape, Mapping) or not self.shape:
            raise ParameterError("shape", owner, '"uniform", "table" or a probability for each value', self.shape)
        columns: list[Any] = list(self.shape.values()) if _by_column(self.shape) else [self.shape]
        for shares in columns:
            if not isinstance(shares, Mapping) or not all(_is_number(share) for share in shares.values()):
                raise InputError(f"The prior of {owner} is a number for each value, or that for each column.")
            numbers = np.array(list(shares.values()), dtype=np.float64)
            if not np.isfinite(numbers).all() or (numbers < 0).any():
                raise InputError(f"The prior of {owner} has a number below 0, or none at all.")
            if not self.counts and abs(numbers.sum() - 1) > ROUNDING * len(numbers):
                raise InputError(f"The probabilities of a prior sum to 1; these sum to {numbers.sum():.9g}.")

    def _written(self) -> str:
        parts: list[str] = [self.kind]
        if self.shape is not None:
            parts.append(self.shape_text)
        if self.sigma is not None:
            parts.append(repr(self.sigma))
        if self.known:
            parts.append(f"known={self.known}")
        if self.at_most:
            parts.append("at-most")
        return ":".join(parts)

    @classmethod
    def from_counts(cls, counts: Mapping[str, float], *, kind: Kind = "I", known: int = 0, text: str = "") -> Realistic:
        """Return the adversary who has seen a data set with these counts: counts + 1 are the Dirichlet parameters.

        >>> Realistic.from_counts({"Flu": 11999, "Cancer": 17999}).kind
        'I'
        """
        return cls(kind, shape=dict(counts), counts=True, known=known, text=text)

    # The prior on a column --------------------------------------------------------------------------------------------

    def dirichlet(self, grouping: Grouping) -> tuple[Floats, float]:
        """Return the shape on a column's leaves, and σ (infinite for classes III and IV); class II has no shape: nan."""
        column = grouping.column
        leaves = len(column.leaves)
        sigma = math.inf if self.sigma is None else float(self.sigma)
        if self.kind == "IV" or (self.kind == "II" and not self.counts):
            shares = np.full(leaves, math.nan)
        elif self.shape == "uniform":
            shares = np.full(leaves, 1.0 / leaves)
        elif self.shape == "table":
            shares = table_shares(grouping)
        else:
            shares = self._given(column)
            if self.counts:
                shares = shares + 1
                sigma = float(shares.sum()) if self.kind in ("I", "II") else math.inf
            shares = shares / shares.sum()
            if self.kind == "II":
                shares = np.full(leaves, math.nan)
        if self.kind == "II" and sigma < leaves:
            raise InputError(
                f"{self.text}: a class II adversary has seen at least one of each value or none, σ ≥ {leaves} for the "
                f"{leaves} values of column {column.name!r}; σ is {sigma:g}."
            )
        return shares, sigma

    def _given(self, column: Column) -> Floats:
        """Return the numbers of the shape in the order of the column's leaves."""
        assert isinstance(self.shape, Mapping)
        assert column.domain is not None
        shares: Mapping[str, Any] = self.shape
        if _by_column(self.shape):
            if column.name not in self.shape:
                raise InputError(f"{self.text}: the prior says nothing of column {column.name!r}.")
            shares = self.shape[column.name]  # type: ignore[assignment]
        missing = [leaf for leaf in column.leaves if leaf not in shares]
        unknown = [value for value in shares if column.domain.code(value) < 0]
        if unknown or (missing and not self.counts):
            raise InputError(
                f"{self.text}: the prior of column {column.name!r} needs one number for each of its {len(column.leaves)} "
                f"values; {len(missing)} are missing and {len(unknown)} are unknown. Values that do not occur in the table "
                f"must be declared: domain = […]."
            )
        return np.array([float(shares.get(leaf, 0)) for leaf in column.leaves])

    def bound(self, grouping: Grouping, members: Bools | None) -> list[Bound]:
        """Return the priors to be tried on a grouping: one, or the two ends of those of at most a stubbornness."""
        shares, sigma = self.dirichlet(grouping)
        if self.kind == "IV":
            return [Bound(0.0, np.zeros(len(shares) if members is None else len(members)), 1.0)]
        if self.kind == "II":
            size = np.ones(len(shares)) if members is None else members.sum(axis=1).astype(np.float64)
            return [Bound(1.0, size, sigma)]
        if members is not None:
            shares = members @ shares
        if self.kind == "III":
            return [Bound(0.0, shares, 1.0)]
        ends = [sigma]
        if self.at_most:
            shape = self.dirichlet(grouping)[0]
            least = shape[shape > 0].min()  # a value held for impossible stays so, whatever σ is
            if least * sigma < 1 - 1e-9:
                raise InputError(
                    f"{self.text}: nobody who has seen at most σ = {sigma:g} people has this shape, in which the rarest "
                    f"value has the share {least:g} (counts + 1 are at least 1)."
                )
            ends.append(max(1.0 / least, 1.0))
        return [Bound(1.0, shares * end, end) for end in ends]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_known(known: object, owner: str) -> None:
    """Refuse a number of known records that is not a whole number in range."""
    if not isinstance(known, int | np.integer) or isinstance(known, bool) or not 0 <= known <= MAX_COUNT:
        raise ParameterError("known", owner, f"a whole number of records from 0 to {MAX_COUNT:g}", known)


def _by_column(shape: object) -> bool:
    return isinstance(shape, Mapping) and any(isinstance(value, Mapping) for value in shape.values())


def beliefs(grouping: Grouping, adversary: Realistic) -> tuple[Floats, Floats]:
    """Return p_in and p_out of every group and single value, also of values that nobody in the group has.

    Entry (q, s) of p_out is for a person who has s and is left out: a row does not sum to 1. With `at_most` the end that
    is worse for the person is taken. A class IV adversary may believe that anything is impossible: its p_out is 0.
    """
    sizes = grouping.sizes
    leaves = len(grouping.column.leaves)
    dense = np.zeros((grouping.groups, leaves), dtype=np.int64)
    dense[np.repeat(np.arange(grouping.groups), np.diff(grouping.start)), grouping.values] = grouping.counts
    left = (sizes - adversary.known)[:, None]
    inside = np.where(dense >= left, 1.0, dense / np.maximum(left, 1))
    outside = np.full(dense.shape, math.inf)
    for weight, parameters, total in adversary.bound(grouping, None):
        of_prior = (weight * np.maximum(dense - 1, 0) + parameters) / (weight * (sizes[:, None] - 1) + total)
        outside = np.minimum(outside, of_prior)
    return inside, outside
