"""The third step of an audit: the levels and risks of the classes, and what the release is still good for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dalenius.auditing.disclosure import Disclosure, disclose, policy_epsilons, usual
from dalenius.auditing.opening import Opening
from dalenius.auditing.policy import Part
from dalenius.auditing.suppressed import SuppressedRows, suppressed_rows
from dalenius.criteria import EpsilonPrivacy, Level, Place, Predicate, Realistic, measure
from dalenius.errors import InputError
from dalenius.measures.anonymity import ClassRisks, class_risks
from dalenius.measures.classes import ClassErrors, class_errors
from dalenius.measures.fidelity import fidelity
from dalenius.measures.remaining import ColumnLeft, columns_left
from dalenius.measures.utility import release_utility
from dalenius.releases import GroupedRelease


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """The numbers that need no registered adversary. A release without classes has only the first two."""

    columns_left: tuple[ColumnLeft, ...]
    utility: dict[str, float]
    levels: dict[str, dict[Place, Level]] = field(default_factory=dict)  # by sensitive column
    suppressed_rows: SuppressedRows | None = None  # None: there are none
    risks: ClassRisks | None = None
    errors: dict[str, ClassErrors] = field(default_factory=dict)  # by sensitive column
    disclosures: tuple[Disclosure, ...] = ()
    epsilons: tuple[Part, ...] = ()  # the thresholds of the policy under epsilon_privacy, each with the measured ε


def measure_release(
    opening: Opening,
    *,
    seed: int,
    adversaries: Sequence[Realistic] = (),
    predicates: Sequence[Predicate] = (),
    known: int = 0,
    epsilon_criteria: Sequence[EpsilonPrivacy] = (),
) -> Measurement:
    """Measure a release. `epsilon_criteria` are those of the policy; the other arguments are those of the audit."""
    release, classes = opening.release, opening.classes
    utility: dict[str, float] = {}
    if opening.truth is not None:
        utility = fidelity(release, opening.truth, seed=seed)
    elif classes is not None:
        utility = release_utility(classes)
    left = columns_left(release)
    if classes is None:
        if adversaries:
            raise InputError(f"Realistic adversaries look at classes, and a release of kind {release.kind!r} has none.")
        return Measurement(left, utility)
    groupings = {column.name: classes.grouping(column.name) for column in classes.schema.sensitive}
    levels = {column: measure(grouping) for column, grouping in groupings.items()}
    errors = {column: class_errors(grouping, levels[column]) for column, grouping in groupings.items()}
    return Measurement(
        columns_left=left,
        utility=utility,
        levels=levels,
        suppressed_rows=suppressed_rows(classes),
        risks=_risks(opening, classes, utility),
        errors={column: error for column, error in errors.items() if error is not None},
        epsilons=policy_epsilons(classes, epsilon_criteria),
        disclosures=_disclosures(classes, list(adversaries) or usual(classes, known), predicates, epsilon_criteria),
    )


def _risks(opening: Opening, classes: GroupedRelease, utility: dict[str, float]) -> ClassRisks:
    risks = class_risks(classes, opening.truth)
    # A person whose row was changed fits other people's rows.
    return replace(risks, upper_bound=True) if utility.get("misfit") else risks


def _disclosures(
    classes: GroupedRelease,
    adversaries: Sequence[Realistic],
    predicates: Sequence[Predicate],
    epsilon_criteria: Sequence[EpsilonPrivacy],
) -> tuple[Disclosure, ...]:
    """Return ε against each adversary, and against those that only the policy names."""
    chosen = disclose(classes, adversaries, predicates)
    of_policy = disclose(classes, [criterion.adversary for criterion in epsilon_criteria])

    def key(disclosure: Disclosure) -> tuple[object, ...]:
        return disclosure.adversary, disclosure.known, disclosure.predicates

    measured = set(map(key, chosen))
    return chosen + tuple(disclosure for disclosure in of_policy if key(disclosure) not in measured)
