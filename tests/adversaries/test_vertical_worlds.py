"""The oracle of anatomized releases against what can be worked out by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from benchmarks import plain_metropolis

from dalenius.adversaries.models.diagnostics import mcse
from tests.adversaries.vertical_worlds import Vertical, beliefs, joint, marginals, random_release, said_of, weighed

ONE, HALF = Fraction(1), Fraction(1, 2)
EVEN = (ONE, ONE)


def test_two_rows_of_two_values() -> None:
    """Nothing tells the two worlds apart, whatever the priors."""
    release = Vertical(((((0,), (1,)), (0, 1)),), (Fraction(3), HALF), ((Fraction(1, 4), Fraction(2)),))
    assert release.worlds == 2
    assert marginals(release) == [[[HALF, HALF], [HALF, HALF]]]
    learner, attacker = joint(release, [(0,), (None,)], [Fraction(0)])
    assert attacker == [[HALF, HALF], [ONE, ONE]]
    # (3 + 1)/(7/2 + 2) · (1/4 + 1/2)/(9/4 + 1), half of the worlds having the leaf seen with the value.
    assert learner[0] == [Fraction(8, 11) * Fraction(3, 13), Fraction(3, 11) * Fraction(3, 13)]
    assert learner[1] == [Fraction(8, 11), Fraction(3, 11)]


def test_a_group_that_tells_about_another() -> None:
    """A person with leaf 0 and value 0 is known. World A: leaf 0 goes with value 0 again, 1/2 · 2/3 · 1/2 = 1/6. World B: 1/12."""
    release = Vertical(((((0,),), (0,)), (((0,), (1,)), (0, 1))), EVEN, (EVEN,))
    assert dict(weighed(release)) == {(0, 0, 1): Fraction(1, 6), (0, 1, 0): Fraction(1, 12)}
    a, b = Fraction(2, 3), Fraction(1, 3)
    assert marginals(release) == [[[1, 0]], [[a, b], [b, a]]]
    learner, attacker = joint(release, [(0,), (None,)], [Fraction(0)])
    assert attacker == [[1 + a, b], [2, 1]]
    assert learner[0] == [
        Fraction(3, 5) * (a * Fraction(3, 4) + b * Fraction(2, 4)),
        Fraction(2, 5) * (a * Fraction(1, 3) + b * Fraction(2, 3)),
    ]
    assert learner[1] == [Fraction(3, 5), Fraction(2, 5)]
    assert beliefs(release, [(0,)], [Fraction(0)]) == (
        [[Fraction(9, 13), Fraction(4, 13)]],
        [[Fraction(5, 6), Fraction(1, 6)]],
    )
    # Knowledge that is wrong once in four times: a row with leaf 0 is said to have it with 3/4, one with leaf 1 with 1/4.
    learner, attacker = joint(release, [(0,)], [Fraction(1, 4)])
    assert attacker == [[Fraction(4, 3), Fraction(5, 12)]]
    assert learner == [[Fraction(7, 20), Fraction(17, 90)]]


def test_a_product_is_averaged_not_its_factors() -> None:
    """Two attributes that always agree, three rows as above: A weighs 1/18, B 1/72, so A has 4/5."""
    release = Vertical(((((0, 0),), (0,)), (((0, 0), (1, 1)), (0, 1))), EVEN, (EVEN, EVEN))
    a, b = Fraction(4, 5), Fraction(1, 5)
    assert marginals(release)[1] == [[a, b], [b, a]]
    learner, _ = joint(release, [(0, 0)], [Fraction(0)] * 2)
    assert learner[0][0] == Fraction(3, 5) * (a * Fraction(9, 16) + b * Fraction(4, 16))


def test_repeated_values() -> None:
    """Values 0, 0, 1 and leaves 0, 0, 1: value 1 goes to leaf 1 (1/2 · 2/3 · 1/2), or to one of leaf 0 (1/2 · 1/3 · 1/2)."""
    release = Vertical(((((0,), (0,), (1,)), (0, 0, 1)),), EVEN, (EVEN,))
    assert release.worlds == 3
    assert marginals(release) == [[[Fraction(3, 4), Fraction(1, 4)]] * 2 + [[HALF, HALF]]]


def test_rows_that_are_alike_have_the_frequencies_of_the_group() -> None:
    other = (((0, 1), (1, 0), (1, 1)), (1, 2, 2))
    release = Vertical(((((1, 1),) * 4, (0, 0, 1, 2)), other), (ONE, ONE, HALF), ((ONE, HALF), (Fraction(2), ONE)))
    assert marginals(release)[0] == [[HALF, Fraction(1, 4), Fraction(1, 4)]] * 4


def test_swapping_the_names_of_leaves_and_values_alike_changes_nothing() -> None:
    """Two groups of the same two rows and the same two values: each value is as likely for each row."""
    group = (((0,), (1,)), (0, 1))
    release = Vertical((group, group), EVEN, (EVEN,))
    assert marginals(release) == [[[HALF, HALF]] * 2] * 2
    assert beliefs(release, [(0,), (1,)], [Fraction(0)]) == ([[HALF, HALF]] * 2, [[HALF, HALF]] * 2)


def test_a_target_who_fits_no_row() -> None:
    release = Vertical(((((0,), (1,)), (0, 1)),), EVEN, ((ONE, ONE, ONE),))
    learner, attacker = beliefs(release, [(2,)], [Fraction(0)])
    assert learner == [[HALF, HALF]]
    assert attacker == [[0, 0]]


@pytest.mark.parametrize("seed", range(15))
def test_random_releases(seed: int) -> None:
    """Rows sum to 1 and columns to the published counts; beliefs follow from the marginals; permutations weigh the same."""
    rng = np.random.default_rng(seed)
    release = random_release(rng, worlds=150)
    found = marginals(release)
    for (rows, values), shares in zip(release.groups, found, strict=True):
        assert 2 <= len(rows) <= 4
        assert all(sum(row) == 1 for row in shares)
        held = Counter(values)
        assert [sum(column) for column in zip(*shares, strict=True)] == [held[s] for s in range(len(release.alpha))]
        for one, other in itertools.combinations(range(len(rows)), 2):
            if rows[one] == rows[other]:
                assert shares[one] == shares[other]
    flat = [row for shares in found for row in shares]

    targets = [tuple(None if rng.random() < 0.3 else int(rng.integers(len(b))) for b in release.beta) for _ in range(3)]
    targets.append((None,) * len(release.beta))
    error = [Fraction(int(rng.integers(3)), 8) for _ in release.beta]
    learner, attacker = joint(release, targets, error)
    for t, target in enumerate(targets):
        said = [said_of(leaves, target, release, error) for leaves in release.rows]
        assert attacker[t] == [
            sum(p * row[s] for p, row in zip(said, flat, strict=True)) for s in range(len(release.alpha))
        ]
    assert attacker[-1] == release.counts
    assert sum(learner[-1]) == 1

    # The learner over all that can be known sums to 1.
    everybody = list(itertools.product(*(range(len(b)) for b in release.beta)))
    assert sum(p for row in joint(release, everybody, error)[0] for p in row) == 1

    # Permutations of the published values instead of distinct worlds: the same marginals.
    if np.prod([len(list(itertools.permutations(values))) for _, values in release.groups]) <= 2000:
        weight = dict(weighed(release))
        everything = Fraction(0)
        held_by = [[Fraction(0) for _ in release.alpha] for _ in flat]
        for chosen in itertools.product(*(itertools.permutations(values) for _, values in release.groups)):
            world = tuple(itertools.chain.from_iterable(chosen))
            everything += weight[world]
            for j, s in enumerate(world):
                held_by[j][s] += weight[world]
        assert [[p / everything for p in row] for row in held_by] == flat


def test_random_releases_differ() -> None:
    """Repeated and distinct values, one attribute and three, many worlds and few: all are met."""
    rng = np.random.default_rng(0)
    drawn = [random_release(rng) for _ in range(200)]
    assert max(release.worlds for release in drawn) > 500
    assert all(release.worlds <= 5000 for release in drawn)
    assert {len(release.beta) for release in drawn} == {1, 2, 3}
    assert {len(release.alpha) for release in drawn} == {2, 3, 4}
    assert {len(rows) for release in drawn for rows, _ in release.groups} == {2, 3, 4}
    assert {len(set(v)) == len(v) for release in drawn for _, v in release.groups} == {True, False}
    assert any(0 in release.counts for release in drawn)


# ---------------------------------------------------------------------------- the paper's own sampler, of the benchmark


def test_paper_sampler_by_hand() -> None:
    plain_metropolis.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 7, 16, 18])
def test_paper_sampler(seed: int) -> None:
    """Two chains. Within five Monte-Carlo standard errors: some 50 numbers each, and the errors are estimates."""
    release = random_release(np.random.default_rng(seed), worlds=200)
    assert release.worlds > 20
    sizes = [len(beta) for beta in release.beta]
    targets = list(itertools.product(*map(range, sizes)))
    group = np.repeat(np.arange(len(release.groups)), [len(rows) for rows, _ in release.groups])
    chains = []
    for chain in (1, 2):
        rng = np.random.default_rng(chain)
        started = np.concatenate([rng.permutation(values) for _, values in release.groups])
        mixed = rng.permutation(len(group))  # groups need not stand together
        chains.append(
            plain_metropolis.run(
                np.array(release.rows)[mixed],
                started[mixed],
                group[mixed],
                sizes,
                len(release.alpha),
                2500,
                chain,
                plain_metropolis.Keep(np.array(targets), burn_in=100),
                alpha=[float(a) for a in release.alpha],
                beta=[[float(b) for b in beta] for beta in release.beta],
            )
        )
        for q, (_, values) in enumerate(release.groups):
            assert sorted(chains[-1].sensitive[group[mixed] == q].tolist()) == sorted(values)
    exact = joint(release, targets, [Fraction(0)] * len(sizes))
    for name, oracle in zip(("learner", "attacker"), exact, strict=True):
        draws = np.array([getattr(chain, name) for chain in chains])
        true = np.array([[float(p) for p in row] for row in oracle])
        assert (np.abs(draws.mean(axis=(0, 1)) - true) <= 5 * mcse(draws) + 1e-12).all(), name
