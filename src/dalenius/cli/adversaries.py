"""The options that describe realistic adversaries, and what is made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from dalenius.criterion import Level, Predicate, Realistic
    from dalenius.release import GroupedRelease, Grouping
    from dalenius.release.prior import Priors
    from dalenius.schema import Schema

_GROUP = "Realistic adversaries"
AdversaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--adversary",
        metavar="ADVERSARY",
        help="I:SHAPE:σ, II:σ, III:SHAPE or IV; SHAPE is uniform, table or a file of value,probability. Repeatable.",
        rich_help_panel=_GROUP,
    ),
]
PriorDataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prior-data",
        metavar="FILE",
        help="An adversary who has seen that data set: short for --adversary I:data:FILE.",
        rich_help_panel=_GROUP,
    ),
]
KnownOption = Annotated[
    int, typer.Option("--known", metavar="B", min=0, help="Records that they know exactly.", rich_help_panel=_GROUP)
]
AtMostOption = Annotated[
    bool, typer.Option("--at-most", help="Any stubbornness up to σ, not just σ (class I).", rich_help_panel=_GROUP)
]
PredicateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--predicate",
        metavar="SET",
        help="What must not be learnt: VALUE, '{A, B}' or 'not {A, B}'; default every single value. Repeatable.",
        rich_help_panel=_GROUP,
    ),
]


def named(
    written: Sequence[str] | None, data: Sequence[str] | None, priors: Priors, *, known: int, at_most: bool
) -> list[Realistic]:
    """The adversaries that the options name, each once."""
    from dalenius.criterion.written import adversary
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


def shown(who: Realistic) -> str:
    """An adversary as the terminal shows it: what was given by options stands beside its text."""
    more = [f"b = {who.known:,}"] if who.known and "known=" not in who.text else []
    more += ["σ or less"] if who.at_most and "at-most" not in who.text else []
    return f"{who.text} ({', '.join(more)})" if more else who.text


def predicates(written: Sequence[str] | None, schema: Schema) -> tuple[Predicate, ...]:
    from dalenius.criterion import Predicate

    names = [column.name for column in schema.sensitive]
    return tuple(Predicate.parse(text, names) for text in written or [])


def refuse_idle(*, used: bool, known: int, at_most: bool, predicate: Sequence[str] | None, remedy: str) -> None:
    """What describes adversaries, where none is named, would be ignored: that is an error."""
    from dalenius.errors import InputError

    for option, given in (("--known", known > 0), ("--at-most", at_most), ("--predicate", bool(predicate))):
        if given and not used:
            raise InputError(f"{option} describes realistic adversaries, and none is named. {remedy}")


def described(adversaries: Sequence[Realistic], sets: Sequence[Predicate]) -> dict[str, Any]:
    """What ε was measured against, for the JSON."""
    return {
        "adversaries": {who.text: {"known": who.known, "at_most": who.at_most} for who in adversaries},
        "predicates": [str(predicate) for predicate in sets],
    }


Found = dict[str, dict[str, "Level"]]  # sensitive column → adversary as written → ε and the worst class


def levels_against(
    groupings: Mapping[str, Grouping], adversaries: Sequence[Realistic], sets: Sequence[Predicate]
) -> Found:
    """ε of each sensitive column against each adversary."""
    from dalenius.criterion import EpsilonPrivacy

    return {
        name: {who.text: EpsilonPrivacy(who, predicates=tuple(sets)).level(grouping) for who in adversaries}
        for name, grouping in groupings.items()
    }


def worst(found: Found) -> dict[str, float]:
    """Of several sensitive columns, the worst ε against each adversary."""
    texts = list(dict.fromkeys(text for levels in found.values() for text in levels))
    return {text: max(levels[text].value for levels in found.values() if text in levels) for text in texts}


def withstands(
    groupings: Mapping[str, Grouping],
    epsilon: float,
    adversaries: Sequence[Realistic],
    known: int,
    sets: Sequence[Predicate],
) -> dict[str, Any]:
    """For each class and shape the stubbornness that the release withstands: of several columns, what all do."""
    from dalenius.criterion import withstood

    shapes: dict[str, Any] = {"I:uniform": "uniform", "I:table": "table", "II": None}
    shapes |= {f"I:{who.shape_text}": who for who in adversaries if who.kind in ("I", "III") and who.shape_text}
    sigma: dict[str, Any] = {}
    for prior, shape in shapes.items():
        spans = [withstood(g, epsilon, shape=shape, known=known, predicates=sets) for g in groupings.values()]
        low = max((span.smallest for span in spans if span), default=math.inf)
        high = min((span.largest for span in spans if span), default=-math.inf)
        possible = all(spans) and low <= high
        sigma[prior] = {"smallest": low, "largest": high} if possible else None
    return {"epsilon": epsilon, "known": known, "sigma": sigma}


def add_cells(
    found: Found,
    release: GroupedRelease,
    groupings: Mapping[str, Grouping],
    path: str,
    population: Path | None,
    priors: Priors,
) -> None:
    """ε against an adversary whose prior depends on the quasi-identifiers."""
    from dalenius.audit.disclosure import composition
    from dalenius.criterion.base import worst as worst_level
    from dalenius.criterion.cell_prior import levels_by_cell
    from dalenius.errors import InputError

    if any(grouping.parent is not None for grouping in groupings.values()):
        raise InputError("--prior-cells and --others-as-quasi do not go together: leave one out.")
    people = composition(release, population, priors.engine)
    for name, grouping in groupings.items():
        cells, counts = priors.cells(path, release.schema, name)
        found[name][f"cells:{path}"] = worst_level(levels_by_cell(grouping, people, cells, counts), "smaller")
