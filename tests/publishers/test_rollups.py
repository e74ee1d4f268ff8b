"""Tables whose distinct rows are too many to be kept: the engine counts nodes, and the answer is that of memory."""

from __future__ import annotations

import csv
import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalenius as dl
import dalenius.publishers.nodes as nodes_module
import dalenius.publishers.search as search_module
from dalenius.criteria import (
    BasicBetaLikeness,
    Criterion,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    TCloseness,
)
from dalenius.engines import Counted, TooMany
from dalenius.engines.duckdb_engine import DuckDB
from dalenius.engines.ibis_rows import IbisRows
from dalenius.errors import InputError, ParameterError
from dalenius.hierarchy import from_paths
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.nodes import GeneralizationLattice, Node
from dalenius.publishers.rollups import EngineLattice, lattice_of
from dalenius.publishers.search import Search
from dalenius.publishers.survey import epsilons, every_node, survey
from dalenius.table import MAX_CELLS
from tests.publishers.small import Small, make

SEEDS = range(14)
Counts = dict[tuple[str, ...], dict[tuple[int, ...], int]]


def widest(small: Small) -> int:
    """Fewest cells that a limit must allow: those of the largest column, or of the sensitive ones together."""
    columns = [len(set(column)) for column in small.quasi]
    return max([*columns, len(set(zip(*small.sensitive, strict=True)))])


