"""`dalenius check`: every syntactic level of a release as a value, and ε against realistic adversaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalenius import engine as _engine
from dalenius.cli import adversaries as realistic
from dalenius.cli import criteria as options
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    EngineOption,
    JsonOption,
    KindOption,
    QuietOption,
    RevealOption,
    SchemaOption,
    connect_engine,
    release_files,
    say,
    write_json,
)
from dalenius.errors import counted

if TYPE_CHECKING:
    from dalenius.audit.suppressed import Asked, SuppressedRows
    from dalenius.criterion import Level, Predicate, Realistic
    from dalenius.release import GroupedRelease, Grouping

_NAMES = {
    ("k_anonymity", "k"): "k-anonymity, k",
    ("alpha_k_anonymity", "alpha"): "(α,k)-anonymity, α",
    ("distinct_l_diversity", "l"): "distinct ℓ-diversity, ℓ",
    ("entropy_l_diversity", "l"): "entropy ℓ-diversity, ℓ",
    ("recursive_c_l_diversity", "c"): "recursive (c,ℓ)-diversity, c",
    ("t_closeness", "equal"): "t-closeness, equal distance",
    ("t_closeness", "ordered"): "t-closeness, ordered",
    ("t_closeness", "hierarchical"): "t-closeness, hierarchical",
    ("delta_disclosure", "delta"): "δ-disclosure, δ in nats",
    ("basic_beta_likeness", "beta"): "basic β-likeness, β",
    ("enhanced_beta_likeness", "beta"): "enhanced β-likeness, β",
}
ROWS_SHOWN = 5


def register(app: typer.Typer) -> None:
    app.command("check")(command)


def command(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="A release, ours or another tool's, or a table.")],
    schema: SchemaOption = DEFAULT_SCHEMA,
    kind: KindOption = None,
    recursive_l: Annotated[
        str,
        typer.Option(
            "--recursive-l", metavar="L|C,L", help="The ℓ of recursive (c,ℓ)-diversity, or both as a threshold."
        ),
    ] = "2",
    k: options.K = None,
    l: options.L = None,  # noqa: E741 - the option's name
    entropy_l: options.EntropyL = None,
    t: options.T = None,
    delta: options.Delta = None,
    beta: options.Beta = None,
    enhanced_beta: options.EnhancedBeta = None,
    alpha: options.Alpha = None,
    epsilon_privacy: options.EpsilonPrivacy = None,
    others_as_quasi: Annotated[
        bool,
        typer.Option("--others-as-quasi", help="Of several sensitive columns, all others are known to the attacker."),
    ] = False,
    adversary: realistic.AdversaryOption = None,
    prior_data: realistic.PriorDataOption = None,
    prior_cells: Annotated[
        str | None,
        typer.Option(
            "--prior-cells",
            metavar="FILE",
            rich_help_panel="Realistic adversaries",
            help="An adversary who has seen that data set and looks at each combination of quasi-identifiers by itself.",
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            "--population",
            metavar="FILE",
            rich_help_panel="Realistic adversaries",
            help="For --prior-cells: the quasi-identifiers of the people in a generalized release (its table will do).",
        ),
    ] = None,
    known: realistic.KnownOption = 0,
    at_most: realistic.AtMostOption = False,
    predicate: realistic.PredicateOption = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            rich_help_panel="Realistic adversaries",
            help="Also say how stubborn an adversary of each class the release withstands at this ε.",
        ),
    ] = None,
    reveal: RevealOption = False,
    json: JsonOption = None,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> int:
    """Measure every syntactic privacy model on a release, and ε against each realistic adversary that is named.

    Says what level the release reaches and in which class it is worst. Criteria that are asked for are held against the classes
    and against the suppressed rows as a class; exit code 1 if one is violated.
    """
    from dalenius.audit.suppressed import ask
    from dalenius.errors import InputError, ParameterError
    from dalenius.output import check_writable
    from dalenius.release import GroupedRelease, read
    from dalenius.release.prior import Priors
    from dalenius.schema import Schema

    declared, connected = Schema.load(schema), connect_engine(engine, quiet=quiet)
    priors, sets = Priors(declared, connected), realistic.predicates(predicate, declared)
    adversaries = realistic.named(adversary, prior_data, priors, known=known, at_most=at_most)
    depth = _depth(recursive_l)
    wanted = options.criteria(
        k=k, l=l, entropy_l=entropy_l, recursive_l=recursive_l if "," in recursive_l else None, t=t, delta=delta, beta=beta,
        enhanced_beta=enhanced_beta, alpha=alpha, epsilon_privacy=epsilon_privacy, priors=priors, known=known,
        at_most=at_most, predicates=sets,
    )  # fmt: skip
    if epsilon is not None and not 1 <= epsilon < float("inf"):
        raise ParameterError("--epsilon", "check", "a finite number ≥ 1 (1 is perfect privacy)", epsilon)
    if population is not None and prior_cells is None:
        raise InputError("--population says who is in the classes, which only --prior-cells asks for.")
    realistic.refuse_idle(
        used=bool(adversaries or epsilon_privacy) or epsilon is not None, known=known, at_most=at_most, predicate=predicate,
        remedy="Name one: --adversary I:table:1e6, or ask with --epsilon what the release withstands.",
    )  # fmt: skip
    if prior_cells is not None and (known or sets):
        raise InputError(
            "--prior-cells knows no records and looks at every single value: leave --known and --predicate out."
        )
    if json not in (None, "-"):
        cells = [] if prior_cells is None else [prior_cells]
        files = release_files(release)
        check_writable(
            Path(json),
            inputs=[release, *files, schema, *declared.files, population, *cells, *priors.files, *connected.own_files],
        )
    opened = read(release, declared, kind=kind, engine=connected)
    if not isinstance(opened, GroupedRelease):
        raise InputError(f"{release}: a release of kind {opened.kind!r} has no classes to check.")
    found = _measure(opened, depth, others_as_quasi)
    groupings = {name: grouping for name, (grouping, _) in found.measured.items()}
    private = realistic.levels_against(groupings, adversaries, sets)
    if prior_cells is not None:
        realistic.add_cells(private, opened, groupings, prior_cells, population, priors)
    asked = ask(opened, wanted, others_as_quasi=others_as_quasi)
    withstands = None if epsilon is None else realistic.withstands(groupings, epsilon, adversaries, known, sets)
    if json is not None:
        described = {"known": known, **realistic.described(adversaries, sets)} if adversaries else {}
        write_json(json, _document(found, private, described, withstands, asked))
    if json != "-":
        text = [*_head(release, opened), *_columns(found, private, adversaries, sets, reveal=reveal)]
        text += [] if withstands is None else _withstood(withstands)
        for line in [*text, *_together(found.together), *_thresholds(asked)]:
            say(quiet, line)
    return 0 if all(one.holds for one in asked) else 1


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A release with every level of its classes, by sensitive column, and of its suppressed rows."""

    release: GroupedRelease
    depth: int  # the ℓ of recursive (c,ℓ)-diversity
    others_as_quasi: bool
    measured: dict[str, tuple[Grouping, dict[tuple[str, str], Level]]]
    together: SuppressedRows | None


