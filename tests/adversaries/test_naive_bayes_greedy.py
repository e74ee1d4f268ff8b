"""The greedy choice of tables: its moments against matrices and draws, its accuracy against enumeration, what it admits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace

import dalenius as dl
from dalenius.adversaries import Targets, make_adversary
from dalenius.adversaries.models.count_classifier import conditionals, shares
from dalenius.adversaries.models.departure import Noise, departures, expected
from dalenius.adversaries.naive_bayes_greedy import MIN_DEPARTURE, choose_tables, expected_accuracy
from dalenius.publishers.noisy_counts import Simulation
from dalenius.releases import NoisyCounts


@pytest.mark.parametrize("scale", [0.2, 1.0, 7.0, 300.0])
def test_variance_and_fourth_cumulant_of_noise(scale: float) -> None:
    """By adding up P(x) ∝ exp(−|x|/scale) itself."""
    x = np.arange(-int(60 * scale) - 60, int(60 * scale) + 61, dtype=float)
    weights = np.exp(-np.abs(x) / scale)
    weights /= weights.sum()
    second, fourth = (weights * x**2).sum(), (weights * x**4).sum()
    found = Noise.of("geometric", scale)
    assert (found.variance, found.fourth) == pytest.approx((second, fourth - 3 * second**2), rel=1e-6)
    variance, excess = laplace(scale=scale).stats(moments="vk")
    found = Noise.of("laplace", scale)
    assert (found.variance, found.fourth) == pytest.approx((variance, excess * variance**2))
    assert Noise.of("none", 0.0) == Noise(0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_mean_and_variance_by_matrices(seed: int) -> None:
    """Every matrix of the formulas written out, of vectors of all entries."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(3))
    a, b = np.eye(4) - np.outer(p, np.ones(4)), np.eye(3) - np.outer(np.ones(3), q)
    noise, people = Noise(5.0, 70.0), 200.0
    linear = np.kron(a, b.T)  # of the entries of N, row by row
    form = linear.T @ linear
    chance = people * np.kron(np.diag(p) - np.outer(p, p), np.diag(q) - np.outer(q, q))
    made = noise.variance * linear @ linear.T
    mean = np.trace(made) + np.trace(chance)
    variance = (
        2 * np.trace(made @ made)
        + noise.fourth * (np.diag(form) ** 2).sum()
        + 2 * np.trace(chance @ chance)
        + 4 * np.trace(made @ chance)
    )
    assert expected(p, q, people, noise) == pytest.approx((mean, variance), rel=1e-10)


def independent(rng: np.random.Generator, rows: int, values: int, people: int, scale: float) -> np.ndarray:
    p, q = rng.dirichlet(np.full(rows, 3.0)), rng.dirichlet(np.full(values, 3.0))
    counts = rng.multinomial(people, np.outer(p, q).ravel()).reshape(rows, values)
    return counts + rng.laplace(scale=scale, size=counts.shape) if scale else counts.astype(float)


@pytest.mark.parametrize(
    ("rows", "values", "people", "scale"),
    [
        (16, 14, 60_000, 500.0),
        (2, 2, 2000, 20.0),
        (2, 14, 3000, 50.0),
        (8, 5, 2000, 0.0),
        (60, 10, 500, 100.0),
        (60, 10, 11_000, 100.0),
    ],
)
def test_noise_and_chance_are_seldom_admitted(rows: int, values: int, people: int, scale: float) -> None:
    """Of 400 tables without any dependence at most 24 are taken for one: 6 %. Where people are fewer than noise, none is."""
    rng = np.random.default_rng(7)
    declared = schema((rows,), values).bind({})
    how: tuple[Any, ...] = ("laplace", scale, 1 / scale) if scale else ("none", 0.0, None)
    found = []
    for _ in range(400):
        counts = independent(rng, rows, values, people, scale)
        found.append(departures(NoisyCounts(declared, "s", (counts,), *how, 1, "add-remove"))[("q0",)])
    assert np.mean(np.array(found) > MIN_DEPARTURE) <= 0.06
    if people == 500:
        assert np.mean(np.isinf(found)) > 0.99
    else:
        told = np.array(found)[np.isfinite(found)]
        assert len(told) > 200
        assert abs(told.mean()) < 1


def schema(sizes: tuple[int, ...], values: int) -> dl.Schema:
    columns = [dl.Column(f"q{a}", "quasi", domain=dl.Domain(tuple(map(str, range(n))))) for a, n in enumerate(sizes)]
    return dl.Schema([*columns, dl.Column("s", "sensitive", domain=dl.Domain(tuple(map(str, range(values)))))])


def people_of(n: int, seed: int) -> dl.Table:
    """q0 follows the value closely, q1 a little, q2 not at all, and x (0 to 30) closely too."""
    rng = np.random.default_rng(seed)
    s = rng.integers(3, size=n)
    columns = {
        "q0": np.where(rng.random(n) < 0.7, s, rng.integers(3, size=n)),
        "q1": np.where(rng.random(n) < 0.3, s, rng.integers(4, size=n)),
        "q2": rng.integers(5, size=n),
        "x": np.clip(np.rint(rng.normal(8 + 6 * s, 3)), 0, 30).astype(int),
        "y": np.clip(np.rint(rng.normal(15, 4, size=n)), 0, 30).astype(int),
        "s": s,
    }
    base = schema((3, 4, 5), 3)
    numbers = [dl.Column(name, "quasi", "integer", dl.Domain(tuple(map(str, range(31))))) for name in ("x", "y")]
    declared = dl.Schema([*base.quasi, *numbers, base["s"]])
    return dl.Table({name: [str(int(one)) for one in column] for name, column in columns.items()}, declared)