def limits(small: Small) -> list[int]:
    """Some numbers of cells below that of the table, and none that a column alone would break."""
    cells, least = len(small.cells()), widest(small)
    return sorted({n for n in (least, (least + cells) // 2, cells - 1) if least <= n < cells})


def cases() -> Iterator[tuple[int, Small, int]]:
    for seed in SEEDS:
        small = make(seed)
        for most in limits(small):
            yield seed, small, most


FEW = list(cases())[::5]


def table(small: Small, most: int = MAX_CELLS, *, engine: Any = None) -> dl.Table:
    return dl.Table(small.columns(), small.schema(), most_cells=most, engine=engine)


class PlainRows:
    """Rows in a list, counted in Python: what an engine must answer, and quick for many searches."""

    name, numbered = "the list", True

    def __init__(self, source: dict[str, list[str]]) -> None:
        self.source = source
        self.columns = tuple(source)

    def count(self, columns: Any, *, labels: Any = None, limit: int | None = None) -> Counted:
        given = labels or {}
        read = [[given[name][text] if name in given else text for text in self.source[name]] for name in columns]
        rows = Counter(zip(*read, strict=True))
        if limit is not None and len(rows) > limit:
            raise TooMany(limit)
        texts = [sorted(set(column)) for column in read]
        codes = [[mine.index(text) for mine, text in zip(texts, row, strict=True)] for row in rows]
        return Counted(
            tuple(columns), tuple(map(tuple, texts)), np.array(codes, np.int32), np.array(list(rows.values()))
        )


class PlainEngine:
    told = None

    def open(self, source: dict[str, list[str]]) -> PlainRows:
        return PlainRows(source)


def read(lattice: GeneralizationLattice, node: Node) -> Counts:
    """The classes of a node, by their labels: how often each tuple of sensitive leaves occurs."""
    classes = lattice.classes(node)
    found: Counts = {}
    for i, rep in enumerate(classes.rep.tolist()):
        leaves = classes.leaves[rep].tolist()
        labels = tuple(
            tree.labels[level][tree.maps[level][leaf]]
            for tree, level, leaf in zip(lattice.trees, node, leaves, strict=True)
        )
        part = slice(int(classes.start[i]), int(classes.start[i + 1]))
        values = [tuple(lattice.tuples[v].tolist()) for v in classes.values[part].tolist()]
        assert labels not in found
        assert len(set(values)) == len(values)
        found[labels] = dict(zip(values, classes.counts[part].tolist(), strict=True))
        assert sum(found[labels].values()) == classes.sizes[i]
    return found


def cells_of(counts: Counts) -> int:
    return sum(map(len, counts.values()))


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows of every answer of the engine."""
    rows: list[int] = []
    plain = DuckDB.fetch

    def fetch(self: DuckDB, expression: Any) -> Any:
        answer = plain(self, expression)
        rows.append(answer.num_rows)
        return answer

    monkeypatch.setattr(DuckDB, "fetch", fetch)
    return rows


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The columns of every count."""
    asked: list[tuple[str, ...]] = []
    plain = IbisRows.count

    def count(self: IbisRows, columns: Any, **options: Any) -> Any:
        asked.append(tuple(columns))
        return plain(self, columns, **options)

    monkeypatch.setattr(IbisRows, "count", count)
    return asked


def test_there_are_cases_of_every_kind() -> None:
    smalls = [small for _, small, _ in cases()]
    assert len(smalls) > 20
    assert {len(small.sensitive) for small in smalls} == {1, 2}
    assert {len(small.quasi) for small in smalls} == {2, 3}
    assert any("" in column for small in smalls for column in small.quasi)
    assert any("" in column for small in smalls for column in small.sensitive)


# ---------------------------------------------------------------------------- the table


@pytest.mark.slow
def test_without_the_cells_a_table_knows_its_schema_its_texts_and_its_marginals(fetched: list[int]) -> None:
    for seed, small, most in cases():
        whole = table(small)
        del fetched[:]
        large = table(small, most)
        assert large.many, seed
        assert not whole.many
        assert [c.leaves for c in large.schema.coded] == [c.leaves for c in whole.schema.coded]
        assert large.texts() == whole.texts()
        mine, theirs = large.marginals(), whole.marginals()
        assert mine.people == theirs.people == len(small.quasi[0])
        assert np.array_equal(mine.tuples, theirs.tuples)
        for j, column in enumerate(small.quasi + small.sensitive):
            leaves = large.schema.coded[j].leaves
            counted = {leaves[code]: n for code, n in enumerate(mine.columns[j].tolist()) if n}
            assert counted == Counter(column)
            assert np.array_equal(mine.columns[j], theirs.columns[j])
        sensitive = [tuple(c.leaves.index(text) for c, text in zip(large.schema.sensitive, row, strict=True))
                     for row in zip(*small.sensitive, strict=True)]  # fmt: skip
        assert dict(zip(map(tuple, mine.tuples.tolist()), mine.counts.tolist(), strict=True)) == Counter(sensitive)


def test_cells_that_are_too_many_are_refused_with_what_to_do(scans: list[tuple[str, ...]]) -> None:
    small = make(3)
    large = table(small, len(small.cells()) - 1)
    for _ in range(2):
        with pytest.raises(InputError, match=r"more than .* distinct rows") as error:
            large.cells()
        for remedy in ("--method lattice", "coarsen or drop columns", "--most-cells"):
            assert remedy in str(error.value)
    assert scans == [tuple(column.name for column in small.schema().coded)]  # nothing else, and it does not try again
    assert table(small, len(small.cells())).cells() == table(small).cells()


def test_a_table_that_fits_is_scanned_once(scans: list[tuple[str, ...]]) -> None:
    people = dl.datasets.hospital(300, seed=2)
    published = Lattice([KAnonymity(3), TCloseness(0.5)], suppression=0.1).publish(people)
    assert published.describe()["rollups"] == "memory"
    assert published.describe()["not_looked_at"] == 0
    assert published.release.people == 300
    assert people.marginals().people == 300
    assert people.texts().keys() == {column.name for column in people.schema.coded}
    assert len(scans) == 1


def test_a_column_of_too_many_values_is_named() -> None:
    columns = {"q": [str(i) for i in range(9)], "r": ["a"] * 9, "s": ["x", "y", "z"] * 3}
    schema = dl.Schema([dl.Column("q", "quasi", suppress=True), dl.Column("r", "quasi", suppress=True),
                        dl.Column("s", "sensitive")])  # fmt: skip
    with pytest.raises(InputError, match=r"column 'q' alone has more than 8 distinct values.*--most-cells"):
        dl.Table(columns, schema, most_cells=8).marginals()


@pytest.mark.parametrize("most", [0, -1, 2.5, True, "9"])
def test_the_limit_is_a_whole_number(most: Any) -> None:
    with pytest.raises(ParameterError, match="'most_cells' parameter of Table must be an int ≥ 1"):
        table(make(3), most)


# ---------------------------------------------------------------------------- the lattice


@pytest.mark.slow
@pytest.mark.parametrize("room", [60_000_000, 12, 0], ids=["room for all", "room for little", "no room"])
@pytest.mark.parametrize("values", [True, False], ids=["values", "sizes"])
def test_every_node_that_fits_has_the_classes_of_memory(
    values: bool, room: int, fetched: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    fitting = 0
    for seed, small, most in cases() if room > 12 and values else FEW[::2]:
        memory = GeneralizationLattice(small.cells(), values=values)
        del fetched[:]
        with monkeypatch.context() as patch:
            patch.setattr(nodes_module, "MAX_CACHED_CELLS", room)
            lattice = lattice_of(table(small, most), values=values)
        assert isinstance(lattice, EngineLattice)
        assert (lattice.heights, lattice.people, lattice.nodes) == (memory.heights, memory.people, memory.nodes)
        nodes = every_node(lattice)
        random.Random(seed).shuffle(nodes)
        for node in nodes:
            expected = read(memory, node)
            if cells_of(expected) > most:
                assert not lattice.fits(node)
                with pytest.raises(TooMany):
                    lattice.classes(node)
                continue
            fitting += 1
            assert lattice.fits(node)
            assert read(lattice, node) == expected, (seed, most, node)
        assert max(fetched) <= most + 1
    assert fitting > 20


def test_a_node_above_one_that_was_made_is_not_asked_for(scans: list[tuple[str, ...]]) -> None:
    small = make(3)
    lattice = lattice_of(table(small, len(small.cells()) - 1))
    del scans[:]
    nodes = [node for node in every_node(lattice) if lattice.fits(node)]
    asked = len(scans)
    for node in nodes:
        lattice.classes(node)
    assert len(scans) == asked < lattice.nodes
    assert not lattice.fits(lattice.bottom)
    assert len(scans) == asked  # nor one that is known to be too large


def test_a_table_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    schema = dl.Schema([dl.Column("q", "quasi", suppress=True), dl.Column("r", "quasi", suppress=True),
                        dl.Column("s", "sensitive")])  # fmt: skip
    file = tmp_path / "t.csv"
    file.write_text("q,r,s\n" + "".join(f"{i % 3},{i % 2},{i % 5}\n" for i in range(60)))
    # Fewer people, an illness that nobody had, and as many people of the same values, but not as many of each.
    for changed in ("0,0,0\n", "".join(f"{i % 3},{i % 2},{i % 6}\n" for i in range(60)),
                    "".join(f"{i % 3 % 2},{i % 2},{i % 5}\n" for i in range(60)),
                    "".join(f"{i % 3},{i % 2},{i % 5 % 4}\n" for i in range(60))):  # fmt: skip
        lattice = lattice_of(dl.Table(file, schema, most_cells=20))
        text = file.read_text()
        file.write_text("q,r,s\n" + changed)
        with pytest.raises(InputError, match="changed while it was read"):
            lattice.classes((0, 1))
        file.write_text(text)


# ---------------------------------------------------------------------------- the search

CRITERIA: list[list[Criterion]] = [
    [KAnonymity(2)],
    [KAnonymity(3), DistinctDiversity(2)],
    [EntropyDiversity(1.5)],
    [TCloseness(0.4)],
    [KAnonymity(2), DeltaDisclosure(2.0)],
    [BasicBetaLikeness(1.5)],
]


def feasible(small: Small, publisher: Lattice) -> dict[Node, float]:
    """Every node that satisfies, with its cost: one after another, in memory."""
    lattice = GeneralizationLattice(small.cells())
    search = Search(lattice, publisher.criteria, suppression=publisher.suppression, utility=publisher.utility,
                    others_as_quasi=publisher.others_as_quasi, suppressed_rows=publisher.suppressed_rows)  # fmt: skip
    verdicts = [search.judge(node)[0] for node in every_node(lattice)]
    return {verdict.node: verdict.cost for verdict in verdicts if verdict.feasible}


def written(published: Any, path: Path) -> list[tuple[str, ...]]:
    published.write(path)
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(tuple(row) for row in csv.reader(file))


UTILITIES = ("loss", "discernibility", "entropy")


@pytest.mark.slow
@pytest.mark.parametrize("enumerable", [400_000, 0], ids=["kept", "too large to keep"])
@pytest.mark.parametrize("suppression", [0.0, 0.3])
@pytest.mark.parametrize("criteria", CRITERIA, ids=lambda c: " ".join(x.name for x in c))
def test_the_optimum_is_that_of_memory_or_the_search_says_that_it_may_not_be(
    criteria: list[Criterion], suppression: float, enumerable: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Counter[str]()
    for number, (_, small, most) in enumerate(cases()):
        publisher = Lattice(criteria, suppression=suppression, utility=UTILITIES[number % 3],
                            others_as_quasi=number % 2 == 1)  # fmt: skip
        good = feasible(small, publisher)
        try:
            with monkeypatch.context() as patch:
                patch.setattr(search_module, "MAX_ENUMERATED_NODES", enumerable)
                patch.setattr(search_module._BestFirst, "TURN", number % 4 // 2)  # 0: both ends step by step
                published = publisher.publish(table(small, most, engine=PlainEngine()))
        except InputError as error:
            if good:
                assert "not checked" in str(error)  # noqa: PT017 - other errors must not pass
            seen["refused"] += 1
            continue
        found, said = published.outcome, published.describe()
        assert found.best is not None
        assert said["rollups"] == "engine"
        # What is published satisfies, at the cost it says, and nothing that does costs less than the bound.
        assert published.node in good
        assert said["cost"] == pytest.approx(good[published.node], rel=1e-12)
        least = min(good.values())
        assert found.bound <= least + 1e-12
        assert found.optimal == (found.bound >= said["cost"] * (1 - 1e-9))
        large = [
            node for node in every_node(GeneralizationLattice(small.cells())) if not published.search.lattice.fits(node)
        ]
        assert said["not_looked_at"] <= len(large)
        if said["not_looked_at"]:
            seen["incomplete"] += 1
            continue
        seen["complete"] += 1
        assert found.optimal
        assert said["cost"] == pytest.approx(least, rel=1e-9)
        if sum(cost <= least * (1 + 1e-9) for cost in good.values()) == 1:
            seen["same"] += 1
            whole = publisher.publish(table(small, engine=PlainEngine())).describe()
            for key in ("node", "suppressed", "classes", "cost", "loss", "optimal"):
                assert said[key] == (pytest.approx(whole[key], rel=1e-12) if key in ("cost", "loss") else whole[key])
    assert seen["complete"] + seen["incomplete"] > 10, seen
    if criteria == [KAnonymity(2)]:
        assert seen["same"] > 3, seen


@pytest.mark.slow
@pytest.mark.parametrize("others", [False, True], ids=["each alone", "others known"])
@pytest.mark.parametrize("criteria", CRITERIA, ids=lambda c: " ".join(x.name for x in c))
def test_verdicts_are_those_of_memory(criteria: list[Criterion], others: bool) -> None:
    """Also of criteria that hold a class against the whole table."""
    seen = Counter[bool]()
    for number, (_, small, most) in enumerate(cases()):
        options: Any = {"suppression": 0.2, "utility": UTILITIES[number % 3], "others_as_quasi": others}
        mine = Search(lattice_of(table(small, most, engine=PlainEngine())), criteria, **options)
        theirs = Search(GeneralizationLattice(small.cells()), criteria, **options)
        for node in every_node(mine.lattice):
            if mine.lattice.fits(node):
                one, other = mine.judge(node), theirs.judge(node)
                assert one[0].cost == pytest.approx(other[0].cost, rel=1e-12)
                assert dataclasses.replace(one[0], cost=0.0) == dataclasses.replace(other[0], cost=0.0)
                assert one[1] == other[1]
                seen[one[0].feasible] += 1
    assert min(seen[True], seen[False]) > 20, seen


@pytest.mark.slow
def test_what_is_written_is_what_memory_writes(tmp_path: Path, fetched: list[int]) -> None:
    seen = Counter[str]()
    for number, (_, small, most) in enumerate(FEW):
        for criteria in (CRITERIA[0], CRITERIA[3]):
            publisher = Lattice(criteria, suppression=0.4, utility=UTILITIES[number % 3])
            del fetched[:]
            try:
                published = publisher.publish(table(small, most))
            except InputError:
                continue
            mine = written(published, tmp_path / "mine.csv")
            assert max(fetched) <= most + 1
            assert published.table.many
            whole = publisher.publish(table(small))
            if published.node != whole.node:
                continue
            assert mine == written(whole, tmp_path / "whole.csv")
            assert published.loss == pytest.approx(whole.loss, rel=1e-12)
            seen["same"] += 1
            seen["suppressed"] += whole.describe()["suppressed"] > 0
    assert seen["same"] > 3, seen
    assert seen["suppressed"] > 1, seen


@pytest.mark.parametrize(("seed", "most"), [(221, 4), (333, 4), (496, 5)])
def test_from_the_top_a_large_node_hides_finer_ones_that_may_cost_less(
    seed: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no feasible step down from the top, since it is too large itself: what is below is not settled by that."""
    small, publisher = make(seed, most=60), Lattice([KAnonymity(3)], suppression=0.3)
    least = min(feasible(small, publisher).values())
    monkeypatch.setattr(search_module, "MAX_ENUMERATED_NODES", 0)
    monkeypatch.setattr(search_module._BestFirst, "TURN", 0)
    lattice = lattice_of(table(small, most, engine=PlainEngine()))
    found = Search(lattice, publisher.criteria, suppression=publisher.suppression).run()
    assert found.best is None
    assert found.bound <= least
    assert found.not_looked_at == lattice.nodes
    with pytest.raises(InputError, match=rf"{lattice.nodes} nodes were not checked"):
        publisher.publish(dl.Table(small.columns(), small.schema(), most_cells=widest(small), engine=PlainEngine()))


def test_some_searches_leave_nodes_out_and_some_do_not() -> None:
    left = Counter[bool]()
    for _, small, most in cases():
        for criteria in CRITERIA:
            try:
                published = Lattice(criteria).publish(table(small, most, engine=PlainEngine()))
            except InputError:
                continue
            left[published.outcome.not_looked_at > 0] += 1
    assert left[True] > 5
    assert left[False] > 5


def test_the_list_of_minimal_nodes_is_right_or_there_is_none() -> None:
    listed = Counter[bool]()
    for _, small, most in cases():
        for criteria in CRITERIA[:3]:
            search = Search(lattice_of(table(small, most, engine=PlainEngine())), criteria)
            found = search.run(minimal=True)
            listed[found.minimal is not None] += 1
            if found.minimal is None:
                assert found.not_looked_at > 0
                continue
            assert found.not_looked_at == 0
            whole = Search(GeneralizationLattice(small.cells()), criteria).run(minimal=True)
            assert whole.minimal is not None
            assert set(found.minimal) == set(whole.minimal)
    assert listed[True] > 3
    assert listed[False] > 3


def test_the_release_is_that_of_memory() -> None:
    compared = 0
    for _, small, most in cases():
        for criteria in (CRITERIA[0], CRITERIA[1]):
            try:
                published = Lattice(criteria, suppression=0.3).publish(table(small, most, engine=PlainEngine()))
                whole = Lattice(criteria, suppression=0.3).publish(table(small, engine=PlainEngine()))
            except InputError:
                continue
            if published.node != whole.node:
                continue
            try:
                mine = published.release
            except InputError as error:
                assert "distinct rows" in str(error)  # noqa: PT017 - values are counted only for the release
                continue
            theirs = whole.release
            compared += 1
            assert (mine.people, mine.groups, mine.suppressed) == (theirs.people, theirs.groups, theirs.suppressed)
            assert [[label.text for label in labels] for labels in mine.labels] == [
                [label.text for label in labels] for labels in theirs.labels
            ]
            for column in mine.schema.sensitive:
                one, other = mine.grouping(column.name), theirs.grouping(column.name)
                for part in ("start", "values", "counts", "table"):
                    assert np.array_equal(getattr(one, part), getattr(other, part))
    assert compared > 5


def test_it_is_told_once_that_the_engine_rolls_up() -> None:
    small = make(3)
    most = len(small.cells()) - 1
    lines: list[str] = []
    people = dl.Table(small.columns(), small.schema(), most_cells=most, notify=lines.append)
    Lattice([KAnonymity(2)]).publish(people)
    assert len(lines) == 1
    assert f"more than {most:,}" in lines[0]
    assert "engine" in lines[0]
    Lattice([KAnonymity(2)]).publish(dl.Table(small.columns(), small.schema(), notify=lines.append))
    assert len(lines) == 1


def test_where_not_even_the_top_fits_nothing_is_said_of_the_criteria() -> None:
    columns = {"q": ["a", "b", "c", "d"] * 4, "r": [str(i // 4) for i in range(16)], "s": ["x", "y"] * 8}
    tree = from_paths([(text, "left" if text < "c" else "right") for text in "abcd"], source="test")
    other = from_paths([(text, "low" if text < "2" else "high") for text in "0123"], source="test")
    schema = dl.Schema([dl.Column("q", "quasi", hierarchy=tree), dl.Column("r", "quasi", hierarchy=other),
                        dl.Column("s", "sensitive")])  # fmt: skip
    for enumerable in (400_000, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_module, "MAX_ENUMERATED_NODES", enumerable)
            with pytest.raises(InputError, match=r"not checked.*--most-cells"):
                Lattice([DistinctDiversity(2)]).publish(dl.Table(columns, schema, most_cells=4))


# ---------------------------------------------------------------------------- the survey


@pytest.mark.slow
def test_a_survey_lists_the_nodes_that_fit_as_memory_does() -> None:
    left_out = 0
    for _, small, most in cases():
        lattice = lattice_of(table(small, most, engine=PlainEngine()))
        if not any(lattice.fits(node) for node in every_node(lattice)):
            with pytest.raises(InputError, match="--most-cells"):
                survey(lattice, CRITERIA[1], suppression=0.2)
            continue
        mine = survey(lattice, CRITERIA[1], suppression=0.2)
        memory = GeneralizationLattice(small.cells())
        theirs = survey(memory, CRITERIA[1], suppression=0.2)
        fitting = [lattice.levels_of(node) for node in every_node(memory) if cells_of(read(memory, node)) <= most]
        left_out += memory.nodes - len(fitting)
        expected = [entry for entry in theirs if entry["levels"] in fitting]
        assert len(mine) == len(expected)
        for one, other in zip(mine, expected, strict=True):
            assert one.keys() == other.keys()
            for key in one:
                assert one[key] == (pytest.approx(other[key], nan_ok=True) if key != "levels" else other[key])
    assert left_out > 20


def test_what_needs_every_node_says_so() -> None:
    small = make(3)
    lattice = lattice_of(table(small, len(small.cells()) - 1))
    with pytest.raises(InputError, match=r"every node.*--most-cells"):
        epsilons(lattice, [])
