"""What generalization costs: loss, precision, entropy, discernibility, average class size.

The first three add up over rows: a cell of attribute a published at some level costs a number that depends on its leaf
alone, a suppressed row costs what the fully generalized cell would. `CellCost` holds those numbers; a utility makes one
figure of the mean cost of each attribute. The other two depend on the sizes of the classes. Smaller is better for all,
precision too: what is minimised is 1 − precision.

Changed cells (see `misfit`) cost as much as suppressed ones: neither reveals the person's value, and a changed one misleads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dalenius.arrays import Floats, Longs
from dalenius.hierarchy import Hierarchy
from dalenius.releases import Anatomized, Generalized, Release

__all__ = [
    "UTILITIES",
    "CellCost",
    "MarginalUtility",
    "UtilityName",
    "average_class_size",
    "combine_loss",
    "combine_mean",
    "discernibility",
    "label_bits",
    "labels_cost",
    "leaf_shares",
    "level_shares",
    "marginal_utility",
    "release_utility",
]

UtilityName = Literal["loss", "precision", "entropy", "discernibility", "average_class_size"]
UTILITIES: tuple[UtilityName, ...] = ("loss", "precision", "entropy", "discernibility", "average_class_size")


@dataclass(frozen=True, slots=True, eq=False)
class CellCost:
    """`table[level][leaf]` is the cost of a cell, `suppressed[leaf]` that of a suppressed one."""

    table: tuple[Floats, ...]
    suppressed: Floats


def leaf_shares(tree: Hierarchy) -> CellCost:
    """Return the share of the hierarchy's leaves under the published label; 1 when suppressed (as ARX's Loss has it)."""
    leaves = len(tree.leaves)
    table = tuple((np.bincount(map_) / leaves)[map_] for map_ in tree.maps)
    return CellCost(table, np.ones(leaves))


def level_shares(tree: Hierarchy) -> CellCost:
    """Return how far up its hierarchy a cell is published (Sweeney 2002)."""
    leaves = len(tree.leaves)
    table = tuple(np.full(leaves, level / max(tree.height, 1)) for level in range(tree.height + 1))
    return CellCost(table, np.ones(leaves))


def label_bits(tree: Hierarchy, people: Longs) -> CellCost:
    """Return log₂ n(label)/n(leaf): the bits lost about whose leaf it is, given the column's counts (non-uniform entropy)."""
    known = np.maximum(people, 1)  # leaves that nobody has are never used
    table = []
    for map_ in tree.maps:
        together = np.bincount(map_, weights=people)[map_]
        table.append(np.log2(np.maximum(together, 1) / known))
    return CellCost(tuple(table), np.log2(max(people.sum(), 1) / known))


def combine_loss(means: Floats, least: Floats) -> Floats:
    """Return the geometric mean of 1 + v over attributes, less 1, with v = (mean − least)/(1 − least).

    `means` has attributes in its last axis. An attribute of a single leaf has nothing to lose.
    """
    room = 1 - least
    v = np.where(room > 0, (means - least) / np.where(room > 0, room, 1), 0.0)
    loss: Floats = np.expm1(np.log1p(np.maximum(v, 0.0)).mean(axis=-1))
    return loss


def combine_mean(means: Floats, most: Floats) -> Floats:
    """Return the mean over attributes of cost / largest cost; an attribute that cannot cost anything counts 0."""
    mean: Floats = np.where(most > 0, means / np.where(most > 0, most, 1), 0.0).mean(axis=-1)
    return mean


def discernibility(sizes: Longs, suppressed: int, people: int) -> float:
    """Return Σ n(q)² and N for every suppressed row (Bayardo and Agrawal 2005)."""
    return float((sizes.astype(np.float64) ** 2).sum() + float(suppressed) * people)


def average_class_size(classes: int, suppressed: int, people: int) -> float:
    """Return N divided by the number of classes; the suppressed rows, if any, are one class."""
    return people / max(classes + (1 if suppressed else 0), 1)


@dataclass(frozen=True, slots=True, eq=False)
class MarginalUtility:
    """A utility that is a function of each attribute's mean cost over the rows."""

    costs: tuple[CellCost, ...]
    combine: Callable[[Floats], Floats]


def marginal_utility(name: str, trees: tuple[Hierarchy, ...], people: tuple[Longs, ...]) -> MarginalUtility:
    """Return loss, precision or entropy of a table with these hierarchies; `people[a][leaf]` counts rows."""
    total = float(people[0].sum())
    if name == "loss":
        least = np.array([1 / len(tree.leaves) for tree in trees])
        return MarginalUtility(tuple(leaf_shares(tree) for tree in trees), lambda means: combine_loss(means, least))
    if name == "precision":
        most = np.ones(len(trees))
        return MarginalUtility(tuple(level_shares(tree) for tree in trees), lambda means: combine_mean(means, most))
    if name != "entropy":
        raise ValueError(f"{name!r} is not a utility that adds up over rows")
    costs = tuple(label_bits(tree, count) for tree, count in zip(trees, people, strict=True))
    most = np.array([float((cost.suppressed * count).sum()) / total for cost, count in zip(costs, people, strict=True)])
    return MarginalUtility(costs, lambda means: combine_mean(means, most))


def release_utility(release: Release, changed: Floats | None = None) -> dict[str, float]:
    """Return what a release costs, from the release alone: class sizes, and the loss of its labels where it has any.

    `changed` says how many cells of each quasi-identifier are known to have been changed.
    """
    classes, rows, links = release.classes(), release.rows(), release.links()
    costs = {}
    if classes is not None:
        costs = {
            "discernibility": discernibility(classes.sizes, classes.suppressed, classes.people),
            "average_class_size": average_class_size(classes.groups, classes.suppressed, classes.people),
            "suppressed": classes.suppressed / classes.people,
        }
    if rows is not None:
        costs["loss"] = _labels_loss(rows, changed)
    elif links is not None:
        # Quasi-identifiers are published as they are, unless they were changed; what is lost is the link.
        costs["loss"] = 0.0 if changed is None or not changed.any() else _tuples_loss(links, changed)
    return costs


def labels_cost(release: Generalized, a: int, costs: Floats, changed: Floats | None, *, most: float = 1.0) -> float:
    """Return the total cost of a quasi-identifier's cells: `costs` / `most` of each label, 1 if suppressed or changed.

    Which cells were changed is not known: they are taken evenly from all that are published.
    """
    published = float(costs[release.codes[:, a]] @ release.sizes.astype(np.float64)) / most
    if changed is None or not changed[a]:
        return published + release.suppressed
    rows = release.people - release.suppressed
    wrong = min(float(changed[a]), rows)
    return published * (1 - wrong / rows) + wrong + release.suppressed


def _labels_loss(release: Generalized, changed: Floats | None) -> float:
    means, least = [], []
    for a, (column, labels) in enumerate(zip(release.schema.quasi, release.labels, strict=True)):
        leaves = len(column.leaves)
        # Suppressed in every row and without declared values: all of it is lost.
        share = np.array([len(label.members) for label in labels]) / leaves if leaves else np.ones(len(labels))
        means.append(labels_cost(release, a, share, changed) / float(release.people))
        least.append(1 / leaves if leaves else 0.0)
    return float(combine_loss(np.array([means]), np.array(least))[0])


def _tuples_loss(release: Anatomized, changed: Floats) -> float:
    least = np.array([1 / max(len(column.leaves), 1) for column in release.schema.quasi])
    return float(combine_loss((least + changed / release.people * (1 - least))[None], least)[0])
