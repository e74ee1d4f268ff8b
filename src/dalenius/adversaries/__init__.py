"""Adversaries: each turns a release and targets into a belief about each target."""

from __future__ import annotations

from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.base import UNKNOWN, Adversary, Refused, Targets
from dalenius.adversaries.definetti import DeFinetti
from dalenius.adversaries.learner import Learner
from dalenius.adversaries.naive_bayes import NaiveBayes
from dalenius.adversaries.naive_bayes_drawn import NaiveBayesDrawn
from dalenius.adversaries.naive_bayes_greedy import NaiveBayesGreedy
from dalenius.adversaries.nearest_centroid import NearestCentroid
from dalenius.adversaries.random_worlds import RandomWorlds
from dalenius.adversaries.realistic import RealisticAdversary
from dalenius.adversaries.registry import ADVERSARIES, adversaries_needing, make_adversary, usual_adversary

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
    "adversaries_needing",
    "make_adversary",
    "usual_adversary",
]
