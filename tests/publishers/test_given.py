"""Publishing with earlier releases in view, against plain sets: who keeps enough values, and what that costs."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import ANY

import numpy as np
import pyarrow as pa
import pytest

import dalenius as dl
from dalenius.adversaries import UNKNOWN
from dalenius.criteria import KAnonymity
from dalenius.errors import InputError, ParameterError
from dalenius.hierarchy import from_paths
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.base import Published
from dalenius.publishers.earlier import given, needed
from dalenius.publishers.given import Given, evaluate
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian
from dalenius.publishers.search import Search
from dalenius.releases import Generalized, GroupedRelease
from tests.adversaries.test_intersection import grouped, plain_left, plain_places, plain_values, schema

AGES = [str(age) for age in range(20, 28)]  # releases know those up to 25
CITIES = ["Bergen", "Hamar", "Moss", "Oslo"]
RELEASES_CITIES = ["Oslo", "Bergen", "Hamar", "Moss"]  # in the order of the releases' domain
KINDS = ("generalized", "anatomized", "centroids")


@dataclass(frozen=True)
class Case:
    """A table of people and earlier releases, and as plain sets what these leave of each person."""

    people: list[tuple[str, str, int]]
    table: dl.Table
    releases: list[GroupedRelease]
    values: int
    left: list[set[int]]  # before the table is published
    attacked: list[set[int]]  # once it is: where it has none of these values, somebody was suppressed after all
    located: list[bool]

    def every(self) -> set[int]:
        return {s for _, _, s in self.people}

    def most(self) -> list[int]:
        """How many values one class of everybody leaves of each person."""
        return [len(left & self.every()) for left in self.attacked]

    def guarded(self) -> list[set[int]]:
        """What must be left of each person: what the attack leaves or, if that has none of the table's values, anything."""
        return [left if left & self.every() else set(range(self.values)) for left in self.attacked]

    def demand(self, least: int) -> list[int]:
        return [min(least, len(left & self.every())) for left in self.guarded()]

    def known(self, person: tuple[str, str, int]) -> tuple[int, ...]:
        """What an attacker knows of a person, in the table's own coding: nothing of what is missing."""
        quasi = self.table.schema.quasi
        return tuple(
            UNKNOWN if text == "" else column.domain.code(text)
            for column, text in zip(quasi, person, strict=False)
            if column.domain is not None
        )


def case(seed: str, values: int, *, kinds: Sequence[str] = KINDS, missing: bool = True) -> Case:
    rng = random.Random(seed)
    bound = schema(values)
    releases = [grouped(rng, bound, rng.choice(kinds)) for _ in range(rng.randint(2, 3))]
    common = [rng.random() ** 3 + 0.02 for _ in range(values)]
    ages = [*AGES, *([""] if missing else [])]
    people = [
        (rng.choice(ages), rng.choice(CITIES), rng.choices(range(values), common)[0]) for _ in range(rng.randint(8, 40))
    ]
    if len({s for _, _, s in people}) < 2:
        people += [(people[0][0], people[0][1], s) for s in range(2)]
    paths = [(age, "young" if age < "23" else "old", "*") for age in AGES]
    columns = (
        dl.Column("age", "quasi", type="integer", hierarchy=from_paths(paths, source="test")),
        dl.Column("city", "quasi", hierarchy=from_paths([(c, "*" if c > "C" else "west") for c in CITIES], source="test")),
        dl.Column("s", "sensitive"),
    )  # fmt: skip
    frame = pa.table(
        {"age": [a for a, _, _ in people], "city": [c for _, c, _ in people], "s": [f"v{s}" for _, _, s in people]}
    )
    left, attacked, located = [], [], []
    every = {s for _, _, s in people}
    for age, city, _ in people:
        known = (UNKNOWN if age == "" else int(age) - 20, RELEASES_CITIES.index(city))
        outside = age in ("26", "27")
        located.append(not outside and any(plain_places(release, known) for release in releases))
        left.append(plain_left(releases, [known] * len(releases)) if located[-1] else set(range(values)))
        sure = plain_left(releases, [known] * len(releases), sure=True) if located[-1] else left[-1]
        attacked.append(left[-1] if left[-1] & every else sure)
    return Case(people, dl.Table(frame, dl.Schema(columns)), releases, values, left, attacked, located)


def different(one: Case) -> int:
    return len({s for _, _, s in one.people})


