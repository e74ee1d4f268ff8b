"""Channels that a few numbers describe, and the protocols behind two of them, truly run.

A model is data: its parameters, what each may be, and how its channel is made. `model("crowds:n=10,p=0.3")` is the channel
that a text names, `build("crowds", n=10, p=0.3)` the same from numbers. All inputs are equally likely (a uniform prior).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, ParameterError, listing, nearest
from dalenius.release.channel import Channel

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Value = int | float | tuple[int, int]
LARGEST = 2_000  # inputs, and outputs, of a channel: its matrix has the product of both
CHUNK = 1_000_000  # messages that a simulation holds at a time
HOPS = 2_000_000_000  # that messages of a simulation may be expected to make together
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
            found = _GRID.fullmatch(text)
            if found is None:
                raise ParameterError(self.name, owner, self.allowed, text)
            return self.check((int(found[1]), int(found[2] or found[1])), owner, text)
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


@dataclass(frozen=True, slots=True)
class Model:
    """A family of channels. Of the parameters in `one_of` exactly one is given."""

    name: str
    sentence: str
    parameters: tuple[Parameter, ...]
    example: str
    make: Callable[..., Channel]
    one_of: tuple[str, ...] = ()

    @property
    def needs(self) -> str:
        """The parameters in words: `n and one of epsilon and p`."""
        parts = [p.name for p in self.parameters if p.default is None and p.name not in self.one_of]
        if self.one_of:
            parts.append(f"one of {_together(self.one_of)}")
        free = [f"{p.name} (else {p.default:g})" for p in self.parameters if isinstance(p.default, int | float)]
        return _together(parts) + (f", and may be given {_together(free)}" if free else "")


def model(text: str) -> Channel:
    """The channel that `name:key=value,key=value` describes, such as `crowds:n=10,p=0.3`."""
    name, _, rest = text.strip().partition(":")
    found = _find(name.strip())
    known = {p.name: p for p in found.parameters}
    given: dict[str, Value] = {}
    for piece in rest.split(",") if rest.strip() else ():
        key, sign, value = (part.strip() for part in piece.partition("="))
        if not sign or not key or not value:
            raise InputError(
                f"{text!r}: parameters are written key=value with commas between, and {piece.strip()!r} is not. "
                f"Example: {found.example}."
            )
        if key in given:
            raise InputError(f"{text!r} gives the parameter {key!r} twice.")
        if key not in known:
            raise _unknown(found, key)
        given[key] = known[key].parse(value, found.name)
    return _built(found, given)


def build(name: str, **given: object) -> Channel:
    """The channel of a model from its parameters as numbers; a grid is a side or a pair of sides."""
    found = _find(name)
    known = {p.name: p for p in found.parameters}
    for key in given:
        if key not in known:
            raise _unknown(found, key)
    return _built(found, {key: known[key].check(value, found.name) for key, value in given.items()})


def _find(name: str) -> Model:
    if name not in MODELS:
        raise InputError(f"There is no model {name!r}.{nearest(name, MODELS)} Known: {listing(MODELS)}.")
    return MODELS[name]


def _unknown(found: Model, key: str) -> InputError:
    hint = nearest(key, [p.name for p in found.parameters])
    return InputError(f"The model {found.name} has no parameter {key!r}.{hint} It needs {found.needs}.")


def _built(found: Model, given: dict[str, Value]) -> Channel:
    chosen = [name for name in found.one_of if name in given]
    absent = [p.name for p in found.parameters if p.default is None and p.name not in (*given, *found.one_of)]
    needs = f"The model {found.name} needs {found.needs}"
    if absent:
        raise InputError(f"{needs}; it came without {_together(absent)}. Example: {found.example}.")
    if found.one_of and len(chosen) != 1:
        came = "none of them" if not chosen else _together(chosen)
        raise InputError(f"{needs}; {came} came. Example: {found.example}.")
    defaults = {p.name: p.default for p in found.parameters if p.default is not None}
    return found.make(**(defaults | given))


def _together(names: list[str] | tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _channel(inputs: list[str], outputs: list[str], matrix: Floats) -> Channel:
    return Channel(tuple(inputs), tuple(outputs), matrix, np.full(len(inputs), 1 / len(inputs)))


# --- Values -----------------------------------------------------------------------------------------------------------


def _flip(p: float) -> Channel:
    """A bit that is published wrong with probability p: for p ≤ 1/2 the attacker's error is p (section V)."""
    return _channel(["0", "1"], ["0", "1"], np.array([[1 - p, p], [p, 1 - p]]))


