"""Realistic adversaries as beliefs: p_in and p_out of a target's class, mixtures where several fit, who loses most."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import UNKNOWN, RandomWorlds, RealisticAdversary, Refused, Targets, make_adversary
from dalenius.belief import Belief
from dalenius.criteria import EpsilonPrivacy
from dalenius.criteria.parsing import adversary as written
from dalenius.errors import InputError
from dalenius.measures.disclosure import epsilons
from dalenius.releases import Anatomized, Generalized
from dalenius.schema import Column, Domain, Schema
from tests.adversaries import worlds
from tests.adversaries.test_random_worlds import (
    VALUES,
    anatomized,
    built,
    every_target,
    random_boxes,
    random_groups,
    read,
    schema_of,
    targets_of,
)
from tests.criteria import realistic_oracle as oracle
from tests.criteria.realistic_oracle import Counts

RELEASES = 30  # of each kind
WRITTEN = (
    "I:uniform:30",
    "I:table:7.5",
    "I:uniform:4:known=1",
    "II:50",
    "II:5:known=2",
    "III:uniform",
    "III:table",
    "IV",
)
Row = tuple[Fraction, ...]


# --- The oracle's adversaries, from the same words -----------------------------------------------------------------------


def theirs(text: str, table: Counts) -> oracle.Adversary:
    """The adversary that a text names, for a column whose values occur so often: sums of fractions, nothing of ours."""
    kind, *parts = text.split(":")
    known = 0
    if parts and parts[-1].startswith("known="):
        known = int(parts.pop().removeprefix("known="))
    if kind == "IV":
        return oracle.Adversary("IV", known=known)
    if kind == "II":
        return oracle.Adversary("II", known=known, total=Fraction(parts[0]))
    shares = {"uniform": [Fraction(1, len(table))] * len(table), "table": [Fraction(n, sum(table)) for n in table]}
    shape = shares[parts[0]]
    if kind == "III":
        return oracle.Adversary("III", tuple(shape), known)
    return oracle.Adversary("I", tuple(Fraction(parts[1]) * share for share in shape), known)


def p_in(adversary: oracle.Adversary, histogram: Counts) -> Row:
    left = sum(histogram) - adversary.known
    return tuple(Fraction(1) if n >= left else Fraction(n, left) for n in histogram)


def p_out(adversary: oracle.Adversary, histogram: Counts) -> Row:
    """By the oracle where somebody has the value. Of one that nobody has, nobody is left out: σ(s) / (n − 1 + σ)."""
    total = adversary.total if adversary.kind == "II" else sum(adversary.sigma, Fraction(0))
    found = []
    for s, n in enumerate(histogram):
        if adversary.kind == "IV":
            found.append(Fraction(0))
        elif n or adversary.kind == "III":
            found.append(adversary.prior(frozenset({s}), histogram))
        else:
            mine = Fraction(1) if adversary.kind == "II" else adversary.sigma[s]
            found.append(mine / (sum(histogram) - 1 + total))
    return tuple(found)


def mixed(weights: Sequence[Fraction], rows: Sequence[Row]) -> list[float] | None:
    """The rows, each as likely as its weight; nothing where no weight is."""
    total = sum(weights, Fraction(0))
    if not total:
        return None
    columns = zip(*rows, strict=True)
    return [
        float(sum((w * p for w, p in zip(weights, column, strict=True)), Fraction(0)) / total) for column in columns
    ]


def tally(values: Sequence[str]) -> Counts:
    counted = Counter(values)
    return tuple(counted[value] for value in VALUES)


# --- p_in and p_out of a class ------------------------------------------------------------------------------------------


def table_3() -> Generalized:
    release = dl.datasets.paper("realistic-3")
    assert isinstance(release, Generalized)
    return release


def of_table_3(people: Sequence[tuple[int | None, str | None]]) -> Targets:
    """By age and gender, either of which may be unknown."""
    release = table_3()
    ages, genders = (column.leaves for column in release.schema.quasi)
    codes = [
        [UNKNOWN if age is None else ages.index(str(age)), UNKNOWN if gender is None else genders.index(gender)]
        for age, gender in people
    ]
    return Targets(release.schema, np.array(codes, dtype=np.int32))


TABLE_3 = {("<40", "M"): (200, 300), (">=40", "M"): (1800, 2700), (">=40", "F"): (18000, 2000)}
PEOPLE = {(20, "M"): ("<40", "M"), (39, "M"): ("<40", "M"), (40, "M"): (">=40", "M"), (99, "F"): (">=40", "F")}


@pytest.mark.parametrize("text", [*WRITTEN, "I:uniform:30000:known=10", "II:30000"])
def test_a_target_of_one_class_has_its_p_in_and_p_out(text: str) -> None:
    adversary = theirs(text, (20000, 5000))
    belief = make_adversary(text).attack(table_3(), of_table_3(list(PEOPLE)))
    assert belief.column.leaves == ("Flu", "Cancer")
    assert belief.matched.all()
    assert belief.method == "exact"
    assert (belief.stderr == 0).all()
    for place, inside, outside, epsilon in zip(
        PEOPLE.values(), belief.posterior, belief.baseline, epsilons(belief), strict=True
    ):
        histogram = TABLE_3[place]
        assert inside == pytest.approx([float(p) for p in p_in(adversary, histogram)], rel=1e-13)
        assert outside == pytest.approx([float(p) for p in p_out(adversary, histogram)], rel=1e-13)
        assert epsilon == pytest.approx(float(adversary.direct(histogram)), rel=1e-12)


def test_a_prior_of_counts_on_the_women_of_table_3() -> None:
    """Example 3: (18000 + 12000 − 1)/(20000 + 30000 − 1) of flu, .9 with her in it; 4.00008 is what she loses."""
    model = dl.criteria.Realistic.from_counts({"Flu": 11999, "Cancer": 17999})
    belief = RealisticAdversary(model).attack(table_3(), of_table_3([(50, "F"), (50, "M")]))
    assert belief.posterior[0] == pytest.approx([0.9, 0.1], rel=1e-14)
    assert belief.baseline[0] == pytest.approx([29999 / 49999, (2000 + 18000 - 1) / 49999], rel=1e-14)
    found = epsilons(belief)
    assert found[0] == pytest.approx(200000 / 49999, rel=1e-12)
    assert found[0] > found[1]


def test_who_loses_most_is_in_the_class_that_is_worst() -> None:
    people = list(PEOPLE)
    for text, most in (("I:uniform:1e6", (99, "F")), ("II:30000", (20, "M")), ("III:table", (20, "M"))):
        release = table_3()
        found = epsilons(make_adversary(text).attack(release, of_table_3(people)))
        loser = people[int(np.argmax(found))]
        assert loser == most, text
        level = EpsilonPrivacy(written(text)).level(release.grouping())
        assert found.max() == pytest.approx(level.value, rel=1e-12)
        assert int(release.sizes[level.worst]) == sum(TABLE_3[PEOPLE[loser]])


def test_targets_who_fit_nowhere() -> None:
    """Women below 40: nothing is learnt of them; the baseline is what the adversary believes anyway."""
    targets = of_table_3([(20, "F"), (20, "M"), (39, "F")])
    for text, prior in (
        ("I:uniform:100", [0.5, 0.5]),
        ("III:uniform", [0.5, 0.5]),
        ("I:table:100", [0.8, 0.2]),
        ("II:100", [0.8, 0.2]),
        ("IV", [0.8, 0.2]),
    ):
        belief = make_adversary(text).attack(table_3(), targets)
        assert belief.matched.tolist() == [False, True, False]
        assert np.isnan(belief.posterior).all(axis=1).tolist() == [True, False, True]
        assert not np.isnan(belief.posterior[1]).any()
        for i in (0, 2):
            assert belief.baseline[i] == pytest.approx(prior)
            assert belief.answer[i] == pytest.approx(prior)
        assert np.isnan(epsilons(belief)).tolist() == [True, False, True]
    given = dl.criteria.Realistic("III", shape={"Flu": 0.25, "Cancer": 0.75})
    assert RealisticAdversary(given).attack(table_3(), targets).baseline[0] == pytest.approx([0.25, 0.75])


def test_a_target_of_unknown_age_is_in_a_class_by_its_size() -> None:
    """A man is below 40 in 500 cases of 5000, a person of unknown gender and age anybody."""
    text = "I:uniform:1000"
    adversary = theirs(text, (20000, 5000))
    young, old, women = TABLE_3.values()
    belief = make_adversary(text).attack(table_3(), of_table_3([(None, "M"), (None, None), (None, "F"), (40, None)]))
    groups = {0: (young, old), 1: (young, old, women), 2: (women,), 3: (old, women)}
    for target, histograms in groups.items():
        # Whoever's age is known fits a class of old people as one of its 60 ages, of unknown gender as any.
        weights = [Fraction(sum(histogram)) for histogram in histograms]
        for found, part in ((belief.posterior, p_in), (belief.baseline, p_out)):
            right = mixed(weights, [part(adversary, histogram) for histogram in histograms])
            assert found[target] == pytest.approx(right, rel=1e-12)


def test_known_records_are_the_worst_for_each_value() -> None:
    """With b = 100 known among 500 men the 300 with cancer may all be among the other 400, and so may the 200."""
    belief = make_adversary("I:uniform:50:known=100").attack(table_3(), of_table_3([(20, "M")]))
    assert belief.posterior[0] == pytest.approx([200 / 400, 300 / 400])
    assert belief.diagnostics["known"] == 100
    certain = make_adversary("I:uniform:50:known=200").attack(table_3(), of_table_3([(20, "M"), (99, "F")]))
    assert certain.posterior[0] == pytest.approx([200 / 300, 1])
    assert np.isinf(epsilons(certain)).tolist() == [True, False]
    everybody = make_adversary("I:uniform:50:known=500").attack(table_3(), of_table_3([(20, "M")]))
    assert everybody.posterior[0].tolist() == [1, 1]


# --- Several classes, and suppressed rows ------------------------------------------------------------------------------


def groups_of(rows: list[tuple[worlds.Box | None, str]], *, each: bool) -> list[tuple[worlds.Box | None, list[str]]]:
    """The classes of a release, suppressed rows (None) as one; `each`: every row is a class of its own."""
    found: dict[object, tuple[worlds.Box | None, list[str]]] = {}
    for i, (box, value) in enumerate(rows):
        key = i if each and box is not None else box
        found.setdefault(key, (box, []))[1].append(value)
    return list(found.values())


def fit(known: worlds.Known, box: worlds.Box | None, domains: list[tuple[str, ...]]) -> Fraction:
    """The share of a row's possibilities that equal the target."""
    share = Fraction(1)
    for leaf, allowed in zip(known, box or tuple(frozenset(domain) for domain in domains), strict=True):
        if leaf is not None:
            share *= Fraction(int(leaf in allowed), len(allowed))
    return share


