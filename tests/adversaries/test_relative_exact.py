"""Learner and attacker on generalized releases, against an enumeration of every world and the paper's own numbers."""

from __future__ import annotations

import dataclasses
import random
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import Refused, Targets
from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.learner import Learner
from dalenius.adversaries.models.population import Overlapping, Population
from dalenius.adversaries.models.sampling import Effort
from dalenius.errors import InputError, ParameterError
from dalenius.releases import Generalized
from dalenius.schema import Column, Domain, Prior, Schema
from tests.adversaries.relative_worlds import Known, Tiny, beliefs

NUMBERS = [Fraction(n, d) for n, d in ((1, 1), (1, 2), (2, 1), (1, 4), (3, 1), (7, 2))]


def laminar(rng: random.Random, leaves: int) -> list[frozenset[int]]:
    """A random tree of sets over the leaves."""
    found, parts = [frozenset(range(leaves))], [list(range(leaves))]
    while parts:
        part = parts.pop()
        if len(part) == 1:
            continue
        rng.shuffle(part)
        cut = rng.randint(1, len(part) - 1)
        for piece in (part[:cut], part[cut:]):
            found.append(frozenset(piece))
            parts.append(piece)
    return found


def overlapping(rng: random.Random, leaves: int) -> list[frozenset[int]]:
    return [frozenset(rng.sample(range(leaves), rng.randint(1, leaves))) for _ in range(4)]


def tiny(rng: random.Random, *, nested: bool) -> Tiny:
    """One to three attributes, two or three values, sets nested or overlapping, priors of any size."""
    while True:
        attributes = rng.randint(1, 3)
        leaves = [rng.randint(1, 4) for _ in range(attributes)]
        families = [(laminar if nested else overlapping)(rng, n) for n in leaves]
        # Rows come in groups, and some publish nothing at all.
        groups = [tuple(rng.choice(family) for family in families) for _ in range(3)]
        groups.append(tuple(frozenset(range(n)) for n in leaves))
        values = rng.randint(2, 3)
        rows = tuple((rng.choice(groups), rng.randrange(values)) for _ in range(rng.randint(1, 5)))
        even = rng.random() < 0.3
        alpha = tuple(Fraction(1) if even else rng.choice(NUMBERS) for _ in range(values))
        beta = tuple(tuple(Fraction(1) if even else rng.choice(NUMBERS) for _ in range(n)) for n in leaves)
        found = Tiny(rows, alpha, beta)
        if found.worlds <= 400:
            return found


def released(case: Tiny) -> Generalized:
    """The same release as ours; rows that publish nothing are suppressed ones, as long as others are not."""
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
    published = [sets for sets, _ in case.rows]
    distinct = list(dict.fromkeys(published))
    full = tuple(frozenset(range(len(beta))) for beta in case.beta)
    number = {sets: q for q, sets in enumerate(s for s in distinct if s != full or len(distinct) == 1)}
    group = np.array([number.get(sets, -1) for sets in published], dtype=np.int32)
    sets = [[np.array(sorted(leaves), dtype=np.int32) for leaves in one] for one in number]
    values = np.array([[s] for _, s in case.rows], dtype=np.int32)
    return Generalized.from_sets(schema, sets, group, values, np.ones(len(group), dtype=np.int64))


