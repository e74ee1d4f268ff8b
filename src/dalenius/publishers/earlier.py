"""What earlier releases leave of the people of a table: the `Given` that a new release is planned with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dalenius.adversaries import UNKNOWN, Targets
from dalenius.adversaries.intersection import intersect
from dalenius.adversaries.models.location import places
from dalenius.arrays import Bools, Ints, Longs
from dalenius.coding import canonical_texts, distinct_rows
from dalenius.errors import InputError, ParameterError, counted
from dalenius.hierarchy import MISSING
from dalenius.kernels.intersect import common_sizes, value_bits
from dalenius.publishers.given import Earlier, Given
from dalenius.releases import GroupedRelease
from dalenius.schema import Schema
from dalenius.table import Table

__all__ = ["given", "needed", "one_sensitive"]


def given(
    table: Table,
    releases: Sequence[GroupedRelease],
    *,
    columns: Sequence[str] | None = None,
    l: int = 2,  # noqa: E741 - the literature's letter
    confidence: float = 1.0,
    mapping: Mapping[str, str] | None = None,
    names: Sequence[str] | None = None,
) -> Given:
    """Return what releases leave of the people of a table, each known by the quasi-identifiers that both have.

    `columns` names the sensitive column of each release; `mapping` tells values that have another name; `names` are what messages
    call the releases. A value missing in the table is not known. Somebody with a value that a release's declared domain does not
    have is not located by it.
    """
    least = needed(l, confidence)
    sensitive = one_sensitive(table.declared)
    if table.many:
        raise InputError(
            f"{table.rows.name} has more than {counted(table.most_cells, 'distinct row', 'distinct rows')}, and earlier releases "
            "are compared with them one by one. Raise --most-cells (in Python, most_cells of Table), or coarsen columns."
        )
    schema, cells = table.schema, table.cells()
    m = len(schema.quasi)
    quasi, number = distinct_rows(cells.codes[:, :m], [len(column.leaves) for column in schema.quasi])
    people = np.bincount(number, weights=cells.counts, minlength=len(quasi)).astype(np.int64)
    own = [sensitive] * len(releases) if columns is None else list(columns)
    bound = [schema[sensitive], *(release.schema[name] for release, name in zip(releases, own, strict=True))]
    called = mapping or {}
    place: dict[str, int] = {}
    codes = [
        np.array([place.setdefault(called.get(leaf, leaf), len(place)) for leaf in column.leaves], dtype=np.int64)
        for column in bound
    ]
    values = tuple(place)
    different = len(np.unique(codes[0][cells.codes[:, m]]))
    if least > different:
        raise InputError(
            f"{least} values are impossible: the table has only {counted(different, 'sensitive value', 'sensitive values')}. "
            "Lower --given-l, or raise --given-confidence."
        )
    left, sure = (np.full((len(quasi), max(1, -(-len(values) // 64))), ~np.uint64(0)) for _ in range(2))
    located = np.zeros(len(quasi), dtype=bool)
    earlier = []
    for j, (release, code, name) in enumerate(zip(releases, codes[1:], own, strict=True)):
        targets, inside = _targets(schema, quasi, release.schema)
        common = intersect([release], [targets], values, [code], [name])
        here = common.located[0] & inside
        left[here] &= common.left[here]
        anybody = intersect([release], [targets], values, [code], [name], sure=True) if release.suppressed else common
        sure[here] &= anybody.left[here]
        located |= here
        called_as = f"release {j + 1}" if names is None else names[j]
        earlier.append(Earlier(called_as, release, name, code, *_joined_and_left(release, targets, inside, people)))
    left = np.where(left.any(axis=1, keepdims=True), left, sure)  # no value: somebody was suppressed after all
    each, nobody = np.arange(len(quasi)), np.zeros(len(quasi), dtype=np.int64)
    every, known = (np.zeros((1, left.shape[1]), dtype=np.uint64) for _ in range(2))
    value_bits(np.zeros(len(cells), dtype=np.int64), codes[0][cells.codes[:, m]], every)
    value_bits(np.zeros(len(values), dtype=np.int64), np.arange(len(values)), known)
    before = common_sizes(each, left, nobody, known)
    left = np.where((left & every).any(axis=1, keepdims=True), left, sure) & known  # so the attack goes on, too
    guarded = np.where((left & every).any(axis=1, keepdims=True), left, known)
    most, could = (common_sizes(each, bits, nobody, every) for bits in (left, guarded))
    own_targets, _ = _targets(schema, quasi, schema)
    return Given(
        cells, tuple(earlier), least, values, codes[0], quasi, left, guarded, located, before, most, np.minimum(least, could),
        own_targets,
    )  # fmt: skip


def _joined_and_left(release: GroupedRelease, targets: Targets, inside: Bools, people: Longs) -> tuple[int, int]:
    """Return the fewest people who are in the table and not in a release, and the other way round.

    Where everybody fits one class at most, each class tells; else only the totals do. Suppressed rows may be anybody's.
    """
    total, published = int(people.sum()), release.people
    joined, left = max(0, total - published), max(0, published - total)
    group = np.full(len(people), -1, dtype=np.int64)
    times = np.zeros(len(people), dtype=np.int64)
    for some, start, which in places(release, targets.codes, sure=False):
        owner = np.repeat(some, np.diff(start))
        shown = which < release.groups
        np.add.at(times, owner[shown], 1)
        group[owner[shown]] = which[shown]
    times[~inside] = 0
    if (times > 1).any() or release.regions() is None:
        return joined, left
    there = np.bincount(group[times == 1], weights=people[times == 1], minlength=release.groups).astype(np.int64)
    change = there - release.sizes
    elsewhere = int(people[times == 0].sum())
    return (
        max(joined, elsewhere + int(np.maximum(change, 0).sum()) - release.suppressed),
        max(left, int(np.maximum(-change, 0).sum())),
    )


def needed(l: int, confidence: float) -> int:  # noqa: E741 - the literature's letter
    """Return the fewest values that must be left: ℓ, and so many that none is as likely as more than the confidence."""
    if isinstance(l, bool) or not isinstance(l, int) or l < 2:
        raise ParameterError("l", "given", "an int ≥ 2", l)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence <= 1:
        raise ParameterError("confidence", "given", "a number above 0 and at most 1", confidence)
    return max(l, math.ceil(min(1 / confidence, 1e18) * (1 - 1e-9)))  # the slack: 1/(1/49) is a hair above 49


def one_sensitive(schema: Schema) -> str:
    """Return the name of the sensitive column, of which there must be one."""
    if len(schema.sensitive) > 1:
        raise InputError(
            f"Earlier releases are compared on one sensitive column, and {schema.source} has {len(schema.sensitive)}. Publish "
            'one at a time, and give the others role = "identifier".'
        )
    return schema.sensitive[0].name


def _targets(own: Schema, quasi: Ints, other: Schema) -> tuple[Targets, Bools]:
    """Return people as a release codes them, and whether its domains have their values."""
    codes = np.full((len(quasi), len(other.quasi)), UNKNOWN, dtype=np.int32)
    inside = np.ones(len(quasi), dtype=bool)
    known = {column.name: a for a, column in enumerate(own.quasi)}
    if not any(column.name in known for column in other.quasi):
        raise InputError(
            f"{other.source} has none of the quasi-identifiers of {own.source}: nobody could be found in that release. Name its "
            "own schema with --given-schema, in which columns are called as in the table."
        )
    for b, column in enumerate(other.quasi):
        if column.name not in known:
            continue
        a = known[column.name]
        assert column.domain is not None
        leaves = canonical_texts(
            column, own.quasi[a].leaves, other, where=str(own.source), locate=lambda *_: "some row"
        )
        code = np.array([UNKNOWN if leaf == MISSING else column.domain.code(leaf) for leaf in leaves], dtype=np.int32)
        absent = np.array([leaf != MISSING for leaf in leaves]) & (code < 0)
        codes[:, b] = np.maximum(code, UNKNOWN)[quasi[:, a]]
        inside &= ~absent[quasi[:, a]]
    return Targets(other, codes), inside
