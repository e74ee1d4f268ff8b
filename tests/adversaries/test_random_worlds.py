"""Random worlds against the enumeration of all worlds, and what it says of releases worked out by hand."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import UNKNOWN, RandomWorlds, Targets
from dalenius.belief import Belief
from dalenius.releases import Anatomized, Generalized, GroupCells, Release
from dalenius.schema import Column, Domain, Schema
from tests.adversaries import worlds

MOST_WORLDS = 1500
LEAVES = ("p", "q", "r")
VALUES = ("Ache", "Flu", "Pox")
RELEASES = 160  # of each kind


def schema_of(domains: list[tuple[str, ...]], values: tuple[str, ...] = VALUES) -> Schema:
    quasi = [Column(f"a{j}", "quasi", domain=Domain(domain)) for j, domain in enumerate(domains)]
    return Schema((*quasi, Column("disease", "sensitive", domain=Domain(values))))


def every_target(domains: list[tuple[str, ...]]) -> list[worlds.Known]:
    """Every tuple of leaves, and every part of one: an attribute may be unknown."""
    return list(itertools.product(*[(*domain, None) for domain in domains]))


def targets_of(schema: Schema, known: list[worlds.Known]) -> Targets:
    codes = [
        [UNKNOWN if leaf is None else column.leaves.index(leaf) for leaf, column in zip(row, schema.quasi, strict=True)]
        for row in known
    ]
    return Targets(schema, np.array(codes, dtype=np.int32).reshape(len(known), len(schema.quasi)))


def agree(belief: Belief, truth: list[tuple[Fraction, ...] | None]) -> None:
    for row, matched, right in zip(belief.posterior.tolist(), belief.matched.tolist(), truth, strict=True):
        assert matched == (right is not None)
        if right is None:
            assert np.isnan(row).all()
        else:
            assert row == pytest.approx([float(p) for p in right], abs=1e-10, rel=0)


# --- Releases at random ------------------------------------------------------------------------------------------------


def random_boxes(rng: random.Random) -> tuple[list[tuple[worlds.Box | None, str]], list[tuple[str, ...]]]:
    """Up to five rows with overlapping sets, repeated boxes and values, some rows suppressed."""
    while True:
        domains = [LEAVES[: rng.randint(1, 3)] for _ in range(rng.randint(1, 3))]
        known: list[worlds.Box] = []
        rows: list[tuple[worlds.Box | None, str]] = []
        for _ in range(rng.randint(1, 5)):
            box = tuple(frozenset(rng.sample(domain, rng.randint(1, len(domain)))) for domain in domains)
            if known and rng.random() < 0.4:
                box = rng.choice(known)
            known.append(box)
            rows.append((None if rng.random() < 0.15 else box, rng.choice(VALUES)))
        if all(box is None for box, _ in rows):
            continue  # everything suppressed is one class; it has a test of its own
        if worlds.count_worlds_of_boxes(rows, domains) <= MOST_WORLDS:
            return rows, domains


def built(rows: list[tuple[worlds.Box | None, str]], schema: Schema) -> Generalized:
    """A release built in memory: every row a group of its own, even where labels are equal."""
    sets = [
        [
            np.array([column.leaves.index(leaf) for leaf in labels], dtype=np.int32)
            for labels, column in zip(box, schema.quasi, strict=True)
        ]
        for box, _ in rows
        if box is not None
    ]
    number = iter(range(len(sets)))
    group = np.array([-1 if box is None else next(number) for box, _ in rows], dtype=np.int32)
    values = np.array([[VALUES.index(value)] for _, value in rows], dtype=np.int32)
    return Generalized.from_sets(schema, sets, group, values, np.ones(len(rows), dtype=np.int64))


def read(rows: list[tuple[worlds.Box | None, str]], schema: Schema) -> Release:
    """The same release as a frame with sets for labels: equal labels are one group."""
    frame = {
        f"a{j}": ["*" if box is None else "{" + ", ".join(sorted(box[j])) + "}" for box, _ in rows]
        for j in range(len(schema.quasi))
    }
    return dl.read_release({**frame, "disease": [value for _, value in rows]}, schema)


@pytest.mark.slow
def test_boxes_agree_with_all_worlds() -> None:
    shapes = set()
    for seed in range(RELEASES):
        rows, domains = random_boxes(random.Random(seed))
        schema, known = schema_of(domains), every_target(domains)
        truth = worlds.beliefs(worlds.generalized(rows, domains), known, VALUES)
        release = built(rows, schema) if seed % 2 else read(rows, schema)
        agree(RandomWorlds().attack(release, targets_of(schema, known)), truth)
        boxes = [box for box, _ in rows if box is not None]
        shapes.add((len(domains), len(boxes) < len(rows), len(set(boxes)) < len(boxes), None in truth))
    # The draws hold what they are meant to hold: 1 to 3 attributes, suppressed rows, equal boxes, people who fit nowhere.
    assert {shape[0] for shape in shapes} == {1, 2, 3}
    for feature in (1, 2, 3):
        assert {shape[feature] for shape in shapes} == {True, False}


def random_groups(rng: random.Random) -> tuple[list[tuple[list[tuple[str, ...]], list[str]]], list[tuple[str, ...]]]:
    domains = [LEAVES[: rng.randint(1, 3)] for _ in range(rng.randint(1, 3))]
    groups = []
    for _ in range(rng.randint(1, 3)):
        size = rng.randint(1, 4)
        tuples = [tuple(rng.choice(domain) for domain in domains) for _ in range(size)]
        groups.append((tuples, [rng.choice(VALUES) for _ in range(size)]))
    return groups, domains


def anatomized(groups: list[tuple[list[tuple[str, ...]], list[str]]], schema: Schema) -> Anatomized:
    cells = []
    for part, columns in ((0, schema.quasi), (1, schema.sensitive)):
        group, codes = [], []
        for q, members in enumerate(groups):
            for member in members[part]:
                texts = member if part == 0 else (member,)
                group.append(q)
                codes.append([column.leaves.index(text) for text, column in zip(texts, columns, strict=True)])
        sizes = [len(column.leaves) for column in columns]
        ones = np.ones(len(group), dtype=np.int64)
        cells.append(GroupCells.gather(np.array(group, np.int32), np.array(codes, np.int32), ones, sizes))
    return Anatomized(schema, cells[0], cells[1])


@pytest.mark.slow
def test_anatomy_agrees_with_all_worlds() -> None:
    kept = 0
    for seed in range(RELEASES):
        groups, domains = random_groups(random.Random(seed))
        schema, known = schema_of(domains), every_target(domains)
        if np.prod([np.prod(np.arange(1, len(values) + 1)) for _, values in groups]) > MOST_WORLDS:
            continue
        kept += 1
        truth = worlds.beliefs(worlds.anatomized(groups), known, VALUES)
        agree(RandomWorlds().attack(anatomized(groups, schema), targets_of(schema, known)), truth)
    assert kept > 100


def test_of_several_sensitive_columns_each_has_its_own_belief() -> None:
    """A column's belief is that of the release with the other columns left out."""
    for seed in range(10):
        rng = random.Random(seed)
        rows, domains = random_boxes(rng)
        second = [rng.choice(("no", "yes")) for _ in rows]
        plain = schema_of(domains)
        schema = Schema((*plain.columns, Column("smokes", "sensitive", domain=Domain(("no", "yes")))))
        frame = {
            f"a{j}": ["*" if box is None else "{" + ", ".join(sorted(box[j])) + "}" for box, _ in rows]
            for j in range(len(domains))
        }
        release = dl.read_release({**frame, "disease": [v for _, v in rows], "smokes": second}, schema)
        known = every_target(domains)
        for column, values in (("disease", VALUES), ("smokes", ("no", "yes"))):
            mine = [(box, v if column == "disease" else w) for (box, v), w in zip(rows, second, strict=True)]
            truth = worlds.beliefs(worlds.generalized(mine, domains), known, values)
            agree(RandomWorlds().attack(release, targets_of(schema, known), column=column), truth)


