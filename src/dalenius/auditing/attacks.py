"""One attack with its rates: in the release, naive, on the control, and the verdict on their difference."""

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
from dalenius.auditing.groups import control_in_groups, right_group
from dalenius.auditing.people import Control, People, plausible_people
from dalenius.auditing.secrets import Secret
from dalenius.auditing.threat import accuracy_error
from dalenius.belief import Belief
from dalenius.measures import accuracy
from dalenius.measures.accuracy import Bin, Confidence, Rate, Shift, Verdict
from dalenius.releases import Release

__all__ = ["GAIN_FORMULA", "RESIDUAL_FORMULA", "Attack", "attack", "attack_unseen", "rates"]

GAIN_FORMULA = "gain = success in the release − success on the control"
RESIDUAL_FORMULA = "residual risk = (success − control) / (1 − control)"


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """What one adversary achieves on one sensitive column. Without the truth, rates are undefined."""

    adversary: str
    column: str
    belief: Belief
    success: Rate
    success_assumed: Rate  # assuming that a person who fits a class is not suppressed
    naive: Rate
    control: Rate
    control_kind: str
    control_naive: float
    control_breach: float
    control_unmatched: int
    comparable: bool
    shift: Shift  # by how much the share of the most common value differs among held-out people
    gain: Rate
    verdict: Verdict
    confidence: Confidence
    perfect_breach: float  # assuming that people who fit a class are not suppressed
    perfect_breach_sure: float  # in any case
    high_confidence: Rate
    calibration: tuple[Bin, ...]
    unmatched: int
    missing: int  # people without a value, who are not counted
    control_diagnostics: Mapping[str, Any] = field(default_factory=dict)
    right_group: Rate = field(
        default_factory=Rate.undefined
    )  # how often the nearest centroid is that of the person's own group
    error: float = 0.0  # Monte-Carlo error of the success; 0 if it is exact
    control_error: float = 0.0

    @property
    def is_converged(self) -> bool:
        """Return whether the sampled beliefs about the people have converged. Otherwise nothing is concluded from them."""
        return _are_converged(self.belief.diagnostics)

    @property
    def is_control_converged(self) -> bool:
        """Return whether those about the control have converged, too, so that the gain is reliable."""
        return _are_converged(self.belief.diagnostics, self.control_diagnostics)

    @property
    def lower_bound(self) -> bool:
        """Return whether people of the table fit no class. The adversary guesses them like anybody, and another might do better."""
        return self.unmatched > 0 and self.success.n > 0

    @property
    def gain_lower_bound(self) -> bool:
        """Return whether the gain is a lower bound, too. It is not if held-out people fit no class either."""
        return self.lower_bound and self.gain.n > 0 and not self.control_unmatched

    @property
    def interrupted(self) -> bool:
        return any(
            diagnostics.get("interrupted", False) for diagnostics in (self.belief.diagnostics, self.control_diagnostics)
        )

    @property
    def calibration_document(self) -> list[dict[str, Any]]:
        return [asdict(step) for step in self.calibration]

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
    grouped_people: People | None = None,
) -> Attack:
    """Attack the people of the table, and the held-out ones as if they were in it.

    `belief` and `outside` are the beliefs about the former and the latter, if they are known already. `grouped_people` are the
    people of the table with their own groups, if these are known.
    """
    if holdout is not None and people.targets.group is not None and adversary.knows_group:
        holdout = control_in_groups(holdout)
    if belief is None:
        belief = adversary.attack(release, people.targets, column=column, rng=rng)
    if belief.diagnostics.get("interrupted", False):
        holdout = None  # an interrupted run ends at once
    others = _Outside() if holdout is None else _on_control(adversary, column, holdout, rng, outside)
    truth = people.truth(column)
    secret = Secret.of(people.targets.schema, belief.column)
    believed, counts = secret.believed(belief), secret.people(truth, people.people)
    success = accuracy.success(believed.answer, truth, counts)
    assumed = success
    if believed.unless_suppressed is not None:
        assumed = accuracy.success(
            np.where(believed.matched[:, None], believed.assumed, believed.baseline), truth, counts
        )
    naive = accuracy.naive(secret.counts(_values(release, column)), truth, counts)
    breach, sure_breach = (
        _breach(believed.assumed, believed, truth, counts),
        _breach(believed.posterior, believed, truth, counts),
    )
    # People drawn by `split` are comparable by design, whatever the sample looks like.
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
            comparable=comparable and _are_converged(belief.diagnostics, others.diagnostics),
            shift=shift.most,
        ),
        confidence=accuracy.confidence(believed.posterior, counts, believed.assumed),
        perfect_breach=breach.value,
        perfect_breach_sure=sure_breach.value,
        high_confidence=accuracy.high_confidence(believed.posterior, truth, counts, said=believed.guess),
        calibration=accuracy.calibration(believed.posterior, truth, counts, said=believed.guess),
        unmatched=round(float(counts[~believed.matched].sum())),
        missing=secret.without(truth, people.people),
        control_diagnostics=others.diagnostics,
        right_group=_right_group(adversary, release, grouped_people),
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
    believed, counts = secret.believed(belief), secret.people(truth, others.people)
    return _Outside(
        kind="held-out people",
        success=accuracy.success(believed.answer, truth, counts),
        naive=accuracy.naive(secret.counts(_values(holdout.release, column)), truth, counts),
        breach=_breach(believed.assumed, believed, truth, counts),
        unmatched=round(float(counts[~believed.matched].sum())),
        error=accuracy_error(belief, truth, others.people, secret),
        diagnostics=belief.diagnostics,
    )


