"""Lemma 12, Theorems 16 and 18 of Ganta, Kasiviswanathan and Smith, tried on hundreds of exact small mechanisms."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import pytest

from dalenius.measures.mechanisms import (
    Mechanism,
    noisy_count,
    one_random_record,
    product,
    randomized_response,
    tabulate,
)
from dalenius.measures.semantic import (
    compose,
    database_deltas,
    dp_delta,
    dp_level,
    semantic_bound,
    semantic_level,
    statistical_differences,
    worst_case,
)
from tests.measures.small_mechanisms import SHAPES, parity, random_mechanism


def leaking(rng: np.random.Generator, base: Mechanism, leak: float) -> Mechanism:
    """The base, but with probability about `leak` a transcript of its own that tells the database well."""
    count = len(base.probabilities)
    chance = leak * rng.uniform(0, 1, size=(count, 1))
    told = rng.dirichlet(np.full(3, 0.2), size=count)
    table = np.hstack([(1 - chance) * base.probabilities, chance * told])
    return Mechanism(base.domain, base.people, (*base.outputs, "x", "y", "z"), table / table.sum(axis=1, keepdims=True))


def random_prior(rng: np.random.Generator, count: int) -> np.ndarray:
    """Flat, peaked, or on two databases."""
    if rng.random() < 0.4:
        prior = np.zeros(count)
        weight = rng.random()
        prior[rng.choice(count, 2, replace=False)] = weight, 1 - weight
        return prior
    prior = rng.gamma(rng.choice([0.1, 0.5, 2.0]), size=count) + 1e-12
    return prior / prior.sum()


# --- Lemma 12 --------------------------------------------------------------------------------------------------------


def test_budgets_of_products_never_exceed_the_sum() -> None:
    rng = np.random.default_rng(0)
    strict = tight = 0
    for trial in range(200):
        values, people, _ = SHAPES[trial % len(SHAPES)]
        zeros = 0.15 if trial % 2 else 0.0
        parts = [
            random_mechanism(rng, values, people, int(rng.integers(2, 5)), zeros=zeros) for _ in range(2 + trial % 2)
        ]
        both = product(*parts)
        assert dp_level(both) <= sum(map(dp_level, parts)) + 1e-9
        budgets = [(epsilon, dp_delta(part, epsilon)) for part in parts for epsilon in (rng.uniform(0, 1.5),)]
        epsilon, delta = compose(budgets)
        found = dp_delta(both, epsilon)
        assert found <= delta + 1e-12
        strict += 1e-6 < found < delta - 1e-6
        # a function of the results, with coins of its own, can only forget
        coins = rng.dirichlet(np.full(3, 0.5), size=len(both.outputs))
        function = Mechanism(both.domain, both.people, (0, 1, 2), both.probabilities @ coins)
        assert dp_delta(function, epsilon) <= found + 1e-12
        # the same release twice has twice the level: the sum is reached
        twice = dp_level(product(parts[0], parts[0]))
        assert twice == pytest.approx(2 * dp_level(parts[0]))
        tight += math.isfinite(twice)
    assert strict > 50
    assert tight > 90


def test_two_releases_move_conclusions_more_than_one() -> None:
    one = parity(2, 0.5)
    assert semantic_level(product(one, one)) == pytest.approx(math.tanh(0.5))
    assert semantic_level(product(one, randomized_response((0, 1), 2, 0.5))) < math.tanh(0.5)


# --- Theorem 16 ------------------------------------------------------------------------------------------------------


def bases(rng: np.random.Generator, trial: int) -> Mechanism:
    epsilon = rng.uniform(0.01, 0.2)
    if trial % 4 == 0:
        return randomized_response("ab", 3, epsilon)
    if trial % 4 == 1:
        return noisy_count("ab", 3, epsilon, lambda record: record == "b")
    if trial % 4 == 2:
        return parity(3, epsilon)
    return random_mechanism(rng, 3, 2, 5, spread=0.03)


def test_theorem_16_is_never_violated() -> None:
    """Half of δ' is what the proof beside `semantic_bound` has, so that is what is tried."""
    rng = np.random.default_rng(1)
    said = failed = 0
    of_delta = 0.0
    for trial in range(400):
        mechanism = leaking(rng, bases(rng, trial), 10 ** rng.uniform(-6, -2.5))
        for epsilon in (0.02, 0.05, 0.1, 0.2):
            delta = min(1.0, dp_delta(mechanism, epsilon))
            promise = semantic_bound(epsilon, delta, mechanism.people).theorem_16
            if promise.vacuous or delta == 0:
                continue
            said += 1
            for _ in range(2):
                found = statistical_differences(mechanism, random_prior(rng, len(mechanism.probabilities)))
                failure = found.exceeding(promise.level)
                assert failure <= promise.failure / 2 + 1e-12
                failed += failure > 1e-9
                of_delta = max(of_delta, failure / delta)
    assert said > 500
    assert failed > 300  # δ' is needed: ε' alone does not hold
    assert of_delta > 0.9  # nor with a δ' much below δ


