"""The second room of an audit: every adversary that is registered, on every sensitive column."""

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

Tell = Callable[[str], None]

ROUGH_MCSE = 0.02  # that lets see how often an attacker is right, where nothing sharper is asked for
MAX_PEOPLE_SWEEPS = 25_000_000  # people times sweeps of a chain that it may take, but 2,000 sweeps in any case
MAX_SAMPLED_PEOPLE = 50_000  # of a release that cuts links, for whom is sampled without being asked for
SHARP = ("max_relative_threat", "min_faithfulness")  # thresholds that sampling must be sharp for
SAMPLED = (*SHARP, "max_attacker_accuracy", "max_attacker_gain")  # thresholds that ask for sampling


@dataclass(frozen=True, slots=True)
class Unplayed:
    """An adversary that was not played, and why."""

    name: str
    reason: str
    applies: bool  # the release offers what it needs
    is_general: bool  # it attacks published rows, so that a reader expects it
    is_relative: bool  # relative threats are made of it


@dataclass(frozen=True, slots=True, eq=False)
class Play:
    """What each adversary achieved, and who was not played."""

    attacks: tuple[Attack, ...]
    at_risk: tuple[AtRisk, ...]
    threats: dict[str, RelativeThreats]  # by sensitive column
    unplayed: tuple[Unplayed, ...]

    @property
    def refused(self) -> dict[str, str]:
        """Adversaries that a reader would expect, and why they were not played; relative threats are told apart."""
        return {
            one.name: one.reason for one in self.unplayed if not one.is_relative and (one.applies or one.is_general)
        }

    @property
    def unthreatened(self) -> str:
        """Why there are no relative threats."""
        return "" if self.threats else next((one.reason for one in self.unplayed if one.is_relative), "")

    @property
    def is_interrupted(self) -> bool:
        """Whether somebody stopped the sampling."""
        return any(one.interrupted for one in self.attacks)

    @property
    def is_settled(self) -> bool:
        """Whether everything that was sampled has converged."""
        return all(one.converged for one in self.threats.values()) and all(one.control_settled for one in self.attacks)

    @property
    def attacker_missing(self) -> str:
        """Why nobody was played who learns from the release, though somebody could."""
        return self.unthreatened if any(one.is_relative and one.applies for one in self.unplayed) else ""


def play(opening: Opening, schema: Schema, rng: np.random.Generator, *, effort: Effort | None, progress: Tell) -> Play:
    """Play every adversary that audits play, on every sensitive column that the release says something about.

    The schema's policy says how sharp sampling must be where no `effort` is given.
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
        unplayed=tuple(stage.unplayed),
    )


def effort_for(schema: Schema, effort: Effort | None, people: int) -> Effort:
    """How long to sample: as long as is asked for, else as long as the policy needs, else until it is seen roughly."""
    if effort is not None:
        return effort
    usual = Effort()
    if any(schema.policy.get(key) is not None for key in SHARP):
        return usual
    most = min(max(MAX_PEOPLE_SWEEPS // max(people, 1), 2_000), usual.most_sweeps)
    return Effort(mcse=ROUGH_MCSE, relative=0.5, most_sweeps=most)


@dataclass(slots=True, eq=False)
class _Stage:
    """Where adversaries are played one after the other; what one of them learnt is kept here."""

    opening: Opening
    schema: Schema
    rng: np.random.Generator
    effort: Effort | None  # that was asked for
    progress: Tell
    attacks: list[Attack] = field(default_factory=list)
    at_risk: list[AtRisk] = field(default_factory=list)
    threats: dict[str, RelativeThreats] = field(default_factory=dict)
    unplayed: list[Unplayed] = field(default_factory=list)

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
            self.unplayed.append(Unplayed(adversary.name, reason, applies, general, relative))
            return
        people, control = opening.people, opening.control
        if people is None:
            self.attacks += [self._unseen(adversary, column) for column in opening.attacked]
            return
        # Before anybody is held against the control: what was learnt of the people answers for others, too.
        if compares_with_learner(adversary):
            self.threats |= {column: self._threats(adversary, column, people) for column in opening.attacked}
        for column in opening.attacked:
            self.progress(f"{adversary.name} on {column}")
            found = self._attack(adversary, column, people, control)
            self.attacks.append(found)
            self._find_most_at_risk(found, adversary, people)

    def _reason(self, adversary: Adversary) -> str | None:
        """Why an adversary is not played, or nothing."""
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
            return "without the original table there is nobody to try it on"
        if not self._may_sample() and not all(adversary.is_exact(release, name) for name in self.opening.attacked):
            return "this release has no exact answer; --mcse 0.005 has it sampled, which may take minutes"
        return None

    def _may_sample(self) -> bool:
        """Whether somebody asked for sampling, or the release cuts links and is small."""
        if self.effort is not None or any(self.schema.policy.get(key) is not None for key in SAMPLED):
            return True
        links = self.opening.release.links()
        return links is not None and links.people <= MAX_SAMPLED_PEOPLE

    def _unseen(self, adversary: Adversary, column: str) -> Attack:
        self.progress(f"{adversary.name} on {column}")
        return attack_unseen(adversary, self.opening.release, column, self.rng)

    def _threats(self, adversary: Learning, column: str, people: People) -> RelativeThreats:
        what, show = f"learner and {adversary.name} on {column}", self.progress

        # Not by `self`: the threats keep it, and a circle would keep the engine's database open after the audit.
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
            belief=belief, outside=outside, located=self.opening.located,
        )  # fmt: skip

    def _find_most_at_risk(self, found: Attack, adversary: Adversary, people: People) -> None:
        """Not by who samples, which would take long again; nor without classes, where all is about everybody alike."""
        if self.opening.classes is None or adversary.samples:
            return
        self.progress("people most at risk")
        self.at_risk += most_at_risk(found, adversary, self.opening.release, people, self.rng)


def compares_with_learner(adversary: Adversary) -> TypeGuard[Learning]:
    """Whether its baseline is what a learner believes, so that relative threats can be measured."""
    return isinstance(adversary, Learning) and adversary.baseline_is_learner
