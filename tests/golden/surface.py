"""What users hold on to: the commands with their options, and the public names."""

from __future__ import annotations

from typing import Any


def surface() -> dict[str, Any]:
    """By command its arguments and options with type, default and help; and the names of the package."""
    import typer

    import dalenius
    from dalenius.cli.app import app

    group: Any = typer.main.get_command(app)
    commands = {
        name: by_name([_option(one) for one in command.params]) for name, command in sorted(group.commands.items())
    }
    return {"commands": commands, "names": sorted(dalenius.__all__)}


def by_name(options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Arguments in their order, then options by name: nobody relies on the order in which help lists these."""
    named = [one for one in options if one["names"][0].startswith("-")]
    return [one for one in options if one not in named] + sorted(named, key=lambda one: str(one["names"]))


def _option(one: Any) -> dict[str, Any]:
    return {
        "names": list(one.opts),
        "shown": one.metavar,
        "default": repr(one.default),
        "required": one.required,
        "multiple": one.nargs != 1 or getattr(one, "multiple", False),
        "help": getattr(one, "help", None),
    }
