"""What `frontier` tries of a method: the parameters that it varies, with their usual values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dalenius.criteria import Criterion, DistinctDiversity, KAnonymity
from dalenius.criteria.written import closeness
from dalenius.errors import InputError
from dalenius.options import Option
from dalenius.table import Table

PANEL = "What is tried"  # under which `frontier --help` lists the axes
KS = (2, 5, 10, 25, 50, 100)
LS = (2, 3, 5, 8)
Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """One parameter of a method, and the values of it that are tried."""

    name: str  # the option of `publish` that it sets
    option: Option  # of `frontier`: values with commas between them
    parse: Callable[[str], Values]
    usual: Callable[[Table], Values] | None = None  # tried if nobody names any; None: none are
    letter: str = ""  # of labels; empty: its name
    criterion: Callable[[Any], Criterion] | None = None  # what a value demands; None: it is an option of the method
    is_demand: bool = True  # of these a method needs one, the first if nobody names any; of the others it tries all

    def label(self, value: str) -> str:
        """A value as a reader sees it."""
        return f"{self.letter} = {value}" if self.letter else f"{self.name} {value}"


@dataclass(frozen=True, slots=True)
class Grid:
    """The axes of a method, in the order of its parameters, and what all its candidates share."""

    axes: tuple[Axis, ...]
    options: tuple[str, ...] = ()  # the method's own options that `frontier` has, too
    unlabelled: frozenset[str] = frozenset()  # parameters that labels leave out, as all candidates share them


def whole_numbers(flag: str, example: str) -> Callable[[str], Values]:
    """A parser of whole numbers from 2 on."""

    def parse(text: str) -> Values:
        parts = [part.strip() for part in text.split(",")]
        if not all(part.isascii() and part.isdigit() and len(part) <= 12 and int(part) > 1 for part in parts):
            raise InputError(
                f"{flag} {text!r}: write whole numbers ≥ 2, separated by commas, for example {example} (1 demands nothing)."
            )
        return tuple(map(int, parts))

    return parse


def numbers(flag: str, allowed: str, example: str, is_allowed: Callable[[float], bool]) -> Callable[[str], Values]:
    """A parser of numbers that are allowed."""

    def parse(text: str) -> Values:
        try:
            values = tuple(float(part) for part in text.split(","))
        except ValueError:
            values = ()
        if not values or not all(map(is_allowed, values)):
            raise InputError(f"{flag} {text!r}: write numbers {allowed}, separated by commas, for example {example}.")
        return values

    return parse


def texts(text: str) -> Values:
    """What stands between the commas."""
    return tuple(part.strip() for part in text.split(","))


def _usual_ks(table: Table) -> Values:
    """As far as the table allows; one at least, which then tells why it is not possible."""
    return tuple(k for k in KS if k <= table.marginals().people) or KS[:1]


def _usual_ls(table: Table) -> Values:
    marginals = table.marginals()
    commonest = max((int(column.max()) for column in marginals.columns[len(table.schema.quasi) :]), default=1)
    return tuple(level for level in LS if level <= marginals.people // max(commonest, 1)) or LS[:1]


K = Axis(
    "k",
    Option("k", "Values of k (2,5,10,25,50,100).", str, metavar="K,K,…", panel=PANEL),
    whole_numbers("--k", "2,5,10"),
    usual=_usual_ks,
    letter="k",
    criterion=KAnonymity,
)
L = Axis(
    "l",
    Option("l", "Values of ℓ, distinct (anatomy: 2,3,5,8).", str, metavar="L,L,…", panel=PANEL),
    whole_numbers("--l", "2,3"),
    usual=_usual_ls,
    letter="ℓ",
    criterion=DistinctDiversity,
)
T = Axis(
    "t",
    Option("t", "Values of t, such as 0.2 or 0.2:ordered.", str, metavar="T,T,…", panel=PANEL),
    texts,
    letter="t",
    criterion=closeness,
)
