"""The channel that tells least against closed forms, brute force, another program, and its own certificate."""

from __future__ import annotations

import math
from dataclasses import replace

import dit
import numpy as np
import pytest
from dit.rate_distortion.blahut_arimoto import blahut_arimoto
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from dalenius.errors import InputError, ParameterError
from dalenius.publishers import information
from dalenius.publishers.information import Newton, Problem, mutual_information
from dalenius.publishers.least_telling import Search, Task
from dalenius.publishers.rate_distortion import Floats, Rate, at_slope, curve, least_information
from dalenius.releases.channel import Channel, Part

SLACK = 1e-12  # of rounding


def names(count: int, letter: str) -> tuple[str, ...]:
    return tuple(f"{letter}{i}" for i in range(count))


def channel(prior: Floats, outputs: int, **parts: Part) -> Channel:
    """With a matrix that nothing may depend on."""
    matrix = np.full((len(prior), outputs), 1 / outputs)
    return Channel(names(len(prior), "i"), names(outputs, "o"), matrix, np.asarray(prior, dtype=float), **parts)


def general(
    rng: np.random.Generator, inputs: int, outputs: int, *, unknown: int = 0, observed: int = 0, known: int = 0
) -> Channel:
    """A random problem with the parts that have a size."""
    matrix = np.full((inputs, outputs), 1 / outputs)
    joint = rng.dirichlet(np.ones(inputs * unknown)).reshape(inputs, unknown) if unknown else None
    return Channel(
        names(inputs, "i"),
        names(outputs, "o"),
        matrix,
        None if unknown else rng.dirichlet(np.full(inputs, 3.0)),
        None if joint is None else Part(names(unknown, "u"), joint),
        Part(names(observed, "y"), rng.dirichlet(np.ones(observed), size=outputs)) if observed else None,
        Part(names(known, "b"), rng.dirichlet(np.ones(known), size=unknown or inputs)) if known else None,
    )


PARTS = [
    {},
    {"unknown": 2},
    {"unknown": 4},
    {"observed": 3},
    {"known": 2},
    {"unknown": 3, "observed": 2},
    {"unknown": 3, "known": 2},
    {"observed": 3, "known": 3},
    {"unknown": 2, "observed": 3, "known": 2},
]


def told(one: Channel, matrix: Floats) -> float:
    """I(X;Y) by its definition, entry by entry."""
    joint = one.with_matrix(matrix).joint
    return sum(
        joint[i, j] * math.log(joint[i, j] / (joint[i].sum() * joint[:, j].sum()))
        for i in range(joint.shape[0])
        for j in range(joint.shape[1])
        if joint[i, j] > 0
    )


def ends(one: Channel, system: Floats) -> tuple[float, float]:
    """The least distortion, and that of the best constant output."""
    assert one.prior is not None
    return float(one.prior @ system.min(axis=1)), float((one.prior @ system).min())


def check(rate: Rate, one: Channel, system: Floats, distortion: float, gap: float = 1e-9) -> None:
    """A channel within its distortion, what it says of itself is true, and the gap is reached."""
    assert one.prior is not None
    assert (rate.matrix >= 0).all()
    assert np.abs(rate.matrix.sum(axis=1) - 1).max() < SLACK
    spent = float(one.prior @ (rate.matrix * system).sum(axis=1))
    assert spent == pytest.approx(rate.distortion, abs=1e-12 * max(1.0, system.max()))
    assert spent <= distortion + 1e-11 * max(1.0, system.max())
    assert rate.information == pytest.approx(told(one, rate.matrix), abs=SLACK)
    assert rate.bound <= rate.information
    assert rate.gap == rate.information - rate.bound
    assert rate.gap <= gap
    assert rate.slope >= 0


def entropy(p: float) -> float:
    return -sum(q * math.log(q) for q in (p, 1 - p) if q > 0)


@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99, 1.0])
def test_uniform_prior_and_hamming_loss(n: int, share: float) -> None:
    """R(D) = ln n − h(D) − D ln(n−1), and its slope ln[(1−D)(n−1)/D]."""
    one, system, distortion = channel(np.full(n, 1 / n), n), 1 - np.eye(n), share * (1 - 1 / n)
    rate = least_information(one, system, distortion)
    check(rate, one, system, distortion)
    truth = math.log(n) - entropy(distortion) - distortion * math.log(n - 1)
    assert rate.bound - SLACK <= truth <= rate.information + SLACK
    if 0 < share < 1:
        assert rate.slope == pytest.approx(math.log((1 - distortion) * (n - 1) / distortion), rel=2e-3)


