"""The suppressed rows of a release as a class of their own, and criteria evaluated on an existing release.

Anyone who fits no class is among the suppressed rows. Together these reveal values as a class does, and a single one reveals all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dalenius.criteria import Criterion, Level, document, is_worse, measure, worst_of
from dalenius.criteria.base import NO_PARAMETERS
from dalenius.releases import GroupedRelease

__all__ = ["CriterionOutcome", "SuppressedRows", "evaluate_criteria", "of_suppressed", "suppressed_rows", "worse"]


@dataclass(frozen=True, slots=True)
class SuppressedRows:
    """How many suppressed rows there are, and the level of every model by sensitive column."""

    rows: int
    levels: dict[str, dict[tuple[str, str], Level]]

    @property
    def worst(self) -> dict[tuple[str, str], Level]:
        """Return the worst level of each model over all sensitive columns."""
        return worst_of(list(self.levels.values()))

    def to_document(self, parameters: Mapping[str, Any] = NO_PARAMETERS) -> dict[str, Any]:
        return {"rows": self.rows, **document(self.worst, parameters)}

    def line(self) -> str:
        """Return the levels that most policies ask for, in words: `as a class: k 9, ℓ 3, …`."""
        levels = self.worst
        k, l = levels["k_anonymity", "k"].value, levels["distinct_l_diversity", "l"].value  # noqa: E741 - the literature's letter
        # If all have the same value, t reveals how common it is, and may reveal which.
        t = f", t {levels['t_closeness', 'equal'].value:.4g}" if l > 1 else ""
        return f"as a class: k {k:g}, ℓ {l:g}, entropy ℓ {levels['entropy_l_diversity', 'l'].value:.4g}{t}"


def suppressed_rows(
    release: GroupedRelease, *, others_as_quasi: bool = False, parameters: Mapping[str, Any] = NO_PARAMETERS
) -> SuppressedRows | None:
    """Return the suppressed rows of a release, measured as a class; None if there are none."""
    levels = {}
    for column in release.schema.sensitive:
        grouping = release.suppressed_grouping(column.name, others_as_quasi=others_as_quasi)
        if grouping is None:
            return None
        levels[column.name] = measure(grouping, parameters)
    return SuppressedRows(release.suppressed, levels)


def of_suppressed(release: GroupedRelease) -> str:
    """Return the words that say that a level was measured on the suppressed rows."""
    return f"in the suppressed rows ({release.suppressed:,}), which form a class for anyone who fits no other"


def worse(level: float, other: float, model: str, key: str) -> bool:
    """Return whether another level of a model is worse than this one."""
    return is_worse((model, key), level, other)


@dataclass(frozen=True, slots=True)
class CriterionOutcome:
    """A criterion on one sensitive column: the level of classes and of suppressed rows, and whether they satisfy it."""

    criterion: str
    sensitive: str
    level: float
    failing: int  # classes
    suppressed_level: float | None  # None: nothing is suppressed
    suppressed_hold: bool

    @property
    def holds(self) -> bool:
        return not self.failing and self.suppressed_hold

    def to_document(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def evaluate_criteria(
    release: GroupedRelease, criteria: Sequence[Criterion], *, others_as_quasi: bool = False
) -> tuple[CriterionOutcome, ...]:
    """Evaluate each criterion on each sensitive column.

    A criterion about sizes alone is evaluated on the first column only, unless other columns split the classes.
    """
    outcomes = []
    for criterion in criteria:
        columns = release.schema.sensitive
        for column in columns if criterion.needs_values or others_as_quasi else columns[:1]:
            classes = release.grouping(column.name, others_as_quasi=others_as_quasi)
            together = release.suppressed_grouping(column.name, others_as_quasi=others_as_quasi)
            outcomes.append(
                CriterionOutcome(
                    criterion.describe(),
                    column.name,
                    criterion.level(classes).value,
                    int((~criterion.passes(classes)).sum()),
                    None if together is None else criterion.level(together).value,
                    together is None or bool(criterion.passes(together).all()),
                )
            )
    return tuple(outcomes)
