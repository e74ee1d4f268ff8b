"""The probabilistic attack on several releases: exact for one, and for several where what it assumes holds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dalenius import datasets
from dalenius.adversaries import Refused, Targets
from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.composition import Composition, compose
from dalenius.adversaries.learner import Learner
from dalenius.adversaries.models.sampling import Effort
from dalenius.errors import ParameterError
from dalenius.releases import Anatomized, Centroids, Generalized, GroupCells, GroupedRelease
from tests.adversaries.test_relative_links import released
from tests.adversaries.vertical_worlds import Leaves, Vertical

EFFORT = Effort(mcse=0.004, sweeps=40, burn_in=30, most_sweeps=20_000)


def asked(releases: list[GroupedRelease], codes: np.ndarray, **options: object) -> Composition:
    """Releases that are coded alike."""
    schema = releases[0].schema
    column = schema.sensitive[0]
    n = len(releases)
    targets = Targets(schema, codes.astype(np.int32))
    same = np.arange(len(column.leaves))
    return compose(releases, [targets] * n, column.leaves, [same] * n, [column.name] * n, **options)  # type: ignore[arg-type]


def test_one_release_is_the_attackers_belief() -> None:
    release = datasets.paper("relative-1b")
    assert isinstance(release, Generalized)
    codes = np.array(list(itertools.product(*(range(len(c.leaves)) for c in release.schema.quasi))))
    found = asked([release], codes)
    attacker = Attacker().attack(release, Targets(release.schema, codes.astype(np.int32)))
    matched = attacker.matched
    assert matched.any()
    assert not matched.all()
    np.testing.assert_allclose(found.posterior[matched], attacker.posterior[matched], atol=1e-12)
    # Of who is not there a release says what it says of anybody.
    np.testing.assert_allclose(found.posterior[~matched], found.baseline[~matched], atol=1e-12)
    np.testing.assert_allclose(found.baseline, attacker.baseline, atol=1e-12)
    assert found.pooled
    assert found.converged


@pytest.mark.parametrize("share", [0.25, 0.9])
def test_who_may_not_be_there(share: float) -> None:
    """One release: with probability 1 − ω the target is like anybody, whether a row fits it or not."""
    release = datasets.paper("relative-1b")
    assert isinstance(release, Generalized)
    codes = np.array(list(itertools.product(*(range(len(c.leaves)) for c in release.schema.quasi))))
    targets = Targets(release.schema, codes.astype(np.int32))
    found = asked([release], codes, presence=[share])
    learner = Learner().attack(release, targets)
    attacker = Attacker().attack(release, targets)
    # a(s)/ℓ(s) is p_A(s)/p_L(s) up to P(y | in)/P(y | not in), which is a number for each target: solved for, it must be one.
    for t in range(len(codes)):
        if not attacker.matched[t]:
            np.testing.assert_allclose(found.posterior[t], learner.posterior[t], atol=1e-12)
            continue
        extra = attacker.posterior[t] - learner.posterior[t]
        s = int(np.abs(extra).argmax())
        if abs(extra[s]) < 1e-9:
            continue
        weight = (found.posterior[t, s] - learner.posterior[t, s]) / extra[s]
        assert 0 < weight < 1
        np.testing.assert_allclose(found.posterior[t], learner.posterior[t] + weight * extra, atol=1e-9)


# Several releases, what goes with what being known ---------------------------------------------------------------------


def likelihoods(
    case: Vertical, open_groups: int, pi: list[float], given: list[list[list[float]]], target: Leaves
) -> np.ndarray:
    """P(release | the target is one of its people and has value s) / P(release), for each s, by enumerating every link.

    `pi[s]` and `given[a][s][leaf]` are known. If the target is in, each of the rows is as likely its own. Groups after the
    first few have one person, and cancel.
    """

    def row(leaves: Leaves, s: int) -> float:
        p = pi[s]
        for a, leaf in enumerate(leaves):
            p *= given[a][s][leaf]
        return p

    total, inside = 0.0, np.zeros(len(pi))
    some = case.groups[:open_groups]
    assert all(len(values) == 1 and rows[0] != target for rows, values in case.groups[open_groups:])
    rows = [leaves for rows, _ in some for leaves in rows]
    choices = [sorted(set(itertools.permutations(values))) for _, values in some]
    for chosen in itertools.product(*choices):
        world = tuple(itertools.chain.from_iterable(chosen))
        p = 1.0
        for leaves, s in zip(rows, world, strict=True):
            p *= row(leaves, s)
        total += p
        for leaves, s in zip(rows, world, strict=True):
            if leaves == target:
                inside[s] += p / row(leaves, s) / len(case.rows)
    return inside / total


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(1.0, 1.0), (0.7, 0.4)])
def test_two_and_three_releases_with_one_person_in_common(shares: tuple[float, float]) -> None:
    """So many people with known values that π is as good as known, and nobody but the target in two: the product is exact.

    None of the many is as the target is, so that the few in groups decide; and people like the target are rare, so that it
    matters whether it is there.
    """
    pi, first_leaf, times = [0.5, 0.3, 0.2], [0.6, 0.4, 0.5], 6
    given = [[[p, 1 - p] for p in first_leaf], [[1 - p, p] for p in first_leaf]] * times
    many = 1500
    single = [
        ((leaves * times,), (s,))
        for s, p in enumerate(first_leaf)
        for leaves, share in (((0, 1), p), ((1, 0), 1 - p))
        for _ in range(round(many * pi[s] * share))
    ]
    first = [(((0, 0), (1, 1), (0, 1)), (0, 1, 2))]
    second = [(((0, 0), (1, 1)), (0, 2)), (((0, 1), (1, 0)), (1, 0))]
    third = [(((1, 1), (0, 0), (0, 0)), (1, 1, 0))]
    one, flat = Fraction(1), ((Fraction(1), Fraction(1)),) * (2 * times)
    first, second, third = (
        [(tuple(leaves * times for leaves in rows), values) for rows, values in groups]
        for groups in (first, second, third)
    )
    for groups in ((first, second), (first, second, third)):
        cases = [Vertical((*mine, *single), (one,) * 3, flat) for mine in groups]
        omega = [shares[j % 2] for j in range(len(cases))]
        releases: list[GroupedRelease] = [released(case) for case in cases]
        for target in ((0, 0) * times, (1, 1) * times):
            prior = np.array([p * np.prod([given[a][s][x] for a, x in enumerate(target)]) for s, p in enumerate(pi)])
            ratios = [likelihoods(case, len(mine), pi, given, target) for case, mine in zip(cases, groups, strict=True)]
            expected = prior * np.prod([w * r + 1 - w for w, r in zip(omega, ratios, strict=True)], axis=0)
            found = asked(releases, np.array([target]), presence=omega, effort=EFFORT, rng=np.random.default_rng(1))
            assert np.max(ratios[0]) > 1
            assert np.ptp(ratios[0]) > 0.5
            np.testing.assert_allclose(found.posterior[0], expected / expected.sum(), atol=0.02)


def test_a_group_that_is_published_twice_is_counted_twice_and_told() -> None:
    """Its evidence is squared, and of the target it is said that its group is in both."""
    release = datasets.paper("relative-1b")
    assert isinstance(release, Generalized)
    codes = release_codes(release)
    once, twice = asked([release], codes), asked([release, release], codes)
    assert (once.shared == 0).all()
    assert (twice.shared == 1).all()
    # The odds against what anybody is believed to have are squared.
    ratio = once.posterior / once.baseline
    expected = twice.baseline * ratio**2
    np.testing.assert_allclose(twice.posterior, expected / expected.sum(axis=1, keepdims=True), atol=0.03)
    sure = twice.posterior[(once.posterior > 0.5) & (ratio > 1.2)]
    assert len(sure)
    assert (sure > once.posterior[(once.posterior > 0.5) & (ratio > 1.2)]).all()
    third = asked([release, release, release], codes)
    assert (third.shared == 3).all()


def release_codes(release: Generalized) -> np.ndarray:
    """Somebody of each group whom no other group fits."""
    found = []
    for q in range(release.groups):
        for codes in itertools.product(
            *(label[c].members for label, c in zip(release.labels, release.codes[q], strict=True))
        ):
            if release.locate(np.array(codes, dtype=np.int32)) == [q]:
                found.append(codes)
                break
    assert found
    return np.array(found)


def test_what_is_learnt_from_all_is_learnt_from_all_rows() -> None:
    """p₀ of two releases that are coded alike is a learner's belief from all their rows."""
    both = [datasets.paper(f"composition-1{letter}") for letter in "ab"]
    assert all(isinstance(one, Generalized) for one in both)
    releases: list[GroupedRelease] = [one for one in both if isinstance(one, Generalized)]
    schema = releases[0].schema
    codes = np.array([[12, 28, 0], [12, 50, 1]])
    found = asked(releases, codes)
    assert found.pooled
    table = sum(one.grouping().table for one in releases)
    # Sex and city say nothing here: what is learnt of values is how often they occur, α = 1 each, times what age tells.
    assert found.baseline.shape == (2, len(schema.sensitive[0].leaves))
    blind = asked(releases, np.full((1, 3), -1))
    np.testing.assert_allclose(blind.baseline[0], (table + 1) / (table + 1).sum(), atol=1e-12)


