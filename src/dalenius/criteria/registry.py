"""The registry of criteria: the command line, JSON, reports, policies, `frontier` and tests go through it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dalenius.criteria.base import NO_PARAMETERS, Criterion, Level, Reported, Setting
from dalenius.criteria.closeness import TCloseness
from dalenius.criteria.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from dalenius.criteria.epsilon_privacy import EpsilonPrivacy
from dalenius.criteria.likeness import AlphaAnonymity, BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from dalenius.criteria.size import KAnonymity
from dalenius.errors import InputError
from dalenius.options import Option
from dalenius.plugins import Registry
from dalenius.releases import Grouping
from dalenius.schema import Column

# A new criterion is one file and one line here, or a plug-in's entry point in the group `dalenius.criteria`.
CRITERIA: Registry[type[Criterion]] = Registry(
    "dalenius.criteria",
    (
        KAnonymity,
        AlphaAnonymity,
        DistinctDiversity,
        EntropyDiversity,
        RecursiveDiversity,
        TCloseness,
        DeltaDisclosure,
        BasicBetaLikeness,
        EnhancedBetaLikeness,
        EpsilonPrivacy,
    ),
    lambda criterion: criterion.name,
    base=Criterion,
    required=("name", "title", "better"),
)
Place = tuple[str, str]  # a number in JSON: the name of its criterion, and its key there


@dataclass(frozen=True, slots=True)
class Measured:
    """One number that is reported for every release with classes."""

    model: type[Criterion]
    reported: Reported

    @property
    def place(self) -> Place:
        """Where the number stands in JSON."""
        return self.model.name, self.reported.key

    def criterion(self, parameters: Mapping[str, Any] = NO_PARAMETERS) -> Criterion:
        """Return a criterion whose level is this number."""
        return self.model.measuring(self.reported.key, parameters)

    def level(self, grouping: Grouping, parameters: Mapping[str, Any] = NO_PARAMETERS) -> Level:
        """Return the level on a grouping; nan where it is undefined."""
        criterion = self.criterion(parameters)
        return Level(math.nan, -1) if criterion.undefined(grouping.column) else criterion.level(grouping)

    def worst(self, levels: Sequence[Level]) -> Level:
        """Return the worst of several levels, leaving out undefined ones if there are others."""
        defined = [level for level in levels if not math.isnan(level.value)]
        pick = min if self.model.better == "larger" else max
        return pick(defined, key=lambda level: level.value) if defined else levels[0]


def measured() -> Iterator[Measured]:
    """Yield every number that is reported, in the order of the registry."""
    for model in CRITERIA.values():
        for reported in model.reported:
            yield Measured(model, reported)


def measured_at(place: Place) -> Measured:
    """Return the number that stands at a place in JSON."""
    return next(number for number in measured() if number.place == place)


def measure(grouping: Grouping, parameters: Mapping[str, Any] = NO_PARAMETERS) -> dict[Place, Level]:
    """Return the level of every criterion on a grouping; nan where it is undefined (see `undefined`)."""
    return {number.place: number.level(grouping, parameters) for number in measured()}


def undefined(model: str, key: str, column: Column) -> str:
    """Return why a criterion has no level on a sensitive column; empty if it has one."""
    return measured_at((model, key)).criterion().undefined(column)


def worst_of(by_column: Sequence[Mapping[Place, Level]]) -> dict[Place, Level]:
    """Return the worst level of each criterion over several sensitive columns."""
    return {number.place: number.worst([levels[number.place] for levels in by_column]) for number in measured()}


def headlines() -> dict[str, Measured]:
    """Return the numbers that `compare` and `frontier` show, by their key there."""
    _refuse_conflicts()
    return {number.reported.headline: number for number in measured() if number.reported.headline}


def headline_levels(groupings: Sequence[Grouping]) -> dict[str, float]:
    """Return the headline numbers of a release: for each the worst level over its sensitive columns."""
    return {
        key: number.worst([number.level(grouping) for grouping in groupings]).value
        for key, number in headlines().items()
    }


def is_worse(place: Place, level: float, other: float) -> bool:
    """Return whether the other level of a criterion is worse."""
    return other < level if measured_at(place).model.better == "larger" else other > level


def document(levels: Mapping[Place, Level], parameters: Mapping[str, Any] = NO_PARAMETERS) -> dict[str, dict[str, Any]]:
    """Return the levels under the keys of `check --json`; counts are whole numbers."""
    nested: dict[str, dict[str, Any]] = {}
    for place, level in levels.items():
        number = measured_at(place)
        inner = nested.setdefault(number.model.name, {})
        inner[number.reported.key] = int(level.value) if number.reported.is_whole else level.value
        inner |= number.model.parameters(parameters)
    return nested


def policy_places() -> dict[str, Place]:
    """Return the keys of `[policy]` that bound a number of the classes."""
    _refuse_conflicts()
    return {number.reported.policy_key: number.place for number in measured() if number.reported.policy_key}


def _refuse_conflicts() -> None:
    """Refuse two criteria that share an option or a key: the later one would silently decide for both."""
    taken: dict[str, str] = {}
    for model in CRITERIA.values():
        if not isinstance(model.option, Option | None):
            raise InputError(f"The option of the criterion {model.name!r} must be a dalenius.options.Option.")
        names = [] if model.option is None else [model.option.flag]
        names += [f"{reported.policy_key} of [policy]" for reported in model.reported if reported.policy_key]
        names += [f"the headline {reported.headline!r}" for reported in model.reported if reported.headline]
        for name in names:
            if name in taken:
                raise InputError(
                    f"The criteria {taken[name]!r} and {model.name!r} both have {name}. Rename one of them."
                )
            taken[name] = model.name


def check_threshold(place: Place, value: float) -> None:
    """Refuse a threshold of `[policy]` that the criterion itself refuses, such as one that demands nothing."""
    model = measured_at(place).model
    is_text = model.option is not None and model.option.type is str
    model.from_option(f"{value:g}" if is_text else value, Setting())


def options() -> tuple[Option, ...]:
    """Return the command-line options that ask for criteria."""
    _refuse_conflicts()
    return tuple(model.option for model in CRITERIA.values() if model.option is not None)


def from_options(chosen: Mapping[str, Any], setting: Setting) -> list[Criterion]:
    """Return the criteria that options ask for. `chosen` is by the names of Python arguments; None asks for nothing."""
    criteria: list[Criterion] = []
    for model in CRITERIA.values():
        value = None if model.option is None else chosen.get(model.option.parameter)
        if value is None:
            continue
        texts = value if model.option is not None and model.option.is_repeatable else [value]
        criteria += [model.from_option(text, setting) for text in texts]
    return criteria
