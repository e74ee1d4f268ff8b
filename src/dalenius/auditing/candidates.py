"""Candidate releases: a method with its parameters, and the grid of all combinations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dalenius.criteria.axis import TableSize
from dalenius.errors import InputError, listing, nearest
from dalenius.publishers.base import Progress, Published, Publisher
from dalenius.publishers.registry import PUBLISHERS, axes
from dalenius.releases import Release
from dalenius.table import Table

__all__ = ["Candidate", "check_tried", "grid", "own_options", "shared_options"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method with its parameters, with the names of the options of `publish`."""

    method: str
    parameters: Mapping[str, Any]

    @property
    def kind(self) -> type[Publisher]:
        return PUBLISHERS[self.method]

    @property
    def label(self) -> str:
        """Return the parameters as a reader sees them."""
        grid = self.kind.grid
        own = {axis.name: axis for axis in self.kind.axes()}
        return ", ".join(
            own[name].label(_shown(value)) if name in own else f"{name} {_shown(value)}"
            for name, value in self.parameters.items()
            if name not in grid.unlabelled and value not in (0.0, ())
        )

    @property
    def options(self) -> list[str]:
        """Return the options of `publish` that make this release."""
        words = ["--method", self.method]
        for name, value in self.parameters.items():
            several = value if isinstance(value, list | tuple) else [value]
            for single in several:
                words += [f"--{name.replace('_', '-')}", _with_all_digits(single)]
        return words

    def publisher(self) -> Publisher:
        """Return the publisher with these parameters. Refuse parameters that no table could be published with."""
        chosen = dict(self.parameters)
        criteria = [
            axis.criterion(chosen.pop(axis.name))
            for axis in self.kind.axes()
            if axis.criterion is not None and axis.name in chosen
        ]
        return self.kind.from_options(criteria, chosen)

    def publish(self, table: Table, seed: int | None, progress: Progress | None = None) -> Published:
        """Publish as `dalenius publish` does. A seed repeats the draws of methods that take one."""
        return self.publisher().run(table, seed=seed, progress=progress)

    def release(self, table: Table, seed: int) -> Release:
        """Return the release to attack. Its draws are repeatable, so its noise must never be written."""
        return self.publisher().trial(table, seed)

    def to_document(self) -> dict[str, Any]:
        return {"method": self.method, "parameters": dict(self.parameters)}


def _with_all_digits(value: object) -> str:
    """Return a number with all its digits, and without a trailing .0."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def grid(
    methods: Sequence[str],
    values: Mapping[str, Sequence[Any]],
    table: Table,
    *,
    utility: str = "loss",
    options: Mapping[str, Any] | None = None,
) -> list[Candidate]:
    """Return every combination of the values that a method takes. Axes without values get defaults that suit the table.

    `values` has the values to try by the name of their axis. `utility` is what releases are compared by. `options` are further
    options of methods (see `Publisher.shared`), which all candidates of a method have.
    """
    candidates = []
    for method in methods:
        kind = PUBLISHERS[method]
        values_tried = _values_tried(kind, values, table)
        own = {name: value for name, value in (options or {}).items() if name in shared_options(kind)}
        shared = kind.shared(own, utility=utility)
        for combination in itertools.product(*values_tried.values()):
            candidates.append(Candidate(method, dict(zip(values_tried, combination, strict=True)) | shared))
    for candidate in candidates:
        candidate.publisher()  # refuses bad parameters before any work
    return candidates


def _values_tried(
    kind: type[Publisher], values: Mapping[str, Sequence[Any]], table: Table
) -> dict[str, tuple[Any, ...]]:
    """Return the values of each axis, in the order of the method's parameters."""
    own = kind.axes()
    usual = [axis for axis in own if not axis.is_demand]
    demands = [axis for axis in own if axis.is_demand]
    if not any(axis.name in values for axis in demands):
        usual += demands[:1]
    values_tried: dict[str, tuple[Any, ...]] = {}
    size = None
    for axis in own:
        if axis.name in values:
            values_tried[axis.name] = tuple(values[axis.name])
        elif axis in usual and axis.usual is not None:
            size = size or _size(table)
            values_tried[axis.name] = axis.usual(size)
    return values_tried


def _size(table: Table) -> TableSize:
    """Count the people, and those with the most common sensitive value."""
    marginals = table.marginals()
    sensitive = marginals.columns[len(table.schema.quasi) :]
    return TableSize(marginals.people, max((int(column.max()) for column in sensitive), default=1))


def check_tried(methods: Sequence[str], values: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Refuse options and axes that none of the methods takes, and axes that do not exist."""
    publishers = [PUBLISHERS[method] for method in methods]
    for kind in PUBLISHERS.values():
        flags = [f"--{name.replace('_', '-')}" for name in options if name in shared_options(kind)]
        flags = [flag for flag in flags if not any(flag[2:] in other.grid.options for other in publishers)]
        if kind.has_curve and kind not in publishers:
            flags += [axis.option.flag for axis in kind.grid.axes if axis.name in values]
        if flags:
            raise InputError(kind.not_tried(flags[0]))
    flags_by_name = {axis.name: axis.option.flag for axis in axes()}
    for name in values:
        if name not in flags_by_name:
            raise InputError(
                f"frontier cannot vary {name!r}.{nearest(name, flags_by_name)} It varies {listing(flags_by_name)}."
            )
        takers = [kind for kind in PUBLISHERS.values() if name in {axis.name for axis in kind.axes()}]
        if not any(kind in publishers for kind in takers):
            raise InputError(_no_taker(flags_by_name[name], takers, publishers))


def _no_taker(flag: str, takers: Sequence[type[Publisher]], tried: Sequence[type[Publisher]]) -> str:
    """Say which methods take an option that none of those tried takes."""
    names = [kind.name for kind in takers]
    verb = "takes" if len(names) == 1 else "take"
    return (
        f"{flag} has no effect on {listing([kind.name for kind in tried])}: only {listing(names)} {verb} it. "
        f"Leave it out, or add --method {names[0]}."
    )


def shared_options(kind: type[Publisher]) -> frozenset[str]:
    """Return the method's own options that `frontier` has, as the names of Python arguments."""
    return frozenset(option.parameter for option in kind.options if option.name in kind.grid.options)


def own_options(kind: type[Publisher]) -> frozenset[str]:
    """Return all options of `frontier` that concern this method, as the names of Python arguments."""
    return shared_options(kind) | {axis.option.parameter for axis in kind.axes()}
