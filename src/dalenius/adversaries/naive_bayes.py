"""Naive Bayes on noisy counts: what counts under differential privacy still reveal about everybody (Cormode 2011; methods E).

The formulas are in `models/count_classifier.py`.
"""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.models.count_classifier import CountClassifier, Model, conditionals, shares
from dalenius.releases import NoisyCounts

__all__ = ["NaiveBayes"]


class NaiveBayes(CountClassifier):
    """The classifier as printed: it uses every table."""

    __slots__ = ()
    name = "naive-bayes"
    page = "naive-bayes.md"
    does = "builds a naive Bayes classifier from the counts and applies it to the target"
    usual_for = ("counts",)

    def model(self, release: NoisyCounts, rng: np.random.Generator | None) -> Model:
        return Model(shares(release), conditionals(release), tuple(release.moments))
