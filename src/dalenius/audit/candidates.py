"""Releases to be tried: a method and its parameters, and the grid of all that are asked for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from dalenius.criterion import Criterion, DistinctDiversity, KAnonymity
from dalenius.criterion.written import closeness
from dalenius.measure.utility import UTILITIES as SEARCHED
from dalenius.publish.anatomy import Anatomy
from dalenius.publish.base import Published
from dalenius.publish.lattice import Lattice
from dalenius.publish.microaggregation import Microaggregation
from dalenius.publish.mondrian import Mondrian
from dalenius.publish.noisy_counts import Counts, Simulation
from dalenius.publish.written import bounds_of, joint_of, levels_of
from dalenius.release import Release
from dalenius.table import Table

Progress = Callable[[int, int, float], None]
Counting = TypeVar("Counting", Counts, Simulation)
KS = (2, 5, 10, 25, 50, 100)
LS = (2, 3, 5, 8)
SUPPRESSIONS = (0.0, 0.02)
EPSILONS = (0.05, 0.1, 0.5, 1.0, 5.0)
# What of the grid each method takes, in the order of its parameters.
TAKES: dict[str, tuple[str, ...]] = {
    "lattice": ("k", "l", "t", "suppression"),
    "mondrian": ("k", "l", "t"),
    "microaggregation": ("k",),
    "anatomy": ("l",),
    "noisy-counts": ("epsilon",),
}
DRAWN = ("anatomy", "noisy-counts")  # publish draws these anew each time
_LETTERS = {"k": "k", "l": "ℓ", "t": "t", "epsilon": "ε"}
_QUIET = (
    "shown",
    "noise",
    "neighbours",
    "utility",
    "suppressed_rows",
)  # what a label leaves out while it is the same for all


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method with its parameters, under the names that the options of `publish` have."""

    method: str
    parameters: Mapping[str, Any]

    @property
    def label(self) -> str:
        """The parameters as a reader sees them."""
        found = [
            f"{_LETTERS[name]} = {_shown(value)}" if name in _LETTERS else f"{name} {_shown(value)}"
            for name, value in self.parameters.items()
            if name not in _QUIET and value not in (0.0, ())
        ]
        return ", ".join(found)

    @property
    def options(self) -> list[str]:
        """The options of `publish` that make this release."""
        found = ["--method", self.method]
        for name, value in self.parameters.items():
            several = value if isinstance(value, list | tuple) else [value]
            for one in several:
                found += [f"--{name.replace('_', '-')}", _written(one)]
        return found

    def check(self) -> None:
        """Refuse parameters that no table could be published with."""
        self._counting(Simulation) if self.method == "noisy-counts" else self._publisher()

    def publish(self, table: Table, seed: int | None, progress: Progress | None = None) -> Published:
        """As `dalenius publish` does; a seed is for the draws of Anatomy."""
        if self.method == "noisy-counts":
            return self._counting(Counts).publish(table)
        publisher = self._publisher()
        if isinstance(publisher, Anatomy):
            return publisher.publish(table, seed=seed)
        return (
            publisher.publish(table, progress=progress) if isinstance(publisher, Lattice) else publisher.publish(table)
        )

    def release(self, table: Table, seed: int) -> Release:
        """What would be published, to be attacked: the draws are repeatable, and noise that was drawn so is never written."""
        if self.method == "noisy-counts":
            return self._counting(Simulation).draw(table, _seed(seed, self.parameters["epsilon"]))
        return self.publish(table, seed).release

    def _publisher(self) -> Lattice | Mondrian | Microaggregation | Anatomy:
        given = dict(self.parameters)
        if self.method == "anatomy":
            return Anatomy(given.pop("l"), **given)
        if self.method == "microaggregation":
            return Microaggregation(given.pop("k"), **given)
        made: dict[str, Callable[[Any], Criterion]] = {"k": KAnonymity, "l": DistinctDiversity, "t": closeness}
        criteria = [make(given.pop(name)) for name, make in made.items() if name in given]
        return Lattice(criteria, **given) if self.method == "lattice" else Mondrian(criteria, **given)

    def _counting(self, kind: type[Counting]) -> Counting:
        given = dict(self.parameters)
        return kind(
            **{name: value for name, value in given.items() if name not in ("joint", "level", "gaussian")},
            joint=joint_of(given.get("joint", ())),
            levels=levels_of(given.get("level", ())),
            gaussian=bounds_of(given.get("gaussian", ())),
        )

    def to_document(self) -> dict[str, Any]:
        return {"method": self.method, "parameters": dict(self.parameters)}


def _written(value: object) -> str:
    """With every digit, and none that says nothing."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _seed(seed: int, epsilon: float) -> int:
    """Of the noise at one ε: another for each, whichever else are tried."""
    bits = int(np.float64(epsilon).view(np.uint64))
    return int(np.random.SeedSequence([seed, bits]).generate_state(1, np.uint64)[0])


def grid(
    methods: Sequence[str],
    asked: Mapping[str, Sequence[Any]],
    table: Table,
    *,
    utility: str = "loss",
    counting: Mapping[str, Any] | None = None,
    suppressed_rows: str = "hold",
) -> list[Candidate]:
    """Every combination of what is asked for and a method takes; where nothing is asked, defaults that the table allows.

    `utility` is what the lattice is to be best in, if it can be, and `suppressed_rows` what becomes of those that it
    suppresses; `counting` are further options of noisy counts.
    """
    found = []
    for method in methods:
        axes = {name: tuple(asked[name]) for name in TAKES[method] if name in asked}
        criteria = [name for name in TAKES[method] if name != "suppression"]
        if not any(name in axes for name in criteria):
            axes[criteria[0]] = _defaults(criteria[0], table)
        if method == "lattice":
            axes.setdefault("suppression", SUPPRESSIONS)
        fixed: dict[str, Any] = {"shown": "ranges"} if method == "microaggregation" else {}
        if method == "lattice" and utility in SEARCHED and utility != "loss":
            fixed["utility"] = utility
        if method == "lattice" and suppressed_rows != "hold":
            fixed["suppressed_rows"] = suppressed_rows
        if method == "noisy-counts":
            fixed |= counting or {}
        names = [name for name in TAKES[method] if name in axes]
        for values in itertools.product(*(axes[name] for name in names)):
            found.append(Candidate(method, dict(zip(names, values, strict=True)) | fixed))
    for candidate in found:
        candidate.check()
    return found


def _defaults(name: str, table: Table) -> tuple[Any, ...]:
    """The usual values of a parameter, as far as the table allows; one at least, which then tells why it is not possible."""
    if name == "epsilon":
        return EPSILONS
    marginals = table.marginals()
    if name == "k":
        return tuple(k for k in KS if k <= marginals.people) or KS[:1]
    commonest = max((int(column.max()) for column in marginals.columns[len(table.schema.quasi) :]), default=1)
    return tuple(level for level in LS if level <= marginals.people // max(commonest, 1)) or LS[:1]
