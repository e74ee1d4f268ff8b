"""What a release teaches about the population: the posterior of the model of methods A, for every value and attribute.

π_S ~ Dir(α), and for every value s and attribute a π_{a|s} ~ Dir(β_a); attributes are independent given s, rows are i.i.d.
A generalized release factorises: given it the pairs (a, s) are independent, and only the numbers of rows with value s
whose attribute a was published as a set matter, never the number of people. Where the sets are nested or disjoint the
posterior is a Dirichlet tree, and its means are exact; where they overlap and the ways to share their rows out among the
leaves are few, all of these are gone through.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from dalenius.arrays import Floats, Longs
from dalenius.errors import InputError, nearest
from dalenius.kernels.dirichlet_tree import tree_means
from dalenius.releases import Generalized, Grouping
from dalenius.releases.leaf_sets import LeafSets
from dalenius.schema import Column, Schema

WAYS = 5_000  # ways to share the rows of overlapping sets out that are gone through one by one


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """α for each value, β for each leaf of each quasi-identifier."""

    alpha: Floats
    beta: tuple[Floats, ...]

    @classmethod
    def of(cls, schema: Schema, target: Column) -> Prior:
        """The prior that a schema declares; values named in it must be in the domains."""
        prior = schema.prior
        beta = []
        for column in schema.quasi:
            mine = prior.beta.get(column.name, 1.0) if isinstance(prior.beta, Mapping) else prior.beta
            beta.append(_parameters(mine, column, schema, "beta"))
        return cls(_parameters(prior.alpha, target, schema, "alpha"), tuple(beta))


def _parameters(given: float | Mapping[str, float], column: Column, schema: Schema, name: str) -> Floats:
    """One number for all leaves, or a number for some and 1 for the others."""
    if not isinstance(given, Mapping):
        return np.full(len(column.leaves), float(given))
    assert column.domain is not None
    found = np.ones(len(column.leaves))
    others = schema.sensitive if column.role == "sensitive" else ()  # α may name values of several sensitive columns
    for leaf, number in given.items():
        code = column.domain.code(leaf)
        if code < 0 and any(other.domain is not None and leaf in other.domain for other in others):
            continue
        if code < 0:
            raise InputError(
                f"{schema.source}, [prior] {name}: {leaf!r} is not a value of {column.name!r}."
                + ("" if column.role == "sensitive" else nearest(leaf, column.leaves))
            )
        found[code] = float(number)
    return found


class Overlapping(ValueError):
    """Sets overlap in too many ways for an exact answer."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """The posterior of one attribute.

    `leaves[s, l]` is E[π_{a|s}(l)], what is believed of somebody who is not in the release; `shares[s, x]` the probability
    that a row of value s published as a set has the leaf `sets.members[x]`, nan where no such row is; `hidden[s, l]` the same
    for a suppressed row.
    """

    sets: LeafSets
    leaves: Floats
    shares: Floats
    hidden: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """The posterior given a generalized release."""

    release: Generalized
    grouping: Grouping
    values: Floats  # E[π_S]
    attributes: tuple[Attribute, ...]
    hidden: Longs  # suppressed rows of each value
    pending: tuple[Pending, ...] = ()  # what has no exact answer: its entries are nan

    @classmethod
    def of(
        cls,
        release: Generalized,
        column: str | None = None,
        *,
        exact: bool = True,
        rows: bool = True,
        ways: bool = True,
    ) -> Population:
        """Exact, or an `Overlapping` that names the attribute; with `exact` false the rest is left pending.

        Without `rows` only what a learner needs is worked out: there are no `shares`. Without `ways` sets that overlap are
        not gone through, however few ways there are to share them out.
        """
        grouping = release.grouping(column)
        prior = Prior.of(release.schema, grouping.column)
        owner = np.repeat(np.arange(grouping.groups), np.diff(grouping.start))
        hidden = grouping.table.copy()
        np.subtract.at(hidden, grouping.values, grouping.counts)
        attributes = []
        pending: list[Pending] = []
        for a, (quasi, labels) in enumerate(zip(release.schema.quasi, release.labels, strict=True)):
            counts = np.zeros((len(grouping.table), len(labels)), dtype=np.int64)
            np.add.at(counts, (grouping.values, release.codes[owner, a]), grouping.counts)
            sets = release.leaf_sets(a)
            try:
                found, left = _attribute(sets, counts, hidden, prior.beta[a], a, exact=exact, rows=rows, ways=ways)
            except Overlapping:
                raise Overlapping(quasi.name) from None
            attributes.append(found)
            pending += left
        values = (prior.alpha + grouping.table) / (prior.alpha.sum() + grouping.table.sum())
        return cls(release, grouping, values, tuple(attributes), hidden, tuple(pending))

    def filled(self, means: list[Floats]) -> Population:
        """With means that were sampled in the places of what is pending: for each pair its leaves and its rows' leaves."""
        touched = {pending.attribute for pending in self.pending}
        attributes = [
            Attribute(a.sets, a.leaves.copy(), a.shares.copy(), a.hidden.copy()) if i in touched else a
            for i, a in enumerate(self.attributes)
        ]
        for i, pending in enumerate(self.pending):
            pending.fill(attributes[pending.attribute], means[2 * i], means[2 * i + 1])
        return dataclasses.replace(self, attributes=tuple(attributes), pending=())


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """An attribute and a value whose sets overlap in too many ways: the sets, how many rows say each, and the prior.

    `order[i]` is the published set that the family's set i + extra is; `extra` is 1 if the first one is that of suppressed
    rows alone.
    """

    attribute: int
    value: int
    family: LeafSets
    said: Longs
    order: Longs
    extra: int
    hidden: bool
    beta: Floats

    def fill(self, found: Attribute, leaves: Floats, shares: Floats) -> None:
        """Put means that were sampled into their places; `shares` has an entry for each member of the family."""
        found.leaves[self.value] = leaves
        if self.hidden:
            found.hidden[self.value] = shares[: found.sets.leaves]  # the first set is everything
        for i, v in enumerate(self.order.tolist() if found.shares.size else ()):
            mine = slice(int(found.sets.first[v]), int(found.sets.first[v + 1]))
            theirs = slice(int(self.family.first[i + self.extra]), int(self.family.first[i + self.extra + 1]))
            found.shares[self.value, mine] = shares[theirs]