def test_alice_probably() -> None:
    """What sets leave alone, the product leaves alone."""
    both = [datasets.paper(f"composition-1{letter}") for letter in "ab"]
    releases: list[GroupedRelease] = [one for one in both if isinstance(one, Generalized)]
    alice = np.array([[12, 28, -1]])
    leaves = releases[0].schema.sensitive[0].leaves
    found = asked(releases, alice)
    assert found.posterior[0, leaves.index("AIDS")] == pytest.approx(1)
    doubtful = asked(releases, alice, presence=[0.9, 0.5])
    assert 0.2 < doubtful.posterior[0, leaves.index("AIDS")] < 0.95
    assert (doubtful.posterior > 0).all()


def test_bad_input() -> None:
    release = datasets.paper("relative-1b")
    assert isinstance(release, Generalized)
    codes = release_codes(release)
    for presence in ([0.0], [1.5], [0.5, 0.5], [True], ["1"]):
        with pytest.raises(ParameterError):
            asked([release], codes, presence=presence)
    points = np.zeros((1, len(release.schema.quasi)))
    cells = GroupCells.gather(
        np.zeros(1, dtype=np.int32), np.zeros((1, 1), dtype=np.int32), np.ones(1, dtype=np.int64), [5]
    )
    with pytest.raises(Refused, match="Centroids do not say"):
        asked([Centroids(release.schema, points, cells)], codes)


