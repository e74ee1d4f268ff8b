"""t-closeness: how far a group's values are from the table's, as an earth mover's distance (Li et al. 2007).

The ground distance between two values is 1 (equal), their distance in order divided by the largest (ordered), or the
height of their lowest common ancestor divided by the hierarchy's (hierarchical). All three have closed forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from dalenius.arrays import Bools, Floats
from dalenius.criteria.axis import Tried
from dalenius.criteria.base import (
    NO_PARAMETERS,
    Criterion,
    Reported,
    Setting,
    at_most,
    cross_counts,
    is_share_below_one,
    quotient,
    reduce,
    shares,
    table_shares,
)
from dalenius.errors import InputError, ParameterError
from dalenius.options import Option
from dalenius.releases import Grouping
from dalenius.schema import Column

__all__ = ["BLOCK_ENTRIES", "GROUNDS", "Ground", "TCloseness"]

Ground = Literal["equal", "ordered", "hierarchical"]
GROUNDS: tuple[Ground, ...] = ("equal", "ordered", "hierarchical")
BLOCK_ENTRIES = 4_000_000  # entries of a dense (group × value) block


@dataclass(frozen=True, slots=True)
class TCloseness(Criterion):
    """Every group's distribution is within t of that of all N rows. The distance is convex, so merging keeps it."""

    name = "t_closeness"
    title = "t-closeness"
    description = "How far a class is from the whole table at most, by three ground distances."
    formula = "earth mover's distance of q from p"
    refuses = "t of 1 or more: the distances are at most 1"
    tried = Tried(letter="t", help="Values of t, such as 0.2 or 0.2:ordered.", metavar="T,T,…")
    option = Option(
        "t", "t-closeness; ground distance equal, ordered or hierarchical.", str, "T[:GROUND]", is_repeatable=True
    )
    reported = (
        Reported(
            "equal",
            "t-closeness, equal",
            "distance of a class from the table; smaller is safer",
            check_title="t-closeness, equal distance",
            policy_key="max_t",
            headline="t",
        ),
        Reported("ordered", "t-closeness, ordered", "the same, values in their order; smaller is safer"),
        Reported("hierarchical", "t-closeness, hierarchical", "the same, along the hierarchy; smaller is safer"),
    )
    better = "smaller"
    t: float
    ground: Ground = "equal"

    def __post_init__(self) -> None:
        if not is_share_below_one(self.t, zero=True):
            raise ParameterError("t", "t-closeness", "a number ≥ 0 and below 1 (1 demands nothing)", self.t)
        if self.ground not in GROUNDS:
            raise ParameterError("ground", "t-closeness", f"one of {', '.join(GROUNDS)}", self.ground)

    @classmethod
    def from_option(cls, value: Any, setting: Setting) -> Self:  # noqa: ARG003
        """Parse t and, after a colon, the ground distance: `0.2` or `0.2:ordered`."""
        number, _, ground = value.partition(":")
        kind = next((known for known in GROUNDS if known == (ground or "equal")), None)
        try:
            threshold = float(number)
        except ValueError:
            kind = None
        if kind is None:
            raise ParameterError(
                "--t", "publish", "t or t:equal, t:ordered, t:hierarchical, such as 0.2:ordered", value
            )
        return cls(threshold, kind)

    @classmethod
    def measuring(cls, key: str, parameters: Mapping[str, Any] = NO_PARAMETERS) -> Self:  # noqa: ARG003
        return cls(0.5, next(ground for ground in GROUNDS if ground == key))

    @property
    def counts_domain(self) -> bool:
        return self.ground != "equal"

    def levels(self, grouping: Grouping) -> Floats:
        if self.ground == "equal":
            return _equal(grouping)
        return _ordered(grouping) if self.ground == "ordered" else _hierarchical(grouping)

    def satisfied(self, levels: Floats) -> Bools:
        return at_most(levels, self.t) | (levels <= 1e-12)

    def describe(self) -> str:
        return f"t = {self.t:g} ({self.ground})"

    def undefined(self, column: Column) -> str:
        if self.ground == "hierarchical" and column.hierarchy is None:
            return "it needs a hierarchy of the sensitive column"
        if self.ground == "ordered" and len(column.leaves) > 1 and column.order() is None:
            return "the values have no order; declare one with domain = […]"
        return ""


def _equal(grouping: Grouping) -> Floats:
    """Return ½ Σ|q − p| = Σ max(q − p, 0). Only values that occur in the group contribute."""
    observed, expected, total = cross_counts(grouping)
    excess = reduce(np.add, np.maximum(observed - expected, 0), grouping)
    return quotient(excess, grouping.sizes * float(total))


def _ordered(grouping: Grouping) -> Floats:
    """Return Σ_i |Σ_{j≤i} (q_j − p_j)| / (m − 1), the m values in the order of the column."""
    m = len(grouping.table)
    if m < 2:
        return np.zeros(grouping.groups)
    order = grouping.column.order()
    if order is None:
        raise InputError(
            f"The values of {grouping.column.name!r} have no order, which ordered t-closeness needs: declare one with "
            'domain = […], or use "equal".'
        )
    levels = np.empty(grouping.groups)
    is_sorted = bool((order[1:] > order[:-1]).all())
    for groups, block in _blocks(grouping):
        dense = block if is_sorted else block[:, order]
        np.cumsum(dense, axis=1, out=dense)
        levels[groups] = np.abs(dense, out=dense).sum(axis=1) / (m - 1)
    return levels


def _hierarchical(grouping: Grouping) -> Floats:
    """Return Σ over inner nodes of height/H · min(excess, deficit) of their children."""
    tree = grouping.column.hierarchy
    if tree is None:
        raise InputError(
            f"Column {grouping.column.name!r} has no hierarchy, which hierarchical t-closeness needs. "
            'Declare one, or use "equal" or "ordered".'
        )
    maps = [*tree.maps]
    if len(tree.labels[-1]) > 1:  # several roots are at the largest distance: one more level joins them
        maps.append(np.zeros(len(tree.leaves), dtype=np.int32))
    height = len(maps) - 1
    levels = np.zeros(grouping.groups)
    for groups, dense in _blocks(grouping):
        extra = dense
        for h in range(1, height + 1):
            # The parent of each node follows from any leaf below it.
            nodes = maps[h - 1].max() + 1
            parent = np.empty(nodes, dtype=np.int64)
            parent[maps[h - 1]] = maps[h]
            up = np.zeros((nodes, int(maps[h].max()) + 1))
            up[np.arange(nodes), parent] = 1.0
            much, little = np.maximum(extra, 0.0) @ up, np.maximum(-extra, 0.0) @ up
            levels[groups] += h / height * np.minimum(much, little).sum(axis=1)
            extra = much - little
    return levels


def _blocks(grouping: Grouping) -> list[tuple[slice, Floats]]:
    """Return q − p for every value, in blocks of groups so that memory stays bounded."""
    share, table = shares(grouping), table_shares(grouping)
    step = max(1, BLOCK_ENTRIES // len(table))
    blocks = []
    for low in range(0, grouping.groups, step):
        high = min(low + step, grouping.groups)
        cells = slice(int(grouping.start[low]), int(grouping.start[high]))
        dense = np.tile(-table, (high - low, 1))
        rows = np.repeat(np.arange(high - low), np.diff(grouping.start[low : high + 1]))
        dense[rows, grouping.values[cells]] += share[cells]
        blocks.append((slice(low, high), dense))
    return blocks
