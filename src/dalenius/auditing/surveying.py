"""Survey every full-domain generalization of a table: its levels, its utilities, and whether it satisfies the criteria."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dalenius.auditing.disclosure import described
from dalenius.criteria import Criterion, Predicate, Realistic
from dalenius.engines import Engine, Source, source_name
from dalenius.errors import InputError, ParameterError
from dalenius.measures.remaining import ColumnLeft, to_document
from dalenius.publishers.nodes import GeneralizationLattice
from dalenius.publishers.rollups import lattice_of
from dalenius.publishers.search import Progress
from dalenius.publishers.suppressed import SuppressedRows, check_hidden, check_suppressed_rows
from dalenius.publishers.survey import Sweep, columns_left, stubbornness, survey
from dalenius.result import Result
from dalenius.schema import Schema
from dalenius.table import MAX_CELLS, Table

__all__ = ["LatticeSurvey", "lattice"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LatticeSurvey(Result):
    """The nodes of a table's lattice, finest first, and what was asked of them.

    `to_pandas` has one row for each node, with the keys that a node has in the JSON. Nested keys are joined by a dot:
    `levels.age`, `k_anonymity.k`, `loss`, `satisfies`.
    """

    name: str
    people: int
    criteria: tuple[Criterion, ...]
    adversaries: tuple[Realistic, ...]
    predicates: tuple[Predicate, ...]
    known: int
    suppression: float
    suppressed_rows: SuppressedRows
    rollups: str  # where nodes were counted
    most_cells: int
    not_looked_at: int  # how many nodes have more distinct rows than that
    nodes: tuple[dict[str, Any], ...]
    good: tuple[dict[str, Any], ...]  # those to choose from, with the least loss first
    hopeless: int  # how many nodes are not among these because they hold against no adversary
    best_left: tuple[ColumnLeft, ...]  # what the best node leaves of each column; empty if there is no best node
    sweep: Sweep | None  # None: the cost of stubbornness was not requested
    sweep_epsilon: float | None

    @property
    def about(self) -> dict[str, Any]:
        """Return the adversaries and what they must not learn, as JSON has them."""
        return described(self.adversaries, self.predicates)

    def to_document(self) -> dict[str, Any]:
        """Return the survey as JSON has it."""
        best = (
            {"levels": self.good[0]["levels"], "columns_left": to_document(self.best_left)} if self.best_left else None
        )
        return {
            "people": self.people,
            "criteria": [criterion.describe() for criterion in self.criteria],
            "suppression": self.suppression,
            "suppressed_rows": self.suppressed_rows,
            "known": self.known,
            **self.about,
            "rollups": self.rollups,
            "not_looked_at": self.not_looked_at,
            "best": best,
            "nodes": list(self.nodes),
        }


def lattice(
    table: Source,
    schema: Schema,
    *,
    criteria: Sequence[Criterion] = (),
    suppression: float = 0.0,
    suppressed_rows: SuppressedRows = "hold",
    adversaries: Sequence[Realistic] = (),
    predicates: Sequence[Predicate] = (),
    known: int = 0,
    sweep_epsilon: float | None = None,
    most_cells: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    warn: Callable[[str], None] | None = None,
) -> LatticeSurvey:
    """List every node of the table's lattice with its levels and utilities, and whether it satisfies the criteria.

    With `sweep_epsilon`, also measure what it costs to be private at this ε against ever more stubborn adversaries.
    """
    if sweep_epsilon is not None and not 1 <= sweep_epsilon < math.inf:
        raise ParameterError("--epsilon", "lattice", "a finite number ≥ 1 (1 is perfect privacy)", sweep_epsilon)
    check_suppressed_rows(suppressed_rows)
    people = Table(table, schema, engine=engine, most_cells=most_cells or MAX_CELLS, notify=warn)
    check_hidden(suppressed_rows, criteria, people.declared)
    nodes = lattice_of(people)
    if sweep_epsilon is not None:
        _need_all(nodes, people.most_cells)
    surveyed = survey(
        nodes, criteria, suppression=suppression, adversaries=adversaries, predicates=predicates, progress=progress,
        suppressed_rows=suppressed_rows,
    )  # fmt: skip
    satisfying = sorted((node for node in surveyed if node.get("satisfies", True)), key=lambda node: node["loss"])
    good = satisfying
    if adversaries and not criteria:  # a node that holds against no adversary is no choice
        good = [node for node in satisfying if min(node["epsilon"].values()) < math.inf]
    best_left: tuple[ColumnLeft, ...] = ()
    if good and (criteria or adversaries):
        best_left = columns_left(
            nodes, good[0]["levels"], criteria, suppression=suppression, suppressed_rows=suppressed_rows
        )
    sweep = None if sweep_epsilon is None else stubbornness(nodes, sweep_epsilon, known=known, predicates=predicates)
    return LatticeSurvey(
        name=source_name(table),
        people=nodes.people,
        criteria=tuple(criteria),
        adversaries=tuple(adversaries),
        predicates=tuple(predicates),
        known=known,
        suppression=suppression,
        suppressed_rows=suppressed_rows,
        rollups=nodes.rollups,
        most_cells=people.most_cells,
        not_looked_at=nodes.nodes - len(surveyed),
        nodes=tuple(surveyed),
        good=tuple(good),
        hopeless=len(satisfying) - len(good),
        best_left=best_left,
        sweep=sweep,
        sweep_epsilon=sweep_epsilon,
    )


def _need_all(nodes: GeneralizationLattice, most_cells: int) -> None:
    if not nodes.fits(nodes.bottom):
        raise InputError(
            f"The page compares every node of the lattice, and some have more than {most_cells:,} distinct rows. "
            "Raise --most-cells, or leave -o out."
        )
