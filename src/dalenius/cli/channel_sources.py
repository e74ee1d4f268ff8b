"""Where a channel comes from, for `dalenius channel`: files, a model, a release's classes, samples. Losses, too."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dalenius.engine import Engine
    from dalenius.hierarchy import Hierarchy
    from dalenius.measure.loss import Loss
    from dalenius.release import Channel

MOST_CELLS = 20_000_000  # classes × values of a release that is taken for a channel


@contextlib.contextmanager
def unnamed(people: bool, what: str) -> Iterator[None]:
    """Values of people are not shown: of a release or of samples an error tells what does not fit, and not which value."""
    from dalenius.errors import InputError

    try:
        yield
    except InputError:
        if not people:
            raise
        raise InputError(
            f"{what} does not fit the values that people have: they are no numbers, or not those that it names. Which value "
            "it is, is not shown."
        ) from None


def of_release(
    release: str, schema: Path, sensitive: str | None, kind: str | None, engine: Engine
) -> tuple[Channel, Hierarchy | None]:
    """p(class | value) of a grouped release, with the shares of values as prior."""
    from dalenius.errors import InputError
    from dalenius.measure.observed import Observed
    from dalenius.release import Channel, GroupedRelease, read

    found = read(release, schema, kind=kind, engine=engine)
    if not isinstance(found, GroupedRelease):
        raise InputError(f"A release of kind {found.kind!r} has no classes, which are what --release looks at.")
    grouping = found.grouping(sensitive)
    cells = (grouping.groups + 1) * len(grouping.table)
    if cells > MOST_CELLS:
        raise InputError(
            f"{grouping.groups:,} classes and {len(grouping.table):,} values are too many for a matrix. `dalenius audit` has the "
            "same measures with Hamming loss, computed from counts."
        )
    seen = Observed.of_grouping(grouping)
    there = seen.prior[0] > 0
    values = tuple(value for value, on in zip(seen.values, there, strict=True) if on)
    prior = seen.prior[0][there]
    return Channel(values, seen.observations, seen.joint[there] / prior[:, None], prior), grouping.column.hierarchy


def of_samples(path: Path, engine: Engine) -> tuple[Channel, Any]:
    """The channel of the shares of pairs, and their counts."""
    import numpy as np

    from dalenius.errors import InputError, nearest
    from dalenius.measure.sampled import from_samples

    rows = engine.files.open(path)
    known = ("input", "output", "count")
    for name in rows.columns:
        if name not in known:
            raise InputError(
                f"{rows.name}: samples have no column {name!r}.{nearest(name, known)} They have {', '.join(known)}."
            )
    columns = [name for name in known if name in rows.columns]
    if columns[:2] != ["input", "output"]:
        raise InputError(f"{rows.name}: samples have the columns input and output, and perhaps count.")
    counted: dict[tuple[str, str], int] = {}
    for i, line in enumerate(rows.read(columns)):
        text = line[2].strip() if len(line) > 2 else "1"
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise InputError(f"{rows.name}, row {i}, column 'count': a whole number ≥ 0 is needed there.")
        counted[line[0], line[1]] = counted.get((line[0], line[1]), 0) + int(text)
    counted = {pair: n for pair, n in counted.items() if n}
    if not counted:
        raise InputError(f"{rows.name}: there are no samples.")
    inputs, outputs = sorted({x for x, _ in counted}), sorted({y for _, y in counted})
    if len(inputs) * len(outputs) > MOST_CELLS:
        raise InputError(f"{rows.name}: {len(inputs):,} inputs and {len(outputs):,} outputs are too many for a matrix.")
    place, column = ({name: i for i, name in enumerate(names)} for names in (inputs, outputs))
    found = np.zeros((len(inputs), len(outputs)), dtype=np.int64)
    for (x, y), n in counted.items():
        found[place[x], column[y]] = n
    return from_samples(found, inputs, outputs), found


def with_parts(
    channel: Channel,
    prior: Path | None,
    joint: Path | None,
    observation: Path | None,
    background: Path | None,
    engine: Engine,
) -> Channel:
    """The channel with its prior, and whatever else was given."""
    from dalenius.errors import InputError
    from dalenius.release.channel import read_matrix, read_prior, rows_of

    if joint is not None:
        if prior is not None:
            raise InputError("--joint tells the prior, too: leave --prior out.")
        names, part = read_matrix(joint, engine)
        channel = replace(channel, prior=None, unknown=rows_of(names, part, channel.inputs, joint.name))
    elif prior is not None:
        channel = replace(channel, prior=read_prior(prior, channel.inputs, engine))
    elif channel.prior is None:
        channel = channel.with_uniform_prior()
    if observation is not None:
        names, part = read_matrix(observation, engine)
        channel = replace(channel, observation=rows_of(names, part, channel.outputs, observation.name))
    if background is not None:
        names, part = read_matrix(background, engine)
        channel = replace(channel, background=rows_of(names, part, channel.values, background.name))
    return channel


def loss_of(
    text: str, values: tuple[str, ...], estimates: tuple[str, ...] | None, tree: Hierarchy | None, engine: Engine
) -> Loss:
    """A loss by its name, or from a file."""
    from dalenius.errors import InputError, nearest
    from dalenius.measure.loss import NAMED, named, tabulated
    from dalenius.release.channel import read_matrix

    if text in NAMED:
        return named(text, values, estimates, tree=tree)
    if not Path(text).is_file():
        raise InputError(
            f"There is no loss {text!r}, and no such file.{nearest(text, NAMED)} Known: {', '.join(NAMED)}, or a CSV file."
        )
    names, part = read_matrix(Path(text), engine)
    return tabulated(Path(text).name, names, part, values, estimates)


def system_loss_of(
    asked: str | None, loss: str, channel: Channel, tree: Hierarchy | None, engine: Engine
) -> tuple[Loss | None, str]:
    """The loss of outputs in place of inputs, or why there is none; without a word of it that of the attacker."""
    from dalenius.errors import InputError

    if asked is None and not set(channel.outputs) <= set(channel.inputs):
        return None, "the outputs are no input labels"
    try:
        return loss_of(asked or loss, channel.inputs, channel.outputs, tree, engine), ""
    except InputError as error:
        if asked is not None:
            raise
        return None, f"the attacker's loss is not about outputs ({error})"
