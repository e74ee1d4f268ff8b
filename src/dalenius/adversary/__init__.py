"""Adversaries: a release and targets in, a belief about each target out."""

from __future__ import annotations

from dalenius.adversary.base import UNKNOWN, Adversary, Refused, Targets
from dalenius.adversary.random_worlds import RandomWorlds
from dalenius.errors import InputError, listing, nearest

# A new adversary is one file and one line here; the command line, the contract tests and the docs go through this.
REGISTRY: dict[str, type[Adversary]] = {adversary.name: adversary for adversary in (RandomWorlds,)}


def named(name: str) -> Adversary:
    """The adversary of that name."""
    if name not in REGISTRY:
        raise InputError(f"There is no adversary {name!r}.{nearest(name, REGISTRY)} Known: {listing(REGISTRY)}.")
    return REGISTRY[name]()


__all__ = ["REGISTRY", "UNKNOWN", "Adversary", "RandomWorlds", "Refused", "Targets", "named"]
