"""What becomes of the rows of classes that fail the criteria, and are therefore not published as they are.

- `hold`: they are published with every quasi-identifier suppressed, and together they must satisfy the criteria like a class
  of their own. A row that is suppressed alone would tell its value. Where they do not, classes that pass are suppressed, too,
  the smallest first (of equals in the order of their labels, column by column), until they do.
- `as-is`: they are published with every quasi-identifier suppressed, whatever they tell. ARX does this.
- `hide`: they are left out of the release. The table's distribution, which t, δ, β and some adversaries look at, is then that of
  the rows that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np

from dalenius.arrays import Bools, Longs
from dalenius.criteria import Criterion
from dalenius.errors import InputError, ParameterError, listing
from dalenius.publishers.classes import Classes
from dalenius.publishers.nodes import GeneralizationLattice, Node
from dalenius.schema import Schema

__all__ = [
    "BLOCK_ENTRIES",
    "SUPPRESSED_ROWS",
    "SuppressedRows",
    "check_hidden",
    "check_suppressed_rows",
    "held",
    "left_out",
]

SuppressedRows = Literal["hold", "as-is", "hide"]
SUPPRESSED_ROWS: tuple[SuppressedRows, ...] = get_args(SuppressedRows)
BLOCK_ENTRIES = 4_000_000  # (candidate, value) counts that are made at once


def check_suppressed_rows(chosen: object) -> None:
    if not isinstance(chosen, str) or chosen not in SUPPRESSED_ROWS:
        raise ParameterError("suppressed_rows", "the lattice", f"one of {listing(SUPPRESSED_ROWS)}", chosen)


def check_hidden(chosen: SuppressedRows, criteria: Sequence[Criterion], declared: Schema) -> None:
    """Refuse criteria that a reader would measure differently if hidden rows took values with them."""
    if chosen != "hide":
        return
    for criterion in criteria:
        for column in declared.sensitive:
            if criterion.counts_domain and not column.fixed:
                raise InputError(
                    f"{criterion.describe()} depends on which values column {column.name!r} may have, and rows that are left out "
                    f"could take some with them. Declare domain = […] in {declared.source}, or choose another --suppressed-rows."
                )


def held(
    lattice: GeneralizationLattice,
    node: Node,
    classes: Classes,
    passing: Bools,
    passes: Callable[[Classes], Bools],
    limit: int,
) -> tuple[Bools, bool]:
    """Return which classes are published if the suppressed rows must pass as a class, and whether the limit allows it.

    `passes` says which of some classes satisfy the criteria. One class at least is published.
    """
    lost = int(classes.sizes[~passing].sum())
    if not lost or lost > limit or not passing.any():
        return passing, True
    # Whoever keeps its criteria when merged with any class needs one more class at most: blocks begin small.
    together = _sum(classes, np.flatnonzero(~passing), len(lattice.tuples))
    if passes(_as_classes(together[None, :]))[0]:
        return passing, True
    more = _smallest(lattice, node, classes, passing, limit - lost)
    for first, sums in _growing(classes, more, together):
        enough = np.flatnonzero(passes(_as_classes(sums)))
        if len(enough):
            published = passing.copy()
            published[more[: first + int(enough[0]) + 1]] = False
            return published, True
    return passing, False


def _smallest(lattice: GeneralizationLattice, node: Node, classes: Classes, passing: Bools, room: int) -> Longs:
    """Return the classes that may be suppressed in addition, smallest first; of equals in the order of their labels."""
    some = np.flatnonzero(passing & (classes.sizes <= room))
    labels = [
        tree.maps[level][classes.leaves[classes.rep[some], a]]
        for a, (tree, level) in enumerate(zip(lattice.trees, node, strict=True))
    ]
    ordered = some[np.lexsort((*reversed(labels), classes.sizes[some]))]
    within = int(np.searchsorted(np.cumsum(classes.sizes[ordered]), room, side="right"))
    return ordered[: min(within, int(passing.sum()) - 1)]


def _growing(classes: Classes, more: Longs, together: Longs) -> Iterator[tuple[int, Longs]]:
    """Yield the counts after each class that is added, a block of rows at a time, and the number of the first in each block."""
    first, size = 0, 1
    while first < len(more):
        block = more[first : first + size]
        added = np.zeros((len(block), together.size), dtype=np.int64)
        rows, cells = _cells(classes, block)
        added[rows, classes.values[cells]] = classes.counts[cells]
        sums = together + np.cumsum(added, axis=0)
        yield first, sums
        first, together = first + len(block), sums[-1]
        size = max(1, min(4 * size, BLOCK_ENTRIES // together.size))


def _cells(classes: Classes, some: Longs) -> tuple[Longs, Longs]:
    """Return the places of the counts of some classes, one class after the other, and which of these classes each is of."""
    starts, widths = classes.start[some], classes.start[some + 1] - classes.start[some]
    rows = np.repeat(np.arange(len(some)), widths)
    before = np.cumsum(widths) - widths
    return rows, np.arange(len(rows)) - before[rows] + starts[rows]


def _sum(classes: Classes, some: Longs, values: int) -> Longs:
    """Return how often each value occurs in some classes together."""
    cells = _cells(classes, some)[1]
    return np.bincount(classes.values[cells], weights=classes.counts[cells], minlength=values).astype(np.int64)


def _as_classes(sums: Longs) -> Classes:
    """Return counts [class, value] as classes without labels."""
    rows, values = np.nonzero(sums)
    start = np.searchsorted(rows, np.arange(len(sums) + 1)).astype(np.int64)
    nowhere = np.zeros(len(sums), dtype=np.int32)
    return Classes(nowhere[:, None], nowhere, start, values.astype(np.int32), sums[rows, values], sums.sum(axis=1))


def left_out(
    lattice: GeneralizationLattice,
    classes: Classes,
    passing: Bools,
    criteria: Sequence[Criterion],
    limit: int,
    *,
    others_as_quasi: bool,
) -> Bools:
    """Return which classes satisfy the criteria once the others are left out; beyond the limit, also some that do not.

    The table's distribution is that of what is left. A class that fails against it is left out, too, and so on.
    """
    passing = passing.copy()
    valued = [criterion for criterion in criteria if criterion.needs_values]
    while valued and passing.any() and 0 < int(classes.sizes[~passing].sum()) <= limit:
        kept = lattice.kept(classes, passing)
        still = lattice.passing(kept, valued, others_as_quasi=others_as_quasi, alone=True)
        if still.all():
            break
        passing[np.flatnonzero(passing)[~still]] = False
    return passing
