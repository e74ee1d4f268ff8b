"""Naive Bayes with parameters drawn from their posterior instead of the most plausible ones (Cormode 2011, footnote 2).

The printed estimate is the mean of a Dirichlet distribution: that of Pr[· | s], given counts that each start at 1. Here the
parameters are a draw from it, Dirichlet(1 + max(0, n(t, s))) for each table and sensitive value, and so is Pr[s]. The printed Pr[s]
counts everybody in every table. Here its parameters are the printed totals divided by the number of tables, which has the same mean
and counts everybody once. Densities of Gaussian columns are estimated, not drawn.
"""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.models.count_classifier import CountClassifier, Model, corrected, totals
from dalenius.arrays import Floats
from dalenius.errors import InputError
from dalenius.releases import NoisyCounts

__all__ = ["NaiveBayesDrawn", "draw_dirichlet"]


class NaiveBayesDrawn(CountClassifier):
    """Draw one of the many classifiers that fit the counts, once for each release."""

    __slots__ = ("_drawn",)
    name = "naive-bayes-drawn"
    page = "naive-bayes-drawn.md"
    does = "draws a naive Bayes classifier from those that the counts leave plausible and applies it to the target"
    is_audited = False  # a variant

    def __init__(self) -> None:
        self._drawn: tuple[NoisyCounts, Model] | None = None

    def model(self, release: NoisyCounts, rng: np.random.Generator | None) -> Model:
        """Return one draw. It is kept, so that the same classifier is applied to people in the release and to others."""
        if self._drawn is not None and _are_same_counts(self._drawn[0], release):
            return self._drawn[1]
        if rng is None:
            raise InputError(f"{self.name} draws its classifier at random. Pass a random generator as rng.")
        conditional = {
            names: draw_dirichlet(corrected(counts), rng)
            for names, counts in zip(release.tables, release.noisy, strict=True)
        }
        prior = draw_dirichlet(totals(release)[:, None] / len(release.counted), rng)[:, 0]
        model = Model(prior, conditional, tuple(release.moments))
        self._drawn = (release, model)
        return model


def _are_same_counts(first: NoisyCounts, second: NoisyCounts) -> bool:
    """Tell whether two releases count the same. Held-out people may have widened the coding of columns that are not counted."""
    return (
        first.tables == second.tables
        and list(first.moments) == list(second.moments)
        and all(np.array_equal(a, b) for a, b in zip(first.counted, second.counted, strict=True))
    )


def draw_dirichlet(parameters: Floats, rng: np.random.Generator) -> Floats:
    """Draw from a Dirichlet distribution for each column of parameters: independent gamma numbers, divided by their sum."""
    gammas = np.maximum(rng.standard_gamma(parameters), np.finfo(np.float64).tiny)
    result: Floats = gammas / gammas.sum(axis=0)
    return result
