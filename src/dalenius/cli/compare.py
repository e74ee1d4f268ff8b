"""`dalenius compare`: several releases of one table, what each costs and which level it reaches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius.cli import common, declared


def register(app: typer.Typer) -> None:
    app.command("compare")(command)


def command(
    releases: Annotated[list[str], declared.releases("RELEASE…", "Releases of one table, of any kind.")],
    truth: Annotated[Path, declared.truth("The table that they were made of.")],
    queries: Annotated[int, typer.Option("--queries", min=1, help="Count queries in the workload.")] = 1000,
    seed: declared.Seed = 0,
    schema: declared.Schema = declared.SCHEMA_FILE,
    kind: declared.Kind = None,
    json: declared.Json = None,
    engine: declared.Engine = declared.ENGINE_URL,
    quiet: declared.Quiet = False,
) -> None:
    """Hold releases of one table side by side: labels, classes, divergence from the table, error of count queries."""
    from dalenius.auditing.compare import compare
    from dalenius.reports.compare import lines
    from dalenius.schema import Schema

    connected = common.connect_engine(engine, quiet=quiet)
    files = [file for name in releases for file in common.release_files(name)]
    common.check_outputs(json=json, inputs=[*releases, *files, truth, schema, *connected.own_files])
    with common.stage_line(quiet) as stage:
        stage("measuring")
        comparison = compare(
            releases, truth, Schema.load(schema), kind=kind, engine=connected, queries=queries, seed=seed
        )
    common.present(comparison.to_document(), lambda: lines(comparison), json=json, quiet=quiet)
