"""Criteria: privacy models as values of group × value counts, and as thresholds on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dalenius.criterion.base import Criterion, Level
from dalenius.criterion.closeness import GROUNDS, TCloseness
from dalenius.criterion.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from dalenius.criterion.likeness import AlphaAnonymity, BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from dalenius.criterion.predicate import Predicate
from dalenius.criterion.realistic import EpsilonPrivacy, Interval, Realistic, withstood
from dalenius.criterion.size import KAnonymity
from dalenius.release import Grouping
from dalenius.schema import Column

# Each model's place in the JSON of `check` and the criterion whose level stands there; thresholds play no part.
MEASURED: tuple[tuple[str, str, Criterion], ...] = (
    ("k_anonymity", "k", KAnonymity(2)),
    ("alpha_k_anonymity", "alpha", AlphaAnonymity(0.5)),
    ("distinct_l_diversity", "l", DistinctDiversity(2)),
    ("entropy_l_diversity", "l", EntropyDiversity(2.0)),
    ("recursive_c_l_diversity", "c", RecursiveDiversity(1.0, 2)),
    ("t_closeness", "equal", TCloseness(0.5, "equal")),
    ("t_closeness", "ordered", TCloseness(0.5, "ordered")),
    ("t_closeness", "hierarchical", TCloseness(0.5, "hierarchical")),
    ("delta_disclosure", "delta", DeltaDisclosure(1.0)),
    ("basic_beta_likeness", "beta", BasicBetaLikeness(1.0)),
    ("enhanced_beta_likeness", "beta", EnhancedBetaLikeness(1.0)),
)


def measure(grouping: Grouping, *, recursive_l: int = 2) -> dict[tuple[str, str], Level]:
    """The level of every model on a grouping; nan where it is not defined (see `undefined`)."""
    found: dict[tuple[str, str], Level] = {}
    for model, key, criterion in MEASURED:
        if isinstance(criterion, RecursiveDiversity):
            criterion = RecursiveDiversity(1.0, recursive_l)
        if undefined(model, key, grouping.column):
            found[model, key] = Level(math.nan, -1)
        else:
            found[model, key] = criterion.level(grouping)
    return found


def undefined(model: str, key: str, column: Column) -> str:
    """Why a model has no level on a sensitive column; empty where it has one."""
    criterion = next(criterion for *place, criterion in MEASURED if tuple(place) == (model, key))
    return criterion.undefined(column) if isinstance(criterion, TCloseness) else ""


def worst_of(measured: Sequence[Mapping[tuple[str, str], Level]]) -> dict[tuple[str, str], Level]:
    """Of several sensitive columns, the worst level of each model; where it is undefined, of the rest."""
    found: dict[tuple[str, str], Level] = {}
    for model, key, criterion in MEASURED:
        levels = [levels[model, key] for levels in measured]
        defined = [level for level in levels if not math.isnan(level.value)]
        pick = min if criterion.better == "larger" else max
        found[model, key] = pick(defined, key=lambda level: level.value) if defined else levels[0]
    return found


def document(levels: Mapping[tuple[str, str], Level], *, recursive_l: int = 2) -> dict[str, dict[str, Any]]:
    """The levels under the keys of `check --json`; counts are whole numbers."""
    nested: dict[str, dict[str, Any]] = {}
    for (model, key), level in levels.items():
        whole = (model, key) in (("k_anonymity", "k"), ("distinct_l_diversity", "l"))
        nested.setdefault(model, {})[key] = int(level.value) if whole else level.value
        if model == "recursive_c_l_diversity":
            nested[model]["l"] = recursive_l
    return nested


__all__ = [
    "GROUNDS",
    "MEASURED",
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
    "Predicate",
    "Realistic",
    "RecursiveDiversity",
    "TCloseness",
    "document",
    "measure",
    "undefined",
    "withstood",
    "worst_of",
]
