"""`dalenius compose`: what several releases give away together about people who are in all of them."""

from __future__ import annotations

from pathlib import Path

import typer

from dalenius import api
from dalenius.api.arguments import OUTPUT, SCHEMA_FILE
from dalenius.cli import build, common
from dalenius.options import Option

BELIEFS = Option("beliefs", "Attack with probabilities as well, and write the beliefs about each target as CSV.", Path)


def register(app: typer.Typer) -> None:
    """Add the command."""
    output = OUTPUT.but(help="Write the values that remain for each target as CSV.")
    own = {"output": (output, None), "beliefs": (BELIEFS, None), **common.REPORTING}
    build.add(app, api.compose, run, own=own, hidden=["with_beliefs"])


def run(call: build.Call) -> int:
    """Intersect what several releases reveal about the same people.

    Says how many values remain for each target, and for how many only one.
    """
    from dalenius.output import write_texts
    from dalenius.reports.compose import beliefs_text, lines, rows_text, warnings

    output, beliefs = call["output"], call["beliefs"]
    with common.running(call, output, beliefs) as context:
        schemas = call.options["schema"] or [SCHEMA_FILE]
        composed = call(context=context, schema=schemas, with_beliefs=beliefs is not None)
    texts, written = {}, []
    if output is not None:
        texts[output] = rows_text(composed)
        written.append(f"Wrote {output}: the values that remain for each target")
    if beliefs is not None:
        texts[beliefs] = beliefs_text(composed)
        written.append(f"Wrote {beliefs}: the beliefs about each target")
    if texts:
        write_texts(texts)
    common.present(composed.to_document(), lambda: [*written, *lines(composed)], call)
    for warning in warnings(composed):
        typer.echo(warning, err=True)
    return 0 if composed.converged else common.NOT_CONVERGED
