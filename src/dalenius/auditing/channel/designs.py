"""Channels that are designed: the best for an objective at a distortion that is allowed, and the whole trade-off."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from dalenius.errors import InputError, ParameterError, nearest
from dalenius.measures.loss import Loss
from dalenius.publishers.error_design import least_distortion, most_average_error, most_worst_case_error
from dalenius.publishers.rate_distortion import least_information
from dalenius.releases import Channel

Objective = Literal["mutual-information", "average", "worst-case"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
POINTS: dict[Objective, int] = {"mutual-information": 25, "average": 11, "worst-case": 11}  # of a curve
MOST_IN_PROGRAMME = 150  # inputs, outputs or estimates of a channel that a linear programme designs
MOST_IN_RATE = 1_000  # inputs or outputs of one that is designed for mutual information
NATS = math.log(2)  # in a bit


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """A channel made for an objective, its value in the objective's unit (bits, or units of the loss), and what is proven."""

    objective: Objective
    asked: float
    channel: Channel
    value: float
    bound: float
    distortion: float
    rounds: int
    slope: float | None = None
    free: bool = False  # whether the attacker's best estimate need not be a label

    @property
    def gap(self) -> float:
        return abs(self.bound - self.value)

    def to_document(self) -> dict[str, Any]:
        """Of squared loss `value` is what label estimates leave; `average_privacy` beside it is of the mean."""
        labels = self.free and self.objective != "mutual-information"
        return {
            "attacker": "answers with labels" if labels else "answers best",
            "objective": self.objective,
            "asked_distortion": self.asked,
            "distortion": self.distortion,
            "value": self.value,
            "bound": self.bound,
            "gap": self.gap,
            "rounds": self.rounds,
            "slope": self.slope,
        }


def objective(text: str) -> Objective:
    """An objective by its name."""
    for one in OBJECTIVES:
        if text == one:
            return one
    raise InputError(
        f"--design {text!r}: there is no such objective.{nearest(text, OBJECTIVES)} Known: {', '.join(OBJECTIVES)}."
    )


def design(channel: Channel, loss: Loss, system: Loss, aim: Objective, asked: float) -> Design:
    """The best p(y'|x') for the objective whose distortion is at most what was asked; `channel` gives the alphabets."""
    _check_size(channel, loss, aim)
    if aim == "mutual-information":
        rate = least_information(channel, system.matrix, asked)
        return Design(
            aim, asked, channel.with_matrix(rate.matrix), rate.information / NATS, rate.bound / NATS, rate.distortion,
            rate.rounds, rate.slope / NATS,
        )  # fmt: skip
    most = most_average_error if aim == "average" else most_worst_case_error
    found = most(channel, loss, system.matrix, asked)
    made = channel.with_matrix(found.matrix)
    free = loss.points is not None
    return Design(aim, asked, made, found.value, found.bound, found.distortion, found.rounds, None, free)


def _check_size(channel: Channel, loss: Loss, objective: Objective) -> None:
    largest = max(len(channel.inputs), len(channel.outputs))
    if objective == "mutual-information":
        limit = MOST_IN_RATE
    else:
        limit, largest = MOST_IN_PROGRAMME, max(largest, len(loss.estimates))
    if largest > limit:
        raise InputError(
            f"A channel of {largest:,} labels is too large to be designed for {objective}: at most {limit:,} can be. Merge "
            "labels, such as cells of a coarser grid."
        )


def ends(channel: Channel, system: Loss) -> tuple[float, float]:
    """The least distortion that can be reached, and that of the best constant answer, which tells nothing."""
    source = channel.source.sum(axis=1)
    return least_distortion(channel, system.matrix), float((source @ system.matrix).min())


def trade_off(
    channel: Channel,
    loss: Loss,
    system: Loss,
    objective: Objective,
    *,
    points: int,
    progress: Callable[[str], None] | None = None,
) -> list[Design]:
    """The best value at distortions from the least that can be reached to that of a constant answer."""
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise ParameterError("points", "trade_off", "an int ≥ 2", points)
    low, high = ends(channel, system)
    found = []
    for i, asked in enumerate(np.linspace(low, high, points).tolist()):
        if progress is not None:
            progress(f"{i + 1} of {points} points: distortion {asked:.4g}")
        found.append(design(channel, loss, system, objective, asked))
    return found
