"""The utility of a release, compared with its table.

Besides the costs that follow from the release alone (see `utility`): NCP and precision of its labels, the Kullback–Leibler
divergence of the table from a reader's reconstruction, and the error of count queries answered from the release (see
`queries`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from dalenius.adversaries.models import fit
from dalenius.adversaries.models.population import Overlapping, Population
from dalenius.arrays import Floats, Ints, Longs
from dalenius.coding import distinct_rows
from dalenius.errors import InputError
from dalenius.measures.misfit import misfits
from dalenius.measures.queries import QUERIES, Asked, Query, answering, errors_of, workload
from dalenius.measures.threat import Faithfulness, faithfulness
from dalenius.measures.utility import labels_cost, release_utility
from dalenius.releases import Anatomized, Generalized, Release
from dalenius.releases.leaf_sets import LeafSets
from dalenius.schema import Column, Schema

__all__ = [
    "MAX_SHARES",
    "SANITY",
    "Coded",
    "Truth",
    "fidelity",
    "kl_divergence",
    "ncp",
    "precision",
    "table_faithfulness",
]

MAX_SHARES = 20_000_000  # of leaves given values that faithfulness is worked out from; with more it is left out
SANITY = (
    0.001  # the error is relative to the true count, or to this share of all people, or to one person, if that is more
)


class Coded(Protocol):
    """Distinct rows of codes with counts, as the cells of a table are."""

    @property
    def schema(self) -> Schema: ...
    @property
    def codes(self) -> Ints: ...
    @property
    def counts(self) -> Longs: ...


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The table that a release was made of, in the release's coding: distinct (quasi…, sensitive…) rows and counts."""

    schema: Schema
    codes: Ints
    counts: Longs
    _identity: list[Generalized] = field(default_factory=list, init=False, repr=False)
    _usual: dict[tuple[int, int], Asked] = field(default_factory=dict, init=False, repr=False)

    @property
    def people(self) -> int:
        return int(self.counts.sum())

    @classmethod
    def of(cls, cells: Coded) -> Truth:
        """Make the truth from the cells of a table."""
        return cls(cells.schema, cells.codes, cells.counts)

    @property
    def identity(self) -> Generalized:
        """The table as a release of leaves: what the ideal learner learns from."""
        if not self._identity:
            sizes = [len(column.leaves) for column in self.schema.quasi]
            index, group = distinct_rows(self.codes[:, : len(sizes)], sizes)
            sets = [[np.array([leaf], dtype=np.int32) for leaf in range(size)] for size in sizes]
            values = self.codes[:, len(sizes) :]
            self._identity.append(Generalized.from_labels(self.schema, sets, index, group, values, self.counts))
        return self._identity[0]

    def usual(self, queries: int, seed: int) -> Asked:
        """Return a workload of count queries; it is answered once, and then compared with any number of releases."""
        if (queries, seed) not in self._usual:
            self._usual[queries, seed] = self.ask(workload(self.schema, queries, seed))
        return self._usual[queries, seed]

    def ask(self, queries: list[Query]) -> Asked:
        """Return queries and their true answers."""
        floor = max(1.0, SANITY * self.people)
        return Asked(queries, np.array([self._answer(query) for query in queries]), floor)

    def _answer(self, query: Query) -> float:
        holds = query.values[self.codes[:, len(self.schema.quasi)]]
        for a, leaves in query.quasi.items():
            holds &= leaves[self.codes[:, a]]
        return float(self.counts[holds].sum())