def _measure(release: GroupedRelease, depth: int, others_as_quasi: bool) -> _Found:
    from dalenius.audit.suppressed import suppressed_rows
    from dalenius.criterion import measure

    measured = {}
    for column in release.schema.sensitive:
        grouping = release.grouping(column.name, others_as_quasi=others_as_quasi)
        measured[column.name] = (grouping, measure(grouping, recursive_l=depth))
    together = suppressed_rows(release, others_as_quasi=others_as_quasi, recursive_l=depth)
    return _Found(release, depth, others_as_quasi, measured, together)


def _document(
    found: _Found,
    private: realistic.Found,
    described: dict[str, Any],
    withstands: dict[str, Any] | None,
    asked: Sequence[Asked],
) -> dict[str, Any]:
    """The check as JSON has it."""
    import numpy as np

    from dalenius.criterion import document, worst_of
    from dalenius.measure.remaining import columns_left, to_document

    release, sizes = found.release, found.release.sizes
    columns = {name: document(levels, recursive_l=found.depth) for name, (_, levels) in found.measured.items()}
    for name, against in private.items():
        if against:
            columns[name]["epsilon_privacy"] = {text: level.value for text, level in against.items()}
    return {
        "kind": release.kind,
        "people": release.people,
        "classes": release.groups,
        "suppressed": release.suppressed,
        "columns_left": to_document(columns_left(release)),
        **document(worst_of([levels for _, levels in found.measured.values()]), recursive_l=found.depth),
        **({"epsilon_privacy": realistic.worst(private)} if any(private.values()) else {}),
        **described,
        **({} if withstands is None else {"withstands": withstands}),
        "suppressed_rows": None if found.together is None else found.together.to_document(recursive_l=found.depth),
        "thresholds": [one.to_document() for one in asked],
        "class_sizes": {
            "smallest": int(sizes.min()),
            "median": float(np.median(sizes)),
            "mean": float(sizes.mean()),
            "largest": int(sizes.max()),
        },
        "uniques": int((sizes == 1).sum()),
        "sensitive": columns,
        "others_as_quasi": found.others_as_quasi,
    }


