"""Noisy counts at levels of hierarchies: counts recounted by hand, files read back, labels of others, bad input."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import Targets, make_adversary
from dalenius.adversaries.models.count_classifier import shares
from dalenius.auditing import audit
from dalenius.errors import InputError, ParameterError
from dalenius.hierarchy import from_paths
from dalenius.measures.queries import Independent, workload
from dalenius.publishers.noisy_counts import Counts, Simulation
from dalenius.releases import NoisyCounts

AREAS = {"Oslo": "East", "Hamar": "East", "Bergen": "West", "Voss": "West", "Bodø": "Bodø"}
TREE = from_paths([(town, area, "*") for town, area in AREAS.items()], source="towns")
SCHEMA = dl.Schema(
    (
        dl.Column("age", "quasi", "integer", dl.Domain((*map(str, range(18, 43)), "")), intervals=(5, 10)),
        dl.Column("zip", "quasi", domain=dl.Domain(("101", "102", "110", "99")), mask="right"),
        dl.Column("town", "quasi", hierarchy=TREE),
        dl.Column("s", "sensitive", domain=dl.Domain(("flu", "pox", "none"))),
    )
)
LEVELS = {"age": 1, "zip": 1, "town": 1}


def label(name: str, leaf: str, level: int) -> str:
    """The label of a value, worked out anew."""
    if level == 0:
        return leaf
    if name == "age":
        low = 0 if leaf == "" else int(leaf) // (5 * level) * 5 * level
        return "" if leaf == "" else f"[{low}, {low + 5 * level - 1}]"
    if name == "zip":
        kept = max(0, 3 - level)
        return leaf if len(leaf) <= kept else leaf[:kept] + "*" * (len(leaf) - kept)
    return AREAS[leaf]


def people(seed: int, n: int = 80) -> list[tuple[str, str, str, str]]:
    rng = random.Random(seed)
    ages, zips, values = [*map(str, range(18, 30)), ""], ["101", "102", "99"], ["flu", "pox"]
    return [(rng.choice(ages), rng.choice(zips), rng.choice(list(AREAS)), rng.choice(values)) for _ in range(n)]


def table(rows: list[tuple[str, str, str, str]]) -> dl.Table:
    return dl.Table({name: [row[j] for row in rows] for j, name in enumerate(("age", "zip", "town", "s"))}, SCHEMA)


def recount(rows: list[tuple[str, str, str, str]], names: tuple[str, ...], levels: dict[str, int]) -> Counter[object]:
    at = {"age": 0, "zip": 1, "town": 2}
    return Counter((tuple(label(n, row[at[n]], levels.get(n, 0)) for n in names), row[3]) for row in rows)


@pytest.mark.parametrize("joint", [(), (("age", "town"),), (("zip", "age", "town"),)], ids=str)
@pytest.mark.parametrize("levels", [LEVELS, {"age": 2}, {"zip": 2, "town": 1}, {"town": 0, "age": 0}, {}], ids=str)
def test_counts_of_labels(levels: dict[str, int], joint: tuple[tuple[str, ...], ...], tmp_path: Path) -> None:
    """At ε = 1000 a geometric number is not 0 once in 10¹⁰⁰ times."""
    rows = people(1)
    published = Counts(1000.0, levels=levels, joint=joint).publish(table(rows))
    assert published.describe()["levels"] == levels
    published.write(tmp_path / "out")
    back = dl.read_release(tmp_path / "out", SCHEMA)
    assert isinstance(back, NoisyCounts)
    assert back == published.release
    for release in (published.release, back):
        assert release.sensitivity == len(release.tables) == 3 - sum(len(names) - 1 for names in joint)
        for names, counts in zip(release.tables, release.noisy, strict=True):
            expected = recount(rows, names, levels)
            found = {
                (row, value): counts[v, s]
                for v, row in enumerate(release.labels(names))
                for s, value in enumerate(("flu", "pox", "none"))
            }
            assert {key: count for key, count in found.items() if count} == expected
            # Every label of the domain is there, also those nobody has.
            wide = math.prod(
                len({label(n, leaf, levels.get(n, 0)) for leaf in release.schema[n].leaves}) for n in names
            )
            assert len(counts) == wide


def test_levels_can_be_hashed_and_given_either_way() -> None:
    one, two = Counts(1.0, levels={"age": 1}), Counts(1.0, levels=(("age", 1),))
    assert one == two
    assert hash(one) == hash(two)
    for option in ("levels", "gaussian"):
        for wrong in ("age=1", 1, None, [("age", 1)], (("age",),), ((1, 2),)):
            with pytest.raises(ParameterError, match=f"'{option}' parameter of noisy counts must be a mapping"):
                Counts(1.0, **{option: wrong})  # type: ignore[arg-type]
        with pytest.raises(InputError, match=f"'{option}' of noisy counts name a column twice"):
            Counts(1.0, **{option: (("age", 1), ("age", 2))})  # type: ignore[arg-type]


@pytest.mark.parametrize("joint", [(), (("age", "town"),)], ids=str)
def test_the_classifier_takes_the_label_of_the_target(joint: tuple[tuple[str, ...], ...]) -> None:
    release = Simulation(0.5, levels=LEVELS, joint=joint).draw(table(people(2)), seed=3)
    leaves = [release.schema[name].leaves for name in ("age", "zip", "town")]
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(-1, len(own), 60) for own in leaves]).astype(np.int32)
    found = make_adversary("naive-bayes").attack(release, Targets(release.schema, codes)).posterior
    for row, mine in zip(codes.tolist(), found, strict=True):
        known = {
            name: label(name, leaves[j][code], 1) for j, (name, code) in enumerate(zip(LEVELS, row, strict=True)) if code >= 0
        }  # fmt: skip
        weights = shares(release).copy()
        for names, counts in zip(release.tables, release.noisy, strict=True):
            fits = [
                all(known.get(name, part) == part for name, part in zip(names, parts, strict=True))
                for parts in release.labels(names)
            ]
            clipped = 1 + np.maximum(counts, 0)
            weights *= clipped[fits].sum(axis=0) / clipped.sum(axis=0)
        assert mine == pytest.approx(weights / weights.sum(), abs=1e-12)


def test_an_audit_of_coarse_counts() -> None:
    one = table(people(3))
    found = audit(Counts(1.0, levels=LEVELS).publish(one).release, SCHEMA, truth=one.source)
    assert [attack.adversary for attack in found.attacks] == ["naive-bayes"]
    assert found.utility["relative_error"] > 0


@pytest.mark.parametrize("joint", [(), (("age", "town"),)], ids=str)
def test_queries_on_coarse_counts(joint: tuple[tuple[str, ...], ...]) -> None:
    """People of a label are spread evenly over its values; a table that nothing is asked of tells nothing."""
    release = Simulation(2.0, levels=LEVELS, joint=joint).draw(table(people(4)), seed=5)
    names = [column.name for column in release.schema.quasi]
    for query in workload(release.schema, 40, seed=1):
        expected = 0.0
        for s in np.flatnonzero(query.values).tolist():
            clipped = [np.maximum(counts[:, s], 0) for counts in release.noisy]
            answer = float(np.mean([counts.sum() for counts in clipped]))
            for own, counts in zip(release.tables, clipped, strict=True):
                if not any(names.index(name) in query.quasi for name in own):
                    continue
                part = 0.0
                for leaves in itertools.product(*(release.schema[name].leaves for name in own)):
                    if all(
                        query.quasi[names.index(name)][release.schema[name].leaves.index(leaf)]
                        for name, leaf in zip(own, leaves, strict=True)
                        if names.index(name) in query.quasi
                    ):
                        mine = tuple(label(name, leaf, 1) for name, leaf in zip(own, leaves, strict=True))
                        alike = math.prod(
                            sum(label(name, other, 1) == text for other in release.schema[name].leaves)
                            for name, text in zip(own, mine, strict=True)
                        )
                        part += counts[release.labels(own).index(mine)] / alike
                answer *= part / counts.sum() if counts.sum() else 0.0
            expected += answer
        assert Independent(release)(query) == pytest.approx(expected, rel=1e-9, abs=1e-9)


META = {"mechanism": "laplace", "scale": 1.0, "epsilon": 1.0, "sensitivity": 1, "neighbours": "add-remove"}
ONE = dl.Schema((dl.Column("age", "quasi", "integer", dl.Domain(tuple(map(str, range(20, 30))))), SCHEMA["s"]))


def read(folder: Path, labels: list[str], schema: dl.Schema = ONE, **meta: object) -> NoisyCounts:
    values = ("flu", "pox", "none")
    lines = [f'age,"{text}",{value},{10 * i + s}' for i, text in enumerate(labels) for s, value in enumerate(values)]
    (folder / "c.counts.csv").write_text("\n".join(["column,value,s,count", *lines]) + "\n", encoding="utf-8")
    (folder / "c.json").write_text(json.dumps({**META, **meta}), encoding="utf-8")
    found = dl.read_release(folder / "c", schema)
    assert isinstance(found, NoisyCounts)
    return found


def test_labels_of_another_tool(tmp_path: Path) -> None:
    """Intervals, sets and single values, in any order: rows are in the order of their first value."""
    release = read(tmp_path, [">=27", "[20, 22]", "{23, 25}", "24", "26"])
    assert release.labels(("age",)) == [("[20, 22]",), ("{23, 25}",), ("24",), ("26",), (">=27",)]
    assert release.noisy[0][:, 0].tolist() == [10, 20, 30, 40, 0]
    assert release.coarse["age"].node.tolist() == [0, 0, 0, 1, 2, 1, 3, 4, 4, 4]
    release.write(tmp_path / "again")
    assert dl.read_release(tmp_path / "again", ONE) == release
    assert read(tmp_path, ["*"]).noisy[0].tolist() == [[0, 1, 2]]
    leaves = read(tmp_path, [str(age) for age in range(20, 30)])
    assert leaves.coarse == {}


@pytest.mark.parametrize("mechanism", ["laplace", "none"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["20-24", "24-29"], "column 'age': the labels '20-24' and '24-29' overlap.*cover every value once"),
        (["20-29", "23"], "the labels '20-29' and '23' overlap"),
        (["20-24", "26-29"], "column 'age': no label covers the value '25'"),
        (["20-24", "x"], "'x' is not a whole number, as column 'age' needs"),
        (["20-24", "25-29", "31"], "'31' is not a value of column 'age'"),
        (["20-24", "25-29", "20-24"], "a count is given twice"),
        (["20-24", "25-29", "[20, 24]"], "a count is given twice"),
    ],
)
def test_labels_that_are_no_partition(labels: list[str], message: str, mechanism: str, tmp_path: Path) -> None:
    meta = {"mechanism": mechanism, **({"scale": 0, "epsilon": None} if mechanism == "none" else {})}
    with pytest.raises(InputError, match=message) as refused:
        read(tmp_path, labels, **meta)
    assert "c.counts.csv" in str(refused.value)


def test_labels_of_undeclared_columns(tmp_path: Path) -> None:
    bare = dl.Schema((dl.Column("age", "quasi", "integer"), SCHEMA["s"]))
    with pytest.raises(InputError, match="'20-24' is not a whole number, as column 'age' needs"):
        read(tmp_path, ["20-24"], bare)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"aged": 1}, "'aged' is not a quasi-identifier, so it has no level. Did you mean 'age'"),
        ({"s": 1}, "'s' is not a quasi-identifier"),
        ({"age": 4}, "'level' parameter of column 'age' must be an int from 0 to 3. Got 4"),
        ({"age": -1}, "from 0 to 3. Got -1"),
        ({"age": True}, "from 0 to 3. Got True"),
        ({"age": 1.0}, r"from 0 to 3. Got 1\.0"),
    ],
)
@pytest.mark.parametrize("kind", [Counts, Simulation])
def test_levels_that_cannot_be(kind: type, levels: dict[str, int], message: str) -> None:
    with pytest.raises((InputError, ParameterError), match=message):
        kind(1.0, levels=levels).exact(table(people(0)))


def test_a_level_of_no_hierarchy() -> None:
    bare = dl.Table({"age": ["20"], "s": ["flu"]}, ONE)
    with pytest.raises(
        InputError, match=r"Column 'age' has no hierarchy.*Declare intervals, mask or hierarchy in the schema"
    ):
        Counts(1.0, levels={"age": 1}).publish(bare)


def test_labels_that_read_as_something_else(tmp_path: Path) -> None:
    """`*` is a mark of these files: the label of some values that is called so is spelt out."""
    tree = from_paths([("a", "*"), ("b", "*"), ("c", "c")], source="odd")
    odd = dl.Schema((dl.Column("q", "quasi", hierarchy=tree), SCHEMA["s"]))
    published = Counts(1000.0, levels={"q": 1}).publish(dl.Table({"q": ["a", "b", "c"], "s": ["flu"] * 3}, odd))
    published.write(tmp_path / "out")
    assert published.release.labels(("q",)) == [("{a, b}",), ("c",)]
    assert dl.read_release(tmp_path / "out", odd) == published.release
    assert published.release.noisy[0][:, 0].tolist() == [2, 1]
