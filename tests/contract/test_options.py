"""Every public function and its command have the same options, declared once; bad values get one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import dalenius as dl
from dalenius import api
from dalenius.api import arguments
from dalenius.api.support import Declaration, public
from dalenius.cli.app import app
from dalenius.criteria import CRITERIA
from dalenius.options import Option

REQUIRED = inspect.Parameter.empty
COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
NOT_TYPED = {("compose", "with_beliefs")}  # a command that writes beliefs (--beliefs FILE) sets it itself


def declared() -> Iterator[tuple[Callable[..., Any], str, Option, Any]]:
    for function in api.FUNCTIONS:
        for name, (option, default) in api.declaration_of(function).own.items():
            yield function, name, option, default


def wrong_values(option: Option) -> list[Any]:
    """Values that an option must refuse; none where any text or object may be meant."""
    wrong: list[Any] = []
    if option.type is bool:
        wrong += ["yes", 1]
    if option.type in (int, float):
        wrong += ["many", True]
        wrong += [option.minimum - 1] if option.minimum is not None else []
        wrong += [option.maximum + 1] if option.maximum is not None else []
    if option.type is int:
        wrong.append(1.5)
    if option.choices:
        wrong.append("nonsense")
    if option.is_allowed is not None:
        wrong += [value for value in (-1.0, 0.0, 1.0, 2.0) if not option.is_allowed(value)]
    return wrong


BAD = [
    pytest.param(function, name, option, value, id=f"{function.__name__}-{name}-{value!r}")
    for function, name, option, _ in declared()
    for value in wrong_values(option)
]


def required(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Something for every parameter that must be given, besides this one."""
    own = api.declaration_of(function).own
    return {one: ["x"] if own[one][0].is_repeatable else "x" for one in own if own[one][1] is REQUIRED and one != name}


def test_there_are_bad_values_for_every_type() -> None:
    assert {parameter.values[2].type for parameter in BAD} == {int, float, bool}  # type: ignore[attr-defined]
    assert len(BAD) > 80


@pytest.mark.parametrize(("function", "name", "option", "value"), BAD)
def test_a_bad_value_gets_one_sentence(function: Callable[..., Any], name: str, option: Option, value: Any) -> None:
    """Before anything is read: the files that are named do not exist."""
    spelt = name if option.is_argument else option.flag
    sentence = f"The '{spelt}' parameter of {function.__name__} must be {option.describe()}. Got {value!r} instead."
    with pytest.raises(dl.ParameterError) as caught:
        function(**required(function, name), **{name: value})
    assert str(caught.value) == sentence


@pytest.mark.parametrize("function", api.FUNCTIONS, ids=lambda function: function.__name__)
def test_an_unknown_option_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(
        TypeError, match=r"sede.* Did you mean 'seed'" if "seed" in api.declaration_of(function).own else "sede"
    ):
        function(**required(function, ""), sede=3)


@pytest.mark.parametrize("function", api.FUNCTIONS, ids=lambda function: function.__name__)
def test_the_command_has_the_same_options(function: Callable[..., Any]) -> None:
    typed = {one.name: one for one in COMMANDS[function.__name__].params}
    declaration = api.declaration_of(function)
    for name, (option, default) in declaration.own.items():
        if (function.__name__, name) in NOT_TYPED:
            assert name not in typed
            continue
        one = typed[name]
        assert one.help == option.help
        if option.is_argument:
            continue
        assert option.flag in one.opts
        assert one.metavar == option.metavar
        assert (one.multiple, one.is_flag) == (option.is_repeatable, option.type is bool)
        if option.type in (int, float):
            assert (one.min, one.max) == (option.minimum, option.maximum)
        if default is not REQUIRED and name not in ("engine", "output", "schema"):
            assert (one.default, one.required) == (default, False)
    for option in declaration.part_options():
        assert typed[option.parameter].opts == [option.flag]


def test_commands_without_a_function_are_few() -> None:
    assert set(COMMANDS) - {function.__name__ for function in api.FUNCTIONS} == {"reproduce", "demo"}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_summaries_fit_their_line_and_help_fits_80_columns(command: Any) -> None:
    with typer.Context(command, info_name=f"dalenius {command.name}", terminal_width=80) as context:  # type: ignore[call-arg]
        lines = command.get_help(context).splitlines()
    assert max(map(len, lines)) <= 80
    assert not command.get_short_help_str(limit=62).endswith("...")
    assert (
        "{" not in "".join(lines).replace("{TABLE}", "").replace("{RELEASE}", "").replace("{A, B}", "") or command.name
    )


def test_options_of_parts_are_checked_by_type() -> None:
    with pytest.raises(
        dl.ParameterError, match=r"The '--k' parameter of publish must be an int\. Got 'five' instead\."
    ):
        dl.publish("nothing.csv", k="five")


def test_a_number_is_taken_where_a_text_may_be_one() -> None:
    table = dl.datasets.hospital(300, seed=1)
    (_, by_number), (_, by_text) = (
        dl.publish(table, method="mondrian", k=3, t=t).record.criteria for t in (0.3, "0.3")
    )
    assert by_number == by_text == "t = 0.3 (equal)"


def test_a_part_cannot_take_an_option_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, a plug-in's option that is called like one of the command's own was dropped silently."""
    model = CRITERIA["k_anonymity"]
    monkeypatch.setattr(model, "option", Option("seed", "A seed of its own.", int))
    with pytest.raises(dl.InputError, match="--seed, which is an option of audit itself"):
        api.declaration_of(api.audit).part_options()


def test_a_function_checks_its_options_before_it_runs() -> None:
    seen = []

    @public()
    def grow(size: arguments.Seed, *, share: arguments.Seed = 3) -> None:
        seen.append((size, share))

    assert isinstance(api.declaration_of(grow), Declaration)
    grow(4)
    with pytest.raises(dl.ParameterError, match=r"'--seed' parameter of grow must be an int ≥ 0\. Got -1 instead"):
        grow(-1)
    with pytest.raises(TypeError, match="missing a required argument: 'size'"):
        grow()  # type: ignore[call-arg]
    assert seen == [(4, 3)]


def test_options_are_spelt_as_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts as they are typed, and lists or objects in their place, mean the same."""
    monkeypatch.chdir(tmp_path)
    dl.datasets.save_hospital(".", 200, seed=1)
    dl.publish("patients.csv", k=5, suppression=0.1, output="r.csv")
    typed = dl.check("r.csv", adversary="I:table:50", predicate="not {Flu}", known=1).to_document()
    listed = dl.check("r.csv", adversary=["I:table:50"], predicate=["not {Flu}"], known=1).to_document()
    assert typed == listed
    assert typed != dl.check("r.csv", adversary="I:table:50").to_document()
    rows = dl.attack("r.csv", targets="patients.csv", knows="age,sex").to_document()
    assert rows == dl.attack("r.csv", targets="patients.csv", knows=["age", "sex"]).to_document()
