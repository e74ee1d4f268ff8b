"""What is not known never passes: sampling that was stopped or has not converged, a control that is none, draws that waver."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import Attacker, Targets
from dalenius.adversaries.models.sampling import Effort
from dalenius.auditing import Audit, audit
from dalenius.auditing.attacks import Attack, attack
from dalenius.auditing.axes import RISKS, success_rates
from dalenius.auditing.figures import Findings, figures
from dalenius.auditing.people import open_together
from dalenius.auditing.policy import Figure, apply
from dalenius.auditing.threat import accuracy_error, relative_threats
from dalenius.belief import Belief
from dalenius.measures.accuracy import Rate
from dalenius.publishers.anatomy import Anatomy
from dalenius.releases import Anatomized, Release
from dalenius.schema import Schema
from dalenius.table import Table
from tests.auditing.conftest import Hospital

pytestmark = pytest.mark.slow

SHARP = Effort(mcse=0.02, relative=0.5)


@pytest.fixture(scope="module")
def cut(hospital: Hospital) -> Release:
    return Anatomy(2).publish(Table(hospital.table, hospital.schema), seed=0).release


def judged(
    hospital: Hospital, cut: Release, policy: Mapping[str, object], progress: Callable[[str], None] | None = None
) -> Audit:
    schema = dataclasses.replace(Schema.load(hospital.schema), policy=dict(policy))
    return audit(cut, schema, truth=hospital.table, holdout=hospital.holdout, effort=SHARP, progress=progress)


@pytest.fixture(scope="module")
def whole(hospital: Hospital, cut: Release) -> Audit:
    return judged(hospital, cut, {})


def stopping(after: int) -> Callable[[str], None]:
    """Ctrl-C when the attacker has told how far it is for the so-many-th time."""
    told = [0]

    def progress(stage: str) -> None:
        told[0] += "sweeps" in stage
        if "sweeps" in stage and told[0] == after:
            raise KeyboardInterrupt

    return progress


def test_an_interrupted_attacker_does_not_count_and_does_not_pass(hospital: Hospital, cut: Release) -> None:
    policy = {"max_attacker_accuracy": 0.99, "max_attacker_gain": 0.99}
    found = judged(hospital, cut, policy, stopping(1))
    attacker = found.attacks[-1]
    assert (attacker.adversary, attacker.interrupted, attacker.is_converged) == ("attacker", True, False)
    assert [one.outcome for one in found.thresholds] == ["not tested"] * 2
    assert {one.reason for one in found.thresholds} == {"sampling has not converged"}
    assert "attacker" not in success_rates(found)
    assert RISKS["gain"].of(found) == found.attacks[0].gain.value
    assert judged(hospital, cut, {"max_attacker_accuracy": 0.1}, stopping(1)).verdict == "violated"


def test_stopped_after_it_converged_it_has_no_control_and_does_not_pass(
    hospital: Hospital, cut: Release, whole: Audit
) -> None:
    """Between random worlds' gain and the attacker's: without the attacker it would pass."""
    rounds: list[str] = []
    judged(hospital, cut, {}, lambda stage: rounds.append(stage) if "sweeps" in stage else None)
    limit = 1.0
    for after in (1, len(rounds)):
        found = judged(hospital, cut, {"max_attacker_gain": limit}, stopping(after))
        assert found.attacks[-1].interrupted
        assert [one.outcome for one in found.thresholds] == ["not tested"], after
    assert apply({"max_attacker_gain": limit}, whole.figures)[0].outcome == "passed"


def test_a_second_ctrl_c_is_not_needed(hospital: Hospital, cut: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sampling that goes on for the accuracies' sake ends with the first one, too."""
    opened, people, _ = open_together(cut, hospital.table, None, Schema.load(hospital.schema), kind=None, engine=None)
    assert people is not None
    assert isinstance(opened, Anatomized)
    monkeypatch.setattr("dalenius.auditing.threat._errors", lambda *_: {"GT_A": 1.0, "GT_L": 1.0, "RGT_A": 1.0})
    rounds: list[bool] = []

    def progress(*_: object) -> None:
        rounds.append(True)
        if len(rounds) == first + 1:  # the first of those that accuracies ask for
            raise KeyboardInterrupt

    first = 10**9
    rng = np.random.default_rng
    relative_threats(
        opened, people, "disease", rng(1), effort=dataclasses.replace(SHARP, most_sweeps=1), progress=progress
    )
    rounds.clear()
    with monkeypatch.context() as patched:  # how many rounds until beliefs are sharp
        patched.setattr("dalenius.auditing.threat._errors", lambda *_: {})
        relative_threats(opened, people, "disease", rng(1), effort=SHARP, progress=progress)
    first = len(rounds)
    rounds.clear()
    found = relative_threats(opened, people, "disease", rng(1), effort=SHARP, progress=progress)
    assert len(rounds) == first + 1
    assert found.belief.diagnostics["interrupted"]
    assert not found.converged


