"""`dalenius reproduce`: the papers' tables and figures beside ours, as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dalenius.api.arguments import OUTPUT, QUICK
from dalenius.cli import build, common
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.papers.reproducing import Reproduced

PAGE = Path("reproduce.html")

PAPERS = Option(
    "papers",
    "relative, realistic, composition, error or population. Default: all five.",
    str,
    metavar="[PAPER]…",
    is_repeatable=True,
    is_argument=True,
)
DATA = Option("data", "A folder with UCI Adult. Default: $DALENIUS_DATA, or the cache.", Path, metavar="DIR")
NO_ENGINE = "reads data sets of its own"  # why it takes no --engine


def register(app: typer.Typer) -> None:
    """Add the command."""
    own: build.Own = {
        "papers": (PAPERS, None),
        "output": (OUTPUT.but(help="The HTML page."), PAGE),
        "data": (DATA, None),
        "quick": (
            QUICK.but(help="Rougher numbers in about a minute: fewer people, parameters and repetitions."),
            False,
        ),
        **common.REPORTING,
    }

    def command(**typed: Any) -> None:
        run(build.Call(reproduce_papers, {}, typed))

    build.make(app, "reproduce", command, build.parameters_of(own), run.__doc__)


def run(call: build.Call) -> None:
    """Reproduce the tables and figures of the five papers.

    Shows the printed numbers next to ours, and says what is wrong in print.
    """
    from dalenius.papers import registry
    from dalenius.reports.reproduce import left_out_lines, lines

    names, output, json, quiet = list(call["papers"] or []), call["output"], call["json"], call["quiet"]
    registry.check(names)
    _check_outputs(output, json)
    with common.stage_line(quiet) as stage:
        result = call(names=names, data=call["data"], quick=call["quick"], progress=stage)
    tell = common.teller(quiet)
    for line in left_out_lines(result.left_out, result.not_made):
        tell(line)
    _write(result, output, json)
    result.check_made(names)  # the page says so as well, and shows everything else that was asked for
    for line in [*lines(result.papers, result.errata), f"\n  Page: {output}"] if json != "-" else ():
        common.say(quiet, line)


def reproduce_papers(names: list[str], **options: Any) -> Reproduced:
    """Reproduce the papers that are named, or all."""
    from dalenius.papers.reproducing import reproduce

    return reproduce(names, **options)


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
