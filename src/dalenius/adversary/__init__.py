"""Adversaries: a release and targets in, a belief about each target out."""

from __future__ import annotations

from dalenius.adversary.base import UNKNOWN, Adversary, Refused, Targets
from dalenius.adversary.random_worlds import RandomWorlds
from dalenius.adversary.realistic import RealisticAdversary
from dalenius.criterion.written import FORMS, adversary, is_realistic
from dalenius.errors import InputError, listing, nearest
from dalenius.release.prior import Priors

# A new adversary is one file and one line here; the command line, the contract tests and the docs go through this.
REGISTRY: dict[str, type[Adversary]] = {adversary.name: adversary for adversary in (RandomWorlds,)}


def named(name: str, priors: Priors | None = None, *, known: int = 0) -> Adversary:
    """The adversary of that name; a realistic one is written out, and `priors` reads the files it names."""
    if is_realistic(name):
        return RealisticAdversary(adversary(name, priors, known=known))
    if name not in REGISTRY:
        raise InputError(
            f"There is no adversary {name!r}.{nearest(name, REGISTRY)} Known: {listing(REGISTRY)}, and {FORMS}."
        )
    return REGISTRY[name]()


__all__ = ["REGISTRY", "UNKNOWN", "Adversary", "RandomWorlds", "RealisticAdversary", "Refused", "Targets", "named"]
