"""What a control that differs, or that `split` made, changes in places that pass it on; and errors of people with a value."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.auditing import audit
from dalenius.auditing.epsilon_curve import Point, epsilon_curve
from dalenius.auditing.figures import largest_gain
from dalenius.auditing.groups import control_in_groups
from dalenius.auditing.holdout import record_of
from dalenius.auditing.people import Control, People
from dalenius.auditing.secrets import Secret
from dalenius.auditing.threat import accuracy_error
from dalenius.belief import Belief, Replicates
from dalenius.measures.accuracy import Shift
from dalenius.output import sha256
from dalenius.publishers.anatomy import Anatomy

SCHEMA = dl.Schema(
    [
        dl.Column("zip", "quasi", domain=dl.Domain(("a", "b"))),
        dl.Column("ill", "sensitive", domain=dl.Domain(("Flu", "Gout", "Pox"))),
    ]
)


def write(path: Path, flu: int) -> str:
    """A thousand people of whom so many have the flu. Nothing depends on the ZIP."""
    values = ["Flu" if i < flu else ("Gout", "Pox")[i // 2 % 2] for i in range(1000)]
    path.write_text("zip,ill\n" + "".join(f"{'ab'[i % 2]},{v}\n" for i, v in enumerate(values)), encoding="utf-8")
    return str(path)


def counted(mine: str, theirs: str) -> Point:
    found = epsilon_curve(dl.Table(mine, SCHEMA), dl.Table(theirs, SCHEMA), [50.0], draws=2)
    return found.points[0]


def test_counts_allow_for_a_control_that_differs_and_trust_a_record(tmp_path: Path) -> None:
    mine, theirs = write(tmp_path / "mine.csv", 500), write(tmp_path / "theirs.csv", 440)
    found = counted(mine, theirs)
    assert 0 < found.shift.least < found.gain.rate.value < found.shift.most
    assert found.gain.rate.low > 0  # only the difference keeps it from being a leak
    assert found.verdict == "not enough data to say"
    assert found.to_document()["shift_at_most"] == found.shift.most
    digests = {"published": sha256(Path(mine)), "others": sha256(Path(theirs))}
    record_of(Path(theirs)).write_text(json.dumps({"sha256": digests}), encoding="utf-8")
    assert counted(mine, theirs).shift == Shift()
    assert counted(mine, theirs).verdict == "leaks about persons"


def test_a_gain_may_be_larger_by_the_difference(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.csv", 500)
    found = audit(mine, SCHEMA, truth=mine, holdout=write(tmp_path / "theirs.csv", 490)).attacks[0]
    shifted = dataclasses.replace(found, shift=Shift(0.01, 0.04))
    assert largest_gain(shifted)[0] == pytest.approx(largest_gain(found)[0] + 0.04)


def test_people_put_in_the_place_of_others_are_still_those_that_split_drew() -> None:
    table = {"zip": ["a", "b"] * 3, "ill": ["Flu", "Gout", "Pox"] * 2}
    release = Anatomy(2).publish(dl.Table(table, SCHEMA)).release
    people = People.of(dl.Table(table, SCHEMA))
    assert [control_in_groups(Control(release, people, drawn)).drawn for drawn in (True, False)] == [True, False]


def torn(people: int) -> Belief:
    """Batches that do not agree about the first person; the second, if there is one, has no value."""
    column = dl.Column("s", "sensitive", domain=dl.Domain(("x", "y", "")))
    ways = ([[0.8, 0.2, 0.0], [0.2, 0.1, 0.7]], [[0.2, 0.8, 0.0], [0.2, 0.1, 0.7]])
    draws = np.array([[ways[(chain + batch) % 2][:people] for batch in range(9)] for chain in range(4)])
    mean = draws.mean(axis=(0, 1))
    even = np.full(mean.shape, 1 / 3)
    replicates = Replicates(draws, np.broadcast_to(even, draws.shape), np.arange(people, dtype=np.int32))
    return Belief(column, mean, even, mean, np.ones(people, dtype=bool), "sampled", {"converged": True}, replicates)


def test_the_error_is_that_of_people_with_a_value() -> None:
    truth, both = np.array([0, 2], dtype=np.int32), np.ones(2, dtype=np.int64)
    alone = accuracy_error(torn(1), truth[:1], both[:1])
    assert alone > 0
    assert accuracy_error(torn(2), truth, both, Secret(2)) == pytest.approx(alone)
    assert accuracy_error(torn(2), truth, both) == pytest.approx(alone / 2)
