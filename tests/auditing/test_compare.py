"""Several releases of one table side by side: one coding, one workload, levels and costs as each would have alone."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from examples.my_criterion import SecondValue

import dalenius as dl
from dalenius.adversaries.models.population import Population
from dalenius.adversaries.models.row_weights import joint
from dalenius.auditing.compare import COSTS, Compared, compare
from dalenius.auditing.people import together
from dalenius.criteria import CRITERIA, KAnonymity, Reported, headlines
from dalenius.errors import InputError
from dalenius.measures.fidelity import Truth, fidelity
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.mondrian import Mondrian
from dalenius.releases import Generalized
from dalenius.reports.compare import lines
from tests.auditing.conftest import QUASI, Hospital
from tests.measures import plain_fidelity as plain

QUERIES = 40


@pytest.fixture(scope="module")
def cut(hospital: Hospital) -> Path:
    """The hospital anatomized."""
    name = hospital.folder / "compared"
    Anatomy(2).publish(dl.Table(hospital.table, hospital.schema), seed=1).write(name)
    return name


# ---------------------------------------------------------------------------- what is measured


def test_levels_and_costs_of_the_hospital(hospital: Hospital, cut: Path) -> None:
    """Of a release by the lattice, of Anatomy and of the table itself, recounted from the files."""
    schema = dl.Schema.load(hospital.schema)
    sources = {"lattice": hospital.release, "cut": cut, "raw": hospital.table}
    found = {one.name: one for one in compare(sources, hospital.table, schema, queries=QUERIES)}
    assert {name: one.kind for name, one in found.items()} == {
        "lattice": "generalized", "cut": "anatomized", "raw": "generalized",
    }  # fmt: skip
    bound = dl.Table(hospital.table, schema).schema
    quasi = []
    for name in QUASI:
        with (hospital.folder / f"hospital_hierarchy_{name}.csv").open(encoding="utf-8") as file:
            paths = {line[0]: line for line in csv.reader(file, delimiter=";")}
        quasi.append(plain.Column(name, bound[name].type, bound[name].leaves, paths))
    target = plain.Column("disease", "category", bound["disease"].leaves)
    boxes = plain.Boxes.read(hospital.release, quasi, [target])
    shown: dict[object, list[str]] = {}
    for line in boxes.lines:
        if not line.hidden:
            shown.setdefault(line.sets, []).append(line.values[0])
    everybody = [line.values[0] for line in boxes.lines]
    lattice = found["lattice"]
    assert lattice.classes == len(shown)
    assert lattice.levels["k"] == min(map(len, shown.values()))
    assert lattice.levels["l"] == min(len(set(values)) for values in shown.values())

    def distance(values: list[str]) -> float:
        shares = [(values.count(v) / len(values), everybody.count(v) / len(everybody)) for v in set(everybody)]
        return sum(abs(mine - all_) for mine, all_ in shares) / 2

    assert lattice.levels["t"] == pytest.approx(max(map(distance, shown.values())))
    for cost, number in boxes.costs_with(0).items():
        assert lattice.costs[cost] == pytest.approx(number), cost
    groups = plain.Groups.read(Path(f"{cut}.quasi.csv"), Path(f"{cut}.sensitive.csv"), quasi, [target])
    assert found["cut"].classes == len(groups.values)
    assert found["cut"].levels["l"] == min(map(len, groups.values.values())) == 2
    table = plain.people(hospital.table, quasi, [target])
    assert found["cut"].costs["kl_divergence"] == pytest.approx(plain.kl_divergence(table, groups.spread()))
    assert found["raw"].costs["kl_divergence"] == pytest.approx(0, abs=1e-12)


def test_what_is_not_defined_is_absent(hospital: Hospital, tmp_path: Path) -> None:
    """Counts have no classes, centroids no labels; nothing else is left out, and nothing is made up."""
    schema = dl.Schema.load(hospital.schema)
    table = dl.Table(hospital.table, schema)
    lines = ["column,value,disease,count"]
    for column in table.schema.quasi:
        lines += [f"{column.name},{leaf},{v},-1" for leaf in column.leaves for v in table.schema["disease"].leaves]
    (tmp_path / "n.counts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "n.json").write_text(
        '{"mechanism": "geometric", "scale": 4, "epsilon": 1, "sensitivity": 4, "neighbours": "add-remove"}',
        encoding="utf-8",
    )
    with hospital.table.open(encoding="utf-8") as file:
        points = list(csv.DictReader(file))
    with (tmp_path / "points.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*QUASI, "disease"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows({**row, "age": "30.5"} for row in points)
    found = [*compare({"n": str(tmp_path / "n")}, hospital.table, schema, queries=QUERIES)]
    found += compare({"points": tmp_path / "points.csv"}, hospital.table, schema, kind="centroids", queries=QUERIES)
    found += compare({"raw": hospital.table}, hospital.table, schema, queries=QUERIES)
    counts, centroids, raw = found
    assert (counts.kind, counts.classes, counts.levels) == ("noisy-counts", None, {})
    assert set(counts.costs) == {"relative_error", "relative_error_median"}
    # All are negative, so that every answer is 0: wrong by all or, where nobody was asked for, by nothing.
    assert 0.5 < counts.costs["relative_error"] < 1
    assert counts.costs["relative_error"] * QUERIES == pytest.approx(round(counts.costs["relative_error"] * QUERIES))
    assert centroids.kind == "centroids"
    assert set(centroids.levels) == set(raw.levels) == set(headlines())
    queried = {"relative_error", "relative_error_median"}
    assert set(centroids.costs) == {"discernibility", "average_class_size", "suppressed"} | queried
    assert set(raw.costs) == set(COSTS) - {"faithfulness_stderr"}  # exact


def test_several_sensitive_columns(tmp_path: Path) -> None:
    """ℓ is the smallest and t the largest of all; the divergence is of their combinations."""
    schema = dl.Schema((dl.Column("q", "quasi"), dl.Column("s", "sensitive"), dl.Column("u", "sensitive")))
    (tmp_path / "t.csv").write_text("q,s,u\na,x,1\na,y,1\nb,x,1\nb,y,2\n", encoding="utf-8")
    (one,) = compare({"raw": tmp_path / "t.csv"}, tmp_path / "t.csv", schema, queries=QUERIES)
    assert one.levels == {"k": 2, "l": 1, "t": pytest.approx(0.25)}
    top = {"q": ["*"] * 4, "s": ["x", "y", "x", "y"], "u": ["1", "1", "1", "2"]}
    (one,) = compare({"top": top}, tmp_path / "t.csv", schema, queries=QUERIES)
    assert one.levels == {"k": 4, "l": 2, "t": 0}
    # (a,x,1) and (b,x,1): 2 people with (x,1), half each; (a,y,1): half of one, (b,y,2): half of one.
    assert one.costs["kl_divergence"] == pytest.approx(2 / 4 * math.log(2))


# ---------------------------------------------------------------------------- one coding, one workload


@pytest.fixture
def open_domain(tmp_path: Path) -> tuple[dl.Schema, Path]:
    """A table whose values are told by the data alone."""
    (tmp_path / "t.csv").write_text("q,s\na,x\nb,x\nb,y\nc,y\n", encoding="utf-8")
    return dl.Schema((dl.Column("q", "quasi"), dl.Column("s", "sensitive"))), tmp_path / "t.csv"


def test_values_that_only_one_release_names_are_values_of_all(open_domain: tuple[dl.Schema, Path]) -> None:
    schema, table = open_domain
    pairs = {"q": ["{a, b}", "{a, b}", "{a, b}", "c"], "s": ["x", "x", "y", "y"]}
    wider = {"q": ["a", "b", "b", "{c, d, e}"], "s": ["x", "x", "y", "y"]}
    (alone,) = compare({"pairs": pairs}, table, schema, queries=QUERIES)
    assert alone.costs["ncp"] == pytest.approx(3 / 4 * 2 / 3)  # two of three values, thrice
    both = compare({"pairs": pairs, "wider": wider}, table, schema, queries=QUERIES)
    assert both[0].costs["ncp"] == pytest.approx(3 / 4 * 2 / 5)
    assert both[1].costs["ncp"] == pytest.approx(1 / 4 * 3 / 5)


def test_values_that_a_release_hides_are_the_tables(open_domain: tuple[dl.Schema, Path]) -> None:
    """A suppressed row could be anybody of the table, also somebody whom the release does not name."""
    schema, table = open_domain
    hidden = {"q": ["*", "b", "b", "c"], "s": ["x", "x", "y", "y"]}
    (found,) = compare({"hidden": hidden}, table, schema, queries=QUERIES)
    # (a,x): 1/3; (b,x): 1 + 1/3; (b,y) and (c,y): 1.
    assert found.costs["kl_divergence"] == pytest.approx((math.log(3) + math.log(3 / 4)) / 4)
    (found,) = compare({"top": {"q": ["*"] * 4, "s": ["x", "x", "y", "y"]}}, table, schema, queries=QUERIES)
    assert found.costs["ncp"] == 1
    assert found.costs["kl_divergence"] == pytest.approx(math.log(3 / 2))  # two people of each value over three


def test_one_workload_whatever_stands_beside(hospital: Hospital, cut: Path) -> None:
    """The same numbers in any company and order, and those of `fidelity` with the same queries."""
    schema = dl.Schema.load(hospital.schema)
    sources = {"lattice": hospital.release, "cut": cut, "raw": hospital.table}
    found = compare(sources, hospital.table, schema, queries=QUERIES, seed=5)
    assert [one.name for one in found] == ["lattice", "cut", "raw"]
    turned = compare(dict(reversed(sources.items())), hospital.table, schema, queries=QUERIES, seed=5)
    assert [one.name for one in turned] == ["raw", "cut", "lattice"]
    assert turned[::-1] == found.releases
    for one in found:
        assert compare({one.name: sources[one.name]}, hospital.table, schema, queries=QUERIES, seed=5).releases == (
            one,
        )
    cells = dl.Table(hospital.table, schema).cells()
    truth = Truth(cells.schema, cells.codes, cells.counts)
    for one in found:
        release = dl.read_release(sources[one.name], schema)
        assert one.costs == fidelity(release, truth, queries=QUERIES, seed=5)


def test_seed_and_number_of_queries(hospital: Hospital) -> None:
    schema = dl.Schema.load(hospital.schema)

    def error(queries: int = 1000, seed: int = 0) -> float:
        (one,) = compare({"r": hospital.release}, hospital.table, schema, queries=queries, seed=seed)
        return one.costs["relative_error"]

    (usual,) = compare({"r": hospital.release}, hospital.table, schema)
    errors = [error(), error(seed=1), error(QUERIES), error(QUERIES, seed=1)]
    assert len(set(errors)) == 4
    assert usual.costs["relative_error"] == errors[0]
    assert error(QUERIES, seed=1) == errors[3]


def test_releases_in_memory(hospital: Hospital) -> None:
    """What was published and not yet written costs what its file will cost."""
    schema = dl.Schema.load(hospital.schema)
    published = Mondrian([KAnonymity(5)]).publish(dl.Table(hospital.table, schema))
    path = hospital.folder / "mondrian.csv"
    published.write(path)
    (memory,) = compare({"m": published.release}, hospital.table, schema, queries=QUERIES)
    (file,) = compare({"m": path}, hospital.table, schema, queries=QUERIES)
    assert memory == file
    assert memory.levels["k"] >= 5


# ---------------------------------------------------------------------------- refusals


def test_no_release(hospital: Hospital) -> None:
    with pytest.raises(InputError, match="at least one release"):
        compare({}, hospital.table, dl.Schema.load(hospital.schema))


def test_another_table_is_refused_by_name(hospital: Hospital, cut: Path) -> None:
    """The release of other people is named, wherever it stands."""
    schema = dl.Schema.load(hospital.schema)
    sources = {"mine": hospital.release, "theirs": hospital.holdout, "cut": cut}
    with pytest.raises(InputError, match="theirs has 350 people and the table 500"):
        compare(sources, hospital.table, schema)
    with pytest.raises(InputError, match="mine has 500 people and the table 350"):
        compare({"mine": hospital.release}, hospital.holdout, schema)


def test_what_is_measured_is_one_record(hospital: Hospital) -> None:
    (one,) = compare({"raw": hospital.table}, hospital.table, dl.Schema.load(hospital.schema), queries=1)
    assert isinstance(one, Compared)
    with pytest.raises(AttributeError):
        one.name = "other"  # type: ignore[misc]


def test_a_release_of_other_people_and_a_channel_are_refused(tmp_path: Path) -> None:
    schema = dl.Schema(
        (
            dl.Column("q", "quasi", domain=dl.Domain(("A", "B"))),
            dl.Column("s", "sensitive", domain=dl.Domain(("x", "y"))),
        )
    )
    truth = {"q": ["A", "A", "B", "B"], "s": ["x", "y", "x", "y"]}
    with pytest.raises(InputError, match="strangers and the table do not have the same values of 's'"):
        compare({"strangers": {"q": ["A"] * 4, "s": ["x"] * 4}}, truth, schema)
    (tmp_path / "channel.csv").write_text("input,a,b\nx,0.5,0.5\ny,1,0\n", encoding="utf-8")
    with pytest.raises(InputError, match="a release of kind 'channel' is not about a table of people"):
        compare({"matrix": tmp_path / "channel.csv"}, truth, schema, kind="channel")


def test_faithfulness_is_summed_over_all_people_that_could_be(hospital: Hospital, cut: Path) -> None:
    """1 − half of what the learner's beliefs from the release and from the table differ by, over every combination."""
    schema = dl.Schema.load(hospital.schema)
    sources = {"lattice": hospital.release, "raw": hospital.table, "cut": cut}
    found = {one.name: one.costs for one in compare(sources, hospital.table, schema, queries=QUERIES)}
    assert found["raw"]["faithfulness"] == pytest.approx(1, abs=1e-12)
    assert "faithfulness" not in found["cut"]  # Anatomy has no exact answer
    releases, table = together({"r": hospital.release}, hospital.table, schema, kind=None, engine=dl.engines.default())
    release = releases["r"]
    assert isinstance(release, Generalized)
    everybody = np.array(
        list(itertools.product(*(range(len(column.leaves)) for column in release.schema.quasi))), dtype=np.int32
    )
    known = np.zeros(len(release.schema.quasi))
    learnt, best = (
        joint(Population.of(one, release.schema.sensitive[0].name), everybody, known)
        for one in (release, Truth.of(table.cells()).identity)
    )
    assert learnt.sum() == pytest.approx(1)
    assert found["lattice"]["faithfulness"] == pytest.approx(1 - np.abs(learnt - best).sum() / 2, abs=1e-3)
    assert 0 < found["lattice"]["faithfulness"] < 1