def told(one: Case, least: int, groups: Sequence[object], published: Published | None = None) -> dict[str, Any]:
    """What a description must say of people in these groups of a release, by their own class or as attacked."""
    after, guarded = (worst(one, groups, published, sets) for sets in (one.attacked, one.guarded()))
    most = one.most()
    known = [n for n, left in zip(after, one.left, strict=True) if left]
    return {
        "releases": len(one.releases),
        "people": len(one.people),
        "located": sum(one.located),
        "l": least,
        "smallest_posterior": min(known, default=None),
        "below_l": sum(n < enough for n, enough in zip(guarded, one.demand(least), strict=True)),
        "already_below": sum(bool(left) and can < least for left, can in zip(one.left, most, strict=True)),
        "worsened": sum(n < min(least, len(left)) for n, left in zip(after, one.left, strict=True)),
        "contradicted": sum(not left for left in one.left),
        "mean_posterior_anonymity": pytest.approx(sum(known) / len(known)) if known else None,
        "differences": ANY,  # see tests/adversaries/test_differences.py and tests/cli/test_given_attacked.py
    }


def found_in(one: Case, published: Published) -> list[set[int]]:
    """The values where an attacker finds each person in a release."""
    release = published.release
    assert isinstance(release, GroupedRelease)
    names = [int(leaf[1:]) for leaf in release.schema["s"].leaves]
    return [{names[v] for v in plain_values(release, plain_places(release, one.known(p)))} for p in one.people]


def worst(one: Case, groups: Sequence[object], published: Published | None, sets: Sequence[set[int]]) -> list[int]:
    """How many values of some sets are left of each person, by their own class or as attacked, whichever leaves fewer."""
    own = after(one, groups, sets)
    if published is None:
        return own
    there = [len(left & found) for left, found in zip(sets, found_in(one, published), strict=True)]
    return [min(pair) for pair in zip(own, there, strict=True)]


def groups_of(one: Case, published: Published) -> list[object]:
    """The class of each person, found in the release as anybody finds it."""
    release = published.release
    coded = [published.table.schema.quasi[a] for a in range(2)]
    rows = [tuple(c.domain.code(p[a]) for a, c in enumerate(coded) if c.domain is not None) for p in one.people]
    assert isinstance(release, GroupedRelease)
    found = []
    for row in rows:
        where = {q for q in plain_places(release, row) if q < release.groups}
        assert len(where) <= 1
        found.append(where.pop() if where else "suppressed")
    return found


def after(one: Case, groups: Sequence[object], sets: Sequence[set[int]]) -> list[int]:
    """How many values of some sets are in each person's own class."""
    held: dict[object, set[int]] = defaultdict(set)
    for (_, _, s), group in zip(one.people, groups, strict=True):
        held[group].add(s)
    return [len(left & held[group]) for left, group in zip(sets, groups, strict=True)]


