"""`dalenius reproduce`: the papers' tables and figures beside ours, as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalenius.cli import common, declared

if TYPE_CHECKING:
    from dalenius.papers.reproducing import Reproduced

PAGE = Path("reproduce.html")

NO_ENGINE = "reads data sets of its own"  # why it takes no --engine


def register(app: typer.Typer) -> None:
    app.command("reproduce")(command)


def command(
    papers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER]…", help="relative, realistic, composition, error, population; all five if none is named."
        ),
    ] = None,
    output: Annotated[Path, declared.output("The HTML page.")] = PAGE,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="A folder that holds UCI Adult; else $DALENIUS_DATA, or the cache."),
    ] = None,
    quick: Annotated[
        bool, declared.quick("Rougher numbers in about a minute: fewer people, parameters, repetitions.")
    ] = False,
    json: declared.Json = None,
    quiet: declared.Quiet = False,
) -> None:
    """Make the five papers' tables and figures anew: the printed numbers beside ours, and what is wrong in print."""
    from dalenius.papers import registry
    from dalenius.papers.reproducing import reproduce
    from dalenius.reports.reproduce import left_out_lines, lines

    names = list(papers or [])
    registry.check(names)
    _check_outputs(output, json)
    with common.stage_line(quiet) as stage:
        result = reproduce(names, data=data, quick=quick, progress=stage)
    tell = common.teller(quiet)
    for line in left_out_lines(result.left_out, result.not_made):
        tell(line)
    _write(result, output, json)
    result.check_made(names)  # the page says so, too, and what else was asked for is on it
    for line in [*lines(result.papers, result.errata), f"\n  Page: {output}"] if json != "-" else ():
        common.say(quiet, line)


def _check_outputs(output: Path, json: str | None) -> None:
    from dalenius.errors import InputError
    from dalenius.output import check_writable

    targets = [output] if json in (None, "-") else [output, Path(str(json))]
    for target in targets:
        check_writable(target)
    if len({path.resolve() for path in targets}) < len(targets):
        raise InputError(f"The page and the JSON cannot both be written to {str(output)!r}. Name another file.")


def _write(result: Reproduced, output: Path, json: str | None) -> None:
    from dalenius.output import write_texts
    from dalenius.papers.registry import TITLES
    from dalenius.reports.reproduce import page

    run = {"papers": result.seconds}
    text = page(
        result.papers, result.errata, TITLES, result.left_out, {**common.run_details(), **run}, not_made=result.not_made,
        quick=result.is_quick,
    )  # fmt: skip
    write_texts({output: text})
    if json is not None:
        common.write_json(json, result.to_document(), run=run)
