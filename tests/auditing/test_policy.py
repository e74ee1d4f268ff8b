"""The verdict: every key of [policy] passed, violated and not tested; what is not measured never passes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from dalenius.adversaries import ADVERSARIES
from dalenius.adversaries.models.sampling import Effort
from dalenius.auditing import Audit, audit
from dalenius.auditing.policy import Figure, Part, Threshold, apply, overall
from dalenius.config import Policy
from dalenius.criteria import KAnonymity
from dalenius.datasets import save_hospital
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.mondrian import Mondrian
from dalenius.releases import Release
from dalenius.schema import Schema
from dalenius.table import Table
from tests.auditing.conftest import Hospital

KEYS = tuple(Policy.model_fields)
STRUCTURED = {"max_relative_threat": {"quantile": 0.99, "value": 4.0}, "epsilon_privacy": ["I:table:1e6:2.5"]}
NUMERIC = tuple(key for key in KEYS if key not in STRUCTURED)

# Where each number stands in the audit, said again here; the keys that are not here cannot be measured yet.
MEASURED: dict[str, Callable[[Audit], float]] = {
    "min_k": lambda found: found.levels["disease"]["k_anonymity", "k"].value,
    "min_l": lambda found: found.levels["disease"]["distinct_l_diversity", "l"].value,
    "min_entropy_l": lambda found: found.levels["disease"]["entropy_l_diversity", "l"].value,
    "max_t": lambda found: found.levels["disease"]["t_closeness", "equal"].value,
    "max_attacker_accuracy": lambda found: max(one.success.value for one in found.attacks),
    "max_attacker_gain": lambda found: max(one.gain.value for one in found.attacks),
    "max_perfect_breach": lambda found: found.attacks[0].perfect_breach,
    "max_loss": lambda found: found.utility["loss"],
    "max_suppressed": lambda found: found.release.suppressed / found.release.people,
    "min_faithfulness": lambda found: found.threats["disease"].faithfulness.RF,
}


def only(key: str, asked: object, figure: Figure | None) -> Threshold:
    found = apply({key: asked}, {} if figure is None else {key: figure})
    assert len(found) == 1
    assert found[0].key == key
    return found[0]


@pytest.mark.parametrize("key", NUMERIC)
def test_a_number_is_held_against_its_threshold(key: str) -> None:
    """At the threshold it holds; beyond it, on the wrong side, it does not."""
    better = 1 if key.startswith("min_") else -1
    asked = 3 if key in ("min_k", "min_l") else 0.4
    for distance, outcome in ((0, "passed"), (better * 0.1, "passed"), (-better * 0.1, "violated")):
        found = only(key, asked, Figure(asked + distance, "a reason that is none of its business"))
        assert (found.outcome, found.measured, found.reason) == (outcome, asked + distance, "")
        assert f"{asked:g}" in found.asked
    assert only(key, asked, Figure(better * math.inf)).outcome == "passed"
    assert only(key, asked, Figure(-better * math.inf)).outcome == "violated"


def test_rounding_is_not_a_violation() -> None:
    """0.1 + 0.2 is at most 0.3, and the effective number of two equal values is at least 2."""
    assert only("max_t", 0.3, Figure(0.1 + 0.2)).outcome == "passed"
    assert only("min_entropy_l", 2.0, Figure(math.exp(math.log(2)) - 1e-12)).outcome == "passed"
    assert only("max_t", 0.3, Figure(0.3 + 1e-6)).outcome == "violated"
    assert only("max_suppressed", 0.0, Figure(1e-7)).outcome == "violated"


@pytest.mark.parametrize("key", KEYS)
def test_an_unknown_figure_is_never_passed(key: str) -> None:
    asked = STRUCTURED.get(key, 1)
    for figure in (None, Figure(math.nan, "it could not be measured")):
        found = only(key, asked, figure)
        assert found.outcome == "not tested"
        assert math.isnan(found.measured)
        assert found.reason
    if key in STRUCTURED:  # more than a number: no number passes it
        assert only(key, asked, Figure(0.0, "no measure")).outcome == "not tested"


@pytest.mark.parametrize(
    ("value", "high", "outcome"),
    [(0.02, 0.04, "passed"), (0.02, 0.05, "passed"), (0.02, 0.06, "not tested"), (0.06, 0.09, "violated")],
)
def test_a_gain_passes_only_with_its_interval(value: float, high: float, outcome: str) -> None:
    found = only("max_attacker_gain", 0.05, Figure(value, high=high, spread="with so few"))
    assert (found.measured, found.outcome) == (value, outcome)
    assert ("with so few, it may be as large as 0.06" in found.reason) == (outcome == "not tested")


def test_what_was_left_out_may_violate_and_cannot_pass() -> None:
    doubt = "somebody was not asked"
    found = only("max_attacker_accuracy", 0.5, Figure(0.4, doubt=doubt))
    assert (found.measured, found.outcome, found.reason) == (0.4, "not tested", doubt)
    assert only("max_attacker_accuracy", 0.5, Figure(0.6, doubt=doubt)).outcome == "violated"


@pytest.mark.parametrize(("limit", "outcome"), [(2.0, "violated"), (math.inf, "passed")])
def test_infinite_levels(limit: float, outcome: str) -> None:
    figure = Figure(math.nan, parts=(Part("≤", limit, math.inf),))
    assert apply({"epsilon_privacy": ["asked"]}, {"epsilon_privacy": figure})[0].outcome == outcome


@given(st.lists(st.sampled_from(["passed", "violated", "not tested"]), max_size=6))
def test_overall(outcomes: list[str]) -> None:
    thresholds = tuple(Threshold("min_k", "2", 1.0, outcome, "") for outcome in outcomes)  # type: ignore[arg-type]
    expected = "none"
    if outcomes:
        expected = "incomplete" if "not tested" in outcomes else "passed"
    if "violated" in outcomes:
        expected = "violated"
    assert overall(thresholds) == expected


# --- Of an audit -------------------------------------------------------------------------------------------------------


def audited(hospital: Hospital, policy: dict[str, object], *, truth: bool = True, holdout: bool = True) -> Audit:
    schema = dataclasses.replace(dl.Schema.load(hospital.schema), policy=policy)
    return audit(
        hospital.release,
        schema,
        truth=hospital.table if truth else None,
        holdout=hospital.holdout if truth and holdout else None,
    )


@pytest.fixture(scope="module")
def whole(hospital: Hospital) -> Audit:
    return audited(hospital, {**dict.fromkeys(NUMERIC, 1), **STRUCTURED})


def test_every_key_has_an_outcome(whole: Audit) -> None:
    outcomes = {threshold.key: threshold for threshold in whole.thresholds}
    assert set(outcomes) == set(KEYS)
    for key, threshold in outcomes.items():
        if key in MEASURED:
            assert threshold.outcome in ("passed", "violated")
            assert threshold.measured == pytest.approx(MEASURED[key](whole))
        elif key == "epsilon_privacy":  # its own tests: test_disclosure.py
            assert threshold.outcome in ("passed", "violated")
            assert threshold.asked == "≤ 2.5 against I:table:1e6"
        else:
            assert key == "max_relative_threat"
            threats = whole.threats["disease"]
            assert threshold.asked == "quantile 0.99 of Ti ≤ 4"
            assert threshold.measured == threats.quantile(0.99) <= threats.threats.max_Ti
            assert threshold.outcome == ("passed" if threshold.measured <= 4 else "violated")


@pytest.mark.slow
@pytest.mark.parametrize("key", MEASURED)
def test_each_key_alone_passes_and_is_violated(hospital: Hospital, whole: Audit, key: str) -> None:
    measured = MEASURED[key](whole)
    worse = measured * 1.01 + 0.01 if key.startswith("min_") else measured * 0.99 - 0.01
    if key == "max_attacker_gain":  # it is measured on some people, and passes if it would on all
        assert audited(hospital, {key: measured}).verdict == "incomplete"
        measured = max(one.gain.high for one in whole.attacks)
    assert audited(hospital, {key: measured}).verdict == "passed"
    assert audited(hospital, {key: worse}).verdict == "violated"


def test_who_is_played_for_the_policy(whole: Audit) -> None:
    assert [one.adversary for one in whole.attacks] == ["random-worlds", "attacker"]
    assert all(one.control.n == 350 for one in whole.attacks)


def test_no_thresholds_no_verdict(hospital: Hospital) -> None:
    found = audited(hospital, {})
    assert (found.verdict, found.thresholds) == ("none", ())


def test_without_truth_the_attackers_thresholds_are_not_tested(hospital: Hospital) -> None:
    keys = ("max_attacker_accuracy", "max_attacker_gain", "max_perfect_breach")
    found = audited(hospital, dict.fromkeys(keys, 1.0), truth=False)
    assert found.verdict == "incomplete"
    for threshold in found.thresholds:
        assert threshold.outcome == "not tested"
        assert "--truth" in threshold.reason
    # What needs no truth is tested all the same, and can fail.
    assert audited(hospital, {"min_k": 1, "max_attacker_gain": 1.0}, truth=False).verdict == "incomplete"
    assert audited(hospital, {"min_k": 99, "max_attacker_gain": 1.0}, truth=False).verdict == "violated"


def test_without_held_out_people_the_gain_is_not_tested(hospital: Hospital) -> None:
    found = audited(hospital, {"max_attacker_gain": 1.0, "max_attacker_accuracy": 1.0}, holdout=False)
    assert [t.outcome for t in found.thresholds] == ["not tested", "passed"]
    assert "--holdout" in found.thresholds[0].reason
    assert found.verdict == "incomplete"


def test_a_release_that_nobody_can_attack_passes_nothing(hospital: Hospital, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nobody attacked centroids: thresholds on attackers are not tested, and the reason is not the user's fault."""
    monkeypatch.delitem(ADVERSARIES._parts, "nearest-centroid")
    text = hospital.schema.read_text(encoding="utf-8").replace('role = "quasi"\n', 'role = "other"\n')
    text = text.replace('[columns.age]\nrole = "other"', '[columns.age]\nrole = "quasi"')
    path = hospital.folder / "ages.toml"
    path.write_text(text, encoding="utf-8")
    policy = {"max_attacker_accuracy": 1.0, "max_attacker_gain": 1.0, "max_perfect_breach": 1.0, "max_loss": 1.0}
    schema = dataclasses.replace(dl.Schema.load(path), policy=policy)
    found = audit(hospital.table, schema, truth=hospital.table, holdout=hospital.holdout, kind="centroids")
    assert found.attacks == ()
    assert "random-worlds" in found.refused
    assert found.thresholds[0].key == "identifiers"  # what is audited is the table itself
    for threshold in found.thresholds[1:]:
        assert threshold.outcome == "not tested"
        assert len(threshold.reason.split()) >= 4
        assert "--truth" not in threshold.reason
        assert "--holdout" not in threshold.reason
    assert any("random-worlds was not tried" in limit for limit in found.limits)


