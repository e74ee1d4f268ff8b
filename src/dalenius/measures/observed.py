"""What an attacker may observe and then believe: the input of every measure of estimation error.

A channel, a table's classes and the beliefs of any adversary all become posteriors, their probabilities, and the priors that
they are compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalenius.arrays import Floats, Longs
from dalenius.belief import Belief
from dalenius.errors import InputError
from dalenius.releases import Channel, Grouping

__all__ = ["SMALLEST", "SUPPRESSED", "Observed", "dense"]

SMALLEST = 1e-290  # probabilities below are 0: nothing can be divided by them
SUPPRESSED = "suppressed"  # the observation of people of whom no quasi-identifier is published


@dataclass(frozen=True, eq=False)
class Observed:
    """`posterior[y, x]` = p(x | y), `weight[y]` = p(y), `prior[y, x]` what was believed before. Observations of
    weight 0 are left out, because they never occur."""

    values: tuple[str, ...]
    observations: tuple[str, ...]
    posterior: Floats
    weight: Floats
    prior: Floats

    @classmethod
    def of_joint(cls, joint: Floats, values: tuple[str, ...], observations: tuple[str, ...]) -> Observed:
        """Make it from p(x, y) or counts in proportion to it. The prior is the margin."""
        joint = joint / joint.sum()
        weight = joint.sum(axis=0)
        seen = np.flatnonzero(weight > SMALLEST)
        posterior = (joint[:, seen] / weight[seen]).T
        prior = np.broadcast_to(joint.sum(axis=1), posterior.shape)
        return cls(values, tuple(observations[i] for i in seen), posterior, weight[seen], prior)

    @classmethod
    def of_channel(cls, channel: Channel) -> Observed:
        return cls.of_joint(channel.joint, channel.values, channel.seen)

    @classmethod
    def of_grouping(cls, grouping: Grouping) -> Observed:
        """Return the sensitive value of a person drawn at random, seen through the class that is published of it."""
        counts = dense(grouping)
        names = tuple(f"class {i}" for i in range(grouping.groups))
        hidden = grouping.table - counts.sum(axis=0)
        if hidden.any():
            counts, names = np.vstack([counts, hidden]), (*names, SUPPRESSED)
        if not counts.any():
            raise InputError("The release has no people.")
        return cls.of_joint(counts.T, grouping.column.leaves, names)

    @classmethod
    def of_belief(cls, belief: Belief, people: Longs | None = None) -> Observed:
        """Return an observation for each target, weighted by `people`; targets that fit nowhere are left out."""
        weight = np.ones(len(belief)) if people is None else people.astype(np.float64)
        kept = np.flatnonzero(belief.matched & (weight > 0))
        if len(kept) == 0:
            raise InputError("No target fits the release: there is no belief to measure.")
        return cls(
            belief.column.leaves,
            tuple(map(str, kept.tolist())),
            belief.posterior[kept],
            weight[kept] / weight[kept].sum(),
            belief.baseline[kept],
        )

    @cached_property
    def joint(self) -> Floats:
        """p(x, y) [x, y]."""
        joint: Floats = (self.posterior * self.weight[:, None]).T
        return joint

    @cached_property
    def has_one_prior(self) -> bool:
        """Whether all observations are of one unknown: the priors are one, and posteriors average to it."""
        first = self.prior[0]
        return bool((self.prior == first).all()) and bool(np.abs(self.weight @ self.posterior - first).max() <= 1e-9)

    def average(self, figures: Floats) -> float:
        """Return the mean of a figure of every observation."""
        return float(self.weight @ figures)


def dense(grouping: Grouping) -> Floats:
    """Return n(q, s) as a matrix [group, value]."""
    counts = np.zeros((grouping.groups, len(grouping.table)))
    counts[np.repeat(np.arange(grouping.groups), np.diff(grouping.start)), grouping.values] = grouping.counts
    return counts
