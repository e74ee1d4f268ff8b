"""Channels that a few numbers describe, and the protocols behind two of them, truly run. Each describes itself: see `base`."""

from __future__ import annotations

from dalenius.releases.models.base import LARGEST, Model, Parameter, channel_model, uniform_channel
from dalenius.releases.models.messages import simulate_crowds, simulate_pool
from dalenius.releases.models.registry import MODELS, build, described, find, model, table

__all__ = [
    "LARGEST",
    "MODELS",
    "Model",
    "Parameter",
    "build",
    "channel_model",
    "described",
    "find",
    "model",
    "simulate_crowds",
    "simulate_pool",
    "table",
    "uniform_channel",
]
