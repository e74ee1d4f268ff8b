"""`dalenius frontier`: ways to publish a table and their parameters, risk against utility; or, of noisy counts, what ε means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalenius.cli import declared, epsilons, methods, options, tradeoff

_GRID = "What is tried"
_AXES = "What is compared"
_EPSILON = "Of noisy counts"
MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        help=f"A way to publish: {', '.join(methods.METHODS)}. Repeatable. Without: all.",
        rich_help_panel=_GRID,
    ),
]
RiskOption = Annotated[
    str | None,
    typer.Option(
        "--risk",
        rich_help_panel=_AXES,
        help="The risk to compare by: attacker (default), gain, random-worlds, perfect-breach, worst-case, linkability, "
        "singled-out, closeness or relative-threat.",
    ),
]
UtilityOption = Annotated[
    str | None,
    typer.Option(
        "--utility",
        rich_help_panel=_AXES,
        help="The utility to compare by: relative_error (default), loss, ncp, discernibility, average_class_size, suppressed, "
        "kl_divergence, precision or faithfulness.",
    ),
]
McseOption = Annotated[float | None, declared.mcse("Sample learner and attacker up to this error.", panel=_AXES)]
BestOption = Annotated[
    Path | None,
    typer.Option("--best", metavar="OUT", help="Publish the most useful release that satisfies [policy] to OUT."),
]
ResumeOption = Annotated[
    Path | None, typer.Option("--resume", metavar="FOLDER", help="Where what was measured is kept (TABLE.frontier).")
]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Measure anew what was measured already.")]
JobsOption = Annotated[int | None, typer.Option("--jobs", min=1, help="Processes at once (one a core).")]
DrawsOption = Annotated[
    int | None, typer.Option("--draws", min=1, help="Draws of noise at each ε (9).", rich_help_panel=_EPSILON)
]
ShareOption = Annotated[
    float | None,
    declared.share(
        "Without --holdout: the share of the people to hold out, drawn by --seed (of noisy counts alone 0.3)."
    ),
]
OutputOption = Annotated[Path | None, declared.output("An HTML page with the chart and the table.")]


def register(app: typer.Typer) -> None:
    app.command("frontier")(methods.with_grids(command))


def command(
    table: declared.Table,
    method: MethodsOption = None,
    chosen: options.Chosen = options.NONE,
    risk: RiskOption = None,
    utility: UtilityOption = None,
    mcse: McseOption = None,
    best: BestOption = None,
    resume: ResumeOption = None,
    fresh: FreshOption = False,
    jobs: JobsOption = None,
    draws: DrawsOption = None,
    holdout: declared.Holdout = None,
    share: ShareOption = None,
    output: OutputOption = None,
    schema: declared.Schema = declared.SCHEMA_FILE,
    json: declared.Json = None,
    seed: declared.Seed = 0,
    engine: declared.Engine = declared.ENGINE_URL,
    quiet: declared.Quiet = False,
) -> int:
    """Try ways to publish a table and their parameters: how risky each release is, and how useful.

    With noisy counts alone (--method noisy-counts, or --epsilons and nothing else to try): what each ε means for the table, with
    several draws of noise. Exit code 1 if --best finds no release that satisfies the policy.
    """  # fmt: skip
    from dalenius.errors import InputError
    from dalenius.options import chosen_of

    _check(method, holdout, share)
    typed = chosen_of(chosen)
    people: dict[str, Any] = {"holdout": holdout, "share": share, "schema": schema, "seed": seed}
    people |= {"output": output, "json": json, "engine": engine, "quiet": quiet}
    compared: dict[str, Any] = {
        "risk": risk,
        "utility": utility,
        "mcse": mcse,
        "best": best,
        "resume": resume,
        "jobs": jobs,
    }
    compares = fresh or any(value is not None for value in compared.values())
    if not compares and epsilons.is_alone(method, typed, draws):
        epsilons.run(table, typed, draws=draws, **people)
        return 0
    if draws is not None:
        raise InputError("--draws is for noisy counts alone: every other release is one. Leave it out.")
    return tradeoff.run(table, method, typed, fresh=fresh, **compared, **people)


def _check(method: list[str] | None, holdout: Path | None, share: float | None) -> None:
    from dalenius.errors import InputError, ParameterError
    from dalenius.publishers.registry import named

    for name in method or ():
        named(name, "frontier")
    if holdout is not None and share is not None:
        raise InputError("--holdout names the people to hold out, and --share draws them from the table. Give one.")
    if share is not None and not 0 < share < 1:
        raise ParameterError("--share", "frontier", "a number above 0 and below 1", share)
