"""The risks and utilities by which releases are compared, each with a name, a sentence and how an audit gives it.

A new one is one entry here. The command line, the page and the docs iterate these tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dalenius.auditing.audit import Audit

__all__ = [
    "COMMONEST",
    "DEFAULT_RISK",
    "DEFAULT_UTILITY",
    "RISKS",
    "UTILITIES",
    "Risk",
    "Utility",
    "risks_of",
    "success_rates",
]

COMMONEST = "commonest value"  # an adversary who always guesses it


@dataclass(frozen=True, slots=True)
class Risk:
    """A risk, of which more is worse: what it says, how an audit gives it, and why a release may lack it."""

    name: str
    title: str  # of an axis
    says: str
    of: Callable[[Audit], float]
    lacks: str
    floored: bool = False  # whether it is never below the success without any release
    attacked: bool = False  # whether it comes from an attack, and is a lower bound if people of the table fit no class


@dataclass(frozen=True, slots=True)
class Utility:
    """A measure of what a release is still good for, with the name that `fidelity` gives it."""

    name: str
    title: str  # of an axis, as a cost
    says: str
    lacks: str
    larger_is_better: bool = False

    def cost(self, value: float) -> float:
        """Return the value as a cost: its distance from 1, if 1 is best."""
        return 1 - value if self.larger_is_better else value


def success_rates(audit: Audit) -> dict[str, float]:
    """Return how often each adversary is right, in the sensitive column where it does best."""
    rates: dict[str, float] = {}
    for attack in audit.attacks:
        if attack.success.n and attack.is_converged:
            rates[attack.adversary] = max(rates.get(attack.adversary, 0.0), attack.success.value)
    for threats in audit.threats.values():
        if threats.has_converged_beliefs:
            for name, value in (("learner", threats.threats.GT_L), ("attacker", threats.threats.GT_A)):
                rates[name] = max(rates.get(name, 0.0), value)
    return rates


def _largest(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return max(known, default=math.nan)


def _gain(audit: Audit) -> float:
    if any(attack.gain.n and not attack.comparable for attack in audit.attacks):
        return math.nan
    return _largest([attack.gain.value for attack in audit.attacks if attack.gain.n and attack.is_control_converged])


def risks_of(audit: Audit, commonest: float) -> dict[str, float]:
    """Return every risk that a release has. `commonest` is the share of people with the table's most common value."""
    values = {name: float(risk.of(audit)) for name, risk in RISKS.items()}
    return {
        name: max(value, commonest) if RISKS[name].floored else value
        for name, value in values.items()
        if not math.isnan(value)
    }


_NO_CLASSES = "there are no classes"
_NO_LABELS = "there are no labels"
RISKS: dict[str, Risk] = {
    risk.name: risk
    for risk in (
        Risk(
            "attacker",
            "share of people guessed right",
            "how often the best adversary that was run is right about a person of the table; always guessing the table's most "
            "common value is one of them",
            lambda audit: _largest(list(success_rates(audit).values())),
            "no adversary can attack what is published",
            floored=True,
            attacked=True,
        ),
        Risk(
            "gain",
            "gain over people held out",
            "how much more often an adversary is right about people of the release than about people held out",
            _gain,
            "that needs people held out who are like those of the table (--holdout or --share)",
            attacked=True,
        ),
        Risk(
            "random-worlds",
            "share of people guessed right by random worlds",
            "how often an adversary who considers everyone in a class equally likely is right; the same adversary for all "
            "releases with classes",
            lambda audit: success_rates(audit).get("random-worlds", math.nan),
            "random worlds needs classes with labels or tuples",
            attacked=True,
        ),
        Risk(
            "perfect-breach",
            "share of people given away for certain",
            "share of people whose value an adversary knows for certain and correctly, if people who fit a class are not "
            "suppressed",
            lambda audit: _largest([found.perfect_breach for found in audit.attacks if found.success.n]),
            "no adversary can attack what is published",
            attacked=True,
        ),
        Risk(
            "worst-case",
            "largest share of a value in a class",
            "how likely the best guess is right in the worst class: 1 − worst-case privacy",
            lambda audit: _largest([1 - errors.worst_case_privacy for errors in audit.errors.values()]),
            _NO_CLASSES,
        ),
        Risk(
            "linkability",
            "largest chance to link a row",
            "the largest chance to pick the right row of a person whose quasi-identifiers are known: 1 / the rows that fit",
            lambda audit: math.nan if audit.risks is None else audit.risks.highest,
            _NO_CLASSES,
        ),
        Risk(
            "singled-out",
            "share of people singled out",
            "how many people fit one row only",
            lambda audit: math.nan if audit.risks is None else audit.risks.singled_out,
            _NO_CLASSES,
        ),
        Risk(
            "closeness",
            "largest distance of a class from the table",
            "how far the values of the worst class are from those of the table: t, equal ground distance",
            lambda audit: _largest([levels["t_closeness", "equal"].value for levels in audit.levels.values()]),
            _NO_CLASSES,
        ),
        Risk(
            "relative-threat",
            "attacker's lead over the learner",
            "how much more often the attacker, who knows that people are in the release, is right than the learner, who does not",
            lambda audit: _largest(
                [found.threats.RGT_A for found in audit.threats.values() if found.has_converged_beliefs]
            ),
            "learner and attacker have no exact answer there; --mcse 0.005 has them sampled",
            attacked=True,
        ),
    )
}
UTILITIES: dict[str, Utility] = {
    utility.name: utility
    for utility in (
        Utility(
            "relative_error",
            "mean relative error of count queries",
            "how far answers to a thousand count queries are off, on average, when they are read off the release",
            "the counts do not answer the queries",
        ),
        Utility(
            "loss",
            "loss of the labels",
            "how wide the published labels are: 0 as in the table, 1 if nothing is left of them",
            _NO_LABELS,
        ),
        Utility("ncp", "certainty penalty of the labels", "how wide a label is, the mean over cells", _NO_LABELS),
        Utility(
            "discernibility",
            "discernibility",
            "the sum over people of how many others look the same",
            _NO_CLASSES,
        ),
        Utility("average_class_size", "average class size", "how many people look the same, on average", _NO_CLASSES),
        Utility(
            "suppressed",
            "share of rows suppressed",
            "how many rows are published without their quasi-identifiers",
            _NO_CLASSES,
        ),
        Utility(
            "kl_divergence",
            "divergence from the table, nats",
            "how far the table is from what a reader of the release would take it for",
            "there are neither labels nor tuples",
        ),
        Utility(
            "precision",
            "1 − precision",
            "how low in their hierarchies the labels stand: 1 as in the table",
            "the labels are not nodes of the hierarchies",
            larger_is_better=True,
        ),
        Utility(
            "faithfulness",
            "1 − faithfulness",
            "how much of what the table teaches the release still teaches: 1 is all",
            "the release gives no exact answer to what can be learned from it",
            larger_is_better=True,
        ),
    )
}  # fmt: skip
DEFAULT_RISK, DEFAULT_UTILITY = "attacker", "relative_error"
