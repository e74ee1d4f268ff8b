"""Every measure of a channel in one document: bounds that are never violated, and parts that agree with each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.auditing.channel import OBJECTIVES, beliefs, design, ends, measured, objective, trade_off
from dalenius.errors import InputError, ParameterError
from dalenius.measures.loss import Loss, absolute, hamming
from dalenius.measures.observed import Observed
from dalenius.releases import Channel
from dalenius.releases.channel import Part
from tests.measures.channels import channels, random_channel
from tests.measures.test_error import any_loss


def holds(bound: dict[str, float | str]) -> bool:
    exact, limit = float(bound["exact"]), float(bound["bound"])
    slack = 1e-9 * max(1.0, abs(exact) if math.isfinite(exact) else 1.0)
    return exact <= limit + slack if bound["direction"] == "at most" else exact >= limit - slack


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(channels(), st.integers(0, 2**32 - 1), st.booleans())
def test_no_bound_is_violated(channel: Channel, seed: int, known: bool) -> None:
    if known:
        rng = np.random.default_rng(seed)
        part = Part(("i", "j"), rng.dirichlet(np.ones(2), size=len(channel.inputs)))
        channel = replace(channel, background=part)
    for loss in any_loss(seed, len(channel.inputs)):
        document = measured(channel, loss)
        assert len(document["bounds"]) >= 15
        for bound in document["bounds"]:
            assert holds(bound), (loss.name, bound)


def test_the_chain_of_entropies_is_equal_for_uniform_beliefs_only() -> None:
    uniform = Channel(("a", "b"), ("y",), np.ones((2, 1)), np.array([0.5, 0.5]))
    found = beliefs(Observed.of_channel(uniform), hamming(("a", "b")))
    assert found["min_entropy"] == found["shannon_entropy"] == found["hartley_entropy"] == 1
    skewed = replace(uniform, prior=np.array([0.6, 0.4]))
    found = beliefs(Observed.of_channel(skewed), hamming(("a", "b")))
    assert found["min_entropy"] < found["shannon_entropy"] < found["hartley_entropy"]


def test_beliefs_of_an_attack_promise_less() -> None:
    """Posteriors that do not average to one prior: what needs that is not said."""
    seen = Observed(
        ("a", "b"),
        ("0", "1"),
        np.array([[0.5, 0.5], [0.6, 0.4]]),
        np.array([0.5, 0.5]),
        np.array([[0.9, 0.1], [0.8, 0.2]]),
    )
    found = beliefs(seen, hamming(("a", "b")))
    assert found["average_privacy"] > found["prior_privacy"]
    assert all(holds(bound) for bound in found["bounds"])
    assert not any(bound["formula"] == "prior privacy" for bound in found["bounds"])


@pytest.mark.parametrize("conditional", [0.0, 0.3, 1.0, 1.9, 2.0])
def test_fano_is_the_least_error_of_that_entropy(conditional: float) -> None:
    """Among distributions on four values with one at 1 − P and the others alike the entropy is h(P) + P log2 3."""
    from dalenius.auditing.channel.measures import _fano

    p = _fano(conditional, 4)
    beliefs = np.array([1 - p, p / 3, p / 3, p / 3])
    on = beliefs[beliefs > 0]
    assert -(on * np.log2(on)).sum() == pytest.approx(conditional, abs=1e-6)
    assert 0 <= p <= 0.75


def test_a_curve_runs_from_faithful_to_silent() -> None:
    channel = random_channel(4, 3, 3)
    loss = absolute(channel.inputs)
    low, high = ends(channel, loss)
    assert low == 0
    assert high == pytest.approx(min(float(channel.prior @ loss.matrix[:, e]) for e in range(3)))
    for aim in OBJECTIVES:
        told: list[str] = []
        found = trade_off(channel, loss, loss, aim, points=4, progress=told.append)
        assert [one.asked for one in found] == pytest.approx(np.linspace(low, high, 4))
        assert len(told) == 4
        values = [one.value for one in found]
        assert values == sorted(values, reverse=aim == "mutual-information")
        for one in found:
            again = measured(one.channel, loss, loss)
            key = {"average": "average_privacy", "worst-case": "worst_case_privacy"}.get(aim, "mutual_information")
            assert again[key] == pytest.approx(one.value, abs=1e-9)
            assert again["distortion"] == pytest.approx(one.distortion, abs=1e-12)
    with pytest.raises(ParameterError, match="int ≥ 2"):
        trade_off(channel, loss, loss, "average", points=1)


def test_what_is_too_large_is_said_before_it_is_tried() -> None:
    names = tuple(map(str, range(200)))
    channel = Channel(names, names, np.eye(200), np.full(200, 1 / 200))
    with pytest.raises(InputError, match="200 labels is too large to design for average: at most 150"):
        design(channel, hamming(names), hamming(names), "average", 0.1)
    with pytest.raises(InputError, match="Did you mean 'average'"):
        objective("averag")
    many = Loss("many", np.ones((3, 151)), tuple(map(str, range(151))))
    small = random_channel(0, 3, 3)
    with pytest.raises(InputError, match="151 labels"):
        design(small, many, hamming(small.inputs), "worst-case", 0.1)


def test_a_mistaken_attacker_keeps_its_prior_where_it_sees_the_impossible() -> None:
    channel = Channel(("a", "b"), ("u", "v"), np.eye(2), np.array([0.5, 0.5]))
    found = measured(channel, hamming(("a", "b")), assumed=np.array([1.0, 0.0]))
    assert found["mistaken"]["error"] == pytest.approx(0.5)  # after v it still says a
    other = replace(channel, prior=None, unknown=Part(("s", "t"), np.full((2, 2), 0.25)))
    with pytest.raises(InputError, match="unknown is something else"):
        measured(other, hamming(("s", "t")), assumed=np.array([1.0, 0.0]))


def test_equal_priors_are_not_yet_one_unknown() -> None:
    """Beliefs of an attack that share a baseline need not average to it; what follows from that is not said."""
    seen = Observed(("a", "b"), ("0", "1"), np.full((2, 2), 0.5), np.full(2, 0.5), np.array([[0.9, 0.1], [0.9, 0.1]]))
    assert not seen.has_one_prior
    assert all(holds(bound) for bound in beliefs(seen, hamming(("a", "b")))["bounds"])
    assert Observed.of_channel(random_channel(0, 3, 4)).has_one_prior
