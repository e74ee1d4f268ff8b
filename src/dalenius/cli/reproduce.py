"""`dalenius reproduce`: the papers' tables and figures beside ours, as one HTML page."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalenius.cli.common import JsonOption, QuietOption, run_details, say, stage_line, teller, write_json
from dalenius.errors import counted

if TYPE_CHECKING:
    from dalenius.papers.base import Paper

PAGE = Path("reproduce.html")


def register(app: typer.Typer) -> None:
    app.command("reproduce")(command)


def command(
    papers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER]…", help="relative, realistic, composition, error, population; all five if none is named."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The HTML page.")] = PAGE,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="A folder that holds UCI Adult; else $DALENIUS_DATA, or the cache."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Rougher numbers in about a minute: fewer people, parameters, repetitions.")
    ] = False,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Make the five papers' tables and figures anew: the printed numbers beside ours, and what is wrong in print."""
    from dalenius.errors import InputError
    from dalenius.output import check_writable, write_texts
    from dalenius.papers import registry
    from dalenius.papers.errata import ERRATA
    from dalenius.report import reproduce as report

    named = list(papers or [])
    keys = registry.check(named)
    targets = [output] if json in (None, "-") else [output, Path(json)]
    for target in targets:
        check_writable(target)
    if len({path.resolve() for path in targets}) < len(targets):
        raise InputError(f"The page and the JSON cannot both be written to {str(output)!r}. Name another file.")
    with stage_line(quiet) as stage:
        stage("looking for the data")
        left_out = {key: reason for key in keys if (reason := registry.missing(key, data))}
        built: list[Paper] = []
        seconds = {}
        for i, key in enumerate(keys, 1):
            stage(f"{key}, paper {i} of {len(keys)}")
            begun = time.monotonic()
            paper = registry.build_without_data(key) if key in left_out else registry.build(key, data, quick=quick)
            if paper.exhibits:
                built.append(paper)
                seconds[key] = round(time.monotonic() - begun, 3)
    not_made = {paper.key: registry.not_made(paper.key) for paper in built if paper.key in left_out}
    tell = teller(quiet)
    for key, reason in left_out.items():
        some = f"{', '.join(not_made[key])} of " if key in not_made else ""
        tell(f"dalenius: left out {some}{key!r}: {reason}")
    run = {"papers": seconds}
    text = report.page(
        built, ERRATA, registry.TITLES, left_out, {**run_details(), **run}, not_made=not_made, quick=quick
    )
    write_texts({output: text})
    if json is not None:
        write_json(json, report.document(built, ERRATA, left_out, not_made=not_made, quick=quick), run=run)
    for key in named:
        if key in left_out and key not in not_made:  # the page says so, too, and what else was asked for is on it
            raise InputError(f"The paper {key!r} cannot be reproduced. {left_out[key]}")
    if json == "-":
        return
    for line in _lines(built, ERRATA):
        say(quiet, line)
    say(quiet, f"\n  Page: {output}")


def _lines(built: list[Paper], errata: Mapping[str, Sequence[object]]) -> list[str]:
    """A line a paper."""
    return [
        f"  {paper.key:<12} {counted(len(paper.exhibits), 'exhibit', 'exhibits')}, "
        f"{counted(sum(len(exhibit.compared) for exhibit in paper.exhibits), 'number', 'numbers')} compared, "
        f"{counted(len(errata[paper.key]), 'erratum', 'errata')}"
        for paper in built
    ]
