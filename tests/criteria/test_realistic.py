"""ε-privacy against realistic adversaries: the printed table, every world of small groups, theorems, merges, instances."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import dalenius as dl
from dalenius import criteria as c
from dalenius.criteria.epsilon_privacy import EpsilonPrivacy, Interval, withstood
from dalenius.criteria.predicate import Predicate
from dalenius.criteria.realistic import Realistic, beliefs
from dalenius.errors import InputError, ParameterError
from dalenius.releases import GroupedRelease, Grouping
from tests.criteria import realistic_oracle as oracle
from tests.criteria.realistic_oracle import Adversary, Counts, Number, Set

LEAVES = "abcdefgh"
REFUSED = (ParameterError, InputError)


# ---------------------------------------------------------------------------- from the oracle's words to the project's


def grouping(groups: Sequence[Counts], *, suppressed: Counts = (), shuffle: int = 0) -> Grouping:
    """Groups by their histograms; within one the values stand in a random order, as roll-ups leave them."""
    mixer = random.Random(shuffle)
    values = len(groups[0])
    start, codes, counts = [0], [], []
    for histogram in groups:
        present = [s for s in range(values) if histogram[s]]
        mixer.shuffle(present)
        codes += present
        counts += [histogram[s] for s in present]
        start.append(len(codes))
    hidden = suppressed or (0,) * values
    table = [sum(column) for column in zip(*groups, hidden, strict=True)]
    return Grouping(
        dl.Column("s", "sensitive", domain=dl.Domain(tuple(LEAVES[:values]))),
        np.array(start, dtype=np.int64),
        np.array(codes, dtype=np.int32),
        np.array(counts, dtype=np.int64),
        np.array(table, dtype=np.int64),
        sum(hidden),
    )


def named(shape: Sequence[Fraction]) -> dict[str, float]:
    return {LEAVES[s]: float(p) for s, p in enumerate(shape)}


def shape_of(sigma: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(Fraction(one) / sum(sigma) for one in sigma)


def theirs(adversary: Adversary, *, at_most: bool = False) -> Realistic:
    if adversary.kind == "I":
        shape = named(shape_of(adversary.sigma))
        return Realistic("I", shape=shape, sigma=float(sum(adversary.sigma)), known=adversary.known, at_most=at_most)
    if adversary.kind == "II":
        return Realistic("II", sigma=float(adversary.total), known=adversary.known, at_most=at_most)
    if adversary.kind == "III":
        return Realistic("III", shape=named(adversary.sigma), known=adversary.known)
    return Realistic("IV", known=adversary.known)


def sets(predicates: Sequence[Set]) -> tuple[Predicate, ...]:
    return tuple(Predicate(frozenset(LEAVES[s] for s in one)) for one in predicates)


def levels(
    adversary: Adversary | Realistic, groups: Sequence[Counts], predicates: Sequence[Set] = (), shuffle: int = 0
) -> list[float]:
    who = theirs(adversary) if isinstance(adversary, Adversary) else adversary
    found = EpsilonPrivacy(who, 2.0, sets(predicates)).levels(grouping(groups, shuffle=shuffle))
    assert found.dtype == np.float64
    return [float(one) for one in found]


def level(adversary: Adversary | Realistic, histogram: Counts, predicates: Sequence[Set] = ()) -> float:
    [found] = levels(adversary, [histogram], predicates)
    return found


def same(found: float, right: Number, rel: float = 1e-12) -> bool:
    return found == math.inf if right == math.inf else math.isclose(found, float(right), rel_tol=rel, abs_tol=0)


# ---------------------------------------------------------------------------- random groups and adversaries


def histograms(values: int, people: int) -> Iterator[Counts]:
    """Every histogram of so many people."""
    for one in itertools.product(range(people + 1), repeat=values):
        if sum(one) == people:
            yield one


def some_histogram(mixer: random.Random, values: int, most: int) -> Counts:
    while True:
        one = tuple(mixer.choice((0, mixer.randint(0, most), mixer.randint(0, most))) for _ in range(values))
        if any(one):
            return one


def some_shape(mixer: random.Random, values: int) -> tuple[Fraction, ...]:
    return shape_of([Fraction(mixer.choice((1, mixer.randint(1, 40)))) for _ in range(values)])


def some_adversary(mixer: random.Random, values: int, kind: str) -> Adversary:
    """Class I with σ(s) ≥ 1, as counts give them."""
    known = mixer.choice((0, 0, 1, 2, 5))
    if kind == "I":
        sigma = tuple(Fraction(mixer.choice((1, mixer.randint(2, 8), mixer.randint(2, 99)))) for _ in range(values))
        return Adversary("I", sigma, known)
    if kind == "II":
        return Adversary("II", known=known, total=values + Fraction(mixer.choice((0, mixer.randint(0, 200))), 2))
    return Adversary("III", some_shape(mixer, values), known)


def some_predicates(mixer: random.Random, values: int) -> list[Set]:
    every = oracle.subsets(values)
    return mixer.sample(every, mixer.randint(1, min(3, len(every)))) if mixer.random() < 0.5 else []


# ---------------------------------------------------------------------------- Table 3

MEN, OLD_MEN, WOMEN = (200, 300), (1800, 2700), (18000, 2000)
TABLE_3 = (MEN, OLD_MEN, WOMEN)
METROPOLIS = (Fraction(12000), Fraction(18000))
# Adversary, the exact ε of the whole table and the group that has it, and how it is printed.
REFERENCE: list[tuple[Adversary, Number, Counts, str]] = [
    (Adversary("I", METROPOLIS), Fraction(200000, 49999), WOMEN, "4.00008"),
    (Adversary("I", METROPOLIS, 10), Fraction(20000 * 19990, 49999 * 1990), WOMEN, "4.018171"),
    (Adversary("I", METROPOLIS, 100), Fraction(20000 * 19900, 49999 * 1900), WOMEN, "4.189557"),
    (Adversary("I", METROPOLIS, 200), math.inf, MEN, "inf"),
    (Adversary("I", METROPOLIS, 300), math.inf, MEN, "inf"),
    (Adversary("I", METROPOLIS, 10**6), math.inf, MEN, "inf"),
    (Adversary("II", total=Fraction(30000)), Fraction(30499, 500), MEN, "60.998"),
    (Adversary("II", total=Fraction(1000)), Fraction(1499, 500), MEN, "2.998"),
    (Adversary("III", (Fraction(2, 5), Fraction(3, 5))), Fraction(6), WOMEN, "6"),
    (Adversary("IV"), math.inf, MEN, "inf"),
]


@pytest.mark.parametrize(("adversary", "exact", "where", "printed"), REFERENCE, ids=lambda x: getattr(x, "kind", None))
def test_reference_values_of_table_3(adversary: Adversary, exact: Number, where: Counts, printed: str) -> None:
    release = dl.datasets.paper("realistic-3")
    assert isinstance(release, GroupedRelease)
    published = release.grouping()
    assert published.column.leaves == ("Flu", "Cancer")
    assert sorted(published.sizes.tolist()) == [500, 4500, 20000]
    assert max(adversary.direct(histogram) for histogram in TABLE_3) == exact
    assert f"{float(exact):.{len(printed.partition('.')[2])}f}" == printed
    who = theirs(adversary)
    if isinstance(who.shape, dict):
        shape = {"Flu": who.shape["a"], "Cancer": who.shape["b"]}
        who = Realistic(who.kind, shape=shape, sigma=who.sigma, known=who.known)
    found = EpsilonPrivacy(who, 5.0).level(published)
    assert same(found.value, exact)
    assert published.sizes[found.worst] == sum(where)
    right = {sum(histogram): adversary.direct(histogram) for histogram in TABLE_3}
    for size, one in zip(published.sizes.tolist(), EpsilonPrivacy(who, 5.0).levels(published), strict=True):
        assert same(float(one), right[size])


def test_the_women_of_example_3() -> None:
    """6.4 against class II (1 − .36002 over 1 − .9, less the −1); the remark on 2.5-privacy against class I is wrong."""
    adversary = Adversary("II", total=Fraction(30000))
    assert adversary.direct(WOMEN) == Fraction(31999, 49999) / Fraction(1, 10)
    assert f"{level(adversary, WOMEN):.6f}" == "6.399928"
    assert same(level(adversary, WOMEN), adversary.direct(WOMEN))
    against = EpsilonPrivacy(theirs(Adversary("I", METROPOLIS)), 2.5)
    assert against.passes(grouping(TABLE_3)).tolist() == [True, True, False]


def test_the_last_number_of_known_records_that_is_withstood() -> None:
    assert same(level(Adversary("I", METROPOLIS, 199), MEN), Adversary("I", METROPOLIS, 199).direct(MEN))
    assert level(Adversary("I", METROPOLIS, 200), MEN) == math.inf


def test_counts_that_somebody_saw_become_a_prior() -> None:
    """Example 3: 11,999 with flu and 17,999 with cancer among 29,998 make D(12000, 18000)."""
    counts = {"a": 11999, "b": 17999}
    for known in (0, 10):
        prior = Adversary("I", METROPOLIS, known)
        found = levels(Realistic.from_counts(counts, known=known), TABLE_3)
        assert all(same(one, prior.direct(h)) for one, h in zip(found, TABLE_3, strict=True))
    second = Adversary("II", total=Fraction(30000))
    assert same(level(Realistic.from_counts(counts, kind="II"), WOMEN), second.direct(WOMEN))
    assert same(level(Realistic.from_counts(counts, kind="III"), WOMEN), 6)
    ignorant = Realistic.from_counts({"a": 0, "b": 0, "c": 0})
    assert same(level(ignorant, (1, 2, 3)), Adversary("I", (Fraction(1),) * 3).direct((1, 2, 3)))


# ---------------------------------------------------------------------------- every world


def test_the_weight_of_a_world_is_the_integral_over_the_prior() -> None:
    """Whole parameters: the Dirichlet's normalising constant is Π (σ(s) − 1)! / (σ − 1)!."""

    def constant(sigma: Sequence[int]) -> Fraction:
        return Fraction(math.prod(math.factorial(one - 1) for one in sigma), math.factorial(sum(sigma) - 1))

    for sigma in itertools.product((1, 2, 5), repeat=3):
        for counts in histograms(3, 4):
            after = constant([one + n for one, n in zip(sigma, counts, strict=True)])
            assert oracle.dirichlet(sigma)(counts) == after / constant(sigma)


