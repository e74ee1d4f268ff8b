"""Axes of `frontier`: parameters whose values it tries, and how a criterion becomes one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dalenius.errors import InputError
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.criteria.base import Criterion

__all__ = ["AXIS_PANEL", "Axis", "TableSize", "Tried", "Values", "numbers", "parser_of", "texts", "whole_numbers"]

AXIS_PANEL = "What is tried"  # the heading in `frontier --help`
Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TableSize:
    """What the usual values of an axis may depend on."""

    people: int
    commonest: int  # people who share the most common sensitive value, over all sensitive columns


@dataclass(frozen=True, slots=True)
class Axis:
    """One parameter of a method, and the values of it that `frontier` tries."""

    name: str  # the option of `publish` that it sets, as a Python argument
    option: Option  # the option of `frontier`: values separated by commas
    parse: Callable[[str], Values]
    usual: Callable[[TableSize], Values] | None = None  # tried if the user names none; None: nothing is tried
    letter: str = ""  # in labels; empty: the name of the parameter
    criterion: Callable[[Any], Criterion] | None = None  # what a value asks for; None: it is an option of the method
    is_demand: bool = True  # a method tries at least one of these, the first by default; of the others it tries all

    def label(self, value: str) -> str:
        """Return a value as readers see it."""
        return f"{self.letter} = {value}" if self.letter else f"{self.name.replace('_', ' ')} {value}"


@dataclass(frozen=True, slots=True)
class Tried:
    """How `frontier` varies the threshold of a criterion. Whatever is left out follows from the criterion's option."""

    letter: str = ""  # in labels; empty: the name of the option
    help: str = ""
    metavar: str = ""
    parse: Callable[[str], Values] | None = None
    usual: Callable[[TableSize], Values] | None = None  # default: the criterion's example


def whole_numbers(flag: str, example: str) -> Callable[[str], Values]:
    """Return a parser of whole numbers from 2 on."""

    def parse(text: str) -> Values:
        parts = texts(text)
        if not all(_is_whole(part) and int(part) > 1 for part in parts):
            raise InputError(
                f"{flag} {text!r}: write whole numbers ≥ 2, separated by commas, for example {example} (1 demands nothing)."
            )
        return tuple(map(int, parts))

    return parse


def numbers(flag: str, allowed: str, example: str, is_allowed: Callable[[float], bool]) -> Callable[[str], Values]:
    """Return a parser of numbers that `is_allowed` accepts; `allowed` says in words which these are."""

    def parse(text: str) -> Values:
        try:
            values = tuple(float(part) for part in text.split(","))
        except ValueError:
            values = ()
        if not values or not all(map(is_allowed, values)):
            wanted = f"numbers {allowed}" if allowed else "numbers"
            raise InputError(f"{flag} {text!r}: write {wanted}, separated by commas, for example {example}.")
        return values

    return parse


def texts(text: str) -> Values:
    """Return the texts between the commas."""
    return tuple(part.strip() for part in text.split(","))


def parser_of(option: Option, example: float) -> Callable[[str], Values]:
    """Return a parser of several values of an option. The criterion itself refuses values out of range."""
    if option.type is str:
        return texts
    if option.type is not int:
        return numbers(option.flag, "", f"{example:g}", math.isfinite)

    def parse(text: str) -> Values:
        parts = texts(text)
        if not all(map(_is_whole, parts)):
            raise InputError(
                f"{option.flag} {text!r}: write whole numbers, separated by commas, for example {example:g}."
            )
        return tuple(map(int, parts))

    return parse


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 12