def with_(attack: Attack, **changes: Any) -> Attack:
    return dataclasses.replace(attack, **changes)


def held_against(whole: Audit, attacks: list[Attack], key: str, limit: float) -> tuple[str, str]:
    play = dataclasses.replace(whole.play, attacks=tuple(attacks))
    (found,) = apply({key: limit}, figures(Findings(whole.opening, play, whole.measurement, {})))
    return found.outcome, found.reason


def test_a_control_that_has_not_converged_takes_nothing_from_the_accuracy(whole: Audit) -> None:
    worlds, attacker = whole.attacks
    blunt = with_(attacker, control_diagnostics={"converged": False})
    assert (blunt.is_converged, blunt.is_control_converged) == (True, False)
    between = (worlds.success.value + attacker.success.value) / 2
    assert between < attacker.success.value - 0.001
    assert held_against(whole, [worlds, blunt], "max_attacker_accuracy", between)[0] == "violated"
    assert held_against(whole, [worlds, blunt], "max_attacker_accuracy", 0.999)[0] == "passed"
    assert held_against(whole, [worlds, blunt], "max_attacker_gain", 0.999) == (
        "not tested",
        "sampling has not converged",
    )
    assert held_against(whole, [blunt], "max_attacker_gain", 0.999) == (
        "not tested",
        "sampling has not converged",
    )


def test_people_who_are_no_control_for_one_column_hide_no_gain_in_another(whole: Audit) -> None:
    leak = with_(whole.attacks[0], gain=Rate(0.4, 0.35, 0.45, 350))
    drift = with_(whole.attacks[0], column="pay", comparable=False)
    assert held_against(whole, [leak, drift], "max_attacker_gain", 0.1)[0] == "violated"
    outcome, reason = held_against(whole, [leak, drift], "max_attacker_gain", 0.9)
    assert (outcome, reason) == ("not tested", "the held-out people cannot serve as a control for pay")


def test_draws_that_waver_cannot_pass(whole: Audit) -> None:
    """Within 1.96 errors of the limit it is not tested, and what makes it so is said: few people, or few draws."""
    worlds, attacker = whole.attacks
    assert (worlds.error, worlds.control_error) == (0, 0)
    assert 0 < attacker.error <= 0.02
    assert 0 < attacker.control_error <= 0.02
    limit = attacker.success.value + 1.9 * attacker.error
    outcome, reason = held_against(whole, [attacker], "max_attacker_accuracy", limit)
    assert (outcome, "with this sampling error" in reason) == ("not tested", True)
    assert held_against(whole, [attacker], "max_attacker_accuracy", limit + attacker.error)[0] == "passed"
    few, rough = attacker, with_(attacker, control_error=0.2)
    high = few.gain.value + math.hypot(few.gain.high - few.gain.value, 1.96 * math.hypot(few.error, few.control_error))
    outcome, reason = held_against(whole, [few], "max_attacker_gain", high - 1e-6)
    assert (outcome, reason.partition(", it may be")[0]) == ("not tested", "with so few people")
    assert held_against(whole, [few], "max_attacker_gain", high + 1e-6)[0] == "passed"
    outcome, reason = held_against(whole, [rough], "max_attacker_gain", few.gain.value + 0.3)
    assert (outcome, "with this sampling error" in reason) == ("not tested", True)
    nobody_knows = Figure(0.01, high=math.nan, spread="by guess")
    assert apply({"max_attacker_gain": 0.05}, {"max_attacker_gain": nobody_knows})[0].outcome == "not tested"


