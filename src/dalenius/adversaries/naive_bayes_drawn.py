"""Naive Bayes with parameters drawn from their posterior, in place of the most plausible ones (Cormode 2011, footnote 2).

The printed estimate is the mean of a Dirichlet distribution: that of Pr[· | s], given counts of which each is 1 at the
outset. Here the parameters are a draw from it, Dirichlet(1 + max(0, n(t, s))) for each table and sensitive value, and so is
Pr[s]. The printed Pr[s] counts everybody in every table; its parameters are the printed totals divided by the number of
tables, which has the same mean and counts everybody once. Densities of Gaussian columns are estimated, not drawn.
"""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.naive_bayes import Model, NaiveBayes, corrected, totals
from dalenius.arrays import Floats
from dalenius.errors import InputError
from dalenius.releases import NoisyCounts


class NaiveBayesDrawn(NaiveBayes):
    """Who knows that counts leave room for many classifiers, and takes one of them. It draws once for each release."""

    __slots__ = ("_drawn",)
    name = "naive-bayes-drawn"
    does = "draws a naive Bayes classifier from those that the counts leave plausible and applies it to the target"
    usual_for = ()
    is_audited = False  # a variant

    def __init__(self) -> None:
        self._drawn: tuple[NoisyCounts, Model] | None = None

    def model(self, release: NoisyCounts, rng: np.random.Generator | None) -> Model:
        """One draw; people in the release and others are then told apart by the same classifier."""
        if self._drawn is not None and _same_counts(self._drawn[0], release):
            return self._drawn[1]
        if rng is None:
            raise InputError(f"{self.name} draws its classifier: give it a generator (rng).")
        given = {
            names: dirichlet(corrected(counts), rng)
            for names, counts in zip(release.tables, release.noisy, strict=True)
        }
        model = Model(
            dirichlet(totals(release)[:, None] / len(release.counted), rng)[:, 0], given, tuple(release.moments)
        )
        self._drawn = (release, model)
        return model


def _same_counts(one: NoisyCounts, other: NoisyCounts) -> bool:
    """Held-out people may have widened the coding of columns that are not counted: what is counted is the same."""
    return (
        one.tables == other.tables
        and list(one.moments) == list(other.moments)
        and all(np.array_equal(a, b) for a, b in zip(one.counted, other.counted, strict=True))
    )


def dirichlet(parameters: Floats, rng: np.random.Generator) -> Floats:
    """A draw for each column of parameters: independent gamma numbers, each divided by their sum."""
    drawn = np.maximum(rng.standard_gamma(parameters), np.finfo(np.float64).tiny)
    found: Floats = drawn / drawn.sum(axis=0)
    return found