@pytest.mark.parametrize("prior", [0.5, 0.3, 0.05])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_two_values(prior: float, share: float) -> None:
    """R(D) = h(p) − h(D)."""
    one, system = channel(np.array([prior, 1 - prior]), 2), 1 - np.eye(2)
    rate = least_information(one, system, share * prior)
    check(rate, one, system, share * prior)
    assert rate.bound - SLACK <= entropy(prior) - entropy(share * prior) <= rate.information + SLACK


def test_erasure_is_a_straight_line() -> None:
    """An output that costs 1 to all, mistakes not to be thought of: R(D) = (1 − D) ln 2, with one slope for every D."""
    one, system = channel(np.array([0.5, 0.5]), 3), np.array([[0.0, 1e3, 1.0], [1e3, 0.0, 1.0]])
    for distortion in (0.1, 0.5, 0.9):
        rate = least_information(one, system, distortion)
        check(rate, one, system, distortion)
        assert rate.information == pytest.approx((1 - distortion) * math.log(2), abs=2e-9)
        assert rate.slope == pytest.approx(math.log(2), abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_slopes_lead_to_the_same_curve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, system = channel(rng.dirichlet(np.ones(5)), 6), rng.random((5, 6))
    for slope in (0.5, 3.0, 20.0, 1e4):
        rate = at_slope(one, system, slope)
        check(rate, one, system, rate.distortion)
        assert rate.slope == pytest.approx(slope)
        again = least_information(one, system, rate.distortion)
        assert abs(again.information - rate.information) <= 2e-9
        near = at_slope(one, system, slope, start=rate.matrix)
        assert near.information + slope * near.distortion == pytest.approx(
            rate.information + slope * rate.distortion, abs=2e-9 + 1e-15 * slope
        )
    least, most = ends(one, system)
    assert at_slope(one, system, math.inf).distortion == pytest.approx(least, abs=SLACK)
    assert at_slope(one, system, 0).distortion == pytest.approx(most, abs=SLACK)


def brute(one: Channel, system: Floats, distortion: float, rng: np.random.Generator) -> float:
    """SLSQP over all entries of the matrix, from several starts."""
    assert one.prior is not None
    n, m = system.shape
    first = np.zeros((n, m))
    first[np.arange(n), system.argmin(axis=1)] = 1
    rules = [
        {"type": "eq", "fun": lambda w: w.reshape(n, m).sum(axis=1) - 1},
        {"type": "ineq", "fun": lambda w: distortion - one.prior @ (w.reshape(n, m) * system).sum(axis=1)},
    ]

    def objective(w: Floats) -> float:
        return told(one, np.maximum(w, 1e-13).reshape(n, m) / np.maximum(w, 1e-13).reshape(n, m).sum(axis=1)[:, None])

    found = math.inf
    for _ in range(3):
        start = 0.5 * first + 0.5 * rng.dirichlet(np.ones(m), size=n)
        got = minimize(
            objective,
            start.reshape(-1),
            bounds=[(0, 1)] * (n * m),
            constraints=rules,
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-13},
        )
        if rules[1]["fun"](got.x) > -1e-9:
            found = min(found, float(got.fun))
    return found


@pytest.mark.parametrize("parts", PARTS, ids=str)
@pytest.mark.parametrize("size", [(2, 2), (3, 3)])
def test_nothing_less_by_brute_force(parts: dict[str, int], size: tuple[int, int]) -> None:
    rng = np.random.default_rng(len(str(parts)) + size[0])
    one, system = general(rng, *size, **parts), rng.random(size)
    least, most = ends(one, system)
    distortion = least + 0.35 * (most - least)
    rate = least_information(one, system, distortion)
    check(rate, one, system, distortion)
    other = brute(one, system, distortion, rng)
    assert rate.bound <= other + 1e-7
    assert rate.information == pytest.approx(other, abs=1e-5)


