"""Options that parts declare: the parameters of commands, made from the declarations of criteria and publishers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

if TYPE_CHECKING:
    from dalenius.options import Option

Chosen = Mapping[
    str, Any
]  # by the name of each option's argument, what was typed; None, or False of a flag: it was not
NONE: Chosen = MappingProxyType({})


class NamesAdversaries(TyperCommand):
    """A command with --adversary. Its help names all registered adversaries, which are loaded only then."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from dalenius.adversaries import ADVERSARIES

        for parameter in self.params:
            if isinstance(parameter, TyperOption) and parameter.name == "adversary":
                others = [name for name in ADVERSARIES if name not in (parameter.help or "")]
                parameter.help = f"{parameter.help} Also: {', '.join(others)}." if others else parameter.help
        super().format_help(ctx, formatter)


def with_criteria(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the criteria's options in place of its parameter `criteria`, which gets what was chosen."""
    from dalenius.criteria import options

    return with_options(command, "criteria", options(), panel="Criteria")


def with_options(
    command: Callable[..., Any], place: str, options: Iterable[Option], *, panel: str
) -> Callable[..., Any]:
    """The command with these options in place of its parameter `place`, which gets what was chosen by name.

    An option that the command declares itself, such as `--recursive-l` of `check`, is the command's.
    """
    signature = inspect.signature(command, eval_str=True)
    own = signature.parameters.keys() - {place}
    asked = [option for option in options if option.parameter not in own]

    @functools.wraps(command)
    def with_declared(**arguments: Any) -> Any:
        chosen = {option.parameter: arguments.pop(option.parameter) for option in asked}
        return command(**arguments, **{place: chosen})

    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        parameters += [_parameter(option, panel) for option in asked] if name == place else [_by_name(parameter)]
    # Typer reads both; `inspect.signature` reads the first when another set of options is put in.
    with_declared.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_declared.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_declared


def _by_name(parameter: inspect.Parameter) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _parameter(option: Option, panel: str) -> inspect.Parameter:
    kind: Any = list[option.type] if option.is_repeatable else option.type  # type: ignore[name-defined]
    declared = typer.Option(
        option.flag, metavar=option.metavar, help=option.help, rich_help_panel=option.panel or panel
    )
    return inspect.Parameter(
        option.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=Annotated[kind if option.type is bool else kind | None, declared],
    )
