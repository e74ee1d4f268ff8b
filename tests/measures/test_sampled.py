"""Channels from samples: whether the interval holds the truth as often as it says, and where the plug-ins err."""

from __future__ import annotations

import math

import dit
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import mutual_info_score

from dalenius.errors import InputError, ParameterError
from dalenius.measures import sampled
from dalenius.measures.loss import Loss, absolute, hamming, squared
from dalenius.measures.observed import Observed
from dalenius.measures.sampled import LIMITS, Estimated, estimated, from_samples
from dalenius.releases.models import model, simulate_crowds

Floats = NDArray[np.float64]
CHANNELS = {
    "flip": (model("flip:p=0.2").joint, hamming(["0", "1"])),
    "useless": (np.full((4, 6), 1 / 24), hamming(list("abcd"))),
    "certain": (np.eye(3) / 3, hamming(list("abc"))),
    "many outputs": (
        np.random.default_rng(0).dirichlet(np.full(80, 0.3)).reshape(4, 20),
        hamming(list("abcd")),
    ),
    "counts": (model("geometric:n=5,epsilon=0.7").joint, absolute(list("012345"))),
    "places": (model("gaussian:grid=1x6,sigma=1").joint, squared([f"(0, {j})" for j in range(6)])),
}  # fmt: skip


def truth(joint: Floats, loss: Loss) -> float:
    """P_avg of the channel itself."""
    seen = Observed.of_joint(joint, tuple(map(str, range(len(joint)))), tuple(map(str, range(joint.shape[1]))))
    return seen.average(loss.best(seen.posterior))


def bits(joint: Floats) -> float:
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    kept = joint > 0
    return float((joint[kept] * np.log2(joint[kept] / expected[kept])).sum())


