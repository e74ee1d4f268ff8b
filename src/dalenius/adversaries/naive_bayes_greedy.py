"""Naive Bayes on the tables that say more than their noise, added one after the other (Cormode 2011, section 2.5).

An attribute whose counts are mostly noise misleads a classifier. The noisy counts and the scale of the noise, both published, show
which attributes these are. A table is a candidate if it departs from independence by more than `MIN_DEPARTURE` standard deviations
of what noise and chance do (see `models/departure.py`). The candidate that raises the expected accuracy of the classifier most, by
the classifier's own probabilities, is added first, and so on until no candidate raises it.
"""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.models.count_classifier import ColumnNames, CountClassifier, Model, conditionals, shares
from dalenius.adversaries.models.departure import departures
from dalenius.arrays import Floats
from dalenius.releases import NoisyCounts
from dalenius.releases.moments import numbers_of

__all__ = ["NaiveBayesGreedy", "choose_tables", "expected_accuracy"]

MIN_DEPARTURE = 3.0
MAX_COMBINATIONS = 4_000_000  # combinations of values to compare; beyond that, candidates are added by their departure
MIN_GAIN = 1e-9  # in accuracy: less is rounding


class NaiveBayesGreedy(CountClassifier):
    """Use only the tables that noise alone would hardly produce."""

    __slots__ = ()
    name = "naive-bayes-greedy"
    page = "naive-bayes-greedy.md"
    does = "builds a naive Bayes classifier from the tables that say more than their noise and applies it to the target"
    is_audited = False  # a variant

    def model(self, release: NoisyCounts, rng: np.random.Generator | None) -> Model:
        tables = conditionals(release)
        every: dict[ColumnNames, Floats] = dict(tables)
        for name, moments in release.moments.items():
            numbers = numbers_of(release.schema[name])
            every[name,] = moments.probabilities(numbers[~np.isnan(numbers)])
        departed = departures(release)
        candidates = {names: every[names] for names in departed if departed[names] > MIN_DEPARTURE}
        prior = shares(release)
        chosen = choose_tables(prior, candidates, departed)
        return Model(
            prior,
            {names: tables[names] for names in chosen if names in tables},
            tuple(names[0] for names in chosen if names not in tables),
            {
                "chosen": [list(names) for names in chosen],
                "departures": [
                    [list(names), round(departed[names], 6)] for names in departed if np.isfinite(departed[names])
                ],
            },
        )


def choose_tables(
    prior: Floats, candidates: dict[ColumnNames, Floats], departed: dict[ColumnNames, float]
) -> list[ColumnNames]:
    """Return the candidates to use, in the order in which they are added, without those that change no guess."""
    weights = prior[None, :]
    accuracy = float(prior.max())
    chosen: list[ColumnNames] = []
    left = dict(candidates)
    while left:
        small = {names: table for names, table in left.items() if len(weights) * table.size <= MAX_COMBINATIONS}
        if not small:
            chosen += sorted(left, key=lambda names: -departed[names])
            break
        gains = {names: expected_accuracy(weights, table) - accuracy for names, table in small.items()}
        best = max(gains, key=lambda names: gains[names])
        if gains[best] <= MIN_GAIN:
            chosen += sorted(left.keys() - small.keys(), key=lambda names: -departed[names])
            break
        accuracy += gains[best]
        weights = (weights[:, None, :] * left.pop(best)[None, :, :]).reshape(-1, len(prior))
        chosen.append(best)
    return chosen


def expected_accuracy(weights: Floats, conditional: Floats) -> float:
    """Return how often the likeliest value is right: Σ over all combinations of values of max over s of Pr[s] Π Pr[t | s]."""
    return float(sum((weights * row).max(axis=1).sum() for row in conditional))