def test_leaves_that_have_one_common_name_are_added_up() -> None:
    """Two values called alike: their rows and their probabilities add up, so that one release is still exact."""
    release = datasets.paper("relative-1b")
    assert isinstance(release, Generalized)
    codes = release_codes(release)
    targets = Targets(release.schema, codes.astype(np.int32))
    column = release.schema.sensitive[0]
    merged = np.array([0, 1, 1, 2, 3])
    found = compose([release], [targets], ["a", "either", "d", "e"], [merged], [column.name])
    alone = Attacker().attack(release, targets).posterior
    assert (alone[:, :2] > 0).all(axis=1).any()
    expected = np.column_stack([alone[:, 0], alone[:, 1:3].sum(axis=1), alone[:, 3:]])
    np.testing.assert_allclose(found.posterior, expected, atol=1e-12)


def test_what_cannot_be_taken_together_is_learnt_from_the_largest() -> None:
    """A table of boxes and one of tuples: p₀ is a learner's belief from the one with more people, in whichever order."""
    boxes = datasets.paper("relative-1b")
    assert isinstance(boxes, Generalized)
    m, schema = len(boxes.schema.quasi), boxes.schema
    few = GroupCells.gather(
        np.array([0, 0], dtype=np.int32), np.zeros((2, m), dtype=np.int32), np.ones(2, dtype=np.int64),
        [len(c.leaves) for c in schema.quasi],
    )  # fmt: skip
    values = GroupCells.gather(
        np.array([0, 0], dtype=np.int32), np.array([[0], [1]], dtype=np.int32), np.ones(2, dtype=np.int64), [5]
    )
    tuples = Anatomized(schema, few, values)
    codes = release_codes(boxes)
    right = Learner().attack(boxes, Targets(schema, codes.astype(np.int32))).posterior
    for releases in ([boxes, tuples], [tuples, boxes]):
        found = asked(list(releases), codes, effort=EFFORT, rng=np.random.default_rng(1))
        assert not found.pooled
        np.testing.assert_allclose(found.baseline, right, atol=1e-12)
