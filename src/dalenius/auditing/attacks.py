"""One attack with its rates: in the release, naive, on the control, and what the difference says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.adversaries import Adversary, RandomWorlds
from dalenius.adversaries.evidence import required
from dalenius.adversaries.models.count_classifier import shares
from dalenius.arrays import Floats, Ints
from dalenius.auditing.groups import in_place, right_group
from dalenius.auditing.people import Control, People, plausible_people
from dalenius.auditing.secrets import Secret
from dalenius.auditing.threat import accuracy_error
from dalenius.belief import Belief
from dalenius.measures import accuracy
from dalenius.measures.accuracy import Bin, Confidence, Rate, Shift, Verdict
from dalenius.releases import Release

GAIN_FORMULA = "gain = success in the release − success on the control"
RESIDUAL_FORMULA = "residual risk = (success − control) / (1 − control)"


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """What one adversary achieves on one sensitive column. Rates without the truth are undefined."""

    adversary: str
    column: str
    belief: Belief
    success: Rate
    success_assumed: Rate  # of whoever assumes that a person who fits a class is not suppressed
    naive: Rate
    control: Rate
    control_kind: str
    control_naive: float
    control_breach: float
    control_unmatched: int
    comparable: bool
    shift: Shift  # by how much held-out people differ, in the share of the commonest value
    gain: Rate
    verdict: Verdict
    confidence: Confidence
    perfect_breach: float  # of people assumed not to be suppressed if they fit a class
    perfect_breach_sure: float  # in any case
    high_confidence: Rate
    calibration: tuple[Bin, ...]
    unmatched: int
    missing: int  # people without a value, who are not counted
    control_diagnostics: Mapping[str, Any] = field(default_factory=dict)
    right_group: Rate = field(default_factory=Rate.undefined)  # the nearest centroid is that of the person's own group
    error: float = 0.0  # Monte-Carlo error of the success; 0 if it is exact
    control_error: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether what was sampled of the people has converged: of numbers that are not to be relied on nothing is concluded."""
        return _settled(self.belief.diagnostics)

    @property
    def control_settled(self) -> bool:
        """The same of the control, too: then its gain may be relied on."""
        return _settled(self.belief.diagnostics, self.control_diagnostics)

    @property
    def lower_bound(self) -> bool:
        """Whether people of the table fit no class: the adversary guesses them as anybody, and another one might do better."""
        return self.unmatched > 0 and self.success.n > 0

    @property
    def gain_lower_bound(self) -> bool:
        """Whether the same holds of the gain: not if held-out people fit no class either, who might be guessed better, too."""
        return self.lower_bound and self.gain.n > 0 and not self.control_unmatched

    @property
    def interrupted(self) -> bool:
        return any(told.get("interrupted", False) for told in (self.belief.diagnostics, self.control_diagnostics))

    @property
    def calibration_document(self) -> list[dict[str, Any]]:
        return [asdict(one) for one in self.calibration]

    @property
    def residual(self) -> float:
        if self.control.n == 0 or self.control.value >= 1:
            return float("nan")
        return (self.success.value - self.control.value) / (1 - self.control.value)


@dataclass(frozen=True, slots=True, eq=False)
class _Outside:
    """What an adversary achieves on people who are not in the release."""

    kind: str = "none"
    success: Rate = field(default_factory=Rate.undefined)
    naive: Rate = field(default_factory=Rate.undefined)
    breach: Rate = field(default_factory=Rate.undefined)
    unmatched: int = 0
    error: float = 0.0
    diagnostics: Mapping[str, Any] = field(default_factory=dict)


def attack(
    adversary: Adversary,
    release: Release,
    column: str,
    people: People,
    holdout: Control | None,
    rng: np.random.Generator,
    belief: Belief | None = None,
    outside: Belief | None = None,
    located: People | None = None,
) -> Attack:
    """Attack the people of the table, and the held-out ones as if they were in it.

    `belief` and `outside` are what is believed of the former and the latter, where that is known already; `located` are the
    people of the table with their own groups, where these are known.
    """
    if holdout is not None and people.targets.group is not None and adversary.knows_group:
        holdout = in_place(holdout)
    if belief is None:
        belief = adversary.attack(release, people.targets, column=column, rng=rng)
    if belief.diagnostics.get("interrupted", False):
        holdout = None  # whoever stops it waits for nothing more
    others = _Outside() if holdout is None else _on_control(adversary, column, holdout, rng, outside)
    truth = people.truth(column)
    secret = Secret.of(people.targets.schema, belief.column)
    told, counts = secret.believed(belief), secret.people(truth, people.people)
    success = accuracy.success(told.answer, truth, counts)
    assumed = success
    if told.unless_suppressed is not None:
        assumed = accuracy.success(np.where(told.matched[:, None], told.assumed, told.baseline), truth, counts)
    naive = accuracy.naive(secret.counts(_values(release, column)), truth, counts)
    breach, sure_breach = _breach(told.assumed, told, truth, counts), _breach(told.posterior, told, truth, counts)
    # People whom `split` drew are like the others, however chance had it.
    shift = Shift() if holdout is None or holdout.drawn else Shift.between(naive, others.naive)
    person_gain = accuracy.gain(success, others.success)
    comparable = shift.least <= accuracy.MARGIN
    return Attack(
        adversary=adversary.name,
        column=column,
        belief=belief,
        success=success,
        success_assumed=assumed,
        naive=naive,
        control=others.success,
        control_kind=others.kind,
        control_naive=others.naive.value,
        control_breach=others.breach.value,
        control_unmatched=others.unmatched,
        comparable=comparable,
        shift=shift,
        gain=person_gain,
        verdict=accuracy.judge(
            person_gain,
            accuracy.gain(breach, others.breach),
            comparable=comparable and _settled(belief.diagnostics, others.diagnostics),
            shift=shift.most,
        ),
        confidence=accuracy.confidence(told.posterior, counts, told.assumed),
        perfect_breach=breach.value,
        perfect_breach_sure=sure_breach.value,
        high_confidence=accuracy.high_confidence(told.posterior, truth, counts, said=told.guess),
        calibration=accuracy.calibration(told.posterior, truth, counts, said=told.guess),
        unmatched=round(float(counts[~told.matched].sum())),
        missing=secret.without(truth, people.people),
        control_diagnostics=others.diagnostics,
        right_group=_right_group(adversary, release, located),
        error=accuracy_error(belief, truth, people.people, secret),
        control_error=others.error,
    )


