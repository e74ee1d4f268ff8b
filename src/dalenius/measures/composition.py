"""What an intersection attack achieves: effective anonymity before and after, who is vulnerable, and with what confidence.

With EA_ij the number of different values that release j leaves target i, and ÊA_i the number that all leave together: the drop
is min over j of EA_ij − ÊA_i, the confidence 1/ÊA_i. VP is the share of targets with a drop above 0, PVP at confidence C
that of targets with 1 ≤ ÊA_i ≤ 1/C, both in percent of all targets. A release that does not locate a target leaves it out
of the minimum; releases that contradict each other about a target leave nothing, which is a drop and no confidence.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.arrays import Bools, Longs

__all__ = ["CONFIDENCES", "Composed", "composed"]

CONFIDENCES = {"100": 1, "50": 2, "33": 3, "25": 4}  # in percent, and the most values that are left at it


@dataclass(frozen=True, slots=True)
class Composed:
    """All figures; shares are in percent of all targets."""

    targets: int
    PVP: dict[str, float]
    VP: float
    mean_prior_anonymity: list[float]
    mean_posterior_anonymity: float
    mean_drop: float
    drop_of_means: float
    already_certain: int
    empty_intersections: int
    unlocated: int

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


def composed(prior: Longs, located: Bools, posterior: Longs) -> Composed:
    """Return the figures of EA [release, target], of who is located where, and of ÊA."""
    targets = prior.shape[1]
    somewhere = located.any(axis=0)
    least = np.where(located, prior, np.iinfo(np.int64).max).min(axis=0)
    drop = np.maximum(least - posterior, 0)[somewhere]  # more may be left by all: somebody was suppressed after all
    means = [_mean(own[there]) for own, there in zip(prior, located, strict=True)]
    after = _mean(posterior[somewhere])
    known = [mean for mean in means if not math.isnan(mean)]
    return Composed(
        targets=targets,
        PVP={name: _percent((posterior >= 1) & (posterior <= most)) for name, most in CONFIDENCES.items()},
        VP=100 * int(np.count_nonzero(drop > 0)) / targets if targets else math.nan,
        mean_prior_anonymity=means,
        mean_posterior_anonymity=after,
        mean_drop=_mean(drop),
        drop_of_means=min(known) - after if known else math.nan,
        already_certain=int(np.count_nonzero(somewhere & (least == 1))),
        empty_intersections=int(np.count_nonzero(somewhere & (posterior == 0))),
        unlocated=int(np.count_nonzero(~located.all(axis=0))),
    )


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _percent(of: Bools) -> float:
    return 100 * int(np.count_nonzero(of)) / len(of) if len(of) else math.nan
