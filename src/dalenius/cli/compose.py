"""`dalenius compose`: what several releases give away together about people who are in all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius.cli import common, declared

SchemasOption = Annotated[
    list[Path] | None,
    typer.Option("--schema", help="One for all releases (privacy.toml), or one for each, in their order."),
]
BeliefsOption = Annotated[
    Path | None,
    typer.Option(
        "--beliefs", help="Attack with probabilities, too, and write what is believed of each target, as CSV."
    ),
]
PresenceOption = Annotated[
    str | None,
    typer.Option(
        "--presence",
        metavar="P,P,…",
        help="The probability that a target is in each release (1): with probabilities.",
    ),
]
MapOption = Annotated[
    Path | None,
    typer.Option("--map", help="A file with from and to: sensitive values that have another name elsewhere."),
]
TARGETS = "People who are in all releases: their quasi-identifiers, a row each."
TRUTH = "The rows of the targets with their sensitive value, to see what holds."
MCSE = "Where beliefs are sampled: stop when no error is larger than this (0.01)."


def register(app: typer.Typer) -> None:
    app.command("compose")(command)


def command(
    releases: Annotated[list[str], declared.releases("RELEASE RELEASE…", "Releases, ours or another tool's.")],
    targets: Annotated[Path, declared.targets(TARGETS)],
    schema: SchemasOption = None,
    truth: Annotated[Path | None, declared.truth(TRUTH)] = None,
    output: Annotated[Path | None, declared.output("What is left of each target, as CSV.")] = None,
    beliefs: BeliefsOption = None,
    presence: PresenceOption = None,
    mcse: Annotated[float | None, declared.mcse(MCSE)] = None,
    seed: declared.Seed = 0,
    mapping: MapOption = None,
    sensitive: declared.Sensitive = None,
    kind: declared.Kind = None,
    json: declared.Json = None,
    engine: declared.Engine = declared.ENGINE_URL,
    quiet: declared.Quiet = False,
) -> int:
    """Intersect what several releases say of the same people: how many values are left, and of whom only one."""
    from dalenius.auditing.compose import compose, parse_presence
    from dalenius.output import write_texts
    from dalenius.reports.compose import beliefs_text, lines, rows_text, warnings
    from dalenius.schema import Schema

    paths = schema or [declared.SCHEMA_FILE]
    roles = [Schema.load(path) for path in paths]
    connected = common.connect_engine(engine, quiet=quiet)
    shares = None if presence is None else parse_presence(presence, len(releases))
    read = [file for release in releases for file in common.release_files(release)]
    read += [file for one in roles for file in one.files]
    common.check_outputs(
        output, beliefs, json=json, inputs=[*releases, *paths, targets, truth, mapping, *read, *connected.own_files],
        same="Two outputs cannot be written to one file. Name another file.",
    )  # fmt: skip
    with common.stage_line(quiet) as stage:
        composed = compose(
            releases, roles, targets, truth=truth, with_beliefs=beliefs is not None, presence=shares, mcse=mcse, seed=seed,
            mapping=mapping, sensitive=sensitive, kind=kind, engine=connected, stage=stage,
        )  # fmt: skip
    texts = {} if output is None else {output: rows_text(composed)}
    written = [] if output is None else [f"Wrote {output}: what is left of each target"]
    if beliefs is not None:
        texts[beliefs] = beliefs_text(composed)
        written.append(f"Wrote {beliefs}: what is believed of each target")
    if texts:
        write_texts(texts)
    common.present(composed.to_document(), lambda: [*written, *lines(composed)], json=json, quiet=quiet)
    for warning in warnings(composed):
        typer.echo(warning, err=True)
    return 0 if composed.converged else common.NOT_CONVERGED
