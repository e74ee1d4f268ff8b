"""Adversaries: a release and targets in, a belief about each target out."""

from __future__ import annotations

from dalenius.adversary.attacker import Attacker
from dalenius.adversary.base import UNKNOWN, Adversary, Refused, Targets
from dalenius.adversary.definetti import DeFinetti
from dalenius.adversary.learner import Learner
from dalenius.adversary.naive_bayes import NaiveBayes
from dalenius.adversary.naive_bayes_drawn import NaiveBayesDrawn
from dalenius.adversary.naive_bayes_greedy import NaiveBayesGreedy
from dalenius.adversary.nearest_centroid import NearestCentroid
from dalenius.adversary.random_worlds import RandomWorlds
from dalenius.adversary.realistic import RealisticAdversary
from dalenius.adversary.registry import ADVERSARIES, from_plugins, named, needing, usual

__all__ = [
    "ADVERSARIES",
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
    "from_plugins",
    "named",
    "needing",
    "usual",
]
