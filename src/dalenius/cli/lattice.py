"""`dalenius lattice`: every full-domain generalization of a table, with its levels and utilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius import engine as _engine
from dalenius.cli import criteria as options
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    QuietOption,
    SchemaOption,
    progress_line,
    say,
    write_json,
)

SHOWN = 15


def register(app: typer.Typer) -> None:
    app.command("lattice")(command)


def command(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A CSV or Parquet file, a row a person.")],
    k: options.K = None,
    l: options.L = None,  # noqa: E741 - the option's name
    entropy_l: options.EntropyL = None,
    recursive_l: options.RecursiveL = None,
    t: options.T = None,
    delta: options.Delta = None,
    beta: options.Beta = None,
    enhanced_beta: options.EnhancedBeta = None,
    alpha: options.Alpha = None,
    suppression: Annotated[float, typer.Option("--suppression", help="Largest share of rows to suppress.")] = 0.0,
    schema: SchemaOption = DEFAULT_SCHEMA,
    json: JsonOption = None,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> None:
    """List every node of the lattice with its privacy levels, its utilities and whether it satisfies the criteria."""
    from dalenius.output import check_writable
    from dalenius.publish.survey import survey
    from dalenius.table import Table

    wanted = options.criteria(
        k=k, l=l, entropy_l=entropy_l, recursive_l=recursive_l, t=t, delta=delta, beta=beta,
        enhanced_beta=enhanced_beta, alpha=alpha,
    )  # fmt: skip
    if json not in (None, "-"):
        check_writable(Path(json), inputs=[table, schema])
    people = Table(table, schema, engine=engine)
    with progress_line(quiet) as progress:
        nodes = survey(people.cells(), wanted, suppression=suppression, progress=progress)
    document = {
        "people": people.cells().people,
        "criteria": [criterion.describe() for criterion in wanted],
        "suppression": suppression,
        "nodes": nodes,
    }
    if json is not None:
        write_json(json, document)
    if json == "-":
        return
    good = sorted((node for node in nodes if node.get("satisfies", True)), key=lambda node: node["loss"])
    say(quiet, f"{table}: {len(nodes):,} nodes" + (f", {len(good):,} satisfy the criteria" if wanted else ""))
    if good:
        say(quiet, f"\n  {'loss':>8} {'classes':>9} {'suppressed':>10} {'k':>7} {'ℓ':>4} {'t':>7}  levels")
    for node in good[:SHOWN]:
        levels = ", ".join(f"{name} {level}" for name, level in node["levels"].items())
        say(
            quiet,
            f"  {node['loss']:8.4f} {node['classes']:9,} {node['suppressed']:10,} {node['k_anonymity']['k']:7,} "
            f"{node['distinct_l_diversity']['l']:4} {node['t_closeness']['equal']:7.4f}  {levels}",
        )
    if len(good) > SHOWN:
        say(quiet, f"  … and {len(good) - SHOWN:,} more, with all their levels, in --json FILE")
