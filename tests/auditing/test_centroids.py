"""The audit of a microaggregated release: rates, groups and policy recounted from the files in plain loops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import NearestCentroid
from dalenius.auditing import audit
from dalenius.auditing.people import open_together, plausible_people
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.releases import Centroids
from dalenius.reports import terminal
from tests.adversaries import plain_centroids as plain
from tests.auditing.centroids import NUMERIC, QUASI, SCHEMA, Plain, audited, read, released, write


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_rates_in_plain_loops(missing: float, tmp_path: Path) -> None:
    folder = released(tmp_path, 3, missing=missing)
    found = audited(folder)
    (attack,) = found.attacks
    assert (attack.adversary, attack.column, attack.belief.method) == ("nearest-centroid", "disease", "exact")
    loops, mine, others = Plain(folder), read(folder / "people.csv"), read(folder / "others.csv")
    assert attack.success.value == pytest.approx(loops.success(mine), abs=1e-12)
    assert attack.control.value == pytest.approx(loops.success(others), abs=1e-12)
    assert attack.gain.value == pytest.approx(loops.success(mine) - loops.success(others), abs=1e-12)
    assert (attack.success.n, attack.control.n) == (300, 200)
    assert (attack.unmatched, attack.control_unmatched) == (0, 0)
    counts = Counter(one["disease"] for one in mine)
    assert attack.naive.value == pytest.approx(max(counts.values()) / 300)
    certain = [loops.belief(one).get(one["disease"]) == 1 for one in mine]
    assert attack.perfect_breach == pytest.approx(sum(certain) / 300, abs=1e-12)
    assert sum(certain) > 0
    sure = [float(max(loops.belief(one).values())) for one in mine]
    assert attack.confidence.mean == pytest.approx(sum(sure) / 300)
    # Nobody is in a group of ten people like them: three people's values say much of each of them.
    assert attack.verdict == "leaks about persons"
    assert attack.gain.low > 0.1


@pytest.mark.slow
def test_large_groups_of_values_that_go_with_nothing_give_no_gain(tmp_path: Path) -> None:
    """Held-out people are like those of the table, and 150 people say little about one of them. Three say much."""
    shares = (5, 2, 1, 1, 1)
    (attack,) = audited(released(tmp_path, 150, n=3000, held=3000, shares=shares)).attacks
    assert attack.gain.low <= 0 <= attack.gain.high
    assert abs(attack.gain.value) < 0.03
    assert attack.verdict == "only about the population"
    small = tmp_path / "small"
    small.mkdir()
    (attack,) = audited(released(small, 3, n=3000, held=3000, shares=shares)).attacks
    assert attack.gain.low > 0.05
    assert attack.verdict == "leaks about persons"


POLICY = {
    "min_k": 3, "min_l": 2, "max_attacker_accuracy": 0.3, "max_attacker_gain": 0.05, "max_perfect_breach": 0.001,
    "max_relative_threat": {"quantile": 0.99, "value": 4}, "min_faithfulness": 0.5, "max_loss": 0.5, "max_suppressed": 0.1,
    "epsilon_privacy": ["I:table:1e6:2.5"], "max_t": 0.5, "min_entropy_l": 1.5,
}  # fmt: skip


def test_every_threshold_is_measured_or_refused_with_a_reason(tmp_path: Path) -> None:
    folder = released(tmp_path, 3)
    found = audited(folder, POLICY)
    outcome = {t.key: t.outcome for t in found.thresholds}
    loops = Plain(folder)
    single = sum(len(set(values)) == 1 for values in loops.values)
    assert single > 0
    assert outcome == {
        "min_k": "passed", "min_l": "violated", "min_entropy_l": "violated", "max_t": "violated",
        "max_attacker_accuracy": "violated", "max_attacker_gain": "violated", "max_perfect_breach": "violated",
        "max_relative_threat": "not tested", "min_faithfulness": "not tested", "max_loss": "not tested",
        "max_suppressed": "passed", "epsilon_privacy": "violated",
    }  # fmt: skip
    measured = {t.key: t.measured for t in found.thresholds}
    assert measured["min_k"] == min(loops.sizes)
    assert measured["max_attacker_accuracy"] == pytest.approx(loops.success(read(folder / "people.csv")))
    for threshold in found.thresholds:
        if threshold.outcome == "not tested":
            assert len(threshold.reason.split()) >= 4
            assert "--truth" not in threshold.reason
            assert "--holdout" not in threshold.reason
    assert set(found.refused) == {"random-worlds"}
    assert any("nearest-centroid attacks them" in limit for limit in found.limits)
    assert any("take a person's group as known" in limit for limit in found.limits)
    screen = "\n".join(terminal.lines(found))
    assert "nearest-centroid on disease" in screen
    assert "finds the correct group for" in screen


def test_without_the_truth_it_is_said_how_sure_it_is(tmp_path: Path) -> None:
    """Somebody stands at every centroid, its numbers rounded to the nearest that there is; the group's people count."""
    folder = released(tmp_path, 3, missing=0.15)
    found = audited(folder, POLICY, truth=None, holdout=None)
    (attack,) = found.attacks
    loops = Plain(folder)
    sure: dict[str, float] = {"mean": 0.0, "certain": 0.0}
    for point, size in zip(loops.points, loops.sizes, strict=True):
        person = {
            name: ("" if x is None else str(round(x)) if number else str(x))  # type: ignore[call-overload]
            for name, x, number in zip(QUASI, point, NUMERIC, strict=True)
        }
        most = max(loops.belief(person).values())
        sure["mean"] += float(most) * size / 300
        sure["certain"] += (most == 1) * size / 300
    assert attack.success.n == attack.gain.n == attack.right_group.n == 0
    assert attack.confidence.mean == pytest.approx(sure["mean"], abs=0.01)  # a half may be rounded down
    assert attack.confidence.certain == pytest.approx(sure["certain"], abs=0.02)
    untested = {t.key for t in found.thresholds if t.outcome == "not tested"}
    assert untested >= {"max_attacker_accuracy", "max_attacker_gain", "max_perfect_breach", "max_relative_threat"}


