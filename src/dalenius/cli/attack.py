"""`dalenius attack`: what an adversary believes of each target, and with the truth how threatened people are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalenius.cli import common, declared
from dalenius.cli.options import NamesAdversaries

if TYPE_CHECKING:
    from dalenius.auditing.attacking import AttackRequest, ReleaseAttack

ReleaseArgument = Annotated[str, typer.Argument(metavar="RELEASE", help="A release, ours or another tool's.")]
AdversaryOption = Annotated[
    str | None,
    typer.Option(
        "--adversary",
        help="attacker (default), learner, ideal, random-worlds, a realistic one such as I:table:1e6; on centroids "
        "nearest-centroid (default there); on noisy counts naive-bayes, naive-bayes-greedy and naive-bayes-drawn; on "
        "anatomized releases definetti-permutation, definetti-majority, definetti-group and definetti-open.",
    ),
]
TargetsOption = Annotated[
    Path | None,
    declared.targets(
        "A file with quasi-identifiers, a row a target; an empty cell is not known. For deFinetti attacks a column group says in "
        "which group the target is."
    ),
]
OutputOption = Annotated[Path | None, declared.output("The beliefs, as CSV.")]
TruthOption = Annotated[Path | None, declared.truth("The table that the release was made of.")]
KnowsOption = Annotated[
    str | None,
    typer.Option("--knows", metavar="A,B", help="Quasi-identifiers the attacker knows of everybody (all)."),
]
ErrorOption = Annotated[
    list[str] | None,
    typer.Option("--error", metavar="A=RATE", help="How often what it knows of a column is wrong. Repeatable."),
]
SkipUnmatchedOption = Annotated[
    bool, typer.Option("--skip-unmatched", help="Give targets who fit nowhere an empty belief.")
]
DeletedOption = Annotated[
    int, typer.Option("--deleted", min=0, help="Rows of the table that the release leaves out altogether.")
]
McseOption = Annotated[
    float | None,
    declared.mcse("Where beliefs are sampled: stop when no error of theirs is larger than this (0.005)."),
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="How the link of an anatomized release is drawn: block (default), swaps or metropolis; for deFinetti attacks "
        "also printed-swaps and printed-permutations, the heuristic as published.",
    ),
]
MostSweepsOption = Annotated[
    int | None,
    typer.Option(
        "--most-sweeps",
        min=1,
        help="Where beliefs are sampled: give up after so many sweeps of each chain (50,000, of a printed method 1,000); "
        "a round that was begun is ended.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command("attack", cls=NamesAdversaries)(command)


def command(
    release: ReleaseArgument,
    adversary: AdversaryOption = None,
    targets: TargetsOption = None,
    output: OutputOption = None,
    truth: TruthOption = None,
    holdout: declared.Holdout = None,
    knows: KnowsOption = None,
    error: ErrorOption = None,
    skip_unmatched: SkipUnmatchedOption = False,
    deleted: DeletedOption = 0,
    mcse: McseOption = None,
    method: MethodOption = None,
    most_sweeps: MostSweepsOption = None,
    sensitive: declared.Sensitive = None,
    seed: declared.Seed = 0,
    kind: declared.Kind = None,
    schema: declared.Schema = declared.SCHEMA_FILE,
    json: declared.Json = None,
    engine: declared.Engine = declared.ENGINE_URL,
    quiet: declared.Quiet = False,
) -> None:
    """Attack a release: beliefs about targets (-o), and with --truth how many people are threatened, and by how much."""
    from dalenius.auditing.attacking import AttackRequest, attack, error_rates, files_of_prior
    from dalenius.errors import InputError
    from dalenius.schema import Schema

    if (targets or truth) and (targets is None) != (output is None):
        raise InputError("--targets and -o go together: beliefs are written about targets.")
    request = AttackRequest(
        release=release, adversary=adversary, targets=targets, truth=truth, holdout=holdout,
        knows=None if knows is None else tuple(name.strip() for name in knows.split(",")),
        error=error_rates(error or ()), skip_unmatched=skip_unmatched, deleted=deleted, mcse=mcse, method=method,
        most_sweeps=most_sweeps, sensitive=sensitive, kind=kind,
    )  # fmt: skip
    people_schema, connected = Schema.load(schema), common.connect_engine(engine, quiet=quiet)
    priors = files_of_prior(request, people_schema, connected)
    _check_outputs(request, output, json, [schema, *people_schema.files, *priors, *connected.own_files])
    with common.stage_line(quiet) as stage:
        result = attack(request, people_schema, seed=seed, engine=connected, progress=stage)
    _write(result, output, json, quiet)
    if not result.is_converged:
        raise typer.Exit(common.NOT_CONVERGED)


def _check_outputs(request: AttackRequest, output: Path | None, json: str | None, read: list[Path]) -> None:
    """Refuse to write where nothing can be written, where something is read, and two results to one file."""
    from dalenius.errors import InputError
    from dalenius.output import check_writable

    outputs = [path for path in (output, None if json in (None, "-") else Path(str(json))) if path is not None]
    inputs = [
        request.release,
        request.targets,
        request.truth,
        request.holdout,
        *common.release_files(request.release),
        *read,
    ]
    for path in outputs:
        check_writable(path, inputs=inputs)
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise InputError(f"The beliefs and the JSON cannot both be written to {str(output)!r}. Name another file.")


def _write(result: ReleaseAttack, output: Path | None, json: str | None, quiet: bool) -> None:
    from dalenius.output import write_texts
    from dalenius.reports.attack import lines

    if output is not None:
        write_texts({output: result.beliefs_text()})
    if json is not None:
        common.write_json(json, result.to_document())
    for line in lines(result, output) if json != "-" else ():
        common.say(quiet, line)
    for warning in result.warnings:
        typer.echo(warning, err=True)  # never left out, however quiet it should be
