"""Measure a channel: open the source, read the losses, design, measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dalenius import engines as _engine
from dalenius.auditing.channel.designs import POINTS, Design, design, objective, trade_off
from dalenius.auditing.channel.measures import CONFIDENCE, measured
from dalenius.auditing.channel.request import ChannelRequest
from dalenius.auditing.channel.sources import Opened, loss_of, open_source, system_loss_of, unnamed, with_parts
from dalenius.engines import Engine
from dalenius.errors import InputError
from dalenius.hierarchy import Hierarchy
from dalenius.measures.communication import ORDERS
from dalenius.measures.loss import Loss
from dalenius.measures.sampled import estimated
from dalenius.releases import Channel
from dalenius.releases.channel import read_prior
from dalenius.releases.models import find
from dalenius.result import Result

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeasuredChannel(Result):
    """A channel, given or designed, with its measures.

    `to_pandas` has one row for each measure: `measure` (its key in the JSON), `value` and `unit`. Of a curve alone it has one row
    for each point: `distortion`, `value`, `bound` and `gap`.
    """

    request: ChannelRequest
    prior: str  # uniform, shares (those of the people) or given
    channel: Channel
    measures: dict[str, Any] | None  # None: only a curve was requested
    design: Design | None
    estimated: dict[str, Any] | None  # None: the channel does not come from samples
    curve: tuple[Design, ...]

    @property
    def is_about_senders(self) -> bool:
        """Return whether the unknown is who sent a message."""
        return self.request.model is not None and find(self.request.model).is_about_senders

    def to_document(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        document: dict[str, Any] = {"source": self.request.source, "prior": self.prior}
        if self.design is not None:
            document |= {"design": self.design.to_document(), "matrix": self.channel.matrix}
            document |= {"input_labels": self.channel.inputs, "output_labels": self.channel.outputs}
        document |= self.measures or {}
        if self.estimated is not None:
            document["estimated"] = self.estimated
        if self.curve:
            document["curve"] = [point.to_document() for point in self.curve]
        return document


@dataclass(frozen=True, slots=True, eq=False)
class _Losses:
    """What a mistake costs the attacker, and what an output instead of an input costs (or why that is unknown)."""

    attacker: Loss
    system: Loss | None
    no_system_because: str

    def needed_system(self) -> Loss:
        if self.system is None:
            raise InputError(
                f"A design needs the loss of outputs instead of inputs. Pass --system-loss, because {self.no_system_because}."
            )
        return self.system


def _silent(_: str) -> None:
    """No-op callback."""


def channel(
    request: ChannelRequest,
    *,
    seed: int = 0,
    engine: Engine | None = None,
    tell: Tell = _silent,
    progress: Tell | None = None,
) -> MeasuredChannel:
    """Measure an attacker's error about the input of a channel. With `design`, first make the channel with the largest error.

    `tell` is called with sentences about assumptions, and `progress` with the name of each step.
    """
    engine = engine or _engine.default()
    opened = open_source(request, engine)
    with unnamed(request.has_people, "A file that was given"):
        whole = with_parts(opened.channel, request, engine)
        assumed = None if request.assumed_prior is None else read_prior(request.assumed_prior, whole.inputs, engine)
    losses = _losses(request, whole, opened.tree, engine)
    prior = _prior(request, opened)
    if prior == "uniform" and request.model is None:
        tell("No prior was given, so all inputs are assumed to be equally likely.")
    _tell_of_estimates(losses.attacker, whole.values, tell)

    aim = None if request.design is None else objective(request.design)
    system = losses.system if aim is None else losses.needed_system()
    designed = None
    if aim is not None and system is not None and request.distortion is not None:
        designed = design(whole, losses.attacker, system, aim, request.distortion)
        whole = designed.channel
    measures = None
    if aim is None or designed is not None:
        measures = measured(
            whole, losses.attacker, system, assumed=assumed, confidence=request.confidence or CONFIDENCE,
            orders=ORDERS if request.orders is None else request.orders,
        )  # fmt: skip
    curve: tuple[Design, ...] = ()
    if aim is not None and system is not None and request.curve:
        points = request.points or POINTS[aim]
        curve = tuple(trade_off(whole, losses.attacker, system, aim, points=points, progress=progress))
    return MeasuredChannel(
        request, prior, whole, measures, designed, _estimated(opened, losses.attacker, request, seed), curve
    )


def _losses(request: ChannelRequest, whole: Channel, tree: Hierarchy | None, engine: Engine) -> _Losses:
    with unnamed(request.has_people, "The loss"):
        attacker = loss_of(request.loss, whole.values, None, tree, engine)
        system, reason = system_loss_of(request.system_loss, request.loss, whole, tree, engine)
    return _Losses(attacker, system, reason)


def _prior(request: ChannelRequest, opened: Opened) -> str:
    """Return where the prior comes from."""
    is_uniform = opened.channel.prior is None or request.model is not None
    if is_uniform and request.prior is None and request.joint is None:
        return "uniform"
    return "shares" if request.has_people else "given"


def _tell_of_estimates(loss: Loss, values: tuple[str, ...], tell: Tell) -> None:
    if not set(values) <= set(loss.estimates):
        tell(
            f"With this loss, the attacker answers with {len(loss.estimates):,} estimates that are not the {len(values):,} values."
        )


def _estimated(opened: Opened, loss: Loss, request: ChannelRequest, seed: int) -> dict[str, Any] | None:
    """Return what samples reveal about a channel, with intervals; None without samples."""
    if opened.counts is None:
        return None
    confidence, rng = request.confidence or CONFIDENCE, np.random.default_rng(seed)
    return asdict(estimated(opened.counts, loss, confidence=confidence, complete=False, rng=rng))
