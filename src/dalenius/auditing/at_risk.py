"""The people most at risk: those about whom an adversary is most sure, and the attribute that gives them away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalenius.adversaries import Adversary, Targets
from dalenius.adversaries.evidence import required
from dalenius.adversaries.models.location import nearest_groups
from dalenius.arrays import Floats, Ints
from dalenius.auditing.attacks import Attack
from dalenius.auditing.people import People
from dalenius.auditing.secrets import Secret
from dalenius.coding import distinct_rows
from dalenius.measures import accuracy
from dalenius.releases import GroupedRelease, Release

__all__ = ["MAX_PEOPLE", "MAX_ROWS", "AtRisk", "most_at_risk", "worst_of_all"]

MAX_PEOPLE = 10  # listed by their rows
MAX_ROWS = 3  # listed for people with the same quasi-identifiers


@dataclass(frozen=True, slots=True)
class AtRisk:
    """People about whom the adversary is sure, rightly or not: rows, class, and the attribute that gives them away.

    They are chosen and described by what the adversary believes, never by the truth, so that the description does not reveal it.
    """

    rows: tuple[int, ...]
    alike: int  # people with the same quasi-identifiers
    column: str
    belief: float
    baseline: float
    group: int  # −1: they fit several classes, or none because their rows are suppressed
    group_size: int
    attribute: str
    belief_without: float
    value: str  # the value believed most
    right: int  # how many of them have it
    certain: bool = False  # assuming that people who fit a class are not suppressed
    codes: tuple[int, ...] = ()  # their quasi-identifiers, to look their rows up

    @property
    def level(self) -> str:
        """Return how sure the adversary is, in words, because the number could reveal the value."""
        if self.certain:
            return "certain"
        return "above 0.8" if self.belief > 0.8 else "above 0.5" if self.belief > 0.5 else "raised"

    @property
    def place(self) -> str:
        """Return the class as a reader sees it."""
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
                "right": self.right,
            }
        return shown


def most_at_risk(
    attack: Attack, adversary: Adversary, release: Release, people: People, rng: np.random.Generator
) -> list[AtRisk]:
    """Return the people about whom the adversary is most sure. Of equals, those it learns most about come first."""
    classes, targets, truth = required(release.classes(), release), people.targets, people.truth(attack.column)
    sizes = classes.sizes
    distinct, number = distinct_rows(targets.codes, [len(column.leaves) for column in targets.schema.quasi])
    first = np.searchsorted(number, np.arange(len(distinct)))  # people come sorted by their quasi-identifiers
    secret = Secret.of(targets.schema, attack.belief.column)
    believed = secret.believed(attack.belief)
    posterior, assumed = np.nan_to_num(believed.posterior[first]), np.nan_to_num(believed.assumed[first])
    certain = assumed.max(axis=1) >= 1 - accuracy.TIE
    best = np.where(certain, assumed.argmax(axis=1), posterior.argmax(axis=1))
    belief = posterior[np.arange(len(best)), best]
    baseline = np.nan_to_num(believed.baseline[first, best])
    ratio = np.where(certain, 1.0, belief) / np.maximum(baseline, 1e-300)
    order = np.lexsort((np.arange(len(best)), -ratio, -np.round(belief, 12), ~certain))
    order = order[ratio[order] > 1 + accuracy.TIE][:MAX_PEOPLE]
    if not len(order):
        return []
    without = _without_each(adversary, release, Targets(targets.schema, distinct[order]), attack.column, secret, rng)
    worst = []
    for i, beliefs in zip(order.tolist(), without, strict=True):
        a = int(np.argmin(beliefs[:, best[i]]))
        group = _places(classes, distinct[i])
        is_alike = number == i
        worst.append(
            AtRisk(
                rows=(),
                alike=int(people.people[is_alike].sum()),
                column=attack.column,
                belief=float(belief[i]),
                baseline=float(baseline[i]),
                group=group[0] if len(group) == 1 else -1,
                group_size=int(sum(sizes[g] for g in group)),
                attribute=targets.schema.quasi[a].name,
                belief_without=float(beliefs[a, best[i]]),
                value=attack.belief.column.leaves[best[i]],
                right=int(people.people[is_alike & (truth == best[i])].sum()),
                certain=bool(certain[i]),
                codes=tuple(distinct[i].tolist()),
            )
        )
    return worst


def worst_of_all(at_risk: Iterable[AtRisk], people: People) -> tuple[AtRisk, ...]:
    """Return those most at risk from any adversary, with the numbers of their rows."""
    order = sorted(
        at_risk,
        key=lambda person: (
            not person.certain,
            -round(person.belief, 12),
            -person.belief / max(person.baseline, 1e-300),
        ),
    )
    return tuple(
        replace(person, rows=tuple(people.rows(np.array(person.codes, dtype=np.int32), limit=MAX_ROWS)))
        for person in order[:MAX_PEOPLE]
    )


def _without_each(
    adversary: Adversary,
    release: Release,
    targets: Targets,
    column: str,
    secret: Secret,
    rng: np.random.Generator,
) -> Floats:
    """Return the belief about each target without each attribute, [target, attribute, value], from one attack."""
    attributes = range(targets.codes.shape[1])
    codes = np.stack([targets.without(a).codes for a in attributes], axis=1)
    belief = adversary.attack(
        release, Targets(targets.schema, codes.reshape(-1, len(attributes))), column=column, rng=rng
    )
    return secret.believed(belief).posterior.reshape(len(targets), len(attributes), -1)


def _places(release: GroupedRelease, codes: Ints) -> list[int]:
    """Return the classes in which an adversary looks for a person with these quasi-identifiers."""
    centres = release.centres()
    return release.locate(codes) if centres is None else nearest_groups(centres, codes)
