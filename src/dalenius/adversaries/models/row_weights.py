"""What attacker and learner make of a population's posterior: sums over rows, and the predictive of one person more."""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.base import UNKNOWN
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.population import Population
from dalenius.arrays import Floats, Ints, Longs
from dalenius.kernels import horizontal


def joint(population: Population, known: Ints, error: Floats) -> Floats:
    """p_L(s, y) of the learner for each target and value, not normalised."""
    weights = np.tile(population.values, (len(known), 1))
    for a, attribute in enumerate(population.attributes):
        told = known[:, a] != UNKNOWN
        share = attribute.leaves[:, known[told, a]].T
        share = _heard(share, error[a], attribute.leaves.shape[1])
        weights[told] *= share
    return weights


def row_weights(population: Population, known: Ints, error: Floats) -> Floats:
    """The attacker's sum over rows for each target and value, not normalised."""
    return of_groups(population, known, error) + of_suppressed(population, known, error)


def of_groups(population: Population, known: Ints, error: Floats) -> Floats:
    """The rows in groups, value by value."""
    release, grouping = population.release, population.grouping
    sets = [attribute.sets for attribute in population.attributes]
    begins = _before([len(s.members) for s in sets])
    found = np.zeros((len(known), len(grouping.table)))
    sure = np.where(error > 0, UNKNOWN, known).astype(np.int32)  # what may be wrong rules no group out
    for some, start, group in fit.inside_boxes(release, sure):
        out = np.zeros((len(some), found.shape[1]))
        horizontal.row_weights(
            known[some],
            error,
            start,
            group,
            release.codes,
            grouping.start,
            grouping.values,
            grouping.counts,
            np.array([s.leaves for s in sets], dtype=np.int64),
            _before([len(s) + 1 for s in sets]),
            np.concatenate([s.first + begin for s, begin in zip(sets, begins, strict=True)]),
            np.concatenate([s.members for s in sets]),
            _before([attribute.shares.size for attribute in population.attributes]),
            np.concatenate([attribute.shares.ravel() for attribute in population.attributes]),
            np.array([len(s.members) for s in sets], dtype=np.int64),
            out,
        )
        found[some] += out
    return found


def _before(sizes: list[int]) -> Longs:
    """How much comes before each of some pieces that are laid one after the other."""
    return np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int64)


def of_suppressed(population: Population, known: Ints, error: Floats) -> Floats:
    """The rows that could be anybody, value by value."""
    weights = np.tile(population.hidden.astype(np.float64), (len(known), 1))
    some = population.hidden > 0
    weights[:, ~some] = 0.0
    for a, attribute in enumerate(population.attributes):
        told = np.flatnonzero(known[:, a] != UNKNOWN)
        share = attribute.hidden[some][:, known[told, a]].T
        share = _heard(share, error[a], attribute.leaves.shape[1])
        weights[np.ix_(told, np.flatnonzero(some))] *= share
    return weights


def _heard(share: Floats, error: float, leaves: int) -> Floats:
    """The probability to hear of a leaf that is as probable as `share`, if what is heard is wrong with some probability."""
    return (1 - error) * share + error * (1 - share) / (leaves - 1) if error else share
