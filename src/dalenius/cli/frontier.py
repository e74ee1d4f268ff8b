"""`dalenius frontier`: ways to publish a table and their parameters, risk against utility; or, of noisy counts, what ε means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius import engine as _engine
from dalenius.cli import epsilons as counts
from dalenius.cli import methods, tradeoff
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    QuietOption,
    SchemaOption,
    SeedOption,
    TableArgument,
)

METHOD = "noisy-counts"
_GRID = "What is tried"
_AXES = "What is compared"
_EPSILON = "Of noisy counts"


def register(app: typer.Typer) -> None:
    app.command("frontier")(command)


def command(
    table: TableArgument,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method", help="A way to publish (see publish); repeatable. Without: all.", rich_help_panel=_GRID
        ),
    ] = None,
    k: Annotated[
        str | None, typer.Option("--k", metavar="K,K,…", help="Values of k (2,5,10,25,50,100).", rich_help_panel=_GRID)
    ] = None,
    l: Annotated[  # noqa: E741 - the option's name
        str | None,
        typer.Option("--l", metavar="L,L,…", help="Values of ℓ, distinct (anatomy: 2,3,5,8).", rich_help_panel=_GRID),
    ] = None,
    t: Annotated[
        str | None,
        typer.Option("--t", metavar="T,T,…", help="Values of t, such as 0.2 or 0.2:ordered.", rich_help_panel=_GRID),
    ] = None,
    suppression: Annotated[
        str | None,
        typer.Option(
            "--suppression",
            metavar="S,S,…",
            help="Lattice: shares of rows to suppress (0,0.02).",
            rich_help_panel=_GRID,
        ),
    ] = None,
    suppressed_rows: methods.SuppressedRows = None,
    epsilons: Annotated[
        str | None,
        typer.Option("--epsilons", metavar="E,E,…", help="Noisy counts: the budgets to try.", rich_help_panel=_GRID),
    ] = None,
    risk: Annotated[
        str | None,
        typer.Option(
            "--risk",
            rich_help_panel=_AXES,
            help="The risk to compare by: attacker (default), gain, random-worlds, perfect-breach, worst-case, linkability, "
            "singled-out, closeness or relative-threat.",
        ),
    ] = None,
    utility: Annotated[
        str | None,
        typer.Option(
            "--utility",
            rich_help_panel=_AXES,
            help="The utility to compare by: relative_error (default), loss, ncp, discernibility, average_class_size, suppressed, "
            "kl_divergence, precision or faithfulness.",
        ),
    ] = None,
    mcse: Annotated[
        float | None,
        typer.Option("--mcse", help="Sample learner and attacker up to this error.", rich_help_panel=_AXES),
    ] = None,
    best: Annotated[
        Path | None,
        typer.Option("--best", metavar="OUT", help="Publish the most useful release that satisfies [policy] to OUT."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FOLDER", help="Where what was measured is kept (TABLE.frontier)."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure anew what was measured already.")] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Processes at once (one a core).")] = None,
    draws: Annotated[
        int | None,
        typer.Option("--draws", min=1, help="Draws of noise at each ε (9).", rich_help_panel=_EPSILON),
    ] = None,
    holdout: Annotated[
        Path | None, typer.Option("--holdout", help="People like those in the table who are not in it: the control.")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            "--share",
            help="Without --holdout: the share of the people to hold out, drawn by --seed (of noisy counts alone 0.3).",
        ),
    ] = None,
    noise: methods.Noise = None,
    neighbours: methods.Neighbours = None,
    joint: methods.Joint = None,
    level: methods.Level = None,
    gaussian: methods.Gaussian = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="An HTML page with the chart and the table.")
    ] = None,
    schema: SchemaOption = DEFAULT_SCHEMA,
    json: JsonOption = None,
    seed: SeedOption = 0,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> int:
    """Try ways to publish a table and their parameters: how risky each release is, and how useful.

    With noisy counts alone (--method noisy-counts, or --epsilons and nothing else to try): what each ε means for the table, with
    several draws of noise. Exit code 1 if --best finds no release that satisfies the policy.
    """  # fmt: skip
    from dalenius.errors import InputError, ParameterError, listing

    for name in method or ():
        if name not in methods.METHODS:
            raise ParameterError("--method", "frontier", f"one of {listing(methods.METHODS)}", name)
    if holdout is not None and share is not None:
        raise InputError("--holdout names the people to hold out, and --share draws them from the table. Give one.")
    if share is not None and not 0 < share < 1:
        raise ParameterError("--share", "frontier", "a number above 0 and below 1", share)
    counting = {"noise": noise, "neighbours": neighbours, "joint": joint, "level": level, "gaussian": gaussian}
    counting = {name: value for name, value in counting.items() if value is not None and value != []}
    compares = (
        any(
            value is not None
            for value in (k, l, t, suppression, suppressed_rows, risk, utility, mcse, best, resume, jobs)
        )
        or fresh
    )
    about_counts = bool(epsilons is not None or draws is not None or counting)
    if not compares and (set(method) == {METHOD} if method else about_counts):
        counts.run(
            table, counts.numbers(epsilons), draws=draws, holdout=holdout, share=share, counting=counting, output=output,
            schema=schema, json=json, seed=seed, engine=engine, quiet=quiet,
        )  # fmt: skip
        return 0
    if draws is not None:
        raise InputError("--draws is for noisy counts alone: every other release is one. Leave it out.")
    tried = tuple(dict.fromkeys(method)) if method else methods.METHODS
    if about_counts and METHOD not in tried:
        raise InputError(f"Options of noisy counts are given, and they are not tried. Add --method {METHOD}.")
    asked = tradeoff.Asked(
        methods=tried,
        values=tradeoff.values(k=k, l=l, t=t, suppression=suppression, epsilon=epsilons),
        counting=counting,
        suppressed_rows=tradeoff.suppressed_rows(suppressed_rows, tried),
        risk=risk,
        utility=utility,
        mcse=mcse,
    )
    return tradeoff.run(
        table, asked, best=best, resume=resume, fresh=fresh, jobs=jobs, holdout=holdout, share=share, output=output,
        schema=schema, json=json, seed=seed, engine=engine, quiet=quiet,
    )  # fmt: skip