def _attribute(
    sets: LeafSets, counts: Longs, hidden: Longs, beta: Floats, number: int, *, exact: bool, rows: bool, ways: bool
) -> tuple[Attribute, list[Pending]]:
    """One value after the other. Sets that no row of a value says change nothing, so a laminar family does for all."""
    size = len(counts)
    found = Attribute(
        sets,
        np.empty((size, sets.leaves)),
        np.full((size, len(sets.members) if rows else 0), np.nan),
        np.full((size, sets.leaves), np.nan),
    )
    widths = np.diff(sets.first)
    order = np.argsort(-widths, kind="stable")
    laminar = True
    pending = []
    families: dict[bool, LeafSets] = {}  # of all sets, with suppressed rows and without: the same for all values
    for s in range(size):
        if laminar:
            laminar = _fill_tree(found, s, order, counts[s], int(hidden[s]), beta, families)
        if not laminar:
            mine = order[counts[s, order] > 0]
            if _fill_tree(found, s, mine, counts[s], int(hidden[s]), beta):
                continue
            if not ways or not _fill_ways(found, s, mine, counts[s], int(hidden[s]), beta):
                if exact:
                    raise Overlapping
                family, said = _family(sets, mine, counts[s], int(hidden[s]))
                extra = len(family) - len(mine)
                pending.append(Pending(number, s, family, said, mine, extra, bool(hidden[s]), beta))
    return found, pending


def _family(sets: LeafSets, order: Longs, counts: Longs, hidden: int) -> tuple[LeafSets, Longs]:
    """Some sets and how many rows say each, the largest first; suppressed rows say that they are any leaf."""
    chosen = [sets[v] for v in order.tolist()]
    said = _said(sets, order, counts, hidden)
    if len(said) > len(chosen):
        chosen = [np.arange(sets.leaves, dtype=np.int32), *chosen]
    return LeafSets.of(chosen, sets.leaves), said


