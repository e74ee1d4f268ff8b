"""`dalenius publish`: make a release of a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    moved_words,
    progress_line,
    release_files,
    say,
    teller,
    warn,
    write_json,
)
from dalenius.errors import counted, listing

if TYPE_CHECKING:
    from dalenius.engine import Engine
    from dalenius.publish.given import Given
    from dalenius.table import Table


def register(app: typer.Typer) -> None:
    app.command("publish")(options.with_criteria(command))


def command(
    table: TableArgument,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="The file to write, or the NAME of several, or table:NAME in the engine."),
    ],
    method: Annotated[
        str,
        typer.Option("--method", help="How to publish: lattice, mondrian, microaggregation, anatomy or noisy-counts."),
    ] = "lattice",
    criteria: options.Chosen = options.NONE,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    suppression: methods.Suppression = None,
    suppressed_rows: methods.SuppressedRows = None,
    utility: methods.Utility = None,
    minimal: methods.Minimal = False,
    time_limit: methods.TimeLimit = None,
    cuts: methods.Cuts = None,
    shown: methods.Shown = None,
    block: methods.Block = None,
    merge: methods.Merge = None,
    epsilon: methods.Epsilon = None,
    noise: methods.Noise = None,
    neighbours: methods.Neighbours = None,
    joint: methods.Joint = None,
    level: methods.Level = None,
    gaussian: methods.Gaussian = None,
    given: methods.GivenOption = None,
    given_schema: methods.GivenSchema = None,
    given_l: methods.GivenL = None,
    given_confidence: methods.GivenConfidence = None,
    given_map: methods.GivenMap = None,
    others_as_quasi: Annotated[
        bool,
        typer.Option("--others-as-quasi", help="Of several sensitive columns, all others are known to the attacker."),
    ] = False,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Write the rows in an order drawn anew.")] = False,
    schema: SchemaOption = DEFAULT_SCHEMA,
    json: JsonOption = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            help="Repeat the draws of Anatomy; without it they are drawn anew. Keep it secret: it is written nowhere.",
        ),
    ] = None,
    engine: EngineOption = _engine.DEFAULT,
    most_cells: MostCellsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Make a release that satisfies the criteria, and write it with a sidecar that says how it was made."""
    from dalenius.criterion import Setting, from_options
    from dalenius.engine import PREFIX, TableName
    from dalenius.errors import InputError, ParameterError
    from dalenius.measure.remaining import warnings
    from dalenius.output import check_writable
    from dalenius.release import check_sidecar_free, sidecar
    from dalenius.release.prior import Priors
    from dalenius.schema import Schema
    from dalenius.table import MOST_CELLS, Table

    declared, connected = Schema.load(schema), connect_engine(engine, quiet=quiet)
    priors = Priors(declared, connected)
    wanted = from_options(criteria, Setting(priors, known, at_most, tuple(realistic.predicates(predicate, declared))))
    chosen = {
        "suppression": suppression, "suppressed_rows": suppressed_rows,
        "utility": utility, "minimal": minimal, "time_limit": time_limit, "cuts": cuts,
        "shown": shown, "block": block, "merge": merge, "epsilon": epsilon, "noise": noise, "neighbours": neighbours,
        "joint": joint, "level": level, "gaussian": gaussian, "others_as_quasi": others_as_quasi,
    }  # fmt: skip
    realistic.refuse_idle(
        used=bool(criteria["epsilon_privacy"]), known=known, at_most=at_most, predicate=predicate,
        remedy="Name one: --epsilon-privacy I:table:1e6:2.5.",
    )  # fmt: skip
    earlier, read = _earlier(given, given_schema, given_l, given_confidence, given_map, connected)
    publish = methods.publisher(method, wanted, chosen, command="publish", seed=seed, earlier=earlier)
    inputs = [table, schema, *declared.files, *priors.files, *connected.own_files, *read]
    if str(output).startswith(PREFIX):
        name = TableName.parse(str(output))
        if method in ("anatomy", "noisy-counts"):
            raise InputError(f"{method} writes several files and cannot be one table. Name them: -o NAME.")
        connected.check_target(name)
        beside = Path(str(name))
        written: tuple[Path, ...] = (sidecar.path_of(beside),)
    else:
        if not methods.names_several(method, output):
            check_writable(output, inputs=inputs)
            connected.check_target(output)
        beside, written = output, methods.files(method, output)
    for file in written:
        check_writable(file, inputs=inputs)
    check_sidecar_free(beside, written)
    if json not in (None, "-"):
        check_writable(Path(json), inputs=inputs)
        if Path(json).resolve() in {file.resolve() for file in written}:
            raise ParameterError("--json", "publish", "another file than the release and its sidecar", json)
    people = Table(table, declared, engine=connected, most_cells=most_cells or MOST_CELLS, told=teller(quiet))
    with progress_line(quiet) as progress:
        published = publish(people, progress)
    published.write(output, shuffle=shuffle)
    document = published.document()
    if json is not None:
        write_json(json, document)
    for line in _summary(output, document, people.most_cells) if json != "-" else ():
        say(quiet, line)
    warn(*warnings(published.columns_left()))
    for line in _difference_warnings(document["given"]) if "given" in document else ():
        typer.echo(line, err=True)


