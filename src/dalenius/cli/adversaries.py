"""The options that describe realistic adversaries, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dalenius.cli.options import Chosen
    from dalenius.criteria import Criterion, Predicate, Realistic
    from dalenius.engines import Engine
    from dalenius.releases.prior import Priors
    from dalenius.schema import Schema

PANEL = "Realistic adversaries"
AdversaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--adversary",
        metavar="ADVERSARY",
        help="I:SHAPE:σ, II:σ, III:SHAPE or IV; SHAPE is uniform, table or a file of value,probability. Repeatable.",
        rich_help_panel=PANEL,
    ),
]
PriorDataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prior-data",
        metavar="FILE",
        help="An adversary who has seen that data set: short for --adversary I:data:FILE.",
        rich_help_panel=PANEL,
    ),
]
KnownOption = Annotated[
    int, typer.Option("--known", metavar="B", min=0, help="Records that they know exactly.", rich_help_panel=PANEL)
]
AtMostOption = Annotated[
    bool, typer.Option("--at-most", help="Any stubbornness up to σ, not just σ (class I).", rich_help_panel=PANEL)
]
PredicateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--predicate",
        metavar="SET",
        help="What must not be learnt: VALUE, '{A, B}' or 'not {A, B}'; default every single value. Repeatable.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class Written:
    """What the options ask for: criteria, realistic adversaries, and the sets that these must not learn of."""

    priors: Priors
    criteria: tuple[Criterion, ...]
    adversaries: tuple[Realistic, ...]
    predicates: tuple[Predicate, ...]


def parsed(
    schema: Schema,
    engine: Engine,
    criteria: Chosen,
    *,
    adversary: Sequence[str] | None,
    prior_data: Sequence[str] | None,
    predicate: Sequence[str] | None,
    known: int,
    at_most: bool,
) -> Written:
    """Read the texts of criteria, adversaries and sets."""
    from dalenius.criteria import Setting, from_options
    from dalenius.releases.prior import Priors

    priors, sets = Priors(schema, engine), predicates(predicate, schema)
    wanted = from_options(criteria, Setting(priors, known, at_most, sets))
    return Written(
        priors, tuple(wanted), tuple(named(adversary, prior_data, priors, known=known, at_most=at_most)), sets
    )


def named(
    written: Sequence[str] | None, data: Sequence[str] | None, priors: Priors, *, known: int, at_most: bool
) -> list[Realistic]:
    """The adversaries that the options name, each once."""
    from dalenius.criteria.written import adversary
    from dalenius.errors import InputError, ParameterError

    texts = [*(written or []), *(f"I:data:{path}" for path in data or [])]
    for text in texts:
        if texts.count(text) > 1:
            raise InputError(f"The adversary {text!r} is named twice.")
    found = []
    for text in texts:
        try:
            # Classes III and IV have no stubbornness that --at-most could mean.
            most = at_most and text.partition(":")[0] in ("I", "II")
            found.append(adversary(text, priors, known=known, at_most=most))
        except ParameterError as error:
            raise InputError(f"{text}: {error}") from None
    return found


def predicates(written: Sequence[str] | None, schema: Schema) -> tuple[Predicate, ...]:
    from dalenius.criteria import Predicate

    names = [column.name for column in schema.sensitive]
    return tuple(Predicate.parse(text, names) for text in written or [])


def refuse_idle(*, used: bool, known: int, at_most: bool, predicate: Sequence[str] | None, remedy: str) -> None:
    """What describes adversaries, where none is named, would be ignored: that is an error."""
    from dalenius.errors import InputError

    for option, given in (("--known", known > 0), ("--at-most", at_most), ("--predicate", bool(predicate))):
        if given and not used:
            raise InputError(f"{option} describes realistic adversaries, and none is named. {remedy}")
