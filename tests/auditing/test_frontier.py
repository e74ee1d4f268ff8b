"""Many releases of one table: the grid, each point against publishing and auditing by hand, the journal, processes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dalenius import datasets
from dalenius import engines as _engine
from dalenius.auditing import audit
from dalenius.auditing.axes import RISKS, UTILITIES
from dalenius.auditing.candidates import Candidate, check_tried, grid
from dalenius.auditing.frontier import NO_MEMORY, Bench, Point, Setting, TradeOff, points
from dalenius.auditing.journal import Journal
from dalenius.auditing.policy import Threshold
from dalenius.criteria import CRITERIA, DistinctDiversity, KAnonymity, TCloseness
from dalenius.errors import InputError, ParameterError
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian
from dalenius.publishers.registry import PUBLISHERS, axes
from dalenius.schema import Schema
from dalenius.table import Table
from tests.auditing.people import POLICY, SCHEMA, table

CANDIDATES = (
    Candidate("lattice", {"k": 5, "suppression": 0.02}),
    Candidate("mondrian", {"k": 5, "l": 2, "t": "0.5"}),
    Candidate("microaggregation", {"k": 4, "shown": "ranges"}),
    Candidate("anatomy", {"l": 2}),
    Candidate("noisy-counts", {"epsilon": 1.0}),
    Candidate("mondrian", {"k": 5000}),
)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    folder = tmp_path_factory.mktemp("tradeoff")
    (folder / "privacy.toml").write_text(SCHEMA + POLICY, encoding="utf-8")
    table(folder / "people.csv", 240, 1)
    table(folder / "others.csv", 200, 2)
    return Setting(str(folder / "people.csv"), folder / "privacy.toml", str(folder / "others.csv"), seed=3)


@pytest.fixture(scope="module")
def found(setting: Setting) -> tuple[Point, ...]:
    return points(setting, CANDIDATES)


def by_hand(setting: Setting, number: int) -> Any:
    """What is published and audited without any of this."""
    schema = Schema.load(setting.schema)
    people = Table(setting.table, schema)
    published = {
        0: lambda: Lattice([KAnonymity(5)], suppression=0.02).publish(people),
        1: lambda: Mondrian([KAnonymity(5), DistinctDiversity(2), TCloseness(0.5)]).publish(people),
        2: lambda: Microaggregation(4, shown="ranges").publish(people),
        3: lambda: Anatomy(2).publish(people, seed=3),
    }[number]()
    return audit(published.release, schema, truth=setting.table, holdout=setting.holdout, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_a_point_is_what_publish_and_audit_say(setting: Setting, found: tuple[Point, ...], number: int) -> None:
    point, expected = found[number], by_hand(setting, number)
    document = expected.to_document()
    attacks, threats = document["attacks"], document["relative_threats"].values()
    assert point.verdict == expected.verdict
    assert [(t.key, t.outcome) for t in point.thresholds] == [(t.key, t.outcome) for t in expected.thresholds]
    assert point.utility == expected.utility
    assert (point.people, point.classes) == (240, document["release"]["classes"])
    assert point.levels == {
        "k": document["levels"]["k_anonymity"]["k"],
        "l": document["levels"]["distinct_l_diversity"]["l"],
        "t": document["levels"]["t_closeness"]["equal"],
    }
    people = [line.split(",")[-1] for line in Path(setting.table).read_text(encoding="utf-8").splitlines()[1:]]
    commonest = max(people.count(value) for value in set(people)) / 240
    best = max([a["success"]["value"] for a in attacks] + [t["GT_A"] for t in threats] + [t["GT_L"] for t in threats])
    assert point.risks is not None
    expected_risks = {
        "attacker": max(best, commonest),
        "gain": max(a["gain"]["value"] for a in attacks),
        "random-worlds": attacks[0]["success"]["value"],
        "perfect-breach": attacks[0]["perfect_breach"],
        "worst-case": 1 - document["estimation_error"]["disease"]["worst_case_privacy"],
        "linkability": document["risks"]["highest"],
        "singled-out": document["risks"]["singled_out"],
        "closeness": document["levels"]["t_closeness"]["equal"],
    }
    if threats:
        expected_risks["relative-threat"] = max(t["RGT_A"] for t in threats)
    assert point.risks == expected_risks
    assert set(expected_risks) | {"relative-threat"} == set(RISKS)


def test_what_a_release_lacks_and_what_is_not_possible(found: tuple[Point, ...]) -> None:
    counts, impossible = found[4], found[5]
    assert (counts.levels, counts.classes) == (None, None)
    assert math.isnan(counts.risk(RISKS["linkability"]))
    assert math.isnan(counts.useful(UTILITIES["loss"]))
    assert counts.useful(UTILITIES["relative_error"]) > 0
    assert counts.verdict == "incomplete"  # min_k cannot be tested
    assert "5000" in impossible.reason
    assert "240 people" in impossible.reason
    assert (impossible.verdict, impossible.risks) == ("", None)


def test_guessing_the_commonest_value_is_the_least_risk(setting: Setting) -> None:
    (point,) = points(setting, [Candidate("noisy-counts", {"epsilon": 0.001})])
    assert point.accuracies is not None
    assert point.accuracies["naive-bayes"] < point.commonest
    assert point.risk(RISKS["attacker"]) == point.commonest
    assert point.adversary == "commonest value"


def without_seconds(found: tuple[Point, ...]) -> tuple[Point, ...]:
    return tuple(replace(point, seconds=0.0) for point in found)


@pytest.mark.slow
def test_the_journal_gives_the_same(setting: Setting, found: tuple[Point, ...], tmp_path: Path) -> None:
    journal = Journal(tmp_path / "kept", {"table": "a"})
    counts: list[tuple[int, int]] = []
    together = points(setting, CANDIDATES, journal, progress=lambda *done: counts.append(done))
    assert repr(without_seconds(together)) == repr(without_seconds(found))  # nan equals itself as text
    assert counts == [(i, 6) for i in range(7)]
    assert len(list((tmp_path / "kept").iterdir())) == 5  # all but what is not possible
    again = points(replace(setting, table="gone.csv"), CANDIDATES[:5], journal)  # nothing is left to do
    assert repr(again) == repr(together[:5])


def test_what_the_journal_does_not_take_for_the_same(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "kept", {"table": "a"})
    journal.write({"method": "lattice"}, {"x": math.inf})
    assert journal.read({"method": "lattice"}) == {"x": math.inf}
    assert journal.read({"method": "mondrian"}) is None
    assert Journal(tmp_path / "kept", {"table": "b"}).read({"method": "lattice"}) is None
    assert Journal(tmp_path / "kept", {"table": "a"}, fresh=True).read({"method": "lattice"}) is None
    (file,) = (tmp_path / "kept").iterdir()
    whole = file.read_text(encoding="utf-8")
    for damaged in ("", whole[: len(whole) // 2], "[]", json.dumps({"of": {}, "found": {}})):
        file.write_text(damaged, encoding="utf-8")
        assert journal.read({"method": "lattice"}) is None
    with pytest.raises(InputError, match="is a file"):
        Journal(file, {})
    with pytest.raises(InputError, match="does not exist"):
        Journal(tmp_path / "no" / "where", {})


def test_memory_that_was_short_is_tried_again(
    setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "kept", {})

    def short(*_: object) -> Any:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(Candidate, "release", short)
        (point,) = points(setting, CANDIDATES[:1], journal)
    assert point.reason == NO_MEMORY
    assert not (tmp_path / "kept").exists()
    assert not points(setting, CANDIDATES[:1], journal)[0].reason


def test_the_grid(setting: Setting) -> None:
    people = Table(setting.table, Schema.load(setting.schema))

    def tried(methods: list[str], **asked: Any) -> list[tuple[str, str]]:
        return [(candidate.method, candidate.label) for candidate in grid(methods, asked, people)]

    assert tried(["mondrian"]) == [("mondrian", f"k = {k}") for k in (2, 5, 10, 25, 50, 100)]
    assert tried(["lattice"], k=(2,)) == [("lattice", "k = 2"), ("lattice", "k = 2, suppression 0.02")]
    assert tried(["mondrian"], k=(2, 5), l=(2,)) == [("mondrian", "k = 2, ℓ = 2"), ("mondrian", "k = 5, ℓ = 2")]
    assert tried(["mondrian"], t=("0.2:ordered",)) == [("mondrian", "t = 0.2:ordered")]
    assert tried(["microaggregation", "anatomy"], k=(3,), l=(2,)) == [
        ("microaggregation", "k = 3"),
        ("anatomy", "ℓ = 2"),
    ]
    assert tried(["noisy-counts"], epsilon=(0.5,), k=(3,)) == [("noisy-counts", "ε = 0.5")]
    assert [label for _, label in tried(["anatomy"])] == ["ℓ = 2"]  # the commonest value has more than a third
    with pytest.raises(ParameterError, match="k"):
        tried(["mondrian"], k=(0,))
    with pytest.raises(ParameterError, match="--t"):
        tried(["mondrian"], t=("close",))
    searched = grid(["lattice"], {"k": (2,)}, people, utility="discernibility")[0]
    assert searched.parameters["utility"] == "discernibility"
    assert searched.options == [
        "--method", "lattice", "--k", "2", "--suppression", "0", "--utility", "discernibility",
    ]  # fmt: skip


def point(name: str, risk: float, error: float, *outcomes: tuple[str, float, str]) -> Point:
    thresholds = tuple(Threshold("max_x", asked, measured, outcome, "") for asked, measured, outcome in outcomes)  # type: ignore[arg-type]
    return Point(
        Candidate(name, {"k": 2}), risks={"attacker": risk}, utility={"relative_error": error}, thresholds=thresholds
    )


def test_the_best_and_the_nearest() -> None:
    passed, missed = ("≤ 0.5", 0.4, "passed"), ("≤ 0.5", 0.6, "violated")
    far, untested = ("≤ 0.5", 0.9, "violated"), ("≤ 0.5", math.nan, "not tested")
    some = (
        point("useful", 0.9, 0.1, missed, passed),
        point("dear", 0.2, 0.5, passed, passed),
        point("good", 0.4, 0.3, passed, passed),
        point("safer", 0.3, 0.3, passed, passed),
        point("unknown", 0.1, math.nan, passed, passed),
        point("untested", 0.1, 0.05, passed, untested),
        point("far", 0.1, 0.01, passed, far),
        point("farther", 0.1, 0.0, missed, far),
        Point(Candidate("impossible", {"k": 2}), reason="because"),
    )
    found = TradeOff(some, RISKS["attacker"], UTILITIES["relative_error"], 0)
    best = found.best()
    assert best is not None
    assert best.candidate.method == "safer"
    assert [one.candidate.method for one in found.nearest(4)] == ["useful", "far", "untested", "farther"]
    assert TradeOff(some[:1], found.risk, found.utility, 0).best() is None
    names = [some[i].candidate.method for i in found.order()]
    assert names == ["farther", "far", "untested", "useful", "safer", "good", "dear", "unknown", "impossible"]


def test_larger_is_better_where_it_is(setting: Setting) -> None:
    candidates = [Candidate("lattice", {"k": k, "suppression": 0.0}) for k in (2, 40)]
    found = TradeOff(points(setting, candidates), RISKS["linkability"], UTILITIES["precision"], 0)
    fine, coarse = (one.useful(found.utility) for one in found.points)
    assert fine > coarse
    assert found.points[0].cost(found.utility) == 1 - fine
    assert found.front == (True, True)
    assert found.order() == [0, 1]


def test_a_bench_uses_the_engine_it_is_given(setting: Setting) -> None:
    engine = _engine.default()
    assert Bench(setting, engine).table.engine is engine


def test_every_criterion_is_an_axis_of_the_methods_that_keep_it() -> None:
    lattice = [axis.name for axis in PUBLISHERS["lattice"].axes()]
    assert lattice == [model.option.parameter for model in CRITERIA.values() if model.option] + ["suppression"]
    assert [axis.name for axis in PUBLISHERS["anatomy"].axes()] == ["l"]
    assert [axis.name for axis in PUBLISHERS["noisy-counts"].axes()] == ["epsilon"]


@pytest.mark.parametrize(
    ("axis", "text", "promises"),
    [
        ("alpha", "0.5, 0.8", [("α = 0.5",), ("α = 0.8",)]),
        ("recursive_l", "3,2; 9,2", [("recursive c = 3, ℓ = 2",), ("recursive c = 9, ℓ = 2",)]),
        ("recursive_l", "3,2,9,2", [("recursive c = 3, ℓ = 2",), ("recursive c = 9, ℓ = 2",)]),
        ("t", "0.2,0.3:ordered", [("t = 0.2 (equal)",), ("t = 0.3 (ordered)",)]),
        ("enhanced_beta", "2", [("enhanced β = 2",)]),
    ],
)
def test_values_of_a_criterion_become_candidates(axis: str, text: str, promises: list[tuple[str]]) -> None:
    parse = next(known.parse for known in axes() if known.name == axis)
    tried = grid(["mondrian"], {axis: parse(text)}, datasets.hospital(50, seed=1))
    assert [candidate.publisher().promises() for candidate in tried] == promises


def test_an_axis_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match=r"frontier cannot vary 'alpa'\. Did you mean 'alpha'\?"):
        check_tried(["mondrian"], {"alpa": [0.5]}, {})