def test_the_error_of_an_accuracy_is_what_repeated_runs_differ_by(tmp_path: Path) -> None:
    """Thirty runs tell a spread to 13 %. An accuracy jumps from person to person; 32 batches tell its error to about as much."""
    inside, outside = (dl.datasets.save_hospital(tmp_path, 150, seed, name=f"{seed}.csv") for seed in (1, 2))
    schema = Schema.load(tmp_path / "privacy.toml")
    cut = Anatomy(2).publish(Table(inside, schema), seed=0).release
    opened, people, control = open_together(cut, inside, outside, schema, kind=None, engine=None)
    assert people is not None
    effort = Effort(mcse=0.03, relative=0.5, sweeps=10)
    runs = [
        attack(Attacker(effort=effort), opened, "disease", people, control, np.random.default_rng(seed))
        for seed in range(30)
    ]
    for value, error in (("success", "error"), ("control", "control_error")):
        spread = float(np.std([getattr(run, value).value for run in runs], ddof=1))
        told = float(np.mean([getattr(run, error) for run in runs]))
        assert spread > 0
        assert 0.5 < told / spread < 2


def test_sampled_without_draws_nobody_can_tell_the_error(whole: Audit) -> None:
    belief: Belief = dataclasses.replace(whole.attacks[1].belief, replicates=None)
    assert accuracy_error(belief, np.zeros(len(belief), dtype=np.int32), np.ones(len(belief))) == math.inf


def test_what_was_learnt_answers_for_others_as_an_attack_of_its_own_does(
    hospital: Hospital, cut: Release, whole: Audit
) -> None:
    """The control is answered from the posterior that the people were: no further draws, and the same within their errors."""
    own = Attacker(effort=SHARP).attack(cut, control_of(hospital, cut), column="disease", rng=np.random.default_rng(5))
    threat = whole.threats["disease"]
    shared = Attacker(effort=SHARP).taught(threat.posterior, control_of(hospital, cut))
    both = np.hypot(own.stderr, shared.stderr)
    assert np.array_equal(own.matched, shared.matched)
    off = np.abs(own.posterior - shared.posterior)[own.matched] / np.maximum(both[own.matched], 1e-3)
    assert off.max() < 6  # some thousand numbers: five errors off come once in two million
    assert np.median(off) < 1.5


def control_of(hospital: Hospital, cut: Release) -> Targets:
    _, _, control = open_together(
        cut, hospital.table, hospital.holdout, Schema.load(hospital.schema), kind=None, engine=None
    )
    assert control is not None
    assert control.release is cut  # values of held-out people are all declared
    return control.people.targets


def test_the_command_ends_with_3_where_something_was_stopped(
    hospital: Hospital,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from dalenius.cli import app

    Anatomy(2).publish(dl.Table(hospital.table, hospital.schema), seed=0).write(tmp_path / "cut")
    command = ["audit", str(tmp_path / "cut"), "--truth", str(hospital.table), "--schema", str(hospital.schema)]
    assert app.run(command) == 0
    sample = dl.adversaries.models.learning.sample  # type: ignore[attr-defined]

    def stopped(*arguments: Any, **options: Any) -> Any:
        def enough(*_: object) -> None:
            raise KeyboardInterrupt

        return sample(*arguments, **{**options, "progress": enough})

    monkeypatch.setattr("dalenius.adversaries.models.learning.sample", stopped)
    capsys.readouterr()
    assert app.run(command) == 3
    assert "NOT CONVERGED" in capsys.readouterr().out
