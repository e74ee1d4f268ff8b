"""Which group of a release each person is in. A deFinetti attacker knows this, and only the steward can find out.

The release has one line per person. If the lines are in the order of the table, as `publish` writes them without --shuffle, each
person's group is known. Held-out people have no group: each takes the place of somebody like them. For centroids, this module
measures how often the nearest one is that of a person's own group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.adversaries import UNKNOWN, Targets
from dalenius.adversaries.models.fit import distinct_targets, equal_rows
from dalenius.adversaries.models.location import places
from dalenius.arrays import Floats, Ints, Longs
from dalenius.auditing.people import Control, People
from dalenius.coding import canonical_texts, merge
from dalenius.engines import Engine, Source
from dalenius.releases import Anatomized, Centroids, GroupCells, Release, first_rows
from dalenius.releases.reading import COUNT, GROUP, plain_number, rank_ids
from dalenius.schema import Column, Schema
from dalenius.table import Table

__all__ = [
    "NO_FILE",
    "NO_LINES",
    "NO_ORDER",
    "OTHER_MEANS",
    "OTHER_ORDER",
    "SensitiveValues",
    "control_in_groups",
    "in_groups",
    "own_groups",
    "people_in_groups",
    "people_in_own_groups",
    "right_group",
]

OTHER_ORDER = "the lines of the release are not in the order of the table"
NO_ORDER = "the order of the table's rows is unknown; pass the table as a file"
NO_FILE = "the release was not read from a file, so its lines are unknown"
NO_LINES = "the release does not have one line per person"
OTHER_MEANS = (
    "the lines of the release are not in the order of the table, or its centroids are not the means of their rows"
)


def in_groups(table: Table, codes: Ints, group: Ints, people: Longs | None = None) -> People:
    """Return people with their groups, from the codes of all coded columns row by row. A row is one person unless `people` says."""
    schema = table.schema
    sizes = [int(group.max(initial=0)) + 1, *(len(column.leaves) for column in schema.coded)]
    people = np.ones(len(codes), dtype=np.int64) if people is None else people
    both, counts = merge(np.column_stack([group, codes]).astype(np.int32), people, sizes)
    m = len(schema.quasi)
    return People(table, Targets(schema, both[:, 1 : m + 1], both[:, 0]), both[:, m + 1 :], counts)


def people_in_groups(people: People, release: Anatomized, source: Source | Release, engine: Engine) -> People | str:
    """Return the people of the table with their groups, if the release's lines are in the order of the table's rows.

    Otherwise, or if the order is unknown, return the reason.
    """
    rows, theirs = people.table.rows, first_rows(source, engine)
    if theirs is None:
        return NO_FILE
    if not (rows.numbered and theirs.numbered):
        return NO_ORDER
    schema = people.targets.schema
    names = [column.name for column in schema.quasi]
    lines = list(zip(*theirs.read([GROUP, *names]), strict=True))
    codes = _row_codes(people)
    if len(lines[0]) != len(codes):
        return NO_LINES
    for column, own, texts in zip(schema.quasi, codes.T[: len(names)], lines[1:], strict=True):
        if not np.array_equal(own, _coded(texts, _leaves(texts, schema, column.name))):
            return OTHER_ORDER
    group = _coded(lines[0], release.group_numbers())
    m = len(schema.quasi)
    values = GroupCells.gather(
        group, codes[:, m:], np.ones(len(codes), dtype=np.int64), [len(c.leaves) for c in schema.sensitive]
    )
    if values != release.sensitive:  # the rows look the same, but belong to other people
        return OTHER_ORDER
    return in_groups(people.table, codes, group)


def _row_codes(people: People) -> Ints:
    """Return the codes of all coded columns, row by row in the order of the table."""
    schema, known = people.targets.schema, people.table.texts()
    table = zip(*people.table.rows.read([column.name for column in schema.coded]), strict=True)
    return np.column_stack([_coded(texts, known[c.name]) for c, texts in zip(schema.coded, table, strict=True)])


def _coded(texts: Sequence[str], known: Mapping[str, int]) -> Ints:
    return np.fromiter((known.get(text, UNKNOWN) for text in texts), dtype=np.int32, count=len(texts))


def _leaves(texts: Sequence[str], schema: Schema, name: str) -> dict[str, int]:
    """Return the code of each text of a column."""
    column, distinct = schema[name], list(dict.fromkeys(texts))
    assert column.domain is not None
    leaves = canonical_texts(column, distinct, schema, where="the release", locate=lambda *_: "some row")
    return {text: column.domain.code(leaf) for text, leaf in zip(distinct, leaves, strict=True)}


def control_in_groups(holdout: Control) -> Control:
    """Return held-out people in the groups of people like them, divided among the groups by their shares of such people.

    People like nobody in the release have no group.
    """
    links, people = holdout.release.links(), holdout.people
    assert links is not None  # groups matter only for such releases
    schema, cells = links.schema, links.quasi
    sizes = [len(column.leaves) for column in schema.quasi]
    parts: list[tuple[Longs, Ints, Floats]] = []
    for some, start, taken in equal_rows(people.targets.codes, cells.codes, sizes):
        target, rows = np.repeat(some, np.diff(start)), cells.counts[taken].astype(np.float64)
        alike = np.bincount(target, weights=rows, minlength=len(people.people))
        parts.append((target, cells.group[taken], people.people[target] * rows / alike[target]))
    has_group = np.zeros(len(people.people), dtype=bool)
    for target, _, _ in parts:
        has_group[target] = True
    lost = np.flatnonzero(~has_group)
    parts.append((lost, np.full(len(lost), UNKNOWN, dtype=np.int32), people.people[lost].astype(np.float64)))
    target, group, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    targets = Targets(people.targets.schema, people.targets.codes[target], group.astype(np.int32))
    return Control(holdout.release, People(people.table, targets, people.values[target], weight), holdout.drawn)


# Centroids --------------------------------------------------------------------------------------------------------------


def people_in_own_groups(people: People, release: Centroids, source: Source | Release, engine: Engine) -> People | str:
    """Return the people of the table with their groups, or the reason why these are not known."""
    if not people.table.rows.numbered:
        return NO_ORDER
    codes, quasi = _row_codes(people), len(release.schema.quasi)
    if (codes < 0).any():
        return OTHER_MEANS
    sizes = [len(column.leaves) for column in release.schema.sensitive]
    values = SensitiveValues(codes[:, quasi:], release.sensitive, sizes)
    group = own_groups(release, codes[:, :quasi], values, source, engine)
    return group if isinstance(group, str) else in_groups(people.table, codes, group)


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveValues:
    """The sensitive values of rows, and those of the groups of a release, in the same coding with `sizes` codes."""

    rows: Ints  # one row per person, one column per sensitive column
    groups: GroupCells
    sizes: list[int]


def own_groups(
    release: Centroids, quasi: Ints, values: SensitiveValues, source: Source | Release, engine: Engine
) -> Ints | str:
    """Return the group of each person, or the reason why it is not known.

    The groups are known if the people of each group, taken in the order of the release's lines, have the centroid and the
    sensitive values that the release publishes for it. `quasi` has a row of codes for each person. A column in which somebody's
    value is unknown is not compared.
    """
    lines = first_rows(source, engine)
    if lines is None:
        return NO_FILE
    if not lines.numbered:
        return NO_ORDER
    extra = set(lines.columns) - {column.name for column in release.schema.columns}
    texts = list(lines.read([GROUP] if GROUP in extra else [column.name for column in release.schema.quasi]))
    if COUNT in extra or len(texts) != len(quasi):
        return NO_LINES
    group = _ranked([text for (text,) in texts]) if GROUP in extra else _at_points(texts, release)
    return group if _made_of(release, quasi, values, group) else OTHER_MEANS


def _ranked(ids: Sequence[str]) -> Ints:
    """Return the group of each line. Groups are numbered in the order of their ids."""
    distinct = sorted(set(ids))
    rank = dict(zip(distinct, rank_ids(distinct).tolist(), strict=True))
    return np.array([rank[text] for text in ids], dtype=np.int32)


def _at_points(lines: Sequence[Sequence[str]], release: Centroids) -> Ints:
    """Return the group of each line of a release without ids, in which equal centroids are one group."""

    def point(column: Column, text: str) -> float | None:
        if column.type != "integer":
            assert column.domain is not None
            return column.domain.code(column.canonical(text, release.schema.missing))
        return None if text == "" or text in release.schema.missing else plain_number(text)

    number = {
        tuple(None if x != x else x for x in known): q for q, known in enumerate(release.points.tolist())
    }  # nan is not equal to itself
    place = {
        line: number.get(tuple(point(column, text) for column, text in zip(release.schema.quasi, line, strict=True)))
        for line in dict.fromkeys(map(tuple, lines))
    }
    return np.array([UNKNOWN if (q := place[tuple(line)]) is None else q for line in lines], dtype=np.int32)


def _made_of(release: Centroids, quasi: Ints, values: SensitiveValues, group: Ints) -> bool:
    """Return whether these people, in these groups, have the centroids and the values that are published."""
    if (group < 0).any() or (values.rows < 0).any():
        return False
    ones = np.ones(len(group), dtype=np.int64)
    if GroupCells.gather(group, values.rows, ones, values.sizes) != values.groups:
        return False
    return all(
        (_are_means if column.type == "integer" else _are_commonest)(release.points[:, a], column, quasi[:, a], group)
        for a, column in enumerate(release.schema.quasi)
        if (quasi[:, a] != UNKNOWN).all()
    )


def _are_means(points: Floats, column: Column, codes: Ints, group: Ints) -> bool:
    assert column.domain is not None
    values = column.domain.values()[codes]
    known = ~np.isnan(values)
    people, total = (np.bincount(group[known], weights, len(points)) for weights in (None, values[known]))
    means = np.divide(total, people, out=np.full(len(points), np.nan), where=people > 0)
    return bool(np.allclose(means, points, rtol=1e-6, atol=1e-6, equal_nan=True))


def _are_commonest(points: Floats, column: Column, codes: Ints, group: Ints) -> bool:
    pairs, counts = merge(
        np.column_stack([group, codes]), np.ones(len(codes), dtype=np.int64), [len(points), len(column.leaves)]
    )
    first = np.searchsorted(pairs[:, 0], np.arange(len(points)))
    most = np.maximum.reduceat(counts, first)
    published = pairs[:, 1] == points[pairs[:, 0]]
    return bool((np.bincount(pairs[published, 0], counts[published], len(points)) == most).all())


def right_group(release: Centroids, people: People) -> tuple[float, int]:
    """Return for how many people the nearest centroid is their own group's, and how many people there are.

    The groups of all these people are known. Of c centroids that are equally near, each counts 1/c.
    """
    assert people.targets.group is not None
    known, number = distinct_targets(people.targets)
    own = number.astype(np.int64) * release.groups + people.targets.group
    chance = np.zeros(len(own))
    for some, start, which in places(release, known, sure=False):
        ties = np.diff(start)
        here = np.isin(own, np.repeat(some, ties) * release.groups + which)
        share = np.zeros(len(known))
        share[some] = 1 / ties
        chance[here] = share[number[here]]
    return float(chance @ people.people), people.count
