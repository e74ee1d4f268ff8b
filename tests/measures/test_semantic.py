"""Semantic privacy against loops over every database, set and game, and against a search over priors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable

import numpy as np
import pytest
from scipy.optimize import minimize

from dalenius.errors import InputError, ParameterError
from dalenius.measures.mechanisms import Mechanism, constant, noisy_count, product, randomized_response
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
from tests.measures import plain_semantic as plain
from tests.measures.small_mechanisms import SHAPES, as_table, parity, random_mechanism

# --- budgets ---------------------------------------------------------------------------------------------------------


def test_budgets_add() -> None:
    assert compose([(0.5, 1e-6), (0.25, 0.0), (1, 2e-6)]) == (1.75, pytest.approx(3e-6))
    assert compose([]) == (0.0, 0.0)
    assert compose([(0.1, 0.0)] * 10) == (1.0, 0.0)
    assert compose([(1.0, 0.7), (1.0, 0.7)]) == (2.0, 1.0)
    assert compose([(math.inf, 0.0), (1.0, 0.0)]) == (math.inf, 0.0)
    for bad in (0.5, (0.5,), (0.5, 0.0, 1.0)):
        with pytest.raises(ParameterError, match=r"'budgets' parameter of compose must be pairs \(epsilon, delta\)"):
            compose([bad])  # type: ignore[list-item]


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, "1", True, None])
def test_bad_epsilon_is_refused(epsilon: object) -> None:
    for refuse in (
        lambda e: compose([(1.0, 0.0), (e, 0.0)]),
        semantic_bound,
        lambda e: randomized_response("ab", 1, e),
        lambda e: noisy_count("ab", 1, e, bool),
        lambda e: dp_delta(constant("ab", 1), e),
    ):
        with pytest.raises(ParameterError, match=r"The 'epsilon' parameter of .* must be a number ≥ 0"):
            refuse(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, math.nan, 1.0001, math.inf, "0"])
def test_bad_delta_is_refused(delta: object) -> None:
    for refuse in (lambda d: compose([(1.0, d)]), lambda d: semantic_bound(1.0, d)):
        with pytest.raises(ParameterError, match=r"The 'delta' parameter of .* must be a number from 0 to 1"):
            refuse(delta)


def test_the_three_bounds_beside_each_other() -> None:
    bound = semantic_bound(0.2)
    assert bound.proposition_15 is not None
    assert bound.worst_case is not None
    assert bound.proposition_15.level == pytest.approx(0.2214027581601699)
    assert bound.theorem_16.level == pytest.approx(0.8221188003905089)
    assert bound.worst_case.level == pytest.approx(0.09966799462495582)
    assert bound.theorem_16.failure == 0
    assert not bound.theorem_16.vacuous
    for epsilon in np.linspace(0, 5, 51).tolist():
        bound = semantic_bound(epsilon)
        assert bound.worst_case is not None
        assert bound.proposition_15 is not None
        assert bound.worst_case.level <= bound.proposition_15.level <= bound.theorem_16.level
        assert not bound.worst_case.vacuous
        assert bound.proposition_15.vacuous == (epsilon >= math.log(2))
        assert bound.theorem_16.vacuous == (epsilon >= math.log(2) / 3)


def test_theorem_16_by_hand_and_where_it_is_vacuous() -> None:
    bound = semantic_bound(0.1, 1e-6, 20)
    assert bound.proposition_15 is None
    assert bound.worst_case is None
    assert bound.theorem_16.level == pytest.approx(0.3498588075760032 + 0.002)
    assert bound.theorem_16.failure == pytest.approx(20 * (0.001 + 2e-6 / (0.1 * 1.1051709180756477)))
    assert not bound.theorem_16.vacuous
    many = semantic_bound(0.1, 1e-6, 2000).theorem_16
    assert (many.failure, many.vacuous) == (1.0, True)
    assert semantic_bound(0.0, 1e-9).theorem_16.vacuous
    assert semantic_bound(1e5, 1e-9).theorem_16.level == math.inf
    assert semantic_bound(math.inf, 1e-9).theorem_16.vacuous
    with pytest.raises(ParameterError, match="'people' parameter of semantic_bound must be an int ≥ 1"):
        semantic_bound(1.0, people=0)


# --- mechanisms ------------------------------------------------------------------------------------------------------


def test_a_table_that_is_no_mechanism_is_refused() -> None:
    with pytest.raises(InputError, match=r"database \('b',\) sums to 0\.9 \(-0\.1\)"):
        Mechanism(("a", "b"), 1, (0, 1), np.array([[0.5, 0.5], [0.5, 0.4]]))
    with pytest.raises(InputError, match=r"database \('a',\) has one below 0"):
        Mechanism(("a", "b"), 1, (0, 1), np.array([[1.5, -0.5], [0.5, 0.5]]))
    with pytest.raises(InputError, match="shape"):
        Mechanism(("a", "b"), 2, (0, 1), np.array([[0.5, 0.5], [0.5, 0.5]]))
    with pytest.raises(InputError, match="an output twice"):
        Mechanism(("a", "b"), 1, (0, 0), np.full((2, 2), 0.5))
    with pytest.raises(ParameterError, match="'domain'"):
        constant("aa", 1)
    with pytest.raises(ParameterError, match=r"'people' .* at most 4,096 databases"):
        constant("ab", 13)
    assert len(constant("ab", 12).probabilities) == 4096
    with pytest.raises(InputError, match="larger than 2,000,000 cells"):
        randomized_response("ab", 12, 1.0)
    with pytest.raises(InputError, match="same domain"):
        product(constant("ab", 1), constant("ab", 2))
    with pytest.raises(ParameterError, match="'default'"):
        semantic_level(constant("ab", 1), default="c")
    with pytest.raises(ParameterError, match="'high'"):
        noisy_count("ab", 2, 1.0, bool, low=3)


def test_the_table_is_its_own_copy() -> None:
    table = np.full((2, 2), 0.5)
    mechanism = Mechanism(("a", "b"), 1, (0, 1), table)
    table[0] = 7.0
    assert mechanism.probabilities[0].tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        mechanism.probabilities[0] = 1.0


def test_randomized_response_record_by_record() -> None:
    table = as_table(randomized_response("abc", 2, 0.7))
    for database, row in table.items():
        for output, probability in row.items():
            wrong = sum(x != y for x, y in zip(database, output, strict=True))  # type: ignore[arg-type]
            assert probability == pytest.approx(math.exp(0.7) ** (2 - wrong) / (math.exp(0.7) + 2) ** 2)


@pytest.mark.parametrize(("low", "high"), [(0, 3), (-2, 6), (1, 2)])
def test_noisy_count_has_the_tails_at_its_ends(low: int, high: int) -> None:
    mechanism = noisy_count("ab", 3, 0.4, lambda record: record == "b", low=low, high=high)
    noise = {z: math.exp(-0.4 * abs(z)) for z in range(-200, 201)}
    total = sum(noise.values())
    for database, row in as_table(mechanism).items():
        expected = dict.fromkeys(range(low, high + 1), 0.0)
        for z, weight in noise.items():
            expected[min(max(database.count("b") + z, low), high)] += weight / total
        assert row == pytest.approx(expected)


def test_products_are_independent_releases() -> None:
    rng = np.random.default_rng(1)
    parts = [random_mechanism(rng, 2, 2, outputs) for outputs in (2, 3, 2)]
    tables = [as_table(part) for part in parts]
    for database, row in as_table(product(*parts)).items():
        assert len(row) == 12
        for output, probability in row.items():
            assert probability == pytest.approx(
                math.prod(table[database][t] for table, t in zip(tables, output, strict=True))  # type: ignore[call-overload]
            )


# --- levels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("zeros", [0.0, 0.2])
def test_levels_as_the_definitions_read(shape: tuple[int, int, int], zeros: float) -> None:
    rng = np.random.default_rng(sum(shape))
    infinite = 0
    for _ in range(6):
        mechanism = random_mechanism(rng, *shape, zeros=zeros)
        table = as_table(mechanism)
        assert dp_level(mechanism) == pytest.approx(plain.level(table), rel=1e-9)
        infinite += math.isinf(dp_level(mechanism))
        for epsilon in (0.0, 0.3, 2.0):
            assert dp_delta(mechanism, epsilon) == pytest.approx(plain.delta(table, epsilon), abs=1e-12)
    assert (infinite > 0) == (zeros > 0)


def test_levels_of_known_mechanisms() -> None:
    assert dp_level(constant("abc", 2)) == 0
    assert semantic_level(constant("abc", 2)) == 0
    unused = Mechanism(("a", "b"), 1, (0, 1), np.array([[0.0, 1.0], [0.0, 1.0]]))  # an output that never comes
    assert worst_case(unused).output == 1
    assert (dp_level(unused), dp_delta(unused, 0.0), semantic_level(unused)) == (0, 0, 0)
    assert (dp_level(constant("a", 99)), semantic_level(constant("a", 99))) == (0, 0)  # nobody has another record
    for epsilon in (0.0, 0.1, 1.0, 4.0):
        assert dp_level(randomized_response("abc", 2, epsilon)) == pytest.approx(epsilon, abs=1e-12)
        assert dp_level(noisy_count("ab", 3, epsilon, lambda record: record == "b")) == pytest.approx(
            epsilon, abs=1e-12
        )
    known = randomized_response("ab", 2, 1.0)
    assert dp_delta(known, 1.0) == pytest.approx(0, abs=1e-15)
    assert dp_delta(known, math.inf) == 0
    assert dp_delta(known, 0.0) == pytest.approx(math.tanh(0.5))  # total variation
    assert dp_delta(randomized_response("ab", 1, math.inf), 5000.0) == 1


def test_each_database_has_its_own_delta() -> None:
    rng = np.random.default_rng(5)
    mechanism = random_mechanism(rng, 3, 2, 3)
    table = as_table(mechanism)
    for database, found in zip(table, database_deltas(mechanism, 0.4), strict=True):
        close = [d for d in table if sum(x != y for x, y in zip(d, database, strict=True)) == 1]
        alone = max(plain.delta({a: table[a] for a in (database, d)}, 0.4) for d in close)
        assert found == pytest.approx(alone, abs=1e-12)


# --- semantic privacy ------------------------------------------------------------------------------------------------


def searched_level(mechanism: Mechanism, default: Hashable, rng: np.random.Generator) -> tuple[float, float]:
    """The largest SD found with priors on two databases (all pairs, weights on a grid), and with any priors at all."""
    table = as_table(mechanism)
    databases = list(table)
    grid = 1 / (1 + np.exp(-np.linspace(-25, 25, 2001)))
    of_two, of_many = 0.0, 0.0
    for t, i in itertools.product(mechanism.outputs, range(mechanism.people)):
        p = np.array([table[d][t] for d in databases])
        q = np.array([table[plain.removed(d, i, default)][t] for d in databases])
        for a, b in itertools.combinations(range(len(databases)), 2):
            real, other = grid * p[a] + (1 - grid) * p[b], grid * q[a] + (1 - grid) * q[b]
            both = (real > 0) & (other > 0)
            if both.any():
                sd = np.abs(grid[both] * p[a] / real[both] - grid[both] * q[a] / other[both])
                of_two = max(of_two, float(sd.max()))

        def lost(logits: np.ndarray, p: np.ndarray = p, q: np.ndarray = q) -> float:
            b = np.exp(logits - logits.max())
            return -0.5 * float(np.abs(b * p / (b @ p) - b * q / (b @ q)).sum())

        if (p > 0).all() and (q > 0).all():
            for _ in range(2):
                start = rng.normal(scale=2, size=len(databases))
                of_many = max(of_many, -lost(start), -minimize(lost, start, method="Nelder-Mead").fun)
    return of_two, of_many


@pytest.mark.parametrize("seed", range(6))
def test_the_closed_form_is_the_best_of_all_priors(seed: int) -> None:
    """Two points are enough: SD = ½E|ρ/Eρ − 1| is convex in ρ, so moving mass to the ends of ρ with Eρ kept only adds."""
    rng = np.random.default_rng(seed)
    mechanism = random_mechanism(rng, *SHAPES[seed % 3], spread=0.6)
    default = mechanism.domain[seed % 2]
    of_two, of_many = searched_level(mechanism, default, rng)
    level = semantic_level(mechanism, default=default)
    assert of_two == pytest.approx(level, rel=1e-3)
    assert of_two <= level + 1e-12
    assert 0.97 * level < of_many <= level + 1e-12  # the search is rough, from below


@pytest.mark.parametrize("seed", range(8))
def test_with_zeros_the_search_comes_as_near_to_1_as_the_grid(seed: int) -> None:
    """Both posteriors exist in the search: where supports differ, some default record needs no rule for zeros."""
    rng = np.random.default_rng(seed)
    mechanism = random_mechanism(rng, *SHAPES[seed % 4], zeros=0.2)
    while math.isfinite(dp_level(mechanism)):
        assert semantic_level(mechanism) < 1
        mechanism = random_mechanism(rng, *SHAPES[seed % 4], zeros=0.2)
    for default in mechanism.domain:
        assert semantic_level(mechanism, default=default) == 1
        worst = worst_case(mechanism, default=default)
        assert worst.prior is None
        pairs = [
            (table[d][worst.output], table[plain.removed(d, worst.person, default)][worst.output])
            for table in (as_table(mechanism),)
            for d in worst.databases
        ]
        assert all(p + q > 0 for p, q in pairs)
        assert any(p * q == 0 for p, q in pairs)
    assert max(searched_level(mechanism, default, rng)[0] for default in mechanism.domain) > 1 - 1e-9


def test_the_worst_case_is_attained_where_it_says() -> None:
    rng = np.random.default_rng(7)
    for trial in range(60):
        mechanism = random_mechanism(rng, *SHAPES[trial % len(SHAPES)])
        default = mechanism.domain[-1]
        worst = worst_case(mechanism, default=default)
        assert worst.prior is not None
        assert worst.prior.sum() == pytest.approx(1)
        prior = dict(zip(mechanism.databases(), worst.prior.tolist(), strict=True))
        assert {d for d, b in prior.items() if b > 0} == set(worst.databases)
        found = plain.distance(as_table(mechanism), prior, worst.output, worst.person, default)
        assert found == pytest.approx(worst.level, rel=1e-9)
        for prior_at_random in rng.dirichlet(np.full(len(prior), rng.choice([0.1, 1.0])), size=20):
            others = statistical_differences(mechanism, prior_at_random, default=default)
            assert np.nanmax(others.distances) <= worst.level + 1e-12


def test_the_level_lies_between_a_quarter_and_half_of_epsilon() -> None:
    rng = np.random.default_rng(8)
    inside = 0
    for trial in range(300):
        values, people, outputs = SHAPES[trial % len(SHAPES)]
        mechanism = random_mechanism(rng, values, people, outputs, spread=rng.uniform(0.05, 2))
        epsilon = dp_level(mechanism)
        level = semantic_level(mechanism)
        bound = semantic_bound(epsilon, people=people)
        assert bound.proposition_15 is not None
        assert bound.worst_case is not None
        assert math.tanh(epsilon / 4) - 1e-12 <= level <= bound.worst_case.level + 1e-12
        assert bound.worst_case.level <= bound.proposition_15.level
        if people == 1:
            assert level == pytest.approx(math.tanh(epsilon / 4))
        inside += math.tanh(epsilon / 4) + 1e-6 < level < bound.worst_case.level - 1e-6
    assert inside > 50


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_parity_and_counts_attain_the_bound_and_randomized_response_does_not(epsilon: float) -> None:
    assert semantic_level(parity(2, epsilon)) == pytest.approx(math.tanh(epsilon / 2))
    assert semantic_level(noisy_count((0, 1), 3, epsilon, bool)) == pytest.approx(math.tanh(epsilon / 2))
    assert semantic_level(randomized_response("abc", 2, epsilon)) == pytest.approx(math.tanh(epsilon / 4))
    assert semantic_level(parity(1, epsilon)) == pytest.approx(math.tanh(epsilon / 4))


def test_the_default_record_matters() -> None:
    rng = np.random.default_rng(9)
    mechanism = random_mechanism(rng, 3, 2, 3)
    levels = [semantic_level(mechanism, default=value) for value in "abc"]
    assert semantic_level(mechanism) == levels[0]
    missing = Mechanism(("a", None, "c"), 2, mechanism.outputs, mechanism.probabilities)
    assert semantic_level(missing) == levels[1]
    assert max(levels) - min(levels) > 0.01


@pytest.mark.parametrize("zeros", [0.0, 0.25])
@pytest.mark.parametrize("shape", SHAPES[:4])
def test_posteriors_and_distances_as_the_definitions_read(shape: tuple[int, int, int], zeros: float) -> None:
    rng = np.random.default_rng(sum(shape))
    unseen = alone = 0
    for _ in range(8):
        mechanism = random_mechanism(rng, *shape, zeros=zeros)
        table = as_table(mechanism)
        b = rng.dirichlet(np.ones(len(table)) * 0.3)
        b[rng.random(len(b)) < 2 * zeros] = 0
        b = b / b.sum() if b.sum() > 0 else np.full(len(b), 1 / len(b))
        prior = dict(zip(table, b.tolist(), strict=True))
        found = statistical_differences(mechanism, b, default="b")
        for column, t in enumerate(mechanism.outputs):
            for game in range(mechanism.people + 1):
                who = None if game == 0 else game - 1
                expected = plain.posterior(table, prior, t, who, "b")
                if expected is None:
                    assert np.isnan(found.posteriors[game, :, column]).all()
                else:
                    assert found.posteriors[game, :, column] == pytest.approx(list(expected.values()))  # type: ignore[attr-defined]
            for i in range(mechanism.people):
                sd = plain.distance(table, prior, t, i, "b")
                if sd is None:
                    unseen += 1
                    assert math.isnan(found.distances[i, column])
                else:
                    alone += plain.posterior(table, prior, t, i, "b") is None
                    assert found.distances[i, column] == pytest.approx(sd, abs=1e-12)
        for bound in (0.0, 0.1, 0.4, 0.999):
            expected_share = plain.exceeding(table, prior, bound + 1e-12, mechanism.people, "b")
            assert found.exceeding(bound) == pytest.approx(expected_share, abs=1e-12)
    if zeros:
        assert unseen + alone > 0


def test_a_transcript_that_only_the_record_can_cause_counts_as_1() -> None:
    """A(a) never says 1 and a is the default: in the person's game the transcript 1 has no posterior."""
    mechanism = Mechanism(("a", "b"), 1, (0, 1), np.array([[1.0, 0.0], [0.5, 0.5]]))
    found = statistical_differences(mechanism, [0.5, 0.5])
    assert np.isnan(found.posteriors[1, :, 1]).all()
    assert found.distances[0].tolist() == [pytest.approx(1 / 6), 1.0]
    assert found.exceeding(0.9) == pytest.approx(0.25)
    assert semantic_level(mechanism) == 1
    assert np.isnan(statistical_differences(mechanism, [1.0, 0.0]).distances[0, 1])
    assert semantic_level(mechanism, default="b") == 1  # here by ρ = 0 beside ρ = 1


def test_a_database_that_neither_game_has_is_no_witness() -> None:
    """Only (a, b) says 0. For the first person ρ is 1 there, 0 at (b, b), and without meaning at (a, a) and (b, a)."""
    mechanism = Mechanism(("a", "b"), 2, (0, 1), np.array([[0.0, 1.0], [0.5, 0.5], [0.0, 1.0], [0.0, 1.0]]))
    worst = worst_case(mechanism)
    assert (worst.level, worst.output, worst.person) == (1, 0, 0)
    assert worst.databases == (("b", "b"), ("a", "b"))


@pytest.mark.parametrize("prior", [[0.5, 0.4], [1.5, -0.5], [1.0], [math.nan, 1.0]])
def test_a_prior_that_is_none_is_refused(prior: list[float]) -> None:
    with pytest.raises(InputError, match="prior"):
        statistical_differences(constant("ab", 1), prior)