def fidelity(release: Release, truth: Truth, *, queries: int = QUERIES, seed: int = 0) -> dict[str, float]:
    """Return every cost that can be measured of this kind of release. Smaller is better, but for precision."""
    borders, rows, counts = release.borders(), release.rows(), release.counts()
    misfit = None if borders is None else misfits(borders, truth)
    changed = None if misfit is None else misfit.cells
    costs = release_utility(release, changed)
    if borders is not None and misfit is not None:
        costs["misfit"] = misfit.rows
        costs["ncp"] = ncp(borders, changed)
        level = precision(borders, changed)
        if not math.isnan(level):
            costs["precision"] = level
        costs["kl_divergence"] = kl_divergence(borders, truth)
    # Queries ask for values of the first sensitive column, which counts of another one do not tell.
    is_silent = counts is not None and counts.sensitive != truth.schema.sensitive[0].name
    answer = None if is_silent else answering(release)
    if answer is not None:
        errors = errors_of(answer, truth.usual(queries, seed))
        costs["relative_error"] = float(errors.mean())
        costs["relative_error_median"] = float(np.median(errors))
    faithful = None if rows is None else table_faithfulness(rows, truth, seed=seed)
    if faithful is not None:
        costs["faithfulness"] = faithful.RF
        if faithful.stderr:
            costs["faithfulness_stderr"] = faithful.stderr
    return costs


def table_faithfulness(
    release: Generalized, truth: Truth, column: str | None = None, *, seed: int = 0
) -> Faithfulness | None:
    """Return RF of what the release teaches against what the table would; None if that has no exact posterior.

    Without a column of the first sensitive one.
    """
    target = truth.schema[column] if column is not None else truth.schema.sensitive[0]
    name = target.name
    if len(target.leaves) * sum(len(quasi.leaves) for quasi in truth.schema.quasi) > MAX_SHARES:
        return None
    try:
        learnt = Population.of(release, name, rows=False, allocations=False)
        best = Population.of(truth.identity, name, rows=False)
    except (Overlapping, InputError):  # a [prior] that does not fit stops an attack, not a comparison
        return None
    return faithfulness(
        learnt.values,
        [attribute.leaves for attribute in best.attributes],
        [attribute.leaves for attribute in learnt.attributes],
        np.random.default_rng(seed),
        etv=False,
    )


# Labels ---------------------------------------------------------------------------------------------------------------


def ncp(release: Generalized | Anatomized, changed: Floats | None = None) -> float:
    """Return the normalised certainty penalty: the mean over cells of how wide a label is (Xu et al. 2006).

    Integers: largest less smallest value, as a share of the domain's; categories: leaves covered as a share of all, 0 for a
    single one. A suppressed cell counts 1, unless the column has one leaf only, and so does one that was changed.
    """
    total, columns, rows = 0.0, release.schema.quasi, release.rows()
    for a, column in enumerate(columns):
        if len(column.leaves) > 1:  # else there is nothing to hide
            if rows is None:  # tuples are published as they are
                total += 0.0 if changed is None else float(changed[a])
            else:
                total += labels_cost(rows, a, _widths(column, rows.leaf_sets(a)), changed)
    return total / (release.people * len(columns))


def _widths(column: Column, sets: LeafSets) -> Floats:
    """Return how wide each label is, from 0 to 1."""
    leaves = np.diff(sets.first)
    width = leaves / len(column.leaves)
    if column.type == "integer":
        assert column.domain is not None
        values = column.domain.values()
        span = float(np.nanmax(values) - np.nanmin(values))
        if span > 0:
            numbers = values[sets.members]  # nan, and so a count of leaves, where a value is missing
            reach = np.maximum.reduceat(numbers, sets.first[:-1]) - np.minimum.reduceat(numbers, sets.first[:-1])
            width = np.where(np.isnan(reach), width, reach / span)
    return np.where(leaves > 1, width, 0.0)


