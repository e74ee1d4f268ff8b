"""The options that name criteria, for every command that takes some. Criteria declare them; see `criterion/registry.py`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

import typer

Chosen = Mapping[str, Any]  # by the name of each option's argument, what was typed; None: it was not
NONE: Chosen = MappingProxyType({})
_GROUP = "Criteria"


def with_criteria(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the criteria's options in place of its parameter `criteria`, which gets what was chosen.

    An option that the command declares itself, such as `--recursive-l` of `check`, is the command's.
    """
    from dalenius.criterion import options

    signature = inspect.signature(command, eval_str=True)
    own = signature.parameters.keys() - {"criteria"}
    asked = [option for option in options() if option.parameter not in own]

    @functools.wraps(command)
    def with_options(**arguments: Any) -> Any:
        chosen = {option.parameter: arguments.pop(option.parameter) for option in asked}
        return command(**arguments, criteria=chosen)

    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        parameters += [_parameter(option) for option in asked] if name == "criteria" else [_by_name(parameter)]
    # Typer reads both.
    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_options


def _by_name(parameter: inspect.Parameter) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _parameter(option: Any) -> inspect.Parameter:
    kind: Any = list[option.type] if option.is_repeatable else option.type
    declared = typer.Option(f"--{option.name}", metavar=option.metavar, help=option.help, rich_help_panel=_GROUP)
    return inspect.Parameter(
        option.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, declared],
    )