@pytest.mark.parametrize(("values", "people"), [(v, n) for v in (2, 3) for n in range(1, 7)])
def test_class_I_against_every_world(values: int, people: int) -> None:
    """Every histogram, every predicate, b from none to all; σ(s) whole, broken and below 1."""
    mixer = random.Random(10 * values + people)
    every = oracle.subsets(values)
    for histogram in histograms(values, people):
        for known in {0, mixer.randint(0, people), people - 1}:
            sigma = tuple(Fraction(mixer.randint(1, 30), mixer.choice((1, 1, 4, 16))) for _ in range(values))
            if sum(sigma) + known < 1:
                sigma = tuple(one + 1 for one in sigma)
            adversary = Adversary("I", sigma, known)
            prior = oracle.dirichlet(sigma)
            found = oracle.beliefs(prior, histogram, known) if known < people else []
            for predicate in every:
                right = oracle.worst(found, predicate) if found else math.inf
                assert adversary.direct(histogram, [predicate]) == right, (adversary, histogram, predicate)
                assert same(level(adversary, histogram, [predicate]), right), (adversary, histogram, predicate)
            right = oracle.by_worlds(prior, histogram, known=known)
            assert same(level(adversary, histogram), right), (adversary, histogram)


def test_beliefs_in_and_out_by_worlds() -> None:
    """Equations 8 and 9 as the appendix states them: n(q,s)/n(q), and a person without the value counts it once more."""
    sigma = (Fraction(5, 2), Fraction(1), Fraction(7))
    for histogram in histograms(3, 5):
        prior = oracle.dirichlet(sigma)
        assert oracle.inside(prior, histogram, ()) == tuple(Fraction(n, 5) for n in histogram)
        for own in (s for s in range(3) if histogram[s]):
            left_out = oracle.outside(prior, oracle.without(histogram, own), ())
            right = tuple(
                (n + one - (s == own)) / (5 + sum(sigma) - 1)
                for s, (n, one) in enumerate(zip(histogram, sigma, strict=True))
            )
            assert left_out == right


@pytest.mark.parametrize(("values", "people"), [(2, 2), (2, 5), (3, 3), (3, 5)])
def test_published_beliefs_against_every_world(values: int, people: int) -> None:
    """p_in is the most that any set of known people makes of it, p_out the least that a person with the value leaves."""
    mixer = random.Random(people)
    for histogram, known in itertools.product(histograms(values, people), (0, 1, people - 1)):
        sigma = tuple(Fraction(mixer.randint(4, 30), 4) for _ in range(values))
        for adversary, prior in (
            (Adversary("I", sigma, known), oracle.dirichlet(sigma)),
            (Adversary("III", shape_of(sigma), known), oracle.categorical(shape_of(sigma))),
        ):
            p_in, p_out = beliefs(grouping([histogram]), theirs(adversary))
            found = oracle.beliefs(prior, histogram, known)
            for s in (s for s in range(values) if histogram[s]):
                assert same(float(p_in[0, s]), max(one[s] for one, _ in found))
                assert same(float(p_out[0, s]), min(one[s] for _, one in found))