def test_plausible_people_stand_where_the_centroids_do(tmp_path: Path) -> None:
    folder = released(tmp_path, 4, missing=0.3)
    release = dl.read_release(folder / "points.csv", folder / "privacy.toml")
    assert isinstance(release, Centroids)
    targets, weight = plausible_people(release, np.random.default_rng(0))
    assert weight.tolist() == Plain(folder).sizes
    for a, (column, number) in enumerate(zip(release.schema.quasi, NUMERIC, strict=True)):
        for point, code in zip(release.points[:, a].tolist(), targets.codes[:, a].tolist(), strict=True):
            if not number:
                assert code == point
            elif point != point:
                assert column.leaves[code] == ""
            else:
                assert abs(int(column.leaves[code]) - point) <= 0.5


def test_the_people_most_at_risk_are_in_the_class_that_is_looked_at(tmp_path: Path) -> None:
    folder = released(tmp_path, 3)
    found = audited(folder)
    assert found.at_risk
    loops, rows = Plain(folder), read(folder / "people.csv")
    for person in found.at_risk:
        for row in person.rows:
            where = loops.nearest(rows[row])
            assert person.group == (where[0] if len(where) == 1 else -1)
            assert person.group_size == sum(loops.sizes[q] for q in where)
            assert person.belief == pytest.approx(float(max(loops.belief(rows[row]).values())))
            assert person.place != "suppressed"
            without = {}
            for name in QUASI:
                known = [
                    plain.UNKNOWN if other == name else x
                    for other, x in zip(QUASI, loops.known(rows[row]), strict=True)
                ]
                seen = plain.belief(plain.nearest(known, loops.points, loops.sizes, NUMERIC), loops.values)
                without[name] = float(seen.get(person.value, 0))
            assert person.belief_without == pytest.approx(min(without.values()), abs=1e-12)
            assert without[person.attribute] == pytest.approx(min(without.values()), abs=1e-12)


@pytest.mark.slow
def test_published_in_memory_with_held_out_people_of_other_places(tmp_path: Path) -> None:
    """Values that only held-out people have, of a column without a declared domain: the release is coded again for them."""
    folder = released(tmp_path, 3)
    text = (folder / "privacy.toml").read_text(encoding="utf-8").replace('domain = ["Oslo", "Bergen", "Hamar"]\n', "")
    (folder / "privacy.toml").write_text(text, encoding="utf-8")
    others = [{**one, "city": "Alta"} if i < 20 else one for i, one in enumerate(read(folder / "others.csv"))]
    write(folder / "others.csv", others)
    schema = dl.Schema.load(folder / "privacy.toml")
    made = Microaggregation(3).publish(dl.Table(folder / "people.csv", schema))
    made.write(folder / "points.csv")
    (one,) = audit(made.release, schema, truth=folder / "people.csv", holdout=folder / "others.csv").attacks
    (other,) = audited(folder).attacks
    assert one.success == other.success
    assert one.control == other.control
    assert one.right_group.n == 0
    holdout, publish = folder / "others.csv", Microaggregation(3).publish
    (told,) = audit(folder / "people.csv", schema, publish=publish, holdout=holdout).attacks
    assert told.right_group == other.right_group
    assert told.right_group.n == 300
    assert one.control.value == pytest.approx(Plain(folder).success(others), abs=1e-12)


def test_two_sensitive_columns(tmp_path: Path) -> None:
    folder = released(tmp_path, 3)
    text = SCHEMA.replace('sensitive = "disease"', 'sensitive = ["disease", "city"]')
    text = text.replace('[columns.city]\nrole = "quasi"', '[columns.city]\nrole = "sensitive"')
    (folder / "privacy.toml").write_text(text, encoding="utf-8")
    table = dl.Table(folder / "people.csv", dl.Schema.load(folder / "privacy.toml"))
    (folder / "points.csv").unlink()
    (folder / "points.csv.meta.json").unlink()
    Microaggregation(3).publish(table).write(folder / "points.csv")
    found = audited(folder)
    assert {(one.adversary, one.column) for one in found.attacks} == {
        ("nearest-centroid", "disease"), ("nearest-centroid", "city")
    }  # fmt: skip
    release, mine, _ = open_together(
        folder / "points.csv",
        folder / "people.csv",
        None,
        dl.Schema.load(folder / "privacy.toml"),
        kind=None,
        engine=None,
    )
    assert mine is not None
    for one in found.attacks:
        belief = NearestCentroid().attack(release, mine.targets, column=one.column)
        np.testing.assert_array_equal(belief.posterior, one.belief.posterior)
        assert one.right_group.n == 300