# --- By hand -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["relative-1b", "relative-1c"])
def test_the_papers_victim(table: str) -> None:
    """Table III of Boreale, Corradi and Viscardi (2019): p_RW of (Malaysia, 45501) is 0.500 Heart, 0.500 Flu, else 0.

    In Table I(b) the victim fits the first class only; in the anatomized Table I(c) it is one of the group's two.
    """
    release = dl.datasets.paper(table)
    assert isinstance(release, Generalized | Anatomized)
    belief = RandomWorlds().attack(release, targets_of(release.schema, [("Malaysia", "45501"), ("Malaysia", "55503")]))
    assert dict(zip(belief.column.leaves, belief.posterior[0], strict=True)) == {
        "Heart": 0.5, "Flu": 0.5, "Stomach": 0, "HIV": 0, "Diabetes": 0
    }  # fmt: skip
    assert not belief.matched[1]


def test_a_smaller_box_counts_for_more() -> None:
    """A row that is p for certain weighs twice as much, for a target p, as one that is p or q, four times as one of four."""
    schema = schema_of([("p", "q", "r", "s")])
    frame = {"a0": ["p", "{p, q}", "*"], "disease": ["Flu", "Pox", "Ache"]}
    release = dl.read_release(frame, schema)
    belief = RandomWorlds().attack(release, targets_of(schema, [("p",), ("q",), ("s",), (None,)]))
    assert belief.posterior[0] == pytest.approx([1 / 7, 4 / 7, 2 / 7])
    assert belief.posterior[1] == pytest.approx([1 / 3, 0, 2 / 3])
    assert belief.posterior[2] == pytest.approx([1, 0, 0])
    assert belief.posterior[3] == pytest.approx([1 / 3, 1 / 3, 1 / 3])


def test_many_targets_and_groups_are_thought_about_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts are put together in the right order: tiny parts give what one large part gives."""
    rows, domains = random_boxes(random.Random(3))
    groups, domains_of_groups = random_groups(random.Random(5))
    for release, known in (
        (built(rows, schema_of(domains)), every_target(domains)),
        (anatomized(groups, schema_of(domains_of_groups)), every_target(domains_of_groups)),
    ):
        targets = targets_of(release.schema, known)
        whole = RandomWorlds().attack(release, targets).posterior
        monkeypatch.setattr("dalenius.adversaries.models.fit.MAX_PAIRS", 1)
        monkeypatch.setattr("dalenius.adversaries.models.fit.MAX_BIT_BYTES", 1)
        np.testing.assert_array_equal(RandomWorlds().attack(release, targets).posterior, whole)
        monkeypatch.undo()


def test_targets_outside_the_domain_are_refused() -> None:
    schema = schema_of([LEAVES])
    for codes in ([[3]], [[-2]], [[0, 0]]):
        with pytest.raises(ValueError, match="code"):
            Targets(schema, np.array(codes, dtype=np.int32))
