"""The methods of publishing on the command line: their options come from the registry of publishers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalenius.cli.options import with_options
from dalenius.publish import registry

if TYPE_CHECKING:
    from dalenius.criterion import Criterion
    from dalenius.publish.base import Progress, Published
    from dalenius.publish.given import Given
    from dalenius.table import Table

METHODS = tuple(registry.PUBLISHERS)
_PANEL = "Of one method"
MethodOption = Annotated[
    str, typer.Option("--method", help=f"How to publish: {', '.join(METHODS[:-1])} or {METHODS[-1]}.")
]


def with_methods(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options of all methods in place of its parameter `chosen`, which gets what was typed."""
    return with_options(command, "chosen", registry.options(), panel=_PANEL)


def with_audited_methods(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same with the options that `audit --method` has."""
    return with_options(command, "chosen", registry.audit_options(), panel=_PANEL)


def with_grids(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same with the options of `frontier`: values to try, and what all candidates of a method share."""
    return with_options(command, "chosen", registry.grid_options(), panel=_PANEL)


# What follows is for `audit` and `lattice`, which declare these options themselves: it goes when they take them from the registry.


def publisher(
    method: str,
    wanted: Sequence[Criterion],
    options: Mapping[str, Any],
    *,
    command: str,
    seed: int | None,
    earlier: Callable[[Table], Given] | None = None,
) -> Callable[[Table, Progress | None], Published]:
    """What publishes a table by a method; options of other methods and criteria that it cannot keep are refused."""
    made: Any = registry.from_options(
        method, wanted, options, command=command, seed=seed, has_earlier=earlier is not None
    )

    def publish(table: Table, progress: Progress | None) -> Published:
        own = made if earlier is None else replace(made, given=earlier(table))
        published: Published = own.run(table, seed=seed, progress=progress)
        return published

    return publish


def _declared(name: str) -> Any:
    option = next(one for one in registry.options() if one.name == name)
    return typer.Option(option.flag, metavar=option.metavar, help=option.help, rich_help_panel=option.panel)


Suppression = Annotated[float | None, _declared("suppression")]
SuppressedRows = Annotated[str | None, _declared("suppressed-rows")]
Cuts = Annotated[str | None, _declared("cuts")]
Shown = Annotated[str | None, _declared("shown")]
Block = Annotated[int | None, _declared("block")]
Merge = Annotated[int | None, _declared("merge")]
Epsilon = Annotated[float | None, _declared("epsilon")]
Noise = Annotated[str | None, _declared("noise")]
Neighbours = Annotated[str | None, _declared("neighbours")]
Joint = Annotated[list[str] | None, _declared("joint")]
Level = Annotated[list[str] | None, _declared("level")]
Gaussian = Annotated[list[str] | None, _declared("gaussian")]
