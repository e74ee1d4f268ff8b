"""`dalenius check`: every syntactic level of a release as a value, and ε against realistic adversaries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius import engine as _engine
from dalenius.cli import adversaries as realistic
from dalenius.cli import options
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    KindOption,
    QuietOption,
    RevealOption,
    SchemaOption,
    connect_engine,
    release_files,
    say,
    write_json,
)


def register(app: typer.Typer) -> None:
    app.command("check")(options.with_criteria(command))


def command(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="A release, ours or another tool's, or a table.")],
    schema: SchemaOption = DEFAULT_SCHEMA,
    kind: KindOption = None,
    recursive_l: Annotated[
        str,
        typer.Option(
            "--recursive-l", metavar="L|C,L", help="The ℓ of recursive (c,ℓ)-diversity, or both as a threshold."
        ),
    ] = "2",
    criteria: options.Chosen = options.NONE,
    others_as_quasi: Annotated[
        bool,
        typer.Option("--others-as-quasi", help="Of several sensitive columns, all others are known to the attacker."),
    ] = False,
    adversary: realistic.AdversaryOption = None,
    prior_data: realistic.PriorDataOption = None,
    prior_cells: Annotated[
        str | None,
        typer.Option(
            "--prior-cells",
            metavar="FILE",
            rich_help_panel="Realistic adversaries",
            help="An adversary who has seen that data set and looks at each combination of quasi-identifiers by itself.",
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            "--population",
            metavar="FILE",
            rich_help_panel="Realistic adversaries",
            help="For --prior-cells: the quasi-identifiers of the people in a generalized release (its table will do).",
        ),
    ] = None,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            rich_help_panel="Realistic adversaries",
            help="Also say how stubborn an adversary of each class the release withstands at this ε.",
        ),
    ] = None,
    reveal: RevealOption = False,
    json: JsonOption = None,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> int:
    """Measure every syntactic privacy model on a release, and ε against each realistic adversary that is named.

    Says what level the release reaches and in which class it is worst. Criteria that are asked for are held against the classes
    and against the suppressed rows as a class; exit code 1 if one is violated.
    """
    from dalenius.audit.checking import check, check_parameters
    from dalenius.criterion import Setting, from_options
    from dalenius.output import check_writable
    from dalenius.release.prior import Priors
    from dalenius.report.check import lines
    from dalenius.schema import Schema

    declared, connected = Schema.load(schema), connect_engine(engine, quiet=quiet)
    priors, sets = Priors(declared, connected), realistic.predicates(predicate, declared)
    adversaries = realistic.named(adversary, prior_data, priors, known=known, at_most=at_most)
    depth = _depth(recursive_l)
    wanted = from_options(
        {**criteria, "recursive_l": recursive_l if "," in recursive_l else None},
        Setting(priors, known, at_most, tuple(sets)),
    )
    check_parameters(epsilon=epsilon, prior_cells=prior_cells, population=population, known=known, predicates=sets)
    realistic.refuse_idle(
        used=bool(adversaries or criteria["epsilon_privacy"]) or epsilon is not None,
        known=known, at_most=at_most, predicate=predicate,
        remedy="Name one: --adversary I:table:1e6, or ask with --epsilon what the release withstands.",
    )  # fmt: skip
    if json not in (None, "-"):
        read = [*release_files(release), *declared.files, *priors.files, *connected.own_files]
        check_writable(Path(json), inputs=[release, schema, population, prior_cells, *read])
    checked = check(
        release, declared, criteria=wanted, adversaries=adversaries, predicates=sets, known=known, epsilon=epsilon,
        prior_cells=prior_cells, population=population, recursive_l=depth, others_as_quasi=others_as_quasi, kind=kind,
        engine=connected,
    )  # fmt: skip
    if json is not None:
        write_json(json, checked.to_document())
    for line in lines(checked, reveal=reveal) if json != "-" else ():
        say(quiet, line)
    return 0 if checked.holds else 1


def _depth(text: str) -> int:
    """The ℓ of recursive (c,ℓ)-diversity, alone or after its c."""
    from dalenius.errors import ParameterError

    number = text.rpartition(",")[2].strip()
    if not (number.isascii() and number.isdigit() and 2 <= int(number) < 1e9):
        raise ParameterError("--recursive-l", "check", "an int ≥ 2, or c,ℓ such as 3,2", text)
    return int(number)