def agree(found: np.ndarray, right: list[list[float] | None], matched: np.ndarray) -> None:
    for row, fits, one in zip(found, matched.tolist(), right, strict=True):
        assert fits == (one is not None)
        if one is not None:
            assert row == pytest.approx(one, rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("text", WRITTEN)
def test_overlapping_boxes_and_suppressed_rows_are_mixed_as_random_worlds_does(text: str) -> None:
    seen = Counter[str]()
    for seed in range(RELEASES):
        rows, domains = random_boxes(random.Random(seed))
        schema, known = schema_of(domains), every_target(domains)
        release = built(rows, schema) if seed % 2 else read(rows, schema)
        groups = groups_of(rows, each=bool(seed % 2))
        adversary = theirs(text, tally([value for _, value in rows]))
        belief = make_adversary(text).attack(release, targets_of(schema, known))
        weights = [[fit(target, box, domains) * len(values) for box, values in groups] for target in known]
        histograms = [tally(values) for _, values in groups]
        inside = [p_in(adversary, histogram) for histogram in histograms]
        outside = [p_out(adversary, histogram) for histogram in histograms]
        agree(belief.posterior, [mixed(one, inside) for one in weights], belief.matched)
        agree(belief.baseline, [mixed(one, outside) for one in weights], belief.matched)
        seen["suppressed"] += any(box is None for box, _ in groups)
        seen["several"] += any(sum(w > 0 for w in one) > 1 for one in weights)
        seen["nowhere"] += not belief.matched.all()
        seen["one"] += any(sum(w > 0 for w in one) == 1 for one in weights)
    assert (
        min(seen[word] for word in ("suppressed", "several", "nowhere", "one")) > 5
    )  # the draws hold what they should


@pytest.mark.parametrize("text", WRITTEN)
def test_groups_published_as_tuples(text: str) -> None:
    """Anatomy: a target is in a group as often as the group has its tuple."""
    for seed in range(RELEASES):
        groups, domains = random_groups(random.Random(seed))
        schema, known = schema_of(domains), every_target(domains)
        histograms = [tally(values) for _, values in groups]
        adversary = theirs(text, tally([value for _, values in groups for value in values]))
        belief = make_adversary(text).attack(anatomized(groups, schema), targets_of(schema, known))
        weights = [
            [
                Fraction(sum(all(x in (None, y) for x, y in zip(target, one, strict=True)) for one in tuples))
                for tuples, _ in groups
            ]
            for target in known
        ]
        inside = [p_in(adversary, histogram) for histogram in histograms]
        outside = [p_out(adversary, histogram) for histogram in histograms]
        agree(belief.posterior, [mixed(one, inside) for one in weights], belief.matched)
        agree(belief.baseline, [mixed(one, outside) for one in weights], belief.matched)


@pytest.mark.parametrize("text", ["I:uniform:30", "I:table:7", "II:50", "III:uniform", "IV"])
def test_with_nobody_known_the_posterior_is_random_worlds(text: str) -> None:
    for seed in range(RELEASES):
        rows, domains = random_boxes(random.Random(seed))
        groups, domains_of_groups = random_groups(random.Random(seed))
        releases: list[tuple[Generalized | Anatomized, list[tuple[str, ...]]]] = [
            (built(rows, schema_of(domains)), domains),
            (anatomized(groups, schema_of(domains_of_groups)), domains_of_groups),
        ]
        for release, leaves in releases:
            targets = targets_of(release.schema, every_target(leaves))
            plain = RandomWorlds().attack(release, targets)
            belief = make_adversary(text).attack(release, targets)
            np.testing.assert_allclose(belief.posterior, plain.posterior, rtol=1e-13, atol=1e-15)
            np.testing.assert_array_equal(belief.matched, plain.matched)


def test_parts_are_put_together_in_the_right_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, domains = random_boxes(random.Random(3))
    release = built(rows, schema_of(domains))
    targets = targets_of(release.schema, every_target(domains))
    whole = make_adversary("I:uniform:30").attack(release, targets)
    monkeypatch.setattr("dalenius.adversaries.models.fit.MAX_PAIRS", 1)
    monkeypatch.setattr("dalenius.adversaries.models.fit.MAX_BIT_BYTES", 1)
    parts = make_adversary("I:uniform:30").attack(release, targets)
    np.testing.assert_allclose(parts.posterior, whole.posterior, rtol=1e-14)
    np.testing.assert_allclose(parts.baseline, whole.baseline, rtol=1e-14)


# --- ε of everybody is ε of the grouping -------------------------------------------------------------------------------


def disjoint(seed: int) -> tuple[Generalized, Targets, list[int]]:
    """A table published in classes that do not overlap, its people, and the class that each is in."""
    rng = random.Random(seed)
    first, second = "abcdefgh", "xyz"
    cuts = sorted(rng.sample(range(1, len(first)), rng.randint(0, 4)))
    parts = [first[i:j] for i, j in zip([0, *cuts], [*cuts, len(first)], strict=True)]
    whole = {part: rng.random() < 0.5 for part in parts}  # the second attribute is published as it is, or not at all
    people = [(rng.choice(first), rng.choice(second), rng.choice(VALUES)) for _ in range(rng.randint(3, 200))]
    schema = schema_of([tuple(first), tuple(second)])
    labels = [
        ("{" + ", ".join(part) + "}", f"{{{', '.join(second)}}}" if whole[part] else y)
        for x, y, _ in people
        for part in parts
        if x in part
    ]
    frame = {"a0": [one for one, _ in labels], "a1": [two for _, two in labels], "disease": [v for _, _, v in people]}
    release = dl.read_release(frame, schema)
    assert isinstance(release, Generalized)
    targets = targets_of(schema, [(x, y) for x, y, _ in people])
    classes = [release.locate(row) for row in targets.codes]
    assert all(len(one) == 1 for one in classes)
    return release, targets, [one[0] for one in classes]


@pytest.mark.slow
@pytest.mark.parametrize("text", [*WRITTEN, "I:uniform:9:at-most", "III:table:known=3"])
def test_the_most_that_anybody_loses_is_the_level_of_the_release(text: str) -> None:
    finite = 0
    for seed in range(15):
        release, targets, classes = disjoint(seed)
        grouping = release.grouping()
        criterion = EpsilonPrivacy(written(text))
        levels = criterion.levels(grouping)
        found = epsilons(make_adversary(text).attack(release, targets))
        assert found == pytest.approx([levels[q] for q in classes], rel=1e-11)
        level = criterion.level(grouping)
        assert found.max() == pytest.approx(level.value, rel=1e-11)
        finite += math.isfinite(level.value)
    assert (finite == 0) if text == "IV" else (1 < finite < 15)


def test_of_several_columns_each_has_its_own() -> None:
    schema = Schema(
        (
            Column("a0", "quasi", domain=Domain(("p", "q"))),
            Column("disease", "sensitive", domain=Domain(VALUES)),
            Column("smokes", "sensitive", domain=Domain(("no", "yes"))),
        )
    )
    frame = {
        "a0": ["p", "p", "p", "q", "q"],
        "disease": ["Ache", "Flu", "Flu", "Pox", "Ache"],
        "smokes": ["no", "no", "yes", "yes", "no"],
    }
    release = dl.read_release(frame, schema)
    targets = targets_of(schema, [("p",)])
    for column, histogram in (("disease", (1, 2, 0)), ("smokes", (2, 1))):
        table = (2, 2, 1) if column == "disease" else (3, 2)
        adversary = theirs("I:table:12", table)
        belief = make_adversary("I:table:12").attack(release, targets, column=column)
        assert belief.posterior[0] == pytest.approx([float(p) for p in p_in(adversary, histogram)])
        assert belief.baseline[0] == pytest.approx([float(p) for p in p_out(adversary, histogram)])


# --- Names, refusals, and the measure itself ---------------------------------------------------------------------------


def test_names() -> None:
    found = make_adversary("I:uniform:30:known=2", known=5)
    assert isinstance(found, RealisticAdversary)
    assert found.name == "I:uniform:30:known=2"
    assert found.model.known == 2  # what is written there goes before
    given = make_adversary("II:30", known=5)
    assert isinstance(given, RealisticAdversary)
    assert given.model.known == 5
    assert not found.baseline_sums_to_one
    for text in ("V", "random", "II", "I:prior.csv:3", "I:data:other.csv"):
        with pytest.raises(InputError):
            make_adversary(text)


def test_centroids_are_refused() -> None:
    ages = Column("age", "quasi", type="integer", domain=Domain(tuple(map(str, range(30, 43)))))
    schema = Schema((ages, Column("disease", "sensitive", domain=Domain(VALUES))))
    frame = {"age": ["30.5", "30.5", "41"], "group": ["0", "0", "1"], "disease": ["Flu", "Pox", "Flu"]}
    release = dl.read_release(frame, schema, kind="centroids")
    targets = Targets(schema, np.zeros((1, 1), dtype=np.int32))
    with pytest.raises(Refused, match="I:uniform:30 cannot attack this release: centroids"):
        make_adversary("I:uniform:30").attack(release, targets)


def test_the_measure_by_hand() -> None:
    """Raised beliefs, lowered doubts, impossible values, certainty, and a person who fits nowhere."""
    column = Column("s", "sensitive", domain=Domain(("a", "b", "c")))
    rows = [  # posterior, baseline, ε
        ([0.5, 0.5, 0.0], [0.25, 0.4, 0.1], 2.0),
        ([0.9, 0.1, 0.0], [0.6, 0.2, 0.2], 4.0),
        ([0.2, 0.2, 0.6], [0.2, 0.2, 0.6], 1.0),
        ([0.1, 0.2, 0.7], [0.4, 0.5, 0.8], 1.0),  # less than before is no disclosure
        ([1.0, 0.0, 0.0], [0.9, 0.1, 0.1], math.inf),
        ([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], math.inf),
        ([math.nan] * 3, [0.3, 0.3, 0.4], math.nan),
    ]
    belief = Belief(
        column,
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
        np.zeros((len(rows), 3)),
        np.array([True] * (len(rows) - 1) + [False]),
    )
    assert epsilons(belief) == pytest.approx([row[2] for row in rows], nan_ok=True)
