"""The nearest-centroid attack against plain loops, on random centroids and on what the publisher makes of random tables."""

from __future__ import annotations

import math
import random

import numpy as np
import pandas as pd
import pytest

import dalenius as dl
from dalenius.adversaries import UNKNOWN, Refused, Targets, adversaries_needing, make_adversary
from dalenius.adversaries.nearest_centroid import NearestCentroid
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.releases import Centroids, GroupCells
from dalenius.schema import Column, Domain, Schema
from tests.adversaries import plain_centroids as plain

AGES = ("20", "21", "22", "23", "24", "25", "")
CITIES = ("Oslo", "Bergen", "Hamar", "")
VALUES = ("Flu", "Gout", "Pox", "Ache")


def schema() -> Schema:
    columns = (
        Column("age", "quasi", type="integer", domain=Domain(AGES)),
        Column("city", "quasi", domain=Domain(CITIES)),
        Column("size", "quasi", type="integer", domain=Domain(("1", "2", "3"))),
        Column("s", "sensitive", domain=Domain(VALUES)),
        Column("t", "sensitive", domain=Domain(("no", "yes"))),
    )
    return Schema(columns).bind({})


def drawn(rng: random.Random) -> tuple[Centroids, list[list[object]], list[list[tuple[int, int]]]]:
    """Some centroids, missing numbers and equal points among them, and the values of each group's rows."""
    groups = rng.randint(1, 7)
    points = [
        [rng.choice([None, 20.5, 22, 22.25, 25]), rng.randrange(4), rng.choice([1, 1.5, 3])] for _ in range(groups)
    ]
    rows = [[(rng.randrange(4), rng.randrange(2)) for _ in range(rng.randint(1, 6))] for _ in range(groups)]
    group = np.array([q for q in range(groups) for _ in rows[q]], dtype=np.int32)
    codes = np.array([row for mine in rows for row in mine], dtype=np.int32)
    cells = GroupCells.gather(group, codes, np.ones(len(group), dtype=np.int64), [4, 2])
    coordinates = np.array([[math.nan if x is None else x for x in point] for point in points], dtype=np.float64)
    return Centroids(schema(), coordinates, cells), points, rows


def leaf(a: int, code: int) -> object:
    """What a code says of a person, for the plain loops: a number, a missing one, a category, or nothing."""
    if code == UNKNOWN:
        return plain.UNKNOWN
    if a == 1:
        return code
    text = (AGES, (), ("1", "2", "3"))[a][code]
    return None if text == "" else int(text)


def test_plain_loops() -> None:
    ties = missing = 0
    for seed in range(150):
        rng = random.Random(seed)
        release, points, rows = drawn(rng)
        codes = [tuple(rng.choice([UNKNOWN, *range(size)]) for size in (7, 4, 3)) for _ in range(10)]
        targets = Targets(release.schema, np.array(codes, dtype=np.int32))
        sizes = [len(mine) for mine in rows]
        for j, (name, leaves) in enumerate((("s", VALUES), ("t", ("no", "yes")))):
            found = NearestCentroid().attack(release, targets, column=name)
            assert found.method == "exact"
            assert found.matched.all()
            assert not found.stderr.any()
            everybody = [leaves[row[j]] for mine in rows for row in mine]
            for i, code in enumerate(codes):
                person = [leaf(a, c) for a, c in enumerate(code)]
                where = plain.nearest(person, points, sizes, (True, False, True))
                expected = plain.belief(where, [[leaves[row[j]] for row in mine] for mine in rows])
                np.testing.assert_allclose(
                    found.posterior[i], [float(expected.get(value, 0)) for value in leaves], rtol=1e-12
                )
                np.testing.assert_allclose(
                    found.baseline[i], [everybody.count(value) / len(everybody) for value in leaves], rtol=1e-12
                )
                ties += len(where) > 1
                missing += None in person or any(None in point for point in points)
    assert ties > 100
    assert missing > 100


def frame(*lines: str) -> dict[str, list[str]]:
    cells = [line.split(",") for line in lines]
    return {name: [line[j] for line in cells] for j, name in enumerate(("group", "age", "city", "s"))}


def read(*lines: str) -> dl.Release:
    columns = (
        Column("age", "quasi", type="integer", domain=Domain(tuple(map(str, range(20, 61))))),
        Column("city", "quasi", domain=Domain(("Oslo", "Hamar"))),
        Column("s", "sensitive", domain=Domain(("Flu", "Gout"))),
    )

    return dl.read_release(pd.DataFrame(frame(*lines)), Schema(columns), kind="centroids")


def test_of_groups_that_are_as_near_every_row_counts_the_same() -> None:
    """30 is as far from 28 as from 32: three rows of one group and one of the other, not half of each group."""
    release = read("0,28,Oslo,Flu", "0,28,Oslo,Flu", "0,28,Oslo,Gout", "1,32,Oslo,Gout", "2,60,Oslo,Flu")
    assert isinstance(release, Centroids)
    age = release.schema["age"].leaves.index("30")
    found = NearestCentroid().attack(release, Targets(release.schema, np.array([[age, 0]], dtype=np.int32)))
    np.testing.assert_allclose(found.posterior[0], [0.5, 0.5])


