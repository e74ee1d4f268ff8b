"""What an audit cannot say: a list of small functions, each with its sentence, in the order of the report."""

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

LOWER_BOUND = "Every success is a lower bound, and so is every gain unless held-out people fit no class either."
OTHER_SPELLING = "Is a set, a range or a mark of suppression written in another way?"


@dataclass(frozen=True, slots=True)
class Limit:
    """Sentences about one thing that was not tested. What must be said is never left out, however short a report is."""

    sentences: Callable[[Audit], Iterator[str]]
    must_be_said: bool = False


def limits(audit: Audit) -> list[str]:
    """What this audit cannot say; adversaries that were not tried come first."""
    return [sentence for limit in LIMITS for sentence in limit.sentences(audit)]


def first_limits(audit: Audit, more: int) -> list[str]:
    """The first of them: as many as must be said, and some more."""
    needed = sum(len(list(limit.sentences(audit))) for limit in LIMITS if limit.must_be_said)
    return limits(audit)[: needed + more]


def _identifiers(audit: Audit) -> Iterator[str]:
    if audit.identifiers:
        yield f"{listing(audit.identifiers)}: declared to name a person, and published."


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
            "Somebody who knows in which group a person is may be right more often: dalenius attack --adversary "
            f"{Majority.name}."
        )


def _worst_cases(audit: Audit) -> Iterator[str]:
    if audit.release.centres() is not None:
        yield (
            "Singling out, linkability and privacy models take a person's group as known. The nearest centroid may be another "
            "group's, so that they are worst cases."
        )


def _unthreatened(audit: Audit) -> Iterator[str]:
    if audit.unthreatened and audit.has_truth:
        yield f"Relative threats of learner and attacker were not measured: {audit.unthreatened}."


def _unsettled(audit: Audit) -> Iterator[str]:
    for name, threats in audit.threats.items():
        if threats.settled and not threats.converged:
            worst = max(threats.errors[figure] for figure in ACCURACIES)
            yield (
                f"How many people are threatened in {name} is known to ± {worst:.4f} only: values tie, or nearly so, for "
                "the most believed one."
            )
        elif not threats.converged:
            yield f"The relative threats of {name} were sampled and have not converged: do not rely on them."


def _control(audit: Audit) -> Iterator[str]:
    if not audit.has_truth:
        yield "Without the original table (--truth) it cannot be known how often an adversary is right, only how sure it is."
    elif not audit.held_out:
        yield (
            "Without held-out people (--holdout) what the release teaches about everybody cannot be told from what "
            "it gives away about its own people."
        )


def _missing(audit: Audit) -> Iterator[str]:
    yield from dict.fromkeys(_without_value(found) for found in audit.attacks if found.missing)


def _without_value(found: Attack) -> str:
    """People who have no value that somebody could learn."""
    have = counted(found.missing, "person has", "people have")
    return (
        f"{have} no value of {found.column}. That is not taken for a secret, and no figure of an attack counts them; "
        "missing_is_secret = true in the schema makes it one."
    )


def _other_population(audit: Audit) -> Iterator[str]:
    for name in dict.fromkeys(one.column for one in audit.attacks if not one.comparable):
        least = max(one.shift.least for one in audit.attacks if one.column == name)
        yield (
            f"The held-out people are not like those of the table: the commonest {name} is at least {100 * least:.1f} points "
            "rarer or commoner among them. They are no control."
        )


def _near_guesses(audit: Audit) -> Iterator[str]:
    numbers = [column.name for column in audit.schema.sensitive if column.type == "integer"]
    if numbers and audit.attacks:
        yield f"A guess of {listing(numbers)} that is nearly right counts as wrong: how near guesses come is not measured."


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
        yield f"Columns that were not looked at: {', '.join(unseen)}."


def _classless(audit: Audit) -> Iterator[str]:
    if audit.classes is None:
        yield "The release has no classes: singling out, linkability and privacy models of classes do not apply."


def _untested(audit: Audit) -> Iterator[str]:
    for threshold in audit.thresholds:
        if threshold.outcome == "not tested":
            yield f"{threshold.key} was not tested: {threshold.reason}."


def _never_tried(audit: Audit) -> Iterator[str]:  # noqa: ARG001 - true of every audit
    yield "Adversaries with other background knowledge, and other releases of the same people, were not tried."


# A new limit is one function and one line here.
LIMITS = (
    Limit(_identifiers),
    Limit(_refused, must_be_said=True),
    Limit(_uncovered),
    Limit(_known_group, must_be_said=True),
    Limit(_worst_cases, must_be_said=True),
    Limit(_unthreatened, must_be_said=True),
    Limit(_unsettled, must_be_said=True),
    Limit(_control),
    Limit(_missing),
    Limit(_other_population),
    Limit(_near_guesses),
    Limit(_unseen_columns),
    Limit(_classless),
    Limit(_untested),
    Limit(_never_tried),
)
