"""deFinetti attacks: predictions from the posterior's sampler against an enumeration of every world; the printed chain against
its own matrix, and where the two differ.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dalenius.adversaries import ADVERSARIES, RandomWorlds, Refused, Targets, adversaries_needing, make_adversary
from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.definetti import Group, Majority, Open, Permutation
from dalenius.adversaries.learner import Learner
from dalenius.adversaries.models.learning import Memory
from dalenius.adversaries.models.sampling import PRINTED, Effort, Method
from dalenius.measures import accuracy
from tests.adversaries.printed_worlds import matrix, printed_marginals
from tests.adversaries.test_relative_links import asked, released
from tests.adversaries.vertical_worlds import Known, Vertical, joint, marginals, random_release, said_of, weighed

EFFORT = Effort(mcse=0.006, sweeps=40, burn_in=30, most_sweeps=4000)
ONE = Fraction(1)


def known_of(case: Vertical, targets: list[Known], group: list[int]) -> Targets:
    codes = np.array([[-1 if leaf is None else leaf for leaf in target] for target in targets], dtype=np.int32)
    return Targets(released(case).schema, codes, np.array(group, dtype=np.int32))


def enumerated(case: Vertical, target: Known, group: int, error: list[Fraction]) -> dict[str, list[float]]:
    """The predictions about one target, from every world. Its group is known, or −1: then every row like it counts."""
    values = range(len(case.alpha))
    which = [g for g, (rows, _) in enumerate(case.groups) for _ in rows]
    fits = [
        float(said_of(leaves, target, case, error)) if group in (-1, g) else 0.0
        for leaves, g in zip(case.rows, which, strict=True)
    ]
    states, everything = [0.0 for _ in values], 0.0
    for world, weight in weighed(case):
        everything += float(weight)
        for fit, s in zip(fits, world, strict=True):
            states[s] += float(weight) * fit
    learner = [float(p) for p in joint(case, [target], error)[0][0]]
    restricted = [0.0 for _ in values]
    for fit, g in zip(fits, which, strict=True):
        allowed = sum(learner[s] for s in set(case.groups[g][1]))
        for s in set(case.groups[g][1]):
            restricted[s] += fit * learner[s] / allowed
    total = sum(fits) or np.nan
    return {
        "definetti-majority": [p / everything / total for p in states],
        "definetti-group": [p / total for p in restricted],
        "definetti-open": [p / sum(learner) for p in learner],
    }


@pytest.mark.slow
@pytest.mark.parametrize(("method", "number"), [("block", 24), ("swaps", 6), ("metropolis", 5)])
def test_predictions_from_the_sampler_are_those_of_every_world(method: Method, number: int) -> None:
    effort = Effort(EFFORT.mcse, sweeps=EFFORT.sweeps, burn_in=30, most_sweeps=EFFORT.most_sweeps, method=method)
    units, lost, located = [], 0, 0
    for seed in range(number):
        rng = np.random.default_rng([11, seed])
        case = random_release(rng, worlds=400)
        targets = asked(rng, case)
        group = [int(rng.integers(-1, len(case.groups))) for _ in targets]
        known, memory = known_of(case, targets, group), Memory()
        release = released(case)
        doubt = [Fraction(int(rng.integers(0, 3)), 10) for _ in case.beta]  # how often what is known is wrong
        rates = {f"q{a}": float(rate) for a, rate in enumerate(doubt)}
        for name in ("definetti-majority", "definetti-group", "definetti-open"):
            belief = ADVERSARIES[name](rates, effort, memory=memory).attack(release, known, rng=rng)
            assert belief.method == "sampled"
            for t, (target, g) in enumerate(zip(targets, group, strict=True)):
                right = np.array(enumerated(case, target, g, doubt)[name])
                assert belief.matched[t] == bool(np.isfinite(right).all())
                if not belief.matched[t]:
                    lost += 1
                    continue
                located += g >= 0
                units.append((belief.posterior[t] - right) / np.maximum(belief.stderr[t], 1e-9))
        assert len(memory.known) == 1 + (max(group) >= 0)  # open does not know the group: its targets are others
    flat = np.concatenate(units)
    moving = flat[np.abs(flat) > 1e-6]
    assert np.abs(moving).max() < 6.5
    assert 0.75 < np.sqrt(np.mean(moving**2)) < 1.25
    assert lost > 0
    assert located > number


@pytest.mark.slow
def test_one_state_is_a_draw_from_the_posterior() -> None:
    """What permutation says is right as often as the posterior probability of it; what it believes is majority's belief."""
    case = Vertical(((((0,),), (0,)), (((0,), (1,)), (0, 1)), (((1,), (0,)), (0, 2))), (ONE,) * 3, ((ONE, ONE),))
    right = np.array(marginals(case)[1][0], dtype=float)
    release, known = released(case), known_of(case, [(0,)], [1])
    effort = Effort(mcse=0.02, sweeps=5, burn_in=10)
    said = np.zeros(3)
    for seed in range(400):
        memory = Memory()
        belief = Permutation(effort=effort, memory=memory).attack(release, known, rng=np.random.default_rng(seed))
        assert belief.guess is not None
        assert sorted(belief.guess[0].tolist()) == [0, 0, 1]
        np.testing.assert_array_equal(belief.answer, belief.guess)
        said += belief.guess[0]
        if seed < 3:
            most = Majority(effort=effort, memory=memory).attack(release, known, rng=np.random.default_rng(seed))
            np.testing.assert_array_equal(most.posterior, belief.posterior)
            np.testing.assert_array_equal(most.answer, most.posterior)
    np.testing.assert_allclose(said / 400, right, atol=4 * np.sqrt(0.25 / 400))


