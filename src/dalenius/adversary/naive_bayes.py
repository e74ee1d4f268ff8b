"""Naive Bayes on noisy counts: what counts under differential privacy still teach about everybody (Cormode 2011; methods E).

    Pr[t_i | s] = (1 + max(0, n(t_i, s))) / Σ over t of (1 + max(0, n(t, s)))
    Pr[s]       ∝ Σ over i, t of (1 + max(0, n(t, s)))

as printed: negative counts are noise and become 0, and 1 is Laplace's correction. The marginal of s is not asked for but made
of the counts, so that the sensitivity is the number of tables. A joint table is one factor, Pr[t_i, t_j | s]; of an attribute
that is not known all values count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import fit
from dalenius.adversary.base import UNKNOWN, Adversary, Targets
from dalenius.belief import Belief
from dalenius.errors import InputError
from dalenius.release import NoisyCounts, Release

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


class NaiveBayes(Adversary):
    """Somebody who takes the counts for a study of the population, and the target for anybody."""

    __slots__ = ()
    name = "naive-bayes"
    knows = "the noisy counts and the target's quasi-identifiers; it is the same to it whether the target was counted"
    does = "makes a naive Bayes classifier of the counts and applies it to the target"
    assumes_presence = False
    baseline_is_table = False

    def refusal(self, release: Release) -> str | None:
        if isinstance(release, NoisyCounts):
            return None
        return f"a release of kind {release.kind!r} does not count each quasi-identifier with the sensitive values"

    def believe(
        self,
        release: Release,
        targets: Targets,
        *,
        column: str | None = None,
        rng: np.random.Generator | None = None,  # noqa: ARG002 - exact: nothing is drawn
    ) -> Belief:
        assert isinstance(release, NoisyCounts)
        if column is not None and column != release.sensitive:
            raise InputError(f"The counts are about {release.sensitive!r}, not about {column!r}.")
        known, number = fit.distinct_targets(targets)
        prior = shares(release)
        weights = np.log(np.broadcast_to(prior, (len(known), len(prior))))
        quasi = [one.name for one in release.schema.quasi]
        for names, counts in zip(release.tables, release.counts, strict=True):
            sizes = [len(release.schema[name].leaves) for name in names]
            given = corrected(counts) / corrected(counts).sum(axis=0)
            weights = weights + np.log(_factor(given, sizes, known[:, [quasi.index(name) for name in names]]))
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        return Belief.exact(release.target, weights[number], prior)


def corrected(counts: Floats) -> Floats:
    """Counts as the classifier takes them: none below 0, and 1 added to each."""
    return 1.0 + np.maximum(counts, 0.0)


def shares(release: NoisyCounts) -> Floats:
    """Pr[s], made of all tables."""
    total = np.sum([corrected(counts).sum(axis=0) for counts in release.counts], axis=0)
    found: Floats = total / total.sum()
    return found


def _factor(given: Floats, sizes: list[int], known: Ints) -> Floats:
    """Pr[what is known of a table's attributes | s] of each target; `given[v, s]`, the last attribute's values fastest."""
    values = given.shape[1]
    whole = given.reshape(*sizes, values)
    found = np.empty((len(known), values))
    patterns, which = np.unique(known != UNKNOWN, axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        mine = np.flatnonzero(which.reshape(-1) == p)
        summed = whole.sum(axis=tuple(np.flatnonzero(~pattern).tolist()))
        found[mine] = summed[tuple(known[mine][:, a] for a in np.flatnonzero(pattern))]
    return found