@pytest.mark.parametrize("values", [3, 14, 70])
def test_mondrian(values: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(25):
        one = case(f"mondrian {values} {seed}", values)
        least = min(2 + seed % 2, different(one))
        earlier = given(one.table, one.releases, l=least)
        plain = Mondrian([KAnonymity(2)]).publish(one.table)
        alone = told(one, least, groups_of(one, plain), plain)
        assert evaluate(plain, earlier).to_document() == alone
        assert "given" not in plain.describe()
        published = Mondrian([KAnonymity(2)], given=earlier).publish(one.table)
        together = told(one, least, groups_of(one, published), published)
        assert published.describe()["given"] == together
        assert published.describe()["given"]["below_l"] == 0
        assert published.parts <= plain.parts
        seen["failed alone"] += alone["below_l"] > 0
        seen["coarser"] += published.parts < plain.parts
        seen["cut all the same"] += 1 < published.parts < plain.parts
        seen["unlocated"] += not all(one.located)
        seen["contradicted"] += together["contradicted"] > 0
        seen["already below"] += together["already_below"] > 0
        seen["suppressed before"] += any(release.suppressed for release in one.releases)
    wanted = ("failed alone", "coarser", "unlocated", "contradicted", "already below", "suppressed before")
    assert all(seen[what] >= 3 for what in wanted), seen
    assert seen["cut all the same"] >= 2, seen


def plain_nodes(one: Case, published: Any, least: int, k: int, limit: int) -> dict[tuple[int, ...], bool]:
    """Of every node whether it may be published: by its classes, suppressed ones taken together."""
    lattice = published.lattice
    demand, guarded = one.demand(least), one.guarded()
    found = {}
    for node in itertools.product(*(range(height + 1) for height in lattice.heights)):
        labels = []
        for person in one.people:
            codes = [column.domain.code(text) for column, text in zip(lattice.quasi, person, strict=False)]
            labels.append(
                tuple(int(tree.maps[level][c]) for tree, level, c in zip(lattice.trees, node, codes, strict=True))
            )
        sizes = Counter(labels)
        few = {g for g, n, enough in zip(labels, after(one, labels, guarded), demand, strict=True) if n < enough}
        hidden = {g for g in sizes if sizes[g] < k or g in few}
        shown = [None if g in hidden else g for g in labels]
        lost = shown.count(None)
        kept = zip(after(one, shown, guarded), misplaced(one, labels, shown), demand, strict=True)
        found[node] = lost <= limit and lost < len(labels) and all(min(n, n2) >= enough for n, n2, enough in kept)
    return found


def misplaced(one: Case, labels: Sequence[tuple[int, ...]], shown: Sequence[object]) -> list[int]:
    """How many values are left of people where an attacker looks for them: in every class that fits what is not missing."""
    held: dict[object, set[int]] = defaultdict(set)
    for (_, _, s), group in zip(one.people, shown, strict=True):
        held[group].add(s)
    found = []
    for person, label, left in zip(one.people, labels, one.guarded(), strict=True):
        known = [a for a in range(2) if person[a] != ""]
        fits = [g for g in held if isinstance(g, tuple) and all(g[a] == label[a] for a in known)]
        values = set().union(*(held[g] for g in fits)) if fits else held[None]
        found.append(len(left & values))
    return found


@pytest.mark.parametrize("suppression", [0.0, 0.3])
def test_lattice(suppression: float) -> None:
    """Every node as plain sets judge it, and the best of them found in spite of pruning."""
    seen: Counter[str] = Counter()
    for seed in range(40):
        values = (3, 6, 70)[seed % 3]
        one = case(f"lattice {suppression} {seed}", values)
        least = min(2 + seed % 2, different(one))
        earlier = given(one.table, one.releases, l=least)
        publisher = Lattice([KAnonymity(2)], suppression=suppression, given=earlier, suppressed_rows="as-is")
        search = search_of(one, suppression, earlier)
        limit = int(suppression * len(one.people) + 1e-9)
        nodes = plain_nodes(one, search, least, 2, limit)
        verdicts = {node: search.judge(node)[0] for node in nodes}
        assert {node: verdict.feasible for node, verdict in verdicts.items()} == nodes
        if not any(nodes.values()):
            with pytest.raises(InputError, match="No release satisfies the criteria") as refused:
                publisher.publish(one.table)
            seen["impossible"] += "together with the earlier releases" in str(refused.value)
            continue
        published = publisher.publish(one.table)
        assert published.outcome.best is not None
        assert nodes[published.node]
        assert published.outcome.best.cost == pytest.approx(min(v.cost for v in verdicts.values() if v.feasible))
        together = told(one, least, groups_of(one, published), published)
        assert published.describe()["given"] == together
        assert published.describe()["given"]["below_l"] == 0
        alone = Lattice([KAnonymity(2)], suppression=suppression, suppressed_rows="as-is").publish(one.table)
        assert alone.outcome.best is not None
        assert alone.outcome.best.cost <= published.outcome.best.cost + 1e-12
        below = evaluate(alone, earlier)
        assert below.to_document() == told(one, least, groups_of(one, alone), alone)
        seen["failed alone"] += below.below_l > 0
        seen["suppressed"] += published.describe()["suppressed"] > 0
        seen["not monotone"] += any(
            nodes[a] and not nodes[b] for a in nodes for b in nodes if all(x <= y for x, y in zip(a, b, strict=True))
        )
    assert seen["failed alone"] >= 5, seen
    assert seen["impossible"] >= 2, seen  # the cities have two roots
    if suppression:
        assert seen["suppressed"] >= 3, seen
        assert seen["not monotone"] >= 1, seen
    else:
        assert seen["not monotone"] == 0


def test_somebody_with_a_missing_value_who_is_suppressed() -> None:
    """An attacker who does not know an age looks in the class of Oslo that is shown, where one value is possible."""
    bound = schema(4)
    boxes = [[np.array([0]), np.array([0])], [np.array([1, 2]), np.array([0])]]
    group, values = np.array([0, 0, 1, 1], dtype=np.int32), np.array([[1], [1], [2], [3]], dtype=np.int32)
    release = Generalized.from_sets(bound, boxes, group, values, np.ones(4, dtype=np.int64))  # type: ignore[arg-type]
    people = [
        ("20", "Oslo", 1),
        ("20", "Oslo", 1),
        ("", "Oslo", 2),
        ("23", "Moss", 3),
        ("24", "Hamar", 2),
        ("24", "Hamar", 3),
    ]
    ages = [(age, "*") for age in AGES]
    columns = (
        dl.Column("age", "quasi", type="integer", hierarchy=from_paths(ages, source="test")),
        dl.Column("city", "quasi", hierarchy=from_paths([(c, "*") for c in CITIES], source="test")),
        dl.Column("s", "sensitive"),
    )
    frame = pa.table(
        {"age": [a for a, _, _ in people], "city": [c for _, c, _ in people], "s": [f"v{s}" for *_, s in people]}
    )
    table = dl.Table(frame, dl.Schema(columns))
    left = [{1}, {1}, {1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}]
    one = Case(people, table, [release], 4, left, left, [True, True, True, False, False, False])
    earlier = given(table, [release])
    node = (0, 0)
    search = search_of(one, 0.34, earlier)
    classes = search.lattice.classes(node)
    into = search.lattice.membership(node, earlier.quasi)
    passing, kept = search.satisfying(node, classes)
    assert int(classes.sizes[~passing].sum()) == 2  # the missing age and Moss
    assert earlier.keeps_hidden(into.astype(np.int64), bits_of(earlier, search, classes), ~passing)
    assert not kept
    assert not search.judge(node)[0].feasible
    published = Lattice([KAnonymity(2)], suppression=0.34, given=earlier).publish(table)
    assert published.node != node
    assert len(left[2] & found_in(one, published)[2]) >= 2


def bits_of(earlier: Given, search: Search, classes: Any) -> Any:
    owner = np.repeat(np.arange(len(classes)), np.diff(classes.start))
    return earlier.bits(owner, search.lattice.tuples[classes.values, 0], len(classes))


def search_of(one: Case, suppression: float, earlier: Given) -> Search:
    from dalenius.publishers.nodes import GeneralizationLattice

    lattice = GeneralizationLattice(one.table.cells())
    return Search(lattice, [KAnonymity(2)], suppression=suppression, given=earlier, suppressed_rows="as-is")


GROWING: dict[str, Callable[[dl.Table, Given | None], Any]] = {
    "anatomy": lambda table, some: Anatomy(2, given=some).publish(table, seed=3),
    "microaggregation": lambda table, some: Microaggregation(2, given=some).publish(table),
    "ranges": lambda table, some: Microaggregation(2, shown="ranges", given=some).publish(table),
}


@pytest.mark.slow
@pytest.mark.parametrize("method", GROWING)
def test_groups_that_grow_until_enough_is_left(method: str) -> None:
    """Anatomy and microaggregation join groups; people are in groups that only the steward knows."""
    failed = some = 0
    for seed in range(25):
        one = case(f"{method} {seed}", 8)
        sizes = Counter(s for _, _, s in one.people)
        if 2 * max(sizes.values()) > len(one.people):
            continue  # Anatomy cannot separate these
        earlier = given(one.table, one.releases)
        plain, published = (GROWING[method](one.table, releases) for releases in (None, earlier))
        assert "given" not in plain.describe()
        for made in (plain, published):
            mine, groups = in_groups(one, made)
            assert evaluate(made, earlier).to_document() == told(mine, 2, groups, made)
        document = published.describe()
        assert document["given"] == evaluate(published, earlier).to_document()
        assert document["given"]["below_l"] == 0
        # Groups are joined, and only where that is called for.
        pairs = set(zip(plain.group.tolist(), published.group.tolist(), strict=True))
        assert len(pairs) == plain.describe()["classes"] >= document["classes"]
        assert (document["classes"] < plain.describe()["classes"]) == (evaluate(plain, earlier).below_l > 0)
        failed += document["classes"] < plain.describe()["classes"]
        some += 1 < document["classes"] < plain.describe()["classes"]
    assert failed >= 5
    assert some >= 3


def in_groups(one: Case, published: Any) -> tuple[Case, list[object]]:
    """The people in the order in which the publisher has them, and their groups."""
    codes = published.people_in_groups()[0]
    texts = [[column.leaves[c] for column, c in zip(published.table.schema.coded, row, strict=True)] for row in codes]
    each = zip(one.people, one.left, one.attacked, one.located, strict=True)
    found = {(a, c): (left, attacked, there) for (a, c, _), left, attacked, there in each}
    people = [(age, city, int(s[1:])) for age, city, s in texts]
    assert sorted(people) == sorted(one.people)
    left, attacked, located = (list(column) for column in zip(*(found[a, c] for a, c, _ in people), strict=True))
    return Case(people, one.table, one.releases, one.values, left, attacked, located), published.group.tolist()


def test_microaggregation_joins_the_nearest() -> None:
    """Three places in a row, and the first has one value: it takes in the second, across blocks, and not the third."""
    bound = schema(3)
    columns = [bound["age"], bound["city"], dl.Column("s", "sensitive")]
    rows = [("20", "v0")] * 8 + [("25", "v1"), ("25", "v2")] * 4 + [("22", "v1"), ("22", "v2")] * 4
    frame = pa.table({"age": [age for age, _ in rows], "city": ["Oslo"] * 24, "s": [s for _, s in rows]})
    table = dl.Table(frame, dl.Schema(columns))
    earlier = given(table, [])
    for block in (None, 16):
        published = Microaggregation(4, block=block, given=earlier).publish(table)
        groups = {frozenset(rows[i][0] for i in np.flatnonzero(published.group == q)) for q in range(published.groups)}
        assert frozenset({"20", "22"}) in groups
        assert frozenset({"25"}) in groups
        assert not any({"20", "25"} <= group for group in groups)
        assert published.describe()["given"]["below_l"] == 0


def test_confidence() -> None:
    assert [needed(2, c) for c in (1, 0.5, 0.34, 1 / 3, 0.33, 0.25, 1 / 49, 0.01)] == [2, 2, 3, 3, 4, 4, 49, 100]
    assert needed(5, 0.5) == 5
    assert needed(2, 1e-320) > 10**17
    one = case("confidence", 14)
    with_l, with_c = given(one.table, one.releases, l=3), given(one.table, one.releases, confidence=0.34)
    assert (with_l.l, with_c.l) == (3, 3)
    assert np.array_equal(with_l.demand, with_c.demand)


@pytest.mark.parametrize("l", [1, 0, 2.5, True, "2"])
def test_what_is_no_number_of_values(l: Any) -> None:  # noqa: E741
    one = case("refused", 3)
    with pytest.raises(ParameterError, match=r"^The 'l' parameter of given must be an int ≥ 2\. Got .* instead\.$"):
        given(one.table, one.releases, l=l)


@pytest.mark.parametrize("confidence", [0, 1.01, -0.5, float("nan"), True, "0.5"])
def test_what_is_no_confidence(confidence: Any) -> None:
    one = case("refused", 3)
    with pytest.raises(ParameterError, match=r"^The 'confidence' parameter of given must be a number above 0 and at"):
        given(one.table, one.releases, confidence=confidence)


def test_more_values_than_there_are() -> None:
    one = case("refused", 3)
    most = different(one)
    with pytest.raises(
        InputError, match=rf"{most + 1} values are impossible: the table has only {most} sensitive values\. Lower"
    ):
        given(one.table, one.releases, l=most + 1)


def test_what_was_made_for_another_table() -> None:
    """Even of the same people with other values: what is published then would promise nothing."""
    one = case("one", 14)
    earlier = given(one.table, one.releases)
    columns = {"age": [age for age, _, _ in one.people], "city": [city for _, city, _ in one.people]}
    frame = pa.table({**columns, "s": ["v0", "v1"] * (len(one.people) // 2) + ["v1"] * (len(one.people) % 2)})
    other = dl.Table(frame, one.table.declared)
    publishers: list[Any] = [
        Mondrian([KAnonymity(2)], given=earlier),
        Lattice([KAnonymity(2)], given=earlier),
        Anatomy(2, given=earlier),
        Microaggregation(2, given=earlier),
    ]
    for publisher in publishers:
        with pytest.raises(ParameterError, match="made for the table that is published"):
            publisher.publish(other)
        assert publisher.publish(dl.Table(one.table.source, one.table.declared)).describe()["given"]["below_l"] == 0
