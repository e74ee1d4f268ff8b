"""`dalenius lattice`: every full-domain generalization of a table, with its levels and utilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalenius.cli import adversaries as realistic
from dalenius.cli import common, declared, options

LINE = 2.5  # the ε at which the page draws the line, if nobody says it


def register(app: typer.Typer) -> None:
    from dalenius.publishers.registry import options as of_methods

    handling = [option for option in of_methods() if option.name == "suppressed-rows"]
    app.command("lattice")(options.with_options(options.with_criteria(command), "chosen", handling, panel=""))


def command(
    table: declared.Table,
    criteria: options.Chosen = options.NONE,
    adversary: realistic.AdversaryOption = None,
    prior_data: realistic.PriorDataOption = None,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    suppression: Annotated[float, declared.suppression("Largest share of rows to suppress.")] = 0.0,
    chosen: options.Chosen = options.NONE,
    output: Annotated[Path | None, declared.output("An HTML page with the lattice drawn and all nodes listed.")] = None,
    epsilon: Annotated[float | None, declared.epsilon("The ε at which the page draws the line (2.5).")] = None,
    schema: declared.Schema = declared.SCHEMA_FILE,
    json: declared.Json = None,
    engine: declared.Engine = declared.ENGINE_URL,
    most_cells: declared.MostCells = None,
    quiet: declared.Quiet = False,
) -> None:
    """List every node of the lattice with its privacy levels, its utilities and whether it satisfies the criteria."""
    from dalenius.auditing.surveying import lattice
    from dalenius.errors import InputError
    from dalenius.measures.remaining import warnings
    from dalenius.output import write_texts
    from dalenius.reports.lattice import lines, page
    from dalenius.schema import Schema

    roles, connected = Schema.load(schema), common.connect_engine(engine, quiet=quiet)
    asked = realistic.parsed(
        roles, connected, criteria, adversary=adversary, prior_data=prior_data, predicate=predicate, known=known, at_most=at_most
    )  # fmt: skip
    realistic.refuse_idle(
        used=bool(asked.adversaries or criteria["epsilon_privacy"] or output), known=known, at_most=at_most,
        predicate=predicate, remedy="Name one: --adversary I:table:1e6.",
    )  # fmt: skip
    if epsilon is not None and output is None:
        raise InputError("--epsilon draws a line on the page that -o writes: add -o FILE, or leave it out.")
    common.check_outputs(
        output, json=json, inputs=[table, schema, *roles.files, *asked.priors.files, *connected.own_files],
        same=f"The page and the JSON cannot both be written to {str(output)!r}. Name another file.",
    )  # fmt: skip
    handling: Any = chosen["suppressed_rows"] or "hold"
    line = LINE if epsilon is None else epsilon
    with common.progress_line(quiet) as progress:
        surveyed = lattice(
            table, roles, criteria=asked.criteria, adversaries=asked.adversaries, predicates=asked.predicates, known=known,
            suppression=suppression, suppressed_rows=handling, sweep_epsilon=line if output else None,
            most_cells=most_cells, engine=connected, progress=progress, warn=common.teller(quiet),
        )  # fmt: skip
    written = [] if output is None else [f"\n  Page: {output}"]
    if output is not None:
        write_texts({output: page(surveyed, common.run_details())})
    common.warn(*warnings(surveyed.best_left))
    common.present(surveyed.to_document(), lambda: [*lines(surveyed), *written], json=json, quiet=quiet)
