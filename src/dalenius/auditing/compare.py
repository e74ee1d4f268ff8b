"""Compare several releases of the same table: what each costs, and what level of privacy it reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from dalenius import engines as _engine
from dalenius.auditing.people import People, check_same_people, together
from dalenius.criteria import headline_levels, headlines
from dalenius.engines import Engine, Source
from dalenius.errors import InputError
from dalenius.measures.fidelity import Truth, fidelity
from dalenius.measures.queries import QUERIES
from dalenius.measures.remaining import ColumnLeft, columns_left, to_document
from dalenius.releases import Release
from dalenius.result import Result
from dalenius.schema import Schema

__all__ = ["COSTS", "Compared", "Comparison", "compare"]

COSTS = (
    "loss",
    "ncp",
    "precision",
    "discernibility",
    "average_class_size",
    "suppressed",
    "misfit",
    "kl_divergence",
    "relative_error",
    "relative_error_median",
    "faithfulness",
    "faithfulness_stderr",
)


@dataclass(frozen=True, slots=True)
class Compared:
    """One release: its kind, and the numbers that can be measured on it."""

    name: str
    kind: str
    classes: int | None
    levels: Mapping[str, float]
    costs: Mapping[str, float]
    columns_left: tuple[ColumnLeft, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return the release as JSON has it. What cannot be measured on it is null."""
        return {
            "release": self.name,
            "kind": self.kind,
            "classes": self.classes,
            **{key: self.levels.get(key) for key in headlines()},
            **{key: self.costs.get(key) for key in COSTS},
            "columns_left": to_document(self.columns_left),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Result, Sequence[Compared]):
    """Several releases of one table, in the order in which they were named, and the workload they were measured with.

    `to_pandas` has one row for each release: `release`, `kind`, `classes`, the levels `k`, `l` and `t`, and every cost of `COSTS`.
    """

    releases: tuple[Compared, ...]
    queries: int
    seed: int

    def __len__(self) -> int:
        return len(self.releases)

    @overload
    def __getitem__(self, place: int) -> Compared: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Compared, ...]: ...
    def __getitem__(self, place: int | slice) -> Compared | tuple[Compared, ...]:
        return self.releases[place]

    def to_document(self) -> dict[str, Any]:
        """Return the comparison as JSON has it."""
        return {
            "releases": [release.to_document() for release in self.releases],
            "queries": self.queries,
            "seed": self.seed,
        }


def compare(
    releases: Mapping[str, Source | Release] | Sequence[Source | Release],
    truth: Source,
    schema: Schema,
    *,
    kind: str | None = None,
    engine: Engine | None = None,
    queries: int = QUERIES,
    seed: int = 0,
) -> Comparison:
    """Measure every release against the table, with the same coding and the same count queries.

    `releases` is a mapping from names to releases, or a list of files.
    """
    if not releases:
        raise InputError("Name at least one release to compare.")
    if not isinstance(releases, Mapping):
        releases = _by_name(releases)
    read_releases, table = together(releases, truth, schema, kind=kind, engine=engine or _engine.default())
    cells = table.cells()
    people, everybody = Truth.of(cells), People.of(table)
    compared = []
    for name, release in read_releases.items():
        grouped = release.classes()
        if grouped is None and release.counts() is None:
            raise InputError(f"{name}: a release of kind {release.kind!r} is not about a table of people.")
        levels: dict[str, float] = {}
        classes = None
        if grouped is not None:
            check_same_people(grouped, everybody, name)
            classes = grouped.groups
            groupings = [grouped.grouping(column.name) for column in grouped.schema.sensitive]
            levels = headline_levels(groupings)
        costs = fidelity(release, people, queries=queries, seed=seed)
        compared.append(Compared(name, release.kind, classes, levels, costs, columns_left(release)))
    return Comparison(tuple(compared), queries, seed)


def _by_name(releases: Sequence[Source | Release]) -> dict[str, Source | Release]:
    """Return releases by name: a file by its own, each once; anything else is numbered."""
    named: dict[str, Source | Release] = {}
    for i, release in enumerate(releases):
        name = str(release) if isinstance(release, str | Path) else f"release {i + 1}"
        if name in named:
            raise InputError(f"The release {name!r} is named twice.")
        named[name] = release
    return named
