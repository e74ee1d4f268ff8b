"""The registry of publishers: commands, `frontier`, reports and tests go through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from dalenius.criteria import Criterion
from dalenius.criteria.axis import Axis
from dalenius.errors import InputError, ParameterError, listing
from dalenius.options import Option, chosen_of
from dalenius.plugins import Registry
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.base import Publisher
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian
from dalenius.publishers.noisy_counts import Counts
from dalenius.releases import sidecar

__all__ = [
    "PUBLISHERS",
    "audit_options",
    "axes",
    "files",
    "find_publisher",
    "from_options",
    "grid_options",
    "named",
    "names_several",
    "options",
    "owners",
    "takes_earlier",
]

# A new publisher is one file and one line here, or a plug-in's entry point in the group `dalenius.publishers`.
PUBLISHERS: Registry[type[Publisher]] = Registry(
    "dalenius.publishers",
    (Lattice, Mondrian, Microaggregation, Anatomy, Counts),
    lambda publisher: publisher.name,
    base=Publisher,
    required=("name", "title", "description"),
)


def find_publisher(method: str, command: str) -> type[Publisher]:
    """Return the publisher of this name. Refuse unknown names."""
    if method not in PUBLISHERS:
        raise ParameterError("--method", command, f"one of {listing(PUBLISHERS)}", method)
    return PUBLISHERS[method]


named = find_publisher  # the former name, for callers that have not changed yet


def options() -> tuple[Option, ...]:
    """Return the options of all publishers, as `publish` has them, each once."""
    return _once(option for publisher in PUBLISHERS.values() for option in publisher.options)


def audit_options() -> tuple[Option, ...]:
    """Return the options of publishers that `audit --method` has."""
    return _once(
        option
        for publisher in PUBLISHERS.values()
        for option in publisher.options
        if option.name not in publisher.not_in_audit
    )


def grid_options() -> tuple[Option, ...]:
    """Return the options of `frontier`: the values of each axis, and what all candidates of a method share."""
    shared = (
        option
        for publisher in PUBLISHERS.values()
        for option in publisher.options
        if option.name in publisher.grid.options
    )
    return _once([*(axis.option for axis in axes()), *shared])


def axes() -> tuple[Axis, ...]:
    """Return the axes of all methods, each once."""
    return tuple(dict.fromkeys(axis for publisher in PUBLISHERS.values() for axis in publisher.axes()))


def _once(declared: Iterator[Option] | Sequence[Option]) -> tuple[Option, ...]:
    """Return each option once. Refuse two different options of the same name."""
    by_name: dict[str, Option] = {}
    for option in declared:
        if by_name.setdefault(option.name, option) != option:
            raise InputError(f"Two publishers declare {option.flag} differently. Uninstall one, or rename its option.")
    return tuple(by_name.values())


def owners(parameter: str) -> tuple[str, ...]:
    """Return the methods that an option belongs to, by the name of its Python argument."""
    return tuple(
        name
        for name, publisher in PUBLISHERS.items()
        if any(option.parameter == parameter for option in publisher.options)
    )


def from_options(
    method: str,
    criteria: Sequence[Criterion],
    chosen: Mapping[str, Any],
    *,
    command: str = "publish",
    seed: int | None = None,
    has_earlier: bool = False,
) -> Publisher:
    """Return the publisher that a method, criteria and options ask for.

    Options of other methods are refused, and so are criteria that it cannot keep, a seed where nothing is drawn, and earlier
    releases (`has_earlier`) where it does not take them into account.
    """
    kind = find_publisher(method, command)
    typed = chosen_of(chosen)
    for name in typed:
        if method not in owners(name):
            raise _foreign(name, method)
    if seed is not None and not kind.is_drawn:
        seeded = [name for name, publisher in PUBLISHERS.items() if publisher.takes_seed]
        raise InputError(f"--seed repeats the draws of {listing(seeded)}, and {method} draws nothing. Leave it out.")
    if has_earlier and not takes_earlier(kind):
        raise InputError(
            f"--given asks what classes leave together with earlier releases, and {kind.refuses_given}. Leave it out."
        )
    publisher = kind.from_options(criteria, typed)
    if seed is not None and not kind.takes_seed:
        raise InputError(kind.refuses_seed or f"{method} takes no seed. Leave --seed out.")
    return publisher


def takes_earlier(kind: type[Publisher]) -> bool:
    """Return whether a publisher takes earlier releases into account: it has a field `given`."""
    return any(field.name == "given" for field in fields(kind))  # type: ignore[arg-type]


def _foreign(parameter: str, method: str) -> InputError:
    flag, known = f"--{parameter.replace('_', '-')}", owners(parameter)
    if not known:
        return InputError(f"No method has an option {flag}.")
    return InputError(f"{flag} belongs to {listing(known)} and has no effect on {method}. Leave it out.")


def files(method: str, output: Path) -> tuple[Path, ...]:
    """Return the files that a method writes, the sidecar last."""
    return (*PUBLISHERS[method].files(output), sidecar.path_of(output))


def names_several(method: str, output: Path) -> bool:
    """Return whether OUTPUT names an existing folder, while the method writes several files beside it."""
    return PUBLISHERS[method].has_several_files() and output.is_dir() and output.name not in ("", "..")
