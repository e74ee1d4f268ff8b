"""A criterion in one file: in every class the second most common value has at least m people.

It refuses a class of twenty in which one person differs, which distinct ℓ-diversity accepts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.criteria import Criterion, Option, Reported
from dalenius.errors import ParameterError
from dalenius.releases import Grouping


@dataclass(frozen=True, slots=True)
class SecondValue(Criterion):
    """The level of a class is the count of its second most common value, 0 if it has only one.

    If two values have m people each, they still do after any merge, so the criterion is monotone and absorbing.
    """

    name = "second_value"
    title = "second value"
    description = "The smallest number of people with the second most common value of a class."
    option = Option("second-value", "The second most common value of a class has at least this many people.", int)
    example = 1
    reported = (
        Reported(
            "m",
            "second value, m",
            "fewest people with the second most common value of a class; larger is safer",
            policy_key="min_second_value",
            is_whole=True,
        ),
    )
    better = "larger"
    absorbing = True
    m: int

    def __post_init__(self) -> None:
        if isinstance(self.m, bool) or not isinstance(self.m, int) or self.m < 1:
            raise ParameterError("m", "second value", "an int ≥ 1", self.m)

    def levels(self, grouping: Grouping) -> NDArray[np.float64]:
        widths = np.diff(grouping.start)  # how many values each class has
        group = np.repeat(np.arange(len(widths)), widths)
        order = np.lexsort((-grouping.counts, group))  # class by class, the largest count first
        several = widths > 1
        found = np.zeros(len(widths))
        found[several] = grouping.counts[order][grouping.start[:-1][several] + 1]
        return found

    def satisfied(self, levels: NDArray[np.float64]) -> NDArray[np.bool_]:
        return levels >= self.m

    def describe(self) -> str:
        return f"second value ≥ {self.m}"
