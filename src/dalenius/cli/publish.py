"""`dalenius publish`: make a release of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalenius.cli import adversaries as realistic
from dalenius.cli import common, declared, methods, options
from dalenius.options import Option

_EARLIER = "Together with earlier releases"
EARLIER_OPTIONS = (
    Option(
        "given",
        "An earlier release of some of these people, ours or another tool's. Repeatable.",
        str,
        metavar="RELEASE",
        is_repeatable=True,
        panel=_EARLIER,
    ),
    Option(
        "given-schema",
        "The schema of the earlier releases (that of TABLE), or one for each, in their order.",
        Path,
        is_repeatable=True,
        panel=_EARLIER,
    ),
    Option("given-l", "All releases together leave at least so many values of everybody (2).", int, panel=_EARLIER),
    Option(
        "given-confidence",
        "And so many that none has a larger share than this: 0.25 is four values.",
        float,
        panel=_EARLIER,
    ),
    Option("given-map", "A file with from and to: values that have another name elsewhere.", Path, panel=_EARLIER),
)
OutputOption = Annotated[
    Path,
    declared.output("The file to write, or the NAME of several, or table:NAME in the engine."),
]
ShuffleOption = Annotated[bool, typer.Option("--shuffle", help="Write the rows in an order drawn anew.")]
DrawsOption = Annotated[
    int | None,
    declared.seed(
        "Repeat the draws of Anatomy; without it they are drawn anew. Keep it secret: it is written nowhere."
    ),
]


def register(app: typer.Typer) -> None:
    complete = options.with_options(methods.with_methods(command), "earlier", EARLIER_OPTIONS, panel=_EARLIER)
    app.command("publish")(options.with_criteria(complete))


def command(
    table: declared.Table,
    output: OutputOption,
    method: methods.MethodOption = "lattice",
    criteria: options.Chosen = options.NONE,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    chosen: options.Chosen = options.NONE,
    earlier: options.Chosen = options.NONE,
    shuffle: ShuffleOption = False,
    schema: declared.Schema = declared.SCHEMA_FILE,
    json: declared.Json = None,
    seed: DrawsOption = None,
    engine: declared.Engine = declared.ENGINE_URL,
    most_cells: declared.MostCells = None,
    quiet: declared.Quiet = False,
) -> None:
    """Make a release that satisfies the criteria, and write it with a sidecar that says how it was made."""
    from dalenius.auditing.publishing import Earlier, publish
    from dalenius.criteria import Setting, from_options
    from dalenius.measures.remaining import warnings
    from dalenius.releases.prior import Priors
    from dalenius.reports.publish import difference_warnings, lines
    from dalenius.schema import Schema
    from dalenius.table import MOST_CELLS

    roles, connected = Schema.load(schema), common.connect_engine(engine, quiet=quiet)
    priors, sets = Priors(roles, connected), realistic.predicates(predicate, roles)
    wanted = from_options(criteria, Setting(priors, known, at_most, tuple(sets)))
    realistic.refuse_idle(
        used=bool(criteria["epsilon_privacy"]), known=known, at_most=at_most, predicate=predicate,
        remedy="Name one: --epsilon-privacy I:table:1e6:2.5.",
    )  # fmt: skip
    before = Earlier(
        tuple(earlier["given"] or ()), tuple(earlier["given_schema"] or ()), earlier["given_l"],
        earlier["given_confidence"], earlier["given_map"],
    )  # fmt: skip
    with common.progress_line(quiet) as progress:
        made = publish(
            table, roles, method=method, criteria=wanted, seed=seed, earlier=before, output=output, shuffle=shuffle,
            report=None if json in (None, "-") else Path(json), inputs=[schema, *priors.files], engine=connected,
            most_cells=most_cells or MOST_CELLS, progress=progress, warn=common.teller(quiet), **chosen,
        )  # fmt: skip
    if json is not None:
        common.write_json(json, made.to_document())
    for line in lines(made) if json != "-" else ():
        common.say(quiet, line)
    common.warn(*warnings(made.columns_left))
    for line in difference_warnings(made):
        typer.echo(line, err=True)
