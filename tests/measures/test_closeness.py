"""Prior against posterior: total variation, divergence, earth mover's distance, δ and ε against other libraries and loops."""

from __future__ import annotations

import math
from itertools import product

import dit
import numpy as np
import ot
import pytest
import qif
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius import hierarchy
from dalenius.measures import closeness
from dalenius.measures import loss as losses
from dalenius.measures.closeness import (
    delta_disclosure,
    epsilons,
    kl_divergences,
    mutual_information,
    t_emd,
    total_variations,
    transport,
)
from dalenius.measures.loss import Loss, absolute, hamming, squared
from dalenius.releases import Channel
from tests.measures.channels import channels, observed, random_channel


@settings(max_examples=40, deadline=None)
@given(channels())
def test_divergences_are_those_of_dit(channel: Channel) -> None:
    seen = observed(channel)
    values = list(seen.values)
    prior = dit.Distribution(values, seen.prior[0].tolist())
    for y, p in enumerate(seen.posterior):
        posterior = dit.Distribution(values, p.tolist())
        divergence = dit.divergences.kullback_leibler_divergence(posterior, prior)
        assert kl_divergences(seen)[y] / math.log(2) == pytest.approx(divergence, abs=1e-9)
        variation = dit.divergences.variational_distance(posterior, prior)
        assert total_variations(seen)[y] == pytest.approx(variation, abs=1e-12)


def test_mutual_information_is_that_of_dit() -> None:
    for seed in range(10):
        channel = random_channel(seed, 4, 5, 0.2)
        joint = channel.prior[:, None] * channel.matrix
        pairs = {f"{x}{y}": joint[x, y] for x, y in product(range(4), range(5)) if joint[x, y] > 0}
        found = dit.shannon.mutual_information(dit.Distribution(pairs), [0], [1])
        assert mutual_information(observed(channel)) / math.log(2) == pytest.approx(found, abs=1e-9)


def metric(seed: int, n: int) -> np.ndarray:
    """Any distance: of random numbers the shortest ways."""
    table = np.random.default_rng(seed).uniform(0.1, 1.0, (n, n))
    table = np.minimum(table, table.T) * (1 - np.eye(n))
    for k in range(n):
        table = np.minimum(table, table[:, [k]] + table[[k], :])
    return table


def grounds(seed: int, n: int) -> list[tuple[Loss, np.ndarray]]:
    """Losses, and the ground distance that each means."""
    names = tuple(map(str, range(n)))
    tree = hierarchy.from_paths([[str(i), f"{i // 2}x", f"{i // 4}y", "*"] for i in range(n)], source="tree")
    table = metric(seed, n)
    line = absolute(names)
    deep = losses.hierarchy(tree, names)
    grid = [f"({i % 2}, {i // 2})" for i in range(n)]
    return [
        (hamming(names), hamming(names).matrix),
        (line, line.matrix),
        (squared(names), line.matrix),
        (deep, deep.matrix),
        (Loss("any", table, names), table),
        (Loss("turned", table[:, ::-1].copy(), names[::-1]), table),
        (absolute(grid), absolute(grid).matrix),
    ]


@settings(max_examples=25, deadline=None)
@given(channels(), st.integers(0, 2**32 - 1))
def test_the_earth_movers_distance_is_that_of_pot(channel: Channel, seed: int) -> None:
    n = len(channel.inputs)
    for loss, ground in grounds(seed, n):
        names = loss.estimates if loss.name == "absolute" else channel.inputs
        seen = observed(Channel(names, channel.outputs, channel.matrix, channel.prior))
        expected = max(ot.emd2(p / p.sum(), seen.prior[0] / seen.prior[0].sum(), ground) for p in seen.posterior)
        found = t_emd(seen, loss)
        assert found.t == pytest.approx(expected, abs=1e-9), loss.name
    assert t_emd(observed(channel), hamming(channel.inputs)).t == pytest.approx(
        total_variations(observed(channel)).max(), abs=1e-12
    )