@pytest.mark.parametrize("parts", PARTS, ids=str)
def test_gradient_and_curvature_against_finite_differences(parts: dict[str, int]) -> None:
    rng = np.random.default_rng(3)
    one = general(rng, 3, 4, **parts)
    problem = Problem.of(one)
    matrix, step = rng.dirichlet(np.full(4, 5.0), size=3), 1e-6

    def value(w: Floats) -> float:
        return float(problem.weights @ (w * problem.gradient(w)).sum(axis=1))

    assert value(matrix) == pytest.approx(told(one, matrix), abs=1e-12)
    found, second = np.zeros((3, 4)), np.zeros((12, 12))
    for i in range(3):
        for j in range(4):
            up, down = matrix.copy(), matrix.copy()
            up[i, j] += step
            down[i, j] -= step
            found[i, j] = (value(up) - value(down)) / (2 * step) / problem.weights[i]
            change = problem.weights[:, None] * (problem.gradient(up) - problem.gradient(down)) / (2 * step)
            second[i * 4 + j] = change.reshape(-1)
    assert np.abs(found - problem.gradient(matrix)).max() < 1e-7
    # a Newton step solves (H + pσ/W) dW = p Z; its sums over rows are the Schur complement's
    slack, right = rng.random((3, 4)) + 0.1, rng.random((3, 4))
    newton = Newton.at(problem, matrix, slack)
    whole = second + np.diag((problem.weights[:, None] * slack / matrix).reshape(-1))
    truth = np.linalg.solve(whole, (problem.weights[:, None] * right).reshape(-1)).reshape(3, 4)
    assert np.abs(newton.solve(right) - truth).max() < 1e-6
    rows = rng.random(3)
    root = np.sqrt(problem.weights)
    sums = newton.solve(np.repeat((rows / root)[:, None], 4, axis=1)).sum(axis=1) * root
    assert np.abs(newton.schur() @ rows - sums).max() < 1e-9


def test_information_of_a_joint_distribution() -> None:
    assert mutual_information(np.eye(4) / 4) == pytest.approx(math.log(4))
    assert mutual_information(np.outer([0.2, 0.8], [0.5, 0.5])) == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(PARTS), st.floats(0.0, 1.1), st.sampled_from(["random", "whole", "tiny"]))
def test_every_result_is_certified(seed: int, parts: dict[str, int], share: float, kind: str) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    one = general(rng, n, m, **parts)
    system = rng.random((n, m)) if kind == "random" else rng.integers(0, 3, size=(n, m)).astype(float)
    if kind == "tiny":
        system = system * 1e-6 + 5
    least, most = ends(one, system)
    distortion = least + share * (most - least)
    # 1e-9 is missed by a hair in some of ten thousand such problems
    check(least_information(one, system, distortion), one, system, distortion, gap=1e-8)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(PARTS))
def test_curves_fall_and_are_convex(seed: int, parts: dict[str, int]) -> None:
    rng = np.random.default_rng(seed)
    one, system = general(rng, 4, 5, **parts), rng.random((4, 5))
    rates = curve(one, system, points=9)
    information = np.array([rate.information for rate in rates])
    assert [rate.distortion for rate in rates] == sorted(rate.distortion for rate in rates)
    assert rates[0].distortion == pytest.approx(ends(one, system)[0], abs=1e-9)
    assert information[-1] == pytest.approx(told(one, np.full((4, 5), 0.2)), abs=1e-9)
    assert (np.diff(information) <= 1e-9).all()
    assert (np.diff(information, 2) >= -4e-9).all()
    assert (np.diff([rate.slope for rate in rates[1:]]) <= 1e-3).all()


def test_the_curve_ends_before_the_constant_where_x_is_a_part_of_the_input() -> None:
    """Inputs (a, c), of which only a is to be hidden: c may be published as it is, so nothing need be told at E d = 1/2."""
    joint = np.array([[1, 0], [1, 0], [0, 1], [0, 1]]) / 4
    one = channel(np.full(4, 0.25), 4, unknown=Part(("a0", "a1"), joint))
    system = 1 - np.eye(4)
    rates = curve(one, system, points=3)
    assert rates[-1].distortion == pytest.approx(0.5)
    assert rates[-1].information == pytest.approx(0, abs=1e-12)
    assert rates[0].information == pytest.approx(math.log(2))
    # hiding a is a binary problem: R(D) = ln 2 − h(D)
    assert rates[1].information == pytest.approx(math.log(2) - entropy(0.25), abs=1e-9)


