"""Design channels: the best for an objective at an allowed distortion, and the whole trade-off."""

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
MAX_LABELS_IN_PROGRAMME = 150  # inputs, outputs or estimates of a channel that a linear programme designs
MAX_LABELS_FOR_INFORMATION = 1_000  # inputs or outputs of one that is designed for mutual information
NATS = math.log(2)  # in a bit


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """A channel designed for an objective, its value in the objective's unit (bits, or units of the loss), and a proven bound."""

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
        """Return the design as JSON has it. For squared loss, `value` is for label estimates, not for the mean."""
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
    """Return an objective by its name."""
    for name in OBJECTIVES:
        if text == name:
            return name
    raise InputError(
        f"--design {text!r}: there is no such objective.{nearest(text, OBJECTIVES)} Known: {', '.join(OBJECTIVES)}."
    )


def design(channel: Channel, loss: Loss, system: Loss, aim: Objective, asked: float) -> Design:
    """Return the best p(y'|x') for the objective with a distortion of at most `asked`. `channel` gives the alphabets."""
    _check_size(channel, loss, aim)
    if aim == "mutual-information":
        rate = least_information(channel, system.matrix, asked)
        return Design(
            aim, asked, channel.with_matrix(rate.matrix), rate.information / NATS, rate.bound / NATS, rate.distortion,
            rate.rounds, rate.slope / NATS,
        )  # fmt: skip
    most = most_average_error if aim == "average" else most_worst_case_error
    best = most(channel, loss, system.matrix, asked)
    designed = channel.with_matrix(best.matrix)
    free = loss.points is not None
    return Design(aim, asked, designed, best.value, best.bound, best.distortion, best.rounds, None, free)


def _check_size(channel: Channel, loss: Loss, objective: Objective) -> None:
    largest = max(len(channel.inputs), len(channel.outputs))
    if objective == "mutual-information":
        limit = MAX_LABELS_FOR_INFORMATION
    else:
        limit, largest = MAX_LABELS_IN_PROGRAMME, max(largest, len(loss.estimates))
    if largest > limit:
        raise InputError(
            f"A channel of {largest:,} labels is too large to design for {objective}: at most {limit:,} are possible. Merge "
            "labels, for example the cells of a grid."
        )


def ends(channel: Channel, system: Loss) -> tuple[float, float]:
    """Return the least possible distortion, and that of the best constant answer, which reveals nothing."""
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
    """Return the best designs at distortions from the least possible one to that of a constant answer."""
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise ParameterError("points", "trade_off", "an int ≥ 2", points)
    low, high = ends(channel, system)
    designs = []
    for i, allowed in enumerate(np.linspace(low, high, points).tolist()):
        if progress is not None:
            progress(f"{i + 1} of {points} points: distortion {allowed:.4g}")
        designs.append(design(channel, loss, system, objective, allowed))
    return designs