def test_what_is_known_of_others_tells_nothing_of_somebody_left_out() -> None:
    """b moves p_in alone: the histogram of the others has the known records in it already."""
    prior = oracle.dirichlet((Fraction(2), Fraction(3), Fraction(1, 2)))
    for others in histograms(3, 4):
        for known in {w[:2] for w in oracle.worlds(others)}:
            assert oracle.outside(prior, others, known) == oracle.outside(prior, others, ())


@pytest.mark.slow
@pytest.mark.parametrize("sigma", ["2", "3", "7/2", "5", "13/2"])
def test_class_II_is_the_worst_of_all_priors(sigma: str) -> None:
    """All σ(s) ≥ 1 in halves that make up σ: the worst of them is where the predicate has |S_φ|, and it is the level."""
    total = Fraction(sigma)
    for values in (2, 3):
        if total < values:
            continue
        every = [tuple(Fraction(one, 2) for one in parts) for parts in oracle.compositions(int(2 * total), values)]
        every = [parts for parts in every if min(parts) >= 1]
        assert every
        for histogram, known in itertools.product([h for n in (1, 2, 4) for h in histograms(values, n)], (0, 1)):
            adversary = Adversary("II", known=known, total=total)
            found = [
                oracle.beliefs(oracle.dirichlet(parts), histogram, known) for parts in every if sum(histogram) > known
            ]
            for predicate in oracle.subsets(values):
                right = max((oracle.worst(one, predicate) for one in found), default=math.inf)
                assert same(level(adversary, histogram, [predicate]), right), (adversary, histogram, predicate)
                if found:
                    least = [parts for parts in every if sum(parts[s] for s in predicate) == len(predicate)]
                    claimed = {
                        oracle.worst(oracle.beliefs(oracle.dirichlet(parts), histogram, known), predicate)
                        for parts in least
                    }
                    assert claimed == {right}


@pytest.mark.parametrize(("values", "people"), [(2, 1), (2, 3), (2, 5), (3, 2), (3, 4), (3, 5)])
def test_class_III_against_every_world(values: int, people: int) -> None:
    mixer = random.Random(values + people)
    for histogram in histograms(values, people):
        shape, known = some_shape(mixer, values), mixer.randint(0, people)
        adversary, prior = Adversary("III", shape, known), oracle.categorical(shape)
        for predicate in oracle.subsets(values):
            right = oracle.by_worlds(prior, histogram, [predicate], known)
            assert adversary.direct(histogram, [predicate]) == right
            assert same(level(adversary, histogram, [predicate]), right)
        assert same(level(adversary, histogram), oracle.by_worlds(prior, histogram, known=known))


def test_class_III_is_the_limit_of_class_I() -> None:
    """ε(σ) − ε(∞) falls like 1/σ."""
    mixer = random.Random(3)
    for _ in range(60):
        values = mixer.randint(2, 5)
        histogram, shape = some_histogram(mixer, values, 30), some_shape(mixer, values)
        third = level(Adversary("III", shape), histogram)
        for sigma in (10**8, 10**12):
            first = level(Adversary("I", tuple(p * sigma for p in shape)), histogram)
            assert first == third if third == math.inf else abs(first - third) <= third**2 * 1e4 / sigma


def test_larger_groups_against_the_closed_form() -> None:
    """What the worlds have confirmed for small groups, in fractions for large ones; several groups at once."""
    mixer = random.Random(4)
    for trial in range(300):
        values = mixer.randint(2, 8)
        adversary = some_adversary(mixer, values, mixer.choice(("I", "II", "III")))
        groups = [some_histogram(mixer, values, mixer.choice((3, 50, 10**6))) for _ in range(mixer.randint(1, 6))]
        predicates = some_predicates(mixer, values)
        right = [adversary.direct(histogram, predicates) for histogram in groups]
        found = levels(adversary, groups, predicates, shuffle=trial)
        assert all(same(one, other) for one, other in zip(found, right, strict=True)), (adversary, groups, predicates)
        criterion = EpsilonPrivacy(theirs(adversary), 3.0, sets(predicates))
        top = criterion.level(grouping(groups))
        assert same(top.value, max(right))
        assert same(top.value, right[top.worst])
        passes = [one <= 3 for one in right]
        assert criterion.passes(grouping(groups)).tolist() == passes
        assert criterion.satisfied(np.array(found)).tolist() == passes


def test_the_threshold_itself_passes_and_nothing_below_it() -> None:
    adversary = Adversary("II", total=Fraction(1000))  # 1499/500
    table = grouping(TABLE_3)
    assert EpsilonPrivacy(theirs(adversary), 2.998).passes(table).all()
    assert not EpsilonPrivacy(theirs(adversary), 2.997999).passes(table).all()
    assert not EpsilonPrivacy(Realistic("IV"), 1e300).passes(table).any()


# ---------------------------------------------------------------------------- Theorems 1 to 3


def random_epsilons(mixer: random.Random, exact: Number) -> list[Fraction]:
    """Around the exact value, and anything."""
    anything = [1 + Fraction(mixer.randint(1, 400), 100)]
    if isinstance(exact, float) or exact == 1:
        return anything
    return anything + [exact * Fraction(n, 1000) for n in (999, 1000, 1001, 1100, 1300, 1500) if exact * n > 1000]


@pytest.mark.parametrize("kind", ["I", "II"])
def test_the_conditions_of_theorems_1_and_2_are_sufficient(kind: str) -> None:
    """R1 and R2 hold ⇒ ε holds; they never hold at the exact ε itself, and always at one and a half times it.

    Both print σ + b where the exact form has σ + b − 1: (m+σ+b)/(m+σ+b−1) ≤ 4/3 too much in R1, m ≥ 2; in R2
    (y+d+1)/(y+d) ≤ 3/2, where y ≥ 1 people without the value are left and d ≥ 1 is what the prior has beside it.
    """
    mixer = random.Random(5)
    theorem = {"I": oracle.theorem_1, "II": oracle.theorem_2}[kind]
    held = 0
    for _ in range(1500):
        values = mixer.randint(2, 4)
        adversary, histogram = some_adversary(mixer, values, kind), some_histogram(mixer, values, mixer.choice((4, 60)))
        found, exact = level(adversary, histogram), adversary.direct(histogram)
        for epsilon in random_epsilons(mixer, exact):
            if theorem(adversary, histogram, epsilon):
                held += 1
                assert found <= float(epsilon) * (1 + 1e-12), (adversary, histogram, epsilon)
        if isinstance(exact, Fraction):
            assert not theorem(adversary, histogram, exact), (adversary, histogram)
            assert theorem(adversary, histogram, exact * Fraction(3, 2)), (adversary, histogram)
    assert held > 1000


