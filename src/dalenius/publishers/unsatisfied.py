"""Why no node of a lattice satisfies the criteria, in a sentence."""

from __future__ import annotations

import numpy as np

from dalenius.errors import counted
from dalenius.publishers.given import evaluate_groups
from dalenius.publishers.search import Search, SearchResult
from dalenius.table import Table

__all__ = ["no_solution"]


def no_solution(search: Search, outcome: SearchResult, table: Table) -> str:
    """Return which criterion fails where everything is generalized, and by how much."""
    lattice = search.lattice
    if not outcome.in_time and not np.isinf(outcome.bound):
        return (
            f"No release was found in the time given ({outcome.checked:,} of {outcome.nodes:,} nodes checked). "
            "Allow more time, more suppression, or weaker criteria."
        )
    if outcome.not_looked_at:
        others = "The others do not satisfy the criteria. " if outcome.checked else ""
        return (
            f"No release was found, and {counted(outcome.not_looked_at, 'node was', 'nodes were')} not checked: there are more "
            f"than {counted(table.most_cells, 'distinct row', 'distinct rows')}. {others}Raise "
            "--most-cells (in Python, most_cells of Table), weaken the criteria, or allow more suppression."
        )
    classes = lattice.classes(lattice.top)
    reasons = []
    for criterion in search.criteria:
        groupings = lattice.groupings(classes) if criterion.needs_values else [lattice.sizes_only(classes)]
        if search.others_as_quasi:
            groupings = lattice.split_groupings(classes)
        for grouping in groupings:
            if not criterion.passes(grouping).all():
                of = f" of {grouping.column.name!r}" if criterion.needs_values else ""
                level = criterion.level(grouping).value
                reasons.append(f"{criterion.describe()} fails: the level{of} there is {level:.6g}")
    if search.given is not None:
        cells = table.cells()
        top = lattice.membership(lattice.top, cells.codes[:, : len(cells.schema.quasi)])
        few = evaluate_groups(search.given, cells.codes, cells.counts, top).below_l
        if few:
            left = counted(search.given.l, "value is", "values are")
            reasons.append(
                f"fewer than {left} left of {counted(few, 'person', 'people')} together with the earlier releases"
            )
    why = "; ".join(reasons) or "no node keeps a class within the suppression limit"
    if search.limit and search.suppressed_rows == "hold":
        why += ". Suppressed rows are held to the criteria, too (--suppressed-rows)"
    return (
        f"No release satisfies the criteria. With everything generalized, {why}. "
        "Weaken the criteria or allow more suppression."
    )
