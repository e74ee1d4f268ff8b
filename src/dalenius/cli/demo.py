"""`dalenius demo`: a story in under a minute. A hospital, three releases, what adversaries learn, which one may go out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import typer

from dalenius.api.arguments import OUTPUT, QUICK, SEED
from dalenius.cli import build, common
from dalenius.options import Option

PEOPLE = Option("people", "Number of patients.", int, minimum=100)
NO_OPEN = Option("no-open", "Do not open the report in a browser.", bool)
NO_ENGINE = "makes its own files"  # why it takes no --engine


def register(app: typer.Typer) -> None:
    """Add the command."""
    own: build.Own = {
        "folder": (OUTPUT.but(help="The folder to write into."), Path("demo")),
        "people": (PEOPLE, 3000),
        "quick": (QUICK.but(help="Make the files and one report. Leave out the attacks that take seconds."), False),
        "no_open": (NO_OPEN, False),
        "seed": (SEED, 0),
    }
    build.make(app, "demo", run, build.parameters_of(own), run.__doc__)


def run(folder: Path, people: int, quick: bool, no_open: bool, seed: int) -> None:
    """Publish a hospital's table in three ways and attack each."""
    from dalenius.demo import demo
    from dalenius.output import write_texts
    from dalenius.reports import demo as report
    from dalenius.reports import html

    story = demo(
        folder, people=people, is_quick=quick, seed=seed, progress=lambda part: _say(report.part(part)), stage=_stage
    )
    _say(report.outcome(story))
    page = folder / "report.html"
    with _stage("writing the report"):
        write_texts({page: html.page(story.chosen.audit, common.run_details())})
    _say(report.closing(story, folder, page))
    if not no_open and _shows():
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(line)


@contextlib.contextmanager
def _stage(name: str) -> Iterator[None]:
    """Show what is being done for as long as it is."""
    with common.stage_line(False) as show:
        show(name)
        yield


def _shows() -> bool:
    """Whether somebody sits before it: a terminal, a display, and no build server."""
    if os.environ.get("CI") or not sys.stdout.isatty():
        return False
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True
