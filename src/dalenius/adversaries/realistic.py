"""Realistic adversaries: the belief about a person in the release, and about the same person left out of it.

The posterior is p_in, the baseline p_out (see `criteria/realistic.py`). Entry s of the baseline is the belief in s about a person
who has s and is left out, so that a row of it need not sum to 1. With b known records, each entry of the posterior is the worst
case over which records these are. A target who fits several groups is in each with the random-worlds probability. Suppressed rows
are one more group, which everybody fits.
"""

from __future__ import annotations

import numpy as np

from dalenius.adversaries.base import Adversary, Targets
from dalenius.adversaries.evidence import required
from dalenius.adversaries.models import fit
from dalenius.belief import Belief
from dalenius.criteria.realistic import Realistic, beliefs
from dalenius.releases import Grouping, Release

__all__ = ["RealisticAdversary"]


class RealisticAdversary(Adversary):
    """A class I–IV adversary, played against the targets."""

    __slots__ = ("model", "name")
    knows = (
        "the release, the target's quasi-identifiers, and what it has learned elsewhere about the shares of the values"
    )
    does = (
        "weighs what it has learned elsewhere, which counts for as many people as its stubbornness, "
        "against the people of the target's group"
    )
    page = "realistic.md"
    baseline_sums_to_one = False

    def __init__(self, model: Realistic) -> None:
        self.model = model
        self.name = model.text

    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        classes = required(release.classes(), release)
        grouping = _with_suppressed(classes.grouping(column))
        inside, outside = beliefs(grouping, self.model)
        sizes = grouping.sizes
        known, number = fit.distinct_targets(targets)
        posterior = np.full((len(known), len(grouping.table)), np.nan)
        baseline = np.broadcast_to(self._unseen(grouping), posterior.shape).copy()
        groups = slice(0, classes.groups)  # the group after them is that of suppressed rows
        weights = fit.fit_to_suppressed(release, known) * sizes[classes.groups :].sum()
        sums = [weights[:, None] * belief[classes.groups :].sum(axis=0) for belief in (inside, outside)]
        for some, fitting in fit.fits(release, known):
            weights[some] += fitting @ sizes[groups]
            for total, belief in zip(sums, (inside, outside), strict=True):
                total[some] += fitting @ (sizes[groups, None] * belief[groups])
        matched = weights > 0
        for target, total in zip((posterior, baseline), sums, strict=True):
            target[matched] = total[matched] / weights[matched, None]
        return Belief(
            grouping.column,
            np.minimum(posterior, 1.0)[number],
            np.minimum(baseline, 1.0)[number],
            np.zeros((len(number), len(grouping.table))),
            matched[number],
            "exact",
            {"known": self.model.known, "baseline": "entry s: of a person who has s and is left out"},
        )

    def _unseen(self, grouping: Grouping) -> np.ndarray:
        """Return the belief about somebody who fits nowhere: the shape of the prior or, without one, the shares of the table."""
        shape = self.model.dirichlet(grouping)[0]
        table: np.ndarray = grouping.table / grouping.table.sum()
        return table if np.isnan(shape).any() else shape


def _with_suppressed(grouping: Grouping) -> Grouping:
    """Return the grouping with the suppressed rows as its last group."""
    if not grouping.suppressed:
        return grouping
    hidden = grouping.table.copy()
    np.subtract.at(hidden, grouping.values, grouping.counts)
    values = np.flatnonzero(hidden).astype(np.int32)
    return Grouping(
        grouping.column,
        np.append(grouping.start, grouping.start[-1] + len(values)),
        np.concatenate([grouping.values, values]),
        np.concatenate([grouping.counts, hidden[values]]),
        grouping.table,
        0,
    )