def everybody(rng: random.Random, case: Tiny) -> list[Known]:
    return [
        tuple(
            rng.choice([None, *range(len(beta))]) if rng.random() < 0.3 else rng.randrange(len(beta))
            for beta in case.beta
        )
        for _ in range(6)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("seed", range(130))
def test_every_world(seed: int, nested: bool) -> None:
    rng = random.Random(seed)
    case = tiny(rng, nested=nested)
    release, targets = released(case), everybody(rng, case)
    rates = [rng.choice([Fraction(0), Fraction(0), Fraction(1, 10)]) if len(b) > 1 else Fraction(0) for b in case.beta]
    learner, attacker = beliefs(case, targets, rates)
    codes = np.array([[-1 if leaf is None else leaf for leaf in target] for target in targets], dtype=np.int32)
    error = {f"q{a}": float(rate) for a, rate in enumerate(rates)}
    known = Targets(release.schema, codes)
    found = Attacker(error).attack(release, known)
    np.testing.assert_allclose(Learner(error).attack(release, known).posterior, _floats(learner), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.baseline, _floats(learner), rtol=0, atol=1e-10)
    for t, row in enumerate(attacker):
        assert found.matched[t] == bool(sum(row))
        if sum(row):
            np.testing.assert_allclose(found.posterior[t], _floats([row])[0], rtol=0, atol=1e-10)
    assert (found.stderr == 0).all()
    assert found.method == "exact"


def _floats(rows: list[list[Fraction]]) -> np.ndarray:
    return np.array([[float(p) for p in row] for row in rows])


def victim(release: Generalized, *leaves: str) -> Targets:
    codes = [column.leaves.index(leaf) for column, leaf in zip(release.schema.quasi, leaves, strict=True)]
    return Targets(release.schema, np.array([codes], dtype=np.int32))


def test_the_papers_victim() -> None:
    """Table I(b): a person of Malaysia, 45501; the printed 0.580, 0.420 and 0.343, 0.317, 0.113 simulate these."""
    release = dl.datasets.paper("relative-1b")
    assert isinstance(release, Generalized)
    found = Attacker().attack(release, victim(release, "Malaysia", "45501"))
    posterior = dict(zip(found.column.leaves, found.posterior[0].tolist(), strict=True))
    baseline = dict(zip(found.column.leaves, found.baseline[0].tolist(), strict=True))
    assert posterior == pytest.approx(
        {"Heart": 7 / 12, "Flu": 5 / 12, "Stomach": 0, "HIV": 0, "Diabetes": 0}, abs=1e-12
    )
    others = dict.fromkeys(("Stomach", "HIV", "Diabetes"), 0.1137606)
    assert baseline == pytest.approx({"Heart": 0.3297873, "Flu": 0.3289308, **others}, abs=5e-8)


def test_a_clear_table_and_a_rare_value() -> None:
    """Remark 5: a million people, one of them with s0, and a leaf of a thousand that nobody else has: Ti is about 250."""
    leaves = tuple(f"{i:03}" for i in range(1000))
    schema = Schema(
        (Column("r", "quasi", domain=Domain(leaves)), Column("s", "sensitive", domain=Domain(("s0", "s1"))))
    ).bind({})
    sets = [[np.array([leaf], dtype=np.int32)] for leaf in range(1000)]
    group = np.arange(1000, dtype=np.int32)
    counts = np.full(1000, 1001, dtype=np.int64)
    counts[0], counts[1] = 1, 10**6 - 1 - 998 * 1001
    values = np.array([[0], *[[1]] * 999], dtype=np.int32)
    release = Generalized.from_sets(schema, sets, group, values, counts)
    found = Attacker().attack(release, Targets(schema, np.array([[0]], dtype=np.int32)))
    assert found.posterior[0, 0] == 1
    assert found.baseline[0, 0] == pytest.approx(0.004, rel=0.01)
    assert found.posterior[0, 0] / found.baseline[0, 0] == pytest.approx(250, rel=0.01)


def test_nothing_published_gives_the_frequencies() -> None:
    case = Tiny(
        tuple(((frozenset({0, 1, 2}),), s) for s in (0, 0, 1, 2, 2, 2)), (Fraction(1),) * 3, ((Fraction(1),) * 3,)
    )
    release = released(case)
    found = Attacker().attack(release, Targets(release.schema, np.array([[1], [-1]], dtype=np.int32)))
    np.testing.assert_allclose(found.posterior, [[2 / 6, 1 / 6, 3 / 6]] * 2, atol=1e-12)


def test_the_number_of_people_does_not_matter_for_the_work() -> None:
    """Counts are all that is looked at: a million times as many people, the same sets, and the frequencies rule."""
    rng = random.Random(5)
    case = tiny(rng, nested=True)
    release = released(case)
    larger = dataclasses.replace(
        release, sensitive=dataclasses.replace(release.sensitive, counts=release.sensitive.counts * 10**6)
    )
    targets = Targets(release.schema, np.zeros((1, len(case.beta)), dtype=np.int32))
    one, many = Learner().attack(release, targets), Learner().attack(larger, targets)
    assert not np.allclose(one.posterior, many.posterior)
    table = larger.grouping().table
    assert Population.of(larger).values == pytest.approx(table / table.sum(), abs=1e-6)


def test_too_many_ways_have_no_exact_answer() -> None:
    leaves = frozenset(range(6))
    rows = (*(((frozenset(leaves - {i % 6}),), 0) for i in range(60)), ((frozenset({0}),), 1))
    release = released(Tiny(rows, (Fraction(1),) * 2, ((Fraction(1),) * 6,)))
    with pytest.raises(Overlapping, match="q0"):
        Population.of(release)
    targets = Targets(release.schema, np.zeros((1, 1), dtype=np.int32))
    for adversary in (Learner(), Attacker()):
        found = adversary.attack(release, targets, rng=np.random.default_rng(0))
        assert found.method == "sampled"
        assert found.diagnostics["sampler"] == "collapsed Gibbs on sets"
        assert found.diagnostics["why"] == "sets of column 'q0' overlap"
    for method in ("swaps", "metropolis"):
        with pytest.raises(Refused, match="this one is generalized"):
            Attacker(effort=Effort(method=method)).attack(release, targets)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_sampled_beliefs_are_within_their_error(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Overlapping sets of many rows, small enough to be gone through: the sampler must find the same."""
    rng = random.Random(seed)
    family = [frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2, 3}), frozenset({1, 3})]
    rows = tuple(((rng.choice(family), frozenset({rng.randrange(2)})), rng.randrange(2)) for _ in range(12))
    beta = (tuple(rng.choice(NUMBERS) for _ in range(4)), (Fraction(1), Fraction(2)))
    release = released(Tiny(rows, (Fraction(1), Fraction(2)), beta))
    targets = Targets(release.schema, np.array([[a, b] for a in range(-1, 4) for b in range(-1, 2)], dtype=np.int32))
    exact = Attacker().attack(release, targets)
    monkeypatch.setattr("dalenius.adversaries.models.population.MAX_ALLOCATIONS", 0)
    effort = Effort(mcse=0.004)
    sampled = Attacker(effort=effort).attack(release, targets, rng=np.random.default_rng(seed))
    assert (exact.method, sampled.method) == ("exact", "sampled")
    assert sampled.diagnostics["converged"]
    np.testing.assert_array_equal(sampled.matched, exact.matched)
    close = np.maximum(6 * sampled.stderr, 1e-9)[exact.matched]  # six errors: once in 10^9
    assert (np.abs(sampled.posterior - exact.posterior)[exact.matched] <= close).all()
    assert 0 < sampled.stderr.max() <= effort.mcse
    again = Attacker(effort=effort).attack(release, targets, rng=np.random.default_rng(seed))
    np.testing.assert_array_equal(again.posterior, sampled.posterior)
    learner = Learner(effort=effort).attack(release, targets, rng=np.random.default_rng(seed + 100))
    assert np.abs(learner.posterior - exact.baseline).max() <= 6 * effort.mcse


def test_a_sampler_that_stops_too_early_says_so() -> None:
    rows = tuple(((frozenset({i % 6, (i + 1) % 6, (i + 3) % 6}),), i % 2) for i in range(60))
    release = released(Tiny(rows, (Fraction(1),) * 2, ((Fraction(1),) * 6,)))
    targets = Targets(release.schema, np.zeros((1, 1), dtype=np.int32))
    effort = Effort(mcse=1e-9, most_sweeps=16, sweeps=2, burn_in=0)
    found = Attacker(effort=effort).attack(release, targets, rng=np.random.default_rng(0))
    assert not found.diagnostics["converged"]
    assert found.diagnostics["largest_mcse"] > 1e-9
    for wrong in (
        {"mcse": 0},
        {"mcse": 2},
        {"relative": 0},
        {"chains": 1},
        {"batches": 3},
        {"sweeps": 0},
        {"method": "gibbs"},
    ):
        with pytest.raises(ParameterError):
            Effort(**wrong)  # type: ignore[arg-type]


def test_priors_name_known_values() -> None:
    release = released(tiny(random.Random(1), nested=True))
    for prior in (Prior(alpha={"v9": 2.0}), Prior(beta={"q0": {"leaf9": 2.0}})):
        wrong = dataclasses.replace(release, schema=dataclasses.replace(release.schema, prior=prior))
        with pytest.raises(InputError, match=r"\[prior\] (alpha|beta): '(v9|leaf9)' is not a value"):
            Population.of(wrong)


@pytest.mark.parametrize("error", [{"q9": 0.1}, {"q0": 1.0}, {"q0": -0.1}, {"q0": True}, {"q0": "x"}])
def test_bad_errors(error: dict[str, object]) -> None:
    release = released(tiny(random.Random(1), nested=True))
    targets = Targets(release.schema, np.zeros((1, len(release.schema.quasi)), dtype=np.int32))
    with pytest.raises(ParameterError):
        Attacker(error).attack(release, targets)  # type: ignore[arg-type]
