"""The rule that stops sampling, on chains whose answers are known: what it calls sharp, and what it will not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from dalenius.adversaries.models.sampling import Batch, Effort, Sampled, sample

PEOPLE, VALUES = 5, 3


@dataclass
class Drawn:
    """A chain whose sweeps are draws around a place, each as far from the one before as `memory` lets it."""

    rng: np.random.Generator
    place: float = 0.0
    memory: float = 0.0
    now: np.ndarray = field(default_factory=lambda: np.zeros((PEOPLE, VALUES)))
    settled: int = 0
    states: int = 0

    def settle(self, sweeps: int) -> None:
        self.settled += sweeps

    def advance(self, sweeps: int) -> Batch:
        seen = []
        for _ in range(sweeps):
            fresh = self.rng.normal(size=self.now.shape)
            self.now = self.memory * self.now + np.sqrt(1 - self.memory**2) * fresh
            seen.append(self.now.copy())
        mean = np.mean(seen, axis=0)
        trace = np.array([one[0] for one in seen]) + self.place
        return Batch([np.exp(0.1 * (mean + self.place * np.arange(VALUES)))], trace=trace)


def shares(batch: Batch) -> tuple[np.ndarray, ...]:
    return (batch.means[0] / batch.means[0].sum(axis=1, keepdims=True),)


def estimate(found: Sampled) -> np.ndarray:
    return shares(found.whole)[0]


def run(effort: Effort, *, places: tuple[float, ...] = (0, 0, 0, 0), memory: float = 0.0) -> Sampled:
    chains = [Drawn(np.random.default_rng(i), place, memory) for i, place in enumerate(places)]
    return sample(chains, shares, effort)


def test_it_stops_when_every_belief_is_sharp() -> None:
    found = run(Effort(mcse=0.001, sweeps=5))
    told = found.diagnostics
    assert told["converged"]
    assert not told["interrupted"]
    assert found.errors[0].max() == told["largest_mcse"] <= 0.001
    assert told["largest_rhat"] <= 1.05
    # The truth is 1/3 each up to the curvature of exp, far below the error.
    assert np.abs(estimate(found) - 1 / 3).max() < 5 * 0.001
    sharper = run(Effort(mcse=0.0002, sweeps=5))
    assert sharper.diagnostics["sweeps"] > told["sweeps"]
    assert sharper.errors[0].max() <= 0.0002


@pytest.mark.slow
def test_the_error_is_what_repeated_runs_differ_by() -> None:
    """Whatever the chains remember. It is not smaller, and not much larger: three of them are to hold (test_batch_errors.py)."""
    for memory in (0.0, 0.9):
        ends, errors = [], []
        for seed in range(60):
            chains = [Drawn(np.random.default_rng([seed, i]), memory=memory) for i in range(4)]
            found = sample(chains, shares, Effort(mcse=0.002, sweeps=20))
            ends.append(estimate(found))
            errors.append(found.errors[0])
        spread = np.std(ends, axis=0, ddof=1).mean()
        # 60 runs of 15 numbers tell the spread to about 5 %, and stopping when it looks small makes the error smaller.
        assert 0.95 * spread < np.mean(errors) < 1.4 * spread


def test_chains_that_stay_apart_never_converge() -> None:
    found = run(Effort(mcse=0.01, sweeps=5, most_sweeps=400), places=(0, 0, 0, 3))
    told = found.diagnostics
    assert not told["converged"]
    assert told["largest_rhat"] > 1.05
    assert told["beliefs_that_differ_between_chains"] > 0
    assert told["largest_mcse"] > 0.01  # between chains, however sharp each is in itself
    alike = run(Effort(mcse=0.01, sweeps=5, most_sweeps=400))
    assert alike.diagnostics["converged"]


def test_batches_that_become_one_lose_nothing() -> None:
    """The estimate is that of all sweeps, and so is the mean of the batches, whatever became of them."""
    found = run(Effort(mcse=1e-6, sweeps=1, most_sweeps=500))
    assert found.diagnostics["sweeps"] >= 500
    replicates = np.array([[shares(batch)[0] for batch in mine] for mine in found.batches])
    assert replicates.shape[0] == 4
    assert replicates.shape[1] <= 32
    np.testing.assert_allclose(replicates.mean(axis=(0, 1)), estimate(found), atol=1e-4)
    assert found.diagnostics["sweeps"] % replicates.shape[1] == 0


def test_an_interrupt_keeps_the_last_whole_round() -> None:
    calls = 0

    def evaluate(batch: Batch) -> tuple[np.ndarray, ...]:
        nonlocal calls
        calls += 1
        if calls == 40:  # in the second round of 32
            raise KeyboardInterrupt
        return shares(batch)

    def chains() -> list[Drawn]:
        return [Drawn(np.random.default_rng(i)) for i in range(4)]

    effort = Effort(mcse=1e-9, sweeps=2, burn_in=7)
    begun = chains()
    found = sample(begun, evaluate, effort)
    assert [chain.settled for chain in begun] == [7] * 4
    assert found.diagnostics["interrupted"]
    assert not found.diagnostics["converged"]
    assert found.diagnostics["sweeps"] == effort.batches * effort.sweeps
    one = sample(chains(), shares, Effort(mcse=1e-9, sweeps=2, burn_in=7, most_sweeps=1))
    np.testing.assert_array_equal(estimate(found), estimate(one))  # the first round, and nothing of the second
    np.testing.assert_array_equal(found.errors[0], one.errors[0])
    calls = 39
    with pytest.raises(KeyboardInterrupt):  # nothing whole to keep
        sample(chains(), evaluate, effort)


def test_what_never_moves_has_no_error() -> None:
    class Still(Drawn):
        def advance(self, sweeps: int) -> Batch:
            return Batch(
                [np.ones((PEOPLE, VALUES))], trace=np.ones((sweeps, 2)), states=np.ones((sweeps, 3), dtype=np.int32)
            )

    found = sample([Still(np.random.default_rng(i)) for i in range(4)], shares, Effort(), categories=2)
    assert found.diagnostics["converged"]
    assert (found.errors[0] == 0).all()
    assert found.diagnostics["largest_rhat"] == 1


def test_progress_is_told_after_every_round() -> None:
    seen: list[tuple[int, float, float]] = []
    effort = Effort(mcse=1e-6, sweeps=2, most_sweeps=64)
    chains = [Drawn(np.random.default_rng(i)) for i in range(4)]
    sample(chains, shares, effort, progress=lambda *told: seen.append(told))
    assert [sweeps for sweeps, _, _ in seen] == [16, 32, 48, 64]
    assert all(error > 0 and rhat >= 1 for _, error, rhat in seen)


def test_why_it_has_not_converged_is_said() -> None:
    """Of the error of a belief, and of that of a Ti, the one that is too large is named, with what was asked for."""

    def both(batch: Batch) -> tuple[np.ndarray, ...]:
        (own,) = shares(batch)
        return own, own[::-1]

    def reasons(mcse: float, relative: float) -> list[str]:
        chains = [Drawn(np.random.default_rng(i)) for i in range(4)]
        told = sample(chains, both, Effort(mcse=mcse, relative=relative, sweeps=5, most_sweeps=100)).diagnostics
        assert told["converged"] == ("not_converged_because" not in told)
        found: list[str] = told.get("not_converged_because", [])
        return found

    assert reasons(0.5, 0.5) == []
    assert reasons(1e-5, 0.5) == ["the error is still larger than the required 1e-05"]
    (only,) = reasons(0.5, 1e-5)
    assert only.startswith("a Ti still has a relative error of 0.0")
    assert only.endswith("more than 1e-05")
    assert len(reasons(1e-5, 1e-5)) == 2