def test_a_gain_over_people_who_are_no_control_is_not_tested(hospital: Hospital, tmp_path: Path) -> None:
    """Held-out people of one value only: the adversary does better or worse on them for that, not for what was released."""
    schema = dataclasses.replace(dl.Schema.load(hospital.schema), policy={"max_attacker_gain": 0.9})
    kept = audit(hospital.release, schema, truth=hospital.table, holdout=hospital.holdout)
    assert [one.outcome for one in kept.thresholds] == ["passed"]
    header, *lines = Path(hospital.holdout).read_text(encoding="utf-8").splitlines()
    value = lines[0].rsplit(",", 1)[1]
    alike = [line for line in lines if line.rsplit(",", 1)[1] == value]
    (tmp_path / "alike.csv").write_text("\n".join([header, *alike * 5]) + "\n", encoding="utf-8")
    found = audit(hospital.release, schema, truth=hospital.table, holdout=tmp_path / "alike.csv")
    assert [(one.outcome, one.reason) for one in found.thresholds] == [
        ("not tested", "the held-out people cannot serve as a control")
    ]


def test_accuracy_is_that_of_whoever_is_right_most_often(tmp_path: Path) -> None:
    """The exact attacker stands among relative threats, and among the others, too."""
    people = save_hospital(tmp_path, 600)
    text = (tmp_path / "privacy.toml").read_text(encoding="utf-8")
    (tmp_path / "policy.toml").write_text(text + "\n[policy]\nmax_attacker_accuracy = 0.3\n", encoding="utf-8")
    schema = Schema.load(tmp_path / "policy.toml")
    release = Lattice([KAnonymity(10)], suppression=0.02).publish(Table(people, schema)).release
    found = audit(release, schema, truth=people)
    right = {attack.adversary: attack.success.value for attack in found.attacks}
    attacker = found.threats["disease"].threats.GT_A
    assert right["attacker"] == attacker > right["random-worlds"]  # else this test would tell nothing
    (threshold,) = found.thresholds
    assert threshold.measured == attacker
    assert threshold.outcome == "violated"