def draw(joint: Floats, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    flat = joint.ravel() / joint.sum()
    return rng.multinomial(n, flat).reshape(joint.shape).astype(np.int64)


def many(name: str, n: int, repeats: int, *, confidence: float = 0.95) -> list[Estimated]:
    joint, loss = CHANNELS[name]
    rng = np.random.default_rng(12)
    return [estimated(draw(joint, n, rng), loss, confidence=confidence, rng=rng) for _ in range(repeats)]


# --- The interval -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 60, 400])
@pytest.mark.parametrize("name", CHANNELS)
def test_it_covers_at_least_as_often_as_it_says(name: str, n: int) -> None:
    """At 60 %: of 300, at least 60 % less 4 standard deviations, by either end."""
    repeats, confidence = 300, 0.6
    true = truth(*CHANNELS[name])
    found = many(name, n, repeats, confidence=confidence)
    below = sum(one.low > true + 1e-12 for one in found)
    above = sum(one.high < true - 1e-12 for one in found)
    side = (1 - confidence) / 2
    allowed = repeats * side + 4 * math.sqrt(repeats * side * (1 - side))
    assert below <= allowed
    assert above <= allowed
    assert all(0 <= one.low <= one.privacy + 1e-12 for one in found)
    assert all(one.low <= one.high for one in found)


def test_the_margins_are_needed() -> None:
    """Without them neither end would do: the plug-in is too high, and what was tried too low, in more than α/2 of samples."""
    true = truth(*CHANNELS["flip"])
    found = many("flip", 400, 300)
    assert sum(one.privacy > true for one in found) > 100
    assert sum(one.tried < true for one in found) > 100


def test_ends_never_cross() -> None:
    """With hardly any confidence both margins are small, and an unlucky half would put the upper end below the lower."""
    joint, loss, rng = model("flip:p=0.35").joint, hamming(["0", "1"]), np.random.default_rng(1)
    found = [estimated(draw(joint, 400, rng), loss, confidence=0.01, rng=rng) for _ in range(3000)]
    assert all(one.low <= one.high for one in found)
    assert any(one.low == one.high for one in found)  # so unlucky some were


def test_ends_by_hand() -> None:
    counts = draw(CHANNELS["flip"][0], 1001, np.random.default_rng(3))
    found = estimated(counts, hamming(["0", "1"]), confidence=0.9, rng=np.random.default_rng(5))
    right = counts.max(axis=0).sum() / 1001
    assert found.samples == 1001
    assert found.confidence == 0.9
    assert found.privacy == pytest.approx(1 - right)
    assert found.low == pytest.approx(1 - right - math.sqrt(math.log(20) / 2002))
    assert found.high == pytest.approx(found.tried + math.sqrt(math.log(20) / (2 * 501)))  # 500 to learn from
    wide = estimated(counts, hamming(["0", "1"]), confidence=0.999, rng=np.random.default_rng(5))
    assert wide.low < found.low
    assert wide.high > found.high


def test_ends_scale_with_the_loss() -> None:
    counts = draw(CHANNELS["counts"][0], 300, np.random.default_rng(3))
    one = absolute(list("012345"))
    ten = Loss("ten", one.matrix * 10, one.estimates)
    small, large = (estimated(counts, loss, rng=np.random.default_rng(5)) for loss in (one, ten))
    for name in ("privacy", "low", "high", "tried"):
        assert getattr(large, name) == pytest.approx(10 * getattr(small, name))


def test_no_end_is_beyond_what_a_guess_costs() -> None:
    few = np.array([[1, 0], [0, 1], [1, 0]])
    found = estimated(few, hamming(list("abc")), confidence=0.999999, rng=np.random.default_rng(1))
    assert (found.low, found.high) == (0.0, pytest.approx(2 / 3))
    far = estimated(few, absolute(["0", "5", "10"]), confidence=0.999999, rng=np.random.default_rng(1))
    assert far.high == pytest.approx(5.0)  # guess the middle
    careful = Loss("careful", np.column_stack([1 - np.eye(3), np.full(3, 0.3)]), (*"abc", "no guess"))
    assert estimated(few, careful, confidence=0.999999, rng=np.random.default_rng(1)).high == 0.3


def test_one_sample_moves_the_plug_in_by_d_max_over_n() -> None:
    """What McDiarmid's inequality asks for, for every replacement in many small samples."""
    rng = np.random.default_rng(6)
    loss = absolute(["0", "1", "5"])
    largest = 0.0
    for _ in range(60):
        counts = draw(np.full((3, 3), 1 / 9), 6, rng)
        before = sampled._plug_in(counts, loss)
        for a in zip(*np.nonzero(counts), strict=True):
            for b in np.ndindex(3, 3):
                other = counts.copy()
                other[a] -= 1
                other[b] += 1
                largest = max(largest, abs(sampled._plug_in(other, loss) - before))
    assert largest <= loss.largest / 6 + 1e-12
    assert largest > 0.7 * loss.largest / 6


@pytest.mark.parametrize("n", [8, 50])
@pytest.mark.parametrize("name", CHANNELS)
def test_the_plug_in_is_too_low_on_average(name: str, n: int) -> None:
    true = truth(*CHANNELS[name])
    found = np.array([one.privacy for one in many(name, n, 400)])
    assert found.mean() <= true + 4.5 * found.std() / 20 + 1e-12
    if name in ("useless", "many outputs"):
        assert found.mean() < true - 0.02  # and visibly so where outputs are many


@pytest.mark.parametrize("name", CHANNELS)
def test_more_samples_are_closer(name: str) -> None:
    joint, loss = CHANNELS[name]
    rng = np.random.default_rng(8)
    true, information = truth(joint, loss), bits(joint)
    few, lots = (estimated(draw(joint, n, rng), loss, rng=rng) for n in (200, 2_000_000))
    assert lots.high - lots.low < (few.high - few.low) / 5 + 1e-12
    assert lots.low <= true + 1e-12
    assert true <= lots.high + 1e-12
    assert lots.privacy == pytest.approx(true, abs=0.003 * max(1.0, loss.largest))
    assert lots.information == pytest.approx(information, abs=0.003)
    assert lots.information_corrected == pytest.approx(information, abs=0.003)


def test_crowds_truly_run() -> None:
    n, p = 10, 0.3
    counts = simulate_crowds(n, p, 100_000, np.random.default_rng(1))
    found = estimated(counts, hamming([str(i) for i in range(n)]), rng=np.random.default_rng(2))
    assert found.low <= (1 - p) * (1 - 1 / n) <= found.high
    assert found.high - found.low < 0.02
    assert found.limits == LIMITS
    assert "worst-case" in found.limits


def test_what_was_not_met_in_learning_is_guessed_from_the_prior() -> None:
    """Every output once: what is learned of it says nothing of the other half, whose best guess is the commoner value."""
    counts = np.zeros((2, 4000), dtype=np.int64)
    counts[1, :3000] = 1
    counts[0, 3000:] = 1
    found = estimated(counts, hamming(["a", "b"]), rng=np.random.default_rng(1))
    assert found.privacy == 0.0
    assert found.tried == pytest.approx(0.25, abs=0.03)


# --- Information ------------------------------------------------------------------------------------------------------


def test_information_is_that_of_others() -> None:
    counts = draw(CHANNELS["many outputs"][0], 500, np.random.default_rng(2))
    found = estimated(counts, hamming(list("abcd")), rng=np.random.default_rng(2))
    assert found.information == pytest.approx(mutual_info_score(None, None, contingency=counts) / math.log(2))
    x, y = np.nonzero(counts)
    outcomes = [chr(97 + a) + chr(97 + b) for a, b in zip(x, y, strict=True)]
    other = dit.Distribution(outcomes, (counts[x, y] / 500).tolist())
    assert found.information == pytest.approx(float(dit.shannon.mutual_information(other, [0], [1])), abs=1e-9)
    rows, columns, pairs = (counts.sum(axis=1) > 0).sum(), (counts.sum(axis=0) > 0).sum(), len(x)
    extra = (rows - 1) + (columns - 1) - (pairs - 1)
    assert found.information_corrected == pytest.approx(found.information + extra / (1000 * math.log(2)))


@pytest.mark.parametrize("name", ["flip", "many outputs", "counts"])
def test_the_correction_takes_most_of_the_bias(name: str) -> None:
    joint, _ = CHANNELS[name]
    true, found = bits(joint), many(name, 300, 500)
    plug_in = np.mean([one.information for one in found]) - true
    corrected = np.mean([one.information_corrected for one in found]) - true
    assert plug_in > 0
    assert abs(corrected) < plug_in / 2


@pytest.mark.parametrize("name", ["flip", "counts"])
def test_the_standard_error(name: str) -> None:
    found = many(name, 2000, 500)
    spread = np.std([one.information for one in found])
    assert np.mean([one.information_error_asymptotic for one in found]) == pytest.approx(spread, rel=0.15)


def test_information_is_never_below_0() -> None:
    flat = estimated(np.full((3, 3), 7), hamming(list("abc")), rng=np.random.default_rng(2))
    assert (flat.information, flat.information_corrected) == (pytest.approx(0, abs=1e-12), 0.0)
    assert flat.information >= 0


# --- The channel ------------------------------------------------------------------------------------------------------


def test_the_channel_of_the_shares() -> None:
    found = from_samples(np.array([[3, 1, 0], [0, 4, 0]]), ["a", "b"], ["u", "v", "w"])
    assert found.matrix.tolist() == [[0.75, 0.25, 0.0], [0.0, 1.0, 0.0]]
    assert found.prior is not None
    assert found.prior.tolist() == [0.5, 0.5]
    assert (found.inputs, found.outputs) == (("a", "b"), ("u", "v", "w"))
    skewed = from_samples(np.array([[1, 2], [1, 0]]), ["a", "b"], ["u", "v"])
    assert skewed.joint == pytest.approx(np.array([[0.25, 0.5], [0.25, 0.0]]))


def test_what_is_refused() -> None:
    rng, loss = np.random.default_rng(1), hamming(["a", "b"])
    with pytest.raises(InputError, match="No sample has the value 'b'"):
        from_samples(np.array([[1, 2], [0, 0]]), ["a", "b"], ["u", "v"])
    with pytest.raises(InputError, match="2 values and 3 outputs, but counts of shape"):
        from_samples(np.array([[1, 2], [0, 1]]), ["a", "b"], ["u", "v", "w"])
    for bad in ([[0.5, 1.0]], [[-1, 2]], [1, 2], [[True, False]]):
        with pytest.raises(ParameterError, match="The 'counts' parameter of estimated must be a matrix of ints ≥ 0"):
            estimated(np.array(bad), loss, rng=rng)
    with pytest.raises(InputError, match="all counts are 0"):
        estimated(np.zeros((2, 2), dtype=np.int64), loss, rng=rng)
    with pytest.raises(InputError, match="From 2 to"):
        estimated(np.array([[1, 0], [0, 0]]), loss, rng=rng)
    with pytest.raises(InputError, match="of 2 values, and the counts of 3"):
        estimated(np.ones((3, 2), dtype=np.int64), loss, rng=rng)
    for confidence in (0, 1, 1.5, math.nan, True):
        with pytest.raises(ParameterError, match="The 'confidence' parameter of estimated"):
            estimated(np.ones((2, 2), dtype=np.int64), loss, confidence=confidence, rng=rng)


@pytest.mark.parametrize(("values", "samples"), [(1000, 2), (1000, 20), (50, 30)])
def test_values_that_never_came_are_reckoned_with(values: int, samples: int) -> None:
    """An output that says nothing about many values: the true error is 1 − 1/K, whatever few of them were seen."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(40):
        _, seen = np.unique(rng.integers(0, values, samples), return_counts=True)
        loss = hamming(tuple(map(str, range(len(seen)))))
        found = estimated(seen[:, None], loss, complete=False, rng=rng)
        covered += found.low <= 1 - 1 / values <= found.high
    assert covered == 40


def test_a_graded_loss_says_that_unseen_values_may_cost_more() -> None:
    found = estimated(np.array([[5], [5]]), absolute(("0", "1")), complete=False, rng=np.random.default_rng(0))
    assert "never came" in found.limits
