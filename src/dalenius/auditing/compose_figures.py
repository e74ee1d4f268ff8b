"""Figures of releases attacked together: how many values are left, for whom only one, and how often that is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dalenius.adversaries import Targets
from dalenius.adversaries.composition import Composition
from dalenius.adversaries.intersection import Intersection, contains
from dalenius.adversaries.models.location import is_own_group_found
from dalenius.arrays import Bools, Ints, Longs, Words
from dalenius.auditing.secrets import EVERY, Secret
from dalenius.measures import accuracy
from dalenius.measures.accuracy import Rate
from dalenius.measures.composition import composed
from dalenius.releases import GroupedRelease


def figures(
    assumed_attack: Intersection, sure: Intersection, suppressed_share: Sequence[float], secret: Secret = EVERY
) -> dict[str, Any]:
    """Return the figures of the attack, and (as `…_sure`) what is left even if targets may be suppressed."""
    none = certainly_missing(assumed_attack, secret)
    left_assumed, left_surely = (values_left(left, secret, none) for left in (assumed_attack, sure))
    assumed, certain = (composed(left.prior, left.located, left.posterior) for left in (left_assumed, left_surely))
    kept = ("PVP", "VP", "mean_prior_anonymity", "mean_posterior_anonymity", "already_certain", "empty_intersections")
    return (
        assumed.to_document()
        | {
            "unlocated": int(np.count_nonzero(~assumed_attack.located.all(axis=0))),
            "certainly_missing": int(np.count_nonzero(none)),
        }
        | {"suppressed_share": list(suppressed_share)}
        | {f"{name}_sure": value for name, value in certain.to_document().items() if name in kept}
    )


def certainly_missing(intersection: Intersection, secret: Secret) -> Bools:
    """Return the targets for whom only "missing" is left: the attack reveals nothing about them."""
    if secret == EVERY:
        return np.zeros(len(intersection.left), dtype=bool)
    code = np.full(len(intersection.left), secret.missing, dtype=np.int64)
    alone: Bools = contains(intersection.left, code) & (intersection.posterior == 1)
    return alone


def values_left(intersection: Intersection, secret: Secret, none: Bools) -> Intersection:
    """Return the values left for targets who have one, and none for those who certainly have `none`."""
    if secret == EVERY:
        return intersection
    word, bit = divmod(secret.missing, 64)

    def without(sets: Words) -> Words:
        rest = sets.copy()
        rest[:, word] &= ~(np.uint64(1) << np.uint64(bit))
        rest[none] = 0
        return rest

    sets = tuple(without(bits) for bits in intersection.sets)
    return Intersection(intersection.values, sets, intersection.located & ~none, without(intersection.left))


@dataclass(frozen=True, slots=True)
class AgainstTruth:
    """How often an attack is right, in percent of the targets that are located somewhere."""

    holds: float  # the true value is among those left
    holds_sure: float  # also if the target may be suppressed
    certain_right: float  # of those with one value left, it is the true one
    in_release: list[float]  # the true value is where the release locates the target
    located_right: list[float]  # the group is the target's own, of releases whose rows are those of the truth, in order

    def to_document(self) -> dict[str, object]:
        return {
            "true_value_left": self.holds,
            "true_value_left_sure": self.holds_sure,
            "certain_and_right": self.certain_right,
            "true_value_in_group": self.in_release,
            "located_right": self.located_right,
        }


def against_truth(
    assumed: Intersection,
    sure: Intersection,
    truth: Longs,
    secret: Secret,
    located: Sequence[tuple[GroupedRelease, Targets, Ints | None]],
) -> AgainstTruth:
    """Compare an attack with the true values. `located` has for each release its targets and, if known, their own groups."""
    somewhere = assumed.located.any(axis=0) & (truth != -2)
    holds = assumed.holds(truth)
    left = values_left(assumed, secret, certainly_missing(assumed, secret))
    certain = somewhere & (left.posterior == 1) & ((truth != secret.missing) | (secret == EVERY))
    has_truth = truth != -2
    inside = [
        _percent(contains(sets, truth)[there & has_truth])
        for sets, there in zip(assumed.sets, assumed.located, strict=True)
    ]
    right = [
        float("nan") if own is None else _percent(is_own_group_found(release, targets.codes, own))
        for release, targets, own in located
    ]
    kept = _percent(sure.holds(truth)[somewhere])
    return AgainstTruth(_percent(holds[somewhere]), kept, _percent(holds[certain]), inside, right)


def _percent(of: Bools) -> float:
    return 100 * float(of.mean()) if len(of) else float("nan")


def belief_figures(believed: Composition, truth: Longs | None, secret: Secret = EVERY) -> dict[str, Any]:
    """Return how precise beliefs are and, with the truth, how often and how well they are right."""
    document: dict[str, Any] = {
        "converged": believed.converged,
        "pooled": believed.pooled,
        "shared_groups": int(np.count_nonzero(believed.shared)),
        "undefined": int(np.isnan(believed.posterior).any(axis=1).sum()),
        "success": asdict(Rate.undefined()),
        "naive": asdict(Rate.undefined()),
        "confidence": float("nan"),
        "calibration": [],
    }
    if truth is None:
        return document
    known = (truth != -2) & ((truth != secret.missing) | (secret == EVERY))
    lost = np.isnan(believed.posterior).any(axis=1, keepdims=True)
    # A value that no release has gets a column of its own, which is never guessed.
    answer, baseline = (
        np.column_stack([weights[known], np.zeros(int(known.sum()))])
        for weights in map(
            secret.without_missing, (np.where(lost, believed.baseline, believed.posterior), believed.baseline)
        )
    )
    right = np.where(truth[known] < 0, answer.shape[1] - 1, truth[known])
    ones = np.ones(len(right), dtype=np.int64)
    document["success"] = asdict(accuracy.success(answer, right, ones))
    document["naive"] = asdict(accuracy.success(baseline, right, ones))
    document["confidence"] = accuracy.confidence(answer, ones).mean if len(ones) else float("nan")
    document["calibration"] = [asdict(b) for b in accuracy.calibration(answer, right, ones)]
    return document
