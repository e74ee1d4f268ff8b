"""The methods of publishing on the command line: their options come from the registry of publishers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from dalenius.cli.options import with_options
from dalenius.publishers import registry

METHODS = tuple(registry.PUBLISHERS)
_PANEL = "Of one method"


def method(text: str) -> Any:
    """A way to publish: a `str`."""
    return typer.Option("--method", help=text)


MethodOption = Annotated[str, method(f"How to publish: {', '.join(METHODS[:-1])} or {METHODS[-1]}.")]


def with_methods(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options of all methods in place of its parameter `chosen`, which gets what was typed."""
    return with_options(command, "chosen", registry.options(), panel=_PANEL)


def with_audited_methods(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same with the options that `audit --method` has."""
    return with_options(command, "chosen", registry.audit_options(), panel=_PANEL)


def with_grids(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same with the options of `frontier`: values to try, and what all candidates of a method share."""
    return with_options(command, "chosen", registry.grid_options(), panel=_PANEL)


# For `lattice`, which has this one of the publishers' options.
_SUPPRESSED_ROWS = next(option for option in registry.options() if option.name == "suppressed-rows")
SuppressedRows = Annotated[
    str | None,
    typer.Option(
        _SUPPRESSED_ROWS.flag,
        metavar=_SUPPRESSED_ROWS.metavar,
        help=_SUPPRESSED_ROWS.help,
        rich_help_panel=_SUPPRESSED_ROWS.panel,
    ),
]
