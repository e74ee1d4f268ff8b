"""The search of a lattice: the node with the least cost among those that satisfy the criteria.

Nodes are judged by their classes (see `judge`). Two facts keep the search short and exact:

- the cost of a node without suppression is a lower bound of its cost, grows along the lattice, and is known beforehand
  for utilities that add up over rows: nodes whose bound is not below the best cost found need not be looked at;
- if satisfying is monotone (every criterion is, without suppression; with suppression only those that a group keeps
  whatever it is merged with: k and distinct ℓ), a node that fails makes every finer node fail. Of a conjunction, the
  monotone part alone may be used in this way. If suppressed rows are held to the criteria, that part is whether the failing
  classes are within the limit: whether what is suppressed holds is not monotone for any criterion.

A node that is too large to be counted (see `rollups`) is neither feasible nor infeasible. The search goes on with coarser
ones; what it did not look at and cannot rule out is counted, and lowers the bound.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.arrays import Floats
from dalenius.engines import TooMany
from dalenius.errors import InputError
from dalenius.publishers.judge import Judge, Verdict
from dalenius.publishers.nodes import Node

__all__ = ["MAX_ENUMERATED_NODES", "Progress", "Search", "SearchResult"]

Progress = Callable[[int, int, float], None]  # nodes checked, nodes in all, best cost
MAX_ENUMERATED_NODES = 400_000  # nodes of a lattice that is kept as arrays


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search brought: the best node or none, and `bound`, below which no node's cost can lie.

    `not_looked_at` counts the nodes that the search came to, that were too large to be counted, and that might be better
    than the best for all that is known. If minimal nodes were asked for and it is not 0, there is no list of them.
    """

    best: Verdict | None
    bound: float
    checked: int
    nodes: int
    minimal: tuple[Node, ...] | None = None
    not_looked_at: int = 0
    in_time: bool = True

    @property
    def optimal(self) -> bool:
        return self.best is not None and self.bound >= self.best.cost * (1 - 1e-9)


class Search(Judge):
    """The search of a lattice for the best node."""

    def run(
        self, *, minimal: bool = False, time_limit: float | None = None, progress: Progress | None = None
    ) -> SearchResult:
        """Return the best node, and on request every minimal one: feasible, and nothing finer is."""
        deadline = None if time_limit is None else time.monotonic() + time_limit
        if self.lattice.nodes <= MAX_ENUMERATED_NODES:
            return self._finer(_Enumeration(self, deadline, progress).run(minimal))
        if minimal:
            raise InputError(
                f"The lattice has {self.lattice.nodes:,} nodes, too many to list the minimal ones (at most "
                f"{MAX_ENUMERATED_NODES:,}). Leave some levels or columns out."
            )
        return self._finer(_BestFirst(self, deadline, progress).run())

    def _finer(self, outcome: SearchResult) -> SearchResult:
        """Return a finest node of equal cost, so that no level is lost for nothing (in a constant column, for example)."""
        best = outcome.best
        while best is not None:
            below = [(*best.node[:a], level - 1, *best.node[a + 1 :]) for a, level in enumerate(best.node) if level]
            cost = best.cost
            equal = (verdict for node in below if (verdict := self._free_step(node, cost)) is not None)
            step = next(equal, None)
            if step is None:
                break
            best = step
        return dataclasses.replace(outcome, best=best, checked=min(self.checked, outcome.nodes))  # some twice

    def _free_step(self, node: Node, cost: float) -> Verdict | None:
        if self.bounds(np.array([node], dtype=np.int16))[0] > cost * (1 + 1e-12):
            return None
        try:
            verdict, _ = self.judge(node)
        except TooMany:  # more classes cost less: if it might be feasible, it has been counted
            return None
        return verdict if verdict.feasible and verdict.cost <= cost * (1 + 1e-12) else None


class _OutOfTime(Exception):
    pass