def test_the_conditions_of_theorems_1_and_2_are_not_necessary() -> None:
    """N people with the first value, one with the second, D(1,1): 2(N+1)/(N+2) is enough, R2 asks for half as much more."""
    for n in (1, 2, 9, 1000):
        for adversary, theorem in (
            (Adversary("I", (Fraction(1), Fraction(1))), oracle.theorem_1),
            (Adversary("II", total=Fraction(2)), oracle.theorem_2),
        ):
            exact = max(Fraction(2 * (n + 1), n + 2), Fraction(n + 2, n + 1))
            assert same(level(adversary, (n, 1)), exact)
            asked = max(Fraction(3 * (n + 1), n + 2), Fraction(n + 3, n + 1))
            assert asked > exact
            assert theorem(adversary, (n, 1), asked)
            assert not theorem(adversary, (n, 1), asked * Fraction(999_999, 1_000_000))


def test_theorem_1_needs_priors_that_counts_can_give() -> None:
    """σ(s) < 1, one person of each of two values: R1 (a) and R2 hold at ε = 3, and p_in/p_out = (1/2)/(.01/2.01)."""
    adversary, histogram = Adversary("I", (Fraction(1, 100), Fraction(1))), (1, 1)
    assert oracle.theorem_1(adversary, histogram, Fraction(3))
    assert oracle.by_worlds(oracle.dirichlet(adversary.sigma), histogram) == Fraction(201, 2)
    assert same(level(adversary, histogram), Fraction(201, 2))


def test_theorem_3_is_exact() -> None:
    mixer = random.Random(6)
    held = failed = 0
    for _ in range(1500):
        values = mixer.randint(2, 4)
        adversary, histogram = some_adversary(mixer, values, "III"), some_histogram(mixer, values, 30)
        for epsilon in random_epsilons(mixer, adversary.direct(histogram)):
            holds = oracle.theorem_3(adversary, histogram, epsilon)
            criterion = EpsilonPrivacy(theirs(adversary), float(epsilon))
            assert criterion.passes(grouping([histogram])).tolist() == [holds], (adversary, histogram, epsilon)
            held, failed = held + holds, failed + (not holds)
    assert min(held, failed) > 1000


# ---------------------------------------------------------------------------- merging groups


def added(groups: Sequence[Counts]) -> Counts:
    return tuple(sum(column) for column in zip(*groups, strict=True))


@pytest.mark.parametrize("kind", ["I", "I at most", "small I", "II", "III"])
def test_merged_groups_are_no_worse_than_the_worst_of_them(kind: str) -> None:
    """For classes I to III with σ + b ≥ 1; also where σ(s) < 1 and where predicates are sets."""
    mixer = random.Random(7)
    strictly = 0
    for _ in range(600):
        values = mixer.randint(2, 5)
        adversary = some_adversary(mixer, values, "I" if "I at" in kind or kind == "small I" else kind)
        if kind == "small I":
            shape = some_shape(mixer, values)
            total = max(Fraction(1 - adversary.known), Fraction(mixer.randint(1, 40), 16))
            adversary = Adversary("I", tuple(p * total for p in shape), adversary.known)
        groups = [some_histogram(mixer, values, mixer.choice((3, 12, 60))) for _ in range(mixer.randint(2, 4))]
        predicates = some_predicates(mixer, values)
        who = theirs(adversary, at_most=kind == "I at most")
        apart = levels(who, groups, predicates)
        [together] = levels(who, [added(groups)], predicates)
        assert together <= max(apart) * (1 + 1e-12), (adversary, groups, predicates)
        strictly += together < max(apart) < math.inf
    assert strictly > 100
    assert EpsilonPrivacy.monotone
    assert EpsilonPrivacy.better == "smaller"


def test_below_one_merging_may_harm_and_is_refused() -> None:
    """σ = 1/2, uniform on four: a | b and c | d are 6-private apart and 7-private together. At σ = 1 both are 4."""
    half = Fraction(1, 2)
    apart, together = (1, 1, 0, 0), (1, 1, 1, 1)
    prior = oracle.dirichlet((half / 4,) * 4)
    assert oracle.by_worlds(prior, apart) == 6
    assert oracle.by_worlds(prior, together) == 7
    for sigma in (0.5, 0.999):
        with pytest.raises(REFUSED, match="sigma"):
            Realistic("I", shape="uniform", sigma=sigma)
    one = Realistic("I", shape="uniform", sigma=1.0)
    assert same(level(one, apart), 4)
    assert same(level(one, together), 4)
    # With a record known σ + b ≥ 1 holds, and the same merge helps.
    known = Adversary("I", (half / 4,) * 4, 1)
    bigger = (2, 2, 0, 0)
    assert same(level(known, bigger), oracle.by_worlds(prior, bigger, known=1))
    assert level(known, added([bigger, (0, 0, 2, 2)])) < level(known, bigger)


def test_a_group_that_passes_may_fail_with_another() -> None:
    assert not EpsilonPrivacy.absorbing
    for adversary in (
        Adversary("I", (Fraction(2), Fraction(2))),
        Adversary("II", total=Fraction(3)),
        Adversary("III", (Fraction(1, 2), Fraction(1, 2))),
    ):
        criterion = EpsilonPrivacy(theirs(adversary), 1.6)
        assert criterion.passes(grouping([(2, 2)])).all()
        assert not criterion.passes(grouping([added([(2, 2), (60, 0)])])).any()


# ---------------------------------------------------------------------------- older definitions as instances


def diversity_epsilons(ratio: Fraction, k: int) -> tuple[Fraction, Fraction]:
    """The two of Equation 6."""
    return k * ratio / (ratio + 1), (ratio + 1) * Fraction(k - 1, k)


def test_c_2_diversity_is_class_III_with_a_uniform_prior() -> None:
    """Of M, the largest share, k·M and (1 − 1/k)/(1 − M) both grow strictly, so ε(M) ≤ ε(c/(c+1)) ⇔ M ≤ c/(c+1).

    The maximum of the two is ε(c/(c+1)), and the equivalence is exact for every k.
    """
    mixer = random.Random(8)
    seen = {True: 0, False: 0}
    for _ in range(800):
        k = mixer.randint(2, 6)
        histogram = some_histogram(mixer, k, 20)
        most, n = max(histogram), sum(histogram)
        ratios = [Fraction(mixer.randint(1, 60), mixer.randint(1, 10))]
        if most < n:
            ratios += [Fraction(most, n - most), Fraction(most, n - most) * Fraction(99, 100)]
        for ratio in ratios:
            epsilon = max(diversity_epsilons(ratio, k))
            if epsilon < 1:
                assert ratio < Fraction(1, k - 1)  # no group has M < 1/k
                continue
            diverse = Fraction(most, n) <= ratio / (ratio + 1)
            table = grouping([histogram])
            recursive = c.RecursiveDiversity(2.0, 2).levels(table)[0]
            assert (recursive <= float(ratio) * (1 + 1e-12)) == diverse
            criterion = EpsilonPrivacy(Realistic("III", shape="uniform"), float(epsilon))
            assert criterion.passes(table).tolist() == [diverse], (histogram, ratio)
            seen[diverse] += 1
    assert min(seen.values()) > 300


