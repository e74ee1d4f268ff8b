"""Figures of releases attacked together: how many values are left, of whom only one, and what the truth says of it."""

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
    found: Intersection, sure: Intersection, suppressed_share: Sequence[float], secret: Secret = EVERY
) -> dict[str, Any]:
    """The figures of the attack, and what is left in any case, whoever is suppressed (`…_sure`)."""
    none = certainly_missing(found, secret)
    told, anyhow = (values_left(one, secret, none) for one in (found, sure))
    assumed, certain = (composed(one.prior, one.located, one.posterior) for one in (told, anyhow))
    kept = ("PVP", "VP", "mean_prior_anonymity", "mean_posterior_anonymity", "already_certain", "empty_intersections")
    return (
        assumed.to_document()
        | {
            "unlocated": int(np.count_nonzero(~found.located.all(axis=0))),
            "certainly_missing": int(np.count_nonzero(none)),
        }
        | {"suppressed_share": list(suppressed_share)}
        | {f"{name}_sure": value for name, value in certain.to_document().items() if name in kept}
    )


def certainly_missing(found: Intersection, secret: Secret) -> Bools:
    """Targets of whom only "missing" is left: nothing is found out about these."""
    if secret == EVERY:
        return np.zeros(len(found.left), dtype=bool)
    code = np.full(len(found.left), secret.missing, dtype=np.int64)
    alone: Bools = contains(found.left, code) & (found.posterior == 1)
    return alone


def values_left(found: Intersection, secret: Secret, none: Bools) -> Intersection:
    """What is left of targets who have a value; nothing of those who certainly have `none`."""
    if secret == EVERY:
        return found
    word, bit = divmod(secret.missing, 64)

    def without(sets: Words) -> Words:
        rest = sets.copy()
        rest[:, word] &= ~(np.uint64(1) << np.uint64(bit))
        rest[none] = 0
        return rest

    sets = tuple(without(one) for one in found.sets)
    return Intersection(found.values, sets, found.located & ~none, without(found.left))


@dataclass(frozen=True, slots=True)
class AgainstTruth:
    """What the truth says of an attack, in percent of the targets that are located somewhere."""

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
    found: Intersection,
    sure: Intersection,
    truth: Longs,
    secret: Secret,
    located: Sequence[tuple[GroupedRelease, Targets, Ints | None]],
) -> AgainstTruth:
    """Hold an attack against the true values. `located` has for each release its targets and, if known, their own groups."""
    somewhere = found.located.any(axis=0) & (truth != -2)
    holds = found.holds(truth)
    left = values_left(found, secret, certainly_missing(found, secret))
    certain = somewhere & (left.posterior == 1) & ((truth != secret.missing) | (secret == EVERY))
    told = truth != -2
    inside = [
        _percent(contains(sets, truth)[there & told]) for sets, there in zip(found.sets, found.located, strict=True)
    ]
    right = [
        float("nan") if mine is None else _percent(is_own_group_found(release, targets.codes, mine))
        for release, targets, mine in located
    ]
    kept = _percent(sure.holds(truth)[somewhere])
    return AgainstTruth(_percent(holds[somewhere]), kept, _percent(holds[certain]), inside, right)


def _percent(of: Bools) -> float:
    return 100 * float(of.mean()) if len(of) else float("nan")


def belief_figures(found: Composition, truth: Longs | None, secret: Secret = EVERY) -> dict[str, Any]:
    """What is to be said of beliefs: how sharp they are and, with the truth, how often and how well they are right."""
    document: dict[str, Any] = {
        "converged": found.converged,
        "pooled": found.pooled,
        "shared_groups": int(np.count_nonzero(found.shared)),
        "undefined": int(np.isnan(found.posterior).any(axis=1).sum()),
        "success": asdict(Rate.undefined()),
        "naive": asdict(Rate.undefined()),
        "confidence": float("nan"),
        "calibration": [],
    }
    if truth is None:
        return document
    known = (truth != -2) & ((truth != secret.missing) | (secret == EVERY))
    lost = np.isnan(found.posterior).any(axis=1, keepdims=True)
    # A value that no release has is a column more, which nobody ever guesses.
    answer, baseline = (
        np.column_stack([weights[known], np.zeros(int(known.sum()))])
        for weights in map(secret.given, (np.where(lost, found.baseline, found.posterior), found.baseline))
    )
    right = np.where(truth[known] < 0, answer.shape[1] - 1, truth[known])
    one = np.ones(len(right), dtype=np.int64)
    document["success"] = asdict(accuracy.success(answer, right, one))
    document["naive"] = asdict(accuracy.success(baseline, right, one))
    document["confidence"] = accuracy.confidence(answer, one).mean if len(one) else float("nan")
    document["calibration"] = [asdict(b) for b in accuracy.calibration(answer, right, one)]
    return document
