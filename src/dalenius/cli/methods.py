"""The ways to publish, as `publish` and `audit --method` offer them: a name, and what its options mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from dalenius.criterion import Criterion
    from dalenius.publish.base import Published
    from dalenius.publish.given import Given
    from dalenius.table import Table

METHODS = ("lattice", "mondrian", "microaggregation", "anatomy", "noisy-counts")
_GROUP = "Of one method"
_EARLIER = "Together with earlier releases"

Suppression = Annotated[
    float | None,
    typer.Option("--suppression", help="Lattice: largest share of rows to suppress (0).", rich_help_panel=_GROUP),
]
SuppressedRows = Annotated[
    str | None,
    typer.Option(
        "--suppressed-rows", metavar="HOW", rich_help_panel=_GROUP,
        help="Lattice: hold suppressed rows to the criteria as a class of their own (default), publish them as-is, or hide them.",
    ),
]  # fmt: skip
Utility = Annotated[
    str | None,
    typer.Option(
        "--utility", rich_help_panel=_GROUP,
        help="Lattice: loss (default), precision, entropy, discernibility or average_class_size.",
    ),
]  # fmt: skip
Minimal = Annotated[
    bool, typer.Option("--minimal", help="Lattice: also list every minimal node.", rich_help_panel=_GROUP)
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", help="Lattice: stop after so many seconds with the best so far.", rich_help_panel=_GROUP
    ),
]
Cuts = Annotated[
    str | None,
    typer.Option("--cuts", help="Mondrian: order (default) or hierarchy.", rich_help_panel=_GROUP),
]
Shown = Annotated[
    str | None,
    typer.Option("--shown", help="Microaggregation: centroids (default) or ranges.", rich_help_panel=_GROUP),
]
Block = Annotated[
    int | None,
    typer.Option("--block", help="Microaggregation: group blocks of at most so many rows.", rich_help_panel=_GROUP),
]
Merge = Annotated[
    int | None, typer.Option("--merge", help="Anatomy: publish so many groups as one (1).", rich_help_panel=_GROUP)
]
Epsilon = Annotated[
    float | None,
    typer.Option("--epsilon", help="Noisy counts: the budget of differential privacy.", rich_help_panel=_GROUP),
]
Noise = Annotated[
    str | None,
    typer.Option("--noise", help="Noisy counts: geometric (default) or laplace.", rich_help_panel=_GROUP),
]
Neighbours = Annotated[
    str | None,
    typer.Option("--neighbours", help="Noisy counts: add-remove (default) or replace.", rich_help_panel=_GROUP),
]
Joint = Annotated[
    list[str] | None,
    typer.Option("--joint", metavar="A,B", help="Noisy counts: count these columns together.", rich_help_panel=_GROUP),
]
Level = Annotated[
    list[str] | None,
    typer.Option(
        "--level", metavar="COLUMN=LEVEL", rich_help_panel=_GROUP,
        help="Noisy counts: count a column at a level of its hierarchy. Repeatable.",
    ),
]  # fmt: skip
Gaussian = Annotated[
    list[str] | None,
    typer.Option(
        "--gaussian", metavar="COLUMN=LOW:HIGH", rich_help_panel=_GROUP,
        help="Noisy counts: publish n, sum and squares of an integer column, clipped to these bounds. Repeatable.",
    ),
]  # fmt: skip
GivenOption = Annotated[
    list[str] | None,
    typer.Option(
        "--given", metavar="RELEASE", rich_help_panel=_EARLIER,
        help="An earlier release of some of these people, ours or another tool's. Repeatable.",
    ),
]  # fmt: skip
GivenSchema = Annotated[
    list[Path] | None,
    typer.Option(
        "--given-schema", rich_help_panel=_EARLIER,
        help="The schema of the earlier releases (that of TABLE), or one for each, in their order.",
    ),
]  # fmt: skip
GivenL = Annotated[
    int | None,
    typer.Option(
        "--given-l", help="All releases together leave at least so many values of everybody (2).", rich_help_panel=_EARLIER
    ),
]  # fmt: skip
GivenConfidence = Annotated[
    float | None,
    typer.Option(
        "--given-confidence", rich_help_panel=_EARLIER,
        help="And so many that none has a larger share than this: 0.25 is four values.",
    ),
]  # fmt: skip
GivenMap = Annotated[
    Path | None,
    typer.Option(
        "--given-map", help="A file with from and to: values that have another name elsewhere.", rich_help_panel=_EARLIER
    ),
]  # fmt: skip
# Which options belong to which method; with any other they are an error, not ignored.
_OWNERS: dict[str, tuple[str, ...]] = {
    "suppression": ("lattice",),
    "suppressed_rows": ("lattice",),
    "utility": ("lattice",),
    "minimal": ("lattice",),
    "time_limit": ("lattice",),
    "cuts": ("mondrian",),
    "shown": ("microaggregation",),
    "block": ("microaggregation",),
    "merge": ("anatomy",),
    "epsilon": ("noisy-counts",),
    "noise": ("noisy-counts",),
    "neighbours": ("noisy-counts",),
    "joint": ("noisy-counts",),
    "level": ("noisy-counts",),
    "gaussian": ("noisy-counts",),
    "others_as_quasi": ("lattice", "mondrian"),
}
Progress = Callable[[int, int, float], None]


def publisher(
    method: str,
    wanted: Sequence[Criterion],
    options: Mapping[str, Any],
    *,
    command: str,
    seed: int | None,
    earlier: Callable[[Table], Given] | None = None,
) -> Callable[[Table, Progress | None], Published]:
    """What publishes a table by a method; options of other methods and criteria that it cannot keep are refused.

    `earlier` reads the releases that the new one is made together with.
    """
    from dalenius.errors import InputError, ParameterError, listing

    if method not in METHODS:
        raise ParameterError("--method", command, f"one of {listing(METHODS)}", method)
    given = {name: value for name, value in options.items() if value is not None and value is not False and value != []}
    for name in given:
        if method not in _OWNERS[name]:
            raise InputError(
                f"--{name.replace('_', '-')} belongs to {listing(_OWNERS[name])} and means nothing for {method}. Leave it out."
            )
    if seed is not None and method not in ("anatomy", "noisy-counts"):
        raise InputError(f"--seed repeats the draws of anatomy, and {method} draws nothing. Leave it out.")
    if earlier is not None and method == "noisy-counts":
        raise InputError(
            "--given asks what classes leave together with earlier releases, and noisy counts have none. Leave it out."
        )
    built: Callable[..., Published] = _BUILDERS[method](wanted, given, seed)
    if earlier is None:
        return lambda table, progress: built(table, progress, {})
    return lambda table, progress: built(table, progress, {"given": earlier(table)})


def _lattice(wanted: Sequence[Criterion], given: dict[str, Any], seed: int | None) -> Any:  # noqa: ARG001
    from dalenius.publish.lattice import Lattice

    built = Lattice(wanted, **given)
    return lambda table, progress, more: replace(built, **more).publish(table, progress=progress)


def _mondrian(wanted: Sequence[Criterion], given: dict[str, Any], seed: int | None) -> Any:  # noqa: ARG001
    from dalenius.publish.mondrian import Mondrian

    built = Mondrian(wanted, **given)
    return lambda table, _progress, more: replace(built, **more).publish(table)


def _microaggregation(wanted: Sequence[Criterion], given: dict[str, Any], seed: int | None) -> Any:  # noqa: ARG001
    from dalenius.criterion import KAnonymity
    from dalenius.publish.microaggregation import Microaggregation

    built = Microaggregation(_only(wanted, KAnonymity, "k", "microaggregation", "--k 5").k, **given)
    return lambda table, _progress, more: replace(built, **more).publish(table)


def _anatomy(wanted: Sequence[Criterion], given: dict[str, Any], seed: int | None) -> Any:
    from dalenius.criterion import DistinctDiversity
    from dalenius.publish.anatomy import Anatomy

    built = Anatomy(_only(wanted, DistinctDiversity, "ℓ", "anatomy", "--l 3").l, **given)
    return lambda table, _progress, more: replace(built, **more).publish(table, seed=seed)


def _noisy_counts(wanted: Sequence[Criterion], given: dict[str, Any], seed: int | None) -> Any:
    from dalenius.errors import InputError
    from dalenius.publish.noisy_counts import Counts
    from dalenius.publish.written import bounds_of, joint_of, levels_of

    if wanted:
        raise InputError(
            f"Noisy counts have no classes for {wanted[0].describe()} to hold in. Ask for differential privacy: --epsilon 1."
        )
    if "epsilon" not in given:
        raise InputError("Noisy counts need a budget: --epsilon 1, for example.")
    if seed is not None:
        raise InputError("Noisy counts draw their noise from OpenDP, which takes no seed. Leave --seed out.")
    given["joint"] = joint_of(given.get("joint", ()))
    given["levels"] = levels_of(given.pop("level", ()))
    given["gaussian"] = bounds_of(given.get("gaussian", ()))
    built = Counts(**given)
    return lambda table, _progress, _more: built.publish(table)


def _only(wanted: Sequence[Criterion], kind: type[Any], letter: str, method: str, example: str) -> Any:
    """The one criterion that a method keeps."""
    from dalenius.errors import InputError

    mine = [criterion for criterion in wanted if isinstance(criterion, kind)]
    others = [criterion.describe() for criterion in wanted if not isinstance(criterion, kind)]
    if others:
        raise InputError(
            f"{method} keeps {letter} and no other criterion; it cannot promise {others[0]}. Use mondrian."
        )
    if not mine:
        raise InputError(f"{method} needs {letter}: {example}, for example.")
    return mine[0]


def names_several(method: str, output: Path) -> bool:
    """Whether OUTPUT is a folder's name and that of several files beside it: it is not written itself."""
    return method in ("anatomy", "noisy-counts") and output.is_dir() and output.name not in ("", "..")


def files(method: str, output: Path) -> tuple[Path, ...]:
    """The files that a method writes, its sidecar the last."""
    from dalenius.release import anatomized, noisy_counts, sidecar

    several = {"anatomy": anatomized.paths_of, "noisy-counts": noisy_counts.paths_of}
    written: tuple[Path, ...] = several[method](output) if method in several else (output,)
    return (*written, sidecar.path_of(output))


_BUILDERS = {
    "lattice": _lattice,
    "mondrian": _mondrian,
    "microaggregation": _microaggregation,
    "anatomy": _anatomy,
    "noisy-counts": _noisy_counts,
}
