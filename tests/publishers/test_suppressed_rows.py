"""Suppressed rows: held to the criteria as a class of their own, published as they are, or left out.

Every node of small lattices is worked out here row by row, in Python and with fractions, sharing no code with the project.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalenius as dl
import dalenius.publishers.search as search_module
from dalenius import criteria as c
from dalenius.criteria.parsing import epsilon_privacy
from dalenius.errors import InputError, ParameterError
from dalenius.measures.utility import UTILITIES
from dalenius.publishers.lattice import Lattice as Publisher
from dalenius.publishers.nodes import GeneralizationLattice
from dalenius.publishers.rollups import lattice_of
from dalenius.publishers.search import Search
from dalenius.publishers.survey import survey
from tests.criteria.models import theirs
from tests.oracle import Lattice, Model, Node, classes, minimal, nodes
from tests.publishers.small import TABLES, Small, make
from tests.publishers.test_epsilon import level, tally
from tests.publishers.test_rollups import PlainEngine
from tests.publishers.test_search import MODELS

LIMITS = ("0", "0.1", "0.3", "0.5", "1")
NAMED: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in MODELS},
    **{"+".join(names): names for names in [("k", "distinct"), ("k", "equal"), ("entropy", "alpha"), ("k", "delta", "distinct")]},
}  # fmt: skip
EPSILONS = ("I:table:30:3", "I:uniform:20:2.5", "II:6:4", "III:table:3")
Holds = Callable[[Sequence[int], Sequence[int]], bool]  # a class, by its rows, among the rows that are published


def asked(names: tuple[str, ...], number: int) -> list[Model]:
    return [Model(name, Fraction(MODELS[name][number % len(MODELS[name])])) for name in names]


def by_models(lattice: Lattice, models: Sequence[Model], *, split: bool = False) -> Holds:
    """Whether a class satisfies every model for every sensitive column; with `split`, in every part that the others leave."""

    def holds(members: Sequence[int], everybody: Sequence[int]) -> bool:
        for j, (values, column) in enumerate(zip(lattice.values, lattice.columns, strict=True)):
            parts: dict[tuple, list[int]] = {}
            for i in members:
                known = tuple(other[i] for o, other in enumerate(lattice.values) if o != j) if split else ()
                parts.setdefault(known, []).append(i)
            whole = [values[i] for i in everybody]
            if not all(m.holds([values[i] for i in part], whole, column) for part in parts.values() for m in models):
                return False
        return True

    return holds


def by_epsilon(lattice: Lattice, text: str) -> Holds:
    adversary, _, epsilon = text.rpartition(":")

    def holds(members: Sequence[int], everybody: Sequence[int]) -> bool:
        return all(
            level(adversary, tally([values[i] for i in members], column), tally([values[i] for i in everybody], column))
            <= Fraction(epsilon)
            for values, column in zip(lattice.values, lattice.columns, strict=True)
        )

    return holds


def suppressed(lattice: Lattice, node: Node, holds: Holds, limit: str, handling: str) -> set[int] | None:
    """The rows that a node suppresses; nothing if it is not feasible."""
    everybody = range(len(lattice.rows))
    found = classes(lattice.rows, lattice.trees, node)
    kept = dict(found)
    gone: set[int] = set()
    for labels, members in found.items():
        if not holds(members, everybody):
            gone.update(kept.pop(labels))
    if handling == "hold" and gone:
        place = [  # a label stands where its first value does
            {label: i for i, label in reversed(list(enumerate(path[h] for path in tree.values())))}
            for tree, h in zip(lattice.trees, node, strict=True)
        ]
        order = sorted(kept, key=lambda one: (len(kept[one]), [place[a][label] for a, label in enumerate(one)]))
        while not holds(sorted(gone), everybody):
            if not order:
                return None
            gone.update(kept.pop(order.pop(0)))
    while handling == "hide":
        left = [i for i in everybody if i not in gone]
        bad = [labels for labels, members in kept.items() if not holds(members, left)]
        if not bad:
            break
        for labels in bad:
            gone.update(kept.pop(labels))
    within = len(gone) <= Fraction(limit) * len(lattice.rows)
    return gone if within and kept else None


def every(lattice: Lattice, holds: Holds, limit: str, handling: str) -> dict[Node, set[int]]:
    found = {node: suppressed(lattice, node, holds, limit, handling) for node in nodes(lattice.trees)}
    return {node: rows for node, rows in found.items() if rows is not None}


def check(lattice: Lattice, search: Search, feasible: dict[Node, set[int]], utility: str) -> None:
    """The search against every node: the optimum, its rows and its cost, all minimal nodes, and the verdict on each node."""
    small = search.lattice.nodes <= search_module.MAX_ENUMERATED_NODES
    found = search.run(minimal=small)
    if small:
        assert found.minimal is not None
        assert set(found.minimal) == minimal(feasible)
    if not feasible:
        assert found.best is None
        return
    costs = {node: lattice.cost(utility, node, rows) for node, rows in feasible.items()}
    assert found.best is not None
    assert found.best.node in feasible
    assert found.best.suppressed == len(feasible[found.best.node])
    assert found.best.cost == pytest.approx(costs[found.best.node], rel=1e-9, abs=1e-9)
    assert found.best.cost == pytest.approx(min(costs.values()), rel=1e-9, abs=1e-9)
    assert found.optimal


@pytest.mark.slow
@pytest.mark.parametrize("enumerable", [10**6, 0], ids=["kept", "too large to keep"])
@pytest.mark.parametrize("handling", ["hold", "as-is", "hide"])
@pytest.mark.parametrize("name", NAMED)
@settings(max_examples=6)
@given(table=TABLES, number=st.integers(0, 5))
def test_the_optimum_is_that_of_all_nodes(name: str, handling: str, enumerable: int, table: Small, number: int) -> None:
    models, lattice = asked(NAMED[name], number), table.oracle()
    holds = by_models(lattice, models)
    for place, limit in enumerate(LIMITS):
        feasible = every(lattice, holds, limit, handling)
        utility = UTILITIES[(place + number) % len(UTILITIES)]
        search = Search(
            GeneralizationLattice(table.cells()),
            [theirs(model) for model in models],
            suppression=float(limit),
            utility=utility,
            suppressed_rows=handling,  # type: ignore[arg-type]
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_module, "MAX_ENUMERATED_NODES", enumerable)
            check(lattice, search, feasible, utility)


@pytest.mark.parametrize("handling", ["hold", "hide"])
@pytest.mark.parametrize("text", EPSILONS)
@settings(max_examples=10)
@given(table=TABLES, number=st.integers(0, 5))
def test_realistic_adversaries(text: str, handling: str, table: Small, number: int) -> None:
    lattice = table.oracle()
    if text.startswith("II:") and max(len(column.order) for column in lattice.columns) > 6:
        return
    holds, limit = by_epsilon(lattice, text), LIMITS[number % len(LIMITS)]
    utility = UTILITIES[number % len(UTILITIES)]
    search = Search(
        GeneralizationLattice(table.cells()),
        [epsilon_privacy(text)],
        suppression=float(limit),
        utility=utility,
        suppressed_rows=handling,  # type: ignore[arg-type]
    )
    check(lattice, search, every(lattice, holds, limit, handling), utility)


@pytest.mark.slow
@pytest.mark.parametrize("handling", ["hold", "hide"])
@pytest.mark.parametrize("name", ["k", "distinct", "entropy", "equal", "k+distinct"])
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), number=st.integers(0, 5))
def test_others_as_quasi(name: str, handling: str, seed: int, number: int) -> None:
    table = make(seed)
    models, lattice = asked(NAMED[name], number), table.oracle()
    holds = by_models(lattice, models, split=len(lattice.columns) > 1)
    for limit in LIMITS[1:]:
        search = Search(
            GeneralizationLattice(table.cells()),
            [theirs(model) for model in models],
            suppression=float(limit),
            others_as_quasi=True,
            suppressed_rows=handling,  # type: ignore[arg-type]
        )
        check(lattice, search, every(lattice, holds, limit, handling), "loss")


@pytest.mark.slow
@pytest.mark.parametrize("handling", ["hold", "hide"])
@pytest.mark.parametrize("name", ["k", "k+distinct", "entropy", "k+equal"])
def test_rollups_in_the_engine_choose_the_same(name: str, handling: str) -> None:
    """The classes come in another order there; what is suppressed in addition does not depend on it."""
    seen = engine = 0
    for seed in range(60, 90):
        small = make(seed, most=60)
        models, lattice = asked(NAMED[name], seed), small.oracle()
        feasible = every(lattice, by_models(lattice, models), "0.3", handling)
        table = dl.Table(small.columns(), small.schema(), most_cells=24, engine=PlainEngine())  # type: ignore[arg-type]
        rolled = lattice_of(table)
        engine += rolled.rollups == "engine"
        criteria = [theirs(model) for model in models]
        search = Search(rolled, criteria, suppression=0.3, suppressed_rows=handling)  # type: ignore[arg-type]
        for node in nodes(lattice.trees):
            if not rolled.fits(node):
                continue
            verdict, _ = search.judge(node)
            assert verdict.feasible == (node in feasible), (seed, node)
            if not verdict.feasible:
                continue
            found = rolled.classes(node)
            passing, _ = search.satisfying(node, found)
            leaves = found.leaves[found.rep[~passing]]
            mine = {
                tuple(tree.labels[h][tree.maps[h][leaf]] for tree, h, leaf in zip(rolled.trees, node, row, strict=True))
                for row in leaves.tolist()
            }
            rows = classes(lattice.rows, lattice.trees, node)
            assert mine == {labels for labels, members in rows.items() if set(members) <= feasible[node]}
            seen += bool(mine)
    assert seen > 20
    assert engine > 5


def test_the_survey_suppresses_what_publishing_does() -> None:
    models = asked(("k", "distinct"), 0)
    criteria = [theirs(model) for model in models]
    for seed in range(12):
        small = make(seed)
        lattice = small.oracle()
        for handling in ("hold", "as-is", "hide"):
            feasible = every(lattice, by_models(lattice, models), "0.3", handling)
            found = survey(GeneralizationLattice(small.cells()), criteria, suppression=0.3, suppressed_rows=handling)  # type: ignore[arg-type]
            for entry in found:
                node = tuple(entry["levels"].values())
                assert entry["satisfies"] == (node in feasible)
                assert entry["suppressed"] == len(feasible.get(node, ()))
                if node in feasible:
                    assert entry["k_anonymity"]["k"] >= 2


# ---------------------------------------------------------------------------- releases

SCHEMA = """sensitive = "disease"
[columns.age]
role = "quasi"
type = "integer"
intervals = [10]
domain = { min = 20, max = 79 }
[columns.city]
role = "quasi"
hierarchy = "suppress"
domain = ["Oslo", "Hamar", "Molde"]
[columns.note]
role = "other"
[columns.disease]
role = "sensitive"
"""


def outlier() -> dict[str, list[str]]:
    """16 people in two classes, and one far from them who has HIV."""
    ages = ["34"] * 8 + ["52"] * 8 + ["71"]
    cities = ["Oslo"] * 8 + ["Hamar"] * 8 + ["Molde"]
    diseases = ["flu", "cold"] * 8 + ["HIV"]
    return {"age": ages, "city": cities, "note": [f"n{i}" for i in range(17)], "disease": diseases}


@pytest.fixture
def town(tmp_path: Path) -> dl.Table:
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    return dl.Table(outlier(), tmp_path / "privacy.toml")


CRITERIA = [c.KAnonymity(5), c.DistinctDiversity(2)]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_lone_suppressed_row_gives_nothing_away(town: dl.Table, tmp_path: Path) -> None:
    """It would stand as *,*,HIV in the release: HIV belongs to whoever fits no class."""
    told = Publisher(CRITERIA, suppression=0.1).publish(town)
    told.write(tmp_path / "held.csv")
    back = dl.read_release(tmp_path / "held.csv", tmp_path / "privacy.toml")
    assert isinstance(back, dl.Generalized)
    assert (back.suppressed, back.people, told.describe()["suppressed_rows"]) == (0, 17, "hold")
    as_is = Publisher(CRITERIA, suppression=0.1, suppressed_rows="as-is").publish(town)
    as_is.write(tmp_path / "as-is.csv")
    assert rows_of(tmp_path / "as-is.csv")[-1] == {"age": "*", "city": "*", "note": "n16", "disease": "HIV"}
    assert (as_is.describe()["suppressed"], as_is.describe()["suppressed_rows"]) == (1, "as-is")


def test_others_are_suppressed_with_it_where_the_limit_allows(town: dl.Table) -> None:
    """Of two classes of eight the first by its label goes, too: 20–29 … 70–79 in their order."""
    told = Publisher(CRITERIA, suppression=0.6).publish(town)
    assert told.describe()["suppressed"] in (0, 9)
    search = Search(GeneralizationLattice(town.cells()), CRITERIA, suppression=0.6)
    verdict, shared = search.judge((0, 0))
    assert (verdict.feasible, verdict.suppressed, verdict.classes, shared) == (True, 9, 1, False)
    found = search.lattice.classes((0, 0))
    kept = found.leaves[found.rep[search.satisfying((0, 0), found)[0]]]
    assert kept[:, 0].tolist() == [32]  # age 52
    near = Search(GeneralizationLattice(town.cells()), CRITERIA, suppression=0.5).judge((0, 0))
    assert (near[0].feasible, near[1]) == (False, False)  # 8 rows may go, and 9 would have to


def test_of_equal_classes_the_first_by_its_labels_goes() -> None:
    """B is met first, as a1 stands before a2; A is the first label, as a0 stands before a1."""
    tree = {"a0": ("a0", "A"), "a1": ("a1", "B"), "a2": ("a2", "A"), "a3": ("a3", "C")}
    values = ["s0", "s1"] * 4 + ["s0"]
    small = Small([["a1"] * 4 + ["a2"] * 4 + ["a3"]], [values], [tree], [{"s0": ("s0", "*"), "s1": ("s1", "*")}])
    search = Search(GeneralizationLattice(small.cells()), [c.KAnonymity(2)], suppression=0.6)
    found = search.lattice.classes((1,))
    labels = [
        search.lattice.trees[0].labels[1][search.lattice.trees[0].maps[1][leaf]] for leaf in found.leaves[found.rep, 0]
    ]
    assert labels == ["B", "A", "C"]
    assert search.satisfying((1,), found)[0].tolist() == [True, False, False]


def test_what_is_left_is_looked_at_until_it_satisfies() -> None:
    """(0, 1) is 0.53 from the whole table; without it (1, 3) is 0.31 from the rest, and without that (1, 2) 0.33."""
    classes_of = [(1, 3), (1, 2), (4, 1), (0, 1), (3, 1)]
    quasi = [f"a{i}" for i, counts in enumerate(classes_of) for _ in range(sum(counts))]
    values = [f"s{j}" for counts in classes_of for j, n in enumerate(counts) for _ in range(n)]
    tree = {f"a{i}": (f"a{i}", "*") for i in range(5)}
    small = Small([quasi], [values], [tree], [{"s0": ("s0", "*"), "s1": ("s1", "*")}])
    search = Search(GeneralizationLattice(small.cells()), [c.TCloseness(0.3)], suppression=0.9, suppressed_rows="hide")
    assert search.satisfying((0,), search.lattice.classes((0,)))[0].tolist() == [False, False, True, False, True]
    verdict, _ = search.judge((0,))
    assert (verdict.feasible, verdict.suppressed, verdict.classes) == (True, 8, 2)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_hidden_rows_are_left_out(town: dl.Table, tmp_path: Path, ending: str, shuffle: bool) -> None:
    told = Publisher(CRITERIA, suppression=0.1, suppressed_rows="hide").publish(town)
    told.write(tmp_path / f"out.{ending}", shuffle=shuffle)
    back = dl.read_release(tmp_path / f"out.{ending}", tmp_path / "privacy.toml")
    assert isinstance(back, dl.Generalized)
    assert back.schema["disease"].leaves == ("cold", "flu")  # neither HIV nor a mark
    assert (back.people, back.suppressed, back.groups) == (16, 0, 2)
    assert back.grouping().table.tolist() == [8, 8]
    said = told.describe()
    assert (said["people"], said["suppressed"], said["hidden"], said["classes"]) == (16, 0, 1, 2)
    assert (told.release.people, told.release.suppressed) == (16, 0)
    assert told.release.sizes.tolist() == back.sizes.tolist()
    text = (tmp_path / f"out.{ending}").read_bytes()
    assert b"HIV" not in text
    assert b"n16" not in text  # nor what stands beside it


def test_hidden_rows_need_no_mark(tmp_path: Path) -> None:
    (tmp_path / "privacy.toml").write_text("suppressed = []\n" + SCHEMA, encoding="utf-8")
    people = dl.Table(outlier(), tmp_path / "privacy.toml")
    Publisher(CRITERIA, suppression=0.1, suppressed_rows="hide").publish(people).write(tmp_path / "out.csv")
    assert len(rows_of(tmp_path / "out.csv")) == 16


@pytest.mark.slow
@settings(max_examples=25)
@given(table=TABLES, number=st.integers(0, 5))
def test_what_is_read_back_satisfies_what_was_asked_for(table: Small, number: int) -> None:
    """Of the classes, and with `hold` of the suppressed rows as one: measured on the release, as a reader would."""
    names = list(NAMED.values())[number * 2 :: 7]
    for handling in ("hold", "hide"):
        for wanted in names:
            criteria = [theirs(model) for model in asked(wanted, number)]
            if handling == "hide" and any(criterion.counts_domain for criterion in criteria):
                continue
            publisher = Publisher(criteria, suppression=0.4, suppressed_rows=handling)  # type: ignore[arg-type]
            try:
                release = publisher.publish(dl.Table(table.columns(), table.schema())).release
            except InputError:
                continue
            for column in release.schema.sensitive:
                for criterion in criteria:
                    assert criterion.passes(release.grouping(column.name)).all()
                    together = release.suppressed_grouping(column.name)
                    assert (together is None) == (not release.suppressed)
                    assert together is None or criterion.passes(together).all()


def test_what_hiding_could_change_for_a_reader_is_refused() -> None:
    schema = dl.Schema([dl.Column("q", "quasi", suppress=True), dl.Column("s", "sensitive")])
    people = dl.Table({"q": list("aaaab"), "s": list("12312")}, schema)
    for criterion in (c.TCloseness(0.5, "ordered"), epsilon_privacy("III:uniform:5")):
        with pytest.raises(InputError, match=r"depends on which values column 's' may have"):
            Publisher([criterion], suppression=0.3, suppressed_rows="hide").publish(people)
        Publisher([criterion], suppression=0.3).publish(people)


@pytest.mark.parametrize("wrong", ["keep", "", None, True, ["hold"]])
def test_names(wrong: object) -> None:
    with pytest.raises(
        ParameterError, match="'suppressed_rows' parameter of the lattice must be one of hold, as-is, hide"
    ):
        Publisher(CRITERIA, suppressed_rows=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="suppressed_rows"):
        Search(GeneralizationLattice(make(3).cells()), CRITERIA, suppressed_rows=wrong)  # type: ignore[arg-type]
