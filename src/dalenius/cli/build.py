"""Commands made from functions: a public function declares its options, and its command has the same ones.

A command adds the options that only a command has (`-o` for a report, `--json`, `--quiet`), and gets a `Call`: the function with
the options that were typed.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from dalenius import engines
from dalenius.api import Declaration, declaration_of
from dalenius.options import Option

REQUIRED = inspect.Parameter.empty
_CRITERIA = "Criteria"
_SEVERAL = "Several methods"
Own = Mapping[str, tuple[Option, Any]]  # by parameter, an option and its default


@dataclass(frozen=True, slots=True)
class Call:
    """A function and the options that were typed: those of the function, and those of the command alone."""

    function: Callable[..., Any]
    options: Mapping[str, Any]
    own: Mapping[str, Any]

    def __call__(self, **more: Any) -> Any:
        """Call the function."""
        return self.function(**{**self.options, **more})

    def __getitem__(self, name: str) -> Any:
        """Return the value of an option of the command alone."""
        return self.own[name]


def add(
    app: typer.Typer,
    function: Callable[..., Any],
    run: Callable[[Call], int | None],
    *,
    own: Own,
    required: Sequence[str] = (),
    hidden: Sequence[str] = (),
    epilog: str | None = None,
) -> None:
    """Add the command of a public function. `run` gets the call, and its docstring is the command's help.

    `own` are options of the command alone. `required` are options of the function that the command insists on, and `hidden` those
    that it does not have because it sets them itself.
    """
    declaration = declaration_of(function)
    parameters = [
        _parameter(option, REQUIRED if name in required else _default(option, default), name)
        for name, (option, default) in _ordered(declaration, own).items()
        if name not in hidden
    ]
    parts = _part_parameters(declaration)

    def command(**typed: Any) -> int | None:
        mine = {name: typed.pop(name) for name in own}
        return run(Call(function, typed, mine))

    make(app, declaration.name, command, [*parameters, *parts], run.__doc__, epilog=epilog)


def make(
    app: typer.Typer,
    name: str,
    command: Callable[..., Any],
    parameters: Sequence[inspect.Parameter],
    summary: str | None,
    *,
    epilog: str | None = None,
) -> None:
    """Add a command with these parameters."""
    command.__signature__ = inspect.Signature(list(parameters))  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = summary
    app.command(name, cls=Command, epilog=epilog)(command)


def parameters_of(own: Own) -> list[inspect.Parameter]:
    """Return the parameters of a command that stands for no function."""
    return [_parameter(option, default, name) for name, (option, default) in own.items()]


class Command(TyperCommand):
    """A command whose help has a heading for each group of options, common ones first."""

    def get_help(self, ctx: Any) -> str:
        """Return the help, with the registered names filled in."""
        declared = {parameter: parameter.help for parameter in self.params if getattr(parameter, "help", None)}  # type: ignore[attr-defined]
        try:
            for parameter, text in declared.items():
                parameter.help = _filled(text)  # type: ignore[attr-defined]
            return str(super().get_help(ctx))
        finally:
            for parameter, text in declared.items():
                parameter.help = text  # type: ignore[attr-defined]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then the options without a heading of their own, then those of each heading."""
        groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                heading = "Arguments" if is_argument else getattr(parameter, "rich_help_panel", None) or "Options"
                groups[heading].append(record)
        first = [heading for heading in ("Arguments", "Options") if heading in groups]
        for heading in [*first, *(heading for heading in groups if heading not in first)]:
            with formatter.section(heading):
                formatter.write_dl(groups[heading])


def _ordered(declaration: Declaration, own: Own) -> dict[str, tuple[Option, Any]]:
    """Return arguments and required options first, then the command's own, then the rest; schema, engine and quiet last."""
    late = ["kind", "schema", "engine", "most_cells", "seed", "json", "reveal", "quiet"]
    whole = {**declaration.own, **own}

    def place(name: str) -> tuple[int, int]:
        option, default = whole[name]
        if option.is_argument:
            return 0, 0
        if name in late:
            return 4, late.index(name)
        return (
            1 if default is REQUIRED else 2 if name in ("output", "truth", "holdout", "targets", "method") else 3
        ), 0

    return {name: whole[name] for name in sorted(whole, key=place)}


def _part_parameters(declaration: Declaration) -> Iterator[inspect.Parameter]:
    from dalenius import criteria
    from dalenius.publishers.registry import options, owners

    of_methods = options()
    of_criteria = {option.parameter for option in criteria.options()} if "criteria" in declaration.parts else set()
    for option in declaration.part_options():
        panel = _CRITERIA if option.parameter in of_criteria else option.panel
        if option in of_methods and option.parameter not in of_criteria:
            methods = owners(option.parameter)
            panel = f"--method {methods[0]}" if len(methods) == 1 else _SEVERAL
        yield _parameter(option.but(panel=panel), option.default, option.parameter)


def _default(option: Option, default: Any) -> Any:
    """Return the default of an option as the command line has it."""
    if option.name == "engine":
        return engines.DEFAULT
    if option.is_repeatable and isinstance(default, str):
        return None  # one for all: the function's own default
    return Path(default) if option.type is Path and isinstance(default, str) else default


def _parameter(option: Option, default: Any, name: str) -> inspect.Parameter:
    kind: Any = list[option.type] if option.is_repeatable else option.type  # type: ignore[name-defined]
    if option.is_argument:
        declared = typer.Argument(metavar=option.metavar, help=option.help)
    else:
        # Typer checks types and whole ranges. What else is not allowed is refused by the function, in our words.
        bounds: Any = {} if option.type not in (int, float) else {"min": option.minimum, "max": option.maximum}
        declared = typer.Option(
            *([f"-{option.short}"] if option.short else []), option.flag,
            metavar=option.metavar, help=option.help, rich_help_panel=option.panel or None, envvar=option.envvar or None,
            show_default=option.shows_default, **bounds,
        )  # fmt: skip
    is_optional = default is None and option.type is not bool
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind | None if is_optional else kind, declared],
    )


def _filled(text: str) -> str:
    """Fill the names of registered parts into a help text. Registries are loaded only if a text asks for them."""
    if "{kinds}" in text:
        from dalenius.releases.registry import KINDS

        text = text.replace("{kinds}", ", ".join(KINDS))
    if "{methods}" in text:
        from dalenius.publishers.registry import PUBLISHERS

        text = text.replace("{methods}", ", ".join(PUBLISHERS))
    if "{adversaries}" in text:
        from dalenius.adversaries import ADVERSARIES

        text = text.replace("{adversaries}", ", ".join(name for name in ADVERSARIES if name != "realistic"))
    return text


__all__ = ["REQUIRED", "Call", "Command", "Own", "add", "make", "parameters_of"]
