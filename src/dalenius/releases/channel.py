"""Channels: the probability of each output for each input, and perhaps a prior over the inputs.

The paper's frame (Rebollo-Monedero et al. 2013, section IV) has four variables more: what the attacker wants to know (X) may
be another thing than what the system is given (X'), and what it observes (Y) may be another thing than what the system
discloses (Y'), with background knowledge beside it. A channel without them has X = X' and Y = Y'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dalenius.arrays import Floats
from dalenius.engines import Engine, Source
from dalenius.errors import InputError, counted
from dalenius.output import csv_text, write_texts
from dalenius.releases.base import GroupedRelease, Release
from dalenius.releases.files import as_path
from dalenius.releases.reading import numbers
from dalenius.schema import Schema

__all__ = ["TOLERANCE", "Channel", "Part", "read", "read_matrix", "read_prior", "rows_of"]

TOLERANCE = 5e-7  # for each entry: a row of probabilities printed with six digits still counts as summing to 1


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Names, and a matrix with a column for each of them."""

    names: tuple[str, ...] = field(repr=False)
    matrix: Floats = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Part):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.matrix, other.matrix)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class Channel(Release):
    """`matrix[x', y']` = p(y' | x'); `prior[x']` = p(x') or None when none was given.

    `unknown`: what the attacker wants to know where that is not the input: `matrix[x', x]` = p(x', x), which has the prior
    as its sums over x. `observation`: what it sees in place of the output: p(y | y'). `background`: what it knows besides,
    p(b | x), independent of the rest once x is known.
    """

    kind = "channel"
    description = "The probability of each output for each input, as a matrix."
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    matrix: Floats
    prior: Floats | None = None
    unknown: Part | None = None
    observation: Part | None = None
    background: Part | None = None

    @classmethod
    def from_rows(cls, rows: GroupedRelease) -> Channel:
        """Return the channel from a person's sensitive value to the class of these rows that shows it."""
        grouping = rows.grouping()
        counts = np.zeros((len(grouping.table), grouping.groups))
        counts[grouping.values, np.repeat(np.arange(grouping.groups), np.diff(grouping.start))] = grouping.counts
        occurs = np.flatnonzero(counts.any(axis=1))
        people = counts[occurs].sum(axis=1)
        inputs = tuple(grouping.column.leaves[leaf] for leaf in occurs.tolist())
        outputs = tuple(str(group) for group in range(grouping.groups))
        return cls(inputs, outputs, counts[occurs] / people[:, None], people / people.sum())

    def __post_init__(self) -> None:
        if self.matrix.shape != (len(self.inputs), len(self.outputs)):
            raise InputError(
                f"The channel has {len(self.inputs)} inputs and {len(self.outputs)} outputs, but a matrix of shape "
                f"{self.matrix.shape}."
            )
        for kind, names in (("input", self.inputs), ("output", self.outputs)):
            if len(set(names)) < len(names):
                raise InputError(f"The channel names an {kind} twice.")
        for i, row in enumerate(self.matrix):
            _check_distribution(row, f"the row of input {self.inputs[i]!r}")
        if self.unknown is not None:
            _check_part(self.unknown, self.inputs, "input", "joint", whole=True)
            margin = self.unknown.matrix.sum(axis=1)
            if (
                self.prior is not None
                and np.abs(margin - self.prior).max() > TOLERANCE * len(self.unknown.names) + 1e-12
            ):
                raise InputError("The prior of the inputs is not that of the joint distribution: give one of them.")
            object.__setattr__(self, "prior", margin / margin.sum())
        if self.observation is not None:
            _check_part(self.observation, self.outputs, "output", "observation")
        if self.background is not None:
            _check_part(self.background, self.values, "value", "background")
        if self.prior is not None:
            if len(self.prior) != len(self.inputs):
                raise InputError(f"The prior has {len(self.prior)} values for {len(self.inputs)} inputs.")
            _check_distribution(self.prior, "the prior")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel):
            return NotImplemented
        same_prior = (
            other.prior is None
            if self.prior is None
            else other.prior is not None and np.array_equal(self.prior, other.prior)
        )
        return (
            self.inputs == other.inputs
            and self.outputs == other.outputs
            and np.array_equal(self.matrix, other.matrix)
            and same_prior
            and (self.unknown, self.observation, self.background)
            == (other.unknown, other.observation, other.background)
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def open(cls, files: Sequence[Source], schema: Schema, *, engine: Engine) -> Channel:  # noqa: ARG003 - it has no columns
        return read(as_path(files[0]), engine=engine)

    def _extent(self) -> str:
        return f": {counted(len(self.inputs), 'input', 'inputs')}, {counted(len(self.outputs), 'output', 'outputs')}"

    @property
    def values(self) -> tuple[str, ...]:
        """What the attacker chooses from: the unknown's names, or the inputs."""
        return self.inputs if self.unknown is None else self.unknown.names

    @property
    def seen(self) -> tuple[str, ...]:
        """What it may observe; with background knowledge, every pair of both."""
        names = self.outputs if self.observation is None else self.observation.names
        if self.background is None:
            return names
        return tuple(f"{name} & {known}" for name in names for known in self.background.names)

    @property
    def conditional(self) -> Floats:
        """p(y' | x') with rows that sum to 1 exactly, also where they are printed with few digits."""
        return _normalised(self.matrix)

    @property
    def source(self) -> Floats:
        """p(x', x): the joint distribution, or the prior on a diagonal."""
        if self.unknown is not None:
            joint: Floats = self.unknown.matrix / self.unknown.matrix.sum()
            return joint
        if self.prior is None:
            raise InputError("The channel has no prior over its inputs; the measures of an attacker need one.")
        diagonal: Floats = np.diag(self.prior / self.prior.sum())
        return diagonal

    @property
    def joint(self) -> Floats:
        """p(x, y) of the unknown and the observation: Σ p(x', x) p(y'|x') p(y|y'), times p(b|x)."""
        conditional = self.conditional
        if self.observation is not None:
            conditional = conditional @ _normalised(self.observation.matrix)
        joint: Floats = self.source.T @ conditional
        if self.background is not None:
            known = _normalised(self.background.matrix)
            joint = (joint[:, :, None] * known[:, None, :]).reshape(len(joint), -1)
        return joint

    def with_matrix(self, matrix: Floats) -> Channel:
        """The same alphabets and prior with other probabilities."""
        return replace(self, matrix=matrix)

    def with_uniform_prior(self) -> Channel:
        """The same channel, all inputs equally likely."""
        return replace(self, prior=np.full(len(self.inputs), 1 / len(self.inputs)))

    def write(self, name: str | Path, *, prior: str | Path | None = None) -> None:
        """The matrix, and the prior into a file of its own where one is named."""
        rows = [[label, *map(repr, row)] for label, row in zip(self.inputs, self.matrix.tolist(), strict=True)]
        for output in self.outputs:
            if not output.strip():
                raise InputError("The channel has an output without a name, which cannot be a column of a file.")
        corner = "input"
        while corner in self.outputs:
            corner += "_"
        files = {Path(name): csv_text([corner, *self.outputs], rows)}
        if prior is not None:
            if self.prior is None:
                raise InputError("The channel has no prior to write.")
            lines = [[label, repr(p)] for label, p in zip(self.inputs, self.prior.tolist(), strict=True)]
            files[Path(prior)] = csv_text(["value", "probability"], lines)
        write_texts(files)


def _normalised(matrix: Floats) -> Floats:
    """Rows that sum to 1 as printed sum to 1 exactly."""
    normalised: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return normalised


def _check_part(part: Part, rows: tuple[str, ...], kind: str, what: str, *, whole: bool = False) -> None:
    """Rows of probabilities, one for each name given; `whole`: all of them together sum to 1."""
    if part.matrix.shape != (len(rows), len(part.names)):
        raise InputError(
            f"The {what} has a row for each {kind} of the channel and a column for each of its names: {len(rows)} by "
            f"{len(part.names)}, and not {part.matrix.shape}."
        )
    if len(set(part.names)) < len(part.names):
        raise InputError(f"The {what} has a name twice.")
    if whole:
        _check_distribution(part.matrix.ravel(), f"the {what}")
        return
    for name, row in zip(rows, part.matrix, strict=True):
        _check_distribution(row, f"the row of {kind} {name!r} of the {what}")


def _check_distribution(row: Floats, what: str) -> None:
    if not np.isfinite(row).all():
        raise InputError(f"A channel has probabilities, but {what} has an entry that is not a number.")
    if (row < 0).any():
        raise InputError(f"A channel holds probabilities: {what} has {row.min():g}, which is below 0.")
    if (row > 1 + TOLERANCE * len(row)).any():
        raise InputError(f"A channel holds probabilities: {what} has an entry above 1.")
    off = row.sum() - 1
    if abs(off) > TOLERANCE * len(row) + 1e-12:
        raise InputError(f"Probabilities sum to 1: {what} sums to {row.sum():.9g}, {abs(off):.3g} too {_much(off)}.")


def _much(off: float) -> str:
    return "much" if off > 0 else "little"


def read(path: Path, *, engine: Engine, prior: Path | None = None) -> Channel:
    """A CSV matrix (first column the input's label, a column an output) and a prior (`value,probability`)."""
    inputs, part = read_matrix(path, engine)
    _check_entries(path.name, part)
    return Channel(inputs, part.names, part.matrix, None if prior is None else read_prior(prior, inputs, engine))


def _check_entries(where: str, part: Part) -> None:
    """Told by row and column: a table of people that is taken for a matrix must not be quoted."""
    for wrong, what in ((part.matrix < 0, "below 0"), (part.matrix > 1 + TOLERANCE * len(part.names), "above 1")):
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise InputError(
                f"{where}, row {row}, column {part.names[column]!r}: that number is {what}, and no probability. A channel has a "
                "row for each input and a column for each output."
            )


def read_matrix(path: Path, engine: Engine) -> tuple[tuple[str, ...], Part]:
    """A CSV matrix: the names in its first column, and its other columns."""
    rows = engine.files.open(path)
    if len(rows.columns) < 2:
        raise InputError(
            f"{rows.name}: a matrix has a column of names and at least one of numbers; a channel has its inputs, and at "
            "least one of an output."
        )
    if tuple(rows.columns) == ("value", "probability"):
        raise InputError(f"{rows.name}: that is a prior, and a matrix is needed here.")
    names, *columns = zip(*rows.read(rows.columns), strict=True)
    if len(set(names)) < len(names):
        twice = next(i for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"{rows.name}, row {twice}: that row has the name of another one.")
    matrix = [numbers(column, rows.name, name) for column, name in zip(columns, rows.columns[1:], strict=True)]
    return tuple(names), Part(tuple(rows.columns[1:]), np.array(matrix).T)


def rows_of(names: Sequence[str], part: Part, wanted: Sequence[str], where: str) -> Part:
    """The rows of a matrix in the order of the names wanted, which have one each."""
    place = {name: i for i, name in enumerate(names)}
    if len(place) < len(names):
        raise InputError(f"{where}: a row is named twice.")
    if set(place) != set(wanted):
        absent, other = [n for n in wanted if n not in place], [n for n in names if n not in set(wanted)]
        first = f"{absent[0]!r} has no row" if absent else f"there is no {other[0]!r} in the channel"
        raise InputError(f"{where}: one row is needed for each of {len(wanted)} names, and {first}.")
    return Part(part.names, part.matrix[[place[name] for name in wanted]])


def read_prior(path: Path, values: Sequence[str], engine: Engine) -> Floats:
    """A file `value,probability` with one line for each value, in any order."""
    rows = engine.files.open(path)
    if set(rows.columns) != {"value", "probability"}:
        raise InputError(f"{rows.name}: a prior has the columns value and probability.")
    names, texts = zip(*rows.read(("value", "probability")), strict=True)
    share_of = dict(zip(names, numbers(texts, rows.name, "probability"), strict=True))
    if len(share_of) < len(names):
        raise InputError(f"{rows.name}: a value is named twice.")
    if set(share_of) != set(values):
        raise InputError(
            f"{rows.name}: the prior needs one line for each of the {len(values)} values, and no other; "
            f"{len(set(values) - set(share_of))} are missing and {len(set(share_of) - set(values))} are unknown. "
            f"Its names are those of the channel's inputs, such as {values[0]!r}."
        )
    prior = np.array([share_of[value] for value in values])
    _check_distribution(prior, f"{rows.name}")
    return prior
