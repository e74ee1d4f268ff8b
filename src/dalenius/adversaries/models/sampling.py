"""Sampling what has no exact answer: several chains, batches of sweeps, and a rule that stops when the error is small.

Each batch of sweeps of each chain gives one estimate of every belief. The belief reported is that of all sweeps together; its
Monte-Carlo error is told by how much the batches differ. When there are many batches two become one, so that batches grow
longer than any memory of the chain. Sampling stops when every belief is sharp enough and the chains agree: R-hat of what is
watched from sweep to sweep is near 1, and no belief differs between chains more than chance would have it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from dalenius.adversaries.models import diagnostics
from dalenius.adversaries.models.batch_errors import STANDARD, spread
from dalenius.arrays import Floats, Ints
from dalenius.errors import ParameterError

Method = Literal["block", "swaps", "metropolis", "printed-swaps", "printed-permutations"]
METHODS: tuple[Method, ...] = ("block", "swaps", "metropolis", "printed-swaps", "printed-permutations")
PRINTED_SWEEPS = 1000  # that the paper gives it
PRINTED: tuple[Method, ...] = ("printed-swaps", "printed-permutations")  # of the deFinetti attack: not of a posterior

RHAT = 1.05  # chains agree up to here
WATCHED = 32  # numbers, and rows, that are written down at every sweep
MOST_BATCHES = 32  # of a chain; then two become one
STATES = 200  # of a batch that are kept as they were
KEPT = 40_000_000  # numbers of all such states together
WORK = 3_000_000_000  # multiplications that looking at all of them may take
REPLICATES = 60_000_000  # numbers that are kept of all batches; with more beliefs there are fewer batches


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to sample: until every belief has at most the error `mcse`, and Ti at most the relative error `relative`.

    `method` says how the link of an anatomized release is drawn: whole blocks exactly, by swaps, as the paper of relative
    threats does, or as the deFinetti attack was printed, which is a heuristic.
    """

    mcse: float = 0.005
    relative: float = 0.05
    chains: int = 4
    batches: int = 8  # of each chain in a round
    sweeps: int = 20  # of a batch, at first
    burn_in: int = 150
    most_sweeps: int = 50_000  # of a chain
    method: Method = "block"

    def __post_init__(self) -> None:
        for name in ("mcse", "relative"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1:
                raise ParameterError(name, "sampling", "a number between 0 and 1", number)
        for name, least in (("chains", 2), ("batches", 4), ("sweeps", 1), ("burn_in", 0), ("most_sweeps", 1)):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int) or number < least:
                raise ParameterError(name, "sampling", f"an int, {least} or more", number)
        if self.method not in METHODS:
            raise ParameterError("method", "sampling", " or ".join(METHODS), self.method)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What some sweeps brought: means over them, some states as they were, and what was watched at each sweep."""

    means: list[Floats]
    kept: Floats | None = None  # [state, …]
    trace: Floats | None = None  # [sweep, number]
    states: Ints | None = None  # [sweep, row]: categories

    @classmethod
    def together(cls, batches: Sequence[Batch], *, states: int | None = None) -> Batch:
        """Batches of one length as one; of states that were kept at most so many, evenly chosen."""
        means = [np.mean([batch.means[i] for batch in batches], axis=0) for i in range(len(batches[0].means))]
        kept = None
        if batches[0].kept is not None:
            kept = np.concatenate([batch.kept for batch in batches if batch.kept is not None])
            if states is not None and len(kept) > states:
                kept = kept[:: -(-len(kept) // states)]
        return cls(means, kept)


class Chain(Protocol):
    """One walk through the states; of a batch it keeps at most `states` as they were."""

    @property
    def states(self) -> int: ...

    def settle(self, sweeps: int) -> None:
        """Sweeps that are thrown away: from where it began to where it belongs."""

    def advance(self, sweeps: int) -> Batch:
        """Some sweeps, and what they brought."""


class Watch(Protocol):
    """What was found out about modes before sampling, and what chains have made of it since."""

    def unseen(self) -> float:
        """The mass, at most, of modes that chains have not weighed."""

    def unmixed(self) -> str:
        """Why they have not, in a sentence."""

    def told(self) -> dict[str, Any]: ...


Prepare = Callable[[ThreadPoolExecutor], Watch]  # after burn-in: look for other modes, and move the chains apart
Evaluate = Callable[[Batch], tuple[Floats, ...]]  # to beliefs: rows that sum to 1, or nan
Progress = Callable[[int, float, float], None]  # sweeps of a chain so far, largest error, largest R-hat


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """The batches of each chain, all of them as one, the error of each belief, and how the chains went."""

    batches: list[list[Batch]]
    whole: Batch
    errors: tuple[Floats, ...]
    diagnostics: dict[str, Any]
    run: _Run  # to go on from

    def spread(self, draws: Floats) -> Floats:
        """The error of beliefs, from those of each batch [chain, batch, …]."""
        return self.run.stated(spread(draws)[0])


def sample(
    chains: Sequence[Chain],
    evaluate: Evaluate,
    effort: Effort,
    *,
    categories: int = 0,
    progress: Progress | None = None,
    told: dict[str, Any] | None = None,
    before: Sampled | None = None,
    again: bool = False,
    compare: bool = True,
    prepare: Prepare | None = None,
) -> Sampled:
    """Let the chains walk until the beliefs are sharp enough. An interrupt gives what there is, marked as such.

    With what was sampled `before`, by these chains and for these beliefs, it goes on from there; `again`, by one round
    at least, even if the beliefs are sharp enough: what is made of them may not be. Unless told not to `compare`, the first
    belief is an attacker's and the second a learner's, and their ratio Ti is to be sharp as well.
    """
    run = _Run(chains, evaluate, effort, compare) if before is None else before.run
    interrupted = False
    try:
        with ThreadPoolExecutor(min(len(chains), os.cpu_count() or 1)) as pool:
            if before is None:
                run.burn_in(pool)
                run.watch = None if prepare is None else prepare(pool)
            while again or not run.enough():
                run.round(pool)
                again = False
                if progress is not None:
                    progress(run.sweeps, run.worst, run.rhat)
    except KeyboardInterrupt:
        if not run.sweeps:
            raise
        interrupted = True
    return run.result(interrupted=interrupted, categories=categories, told=told or {})


def states_of(size: int, work: int) -> int:
    """How many states of so many numbers each are kept of a batch, if a learner's look at one is so much work."""
    batches = 4 * MOST_BATCHES
    return max(1, min(STATES, KEPT // (batches * max(size, 1)), WORK // (batches * max(work, 1))))


@dataclass
class _Run:
    chains: Sequence[Chain]
    evaluate: Evaluate
    effort: Effort
    compare: bool = True
    sweeps: int = 0  # of each chain, burn-in left out
    worst: float = math.inf
    ti_error: float = math.inf
    rhat: float = math.inf
    apart: int = 0  # beliefs that differ between chains
    errors: tuple[Floats, ...] = ()
    batches: list[list[Batch]] = field(default_factory=list)  # of each chain
    draws: list[list[tuple[Floats, ...]]] = field(default_factory=list)  # beliefs of each chain and batch
    traces: list[list[Floats]] = field(default_factory=list)
    states: list[list[Ints]] = field(default_factory=list)
    length: int = 0
    watch: Watch | None = None

    def burn_in(self, pool: ThreadPoolExecutor) -> None:
        self.length = self.effort.sweeps
        self.batches, self.draws = [[] for _ in self.chains], [[] for _ in self.chains]
        self.traces, self.states = [[] for _ in self.chains], [[] for _ in self.chains]
        if self.effort.burn_in:
            list(pool.map(lambda chain: chain.settle(self.effort.burn_in), self.chains))

    def enough(self) -> bool:
        return self.converged or self.sweeps >= self.effort.most_sweeps

    @property
    def converged(self) -> bool:
        sharp = self.worst <= self.effort.mcse and self.ti_error <= self.effort.relative
        agree = self.rhat <= RHAT and self.apart == 0
        return sharp and agree and self.unseen <= self.effort.mcse

    @property
    def unseen(self) -> float:
        """The mass, at most, of modes that the chains have not weighed: a belief may be off by so much."""
        return 0.0 if self.watch is None else self.watch.unseen()

    def stated(self, errors: Floats) -> Floats:
        """Errors of beliefs that leave room for modes not weighed, as long as these are lighter than the error asked for."""
        room = self.unseen / STANDARD
        return errors if self.unseen > self.effort.mcse else np.where(errors > 0, np.maximum(errors, room), errors)

    def round(self, pool: ThreadPoolExecutor) -> None:
        """A round of batches. What an interrupt cuts off is left out: nothing is kept before all of it is there."""
        number = self.effort.batches
        new = list(pool.map(lambda chain: [chain.advance(self.length) for _ in range(number)], self.chains))
        found = [[self.evaluate(batch) for batch in batches] for batches in new]
        draws = [old + mine for old, mine in zip(self.draws, found, strict=True)]
        traces = [
            [*old, *(batch.trace for batch in batches if batch.trace is not None)]
            for old, batches in zip(self.traces, new, strict=True)
        ]
        errors, ti_error, apart = _precision(draws, compare=self.compare)
        rhat = _largest_rhat(traces)
        self.draws, self.traces = draws, traces
        self.errors, self.ti_error, self.apart, self.rhat = tuple(map(self.stated, errors)), ti_error, apart, rhat
        self.worst = max((float(np.nanmax(error, initial=0.0)) for error in self.errors), default=0.0)
        for kept, states, batches in zip(self.batches, self.states, new, strict=True):
            kept += [Batch(batch.means, batch.kept) for batch in batches]
            states += [batch.states for batch in batches if batch.states is not None]
        self.sweeps += number * self.length
        self._merge()

    def _merge(self) -> None:
        numbers = [*self.draws[0][0], *self.batches[0][0].means]
        size = sum(one.size for one in numbers) * len(self.chains)
        most = max(2 * self.effort.batches, min(MOST_BATCHES, REPLICATES // max(size, 1)) // 2 * 2)
        while len(self.draws[0]) > most - self.effort.batches and len(self.draws[0]) % 2 == 0:
            self.draws = [
                [
                    tuple((one + other) / 2 for one, other in zip(mine[i], mine[i + 1], strict=True))
                    for i in range(0, len(mine), 2)
                ]
                for mine in self.draws
            ]
            self.batches = [
                [Batch.together(mine[i : i + 2], states=self.chains[0].states) for i in range(0, len(mine), 2)]
                for mine in self.batches
            ]
            self.length *= 2

    def reasons(self) -> list[str]:
        """Why this has not converged, in sentences."""
        found = []
        gap, chains = _largest_difference(self.draws)
        if self.apart or self.rhat > RHAT:
            means = ", ".join(f"{mean:.3f}" for mean in chains)
            found.append(
                f"the chains found different modes or have not yet mixed: one belief differs by {gap:.3f} between chains ({means})"
            )
        if self.watch is not None and self.unseen > self.effort.mcse:
            found.append(self.watch.unmixed())
        if self.worst > self.effort.mcse:
            found.append(f"the error is still larger than the {self.effort.mcse:g} asked for")
        if self.ti_error > self.effort.relative:
            found.append(f"a Ti still has a relative error of {self.ti_error:.3f}, more than {self.effort.relative:g}")
        return found

    def result(self, *, interrupted: bool, categories: int, told: dict[str, Any]) -> Sampled:
        trace = np.array([np.concatenate(mine) for mine in self.traces])
        found: dict[str, Any] = {
            **told,
            "chains": len(self.chains),
            "sweeps": self.sweeps,
            "burn_in": self.effort.burn_in,
            "largest_mcse": self.worst,
            "largest_relative_mcse_of_Ti": self.ti_error,
            "largest_rhat": self.rhat,
            "smallest_ess": float(np.nanmin(diagnostics.ess(trace), initial=math.inf)),
            "beliefs_that_differ_between_chains": self.apart,
            "geweke_share_beyond_2": _geweke(trace),
            "converged": self.converged,
            "interrupted": interrupted,
        }
        if self.watch is not None:
            found |= self.watch.told()
        if not self.converged:
            found["not_converged_because"] = self.reasons()
        if categories and self.states[0]:
            test = diagnostics.weiss([np.concatenate(mine) for mine in self.states], categories)
            found["weiss_smallest_p"] = float(np.nanmin(test.p, initial=1.0))
            found["weiss_tests"] = int(np.size(test.p))
        whole = Batch.together([batch for mine in self.batches for batch in mine])
        return Sampled(self.batches, whole, self.errors, found, self)


def _geweke(trace: Floats) -> float:
    """The share of what was watched whose beginning and end differ by more than two standard errors: 5 % by chance."""
    if trace.shape[1] < 100 or not trace.size:
        return math.nan
    return float(np.mean(np.abs(diagnostics.geweke(trace)) > 2))


def _largest_rhat(traces: list[list[Floats]]) -> float:
    trace = np.array([np.concatenate(mine) for mine in traces])
    return float(np.nanmax(diagnostics.rhat(trace), initial=1.0)) if trace.size else 1.0


def _precision(draws: list[list[tuple[Floats, ...]]], *, compare: bool) -> tuple[tuple[Floats, ...], float, int]:
    """The error of each belief, the largest relative one of Ti, and how many differ between chains."""
    errors, means = [], []
    apart = 0
    for j in range(len(draws[0][0])):
        stacked = np.array([[batch[j] for batch in mine] for mine in draws])
        error, differ = spread(stacked)
        apart += int(np.count_nonzero(differ))
        errors.append(error)
        means.append(stacked.mean(axis=(0, 1)))
    return tuple(errors), _ti_error(draws, means) if compare else 0.0, apart


def _largest_difference(draws: list[list[tuple[Floats, ...]]]) -> tuple[float, list[float]]:
    """The largest difference of a belief between two chains, and that belief's mean in each chain."""
    largest, means = 0.0, [0.0 for _ in draws]
    for j in range(len(draws[0][0]) if draws and draws[0] else 0):
        of_chain = np.array([np.mean([batch[j] for batch in mine], axis=0) for mine in draws]).reshape(len(draws), -1)
        gaps = np.nan_to_num(of_chain.max(axis=0) - of_chain.min(axis=0))
        if gaps.size and gaps.max() > largest:
            largest, means = float(gaps.max()), of_chain[:, int(gaps.argmax())].tolist()
    return largest, means


def _ti_error(draws: list[list[tuple[Floats, ...]]], means: list[Floats]) -> float:
    """The largest relative error of p_A/p_L over values that are an attacker's most believed; 0 without an attacker."""
    if len(means) < 2 or not means[0].size:
        return 0.0
    fits = np.logical_not(np.isnan(means[0]).any(axis=1))
    most = np.where(fits[:, None], means[0], 0.0).argmax(axis=1)
    own = np.flatnonzero(fits), most[fits]
    ratios = np.array([[batch[0][own] / batch[1][own] for batch in mine] for mine in draws])
    if not ratios.size:
        return 0.0
    return float((spread(ratios)[0] / ratios.mean(axis=(0, 1))).max(initial=0.0))