def test_rows_of_a_group_that_are_alike_share_their_values() -> None:
    case = Vertical(((((0,), (0,), (1,)), (0, 1, 2)), (((1,),), (2,))), (ONE,) * 3, ((ONE, ONE),))
    known = known_of(case, [(0,)], [0])
    belief = Permutation(effort=EFFORT).attack(released(case), known, rng=np.random.default_rng(0))
    assert belief.guess is not None
    assert sorted(belief.guess[0].tolist()) == [0, 0.5, 0.5]
    truth = np.array([0])
    assert accuracy.hits(belief.answer, truth)[0] in (0, 0.5)


@pytest.mark.slow
def test_without_the_group_majority_is_the_attacker_and_open_the_learner() -> None:
    rng = np.random.default_rng(5)
    case = random_release(rng, worlds=400)
    release = released(case)
    known = Targets(release.schema, np.unique(release.quasi.codes, axis=0))
    tight = Effort(mcse=0.003)
    pairs: list[tuple[Attacker | Learner, Majority | Open]] = [
        (Attacker(effort=tight), Majority(effort=tight)),
        (Learner(effort=tight), Open(effort=tight)),
    ]
    for one, other in pairs:
        a, b = (who.attack(release, known, rng=rng) for who in (one, other))
        np.testing.assert_allclose(a.posterior, b.posterior, atol=0.018)


def test_random_worlds_knows_the_group_too() -> None:
    case = Vertical(((((0,), (1,)), (0, 1)), (((0,), (1,)), (2, 2))), (ONE,) * 3, ((ONE, ONE),))
    release = released(case)
    codes = np.zeros((3, 1), dtype=np.int32)
    belief = RandomWorlds().attack(release, Targets(release.schema, codes, np.array([0, 1, -1], dtype=np.int32)))
    np.testing.assert_allclose(belief.posterior, [[0.5, 0.5, 0], [0, 0, 1], [0.25, 0.25, 0.5]])
    missing = Targets(release.schema, codes[:1], np.array([7], dtype=np.int32))
    with pytest.raises(ValueError, match="not one of the release"):
        Group().attack(release, missing)


