"""Channels against estimation error: equal to what the enumeration of every vertex finds, and to what is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.errors import InputError, ParameterError
from dalenius.measures import loss as losses
from dalenius.measures.loss import Loss
from dalenius.measures.observed import Observed
from dalenius.publishers import error_design, error_programme
from dalenius.publishers.error_design import Designed, least_distortion, most_average_error, most_worst_case_error
from dalenius.publishers.error_programme import Game
from dalenius.releases.channel import Channel, Part
from tests.publishers.plain_design import any_loss, hamming, names, simple, true_average, true_worst, true_worst_spends

Floats = np.ndarray


def case(kind: str) -> tuple[Channel, Loss, Floats]:
    rng = np.random.default_rng(sum(map(ord, kind)))
    if kind == "hamming 2x2":
        return simple(np.array([0.7, 0.3]), 2), any_loss(hamming(2)), np.array([[0.0, 1.0], [0.6, 0.0]])
    if kind == "graded 2x3":
        return simple(np.array([0.55, 0.45]), 3), any_loss(rng.random((2, 3)) * 4), rng.random((2, 3)) * 3
    if kind == "graded 3x2":
        return simple(rng.dirichlet(np.ones(3)), 2), any_loss(rng.random((3, 3))), rng.random((3, 2))
    if kind == "hamming 3x3":
        return simple(np.array([0.5, 0.3, 0.2]), 3), any_loss(hamming(3)), rng.random((3, 3)) * hamming(3)
    if kind == "graded 3x3":
        steps = np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(float)
        return simple(np.array([0.2, 0.5, 0.3]), 3), any_loss(steps**2), steps
    if kind == "ties":  # even the least distortion leaves a choice
        system = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 1.0, 0.0]])
        return simple(np.array([0.4, 0.35, 0.25]), 3), any_loss(np.array([[0.0, 3.0], [2.0, 1.0], [1.0, 0.0]])), system
    channel = simple(rng.dirichlet(np.ones(2)), 2)
    parts = {}
    if kind in ("unknown", "all"):
        joint = rng.dirichlet(np.ones(6)).reshape(2, 3)
        parts["unknown"] = Part(names("v", 3), joint)
        parts["prior"] = None
    if kind in ("observation", "all"):
        parts["observation"] = Part(names("o", 2), np.array([[0.9, 0.1], [0.25, 0.75]]))
    if kind in ("background", "all"):
        count = 3 if kind == "all" else 2
        parts["background"] = Part(names("b", 2), rng.dirichlet(np.ones(2), size=count))
    channel = Channel(channel.inputs, channel.outputs, channel.matrix, **{"prior": channel.prior, **parts})
    values = len(channel.values)
    return channel, any_loss(hamming(values) * (1 + rng.random((values, values)))), hamming(2)


SMALL = ("hamming 2x2", "graded 2x3", "graded 3x2", "unknown", "observation", "background", "all")


def within(channel: Channel, system: Floats, share: float) -> float:
    """From the least distortion (0) to that of the channel that always says the same (1)."""
    least = least_distortion(channel, system)
    return least + share * (float((channel.source.sum(axis=1) @ system).min()) - least)


def check(found: Designed, channel: Channel, loss: Loss, system: Floats, distortion: float, *, worst: bool) -> None:
    """What is said of a channel is true of it."""
    seen = Observed.of_channel(channel.with_matrix(found.matrix))
    errors = loss.best_label(seen.posterior)
    assert found.value == pytest.approx(errors.min() if worst else seen.average(errors), rel=1e-9, abs=1e-12)
    assert found.value <= found.bound * (1 + 1e-9) + 1e-12
    said = float((channel.source.sum(axis=1)[:, None] * found.matrix * system).sum())
    assert found.distortion == pytest.approx(said, rel=1e-12, abs=1e-15)
    assert found.distortion <= distortion * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.2])
@pytest.mark.parametrize("kind", SMALL)
def test_average_is_that_of_the_best_vertex(kind: str, share: float) -> None:
    channel, loss, system = case(kind)
    distortion = within(channel, system, share)
    found = most_average_error(channel, loss, system, distortion)
    check(found, channel, loss, system, distortion, worst=False)
    truth = true_average(channel, loss, system, distortion)
    assert found.value == pytest.approx(truth, abs=2e-7 * loss.largest)
    assert found.bound == pytest.approx(truth, abs=2e-7 * loss.largest)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.2])
@pytest.mark.parametrize("kind", SMALL)
def test_worst_case_is_that_of_the_cheapest_vertices(kind: str, share: float) -> None:
    channel, loss, system = case(kind)
    distortion = within(channel, system, share)
    found = most_worst_case_error(channel, loss, system, distortion)
    check(found, channel, loss, system, distortion, worst=True)
    truth = true_worst(channel, loss, system, distortion)
    assert found.value == pytest.approx(truth, abs=2e-6 * loss.largest)
    assert found.bound == pytest.approx(truth, abs=2e-6 * loss.largest)


@pytest.mark.parametrize("kind", ["hamming 3x3", "graded 3x3"])
def test_three_by_three(kind: str) -> None:
    channel, loss, system = case(kind)
    distortion = within(channel, system, 0.5)
    average = most_average_error(channel, loss, system, distortion)
    check(average, channel, loss, system, distortion, worst=False)
    assert average.value == pytest.approx(true_average(channel, loss, system, distortion), abs=1e-6)
    worst = most_worst_case_error(channel, loss, system, distortion)
    check(worst, channel, loss, system, distortion, worst=True)
    for t, reachable in ((worst.value - 1e-6, True), (worst.bound + 1e-6, False)):
        assert (true_worst_spends(channel, loss, system, t) <= distortion + 1e-10) is reachable


@pytest.mark.parametrize("kind", ["unknown", "observation", "background"])
def test_the_closed_form_is_not_used_where_something_lies_between(kind: str) -> None:
    channel, _, system = case(kind)
    if channel.unknown is not None:
        channel = Channel(
            channel.inputs,
            channel.outputs,
            channel.matrix,
            unknown=Part(("v", "w"), np.array([[0.3, 0.1], [0.2, 0.4]])),
        )
    loss, distortion = any_loss(system), within(channel, system, 0.5)
    average = most_average_error(channel, loss, system, distortion)
    assert average.bound == pytest.approx(true_average(channel, loss, system, distortion), abs=1e-6)
    worst = most_worst_case_error(channel, loss, system, distortion)
    assert worst.bound == pytest.approx(true_worst(channel, loss, system, distortion), abs=1e-5)


@pytest.mark.parametrize("kind", SMALL)
def test_a_channel_is_lifted_to_any_level_below_that_of_silence(kind: str) -> None:
    channel, loss, system = case(kind)
    game = Game.of(channel, loss.matrix, system, 0.2)
    rng = np.random.default_rng(7)
    for share in (0.5, 0.9, 0.999):
        level = share * float(game.prior_error.min())
        for matrix in (*rng.dirichlet(np.full(game.shape[1], 0.2), size=(10, game.shape[0])), game.cheapest()):
            lifted = error_design._lifted(game, matrix, level)
            assert lifted.sum(axis=1) == pytest.approx(np.ones(len(lifted)), abs=1e-12)
            assert game.worst(lifted) >= min(level, game.worst(matrix)) - 1e-12
            assert game.worst(lifted) >= level * (1 - 1e-9)


def test_where_newton_crawls_the_middle_is_tried() -> None:
    """A rare input that is far from cheap: D* is concave in t, and Newton alone takes about 2,000 steps."""
    rng = np.random.default_rng(63)
    rng.integers(1, 5, size=3)
    channel = simple(rng.dirichlet(np.full(2, 0.5)), 3)
    known = Part(names("b", 2), rng.dirichlet(np.ones(2), size=2))
    channel = Channel(channel.inputs, channel.outputs, channel.matrix, channel.prior, background=known)
    loss, system = any_loss(rng.random((2, 4)) * 10), rng.random((2, 3)) * 100
    distortion = within(channel, system, 0.2)
    found = most_worst_case_error(channel, loss, system, distortion)
    check(found, channel, loss, system, distortion, worst=True)
    assert found.bound - found.value <= 1e-5
    assert found.rounds < 200


def test_the_least_distortion_may_leave_a_choice() -> None:
    channel, loss, system = case("ties")
    average = most_average_error(channel, loss, system, 0.0)
    check(average, channel, loss, system, 0.0, worst=False)
    assert average.value == pytest.approx(true_average(channel, loss, system, 0.0), abs=1e-6)
    worst = most_worst_case_error(channel, loss, system, 0.0)
    check(worst, channel, loss, system, 0.0, worst=True)
    assert (worst.value, worst.bound) == pytest.approx([true_worst(channel, loss, system, 0.0)] * 2, abs=1e-5)
    assert worst.value > 1.1 * loss.best_label(Observed.of_channel(channel.with_matrix(np.eye(3))).posterior).min()


@pytest.mark.parametrize("rare", [1e-5, 1e-9])
def test_inputs_as_rare_as_the_tolerance_of_the_solver(rare: float) -> None:
    channel = simple(np.array([0.6, 0.4 - rare, rare]), 3)
    for kind, share in (("ties", 0.0), ("ties", 0.4), ("graded 3x3", 0.4)):
        _, loss, system = case(kind)
        distortion = within(channel, system, share)
        average = most_average_error(channel, loss, system, distortion)
        check(average, channel, loss, system, distortion, worst=False)
        assert average.bound - average.value <= 1e-6
        worst = most_worst_case_error(channel, loss, system, distortion)
        check(worst, channel, loss, system, distortion, worst=True)
        assert worst.bound - worst.value <= 1e-6


def test_no_gap_is_asked_for_and_rounding_is_left() -> None:
    channel, loss, system = case("all")
    distortion = within(channel, system, 0.4)
    for design in (most_average_error, most_worst_case_error):
        found = design(channel, loss, system, distortion, gap=0.0)
        assert found.bound - found.value <= 1e-8
        check(found, channel, loss, system, distortion, worst=design is most_worst_case_error)


@pytest.mark.parametrize("useful", [0.51, 0.6, 0.75, 0.9, 1.0])
def test_the_coin_of_the_paper(useful: float) -> None:
    """Section V-A: flipping a fair bit under a utility of at least u0 leaves 1 − u0, in each case."""
    channel, loss = simple(np.array([0.5, 0.5]), 2), any_loss(hamming(2))
    for design in (most_average_error, most_worst_case_error):
        found = design(channel, loss, hamming(2), 1 - useful)
        assert found.value == pytest.approx(1 - useful, abs=1e-6)
        assert found.bound == pytest.approx(1 - useful, abs=1e-9)
        if design is most_worst_case_error:
            assert found.matrix == pytest.approx(np.array([[useful, 1 - useful], [1 - useful, useful]]), abs=1e-5)


@st.composite
def distances(draw: st.DrawFn, *, metric: bool = True) -> tuple[Channel, Loss, float]:
    """A prior, a distance of its values, and a distortion between nothing and more than needed."""
    count = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = rng.uniform(0.1, 5.0, size=(count, count)) * hamming(count)
    if metric:
        matrix = np.minimum(matrix, matrix.T)
        for k in range(count):
            matrix = np.minimum(matrix, matrix[:, [k]] + matrix[[k], :])
    channel = simple(rng.dirichlet(np.ones(count)), count)
    assert channel.prior is not None
    silent = float((channel.prior @ matrix).min())
    return channel, any_loss(matrix), draw(st.sampled_from([0.0, 0.01, 0.3, 0.7, 0.99, 1.0, 1.3])) * silent


def known_optimum(drawn: tuple[Channel, Loss, float], patch: pytest.MonkeyPatch) -> None:
    channel, loss, distortion = drawn
    assert channel.prior is not None
    optimum = min(distortion, float((channel.prior @ loss.matrix).min()))
    for closed in (True, False):
        with patch.context() as inside:
            if not closed:
                inside.setattr(error_design, "_closed", lambda *_: False)
            average = most_average_error(channel, loss, loss.matrix, distortion)
            worst = most_worst_case_error(channel, loss, loss.matrix, distortion)
        if closed:
            assert average.rounds == worst.rounds == 0 or distortion == 0
        for found, sharp in ((average, 1e-6), (worst, 1e-5)):
            check(found, channel, loss, loss.matrix, distortion, worst=found is worst)
            assert found.value == pytest.approx(optimum, abs=sharp)
            assert found.bound == pytest.approx(optimum, abs=sharp)


@settings(max_examples=20, deadline=None)
@given(distances())
def test_with_a_metric_the_optimum_is_the_distortion(drawn: tuple[Channel, Loss, float]) -> None:
    assert drawn[1].is_metric
    with pytest.MonkeyPatch.context() as patch:
        known_optimum(drawn, patch)


@settings(max_examples=10, deadline=None)
@given(distances(metric=False))
def test_and_it_need_not_be_a_metric(drawn: tuple[Channel, Loss, float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        known_optimum(drawn, patch)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_what_holds_of_every_design(seed: int, background: bool) -> None:
    rng = np.random.default_rng(seed)
    inputs, outputs, estimates = rng.integers(1, 5, size=3).tolist()
    channel = simple(0.95 * rng.dirichlet(np.full(inputs, 0.5)) + 0.05 / inputs, outputs)
    if background:
        known = Part(names("b", 2), rng.dirichlet(np.ones(2), size=inputs))
        channel = Channel(channel.inputs, channel.outputs, channel.matrix, channel.prior, background=known)
    loss, system = any_loss(rng.random((inputs, estimates)) * 10), rng.random((inputs, outputs)) * 100
    before = (0.0, 0.0)
    for share in (0.0, 0.2, 0.6, 1.0, 1.5):
        distortion = within(channel, system, share)
        average = most_average_error(channel, loss, system, distortion)
        worst = most_worst_case_error(channel, loss, system, distortion)
        check(average, channel, loss, system, distortion, worst=False)
        check(worst, channel, loss, system, distortion, worst=True)
        assert worst.value <= average.bound + 1e-9
        assert average.bound - average.value <= 1e-6
        assert worst.bound - worst.value <= 1e-4
        assert average.value >= before[0] - 1e-5
        assert worst.value >= before[1] - 1e-4
        before = average.value, worst.value
    nothing = Observed.of_channel(channel.with_matrix(np.eye(outputs)[np.zeros(inputs, dtype=int)]))
    assert average.value == pytest.approx(nothing.average(loss.best_label(nothing.posterior)))
    assert worst.value == pytest.approx(loss.best_label(nothing.posterior).min())


def test_nothing_is_free_with_a_metric() -> None:
    steps = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    channel = simple(np.full(4, 0.25), 4)
    for design in (most_average_error, most_worst_case_error):
        found = design(channel, any_loss(steps), steps, 0.0)
        assert (found.value, found.distortion) == (0.0, 0.0)
        assert np.array_equal(found.matrix, np.eye(4))


def test_the_matrix_of_the_channel_is_not_looked_at() -> None:
    channel, loss, system = case("all")
    distortion = within(channel, system, 0.4)
    for design in (most_average_error, most_worst_case_error):
        one = design(channel, loss, system, distortion)
        other = design(channel.with_matrix(np.eye(2)), loss, system, distortion)
        assert np.array_equal(one.matrix, other.matrix)


def test_units_do_not_matter() -> None:
    channel, loss, system = case("graded 2x3")
    distortion = within(channel, system, 0.4)
    for design in (most_average_error, most_worst_case_error):
        one = design(channel, loss, system, distortion)
        far = design(channel, any_loss(loss.matrix * 2.0**30), system * 2.0**-20, distortion * 2.0**-20)
        assert far.value == pytest.approx(one.value * 2.0**30, rel=1e-9)
        assert far.bound == pytest.approx(one.bound * 2.0**30, rel=1e-9)


def test_inputs_that_never_come_are_told_the_truth() -> None:
    channel = simple(np.array([0.5, 0.0, 0.5]), 3)
    steps = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    for design in (most_average_error, most_worst_case_error):
        for loss in (any_loss(hamming(3)), any_loss(steps)):
            found = design(channel, loss, steps, 0.3)
            assert found.matrix[1].tolist() == [0.0, 1.0, 0.0]
            assert found.matrix.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["absolute", "squared", "hamming"])
def test_a_grid_of_a_hundred_places(kind: str) -> None:
    """Every place is an input, an output and an estimate: the whole programme has a million nonzeros."""
    places = tuple(f"{i} {j}" for i in range(10) for j in range(10))
    prior = np.random.default_rng(3).dirichlet(np.ones(100))
    channel, loss = Channel(places, places, np.eye(100), prior), losses.make_loss(kind, places)
    system = losses.absolute(places).matrix
    design, gap = (most_worst_case_error, 1e-6) if kind == "absolute" else (most_average_error, 1e-7)
    found = design(channel, loss, system, 0.5)
    check(found, channel, loss, system, 0.5, worst=kind == "absolute")
    assert found.bound - found.value <= gap * float((prior @ loss.matrix).min()) + 1e-12
    assert found.value >= 0.4999


@pytest.mark.parametrize("kind", ["graded 3x3", "unknown", "observation", "background", "all", "ties"])
def test_whole_and_by_what_is_missed_come_to_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    channel, loss, system = case(kind)
    for share in (0.2, 0.6):
        distortion = within(channel, system, share)
        whole = most_average_error(channel, loss, system, distortion)
        assert whole.rounds <= 1
        with monkeypatch.context() as inside:
            inside.setattr(error_design, "MAX_NONZEROS", 0)
            inside.setattr(error_programme, "FIRST_OUTPUTS", 1)
            inside.setattr(error_programme, "FIRST_ANSWERS", 1)
            parts = most_average_error(channel, loss, system, distortion)
        check(parts, channel, loss, system, distortion, worst=False)
        assert parts.value == pytest.approx(whole.value, abs=1e-6)
        assert parts.bound == pytest.approx(whole.bound, abs=1e-6)


def test_a_grid_by_what_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    places = tuple(f"{i} {j}" for i in range(5) for j in range(5))
    channel = Channel(places, places, np.eye(25), np.random.default_rng(3).dirichlet(np.ones(25)))
    loss, system = losses.squared(places), losses.absolute(places).matrix
    whole = most_average_error(channel, loss, system, 0.5)
    monkeypatch.setattr(error_design, "MAX_NONZEROS", 0)
    parts = most_average_error(channel, loss, system, 0.5)
    assert parts.rounds > 1 >= whole.rounds
    assert parts.value == pytest.approx(whole.value, rel=1e-6)


def test_squared_loss_is_that_of_labels() -> None:
    """A free estimate does at least as well, so that the bound holds for it."""
    places = ("0", "1", "3")
    channel = Channel(places, places, np.eye(3), np.array([0.3, 0.4, 0.3]))
    loss = losses.squared(places)
    assert loss.points is not None
    found = most_average_error(channel, loss, losses.absolute(places).matrix, 0.5)
    check(found, channel, loss, losses.absolute(places).matrix, 0.5, worst=False)
    free = Observed.of_channel(channel.with_matrix(found.matrix))
    assert free.average(loss.best(free.posterior)) < found.value


def test_a_distortion_out_of_reach_names_the_least() -> None:
    channel, loss, system = case("graded 2x3")
    assert channel.prior is not None
    least = sum(p * min(row) for p, row in zip(channel.prior.tolist(), system.tolist(), strict=True))
    assert least_distortion(channel, system) == pytest.approx(least)
    for design in (most_average_error, most_worst_case_error):
        with pytest.raises(InputError, match=rf"^The distortion cannot be below {least:.6g}: .* 0\.0123 was asked for"):
            design(channel, loss, system, 0.0123)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.1, "1", None, True])
@pytest.mark.parametrize("name", ["distortion", "gap"])
def test_what_is_no_distortion_or_gap(name: str, bad: float) -> None:
    channel, loss, system = case("hamming 2x2")
    for design in (most_average_error, most_worst_case_error):
        sentence = rf"^The '{name}' parameter of {design.__name__} must be a number ≥ 0\. Got .* instead\.$"
        options = {"distortion": 0.5, **{name: bad}}
        with pytest.raises(ParameterError, match=sentence):
            design(channel, loss, system, **options)


def test_matrices_that_do_not_fit() -> None:
    channel, loss, system = case("graded 2x3")
    with pytest.raises(InputError, match=r"row for each input and a column for each output: 2 by 3, and not \(3, 2\)"):
        most_average_error(channel, loss, system.T, 1.0)
    with pytest.raises(InputError, match="distortions are ≥ 0"):
        most_average_error(channel, loss, -system, 1.0)
    with pytest.raises(InputError, match="The loss has 3 rows; one is needed for each of 2 values"):
        most_worst_case_error(channel, any_loss(hamming(3)), system, 1.0)


def test_any_multipliers_prove_a_bound() -> None:
    """Weak duality, by which the bounds hold whatever the solver says."""
    rng = np.random.default_rng(5)
    channel, loss, system = case("all")
    game = Game.of(channel, loss.matrix, system, 0.2)
    for _ in range(50):
        q = rng.random((len(channel.seen), loss.matrix.shape[1]))
        matrix = rng.dirichlet(np.ones(2), size=2)
        assert (game.gain(q) * matrix).sum() == pytest.approx((q * game.errors(matrix)).sum())
        assert (game.weight_gain(q[:, 0]) * matrix).sum() == pytest.approx(q[:, 0] @ game.weights(matrix))


@pytest.mark.parametrize("forbidden", [1e3, 1e9, 1e12, 1e15])
def test_what_must_never_be_said_takes_no_digits_from_the_rest(forbidden: float) -> None:
    """An output of enormous loss, an input that never comes, an answer that nobody gives: the coin has the same optimum."""
    coin = np.array([0.5, 0.5])
    dear = np.array([[0, 1, forbidden], [1, 0, forbidden]])
    never = np.array([[0, 1], [1, 0], [forbidden, forbidden]])
    absurd = any_loss(np.array([[0, 1, forbidden], [1, 0, forbidden]]))
    cases = [
        (simple(coin, 3), any_loss(hamming(2)), dear),
        (simple(np.array([0.5, 0.5, 0.0]), 2), any_loss(hamming(3)), never),
        (simple(coin, 2), absurd, hamming(2)),
    ]
    for channel, loss, system in cases:
        for design, sharp in ((most_average_error, 1e-7), (most_worst_case_error, 1e-6)):
            found = design(channel, loss, system, 0.25)
            assert found.value == pytest.approx(0.25, abs=sharp)
            assert found.bound == pytest.approx(0.25, abs=sharp)
            assert found.distortion <= 0.25 * (1 + 1e-9)