# --- The attacker where it has no exact answer -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cut(hospital: Hospital) -> Release:
    """The table by Anatomy, three values in a group: random worlds is right for a third."""
    return Anatomy(3).publish(Table(hospital.table, hospital.schema), seed=0).release


def judged(hospital: Hospital, release: Release, policy: dict[str, object]) -> Audit:
    schema = dataclasses.replace(dl.Schema.load(hospital.schema), policy=policy)
    return audit(release, schema, truth=hospital.table, holdout=hospital.holdout)


@pytest.mark.slow
def test_the_link_that_anatomy_cuts_is_attacked(hospital: Hospital, cut: Release) -> None:
    """Also where nobody asks: that a third are guessed right is what the scheme promises, not what an attacker does."""
    found = judged(hospital, cut, {})
    right = {one.adversary: one for one in found.attacks}
    assert right["attacker"].belief.method == "sampled"
    assert right["attacker"].is_converged
    assert right["attacker"].success.value > right["random-worlds"].success.value + 0.03
    assert right["attacker"].control.n == 350
    assert math.isnan(right["attacker"].perfect_breach)  # draws that agree are not certain
    limit = (right["attacker"].success.value + right["random-worlds"].success.value) / 2
    assert judged(hospital, cut, {"max_attacker_accuracy": limit}).verdict == "violated"


