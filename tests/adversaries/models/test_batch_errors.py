"""Three stated errors hold: of batches that remember each other, of few ones, of what is rare; on draws whose mean is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from dalenius.adversaries.models.batch_errors import spread

Floats = NDArray[np.float64]
CHAINS, TIMES = 4, 6000  # each column is a run of its own
BEYOND = 0.01  # of runs that may be off by more than three stated errors


def normal(batches: int, memory: float) -> Floats:
    """Each batch as close to the one before as `memory` has it; the mean is 0."""
    fresh = np.random.default_rng([batches, int(100 * memory)]).normal(size=(CHAINS, batches, TIMES))
    drawn = fresh.copy()
    for i in range(1, batches):
        drawn[:, i] = memory * drawn[:, i - 1] + np.sqrt(1 - memory**2) * fresh[:, i]
    return drawn


def rare(batches: int, share: float) -> Floats:
    """A mode that a batch is in as a whole, or not at all, less its mass."""
    return (np.random.default_rng([batches, int(1000 * share)]).random((CHAINS, batches, TIMES)) < share) - share


def beyond(drawn: Floats) -> float:
    return float(np.mean(np.abs(drawn.mean(axis=(0, 1))) > 3 * spread(drawn)[0]))


DRAWS: dict[str, Callable[[], Floats]] = {
    "independent": lambda: normal(8, 0.0),
    "few": lambda: normal(4, 0.0),
    "short memory": lambda: normal(8, 0.3),
    "half": lambda: normal(16, 0.5),
    "long memory, many batches": lambda: normal(32, 0.8),
    "a mode of a fifth": lambda: rare(8, 0.2),
    "a mode of a twentieth": lambda: rare(32, 0.05),
}


@pytest.mark.parametrize("name", DRAWS)
def test_three_stated_errors_hold(name: str) -> None:
    assert beyond(DRAWS[name]()) < BEYOND


@pytest.mark.parametrize(("batches", "memory"), [(8, 0.0), (32, 0.0), (16, 0.3), (32, 0.5)])
def test_errors_are_not_far_too_large(batches: int, memory: float) -> None:
    drawn = normal(batches, memory)
    right = drawn.mean(axis=(0, 1)).std()
    assert right < spread(drawn)[0].mean() < 1.4 * right


def test_what_stands_still_has_no_error() -> None:
    drawn = np.full((CHAINS, 8, 2), 0.3)
    drawn[:, :, 1] = np.arange(CHAINS)[:, None]  # each chain at a place of its own
    error, differ = spread(drawn)
    assert differ.tolist() == [False, True]
    assert error[0] == 0
    assert error[1] == pytest.approx(np.std(np.arange(CHAINS), ddof=1) / 2)


def test_the_shape_of_beliefs_is_kept_and_what_is_not_defined_stays_so() -> None:
    drawn = normal(8, 0.0)[:, :, :12].reshape(CHAINS, 8, 4, 3)
    whole, _ = spread(drawn)
    assert whole.shape == (4, 3)
    np.testing.assert_allclose(whole[2, 1], spread(drawn[:, :, 2:3, 1:2])[0][0, 0])
    np.testing.assert_allclose(spread(1e-9 * drawn)[0], 1e-9 * whole)
    drawn[1, 3, 0, 0] = np.nan
    found, differ = spread(drawn)
    assert np.isnan(found[0, 0])
    assert not differ[0, 0]
    np.testing.assert_allclose(found.ravel()[1:], whole.ravel()[1:])
    empty, none = spread(np.zeros((CHAINS, 8, 0, 3)))
    assert empty.shape == none.shape == (0, 3)
