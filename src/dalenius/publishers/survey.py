"""Every node of a lattice with its privacy levels and utilities: what `dalenius lattice` lists."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalenius.arrays import Bools, Floats
from dalenius.criteria import (
    Criterion,
    EpsilonPrivacy,
    Predicate,
    Realistic,
    document,
    measure,
    withstood,
    worst_of,
)
from dalenius.errors import InputError
from dalenius.measures.remaining import ColumnLeft
from dalenius.publishers.classes import Classes
from dalenius.publishers.nodes import GeneralizationLattice, Node
from dalenius.publishers.search import MAX_ENUMERATED_NODES, Progress, Search
from dalenius.publishers.suppressed import SuppressedRows
from dalenius.releases import Grouping

__all__ = [
    "PRIORS",
    "SIGMAS",
    "UTILITIES",
    "Sweep",
    "columns_left",
    "epsilons",
    "every_node",
    "looked_at",
    "stubbornness",
    "survey",
]

UTILITIES = ("loss", "precision", "entropy", "discernibility", "average_class_size")


def every_node(lattice: GeneralizationLattice) -> list[Node]:
    """Return all nodes, finest first."""
    if lattice.nodes > MAX_ENUMERATED_NODES:
        raise InputError(
            f"The lattice has {lattice.nodes:,} nodes, too many to list (at most {MAX_ENUMERATED_NODES:,})."
        )
    shape = tuple(height + 1 for height in lattice.heights)
    levels = np.indices(shape).reshape(len(shape), -1).T
    ordered = levels[np.argsort(levels.sum(axis=1), kind="stable")]
    return [tuple(int(level) for level in row) for row in ordered]


def looked_at(lattice: GeneralizationLattice) -> list[Node]:
    """Return the nodes that are not too large to be counted, finest first; none is an error."""
    nodes = [node for node in every_node(lattice) if lattice.fits(node)]
    if not nodes:
        raise InputError(
            "Every node of the lattice has more distinct rows than are kept in memory. Raise --most-cells (in Python, "
            "most_cells of Table), or coarsen or drop columns."
        )
    return nodes


def _need_all(lattice: GeneralizationLattice) -> list[Node]:
    """Return all nodes. Refuse if some are too large to be counted."""
    nodes = every_node(lattice)
    if not lattice.fits(lattice.bottom):
        raise InputError(
            "This compares every node of the lattice, and some have more distinct rows than are kept in memory. Raise "
            "--most-cells (in Python, most_cells of Table), or coarsen or drop columns."
        )
    return nodes


def survey(
    lattice: GeneralizationLattice,
    criteria: Sequence[Criterion] = (),
    *,
    suppression: float = 0.0,
    adversaries: Sequence[Realistic] = (),
    predicates: Sequence[Predicate] = (),
    suppressed_rows: SuppressedRows = "hold",
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Return levels, ε against each adversary, and utilities of every node, finest first.

    Nodes that are too large to be counted (see `rollups`) are left out.

    Without criteria nothing is suppressed. With them, classes that fail are suppressed where the limit allows it (and with
    them what `suppressed_rows` asks for), the levels are those of what remains, and `satisfies` says whether the node does;
    where the limit does not allow it, nothing is suppressed and the levels are those of all classes.
    """
    texts = [adversary.text for adversary in adversaries]
    if len(set(texts)) < len(texts):
        raise InputError("Two adversaries have the same text. Give each its own.")
    nodes = looked_at(lattice)
    searches = {
        name: Search(lattice, criteria, suppression=suppression, utility=name, suppressed_rows=suppressed_rows)
        for name in UTILITIES
    }
    hide = suppressed_rows == "hide"
    private = [EpsilonPrivacy(adversary, predicates=tuple(predicates)) for adversary in adversaries]
    entries = []
    for number, node in enumerate(nodes):
        classes, passing, feasible = _passing(searches["loss"], node)
        kept = lattice.kept(classes, passing)
        groupings = lattice.groupings(kept, alone=hide)
        entry: dict[str, Any] = {
            "levels": lattice.levels_of(node),
            "classes": len(kept),
            "suppressed": lattice.people - int(kept.sizes.sum()),
            **{name: search.cost(node, classes, passing) for name, search in searches.items()},
            **document(worst_of([measure(grouping) for grouping in groupings])),
        }
        entry["precision"] = 1 - entry["precision"]
        if private:
            values = _epsilons(groupings, private)
            entry["epsilon"] = {criterion.adversary.text: e for criterion, e in zip(private, values, strict=True)}
        if criteria:
            entry["satisfies"] = feasible
        entries.append(entry)
        if progress is not None:
            progress(number + 1, len(nodes), float("nan"))
    return entries


def _passing(search: Search, node: Node) -> tuple[Classes, Bools, bool]:
    """Return the classes of a node, which of them are not suppressed, and whether it satisfies the criteria: if not, all are."""
    verdict, _ = search.judge(node)
    classes = search.lattice.classes(node)
    if not verdict.feasible:
        return classes, np.ones(len(classes), dtype=bool), False
    return classes, search.satisfying(node, classes)[0], True