# ---------------------------------------------------------------------------- headlines


def test_a_criterion_may_add_a_headline(hospital: Hospital) -> None:
    """A criterion with a headline is a key of the JSON and a column on the screen; two cannot share one."""

    class Shown(SecondValue):
        name = "shown"
        option = None
        reported = (Reported("m", "second value, m", "larger is safer", headline="second"),)

    class Clash(Shown):
        name = "clash"

    schema = dl.Schema.load(hospital.schema)
    CRITERIA.add(Shown)
    try:
        assert list(headlines()) == ["k", "l", "t", "second"]
        compared = compare({"release": hospital.release}, hospital.table, schema, queries=QUERIES)
        grouping = dl.read_release(hospital.release, schema).classes().grouping()
        assert compared.to_document()["releases"][0]["second"] == SecondValue(1).level(grouping).value
        level = compared.to_document()["releases"][0]["second"]
        assert ["second", f"{level:,.0f}"] in [line.split() for line in lines(compared)]
        CRITERIA.add(Clash)
        with pytest.raises(InputError, match="'shown' and 'clash' both have the headline 'second'"):
            headlines()
    finally:
        for name in ("shown", "clash"):
            if name in CRITERIA:
                CRITERIA.remove(name)
    assert list(headlines()) == ["k", "l", "t"]
