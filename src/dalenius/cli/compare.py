"""`dalenius compare`: several releases of one table, what each costs and which level it reaches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalenius import engine as _engine
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    KindOption,
    QuietOption,
    SchemaOption,
    SeedOption,
    connect_engine,
    release_files,
    say,
    stage_line,
    write_json,
)

_HEADS = {
    "k": ("k", 7),
    "l": ("ℓ", 4),
    "t": ("t", 7),
    "loss": ("loss", 8),
    "ncp": ("NCP", 8),
    "precision": ("precision", 10),
    "discernibility": ("discern.", 12),
    "average_class_size": ("class size", 11),
    "suppressed": ("suppressed", 11),
    "kl_divergence": ("KL", 8),
    "relative_error": ("query error", 12),
    "relative_error_median": ("median", 8),
    "faithfulness": ("faithful", 9),
}


def register(app: typer.Typer) -> None:
    app.command("compare")(command)


def command(
    releases: Annotated[list[str], typer.Argument(metavar="RELEASE…", help="Releases of one table, of any kind.")],
    truth: Annotated[Path, typer.Option("--truth", help="The table that they were made of.")],
    queries: Annotated[int, typer.Option("--queries", min=1, help="Count queries in the workload.")] = 1000,
    schema: SchemaOption = DEFAULT_SCHEMA,
    kind: KindOption = None,
    json: JsonOption = None,
    seed: SeedOption = 0,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> None:
    """Hold releases of one table side by side: labels, classes, divergence from the table, error of count queries."""
    from dalenius.audit.compare import COSTS, LEVELS, compare
    from dalenius.errors import InputError
    from dalenius.measure.remaining import to_document, warnings
    from dalenius.output import check_writable
    from dalenius.report import words
    from dalenius.schema import Schema

    connected = connect_engine(engine, quiet=quiet)
    if json not in (None, "-"):
        files = [file for name in releases for file in release_files(name)]
        check_writable(Path(json), inputs=[*releases, *files, truth, schema, *connected.own_files])
    for name in releases:
        if releases.count(name) > 1:
            raise InputError(f"The release {name!r} is named twice.")
    with stage_line(quiet) as stage:
        stage("measuring")
        found = compare(
            {name: name for name in releases}, truth, Schema.load(schema), kind=kind, engine=connected,
            queries=queries, seed=seed,
        )  # fmt: skip
    documents: list[dict[str, Any]] = [
        {
            "release": one.name,
            "kind": one.kind,
            "classes": one.classes,
            **{key: one.levels.get(key) for key in LEVELS},
            **{key: one.costs.get(key) for key in COSTS},
            "columns_left": to_document(one.columns_left),
        }
        for one in found
    ]
    if json is not None:
        write_json(json, {"releases": documents, "queries": queries, "seed": seed})
    if json == "-":
        return
    width = max(len(name) for name in [*releases, "release"])
    say(quiet, f"  {'release':<{width}} {'kind':<13}" + "".join(f" {head:>{w}}" for head, w in _HEADS.values()))
    for one in documents:
        numbers = "".join(f" {_number(one[key]):>{w}}" for key, (_, w) in _HEADS.items())
        say(quiet, f"  {one['release']:<{width}} {one['kind']:<13}{numbers}")
    for one in documents:
        if one["misfit"]:
            say(quiet, f"\n  {one['release']}: {words.changed(one['misfit'], one['kind'])}.")
    say(
        quiet,
        "\n  Smaller costs are better, a larger precision and faithfulness; – is not defined for that release. "
        f"{queries:,} count queries, seed {seed}; KL in nats.",
    )
    for each in found:
        for sentence in warnings(each.columns_left):
            say(quiet, f"  {each.name}: {sentence}")


def _number(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    if value == float("inf"):
        return "infinite"
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    return f"{value:,.0f}" if value == int(value) else f"{value:.4g}"
