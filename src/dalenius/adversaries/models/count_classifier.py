"""A naive Bayes classifier of noisy counts, and what the adversaries that use one share (Cormode 2011; methods E).

    Pr[t_i | s] = (1 + max(0, n(t_i, s))) / Σ over t of (1 + max(0, n(t, s)))
    Pr[s]       ∝ Σ over i, t of (1 + max(0, n(t, s)))

These are the printed formulas. Negative counts are noise and become 0; the 1 is Laplace's correction. The marginal of s is not
published separately but computed from the counts, so that the sensitivity is the number of tables. A joint table is one factor,
Pr[t_i, t_j | s]. If an attribute is not known, the factor sums over its values. His section 2.5 adds two cases. In a column that is
counted by label, t_i is the label of the target's value. The factor of a Gaussian column is the density at the target's number, and
its n counts as one table of one row in Pr[s].
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from dalenius.adversaries.base import UNKNOWN, Adversary, Targets
from dalenius.adversaries.evidence import required
from dalenius.adversaries.models import fit
from dalenius.arrays import Floats, Ints
from dalenius.belief import Belief
from dalenius.errors import InputError
from dalenius.releases import NoisyCounts, Release
from dalenius.releases.moments import numbers_of

__all__ = ["ColumnNames", "CountClassifier", "Model", "conditionals", "corrected", "shares", "totals"]

ColumnNames = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A classifier: Pr[s], `conditional[v, s]` of each table that it uses, and the Gaussian columns that it uses."""

    prior: Floats
    conditional: Mapping[ColumnNames, Floats]
    gaussian: Collection[str]
    diagnostics: Mapping[str, object] = field(default_factory=dict)


class CountClassifier(Adversary):
    """An adversary that builds a classifier from noisy counts and applies it to each target.

    It treats the counts as a study of the population, and the target as any member of it.
    """

    __slots__ = ()
    knows = "the noisy counts and the target's quasi-identifiers; whether the target was counted makes no difference"
    needs = ("counts",)
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
        quasi = [each.name for each in counts.schema.quasi]
        for names, conditional in model.conditional.items():
            rows = np.column_stack([_rows(counts.row_of_leaves(name), known[:, quasi.index(name)]) for name in names])
            weights = weights + _log_factor(conditional, counts.sizes(names), rows)
        for name in model.gaussian:
            density = counts.moments[name].log_density(numbers_of(counts.schema[name]))
            leaf = known[:, quasi.index(name)]
            weights = weights + np.where((leaf == UNKNOWN)[:, None], 0.0, density[leaf])
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        return Belief.exact(counts.target, weights[number], model.prior, **model.diagnostics)

    @abstractmethod
    def model(self, release: NoisyCounts, rng: np.random.Generator | None) -> Model:
        """Build the classifier from the counts."""


def corrected(counts: Floats) -> Floats:
    """Return counts as the classifier uses them: none below 0, and 1 added to each."""
    return 1.0 + np.maximum(counts, 0.0)


def conditionals(release: NoisyCounts) -> dict[ColumnNames, Floats]:
    """Return Pr[t | s] of each table."""
    return {
        names: corrected(counts) / corrected(counts).sum(axis=0)
        for names, counts in zip(release.tables, release.noisy, strict=True)
    }


def totals(release: NoisyCounts) -> Floats:
    """Return what Pr[s] is proportional to: the corrected counts of all tables, every n of a Gaussian column being one."""
    result: Floats = np.sum([corrected(counts).sum(axis=0) for counts in release.counted], axis=0)
    return result


def shares(release: NoisyCounts) -> Floats:
    """Return Pr[s], computed from all tables."""
    total = totals(release)
    result: Floats = total / total.sum()
    return result


def _rows(row_of_leaf: Ints, known: Ints) -> Ints:
    """Return the row of each known leaf."""
    result: Ints = np.where(known == UNKNOWN, UNKNOWN, row_of_leaf[known])
    return result


def _log_factor(conditional: Floats, sizes: list[int], known: Ints) -> Floats:
    """Return log Pr[what is known of a table's attributes | s] of each target.

    In `conditional[v, s]` the values of the last attribute change fastest.
    """
    values = conditional.shape[1]
    whole = conditional.reshape(*sizes, values)
    if not (known == UNKNOWN).any():
        logs: Floats = np.log(whole)[tuple(known.T)]
        return logs
    factors = np.empty((len(known), values))
    patterns, pattern_of = np.unique(known != UNKNOWN, axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        some = np.flatnonzero(pattern_of.reshape(-1) == p)
        summed = whole.sum(axis=tuple(np.flatnonzero(~pattern).tolist()))
        factors[some] = np.log(summed)[tuple(known[some][:, a] for a in np.flatnonzero(pattern))]
    return factors
