"""Naive Bayes on noisy counts: what counts under differential privacy still teach about everybody (Cormode 2011; methods E).

    Pr[t_i | s] = (1 + max(0, n(t_i, s))) / Σ over t of (1 + max(0, n(t, s)))
    Pr[s]       ∝ Σ over i, t of (1 + max(0, n(t, s)))

as printed: negative counts are noise and become 0, and 1 is Laplace's correction. The marginal of s is not asked for but made
of the counts, so that the sensitivity is the number of tables. A joint table is one factor, Pr[t_i, t_j | s]; of an attribute
that is not known all values count. His section 2.5: of a column counted at labels t_i is the label of the target's value; the
factor of a Gaussian column is the density at the target's number, and its n is one table of one row in Pr[s].
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dalenius.adversaries import fit
from dalenius.adversaries.base import UNKNOWN, Adversary, Targets
from dalenius.adversaries.evidence import Evidence, required
from dalenius.arrays import Floats, Ints
from dalenius.belief import Belief
from dalenius.errors import InputError
from dalenius.releases import NoisyCounts, Release
from dalenius.releases.moments import numbers_of

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A classifier: Pr[s], `given[v, s]` of each table that it uses, and the Gaussian columns that it uses."""

    prior: Floats
    given: Mapping[Names, Floats]
    gaussian: Collection[str]
    diagnostics: Mapping[str, object] = field(default_factory=dict)


class NaiveBayes(Adversary):
    """Somebody who takes the counts for a study of the population, and the target for anybody."""

    __slots__ = ()
    name = "naive-bayes"
    knows = "the noisy counts and the target's quasi-identifiers; it is the same to it whether the target was counted"
    does = "makes a naive Bayes classifier of the counts and applies it to the target"
    needs = ("counts",)
    usual_for: ClassVar[tuple[Evidence, ...]] = ("counts",)
    assumes_presence = False
    baseline_is_table = False

    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        counts = required(release.counts(), release)
        if column is not None and column != counts.sensitive:
            raise InputError(f"The counts are about {counts.sensitive!r}, not about {column!r}.")
        model = self.model(counts, rng)
        known, number = fit.distinct_targets(targets)
        weights = np.log(np.broadcast_to(model.prior, (len(known), len(model.prior))))
        quasi = [one.name for one in counts.schema.quasi]
        for names, given in model.given.items():
            own = np.column_stack([_rows(counts.row_of_leaves(name), known[:, quasi.index(name)]) for name in names])
            weights = weights + _log_factor(given, counts.sizes(names), own)
        for name in model.gaussian:
            density = counts.moments[name].log_density(numbers_of(counts.schema[name]))
            own = known[:, quasi.index(name)]
            weights = weights + np.where((own == UNKNOWN)[:, None], 0.0, density[own])
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        return Belief.exact(counts.target, weights[number], model.prior, **model.diagnostics)

    def model(self, release: NoisyCounts, rng: np.random.Generator | None) -> Model:  # noqa: ARG002 - nothing is drawn
        """The classifier that the counts make."""
        return Model(shares(release), conditionals(release), tuple(release.moments))


def corrected(counts: Floats) -> Floats:
    """Counts as the classifier takes them: none below 0, and 1 added to each."""
    return 1.0 + np.maximum(counts, 0.0)


def conditionals(release: NoisyCounts) -> dict[Names, Floats]:
    """Pr[t | s] of each table."""
    return {
        names: corrected(counts) / corrected(counts).sum(axis=0)
        for names, counts in zip(release.tables, release.noisy, strict=True)
    }


def totals(release: NoisyCounts) -> Floats:
    """What Pr[s] is in proportion to: the corrected counts of all tables, every n being one."""
    found: Floats = np.sum([corrected(counts).sum(axis=0) for counts in release.counted], axis=0)
    return found


def shares(release: NoisyCounts) -> Floats:
    """Pr[s], made of all tables."""
    total = totals(release)
    found: Floats = total / total.sum()
    return found


def _rows(row: Ints, known: Ints) -> Ints:
    """The row of each known leaf."""
    found: Ints = np.where(known == UNKNOWN, UNKNOWN, row[known])
    return found


def _log_factor(given: Floats, sizes: list[int], known: Ints) -> Floats:
    """log Pr[what is known of a table's attributes | s] of each target; `given[v, s]`, the last attribute's values fastest."""
    values = given.shape[1]
    whole = given.reshape(*sizes, values)
    if not (known == UNKNOWN).any():
        told: Floats = np.log(whole)[tuple(known.T)]
        return told
    found = np.empty((len(known), values))
    patterns, which = np.unique(known != UNKNOWN, axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        mine = np.flatnonzero(which.reshape(-1) == p)
        summed = whole.sum(axis=tuple(np.flatnonzero(~pattern).tolist()))
        found[mine] = np.log(summed)[tuple(known[mine][:, a] for a in np.flatnonzero(pattern))]
    return found
