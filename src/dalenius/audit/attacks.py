"""One attack with its rates: in the release, naive, on the control, and what the difference says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import Adversary
from dalenius.audit.people import Control, People, plausible_people
from dalenius.belief import Belief
from dalenius.measure import accuracy
from dalenius.measure.accuracy import Bin, Confidence, Rate, Verdict
from dalenius.release import GroupedRelease, Release

GAIN_FORMULA = "gain = success in the release − success on the control"
RESIDUAL_FORMULA = "residual risk = (success − control) / (1 − control)"


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """What one adversary achieves on one sensitive column. Rates without the truth are undefined."""

    adversary: str
    column: str
    belief: Belief
    success: Rate
    naive: Rate
    control: Rate
    control_kind: str
    gain: Rate
    verdict: Verdict
    confidence: Confidence
    perfect_breach: float
    high_confidence: Rate
    calibration: tuple[Bin, ...]
    unmatched: int

    @property
    def residual(self) -> float:
        if self.control.n == 0 or self.control.value >= 1:
            return float("nan")
        return (self.success.value - self.control.value) / (1 - self.control.value)


def attack(
    adversary: Adversary,
    release: Release,
    column: str,
    people: People,
    holdout: Control | None,
    rng: np.random.Generator,
) -> Attack:
    """Attack the people of the table, and the held-out ones as if they were in it."""
    belief = adversary.attack(release, people.targets, column=column, rng=rng)
    truth = people.truth(column)
    success = accuracy.success(belief.posterior, truth, people.people)
    table = _values(release, column)
    control, kind = Rate.undefined(), "none"
    if holdout is not None:
        others = holdout.people
        outside = adversary.attack(holdout.release, others.targets, column=column, rng=rng)
        control = accuracy.success(outside.posterior, others.truth(column), others.people)
        kind = "held-out people"
    person_gain = accuracy.gain(success, control)
    return Attack(
        adversary=adversary.name,
        column=column,
        belief=belief,
        success=success,
        naive=accuracy.naive(table, truth, people.people),
        control=control,
        control_kind=kind,
        gain=person_gain,
        verdict=accuracy.judge(person_gain),
        confidence=accuracy.confidence(belief.posterior, people.people),
        perfect_breach=accuracy.perfect_breach(belief.posterior, truth, people.people),
        high_confidence=accuracy.high_confidence(belief.posterior, truth, people.people),
        calibration=accuracy.calibration(belief.posterior, truth, people.people),
        unmatched=int(people.people[~belief.matched].sum()),
    )


def attack_unseen(adversary: Adversary, release: GroupedRelease, column: str, rng: np.random.Generator) -> Attack:
    """Without the truth: how sure the adversary would be of people whom the release may well be about."""
    targets, people = plausible_people(release, rng)
    belief = adversary.attack(release, targets, column=column, rng=rng)
    nobody = Rate.undefined()
    return Attack(
        adversary=adversary.name,
        column=column,
        belief=belief,
        success=nobody,
        naive=nobody,
        control=nobody,
        control_kind="none",
        gain=nobody,
        verdict=accuracy.judge(nobody),
        confidence=accuracy.confidence(belief.posterior, people),
        perfect_breach=float("nan"),
        high_confidence=nobody,
        calibration=(),
        unmatched=int(people[~belief.matched].sum()),
    )


def _values(release: Release, column: str) -> NDArray[np.int64]:
    """How often each value occurs in the release."""
    assert isinstance(release, GroupedRelease)
    return release.grouping(column).table


@dataclass(frozen=True, slots=True)
class AtRisk:
    """A person of whom the adversary is right to be sure: rows, class, and the attribute that gives them away."""

    rows: tuple[int, ...]
    alike: int  # people with the same quasi-identifiers and value
    column: str
    belief: float
    baseline: float
    group: int  # −1: they fit several classes, or none because their row is suppressed
    group_size: int
    attribute: str
    belief_without: float
    value: str

    @property
    def level(self) -> str:
        """How sure the adversary is of the truth, in words: the figure itself could tell which value it is."""
        if self.belief >= 1 - 1e-9:
            return "certain"
        return "above 0.8" if self.belief > 0.8 else "above 0.5" if self.belief > 0.5 else "raised"

    @property
    def place(self) -> str:
        """The class as a reader sees it."""
        if self.group >= 0:
            return str(self.group)
        return "several" if self.group_size else "suppressed"

    def to_document(self, *, reveal: bool) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "rows": list(self.rows),
            "alike": self.alike,
            "sensitive": self.column,
            "level": self.level,
            "class": self.group,
            "class_size": self.group_size,
            "attribute": self.attribute,
        }
        if reveal:
            shown |= {
                "value": self.value,
                "belief": self.belief,
                "baseline": self.baseline,
                "belief_without_attribute": self.belief_without,
            }
        return shown


def most_at_risk(
    found: Attack, adversary: Adversary, release: Release, people: People, rng: np.random.Generator, *, limit: int
) -> list[AtRisk]:
    """The people whose true value is believed most, compared with the baseline; only those of whom more is believed."""
    assert isinstance(release, GroupedRelease)
    truth = people.truth(found.column)
    index = np.arange(len(truth))
    belief = np.nan_to_num(found.belief.posterior[index, truth])
    baseline = found.belief.baseline[index, truth]
    ratio = belief / np.maximum(baseline, 1e-300)
    order = np.lexsort((index, -belief, -ratio))
    order = order[ratio[order] > 1 + accuracy.TIE][:limit]
    worst = []
    for i in order.tolist():
        alone = type(people.targets)(people.targets.schema, people.targets.codes[i : i + 1])
        without = [
            float(adversary.attack(release, alone.without(a), column=found.column, rng=rng).posterior[0, truth[i]])
            for a in range(alone.codes.shape[1])
        ]
        a = int(np.argmin(without))
        group = release.locate(alone.codes[0])
        worst.append(
            AtRisk(
                rows=tuple(people.rows(i, limit=3)),
                alike=int(people.people[i]),
                column=found.column,
                belief=float(belief[i]),
                baseline=float(baseline[i]),
                group=group[0] if len(group) == 1 else -1,
                group_size=int(sum(release.sizes[g] for g in group)),
                attribute=people.targets.schema.quasi[a].name,
                belief_without=without[a],
                value=found.belief.column.leaves[truth[i]],
            )
        )
    return worst
