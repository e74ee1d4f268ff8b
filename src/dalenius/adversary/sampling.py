"""Sampling what has no exact answer: several chains, batches of sweeps, and a rule that stops when the error is small.

Each batch of sweeps of each chain gives one estimate of every mean, and with it one of every belief. The belief reported is
that of all sweeps together; its Monte-Carlo error is estimated from how much the batches differ, and whether the chains
agree is told by R-hat over the batches.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary.population import Attribute, Population
from dalenius.errors import ParameterError
from dalenius.kernel.gibbs_sets import start_sets, sweep_sets

Floats = NDArray[np.float64]
RHAT = 1.05  # chains agree up to here


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to sample: until every belief has at most the error `mcse`, and at most `rounds` rounds."""

    mcse: float = 0.005
    chains: int = 4
    batches: int = 8  # of each chain in a round
    sweeps: int = 50  # of a batch
    burn_in: int = 200
    rounds: int = 40

    def __post_init__(self) -> None:
        if not 0 < self.mcse < 1:
            raise ParameterError("mcse", "sampling", "a number between 0 and 1", self.mcse)
        for name in ("chains", "batches", "sweeps", "rounds"):
            if getattr(self, name) < (2 if name in ("chains", "batches") else 1):
                raise ParameterError(name, "sampling", "an int large enough", getattr(self, name))


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """What sampling brought: each estimate of all sweeps together, its error, and how the chains went."""

    estimates: tuple[Floats, ...]
    errors: tuple[Floats, ...]
    diagnostics: dict[str, Any]


Evaluate = Callable[[Population], tuple[Floats, ...]]
Progress = Callable[[int, float, float], None]  # sweeps done, largest error, largest R-hat


def sample_sets(
    population: Population,
    evaluate: Evaluate,
    rng: np.random.Generator,
    effort: Effort | None = None,
    progress: Progress | None = None,
) -> Sampled:
    """Fill in what is pending by collapsed Gibbs on the sets, and evaluate beliefs until they are sharp enough."""
    effort = effort or Effort()
    chains = [_SetChain(population, int(seed)) for seed in rng.integers(2**31, size=effort.chains)]
    interrupted = False
    rounds = 0
    estimates: list[tuple[Floats, ...]] = []  # of each chain and batch, chain by chain within a round
    worst = rhat = math.inf
    errors: tuple[Floats, ...] = ()
    try:
        with ThreadPoolExecutor(min(effort.chains, os.cpu_count() or 1)) as pool:
            list(pool.map(lambda chain: chain.run(effort.burn_in, keep=False), chains))
            while rounds < effort.rounds:
                list(pool.map(lambda chain: chain.batches(effort.batches, effort.sweeps), chains))
                fresh = [evaluate(chain.filled(b)) for chain in chains for b in range(-effort.batches, 0)]
                errors, worst, rhat = _agreement([*estimates, *fresh], effort, rounds + 1)
                estimates += fresh
                rounds += 1  # only now: an interrupt leaves the last whole round
                if progress is not None:
                    progress(rounds * effort.batches * effort.sweeps, worst, rhat)
                if worst <= effort.mcse and rhat <= RHAT:
                    break
    except KeyboardInterrupt:
        if not rounds:
            raise
        interrupted = True
    whole = evaluate(_SetChain.together(population, chains, rounds * effort.batches))
    return Sampled(
        whole,
        errors,
        {
            "sampler": "collapsed Gibbs on overlapping sets",
            "chains": effort.chains,
            "sweeps": rounds * effort.batches * effort.sweeps,
            "burn_in": effort.burn_in,
            "largest_mcse": worst,
            "largest_rhat": rhat,
            "converged": worst <= effort.mcse and rhat <= RHAT,
            "interrupted": interrupted,
        },
    )


def _agreement(
    estimates: list[tuple[Floats, ...]], effort: Effort, rounds: int
) -> tuple[tuple[Floats, ...], float, float]:
    """The error of each estimate, the largest of them, and the largest R-hat."""
    from arviz_stats.base import array_stats  # type: ignore[attr-defined]

    errors = []
    worst, rhat = 0.0, 1.0
    for j in range(len(estimates[0])):
        flat = np.array([one[j] for one in estimates])
        # [round, chain, batch, …] → [chain, draw, …]
        shaped = flat.reshape(rounds, effort.chains, effort.batches, *flat.shape[1:]).swapaxes(0, 1)
        draws = shaped.reshape(effort.chains, rounds * effort.batches, *flat.shape[1:])
        spread = draws.reshape(-1, *flat.shape[1:]).std(axis=0, ddof=1)
        error = spread / math.sqrt(effort.chains * rounds * effort.batches)
        moving = spread > 1e-12  # what is constant has neither error nor R-hat
        if moving.any():
            told = {"chain_axis": 0, "draw_axis": 1}
            some = draws[:, :, moving]
            # Batches that follow each other may be alike: then arviz' error is the larger one.
            alike = array_stats.mcse(some, method="mean", **told)  # type: ignore[no-untyped-call]
            error[moving] = np.fmax(error[moving], alike)
            rhat = max(rhat, float(np.nanmax(array_stats.rhat(some, **told))))  # type: ignore[no-untyped-call]
        errors.append(error)
        worst = max(worst, float(np.nanmax(errors[-1], initial=0.0)))
    return tuple(errors), worst, rhat


class _SetChain:
    """One chain for all pairs of attribute and value that are pending."""

    def __init__(self, population: Population, seed: int) -> None:
        self.population = population
        self.rng = np.random.default_rng(seed)
        self.states = [
            start_sets(p.family.first, p.family.members, p.said, p.family.leaves, self._seed())
            for p in population.pending
        ]
        # For each batch and pair: means of leaves and of rows' leaves.
        self.kept: list[list[tuple[Floats, Floats]]] = []

    def _seed(self) -> int:
        return int(self.rng.integers(2**31))

    def run(self, sweeps: int, *, keep: bool) -> None:
        found = []
        for pending, (rows, total) in zip(self.population.pending, self.states, strict=True):
            family = pending.family
            found.append(
                sweep_sets(family.first, family.members, pending.said, pending.beta, rows, total, sweeps, self._seed())
            )
        if keep:
            self.kept.append(found)

    def batches(self, batches: int, sweeps: int) -> None:
        for _ in range(batches):
            self.run(sweeps, keep=True)

    def filled(self, batch: int) -> Population:
        """The population with the means of one batch in their places."""
        return _filled(self.population, self.kept[batch])

    @staticmethod
    def together(population: Population, chains: list[_SetChain], batches: int) -> Population:
        """The population with the means of the first so many batches of all chains."""
        kept = [batch for chain in chains for batch in chain.kept[:batches]]
        means = [
            (np.mean([batch[i][0] for batch in kept], axis=0), np.mean([batch[i][1] for batch in kept], axis=0))
            for i in range(len(population.pending))
        ]
        return _filled(population, means)


def _filled(population: Population, means: list[tuple[Floats, Floats]]) -> Population:
    touched = {pending.attribute for pending in population.pending}
    attributes = [
        Attribute(a.sets, a.leaves.copy(), a.shares.copy(), a.hidden.copy()) if i in touched else a
        for i, a in enumerate(population.attributes)
    ]
    for pending, (leaves, shares) in zip(population.pending, means, strict=True):
        pending.fill(attributes[pending.attribute], leaves, shares)
    return dataclasses.replace(population, attributes=tuple(attributes), pending=())