def _on_control(
    adversary: Adversary, column: str, holdout: Control, rng: np.random.Generator, belief: Belief | None
) -> _Outside:
    """Attack held-out people as if they were in the release."""
    others = holdout.people
    if belief is None:
        belief = adversary.attack(holdout.release, others.targets, column=column, rng=rng)
    truth = others.truth(column)
    secret = Secret.of(others.targets.schema, belief.column)
    told, counts = secret.believed(belief), secret.people(truth, others.people)
    return _Outside(
        kind="held-out people",
        success=accuracy.success(told.answer, truth, counts),
        naive=accuracy.naive(secret.counts(_values(holdout.release, column)), truth, counts),
        breach=_breach(told.assumed, told, truth, counts),
        unmatched=round(float(counts[~told.matched].sum())),
        error=accuracy_error(belief, truth, others.people, secret),
        diagnostics=belief.diagnostics,
    )


def _breach(posterior: Floats, belief: Belief, truth: Ints, people: NDArray[Any]) -> Rate:
    """How many people's values are known for certain. Draws that all agree are not certain; whoever samples has a prior under
    which nothing that random worlds holds possible is impossible, so that nobody is forgotten."""
    if belief.method == "sampled":
        return Rate.undefined()
    return accuracy.breach_rate(posterior, truth, people)


def _right_group(adversary: Adversary, release: Release, located: People | None) -> Rate:
    """How often whoever looks for a person finds the person's own group."""
    centres = release.centres()
    if "centres" not in adversary.needs or centres is None or located is None:
        return Rate.undefined()
    return accuracy.rate(*right_group(centres, located))


def _settled(*diagnostics: Mapping[str, Any]) -> bool:
    return all(told.get("converged", True) and not told.get("interrupted", False) for told in diagnostics)


def rates(found: Attack, release: Release, people: People) -> dict[str, Any]:
    """How often one adversary is right, and what that is to be held against; every rate with its interval."""
    worlds = Rate.undefined()
    if RandomWorlds().refusal(release) is None:
        belief = RandomWorlds().attack(release, people.targets, column=found.column)
        secret, truth = Secret.of(people.targets.schema, belief.column), people.truth(found.column)
        worlds = accuracy.success(secret.believed(belief).answer, truth, secret.people(truth, people.people))
    named = {
        "success": found.success,
        "holdout_success": found.control,
        "naive": found.naive,
        "random_worlds": worlds,
        "gain": found.gain,
        "high_confidence": found.high_confidence,
        "right_group": found.right_group,
    }
    return {
        **{name: asdict(rate) for name, rate in named.items()},
        "verdict": found.verdict,
        "comparable": found.comparable,
        "shift": found.shift.least,
        "shift_at_most": found.shift.most,
        "lower_bound": found.lower_bound,
        "gain_lower_bound": found.gain_lower_bound,
        "missing": found.missing,
        "people_unmatched": found.unmatched,
        "holdout_unmatched": found.control_unmatched,
        "calibration": found.calibration_document,
    }


def attack_unseen(adversary: Adversary, release: Release, column: str, rng: np.random.Generator) -> Attack:
    """Without the truth: how sure the adversary would be of people whom the release may well be about."""
    classes = required(release.classes(), release)
    targets, people = plausible_people(classes, rng)
    belief = adversary.attack(release, targets, column=column, rng=rng)
    secret = Secret.of(release.schema, belief.column)
    told, table = secret.believed(belief), classes.grouping(column).table
    nobody = Rate.undefined()
    return Attack(
        adversary=adversary.name,
        column=column,
        belief=belief,
        success=nobody,
        success_assumed=nobody,
        naive=nobody,
        control=nobody,
        control_kind="none",
        control_naive=float("nan"),
        control_breach=float("nan"),
        control_unmatched=0,
        comparable=True,
        shift=Shift(),
        gain=nobody,
        verdict=accuracy.judge(nobody),
        confidence=accuracy.confidence(told.posterior, people * secret.chance(belief.posterior), told.assumed),
        perfect_breach=float("nan"),
        perfect_breach_sure=float("nan"),
        high_confidence=nobody,
        calibration=(),
        unmatched=int(people[~belief.matched].sum()),
        missing=secret.without(np.arange(len(table), dtype=np.int32), table),
    )


def _values(release: Release, column: str) -> NDArray[Any]:
    """How often each value occurs in the release, or what share its noisy counts give it."""
    classes = release.classes()
    return shares(required(release.counts(), release)) if classes is None else classes.grouping(column).table