def columns_left(
    lattice: GeneralizationLattice,
    levels: Mapping[str, int],
    criteria: Sequence[Criterion] = (),
    *,
    suppression: float = 0.0,
    suppressed_rows: SuppressedRows = "hold",
) -> tuple[ColumnLeft, ...]:
    """Return what a node of the survey leaves of each column."""
    search = Search(lattice, criteria, suppression=suppression, suppressed_rows=suppressed_rows)
    node = tuple(levels[column.name] for column in lattice.quasi)
    classes, passing, _ = _passing(search, node)
    return lattice.columns_left(node, lattice.kept(classes, passing))


def _epsilons(groupings: Sequence[Grouping], private: Sequence[EpsilonPrivacy]) -> list[float]:
    """Return ε against each adversary, the worst over sensitive columns."""
    return [max(float(criterion.levels(grouping).max()) for grouping in groupings) for criterion in private]


def epsilons(
    lattice: GeneralizationLattice, adversaries: Sequence[Realistic], *, predicates: Sequence[Predicate] = ()
) -> tuple[list[Node], Floats]:
    """Return the minimal ε of every node, nothing suppressed, against each adversary, and nothing else."""
    nodes = _need_all(lattice)
    private = [EpsilonPrivacy(adversary, predicates=tuple(predicates)) for adversary in adversaries]
    epsilons = np.array([_epsilons(lattice.groupings(lattice.classes(node)), private) for node in nodes])
    return nodes, epsilons.reshape(len(nodes), len(private))


@dataclass(frozen=True, slots=True)
class Sweep:
    """For each prior and σ, the least cost of a node that is ε-private against that adversary.

    σ = ∞ is class III; for class II (any shape) no node is. Costs are nan where no node is private.
    """

    sigmas: tuple[float, ...]
    epsilon: dict[str, list[float]]  # ε of one node
    node: dict[str, int]  # that node
    cost: dict[str, dict[str, list[float]]]  # utility → prior → least cost


SIGMAS = (*(float(f"{m}e{e}") for e in range(2, 8) for m in (1, 3)), 1e8, math.inf)
PRIORS = ("I:uniform", "I:table", "II")


def stubbornness(
    lattice: GeneralizationLattice,
    epsilon: float,
    *,
    node: Node | None = None,
    known: int = 0,
    predicates: Sequence[Predicate] = (),
) -> Sweep:
    """Return ε of one node and the least cost of all nodes against ever more stubborn adversaries (the paper's Fig. 2).

    Nothing is suppressed. The node is by default the one of least loss that is ε-private against the uniform prior with
    σ = 10^6, else the most general one.
    """
    every = _need_all(lattice)
    shapes = {"I:uniform": "uniform", "I:table": "table", "II": None}
    spans: dict[str, list[tuple[float, float]]] = {prior: [] for prior in PRIORS}
    for place in every:
        groupings = lattice.groupings(lattice.classes(place))
        for prior, shape in shapes.items():
            intervals = [withstood(g, epsilon, shape=shape, known=known, predicates=predicates) for g in groupings]
            if any(interval is None for interval in intervals):
                spans[prior].append((math.inf, -math.inf))
            else:
                spans[prior].append((max(i.smallest for i in intervals if i), min(i.largest for i in intervals if i)))
    cost: dict[str, dict[str, list[float]]] = {}
    for utility in ("discernibility", "average_class_size", "loss"):
        search = Search(lattice, (), utility=utility)
        values = np.array([search.unsuppressed_cost(place, lattice.classes(place)) for place in every])
        cost[utility] = {}
        for prior, span in spans.items():
            low, high = np.array(span).T
            holds = [(low <= sigma) & (sigma <= high) for sigma in SIGMAS]
            cost[utility][prior] = [float(values[mask].min()) if mask.any() else math.nan for mask in holds]
    if node is None:
        low, high = np.array(spans["I:uniform"]).T
        good = np.flatnonzero((low <= 1e6) & (high >= 1e6))
        best = min(good.tolist(), key=lambda i: values[i], default=len(every) - 1)  # values: the last, loss
        node = every[best]
    groupings = lattice.groupings(lattice.classes(node))
    by_prior: dict[str, list[float]] = {}
    for prior, shape in shapes.items():
        by_prior[prior] = []
        for sigma in SIGMAS:
            if shape is None and sigma < max(len(g.column.leaves) for g in groupings):
                by_prior[prior].append(math.nan)  # nobody has seen so few of so many values
                continue
            criterion = EpsilonPrivacy(_prior(shape, sigma, known), predicates=tuple(predicates))
            by_prior[prior] += _epsilons(groupings, [criterion])
    return Sweep(SIGMAS, by_prior, lattice.levels_of(node), cost)


def _prior(shape: str | None, sigma: float, known: int) -> Realistic:
    if math.isinf(sigma):
        return Realistic("IV", known=known) if shape is None else Realistic("III", shape=shape, known=known)
    kind = "II" if shape is None else "I"
    return Realistic(kind, shape=shape, sigma=sigma, known=known)  # type: ignore[arg-type]
