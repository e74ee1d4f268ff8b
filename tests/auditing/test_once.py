"""What an audit computes is computed once, whoever asks for it: counts of classes, scans of the table, beliefs of a batch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import ADVERSARIES, Targets
from dalenius.auditing import audit
from dalenius.auditing.people import People
from dalenius.criteria import KAnonymity
from dalenius.engines.ibis_rows import IbisRows
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.releases import Release
from dalenius.releases.base import GroupedRelease, Grouping
from dalenius.schema import Schema
from tests.auditing.conftest import Hospital

pytestmark = pytest.mark.slow


class Watch:
    """Counts who computes a grouping, and which tables are scanned. Releases are kept, so that no two have one id."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.groupings: Counter[tuple[int, int]] = Counter()
        self.scans: Counter[str] = Counter()
        self.kept: list[GroupedRelease] = []
        compute, count = GroupedRelease._whole_grouping, IbisRows.count

        def computed(release: GroupedRelease, index: int) -> Grouping:
            self.kept.append(release)
            self.groupings[id(release.sensitive), index] += 1
            return compute(release, index)

        def scanned(rows: IbisRows, *arguments: object, **options: object) -> object:
            self.scans[rows.name] += 1
            return count(rows, *arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(GroupedRelease, "_whole_grouping", computed)
        monkeypatch.setattr(IbisRows, "count", scanned)


def two_sensitive_columns(adult_schema: Path, folder: Path) -> Schema:
    text = adult_schema.read_text(encoding="utf-8")
    text = text.replace('sensitive = "occupation"', 'sensitive = ["occupation", "salary-class"]')
    text = text.replace('[columns.salary-class]\nrole = "quasi"', '[columns.salary-class]\nrole = "sensitive"')
    (folder / "two.toml").write_text(text, encoding="utf-8")
    return Schema.load(folder / "two.toml")


def test_an_audit_of_adult_computes_classes_once_and_scans_the_table_once(
    data: Path, adult_schema: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = two_sensitive_columns(adult_schema, tmp_path)
    watch = Watch(monkeypatch)
    publish = Lattice([KAnonymity(10)], suppression=0.02).publish
    found = audit(data / "adult" / "adult.csv", schema, publish=publish)
    assert len(found.attacks) == 4  # two adversaries, two columns
    assert len(found.threats) == 2
    release = found.classes
    assert release is not None
    assert [watch.groupings[id(release.sensitive), index] for index in range(2)] == [1, 1]
    # The release, the table as the ideal learner sees it, and the suppressed rows: each of both columns, and none of them twice.
    assert set(watch.groupings.values()) == {1}
    assert len(watch.groupings) <= 6
    assert watch.scans == {"adult.csv": 1}


def test_a_release_and_its_table_are_scanned_once_each(hospital: Hospital, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(monkeypatch)
    found = audit(hospital.release, Schema.load(hospital.schema), truth=hospital.table, holdout=hospital.holdout)
    assert found.held_out
    assert watch.scans[hospital.table.name] == 2  # table and holdout have one name
    assert set(watch.groupings.values()) == {1}


RELEASES = {
    "random-worlds": lambda table: Lattice([KAnonymity(3)], suppression=0.05).publish(table),
    "random-worlds on tuples": lambda table: Anatomy(2).publish(table, seed=0),
    "nearest-centroid": lambda table: Microaggregation(4).publish(table),
}


@pytest.mark.parametrize("name", RELEASES)
def test_people_most_at_risk_are_asked_about_together_as_they_are_alone(hospital: Hospital, name: str) -> None:
    schema = Schema.load(hospital.schema)
    release = RELEASES[name](dl.Table(hospital.table, schema)).release
    asked: list[int] = []
    adversary = ADVERSARIES[name.partition(" ")[0]]
    believe = adversary.believe

    def watched(self: object, release: Release, targets: Targets, **options: object) -> object:
        asked.append(len(targets))
        return believe(self, release, targets, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adversary, "believe", watched)
        found = audit(release, schema, truth=hospital.table)
    at_risk = [one for one in found.at_risk if one.column == "disease"]
    assert len(at_risk) == 10
    quasi = [column.name for column in found.schema.quasi]
    people = len(People.of(dl.Table(hospital.table, schema)).targets)
    assert [number for number in asked if number != people] == [10 * len(quasi)]  # one question for all
    for one in at_risk:
        beliefs = []
        for a in range(len(quasi)):
            alone = Targets(found.schema, np.array([one.codes], dtype=np.int32)).without(a)
            belief = adversary().attack(found.release, alone, column=one.column)
            beliefs.append(belief.posterior[0, belief.column.leaves.index(one.value)])
        assert one.belief_without == min(beliefs)
        assert quasi[int(np.argmin(beliefs))] == one.attribute
