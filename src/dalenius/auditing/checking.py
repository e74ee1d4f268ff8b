"""The check of a release: every level of its classes, ε against realistic adversaries, and the outcome of criteria."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalenius import engines as _engine
from dalenius.auditing.disclosure import composition, described
from dalenius.auditing.suppressed import CriterionOutcome, SuppressedRows, evaluate_criteria, suppressed_rows
from dalenius.criteria import (
    Criterion,
    EpsilonPrivacy,
    Level,
    Predicate,
    Realistic,
    document,
    measure,
    withstood,
    worst_of,
)
from dalenius.criteria.base import worst as worst_level
from dalenius.criteria.cell_prior import levels_by_cell
from dalenius.engines import Engine, Source, source_name
from dalenius.errors import InputError, ParameterError
from dalenius.measures.remaining import columns_left, to_document
from dalenius.releases import GroupedRelease, Grouping, read
from dalenius.releases.prior import Priors
from dalenius.result import Result
from dalenius.schema import Schema

__all__ = ["Against", "ReleaseCheck", "check", "check_parameters"]

Against = dict[str, dict[str, Level]]  # sensitive column → adversary as written → ε and the worst class


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleaseCheck(Result):
    """A release with every level of its classes, by sensitive column, and of its suppressed rows.

    `to_pandas` has one row for each sensitive column and privacy model: `sensitive`, `model` and `key` (where the level is in the
    JSON), `title`, `level`, `safer` (whether larger or smaller levels are safer), and `reason` where a level is not defined. ε
    against a realistic adversary is one row, too, with the adversary as `key`.
    """

    name: str
    kind: str  # of the release; its classes may be the data of another one
    release: GroupedRelease
    recursive_l: int  # the ℓ of recursive (c,ℓ)-diversity
    others_as_quasi: bool
    groupings: dict[str, Grouping]
    levels: dict[str, dict[tuple[str, str], Level]]
    suppressed_rows: SuppressedRows | None  # None: there are none
    adversaries: tuple[Realistic, ...]
    predicates: tuple[Predicate, ...]
    known: int
    against: Against
    withstands: dict[str, Any] | None  # None: not requested
    outcomes: tuple[CriterionOutcome, ...]

    @property
    def parameters(self) -> dict[str, Any]:
        """What the user chose for measuring, by the name of the option."""
        return {"recursive_l": self.recursive_l}

    @property
    def holds(self) -> bool:
        """Return whether every criterion is satisfied."""
        return all(criterion.holds for criterion in self.outcomes)

    def to_document(self) -> dict[str, Any]:
        """Return the check as JSON has it."""
        release, sizes = self.release, self.release.sizes
        columns = {name: document(levels, self.parameters) for name, levels in self.levels.items()}
        for name, against in self.against.items():
            if against:
                columns[name]["epsilon_privacy"] = {text: level.value for text, level in against.items()}
        return {
            "kind": self.kind,
            "people": release.people,
            "classes": release.groups,
            "suppressed": release.suppressed,
            "columns_left": to_document(columns_left(release)),
            **document(worst_of(list(self.levels.values())), self.parameters),
            **({"epsilon_privacy": _worst(self.against)} if any(self.against.values()) else {}),
            **({"known": self.known, **described(self.adversaries, self.predicates)} if self.adversaries else {}),
            **({} if self.withstands is None else {"withstands": self.withstands}),
            "suppressed_rows": None
            if self.suppressed_rows is None
            else self.suppressed_rows.to_document(self.parameters),
            "thresholds": [criterion.to_document() for criterion in self.outcomes],
            "class_sizes": {
                "smallest": int(sizes.min()),
                "median": float(np.median(sizes)),
                "mean": float(sizes.mean()),
                "largest": int(sizes.max()),
            },
            "uniques": int((sizes == 1).sum()),
            "sensitive": columns,
            "others_as_quasi": self.others_as_quasi,
        }


def check(
    release: Source,
    schema: Schema,
    *,
    criteria: Sequence[Criterion] = (),
    adversaries: Sequence[Realistic] = (),
    predicates: Sequence[Predicate] = (),
    known: int = 0,
    epsilon: float | None = None,
    prior_cells: str | None = None,
    population: Path | None = None,
    recursive_l: int = 2,
    others_as_quasi: bool = False,
    kind: str | None = None,
    engine: Engine | None = None,
) -> ReleaseCheck:
    """Measure every privacy model on a release, and ε against each realistic adversary, and evaluate criteria on its classes.

    With `epsilon`, also find how stubborn an adversary of each class the release withstands. `prior_cells` names a data set whose
    people an adversary has seen, separately for each combination of quasi-identifiers. `population` says who is in the classes.
    """
    check_parameters(
        epsilon=epsilon, prior_cells=prior_cells, population=population, known=known, predicates=predicates
    )
    parameters = {"recursive_l": recursive_l}
    engine = engine or _engine.default()
    whole = read(release, schema, kind=kind, engine=engine)
    classes = whole.classes()
    if classes is None:
        raise InputError(
            f"{source_name(release)}: a release of kind {whole.kind!r} has no classes, so there is nothing to check."
        )
    names = [column.name for column in classes.schema.sensitive]
    groupings = {name: classes.grouping(name, others_as_quasi=others_as_quasi) for name in names}
    against = _levels_against(groupings, adversaries, predicates)
    if prior_cells is not None:
        _add_cells(against, classes, groupings, prior_cells, population, Priors(schema, engine))
    return ReleaseCheck(
        name=source_name(release),
        kind=whole.kind,
        release=classes,
        recursive_l=recursive_l,
        others_as_quasi=others_as_quasi,
        groupings=groupings,
        levels={name: measure(grouping, parameters) for name, grouping in groupings.items()},
        suppressed_rows=suppressed_rows(classes, others_as_quasi=others_as_quasi, parameters=parameters),
        adversaries=tuple(adversaries),
        predicates=tuple(predicates),
        known=known,
        against=against,
        withstands=None if epsilon is None else _withstands(groupings, epsilon, adversaries, known, predicates),
        outcomes=evaluate_criteria(classes, criteria, others_as_quasi=others_as_quasi),
    )


def check_parameters(
    *,
    epsilon: float | None,
    prior_cells: str | None,
    population: Path | None,
    known: int,
    predicates: Sequence[Predicate],
) -> None:
    """Refuse arguments that contradict each other, before anything is read."""
    if epsilon is not None and not 1 <= epsilon < math.inf:
        raise ParameterError("--epsilon", "check", "a finite number ≥ 1 (1 is perfect privacy)", epsilon)
    if population is not None and prior_cells is None:
        raise InputError("--population is only used by --prior-cells. Add --prior-cells, or leave it out.")
    if prior_cells is not None and (known or predicates):
        raise InputError("--prior-cells cannot be combined with --known or --predicate. Leave these out.")


def _levels_against(
    groupings: Mapping[str, Grouping], adversaries: Sequence[Realistic], sets: Sequence[Predicate]
) -> Against:
    """Return ε of each sensitive column against each adversary."""
    return {
        name: {
            adversary.text: EpsilonPrivacy(adversary, predicates=tuple(sets)).level(grouping)
            for adversary in adversaries
        }
        for name, grouping in groupings.items()
    }


def _worst(against: Against) -> dict[str, float]:
    """Return the worst ε against each adversary over all sensitive columns."""
    texts = list(dict.fromkeys(text for levels in against.values() for text in levels))
    return {text: max(levels[text].value for levels in against.values() if text in levels) for text in texts}


def _withstands(
    groupings: Mapping[str, Grouping],
    epsilon: float,
    adversaries: Sequence[Realistic],
    known: int,
    sets: Sequence[Predicate],
) -> dict[str, Any]:
    """Return the stubbornness that all sensitive columns withstand, for each class and shape of adversary."""
    shapes: dict[str, Any] = {"I:uniform": "uniform", "I:table": "table", "II": None}
    with_shape = [each for each in adversaries if each.kind in ("I", "III") and each.shape_text]
    shapes |= {f"I:{adversary.shape_text}": adversary for adversary in with_shape}
    sigma: dict[str, Any] = {}
    for prior, shape in shapes.items():
        spans = [withstood(g, epsilon, shape=shape, known=known, predicates=sets) for g in groupings.values()]
        low = max((span.smallest for span in spans if span), default=math.inf)
        high = min((span.largest for span in spans if span), default=-math.inf)
        possible = all(spans) and low <= high
        sigma[prior] = {"smallest": low, "largest": high} if possible else None
    return {"epsilon": epsilon, "known": known, "sigma": sigma}


def _add_cells(
    against: Against,
    release: GroupedRelease,
    groupings: Mapping[str, Grouping],
    path: str,
    population: Path | None,
    priors: Priors,
) -> None:
    """Add ε against an adversary whose prior depends on the quasi-identifiers."""
    if any(grouping.parent is not None for grouping in groupings.values()):
        raise InputError("--prior-cells and --others-as-quasi cannot be combined. Leave one of them out.")
    people = composition(release, population, priors.engine)
    for name, grouping in groupings.items():
        cells, counts = priors.cells(path, release.schema, name)
        against[name][f"cells:{path}"] = worst_level(levels_by_cell(grouping, people, cells, counts), "smaller")
