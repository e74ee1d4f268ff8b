"""Several releases of one table side by side: what each costs, and what level of privacy it reaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dalenius import engine as _engine
from dalenius.audit.people import People, check_same_people, together
from dalenius.criterion import DistinctDiversity, KAnonymity, TCloseness
from dalenius.engine import Engine, Source
from dalenius.errors import InputError
from dalenius.measure.fidelity import Truth, fidelity
from dalenius.measure.queries import QUERIES
from dalenius.measure.remaining import ColumnLeft, columns_left
from dalenius.schema import Schema

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
LEVELS = ("k", "l", "t")


@dataclass(frozen=True, slots=True)
class Compared:
    """One release: its kind, and the numbers that can be measured of it."""

    name: str
    kind: str
    classes: int | None
    levels: Mapping[str, float]
    costs: Mapping[str, float]
    columns_left: tuple[ColumnLeft, ...] = ()


def compare(
    releases: Mapping[str, Source],
    truth: Source,
    schema: Schema,
    *,
    kind: str | None = None,
    engine: Engine | None = None,
    queries: int = QUERIES,
    seed: int = 0,
) -> list[Compared]:
    """Measure every release against the table, with one coding and one workload of count queries."""
    if not releases:
        raise InputError("Name at least one release to compare.")
    opened, table = together(releases, truth, schema, kind=kind, engine=engine or _engine.default())
    cells = table.cells()
    people, everybody = Truth.of(cells), People.of(table)
    found = []
    for name, release in opened.items():
        grouped = release.classes()
        if grouped is None and release.counts() is None:
            raise InputError(f"{name}: a release of kind {release.kind!r} is not about a table of people.")
        levels: dict[str, float] = {}
        classes = None
        if grouped is not None:
            check_same_people(grouped, everybody, name)
            classes = grouped.groups
            groupings = [grouped.grouping(column.name) for column in grouped.schema.sensitive]
            levels = {
                "k": KAnonymity(2).level(groupings[0]).value,
                "l": min(DistinctDiversity(2).level(grouping).value for grouping in groupings),
                "t": max(TCloseness(0.5).level(grouping).value for grouping in groupings),
            }
        costs = fidelity(release, people, queries=queries, seed=seed)
        found.append(Compared(name, release.kind, classes, levels, costs, columns_left(release)))
    return found
