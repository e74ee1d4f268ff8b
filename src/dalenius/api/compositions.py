"""`dl.compose`: what several releases give away together about people who are in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dalenius.api import arguments, support
from dalenius.api.support import NO_CONTEXT, Context, public
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.auditing.compose import JointAttack

RELEASES = arguments.RELEASES.but(metavar="RELEASE RELEASE…")
TARGETS = arguments.TARGETS.but(help="People who are in all releases: their quasi-identifiers, one row per person.")
SCHEMA = arguments.SCHEMA.but(
    help="One schema for all releases (privacy.toml), or one for each, in their order.", is_repeatable=True
)
TRUTH = arguments.TRUTH.but(
    help="The rows of the targets with their sensitive values, to see which conclusions are true."
)
PRESENCE = Option(
    "presence",
    "Attack with probabilities: the probability that a target is in each release (1).",
    str,
    metavar="P,P,…",
)
MAP = Option("map", "A file with columns from and to: sensitive values that have other names elsewhere.", Path)
MCSE = arguments.MCSE.but(help="If beliefs are sampled: stop when no standard error is larger than this (0.01).")
WITH_BELIEFS = Option("with-beliefs", "Attack with probabilities as well.", bool)


@public()
def compose(
    releases: Annotated[Sequence[arguments.AnySource], RELEASES],
    targets: Annotated[arguments.AnySource, TARGETS],
    schema: Annotated[
        arguments.AnySchema | str | Path | Sequence[arguments.AnySchema | str | Path], SCHEMA
    ] = arguments.SCHEMA_FILE,
    *,
    truth: Annotated[arguments.AnySource | None, TRUTH] = None,
    with_beliefs: Annotated[bool, WITH_BELIEFS] = False,
    presence: Annotated[str | Sequence[float] | None, PRESENCE] = None,
    mcse: Annotated[float | None, MCSE] = None,
    seed: arguments.Seed = 0,
    map: Annotated[Path | None, MAP] = None,
    sensitive: arguments.Sensitive = None,
    kind: arguments.Kind = None,
    engine: arguments.Engine = None,
    context: Context = NO_CONTEXT,
) -> JointAttack:
    """Intersect what several releases reveal about the same people: how many values remain, and for whom only one.

    `schema` is one for all releases, or one for each. `with_beliefs` and `presence` also attack with probabilities.

    >>> import dalenius as dl
    >>> table = dl.datasets.hospital(300, seed=1)
    >>> releases = [dl.publish(table, method="mondrian", k=k) for k in (3, 5)]
    >>> composed = dl.compose(releases, table)
    >>> composed.to_document()["releases"]
    2
    """
    from dalenius.auditing.compose import compose, parse_presence

    paths: list[Any] = list(schema) if isinstance(schema, list | tuple) else [schema]
    roles = [support.schema_for(one, *releases, targets) for one in paths]
    connected = context.engine(engine)
    shares = parse_presence(presence, len(releases)) if isinstance(presence, str) else presence
    read = [file for release in releases for file in support.release_files(release)]
    read += [file for one in roles for file in one.files]
    context.check_outputs([*releases, *paths, targets, truth, map, *read, *connected.own_files])
    return compose(
        [support.as_source(one) for one in releases], roles, support.as_source(targets), truth=support.as_source(truth),
        with_beliefs=with_beliefs, presence=shares, mcse=mcse, seed=seed, mapping=map, sensitive=sensitive, kind=kind,
        engine=connected, stage=context.show,
    )  # fmt: skip
