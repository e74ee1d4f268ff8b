"""`dalenius lattice`: every full-domain generalization of a table, with its levels and utilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalenius import engine as _engine
from dalenius.cli import adversaries as realistic
from dalenius.cli import methods, options
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    MostCellsOption,
    QuietOption,
    SchemaOption,
    TableArgument,
    connect_engine,
    progress_line,
    run_details,
    say,
    teller,
    warn,
    write_json,
)
from dalenius.errors import counted

SHOWN = 15


def register(app: typer.Typer) -> None:
    app.command("lattice")(options.with_criteria(command))


def command(
    table: TableArgument,
    criteria: options.Chosen = options.NONE,
    adversary: realistic.AdversaryOption = None,
    prior_data: realistic.PriorDataOption = None,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    suppression: Annotated[float, typer.Option("--suppression", help="Largest share of rows to suppress.")] = 0.0,
    suppressed_rows: methods.SuppressedRows = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="An HTML page with the lattice drawn and all nodes listed.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="The ε at which the page draws the line (2.5).")
    ] = None,
    schema: SchemaOption = DEFAULT_SCHEMA,
    json: JsonOption = None,
    engine: EngineOption = _engine.DEFAULT,
    most_cells: MostCellsOption = None,
    quiet: QuietOption = False,
) -> None:
    """List every node of the lattice with its privacy levels, its utilities and whether it satisfies the criteria."""
    from dalenius.audit.disclosure import described
    from dalenius.criterion import Setting, from_options
    from dalenius.errors import InputError, ParameterError
    from dalenius.measure.remaining import ColumnLeft, to_document, warnings, wrapped
    from dalenius.output import check_writable, write_texts
    from dalenius.publish.rollups import lattice_of
    from dalenius.publish.suppressed import check_hidden, check_suppressed_rows
    from dalenius.publish.survey import columns_left, stubbornness, survey
    from dalenius.release.prior import Priors
    from dalenius.schema import Schema
    from dalenius.table import MOST_CELLS, Table

    declared, connected = Schema.load(schema), connect_engine(engine, quiet=quiet)
    priors, sets = Priors(declared, connected), realistic.predicates(predicate, declared)
    wanted = from_options(criteria, Setting(priors, known, at_most, tuple(sets)))
    adversaries = realistic.named(adversary, prior_data, priors, known=known, at_most=at_most)
    realistic.refuse_idle(
        used=bool(adversaries or criteria["epsilon_privacy"] or output), known=known, at_most=at_most, predicate=predicate,
        remedy="Name one: --adversary I:table:1e6.",
    )  # fmt: skip
    if epsilon is not None and output is None:
        raise InputError("--epsilon draws a line on the page that -o writes: add -o FILE, or leave it out.")
    if epsilon is not None and not 1 <= epsilon < float("inf"):
        raise ParameterError("--epsilon", "lattice", "a finite number ≥ 1 (1 is perfect privacy)", epsilon)
    line = 2.5 if epsilon is None else epsilon
    handling: Any = suppressed_rows or "hold"
    check_suppressed_rows(handling)
    targets = [path for path in (output, None if json in (None, "-") else Path(json)) if path is not None]
    for target in targets:
        check_writable(target, inputs=[table, schema, *declared.files, *priors.files, *connected.own_files])
    if len({path.resolve() for path in targets}) < len(targets):
        raise InputError(f"The page and the JSON cannot both be written to {str(output)!r}. Name another file.")
    people = Table(table, declared, engine=connected, most_cells=most_cells or MOST_CELLS, told=teller(quiet))
    check_hidden(handling, wanted, people.declared)
    lattice = lattice_of(people)
    if output is not None and not lattice.fits(lattice.bottom):
        raise InputError(
            f"The page compares every node of the lattice, and some have more than {people.most_cells:,} distinct rows. "
            "Raise --most-cells, or leave -o out."
        )
    with progress_line(quiet) as progress:
        nodes = survey(
            lattice, wanted, suppression=suppression, adversaries=adversaries, predicates=sets, progress=progress,
            suppressed_rows=handling,
        )  # fmt: skip
    left = lattice.nodes - len(nodes)
    names = [adversary.text for adversary in adversaries]
    satisfying = sorted((node for node in nodes if node.get("satisfies", True)), key=lambda node: node["loss"])
    good = satisfying
    if names and not wanted:  # of nodes that hold against nobody there is nothing to choose
        good = [node for node in satisfying if min(node["epsilon"].values()) < float("inf")]
    best_left: tuple[ColumnLeft, ...] = ()
    if good and (wanted or names):
        best_left = columns_left(
            lattice, good[0]["levels"], wanted, suppression=suppression, suppressed_rows=handling
        )  # fmt: skip
    document = {
        "people": lattice.people,
        "criteria": [criterion.describe() for criterion in wanted],
        "suppression": suppression,
        "suppressed_rows": handling,
        "known": known,
        **described(adversaries, sets),
        "rollups": lattice.rollups,
        "not_looked_at": left,
        "best": {"levels": good[0]["levels"], "columns_left": to_document(best_left)} if best_left else None,
        "nodes": nodes,
    }
    if json is not None:
        write_json(json, document)
    if output is not None:
        from dalenius.report import lattice as report

        sweep = stubbornness(lattice, line, known=known, predicates=sets)
        about = described(adversaries, sets)
        write_texts({output: report.page(table.name, nodes, sweep, line, about, suppression, run_details())})
    warn(*warnings(best_left))
    if json == "-":
        return
    say(
        quiet,
        f"{table}: {counted(len(nodes), 'node', 'nodes')}"
        + (f", {len(good):,} satisfy the criteria" if wanted else ""),
    )
    if left:
        most = counted(people.most_cells, "distinct row", "distinct rows")
        verb = "node has" if left == 1 else "nodes have"
        say(
            quiet,
            f"  {left:,} more {verb} more than {most} and {'was' if left == 1 else 'were'} not looked at (--most-cells)",
        )
    if names and not wanted:
        others = "; the others by their loss:" if good else "."
        say(quiet, f"  {len(satisfying) - len(good):,} have an infinite ε against each adversary{others}")
    if good:
        heads = "".join(f" {name:>{_width(name)}}" for name in names)
        say(quiet, f"\n  {'loss':>8} {'classes':>9} {'suppressed':>10} {'k':>7} {'ℓ':>4} {'t':>7}{heads}  levels")
    for node in good[:SHOWN]:
        levels = ", ".join(f"{name} {level}" for name, level in node["levels"].items())
        found = "".join(f" {_epsilon(node['epsilon'][name]):>{_width(name)}}" for name in names)
        say(
            quiet,
            f"  {node['loss']:8.4f} {node['classes']:9,} {node['suppressed']:10,} {node['k_anonymity']['k']:7,} "
            f"{node['distinct_l_diversity']['l']:4} {node['t_closeness']['equal']:7.4f}{found}  {levels}",
        )
    if len(good) > SHOWN:
        say(quiet, f"  … and {len(good) - SHOWN:,} more, with all their levels, in --json FILE")
    for text in wrapped("\n  The first leaves", best_left, indent=4, width=118) if best_left else ():
        say(quiet, text)
    if output is not None:
        say(quiet, f"\n  Page: {output}")


def _width(name: str) -> int:
    return max(len(name), 8)


def _epsilon(value: float) -> str:
    return "infinite" if value == float("inf") else f"{value:,.6g}"