def _earlier(
    given: list[str] | None,
    schemas: list[Path] | None,
    l: int | None,  # noqa: E741 - the option's name
    confidence: float | None,
    mapping: Path | None,
    engine: Engine,
) -> tuple[Callable[[Table], Given] | None, list[Path | str]]:
    """What reads the earlier releases, and the files that this reads."""
    from dalenius.audit.compose import read_map
    from dalenius.audit.given import read_given
    from dalenius.errors import InputError, ParameterError
    from dalenius.schema import Schema

    asked = {
        "--given-schema": schemas,
        "--given-l": l,
        "--given-confidence": confidence,
        "--given-map": mapping,
    }
    if not given:
        for name, value in asked.items():
            if value is not None and value != []:
                raise InputError(f"{name} is about earlier releases, and none is named. Name one: --given RELEASE.")
        return None, []
    if l is not None and l < 2:
        raise ParameterError("--given-l", "publish", "an int ≥ 2", l)
    if confidence is not None and not 0 < confidence <= 1:
        raise ParameterError("--given-confidence", "publish", "a number above 0 and at most 1", confidence)
    declared = [Schema.load(path) for path in schemas or ()]
    names = {} if mapping is None else read_map(mapping, engine)
    read: list[Path | str] = [*given, *(file for release in given for file in release_files(release))]
    read += [*(schemas or ()), *(file for one in declared for file in one.files), *([mapping] if mapping else [])]
    least, most = 2 if l is None else l, 1.0 if confidence is None else confidence
    return lambda table: read_given(table, given, declared, l=least, confidence=most, mapping=names), read


def _together(told: dict[str, Any]) -> list[str]:
    """What is left of people together with the earlier releases."""
    before = counted(told["releases"], "earlier release locates", "earlier releases locate")
    mean = told["mean_posterior_anonymity"]
    average = "" if mean is None else f"; on average {mean:.2f} are left"
    below = told["already_below"] + told["contradicted"]
    who = "everybody" if not below else counted(told["people"] - below, "person", "people")
    lines = [
        f"  given      {before} {told['located']:,} of {counted(told['people'], 'person', 'people')}",
        f"  together   intersecting all releases leaves at least {told['l']} values for {who}{average}",
    ]
    if told["already_below"]:
        some = counted(told["already_below"], "person has", "people have")
        lines.append(f"  below      {some} fewer than {told['l']} left, whatever is published of this table")
    if told["worsened"]:
        lines.append(
            f"  worsened   {counted(told['worsened'], 'person has', 'people have')} fewer values left than before this release, as "
            "nobody in this table has the others"
        )
    if told["contradicted"]:
        lines.append(
            f"  contradict {counted(told['contradicted'], 'person', 'people')} for whom the earlier releases leave no value"
        )
    moved = [one for one in told["differences"] if one["joined"] or one["left"]]
    lines += [f"  changes    since {one['release']}: {moved_words(one)}" for one in moved]
    if told["differences"] and not moved and all(one["reason"] is None for one in told["differences"]):
        lines.append("  changes    nobody is known to have joined or left")
    return lines


