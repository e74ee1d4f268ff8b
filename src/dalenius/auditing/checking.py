"""The check of a release: every level of its classes, ε against realistic adversaries, and the criteria asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalenius import engines as _engine
from dalenius.auditing.disclosure import composition, described
from dalenius.auditing.suppressed import Asked, SuppressedRows, ask, suppressed_rows
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
from dalenius.schema import Schema

Against = dict[str, dict[str, Level]]  # sensitive column → adversary as written → ε and the worst class


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """A release with every level of its classes, by sensitive column, and of its suppressed rows."""

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
    withstands: dict[str, Any] | None  # None: nobody asked
    asked: tuple[Asked, ...]

    @property
    def parameters(self) -> dict[str, Any]:
        """What the user chose for measuring, by the name of the option."""
        return {"recursive_l": self.recursive_l}

    @property
    def holds(self) -> bool:
        """Whether every criterion that was asked for is satisfied."""
        return all(one.holds for one in self.asked)

    def to_document(self) -> dict[str, Any]:
        """The check as JSON has it."""
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
            "thresholds": [one.to_document() for one in self.asked],
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
) -> Checked:
    """Measure every privacy model on a release, ε against each realistic adversary, and hold criteria against its classes.

    With `epsilon` it also says how stubborn an adversary of each class the release withstands. `prior_cells` names a data set whose
    people an adversary has seen, each combination of quasi-identifiers by itself; `population` says who is in the classes.
    """
    check_parameters(
        epsilon=epsilon, prior_cells=prior_cells, population=population, known=known, predicates=predicates
    )
    parameters = {"recursive_l": recursive_l}
    engine = engine or _engine.default()
    opened = read(release, schema, kind=kind, engine=engine)
    classes = opened.classes()
    if classes is None:
        raise InputError(f"{source_name(release)}: a release of kind {opened.kind!r} has no classes to check.")
    names = [column.name for column in classes.schema.sensitive]
    groupings = {name: classes.grouping(name, others_as_quasi=others_as_quasi) for name in names}
    against = _levels_against(groupings, adversaries, predicates)
    if prior_cells is not None:
        _add_cells(against, classes, groupings, prior_cells, population, Priors(schema, engine))
    return Checked(
        name=source_name(release),
        kind=opened.kind,
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
        asked=ask(classes, criteria, others_as_quasi=others_as_quasi),
    )


def check_parameters(
    *,
    epsilon: float | None,
    prior_cells: str | None,
    population: Path | None,
    known: int,
    predicates: Sequence[Predicate],
) -> None:
    """Refuse what does not go together, before anything is read."""
    if epsilon is not None and not 1 <= epsilon < math.inf:
        raise ParameterError("--epsilon", "check", "a finite number ≥ 1 (1 is perfect privacy)", epsilon)
    if population is not None and prior_cells is None:
        raise InputError("--population says who is in the classes, which only --prior-cells asks for.")
    if prior_cells is not None and (known or predicates):
        raise InputError(
            "--prior-cells knows no records and looks at every single value: leave --known and --predicate out."
        )


def _levels_against(
    groupings: Mapping[str, Grouping], adversaries: Sequence[Realistic], sets: Sequence[Predicate]
) -> Against:
    """ε of each sensitive column against each adversary."""
    return {
        name: {who.text: EpsilonPrivacy(who, predicates=tuple(sets)).level(grouping) for who in adversaries}
        for name, grouping in groupings.items()
    }


def _worst(found: Against) -> dict[str, float]:
    """Of several sensitive columns, the worst ε against each adversary."""
    texts = list(dict.fromkeys(text for levels in found.values() for text in levels))
    return {text: max(levels[text].value for levels in found.values() if text in levels) for text in texts}


def _withstands(
    groupings: Mapping[str, Grouping],
    epsilon: float,
    adversaries: Sequence[Realistic],
    known: int,
    sets: Sequence[Predicate],
) -> dict[str, Any]:
    """For each class and shape the stubbornness that the release withstands: of several columns, what all do."""
    shapes: dict[str, Any] = {"I:uniform": "uniform", "I:table": "table", "II": None}
    shapes |= {f"I:{who.shape_text}": who for who in adversaries if who.kind in ("I", "III") and who.shape_text}
    sigma: dict[str, Any] = {}
    for prior, shape in shapes.items():
        spans = [withstood(g, epsilon, shape=shape, known=known, predicates=sets) for g in groupings.values()]
        low = max((span.smallest for span in spans if span), default=math.inf)
        high = min((span.largest for span in spans if span), default=-math.inf)
        possible = all(spans) and low <= high
        sigma[prior] = {"smallest": low, "largest": high} if possible else None
    return {"epsilon": epsilon, "known": known, "sigma": sigma}


def _add_cells(
    found: Against,
    release: GroupedRelease,
    groupings: Mapping[str, Grouping],
    path: str,
    population: Path | None,
    priors: Priors,
) -> None:
    """ε against an adversary whose prior depends on the quasi-identifiers."""
    if any(grouping.parent is not None for grouping in groupings.values()):
        raise InputError("--prior-cells and --others-as-quasi do not go together: leave one out.")
    people = composition(release, population, priors.engine)
    for name, grouping in groupings.items():
        cells, counts = priors.cells(path, release.schema, name)
        found[name][f"cells:{path}"] = worst_level(levels_by_cell(grouping, people, cells, counts), "smaller")
