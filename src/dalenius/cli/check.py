"""`dalenius check`: how large the classes of a release are."""

from __future__ import annotations

from typing import Annotated

import typer

from dalenius import engine as _engine
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    KindOption,
    QuietOption,
    SchemaOption,
    say,
    write_json,
)


def register(app: typer.Typer) -> None:
    app.command("check")(command)


def command(
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="A release, ours or another tool's, or a raw table.")
    ],
    schema: SchemaOption = DEFAULT_SCHEMA,
    kind: KindOption = None,
    json: JsonOption = None,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> None:
    """Print how many classes a release has, how small they are, and how many rows are suppressed."""
    import numpy as np

    from dalenius.errors import InputError
    from dalenius.release import GroupedRelease, read

    opened = read(release, schema, kind=kind, engine=engine)
    if not isinstance(opened, GroupedRelease):
        raise InputError(f"{release}: a release of kind {opened.kind!r} has no classes to check.")
    sizes = opened.sizes
    k = int(sizes.min())
    document = {
        "kind": opened.kind,
        "people": opened.people,
        "classes": opened.groups,
        "suppressed": opened.suppressed,
        "k_anonymity": {"k": k},
        "class_sizes": {
            "smallest": k,
            "median": float(np.median(sizes)),
            "mean": float(sizes.mean()),
            "largest": int(sizes.max()),
        },
        "uniques": int((sizes == 1).sum()),
    }
    if json is not None:
        write_json(json, document)
    if json != "-":
        say(quiet, f"{release}: {opened.people:,} people, {opened.kind}")
        say(quiet, f"  classes           {opened.groups:,}")
        say(quiet, f"  smallest class    {k:,}  (k-anonymity)")
        say(quiet, f"  median class      {np.median(sizes):,.6g}")
        say(quiet, f"  largest class     {int(sizes.max()):,}")
        say(quiet, f"  uniques           {document['uniques']:,}  (classes of one person)")
        say(quiet, f"  suppressed rows   {opened.suppressed:,}  ({opened.suppressed / opened.people:.2%})")