def test_every_observation_is_looked_at_or_cannot_be_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some programmes need not be solved; the largest is the same as with all of them."""
    cost = metric(1, 5)
    solved = []
    monkeypatch.setattr(closeness, "transport", lambda *given: solved.append(1) or transport(*given))
    saved = 0
    for seed in range(10):
        seen = observed(random_channel(seed, 5, 8))
        everything = max(transport(p, seen.prior[0], cost) for p in seen.posterior)
        solved.clear()
        assert t_emd(seen, Loss("any", cost, seen.values)).t == pytest.approx(everything, abs=1e-12)
        saved += len(seen.posterior) - len(solved)
    assert saved > 0


def test_a_ground_distance_that_is_none_is_said() -> None:
    seen = observed(random_channel(0, 3, 3))
    found = t_emd(seen, Loss("other", np.ones((3, 2)), ("u", "v")))
    assert found.ground == "hamming"
    assert "not the values" in found.note
    assert t_emd(seen, squared(seen.values)).ground == "absolute"
    many = random_channel(0, closeness.MAX_TRANSPORTED + 1, 2)
    assert t_emd(observed(many), Loss("any", 1.5 * (1 - np.eye(121)), many.inputs)).t is None
    for odd in (np.ones((3, 3)), [[0, 1, 9], [1, 0, 1], [9, 1, 0]], [[0, 0, 0], [3, 0, 0], [1, 2, 0]]):
        found = t_emd(seen, Loss("any", np.array(odd, dtype=float), seen.values))
        assert (found.ground, found.note) == ("hamming", "the loss is no distance between values")
        assert found.t == pytest.approx(total_variations(seen).max())
    assert t_emd(observed(many), absolute(many.inputs)).t is not None


@settings(max_examples=60, deadline=None)
@given(channels())
def test_delta_by_loops(channel: Channel) -> None:
    seen = observed(channel)
    most = 0.0
    for p in seen.posterior:
        for x, was in enumerate(seen.prior[0]):
            if was > 0:
                most = max(most, abs(math.log(p[x] / was)) if p[x] > 0 else math.inf)
    assert delta_disclosure(seen) == pytest.approx(most, rel=1e-9, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(channels())
def test_epsilon_by_loops_and_by_qif(channel: Channel) -> None:
    matrix, n = channel.matrix, len(channel.inputs)

    def ratio(x: int, z: int) -> float:
        return max(
            (abs(math.log(a / b)) if a > 0 and b > 0 else math.inf)
            for a, b in zip(matrix[x], matrix[z], strict=True)
            if a or b
        )

    found = epsilons(matrix, channel.inputs)
    pairs = [(x, z) for x, z in product(range(n), repeat=2) if x != z]
    assert found.local == pytest.approx(max((ratio(x, z) for x, z in pairs), default=0.0), rel=1e-12)
    if n > 1:
        assert found.adjacent == pytest.approx(max(ratio(x, x + 1) for x in range(n - 1)), rel=1e-12)
        assert found.per_distance == pytest.approx(max(ratio(x, z) / abs(x - z) for x, z in pairs), rel=1e-12)
        if math.isfinite(found.per_distance):
            smallest = qif.measure.d_privacy.smallest_epsilon(matrix, lambda x, z: abs(x - z))
            assert found.per_distance == pytest.approx(smallest, rel=1e-6)


def test_epsilon_of_names() -> None:
    found = epsilons(np.array([[0.8, 0.2], [0.2, 0.8]]), ("yes", "no"))
    assert found.local == pytest.approx(math.log(4))
    assert (found.adjacent, found.per_distance) == (None, None)
    unsorted = np.array([[0.5, 0.5], [0.8, 0.2], [0.6, 0.4]])  # neighbours are those in order: 0 and 1, 1 and 2
    assert epsilons(unsorted, ("2", "0", "1")).adjacent == pytest.approx(math.log(2))
    grid = epsilons(np.array([[0.8, 0.2], [0.2, 0.8]]), ("(0, 0)", "(3, 4)"))
    assert grid.adjacent is None
    assert grid.per_distance == pytest.approx(math.log(4) / 5)
    assert epsilons(np.array([[0.8, 0.2], [0.2, 0.8]]), ("1", "1.0")).per_distance is None