def test_a_group_without_a_number_is_not_nearest_to_everybody() -> None:
    """A group whose ages are all missing stands at the mean, where its people stood when groups were made."""
    release = read("0,20,Oslo,Flu", "1,60,Oslo,Flu", "2,,Oslo,Gout")
    assert isinstance(release, Centroids)
    ages = [release.schema["age"].leaves.index(text) for text in ("20", "60", "40", "")]
    found = NearestCentroid().attack(release, Targets(release.schema, np.array([[a, 0] for a in ages], dtype=np.int32)))
    np.testing.assert_allclose(found.posterior[:, 1], [0, 0, 1, 1])


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_means_that_are_too_large_to_be_added() -> None:
    """Their mean is infinite: nothing is told by that column, and nothing breaks."""
    release = read("0,1e308,Oslo,Flu", "1,1e308,Hamar,Gout", "2,20,Hamar,Gout")
    codes = np.array([[0, 0], [5, 1]], dtype=np.int32)
    found = NearestCentroid().attack(release, Targets(release.schema, codes))
    np.testing.assert_array_equal(found.posterior, [[1, 0], [0, 1]])


@pytest.mark.parametrize("known", [[1, 0], [-1, 0], [-1, -1]])
def test_what_is_known_of_the_group_is_not_asked(known: list[int]) -> None:
    release = read("0,21,Oslo,Flu", "1,40,Hamar,Gout")
    codes = np.array([known], dtype=np.int32)
    one = NearestCentroid().attack(release, Targets(release.schema, codes))
    two = NearestCentroid().attack(release, Targets(release.schema, codes, np.array([1], dtype=np.int32)))
    np.testing.assert_array_equal(one.posterior, two.posterior)


def test_on_what_the_publisher_makes_of_a_table() -> None:
    """Centroids of a table by MDAV, the people of the table as targets."""
    for seed in range(5):
        rng = random.Random(seed)
        people = [
            (rng.choice(AGES), rng.choice(CITIES), rng.choice("123"), rng.choice(VALUES), rng.choice(("no", "yes")))
            for _ in range(60)
        ]

        table = dl.Table(pd.DataFrame(people, columns=["age", "city", "size", "s", "t"]), schema())
        made = Microaggregation(4).publish(table)
        release = made.release
        assert isinstance(release, Centroids)
        members: list[list[tuple[str, ...]]] = [[] for _ in range(made.groups)]
        for person, q in zip(people, made.group.tolist(), strict=True):
            members[q].append(person)
        points = []
        for q, mine in enumerate(members):
            ages = [int(person[0]) for person in mine if person[0]]
            sizes = [int(person[2]) for person in mine]
            mode = CITIES[int(release.points[q, 1])]  # of equals the first: as published
            points.append([sum(ages) / len(ages) if ages else None, mode, sum(sizes) / len(sizes)])
        found = NearestCentroid().attack(release, Targets(release.schema, made.codes[:, :3]), column="s")
        for i, person in enumerate(people):
            known = [int(person[0]) if person[0] else None, person[1], int(person[2])]
            where = plain.nearest(known, points, [len(mine) for mine in members], (True, False, True))
            expected = plain.belief(where, [[one[3] for one in mine] for mine in members])
            np.testing.assert_allclose(
                found.posterior[i], [float(expected.get(value, 0)) for value in VALUES], rtol=1e-9
            )


def test_it_is_the_one_that_needs_centroids() -> None:
    assert list(adversaries_needing("centres")) == ["nearest-centroid"]
    assert isinstance(make_adversary("nearest-centroid"), NearestCentroid)


def test_refusals_name_who_can() -> None:
    points = read("0,21,Oslo,Flu", "1,40,Hamar,Gout")
    reason = make_adversary("random-worlds").refusal(points)
    assert reason is not None
    assert next(iter(adversaries_needing("centres"))) in reason  # and no other command
    assert "compos" not in reason
    boxes = dl.datasets.paper("relative-1b")
    nobody = Targets(boxes.schema, np.zeros((1, 2), dtype=np.int32))
    with pytest.raises(Refused, match=r"nearest-centroid cannot attack this release: .*no centroids.*random-worlds"):
        NearestCentroid().attack(boxes, nobody)


@pytest.mark.parametrize(("numbers", "categories"), [(3, 2), (0, 3), (2, 0), (1, 1)])
def test_many_centroids(numbers: int, categories: int) -> None:
    """A thousand centroids on a grid, where many are equally near, against all distances at once."""
    rng = np.random.default_rng(numbers)
    groups, people = 1000, 300
    columns = [
        Column(f"n{j}", "quasi", type="integer", domain=Domain(tuple(map(str, range(9))))) for j in range(numbers)
    ] + [Column(f"c{j}", "quasi", domain=Domain(tuple("abcd"))) for j in range(categories)]
    bound = Schema((*columns, Column("s", "sensitive", domain=Domain(VALUES)))).bind({})
    points = np.column_stack(
        [2.0 * rng.integers(0, 5, groups) for _ in range(numbers)]
        + [rng.integers(0, 4, groups) for _ in range(categories)]
    ).astype(np.float64)
    values = rng.integers(0, 4, (groups, 1)).astype(np.int32)
    cells = GroupCells.gather(np.arange(groups, dtype=np.int32), values, np.ones(groups, dtype=np.int64), [4])
    sizes = [9] * numbers + [4] * categories
    codes = np.column_stack([rng.integers(-1, size, people) for size in sizes]).astype(np.int32)
    found = NearestCentroid().attack(Centroids(bound, points, cells), Targets(bound, codes))
    distance = np.zeros((people, groups))
    for a in range(len(sizes)):
        away = codes[:, a, None] - points[None, :, a]
        mine = (away / points[:, a].std()) ** 2 if a < numbers else (away != 0).astype(np.float64)
        distance += np.where(codes[:, a, None] == UNKNOWN, 0.0, mine)
    near = distance <= distance.min(axis=1, keepdims=True) + 1e-9
    assert (near.sum(axis=1) > 1).mean() > 0.3
    expected = (
        np.stack([(near & (values[:, 0] == s)).sum(axis=1) for s in range(4)], axis=1) / near.sum(axis=1)[:, None]
    )
    np.testing.assert_allclose(found.posterior, expected, rtol=1e-12)
