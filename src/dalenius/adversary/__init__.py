"""Adversaries: a release and targets in, a belief about each target out."""

from __future__ import annotations

from dalenius.adversary.attacker import Attacker
from dalenius.adversary.base import UNKNOWN, Adversary, Refused, Targets
from dalenius.adversary.definetti import DeFinetti, Group, Majority, Open, Permutation
from dalenius.adversary.learner import Learner
from dalenius.adversary.learning import Learning
from dalenius.adversary.naive_bayes import NaiveBayes
from dalenius.adversary.naive_bayes_drawn import NaiveBayesDrawn
from dalenius.adversary.naive_bayes_greedy import NaiveBayesGreedy
from dalenius.adversary.nearest_centroid import NearestCentroid
from dalenius.adversary.random_worlds import RandomWorlds
from dalenius.adversary.realistic import RealisticAdversary
from dalenius.criterion.written import FORMS, adversary, is_realistic
from dalenius.errors import InputError, listing, nearest
from dalenius.release.prior import Priors

# A new adversary is one file and one line here; the command line, the contract tests and the docs go through this. The audit
# plays those of REGISTRY one by one, LOCATING where centroids are published, the first of COUNTING where counts are all there
# is; LEARNING are held against each other, as relative threats; LINKING attack the cut link of anatomized releases.
REGISTRY: dict[str, type[Adversary]] = {adversary.name: adversary for adversary in (RandomWorlds,)}
COUNTING: dict[str, type[Adversary]] = {
    adversary.name: adversary for adversary in (NaiveBayes, NaiveBayesGreedy, NaiveBayesDrawn)
}
LOCATING: dict[str, type[Adversary]] = {adversary.name: adversary for adversary in (NearestCentroid,)}
LEARNING: dict[str, type[Learning]] = {adversary.name: adversary for adversary in (Learner, Attacker)}
LINKING: dict[str, type[DeFinetti]] = {adversary.name: adversary for adversary in (Permutation, Majority, Group, Open)}


def named(name: str, priors: Priors | None = None, *, known: int = 0) -> Adversary:
    """The adversary of that name; a realistic one is written out, and `priors` reads the files it names."""
    if is_realistic(name):
        return RealisticAdversary(adversary(name, priors, known=known))
    known_names: dict[str, type[Adversary]] = {**REGISTRY, **LOCATING, **COUNTING, **LEARNING, **LINKING}
    if name not in known_names:
        raise InputError(
            f"There is no adversary {name!r}.{nearest(name, known_names)} Known: {listing(known_names)}, and {FORMS}."
        )
    return known_names[name]()


__all__ = [
    "COUNTING",
    "LEARNING",
    "LINKING",
    "LOCATING",
    "REGISTRY",
    "UNKNOWN",
    "Adversary",
    "Attacker",
    "DeFinetti",
    "Learner",
    "NaiveBayes",
    "NaiveBayesDrawn",
    "NaiveBayesGreedy",
    "NearestCentroid",
    "RandomWorlds",
    "RealisticAdversary",
    "Refused",
    "Targets",
    "named",
]
