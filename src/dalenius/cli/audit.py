"""`dalenius audit`: all adversaries, all measures, the verdict, in one report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalenius.cli import adversaries as realistic
from dalenius.cli import common, declared, methods, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dalenius.auditing import Audit
    from dalenius.criteria import Criterion
    from dalenius.engines import Engine
    from dalenius.publishers.base import Publisher
    from dalenius.schema import Schema

ReleaseArgument = Annotated[
    str, typer.Argument(metavar="RELEASE", help="A release; or with --method the table to publish.")
]
MethodOption = Annotated[
    str | None, methods.method("Publish RELEASE, a table, by this method (see publish), and audit that.")
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit with 1 also when a threshold could not be tested.")]


def register(app: typer.Typer) -> None:
    app.command("audit")(options.with_criteria(methods.with_audited_methods(command)))


def command(
    release: ReleaseArgument,
    truth: Annotated[Path | None, declared.truth("The table that the release was made of.")] = None,
    holdout: declared.Holdout = None,
    output: Annotated[Path | None, declared.output("The HTML report to write.")] = None,
    method: MethodOption = None,
    criteria: options.Chosen = options.NONE,
    adversary: realistic.AdversaryOption = None,
    prior_data: realistic.PriorDataOption = None,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    chosen: options.Chosen = options.NONE,
    mcse: Annotated[
        float | None, declared.mcse("Sample learner and attacker where they have no exact answer, up to this error.")
    ] = None,
    strict: StrictOption = False,
    schema: declared.Schema = declared.SCHEMA_FILE,
    kind: declared.Kind = None,
    reveal: declared.Reveal = False,
    json: declared.Json = None,
    seed: declared.Seed = 0,
    engine: declared.Engine = declared.ENGINE_URL,
    quiet: declared.Quiet = False,
) -> int:
    """Attack a release with every adversary that applies, measure it, and hold it against the policy.

    Exit code 1 if a threshold of [policy] is violated; with --strict also if one could not be tested. Exit code 3 if what was
    asked for was sampled and has not converged.
    """
    from dalenius.adversaries.sampling import Effort
    from dalenius.auditing import audit
    from dalenius.schema import Schema

    roles, connected = Schema.load(schema), common.connect_engine(engine, quiet=quiet)
    asked = realistic.parsed(
        roles, connected, criteria, adversary=adversary, prior_data=prior_data, predicate=predicate, known=known, at_most=at_most
    )  # fmt: skip
    read = [*common.release_files(release), *roles.files, *asked.priors.files, *_policy_files(roles, connected)]
    common.check_outputs(
        output, json=json, inputs=[release, schema, truth, holdout, *read, *connected.own_files],
        same=f"The report and the JSON cannot both be written to {str(output)!r}. Name another file.",
    )  # fmt: skip
    realistic.refuse_idle(
        used=bool(asked.adversaries or criteria["epsilon_privacy"]), known=0, at_most=at_most, predicate=None,
        remedy="Name one: --adversary I:table:1e6.",
    )  # fmt: skip
    publisher = _publisher(method, asked.criteria, chosen, truth)
    with common.progress_line(quiet) as search, common.stage_line(quiet) as stage:
        found = audit(
            release, roles, truth=truth, holdout=holdout, kind=kind, engine=connected, seed=seed, name=Path(release).name,
            publish=None if publisher is None else partial(publisher.run, seed=seed, progress=search), progress=stage,
            adversaries=asked.adversaries, predicates=asked.predicates, known=known,
            effort=None if mcse is None else Effort(mcse=mcse),
        )  # fmt: skip
        _write_page(found, output, reveal=reveal)
    common.present(found.to_document(reveal=reveal), lambda: _lines(found, output), json=json, quiet=quiet)
    return _exit_code(found, strict=strict, is_sampling_asked=mcse is not None)


def _policy_files(schema: Schema, engine: Engine) -> list[Path]:
    """The files that the policy names; what is wrong with the policy is told before any work."""
    from dalenius.auditing.disclosure import policy_criteria
    from dalenius.releases.prior import Priors

    priors = Priors(schema, engine, schema.folder)
    policy_criteria(schema, priors)
    return list(priors.files)


def _publisher(
    method: str | None, criteria: Sequence[Criterion], chosen: options.Chosen, truth: Path | None
) -> Publisher | None:
    """Who publishes the table that is named; None if it is a release already."""
    from dalenius.errors import InputError
    from dalenius.options import chosen_of
    from dalenius.publishers.registry import from_options

    if method is None and (criteria or chosen_of(chosen)):
        raise InputError(
            "Criteria and their like are for publishing: add --method, or leave them out to audit a release."
        )
    if chosen.get("suppressed_rows") == "hide":
        raise InputError(
            "The table contains the hidden rows and the release does not, so the two cannot be compared. Publish, "
            "and audit that file without --truth."
        )
    if method is None:
        return None
    if truth is not None:
        raise InputError("With --method the table itself is the truth; leave --truth out.")
    return from_options(method, criteria, chosen, command="audit")


def _write_page(found: Audit, output: Path | None, *, reveal: bool) -> None:
    from dalenius.output import write_texts
    from dalenius.reports import html

    if output is not None:
        write_texts({output: html.page(found, common.run_details(), reveal=reveal)})


def _lines(found: Audit, output: Path | None) -> list[str]:
    from dalenius.reports import terminal

    return [*terminal.lines(found), *([] if output is None else [f"\n  Report: {output}"])]


def _exit_code(found: Audit, *, strict: bool, is_sampling_asked: bool) -> int:
    """Whether the policy is violated; else whether something that was asked for has not converged."""
    if found.verdict == "violated" or (strict and found.verdict == "incomplete"):
        return 1
    if found.play.is_interrupted:
        return common.NOT_CONVERGED
    needed = is_sampling_asked or found.verdict == "incomplete"  # else nothing that was asked for depends on it
    return common.NOT_CONVERGED if needed and not found.play.is_converged else 0
