"""`dalenius lattice`: every full-domain generalization of a table, with its levels and utilities."""

from __future__ import annotations

import typer

from dalenius import api
from dalenius.api.arguments import OUTPUT
from dalenius.cli import build, common

DEFAULT_EPSILON = 2.5  # where the page draws the line


def register(app: typer.Typer) -> None:
    """Add the command."""
    output = OUTPUT.but(help="Write an HTML page with a drawing of the lattice and a list of all nodes.")
    build.add(app, api.lattice, run, own={"output": (output, None), **common.REPORTING})


def run(call: build.Call) -> None:
    """List every node of the lattice.

    For each node: its privacy levels, its utilities, and whether it satisfies the criteria.
    """
    from dalenius.errors import InputError
    from dalenius.measures.remaining import warnings
    from dalenius.output import write_texts
    from dalenius.reports.lattice import lines, page

    output, epsilon = call["output"], call.options["epsilon"]
    if epsilon is not None and output is None:
        raise InputError("--epsilon draws a line on the page that -o writes. Add -o FILE, or leave it out.")
    if output is not None and epsilon is None:
        epsilon = DEFAULT_EPSILON
    same_file = f"The page and the JSON cannot both be written to {str(output)!r}. Name another file."
    with common.running(call, output, same_file=same_file) as context:
        survey = call(context=context, epsilon=epsilon)
    written = [] if output is None else [f"\n  Page: {output}"]
    if output is not None:
        write_texts({output: page(survey, common.run_details())})
    common.warn(*warnings(survey.best_left))
    common.present(survey.to_document(), lambda: [*lines(survey), *written], call)
