"""`dalenius publish`: make a release of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalenius import engine as _engine
from dalenius.cli import adversaries as realistic
from dalenius.cli import criteria as options
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    QuietOption,
    SchemaOption,
    SeedOption,
    progress_line,
    say,
    write_json,
)

METHODS = ("lattice",)


def register(app: typer.Typer) -> None:
    app.command("publish")(command)


def command(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A CSV or Parquet file, a row a person.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")],
    method: Annotated[str, typer.Option("--method", help="How to publish: lattice.")] = "lattice",
    k: options.K = None,
    l: options.L = None,  # noqa: E741 - the option's name
    entropy_l: options.EntropyL = None,
    recursive_l: options.RecursiveL = None,
    t: options.T = None,
    delta: options.Delta = None,
    beta: options.Beta = None,
    enhanced_beta: options.EnhancedBeta = None,
    alpha: options.Alpha = None,
    epsilon_privacy: options.EpsilonPrivacy = None,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    suppression: Annotated[float, typer.Option("--suppression", help="Largest share of rows to suppress.")] = 0.0,
    utility: Annotated[
        str, typer.Option("--utility", help="loss, precision, entropy, discernibility or average_class_size.")
    ] = "loss",
    others_as_quasi: Annotated[
        bool,
        typer.Option("--others-as-quasi", help="Of several sensitive columns, all others are known to the attacker."),
    ] = False,
    minimal: Annotated[bool, typer.Option("--minimal", help="Also list every minimal node (lattice).")] = False,
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="Stop after so many seconds with the best so far (lattice).")
    ] = None,
    schema: SchemaOption = DEFAULT_SCHEMA,
    json: JsonOption = None,
    seed: SeedOption = 0,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> None:
    """Make a release that satisfies the criteria, and write it with a sidecar that says how it was made."""
    from dalenius.errors import ParameterError, listing
    from dalenius.output import check_writable
    from dalenius.release import sidecar
    from dalenius.release.prior import Priors
    from dalenius.schema import Schema
    from dalenius.table import Table

    if method not in METHODS:
        raise ParameterError("--method", "publish", f"one of {listing(METHODS)}", method)
    declared, connected = Schema.load(schema), _engine.connect(engine)
    wanted = options.criteria(
        k=k, l=l, entropy_l=entropy_l, recursive_l=recursive_l, t=t, delta=delta, beta=beta,
        enhanced_beta=enhanced_beta, alpha=alpha, epsilon_privacy=epsilon_privacy,
        priors=Priors(declared, connected), known=known, at_most=at_most,
        predicates=realistic.predicates(predicate, declared),
    )  # fmt: skip
    from dalenius.publish.lattice import Lattice

    publisher = Lattice(
        wanted,
        suppression=suppression,
        utility=utility,
        minimal=minimal,
        time_limit=time_limit,
        others_as_quasi=others_as_quasi,
    )
    check_writable(output, inputs=[table, schema])
    if json not in (None, "-"):
        check_writable(Path(json), inputs=[table, schema])
        if Path(json).resolve() in (output.resolve(), sidecar.path_of(output).resolve()):
            raise ParameterError("--json", "publish", "another file than the release and its sidecar", json)
    people = Table(table, declared, engine=connected)
    with progress_line(quiet) as progress:
        published = publisher.publish(people, progress=progress)
    published.write(output, extra={"seed": seed})
    document = published.describe()
    if json is not None:
        write_json(json, document)
    if json == "-":
        return
    for line in _summary(output, document):
        say(quiet, line)


def _summary(output: Path, document: dict[str, Any]) -> list[str]:
    suppressed, people = document["suppressed"], document["people"]
    search = f"{document['checked']:,} of {document['nodes']:,} nodes checked"
    proof = "optimal" if document["optimal"] else f"time ran out; no node costs less than {document['bound']:.4f}"
    lines = [
        f"Wrote {output}: {people:,} people in {document['classes']:,} classes, "
        f"{suppressed:,} rows suppressed ({suppressed / people:.2%})",
        f"  satisfies  {'; '.join(document['criteria'])}",
        "  levels     " + ", ".join(f"{name} {level}" for name, level in document["node"].items()),
        f"  loss       {document['loss']:.4f}   ({search}, {proof})",
    ]
    if document["minimal"] is not None:
        lines.append(f"  minimal    {len(document['minimal'])} nodes; --json lists them")
    return lines
