"""Publishing again: what earlier releases leave of each person, and what a new release must leave together with them.

E(t) are the sensitive values that the earlier releases leave of somebody with the quasi-identifiers t: the intersection over
those that locate t, and every value where none does. It assumes, as the attack does, that whoever fits a class was not suppressed.
V are the values of the person's class in the new release; of people whose row is suppressed, those of all suppressed rows, and
every value if these are left out of the release.
E ∩ V must have as many values as one class of everybody would leave, but at most ℓ are asked for. So nobody ends up with fewer than
min(ℓ, |E|), unless E has values that nobody in the table has: those people are worse off whatever is published, and are counted.
Where E has none of the table's values, the assumption was wrong, or the earlier releases contradict each other or are not about
that person: E is then what they leave of anybody who may be suppressed and, if that has none either, every value.

V grows when classes are merged, so merging classes that keep this keeps it. A class that keeps it may be merged with one that does
not, and then fail: what a search with suppression asks of a criterion (see `Criterion.absorbing`) does not hold.

An attacker looks for people where they fit, which need not be their own class: the nearest centroid may be another group's, and
somebody with a missing value whose row is suppressed may fit a class. Both sets of values must leave enough. Elsewhere the classes
that fit include the person's own and leave more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalenius.adversaries import UNKNOWN, Targets
from dalenius.adversaries.differences import Counted, earlier_together, subtract
from dalenius.adversaries.intersection import intersect
from dalenius.adversaries.models.location import places
from dalenius.arrays import Bools, Ints, Longs, Words
from dalenius.coding import distinct_rows
from dalenius.errors import ParameterError
from dalenius.kernels.intersect import common_sizes, value_bits
from dalenius.releases import GroupedRelease
from dalenius.schema import Schema
from dalenius.table import Cells, Table

if TYPE_CHECKING:
    from dalenius.publishers.base import Published

__all__ = ["Earlier", "Evaluated", "Given", "evaluate", "evaluate_groups", "joined", "joined_as_attacked"]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A new release together with earlier ones, as numbers of people. It contains nobody's value.

    `already_below` counts people of whom fewer than ℓ values are left whatever is published of the table, `contradicted` those
    of whom the earlier releases leave nothing. `below_l` counts people left with fewer values than one class of everybody would
    leave them, and fewer than ℓ; `worsened` those left with fewer than before, and fewer than ℓ. The smallest number of values
    left and the mean are over everybody but the contradicted.
    """

    releases: int
    people: int
    located: int
    l: int  # noqa: E741 - the literature's letter
    smallest_posterior: int | None
    below_l: int
    already_below: int
    worsened: int
    contradicted: int
    mean_posterior_anonymity: float | None
    differences: tuple[dict[str, Any], ...] = ()

    def to_document(self) -> dict[str, Any]:
        return asdict(self) | {"differences": list(self.differences)}


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """An earlier release: its name, its sensitive column, and the common value that each leaf of that is.

    `joined` and `left` are the fewest people who are in the table and not in the release, and the other way round, as far as
    quasi-identifiers tell.
    """

    name: str
    release: GroupedRelease
    column: str
    codes: Longs
    joined: int
    left: int


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What earlier releases leave of the people of a table, and how many values must be left: see `given`."""

    cells: Cells  # the table's
    earlier: tuple[Earlier, ...]
    l: int  # noqa: E741 - the literature's letter
    values: tuple[str, ...]  # of all releases and the table
    codes: Longs  # the number, among these values, of each leaf of the table's sensitive column
    quasi: Ints  # the distinct quasi-identifiers, sorted
    left: Words  # E of each
    guarded: Words  # the same, or every value where E has none of the table's
    located: Bools
    before: Longs  # how many values are left of each without the new release, 0 where the earlier ones contradict each other
    most: Longs  # of E, how many occur in the table: what one class of everybody leaves
    demand: Longs  # how many of `guarded` must be left
    targets: Targets  # the distinct quasi-identifiers as an attacker knows them: what is missing is unknown

    @property
    def schema(self) -> Schema:
        return self.cells.schema

    @property
    def incomplete(self) -> Bools:
        """Which quasi-identifiers have a missing value."""
        is_missing: Bools = (self.targets.codes == UNKNOWN).any(axis=1)
        return is_missing

    def bits(self, group: Longs, leaf: Ints, groups: int) -> Words:
        """Return the values of each group, where `leaf[x]` occurs in `group[x]`."""
        group_bits = np.zeros((groups, self.left.shape[1]), dtype=np.uint64)
        value_bits(group.astype(np.int64), self.codes[leaf], group_bits)
        return group_bits

    def keeps(self, some: Longs, into: Longs, bits: Words) -> Bools:
        """Return which groups leave enough of everybody in them: the quasi-identifiers `some[x]` are in group `into[x]`."""
        few = common_sizes(some.astype(np.int64), self.guarded, into.astype(np.int64), bits) < self.demand[some]
        kept = np.ones(len(bits), dtype=bool)
        kept[into[few]] = False
        return kept

    def numbers(self, codes: Ints) -> Longs:
        """Return which quasi-identifiers each row of leaf codes has."""
        m = len(self.schema.quasi)
        sizes = [len(column.leaves) for column in self.schema.quasi]
        quasi, number = distinct_rows(np.concatenate([self.quasi, codes[:, :m]]), sizes)
        if len(quasi) != len(self.quasi):
            raise ParameterError("given", "publish", "made for the table that is published", "another table's")
        return number[len(quasi) :].astype(np.int64)

    def keeps_hidden(self, into: Longs, bits: Words, hidden: Bools) -> bool:
        """Return whether the suppressed rows leave enough values; `into` is the group of each combination of quasi-identifiers."""
        some = np.flatnonzero(hidden[into])
        if not len(some):
            return True
        together = np.bitwise_or.reduce(bits[hidden], axis=0)[None, :]
        return bool(self.keeps(some, np.zeros(len(some), dtype=np.int64), together)[0])

    def attacked(self, release: GroupedRelease) -> Words:
        """Return the values that a release leaves for each combination of quasi-identifiers, as an attacker reads its files."""
        common = intersect([release], [self.targets], self.values, [self.codes], [self.schema.sensitive[0].name])
        # Whoever is not found in the release, as their row was left out, loses nothing by it.
        return np.where(common.located[0][:, None], common.left, ~np.uint64(0))

    def subtracted(self, release: GroupedRelease) -> tuple[dict[str, Any], ...]:
        """Return what subtracting earlier releases from a release of the table tells about people who joined or left."""
        later = Counted(release, self.codes, self.schema.sensitive[0].name)
        views = [Counted(only.release, only.codes, only.column) for only in self.earlier]
        documents = []
        for some in earlier_together(views, len(self.values)):
            difference = subtract([views[i] for i in some], later, len(self.values))
            if len(some) == 1:
                only = self.earlier[some[0]]
                difference = replace(
                    difference, joined=max(difference.joined, only.joined), left=max(difference.left, only.left)
                )
            names = " and ".join(self.earlier[i].name for i in some)
            documents.append({"release": names, **difference.to_document()})
        return tuple(documents)

    def check_table(self, table: Table) -> None:
        """Refuse a table that this was not made for."""
        if table.cells() is not self.cells and table.cells() != self.cells:
            raise ParameterError("given", "publish", "made for the table that is published", "another table's")


def evaluate(published: Published, earlier: Given) -> Evaluated:
    """Return what a release and the earlier ones leave together of everybody in the table, by their own class and as attacked."""
    release = published.release.classes()
    assert release is not None  # counts are refused before they are planned with earlier releases
    codes, counts, group = published.people_in_groups()
    shown = release.people == int(counts.sum())  # else suppressed rows were left out
    evaluated = evaluate_groups(earlier, codes, counts, group, attacked=earlier.attacked(release), shown=shown)
    return replace(evaluated, differences=earlier.subtracted(release))


def evaluate_groups(
    earlier: Given, codes: Ints, counts: Longs, group: Ints, *, attacked: Words | None = None, shown: bool = True
) -> Evaluated:
    """Return the same of people in groups: `counts[x]` people with these leaf codes are in group `group[x]`, −1 if suppressed.

    `attacked` are the values where an attacker finds each quasi-identifiers, `shown` says whether suppressed rows are published.
    """
    m, some = len(earlier.schema.quasi), earlier.numbers(codes)
    groups = int(group.max(initial=-1)) + 1
    into = np.where(group < 0, groups, group).astype(np.int64)
    own = earlier.bits(into, codes[:, m], groups + 1)
    if not shown:
        own[groups] = ~np.uint64(0)
    after, guarded = (common_sizes(some, bits, into, own) for bits in (earlier.left, earlier.guarded))
    if attacked is not None:
        after = np.minimum(after, common_sizes(some, earlier.left, some, attacked))
        guarded = np.minimum(guarded, common_sizes(some, earlier.guarded, some, attacked))
    before, most = earlier.before[some], earlier.most[some]
    counts_here = (before > 0) & (counts > 0)
    people = int(counts[counts_here].sum())
    return Evaluated(
        releases=len(earlier.earlier),
        people=int(counts.sum()),
        located=int(counts[earlier.located[some]].sum()),
        l=earlier.l,
        smallest_posterior=int(after[counts_here].min()) if people else None,
        below_l=int(counts[guarded < earlier.demand[some]].sum()),
        already_below=int(counts[(before > 0) & (most < earlier.l)].sum()),
        worsened=int(counts[after < np.minimum(earlier.l, before)].sum()),
        contradicted=int(counts[before == 0].sum()),
        mean_posterior_anonymity=float(after[counts_here] @ counts[counts_here]) / people if people else None,
    )


def joined(earlier: Given, codes: Ints, group: Ints, partner: Callable[[int, Bools], int]) -> Ints:
    """Return groups joined until each leaves enough of everybody in it; those that do already stay as they are, if they can.

    A group that leaves too little takes in others, one after the other: `partner(q, others)` says which is next, and that it is
    now part of q. All groups in one leave every value of the table, which is enough.
    """
    some, groups = earlier.numbers(codes), int(group.max()) + 1
    bits = earlier.bits(group.astype(np.int64), codes[:, len(earlier.schema.quasi)], groups)
    order = np.argsort(group, kind="stable")
    members = np.split(some[order], np.searchsorted(group[order], np.arange(1, groups)))
    into, alive = np.arange(groups), np.ones(groups, dtype=bool)
    for q in np.flatnonzero(~earlier.keeps(some, group.astype(np.int64), bits)).tolist():
        while alive[q] and not earlier.keeps(members[q], np.zeros(len(members[q]), dtype=np.int64), bits[q : q + 1])[0]:
            alive[q] = False
            other = partner(q, alive)
            alive[q], alive[other], into[other] = True, False, q
            bits[q] |= bits[other]
            members[q] = np.unique(np.concatenate([members[q], members[other]]))
    while not np.array_equal(into[into], into):
        into = into[into]
    return np.unique(into, return_inverse=True)[1][group].astype(np.int32)


def joined_as_attacked(earlier: Given, codes: Ints, group: Ints, release_of: Callable[[Ints], GroupedRelease]) -> Ints:
    """Return groups joined until an attacker who looks for people where they seem to be is left with enough values of everybody.

    Somebody who is found in the wrong group has that joined with their own, which leaves enough. One group of everybody
    always does.
    """
    some, own = earlier.numbers(codes), np.zeros(len(earlier.quasi), dtype=np.int64)
    while True:
        release = release_of(group)
        each = np.arange(len(earlier.quasi))
        few = np.flatnonzero(common_sizes(each, earlier.guarded, each, earlier.attacked(release)) < earlier.demand)
        if not len(few):
            return group
        own[some] = group
        into = np.arange(release.groups)
        free = np.ones(release.groups, dtype=bool)
        for part, start, which in places(release, earlier.targets.codes[few], sure=False):
            for other, own_group in zip(
                which.tolist(), np.repeat(own[few[part]], np.diff(start)).tolist(), strict=True
            ):
                # One join of a group at a time: it moves the centroids, and others may then be found where they are.
                if other != own_group and free[other] and free[own_group]:
                    into[max(other, own_group)] = min(other, own_group)
                    free[other] = free[own_group] = False
        group = np.unique(into, return_inverse=True)[1][group].astype(np.int32)
