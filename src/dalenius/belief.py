"""A belief: what an adversary thinks about each target's sensitive value, and the baseline for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dalenius.arrays import Bools, Floats, Ints
from dalenius.reprs import short_repr
from dalenius.schema import Column

__all__ = ["Belief", "Method", "Replicates", "normalised"]

Method = Literal["exact", "sampled"]


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """The beliefs of each batch of a sampler: [chain, batch, distinct target, value]; `number` is which one every target is.

    The spread of a measure over the batches gives its standard error.
    """

    posterior: Floats
    baseline: Floats | None
    number: Ints

    def __repr__(self) -> str:
        chains, batches, targets, values = self.posterior.shape
        title = f"Replicates: {chains} chains of {batches} batches, {targets:,} distinct targets, {values:,} values"
        return short_repr(title)


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """`posterior[i, s]`: the probability that target i has value s; `baseline[i, s]`: without the release's help.

    A target that fits no group of the release is not `matched`; its posterior is nan. `stderr` is the Monte-Carlo error
    of the posterior, 0 where it is exact. `method` and `diagnostics` say how it was computed. `guess` is what an adversary
    says that does not say what it believes most. `unless_suppressed` is the posterior if the target's row is not suppressed;
    None where that makes no difference, nan for a target that fits no class and so must be suppressed.
    """

    column: Column
    posterior: Floats
    baseline: Floats
    stderr: Floats
    matched: Bools
    method: Method = "exact"
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    replicates: Replicates | None = None
    guess: Floats | None = None
    unless_suppressed: Floats | None = None

    def __post_init__(self) -> None:
        shape = (len(self.matched), len(self.column.leaves))
        for name in ("posterior", "baseline", "stderr"):
            if getattr(self, name).shape != shape:
                raise ValueError(f"a belief about {shape[0]} targets and {shape[1]} values: {name} has another shape")

    def __repr__(self) -> str:
        title = f"Belief about {self.column.name} of {len(self):,} targets: {self.method}, {len(self.column.leaves):,} values"
        return short_repr(title, f"{int((~self.matched).sum()):,} targets fit no class")

    def __len__(self) -> int:
        return len(self.matched)

    @property
    def answer(self) -> Floats:
        """What the adversary answers: its guess, else its belief; the baseline for a target that fits no class."""
        said = self.posterior if self.guess is None else self.guess
        return np.where(self.matched[:, None], said, self.baseline)

    @property
    def assumed(self) -> Floats:
        """The posterior of an attacker who assumes that a target who fits a class is not suppressed."""
        shown = self.unless_suppressed
        return self.posterior if shown is None else np.where(np.isnan(shown), self.posterior, shown)

    @classmethod
    def exact(cls, column: Column, weights: Floats, baseline: Floats, **diagnostics: Any) -> Belief:
        """Return an exact belief from weights that are not normalised. A target whose weights are all 0 fits no class."""
        posterior = normalised(weights)
        wide = np.broadcast_to(baseline, weights.shape).copy()
        matched = weights.sum(axis=1) > 0
        return cls(column, posterior, wide, np.zeros(weights.shape), matched, "exact", diagnostics)


def normalised(weights: Floats) -> Floats:
    """Return weights as probabilities, row by row; nan if all are 0."""
    total = weights.sum(axis=-1, keepdims=True)
    shares: Floats = np.divide(weights, total, out=np.full(weights.shape, np.nan), where=total > 0)
    return shares
