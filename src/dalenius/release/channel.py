"""Channels: the probability of each output for each input, and perhaps a prior over the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dalenius.engine import Engine
from dalenius.errors import InputError
from dalenius.output import csv_text, write_texts
from dalenius.release.base import Release
from dalenius.release.reading import numbers

TOLERANCE = 5e-7  # for each entry: a row of probabilities printed with six digits still counts as summing to 1


@dataclass(frozen=True, slots=True, eq=False)
class Channel(Release):
    """`matrix[x, y]` = p(y | x); `prior[x]` = p(x) or None when none was given."""

    kind = "channel"
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    matrix: NDArray[np.float64]
    prior: NDArray[np.float64] | None = None

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
        )

    __hash__ = None  # type: ignore[assignment]

    def write(self, path: str | Path, *, prior: str | Path | None = None) -> None:
        """The matrix, and the prior into a file of its own where one is named."""
        rows = [[name, *map(repr, row)] for name, row in zip(self.inputs, self.matrix.tolist(), strict=True)]
        for name in self.outputs:
            if not name.strip():
                raise InputError("The channel has an output without a name, which cannot be a column of a file.")
        corner = "input"
        while corner in self.outputs:
            corner += "_"
        files = {Path(path): csv_text([corner, *self.outputs], rows)}
        if prior is not None:
            if self.prior is None:
                raise InputError("The channel has no prior to write.")
            lines = [[name, repr(p)] for name, p in zip(self.inputs, self.prior.tolist(), strict=True)]
            files[Path(prior)] = csv_text(["value", "probability"], lines)
        write_texts(files)


def _check_distribution(row: NDArray[np.float64], what: str) -> None:
    if not np.isfinite(row).all() or (row < 0).any():
        raise InputError(f"A channel holds probabilities: {what} has a number below 0 or none at all.")
    if abs(row.sum() - 1) > TOLERANCE * len(row) + 1e-12:
        raise InputError(f"A channel's rows sum to 1: {what} sums to {row.sum():.9g}.")


def read(path: Path, *, engine: Engine, prior: Path | None = None) -> Channel:
    """A CSV matrix (first column the input's label, a column an output) and a prior (`value,probability`)."""
    rows = engine.files.open(path)
    if len(rows.columns) < 2:
        raise InputError(f"{rows.name}: a channel has a column of inputs and at least one of an output.")
    inputs, *columns = zip(*rows.read(rows.columns), strict=True)
    matrix = np.array(
        [numbers(column, rows.name, name) for column, name in zip(columns, rows.columns[1:], strict=True)]
    ).T
    return Channel(
        tuple(inputs), rows.columns[1:], matrix, None if prior is None else read_prior(prior, inputs, engine)
    )


def read_prior(path: Path, values: Sequence[str], engine: Engine) -> NDArray[np.float64]:
    """A file `value,probability` with one line for each value, in any order."""
    rows = engine.files.open(path)
    if set(rows.columns) != {"value", "probability"}:
        raise InputError(f"{rows.name}: a prior has the columns value and probability.")
    names, texts = zip(*rows.read(("value", "probability")), strict=True)
    found = dict(zip(names, numbers(texts, rows.name, "probability"), strict=True))
    if len(found) < len(names):
        raise InputError(f"{rows.name}: a value is named twice.")
    if set(found) != set(values):
        raise InputError(
            f"{rows.name}: the prior needs one line for each of the {len(values)} values, and no other; "
            f"{len(set(values) - set(found))} are missing and {len(set(found) - set(values))} are unknown."
        )
    prior = np.array([found[value] for value in values])
    _check_distribution(prior, f"{rows.name}")
    return prior
