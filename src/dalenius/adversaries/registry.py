"""The adversaries by name. The command line, the audit, the reports, the docs and the contract tests use this registry."""

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

__all__ = ["ADVERSARIES", "adversaries_needing", "make_adversary", "usual_adversary"]

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


def make_adversary(name: str, priors: Priors | None = None, *, known: int = 0) -> Adversary:
    """Return the adversary of that name.

    The name of a realistic adversary describes it, such as `II:50`. `priors` reads the files that such a name mentions.
    """
    if is_realistic(name):
        return RealisticAdversary(adversary(name, priors, known=known))
    if name not in ADVERSARIES:
        raise InputError(
            f"There is no adversary {name!r}.{nearest(name, ADVERSARIES)} Known: {listing(ADVERSARIES)}, and {FORMS}."
        )
    return ADVERSARIES[name]()


def adversaries_needing(*evidence: Evidence) -> dict[str, type[Adversary]]:
    """Return the adversaries that need exactly this evidence, by name."""
    return {name: each for name, each in ADVERSARIES.items() if set(each.needs) == set(evidence)}


def usual_adversary(release: Release) -> str | None:
    """Return who attacks such a release if the user names nobody; None if nobody does."""
    for name, each in ADVERSARIES.items():
        if any(offers(release, evidence) for evidence in each.usual_for):
            return name
    return None
