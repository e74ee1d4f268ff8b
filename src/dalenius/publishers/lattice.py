"""Full-domain generalization: every value of a column is published at one level of its hierarchy (Samarati 2001).

An exact search of the lattice of all choices picks the level of each column. Classes that fail the criteria are suppressed,
up to a limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalenius.arrays import Bools, Ints, Longs
from dalenius.criteria import Criterion, KAnonymity
from dalenius.criteria.axis import AXIS_PANEL, Axis, numbers
from dalenius.engines import Recoding, TableName, TooMany
from dalenius.errors import InputError, ParameterError, counted, listing
from dalenius.hierarchy import TOP
from dalenius.measures.remaining import ColumnLeft
from dalenius.measures.utility import UTILITIES
from dalenius.options import Option
from dalenius.publishers.base import (
    OTHERS_AS_QUASI,
    PANEL,
    Example,
    Headcount,
    Progress,
    Published,
    Publisher,
    check_criteria,
    check_labels,
    written_columns,
)
from dalenius.publishers.classes import Classes
from dalenius.publishers.grid import Grid
from dalenius.publishers.nodes import Node
from dalenius.publishers.rollups import EngineLattice, lattice_of
from dalenius.publishers.suppressed import SuppressedRows, check_hidden, check_suppressed_rows
from dalenius.publishers.tally import Tally, labelled
from dalenius.releases import Generalized
from dalenius.releases.label import Resolver, Unresolved, label_text
from dalenius.table import Table

if TYPE_CHECKING:
    from dalenius.publishers.given import Given
    from dalenius.publishers.search import Search, SearchResult

__all__ = ["SUPPRESSION", "SUPPRESSIONS", "Lattice", "PublishedLattice"]

SUPPRESSIONS = (0.0, 0.02)
SUPPRESSION = Axis(
    "suppression",
    Option("suppression", "Shares of rows to suppress (0,0.02).", str, metavar="S,S,…", panel=AXIS_PANEL),
    numbers("--suppression", "from 0 to 1", "0,0.02", lambda share: 0 <= share <= 1),
    usual=lambda size: SUPPRESSIONS,  # noqa: ARG005 - no share is impossible
    is_demand=False,
)


@dataclass(frozen=True, slots=True)
class Lattice(Publisher):
    """The publisher: criteria, the share of rows that may be suppressed, and the utility to be best in.

    >>> from dalenius import datasets
    >>> from dalenius.criteria import KAnonymity
    >>> from dalenius.publishers.lattice import Lattice
    >>> published = Lattice([KAnonymity(5)], suppression=0.02).publish(datasets.hospital(500, seed=1))
    >>> int(published.release.sizes.min()) >= 5
    True
    """

    name = "lattice"
    title = "the lattice"
    publishes = "every column at one level of its hierarchy ([lattice.md](lattice.md))"
    description = "Publishes every column at one level of its hierarchy, chosen by an exact search of all choices."
    options = (
        Option("suppression", "Largest share of rows to suppress (0).", float, panel=PANEL),
        Option(
            "suppressed-rows",
            "Hold suppressed rows to the criteria as a class of their own (default), publish them as-is, or hide them.",
            str,
            metavar="HOW",
            panel=PANEL,
        ),
        Option(
            "utility",
            "What to optimize: loss (default), precision, entropy, discernibility or average_class_size.",
            str,
            panel=PANEL,
        ),
        Option("minimal", "Also list every minimal node.", bool, panel=PANEL),
        Option("time-limit", "Stop after this many seconds with the best node so far.", float, panel=PANEL),
        OTHERS_AS_QUASI,
    )
    not_in_audit = frozenset({"utility", "minimal", "time-limit", "others-as-quasi"})
    keeps = (Criterion,)
    example = Example((KAnonymity(3),), {"suppression": 0.05})
    grid = Grid(
        (SUPPRESSION,),
        options=("suppressed-rows",),
        unlabelled=frozenset({"utility", "suppressed_rows"}),
    )
    shows_progress = True
    criteria: Sequence[Criterion]
    suppression: float = 0.0
    utility: str = "loss"
    minimal: bool = False
    time_limit: float | None = None
    others_as_quasi: bool = False
    given: Given | None = None  # earlier releases, together with which every class must leave enough values
    suppressed_rows: SuppressedRows = "hold"  # held to the criteria, published as they are, or left out

    def __post_init__(self) -> None:
        check_criteria(self.criteria, "the lattice")
        _share("suppression", self.suppression)
        check_suppressed_rows(self.suppressed_rows)
        if self.utility not in UTILITIES:
            raise ParameterError("utility", "the lattice", f"one of {listing(UTILITIES)}", self.utility)
        if self.time_limit is not None and not self.time_limit > 0:
            raise ParameterError("time_limit", "the lattice", "a number of seconds > 0", self.time_limit)

    @classmethod
    def shared(cls, chosen: Mapping[str, Any], *, utility: str) -> dict[str, Any]:
        """Return shared parameters. The search optimises the utility by which releases are compared, if it can."""
        searched = {"utility": utility} if utility in UTILITIES and utility != "loss" else {}
        rows = chosen.get("suppressed_rows", "hold")
        check_suppressed_rows(rows)
        if rows == "hide":
            raise InputError(
                "Rows that are hidden are not in the release, and the table has them: the two could not be compared. "
                "Choose hold or as-is."
            )
        return searched | ({} if rows == "hold" else {"suppressed_rows": rows})

    def promises(self) -> tuple[str, ...]:
        return tuple(criterion.describe() for criterion in self.criteria)

    def publish(self, table: Table, *, progress: Progress | None = None) -> PublishedLattice:
        """Search the lattice. The release is made when it is first used."""
        from dalenius.publishers.search import Search  # with compiled code, which `--help` can do without

        for column in table.declared.quasi:
            if column.mask is not None and not column.fixed:
                raise InputError(
                    f"Column {column.name!r} has a mask and no domain: nobody who reads the release could say which values "
                    f'a mask covers. Declare domain = […] in {table.declared.source}, or hierarchy = "FILE".'
                )
        marginals = table.marginals()
        for criterion in self.criteria:
            criterion.check_possible(marginals.people, marginals.different(len(table.schema.quasi)))
        check_hidden(self.suppressed_rows, self.criteria, table.declared)
        if self.given is not None:
            self.given.check_table(table)
        values = self.others_as_quasi or self.given is not None or any(c.needs_values for c in self.criteria)
        lattice = lattice_of(table, values=values)
        search = Search(
            lattice,
            self.criteria,
            suppression=self.suppression,
            utility=self.utility,
            others_as_quasi=self.others_as_quasi,
            given=self.given,
            suppressed_rows=self.suppressed_rows,
        )
        outcome = search.run(minimal=self.minimal, time_limit=self.time_limit, progress=progress)
        if outcome.best is None:
            from dalenius.publishers.unsatisfied import no_solution

            raise InputError(no_solution(search, outcome, table))
        return PublishedLattice(self, table, search, outcome)


def _share(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ParameterError(name, "the lattice", "a number from 0 to 1", value)


@dataclass(eq=False)
class PublishedLattice(Published):
    """The best node and the release it makes."""

    kind = Generalized.kind
    publisher: Lattice
    table: Table
    search: Search = field(repr=False)
    outcome: SearchResult

    @property
    def node(self) -> Node:
        assert self.outcome.best is not None
        return self.outcome.best.node

    @cached_property
    def _classes(self) -> tuple[Classes, Bools]:
        classes = self.search.lattice.classes(self.node)
        return classes, self.search.satisfying(self.node, classes)[0]

    @cached_property
    def _labels(self) -> list[list[str]]:
        """For each column the text of each label at its level; one that would be read otherwise is spelt out.

        A reader who is not told the values takes the top for a mask, unless it is a mark.
        """
        schema = self.table.schema
        texts: list[list[str]] = []
        for column, tree, level in zip(schema.quasi, self.search.lattice.trees, self.node, strict=True):
            resolver = Resolver(column, schema)
            texts.append([])
            fixed = self.table.declared[column.name].fixed
            for code, label in enumerate(tree.labels[level]):
                if label == TOP and not fixed and schema.suppressed and TOP not in schema.suppressed:
                    texts[-1].append(schema.suppressed[0])
                    continue
                members = np.flatnonzero(tree.maps[level] == code).astype(np.int32)
                try:
                    plain = np.array_equal(resolver.resolve(label).members, members)
                except Unresolved:
                    plain = False
                texts[-1].append(label if plain else label_text(column, members, resolver))
        return texts

    @property
    def release(self) -> Generalized:
        lattice = self.search.lattice
        classes, passing = self._classes
        leaves = classes.leaves
        sets = [
            [
                np.flatnonzero(tree.maps[level] == tree.maps[level][leaves[rep, a]]).astype(np.int32)
                for a, (tree, level) in enumerate(zip(lattice.trees, self.node, strict=True))
            ]
            for rep in classes.rep[passing].tolist()
        ]
        number = np.full(len(classes), -1, dtype=np.int32)
        number[passing] = np.arange(int(passing.sum()), dtype=np.int32)
        if isinstance(lattice, EngineLattice):
            valued, tuples = self._valued(lattice)
            owner = lattice.membership(self.node, valued.leaves[valued.rep])
            group = number[np.repeat(owner, np.diff(valued.start))]
            return self._made(sets, group, tuples[valued.values], valued.counts)
        cells, m = self.table.cells(), len(self.table.schema.quasi)
        group = number[lattice.membership(self.node, cells.codes[:, :m])]
        return self._made(sets, group, cells.codes[:, m:], cells.counts)

    def _made(
        self,
        sets: list[list[Ints]],
        group: Ints,
        values: Ints,
        counts: Longs,
    ) -> Generalized:
        """Return the release of people in groups, without those who are left out."""
        if self.publisher.suppressed_rows == "hide":
            kept = group >= 0
            group, values, counts = group[kept], values[kept], counts[kept]
        return Generalized.from_sets(self.table.schema, sets, group, values, counts)

    def columns_left(self) -> tuple[ColumnLeft, ...]:
        lattice = self.search.lattice
        return lattice.columns_left(self.node, lattice.kept(*self._classes))

    def people_in_groups(self) -> tuple[Ints, Longs, Ints]:
        cells, (classes, passing) = self.table.cells(), self._classes
        number = np.where(passing, np.arange(len(classes)), -1).astype(np.int32)
        group = self.search.lattice.membership(self.node, cells.codes[:, : len(cells.schema.quasi)])
        return cells.codes, cells.counts, number[group]

    def _valued(self, lattice: EngineLattice) -> tuple[Classes, Ints]:
        try:
            return lattice.valued(self.node)
        except TooMany:
            pass
        most = counted(self.table.most_cells, "distinct row", "distinct rows")
        raise InputError(
            f"The release has more than {most} with the sensitive values, which are not kept in memory: it can be written, "
            "but not looked at here. Raise most_cells of Table."
        )

    def headcount(self) -> Headcount:
        best = self.outcome.best
        assert best is not None
        people, suppressed = self.search.lattice.people - self.hidden, best.suppressed - self.hidden
        return Headcount(people, best.classes, suppressed, self.publisher.suppressed_rows, self.hidden)

    def details(self) -> dict[str, Any]:
        best, publisher = self.outcome.best, self.publisher
        assert best is not None
        levels_of = self.search.lattice.levels_of
        return {
            "suppression": publisher.suppression,
            "utility": publisher.utility,
            "others_as_quasi": publisher.others_as_quasi,
            "suppressed_rows": publisher.suppressed_rows,
            "hidden": self.hidden,
            "node": levels_of(best.node),
            "loss": self.loss,
            "cost": best.cost,
            "nodes": self.outcome.nodes,
            "checked": self.outcome.checked,
            "optimal": self.outcome.optimal,
            "bound": self.outcome.bound,
            "rollups": self.search.lattice.rollups,
            "not_looked_at": self.outcome.not_looked_at,
            "minimal": None if self.outcome.minimal is None else [levels_of(node) for node in self.outcome.minimal],
        }

    def notes(self) -> tuple[tuple[str, str], ...]:
        outcome = self.outcome
        search = f"{outcome.checked:,} of {counted(outcome.nodes, 'node', 'nodes')} checked"
        left = counted(outcome.not_looked_at, "node was", "nodes were")
        why = f"{left} not looked at" if outcome.not_looked_at else "time ran out"
        proof = "optimal" if outcome.optimal else f"{why}; no node costs less than {outcome.bound:.4f}"
        levels = self.search.lattice.levels_of(self.node)
        notes = [
            ("levels", ", ".join(f"{name} {level}" for name, level in levels.items())),
            ("loss", f"{self.loss:.4f}   ({search}, {proof})"),
        ]
        if self.search.lattice.rollups == "engine":
            most = counted(self.table.most_cells, "distinct row", "distinct rows")
            notes.append(("roll-ups", f"in the engine: the table has more than {most}"))
        if outcome.not_looked_at:
            notes.append(("too large", f"{left} not looked at, which might be better; --most-cells allows more"))
        if outcome.minimal is not None:
            notes.append(("minimal", f"{counted(len(outcome.minimal), 'node', 'nodes')}; --json lists them"))
        return tuple(notes)

    @property
    def hidden(self) -> int:
        """Rows that are left out of the release."""
        assert self.outcome.best is not None
        return self.outcome.best.suppressed if self.publisher.suppressed_rows == "hide" else 0

    @cached_property
    def loss(self) -> float:
        """The loss of the release, whatever utility was searched for."""
        if self.publisher.utility == "loss":
            assert self.outcome.best is not None
            return self.outcome.best.cost
        from dalenius.publishers.search import Search

        plain = Search(self.search.lattice, self.search.criteria, suppression=self.publisher.suppression)
        classes, passing = self._classes
        return plain.cost(self.node, classes, passing)

    def _write_rows(self, targets: Sequence[Path | TableName], *, shuffle: bool) -> None:
        lattice, texts = self.search.lattice, self.table.texts()
        schema = self.table.schema
        labels: dict[str, dict[str, str]] = {}
        for a, column in enumerate(schema.quasi):
            map_ = lattice.trees[a].maps[self.node[a]]
            sets = (np.flatnonzero(map_ == code).astype(np.int32) for code in range(len(self._labels[a])))
            check_labels(
                self.table.declared[column.name], column.leaves, zip(self._labels[a], sets, strict=True), schema
            )
            labels[column.name] = {text: self._labels[a][map_[leaf]] for text, leaf in texts[column.name].items()}
        classes, passing = self._classes
        suppress, hide = [], self.publisher.suppressed_rows == "hide"
        if not passing.all():
            if not schema.suppressed and not hide:
                raise InputError('Rows must be suppressed, and the schema has no mark for it: suppressed = ["*"].')
            for rep in classes.rep[~passing].tolist():
                codes = [lattice.trees[a].maps[level][classes.leaves[rep, a]] for a, level in enumerate(self.node)]
                suppress.append(tuple(self._labels[a][code] for a, code in enumerate(codes)))
        mark = schema.suppressed[0] if schema.suppressed else "*"
        plan = Recoding(written_columns(self.table), labels, suppress, mark, shuffle, self._tallies(mark), hide)
        self.table.rows.write(plan, targets[0])

    def _tallies(self, mark: str) -> list[Tally]:
        """Return what was decided: the people of each class by their sensitive values, and those whose labels are suppressed.

        Where the engine counted sizes alone, those, and the sensitive values of all people together, unless some are left out.
        """
        lattice, schema, texts = self.search.lattice, self.table.schema, self.table.texts()
        classes, passing = self._classes
        names = [column.name for column in schema.quasi]
        labels = {name: [*own, mark] for name, own in zip(names, self._labels, strict=True)}
        maps = [tree.maps[level] for tree, level in zip(lattice.trees, self.node, strict=True)]
        index = np.column_stack([map_[classes.leaves[classes.rep, a]] for a, map_ in enumerate(maps)]).astype(np.int32)
        index[~passing] = [len(own) for own in self._labels]
        known = {column.name: texts[column.name] for column in schema.sensitive}
        is_published = passing if self.publisher.suppressed_rows == "hide" else np.ones(len(classes), dtype=bool)
        if not isinstance(lattice, EngineLattice):
            cells, m = self.table.cells(), len(schema.quasi)
            group = lattice.membership(self.node, cells.codes[:, :m])
            some = is_published[group]
            return [labelled(labels, index[group[some]], known, cells.codes[some, m:], cells.counts[some])]
        everybody = self.table.marginals()
        if lattice.tuples.shape == everybody.tuples.shape:
            group = np.repeat(np.arange(len(classes)), np.diff(classes.start))
            some = is_published[group]
            values = everybody.tuples[classes.values[some]]
            return [labelled(labels, index[group[some]], known, values, classes.counts[some])]
        nothing = np.empty((int(is_published.sum()), 0), dtype=np.int32)
        sizes = labelled(labels, index[is_published], {}, nothing, classes.sizes[is_published])
        return [sizes, Tally(known, everybody.tuples, everybody.counts)] if is_published.all() else [sizes]
