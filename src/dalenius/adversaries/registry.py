"""The adversaries by name: the command line, the audit, reports, docs and contract tests go through this."""

from __future__ import annotations

from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.base import Adversary
from dalenius.adversaries.definetti import Group, Majority, Open, Permutation
from dalenius.adversaries.evidence import Evidence, offers
from dalenius.adversaries.learner import Learner
from dalenius.adversaries.naive_bayes import NaiveBayes
from dalenius.adversaries.naive_bayes_drawn import NaiveBayesDrawn
from dalenius.adversaries.naive_bayes_greedy import NaiveBayesGreedy
from dalenius.adversaries.nearest_centroid import NearestCentroid
from dalenius.adversaries.random_worlds import RandomWorlds
from dalenius.adversaries.realistic import RealisticAdversary
from dalenius.criteria.parsing import FORMS, adversary, is_realistic
from dalenius.errors import InputError, listing, nearest
from dalenius.plugins import Registry
from dalenius.releases import Release
from dalenius.releases.prior import Priors

# A new adversary is one file and one line here, or a plug-in's entry point in the group `dalenius.adversaries`. An audit plays
# them in this order.
ADVERSARIES: Registry[type[Adversary]] = Registry(
    "dalenius.adversaries",
    (
        RandomWorlds,
        NearestCentroid,
        NaiveBayes,
        NaiveBayesGreedy,
        NaiveBayesDrawn,
        Learner,
        Attacker,
        Permutation,
        Majority,
        Group,
        Open,
    ),
    lambda adversary: adversary.name,
    base=Adversary,
    required=("name", "knows", "does", "needs"),
)


def named(name: str, priors: Priors | None = None, *, known: int = 0) -> Adversary:
    """The adversary of that name; a realistic one is written out, and `priors` reads the files it names."""
    if is_realistic(name):
        return RealisticAdversary(adversary(name, priors, known=known))
    if name not in ADVERSARIES:
        raise InputError(
            f"There is no adversary {name!r}.{nearest(name, ADVERSARIES)} Known: {listing(ADVERSARIES)}, and {FORMS}."
        )
    return ADVERSARIES[name]()


def needing(*evidence: Evidence) -> dict[str, type[Adversary]]:
    """The adversaries that need this evidence, and can do with no other."""
    return {name: each for name, each in ADVERSARIES.items() if set(each.needs) == set(evidence)}


def usual(release: Release) -> str | None:
    """Who attacks such a release if nobody is named; None if nobody attacks it."""
    for name, each in ADVERSARIES.items():
        if any(offers(release, evidence) for evidence in each.usual_for):
            return name
    return None
