"""Every node of a lattice with its privacy levels and utilities: what `dalenius lattice` lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalenius.criterion import Criterion, document, measure, worst_of
from dalenius.errors import InputError
from dalenius.publish.nodes import GeneralizationLattice
from dalenius.publish.search import ENUMERABLE, Progress, Search
from dalenius.table import Cells


def survey(
    cells: Cells, criteria: Sequence[Criterion] = (), *, suppression: float = 0.0, progress: Progress | None = None
) -> list[dict[str, Any]]:
    """Levels and utilities of every node, finest first.

    Without criteria nothing is suppressed. With them, classes that fail are suppressed where the limit allows it, the
    levels are those of what remains, and `satisfies` says whether the node does; where the limit does not allow it,
    nothing is suppressed and the levels are those of all classes.
    """
    lattice = GeneralizationLattice(cells)
    if lattice.nodes > ENUMERABLE:
        raise InputError(f"The lattice has {lattice.nodes:,} nodes, too many to list (at most {ENUMERABLE:,}).")
    searches = {
        name: Search(lattice, criteria, suppression=suppression, utility=name)
        for name in ("loss", "precision", "entropy", "discernibility", "average_class_size")
    }
    shape = tuple(height + 1 for height in lattice.heights)
    levels = np.indices(shape).reshape(len(shape), -1).T
    found = []
    for number, row in enumerate(levels[np.argsort(levels.sum(axis=1), kind="stable")]):
        node = tuple(int(level) for level in row)
        verdict, _ = searches["loss"].judge(node)
        classes = lattice.classes(node)
        passing = searches["loss"].passing(classes) if verdict.feasible else np.ones(len(classes), dtype=bool)
        kept = lattice.kept(classes, passing)
        measured = [measure(grouping) for grouping in lattice.groupings(kept)]
        entry: dict[str, Any] = {
            "levels": lattice.named(node),
            "classes": len(kept),
            "suppressed": lattice.people - int(kept.sizes.sum()),
            **{name: search.cost(node, classes, passing) for name, search in searches.items()},
            **document(worst_of(measured)),
        }
        entry["precision"] = 1 - entry["precision"]
        if criteria:
            entry["satisfies"] = verdict.feasible
        found.append(entry)
        if progress is not None:
            progress(number + 1, lattice.nodes, float("nan"))
    return found