def chosen(release: NoisyCounts) -> list[list[str]]:
    targets = Targets(release.schema, np.zeros((1, len(release.schema.quasi)), dtype=np.int32))
    found: list[list[str]] = make_adversary("naive-bayes-greedy").attack(release, targets).diagnostics["chosen"]
    return found


def test_what_is_chosen() -> None:
    """Little noise: what tells something, the most telling first. Noise as large as the table: nothing."""
    table = people_of(4000, 1)
    gaussian = {"x": (0, 30), "y": (0, 30)}
    quiet = Simulation(50.0, gaussian=gaussian).draw(table, 1)
    found = chosen(quiet)
    assert sorted(found[:2]) == [["q0"], ["x"]]
    assert {names[0] for names in found} == {"q0", "q1", "x"}
    departed = departures(quiet)
    assert departed[("q2",)] < MIN_DEPARTURE
    assert departed[("y",)] < MIN_DEPARTURE
    loud = Simulation(0.0005, gaussian=gaussian).draw(table, 1)
    assert chosen(loud) == []
    # Whoever trusts no table has the shares of values only.
    targets = Targets(loud.schema, np.zeros((1, 5), dtype=np.int32))
    assert make_adversary("naive-bayes-greedy").attack(loud, targets).posterior[0] == pytest.approx(shares(loud))


def test_noise_of_gaussian_columns_is_seldom_admitted() -> None:
    """y is the same for everybody: of 100 draws at each ε at most 6 take it for telling; x is found wherever it can be."""
    table = people_of(1500, 2)
    for epsilon in (0.02, 1.0, 30.0):
        simulation = Simulation(epsilon, gaussian={"x": (0, 30), "y": (0, 30)})
        found = [departures(simulation.draw(table, seed)) for seed in range(100)]
        assert sum(one[("y",)] > MIN_DEPARTURE for one in found) <= 6
        assert (sum(one[("x",)] > MIN_DEPARTURE for one in found) == 100) == (epsilon >= 1)


def test_only_the_release_is_looked_at() -> None:
    """The same counts that say they have much more noise: nothing is believed of them."""
    release = Simulation(5.0).draw(people_of(500, 3), 1)
    louder = NoisyCounts(release.schema, "s", release.noisy, "geometric", 1000 * release.scale, 0.005, 5, "add-remove")
    assert chosen(release) != []
    assert chosen(louder) == []


def test_expected_accuracy_and_the_order_by_enumeration() -> None:
    """Greedy as written: all combinations of values, one after the other."""
    rng = np.random.default_rng(4)
    prior = rng.dirichlet(np.ones(3))
    given = {(f"q{a}",): rng.dirichlet(np.full(n, 0.7), size=3).T for a, n in enumerate((2, 3, 4))}
    given[("same",)] = np.full((5, 3), 0.2)

    def accuracy(names: tuple[tuple[str, ...], ...]) -> float:
        return math.fsum(
            max(prior[s] * math.prod(given[name][v, s] for name, v in zip(names, rows, strict=True)) for s in range(3))
            for rows in itertools.product(*(range(len(given[name])) for name in names))
        )

    order: list[tuple[str, ...]] = []
    while True:
        gains = {name: accuracy((*order, name)) - accuracy(tuple(order)) for name in given if name not in order}
        best = max(gains, key=lambda name: gains[name])
        if gains[best] < 1e-9:
            break
        order.append(best)
    assert 0 < len(order) < 4
    assert choose_tables(prior, given, dict.fromkeys(given, 5.0)) == order
    weights = prior[None, :] * given[("q0",)]
    assert expected_accuracy(weights, given[("q1",)]) == pytest.approx(accuracy((("q0",), ("q1",))), abs=1e-12)


def test_more_combinations_than_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then by departure, the largest first."""
    rng = np.random.default_rng(5)
    given = {(f"q{a}",): rng.dirichlet(np.ones(4), size=2).T for a in range(4)}
    departed = {("q0",): 4.0, ("q1",): 9.0, ("q2",): 5.0, ("q3",): 7.0}
    monkeypatch.setattr("dalenius.adversaries.naive_bayes_greedy.MAX_COMBINATIONS", 8)
    found = choose_tables(np.array([0.5, 0.5]), given, departed)
    assert len(found) == 4
    rest = found[1:]
    assert rest == sorted(rest, key=lambda name: -departed[name])


def test_the_chosen_tables_are_the_classifier() -> None:
    release = Simulation(3.0).draw(people_of(800, 6), 2)
    mine = chosen(release)
    assert 0 < len(mine) < 5
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(len(c.leaves), size=40) for c in release.schema.quasi]).astype(np.int32)
    found = make_adversary("naive-bayes-greedy").attack(release, Targets(release.schema, codes)).posterior
    weights = np.tile(shares(release), (40, 1))
    quasi = [column.name for column in release.schema.quasi]
    for (name,) in mine:
        weights *= conditionals(release)[(name,)][codes[:, quasi.index(name)]]
    assert np.abs(found - weights / weights.sum(axis=1, keepdims=True)).max() < 1e-12
