"""Who is in which group of an anatomized release: what a deFinetti attacker knows, and only the steward can tell.

The release has a line for each person. If these stand in the order of the table, as `publish` writes them without
--shuffle, each person's group is known. Held-out people have none: each is put in the place of somebody like them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import UNKNOWN, Targets
from dalenius.adversary.fit import equal_rows
from dalenius.audit.people import Control, People
from dalenius.coding import canonical_texts, merge
from dalenius.engine import Engine
from dalenius.release import Anatomized, GroupCells, find_files
from dalenius.release.reading import GROUP
from dalenius.schema import Schema
from dalenius.table import Table

Ints = NDArray[np.int32]
OTHER_ORDER = "the lines of the release are not in the order of the table"


def in_groups(table: Table, codes: Ints, group: Ints) -> People:
    """People with their groups: row by row the codes of all coded columns, and the group."""
    schema = table.schema
    sizes = [int(group.max(initial=0)) + 1, *(len(column.leaves) for column in schema.coded)]
    both, counts = merge(np.column_stack([group, codes]).astype(np.int32), np.ones(len(codes), dtype=np.int64), sizes)
    m = len(schema.quasi)
    return People(table, Targets(schema, both[:, 1 : m + 1], both[:, 0]), both[:, m + 1 :], counts)


def located(people: People, release: Anatomized, source: str | Path, engine: Engine) -> People | str:
    """The people of the table with their groups, if lines of the release and rows of the table are in one order.

    If not, or if that cannot be known, the reason.
    """
    rows, theirs = people.table.rows, engine.open(find_files(str(source))[1][0])
    if not (rows.numbered and theirs.numbered):
        return "the rows of the table have no order that is known; name the table as a file"
    schema = people.targets.schema
    names = [column.name for column in schema.quasi]
    lines = list(zip(*theirs.read([GROUP, *names]), strict=True))
    table = list(zip(*rows.read([column.name for column in schema.coded]), strict=True))
    if len(lines[0]) != len(table[0]):
        return "the release has not a line for each person"
    known = people.table.texts()
    codes = np.column_stack([_coded(texts, known[c.name]) for c, texts in zip(schema.coded, table, strict=True)])
    for column, mine, texts in zip(schema.quasi, codes.T[: len(names)], lines[1:], strict=True):
        if not np.array_equal(mine, _coded(texts, _leaves(texts, schema, column.name))):
            return OTHER_ORDER
    group = _coded(lines[0], release.named())
    m = len(schema.quasi)
    values = GroupCells.gather(
        group, codes[:, m:], np.ones(len(codes), dtype=np.int64), [len(c.leaves) for c in schema.sensitive]
    )
    if values != release.sensitive:  # the rows look alike and are others
        return OTHER_ORDER
    return in_groups(people.table, codes, group)


def _coded(texts: Sequence[str], known: Mapping[str, int]) -> Ints:
    return np.fromiter((known.get(text, UNKNOWN) for text in texts), dtype=np.int32, count=len(texts))


def _leaves(texts: Sequence[str], schema: Schema, name: str) -> dict[str, int]:
    """The code of each text of a column."""
    column, distinct = schema[name], list(dict.fromkeys(texts))
    assert column.domain is not None
    leaves = canonical_texts(column, distinct, schema, where="the release", locate=lambda *_: "some row")
    return {text: column.domain.code(leaf) for text, leaf in zip(distinct, leaves, strict=True)}


def in_place(holdout: Control) -> Control:
    """Held-out people in the places of people who are as they are: in each group by its share of these.

    Who is like nobody in the release has no group, and keeps none.
    """
    release, people = holdout.release, holdout.people
    assert isinstance(release, Anatomized)
    schema, cells = release.schema, release.quasi
    sizes = [len(column.leaves) for column in schema.quasi]
    parts: list[tuple[NDArray[np.int64], Ints, NDArray[np.float64]]] = []
    for some, start, taken in equal_rows(people.targets.codes, cells.codes, sizes):
        target, rows = np.repeat(some, np.diff(start)), cells.counts[taken].astype(np.float64)
        alike = np.bincount(target, weights=rows, minlength=len(people.people))
        parts.append((target, cells.group[taken], people.people[target] * rows / alike[target]))
    placed = np.zeros(len(people.people), dtype=bool)
    for target, _, _ in parts:
        placed[target] = True
    lost = np.flatnonzero(~placed)
    parts.append((lost, np.full(len(lost), UNKNOWN, dtype=np.int32), people.people[lost].astype(np.float64)))
    target, group, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    targets = Targets(people.targets.schema, people.targets.codes[target], group.astype(np.int32))
    return Control(release, People(people.table, targets, people.values[target], weight), holdout.drawn)
