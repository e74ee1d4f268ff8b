"""The intersection attack against plain sets, on random releases of every grouped kind, two to four at a time."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from dalenius import datasets
from dalenius.adversaries import UNKNOWN, Targets
from dalenius.adversaries.intersection import contains, intersect
from dalenius.adversaries.models.location import places
from dalenius.measures.composition import composed
from dalenius.releases import Anatomized, Centroids, Generalized, GroupCells, GroupedRelease
from dalenius.schema import Column, Domain, Schema

VALUES = 70  # more than a word has bits


def schema(values: int) -> Schema:
    columns = (
        Column("age", "quasi", type="integer", domain=Domain(tuple(map(str, range(20, 26))))),
        Column("city", "quasi", domain=Domain(("Oslo", "Bergen", "Hamar", "Moss"))),
        Column("s", "sensitive", domain=Domain(tuple(f"v{i}" for i in range(values)))),
    )
    return Schema(columns).bind({})


def grouped(rng: random.Random, bound: Schema, kind: str) -> GroupedRelease:
    """A release of a few people: any boxes, overlapping or not, with suppressed rows now and then."""
    values = len(bound["s"].leaves)
    groups = rng.randint(1, 6)
    people = [(g, rng.randrange(values)) for g in range(groups) for _ in range(rng.randint(1, 5))]
    if kind == "generalized" and rng.random() < 0.3:
        people += [(-1, rng.randrange(values)) for _ in range(rng.randint(1, 3))]
    group = np.array([g for g, _ in people], dtype=np.int32)
    codes = np.array([[s] for _, s in people], dtype=np.int32)
    sensitive = GroupCells.gather(group, codes, np.ones(len(people), dtype=np.int64), [values])
    if kind == "anatomized":
        tuples = np.array([[rng.randrange(6), rng.randrange(4)] for _ in people], dtype=np.int32)
        return Anatomized(
            bound, GroupCells.gather(group, tuples, np.ones(len(people), dtype=np.int64), [6, 4]), sensitive
        )
    if kind == "centroids":
        points = np.array([[rng.choice([math.nan, 20.5, 22, 23.25, 25]), rng.randrange(4)] for _ in range(groups)])
        return Centroids(bound, points, sensitive)
    sets = [
        [np.array(sorted(rng.sample(range(size), rng.randint(1, size))), dtype=np.int32) for _ in range(groups)]
        for size in (6, 4)
    ]
    index = np.array([[g, g] for g in range(groups)], dtype=np.int32)
    kept = group >= 0
    whole = Generalized.from_labels(
        bound, sets, index, group[kept], codes[kept], np.ones(int(kept.sum()), dtype=np.int64)
    )  # fmt: skip
    if kept.all():
        return whole
    merged = GroupCells.gather(
        np.concatenate([whole.sensitive.group, group[~kept]]),
        np.concatenate([whole.sensitive.codes, codes[~kept]]),
        np.concatenate([whole.sensitive.counts, np.ones(int((~kept).sum()), dtype=np.int64)]),
        [values],
    )
    return Generalized(bound, whole.labels, whole.codes, merged)


def plain_places(release: GroupedRelease, known: tuple[int, ...], *, sure: bool = False) -> set[int]:
    """The groups where a target may be; the place of suppressed rows comes after the last.

    Whoever fits a group is taken not to be suppressed; with `sure`, anybody may be.
    """
    if isinstance(release, Generalized):
        found = {
            q
            for q in range(release.groups)
            if all(
                leaf == UNKNOWN or leaf in release.labels[a][release.codes[q, a]].members.tolist()
                for a, leaf in enumerate(known)
            )
        }
        return found | ({release.groups} if release.suppressed and (sure or not found) else set())
    if isinstance(release, Anatomized):
        rows = zip(release.quasi.group.tolist(), release.quasi.codes.tolist(), strict=True)
        return {q for q, row in rows if all(k in (UNKNOWN, leaf) for k, leaf in zip(known, row, strict=True))}
    assert isinstance(release, Centroids)
    sizes = release.sizes.tolist()
    ages = [(p, n) for p, n in zip(release.points[:, 0].tolist(), sizes, strict=True) if not math.isnan(p)]
    total = sum(n for _, n in ages)
    mean = sum(p * n for p, n in ages) / total if ages else 0.0
    spread = math.sqrt(sum((p - mean) ** 2 * n for p, n in ages) / total) if ages else 0.0

    def distance(q: int) -> float:
        age, city = release.points[q].tolist()
        far = 0.0
        if known[0] != UNKNOWN:  # a missing age stands at the mean, as for the publisher
            far += ((20 + known[0] - (mean if math.isnan(age) else age)) / (spread or 1.0)) ** 2
        return far + float(known[1] not in (UNKNOWN, int(city)))

    distances = [distance(q) for q in range(release.groups)]
    return {q for q, d in enumerate(distances) if d <= min(distances) + 1e-9}


def plain_values(release: GroupedRelease, found: set[int]) -> set[int]:
    cells = release.sensitive
    groups = {-1 if q == release.groups else q for q in found}
    return {int(s) for g, s in zip(cells.group.tolist(), cells.codes[:, 0].tolist(), strict=True) if g in groups}


def plain_common(releases: Sequence[GroupedRelease], known: Sequence[tuple[int, ...]], *, sure: bool) -> set[int]:
    """The values that occur in every release where the target may be; a release that knows nobody like it takes no part."""
    found = [
        plain_values(release, where)
        for release, mine in zip(releases, known, strict=True)
        if (where := plain_places(release, mine, sure=sure))
    ]
    return set.intersection(*found) if found else set()


def plain_left(releases: Sequence[GroupedRelease], known: Sequence[tuple[int, ...]], *, sure: bool = False) -> set[int]:
    """The same, but if nothing is left of somebody who is taken not to be suppressed, they were."""
    return plain_common(releases, known, sure=sure) or plain_common(releases, known, sure=True)


@pytest.mark.parametrize("sure", [False, True])
@pytest.mark.parametrize("values", [3, 14, VALUES])
def test_plain_sets(values: int, sure: bool) -> None:
    lost = certain = empty = 0
    for seed in range(60):
        rng = random.Random(f"{values} {seed}")
        bound = schema(values)
        kinds = [rng.choice(["generalized", "anatomized", "centroids"]) for _ in range(rng.randint(2, 4))]
        releases = [grouped(rng, bound, kind) for kind in kinds]
        known = [tuple(rng.choice([UNKNOWN, *range(size)]) for size in (6, 4)) for _ in range(12)]
        targets = Targets(bound, np.array(known, dtype=np.int32))
        codes = np.arange(values)
        found = intersect(
            releases, [targets] * len(releases), bound["s"].leaves, [codes] * len(releases), ["s"] * len(releases), sure=sure
        )  # fmt: skip
        prior, posterior = found.prior, found.posterior
        for t, target in enumerate(known):
            somewhere, known_as = False, [target] * len(releases)
            for j, release in enumerate(releases):
                where = plain_places(release, target, sure=sure)
                assert found.located[j, t] == bool(where)
                assert prior[j, t] == len(plain_values(release, where))
                lost += not where
                somewhere |= bool(where)
            left = plain_left(releases, known_as, sure=sure)
            assert posterior[t] == len(left)
            everything = np.arange(values)
            holds = contains(np.repeat(found.left[t : t + 1], values, axis=0), everything)
            assert set(np.flatnonzero(holds).tolist()) == left
            certain += len(left) == 1
            empty += somewhere and not left
    assert lost > 20
    assert certain > 20
    assert empty > 20


def test_suppressed_rows_are_one_more_place() -> None:
    """For whoever fits no group, and for everybody where nothing is assumed."""
    seen = {True: 0, False: 0}
    for seed in range(60):
        rng = random.Random(f"hidden {seed}")
        release = grouped(rng, schema(5), "generalized")
        targets = np.array([[rng.randrange(6), rng.randrange(4)]], dtype=np.int32)
        for sure in (False, True):
            found = {int(q) for _, _, groups in places(release, targets, sure=sure) for q in groups}
            fits = bool(found - {release.groups})
            assert (release.groups in found) == bool(release.suppressed and (sure or not fits))
            if release.suppressed:
                seen[fits] += 1
    assert min(seen.values()) >= 4, seen


def test_a_few_suppressed_rows_do_not_switch_the_attack_off() -> None:
    """Rows of `*` with every value are appended to two releases: the attack stays, and what holds in any case is said, too."""
    bound = schema(4)
    boxes = [[np.array([0, 1, 2]), np.arange(4)], [np.array([3, 4, 5]), np.arange(4)]]
    made = []
    for values in ([[0, 1], [2, 3]], [[0, 2], [1, 3]]):
        group = np.array([0, 0, 1, 1, *([-1] * 4)], dtype=np.int32)
        codes = np.array([*values[0], *values[1], 0, 1, 2, 3], dtype=np.int32)[:, None]
        made.append(Generalized.from_sets(bound, boxes, group, codes, np.ones(8, dtype=np.int64)))  # type: ignore[arg-type]
    targets = Targets(bound, np.array([[0, 0], [5, 3]], dtype=np.int32))
    attack = [
        intersect(made, [targets] * 2, bound["s"].leaves, [np.arange(4)] * 2, ["s"] * 2, sure=sure).posterior.tolist()
        for sure in (False, True)
    ]
    assert attack == [[1, 1], [4, 4]]


def test_an_empty_intersection_shows_who_was_suppressed() -> None:
    """Oslo has flu in one release and gout in the other; pox is suppressed in both: whoever is from Oslo has one of these."""
    bound = schema(4)
    oslo, group, ones = [[np.arange(6), np.array([0])]], np.array([0, -1], dtype=np.int32), np.ones(2, dtype=np.int64)
    made = [
        Generalized.from_sets(bound, oslo, group, np.array([[shown], [2]], dtype=np.int32), ones)  # type: ignore[arg-type]
        for shown in (0, 1)
    ]
    targets = Targets(bound, np.array([[0, 0]], dtype=np.int32))
    found = intersect(made, [targets] * 2, bound["s"].leaves, [np.arange(4)] * 2, ["s"] * 2)
    assert found.prior.tolist() == [[1], [1]]  # of each release alone
    assert found.posterior.tolist() == [1]
    assert found.holds(np.array([2])).all()


def test_the_two_hospitals_of_table_1() -> None:
    """Alice is 28 and lives at 13012: of both hospitals together, AIDS alone is left."""
    releases = [datasets.paper(f"composition-1{letter}") for letter in "ab"]
    assert all(isinstance(release, GroupedRelease) for release in releases)
    schema = releases[0].schema  # type: ignore[attr-defined]
    alice = [schema["zip"].leaves.index("13012"), schema["age"].leaves.index("28"), UNKNOWN]
    targets = Targets(schema, np.array([alice], dtype=np.int32))
    leaves = schema["condition"].leaves
    codes = np.arange(len(leaves))
    found = intersect(releases, [targets] * 2, leaves, [codes] * 2, ["condition"] * 2)  # type: ignore[arg-type]
    assert found.prior[:, 0].tolist() == [3, 4]
    assert found.posterior.tolist() == [1]
    assert found.holds(np.array([leaves.index("AIDS")])).all()


def test_figures_by_hand() -> None:
    """Six targets, two releases: narrowed to one, already certain, untouched, contradicted, absent from one, from both."""
    prior = np.array([[3, 1, 2, 2, 0, 0], [4, 3, 2, 2, 5, 0]])
    located = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 0]], dtype=bool)
    posterior = np.array([1, 1, 2, 0, 5, 0])
    found = composed(prior, located, posterior)
    assert found.targets == 6
    assert found.PVP == {"100": 100 * 2 / 6, "50": 100 * 3 / 6, "33": 100 * 3 / 6, "25": 100 * 3 / 6}
    assert pytest.approx(100 * 2 / 6) == found.VP  # the first, and the one whose releases contradict each other
    assert found.mean_prior_anonymity == [2.0, 16 / 5]
    assert found.mean_posterior_anonymity == pytest.approx(9 / 5)
    assert found.mean_drop == pytest.approx((2 + 0 + 0 + 2 + 0) / 5)
    assert found.drop_of_means == pytest.approx(2 - 9 / 5)
    assert found.already_certain == 1
    assert found.empty_intersections == 1
    assert found.unlocated == 2