def _randomized_response(n: int, epsilon: float | None = None, p: float | None = None) -> Channel:
    """The true one of n values with probability p, else one of the others at random (Warner 1965).

    ε-differential privacy at its best: p/((1 − p)/(n − 1)) = e^ε, so p = 1/(1 + (n − 1)e^{−ε}).
    """
    if p is not None:
        keep, other = p, (1 - p) / (n - 1)
    else:
        assert epsilon is not None
        a = math.exp(-epsilon)  # both from a, so that a large ε does not lose 1 − p in rounding
        keep, other = 1 / (1 + (n - 1) * a), a / (1 + (n - 1) * a)
    matrix = np.full((n, n), other)
    np.fill_diagonal(matrix, keep)
    return _channel(_numbered(0, n), _numbered(0, n), matrix)


def _geometric(n: int, epsilon: float) -> Channel:
    """A count of 0..n plus noise z of Pr ∝ e^{−ε|z|}; what falls outside is put at that end (Ghosh et al. 2009).

    With a = e^{−ε}: Pr[z = k] = (1 − a)/(1 + a)·a^|k|, and Pr[z ≥ k] = a^k/(1 + a) for k ≥ 0.
    """
    a = math.exp(-epsilon)
    off = np.abs(np.arange(n + 1)[:, None] - np.arange(n + 1)[None, :])
    matrix = -math.expm1(-epsilon) / (1 + a) * a**off
    matrix[:, [0, -1]] = a ** off[:, [0, -1]] / (1 + a)
    return _channel(_numbered(0, n + 1), _numbered(0, n + 1), matrix)


def _numbered(first: int, past: int) -> list[str]:
    return [str(i) for i in range(first, past)]


# --- Places -----------------------------------------------------------------------------------------------------------


def _grid(sides: tuple[int, int]) -> tuple[list[str], Floats]:
    """Labels `(row, column)`, and the distances of the cells' centres, in cells."""
    rows, columns = sides
    places = [(i, j) for i in range(rows) for j in range(columns)]
    at = np.array(places, dtype=np.float64)
    distances: Floats = np.hypot(at[:, None, 0] - at[None, :, 0], at[:, None, 1] - at[None, :, 1])
    return [f"({i}, {j})" for i, j in places], distances


def _noise(sides: tuple[int, int], exponent: Callable[[Floats], Floats]) -> Channel:
    """Probability ∝ e^{−exponent(distance)} at the cells' centres, truncated and renormalised on the grid."""
    labels, distances = _grid(sides)
    with np.errstate(over="ignore"):  # beyond the largest number the weight is 0 all the same
        weights = np.exp(-exponent(distances))
    return _channel(labels, labels, weights / weights.sum(axis=1, keepdims=True))


def _gaussian(grid: tuple[int, int], sigma: float, cell: float) -> Channel:
    """A place plus Gaussian noise (section VI-A): ∝ e^{−d²/2σ²}, truncated and renormalised on the grid.

    Labels count cells, whatever a `cell` measures: losses computed from them are in cells.
    """
    return _noise(grid, lambda cells: (cells * cell / sigma) ** 2 / 2)  # 0/σ is 0, however small σ


def _planar_laplace(grid: tuple[int, int], epsilon: float, cell: float) -> Channel:
    """A place plus planar Laplace noise (Andrés et al. 2013): ∝ e^{−ε d}, truncated and renormalised on the grid.

    The continuous law has ε per unit of distance, and so has its output moved to the nearest cell. Renormalised, it has at
    most 2ε: with Z(x) = Σ_y e^{−ε d(x,y)}, p(y|x)/p(y|x') = e^{ε(d(x',y) − d(x,y))}·Z(x')/Z(x), and both factors are at most
    e^{ε d(x,x')} by the triangle inequality. A long row of cells with a small ε comes as close to 2ε as one likes: between
    its end x and the next cell both factors are nearly that large at y = x. Where Z hardly varies it is ε nearly.
    Labels count cells, whatever a `cell` measures: losses computed from them are in cells.
    """
    return _noise(grid, lambda cells: cells * (epsilon * cell))