def _said(sets: LeafSets, order: Longs, counts: Longs, hidden: int) -> Longs:
    """How many rows say each set of a family; suppressed rows say the first, which is every leaf."""
    said = counts[order].copy()
    if hidden and len(order) and len(sets[int(order[0])]) == sets.leaves:
        said[0] += hidden
    elif hidden:
        said = np.concatenate(([hidden], said))
    return said


def _fill_tree(
    found: Attribute,
    s: int,
    order: Longs,
    counts: Longs,
    hidden: int,
    beta: Floats,
    families: dict[bool, LeafSets] | None = None,
) -> bool:
    if families is not None and bool(hidden) in families:
        family = families[bool(hidden)]
        said = _said(found.sets, order, counts, hidden)
    else:
        family, said = _family(found.sets, order, counts, hidden)
        if families is not None:
            families[bool(hidden)] = family
    ok, leaves, means = tree_means(family.first, family.members, said, beta)
    if not ok:
        return False
    found.leaves[s] = leaves
    if hidden:
        found.hidden[s] = leaves
    extra = len(family) - len(order)
    for i, v in enumerate(order.tolist() if found.shares.size else ()):
        part = slice(int(found.sets.first[v]), int(found.sets.first[v + 1]))
        found.shares[s, part] = leaves[found.sets.members[part]] / means[i + extra]
    return True


def _fill_ways(found: Attribute, s: int, order: Longs, counts: Longs, hidden: int, beta: Floats) -> bool:
    """Go through all ways in which the rows of the sets can be shared out among the leaves, unless they are too many."""
    family, said = _family(found.sets, order, counts, hidden)
    number = 1
    for v, n in enumerate(said.tolist()):
        number *= math.comb(int(n) + len(family[v]) - 1, len(family[v]) - 1)
        if number > WAYS:
            return False
    total, expected = 0.0, np.zeros(found.sets.leaves)
    rows = [np.zeros(len(family[v])) for v in range(len(family))]
    base = float(gammaln(beta).sum())
    logs = np.array([_log(way, family, beta, base) for way in _ways(family, said)])
    for way, weight in zip(_ways(family, said), np.exp(logs - logs.max()).tolist(), strict=True):
        total += weight
        for v, counts_of in enumerate(way):
            rows[v] += weight * np.array(counts_of)
            expected[family[v]] += weight * np.array(counts_of)
    found.leaves[s] = (beta + expected / total) / (beta.sum() + said.sum())
    extra = len(family) - len(order)
    if hidden:
        found.hidden[s, family[0]] = rows[0] / (total * said[0])
    for i, v in enumerate(order.tolist() if found.shares.size else ()):
        part = slice(int(found.sets.first[v]), int(found.sets.first[v + 1]))
        found.shares[s, part] = rows[i + extra] / (total * said[i + extra])
    return True


Way = tuple[tuple[int, ...], ...]  # for each set how many of its rows have each of its leaves


def _ways(family: LeafSets, said: Longs) -> Iterator[Way]:
    return itertools.product(*(list(_shared(int(n), len(family[v]))) for v, n in enumerate(said.tolist())))


def _shared(rows: int, leaves: int) -> Iterator[tuple[int, ...]]:
    """All ways to share rows out among leaves."""
    if leaves == 1:
        yield (rows,)
        return
    for n in range(rows + 1):
        for rest in _shared(rows - n, leaves - 1):
            yield (n, *rest)


def _log(way: Way, family: LeafSets, beta: Floats, base: float) -> float:
    """The logarithm of a way's probability, up to a constant: multinomials of the sets times the Dirichlet integral."""
    counts = np.zeros(len(beta))
    log = 0.0
    for v, mine in enumerate(way):
        shared = np.array(mine, dtype=np.float64)
        counts[family[v]] += shared
        log -= float(gammaln(shared + 1).sum())
    return log + float(gammaln(beta + counts).sum()) - base