def test_for_two_values_c_2_diversity_is_half_of_c_plus_one() -> None:
    for ratio in (Fraction(1), Fraction(4), Fraction(9, 2)):
        assert max(diversity_epsilons(ratio, 2)) == (ratio + 1) / 2
    assert same(level(Realistic("III", shape="uniform"), (4, 1)), Fraction(5, 2))


def test_the_printed_minimum_is_too_small() -> None:
    """k = 3, c = 3: shares (3/4, 1/4, 0) are (3,2)-diverse and 8/3-private, the minimum is 9/4. Private ⇒ diverse holds."""
    less, more = sorted(diversity_epsilons(Fraction(3), 3))
    assert (less, more) == (Fraction(9, 4), Fraction(8, 3))
    uniform = Realistic("III", shape="uniform")
    assert same(level(uniform, (3, 1, 0)), more)
    assert not EpsilonPrivacy(uniform, float(less)).passes(grouping([(3, 1, 0)])).any()
    for histogram in histograms(3, 12):
        if EpsilonPrivacy(uniform, float(less)).passes(grouping([histogram])).all():
            assert max(histogram) <= 9


def closeness_epsilon(shares: Sequence[Fraction], t: Fraction) -> Fraction:
    """Lemma 1's ε_t over the values for which it is defined."""
    return max(max((p + t) / p, p / (p - t) if p != t else Fraction(0)) for p in shares)


def variation(histogram: Counts, shares: Sequence[Fraction]) -> Fraction:
    return sum((abs(Fraction(n, sum(histogram)) - p) for n, p in zip(histogram, shares, strict=True)), Fraction(0)) / 2


def test_lemma_1_closeness_gives_epsilon_t_where_every_share_is_above_t() -> None:
    """|q(s) − p(s)| ≤ t, and 1 − p(s) is at least the share p(s') of another value: (1−p)/(1−p−t) ≤ p'/(p'−t)."""
    mixer = random.Random(9)
    applied = tight = 0
    for _ in range(600):
        k = mixer.randint(2, 4)
        groups = [tuple(mixer.randint(1, 40) for _ in range(k)) for _ in range(mixer.randint(2, 3))]
        table = added(groups)
        shares = shape_of([Fraction(n) for n in table])
        t = max(variation(histogram, shares) for histogram in groups)
        assert same(c.TCloseness(0.5, "equal").level(grouping(groups)).value, t, 1e-9) or t == 0
        if t and min(shares) > t:
            epsilon = closeness_epsilon(shares, t)
            found = EpsilonPrivacy(Realistic("III", shape="table"), float(epsilon)).level(grouping(groups)).value
            assert found <= float(epsilon) * (1 + 1e-12), groups
            applied += 1
            tight += found >= float(epsilon) * (1 - 1e-12)
    assert applied > 200
    assert tight > 0


def test_lemma_1_is_false_where_a_share_is_below_t() -> None:
    """p = (1/10, 9/10), t = 1/5: the print allows 3, no group is homogeneous, and q = (1/100, 99/100) has ε = 10."""
    groups = [(1, 99), (19, 81)]
    shares = (Fraction(1, 10), Fraction(9, 10))
    assert max(variation(histogram, shares) for histogram in groups) < Fraction(1, 5)
    assert closeness_epsilon(shares, Fraction(1, 5)) == 3
    found = EpsilonPrivacy(Realistic("III", shape="table"), 3.0).levels(grouping(groups))
    assert same(float(found[0]), 10)


def test_epsilon_t_does_not_give_closeness() -> None:
    """The converse in Sec. 4.2: p = (1/3, 2/3), t = 1/5, ε_t = 5/2; shares (11/15, 4/15) are 5/2-private and 2/5 away."""
    groups = [(11, 4), (4, 26)]
    shares = (Fraction(1, 3), Fraction(2, 3))
    assert closeness_epsilon(shares, Fraction(1, 5)) == Fraction(5, 2)
    table = grouping(groups)
    criterion = EpsilonPrivacy(Realistic("III", shape="table"), 2.5)
    assert criterion.passes(table).all()
    assert same(float(criterion.levels(table)[0]), Fraction(5, 2))
    assert same(float(c.TCloseness(0.2, "equal").levels(table)[0]), Fraction(2, 5))


@pytest.mark.parametrize("kind", ["I", "II", "III", "IV"])
def test_nothing_withstands_who_knows_all_but_one(kind: str) -> None:
    """Differential privacy's adversary: b = n − 1, and a class IV adversary whatever it knows."""
    mixer = random.Random(10)
    for _ in range(40):
        histogram = some_histogram(mixer, 3, 20)
        known = sum(histogram) - 1
        adversary = Adversary("IV", known=known) if kind == "IV" else some_adversary(mixer, 3, kind)
        adversary = Adversary(kind, adversary.sigma, known, adversary.total)
        assert level(adversary, histogram) == math.inf
        assert level(Adversary("IV"), histogram) == math.inf
        assert level(Adversary("IV"), histogram, [frozenset({histogram.index(max(histogram))})]) == math.inf


def test_perfect_privacy_asks_for_the_shares_of_the_prior() -> None:
    mixer = random.Random(11)
    for _ in range(200):
        k, times = mixer.randint(2, 5), mixer.randint(2, 50)
        parts = tuple(mixer.randint(1, 9) for _ in range(k))
        adversary = Adversary("III", shape_of([Fraction(n) for n in parts]))
        criterion = EpsilonPrivacy(theirs(adversary), 1.0)
        same_shares = [parts, tuple(n * times for n in parts)]
        assert levels(adversary, same_shares) == pytest.approx([1.0, 1.0], rel=1e-14)
        assert criterion.passes(grouping(same_shares)).all()
        other = list(same_shares[1])
        other[mixer.randrange(k)] += 1
        assert level(adversary, tuple(other)) > 1 + 1e-6
        assert not criterion.passes(grouping([tuple(other)])).any()
    table = grouping([(2, 4, 6), (1, 2, 3)])
    assert EpsilonPrivacy(Realistic("III", shape="table"), 1.0).passes(table).all()


# ---------------------------------------------------------------------------- edges


