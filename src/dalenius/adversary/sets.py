"""A chain over overlapping sets: how many rows of each set have each of its leaves (methods A, exact inference 3)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary.population import Population
from dalenius.adversary.sampling import WATCHED, Batch
from dalenius.kernel.gibbs_sets import start_sets, sweep_sets

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


@dataclass(slots=True, eq=False)
class SetChain:
    """One chain for all pairs of attribute and value that are pending."""

    population: Population
    rng: np.random.Generator
    rows: list[tuple[Longs, Longs]] = field(init=False)  # of each pair: of each set and leaf, and of each leaf
    states: int = 0  # kept as they were: means are all that is needed
    watched: list[Longs] = field(init=False)

    def __post_init__(self) -> None:
        pending = self.population.pending
        self.rows = [
            start_sets(p.family.first, p.family.members, p.said, p.family.leaves, self._seed()) for p in pending
        ]
        # Of some pairs a leaf each, the same for all chains.
        choice = np.random.default_rng(0)
        chosen = set(choice.permutation(len(pending))[:WATCHED].tolist())
        self.watched = [
            choice.choice(np.unique(p.family.members), 1).astype(np.int64)
            if i in chosen
            else np.empty(0, dtype=np.int64)
            for i, p in enumerate(pending)
        ]

    def _seed(self) -> int:
        return int(self.rng.integers(2**31))

    def settle(self, sweeps: int) -> None:
        self.advance(sweeps)

    def advance(self, sweeps: int) -> Batch:
        """Means over the sweeps: for each pair each leaf's posterior mean, and each leaf's share of a row of each set."""
        means: list[Floats] = []
        traces = []
        for pending, (rows, total), watched in zip(self.population.pending, self.rows, self.watched, strict=True):
            family = pending.family
            trace = np.empty((sweeps, len(watched)))
            means += sweep_sets(
                family.first,
                family.members,
                pending.said,
                pending.beta,
                rows,
                total,
                watched,
                trace,
                sweeps,
                self._seed(),
            )
            traces.append(trace)
        return Batch(means, trace=np.concatenate(traces, axis=1))
