"""`dalenius demo`: a story in under a minute. A hospital, three releases, what adversaries learn, which one may go out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from dalenius.cli import common, declared

NO_ENGINE = "makes its own files"  # why it takes no --engine


def register(app: typer.Typer) -> None:
    app.command("demo")(command)


def command(
    folder: Annotated[Path, declared.output("The folder to write into.")] = Path("demo"),
    people: Annotated[int, typer.Option("--people", min=100, help="How many patients.")] = 3000,
    quick: Annotated[
        bool, declared.quick("Make the files and one report; leave out the attacks that take seconds.")
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the report in a browser.")] = False,
    seed: declared.Seed = 0,
) -> None:
    """Publish a hospital's table in three ways, attack each, and see which may go out."""
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