@pytest.mark.parametrize("kind", ["I", "II", "III"])
def test_where_there_is_no_bound(kind: str) -> None:
    mixer = random.Random(12)
    for _ in range(100):
        k = mixer.randint(2, 5)
        adversary = some_adversary(mixer, k, kind)
        homogeneous = tuple(mixer.randint(1, 9) if s == 1 else 0 for s in range(k))
        assert level(adversary, homogeneous) == math.inf
        few = oracle.tally([mixer.randrange(k) for _ in range(adversary.known)], k)
        if adversary.known:
            assert level(adversary, few) == math.inf
            # Nobody in the group has the predicate, and still everybody in it is known.
            absent = [s for s in range(k) if not few[s]]
            assert not absent or level(adversary, few, [frozenset(absent[:1])]) == math.inf
        two = tuple(mixer.randint(1, 20) if s < 2 else 0 for s in range(k))
        if k > 2:
            assert level(adversary, two, [frozenset({0, 1})]) == math.inf
            assert level(adversary, tuple(20 * n for n in two), [frozenset({0, 2})]) < math.inf


def test_numbers_that_no_machine_word_holds() -> None:
    with pytest.raises(ParameterError, match="'known' parameter"):
        Realistic("II", sigma=9.0, known=10**20)
    with pytest.raises(ParameterError, match="'sigma' parameter"):
        Realistic("II", sigma=10**400)


def test_never_below_one_and_never_undefined() -> None:
    """A predicate that nobody has, or that the prior makes likelier than the group does, discloses nothing."""
    assert level(Adversary("III", (Fraction(1, 10), Fraction(9, 10))), (5, 5), [frozenset({1})]) == 1
    assert level(Adversary("I", (Fraction(1), Fraction(9))), (5, 5), [frozenset({1})]) == 1
    assert level(Adversary("II", total=Fraction(10)), (5, 5, 0), [frozenset({2})]) == 1
    mixer = random.Random(13)
    for _ in range(300):
        k = mixer.randint(2, 4)
        adversary = some_adversary(mixer, k, mixer.choice(("I", "II", "III")))
        groups = [some_histogram(mixer, k, 6) for _ in range(5)]
        for one in levels(adversary, groups, some_predicates(mixer, k)):
            assert one >= 1


def test_one_value_in_the_whole_domain() -> None:
    for who in (
        Realistic("I", shape="uniform", sigma=5.0),
        Realistic("II", sigma=5.0),
        Realistic("III", shape="table"),
    ):
        assert levels(who, [(4,), (1,)]) == [math.inf, math.inf]


def test_a_value_that_the_prior_excludes() -> None:
    """Class III never believed it: infinite. A finite σ learns it from the others who have it, if there are any."""
    shape = {"a": 0.5, "b": 0.5, "c": 0.0}
    third = Realistic("III", shape=shape)
    assert level(third, (2, 2, 1)) == math.inf
    assert level(third, (2, 2, 0)) == 1
    assert same(level(third, (2, 2, 1), [frozenset({1, 2})]), Fraction(5, 4))
    first = Realistic("I", shape=shape, sigma=4.0)
    assert level(first, (2, 2, 1)) == math.inf
    assert same(level(first, (4, 4, 2)), Adversary("I", (Fraction(2), Fraction(2), Fraction(0))).direct((4, 4, 2)))
    assert Adversary("I", (Fraction(2), Fraction(2), Fraction(0))).direct((4, 4, 2)) == Fraction(13, 5)


@pytest.mark.parametrize("known", [0, 2])
def test_at_most_is_the_worst_of_all_that_are_no_more_stubborn(known: int) -> None:
    """σ(s) ≥ 1, so σ begins at 1 over the smallest share; the worst may be at either end."""
    mixer = random.Random(14)
    ends = {"low": 0, "high": 0}
    for _ in range(60):
        k = mixer.randint(2, 4)
        parts = tuple(mixer.randint(1, 9) for _ in range(k))
        shape = shape_of([Fraction(n) for n in parts])
        histogram = mixer.choice((some_histogram(mixer, k, 25), tuple(4 * n + mixer.randint(0, 1) for n in parts)))
        low = 1 / min(shape)
        high = low + Fraction(mixer.randint(1, 1000), 8)
        grid = [low + (high - low) * Fraction(i, 40) for i in range(41)]
        predicates = some_predicates(mixer, k)
        right = [Adversary("I", tuple(p * one for p in shape), known).direct(histogram, predicates) for one in grid]
        top = Adversary("I", tuple(p * high for p in shape), known)
        assert same(level(theirs(top, at_most=True), histogram, predicates), max(right)), (shape, high, histogram)
        exact = level(theirs(top), histogram, predicates)
        assert same(exact, right[-1])
        ends["low"] += right[0] > right[-1]
        ends["high"] += right[0] < right[-1]
        second = Adversary("II", known=known, total=high + k)
        assert level(theirs(second, at_most=True), histogram, predicates) == level(second, histogram, predicates)
        for i in range(10):
            less = Adversary("II", known=known, total=k + high * Fraction(i, 10))
            assert less.direct(histogram, predicates) <= second.direct(histogram, predicates)
    assert min(ends.values()) > 0


def test_nobody_is_less_stubborn_than_the_counts_allow() -> None:
    with pytest.raises(REFUSED):
        level(Realistic("I", shape={"a": 0.1, "b": 0.9}, sigma=9.0, at_most=True), (5, 5))
    assert level(Realistic("I", shape={"a": 0.1, "b": 0.9}, sigma=10.0, at_most=True), (5, 5)) == level(
        Realistic("I", shape={"a": 0.1, "b": 0.9}, sigma=10.0), (5, 5)
    )


def test_suppressed_rows_count_in_the_shape_of_the_table() -> None:
    """Groups (3,1) and (1,3) are half and half; with 24 suppressed b the table is 1 : 7."""
    groups, suppressed = [(3, 1), (1, 3)], (0, 24)
    shape = (Fraction(1, 8), Fraction(7, 8))
    table = grouping(groups, suppressed=suppressed)
    for who, right in (
        (Realistic("III", shape="table"), Adversary("III", shape)),
        (Realistic("I", shape="table", sigma=16.0), Adversary("I", tuple(16 * p for p in shape))),
    ):
        found = EpsilonPrivacy(who, 2.0).levels(table)
        assert all(same(float(one), right.direct(h)) for one, h in zip(found, groups, strict=True))
    third = Realistic("III", shape="table")
    assert same(EpsilonPrivacy(third, 2.0).level(table).value, 6)
    assert same(EpsilonPrivacy(third, 2.0).level(grouping(groups)).value, 2)
    uniform = EpsilonPrivacy(Realistic("III", shape="uniform"), 2.0)
    assert uniform.levels(table).tolist() == uniform.levels(grouping(groups)).tolist()
    # 4 σ/8 ≥ (3 + σ)/4 for the only a of the second group, 2 + σ/8 ≥ (3 + σ)·3/16 for those of the first.
    assert withstood(table, 4.0, shape="table") == pytest.approx((3, 23))
    assert withstood(grouping(groups), 4.0, shape="table") == (1, math.inf)


