"""Learner and attacker on anatomized releases: every sampler against an enumeration of every world."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import Targets
from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.learner import Learner
from dalenius.adversaries.models.learning import Memory
from dalenius.adversaries.models.links import LinkChain, Links
from dalenius.adversaries.models.sampling import Effort, Method
from dalenius.errors import ParameterError
from dalenius.kernels import gibbs_links
from dalenius.releases import Anatomized, GroupCells
from dalenius.schema import Column, Domain, Prior, Schema
from tests.adversaries.vertical_worlds import Known, Vertical, beliefs, joint, marginals, random_release

QUICK = Effort(mcse=0.004, sweeps=40, burn_in=30, most_sweeps=4000)


def released(case: Vertical) -> Anatomized:
    quasi = tuple(
        Column(f"q{a}", "quasi", domain=Domain(tuple(f"leaf{i}" for i in range(len(beta)))))
        for a, beta in enumerate(case.beta)
    )
    target = Column("s", "sensitive", domain=Domain(tuple(f"v{s}" for s in range(len(case.alpha)))))
    prior = Prior(
        alpha={f"v{s}": float(a) for s, a in enumerate(case.alpha)},
        beta={f"q{a}": {f"leaf{i}": float(b) for i, b in enumerate(beta)} for a, beta in enumerate(case.beta)},
    )
    schema = Schema((*quasi, target), prior=prior).bind({})
    group = np.array([g for g, (rows, _) in enumerate(case.groups) for _ in rows], dtype=np.int32)
    codes = np.array([leaves for rows, _ in case.groups for leaves in rows], dtype=np.int32)
    values = np.array([[s] for _, values in case.groups for s in values], dtype=np.int32)
    ones = np.ones(len(group), dtype=np.int64)
    return Anatomized(
        schema,
        GroupCells.gather(group, codes, ones, [len(beta) for beta in case.beta]),
        GroupCells.gather(group, values, ones, [len(case.alpha)]),
    )


def asked(rng: np.random.Generator, case: Vertical) -> list[Known]:
    """Some rows of the release, and others, an attribute unknown now and then."""
    found: list[Known] = []
    for _ in range(5):
        rows = [leaves for rows, _ in case.groups for leaves in rows]
        base = rows[int(rng.integers(len(rows)))]
        found.append(
            tuple(
                None if rng.random() < 0.2 else int(rng.integers(len(beta))) if rng.random() < 0.2 else leaf
                for leaf, beta in zip(base, case.beta, strict=True)
            )
        )
    return found


def compared(case: Vertical, seed: int, effort: Effort) -> np.ndarray:
    """Errors of all beliefs in units of what is stated; those that are certain must be exactly right."""
    rng = np.random.default_rng(seed)
    release, targets = released(case), asked(rng, case)
    rates = [Fraction(int(rng.integers(0, 3)), 20) for _ in case.beta]
    learner, attacker = beliefs(case, targets, rates)
    codes = np.array([[-1 if leaf is None else leaf for leaf in target] for target in targets], dtype=np.int32)
    error = {f"q{a}": float(rate) for a, rate in enumerate(rates)}
    known = Targets(release.schema, codes)
    memory = Memory()
    found = Attacker(error, effort, memory=memory).attack(release, known, rng=rng)
    assert found.method == "sampled"
    alone = Learner(error, effort, memory=memory).attack(release, known, rng=rng)
    np.testing.assert_array_equal(alone.posterior, found.baseline)  # one posterior for both
    right = np.array(learner, dtype=float)
    units = [(alone.posterior - right) / np.maximum(alone.stderr, 1e-9)]
    for t, row in enumerate(attacker):
        assert found.matched[t] == bool(sum(row))
        if sum(row):
            here = (found.posterior[t] - np.array(row, dtype=float)) / np.maximum(found.stderr[t], 1e-9)
            units.append(here[None])
    np.testing.assert_allclose(found.posterior[found.matched].sum(axis=1), 1)
    return np.concatenate(units).ravel()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "number"), [("block", 200), ("swaps", 20), ("metropolis", 40)])
def test_every_world(method: Method, number: int) -> None:
    """Random releases with repeated rows and values, priors of any size, partial and doubtful knowledge."""
    effort = Effort(
        mcse=QUICK.mcse, sweeps=QUICK.sweeps, burn_in=QUICK.burn_in, most_sweeps=QUICK.most_sweeps, method=method
    )
    units = []
    for seed in range(number):
        case = random_release(np.random.default_rng([7, seed]), worlds=600)
        units.append(compared(case, seed, effort))
    flat = np.concatenate(units)
    moving = flat[np.abs(flat) > 1e-6]
    # Errors in units of what is stated, which leaves room for few batches that remember: about normal or smaller.
    assert np.abs(moving).max() < 6.5
    assert 0.65 < np.sqrt(np.mean(moving**2)) < 1.25
    assert len(moving) > 10 * number


@pytest.mark.slow
def test_marginals_of_a_group() -> None:
    """What is added up of each row is the probability of its values: groups drawn whole, and groups with repeats."""
    for seed in range(12):
        case = random_release(np.random.default_rng([3, seed]), worlds=300)
        release = released(case)
        links = Links.of(release)
        # One slot for each row instead of one for each tuple.
        rows = np.arange(len(links.rows), dtype=np.int32)
        right = {
            (g, tuple(leaves)): np.array(marginal, dtype=float)
            for g, (group, of_group) in enumerate(zip(case.groups, marginals(case), strict=True))
            for leaves, marginal in zip(group[0], of_group, strict=True)
        }
        chain = LinkChain(links, "block", np.random.default_rng(seed))
        met = np.zeros((len(rows), len(case.alpha)))
        chain.settle(50)
        sweeps = 40_000  # looked at once in four
        empty = np.empty(0, dtype=np.int64)
        gibbs_links.block_sweeps(
            links.group_start, links.rows, links.place_value, links.group_run, links.run_start, links.total, links.scale,
            chain.row_at, chain.weight, rows, met, empty, empty, empty, np.empty((sweeps, 0)),
            np.empty((sweeps, 0), dtype=np.int32), sweeps, seed, 1.0,
        )  # fmt: skip
        group = np.repeat(np.arange(len(links.group_start) - 1), np.diff(links.group_start))
        for row in rows.tolist():
            leaves = tuple(int(x) for x in links.rows[row] - links.first_leaf[:-1])
            # 10,000 looks that remember a few: an error below 0.012, taken three times.
            assert np.abs(met[row] * gibbs_links.LOOK_EVERY / sweeps - right[int(group[row]), leaves]).max() < 0.035


def test_many_attributes_do_not_overflow() -> None:
    """Products of 400 counts are far outside what a number holds; logarithms are not."""
    rng = np.random.default_rng(0)
    attributes = 400
    rows = tuple(tuple(int(x) for x in rng.integers(0, 2, attributes)) for _ in range(4))
    clear = tuple((((rows[0]),), (0,)) for _ in range(30)) + tuple((((rows[1]),), (1,)) for _ in range(30))
    case = Vertical(
        (*clear, ((rows[0], rows[1]), (0, 1))), (Fraction(1),) * 2, ((Fraction(1), Fraction(1)),) * attributes
    )
    release = released(case)
    found = Attacker(effort=QUICK).attack(
        release, Targets(release.schema, np.array(rows[:2], dtype=np.int32)), rng=np.random.default_rng(1)
    )
    # Thirty clear rows of either kind: which of the two is which is beyond doubt.
    np.testing.assert_allclose(found.posterior, np.eye(2), atol=1e-12)


def test_large_groups_and_more_values_than_a_block() -> None:
    """One group of everybody, eleven values: nothing is learnt, and the attacker has the table's frequencies."""
    values = np.repeat(np.arange(11), [9, 1, 2, 3, 1, 1, 5, 1, 1, 1, 5])
    case = Vertical(
        ((tuple((0,) for _ in values), tuple(int(s) for s in values)),),
        (Fraction(1),) * 11,
        ((Fraction(1), Fraction(1)),),
    )
    release = released(case)
    found = Attacker(effort=QUICK).attack(
        release, Targets(release.schema, np.zeros((1, 1), dtype=np.int32)), rng=np.random.default_rng(0)
    )
    np.testing.assert_allclose(found.posterior[0], np.bincount(values) / len(values), atol=1e-12)


