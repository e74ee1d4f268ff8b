"""Options: what a command and the Python function behind it take, declared once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name, type, default, help text, and where help lists it.

    Criteria and publishers declare theirs as such. Every command that takes criteria, or publishes, has these options, and the
    Python functions have keyword arguments of the same names.
    """

    name: str  # as it is typed, without the dashes
    help: str
    type: type[int] | type[float] | type[str] | type[bool] | type[Path] = float
    metavar: str | None = None
    is_repeatable: bool = False
    panel: str = ""  # the heading of `--help` under which it stands; empty: that of the command

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", self.name):
            raise ValueError(f"an option's name has small letters, digits and single dashes, not {self.name!r}")

    @property
    def parameter(self) -> str:
        """The name of a Python argument for it."""
        return self.name.replace("-", "_")

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"--{self.name}"

    @property
    def default(self) -> Any:
        """What a command gets if nobody typed the option: no flag is set, and nothing else is chosen."""
        return False if self.type is bool else None


def chosen_of(typed: Mapping[str, Any]) -> dict[str, Any]:
    """The options that somebody asked for, by name: None, an unset flag and an empty list are nobody's."""
    return {name: value for name, value in typed.items() if value is not None and value is not False and value != []}