# The printed chain ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", PRINTED)
def test_the_printed_chain_is_the_one_that_is_printed(method: Method) -> None:
    """The kernel's long run against the fixed point of the chain's own matrix, worked out world by world."""
    compared = 0
    for seed in range(9):
        case = random_release(np.random.default_rng([23, seed]), worlds=40)
        whole = method == "printed-permutations"
        right = printed_marginals(case, whole=whole)
        rows = [(g, leaves) for g, (rows, _) in enumerate(case.groups) for leaves in rows]
        effort = Effort(mcse=0.005, sweeps=100, burn_in=200, most_sweeps=20_000, method=method)
        known = known_of(case, [leaves for _, leaves in rows], [g for g, _ in rows])
        belief = Majority(effort=effort).attack(released(case), known, rng=np.random.default_rng(seed))
        for t, (g, leaves) in enumerate(rows):
            alike = [i for i, other in enumerate(case.groups[g][0]) if other == leaves]
            expected = right[g][alike].mean(axis=0)
            np.testing.assert_allclose(belief.posterior[t], expected, atol=0.004 + 5 * belief.stderr[t].max())
            compared += int(0.02 < expected.max() < 0.98)
    assert compared > 20


def test_a_sweep_of_the_printed_chain_adds_up() -> None:
    case = random_release(np.random.default_rng(2), worlds=40)
    for whole in (False, True):
        np.testing.assert_allclose(matrix(case, whole=whole).sum(axis=1), 1, atol=1e-12)


@pytest.mark.slow
def test_the_printed_chain_is_surer_than_the_posterior() -> None:
    """Six groups of the same two rows and values: which goes with which cannot be known, only that they agree; once known
    of one person, the posterior gives another 0.822, the printed chain 0.965. The docs show these numbers.
    """
    group = (((0,), (1,)), (0, 1))
    case = Vertical((*[group] * 6, (((0,),), (0,))), (ONE, ONE), ((ONE, ONE),))
    exact = float(marginals(case)[0][0][0])
    swaps, whole = (printed_marginals(case, whole=w)[0][0, 0] for w in (False, True))
    np.testing.assert_allclose([exact, swaps, whole], [0.8223, 0.9652, 0.8960], atol=5e-5)
    release, known = released(case), known_of(case, [(0,)], [0])
    for method, right in (("block", exact), ("printed-swaps", swaps), ("printed-permutations", whole)):
        effort = Effort(mcse=0.004, sweeps=200, most_sweeps=200_000, method=method)
        belief = Majority(effort=effort).attack(release, known, rng=np.random.default_rng(3))
        assert belief.diagnostics["converged"]
        np.testing.assert_allclose(belief.posterior[0, 0], right, atol=0.02)


@pytest.mark.parametrize("name", ["attacker", "learner"])
def test_who_samples_a_posterior_does_not_take_the_heuristic(name: str) -> None:
    case = Vertical(((((0,), (1,)), (0, 1)),), (ONE, ONE), ((ONE, ONE),))
    adversary = (Attacker if name == "attacker" else Learner)(effort=Effort(method="printed-swaps"))
    with pytest.raises(Refused, match="printed deFinetti attack"):
        adversary.attack(released(case), known_of(case, [(0,)], [0]))


def test_only_anatomized_releases_have_a_link_that_was_cut() -> None:
    from dalenius import datasets

    for name in adversaries_needing("links"):
        assert "no link within groups" in str(make_adversary(name).refusal(datasets.paper("relative-1b")))


def test_what_is_remembered_for_one_is_not_taken_for_another() -> None:
    """Two targets of whom one attribute is known, and one target in a group: the same numbers in another shape."""
    case = Vertical(((((0,), (1,)), (0, 1)), (((0,), (1,)), (0, 1))), (ONE, ONE), ((ONE, ONE),))
    release, memory = released(case), Memory()
    two = Targets(release.schema, np.array([[0], [1]], dtype=np.int32))
    one = Targets(release.schema, np.array([[1]], dtype=np.int32), np.array([0], dtype=np.int32))
    for _ in range(2):
        assert len(Attacker(effort=EFFORT, memory=memory).attack(release, two, rng=np.random.default_rng(1))) == 2
        assert len(Majority(effort=EFFORT, memory=memory).attack(release, one, rng=np.random.default_rng(1))) == 1
    assert len(memory.known) == 2
