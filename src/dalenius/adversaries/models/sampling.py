"""Sampling where there is no exact answer: several chains, batches of sweeps, and a rule that stops when the error is small.

Each batch of sweeps of each chain gives one estimate of every belief. The reported belief is that of all sweeps together. Its
Monte-Carlo error follows from how much the batches differ. When there are many batches, two are merged into one, so that batches
grow longer than the memory of the chain. Sampling stops when every belief is precise enough and the chains agree: R-hat of the
watched numbers is near 1, and no belief differs between chains by more than chance.
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
from dalenius.adversaries.models.batch_errors import ERRORS_WITHIN, spread
from dalenius.arrays import Floats, Ints
from dalenius.errors import ParameterError

__all__ = [
    "METHODS",
    "PRINTED",
    "PRINTED_SWEEPS",
    "WATCHED",
    "Batch",
    "Chain",
    "Effort",
    "Evaluate",
    "Method",
    "Prepare",
    "Progress",
    "Sampled",
    "Watch",
    "sample",
    "spread",
    "states_of",
]

Method = Literal["block", "swaps", "metropolis", "printed-swaps", "printed-permutations"]
METHODS: tuple[Method, ...] = ("block", "swaps", "metropolis", "printed-swaps", "printed-permutations")
PRINTED_SWEEPS = 1000  # of the printed attack, as in the paper
PRINTED: tuple[Method, ...] = ("printed-swaps", "printed-permutations")  # the deFinetti attack: it samples no posterior

MAX_RHAT = 1.05  # chains agree up to here
WATCHED = 32  # numbers, and rows, that are recorded at every sweep
MAX_BATCHES = 32  # of a chain; then two are merged
MAX_KEPT_STATES = 200  # of a batch
MAX_KEPT_NUMBERS = 40_000_000  # of all kept states together
MAX_LOOK_WORK = 3_000_000_000  # multiplications for a learner's look at all kept states
MAX_REPLICATE_NUMBERS = 60_000_000  # of all batches; with more beliefs there are fewer batches


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to sample: until every belief has at most the error `mcse`, and Ti at most the relative error `relative`.

    `method` is the sampler for the link of an anatomized release. `block` draws whole blocks exactly. `swaps` swaps rows.
    `metropolis` is the sampler of the paper on relative threats. The printed ones are the deFinetti attack, a heuristic.
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
    """The result of some sweeps: means over them, some of the states, and the watched numbers of each sweep."""

    means: list[Floats]
    kept: Floats | None = None  # [state, …]
    trace: Floats | None = None  # [sweep, number]
    states: Ints | None = None  # [sweep, row]: categories

    @classmethod
    def together(cls, batches: Sequence[Batch], *, states: int | None = None) -> Batch:
        """Merge batches of equal length. At most `states` of the kept states remain, evenly chosen."""
        means = [np.mean([batch.means[i] for batch in batches], axis=0) for i in range(len(batches[0].means))]
        kept = None
        if batches[0].kept is not None:
            kept = np.concatenate([batch.kept for batch in batches if batch.kept is not None])
            if states is not None and len(kept) > states:
                kept = kept[:: -(-len(kept) // states)]
        return cls(means, kept)


class Chain(Protocol):
    """One walk through the states. A batch keeps at most `states` of them."""

    @property
    def states(self) -> int: ...

    def settle(self, sweeps: int) -> None:
        """Run sweeps that are thrown away, from the initial state to a likely one."""

    def advance(self, sweeps: int) -> Batch:
        """Run some sweeps and return their result."""


class Watch(Protocol):
    """What is known about modes from before sampling, and which of them the chains have visited since."""

    def unseen(self) -> float:
        """Return an upper bound of the mass of modes that the chains have not weighed."""

    def unmixed(self) -> str:
        """Return why they have not, in a sentence."""

    def to_dict(self) -> dict[str, Any]:
        """Return the entries for the diagnostics."""


Prepare = Callable[[ThreadPoolExecutor], Watch]  # after burn-in: look for other modes, and move the chains apart
Evaluate = Callable[[Batch], tuple[Floats, ...]]  # returns beliefs: rows that sum to 1, or nan
Progress = Callable[
    [int, float, float], None
]  # gets the sweeps of a chain so far, the largest error, the largest R-hat


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """The batches of each chain, all of them merged, the error of each belief, and the diagnostics of the chains."""

    batches: list[list[Batch]]
    whole: Batch
    errors: tuple[Floats, ...]
    diagnostics: dict[str, Any]
    run: _Run  # to continue from

    def spread(self, draws: Floats) -> Floats:
        """Return the error of beliefs, from those of each batch [chain, batch, …]."""
        return self.run.with_unseen_modes(spread(draws)[0])


def sample(
    chains: Sequence[Chain],
    evaluate: Evaluate,
    effort: Effort,
    *,
    categories: int = 0,
    progress: Progress | None = None,
    method: dict[str, Any] | None = None,
    before: Sampled | None = None,
    again: bool = False,
    compare: bool = True,
    prepare: Prepare | None = None,
) -> Sampled:
    """Run the chains until the beliefs are precise enough. After an interrupt, return what there is, marked as interrupted.

    `before` is an earlier result of these chains for these beliefs, to continue from. With `again` at least one more round is run,
    even if the beliefs are precise enough, because numbers computed from them may not be. With `compare` the first belief is an
    attacker's and the second a learner's, and their ratio Ti must be precise as well. `method` is added to the diagnostics.
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
    return run.result(interrupted=interrupted, categories=categories, method=method or {})


