"""What an audit cannot say. Each limit is a small function with its sentence, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dalenius.adversaries.definetti import Majority
from dalenius.auditing.attacks import Attack
from dalenius.auditing.figures import uncovered
from dalenius.auditing.threat import ACCURACIES
from dalenius.errors import counted, listing

if TYPE_CHECKING:
    from dalenius.auditing.audit import Audit

__all__ = ["LIMITS", "LOWER_BOUND", "OTHER_SPELLING", "Limit", "first_limits", "limits"]

LOWER_BOUND = "Every success is a lower bound, and so is every gain unless held-out people fit no class either."
OTHER_SPELLING = "Check whether sets, ranges or suppressed values are spelled differently there."


@dataclass(frozen=True, slots=True)
class Limit:
    """Sentences about one thing that was not tested. Even a short report keeps those that are required."""

    sentences: Callable[[Audit], Iterator[str]]
    is_required: bool = False


def limits(audit: Audit) -> list[str]:
    """Return what this audit cannot say. Adversaries that were not tried come first."""
    return [sentence for limit in LIMITS for sentence in limit.sentences(audit)]


def first_limits(audit: Audit, more: int) -> list[str]:
    """Return all required sentences, and as many others as `more` says."""
    required = sum(len(list(limit.sentences(audit))) for limit in LIMITS if limit.is_required)
    return limits(audit)[: required + more]


def _identifiers(audit: Audit) -> Iterator[str]:
    if audit.identifiers:
        yield f"{listing(audit.identifiers)}: declared as identifier, and published."


def _refused(audit: Audit) -> Iterator[str]:
    for name, reason in audit.refused.items():
        yield f"{name} was not tried: {reason}."


def _uncovered(audit: Audit) -> Iterator[str]:
    for text in dict.fromkeys(map(uncovered, audit.attacks)):
        if text:
            yield f"{text}. {LOWER_BOUND} {OTHER_SPELLING}"


def _known_group(audit: Audit) -> Iterator[str]:
    if audit.release.links() is not None:
        yield (
            "An attacker who knows a person's group may be right more often. To test this, run: dalenius attack --adversary "
            f"{Majority.name}"
        )


def _worst_cases(audit: Audit) -> Iterator[str]:
    if audit.release.centres() is not None:
        yield (
            "Singling out, linkability and privacy models assume that a person's group is known. The nearest centroid may belong "
            "to another group, so these numbers are worst cases."
        )


def _no_threats(audit: Audit) -> Iterator[str]:
    if audit.no_threats_reason and audit.has_truth:
        yield f"Relative threats of learner and attacker were not measured: {audit.no_threats_reason}."


def _unsettled(audit: Audit) -> Iterator[str]:
    for name, threats in audit.threats.items():
        if threats.has_converged_beliefs and not threats.converged:
            worst = max(threats.errors[figure] for figure in ACCURACIES)
            yield (
                f"The share of people threatened in {name} is known only to ± {worst:.4f}, because the most likely values are tied "
                "or nearly tied."
            )
        elif not threats.converged:
            yield f"The relative threats of {name} were sampled and have not converged: do not rely on them."


def _control(audit: Audit) -> Iterator[str]:
    if not audit.has_truth:
        yield "Without the original table (--truth), the audit cannot tell how often an adversary is right, only how sure it is."
    elif not audit.held_out:
        yield (
            "Without held-out people (--holdout), the audit cannot separate what the release reveals about its own people from "
            "what it teaches about everybody."
        )


def _missing(audit: Audit) -> Iterator[str]:
    yield from dict.fromkeys(_without_value(attack) for attack in audit.attacks if attack.missing)


def _without_value(attack: Attack) -> str:
    """Return the sentence about people who have no value to learn."""
    have = counted(attack.missing, "person has", "people have")
    return (
        f"{have} no value of {attack.column}. A missing value is not a secret, so the figures of attacks leave these people out. "
        "To count it as one, set missing_is_secret = true in the schema."
    )


def _other_population(audit: Audit) -> Iterator[str]:
    for name in dict.fromkeys(attack.column for attack in audit.attacks if not attack.comparable):
        least = max(attack.shift.least for attack in audit.attacks if attack.column == name)
        yield (
            f"The held-out people are not like those of the table: the most common {name} is at least {100 * least:.1f} points "
            "rarer or more common among them. They cannot serve as a control."
        )


def _near_guesses(audit: Audit) -> Iterator[str]:
    numbers = [column.name for column in audit.schema.sensitive if column.type == "integer"]
    if numbers and audit.attacks:
        yield f"A guess of {listing(numbers)} that is nearly right counts as wrong: how close guesses come is not measured."


def _unseen_columns(audit: Audit) -> Iterator[str]:
    def published(name: str) -> str:
        if audit.opening.columns is None:
            return ""
        return ", published" if name in audit.opening.columns else ", not published"

    unseen = [
        f"{column.name} ({column.role}{published(column.name)})"
        for column in audit.schema.columns
        if column.role in ("identifier", "other")
    ]
    if unseen:
        yield f"Columns that were not analysed: {', '.join(unseen)}."


def _classless(audit: Audit) -> Iterator[str]:
    if audit.classes is None:
        yield "The release has no classes, so singling out, linkability and privacy models of classes do not apply."


def _untested(audit: Audit) -> Iterator[str]:
    for threshold in audit.thresholds:
        if threshold.outcome == "not tested":
            yield f"{threshold.key} was not tested: {threshold.reason}."


def _never_tried(audit: Audit) -> Iterator[str]:  # noqa: ARG001 - true of every audit
    yield "Adversaries with other background knowledge, and other releases of the same people, were not tried."


# A new limit is one function and one line here.
LIMITS = (
    Limit(_identifiers),
    Limit(_refused, is_required=True),
    Limit(_uncovered),
    Limit(_known_group, is_required=True),
    Limit(_worst_cases, is_required=True),
    Limit(_no_threats, is_required=True),
    Limit(_unsettled, is_required=True),
    Limit(_control),
    Limit(_missing),
    Limit(_other_population),
    Limit(_near_guesses),
    Limit(_unseen_columns),
    Limit(_classless),
    Limit(_untested),
    Limit(_never_tried),
)
