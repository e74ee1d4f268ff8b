"""An option means one thing: whichever command takes it, it has the same type, placeholder and range."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Annotated, Any

import pytest
import typer

from dalenius.cli.app import app
from dalenius.publishers.registry import axes
from tests.conftest import ROOT

# Options that take something else in a command, and why.
OTHERWISE = {
    ("attack", "--adversary"): "one adversary by its name; elsewhere realistic ones, which are written out",
    ("channel", "--joint"): "a file with joint probabilities; elsewhere columns that are counted together",
    ("check", "--recursive-l"): "the ℓ to measure with, or a threshold",
    ("compose", "--schema"): "one for each release",
    ("frontier", "--method"): "several ways to try",
    ("guide", "--loss"): "an answer to a question; elsewhere a loss by its name or file",
    **{("frontier", axis.option.flag): "several values to try" for axis in axes()},
}

Declared = dict[str, dict[str, tuple[Any, ...]]]  # option → command → its declaration


def declared(group: Any) -> Declared:
    """Type, placeholder, range, and whether it is repeated or a flag, of each option in each command."""
    found: Declared = defaultdict(dict)
    for name, command in group.commands.items():
        for one in command.params:
            for option in one.opts:
                if option.startswith("-"):
                    found[option][name] = (
                        str(one.type_descriptor.annotation), one.metavar, one.min, one.max, one.multiple, one.is_flag, one.envvar
                    )  # fmt: skip
    return found


def different(found: Declared) -> list[str]:
    """The options that two commands declare differently, exceptions aside."""
    wrong = []
    for option, by_command in sorted(found.items()):
        kinds = {kind for command, kind in by_command.items() if (command, option) not in OTHERWISE}
        if len(kinds) > 1:
            wrong.append(f"{option}: {by_command}")
    return wrong


@pytest.fixture(scope="module")
def commands() -> Declared:
    return declared(typer.main.get_command(app))


def test_an_option_is_declared_once(commands: Declared) -> None:
    assert len(commands["--schema"]) > 5  # the walk sees the options
    assert different(commands) == []


def test_every_exception_is_one(commands: Declared) -> None:
    """An exception that is needed no more is removed: then the option is held to the rule again."""
    for command, option in OTHERWISE:
        kinds = {kind for other, kind in commands[option].items() if (other, option) not in OTHERWISE}
        assert commands[option][command] not in kinds, (command, option)


# Options of the same shape that mean something else, so that nobody shares their declaration.
UNRELATED = {
    ("attacks", "--method"): "how links are sampled; elsewhere a way to publish",
    ("attacks", "--adversary"): "one adversary by its name; elsewhere realistic ones, which are written out",
    ("guides", "--loss"): "an answer to a question; elsewhere a loss by its name or file",
    ("channels", "--release"): "an option; elsewhere the argument",
}


def test_an_option_is_written_once() -> None:
    """Options that several functions have stand in `api/arguments.py`: nobody writes one anew."""
    places = defaultdict(set)
    source = ROOT / "src" / "dalenius"
    for file in [*(source / "api").glob("*.py"), *(source / "cli").glob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Option" and node.args:
                name = f"--{ast.literal_eval(node.args[0])}"
                if (file.stem, name) not in UNRELATED:
                    places[name].add(file.stem)
    assert places["--schema"] == places["--known"] == {"arguments"}  # the walk sees declarations
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


@pytest.mark.parametrize(
    "other",
    [
        typer.Option("--rows", min=1),
        typer.Option("--rows", metavar="N", min=1),
        typer.Option("--rows", min=1, max=9),
    ],
)
def test_a_difference_is_seen(other: Any) -> None:
    made = typer.Typer()

    @made.command("first")
    def first(rows: int = typer.Option(1, "--rows", metavar="N")) -> None: ...

    def second(rows: int = 1) -> None: ...

    second.__annotations__["rows"] = Annotated[int, other]
    made.command("second")(second)
    assert len(different(declared(typer.main.get_command(made)))) == 1