@pytest.mark.slow
def test_a_large_release_is_not_sampled_unasked(
    hospital: Hospital, cut: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dalenius.auditing.playing.MAX_SAMPLED_PEOPLE", 499)
    found = judged(hospital, cut, {})
    assert [one.adversary for one in found.attacks] == ["random-worlds"]
    assert any("--mcse" in limit for limit in found.limits)
    found = judged(hospital, cut, {"max_attacker_accuracy": 1.0})  # whoever asks gets an answer
    assert [one.adversary for one in found.attacks] == ["random-worlds", "attacker"]
    assert found.verdict == "passed"


def test_an_attacker_that_cannot_be_played_leaves_a_doubt(
    hospital: Hospital, cut: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dalenius.adversaries.models.learning.MAX_SAMPLED_ENTRIES", 10)
    found = judged(hospital, cut, {"max_attacker_accuracy": 0.9, "max_attacker_gain": 0.9})
    assert [one.outcome for one in found.thresholds] == ["not tested"] * 2
    assert all("the attacker was not tried: its distinct tuples" in one.reason for one in found.thresholds)
    assert judged(hospital, cut, {"max_attacker_accuracy": 0.2}).verdict == "violated"


def test_an_attacker_that_has_not_converged_leaves_a_doubt(
    hospital: Hospital, cut: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    little = Effort(mcse=0.0001, burn_in=0, sweeps=1, most_sweeps=1)
    monkeypatch.setattr("dalenius.auditing.playing.effort_for", lambda *_: little)
    found = judged(hospital, cut, {"max_attacker_accuracy": 0.9, "max_attacker_gain": 0.9})
    assert [(one.outcome, one.reason) for one in found.thresholds] == [("not tested", "sampling has not converged")] * 2


@pytest.mark.slow
def test_overlapping_boxes_are_sampled_if_the_policy_asks(hospital: Hospital) -> None:
    """Mondrian's boxes have no exact attacker: without a threshold on attackers it is not played, and that is said."""
    release = Mondrian([KAnonymity(10)]).publish(Table(hospital.table, hospital.schema)).release
    assert [one.adversary for one in judged(hospital, release, {"min_k": 5}).attacks] == ["random-worlds"]
    for key in ("max_attacker_accuracy", "max_attacker_gain"):
        found = judged(hospital, release, {key: 1.0})
        assert [(one.adversary, one.belief.method) for one in found.attacks] == [
            ("random-worlds", "exact"),
            ("attacker", "sampled"),
        ]
        assert found.verdict == "passed"
