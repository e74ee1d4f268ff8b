"""Options that every command takes, and the JSON document that every command can write."""

from __future__ import annotations

import json
import math
import platform
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from dalenius import __version__
from dalenius.output import write_texts

SCHEMA_VERSION = 1

SchemaOption = Annotated[
    Path, typer.Option("--schema", help="The schema: roles, types, hierarchies.", show_default=True)
]
JsonOption = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE|-", help="Write the result as JSON; - is standard output."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
EngineOption = Annotated[str, typer.Option("--engine", metavar="URL", help="Where the rows are read.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
KindOption = Annotated[str | None, typer.Option("--kind", help="Kind of the release, if its files do not tell it.")]

DEFAULT_SCHEMA = Path("privacy.toml")
_started = time.time()


def write_json(target: str, document: Mapping[str, Any]) -> None:
    """Write a result; whatever differs between two equal runs stands under `run`."""
    whole = {
        "schema_version": SCHEMA_VERSION,
        "dalenius": __version__,
        **document,
        "run": {
            "started": datetime.fromtimestamp(_started, UTC).isoformat(timespec="seconds"),
            "seconds": round(time.time() - _started, 3),
            "command": sys.argv,
            "python": platform.python_version(),
            "system": platform.platform(),
        },
    }
    text = json.dumps(plain(whole), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if target == "-":
        sys.stdout.write(text)
    else:
        write_texts({Path(target): text})


def plain(value: Any) -> Any:
    """Values as JSON has them: infinite is the string "inf", undefined is null, NumPy numbers are numbers."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
    return value


def say(quiet: bool, text: str = "") -> None:
    """A line for a person, unless told to be quiet."""
    if not quiet:
        typer.echo(text)