def test_more_values_than_a_block_are_drawn_right() -> None:
    """Nine values in one group, and clear rows that make two of the people's values likely: swaps say the same."""
    clear = tuple((((s % 2,),), (s,)) for s in range(9) for _ in range(3))
    mixed = (tuple((i % 2,) for i in range(9)), tuple(range(9)))
    case = Vertical((*clear, mixed), (Fraction(1),) * 9, ((Fraction(1), Fraction(1)),))
    release = released(case)
    targets = Targets(release.schema, np.array([[0], [1]], dtype=np.int32))
    one, other = (
        Attacker(effort=Effort(mcse=0.002, method=method)).attack(release, targets, rng=np.random.default_rng(i))
        for i, method in enumerate(("block", "swaps"))
    )
    assert one.diagnostics["converged"]
    assert other.diagnostics["converged"]
    np.testing.assert_allclose(one.posterior, other.posterior, atol=6 * 0.003)
    assert gibbs_links.MAX_BLOCK < 9


def test_the_papers_table() -> None:
    """Table I(c): the victim's group has Heart and Flu, and what is learnt of others tells little between them."""
    release = dl.datasets.paper("relative-1c")
    assert isinstance(release, Anatomized)
    known = Targets(release.schema, release.quasi.codes[:1])
    found = Attacker().attack(release, known, rng=np.random.default_rng(0))
    assert found.diagnostics["converged"]
    assert found.diagnostics["sampler"].startswith("collapsed Gibbs on blocks")
    assert "weiss_smallest_p" in found.diagnostics
    again = Attacker().attack(release, known, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(again.posterior, found.posterior)
    other = Attacker().attack(release, known, rng=np.random.default_rng(1))
    assert not np.array_equal(other.posterior, found.posterior)


@pytest.mark.slow
def test_deleted_rows_are_as_a_learner_takes_people_to_be() -> None:
    """p_A ∝ Σ over rows + n₀ p_L(s, y), from the enumeration's own unnormalised numbers."""
    for seed in range(6):
        case = random_release(np.random.default_rng([5, seed]), worlds=300)
        rng = np.random.default_rng(seed)
        release, targets = released(case), asked(rng, case)
        learner, attacker = joint(case, targets, [Fraction(0)] * len(case.beta))
        codes = np.array([[-1 if leaf is None else leaf for leaf in target] for target in targets], dtype=np.int32)
        found = Attacker(effort=QUICK, deleted=7).attack(release, Targets(release.schema, codes), rng=rng)
        assert found.matched.all()  # somebody who fits no row may be one of those that were deleted
        right = np.array(attacker, dtype=float) + 7 * np.array(learner, dtype=float)
        off = np.abs(found.posterior - right / right.sum(axis=1, keepdims=True))
        assert (off <= np.maximum(6 * found.stderr, 1e-9)).all()
        assert found.stderr.max() < 0.02
    for wrong in (-1, 1.5, True):
        with pytest.raises(ParameterError):
            Attacker(deleted=wrong)  # type: ignore[arg-type]


def test_what_was_interrupted_goes_on() -> None:
    """With the same memory the attack is taken up where it was left, and ends as if nobody had stopped it."""
    case = random_release(np.random.default_rng([7, 3]), worlds=600)
    release = released(case)
    known = Targets(release.schema, release.quasi.codes)
    effort, memory = Effort(mcse=0.01, sweeps=5), Memory()

    def stop(sweeps: int, worst: float, rhat: float) -> None:  # noqa: ARG001
        raise KeyboardInterrupt

    partial = Attacker(effort=effort, memory=memory, progress=stop).attack(release, known, rng=np.random.default_rng(1))
    assert partial.diagnostics["interrupted"]
    assert not partial.diagnostics["converged"]
    went_on = Attacker(effort=effort, memory=memory).attack(release, known, rng=np.random.default_rng(9))
    assert went_on.diagnostics["converged"]
    assert went_on.diagnostics["sweeps"] > partial.diagnostics["sweeps"]
    at_once = Attacker(effort=effort).attack(release, known, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(went_on.posterior, at_once.posterior)


@pytest.mark.slow
def test_two_values_that_could_have_each_others_rows() -> None:
    """Thirty groups of the same two tuples and two values: by symmetry nothing is known, and no chain may get caught."""
    groups = tuple((((0,), (1,)), (0, 1)) for _ in range(30))
    case = Vertical(groups, (Fraction(1),) * 2, ((Fraction(1),) * 2,))
    release = released(case)
    known = Targets(release.schema, np.array([[0], [1]], dtype=np.int32))
    for seed in range(8):
        found = Attacker(effort=Effort(mcse=0.02)).attack(release, known, rng=np.random.default_rng(seed))
        assert found.diagnostics["converged"]
        np.testing.assert_allclose(found.posterior, 0.5, atol=6 * 0.02)
        np.testing.assert_allclose(found.baseline, 0.5, atol=6 * 0.02)


def test_sharp_for_some_is_not_sharp_for_others() -> None:
    """A posterior that was sampled for one set of targets is not taken for another."""
    case = random_release(np.random.default_rng([7, 0]), worlds=600)
    release = released(case)
    memory, effort = Memory(), Effort(mcse=0.01, sweeps=5)
    nothing = Targets(release.schema, np.full((1, len(case.beta)), -1, dtype=np.int32))
    made = Attacker(effort=effort, memory=memory)
    quick = made.attack(release, nothing, rng=np.random.default_rng(1))
    assert quick.diagnostics["largest_mcse"] < 1e-9  # who knows nothing has the frequencies, in every state
    found = made.attack(release, Targets(release.schema, release.quasi.codes), rng=np.random.default_rng(1))
    assert found.diagnostics["sweeps"] > quick.diagnostics["sweeps"]
    assert 0 < found.stderr.max() < 0.013  # batches that became one tell another error than before


def test_what_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distinct tuples × values are kept of every batch, however many rows have them."""
    case = random_release(np.random.default_rng([7, 0]), worlds=600)
    release = released(case)
    entries = len(np.unique(release.quasi.codes, axis=0)) * len(case.alpha)
    monkeypatch.setattr("dalenius.adversaries.models.learning.MAX_SAMPLED_ENTRIES", entries)
    assert Attacker().refusal(release) is None
    monkeypatch.setattr("dalenius.adversaries.models.learning.MAX_SAMPLED_ENTRIES", entries - 1)
    assert f"make {entries:,} probabilities" in (Attacker().refusal(release) or "")
