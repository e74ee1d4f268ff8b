"""Criteria: privacy models as values of group × value counts, and as thresholds on them."""

from __future__ import annotations

from dalenius.criteria.axis import Tried
from dalenius.criteria.base import Criterion, Level, Reported, Setting, axis_of
from dalenius.criteria.closeness import GROUNDS, TCloseness
from dalenius.criteria.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from dalenius.criteria.epsilon_privacy import EpsilonPrivacy, Interval, withstood
from dalenius.criteria.likeness import AlphaAnonymity, BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from dalenius.criteria.predicate import Predicate
from dalenius.criteria.realistic import Realistic
from dalenius.criteria.registry import (
    CRITERIA,
    Measured,
    Place,
    check_threshold,
    document,
    from_options,
    headline_levels,
    headlines,
    is_worse,
    measure,
    measured,
    measured_at,
    options,
    policy_places,
    undefined,
    worst_of,
)
from dalenius.criteria.size import KAnonymity
from dalenius.options import Option

__all__ = [
    "CRITERIA",
    "GROUNDS",
    "AlphaAnonymity",
    "BasicBetaLikeness",
    "Criterion",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EnhancedBetaLikeness",
    "EntropyDiversity",
    "EpsilonPrivacy",
    "Interval",
    "KAnonymity",
    "Level",
    "Measured",
    "Option",
    "Place",
    "Predicate",
    "Realistic",
    "RecursiveDiversity",
    "Reported",
    "Setting",
    "TCloseness",
    "Tried",
    "axis_of",
    "check_threshold",
    "document",
    "from_options",
    "headline_levels",
    "headlines",
    "is_worse",
    "measure",
    "measured",
    "measured_at",
    "options",
    "policy_places",
    "undefined",
    "withstood",
    "worst_of",
]