def test_an_attacker_that_sees_nothing_learns_nothing() -> None:
    one = channel(np.array([0.2, 0.8]), 2, observation=Part(("y",), np.ones((2, 1))))
    rate = least_information(one, 1 - np.eye(2), 0.0)
    assert rate.information == pytest.approx(0, abs=1e-15)
    assert rate.distortion == 0


def test_background_knowledge_is_not_the_channels_fault() -> None:
    """With B = X all is known before: every channel is as good, and none better than I(X;B) = H(X)."""
    one = channel(np.array([0.25, 0.75]), 2, background=Part(("b0", "b1"), np.eye(2)))
    rate = least_information(one, 1 - np.eye(2), 0.0)
    assert rate.information == pytest.approx(entropy(0.25))
    assert rate.gap <= 1e-12


@pytest.mark.parametrize("parts", [{}, {"known": 2}, {"observed": 3}])
def test_inputs_that_never_occur_and_outputs_that_are_alike(parts: dict[str, int]) -> None:
    rng = np.random.default_rng(8)
    one, system = general(rng, 4, 3, **parts), rng.random((4, 3))
    least, most = ends(one, system)
    distortion = 0.5 * (least + most)
    truth = least_information(one, system, distortion)
    # an input of probability 0, an output twice, and one that nobody would use
    assert one.prior is not None
    wide = np.vstack([np.column_stack([system, system[:, 0], np.full(4, 50.0)]), [[9.0, 1.0, 9.0, 9.0, 9.0]]])
    other = Channel(
        names(5, "i"),
        names(5, "o"),
        np.full((5, 5), 0.2),
        np.append(one.prior, 0.0),
        None,
        None if one.observation is None else replace(one.observation, matrix=one.observation.matrix[[0, 1, 2, 0, 1]]),
        None if one.background is None else replace(one.background, matrix=one.background.matrix[[0, 1, 2, 3, 0]]),
    )
    rate = least_information(other, wide, distortion)
    check(rate, other, wide, distortion)
    assert rate.information == pytest.approx(truth.information, abs=2e-9)
    assert rate.matrix[4].tolist() == [0, 1, 0, 0, 0]


def test_the_channels_own_matrix_is_not_used() -> None:
    rng = np.random.default_rng(1)
    one, system = general(rng, 4, 3, unknown=3), rng.random((4, 3))
    least, most = ends(one, system)
    other = one.with_matrix(rng.dirichlet(np.ones(3), size=4))
    pair = [least_information(c, system, (least + most) / 2).matrix for c in (one, other)]
    assert np.array_equal(*pair)


def line(n: int) -> Floats:
    places = np.arange(n) / n
    return np.asarray(np.abs(places[:, None] - places[None, :]))


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hamming", "random", "absolute", "squared", "grid"])
@pytest.mark.parametrize("share", [0.01, 0.4])
def test_two_hundred_by_two_hundred(loss: str, share: float) -> None:
    rng = np.random.default_rng(5)
    n = 196 if loss == "grid" else 200
    places = np.argwhere(np.ones((14, 14))).astype(float)
    system = {
        "hamming": 1 - np.eye(n),
        "random": rng.random((n, n)),
        "absolute": line(n),
        "squared": line(n) ** 2,
        "grid": np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2)),
    }[loss]
    one = channel(rng.dirichlet(np.full(n, 2.0)), n)
    least, most = ends(one, system)
    distortion = least + share * (most - least)
    rate = least_information(one, system, distortion)
    check(rate, one, system, distortion)
    assert rate.rounds < 90  # Newton's, and none of first derivatives to mend it


def test_thirty_by_thirty_where_the_unknown_is_not_the_input() -> None:
    rng = np.random.default_rng(6)
    for parts in ({"unknown": 30}, {"unknown": 5}, {"unknown": 30, "known": 4}):
        one, system = general(rng, 30, 30, **parts), line(30)
        least, most = ends(one, system)
        distortion = least + 0.2 * (most - least)
        check(least_information(one, system, distortion), one, system, distortion)


