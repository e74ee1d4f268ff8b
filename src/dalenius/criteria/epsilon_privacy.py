"""ε-privacy: how far being in the release changes what a realistic adversary believes about a person.

`realistic` has the adversaries and the formulas (Machanavajjhala, Gehrke and Götz 2009).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from dalenius.arrays import Bools, Floats
from dalenius.criteria.axis import Tried
from dalenius.criteria.base import SLACK, Criterion, Setting, at_most
from dalenius.criteria.predicate import Predicate, count
from dalenius.criteria.realistic import Realistic, Shape, check_known
from dalenius.errors import InputError, ParameterError, is_finite
from dalenius.options import Option
from dalenius.releases import Grouping

__all__ = ["EpsilonPrivacy", "Interval", "withstood"]


def _check_epsilon(epsilon: object) -> None:
    if not is_finite(epsilon) or not epsilon >= 1:  # type: ignore[operator]
        raise ParameterError("epsilon", "ε-privacy", "a finite number ≥ 1 (1 is perfect privacy)", epsilon)


@dataclass(frozen=True, slots=True)
class EpsilonPrivacy(Criterion):
    """No belief about a person changes by more than the factor ε because the person is in the release. Monotone for classes I–III.

    Without an ε it is 1, perfect privacy: the strictest threshold. Levels do not depend on it.
    """

    name = "epsilon_privacy"
    title = "ε-privacy"
    formula = "largest change of belief, [realistic.md](realistic.md); measured with `--adversary`"
    refuses = "infinite ε"
    tried = Tried(
        letter="ε-privacy",
        help="Adversaries with ε, such as I:table:1e6:2.5; shapes uniform and table only.",
        metavar="ADVERSARY:ε,…",
    )
    option = Option(
        "epsilon-privacy",
        "ε-privacy against a realistic adversary, such as I:table:1e6:2.5 or II:1e3:2.5.",
        str,
        "ADVERSARY:ε",
        is_repeatable=True,
    )
    better = "smaller"
    adversary: Realistic
    epsilon: float = 1.0
    predicates: tuple[Predicate, ...] = ()

    def __post_init__(self) -> None:
        _check_epsilon(self.epsilon)
        object.__setattr__(self, "predicates", tuple(self.predicates))

    @property
    def counts_domain(self) -> bool:
        return True

    @classmethod
    def from_option(cls, value: Any, setting: Setting) -> EpsilonPrivacy:
        from dalenius.criteria import parsing

        return parsing.epsilon_privacy(
            value, setting.priors, known=setting.known, at_most=setting.at_most, predicates=setting.predicates
        )

    def levels(self, grouping: Grouping) -> Floats:
        from dalenius.kernels.epsilon import group_epsilons  # compiled code, which `--help` does not need

        counted = count(grouping, self.predicates)
        worst: Floats | None = None
        for bound in self.adversary.bound(grouping, counted.members):
            levels = group_epsilons(
                counted.start,
                counted.predicates,
                counted.counts,
                grouping.sizes,
                int(self.adversary.known),
                *bound,
            )
            worst = levels if worst is None else np.maximum(worst, levels)
        assert worst is not None
        return worst

    def satisfied(self, levels: Floats) -> Bools:
        return at_most(levels, self.epsilon)

    def check_possible(self, people: int, values: Sequence[int]) -> None:
        if self.adversary.kind == "IV":
            raise InputError(
                "No release of groups is ε-private against a class IV adversary, whose prior may be anything and who "
                "learns nothing from data (Theorem 4). Name an adversary of class I, II or III."
            )
        if self.adversary.known >= people:
            raise InputError(
                f"{self.adversary.text}: the adversary knows {self.adversary.known:,} records and the table has {people:,}, so "
                "that nobody is left to protect."
            )
        if min(values) < 2:
            raise InputError(
                f"{self.describe()} cannot be met: a sensitive column has one value, and everybody has it."
            )

    def describe(self) -> str:
        b = self.adversary.known
        known = f" who knows {b:,} record{'s' if b > 1 else ''}" if b else ""
        most = " or less" if self.adversary.at_most else ""
        of = f" on {'; '.join(map(str, self.predicates))}" if self.predicates else ""
        # Only the name of a file: sidecars are published, and a path may reveal something.
        path = self.adversary.shape_text.removeprefix("data:")
        text = self.adversary.text.replace(path, PurePath(path).name, 1) if "/" in path else self.adversary.text
        return f"ε = {self.epsilon:g} against {text}{most}{known}{of}"


class Interval(NamedTuple):
    """From the smallest to the largest σ, both included; the largest may be infinite."""

    smallest: float
    largest: float


def withstood(
    grouping: Grouping,
    epsilon: float,
    *,
    shape: Shape | Realistic | None = None,
    known: int = 0,
    predicates: Sequence[Predicate] = (),
) -> Interval | None:
    """Return the range of stubbornness σ for which the grouping is ε-private; None if there is none.

    With a shape, or an adversary's shape, the adversaries are of class I; without one, of class II. The condition p_out ≥ T,
    where T = max(p_in/ε, 1 − ε(1 − p_in)), is linear in σ, so each group and predicate bounds σ on one side.
    """
    _check_epsilon(epsilon)
    check_known(known, "withstood")
    leaves = len(grouping.column.leaves)
    counted = count(grouping, predicates)
    # σ + b ≥ 1, where ε-privacy is monotone; class II has seen at least σ(s) = 1 of each value.
    low, high = (max(1.0 - known, 0.0), math.inf) if shape is not None else (float(leaves), math.inf)
    owner = np.repeat(np.arange(grouping.groups), np.diff(counted.start))
    held = counted.counts > 0
    size, n, predicate = grouping.sizes[owner][held], counted.counts[held], counted.predicates[held]
    left = size - known
    if (left <= n).any() or (grouping.sizes <= known).any():
        return None
    inside = n / left
    doubt = (left - n) / left
    least = np.maximum(inside / epsilon, 1 - epsilon * doubt)
    if shape is None:
        sizes_of_sets = np.ones(leaves) if counted.members is None else counted.members.sum(axis=1)
        with np.errstate(divide="ignore"):
            high = float(((n - 1 + sizes_of_sets[predicate]) / least - (size - 1)).min(initial=high))
    else:
        like = shape if isinstance(shape, Realistic) else Realistic("III", shape=shape)
        share = like.dirichlet(grouping)[0]
        share = (share if counted.members is None else counted.members @ share)[predicate]
        slope, offset = share - least, least * (size - 1) - (n - 1)  # slope·σ ≥ offset
        flat = np.abs(slope) <= 1e-12
        if (flat & (offset > 1e-9 * size)).any():
            return None
        up, down = (slope > 0) & ~flat, (slope < 0) & ~flat
        low = float((offset[up] / slope[up]).max(initial=low))
        high = float((offset[down] / slope[down]).min(initial=high))
    if high < low <= high + SLACK * max(abs(high), float(grouping.sizes.max())):
        high = low  # a single σ, apart from rounding
    return Interval(low, high) if low <= high else None
