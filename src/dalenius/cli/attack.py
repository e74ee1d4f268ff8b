"""`dalenius attack`: what an adversary believes about each target, and with the truth how threatened people are."""

from __future__ import annotations

import typer

from dalenius import api
from dalenius.api.arguments import OUTPUT
from dalenius.cli import build, common


def register(app: typer.Typer) -> None:
    """Add the command."""
    output = OUTPUT.but(help="Write the beliefs as CSV.")
    build.add(app, api.attack, run, own={"output": (output, None), **common.REPORTING})


def run(call: build.Call) -> int:
    """Attack a release with one adversary.

    With --targets and -o it writes beliefs about targets. With --truth it says how many people are threatened, and by how much.
    Exit code 3 if sampling did not converge.
    """
    from dalenius.errors import InputError
    from dalenius.output import write_texts
    from dalenius.reports.attack import lines

    output, targets, truth = call["output"], call.options["targets"], call.options["truth"]
    if (targets or truth) and (targets is None) != (output is None):
        raise InputError("--targets and -o go together: beliefs are written about targets.")
    same_file = f"The beliefs and the JSON cannot both be written to {str(output)!r}. Name another file."
    with common.running(call, output, same_file=same_file) as context:
        result = call(context=context)
    if output is not None:
        write_texts({output: result.beliefs_text()})
    common.present(result.to_document(), lambda: lines(result, output), call)
    for warning in result.warnings:
        typer.echo(warning, err=True)  # even with --quiet
    return 0 if result.is_converged else common.NOT_CONVERGED
