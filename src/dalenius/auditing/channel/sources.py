"""Where a channel comes from: a file, a model, the classes of a release, or samples. Also, where losses come from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dalenius.arrays import Longs
from dalenius.auditing.channel.request import ChannelRequest
from dalenius.engines import Engine, Source
from dalenius.engines.base import Rows
from dalenius.errors import InputError, nearest
from dalenius.hierarchy import Hierarchy, read_hierarchy
from dalenius.measures.loss import LOSS_NAMES, Loss, make_loss, tabulated
from dalenius.measures.observed import Observed
from dalenius.measures.sampled import from_samples
from dalenius.releases import Channel, Release, verify
from dalenius.releases import read as read_release
from dalenius.releases.channel import read as read_channel
from dalenius.releases.channel import read_matrix, read_prior, rows_of
from dalenius.releases.models import model
from dalenius.schema import Schema

MAX_MATRIX_CELLS = 20_000_000  # classes × values of a release that is treated as a channel
SAMPLE_COLUMNS = ("input", "output", "count")


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A channel from its source, with the `counts` of pairs if it comes from samples, and the hierarchy of its values, if any."""

    channel: Channel
    tree: Hierarchy | None = None
    counts: Longs | None = None


def open_source(request: ChannelRequest, engine: Engine) -> Opened:
    """Return the channel from its source, with the hierarchy of its values."""
    source = _open(request, engine)
    return source if request.hierarchy is None else replace(source, tree=read_hierarchy(request.hierarchy))


def _open(request: ChannelRequest, engine: Engine) -> Opened:
    if request.model is not None:
        return Opened(model(request.model))
    if request.samples is not None:
        return of_samples(request.samples, engine)
    if request.release is not None and request.schema is not None:
        return of_release(request.release, request.schema, request.sensitive, request.kind, engine)
    assert request.matrix is not None
    verify([request.matrix])
    return Opened(read_channel(request.matrix, engine=engine))


@contextlib.contextmanager
def unnamed(has_people: bool, what: str) -> Iterator[None]:
    """Hide people's values: errors about a release or samples say what does not fit, but not which value."""
    try:
        yield
    except InputError:
        if not has_people:
            raise
        raise InputError(
            f"{what} does not fit the values that people have: they are not numbers, or not those that it names. The value is "
            "not shown."
        ) from None


def of_release(
    release: Source | Release, schema: Schema | Path, sensitive: str | None, kind: str | None, engine: Engine
) -> Opened:
    """Return p(class | value) of a release with classes, with the shares of values as prior."""
    read = read_release(release, schema, kind=kind, engine=engine)
    classes = read.classes()
    if classes is None:
        raise InputError(f"A release of kind {read.kind!r} has no classes, but --release needs them.")
    grouping = classes.grouping(sensitive)
    cells = (grouping.groups + 1) * len(grouping.table)
    if cells > MAX_MATRIX_CELLS:
        raise InputError(
            f"{grouping.groups:,} classes and {len(grouping.table):,} values are too many for a matrix. `dalenius audit` "
            "computes the same measures with Hamming loss from counts."
        )
    seen = Observed.of_grouping(grouping)
    there = seen.prior[0] > 0
    values = tuple(value for value, on in zip(seen.values, there, strict=True) if on)
    prior = seen.prior[0][there]
    channel = Channel(values, seen.observations, seen.joint[there] / prior[:, None], prior)
    return Opened(channel, tree=grouping.column.hierarchy)