@pytest.mark.parametrize("parts", PARTS, ids=str)
def test_first_derivatives_alone(parts: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where second derivatives would not fit: the same optimum, less exactly, and the gap says so."""
    rng = np.random.default_rng(7)
    one, system = general(rng, 6, 5, **parts), rng.random((6, 5))
    least, most = ends(one, system)
    for distortion in (least, least + 0.3 * (most - least)):
        truth = least_information(one, system, distortion)
        monkeypatch.setattr(Problem, "has_curvature", lambda *_: False)
        rate = least_information(one, system, distortion, gap=1e-5)
        check(rate, one, system, distortion, gap=1e-5)
        assert truth.bound - SLACK <= rate.information <= truth.information + 1e-5
        slope = at_slope(one, system, 2.0, gap=1e-5)
        monkeypatch.undo()
        best = at_slope(one, system, 2.0)
        assert slope.information + 2 * slope.distortion == pytest.approx(
            best.information + 2 * best.distortion, abs=1e-5
        )
    monkeypatch.setattr(information, "MAX_BLOCKS", 0)
    monkeypatch.setattr(information, "MAX_BLOCK", 0)
    assert Problem.of(one).has_curvature(5) == (not parts)


def test_a_search_that_is_cut_short_says_so() -> None:
    one, system = channel(np.full(30, 1 / 30), 30), line(30)
    rate = least_information(one, system, 0.05, most_rounds=3)
    truth = least_information(one, system, 0.05)
    assert rate.rounds == 3
    assert least_information(one, system, 0.2, most_rounds=0).bound >= 0
    assert rate.gap > 1e-3
    assert rate.bound <= truth.bound
    assert rate.information >= truth.information
    assert rate.distortion <= 0.05 + SLACK


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(PARTS))
def test_the_bound_holds_wherever_it_is_taken(seed: int, parts: dict[str, int]) -> None:
    """No channel of that distortion tells less than the bound says, whatever matrix and slope it was made from."""
    rng = np.random.default_rng(seed)
    one, system = general(rng, 3, 4, **parts), rng.random((3, 4))
    task = Task.of(one, system, "test")
    for _ in range(5):
        matrix = rng.dirichlet(np.full(4, 0.5), size=3)
        other = rng.random((3, 4)) + 1e-3
        near = matrix + 1e-3 * rng.random((3, 4))
        for positive in (other, near):
            slope = float(rng.exponential())
            assert task.lower(positive, slope, task.mean(matrix)) <= told(one, matrix) + SLACK


def test_dit_agrees_on_small_cases() -> None:
    """dit counts in bits, and stops when the distortion changes by less than 1e-5 of itself: near, and never below ours."""
    rng = np.random.default_rng(11)
    for _ in range(3):
        prior = rng.dirichlet(np.ones(3))
        system = rng.random((3, 3))
        (rate, distortion), _ = blahut_arimoto(prior, 4.0, lambda *_, d=system: d, max_iters=20_000, restarts=1)
        ours = at_slope(channel(prior, 3), system, 4.0 * math.log(2))
        theirs = rate * math.log(2) + ours.slope * distortion
        assert theirs - 2e-4 <= ours.information + ours.slope * ours.distortion <= theirs + 1e-9


def test_dit_stops_early_on_graded_losses() -> None:
    assert dit.__version__
    n = 40
    prior, system = np.full(n, 1 / n), line(n)
    (rate, distortion), _ = blahut_arimoto(prior, 8.0, lambda *_: system, restarts=1)
    one = channel(prior, n)
    ours = least_information(one, system, float(distortion))
    check(ours, one, system, float(distortion))
    assert ours.information < rate * math.log(2) - 1e-6


def test_a_distortion_that_cannot_be() -> None:
    one, system = channel(np.array([0.5, 0.5]), 2), np.array([[0.25, 1.0], [1.0, 0.5]])
    with pytest.raises(InputError, match=r"The distortion cannot be below 0\.375: .* Got 0\.3\."):
        least_information(one, system, 0.3)
    assert least_information(one, system, 0.375).information == pytest.approx(math.log(2))


def test_parameters() -> None:
    one, system = channel(np.array([0.5, 0.5]), 2), 1 - np.eye(2)
    for wrong in (-0.1, math.nan, math.inf):
        with pytest.raises(ParameterError, match="'distortion' parameter of least_information"):
            least_information(one, system, wrong)
        with pytest.raises(ParameterError, match="'gap'"):
            least_information(one, system, 0.1, gap=wrong)
    for wrong in (-0.1, math.nan):
        with pytest.raises(ParameterError, match="'slope' parameter of at_slope"):
            at_slope(one, system, wrong)
    with pytest.raises(ParameterError, match="'start'"):
        at_slope(one, system, 1.0, start=np.eye(3))
    with pytest.raises(ParameterError, match="2 inputs by 2 outputs"):
        least_information(one, np.ones((2, 3)), 0.1)
    for entry in (-1.0, math.nan, math.inf):
        with pytest.raises(ParameterError, match="'system'"):
            least_information(one, np.array([[0.0, entry], [1.0, 0.0]]), 0.1)
    with pytest.raises(ParameterError, match="'points'"):
        curve(one, system, points=1)
    with pytest.raises(InputError, match="no prior"):
        least_information(replace(one, prior=None), system, 0.1)


def test_start_meets_the_distortion() -> None:
    """The interior point method begins where the constraints hold, so that all its channels do."""
    rng = np.random.default_rng(2)
    task = Task.of(general(rng, 4, 5), rng.random((4, 5)), "test")
    for most in (1e-6, 0.01, 0.1):
        point = Search(task, most, 0.0, None).start(None)
        assert task.mean(point.matrix) == pytest.approx(most)
        assert (point.matrix > 0).all()


def test_too_much_distortion_is_taken_back() -> None:
    rng = np.random.default_rng(4)
    task = Task.of(general(rng, 4, 5), rng.random((4, 5)), "test")
    matrix = rng.dirichlet(np.ones(5), size=4)
    found = Search(task, 0.1, 0.0, None).within(matrix)
    assert task.mean(matrix) > 0.2
    assert task.mean(found) == pytest.approx(0.1)
    assert np.abs(found.sum(axis=1) - 1).max() < SLACK


def test_the_bound_of_a_slope_holds_before_the_end() -> None:
    rng = np.random.default_rng(9)
    one, system = general(rng, 6, 6), rng.random((6, 6))
    rough = at_slope(one, system, 4.0, gap=0.2)
    truth = least_information(one, system, rough.distortion)
    assert rough.gap > 1e-3
    assert rough.bound <= truth.information
    none = least_information(general(rng, 6, 6, known=2), system, rough.distortion, most_rounds=0)
    assert none.bound >= 0


def test_a_step_near_the_optimum_is_a_newton_step() -> None:
    """All of it is taken, and what is left of the conditions is of second order."""
    rng = np.random.default_rng(10)
    for parts in PARTS:
        task = Task.of(general(rng, 4, 4, **parts), rng.random((4, 4)), "test")
        search = Search(task, 0.5 * task.mean(task.silent()), 0.0, None)
        point = search.start(None)
        for _ in range(12):
            point, _ = search.step(point, 1.0)
        centre = float(task.problem.weights @ (point.matrix * point.slack).sum(axis=1)) / 4
        assert search.residual(point, centre, point.matrix) < 1e-9


@pytest.mark.parametrize("forbidden", [1e3, 1e9, 1e13, 1e15])
def test_an_output_that_must_never_be_said_takes_no_digits_from_the_others(forbidden: float) -> None:
    channel = Channel(("0", "1"), ("0", "1", "2"), np.full((2, 3), 1 / 3), np.array([0.5, 0.5]))
    found = least_information(channel, np.array([[0, 1, forbidden], [1, 0, forbidden]]), 0.25)
    assert found.information == pytest.approx(math.log(2) + 0.25 * math.log(0.25) + 0.75 * math.log(0.75), abs=1e-9)
    assert found.gap <= 1e-9
    assert found.distortion <= 0.25 * (1 + 1e-9)


def test_a_grid_of_four_hundred_places() -> None:
    """The largest that is promised: every place an input and an output."""
    places = np.array([(i, j) for i in range(20) for j in range(20)], dtype=float)
    far = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    names = tuple(f"{i} {j}" for i, j in places.astype(int).tolist())
    channel = Channel(names, names, np.eye(400), np.random.default_rng(1).dirichlet(np.ones(400)))
    found = least_information(channel, far, 2.0)
    assert found.gap <= 1e-6
    assert found.distortion <= 2.0 * (1 + 1e-9)
    assert 0 < found.bound <= found.information
