"""`dalenius frontier`: what a parameter of a way to publish means for a table: risk against utility."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalenius import engine as _engine
from dalenius.cli import methods
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    QuietOption,
    SchemaOption,
    SeedOption,
    TableArgument,
    connect_engine,
    run_details,
    say,
    stage_line,
    write_json,
)
from dalenius.errors import counted

if TYPE_CHECKING:
    from dalenius.audit.frontier import Frontier, Point

METHOD = "noisy-counts"


def register(app: typer.Typer) -> None:
    app.command("frontier")(command)


def command(
    table: TableArgument,
    method: Annotated[str, typer.Option("--method", help="How to publish: noisy-counts, so far.")] = METHOD,
    epsilons: Annotated[
        str | None,
        typer.Option("--epsilons", metavar="E,E,…", help="The budgets to try (0.01,0.05,0.1,0.5,1,2,5,10)."),
    ] = None,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Draws of noise at each ε.")] = 9,
    holdout: Annotated[
        Path | None, typer.Option("--holdout", help="People like those in the table who are not in it: the control.")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option("--share", help="Without --holdout: the share of the people to hold out, drawn by --seed (0.3)."),
    ] = None,
    noise: methods.Noise = None,
    neighbours: methods.Neighbours = None,
    joint: methods.Joint = None,
    level: methods.Level = None,
    gaussian: methods.Gaussian = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="An HTML page with the curves.")] = None,
    schema: SchemaOption = DEFAULT_SCHEMA,
    json: JsonOption = None,
    seed: SeedOption = 0,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> None:
    """Try parameters on a table: how often an attack on the release would be right, of whom, and how far off it is."""
    from dalenius.audit.frontier import EPSILONS, counts_frontier
    from dalenius.audit.holdout import SHARE
    from dalenius.audit.people import check_others
    from dalenius.errors import InputError, ParameterError
    from dalenius.output import check_writable, write_texts
    from dalenius.schema import Schema
    from dalenius.table import NO_LIMIT, Table

    if method not in methods.METHODS:
        raise ParameterError("--method", "frontier", f"{METHOD}, so far", method)
    if method != METHOD:
        raise InputError(
            f"--method {method}: frontier tries {METHOD} only, so far. Use publish and audit for {method}."
        )
    if holdout is not None and share is not None:
        raise InputError("--holdout names the people to hold out, and --share draws them from the table. Give one.")
    if share is not None and not 0 < share < 1:
        raise ParameterError("--share", "frontier", "a number above 0 and below 1", share)
    tried = EPSILONS if epsilons is None else _numbers(epsilons)
    declared, connected = Schema.load(schema), connect_engine(engine, quiet=quiet)
    targets = [path for path in (output, None if json in (None, "-") else Path(json)) if path is not None]
    for target in targets:
        check_writable(target, inputs=[table, schema, holdout, *declared.files, *connected.own_files])
    if len({path.resolve() for path in targets}) < len(targets):
        raise InputError(f"The page and the JSON cannot both be written to {str(output)!r}. Name another file.")
    check_others(table, holdout, connected)
    with stage_line(quiet) as stage:
        stage("reading")
        people = Table(table, declared, engine=connected, most_cells=NO_LIMIT)
        others = None if holdout is None else Table(holdout, declared, engine=connected, most_cells=NO_LIMIT)
        found = counts_frontier(
            people,
            others if others is not None else SHARE if share is None else share,
            tried,
            draws=draws,
            seed=seed,
            noise=noise or "geometric",
            neighbours=neighbours or "add-remove",
            joint=[tuple(name.strip() for name in names.split(",")) for names in joint or []],
            levels=methods.levels_of(level or ()),
            gaussian=methods.bounds_of(gaussian or ()),
            progress=stage,
        )
    if output is not None:
        from dalenius.report import frontier as report

        write_texts({output: report.page(table.name, found, run_details())})
    if json is not None:
        write_json(json, found.to_document())
    if json == "-":
        return
    for line in _lines(table, found):
        say(quiet, line)
    if output is not None:
        say(quiet, f"\n  Page: {output}")


def _numbers(text: str) -> tuple[float, ...]:
    """Budgets, separated by commas."""
    from dalenius.errors import InputError

    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0 < epsilon < float("inf") for epsilon in found):
        raise InputError(f"--epsilons {text!r}: write numbers > 0, separated by commas, for example 0.1,0.5,1.")
    return found


def _lines(table: Path, found: Frontier) -> list[str]:
    from dalenius.report import words
    from dalenius.report.frontier import summary, who

    options = found.options
    joint = "".join(f", {' × '.join(names)} together" for names in options["joint"])
    lines = [
        f"{table}: {who(found)}",
        f"  {found.adversary} on {found.sensitive}, {options['noise']} noise, {options['neighbours']} neighbours{joint}, "
        f"{counted(found.draws, 'draw', 'draws')} for each ε",
        "",
        f"  {'ε':>8}  {'counted, min–max':<18} {'held out':>8}  {'gain (95 %), points':<22} {'sure, right':<14} {'surer':>5}  "
        f"{'count off by':<18} verdict",
    ]
    lines += [_line(f"{point.parameters['epsilon']:g}", point) for point in found.points]
    lines += [
        _line("no noise", found.reference),
        f"  Commonest value: {words.rate(found.reference.naive.rate)}. Sure: of how many it is surer than 0.8, how often right.",
        "  Surer: points by which it is surer than right. Count off by: people, and against the average count.",
        "",
    ]
    return [*lines, *(f"  {line}" for line in summary(found))]


def _line(name: str, point: Point) -> str:
    from dalenius.report import words
    from dalenius.report.frontier import against

    success, gain, error, sure = point.success, point.gain.rate, point.count_error, point.high_confidence.rate
    right = f"{words.percent(success.rate.value)} ({100 * success.least:.1f}–{100 * success.most:.1f})"
    added = f"{100 * gain.value:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
    sured = words.percent(point.high_confidence_share) + (f", {words.percent(sure.value)}" if sure.n else "")
    off = f"{words.number(error.mean_absolute)}, {against(error.relative).removesuffix(' of')}"
    return (
        f"  {name:>8}  {right:<18} {words.percent(point.holdout_success.rate.value):>8}  {added:<22} {sured:<14} "
        f"{100 * point.calibration_gap:>+5.1f}  {off:<18} {point.verdict}"
    )