def states_of(size: int, work: int) -> int:
    """Return how many states a batch keeps. A state has `size` numbers, and a learner's look at it takes `work` multiplications."""
    batches = 4 * MAX_BATCHES
    by_size, by_work = MAX_KEPT_NUMBERS // (batches * max(size, 1)), MAX_LOOK_WORK // (batches * max(work, 1))
    return max(1, min(MAX_KEPT_STATES, by_size, by_work))


@dataclass
class _Run:
    chains: Sequence[Chain]
    evaluate: Evaluate
    effort: Effort
    compare: bool = True
    sweeps: int = 0  # of each chain, without burn-in
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
        precise = self.worst <= self.effort.mcse and self.ti_error <= self.effort.relative
        agree = self.rhat <= MAX_RHAT and self.apart == 0
        return precise and agree and self.unseen <= self.effort.mcse

    @property
    def unseen(self) -> float:
        """Return an upper bound of the mass of modes that the chains have not weighed. A belief may be off by that much."""
        return 0.0 if self.watch is None else self.watch.unseen()

    def with_unseen_modes(self, errors: Floats) -> Floats:
        """Return errors that allow for modes not weighed, if their mass is below the required error."""
        room = self.unseen / ERRORS_WITHIN
        return errors if self.unseen > self.effort.mcse else np.where(errors > 0, np.maximum(errors, room), errors)

    def round(self, pool: ThreadPoolExecutor) -> None:
        """Run a round of batches. It is stored only when it is complete, so that an interrupt leaves whole rounds."""
        number = self.effort.batches
        new = list(pool.map(lambda chain: [chain.advance(self.length) for _ in range(number)], self.chains))
        beliefs = [[self.evaluate(batch) for batch in batches] for batches in new]
        draws = [old + more for old, more in zip(self.draws, beliefs, strict=True)]
        traces = [
            [*old, *(batch.trace for batch in batches if batch.trace is not None)]
            for old, batches in zip(self.traces, new, strict=True)
        ]
        errors, ti_error, apart = _precision(draws, compare=self.compare)
        rhat = _largest_rhat(traces)
        self.draws, self.traces = draws, traces
        self.errors, self.ti_error, self.apart, self.rhat = (
            tuple(map(self.with_unseen_modes, errors)),
            ti_error,
            apart,
            rhat,
        )
        self.worst = max((float(np.nanmax(error, initial=0.0)) for error in self.errors), default=0.0)
        for kept, states, batches in zip(self.batches, self.states, new, strict=True):
            kept += [Batch(batch.means, batch.kept) for batch in batches]
            states += [batch.states for batch in batches if batch.states is not None]
        self.sweeps += number * self.length
        self._merge()

    def _merge(self) -> None:
        numbers = [*self.draws[0][0], *self.batches[0][0].means]
        size = sum(array.size for array in numbers) * len(self.chains)
        most = max(2 * self.effort.batches, min(MAX_BATCHES, MAX_REPLICATE_NUMBERS // max(size, 1)) // 2 * 2)
        while len(self.draws[0]) > most - self.effort.batches and len(self.draws[0]) % 2 == 0:
            self.draws = [
                [
                    tuple((first + second) / 2 for first, second in zip(chain[i], chain[i + 1], strict=True))
                    for i in range(0, len(chain), 2)
                ]
                for chain in self.draws
            ]
            self.batches = [
                [Batch.together(chain[i : i + 2], states=self.chains[0].states) for i in range(0, len(chain), 2)]
                for chain in self.batches
            ]
            self.length *= 2

    def reasons(self) -> list[str]:
        """Return why this has not converged, in sentences."""
        reasons = []
        gap, chains = _largest_difference(self.draws)
        if self.apart or self.rhat > MAX_RHAT:
            means = ", ".join(f"{mean:.3f}" for mean in chains)
            reasons.append(
                f"the chains found different modes or have not yet mixed: one belief differs by {gap:.3f} between chains ({means})"
            )
        if self.watch is not None and self.unseen > self.effort.mcse:
            reasons.append(self.watch.unmixed())
        if self.worst > self.effort.mcse:
            reasons.append(f"the error is still larger than the required {self.effort.mcse:g}")
        if self.ti_error > self.effort.relative:
            reasons.append(
                f"a Ti still has a relative error of {self.ti_error:.3f}, more than {self.effort.relative:g}"
            )
        return reasons

    def result(self, *, interrupted: bool, categories: int, method: dict[str, Any]) -> Sampled:
        trace = np.array([np.concatenate(chain) for chain in self.traces])
        entries: dict[str, Any] = {
            **method,
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
            entries |= self.watch.to_dict()
        if not self.converged:
            entries["not_converged_because"] = self.reasons()
        if categories and self.states[0]:
            test = diagnostics.weiss([np.concatenate(chain) for chain in self.states], categories)
            entries["weiss_smallest_p"] = float(np.nanmin(test.p, initial=1.0))
            entries["weiss_tests"] = int(np.size(test.p))
        whole = Batch.together([batch for chain in self.batches for batch in chain])
        return Sampled(self.batches, whole, self.errors, entries, self)


def _geweke(trace: Floats) -> float:
    """Return the share of watched numbers whose beginning and end differ by more than two standard errors: 5 % by chance."""
    if trace.shape[1] < 100 or not trace.size:
        return math.nan
    return float(np.mean(np.abs(diagnostics.geweke(trace)) > 2))


def _largest_rhat(traces: list[list[Floats]]) -> float:
    trace = np.array([np.concatenate(chain) for chain in traces])
    return float(np.nanmax(diagnostics.rhat(trace), initial=1.0)) if trace.size else 1.0


def _precision(draws: list[list[tuple[Floats, ...]]], *, compare: bool) -> tuple[tuple[Floats, ...], float, int]:
    """Return the error of each belief, the largest relative error of Ti, and how many beliefs differ between chains."""
    errors, means = [], []
    apart = 0
    for j in range(len(draws[0][0])):
        stacked = np.array([[batch[j] for batch in chain] for chain in draws])
        error, differ = spread(stacked)
        apart += int(np.count_nonzero(differ))
        errors.append(error)
        means.append(stacked.mean(axis=(0, 1)))
    return tuple(errors), _ti_error(draws, means) if compare else 0.0, apart


def _largest_difference(draws: list[list[tuple[Floats, ...]]]) -> tuple[float, list[float]]:
    """Return the largest difference of a belief between two chains, and that belief's mean in each chain."""
    largest, means = 0.0, [0.0 for _ in draws]
    for j in range(len(draws[0][0]) if draws and draws[0] else 0):
        of_chain = np.array([np.mean([batch[j] for batch in chain], axis=0) for chain in draws]).reshape(len(draws), -1)
        gaps = np.nan_to_num(of_chain.max(axis=0) - of_chain.min(axis=0))
        if gaps.size and gaps.max() > largest:
            largest, means = float(gaps.max()), of_chain[:, int(gaps.argmax())].tolist()
    return largest, means


def _ti_error(draws: list[list[tuple[Floats, ...]]], means: list[Floats]) -> float:
    """Return the largest relative error of p_A/p_L over the values that an attacker believes most; 0 without an attacker."""
    if len(means) < 2 or not means[0].size:
        return 0.0
    fits = np.logical_not(np.isnan(means[0]).any(axis=1))
    most = np.where(fits[:, None], means[0], 0.0).argmax(axis=1)
    own = np.flatnonzero(fits), most[fits]
    ratios = np.array([[batch[0][own] / batch[1][own] for batch in chain] for chain in draws])
    if not ratios.size:
        return 0.0
    return float((spread(ratios)[0] / ratios.mean(axis=(0, 1))).max(initial=0.0))
