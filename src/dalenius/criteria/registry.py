"""The criteria, and what of each is measured: the command line, JSON, reports, policies and tests go through this."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dalenius.criteria.base import Criterion, Level, Reported, Setting
from dalenius.criteria.closeness import TCloseness
from dalenius.criteria.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from dalenius.criteria.likeness import AlphaAnonymity, BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from dalenius.criteria.realistic import EpsilonPrivacy
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
Place = tuple[str, str]  # a model's name and the key of one of its numbers: where it stands in JSON


@dataclass(frozen=True, slots=True)
class Measured:
    """One number that is reported of every release with classes."""

    model: type[Criterion]
    reported: Reported

    @property
    def place(self) -> Place:
        return self.model.name, self.reported.key

    def criterion(self, *, recursive_l: int = 2) -> Criterion:
        return self.model.measuring(self.reported.key, recursive_l=recursive_l)


def measured() -> Iterator[Measured]:
    """Every number that is reported, in the order of the registry."""
    for model in CRITERIA.values():
        for reported in model.reported:
            yield Measured(model, reported)


def measured_at(place: Place) -> Measured:
    """The number that stands at this place in JSON."""
    return next(one for one in measured() if one.place == place)


def measure(grouping: Grouping, *, recursive_l: int = 2) -> dict[Place, Level]:
    """The level of every model on a grouping; nan where it is not defined (see `undefined`)."""
    levels = {}
    for one in measured():
        criterion = one.criterion(recursive_l=recursive_l)
        is_defined = not criterion.undefined(grouping.column)
        levels[one.place] = criterion.level(grouping) if is_defined else Level(math.nan, -1)
    return levels


def undefined(model: str, key: str, column: Column) -> str:
    """Why a model has no level on a sensitive column; empty where it has one."""
    return measured_at((model, key)).criterion().undefined(column)


def worst_of(several: Sequence[Mapping[Place, Level]]) -> dict[Place, Level]:
    """Of several sensitive columns, the worst level of each model; where it is undefined, of the rest."""
    worst: dict[Place, Level] = {}
    for one in measured():
        levels = [levels[one.place] for levels in several]
        defined = [level for level in levels if not math.isnan(level.value)]
        pick = min if one.model.better == "larger" else max
        worst[one.place] = pick(defined, key=lambda level: level.value) if defined else levels[0]
    return worst


def is_worse(place: Place, level: float, other: float) -> bool:
    """Whether the other level of a model is worse."""
    return other < level if measured_at(place).model.better == "larger" else other > level


def document(levels: Mapping[Place, Level], *, recursive_l: int = 2) -> dict[str, dict[str, Any]]:
    """The levels under the keys of `check --json`; counts are whole numbers."""
    nested: dict[str, dict[str, Any]] = {}
    for place, level in levels.items():
        one = measured_at(place)
        inner = nested.setdefault(one.model.name, {})
        inner[one.reported.key] = int(level.value) if one.reported.is_whole else level.value
        inner |= one.model.parameters(recursive_l=recursive_l)
    return nested


def policy_places() -> dict[str, Place]:
    """The keys of `[policy]` that bound a number of the classes."""
    _refuse_conflicts()
    return {one.reported.policy_key: one.place for one in measured() if one.reported.policy_key}


def _refuse_conflicts() -> None:
    """Two criteria cannot share an option or a key of `[policy]`: the later one would silently decide for both."""
    taken: dict[str, str] = {}
    for model in CRITERIA.values():
        if not isinstance(model.option, Option | None):
            raise InputError(f"The option of the criterion {model.name!r} must be a dalenius.options.Option.")
        names = [] if model.option is None else [model.option.flag]
        names += [f"{reported.policy_key} of [policy]" for reported in model.reported if reported.policy_key]
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
    """The command-line options that ask for criteria."""
    _refuse_conflicts()
    return tuple(model.option for model in CRITERIA.values() if model.option is not None)


def from_options(chosen: Mapping[str, Any], setting: Setting) -> list[Criterion]:
    """The criteria that options ask for, by the names of their Python arguments; None and nothing ask for none."""
    criteria: list[Criterion] = []
    for model in CRITERIA.values():
        value = None if model.option is None else chosen.get(model.option.parameter)
        if value is None:
            continue
        texts = value if model.option is not None and model.option.is_repeatable else [value]
        criteria += [model.from_option(text, setting) for text in texts]
    return criteria
