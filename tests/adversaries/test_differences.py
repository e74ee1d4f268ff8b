"""Subtracting releases, against plain sets of tuples, and against the people who really joined and left."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from dalenius.adversaries.differences import Counted, Differences, subtract
from dalenius.releases import Anatomized, Generalized, GroupCells, GroupedRelease
from dalenius.schema import Column, Domain, Schema
from tests.adversaries.test_intersection import grouped, schema

VALUES = 5
Person = tuple[int, int, int]  # age, city, value


def plain_region(release: GroupedRelease, q: int) -> set[tuple[int, ...]]:
    if isinstance(release, Generalized):
        sets = [release.labels[a][release.codes[q, a]].members.tolist() for a in range(release.codes.shape[1])]
        return set(itertools.product(*sets))
    assert isinstance(release, Anatomized)
    return {tuple(row) for g, row in zip(release.quasi.group, release.quasi.codes.tolist(), strict=True) if g == q}


def plain_counts(release: GroupedRelease, q: int) -> Counter[int]:
    cells = release.sensitive
    found: Counter[int] = Counter()
    for g, s, n in zip(cells.group.tolist(), cells.codes[:, 0].tolist(), cells.counts.tolist(), strict=True):
        if g == q:
            found[s] += n
    return found


def plain_parts(earlier: GroupedRelease, later: GroupedRelease) -> list[tuple[set[int], set[int]]]:
    """Groups that overlap, taken together until nothing more does."""
    left = [({q}, set(), plain_region(earlier, q)) for q in range(earlier.groups)]
    left += [(set(), {q}, plain_region(later, q)) for q in range(later.groups)]
    # Groups of one release may overlap each other; that alone does not join them.
    edges = [
        (i, earlier.groups + j)
        for i in range(earlier.groups)
        for j in range(later.groups)
        if left[i][2] & left[earlier.groups + j][2]
    ]
    colour = list(range(len(left)))
    for _ in left:
        for i, j in edges:
            colour[i] = colour[j] = min(colour[i], colour[j])
    return [
        (
            {q for q in range(earlier.groups) if colour[q] == c},
            {q for q in range(later.groups) if colour[earlier.groups + q] == c},
        )
        for c in sorted(set(colour))
    ]


def plain_difference(earlier: GroupedRelease, later: GroupedRelease) -> Differences:
    parts = plain_parts(earlier, later)
    changes, held = [], []
    for before, after in [*parts, ({-1}, {-1})]:
        old, new = Counter[int](), Counter[int]()
        for q in after:
            new.update(plain_counts(later, q))
        for q in before:
            old.update(plain_counts(earlier, q))
        held.append({1: new, -1: old})
        changes.append(Counter({s: new[s] - old[s] for s in range(VALUES)}))
    total = Counter[int]()
    for change in changes:
        total.update(change)
    counted = [total] if earlier.suppressed or later.suppressed else changes

    def exposed(sign: int) -> int:
        found = 0
        for change, own in zip(changes, held, strict=True):
            moved = {s: sign * n for s, n in change.items() if sign * n > 0}
            found += sum(moved.values()) if len(moved) == 1 and len(own[sign]) > 1 else 0
        return found

    return Differences(
        sum(max(0, n) for change in counted for n in change.values()),
        sum(max(0, -n) for change in counted for n in change.values()),
        min(exposed(1), sum(max(0, n) for change in counted for n in change.values())),
        min(exposed(-1), sum(max(0, -n) for change in counted for n in change.values())),
        len(parts),
        all(len(before) <= 1 and len(after) <= 1 for before, after in parts),
    )


def difference(earlier: GroupedRelease, later: GroupedRelease, values: int = VALUES) -> Differences:
    codes = np.arange(values)
    return subtract([Counted(earlier, codes, "s")], Counted(later, codes, "s"), values)


def test_plain_sets() -> None:
    """Random releases of both kinds that have regions: overlapping boxes, tuples, suppressed rows."""
    seen: Counter[str] = Counter()
    for seed in range(200):
        rng = random.Random(f"differences {seed}")
        bound = schema(VALUES)
        one, other = (grouped(rng, bound, rng.choice(["generalized", "anatomized"])) for _ in range(2))
        expected = plain_difference(one, other)
        assert difference(one, other) == expected
        seen["complete"] += expected.complete
        seen["several parts"] += expected.compared > 1
        seen["suppressed"] += bool(one.suppressed or other.suppressed)
        seen["exposed"] += expected.exposed > 0
    assert min(seen.values()) >= 15, seen


def recoded(people: Sequence[Person], cuts: Sequence[Sequence[set[int]]], k: int) -> tuple[Generalized, list[int]]:
    """People published at a partition of each column, classes of fewer than k suppressed, and the group of each person."""
    bound = schema(VALUES)
    labels = [
        tuple(next(i for i, part in enumerate(cut) if p[a] in part) for a, cut in enumerate(cuts)) for p in people
    ]
    sizes = Counter(labels)
    shown = sorted(label for label in sizes if sizes[label] >= k)
    group = [shown.index(label) if label in shown else -1 for label in labels]
    sets = [[np.array(sorted(cuts[a][i]), dtype=np.int32) for a, i in enumerate(label)] for label in shown]
    codes = np.array([[s] for *_, s in people], dtype=np.int32)
    ones = np.ones(len(people), dtype=np.int64)
    return Generalized.from_sets(bound, sets, np.array(group, dtype=np.int32), codes, ones), group


def partition(rng: random.Random, size: int) -> list[set[int]]:
    colours = [rng.randrange(3) for _ in range(size)]
    return [part for c in range(3) if (part := {i for i in range(size) if colours[i] == c})]


@pytest.mark.parametrize("k", [1, 3])
def test_the_people_who_really_moved(k: int) -> None:
    """No more are said to have moved than did; where as few did as the counts ask for, their values are those left."""
    seen: Counter[str] = Counter()
    for seed in range(150):
        rng = random.Random(f"movers {k} {seed}")
        draw = [(rng.randrange(6), rng.randrange(4), rng.randrange(VALUES)) for _ in range(30)]
        stayed, left, joined = draw[:22], draw[22 : 22 + rng.randrange(3)], draw[25 : 25 + rng.randrange(3)]
        cuts = [partition(rng, 6), partition(rng, 4)]
        other = cuts if rng.random() < 0.5 else [partition(rng, 6), partition(rng, 4)]
        earlier, _ = recoded([*stayed, *left], cuts, k)
        later, _ = recoded([*stayed, *joined], other, k)
        found = difference(earlier, later)
        assert found.joined <= len(joined)
        assert found.left <= len(left)
        seen["suppressed"] += bool(earlier.suppressed or later.suppressed)
        if k > 1:
            continue
        exposed, all_people = 0, ([*stayed, *left], [*stayed, *joined])
        for before, after in plain_parts(earlier, later):
            regions = [set[tuple[int, ...]]().union(*(plain_region(earlier, q) for q in before))]
            regions.append(set[tuple[int, ...]]().union(*(plain_region(later, q) for q in after)))
            came = Counter(s for a, c, s in joined if (a, c) in regions[1])
            went = Counter(s for a, c, s in left if (a, c) in regions[0])
            if came & went:
                continue  # a value that came and went cannot be told from the counts
            if any(
                len({s for a, c, s in people if (a, c) in region}) < 2
                for people, region in zip(all_people, regions, strict=True)
            ):
                continue  # one release tells it alone
            exposed += (sum(came.values()) if len(came) == 1 else 0) + (sum(went.values()) if len(went) == 1 else 0)
        assert found.exposed >= exposed
        seen["exposed"] += exposed > 0
        seen["complete"] += found.complete
    assert seen["suppressed" if k > 1 else "exposed"] >= 30, seen


def test_the_newcomer() -> None:
    january = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 1), (4, 0, 1)]
    february = [*january, (5, 0, 4)]
    whole = [[set(range(6))], [set(range(4))]]
    one, other = (recoded(people, whole, 1)[0] for people in (january, february))
    assert difference(one, other) == Differences(1, 0, 1, 0, 1, True)
    assert difference(other, one) == Differences(0, 1, 0, 1, 1, True)
    assert difference(one, one) == Differences(0, 0, 0, 0, 1, True)


def test_what_cannot_be_compared() -> None:
    bound = schema(VALUES)
    rng = random.Random(3)
    boxes, points = grouped(rng, bound, "generalized"), grouped(rng, bound, "centroids")
    people = [int(np.bincount(r.sensitive.codes[:, 0], weights=r.sensitive.counts).sum()) for r in (boxes, points)]
    found = difference(boxes, points)
    assert found.reason is not None
    assert "the later release publishes centroids" in found.reason
    assert not found.complete
    assert found.compared == found.exposed == 0
    assert found.joined - found.left == people[1] - people[0]
    assert "the earlier release publishes centroids" in str(difference(points, boxes).reason)
    less = Schema(bound.columns[1:])
    everywhere, values = [[np.arange(4, dtype=np.int32)]], np.array([[0], [1]], dtype=np.int32)
    other = Generalized.from_sets(less, everywhere, np.zeros(2, dtype=np.int32), values, np.ones(2, dtype=np.int64))
    assert difference(boxes, other).reason == "the releases have different quasi-identifiers"


def test_other_codings_of_the_same_columns() -> None:
    """Leaves in another order, written otherwise, and some that the other release does not have."""
    rng = random.Random(5)
    one = grouped(rng, schema(VALUES), "generalized")
    for seed in range(40):
        rng = random.Random(f"coding {seed}")
        other = grouped(rng, schema(VALUES), rng.choice(["generalized", "anatomized"]))
        expected = plain_difference(one, other)
        assert difference(one, recoding(other)) == expected


def recoding(release: GroupedRelease) -> GroupedRelease:
    """The same release with its leaves coded otherwise."""
    ages, cities = ("19", *map(str, range(25, 19, -1))), ("Moss", "Ghent", "Hamar", "Bergen", "Oslo")
    bound = Schema(
        (
            Column("city", "quasi", domain=Domain(cities)),
            Column("age", "quasi", type="integer", domain=Domain(ages)),
            release.schema["s"],
        )
    ).bind({})
    maps = [np.array([c.domain.code(leaf) for leaf in release.schema[c.name].leaves]) for c in bound.quasi if c.domain]
    if isinstance(release, Anatomized):
        codes = np.column_stack([maps[0][release.quasi.codes[:, 1]], maps[1][release.quasi.codes[:, 0]]]).astype(
            np.int32
        )
        tuples = GroupCells.gather(release.quasi.group, codes, release.quasi.counts, [len(cities), len(ages)])
        return Anatomized(bound, tuples, release.sensitive)
    assert isinstance(release, Generalized)
    members = [[label.members for label in labels] for labels in release.labels]
    sets = [
        [np.sort(maps[0][members[1][city]]).astype(np.int32), np.sort(maps[1][members[0][age]]).astype(np.int32)]
        for age, city in release.codes.tolist()
    ]
    cells = release.sensitive
    return Generalized.from_sets(bound, sets, cells.group, cells.codes, cells.counts)
