"""`dalenius channel`: privacy as an attacker's estimation error, of a matrix, a model, a release or samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    release_files,
    run_details,
    say,
    stage_line,
    teller,
    write_json,
)

if TYPE_CHECKING:
    from dalenius.audit.channel import Design
    from dalenius.engine import Engine
    from dalenius.measure.loss import Loss

POINTS = {"mutual-information": 25, "average": 11, "worst-case": 11}
LIST = "list"


def register(app: typer.Typer) -> None:
    from dalenius.release.models import MODELS

    models = f"Models: {', '.join(MODELS)}. --model list explains them and their parameters."
    app.command("channel", epilog=models)(command)


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
    confidence: Annotated[
        float | None,
        typer.Option("--confidence", help="Of confidence sets, and of intervals (0.95).", show_default=False),
    ] = None,
    design: Annotated[
        str | None,
        typer.Option("--design", help="Make the best channel: mutual-information, average or worst-case."),
    ] = None,
    distortion: Annotated[
        float | None, typer.Option("--distortion", help="With --design: the largest distortion allowed.")
    ] = None,
    curve: Annotated[bool, typer.Option("--curve", help="With --design: the best at every distortion.")] = False,
    points: Annotated[
        int | None, typer.Option("--points", min=2, max=1000, help="Points of the curve (25 or 11).")
    ] = None,
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
    from dalenius.cli import channel_sources as sources
    from dalenius.errors import InputError
    from dalenius.output import check_writable, write_texts
    from dalenius.report import channel as report

    given = {"MATRIX": matrix, "--model": model, "--release": release, "--samples": samples}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        what = f"not {' and '.join(named)}" if named else "and none is given"
        raise InputError(f"One of MATRIX, --model, --release and --samples is needed, {what}.")
    if model == LIST:
        _list_models(json, quiet)
        return
    measures = {"--assumed-prior": assumed, "--order": order, "--confidence": confidence}
    _check_design(design, distortion, curve, points, output, samples, measures)
    _check_numbers(distortion, confidence, order)
    if release is None:
        only = {"--sensitive": sensitive, "--kind": kind, "--schema": None if schema == DEFAULT_SCHEMA else schema}
        _refuse(only, "is about a release", "--release")
    if hierarchy is not None and "hierarchy" not in (loss, system_loss):
        raise InputError("--hierarchy is for --loss hierarchy: add it, or leave the hierarchy out.")
    if release is not None or samples is not None:
        _refuse(
            {"--prior": prior, "--joint": joint}, "is not needed: a release and samples have the prior of their people"
        )
    connected = connect_engine(engine, quiet=quiet)
    outputs = _outputs(output, curve, distortion)
    files = [matrix, samples, prior, joint, observation, background, assumed, loss, system_loss, hierarchy]
    if release is not None:
        files += [schema, *release_files(release)]
    written = [*outputs.values(), *([] if json in (None, "-") else [Path(str(json))])]
    for path in written:
        check_writable(path, inputs=[*files, *connected.own_files])
    if len({path.resolve() for path in written}) < len(written):
        raise InputError(f"Two results cannot both be written to {str(json)!r}. Name another file.")

    tree, counts, people = None, None, release is not None or samples is not None
    if model is not None:
        from dalenius.release import models

        channel = models.model(model)
    elif release is not None:
        channel, tree = sources.of_release(release, schema, sensitive, kind, connected)
    elif samples is not None:
        channel, counts = sources.of_samples(samples, connected)
    else:
        from dalenius.release import verify
        from dalenius.release.channel import read

        assert matrix is not None
        verify([matrix])
        channel = read(matrix, engine=connected)
    if hierarchy is not None:
        from dalenius.hierarchy import read_hierarchy

        tree = read_hierarchy(hierarchy)
    uniform = channel.prior is None or model is not None
    with sources.unnamed(people, "A file that was given"):
        channel = sources.with_parts(channel, prior, joint, observation, background, connected)
        wrong = None if assumed is None else _prior(assumed, channel.inputs, connected)
    with sources.unnamed(people, "The loss"):
        mine = sources.loss_of(loss, channel.values, None, tree, connected)
        system, reason = sources.system_loss_of(system_loss, loss, channel, tree, connected)
    uniform = uniform and prior is None and joint is None
    tell = teller(quiet)
    if uniform and model is None:
        tell("No prior was given: all inputs are taken for equally likely.")
    _tell_of_estimates(mine, channel.values, tell)
    document: dict[str, Any] = {
        "source": named[0].lstrip("-").lower(),
        "prior": "uniform" if uniform else "shares" if people else "given",
    }
    bends: list[Design] = []
    if design is not None:
        if system is None:
            raise InputError(
                f"A design needs the loss of outputs in place of inputs: give --system-loss, for {reason}."
            )
        if distortion is not None:
            made = audit.design(channel, mine, system, audit.objective(design), distortion)
            channel = made.channel
            document |= {"design": made.to_document(), "matrix": channel.matrix}
            document |= {"input_labels": channel.inputs, "output_labels": channel.outputs}
    if design is None or distortion is not None:
        chosen: dict[str, Any] = {} if order is None else {"orders": tuple(order)}
        sure = audit.CONFIDENCE if confidence is None else confidence
        document |= audit.measured(channel, mine, system, assumed=wrong, confidence=sure, **chosen)
    if counts is not None:
        document["estimated"] = _estimated(counts, mine, confidence or audit.CONFIDENCE, seed)
    if design is not None and system is not None and curve:
        wanted = audit.objective(design)
        with stage_line(quiet) as stage:
            bends = audit.trade_off(channel, mine, system, wanted, points=points or POINTS[design], progress=stage)
        document["curve"] = [one.to_document() for one in bends]

    if "csv" in outputs:
        write_texts({outputs["csv"]: report.curve_csv(bends), outputs["page"]: report.page(bends, run_details())})
    if "matrix" in outputs:
        channel.write(outputs["matrix"])
    if json is not None:
        write_json(json, document)
    if json == "-":
        return
    senders = model is not None and models.find(model).is_about_senders
    asked = {"order": order is not None, "confidence": confidence is not None, "senders": senders}
    for line in report.lines(document, bends, asked):
        say(quiet, line)
    for path in outputs.values():
        say(quiet, f"  Wrote {path}")


def _check_design(
    design: str | None,
    distortion: float | None,
    curve: bool,
    points: int | None,
    output: Path | None,
    samples: Path | None,
    measures: Mapping[str, object],
) -> None:
    """Options that are about a design, and those that a curve alone has no use for."""
    from dalenius.audit.channel import objective
    from dalenius.errors import InputError

    if design is None:
        for option, used in (("--distortion", distortion is not None), ("--curve", curve), ("-o", output is not None)):
            if used:
                raise InputError(f"{option} is about a channel that is designed: add --design, or leave it out.")
    else:
        objective(design)
        if samples is not None:
            raise InputError(
                "--samples measures a channel that there is. For --design give its labels: MATRIX or --model."
            )
        if distortion is None and not curve:
            raise InputError("--design needs --distortion, the largest that is allowed, or --curve for all of them.")
        if distortion is None:
            _refuse(measures, "is about one channel, and a curve has many", "--distortion")
    if points is not None and not curve:
        raise InputError("--points is about the curve: add --curve, or leave it out.")
    if output is not None and str(output) == "-":
        raise InputError("-o names a file; for standard output there is --json -.")


def _refuse(options: Mapping[str, object], why: str, add: str = "") -> None:
    from dalenius.errors import InputError

    for option, value in options.items():
        if value is not None:
            raise InputError(f"{option} {why}: {f'add {add}, or ' if add else ''}leave {'it' if add else option} out.")


def _check_numbers(distortion: float | None, confidence: float | None, order: list[float] | None) -> None:
    from dalenius.errors import ParameterError

    if distortion is not None and not (math.isfinite(distortion) and distortion >= 0):
        raise ParameterError("--distortion", "channel", "a number ≥ 0", distortion)
    if confidence is not None and not 0 < confidence < 1:
        raise ParameterError("--confidence", "channel", "a number > 0 and < 1", confidence)
    for one in order or ():
        if not one >= 0:
            raise ParameterError("--order", "channel", "a number ≥ 0, or inf", one)


def _outputs(output: Path | None, curve: bool, distortion: float | None) -> dict[str, Path]:
    """What is written where: the designed channel, and the curve as CSV and as a page."""
    if output is None:
        return {}
    if not curve:
        return {"matrix": output}
    name = output.with_suffix("") if output.suffix in (".csv", ".html") else output
    found = {"csv": name.with_name(name.name + ".csv"), "page": name.with_name(name.name + ".html")}
    return found if distortion is None else {**found, "matrix": name.with_name(name.name + ".channel.csv")}


def _list_models(json: str | None, quiet: bool) -> None:
    from dalenius.release.models import MODELS, described

    if json is not None:
        write_json(json, {"models": described()})
    if json == "-":
        return
    for one in MODELS.values():
        say(quiet, f"{one.example:<40} {one.sentence}")
        for p in one.parameters:
            say(quiet, f"    {p.name:<10} {p.sentence} ({p.allowed})")


def _tell_of_estimates(loss: Loss, values: tuple[str, ...], tell: Any) -> None:
    if not set(values) <= set(loss.estimates):
        tell(
            f"The loss lets the attacker answer with {len(loss.estimates):,} other things than the {len(values):,} values."
        )


def _prior(path: Path, inputs: tuple[str, ...], engine: Engine) -> Any:
    from dalenius.release.channel import read_prior

    return read_prior(path, inputs, engine)


def _estimated(counts: Any, loss: Loss, confidence: float, seed: int) -> dict[str, Any]:
    from dataclasses import asdict

    import numpy as np

    from dalenius.measure.sampled import estimated

    found = estimated(counts, loss, confidence=confidence, complete=False, rng=np.random.default_rng(seed))
    return asdict(found)
