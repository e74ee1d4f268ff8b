"""Estimation error: against plain loops, against qif, the paper's worked examples, and bounds that are never violated."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import qif
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius import hierarchy
from dalenius.adversaries import UNKNOWN, Targets
from dalenius.adversaries.random_worlds import RandomWorlds
from dalenius.belief import Belief
from dalenius.errors import InputError
from dalenius.measures import loss as losses
from dalenius.measures.closeness import delta_disclosure, epsilons, kl_divergences, mutual_information, total_variations
from dalenius.measures.error import distortion, mistaken, privacy, reduction
from dalenius.measures.loss import Loss, absolute, coordinates, hamming, squared
from dalenius.measures.observed import SUPPRESSED, Observed
from dalenius.releases import Channel, Generalized, read
from dalenius.releases.channel import Part
from tests.measures.channels import channels, observed, random_channel


def any_loss(seed: int, n: int) -> list[Loss]:
    names = tuple(map(str, range(n)))
    table = np.random.default_rng(seed).random((n, n + 1)) * 3
    tree = hierarchy.from_paths([[str(i), str(i % 2) + "x", "*"] for i in range(n)], source="tree")
    return [
        hamming(names),
        absolute(names),
        squared(names),
        losses.hierarchy(tree, names),
        Loss("any", table, tuple(map(str, range(n + 1)))),
    ]


def plainly(channel: Channel, loss: Loss) -> tuple[float, float]:
    """Average and worst-case privacy by going through every observation and estimate."""
    joint: dict[str, dict[str, float]] = {}
    n, m = channel.matrix.shape
    for y in range(m):
        mine = {channel.inputs[x]: float(channel.prior[x] * channel.matrix[x, y]) for x in range(n)}
        if sum(mine.values()) > 0:
            joint[channel.outputs[y]] = mine
    average, worst = 0.0, math.inf
    for mine in joint.values():
        total = sum(mine.values())
        if loss.points is not None:
            mean = sum(p * loss.points[x] for x, p in enumerate(mine.values())) / total
            error = sum(p * float(((loss.points[x] - mean) ** 2).sum()) for x, p in enumerate(mine.values()))
        else:
            error = min(
                sum(p * loss.matrix[x, e] for x, p in enumerate(mine.values())) for e in range(loss.matrix.shape[1])
            )
        average += error
        worst = min(worst, error / total)
    return average, worst


@settings(max_examples=60, deadline=None)
@given(channels(), st.integers(0, 2**32 - 1))
def test_privacy_is_what_plain_loops_find(channel: Channel, seed: int) -> None:
    for loss in any_loss(seed, len(channel.inputs)):
        found = privacy(observed(channel), loss)
        average, worst = plainly(channel, loss)
        assert found.average == pytest.approx(average, abs=1e-12)
        assert found.worst_case == pytest.approx(worst, abs=1e-12)
        assert found.worst_case <= found.average + 1e-12 <= found.prior + 2e-12


@settings(max_examples=40, deadline=None)
@given(channels(), st.integers(0, 2**32 - 1))
def test_bayes_risk_and_leakage_are_those_of_qif(channel: Channel, seed: int) -> None:
    prior, matrix = channel.prior, channel.matrix
    seen = observed(channel)
    mistakes = privacy(seen, hamming(channel.inputs))
    assert mistakes.average == pytest.approx(qif.measure.bayes_risk.posterior(prior, matrix), abs=1e-12)
    assert mistakes.prior == pytest.approx(qif.measure.bayes_risk.prior(prior), abs=1e-12)
    table = np.random.default_rng(seed).random((len(prior), 4)) * 3
    found = privacy(seen, Loss("any", table, ("a", "b", "c", "d")))
    # A gain of largest − loss; qif has a row for each guess.
    gain = np.ascontiguousarray((table.max() - table).T)
    assert found.average == pytest.approx(table.max() - qif.measure.g_vuln.posterior(gain, prior, matrix), abs=1e-12)
    assert found.prior == pytest.approx(table.max() - qif.measure.g_vuln.prior(gain, prior), abs=1e-12)
    entropy = qif.measure.shannon.prior(prior) - qif.measure.shannon.posterior(prior, matrix)
    assert mutual_information(seen) / math.log(2) == pytest.approx(entropy, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(channels(), st.integers(0, 2**32 - 1))
def test_no_bound_is_ever_violated(channel: Channel, seed: int) -> None:
    seen = observed(channel)
    for loss in any_loss(seed, len(channel.inputs)):
        found = reduction(seen, loss)
        slack = 1e-9 * max(1.0, loss.largest**2)
        each = 2 * loss.largest * total_variations(seen)
        assert (found.each <= each + slack).all()
        assert (each <= math.sqrt(2) * loss.largest * np.sqrt(kl_divergences(seen)) + slack).all()
        assert found.largest <= found.sharp_tv + slack <= found.printed_tv + 2 * slack
        assert found.sharp_tv <= found.sharp_kl + slack <= found.printed_kl + 2 * slack
        assert found.mean_square <= found.sharp_information + slack <= found.printed_information + 2 * slack
        lost = privacy(seen, loss)
        # What is lost on average is the mean of ΔP: the prior's estimate is as good for the mixture as for its parts.
        if loss.points is None:
            assert found.average == pytest.approx(lost.prior - lost.average, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(channels())
def test_risk_is_below_t_and_t_below_delta(channel: Channel) -> None:
    seen = observed(channel)
    risk, t, delta = mutual_information(seen), float(kl_divergences(seen).max()), delta_disclosure(seen)
    assert risk <= t + 1e-12
    assert t <= delta + 1e-9
    used = channel.matrix[channel.prior > 0]
    if channel.prior.min() > 0:
        assert delta <= epsilons(used, channel.inputs).local + 1e-9


def test_the_sharp_bound_is_reached() -> None:
    """A flip that tells everything: who goes by the prior says 0, and is wrong where 1 is seen. ΔP = 1 = 2·d_max·TV."""
    seen = observed(Channel(("0", "1"), ("0", "1"), np.eye(2), np.array([0.5, 0.5])))
    found = reduction(seen, hamming(("0", "1")))
    assert (found.largest, found.total_variation, found.sharp_tv, found.printed_tv) == (1.0, 0.5, 1.0, 2.0)
    np.testing.assert_array_equal(found.each, [1, 1])  # of two guesses that are equally good beforehand, the worse
    assert found.average == 0.5
    two = math.log(2)
    assert (found.sharp_kl, found.printed_kl) == pytest.approx((math.sqrt(2 * two), 2 * math.sqrt(2 * two)))
    assert (found.sharp_information, found.printed_information) == pytest.approx((2 * two, 8 * two))


def test_the_order_of_labels_does_not_matter() -> None:
    """With a uniform prior all guesses are equally good beforehand; which one is named first must not decide."""
    matrix = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.5, 0.3, 0.2]])
    found = []
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        names = tuple("abc"[i] for i in order)
        lost = reduction(observed(Channel(names, ("u", "v", "w"), matrix[order], np.full(3, 1 / 3))), hamming(names))
        found.append((lost.largest, lost.mean_square, lost.average))
    assert found[1] == pytest.approx(found[0])
    assert found[2] == pytest.approx(found[0])
    beliefs = matrix / matrix.sum(axis=0)
    assert found[0][0] == pytest.approx((beliefs.max(axis=0) - beliefs.min(axis=0)).max())


@pytest.mark.parametrize("p", [0.0, 0.1, 0.3, 0.49])
def test_the_flip_has_p_for_both_privacy_and_distortion(p: float) -> None:
    """Section IV-D."""
    matrix = np.array([[1 - p, p], [p, 1 - p]])
    channel = Channel(("0", "1"), ("0", "1"), matrix, np.array([0.5, 0.5]))
    loss = hamming(channel.inputs)
    found = privacy(observed(channel), loss)
    assert (found.average, found.worst_case) == pytest.approx((p, p))
    assert distortion(channel.prior, matrix, loss.matrix) == pytest.approx(p)


def test_map_would_break_the_proof() -> None:
    """The paper has the attacker take the likeliest value; with a graded loss its ΔP is above the bound, or below 0."""
    values = ("0", "1", "10")
    p, q = np.array([[0.0, 0.45, 0.55]]), np.array([[0.0, 0.55, 0.45]])
    seen = Observed(values, ("y",), p, np.ones(1), q)
    loss = Loss("odd", np.array([[0.0, 5, 5], [0, 0, 0], [9, 9, 10.0]]), values)  # the likeliest is the worst estimate
    by_map = (p[0] * loss.matrix[:, 1]).sum() - (p[0] * loss.matrix[:, 2]).sum()
    assert by_map < 0
    assert reduction(seen, loss).largest >= 0


def test_another_unknown_observation_and_background() -> None:
    rng = np.random.default_rng(5)
    joint = rng.dirichlet(np.ones(6)).reshape(3, 2)  # [x', x]
    matrix, observation = rng.dirichlet(np.ones(4), size=3), rng.dirichlet(np.ones(2), size=4)
    background = rng.dirichlet(np.ones(3), size=2)
    channel = Channel(
        tuple("abc"), tuple("stuv"), matrix, None, Part(("0", "1"), joint),
        Part(("p", "q"), observation), Part(("i", "j", "k"), background),
    )  # fmt: skip
    expected = np.zeros((2, 2, 3))
    for x, x_, y_, y, b in product(range(2), range(3), range(4), range(2), range(3)):
        expected[x, y, b] += joint[x_, x] * matrix[x_, y_] * observation[y_, y] * background[x, b]
    np.testing.assert_allclose(channel.joint, expected.reshape(2, 6), atol=1e-15)
    assert channel.seen == ("p & i", "p & j", "p & k", "q & i", "q & j", "q & k")
    assert channel.values == ("0", "1")
    np.testing.assert_allclose(channel.prior, joint.sum(axis=1))
    found = privacy(observed(channel), hamming(channel.values))
    assert found.average == pytest.approx(1 - expected.max(axis=0).sum())
    with pytest.raises(InputError, match="not that of the joint"):
        Channel(tuple("abc"), tuple("stuv"), matrix, np.array([0.2, 0.2, 0.6]), Part(("0", "1"), joint))
    with pytest.raises(InputError, match="a row for each value"):
        Channel(tuple("abc"), tuple("stuv"), matrix, None, background=Part(("i",), np.ones((2, 1))))
    with pytest.raises(InputError, match="has no prior"):
        _ = Channel(("a",), ("b",), np.ones((1, 1))).joint


def test_background_knowledge_never_helps_privacy() -> None:
    for seed in range(20):
        channel = random_channel(seed, 4, 3)
        rng = np.random.default_rng(seed)
        more = Channel(
            channel.inputs, channel.outputs, channel.matrix, channel.prior,
            background=Part(("i", "j"), rng.dirichlet(np.ones(2), size=4)),
        )  # fmt: skip
        loss = hamming(channel.inputs)
        assert privacy(observed(more), loss).average <= privacy(observed(channel), loss).average + 1e-12


def test_an_attacker_with_a_wrong_posterior() -> None:
    channel = random_channel(3, 4, 5)
    seen, loss = observed(channel), absolute(channel.inputs)
    right = mistaken(seen, seen.posterior, loss)
    assert right.error == pytest.approx(privacy(seen, loss).average)
    assert right.inaccuracy == 0
    wrong = np.random.default_rng(0).dirichlet(np.ones(4), size=len(seen.posterior))
    found = mistaken(seen, wrong, loss)
    by_hand = sum(
        seen.weight[y] * seen.posterior[y, x] * wrong[y, e] * abs(x - e)
        for y, x, e in product(range(len(wrong)), range(4), range(4))
    )
    assert found.correctness == pytest.approx(by_hand)
    assert found.error >= right.error
    other = Loss("any", np.random.default_rng(1).random((4, 2)), ("u", "v"))
    assert mistaken(seen, wrong, other).correctness is None
    entropy = -sum(seen.weight[y] * w * math.log2(w) for y in range(len(wrong)) for w in wrong[y])
    assert found.certainty == pytest.approx(entropy)


def test_squared_loss_takes_the_mean_and_large_coordinates_cost_nothing() -> None:
    names = [str(10**8 + i) for i in range(3)]
    beliefs = np.array([[0.5, 0.0, 0.5], [0.2, 0.3, 0.5]])
    free, bound = squared(names), squared(names, names)
    np.testing.assert_allclose(free.best(beliefs), [1.0, 0.61], rtol=1e-12)
    np.testing.assert_allclose(bound.best(beliefs), [1.0, 0.7], rtol=1e-12)
    np.testing.assert_allclose(free.best_label(beliefs), [1.0, 0.7], rtol=1e-12)


@pytest.mark.parametrize(
    ("labels", "points"),
    [(["1", "-2.5"], [[1], [-2.5]]), (["(0, 1)", "[2;3]"], [[0, 1], [2, 3]]), (["1 2", "3:4"], [[1, 2], [3, 4]])],
)
def test_labels_as_points(labels: list[str], points: list[list[float]]) -> None:
    np.testing.assert_array_equal(coordinates(labels, "It"), points)


@pytest.mark.parametrize("labels", [["Flu", "1"], ["1", "1 2"], [""], ["1e999"], ["nan"], ["1_0"]])
def test_labels_that_are_no_points(labels: list[str]) -> None:
    with pytest.raises(InputError, match="It needs"):
        coordinates(labels, "It")


def test_losses_that_are_wrong() -> None:
    part = Part(("a", "b"), np.ones((2, 2)))
    with pytest.raises(InputError, match="2 rows and 2 columns, and there are 3 values"):
        losses.tabulated("f", ("a", "b"), part, ("a", "b", "c"))
    with pytest.raises(InputError, match="'c' has no row"):
        losses.tabulated("f", ("a", "b"), part, ("a", "c"))
    with pytest.raises(InputError, match="one is needed for each of the 3 outputs"):
        losses.tabulated("f", ("a", "b"), part, ("a", "b"), ("a", "b", "c"))
    with pytest.raises(InputError, match="named twice"):
        losses.tabulated("f", ("a", "a"), part, ("a", "b"))
    with pytest.raises(InputError, match="negative or not a number"):
        Loss("f", np.array([[-1.0]]), ("a",))
    with pytest.raises(InputError, match="Did you mean 'hamming'"):
        losses.make_loss("haming", ("a",))
    with pytest.raises(InputError, match="needs a hierarchy"):
        losses.make_loss("hierarchy", ("a",))
    turned = losses.tabulated("f", ("b", "a"), Part(("b", "a"), np.array([[0.0, 1], [2, 3]])), ("a", "b"), ("a", "b"))
    np.testing.assert_array_equal(turned.matrix, [[3, 2], [1, 0]])


def test_metrics_are_told() -> None:
    names = ("0", "1", "3")
    assert hamming(names).is_metric
    assert absolute(names).is_metric
    assert not squared(names).is_metric  # 9 > 1 + 4
    assert not Loss("f", np.array([[0.0, 1], [2, 0]]), ("0", "1")).is_metric
    assert not Loss("f", np.zeros((2, 2)), ("0", "1")).is_metric


def small_release(folder: Path) -> Generalized:
    (folder / "r.csv").write_text("city,disease\nA,Flu\nA,Flu\nA,Gout\nB,Flu\nB,Acne\n*,Gout\n")
    (folder / "privacy.toml").write_text(
        'sensitive = "disease"\n[columns.city]\nrole = "quasi"\n[columns.disease]\nrole = "sensitive"\n'
    )
    found = read(folder / "r.csv", folder / "privacy.toml")
    assert isinstance(found, Generalized)
    return found


def test_classes_of_a_release_are_a_channel(tmp_path: Path) -> None:
    """A person drawn from all: p(s, q) = n(q, s)/N, and people without a class are an observation of their own."""
    seen = Observed.of_grouping(small_release(tmp_path).grouping())
    assert seen.observations == ("class 0", "class 1", SUPPRESSED)
    by_name = {(s, q): seen.joint[i, j] for i, s in enumerate(seen.values) for j, q in enumerate(seen.observations)}
    expected = {
        ("Flu", "class 0"): 2,
        ("Gout", "class 0"): 1,
        ("Flu", "class 1"): 1,
        ("Acne", "class 1"): 1,
        ("Gout", SUPPRESSED): 1,
    }
    assert {key: p for key, p in by_name.items() if p} == pytest.approx({key: n / 6 for key, n in expected.items()})
    assert dict(zip(seen.values, seen.prior[0], strict=True)) == pytest.approx(
        {"Flu": 3 / 6, "Gout": 2 / 6, "Acne": 1 / 6}
    )
    assert privacy(seen, hamming(seen.values)).average == pytest.approx((1 + 1 + 0) / 6)


def test_every_belief_can_be_measured(tmp_path: Path) -> None:
    release = small_release(tmp_path)
    city = release.schema["city"].leaves
    codes = np.array([[city.index("A"), UNKNOWN], [city.index("B"), UNKNOWN]], dtype=np.int32)[:, :1]
    belief = RandomWorlds().attack(release, Targets(release.schema, codes))
    seen = Observed.of_belief(belief, np.array([3, 1]))
    found = privacy(seen, hamming(seen.values))
    np.testing.assert_allclose(found.conditional, 1 - belief.posterior.max(axis=1))
    assert found.average == pytest.approx(np.array([0.75, 0.25]) @ found.conditional)
    assert found.prior == pytest.approx(np.array([0.75, 0.25]) @ (1 - belief.baseline.max(axis=1)))
    nowhere = Belief.exact(belief.column, np.zeros((2, 3)), np.full((2, 3), 1 / 3))
    with pytest.raises(InputError, match="No target fits"):
        Observed.of_belief(nowhere)
