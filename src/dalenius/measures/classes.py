"""A release's classes as a channel, and privacy models as statements about an attacker's error.

X is a person's sensitive value (for k-anonymity: which row is the person's), Y the class that is published of the person, the
loss Hamming's (Rebollo-Monedero et al. 2013, sections V and VII). A model that treats values as equally likely is a best case:
the error is at most its figure. A model that compares classes with the table is a worst case: the error is at least its
figure. Everything here is computed from the counts that occur; `tests/measures/test_classes.py` has it from dense matrices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dalenius.criteria.base import Level, reduce, shares, table_shares
from dalenius.releases import Grouping

__all__ = ["Case", "ClassErrors", "ModelError", "class_errors"]

Case = Literal["best", "average", "worst"]


@dataclass(frozen=True, slots=True)
class ModelError:
    """What a model says about the error, next to the error itself: an upper or a lower bound."""

    model: str
    level: float
    unknown: Literal["identity", "attribute"]
    case: Case
    error: float
    direction: Literal["at most", "at least", "exactly"]
    exact: float
    formula: str
    assumes: str


@dataclass(frozen=True, slots=True)
class ClassErrors:
    """The error of an attacker who knows a person's class, or that the person has none: `suppressed` is one more observation.

    Models are about classes: they are compared with `worst_class_privacy`, and `identity_average` is over people who have a
    class. Entropies are in bits.
    """

    average_privacy: float
    worst_case_privacy: float
    worst_class_privacy: float
    prior_privacy: float
    identity_average: float
    shannon_entropy: float
    mutual_information: float
    t_kl: float
    models: tuple[ModelError, ...]


def class_errors(grouping: Grouping, levels: Mapping[tuple[str, str], Level]) -> ClassErrors | None:
    """Return the errors, or None if nobody has a class."""
    if grouping.groups == 0:
        return None
    share, table = shares(grouping), table_shares(grouping)
    people = float(grouping.table.sum())
    weight = grouping.sizes / people
    most = reduce(np.maximum, share, grouping)
    surprise = reduce(np.add, -share * np.log2(share), grouping)
    divergence = np.maximum(reduce(np.add, share * np.log2(share / table[grouping.values]), grouping), 0.0)
    prior = 1 - float(table.max())
    average, entropy, information = float(weight @ (1 - most)), float(weight @ surprise), float(weight @ divergence)
    worst_class = worst = 1 - float(most.max())
    furthest_class = furthest = float(divergence.max())
    hidden = grouping.table - np.bincount(grouping.values, weights=grouping.counts, minlength=len(table))
    if hidden.any():
        rest, left = hidden / hidden.sum(), hidden.sum() / people
        on = rest > 0
        hidden_divergence = float(rest[on] @ np.log2(rest[on] / table[on]))
        average += left * (1 - float(rest.max()))
        entropy -= left * float(rest[on] @ np.log2(rest[on]))
        information += left * hidden_divergence
        worst, furthest = min(worst, 1 - float(rest.max())), max(furthest, hidden_divergence)
    identity = 1 - grouping.groups / float(grouping.sizes.sum())
    errors = ClassErrors(
        average, worst, worst_class, prior, identity, entropy, max(information, 0.0), furthest, ()
    )  # fmt: skip
    return _with_models(errors, {place: level.value for place, level in levels.items()}, furthest_class)


def _with_models(errors: ClassErrors, levels: Mapping[tuple[str, str], float], furthest: float) -> ClassErrors:
    worst, average, prior = errors.worst_class_privacy, errors.average_privacy, errors.prior_privacy
    k, distinct = levels["k_anonymity", "k"], levels["distinct_l_diversity", "l"]
    effective = levels["entropy_l_diversity", "l"]
    alpha, t = levels["alpha_k_anonymity", "alpha"], levels["t_closeness", "equal"]
    delta, beta = levels["delta_disclosure", "delta"], levels["basic_beta_likeness", "beta"]
    nats = math.log(2)
    value = "of which value is more likely in a class nothing is known"
    rows = (
        ModelError(
            "k-anonymity", k, "identity", "best", 1 - 1 / k, "exactly", 1 - 1 / k, "1 − 1/k",
            "everybody of a class is equally likely; nothing else is known of them",
        ),
        ModelError("distinct ℓ-diversity", distinct, "attribute", "best", 1 - 1 / distinct, "at most", worst, "1 − 1/ℓ", value),
        ModelError(
            "entropy ℓ-diversity", effective, "attribute", "best", 1 - 1 / effective, "at most", worst, "1 − 1/ℓ",
            "as many equally likely values as the entropy stands for",
        ),
        ModelError(
            "(α,k)-anonymity", alpha, "attribute", "worst", 1 - alpha, "exactly", worst, "1 − α",
            "one guess, the commonest value of the class",
        ),
        ModelError(
            "t-closeness (equal)", t, "attribute", "worst", max(0.0, prior - t), "at least", worst, "prior error − t",
            "the attacker knows the table's shares beforehand; any loss: prior error − d_max·t",
        ),
        ModelError(
            "t-closeness (divergence, bits)", furthest, "attribute", "worst",
            max(0.0, prior - math.sqrt(furthest * nats / 2)), "at least", worst, "prior error − √(t ln 2/2)",
            "the attacker knows the table's shares beforehand",
        ),
        ModelError(
            "basic β-likeness", beta, "attribute", "worst", _floor(1 + beta, prior), "at least", worst,
            "1 − (1 + β)(1 − prior error)", "no value becomes likelier by more than the factor 1 + β",
        ),
        ModelError(
            "δ-disclosure (nats)", delta, "attribute", "worst", _floor(_exp(delta), prior), "at least", worst,
            "1 − e^δ (1 − prior error)", "no value becomes likelier or unlikelier by more than the factor e^δ",
        ),
        ModelError(
            "mutual information (bits)", errors.mutual_information, "attribute", "average",
            max(0.0, prior - math.sqrt(errors.mutual_information * nats / 2)), "at least", average,
            "prior error − √(I ln 2/2)", "the mean over all people; a class may be far worse",
        ),
        ModelError(
            "Shannon entropy (bits)", errors.shannon_entropy, "attribute", "average", 1 - 2**-errors.shannon_entropy,
            "at most", average, "1 − 2^−H(X|Y)", "the attacker weighs all values, of many people at once",
        ),
    )  # fmt: skip
    return replace(errors, models=rows)


def _floor(factor: float, prior: float) -> float:
    """Return 1 − factor·max p: no posterior is above factor·max p, so no error is below this."""
    return max(0.0, 1 - factor * (1 - prior)) if math.isfinite(factor) else 0.0


def _exp(delta: float) -> float:
    return math.exp(delta) if delta < 700 else math.inf
