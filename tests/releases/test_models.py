"""Models: their channels by hand, their texts, and the protocols truly run against the closed forms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked_pages import renewed
from scipy import stats
from tests.conftest import ROOT

from dalenius.errors import InputError, ParameterError
from dalenius.measures.entropy import conditional, renyi
from dalenius.measures.loss import coordinates, hamming
from dalenius.measures.mechanisms import noisy_count
from dalenius.measures.observed import Observed
from dalenius.releases import Channel, models
from dalenius.releases.models import (
    LARGEST,
    MODELS,
    build,
    channel_model,
    model,
    simulate_crowds,
    simulate_pool,
    table,
    uniform_channel,
)
from dalenius.releases.models.base import count


def privacy(channel: Channel) -> list[float]:
    """P(y) with Hamming loss, for each observation."""
    seen = Observed.of_channel(channel)
    return hamming(seen.values).best(seen.posterior).tolist()


# --- All of them ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_examples_are_channels_with_a_uniform_prior(name: str) -> None:
    one = MODELS[name]
    found = model(one.example)
    assert one.example.startswith(f"{name}:")
    assert found.prior is not None
    assert np.array_equal(found.prior, np.full(len(found.inputs), 1 / len(found.inputs)))
    assert found.matrix.sum(axis=1) == pytest.approx(np.ones(len(found.inputs)), abs=1e-12)
    assert found.matrix.min() >= 0
    assert one.sentence
    for parameter in one.parameters:
        assert parameter.sentence
        needed = parameter.default is None and parameter.name not in one.one_of
        assert not needed or f"{parameter.name}=" in one.example


def test_the_table_in_the_documentation_is_current() -> None:
    page = (ROOT / "docs" / "error.md").read_text(encoding="utf-8")
    assert renewed(page, "write_models.py", table()) == page, "run scripts/write_models.py"


def test_a_model_is_one_function_and_one_line() -> None:
    @channel_model("coin", "a fair coin, whatever the input", count("n", "the number of inputs", 1), example="coin:n=3")
    def coin(n: int) -> Channel:
        return uniform_channel([str(i) for i in range(n)], ["head", "tail"], np.full((n, 2), 0.5))

    MODELS.add(coin)
    try:
        assert model("coin:n=2").matrix.tolist() == [[0.5, 0.5]] * 2
        assert "| `coin:n=3` | n | a fair coin, whatever the input |" in table()
        with pytest.raises(InputError, match=r"Did you mean 'coin'\? Known: flip, .*, coin\."):
            model("coins:n=2")
    finally:
        MODELS.remove("coin")


def test_text_and_numbers_are_the_same() -> None:
    assert model(" pool-mix : n=2, f = 1,rounds=3 ") == build("pool-mix", n=2, f=1, rounds=3)
    assert model("gaussian:grid=2x3,sigma=1e0,cell=.5") == build("gaussian", grid=(2, 3), sigma=1, cell=0.5)
    assert model("gaussian:grid=3,sigma=2") == build("gaussian", grid=3, sigma=2.0, cell=1)
    assert model("crowds:n=4,p=0.5") == build("crowds", n=np.int64(4), p=np.float64(0.5))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("crowd:n=3,p=0.1", "There is no model 'crowd'. Did you mean 'crowds'? Known: flip, randomized-response, "),
        ("", "There is no model ''."),
        ("crowds", "The model crowds needs n and p; it came without n and p. Example: crowds:n=10,p=0.3."),
        ("crowds:n=3", "The model crowds needs n and p; it came without p."),
        ("crowds:n=3,q=1", "The model crowds has no parameter 'q'. It needs n and p."),
        (
            "gaussian:grid=3,sigm=1",
            "no parameter 'sigm'. Did you mean 'sigma'? It needs grid and sigma, and may be given cell",
        ),
        ("crowds:n=3,p=0.1,n=4", "gives the parameter 'n' twice"),
        ("crowds:n=3,p", "written key=value with commas between, and 'p' is not. Example: crowds:n=10,p=0.3."),
        ("crowds:n=3,,p=0.1", "written key=value"),
        ("crowds:n=3,p=", "written key=value"),
        ("crowds:n=3.5,p=0.1", "The 'n' parameter of crowds must be an int from 1 to 2,000. Got '3.5' instead."),
        ("crowds:n=three,p=0.1", "The 'n' parameter of crowds must be an int from 1 to 2,000. Got 'three' instead."),
        ("crowds:n=0,p=0.1", "The 'n' parameter of crowds must be an int from 1 to 2,000. Got '0' instead."),
        ("crowds:n=2001,p=0.1", "The 'n' parameter of crowds must be an int from 1 to 2,000. Got '2001' instead."),
        ("crowds:n=3,p=0", "The 'p' parameter of crowds must be a number > 0 and ≤ 1. Got '0' instead."),
        ("crowds:n=3,p=1.1", "The 'p' parameter of crowds must be a number > 0 and ≤ 1. Got '1.1' instead."),
        ("crowds:n=3,p=nan", "The 'p' parameter of crowds must be a number > 0 and ≤ 1. Got 'nan' instead."),
        ("flip:p=-0.1", "The 'p' parameter of flip must be a number from 0 to 1. Got '-0.1' instead."),
        ("randomized-response:n=1,p=1", "The 'n' parameter of randomized-response must be an int from 2 to 2,000."),
        ("randomized-response:n=3", "needs n and one of epsilon and p; none of them came."),
        ("randomized-response:n=3,p=1,epsilon=1", "needs n and one of epsilon and p; epsilon and p came."),
        ("geometric:n=2000,epsilon=1", "The 'n' parameter of geometric must be an int from 1 to 1,999."),
        ("planar-laplace:grid=3,epsilon=0", "The 'epsilon' parameter of planar-laplace must be a number > 0"),
        ("gaussian:grid=45,sigma=1", "The 'grid' parameter of gaussian must be a side such as 10 or two such as 4x7, "),
        ("gaussian:grid=0x5,sigma=1", "of at most 2,000 cells. Got '0x5' instead."),
        ("gaussian:grid=4y5,sigma=1", "Got '4y5' instead."),
        ("gaussian:grid=4,sigma=1e9999", "The 'sigma' parameter of gaussian must be a number > 0 and ≤ 1e+12."),
        ("gaussian:grid=4,sigma=1,cell=0", "The 'cell' parameter of gaussian must be a number > 0"),
        ("pool-mix:n=100,f=1,rounds=20", "The 'rounds' parameter of pool-mix must be such that f + n·rounds, "),
        ("pool-mix:n=5,f=-1,rounds=20", "The 'f' parameter of pool-mix must be an int from 0 to 2,000."),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises((InputError, ParameterError)) as caught:
        model(text)
    assert said in str(caught.value)


@pytest.mark.parametrize("value", [True, "3", None, 2.0, math.nan])
def test_numbers_that_are_no_ints(value: object) -> None:
    with pytest.raises(ParameterError, match="The 'n' parameter of threshold-mix must be an int from 1 to 2,000"):
        build("threshold-mix", n=value)


def test_parameters_that_are_unknown() -> None:
    with pytest.raises(InputError, match="no parameter 'm'"):
        build("threshold-mix", m=3)
    with pytest.raises(ParameterError, match="The 'grid' parameter"):
        build("gaussian", grid=(1, 2, 3), sigma=1.0)


# --- Values -----------------------------------------------------------------------------------------------------------


def test_flip() -> None:
    found = model("flip:p=0.2")
    assert found.inputs == found.outputs == ("0", "1")
    assert found.matrix.tolist() == [[0.8, 0.2], [0.2, 0.8]]
    assert privacy(found) == pytest.approx([0.2, 0.2])


@given(st.integers(2, 30), st.floats(0, 20))
def test_randomized_response_has_its_epsilon(n: int, epsilon: float) -> None:
    found = build("randomized-response", n=n, epsilon=epsilon)
    matrix = found.matrix
    assert math.log((matrix.max(axis=0) / matrix.min(axis=0)).max()) == pytest.approx(epsilon, abs=1e-9)
    keep = float(matrix[0, 0])
    assert keep == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + n - 1))
    assert build("randomized-response", n=n, p=keep).matrix == pytest.approx(matrix, rel=1e-6)


def test_randomized_response_by_hand() -> None:
    found = model("randomized-response:n=5,p=0.6")
    assert found.inputs == tuple("01234")
    assert found.matrix[2].tolist() == pytest.approx([0.1, 0.1, 0.6, 0.1, 0.1])
    far = model("randomized-response:n=3,epsilon=100").matrix
    assert far[0, 1] == pytest.approx(math.exp(-100), rel=1e-12, abs=0)  # not lost in 1 − p


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_geometric_is_the_law_of_noisy_counts(epsilon: float) -> None:
    people = 6
    found = build("geometric", n=people, epsilon=epsilon)
    assert found.inputs == found.outputs == tuple("0123456")
    other = noisy_count((0, 1), people, epsilon, bool)
    for database, row in zip(other.databases(), other.probabilities, strict=True):
        expected = dict(zip(other.outputs, row, strict=True))
        assert found.matrix[sum(database)] == pytest.approx([expected[t] for t in range(people + 1)], abs=1e-15)


def test_geometric_by_hand() -> None:
    """a = 1/2: 1/3 at the count itself, 1/6 beside it, and 2/3·(1/2)^k in a tail."""
    found = build("geometric", n=2, epsilon=math.log(2)).matrix
    assert found == pytest.approx(np.array([[2 / 3, 1 / 6, 1 / 6], [1 / 3, 1 / 3, 1 / 3], [1 / 6, 1 / 6, 2 / 3]]))
    assert np.log(found[:-1] / found[1:]).max() == pytest.approx(math.log(2))


# --- Places -----------------------------------------------------------------------------------------------------------


def test_gaussian_by_hand() -> None:
    found = model("gaussian:grid=2x3,sigma=2,cell=3")
    assert found.inputs == found.outputs
    assert found.inputs[:4] == ("(0, 0)", "(0, 1)", "(0, 2)", "(1, 0)")
    points = coordinates(found.inputs, "test") * 3
    for x, point in enumerate(points):
        densities = [stats.multivariate_normal.pdf(other, point, 4 * np.eye(2)) for other in points]
        assert found.matrix[x] == pytest.approx(np.array(densities) / sum(densities))


def test_noise_without_end_and_without_noise() -> None:
    for small in ("gaussian:grid=3,sigma=5e-324", "planar-laplace:grid=3,epsilon=1e6,cell=1e12"):
        assert np.array_equal(model(small).matrix, np.eye(9))
    for large in ("gaussian:grid=3,sigma=1e12", "planar-laplace:grid=3,epsilon=1e-12"):
        assert model(large).matrix == pytest.approx(np.full((9, 9), 1 / 9))


def per_distance(channel: Channel, cell: float) -> float:
    """The largest |log p(y|x)/p(y|x')| over d(x, x')."""
    points = coordinates(channel.inputs, "test") * cell
    logs = np.log(channel.matrix)
    return max(
        float(np.abs(logs[a] - logs[b]).max() / math.dist(points[a], points[b]))
        for a, b in itertools.combinations(range(len(points)), 2)
    )


@pytest.mark.parametrize("grid", ["5", "1x9", "3x4"])
@pytest.mark.parametrize(("epsilon", "cell"), [(0.01, 1.0), (0.5, 2.0), (3.0, 1.0)])
def test_planar_laplace_has_at_most_twice_its_epsilon(grid: str, epsilon: float, cell: float) -> None:
    found = model(f"planar-laplace:grid={grid},epsilon={epsilon},cell={cell}")
    level = per_distance(found, cell)
    assert epsilon * (1 + 1e-6) < level <= 2 * epsilon  # more than ε: renormalising costs something


def test_planar_laplace_comes_close_to_twice_its_epsilon() -> None:
    assert per_distance(model("planar-laplace:grid=1x200,epsilon=1e-4"), 1.0) > 1.97e-4
    assert per_distance(model("planar-laplace:grid=4,epsilon=40"), 1.0) == pytest.approx(40, rel=1e-9)


def test_planar_laplace_by_hand() -> None:
    found = model("planar-laplace:grid=1x3,epsilon=2,cell=0.5").matrix
    a = math.exp(-1)
    assert found == pytest.approx(
        np.array([[1, a, a * a], [a, 1, a], [a * a, a, 1]]) / [[1 + a + a * a], [1 + 2 * a], [1 + a + a * a]]
    )
    square = model("planar-laplace:grid=2,epsilon=1").matrix
    assert square[0, 3] / square[0, 0] == pytest.approx(math.exp(-math.sqrt(2)))


# --- Anonymous communication ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(1, 0.4), (2, 0.9), (10, 0.3), (50, 0.01), (7, 1.0)])
def test_crowds_is_the_closed_form(n: int, p: float) -> None:
    found = build("crowds", n=n, p=p)
    assert found.inputs[-1] == str(n)
    assert privacy(found) == pytest.approx([(1 - p) * (1 - 1 / n)] * n)
    posterior = Observed.of_channel(found).posterior
    assert np.diag(posterior) == pytest.approx([p + (1 - p) / n] * n)


def test_crowds_truly_run() -> None:
    """The share of wrong guesses x̂ = y is (1 − p)(1 − 1/n), and every pair is as frequent as it should be."""
    n, p, messages = 10, 0.3, 200_000
    counts = simulate_crowds(n, p, messages, np.random.default_rng(1))
    assert counts.sum() == messages
    assert counts.dtype == np.int64
    expected = (1 - p) * (1 - 1 / n)
    wrong = 1 - np.trace(counts) / messages
    assert abs(wrong - expected) < 4.5 * math.sqrt(expected * (1 - expected) / messages)
    joint = build("crowds", n=n, p=p).joint * messages
    assert stats.chisquare(counts.ravel(), joint.ravel()).pvalue > 1e-4
    assert stats.chisquare(counts.ravel(), simulated_otherwise(n, p, messages).ravel()).pvalue < 1e-12


def simulated_otherwise(n: int, p: float, messages: int) -> np.ndarray:
    """What would be expected of the original protocol, whose first hop is never the delivery: the control must fail."""
    first = np.full((n, n), 1 / n)
    return first @ build("crowds", n=n, p=p).joint * messages


def test_crowds_at_its_ends() -> None:
    rng = np.random.default_rng(2)
    assert np.trace(simulate_crowds(5, 1.0, 1000, rng)) == 1000
    rare = simulate_crowds(4, 0.002, 4000, np.random.default_rng(3))
    assert stats.chisquare(rare.ravel(), build("crowds", n=4, p=0.002).joint.ravel() * 4000).pvalue > 1e-4
    same = [simulate_crowds(4, 0.5, 100, np.random.default_rng(9)) for _ in range(2)]
    assert np.array_equal(*same)
    with pytest.raises(
        ParameterError, match="The 'messages' parameter of simulate_crowds must be at most 2,000,000,000·p"
    ):
        simulate_crowds(4, 1e-9, 4, rng)
    with pytest.raises(ParameterError, match="The 'p' parameter of simulate_crowds"):
        simulate_crowds(4, 0.0, 4, rng)
    with pytest.raises(ParameterError, match="The 'messages' parameter of simulate_crowds must be an int ≥ 1"):
        simulate_crowds(4, 0.5, 0, rng)


def test_simulations_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models.messages, "CHUNK", 7_000)
    crowds = simulate_crowds(4, 0.4, 20_000, np.random.default_rng(6))
    assert stats.chisquare(crowds.ravel(), build("crowds", n=4, p=0.4).joint.ravel() * 20_000).pvalue > 1e-4
    pool = simulate_pool(3, 2, 4, 4_000, np.random.default_rng(7))  # 1,400 mixes at a time
    assert pool.sum(axis=0).tolist() == [12_000] * 4 + [8_000]
    law = build("pool-mix", n=3, f=2, rounds=4).matrix
    assert (np.abs(pool - law * 4_000) <= 4.5 * np.sqrt(4_000 * law * (1 - law))).all()


def test_threshold_mix() -> None:
    found = model("threshold-mix:n=5")
    assert found.matrix.tolist() == [[0.2] * 5] * 5
    assert privacy(found) == pytest.approx([0.8] * 5)


@pytest.mark.parametrize(("n", "f", "rounds"), [(5, 3, 20), (2, 7, 12), (1, 1, 30), (4, 0, 5), (3, 2, 1)])
def test_pool_mix_is_the_closed_form(n: int, f: int, rounds: int) -> None:
    """P = 1 − 1/(n + f) in every round, and the posterior of who came k rounds before."""
    channel = build("pool-mix", n=n, f=f, rounds=rounds)
    assert len(channel.inputs) == f + n * rounds
    assert channel.outputs[-1] == "later"
    seen = Observed.of_channel(channel)
    assert privacy(channel) == pytest.approx([1 - 1 / (n + f)] * len(seen.observations))
    assert len(seen.observations) == rounds + (f > 0)
    for r in range(rounds):
        for j in range(rounds):
            k = r - j
            expected = 1 / n * (n / (n + f)) * (f / (n + f)) ** k if k >= 0 else 0.0
            assert seen.posterior[r, f + n * j : f + n * (j + 1)] == pytest.approx([expected] * n, abs=1e-15)
        assert seen.posterior[r, :f] == pytest.approx([1 / n * (n / (n + f)) * (f / (n + f)) ** r] * f, abs=1e-15)
        assert seen.weight[r] == pytest.approx(n / (f + n * rounds))


def test_pool_mix_entropy_grows_to_its_limit() -> None:
    n, f = 5, 3
    seen = Observed.of_channel(build("pool-mix", n=n, f=f, rounds=40))
    entropies = renyi(seen.posterior, 1)[:40]
    assert entropies[0] == pytest.approx(math.log2(n + f))
    assert np.all(np.diff(entropies[:30]) > 0)
    limit = (1 + f / n) * math.log2(n + f) - f / n * math.log2(f)
    assert entropies[0] < limit - 0.1
    assert entropies[-1] == pytest.approx(limit, abs=1e-9)
    alone = Observed.of_channel(build("pool-mix", n=n, f=0, rounds=4))
    assert conditional(alone) == pytest.approx(math.log2(n))


def test_pool_mix_truly_run() -> None:
    """Each message's rounds are independent in the repeats: a chi-square for each, and the smallest of all is not too small."""
    n, f, rounds, repeats = 3, 2, 6, 20_000
    channel = build("pool-mix", n=n, f=f, rounds=rounds)
    counts = simulate_pool(n, f, rounds, repeats, np.random.default_rng(4))
    assert counts.shape == channel.matrix.shape
    assert counts.sum(axis=1).tolist() == [repeats] * len(channel.inputs)
    assert counts.sum(axis=0).tolist() == [n * repeats] * rounds + [f * repeats]
    values = []
    for row, expected in zip(counts, channel.matrix * repeats, strict=True):
        possible = expected > 0
        assert not row[~possible].any()
        values.append(stats.chisquare(row[possible], expected[possible]).pvalue)
    assert min(values) > 1e-4 / len(values)
    sigma = np.sqrt(repeats * channel.matrix * (1 - channel.matrix))
    assert (np.abs(counts - channel.matrix * repeats) <= 4.5 * sigma).all()
    first = simulate_pool(n, f, rounds, 50, np.random.default_rng(5))
    assert np.array_equal(first, simulate_pool(n, f, rounds, 50, np.random.default_rng(5)))
    with pytest.raises(ParameterError, match="The 'repeats' parameter of simulate_pool must be an int ≥ 1"):
        simulate_pool(n, f, rounds, 0, np.random.default_rng(5))


def test_the_largest() -> None:
    assert model(f"threshold-mix:n={LARGEST}").matrix.shape == (LARGEST, LARGEST)
    assert model("pool-mix:n=1,f=1,rounds=1999").matrix.shape == (2000, 2000)
    with pytest.raises(ParameterError):
        model(f"pool-mix:n=1,f=2,rounds={LARGEST - 1}")