def _head(name: str, release: GroupedRelease) -> list[str]:
    """How many people and classes there are, and which columns were not looked at."""
    import numpy as np

    from dalenius.measure.remaining import columns_left, wrapped

    sizes = release.sizes
    people = counted(release.people, "person", "people")
    unseen = [f"{c.name} ({c.role})" for c in release.schema.columns if c.role in ("identifier", "other")]
    return [
        f"{name}: {people} in {counted(release.groups, 'class', 'classes')}, {release.kind}",
        *wrapped(f"  {'left':<16}", columns_left(release), indent=19, width=118),
        f"  suppressed rows  {release.suppressed:,} ({release.suppressed / release.people:.2%})",
        f"  class sizes      smallest {int(sizes.min()):,}, median {np.median(sizes):,.6g}, mean {sizes.mean():,.1f}, "
        f"largest {int(sizes.max()):,}; {int((sizes == 1).sum()):,} of one person",
        *([f"  not looked at    {', '.join(unseen)}"] if unseen else []),
    ]


def _columns(
    found: _Found,
    private: realistic.Found,
    adversaries: Sequence[Realistic],
    sets: Sequence[Predicate],
    *,
    reveal: bool,
) -> list[str]:
    """Every level of every sensitive column, and the class that is worst."""
    from dalenius.criterion import MEASURED, undefined

    lines, release = [], found.release
    written = {who.text: realistic.shown(who) for who in adversaries}
    for name, (grouping, levels) in found.measured.items():
        lines.append(f"\n  {name:<32} {'level':>12}  safer is   worst class (numbered from 0, as rows are)")
        for model, key, criterion in MEASURED:
            level = levels[model, key]
            text = f"  {_NAMES[model, key]:<32} {_number(level.value):>12}  {criterion.better:<8}   "
            reason = undefined(model, key, grouping.column)
            place = _place(release, grouping, level, sizes_only=not criterion.needs_values) if not reason else ""
            lines.append(text + (f"not defined: {reason}" if reason else place))
        if private[name]:
            about = f" of learning {'; '.join(map(str, sets))}" if sets else ""
            lines.append(f"\n  {'smallest ε against':<32} {'level':>12}  safer is   worst class{about}")
        for text, level in private[name].items():
            # No rows here: an infinite ε may say of everybody in the class that they are in the set asked for.
            place = _class(release, grouping, level)
            lines.append(f"  {written.get(text, text):<32} {_number(level.value):>12}  smaller    {place}")
        if reveal:
            lines += _revealed(release, grouping, [*levels.values(), *private[name].values()])
    return lines


