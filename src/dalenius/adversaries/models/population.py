"""What a release reveals about the population: the posterior of the model of methods A, for every value and attribute.

π_S ~ Dir(α), and for every value s and attribute a π_{a|s} ~ Dir(β_a). Attributes are independent given s, rows are i.i.d. A
generalized release factorises: given it, the pairs (a, s) are independent. Only the number of rows with value s whose attribute a
was published as each set matters, never the number of people. If the sets are nested or disjoint, the posterior is a Dirichlet
tree, and its means are exact. If they overlap and there are few ways to distribute their rows over the leaves, all of these are
enumerated.
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

__all__ = ["Attribute", "Overlapping", "Pending", "Population", "Prior"]

MAX_ALLOCATIONS = 5_000  # ways to distribute the rows of overlapping sets over the leaves, if they are enumerated


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """α for each value, β for each leaf of each quasi-identifier."""

    alpha: Floats
    beta: tuple[Floats, ...]

    @classmethod
    def of(cls, schema: Schema, target: Column) -> Prior:
        """Return the prior that a schema declares. The values that it names must be in the domains."""
        prior = schema.prior
        beta = []
        for column in schema.quasi:
            own = prior.beta.get(column.name, 1.0) if isinstance(prior.beta, Mapping) else prior.beta
            beta.append(_parameters(own, column, schema, "beta"))
        return cls(_parameters(prior.alpha, target, schema, "alpha"), tuple(beta))


def _parameters(declared: float | Mapping[str, float], column: Column, schema: Schema, name: str) -> Floats:
    """Return a parameter for each leaf: the declared number, or those declared for some leaves and 1 for the others."""
    if not isinstance(declared, Mapping):
        return np.full(len(column.leaves), float(declared))
    assert column.domain is not None
    parameters = np.ones(len(column.leaves))
    others = schema.sensitive if column.role == "sensitive" else ()  # α may name values of several sensitive columns
    for leaf, number in declared.items():
        code = column.domain.code(leaf)
        if code < 0 and any(other.domain is not None and leaf in other.domain for other in others):
            continue
        if code < 0:
            raise InputError(
                f"{schema.source}, [prior] {name}: {leaf!r} is not a value of {column.name!r}."
                + ("" if column.role == "sensitive" else nearest(leaf, column.leaves))
            )
        parameters[code] = float(number)
    return parameters


class Overlapping(ValueError):
    """Sets overlap too much for an exact answer."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """The posterior of one attribute.

    `leaves[s, l]` is E[π_{a|s}(l)], the belief about a person who is not in the release. `shares[s, x]` is the probability that a
    row of value s published as a set has the leaf `sets.members[x]`, nan where there is no such row. `hidden[s, l]` is the same
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
    pending: tuple[Pending, ...] = ()  # pairs without an exact answer: their entries are nan

    @classmethod
    def of(
        cls,
        release: Generalized,
        column: str | None = None,
        *,
        exact: bool = True,
        rows: bool = True,
        allocations: bool = True,
    ) -> Population:
        """Return the exact posterior, or raise an `Overlapping` that names the attribute. Without `exact` the rest stays pending.

        Without `rows` only what a learner needs is computed: there are no `shares`. Without `allocations` the allocations of
        overlapping sets are not enumerated, even if they are few.
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
                attribute, left = _attribute(
                    sets, counts, hidden, prior.beta[a], a, exact=exact, rows=rows, allocations=allocations
                )
            except Overlapping:
                raise Overlapping(quasi.name) from None
            attributes.append(attribute)
            pending += left
        values = (prior.alpha + grouping.table) / (prior.alpha.sum() + grouping.table.sum())
        return cls(release, grouping, values, tuple(attributes), hidden, tuple(pending))

    def filled(self, means: list[Floats]) -> Population:
        """Return the population with sampled means for the pending pairs: for each pair its leaves and its rows' leaves."""
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
    """An attribute and a value whose sets overlap too much: the sets, how many rows publish each, and the prior.

    The family's set i + extra is the published set `order[i]`. `extra` is 1 if the first set is that of suppressed rows alone.
    """

    attribute: int
    value: int
    family: LeafSets
    said: Longs  # how many rows publish each set
    order: Longs
    extra: int
    hidden: bool
    beta: Floats

    def fill(self, attribute: Attribute, leaves: Floats, shares: Floats) -> None:
        """Put sampled means into an attribute. `shares` has an entry for each member of the family."""
        attribute.leaves[self.value] = leaves
        if self.hidden:
            attribute.hidden[self.value] = shares[: attribute.sets.leaves]  # the first set is everything
        for i, v in enumerate(self.order.tolist() if attribute.shares.size else ()):
            target = slice(int(attribute.sets.first[v]), int(attribute.sets.first[v + 1]))
            source = slice(int(self.family.first[i + self.extra]), int(self.family.first[i + self.extra + 1]))
            attribute.shares[self.value, target] = shares[source]