# --- Anonymous communication ------------------------------------------------------------------------------------------


def _crowds(n: int, p: float) -> Channel:
    """The paper's variant of Crowds (section VI-B, equation 10): who delivers the message, given who wrote it.

    Whoever holds the message delivers it with probability p, else hands it to any of the n, itself included. After a first
    handing on the holder is uniform and stays so: p(y|x) = p·[x = y] + (1 − p)/n.
    """
    matrix = np.full((n, n), (1 - p) / n)
    matrix[np.diag_indices(n)] += p
    return _channel(_numbered(1, n + 1), _numbered(1, n + 1), matrix)


def _threshold_mix(n: int) -> Channel:
    """A mix that waits for n messages and sends them out in random order (Chaum 1981): each may be each."""
    return _channel(_numbered(1, n + 1), _numbered(1, n + 1), np.full((n, n), 1 / n))


def _pool_mix(n: int, f: int, rounds: int) -> Channel:
    """A mix with a pool (Serjantov and Danezis 2002): in which round a message leaves, given when it came.

    f messages are inside at first and n come in each round; n of the n + f leave, at random, and f stay. Who is inside leaves
    in this round with q = n/(n + f), so who came in round j leaves in round j + k with q(1 − q)^k. Of round r, the messages
    that came k rounds before and those of the first pool weigh together
        n Σ_{k≤r} q(1 − q)^k + f q(1 − q)^r = n(1 − (1 − q)^{r+1}) + n(1 − q)^{r+1} = n,        for f q = n(1 − q),
    so the posterior of one that came k rounds before is (1/n)(n/(n + f))(f/(n + f))^k: at most 1/(n + f), and the attacker's
    error is 1 − 1/(n + f) in every round ("later", the f that are left at the end, comes to the same). The entropy grows
    with the rounds from log(n + f) to (1 + f/n)log(n + f) − (f/n)log f.
    """
    if f + n * rounds > LARGEST:
        allowed = f"such that f + n·rounds, the number of messages, is at most {LARGEST:,}"
        raise ParameterError("rounds", "pool-mix", allowed, rounds)
    came = np.concatenate([np.zeros(f, dtype=np.int64), np.repeat(np.arange(rounds), n)])
    since = np.arange(rounds)[None, :] - came[:, None]
    stay = f / (n + f)
    matrix = np.where(since >= 0, n / (n + f) * stay ** np.maximum(since, 0), 0.0)
    inputs = [f"pool {i + 1}" for i in range(f)]
    inputs += [f"round {j} message {i + 1}" for j in range(rounds) for i in range(n)]
    outputs = [*(f"round {r}" for r in range(rounds)), "later"]
    return _channel(inputs, outputs, np.column_stack([matrix, stay ** (rounds - came)]))


def simulate_crowds(n: int, p: float, messages: int, rng: np.random.Generator) -> Longs:
    """How many of `messages`, each written by one of n users at random, went from x to y, handed on hop by hop."""
    found = MODELS["crowds"]
    for parameter, value in zip(found.parameters, (n, p), strict=True):
        parameter.check(value, "simulate_crowds")
    _check_int("messages", "simulate_crowds", messages, 1)
    if messages > HOPS * p:
        allowed = f"at most {HOPS:,}·p: a message makes 1/p hops"
        raise ParameterError("messages", "simulate_crowds", allowed, messages)
    counts = np.zeros(n * n, dtype=np.int64)
    for sent in range(0, messages, CHUNK):
        authors = rng.integers(n, size=min(CHUNK, messages - sent))
        holders = authors.copy()
        travelling = np.arange(len(authors))
        while len(travelling):
            travelling = travelling[rng.random(len(travelling)) >= p]  # the others are delivered
            holders[travelling] = rng.integers(n, size=len(travelling))
        counts += np.bincount(authors * n + holders, minlength=n * n)
    return counts.reshape(n, n)


