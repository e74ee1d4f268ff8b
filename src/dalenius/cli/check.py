"""`dalenius check`: every syntactic level of a release as a value, and ε against realistic adversaries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius.cli import adversaries as realistic
from dalenius.cli import common, declared, options

RecursiveOption = Annotated[
    str,
    typer.Option("--recursive-l", metavar="L|C,L", help="The ℓ of recursive (c,ℓ)-diversity, or both as a threshold."),
]
PriorCellsOption = Annotated[
    str | None,
    typer.Option(
        "--prior-cells",
        metavar="FILE",
        rich_help_panel=realistic.PANEL,
        help="An adversary who has seen that data set and looks at each combination of quasi-identifiers by itself.",
    ),
]
PopulationOption = Annotated[
    Path | None,
    typer.Option(
        "--population",
        metavar="FILE",
        rich_help_panel=realistic.PANEL,
        help="For --prior-cells: the quasi-identifiers of the people in a generalized release (its table will do).",
    ),
]
EpsilonOption = Annotated[
    float | None,
    declared.epsilon(
        "Also say how stubborn an adversary of each class the release withstands at this ε.", panel=realistic.PANEL
    ),
]


def register(app: typer.Typer) -> None:
    app.command("check")(options.with_criteria(command))


def command(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="A release, ours or another tool's, or a table.")],
    schema: declared.Schema = declared.SCHEMA_FILE,
    kind: declared.Kind = None,
    recursive_l: RecursiveOption = "2",
    criteria: options.Chosen = options.NONE,
    others_as_quasi: declared.OthersAsQuasi = False,
    adversary: realistic.AdversaryOption = None,
    prior_data: realistic.PriorDataOption = None,
    prior_cells: PriorCellsOption = None,
    population: PopulationOption = None,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    epsilon: EpsilonOption = None,
    reveal: declared.Reveal = False,
    json: declared.Json = None,
    engine: declared.Engine = declared.ENGINE_URL,
    quiet: declared.Quiet = False,
) -> int:
    """Measure every syntactic privacy model on a release, and ε against each realistic adversary that is named.

    Says what level the release reaches and in which class it is worst. Criteria that are asked for are held against the classes
    and against the suppressed rows as a class; exit code 1 if one is violated.
    """
    from dalenius.auditing.checking import check, check_parameters
    from dalenius.reports.check import lines
    from dalenius.schema import Schema

    roles, connected, depth = Schema.load(schema), common.connect_engine(engine, quiet=quiet), _depth(recursive_l)
    asked = realistic.parsed(
        roles, connected, {**criteria, "recursive_l": recursive_l if "," in recursive_l else None},
        adversary=adversary, prior_data=prior_data, predicate=predicate, known=known, at_most=at_most,
    )  # fmt: skip
    check_parameters(
        epsilon=epsilon, prior_cells=prior_cells, population=population, known=known, predicates=asked.predicates
    )
    realistic.refuse_idle(
        used=bool(asked.adversaries or criteria["epsilon_privacy"]) or epsilon is not None,
        known=known, at_most=at_most, predicate=predicate,
        remedy="Name one: --adversary I:table:1e6, or ask with --epsilon what the release withstands.",
    )  # fmt: skip
    read = [*common.release_files(release), *roles.files, *asked.priors.files, *connected.own_files]
    common.check_outputs(json=json, inputs=[release, schema, population, prior_cells, *read])
    checked = check(
        release, roles, criteria=asked.criteria, adversaries=asked.adversaries, predicates=asked.predicates, known=known,
        epsilon=epsilon, prior_cells=prior_cells, population=population, recursive_l=depth, others_as_quasi=others_as_quasi,
        kind=kind, engine=connected,
    )  # fmt: skip
    common.present(checked.to_document(), lambda: lines(checked, reveal=reveal), json=json, quiet=quiet)
    return 0 if checked.holds else 1


def _depth(text: str) -> int:
    """The ℓ of recursive (c,ℓ)-diversity, alone or after its c."""
    from dalenius.errors import ParameterError

    number = text.rpartition(",")[2].strip()
    if not (number.isascii() and number.isdigit() and 2 <= int(number) < 1e9):
        raise ParameterError("--recursive-l", "check", "an int ≥ 2, or c,ℓ such as 3,2", text)
    return int(number)
