"""What a search of a lattice thinks of one node: which classes satisfy the criteria, what becomes of the others, the cost.

Classes that fail are suppressed while that takes at most the allowed share of rows; see `suppressed` for the suppressed rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.adversaries import UNKNOWN
from dalenius.arrays import Bools, Floats, Longs, Words
from dalenius.criteria import Criterion
from dalenius.errors import ParameterError
from dalenius.measures.utility import average_class_size, discernibility, marginal_utility
from dalenius.publishers.classes import Classes
from dalenius.publishers.given import Given
from dalenius.publishers.nodes import GeneralizationLattice, Node
from dalenius.publishers.suppressed import SuppressedRows, check_suppressed_rows, held, left_out

__all__ = ["Judge", "Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A node looked at: is it feasible, what does it cost, how many rows does it suppress."""

    node: Node
    feasible: bool
    cost: float
    suppressed: int
    classes: int


class Judge:
    """A lattice, criteria, a suppression limit, what becomes of suppressed rows, and a utility.

    `prunes`: the failing classes of a node are as many rows or more at every finer one. `monotone`: feasibility itself is.
    """

    def __init__(
        self,
        lattice: GeneralizationLattice,
        criteria: Sequence[Criterion],
        *,
        suppression: float = 0.0,
        utility: str = "loss",
        others_as_quasi: bool = False,
        given: Given | None = None,
        suppressed_rows: SuppressedRows = "hold",
    ) -> None:
        check_suppressed_rows(suppressed_rows)
        if not 0 <= suppression <= 1:
            raise ParameterError("suppression", "the lattice", "a number from 0 to 1", suppression)
        self.lattice = lattice
        self.criteria = tuple(criteria)
        # At most limit·N rows; the slack keeps 0.02 × 50 from being 1 − 1e-16.
        self.limit = int(suppression * lattice.people * (1 + 1e-12))
        self.utility = utility
        self.marginal = None
        if utility not in ("discernibility", "average_class_size"):
            m = len(lattice.quasi)
            self.marginal = marginal_utility(utility, lattice.trees, lattice.marginals[:m])
            self._means = [
                np.array([float(cost @ people) / lattice.people for cost in costs.table])
                for costs, people in zip(self.marginal.costs, lattice.marginals, strict=False)
            ]
        self.others_as_quasi = others_as_quasi and len(lattice.schema.sensitive) > 1
        # Known other columns split classes: merging a class that satisfies with one that brings a new part may fail.
        keeps = [(c.absorbing and not self.others_as_quasi) if self.limit else c.monotone for c in self.criteria]
        self.prunable = tuple(c for c, keep in zip(self.criteria, keeps, strict=True) if keep)
        self.given = given
        self.suppressed_rows = suppressed_rows
        # What must be left together with earlier releases is kept by merging, but not by merging with what was suppressed.
        self.prunes = all(keeps) and (given is None or not self.limit)
        # Six suppressed rows of a fine node may be enough for k = 5, and three of a coarser one are not.
        self.monotone = self.prunes and (suppressed_rows != "hold" or not self.limit)
        self.checked = 0
        self._last_unsuppressed = 0.0

    # Costs -----------------------------------------------------------------------------------------------------------

    def bounds(self, levels: NDArray[np.int16]) -> Floats:
        """Return the cost of nodes (a row of levels each) without suppression, where it is known without their classes."""
        if self.marginal is None:
            return np.zeros(len(levels))
        means = np.column_stack([self._means[a][levels[:, a]] for a in range(levels.shape[1])])
        return self.marginal.combine(means)

    def unsuppressed_cost(self, node: Node, classes: Classes) -> float:
        """Return the cost of a node if nothing were suppressed."""
        if self.utility == "discernibility":
            return discernibility(classes.sizes, 0, self.lattice.people)
        if self.utility == "average_class_size":
            return average_class_size(len(classes), 0, self.lattice.people)
        return float(self.bounds(np.array([node], dtype=np.int16))[0])

    def cost(self, node: Node, classes: Classes, passing: Bools) -> float:
        """Return the cost of a node when the classes that fail are suppressed."""
        if passing.all():
            return self.unsuppressed_cost(node, classes)
        lattice = self.lattice
        failing = np.flatnonzero(~passing)
        lost = classes.sizes[failing]
        if self.utility == "discernibility":
            return discernibility(classes.sizes[passing], int(lost.sum()), lattice.people)
        if self.utility == "average_class_size":
            return average_class_size(int(passing.sum()), int(lost.sum()), lattice.people)
        assert self.marginal is not None
        means = np.empty(len(node))
        for a, level in enumerate(node):
            # What suppressing adds depends on the label alone, so the leaf of a class's representative tells it.
            cost = self.marginal.costs[a]
            more = (cost.suppressed - cost.table[level])[classes.leaves[classes.rep[failing], a]]
            means[a] = self._means[a][level] + float(more @ lost) / lattice.people
        return float(self.marginal.combine(means[None, :])[0])

    def passing(self, classes: Classes, criteria: Sequence[Criterion] | None = None) -> Bools:
        """Return which classes satisfy the search's criteria, or some of them."""
        wanted = self.criteria if criteria is None else criteria
        return self.lattice.passing(classes, wanted, others_as_quasi=self.others_as_quasi)

    def satisfying(self, node: Node, classes: Classes) -> tuple[Bools, bool]:
        """Return which classes of a node satisfy everything, earlier releases included, and whether the rest may be hidden."""
        passing = self.passing(classes)
        if self.given is None:
            return self._suppressing(node, classes, passing)
        into = self.lattice.membership(node, self.given.quasi).astype(np.int64)
        owner = np.repeat(np.arange(len(classes)), np.diff(classes.start))
        bits = self.given.bits(owner, self.lattice.tuples[classes.values, 0], len(classes))
        passing &= self.given.keeps(np.arange(len(into)), into, bits)
        passing, hidden = self._suppressing(node, classes, passing)
        if self.suppressed_rows != "hide":  # hidden rows reveal nothing
            hidden = hidden and self.given.keeps_hidden(into, bits, ~passing)
        return passing, hidden and self._keeps_misplaced(node, classes, passing, into, bits)

    def _keeps_misplaced(self, node: Node, classes: Classes, passing: Bools, into: Longs, bits: Words) -> bool:
        """Return whether people with a missing value keep enough values if their class is suppressed and they fit others.

        An attacker does not know what is missing, and looks for them there.
        """
        assert self.given is not None
        lost = np.flatnonzero(self.given.incomplete & ~passing[into])
        shown = np.flatnonzero(passing)
        if not len(lost) or not len(shown):
            return True
        maps = [tree.maps[level] for tree, level in zip(self.lattice.trees, node, strict=True)]
        labels = np.column_stack([map_[classes.leaves[classes.rep[shown], a]] for a, map_ in enumerate(maps)])
        for i in lost.tolist():
            fits = np.ones(len(shown), dtype=bool)
            for a, leaf in enumerate(self.given.targets.codes[i].tolist()):
                if leaf != UNKNOWN:
                    fits &= labels[:, a] == maps[a][leaf]
            if fits.any():
                there = np.bitwise_or.reduce(bits[shown[fits]], axis=0)[None, :]
                if not self.given.keeps(np.array([i]), np.zeros(1, dtype=np.int64), there)[0]:
                    return False
        return True

    def _suppressing(self, node: Node, classes: Classes, passing: Bools) -> tuple[Bools, bool]:
        """Return which classes are published if those that fail are not, and whether the others may be suppressed."""
        if self.suppressed_rows == "hold":
            return held(self.lattice, node, classes, passing, self.passing, self.limit)
        if self.suppressed_rows == "hide":
            others = self.others_as_quasi
            passing = left_out(self.lattice, classes, passing, self.criteria, self.limit, others_as_quasi=others)
        return passing, True

    def judge(self, node: Node) -> tuple[Verdict, bool]:
        """Return the verdict on a node, and whether its failure is one that every finer node shares; TooMany may be raised."""
        classes = self.lattice.classes(node)
        self.checked += 1
        passing, hidden = self.satisfying(node, classes)
        suppressed = int(classes.sizes[~passing].sum())
        # Suppressing everybody leaves no release: read back, it would be one class again.
        feasible = suppressed <= self.limit and bool(passing.any()) and hidden
        shared = not feasible and (self.monotone or hidden)  # not if what fails is within the limit and is not held
        if not feasible and not self.prunes:
            kept = self.passing(classes, self.prunable)
            shared = int(classes.sizes[~kept].sum()) > self.limit or not kept.any()
        cost = self.cost(node, classes, passing) if feasible else float("inf")
        verdict = Verdict(node, feasible, cost, suppressed, int(passing.sum()))
        self._last_unsuppressed = self.unsuppressed_cost(node, classes) if self.marginal is None else 0.0
        return verdict, shared
