"""`dalenius channel`: privacy as an attacker's estimation error, of a matrix, a model, a release or samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalenius import engine as _engine
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    KindOption,
    QuietOption,
    SchemaOption,
    SeedOption,
    SensitiveOption,
    connect_engine,
    run_details,
    say,
    stage_line,
    teller,
    write_json,
)

if TYPE_CHECKING:
    from dalenius.audit.channel import Design
    from dalenius.engine import Engine
    from dalenius.hierarchy import Hierarchy
    from dalenius.measure.loss import Loss
    from dalenius.release import Channel

POINTS = {"mutual-information": 25, "average": 11, "worst-case": 11}


def register(app: typer.Typer) -> None:
    app.command("channel")(command)


def command(
    matrix: Annotated[
        Path | None,
        typer.Argument(
            metavar="MATRIX", help="A CSV: a row for each input, a column for each output, p(output | input)."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="A model in place of a matrix, such as crowds:n=10,p=0.3; --model list names them all."
        ),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            "--release", help="A release's classes in place of a matrix: what a person's class tells of the value."
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            "--samples", help="A file with input, output and perhaps count in place of a matrix; figures get an error."
        ),
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option("--prior", help="A CSV value,probability of the inputs; without it they are equally likely."),
    ] = None,
    joint: Annotated[
        Path | None,
        typer.Option(
            "--joint", help="Where the unknown is not the input: a CSV, a row an input, a column a value, p(both)."
        ),
    ] = None,
    observation: Annotated[
        Path | None,
        typer.Option(
            "--observation", help="Where the attacker sees another thing than the output: a CSV, p(seen | output)."
        ),
    ] = None,
    background: Annotated[
        Path | None, typer.Option("--background", help="What it knows besides: a CSV, a row a value, p(known | value).")
    ] = None,
    assumed: Annotated[
        Path | None, typer.Option("--assumed-prior", help="The prior of an attacker who is mistaken: how far it gets.")
    ] = None,
    loss: Annotated[
        str,
        typer.Option(
            "--loss", metavar="NAME|FILE", help="The attacker's loss: hamming, absolute, squared, hierarchy, or a CSV."
        ),
    ] = "hamming",
    system_loss: Annotated[
        str | None,
        typer.Option(
            "--system-loss",
            metavar="NAME|FILE",
            help="The loss of outputs in place of inputs, for the distortion; else --loss.",
        ),
    ] = None,
    hierarchy: Annotated[
        Path | None, typer.Option("--hierarchy", help="The hierarchy of the values, for --loss hierarchy.")
    ] = None,
    order: Annotated[
        list[float] | None,
        typer.Option("--order", help="Orders of Rényi's entropy (0, 0.5, 1, 2, inf).", show_default=False),
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of confidence sets, and of intervals.")] = 0.95,
    design: Annotated[
        str | None,
        typer.Option("--design", help="Make the best channel: mutual-information, average or worst-case."),
    ] = None,
    distortion: Annotated[
        float | None, typer.Option("--distortion", help="With --design: the largest distortion allowed.")
    ] = None,
    curve: Annotated[bool, typer.Option("--curve", help="With --design: the best at every distortion.")] = False,
    points: Annotated[int | None, typer.Option("--points", min=2, help="Points of the curve.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the designed channel there; with --curve NAME.csv and NAME.html."),
    ] = None,
    schema: SchemaOption = DEFAULT_SCHEMA,
    sensitive: SensitiveOption = None,
    kind: KindOption = None,
    json: JsonOption = None,
    seed: SeedOption = 0,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> None:
    """What is left to an attacker who sees a channel's output: its estimation error, entropies, t, δ and ε, with their bounds.

    With --design the channel that leaves most, at a distortion that is allowed.
    """
    from dalenius.audit import channel as audit
    from dalenius.errors import InputError, nearest
    from dalenius.output import check_writable, write_texts

    if model == "list":
        for line in _models():
            say(quiet, line)
        return
    given = {"MATRIX": matrix, "--model": model, "--release": release, "--samples": samples}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        what = f"not {' and '.join(named)}" if named else "and none is given"
        raise InputError(f"One of MATRIX, --model, --release and --samples is needed, {what}.")
    if design is not None and design not in audit.OBJECTIVES:
        raise InputError(
            f"--design {design!r}: there is no such objective.{nearest(design, audit.OBJECTIVES)} Known: "
            f"{', '.join(audit.OBJECTIVES)}."
        )
    _check_options(design, distortion, curve, points, output)
    files = [f for f in (matrix, samples, prior, joint, observation, background, assumed) if f is not None]
    for path in _outputs(output, curve):
        check_writable(path, inputs=files)
    connected = connect_engine(engine, quiet=quiet)
    tree, channel, counts = None, None, None
    if model is not None:
        from dalenius.release.models import model as build

        channel = build(model)
    elif release is not None:
        channel, tree = _of_release(release, schema, sensitive, kind, connected)
    elif samples is not None:
        channel, counts = _of_samples(samples, connected)
    else:
        from dalenius.release.channel import read

        assert matrix is not None
        channel = read(matrix, engine=connected)
    if hierarchy is not None:
        from dalenius.hierarchy import read_hierarchy

        tree = read_hierarchy(hierarchy)
    had = channel.prior is not None and model is None
    channel = _with_parts(channel, prior, joint, observation, background, connected, fixed=release or samples)
    uniform = not had and prior is None and joint is None
    mine = _loss(loss, channel.values, None, tree, connected)
    system = _system_loss(system_loss, loss, channel, tree, connected)
    document: dict[str, Any] = {
        "source": named[0].lstrip("-").lower(),
        "prior": "uniform" if uniform else "given" if not (release or samples) else "shares",
    }
    made: Design | None = None
    if design is not None:
        if system is None:
            raise InputError(
                "A design needs the loss of outputs in place of inputs, and the outputs are no input labels: give --system-loss."
            )
        if distortion is not None:
            made = audit.design(channel, mine, system, design, distortion)
            channel = made.channel
            document["design"] = made.to_document()
            document["matrix"] = channel.matrix
            document["input_labels"], document["output_labels"] = channel.inputs, channel.outputs
    orders = audit.ORDERS if order is None else tuple(order)
    wrong = None if assumed is None else _prior(assumed, channel, connected)
    bends: list[Design] = []
    if distortion is not None or design is None:
        document |= audit.measured(channel, mine, system, orders=orders, confidence=confidence, assumed=wrong)
    if counts is not None and design is None:
        document["estimated"] = _estimated(counts, mine, confidence, seed)
    if curve:
        assert design is not None
        assert system is not None
        with stage_line(quiet) as stage:
            bends = audit.trade_off(
                channel,
                mine,
                system,
                design,
                points=points or POINTS[design],
                progress=stage,
            )
        document["curve"] = [{**one.to_document()} for one in bends]
    if uniform and model is None:
        teller(quiet or json == "-")("No prior was given: all inputs are taken for equally likely.")
    if output is not None:
        if curve:
            from dalenius.report import channel as report

            csv, page = _outputs(output, curve)
            write_texts({csv: report.curve_csv(bends), page: report.page(bends, run_details())})
        else:
            channel.write(output)
    if json is not None:
        write_json(json, document)
    if json == "-":
        return
    from dalenius.report import channel as report

    for line in report.lines(document, bends):
        say(quiet, line)
    for path in _outputs(output, curve):
        say(quiet, f"  Wrote {path}")


def _check_options(
    design: str | None, distortion: float | None, curve: bool, points: int | None, output: Path | None
) -> None:
    from dalenius.errors import InputError

    if design is None:
        for option, used in (("--distortion", distortion is not None), ("--curve", curve), ("-o", output is not None)):
            if used:
                raise InputError(f"{option} is about a channel that is designed: add --design, or leave it out.")
    elif distortion is None and not curve:
        raise InputError("--design needs --distortion, the largest that is allowed, or --curve for all of them.")
    if points is not None and not curve:
        raise InputError("--points is about the curve: add --curve, or leave it out.")


def _outputs(output: Path | None, curve: bool) -> list[Path]:
    if output is None:
        return []
    return [output.with_name(output.name + ending) for ending in (".csv", ".html")] if curve else [output]


def _models() -> list[str]:
    from dalenius.release.models import MODELS

    lines = []
    for one in MODELS.values():
        lines += [f"{one.example:<40} {one.sentence}"]
        lines += [f"    {p.name:<10} {p.sentence} ({p.allowed})" for p in one.parameters]
    return lines


def _of_release(
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
    seen = Observed.of_grouping(grouping)
    there = seen.prior[0] > 0
    values = tuple(value for value, on in zip(seen.values, there, strict=True) if on)
    prior = seen.prior[0][there]
    return Channel(values, seen.observations, seen.joint[there] / prior[:, None], prior), grouping.column.hierarchy


def _of_samples(path: Path, engine: Engine) -> tuple[Channel, Any]:
    """Counts of pairs, and the channel of their shares."""
    import numpy as np

    from dalenius.errors import InputError
    from dalenius.measure.sampled import from_samples

    rows = engine.files.open(path)
    columns = [name for name in ("input", "output", "count") if name in rows.columns]
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
    found = np.zeros((len(inputs), len(outputs)), dtype=np.int64)
    for (x, y), n in counted.items():
        found[inputs.index(x), outputs.index(y)] = n
    return from_samples(found, inputs, outputs), found


def _with_parts(
    channel: Channel,
    prior: Path | None,
    joint: Path | None,
    observation: Path | None,
    background: Path | None,
    engine: Engine,
    *,
    fixed: object,
) -> Channel:
    """The channel with its prior, and whatever else was given."""
    from dataclasses import replace

    from dalenius.errors import InputError
    from dalenius.release.channel import read_matrix, rows_of

    if fixed and (prior is not None or joint is not None):
        raise InputError("A release and samples have the prior that their people have: leave --prior and --joint out.")
    if joint is not None:
        if prior is not None:
            raise InputError("--joint tells the prior, too: leave --prior out.")
        names, part = read_matrix(joint, engine)
        channel = replace(channel, prior=None, unknown=rows_of(names, part, channel.inputs, joint.name))
    elif prior is not None:
        channel = replace(channel, prior=_prior(prior, channel, engine))
    elif channel.prior is None:
        channel = channel.with_uniform_prior()
    if observation is not None:
        names, part = read_matrix(observation, engine)
        channel = replace(channel, observation=rows_of(names, part, channel.outputs, observation.name))
    if background is not None:
        names, part = read_matrix(background, engine)
        channel = replace(channel, background=rows_of(names, part, channel.values, background.name))
    return channel


def _prior(path: Path, channel: Channel, engine: Engine) -> Any:
    from dalenius.release.channel import read_prior

    return read_prior(path, channel.inputs, engine)


def _loss(
    text: str, values: tuple[str, ...], estimates: tuple[str, ...] | None, tree: Hierarchy | None, engine: Engine
) -> Loss:
    """A loss by its name, or from a file."""
    from dalenius.measure.loss import NAMED, named, tabulated
    from dalenius.release.channel import read_matrix

    if text not in NAMED and Path(text).is_file():
        names, part = read_matrix(Path(text), engine)
        return tabulated(Path(text).name, names, part, values, estimates)
    return named(text, values, estimates, tree=tree)


def _system_loss(asked: str | None, loss: str, channel: Channel, tree: Hierarchy | None, engine: Engine) -> Loss | None:
    """The loss of outputs in place of inputs; without a word of it that of the attacker, if outputs are input labels."""
    from dalenius.errors import InputError

    if asked is None and not set(channel.outputs) <= set(channel.inputs):
        return None
    if asked is None and channel.unknown is not None and loss not in ("hamming", "absolute", "squared"):
        return None
    try:
        return _loss(asked or loss, channel.inputs, channel.outputs, tree, engine)
    except InputError:
        if asked is not None:
            raise
        return None  # an attacker's loss between other things


def _estimated(counts: Any, loss: Loss, confidence: float, seed: int) -> dict[str, Any]:
    from dataclasses import asdict

    import numpy as np

    from dalenius.measure.sampled import estimated

    return asdict(estimated(counts, loss, confidence=confidence, complete=False, rng=np.random.default_rng(seed)))