def precision(release: Generalized | Anatomized, changed: Floats | None = None) -> float:
    """Return 1 − mean over cells of level / height (Sweeney 2002); nan unless every label is a node of its column's hierarchy.

    Suppressed and changed cells are at full height.
    """
    rows = release.rows()
    if rows is None:  # tuples are published as they are
        return 1 - (0.0 if changed is None else float(changed.sum())) / (release.people * len(release.schema.quasi))
    total = 0.0
    for a, (column, labels) in enumerate(zip(rows.schema.quasi, rows.labels, strict=True)):
        tree = column.hierarchy
        if tree is None:
            return math.nan
        nodes: dict[bytes, int] = {}  # the set of each node, and the lowest level it stands at
        for level, map_ in enumerate(tree.maps):
            order = np.argsort(map_, kind="stable").astype(np.int32)
            for members in np.split(order, np.flatnonzero(np.diff(map_[order])) + 1):
                nodes.setdefault(members.tobytes(), level)
        nodes.setdefault(np.arange(len(column.leaves), dtype=np.int32).tobytes(), tree.height)
        levels = [nodes.get(np.sort(label.members).astype(np.int32).tobytes()) for label in labels]
        if any(level is None for level in levels):
            return math.nan
        height = max(tree.height, 1)
        total += labels_cost(rows, a, np.array(levels, dtype=np.float64), changed, most=height)
    return 1 - total / (rows.people * len(rows.labels))


# The whole distribution -----------------------------------------------------------------------------------------------


def kl_divergence(release: Generalized | Anatomized, truth: Truth) -> float:
    """Return Σ p ln(p/p̂) over (quasi, sensitive…) in nats; infinite if the release says that somebody of the table cannot be."""
    m = len(truth.schema.quasi)
    sizes = [len(column.leaves) for column in truth.schema.coded]
    known, number = distinct_rows(truth.codes[:, :m], sizes[:m])
    tuples, value = distinct_rows(
        np.concatenate([release.sensitive.codes, truth.codes[:, m:]]).astype(np.int32), sizes[m:]
    )
    in_release, in_table = value[: len(release.sensitive.group)], value[len(release.sensitive.group) :]
    said = release.sensitive
    inside = said.group >= 0
    counts = csr_array(
        (said.counts[inside].astype(np.float64), (said.group[inside], in_release[inside])),
        shape=(release.groups, len(tuples)),
    )
    hidden = np.bincount(in_release[~inside], weights=said.counts[~inside], minlength=len(tuples))
    estimate = fit.fit_to_suppressed(release, known)[number] * hidden[in_table]
    counts.sort_indices()
    keys = np.repeat(np.arange(release.groups, dtype=np.int64), np.diff(counts.indptr)) * len(tuples) + counts.indices
    order = np.argsort(number, kind="stable")  # cells by their target
    begins = np.searchsorted(number[order], np.arange(len(known) + 1))
    for some, groups in fit.fits(release, known):
        _add_counts(estimate, some, groups, order, begins, in_table, keys, counts)
    share = truth.counts / truth.people
    with np.errstate(divide="ignore"):
        return max(0.0, float((share * np.log(share * release.people / estimate)).sum()))


def _add_counts(
    estimate: Floats,
    some: Longs,
    groups: csr_array,
    order: Longs,
    begins: Longs,
    values: Ints,
    keys: Longs,
    counts: csr_array,
) -> None:
    """Add to each cell of some targets what the groups that they fit have of the cell's value.

    Each pair of a target and a group is looked up for the target's own cells only; `keys` are group · values + value of the
    entries of `counts`, ascending.
    """
    cells_of = begins[some + 1] - begins[some]
    pairs_of = np.diff(groups.indptr)
    total = np.concatenate(([0], np.cumsum(cells_of * pairs_of)))
    keys = (
        np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr)) * counts.shape[1] + counts.indices
    )
    low = 0
    while low < len(some):
        high = max(low + 1, int(np.searchsorted(total, total[low] + fit.MAX_PAIRS, side="right")) - 1)
        target = np.repeat(np.arange(low, high), (cells_of * pairs_of)[low:high])
        within = np.arange(len(target)) - (total[target] - total[low])
        cell = order[begins[some[target]] + within // np.maximum(pairs_of[target], 1)]
        pair = groups.indptr[target] + within % np.maximum(pairs_of[target], 1)
        wanted = groups.indices[pair].astype(np.int64) * counts.shape[1] + values[cell]
        at = np.searchsorted(keys, wanted).clip(max=max(len(keys) - 1, 0))
        there = keys[at] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
        np.add.at(estimate, cell[there], groups.data[pair[there]] * counts.data[at[there]])
        low = high