def simulate_pool(n: int, f: int, rounds: int, repeats: int, rng: np.random.Generator) -> Longs:
    """How often each message left in each round (or later) of `repeats` pool mixes, rows and columns as in `pool-mix`."""
    channel = build("pool-mix", n=n, f=f, rounds=rounds)
    _check_int("repeats", "simulate_pool", repeats, 1)
    counts = np.zeros(channel.matrix.shape, dtype=np.int64)
    together = max(1, CHUNK // (n + f))
    for run in range(0, repeats, together):
        mixes = min(together, repeats - run)
        inside = np.tile(np.arange(f), (mixes, 1))
        for r in range(rounds):
            coming = np.tile(np.arange(f + n * r, f + n * (r + 1)), (mixes, 1))
            mixed = rng.permuted(np.hstack([inside, coming]), axis=1)
            counts[:, r] += np.bincount(mixed[:, :n].ravel(), minlength=len(counts))
            inside = mixed[:, n:]
        counts[:, rounds] += np.bincount(inside.ravel(), minlength=len(counts))
    return counts


def _check_int(name: str, owner: str, value: object, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ParameterError(name, owner, f"an int ≥ {low}", value)


def _count(name: str, sentence: str, low: int, high: int = LARGEST) -> Parameter:
    return Parameter(name, sentence, high, "int", low)


_EPSILON = "how far apart two inputs may be told, in nats"
_CELL = Parameter("cell", "the distance between neighbouring cells", above=True, high=1e12, default=1.0)
_SIDES = Parameter("grid", "the sides of the grid, in cells", LARGEST, "grid")

MODELS: dict[str, Model] = {
    one.name: one
    for one in (
        Model(
            "flip",
            "a bit, published wrong with a probability",
            (Parameter("p", "the probability that the bit is published wrong", high=1.0),),
            "flip:p=0.2",
            _flip,
        ),
        Model(
            "randomized-response",
            "one of n values, kept with a probability and else replaced by one of the others at random",
            (
                _count("n", "the number of values", 2),
                Parameter("epsilon", _EPSILON, high=1e6),
                Parameter("p", "the probability that the value is kept", high=1.0),
            ),
            "randomized-response:n=5,epsilon=1",
            _randomized_response,
            one_of=("epsilon", "p"),
        ),
        Model(
            "geometric",
            "a count from 0 to n with two-sided geometric noise, what falls outside put at the ends",
            (
                _count("n", "the largest count", 1, LARGEST - 1),
                Parameter("epsilon", f"{_EPSILON}, for counts that differ by 1", above=True, high=1e6),
            ),
            "geometric:n=10,epsilon=1",
            _geometric,
        ),
        Model(
            "gaussian",
            "a place on a grid with Gaussian noise, truncated and renormalised",
            (
                _SIDES,
                Parameter("sigma", "the standard deviation of the noise along each axis", above=True, high=1e12),
                _CELL,
            ),
            "gaussian:grid=10,sigma=1",
            _gaussian,
        ),
        Model(
            "planar-laplace",
            "a place on a grid with planar Laplace noise, truncated and renormalised",
            (_SIDES, Parameter("epsilon", f"{_EPSILON} per unit of distance, before truncation", above=True, high=1e6), _CELL),
            "planar-laplace:grid=10,epsilon=1",
            _planar_laplace,
        ),
        Model(
            "crowds",
            "who of n users delivers a message, handed on at random until it is delivered",
            (
                _count("n", "the number of users", 1),
                Parameter("p", "the probability that who holds a message delivers it", above=True, high=1.0),
            ),
            "crowds:n=10,p=0.3",
            _crowds,
        ),
        Model(
            "threshold-mix",
            "which of n messages that came in together an outgoing one is",
            (_count("n", "the number of messages that the mix waits for", 1),),
            "threshold-mix:n=5",
            _threshold_mix,
        ),
        Model(
            "pool-mix",
            "in which round a message leaves a mix that keeps f messages and sends n",
            (
                _count("n", "the number of messages that come, and leave, in a round", 1),
                _count("f", "the number of messages that stay in the pool", 0),
                _count("rounds", "the number of rounds that are watched", 1, LARGEST - 1),
            ),
            "pool-mix:n=5,f=3,rounds=20",
            _pool_mix,
        ),
    )
}  # fmt: skip