class _Enumeration:
    """A lattice small enough to keep every node in arrays."""

    def __init__(self, search: Search, deadline: float | None, progress: Progress | None) -> None:
        self.search, self.deadline, self.progress = search, deadline, progress
        self.shape = tuple(height + 1 for height in search.lattice.heights)
        self.levels = np.indices(self.shape, dtype=np.int16).reshape(len(self.shape), -1).T.copy()
        self.strides = [math.prod(self.shape[a + 1 :]) for a in range(len(self.shape))]
        self.lower = search.bounds(self.levels)
        self.open = np.ones(len(self.levels), dtype=bool)  # neither judged nor known to fail
        self.large = np.zeros(len(self.levels), dtype=bool)  # too large to be looked at
        self.covered = np.zeros(len(self.levels), dtype=bool)  # feasible, or above such a node: not minimal
        self.within = np.zeros(len(self.levels), dtype=bool)  # judged, and finer nodes may do
        self.best: Verdict | None = None

    def run(self, minimal: bool) -> SearchResult:
        in_time = True
        try:
            self._optimise()
            if minimal:
                self._classify()
        except _OutOfTime:
            in_time = False
        left = self.open & (self.lower < self._best_cost())  # in time, only what is too large
        bound = min(float(self.lower[left].min(initial=np.inf)), self._best_cost())
        unknown = self.large & (self.open & ~self.covered if minimal else left)
        # Where not every node is known, no list rather than a wrong one.
        nodes = self._minimal() if minimal and in_time and not unknown.any() else None
        return SearchResult(self.best, bound, self.search.checked, len(self.levels), nodes, int(unknown.sum()), in_time)

    def _best_cost(self) -> float:
        return float("inf") if self.best is None else self.best.cost

    def _optimise(self) -> None:
        while True:
            candidates = np.flatnonzero(self.open & ~self.large & (self.lower < self._best_cost()))
            if not len(candidates):
                return
            self._settle(
                int(candidates[np.argmin(self.lower[candidates])]),
                lambda i: bool(self.open[i]) and bool(self.lower[i] < self._best_cost()),
            )

    def _classify(self) -> None:
        """Find out of every node that may be minimal whether it is feasible."""
        while True:
            unknown = np.flatnonzero(self.open & ~self.large & ~self.covered)
            if not len(unknown):
                return
            self._settle(int(unknown[0]), lambda i: bool(self.open[i]) and not self.covered[i])

    def _settle(self, index: int, wanted: Callable[[int], bool]) -> None:
        """Judge a node or what is coarser, in as few looks as may be."""
        if self.search.prunes:
            self._climb(index, wanted, self._judge)
            return
        self._judge(index)
        if self.large[index]:
            self._climb(index, wanted, self._looked_at)

    def _looked_at(self, index: int) -> bool:
        self._judge(index)
        return not self.large[index]

    def _climb(self, start: int, wanted: Callable[[int], bool], begun: Callable[[int], bool]) -> None:
        """Return where, on a path upwards from a node, few enough rows fail, or nodes become small enough to count.

        Each failure, and each node that is too large, settles all that is finer.
        """
        path = [start]
        while True:
            here = path[-1]
            above = [
                here + stride
                for a, stride in enumerate(self.strides)
                if self.levels[here, a] + 1 < self.shape[a] and wanted(here + stride)
            ]
            if not above:
                break
            path.append(min(above, key=lambda i: (self.lower[i], i)))
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if begun(path[middle]):
                high = middle - 1
            else:
                low = middle + 1

    def _judge(self, index: int) -> bool:
        """Judge a node. Return whether finer nodes may be feasible."""
        if not self.open[index]:
            return bool(self.within[index])
        if self.large[index]:
            return False
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise _OutOfTime
        search = self.search
        try:
            verdict, shared = search.judge(tuple(int(level) for level in self.levels[index]))
        except TooMany:
            self._box(self.large, below=index)[...] = True
            return False
        self.open[index] = False
        self.within[index] = not shared
        if verdict.feasible:
            self._box(self.covered, above=index)[...] = True
            if verdict.cost < self._best_cost():
                self.best = verdict
        elif shared:
            self._box(self.open, below=index)[...] = False
        if search.marginal is None:
            above = self._box(self.lower, above=index)
            np.maximum(above, search._last_unsuppressed, out=above)
        if self.progress is not None:
            self.progress(search.checked, len(self.levels), self._best_cost())
        return not shared

    def _box(self, array: NDArray[Any], *, above: int | None = None, below: int | None = None) -> NDArray[Any]:
        """Return a view of the entries of all nodes that are nowhere finer (coarser) than a node, itself included."""
        if above is not None:
            part = tuple(slice(int(level), None) for level in self.levels[above])
        else:
            part = tuple(slice(None, int(level) + 1) for level in self.levels[below])
        view: NDArray[Any] = array.reshape(self.shape)[part]
        return view

    def _minimal(self) -> tuple[Node, ...]:
        kept: list[NDArray[np.int16]] = []
        ones = np.flatnonzero(self.covered)
        for i in ones[np.argsort(self.levels[ones].sum(axis=1), kind="stable")]:
            if not any((finer <= self.levels[i]).all() for finer in kept):
                kept.append(self.levels[i])
        return tuple(tuple(int(level) for level in node) for node in kept)


