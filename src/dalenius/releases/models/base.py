"""What a channel model is: its name, its parameters with what each may be, and how its channel is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dalenius.arrays import Floats
from dalenius.errors import InputError, ParameterError, nearest
from dalenius.releases.channel import Channel as Channel  # every model makes one

__all__ = ["EPSILON", "LARGEST", "Model", "Parameter", "Value", "channel_model", "count", "numbered", "uniform_channel"]

Value = int | float | tuple[int, int]
LARGEST = 2_000  # inputs, and outputs, of a channel: its matrix has the product of both
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
_GRID = re.compile(r"([0-9]{1,9})(?:[x×]([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of a model. `low` and `high` are the ends of what is allowed; `above` says that `low` itself is not."""

    name: str
    sentence: str
    high: float
    kind: Literal["int", "number", "grid"] = "number"
    low: float = 0.0
    above: bool = False
    default: Value | None = None

    @property
    def allowed(self) -> str:
        if self.kind == "grid":
            return f"a side such as 10 or two such as 4x7, each at least 1, of at most {self.high:,} cells"
        what = "an int" if self.kind == "int" else "a number"
        return f"{what} {'> ' if self.above else 'from '}{self.low:g} {'and ≤' if self.above else 'to'} {self.high:,g}"

    def parse(self, text: str, owner: str) -> Value:
        """The value that a text gives."""
        if self.kind == "grid":
            match = _GRID.fullmatch(text)
            if match is None:
                raise ParameterError(self.name, owner, self.allowed, text)
            return self.check((int(match[1]), int(match[2] or match[1])), owner, text)
        if (_INT if self.kind == "int" else _NUMBER).fullmatch(text) is None:
            raise ParameterError(self.name, owner, self.allowed, text)
        number: int | float = int(text) if self.kind == "int" else float(text)
        return self.check(number, owner, text)

    def check(self, value: object, owner: str, got: object = None) -> Value:
        """The value, if it is allowed; a grid's single side stands for two."""
        wrong = ParameterError(self.name, owner, self.allowed, value if got is None else got)
        if self.kind == "grid":
            sides = value if isinstance(value, tuple) else (value, value)
            if len(sides) != 2 or not all(isinstance(side, int | np.integer) and side >= 1 for side in sides):
                raise wrong
            rows, columns = int(sides[0]), int(sides[1])
            if rows * columns > self.high:
                raise wrong
            return rows, columns
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise wrong
        if self.kind == "int" and not isinstance(value, int | np.integer):
            raise wrong
        if not self.low <= value <= self.high or (self.above and value == self.low):
            raise wrong
        return int(value) if self.kind == "int" else float(value)


def count(name: str, sentence: str, low: int, high: int = LARGEST) -> Parameter:
    """A parameter that counts something."""
    return Parameter(name, sentence, high, "int", low)


EPSILON = "how far apart two inputs may be told, in nats"


@dataclass(frozen=True, slots=True)
class Model:
    """A family of channels. Of the parameters in `one_of` exactly one is given."""

    name: str
    sentence: str
    parameters: tuple[Parameter, ...]
    example: str
    make: Callable[..., Channel]
    one_of: tuple[str, ...] = ()
    remark: str = ""  # what is known of it, for the table in the documentation
    is_about_senders: bool = False  # whether the unknown is who sent a message

    @property
    def needs(self) -> str:
        """The parameters in words: `n and one of epsilon and p`."""
        parts = [p.name for p in self.parameters if p.default is None and p.name not in self.one_of]
        if self.one_of:
            parts.append(f"one of {_together(self.one_of)}")
        free = [f"{p.name} (else {p.default:g})" for p in self.parameters if isinstance(p.default, int | float)]
        return _together(parts) + (f", and may be given {_together(free)}" if free else "")

    def read(self, text: str) -> dict[str, Value]:
        """The parameters that `name:key=value,key=value` gives."""
        _, _, rest = text.partition(":")
        values: dict[str, Value] = {}
        for piece in rest.split(",") if rest.strip() else ():
            key, sign, value = (part.strip() for part in piece.partition("="))
            if not sign or not key or not value:
                raise InputError(
                    f"{text!r}: parameters are written key=value with commas between, and {piece.strip()!r} is not. "
                    f"Example: {self.example}."
                )
            if key in values:
                raise InputError(f"{text!r} gives the parameter {key!r} twice.")
            values[key] = self._parameter(key).parse(value, self.name)
        return values

    def build(self, **parameters: object) -> Channel:
        """The channel for these parameters; a grid is a side or a pair of sides."""
        checked = {self._parameter(key): value for key, value in parameters.items()}
        values = {parameter.name: parameter.check(value, self.name) for parameter, value in checked.items()}
        self._check_complete(values)
        defaults = {p.name: p.default for p in self.parameters if p.default is not None}
        return self.make(**(defaults | values))

    def _parameter(self, name: str) -> Parameter:
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        hint = nearest(name, [p.name for p in self.parameters])
        raise InputError(f"The model {self.name} has no parameter {name!r}.{hint} It needs {self.needs}.")

    def _check_complete(self, values: Mapping[str, Value]) -> None:
        """Refuse too few parameters, and too many of those that stand for each other."""
        chosen = [name for name in self.one_of if name in values]
        absent = [p.name for p in self.parameters if p.default is None and p.name not in (*values, *self.one_of)]
        needs = f"The model {self.name} needs {self.needs}"
        if absent:
            raise InputError(f"{needs}; it came without {_together(absent)}. Example: {self.example}.")
        if self.one_of and len(chosen) != 1:
            came = "none of them" if not chosen else _together(chosen)
            raise InputError(f"{needs}; {came} came. Example: {self.example}.")


def channel_model(
    name: str,
    sentence: str,
    *parameters: Parameter,
    example: str,
    one_of: tuple[str, ...] = (),
    remark: str = "",
    is_about_senders: bool = False,
) -> Callable[[Callable[..., Channel]], Model]:
    """Make a model of the function below, which takes the parameters by their names and returns the channel."""

    def describe(make: Callable[..., Channel]) -> Model:
        return Model(name, sentence, parameters, example, make, one_of, remark, is_about_senders)

    return describe


def uniform_channel(inputs: list[str], outputs: list[str], matrix: Floats) -> Channel:
    """The channel of a matrix, all inputs equally likely."""
    return Channel(tuple(inputs), tuple(outputs), matrix, np.full(len(inputs), 1 / len(inputs)))


def numbered(first: int, past: int) -> list[str]:
    """The labels from `first` to the number before `past`."""
    return [str(i) for i in range(first, past)]


def _together(names: list[str] | tuple[str, ...]) -> str:
    """Names in a sentence: `n, f and rounds`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