def _depth(text: str) -> int:
    """The ℓ of recursive (c,ℓ)-diversity, alone or after its c."""
    from dalenius.errors import ParameterError

    number = text.rpartition(",")[2].strip()
    if not (number.isascii() and number.isdigit() and 2 <= int(number) < 1e9):
        raise ParameterError("--recursive-l", "check", "an int ≥ 2, or c,ℓ such as 3,2", text)
    return int(number)


def _together(found: SuppressedRows | None) -> list[str]:
    """What the suppressed rows tell."""
    if found is None:
        return []
    return [
        f"\n  {counted(found.rows, 'suppressed row', 'suppressed rows')} {found.line()}",
        "  Whoever fits no class is among them. They count in the table's distribution, which t, δ and β look at.",
    ]


def _thresholds(asked: Sequence[Asked]) -> list[str]:
    """Each criterion that was asked for, and what violates it."""
    lines = [""] if asked else []
    for one in asked:
        why = []
        if one.failing:
            why.append(f"{counted(one.failing, 'class fails', 'classes fail')}, level {_number(one.level)}")
        if one.suppressed_level is not None and not one.suppressed_hold:
            why.append(f"the suppressed rows fail as a class, level {_number(one.suppressed_level)}")
        name = f"{one.criterion} of {one.sensitive}"
        lines.append(f"  {'holds' if one.holds else 'violated':<9} {name}{': ' if why else ''}{'; '.join(why)}")
    return lines


def _withstood(document: dict[str, Any]) -> list[str]:
    """How stubborn an adversary may be, class by class."""
    lines = [f"\n  withstands, at ε = {document['epsilon']:g}     stubbornness σ"]
    for prior, span in document["sigma"].items():
        if span is None:
            words = "none"
        elif span["largest"] == float("inf"):
            never = "" if prior == "II" else ", and an adversary who never learns (class III)"
            words = f"any from {span['smallest']:,.6g} up{never}"
        else:
            words = f"from {span['smallest']:,.6g} to {span['largest']:,.6g}"
        lines.append(f"  {prior:<32} {words}")
    return lines


def _number(value: float) -> str:
    if value != value:
        return "undefined"
    return "infinite" if value == float("inf") else f"{value:,.6g}"


def _place(release: GroupedRelease, grouping: Grouping, level: Level, *, sizes_only: bool) -> str:
    """The worst class by number, size and rows."""
    if level.worst < 0:
        return "there is no class"
    text = _class(release, grouping, level)
    number = level.worst if grouping.parent is None else int(grouping.parent[level.worst])
    # In a class of one value its level may tell which one: then rows must not stand beside it.
    one_value = grouping.start[level.worst + 1] - grouping.start[level.worst] == 1
    rows = [] if one_value and not sizes_only else release.rows(number, limit=ROWS_SHOWN + 1)
    if rows:
        more = " …" if len(rows) > ROWS_SHOWN else ""
        text += f", row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:ROWS_SHOWN]))}{more}"
    return text


def _class(release: GroupedRelease, grouping: Grouping, level: Level) -> str:
    """The worst class by number and size."""
    number = level.worst if grouping.parent is None else int(grouping.parent[level.worst])
    size = int(release.sizes[number])
    return f"class {number}, {counted(size, 'person', 'people')}"


def _revealed(release: GroupedRelease, grouping: Grouping, levels: Iterable[Level]) -> list[str]:
    """The labels and the values of the classes that are worst in something, each once."""
    lines = []
    for worst in sorted({level.worst for level in levels if level.worst >= 0}):
        number = worst if grouping.parent is None else int(grouping.parent[worst])
        low, high = grouping.start[worst], grouping.start[worst + 1]
        leaves = grouping.column.leaves
        counts = zip(grouping.values[low:high].tolist(), grouping.counts[low:high].tolist(), strict=True)
        values = ", ".join(f"{leaves[value]} {count:,}" for value, count in counts)
        lines.append(f"  class {number}  {release.describe(number)}: {values}")
    return lines