# ---------------------------------------------------------------------------- predicates


def test_predicates_as_people_write_them() -> None:
    assert Predicate.parse("{ulcer, dyspepsia}") == Predicate(frozenset({"ulcer", "dyspepsia"}))
    assert Predicate.parse("not cancer") == Predicate(frozenset({"cancer"}), negated=True)
    assert Predicate.parse("not {a, b}") == Predicate(frozenset({"a", "b"}), negated=True)
    assert Predicate.parse("disease={a, b}") == Predicate(frozenset({"a", "b"}), column="disease")
    assert Predicate.parse("cancer") == Predicate(frozenset({"cancer"}))
    for text in ("", " ", "{}", "not {}"):
        with pytest.raises(InputError):
            Predicate.parse(text)


def test_a_negative_disclosure_is_a_positive_one_of_the_rest() -> None:
    adversary, histogram = theirs(Adversary("I", (Fraction(2), Fraction(5), Fraction(1)), 1)), (4, 7, 3)
    table = grouping([histogram])
    for text, rest in (("not a", {1, 2}), ("not {a, b}", {2}), ("s={a, c}", {0, 2}), ("s=not {b}", {0, 2})):
        found = EpsilonPrivacy(adversary, 2.0, (Predicate.parse(text),)).levels(table)
        assert found.tolist() == levels(adversary, [histogram], [frozenset(rest)]), text


def test_the_minus_one_counts_once_for_a_predicate() -> None:
    """n(φ) = 5 of 8, σ(φ) = 2 of 10: p_out = 6/17, not 5/17."""
    adversary = Adversary("I", (Fraction(1), Fraction(1), Fraction(8)))
    assert same(level(adversary, (2, 3, 3), [frozenset({0, 1})]), Fraction(5, 8) / Fraction(6, 17))


def test_predicates_of_other_columns_play_no_part() -> None:
    mine, other = Predicate(frozenset({"a"}), column="s"), Predicate(frozenset({"b"}), column="t")
    uniform, table = Realistic("III", shape="uniform"), grouping([(5, 7, 0)])
    assert same(float(EpsilonPrivacy(uniform, 2.0, (mine, other)).levels(table)[0]), Fraction(5, 4))
    assert same(float(EpsilonPrivacy(uniform, 2.0, (mine,)).levels(table)[0]), Fraction(5, 4))
    assert same(float(EpsilonPrivacy(uniform, 2.0).levels(table)[0]), Fraction(7, 4))


@pytest.mark.parametrize(
    "predicate",
    [
        Predicate(frozenset("ab")),
        Predicate(frozenset("ab"), negated=True),
        Predicate(frozenset()),
        Predicate(frozenset(), negated=True),
        Predicate(frozenset({"nobody's"})),
    ],
)
def test_predicates_that_say_nothing_are_refused(predicate: Predicate) -> None:
    criterion = EpsilonPrivacy(Realistic("II", sigma=9.0), 2.0, (predicate,))
    with pytest.raises(InputError):
        criterion.levels(grouping([(2, 3)]))


# ---------------------------------------------------------------------------- how much stubbornness is withstood


def withstands(
    groups: Sequence[Counts],
    epsilon: float,
    shape: str | dict[str, float] | None,
    known: int,
    predicates: tuple[Predicate, ...],
    sigma: float,
) -> bool:
    who = Realistic("II" if shape is None else "I", shape=shape, sigma=sigma, known=known)
    return bool(EpsilonPrivacy(who, epsilon, predicates).passes(grouping(groups)).all())


@pytest.mark.parametrize("kind", ["uniform", "table", "given", "II"])
def test_withstood_against_the_levels(kind: str) -> None:
    mixer = random.Random(15)
    found_some = {"none": 0, "bounded": 0, "unbounded": 0, "from above the least": 0}
    for _ in range(250):
        k, known = mixer.randint(2, 4), mixer.choice((0, 0, 1, 3))
        groups = [some_histogram(mixer, k, mixer.choice((6, 30, 200))) for _ in range(mixer.randint(1, 3))]
        groups = [h if min(h) or mixer.random() < 0.2 else tuple(n + 2 for n in h) for h in groups]
        epsilon = 1 + Fraction(mixer.choice((mixer.randint(1, 100), mixer.randint(1, 1000))), 64)
        predicates = some_predicates(mixer, k)
        shapes = {
            "uniform": ("uniform", (Fraction(1, k),) * k),
            "table": ("table", shape_of([Fraction(n) for n in added(groups)])),
            "given": (None, some_shape(mixer, k)),
            "II": (None, None),
        }
        text, shape = shapes[kind]
        given = text or (named(shape) if shape else None)
        least = Fraction(k) if shape is None else Fraction(max(1 - known, 0))
        mine = predicates or oracle.singles(groups[0])
        parts = [oracle.withstood(histogram, epsilon, shape, known, mine, least) for histogram in groups]
        right = None
        if all(parts):
            low, high = max(one[0] for one in parts if one), min(one[1] for one in parts if one)
            right = (low, high) if low <= high else None
        found = withstood(grouping(groups), float(epsilon), shape=given, known=known, predicates=sets(predicates))
        assert (found is None) == (right is None), (groups, epsilon, shape, known, predicates)

        passes = partial(withstands, groups, float(epsilon), given, known, sets(predicates))
        floor = max(float(least), 1e-6)
        if found is None or right is None:
            found_some["none"] += 1
            assert not any(passes(floor * 1.3**i) for i in range(60))
            continue
        assert isinstance(found, Interval)
        assert found.smallest == pytest.approx(float(right[0]), rel=1e-9)
        assert found.largest == pytest.approx(float(right[1]), rel=1e-9)
        first, last = max(found.smallest, floor), min(found.largest, 1e9)
        assert all(passes(first + (last - first) * share) for share in (0.0, 0.001, 0.3, 1.0))
        if found.smallest > floor:
            found_some["from above the least"] += 1
            assert not passes(max(floor, found.smallest * 0.99))
        found_some["bounded" if found.largest < math.inf else "unbounded"] += 1
        if found.largest < math.inf:
            assert not passes(found.largest * 1.01)
    assert found_some["none"] > 10
    assert found_some["bounded"] > 10
    if kind != "II":
        assert min(found_some.values()) > 0