class _BestFirst:
    """A lattice too large to keep, searched from both ends by turns.

    From the bottom, nodes in the order of their bounds: the smallest bound left is one that no unseen node's cost can
    lie below. From the top, feasible nodes in the order of their costs and what is finer than they are: that finds good
    nodes early. Done when the bound reaches the best cost, or when the time is up.
    """

    TURN = 0.1  # seconds that each end is given in turn

    def __init__(self, search: Search, deadline: float | None, progress: Progress | None) -> None:
        self.search, self.deadline, self.progress = search, deadline, progress
        lattice = search.lattice
        self.heights = lattice.heights
        self.verdicts: dict[Node, Verdict] = {}
        self.known: dict[Node, float] = {}  # lower bounds learnt from a node's own classes
        self.failed = np.empty((0, len(self.heights)), dtype=np.int16)
        self.large: dict[Node, float] = {}  # too large to be looked at, with lower bounds
        self.best: Verdict | None = None
        self.rising = [(float(self._bounds([lattice.bottom])[0]), lattice.bottom)]
        self.met = {lattice.bottom}
        self.falling: list[tuple[float, Node]] = []

    def run(self) -> SearchResult:
        search = self.search
        in_time = True
        try:
            self._judge(search.lattice.top)  # something to fall back on
            while self.rising and self.rising[0][0] < self._best_cost():
                if search.monotone and not self.falling and all(map(self._fails, self.large)):
                    break  # whatever is feasible lies below the top by feasible steps: all of it has been judged
                for step in (self._fall, self._rise):
                    turn = time.monotonic() + self.TURN
                    while step() and time.monotonic() < turn:
                        pass
        except _OutOfTime:
            in_time = False
        left = [lower for node, lower in self.large.items() if lower < self._best_cost() and not self._fails(node)]
        bound = min([*left, self._best_cost()])
        if not in_time and self.rising:
            bound = min(bound, self.rising[0][0])
        return SearchResult(self.best, bound, search.checked, search.lattice.nodes, None, len(left), in_time)

    def _best_cost(self) -> float:
        return math.inf if self.best is None else self.best.cost

    def _bounds(self, nodes: list[Node]) -> Floats:
        return self.search.bounds(np.array(nodes, dtype=np.int16).reshape(-1, len(self.heights)))

    def _neighbours(self, node: Node, step: int) -> list[Node]:
        return [
            (*node[:a], level + step, *node[a + 1 :])
            for a, level in enumerate(node)
            if 0 <= level + step <= self.heights[a]
        ]

    def _rise(self) -> bool:
        """Take the node with the smallest bound, judge it unless it must fail, and queue its coarser neighbours."""
        if not self.rising or self.rising[0][0] >= self._best_cost():
            return False
        lower, node = self.rising[0]
        self._check_time()
        if not self._fails(node):
            self._judge(node)
        heapq.heappop(self.rising)  # only now: were the time up before, its bound would still be the smallest
        floor = max(lower, self.known.get(node, 0.0))
        above = [coarser for coarser in self._neighbours(node, 1) if coarser not in self.met]
        self.met.update(above)
        for coarser, least in zip(above, self._bounds(above).tolist(), strict=True):
            if max(least, floor) < self._best_cost():
                heapq.heappush(self.rising, (max(least, floor), coarser))
        return True

    def _fall(self) -> bool:
        """Take the cheapest feasible node whose finer neighbours have not been judged, and judge them."""
        if not self.falling:
            return False
        self._check_time()
        _, node = heapq.heappop(self.falling)
        for finer in self._neighbours(node, -1):
            if not self._fails(finer):
                self._judge(finer)
        return True

    def _fails(self, node: Node) -> bool:
        """Return whether a node known to fail stands above this one."""
        return bool((np.array(node, dtype=np.int16) <= self.failed).all(axis=1).any())

    def _check_time(self) -> None:
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise _OutOfTime

    def _judge(self, node: Node) -> None:
        self._check_time()
        if node in self.verdicts or node in self.large:
            return
        try:
            verdict, shared = self.search.judge(node)
        except TooMany:
            self.large[node] = float(self._bounds([node])[0])
            return
        self.verdicts[node] = verdict
        if self.search.marginal is None:
            self.known[node] = self.search._last_unsuppressed
        if verdict.feasible:
            heapq.heappush(self.falling, (verdict.cost, node))
            if verdict.cost < self._best_cost():
                self.best = verdict
        if shared:
            own = np.array([node], dtype=np.int16)
            covered = (self.failed <= own).all(axis=1)
            self.failed = np.concatenate([self.failed[~covered], own])
        if self.progress is not None:
            self.progress(self.search.checked, self.search.lattice.nodes, self._best_cost())
