"""`dalenius audit`: all adversaries, all measures, the verdict, in one report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalenius import engine as _engine
from dalenius.cli import adversaries as realistic
from dalenius.cli import methods, options
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    NOT_CONVERGED,
    EngineOption,
    JsonOption,
    KindOption,
    QuietOption,
    RevealOption,
    SchemaOption,
    SeedOption,
    connect_engine,
    progress_line,
    release_files,
    run_details,
    say,
    stage_line,
    write_json,
)


def register(app: typer.Typer) -> None:
    app.command("audit")(options.with_criteria(command))


def command(
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="A release; or with --method the table to publish.")
    ],
    truth: Annotated[Path | None, typer.Option("--truth", help="The table that the release was made of.")] = None,
    holdout: Annotated[
        Path | None, typer.Option("--holdout", help="People like those in the table who are not in it: the control.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The HTML report to write.")] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", help="Publish RELEASE, a table, by this method (see publish), and audit that."),
    ] = None,
    criteria: options.Chosen = options.NONE,
    adversary: realistic.AdversaryOption = None,
    prior_data: realistic.PriorDataOption = None,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    suppression: methods.Suppression = None,
    suppressed_rows: methods.SuppressedRows = None,
    cuts: methods.Cuts = None,
    shown: methods.Shown = None,
    block: methods.Block = None,
    merge: methods.Merge = None,
    epsilon: methods.Epsilon = None,
    noise: methods.Noise = None,
    neighbours: methods.Neighbours = None,
    joint: methods.Joint = None,
    level: methods.Level = None,
    gaussian: methods.Gaussian = None,
    mcse: Annotated[
        float | None,
        typer.Option("--mcse", help="Sample learner and attacker where they have no exact answer, up to this error."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 also when a threshold could not be tested.")
    ] = False,
    schema: SchemaOption = DEFAULT_SCHEMA,
    kind: KindOption = None,
    reveal: RevealOption = False,
    json: JsonOption = None,
    seed: SeedOption = 0,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> int:
    """Attack a release with every adversary that applies, measure it, and hold it against the policy.

    Exit code 1 if a threshold of [policy] is violated; with --strict also if one could not be tested. Exit code 3 if what was
    asked for was sampled and has not converged.
    """
    from dalenius.adversary.sampling import Effort
    from dalenius.audit import audit
    from dalenius.audit.disclosure import policy_criteria
    from dalenius.criterion import Setting, from_options
    from dalenius.errors import InputError
    from dalenius.output import check_writable, write_texts
    from dalenius.release.prior import Priors
    from dalenius.report import html, terminal
    from dalenius.schema import Schema

    declared = Schema.load(schema)
    connected = connect_engine(engine, quiet=quiet)
    priors, sets = Priors(declared, connected), realistic.predicates(predicate, declared)
    wanted = from_options(criteria, Setting(priors, known, at_most, tuple(sets)))
    adversaries = realistic.named(adversary, prior_data, priors, known=known, at_most=at_most)
    policys = Priors(declared, connected, declared.folder)
    policy_criteria(declared, policys)
    read = [*release_files(release), *declared.files, *priors.files, *policys.files]
    inputs = [release, schema, truth, holdout, *read, *connected.own_files]
    for target in (output, None if json in (None, "-") else Path(json)):
        if target is not None:
            check_writable(target, inputs=inputs)
    if output is not None and json not in (None, "-") and Path(json).resolve() == output.resolve():
        raise InputError(f"The report and the JSON cannot both be written to {str(output)!r}. Name another file.")
    realistic.refuse_idle(
        used=bool(adversaries or criteria["epsilon_privacy"]), known=0, at_most=at_most, predicate=None,
        remedy="Name one: --adversary I:table:1e6.",
    )  # fmt: skip
    chosen = {
        "suppression": suppression, "suppressed_rows": suppressed_rows,
        "cuts": cuts, "shown": shown, "block": block, "merge": merge, "epsilon": epsilon,
        "noise": noise, "neighbours": neighbours, "joint": joint, "level": level, "gaussian": gaussian,
    }  # fmt: skip
    if method is None and (wanted or any(value is not None and value != [] for value in chosen.values())):
        raise InputError(
            "Criteria and their like are for publishing: add --method, or leave them out to audit a release."
        )
    if suppressed_rows == "hide":
        raise InputError(
            "The table contains the hidden rows and the release does not, so the two cannot be compared. Publish, "
            "and audit that file without --truth."
        )
    publish: Any = None
    if method is not None:
        if truth is not None:
            raise InputError("With --method the table itself is the truth; leave --truth out.")
        drawn = seed if method == "anatomy" else None
        publisher = methods.publisher(method, wanted, chosen, command="audit", seed=drawn)

        def publish(table: Any) -> Any:
            with progress_line(quiet) as progress:
                return publisher(table, progress)

    with stage_line(quiet) as stage:
        found = audit(
            release, declared, publish=publish, truth=truth, holdout=holdout, kind=kind, engine=connected, seed=seed,
            name=Path(release).name, progress=stage, adversaries=adversaries, predicates=sets, known=known,
            effort=None if mcse is None else Effort(mcse=mcse),
        )  # fmt: skip
        if output is not None:
            stage("writing the report")
            write_texts({output: html.page(found, run_details(), reveal=reveal)})
    if json is not None:
        write_json(json, found.to_document(reveal=reveal))
    if json != "-":
        for line in terminal.lines(found):
            say(quiet, line)
        if output is not None:
            say(quiet, f"\n  Report: {output}")
    if found.verdict == "violated" or (strict and found.verdict == "incomplete"):
        return 1
    stopped = any(one.interrupted for one in found.attacks)
    needed = (
        stopped or mcse is not None or found.verdict == "incomplete"
    )  # else nothing that was asked for depends on it
    settled = all(one.converged for one in found.threats.values()) and all(one.control_settled for one in found.attacks)
    return NOT_CONVERGED if stopped or (needed and not settled) else 0