def test_withstood_by_hand() -> None:
    """Table 3 at ε = 61: (n + σ − 1)/n ≤ 61 for 500 men; 61·500 − 499 = 30001. And at 1 nothing but the prior's shape."""
    assert withstood(grouping(TABLE_3), 61.0) == pytest.approx((2, 30001))
    assert withstood(grouping([(30, 20)]), 1.0) is None
    assert withstood(grouping([(30, 20)]), 1.0, shape={"a": 0.6, "b": 0.4}) is None  # (n + σ(s) − 1)/… is below n(s)/n
    assert withstood(grouping([(5, 0), (1, 1)]), 1e9) is None


def test_at_the_epsilon_of_a_stubbornness_it_is_withstood() -> None:
    """Also where it is the only one, at the least there can be: the interval is closed, and rounding must not empty it."""
    mixer = random.Random(16)
    for _ in range(400):
        k = mixer.randint(2, 4)
        table = grouping([tuple(mixer.randint(1, 30) for _ in range(k)) for _ in range(2)])
        for shape, sigma in itertools.product((None, "uniform", "table"), (0, mixer.randint(1, 50))):
            least = k if shape is None else 1
            who = Realistic("I", shape=shape, sigma=least + sigma) if shape else Realistic("II", sigma=least + sigma)
            epsilon = EpsilonPrivacy(who, 2.0).level(table).value
            if epsilon < math.inf:
                found = withstood(table, epsilon, shape=shape)
                assert found is not None, (table.counts, shape, sigma, epsilon)
                assert found.smallest * (1 - 1e-9) <= least + sigma <= found.largest * (1 + 1e-9)


def test_nothing_is_withstood_where_a_whole_group_is_known() -> None:
    """The second group has nobody with the predicate, and all of its members are known: infinite ε at every σ."""
    groups, predicates = [(20, 20, 20), (1, 1, 0)], [frozenset({2})]
    for shape in (None, "uniform"):
        who = Realistic("II", sigma=9.0, known=2) if shape is None else Realistic("I", shape=shape, sigma=9.0, known=2)
        assert levels(who, groups, predicates)[1] == math.inf
        assert withstood(grouping(groups), 50.0, shape=shape, known=2, predicates=sets(predicates)) is None


def test_nearly_every_stubbornness_is_withstood_at_a_huge_epsilon() -> None:
    smallest, largest = withstood(grouping([(2, 3)]), 1e300) or (0.0, 0.0)
    assert smallest == 2
    assert largest > 1e299
    assert withstood(grouping([(2, 3)]), 1e300, shape="uniform") == (1, math.inf)
    assert withstood(grouping([(0, 3)]), 1e300) is None


# ---------------------------------------------------------------------------- what is refused

SIGMAS: tuple[object, ...] = (math.nan, math.inf, -math.inf, -1.0, 0, True, "9")
KNOWNS: tuple[object, ...] = (-1, 1.5, math.nan, True, "1", None)
SHAPES: tuple[object, ...] = (
    *("flat", "", {}, 3, ["a"], {"a": 0.5, "b": 0.6}, {"a": 0.4, "b": 0.5}, {"a": -0.1, "b": 1.1}),
    *({"a": math.nan, "b": 1.0}, {"a": math.inf, "b": 0.0}, {"a": "x", "b": 1.0}, {"a": None, "b": 1.0}),
    *({"s": {"a": 0.5, "b": 0.6}}, {"s": {"a": 0.5, "b": 0.5}, "t": 0.5}),
)
BAD: list[dict[str, object]] = [
    {"kind": "V"},
    {"kind": "i", "shape": "uniform", "sigma": 9.0},
    {"kind": 1, "shape": "uniform", "sigma": 9.0},
    {"kind": "I"},
    {"kind": "I", "shape": "uniform"},
    {"kind": "I", "sigma": 9.0},
    {"kind": "II"},
    {"kind": "II", "shape": "uniform", "sigma": 9.0},
    {"kind": "III"},
    {"kind": "III", "shape": "uniform", "sigma": 9.0},
    {"kind": "IV", "shape": "uniform"},
    {"kind": "IV", "sigma": 9.0},
    {"kind": "I", "shape": "uniform", "sigma": -1.0, "known": 5},
    {"kind": "II", "sigma": 0.5},
]
BAD += [{"kind": "I", "shape": "uniform", "sigma": bad} for bad in SIGMAS] + [
    {"kind": "II", "sigma": bad} for bad in SIGMAS
]
BAD += [{"kind": "II", "sigma": 9.0, "known": bad} for bad in KNOWNS] + [
    {"kind": "III", "shape": bad} for bad in SHAPES
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_adversaries(bad: dict[str, object]) -> None:
    with pytest.raises(REFUSED):
        Realistic(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0.999, 0, -1.0, math.nan, True, "2", None])
def test_bad_epsilons(epsilon: object) -> None:
    with pytest.raises(ParameterError, match=r"'epsilon' parameter .* must be .* Got .* instead"):
        EpsilonPrivacy(Realistic("IV"), epsilon)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"'epsilon' parameter .* must be .* Got .* instead"):
        withstood(grouping([(2, 3)]), epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("known", [-1, 1.5, True, "1"])
@pytest.mark.parametrize("shape", [None, "uniform"])
def test_bad_numbers_of_known_records(known: object, shape: str | None) -> None:
    with pytest.raises(ParameterError, match=r"'known' parameter .* must be .* Got .* instead"):
        withstood(grouping([(2, 3)]), 2.0, shape=shape, known=known)  # type: ignore[arg-type]


def test_bad_counts() -> None:
    for counts in ({"a": -1, "b": 3}, {"a": math.nan, "b": 3}, {}):
        with pytest.raises(REFUSED):
            Realistic.from_counts(counts)
    with pytest.raises(InputError):
        level(Realistic.from_counts({"a": 1, "z": 3}), (2, 3))


def test_class_II_has_seen_each_value_or_none() -> None:
    with pytest.raises(REFUSED):
        level(Realistic("II", sigma=2.9), (2, 3, 4))
    with pytest.raises(REFUSED):
        level(Realistic("II", sigma=2.9, known=5), (20, 30, 0))  # the leaves count, not what occurs
    assert same(level(Realistic("II", sigma=3.0), (2, 3, 4)), Adversary("II", total=Fraction(3)).direct((2, 3, 4)))


def test_a_shape_fits_its_column() -> None:
    for shape in ({"a": 1.0}, {"a": 0.5, "z": 0.5}, {"a": 0.5, "b": 0.25, "z": 0.25}):
        with pytest.raises(InputError):
            level(Realistic("III", shape=shape), (2, 3))
        with pytest.raises(InputError):
            level(Realistic("I", shape=shape, sigma=9.0), (2, 3))