def _difference_warnings(told: dict[str, Any]) -> list[str]:
    """Where subtracting an earlier release from the new one gives somebody away, and where that was not tested."""
    lines, unsure = [], []
    for one in told["differences"]:
        if one["reason"] is not None:
            lines.append(f"Note: differences from {one['release']} were not tested: {one['reason']}.")
            continue
        for key, verb in (("joined_exposed", "joined"), ("left_exposed", "left")):
            if one[key]:
                lines.append(
                    f"WARNING: subtracting {one['release']} from this release leaves only one possible value for "
                    f"{counted(one[key], 'person', 'people')} who {verb}, if no more people joined or left than that takes."
                )
        if not one["complete"] and (one["joined"] or one["left"]):
            unsure.append(one["release"])
    if unsure:
        lines.append(
            f"Note: only sums over overlapping classes of {listing(unsure)} were subtracted; finer differences were not tested."
        )
    return lines


def _suppressed(document: dict[str, Any]) -> list[str]:
    """What was done with the rows of classes that fail."""
    rows, hidden = counted(document["suppressed"], "row", "rows"), document.get("hidden", 0)
    if hidden:
        return [f"  hidden     {counted(hidden, 'row', 'rows')} left out of the release"]
    if not document["suppressed"]:
        return []
    if document["suppressed_rows"] == "hold":
        return [f"  suppressed {rows}, held to the criteria as a class of their own"]
    return [f"  suppressed {rows}, not held to the criteria: whoever fits no class is among them"]


def _counts_summary(output: Path, document: dict[str, Any]) -> list[str]:
    from dalenius.measure.remaining import from_document, wrapped_items

    left = {
        one.column: one.column if one.state == "kept" else str(one) for one in from_document(document["columns_left"])
    }
    tables = ["×".join(left[name] for name in names) for names in document["tables"]]
    sums = f"n, sum and squares of {', '.join(document['gaussian'])}" if document["gaussian"] else ""
    begin = f"Wrote {output}.counts.csv and {output}.json:{' counts of' if tables else ''}"
    if tables and sums:
        tables[-1] += f"; {sums}"
    return [
        *wrapped_items(begin, tables or [sums], indent=2),
        f"  satisfies  {'; '.join(document['criteria'])}",
        f"  noise      {document['mechanism']}, scale {document['scale']:.6g}, sensitivity {document['sensitivity']:g}, "
        f"{document['noise']}",
    ]


def _summary(output: Path, document: dict[str, Any], most_cells: int) -> list[str]:
    """What is left of each column in the first line; then who is in the release, and how it was made."""
    from dalenius.measure.remaining import from_document, wrapped

    if document["method"] == "noisy-counts":
        return _counts_summary(output, document)
    suppressed, people = document["suppressed"], document["people"]
    files = f"{output}.quasi.csv and {output}.sensitive.csv" if document["method"] == "anatomy" else str(output)
    lines = [
        *wrapped(f"Wrote {files}:", from_document(document["columns_left"]), indent=2),
        f"  people     {people:,} in {counted(document['classes'], 'class', 'classes')}, "
        f"{counted(suppressed, 'row', 'rows')} suppressed ({suppressed / people:.2%})",
        f"  satisfies  {'; '.join(document['criteria'])}",
        *_suppressed(document),
    ]
    if "given" in document:
        lines += _together(document["given"])
    if document.get("hierarchies_not_used"):
        lines.append(
            f"  lists      {listing(document['hierarchies_not_used'])}: cut in the order of their values and published as lists of "
            "them; --cuts hierarchy goes along the hierarchies"
        )
    if document["method"] != "lattice":
        return lines
    search = f"{document['checked']:,} of {counted(document['nodes'], 'node', 'nodes')} checked"
    left = counted(document["not_looked_at"], "node was", "nodes were")
    why = f"{left} not looked at" if document["not_looked_at"] else "time ran out"
    proof = "optimal" if document["optimal"] else f"{why}; no node costs less than {document['bound']:.4f}"
    lines += [
        "  levels     " + ", ".join(f"{name} {level}" for name, level in document["node"].items()),
        f"  loss       {document['loss']:.4f}   ({search}, {proof})",
    ]
    if document["rollups"] == "engine":
        most = counted(most_cells, "distinct row", "distinct rows")
        lines.append(f"  roll-ups   in the engine: the table has more than {most}")
    if document["not_looked_at"]:
        lines.append(f"  too large  {left} not looked at, which might be better; --most-cells allows more")
    if document["minimal"] is not None:
        lines.append(f"  minimal    {counted(len(document['minimal']), 'node', 'nodes')}; --json lists them")
    return lines
