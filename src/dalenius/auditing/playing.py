"""The second step of an audit: every registered adversary, on every sensitive column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeGuard

import numpy as np

from dalenius.adversaries import ADVERSARIES, Adversary
from dalenius.adversaries.models.learning import Learning
from dalenius.adversaries.models.sampling import Effort
from dalenius.auditing.at_risk import AtRisk, most_at_risk, worst_of_all
from dalenius.auditing.attacks import Attack, attack, attack_unseen
from dalenius.auditing.opening import Opening
from dalenius.auditing.people import Control, People
from dalenius.auditing.threat import RelativeThreats, relative_threats
from dalenius.schema import Schema

__all__ = [
    "MAX_PEOPLE_SWEEPS",
    "MAX_SAMPLED_PEOPLE",
    "ROUGH_MCSE",
    "SAMPLED_THRESHOLDS",
    "SHARP_THRESHOLDS",
    "NotTried",
    "Play",
    "Tell",
    "compares_with_learner",
    "effort_for",
    "play",
]

Tell = Callable[[str], None]

ROUGH_MCSE = 0.02  # precise enough to see how often an attacker is right, if nothing more precise is requested
MAX_PEOPLE_SWEEPS = 25_000_000  # people times sweeps of a chain; at least 2,000 sweeps are allowed in any case
MAX_SAMPLED_PEOPLE = 50_000  # in a release that cuts links, up to which sampling needs no request
SHARP_THRESHOLDS = ("max_relative_threat", "min_faithfulness")  # thresholds that need precise sampling
SAMPLED_THRESHOLDS = (*SHARP_THRESHOLDS, "max_attacker_accuracy", "max_attacker_gain")  # thresholds that need sampling


@dataclass(frozen=True, slots=True)
class NotTried:
    """An adversary that was not tried, and why."""

    name: str
    reason: str
    applies: bool  # whether the release offers what it needs
    is_general: bool  # whether it attacks published rows, so that a reader expects it
    is_relative: bool  # whether relative threats depend on it


@dataclass(frozen=True, slots=True, eq=False)
class Play:
    """What each adversary achieved, and which were not tried."""

    attacks: tuple[Attack, ...]
    at_risk: tuple[AtRisk, ...]
    threats: dict[str, RelativeThreats]  # by sensitive column
    not_tried: tuple[NotTried, ...]

    @property
    def refused(self) -> dict[str, str]:
        """Return adversaries that a reader would expect, and why they were not tried. Relative threats are reported separately."""
        return {
            each.name: each.reason
            for each in self.not_tried
            if not each.is_relative and (each.applies or each.is_general)
        }

    @property
    def no_threats_reason(self) -> str:
        """Return why there are no relative threats."""
        return "" if self.threats else next((each.reason for each in self.not_tried if each.is_relative), "")

    @property
    def is_interrupted(self) -> bool:
        """Return whether sampling was interrupted."""
        return any(attack.interrupted for attack in self.attacks)

    @property
    def is_converged(self) -> bool:
        """Return whether everything that was sampled has converged."""
        return all(threats.converged for threats in self.threats.values()) and all(
            attack.is_control_converged for attack in self.attacks
        )

    @property
    def attacker_missing(self) -> str:
        """Return why no adversary that learns from the release was tried, although one applies."""
        return self.no_threats_reason if any(each.is_relative and each.applies for each in self.not_tried) else ""


def play(opening: Opening, schema: Schema, rng: np.random.Generator, *, effort: Effort | None, progress: Tell) -> Play:
    """Try every adversary that audits use on every sensitive column that the release says something about.

    Without an `effort`, the schema's policy decides how precise sampling must be.
    """
    stage = _Stage(opening, schema, rng, effort, progress)
    for adversary_class in ADVERSARIES.values():
        if adversary_class.is_audited:
            stage.play(adversary_class.with_effort(stage.used_effort))
    people = opening.people
    return Play(
        attacks=tuple(stage.attacks),
        at_risk=() if people is None else worst_of_all(stage.at_risk, people),
        threats=stage.threats,
        not_tried=tuple(stage.not_tried),
    )


def effort_for(schema: Schema, effort: Effort | None, people: int) -> Effort:
    """Return how long to sample: as requested, else as the policy needs, else until the result is roughly known."""
    if effort is not None:
        return effort
    usual = Effort()
    if any(schema.policy.get(key) is not None for key in SHARP_THRESHOLDS):
        return usual
    most = min(max(MAX_PEOPLE_SWEEPS // max(people, 1), 2_000), usual.most_sweeps)
    return Effort(mcse=ROUGH_MCSE, relative=0.5, most_sweeps=most)


@dataclass(slots=True, eq=False)
class _Stage:
    """Adversaries are tried here one after the other. What one of them learnt is kept."""

    opening: Opening
    schema: Schema
    rng: np.random.Generator
    effort: Effort | None  # as requested
    progress: Tell
    attacks: list[Attack] = field(default_factory=list)
    at_risk: list[AtRisk] = field(default_factory=list)
    threats: dict[str, RelativeThreats] = field(default_factory=dict)
    not_tried: list[NotTried] = field(default_factory=list)

    @property
    def used_effort(self) -> Effort:
        people = self.opening.people
        return effort_for(self.schema, self.effort, 0 if people is None else people.count)

    def play(self, adversary: Adversary) -> None:
        opening = self.opening
        reason = self._reason(adversary)
        if reason is not None:
            applies = adversary.applies(opening.release)
            general, relative = "rows" in adversary.needs, adversary.baseline_is_learner
            self.not_tried.append(NotTried(adversary.name, reason, applies, general, relative))
            return
        people, control = opening.people, opening.control
        if people is None:
            self.attacks += [self._unseen(adversary, column) for column in opening.attacked]
            return
        # Before the control is attacked: what was learnt about the people also applies to others.
        if compares_with_learner(adversary):
            self.threats |= {column: self._threats(adversary, column, people) for column in opening.attacked}
        for column in opening.attacked:
            self.progress(f"{adversary.name} on {column}")
            result = self._attack(adversary, column, people, control)
            self.attacks.append(result)
            self._find_most_at_risk(result, adversary, people)

    def _reason(self, adversary: Adversary) -> str | None:
        """Return why an adversary is not tried; None if it is."""
        release, people = self.opening.release, self.opening.people
        if adversary.baseline_is_learner:
            if people is None:
                return "they need the original table (--truth)"
            if not adversary.applies(release):
                return f"a release of kind {release.kind!r} has neither labels nor tuples"
        reason = adversary.refusal(release)
        if reason is not None:
            return reason
        if people is None and self.opening.classes is None:
            return "without the original table there is nobody to attack"
        if not self._may_sample() and not all(adversary.is_exact(release, name) for name in self.opening.attacked):
            return "it has no exact answer for this release; --mcse 0.005 samples it, which may take minutes"
        return None

    def _may_sample(self) -> bool:
        """Return whether sampling was requested, or the release cuts links and is small."""
        if self.effort is not None or any(self.schema.policy.get(key) is not None for key in SAMPLED_THRESHOLDS):
            return True
        links = self.opening.release.links()
        return links is not None and links.people <= MAX_SAMPLED_PEOPLE

    def _unseen(self, adversary: Adversary, column: str) -> Attack:
        self.progress(f"{adversary.name} on {column}")
        return attack_unseen(adversary, self.opening.release, column, self.rng)

    def _threats(self, adversary: Learning, column: str, people: People) -> RelativeThreats:
        what, show = f"learner and {adversary.name} on {column}", self.progress

        # Without `self`: the threats keep this function, and a reference cycle would keep the database open after the audit.
        def progress(sweeps: int, worst: float, rhat: float) -> None:
            show(f"{what}: {sweeps:,} sweeps, largest error {worst:.4f}, R-hat {rhat:.3f}")

        show(what)
        return relative_threats(
            self.opening.release, people, column, self.rng, effort=adversary.effort, progress=progress,
            attacker=type(adversary), table=self.opening.truth,
        )  # fmt: skip

    def _attack(self, adversary: Adversary, column: str, people: People, control: Control | None) -> Attack:
        release, belief, outside = self.opening.release, None, None
        if adversary.baseline_is_learner:
            threats = self.threats[column]
            belief = threats.belief
            if control is not None and control.release is release:
                outside = threats.about(control.people.targets)
        return attack(
            adversary, release, column, people, control, self.rng,
            belief=belief, outside=outside, grouped_people=self.opening.grouped_people,
        )  # fmt: skip

    def _find_most_at_risk(self, result: Attack, adversary: Adversary, people: People) -> None:
        """Find the people most at risk, unless the adversary samples, which is slow, or there are no classes."""
        if self.opening.classes is None or adversary.samples:
            return
        self.progress("people most at risk")
        self.at_risk += most_at_risk(result, adversary, self.opening.release, people, self.rng)


def compares_with_learner(adversary: Adversary) -> TypeGuard[Learning]:
    """Return whether its baseline is what a learner believes, so that relative threats can be measured."""
    return isinstance(adversary, Learning) and adversary.baseline_is_learner
