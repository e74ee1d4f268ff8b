"""`dalenius channel`: privacy as an attacker's estimation error, of a matrix, a model, a release or samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalenius.cli import common, declared

if TYPE_CHECKING:
    from dalenius.auditing.channel import ChannelRequest, MeasuredChannel
    from dalenius.engines import Engine

LIST = "list"

MatrixArgument = Annotated[
    Path | None,
    typer.Argument(metavar="MATRIX", help="A CSV: a row for each input, a column for each output, p(output | input)."),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model", help="A model in place of a matrix, such as crowds:n=10,p=0.3; --model list names them all."
    ),
]
ReleaseOption = Annotated[
    str | None,
    typer.Option(
        "--release", help="A release's classes in place of a matrix: what a person's class tells of the value."
    ),
]
SamplesOption = Annotated[
    Path | None,
    typer.Option(
        "--samples", help="A file with input, output and perhaps count in place of a matrix; figures get an error."
    ),
]
PriorOption = Annotated[
    Path | None,
    typer.Option("--prior", help="A CSV value,probability of the inputs; without it they are equally likely."),
]
JointOption = Annotated[
    Path | None,
    typer.Option(
        "--joint", help="Where the unknown is not the input: a CSV, a row an input, a column a value, p(both)."
    ),
]
ObservationOption = Annotated[
    Path | None,
    typer.Option(
        "--observation", help="Where the attacker sees another thing than the output: a CSV, p(seen | output)."
    ),
]
BackgroundOption = Annotated[
    Path | None, typer.Option("--background", help="What it knows besides: a CSV, a row a value, p(known | value).")
]
AssumedPriorOption = Annotated[
    Path | None, typer.Option("--assumed-prior", help="The prior of an attacker who is mistaken: how far it gets.")
]
LossOption = Annotated[
    str,
    typer.Option(
        "--loss", metavar="NAME|FILE", help="The attacker's loss: hamming, absolute, squared, hierarchy, or a CSV."
    ),
]
SystemLossOption = Annotated[
    str | None,
    typer.Option(
        "--system-loss",
        metavar="NAME|FILE",
        help="The loss of outputs in place of inputs, for the distortion; else --loss.",
    ),
]
HierarchyOption = Annotated[
    Path | None, typer.Option("--hierarchy", help="The hierarchy of the values, for --loss hierarchy.")
]
OrderOption = Annotated[
    list[float] | None,
    typer.Option("--order", help="Orders of Rényi's entropy (0, 0.5, 1, 2, inf).", show_default=False),
]
ConfidenceOption = Annotated[
    float | None, typer.Option("--confidence", help="Of confidence sets, and of intervals (0.95).", show_default=False)
]
DesignOption = Annotated[
    str | None, typer.Option("--design", help="Make the best channel: mutual-information, average or worst-case.")
]
DistortionOption = Annotated[
    float | None, typer.Option("--distortion", help="With --design: the largest distortion allowed.")
]
CurveOption = Annotated[bool, typer.Option("--curve", help="With --design: the best at every distortion.")]
PointsOption = Annotated[int | None, typer.Option("--points", min=2, max=1000, help="Points of the curve (25 or 11).")]
OutputOption = Annotated[
    Path | None,
    declared.output("Write the designed channel there; with --curve NAME.csv and NAME.html."),
]


def register(app: typer.Typer) -> None:
    from dalenius.releases.models import MODELS

    models = f"Models: {', '.join(MODELS)}. --model list explains them and their parameters."
    app.command("channel", epilog=models)(command)


def command(
    matrix: MatrixArgument = None,
    model: ModelOption = None,
    release: ReleaseOption = None,
    samples: SamplesOption = None,
    prior: PriorOption = None,
    joint: JointOption = None,
    observation: ObservationOption = None,
    background: BackgroundOption = None,
    assumed: AssumedPriorOption = None,
    loss: LossOption = "hamming",
    system_loss: SystemLossOption = None,
    hierarchy: HierarchyOption = None,
    order: OrderOption = None,
    confidence: ConfidenceOption = None,
    design: DesignOption = None,
    distortion: DistortionOption = None,
    curve: CurveOption = False,
    points: PointsOption = None,
    output: OutputOption = None,
    schema: declared.Schema = declared.SCHEMA_FILE,
    sensitive: declared.Sensitive = None,
    kind: declared.Kind = None,
    json: declared.Json = None,
    seed: declared.Seed = 0,
    engine: declared.Engine = declared.ENGINE_URL,
    quiet: declared.Quiet = False,
) -> None:
    """What is left to an attacker who sees a channel's output: its estimation error, entropies, t, δ and ε, with their bounds.

    With --design the channel that leaves most, at a distortion that is allowed.
    """
    from dalenius.auditing.channel import ChannelRequest, channel, source_of

    source_of(matrix=matrix, model=model, release=release, samples=samples)
    if model == LIST:
        _list_models(json, quiet)
        return
    request = ChannelRequest(
        matrix=matrix, model=model, release=release, samples=samples, prior=prior, joint=joint, observation=observation,
        background=background, assumed_prior=assumed, loss=loss, system_loss=system_loss, hierarchy=hierarchy,
        orders=None if order is None else tuple(order), confidence=confidence, design=design, distortion=distortion,
        curve=curve, points=points, output=output, sensitive=sensitive, kind=kind,
        schema=None if release is None and schema == declared.SCHEMA_FILE else schema,
    )  # fmt: skip
    connected = common.connect_engine(engine, quiet=quiet)
    _check_outputs(request, json, connected)
    with common.stage_line(quiet) as stage:
        result = channel(request, seed=seed, engine=connected, tell=common.teller(quiet), progress=stage)
    _write(result, json, quiet)


def _check_outputs(request: ChannelRequest, json: str | None, engine: Engine) -> None:
    """Refuse to write where nothing can be written, where something is read, and two results to one file."""
    from dalenius.errors import InputError
    from dalenius.output import check_writable

    files = [*request.files, *engine.own_files]
    if request.release is not None:
        files += [request.schema if isinstance(request.schema, Path) else None, *common.release_files(request.release)]
    outputs = [*request.outputs.values(), *([] if json in (None, "-") else [Path(str(json))])]
    for path in outputs:
        check_writable(path, inputs=files)
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise InputError(f"Two results cannot both be written to {str(json)!r}. Name another file.")


def _write(result: MeasuredChannel, json: str | None, quiet: bool) -> None:
    from dalenius.output import write_texts
    from dalenius.reports.channel import curve_csv, lines, page

    outputs = result.request.outputs
    if "csv" in outputs:
        write_texts(
            {outputs["csv"]: curve_csv(result.curve), outputs["page"]: page(result.curve, common.run_details())}
        )
    if "matrix" in outputs:
        result.channel.write(outputs["matrix"])
    if json is not None:
        common.write_json(json, result.to_document())
    if json == "-":
        return
    for line in [*lines(result), *(f"  Wrote {path}" for path in outputs.values())]:
        common.say(quiet, line)


def _list_models(json: str | None, quiet: bool) -> None:
    from dalenius.releases.models import described
    from dalenius.reports.channel import model_lines

    if json is not None:
        common.write_json(json, {"models": described()})
    for line in model_lines() if json != "-" else ():
        common.say(quiet, line)
