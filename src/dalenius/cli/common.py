"""What every command does beside its work: connect the engine, say lines, show progress, write the JSON document."""

from __future__ import annotations

import contextlib
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dalenius.api import Context
from dalenius.api.arguments import JSON, QUIET
from dalenius.output import write_texts
from dalenius.reports import document

if TYPE_CHECKING:
    from dalenius.cli.build import Call
    from dalenius.engines import Engine

# The options that commands have and functions do not.
REPORTING = {"json": (JSON, None), "quiet": (QUIET, False)}
NOT_CONVERGED = 3  # the exit code of what was sampled and is not to be relied on


def run_details() -> dict[str, Any]:
    """Whatever differs between two equal runs."""
    return document.run_details(_command())


def connect_engine(url: str, *, quiet: bool) -> Engine:
    """The engine; on a terminal a line tells what it does, whenever that takes a while."""
    from dalenius.engines import connect

    shows = not quiet and sys.stderr.isatty()

    def show(line: str) -> None:
        print(f"\r\x1b[K{line + ' …' if line else ''}", end="", file=sys.stderr, flush=True)

    if shows and not url.startswith("duckdb:"):
        show("connecting")
    try:
        engine = connect(url)
    finally:
        if shows:
            show("")
    engine.notify = show if shows else None
    return engine


def _command() -> list[str]:
    """The command line without an engine's password; of `publish` also without its seed, which is written nowhere."""
    words = list(sys.argv)
    for i, word in enumerate(words):
        if word.startswith("--engine="):
            words[i] = f"--engine={_without_secrets(word.removeprefix('--engine='))}"
        elif i and words[i - 1] == "--engine":
            words[i] = _without_secrets(word)
    if "publish" in words[1:2]:
        for i, word in enumerate(words):
            if word.startswith("--seed="):
                words[i] = "--seed=…"
            elif i and words[i - 1] == "--seed":
                words[i] = "…"
    return words


def _without_secrets(url: str) -> str:
    """Where an engine is, without who asks and what with: scheme, host, port and path."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url if re.fullmatch(r"[a-z0-9-]+(\[[0-9,* ]*\])?", url) else "…"
    # Anything odd is not shown at all: what looks like a host may be half of a password.
    place = re.match(r"(?:[^/?;@\s]*@)?([\w.,:\[\]-]*(?:/[\w.~-]*)*)(?=$|[?;])", rest)
    return f"{scheme}://{place[1] if place and '@' not in rest[place.end() :] else '…'}"


def write_json(target: str, result: Mapping[str, Any], *, run: Mapping[str, Any] | None = None) -> None:
    """Write a result; whatever differs between two equal runs stands under `run`, and may be added to."""
    text = document.json_text(result, {**run_details(), **(run or {})})
    if target == "-":
        sys.stdout.write(text)
    else:
        write_texts({Path(target): text})


@contextlib.contextmanager
def running(call: Call, *outputs: Path | None, same_file: str = "") -> Iterator[Context]:
    """Yield the context of a call: progress on the terminal, and the files that the command will write."""
    quiet = call["quiet"]
    json = None if call.own.get("json") in (None, "-") else Path(call["json"])
    writes = tuple(path for path in (*outputs, json) if path is not None)
    with progress_line(quiet) as progress, stage_line(quiet) as stage:
        yield Context(
            connect=lambda url: connect_engine(url, quiet=quiet), stage=stage, progress=progress, tell=teller(quiet),
            writes=writes, **({"same_file": same_file} if same_file else {}),
        )  # fmt: skip


def present(result: Mapping[str, Any], lines: Callable[[], Iterable[str]], call: Call) -> None:
    """Write the document where --json asks for it, and print the lines, unless the document went to standard output."""
    if call["json"] is not None:
        write_json(call["json"], result)
    if call["json"] != "-" and not call["quiet"]:
        for line in lines():
            typer.echo(line)


@contextlib.contextmanager
def progress_line(quiet: bool) -> Iterator[Callable[[int, int, float], None] | None]:
    """A line on the terminal once something has taken a second: nodes done, nodes in all, the best so far."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    begun = shown = time.monotonic()

    def show(done: int, total: int, best: float) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - begun > 1 and now - shown > 0.1:
            shown = now
            so_far = f", best so far {best:.4f}" if math.isfinite(best) else ""
            print(f"\r\x1b[K{done:,} of {total:,} nodes{so_far}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if shown > begun:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def stage_line(quiet: bool) -> Iterator[Callable[[str], None]]:
    """On a terminal, a line that says what is being done; it goes when all is done."""
    shows = not quiet and sys.stderr.isatty()

    def show(stage: str) -> None:
        if shows:
            print(f"\r\x1b[K{stage} …", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if shows:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def teller(quiet: bool) -> Callable[[str], None]:
    """Who prints a line on standard error at once, unless told to be quiet."""

    def tell(text: str) -> None:
        if not quiet:
            typer.echo(text, err=True)

    return tell


def say(quiet: bool, text: str = "") -> None:
    """A line for a person, unless told to be quiet."""
    if not quiet:
        typer.echo(text)


def warn(*sentences: str) -> None:
    """What must be known, however quiet it should be."""
    for sentence in sentences:
        typer.echo(f"WARNING: {sentence}", err=True)
