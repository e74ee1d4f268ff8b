"""Naive Bayes on those tables that tell more than their noise, chosen one after the other (Cormode 2011, section 2.5).

An attribute whose counts are mostly noise misleads a classifier. Which ones are is told by the noisy counts and the scale of
the noise, both published: a table is a candidate if it departs from independence by more than `LEAST` standard deviations
of what noise and chance do (see `departure`). Of the candidates the one is added that raises the expected accuracy of the
classifier most, by its own probabilities, as long as one does.
"""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.departure import departures
from dalenius.adversaries.naive_bayes import Model, NaiveBayes, Names, conditionals, shares
from dalenius.arrays import Floats
from dalenius.releases import NoisyCounts
from dalenius.releases.moments import numbers_of

LEAST = 3.0
MOST = 4_000_000  # combinations of values that are looked at; beyond them candidates are added by their departure
SMALLEST = 1e-9  # of a gain in accuracy: less is rounding


class NaiveBayesGreedy(NaiveBayes):
    """Somebody who does not trust every table: only those that noise alone would hardly make."""

    __slots__ = ()
    name = "naive-bayes-greedy"
    does = "makes a naive Bayes classifier of those tables that tell more than their noise and applies it to the target"
    usual_for = ()
    is_audited = False  # a variant

    def model(self, release: NoisyCounts, rng: np.random.Generator | None) -> Model:  # noqa: ARG002 - nothing is drawn
        given = conditionals(release)
        every: dict[Names, Floats] = dict(given)
        for name, moments in release.moments.items():
            numbers = numbers_of(release.schema[name])
            every[name,] = moments.probabilities(numbers[~np.isnan(numbers)])
        departed = departures(release)
        candidates = {names: every[names] for names in departed if departed[names] > LEAST}
        prior = shares(release)
        chosen = forward(prior, candidates, departed)
        return Model(
            prior,
            {names: given[names] for names in chosen if names in given},
            tuple(names[0] for names in chosen if names not in given),
            {
                "chosen": [list(names) for names in chosen],
                "departures": [
                    [list(names), round(departed[names], 6)] for names in departed if np.isfinite(departed[names])
                ],
            },
        )


def forward(prior: Floats, candidates: dict[Names, Floats], departed: dict[Names, float]) -> list[Names]:
    """The candidates in the order in which they are added; those that change no guess are left."""
    weights = prior[None, :]
    accuracy = float(prior.max())
    chosen: list[Names] = []
    left = dict(candidates)
    while left:
        fitting = {names: given for names, given in left.items() if len(weights) * given.size <= MOST}
        if not fitting:
            chosen += sorted(left, key=lambda names: -departed[names])
            break
        gains = {names: expected_accuracy(weights, given) - accuracy for names, given in fitting.items()}
        best = max(gains, key=lambda names: gains[names])
        if gains[best] <= SMALLEST:
            chosen += sorted(left.keys() - fitting.keys(), key=lambda names: -departed[names])
            break
        accuracy += gains[best]
        weights = (weights[:, None, :] * left.pop(best)[None, :, :]).reshape(-1, len(prior))
        chosen.append(best)
    return chosen


def expected_accuracy(weights: Floats, given: Floats) -> float:
    """Σ over all combinations of values of max over s of Pr[s] Π Pr[t | s]: how often the likeliest value is right."""
    return float(sum((weights * row).max(axis=1).sum() for row in given))
