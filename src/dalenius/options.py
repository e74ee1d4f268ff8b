"""What an option is. The command line, the Python functions and help texts use the same declaration."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from dalenius.errors import ParameterError

OptionType = type[int] | type[float] | type[str] | type[bool] | type[Path]
_NAMES: dict[Any, str] = {int: "an int", float: "a number", bool: "True or False", str: "a text", Path: "a path"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name, type, range, help text, and the heading under which help lists it.

    Criteria and publishers declare their options with it, and so do the functions of `dalenius.api`. A default is written where the
    option is used: in the signature of the function, or None (False for a flag) for what a criterion or a publisher declares.
    """

    name: str  # as it is typed, without the dashes; for an argument, the name of the Python parameter
    help: str  # {kinds}, {methods} and {adversaries} stand for the registered names
    type: OptionType = float
    metavar: str | None = None
    is_repeatable: bool = False
    panel: str = ""  # the heading of `--help` under which it stands; empty: that of the command
    short: str = ""  # one letter, such as o for -o
    envvar: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    allowed: str = ""  # what `is_allowed` allows, in words
    is_allowed: Callable[[Any], bool] | None = None
    is_argument: bool = False  # typed without a name
    shows_default: bool = True

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", self.name) or (
            "_" in self.name and not self.is_argument
        ):
            raise ValueError(f"an option's name has small letters, digits and single dashes, not {self.name!r}")

    @property
    def parameter(self) -> str:
        """The name of the Python argument."""
        return self.name.replace("-", "_")

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"--{self.name}"

    @property
    def default(self) -> Any:
        """The value of an option that nobody typed: False for a flag, else None."""
        return False if self.type is bool else None

    def but(self, **changes: Any) -> Option:
        """Return the same option with other words, for a command that means something slightly different by it."""
        return replace(self, **changes)

    def check(self, value: Any, owner: str) -> None:
        """Refuse a value of the wrong type, out of range or not among the choices.

        Paths and texts are not checked by type: a Python function also takes a data frame or one of our objects there.
        """
        for each in self._each(value):
            if not self._has_type(each) or not self._is_in_range(each):
                raise ParameterError(self.parameter if self.is_argument else self.flag, owner, self.describe(), each)

    def describe(self) -> str:
        """Say which values are allowed."""
        if self.allowed:
            return self.allowed
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        bounds = [f"≥ {self.minimum:g}"] if self.minimum is not None else []
        bounds += [f"≤ {self.maximum:g}"] if self.maximum is not None else []
        return " ".join([_NAMES[self.type], " and ".join(bounds)]).strip()

    def _each(self, value: Any) -> Iterable[Any]:
        return value if self.is_repeatable and isinstance(value, list | tuple) else (value,)

    def _has_type(self, value: Any) -> bool:
        if self.choices:
            return isinstance(value, str)
        if self.type is bool:
            return isinstance(value, bool)
        if self.type is int:
            return isinstance(value, Integral) and not isinstance(value, bool)
        if self.type is float:
            return isinstance(value, Real) and not isinstance(value, bool)
        return True

    def _is_in_range(self, value: Any) -> bool:
        if self.choices and value not in self.choices:
            return False
        if self.minimum is not None and not value >= self.minimum:
            return False
        if self.maximum is not None and not value <= self.maximum:
            return False
        return self.is_allowed is None or self.is_allowed(value)


def chosen_of(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that somebody asked for, by name. None, an unset flag and an empty list ask for nothing."""
    return {name: value for name, value in typed.items() if value is not None and value is not False and value != []}


__all__ = ["Option", "OptionType", "chosen_of"]
