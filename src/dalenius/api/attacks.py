"""`dl.attack`: what one adversary believes about each target, and how often it is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from dalenius.api import arguments, support
from dalenius.api.arguments import names, several
from dalenius.api.support import NO_CONTEXT, Context, public
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.auditing.attacking import ReleaseAttack

ADVERSARY = Option(
    "adversary",
    "The adversary: {adversaries}, ideal, or a realistic one such as I:table:1e6. "
    "Default: attacker, and nearest-centroid for centroids.",
    str,
)
TARGETS = arguments.TARGETS.but(
    help="A file with quasi-identifiers, one row per target. An empty cell is not known. For deFinetti attacks the column "
    "'group' says which group the target is in."
)
KNOWS = Option(
    "knows", "The quasi-identifiers that the attacker knows about everybody (default: all).", str, metavar="A,B"
)
ERROR = Option(
    "error",
    "How often the attacker's value for a column is wrong. Repeatable.",
    str,
    metavar="A=RATE",
    is_repeatable=True,
)
SKIP_UNMATCHED = Option("skip-unmatched", "Give targets who fit no class an empty belief.", bool)
DELETED = Option("deleted", "Number of rows of the table that the release leaves out entirely.", int, minimum=0)
MCSE = arguments.MCSE.but(help="If beliefs are sampled: stop when no standard error is larger than this (0.005).")
METHOD = Option(
    "method",
    "How to sample the links of an anatomized release: block (default), swaps or metropolis; for deFinetti attacks also "
    "printed-swaps and printed-permutations, the heuristic as published.",
    str,
)
MAX_SWEEPS = Option(
    "most-sweeps",
    "If beliefs are sampled: give up after this many sweeps per chain (50,000; 1,000 for a printed method). "
    "A round that has begun is finished.",
    int,
    minimum=1,
)


@public()
def attack(
    release: arguments.Release,
    schema: arguments.Schema = arguments.SCHEMA_FILE,
    *,
    adversary: Annotated[str | None, ADVERSARY] = None,
    targets: Annotated[arguments.AnySource | None, TARGETS] = None,
    truth: arguments.Truth = None,
    holdout: arguments.Holdout = None,
    knows: Annotated[str | Sequence[str] | None, KNOWS] = None,
    error: Annotated[str | Sequence[str] | Mapping[str, float] | None, ERROR] = None,
    skip_unmatched: Annotated[bool, SKIP_UNMATCHED] = False,
    deleted: Annotated[int, DELETED] = 0,
    mcse: Annotated[float | None, MCSE] = None,
    method: Annotated[str | None, METHOD] = None,
    most_sweeps: Annotated[int | None, MAX_SWEEPS] = None,
    sensitive: arguments.Sensitive = None,
    seed: arguments.Seed = 0,
    kind: arguments.Kind = None,
    engine: arguments.Engine = None,
    context: Context = NO_CONTEXT,
) -> ReleaseAttack:
    """Attack a release: beliefs about `targets`, and with the `truth` how often the adversary is right.

    `release`, `targets`, `truth` and `holdout` are paths or data frames. `error` is a mapping such as `{"age": 0.1}`.

    >>> import dalenius as dl
    >>> table = dl.datasets.hospital(300, seed=1)
    >>> published = dl.publish(table, k=5, suppression=0.02)
    >>> attacked = dl.attack(published, truth=table, adversary="random-worlds")
    >>> 0 < attacked.rated.attack.success.value < 1
    True
    """
    from dalenius.auditing.attacking import AttackRequest, attack, error_rates, files_of_prior

    rates = dict(error) if isinstance(error, Mapping) else error_rates(several(error))
    request = AttackRequest(
        release=support.as_source(release), adversary=adversary, targets=support.as_source(targets), truth=support.as_source(truth),
        holdout=support.as_source(holdout), knows=names(knows), error=rates, skip_unmatched=skip_unmatched,
        deleted=deleted, mcse=mcse, method=method, most_sweeps=most_sweeps, sensitive=sensitive, kind=kind,
    )  # fmt: skip
    roles, connected = support.schema_for(schema, release, truth), context.engine(engine)
    read = [*support.release_files(release), *roles.files, *files_of_prior(request, roles, connected)]
    context.check_outputs([release, targets, truth, holdout, schema, *read, *connected.own_files])
    return attack(request, roles, seed=seed, engine=connected, progress=context.stage)