@pytest.mark.parametrize("delta", [1e-3, 1e-4, 1e-6, 1e-8])
def test_the_root_of_delta_is_no_slack_of_the_proof(delta: float) -> None:
    """Seldom, with probability about √δ/5, a release tells a parity with a bias y just above ε' (ε = √δ)."""
    epsilon = math.sqrt(delta)
    bias = 1.01 * (math.expm1(3 * epsilon) + 2 * math.sqrt(delta))
    seldom = delta / (0.5 * (1 + bias) - 0.5 * math.exp(epsilon) * (1 - bias))
    mechanism = tabulate(
        (0, 1),
        2,
        lambda d: {"none": 1 - seldom, **{t: seldom * (1 + (-1) ** (d.count(1) + t) * bias) / 2 for t in (0, 1)}},
    )
    assert dp_delta(mechanism, epsilon) == pytest.approx(delta)
    promise = semantic_bound(epsilon, delta, 2).theorem_16
    failure = statistical_differences(mechanism, [0, 0, 0.5, 0.5]).exceeding(promise.level)
    assert failure == pytest.approx(seldom)
    assert 0.15 * math.sqrt(delta) < failure <= promise.failure / 2


def test_proposition_15_needs_no_failure() -> None:
    rng = np.random.default_rng(2)
    for trial in range(100):
        mechanism = bases(rng, trial)
        bound = semantic_bound(dp_level(mechanism), people=mechanism.people)
        assert bound.proposition_15 is not None
        assert bound.worst_case is not None
        found = statistical_differences(mechanism, random_prior(rng, len(mechanism.probabilities)))
        assert found.exceeding(bound.worst_case.level) == found.exceeding(bound.proposition_15.level) == 0
        worst = worst_case(mechanism)
        assert worst.prior is not None
        found = statistical_differences(mechanism, worst.prior)
        assert found.exceeding(0.99 * worst.level) > 0
        assert found.exceeding(worst.level) == 0  # reached, and no rounding above


# --- the sanitizer that total variation would pass -------------------------------------------------------------------


@pytest.mark.parametrize("people", [1, 2, 5, 10])
def test_publishing_one_random_record_is_close_in_variation_and_not_private(people: int) -> None:
    mechanism = one_random_record("ab", people)
    assert dp_delta(mechanism, 0.0) == pytest.approx(1 / people)
    assert dp_delta(mechanism, 50.0) == pytest.approx(1 / people)  # no ε helps
    assert dp_level(mechanism) == math.inf
    assert semantic_level(mechanism) == 1
    assert semantic_bound(0.1, 1 / people, people).theorem_16.vacuous  # n√(1/n) ≥ 1
    found = statistical_differences(mechanism, np.full(2**people, 2.0**-people))
    assert found.exceeding(0.49) == pytest.approx(1)  # whoever is drawn is known
    assert found.exceeding(0.5) == pytest.approx(0.5)  # record b: no default record could have caused it


# --- Theorem 18 ------------------------------------------------------------------------------------------------------


def all_sick(database: tuple[Hashable, ...]) -> dict[Hashable, float]:
    """A noisy count of four people, but for the one database in which all are sick: that is published."""
    if all(record == "sick" for record in database):
        return {"all": 1.0}
    truth, ratio = sum(record == "sick" for record in database), math.exp(-0.1)
    weights: dict[Hashable, float] = {t: ratio ** abs(t - truth) for t in range(-30, 35)}
    total = sum(weights.values())
    return {t: weight / total for t, weight in weights.items()}


def test_theorem_18_where_only_most_databases_are_indistinguishable() -> None:
    mechanism = tabulate(("well", "sick"), 4, all_sick)
    epsilon, delta = 0.12, 1e-3
    assert dp_delta(mechanism, epsilon) == 1  # so that Theorem 16 says nothing
    good = database_deltas(mechanism, epsilon) <= delta
    sick = np.array([database.count("sick") for database in mechanism.databases()])
    assert (good == (sick < 3)).all()  # the one database and its neighbours are not in E
    promise = semantic_bound(epsilon, delta, 4).theorem_16
    assert not promise.vacuous
    rng = np.random.default_rng(3)
    largest = 0.0
    for _ in range(300):
        prior = rng.gamma(0.5, size=16)
        prior[good] *= (1 - delta) / prior[good].sum()
        prior[~good] *= delta / prior[~good].sum()
        failure = statistical_differences(mechanism, prior).exceeding(promise.level)
        assert failure <= promise.failure
        largest = max(largest, failure)
    assert 0.5 * delta < largest
    # a prior that takes the bad databases for likely has no such promise
    likely = np.where(sick >= 3, 0.2, 0.0)
    assert statistical_differences(mechanism, likely / likely.sum()).exceeding(promise.level) > promise.failure