def of_samples(path: Path, engine: Engine) -> Opened:
    """Return the channel with the shares of pairs, and their counts."""
    rows = engine.files.open(path)
    pairs = _count_pairs(rows)
    if not pairs:
        raise InputError(f"{rows.name}: there are no samples.")
    inputs, outputs = sorted({x for x, _ in pairs}), sorted({y for _, y in pairs})
    if len(inputs) * len(outputs) > MAX_MATRIX_CELLS:
        raise InputError(f"{rows.name}: {len(inputs):,} inputs and {len(outputs):,} outputs are too many for a matrix.")
    place, column = ({name: i for i, name in enumerate(names)} for names in (inputs, outputs))
    counts = np.zeros((len(inputs), len(outputs)), dtype=np.int64)
    for (x, y), n in pairs.items():
        counts[place[x], column[y]] = n
    return Opened(from_samples(counts, inputs, outputs), counts=counts)


def _count_pairs(rows: Rows) -> dict[tuple[str, str], int]:
    """Return how often each pair of input and output occurs."""
    columns = _sample_columns(rows)
    pairs: dict[tuple[str, str], int] = {}
    for i, line in enumerate(rows.read(columns)):
        text = line[2].strip() if len(line) > 2 else "1"
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise InputError(f"{rows.name}, row {i}, column 'count': a whole number ≥ 0 is needed.")
        pairs[line[0], line[1]] = pairs.get((line[0], line[1]), 0) + int(text)
    return {pair: n for pair, n in pairs.items() if n}


def _sample_columns(rows: Rows) -> list[str]:
    for name in rows.columns:
        if name not in SAMPLE_COLUMNS:
            raise InputError(
                f"{rows.name}: samples have no column {name!r}.{nearest(name, SAMPLE_COLUMNS)} They have "
                f"{', '.join(SAMPLE_COLUMNS)}."
            )
    columns = [name for name in SAMPLE_COLUMNS if name in rows.columns]
    if columns[:2] != ["input", "output"]:
        raise InputError(f"{rows.name}: samples need the columns input and output, and may have count.")
    return columns


def with_parts(channel: Channel, request: ChannelRequest, engine: Engine) -> Channel:
    """Return the channel with its prior, and the other parts of the request."""
    if request.joint is not None:
        if request.prior is not None:
            raise InputError("--joint includes the prior. Leave --prior out.")
        names, part = read_matrix(request.joint, engine)
        channel = replace(channel, prior=None, unknown=rows_of(names, part, channel.inputs, request.joint.name))
    elif request.prior is not None:
        channel = replace(channel, prior=read_prior(request.prior, channel.inputs, engine))
    elif channel.prior is None:
        channel = channel.with_uniform_prior()
    if request.observation is not None:
        names, part = read_matrix(request.observation, engine)
        channel = replace(channel, observation=rows_of(names, part, channel.outputs, request.observation.name))
    if request.background is not None:
        names, part = read_matrix(request.background, engine)
        channel = replace(channel, background=rows_of(names, part, channel.values, request.background.name))
    return channel


def loss_of(
    text: str, values: tuple[str, ...], estimates: tuple[str, ...] | None, tree: Hierarchy | None, engine: Engine
) -> Loss:
    """Return a loss by its name, or from a file."""
    if text in LOSS_NAMES:
        return make_loss(text, values, estimates, tree=tree)
    if not Path(text).is_file():
        raise InputError(
            f"There is no loss {text!r}, and no such file.{nearest(text, LOSS_NAMES)} "
            f"Known: {', '.join(LOSS_NAMES)}, or a CSV file."
        )
    names, part = read_matrix(Path(text), engine)
    return tabulated(Path(text).name, names, part, values, estimates)


def system_loss_of(
    asked: str | None, loss: str, channel: Channel, tree: Hierarchy | None, engine: Engine
) -> tuple[Loss | None, str]:
    """Return the loss of outputs instead of inputs, or why there is none. Without a name, it is the attacker's loss."""
    if asked is None and not set(channel.outputs) <= set(channel.inputs):
        return None, "the outputs are not input labels"
    try:
        return loss_of(asked or loss, channel.inputs, channel.outputs, tree, engine), ""
    except InputError as error:
        if asked is not None:
            raise
        return None, f"the attacker's loss is not about outputs ({error})"
