"""What attacker and learner conclude from the posterior of a population: sums over rows, and the predictive of one more person."""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.base import UNKNOWN
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.population import Population
from dalenius.arrays import Floats, Ints, Longs
from dalenius.kernels import horizontal

__all__ = ["joint", "of_groups", "of_suppressed", "row_weights"]


def joint(population: Population, known: Ints, error: Floats) -> Floats:
    """Return the learner's p_L(s, y) for each target and value, not normalised."""
    weights = np.tile(population.values, (len(known), 1))
    for a, attribute in enumerate(population.attributes):
        is_known = known[:, a] != UNKNOWN
        share = attribute.leaves[:, known[is_known, a]].T
        share = _with_error(share, error[a], attribute.leaves.shape[1])
        weights[is_known] *= share
    return weights


def row_weights(population: Population, known: Ints, error: Floats) -> Floats:
    """Return the attacker's sum over rows for each target and value, not normalised."""
    return of_groups(population, known, error) + of_suppressed(population, known, error)


def of_groups(population: Population, known: Ints, error: Floats) -> Floats:
    """Return the part of the sum over the rows in groups."""
    release, grouping = population.release, population.grouping
    sets = [attribute.sets for attribute in population.attributes]
    begins = _before([len(s.members) for s in sets])
    weights = np.zeros((len(known), len(grouping.table)))
    certain = np.where(error > 0, UNKNOWN, known).astype(np.int32)  # what may be wrong rules no group out
    for some, start, group in fit.inside_boxes(release, certain):
        out = np.zeros((len(some), weights.shape[1]))
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
        weights[some] += out
    return weights


def _before(sizes: list[int]) -> Longs:
    """Return where each piece begins if pieces of these sizes are laid one after the other."""
    return np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int64)


def of_suppressed(population: Population, known: Ints, error: Floats) -> Floats:
    """Return the part of the sum over the suppressed rows, which could be anybody."""
    weights = np.tile(population.hidden.astype(np.float64), (len(known), 1))
    some = population.hidden > 0
    weights[:, ~some] = 0.0
    for a, attribute in enumerate(population.attributes):
        is_known = np.flatnonzero(known[:, a] != UNKNOWN)
        share = attribute.hidden[some][:, known[is_known, a]].T
        share = _with_error(share, error[a], attribute.leaves.shape[1])
        weights[np.ix_(is_known, np.flatnonzero(some))] *= share
    return weights


def _with_error(share: Floats, error: float, leaves: int) -> Floats:
    """Return the probability of knowing a leaf whose probability is `share`, if what is known may be wrong."""
    return (1 - error) * share + error * (1 - share) / (leaves - 1) if error else share