def _attribute(
    sets: LeafSets,
    counts: Longs,
    hidden: Longs,
    beta: Floats,
    number: int,
    *,
    exact: bool,
    rows: bool,
    allocations: bool,
) -> tuple[Attribute, list[Pending]]:
    """Compute one value after the other. Sets that no row of a value publishes change nothing, so a laminar family suits all."""
    size = len(counts)
    result = Attribute(
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
            laminar = _fill_tree(result, s, order, counts[s], int(hidden[s]), beta, families)
        if not laminar:
            used = order[counts[s, order] > 0]
            if _fill_tree(result, s, used, counts[s], int(hidden[s]), beta):
                continue
            if not allocations or not _fill_allocations(result, s, used, counts[s], int(hidden[s]), beta):
                if exact:
                    raise Overlapping
                family, said = _family(sets, used, counts[s], int(hidden[s]))
                extra = len(family) - len(used)
                pending.append(Pending(number, s, family, said, used, extra, bool(hidden[s]), beta))
    return result, pending


def _family(sets: LeafSets, order: Longs, counts: Longs, hidden: int) -> tuple[LeafSets, Longs]:
    """Return some sets, the largest first, and how many rows publish each. Suppressed rows may be any leaf."""
    chosen = [sets[v] for v in order.tolist()]
    said = _said(sets, order, counts, hidden)
    if len(said) > len(chosen):
        chosen = [np.arange(sets.leaves, dtype=np.int32), *chosen]
    return LeafSets.of(chosen, sets.leaves), said


def _said(sets: LeafSets, order: Longs, counts: Longs, hidden: int) -> Longs:
    """Return how many rows publish each set of a family. Suppressed rows count for the first, which has every leaf."""
    said = counts[order].copy()
    if hidden and len(order) and len(sets[int(order[0])]) == sets.leaves:
        said[0] += hidden
    elif hidden:
        said = np.concatenate(([hidden], said))
    return said


def _fill_tree(
    result: Attribute,
    s: int,
    order: Longs,
    counts: Longs,
    hidden: int,
    beta: Floats,
    families: dict[bool, LeafSets] | None = None,
) -> bool:
    if families is not None and bool(hidden) in families:
        family = families[bool(hidden)]
        said = _said(result.sets, order, counts, hidden)
    else:
        family, said = _family(result.sets, order, counts, hidden)
        if families is not None:
            families[bool(hidden)] = family
    ok, leaves, means = tree_means(family.first, family.members, said, beta)
    if not ok:
        return False
    result.leaves[s] = leaves
    if hidden:
        result.hidden[s] = leaves
    extra = len(family) - len(order)
    for i, v in enumerate(order.tolist() if result.shares.size else ()):
        part = slice(int(result.sets.first[v]), int(result.sets.first[v + 1]))
        result.shares[s, part] = leaves[result.sets.members[part]] / means[i + extra]
    return True


def _fill_allocations(result: Attribute, s: int, order: Longs, counts: Longs, hidden: int, beta: Floats) -> bool:
    """Enumerate all ways to distribute the rows of the sets over the leaves. Return False if there are too many."""
    family, said = _family(result.sets, order, counts, hidden)
    number = 1
    for v, n in enumerate(said.tolist()):
        number *= math.comb(int(n) + len(family[v]) - 1, len(family[v]) - 1)
        if number > MAX_ALLOCATIONS:
            return False
    total, expected = 0.0, np.zeros(result.sets.leaves)
    rows = [np.zeros(len(family[v])) for v in range(len(family))]
    base = float(gammaln(beta).sum())
    logs = np.array([_log_weight(allocation, family, beta, base) for allocation in _allocations(family, said)])
    for allocation, weight in zip(_allocations(family, said), np.exp(logs - logs.max()).tolist(), strict=True):
        total += weight
        for v, counts_of in enumerate(allocation):
            rows[v] += weight * np.array(counts_of)
            expected[family[v]] += weight * np.array(counts_of)
    result.leaves[s] = (beta + expected / total) / (beta.sum() + said.sum())
    extra = len(family) - len(order)
    if hidden:
        result.hidden[s, family[0]] = rows[0] / (total * said[0])
    for i, v in enumerate(order.tolist() if result.shares.size else ()):
        part = slice(int(result.sets.first[v]), int(result.sets.first[v + 1]))
        result.shares[s, part] = rows[i + extra] / (total * said[i + extra])
    return True


Allocation = tuple[tuple[int, ...], ...]  # for each set how many of its rows have each of its leaves


def _allocations(family: LeafSets, said: Longs) -> Iterator[Allocation]:
    return itertools.product(*(list(_splits(int(n), len(family[v]))) for v, n in enumerate(said.tolist())))


def _splits(rows: int, leaves: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to distribute rows over leaves."""
    if leaves == 1:
        yield (rows,)
        return
    for n in range(rows + 1):
        for rest in _splits(rows - n, leaves - 1):
            yield (n, *rest)


def _log_weight(allocation: Allocation, family: LeafSets, beta: Floats, base: float) -> float:
    """Return the log probability of an allocation, up to a constant: multinomials of the sets times the Dirichlet integral."""
    counts = np.zeros(len(beta))
    log = 0.0
    for v, split in enumerate(allocation):
        rows = np.array(split, dtype=np.float64)
        counts[family[v]] += rows
        log -= float(gammaln(rows + 1).sum())
    return log + float(gammaln(beta + counts).sum()) - base
