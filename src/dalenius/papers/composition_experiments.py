"""The experiments of Ganta, Kasiviswanathan and Smith 2008, section 3, on Adult: two subsets that overlap, published
independently, and the intersection attack on the 5,000 people in both.

The paper fixes the overlap and not the size of the subsets: here the other people are shared out evenly, so that everybody is in
one of them. Quasi-identifiers are its seven: Adult without income.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dalenius import datasets
from dalenius.adversaries import Targets
from dalenius.adversaries.intersection import Intersection, intersect, members
from dalenius.adversaries.models.location import is_own_group_found, places
from dalenius.adversaries.naive_bayes import NaiveBayes
from dalenius.arrays import Ints
from dalenius.criteria import Criterion, EntropyDiversity, KAnonymity, TCloseness
from dalenius.measures import accuracy
from dalenius.measures.accuracy import Rate
from dalenius.measures.composition import Composed, composed
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian
from dalenius.publishers.noisy_counts import Simulation
from dalenius.releases import GroupedRelease
from dalenius.schema import Schema
from dalenius.table import Table

__all__ = [
    "CLOSENESS",
    "DIVERSITIES",
    "EPSILONS",
    "LEVELS",
    "OVERLAP",
    "SURE",
    "UNUSED",
    "Attacked",
    "Overlapping",
    "Published",
    "Side",
    "attacked",
    "by_criterion",
    "by_k",
    "microaggregated",
    "mondrian",
    "overlapping",
    "side_by_side",
]

OVERLAP = 5000
LEVELS = (5, 10, 15, 20, 25, 30)  # k of both subsets
DIVERSITIES = (2, 3, 4, 5, 6)  # entropy ℓ, with k = 10
CLOSENESS = (0.5, 0.4, 0.3, 0.2)  # t, with k = 10
UNUSED = "salary-class"
SURE = 0.999


@dataclass(frozen=True, slots=True, eq=False)
class Overlapping:
    """Two tables and the people in both, as rows of codes: quasi-identifiers first, then the sensitive value."""

    tables: tuple[Table, Table]
    rows: tuple[Ints, Ints]  # of each table, in its order; the overlap comes first
    overlap: Ints
    others: Ints  # people who are in neither


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """One release of one subset, and the group of each of its rows; −1 where that is not known."""

    release: GroupedRelease
    group: Ints | None


@dataclass(frozen=True, slots=True, eq=False)
class Attacked:
    """What both releases give away about the overlap."""

    method: str
    parameter: float
    found: Intersection
    figures: Composed
    sizes: tuple[float, float]  # average class of the people in both, in each release
    located: tuple[float, float]  # share of them whose own class is the one that was found, nan if not asked


def overlapping(
    path: str | Path | None = None, *, overlap: int = OVERLAP, people: int | None = None, others: int = 0, seed: int = 0
) -> Overlapping:
    """Return two subsets of Adult. Tests limit them to `people` people. `others` people are in neither."""
    whole = datasets.adult(path)
    columns = tuple(
        dataclasses.replace(column, role="other") if column.name == UNUSED else column
        for column in whole.declared.columns
    )
    table = Table(whole.source, dataclasses.replace(whole.declared, columns=columns))
    cells = table.cells()
    everybody = np.repeat(cells.codes, cells.counts, axis=0)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(everybody))[: people or len(everybody)]
    rest = (len(order) - others - overlap) // 2
    both = everybody[order[:overlap]]
    parts = [np.concatenate([both, everybody[order[overlap + j * rest : overlap + (j + 1) * rest]]]) for j in range(2)]
    coded = Schema(
        tuple(column for column in table.declared.columns if column.name != UNUSED), source=table.declared.source
    )
    tables = tuple(_table(part, cells.schema, coded) for part in parts)
    out = everybody[order[len(order) - others :]]
    return Overlapping((tables[0], tables[1]), (parts[0], parts[1]), both, out)


def _table(rows: Ints, schema: Schema, declared: Schema) -> Table:
    # Both subsets have the values of the whole table, so that they are coded alike.
    columns = tuple(
        dataclasses.replace(column, domain=schema[column.name].domain, hierarchy=None)
        if column.role == "sensitive" or not column.fixed
        else column
        for column in declared.columns
    )
    texts = {column.name: np.array(column.leaves, dtype=np.str_)[rows[:, j]] for j, column in enumerate(schema.coded)}
    return Table(texts, dataclasses.replace(declared, columns=columns))


def mondrian(found: Overlapping, j: int, criteria: Sequence[Criterion]) -> Published:
    release = Mondrian(list(criteria)).publish(found.tables[j]).release
    return Published(release, None)


def microaggregated(found: Overlapping, j: int, k: int) -> Published:
    published = Microaggregation(k).publish(found.tables[j])
    return Published(published.release, published.group)


def attacked(found: Overlapping, one: Published, other: Published, method: str, parameter: float) -> Attacked:
    """The intersection attack on the people in both."""
    releases = (one.release, other.release)
    schema = releases[0].schema
    m = len(schema.quasi)
    targets = Targets(schema, np.ascontiguousarray(found.overlap[:, :m]))
    values = schema.sensitive[0].leaves
    codes = np.arange(len(values))
    name = schema.sensitive[0].name
    result = intersect(releases, [targets] * 2, values, [codes] * 2, [name] * 2)
    sizes, right = [], []
    for published in (one, other):
        mean, share = _placed(published, targets)
        sizes.append(mean)
        right.append(share)
    figures = composed(result.prior, result.located, result.posterior)
    return Attacked(method, parameter, result, figures, (sizes[0], sizes[1]), (right[0], right[1]))


def _placed(published: Published, targets: Targets) -> tuple[float, float]:
    """The average size of the class that a target is found in, and how often that is its own, where that is known."""
    release = published.release
    people = np.append(release.sizes, release.suppressed)
    total = sum(float(people[group].sum()) for _, _, group in places(release, targets.codes, sure=False)) / len(targets)
    if published.group is None:
        return total, math.nan
    return total, float(is_own_group_found(release, targets.codes, published.group[: len(targets)]).mean())


def by_k(found: Overlapping, levels: Sequence[int] = LEVELS, *, centroids: bool = True) -> dict[str, list[Attacked]]:
    """Figures 1 to 3: Mondrian on both, microaggregation on both, and one of each."""
    results: dict[str, list[Attacked]] = {"Mondrian": []}
    if centroids:
        results |= {"microaggregation": [], "Mondrian and microaggregation": []}
    for k in levels:
        cut = [mondrian(found, j, [KAnonymity(k)]) for j in range(2)]
        results["Mondrian"].append(attacked(found, cut[0], cut[1], "Mondrian", k))
        if centroids:
            mean = [microaggregated(found, j, k) for j in range(2)]
            results["microaggregation"].append(attacked(found, mean[0], mean[1], "microaggregation", k))
            both = "Mondrian and microaggregation"
            results[both].append(attacked(found, cut[0], mean[1], both, k))
    return results


def by_criterion(
    found: Overlapping,
    diversities: Sequence[float] = DIVERSITIES,
    closeness: Sequence[float] = CLOSENESS,
    *,
    k: int = 10,
) -> dict[str, list[Attacked]]:
    """Figure 4: Mondrian with entropy ℓ-diversity, and with t-closeness."""
    criteria: dict[str, list[tuple[float, Criterion]]] = {
        "entropy ℓ-diversity": [(l, EntropyDiversity(l)) for l in diversities],  # noqa: E741
        "t-closeness": [(t, TCloseness(t)) for t in closeness],
    }
    results: dict[str, list[Attacked]] = {}
    for name, mine in criteria.items():
        results[name] = []
        for parameter, one in mine:
            first, second = (mondrian(found, j, [KAnonymity(k), one]) for j in range(2))
            results[name].append(attacked(found, first, second, name, parameter))
    return results


# Differential privacy beside it -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Side:
    """Two releases of one kind: how often they give the value of somebody who is in both, of others, and surely."""

    method: str
    parameter: str
    both: Rate
    others: Rate
    certain: Rate  # people in both of whom one value is left, or who are believed to have one with more than 0.999

    @property
    def gain(self) -> Rate:
        return accuracy.gain(self.both, self.others)


EPSILONS = (0.1, 1.0, 10.0)


def side_by_side(
    found: Overlapping, levels: Sequence[int] = (5, 20), epsilons: Sequence[float] = EPSILONS, seed: int = 0
) -> list[Side]:
    """The same people through two syntactic and through two noisy releases, each with half of ε."""
    return [*(_two_cut(found, k) for k in levels), *(_two_noisy(found, epsilon, seed) for epsilon in epsilons)]


def _two_cut(found: Overlapping, k: int) -> Side:
    """Mondrian twice. Of the values that are left one is guessed; where none is left, the commonest of the tables."""
    releases = [mondrian(found, j, [KAnonymity(k)]).release for j in range(2)]
    schema = releases[0].schema
    m = len(schema.quasi)
    values = schema.sensitive[0].leaves
    rates = []
    certain = Rate.undefined()
    for rows in (found.overlap, found.others):
        targets = Targets(schema, np.ascontiguousarray(rows[:, :m]))
        result = intersect(
            releases, [targets] * 2, values, [np.arange(len(values))] * 2, [schema.sensitive[0].name] * 2
        )
        truth = rows[:, m]
        left = members(result.left, len(values)).astype(np.float64)
        table = np.sum([release.grouping().table for release in releases], axis=0)
        guess = np.where(left.sum(axis=1, keepdims=True) > 0, left, table)
        one = np.ones(len(rows), dtype=np.int64)
        rates.append(accuracy.success(guess, truth, one))
        if rows is found.overlap:
            sure = (result.posterior == 1) & result.holds(truth.astype(np.int64))
            certain = accuracy.rate(float(sure.sum()), len(rows))
    return Side("Mondrian twice", f"k = {k}", rates[0], rates[1], certain)


def _two_noisy(found: Overlapping, epsilon: float, seed: int) -> Side:
    """Noisy counts twice, ε/2 each: both are counts of the same columns, and are added up."""
    drawn = [Simulation(epsilon / 2).draw(table, seed=seed + j) for j, table in enumerate(found.tables)]
    counts = tuple(np.sum([one.noisy[i] for one in drawn], axis=0) for i in range(len(drawn[0].noisy)))
    release = dataclasses.replace(drawn[0], noisy=counts)
    m = len(release.schema.quasi)
    rates = []
    certain = Rate.undefined()
    for rows in (found.overlap, found.others):
        belief = NaiveBayes().attack(release, Targets(release.schema, np.ascontiguousarray(rows[:, :m])))
        truth, one = rows[:, m], np.ones(len(rows), dtype=np.int64)
        rates.append(accuracy.success(belief.answer, truth, one))
        if rows is found.overlap:
            mine = belief.posterior[np.arange(len(rows)), truth]
            certain = accuracy.rate(float((mine > SURE).sum()), len(rows))
    return Side("noisy counts twice", f"ε = {epsilon:g} together", rates[0], rates[1], certain)
