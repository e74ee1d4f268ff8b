"""Channels: what is asked of one, where it comes from, every measure of it, and the best that can be designed."""

from __future__ import annotations

from dalenius.auditing.channel.designs import OBJECTIVES, Design, Objective, design, ends, objective, trade_off
from dalenius.auditing.channel.measures import CONFIDENCE, Bound, beliefs, measured
from dalenius.auditing.channel.measuring import MeasuredChannel, channel
from dalenius.auditing.channel.request import ChannelRequest, source_of

__all__ = [
    "CONFIDENCE",
    "OBJECTIVES",
    "Bound",
    "ChannelRequest",
    "Design",
    "MeasuredChannel",
    "Objective",
    "beliefs",
    "channel",
    "design",
    "ends",
    "measured",
    "objective",
    "source_of",
    "trade_off",
]