def _breach(posterior: Floats, belief: Belief, truth: Ints, people: NDArray[Any]) -> Rate:
    """Return how many people's values are known for certain; undefined for sampled beliefs.

    Draws that all agree are not certain: under the prior of a sampler, nothing is impossible that random worlds allows.
    """
    if belief.method == "sampled":
        return Rate.undefined()
    return accuracy.breach_rate(posterior, truth, people)


def _right_group(adversary: Adversary, release: Release, grouped_people: People | None) -> Rate:
    """Return how often an adversary who looks for a person finds the person's own group."""
    centres = release.centres()
    if "centres" not in adversary.needs or centres is None or grouped_people is None:
        return Rate.undefined()
    return accuracy.rate(*right_group(centres, grouped_people))


def _are_converged(*diagnostics: Mapping[str, Any]) -> bool:
    return all(part.get("converged", True) and not part.get("interrupted", False) for part in diagnostics)


def rates(rated: Attack, release: Release, people: People) -> dict[str, Any]:
    """Return how often an adversary is right, and the rates to compare that with. Every rate has its interval."""
    worlds = Rate.undefined()
    if RandomWorlds().refusal(release) is None:
        belief = RandomWorlds().attack(release, people.targets, column=rated.column)
        secret, truth = Secret.of(people.targets.schema, belief.column), people.truth(rated.column)
        worlds = accuracy.success(secret.believed(belief).answer, truth, secret.people(truth, people.people))
    rates_by_name = {
        "success": rated.success,
        "holdout_success": rated.control,
        "naive": rated.naive,
        "random_worlds": worlds,
        "gain": rated.gain,
        "high_confidence": rated.high_confidence,
        "right_group": rated.right_group,
    }
    return {
        **{name: asdict(rate) for name, rate in rates_by_name.items()},
        "verdict": rated.verdict,
        "comparable": rated.comparable,
        "shift": rated.shift.least,
        "shift_at_most": rated.shift.most,
        "lower_bound": rated.lower_bound,
        "gain_lower_bound": rated.gain_lower_bound,
        "missing": rated.missing,
        "people_unmatched": rated.unmatched,
        "holdout_unmatched": rated.control_unmatched,
        "calibration": rated.calibration_document,
    }


def attack_unseen(adversary: Adversary, release: Release, column: str, rng: np.random.Generator) -> Attack:
    """Return how sure the adversary would be about people whom the release may be about, without the truth."""
    classes = required(release.classes(), release)
    targets, people = plausible_people(classes, rng)
    belief = adversary.attack(release, targets, column=column, rng=rng)
    secret = Secret.of(release.schema, belief.column)
    believed, table = secret.believed(belief), classes.grouping(column).table
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
        confidence=accuracy.confidence(believed.posterior, people * secret.chance(belief.posterior), believed.assumed),
        perfect_breach=float("nan"),
        perfect_breach_sure=float("nan"),
        high_confidence=nobody,
        calibration=(),
        unmatched=int(people[~belief.matched].sum()),
        missing=secret.without(np.arange(len(table), dtype=np.int32), table),
    )


def _values(release: Release, column: str) -> NDArray[Any]:
    """Return how often each value occurs in the release, or the share that its noisy counts give it."""
    classes = release.classes()
    return shares(required(release.counts(), release)) if classes is None else classes.grouping(column).table
