"""`dl.audit`: all adversaries, all measures, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dalenius.api import arguments, support
from dalenius.api.support import NO_CONTEXT, Context, public
from dalenius.errors import InputError
from dalenius.options import chosen_of

if TYPE_CHECKING:
    from dalenius.auditing import Audit
    from dalenius.criteria import Criterion
    from dalenius.engines import Engine
    from dalenius.publishers.base import Publisher
    from dalenius.schema import Schema

RELEASE = arguments.RELEASE.but(help="A release; with --method, the table to publish.")
METHOD = arguments.METHOD.but(
    help="Publish RELEASE, which is a table, by this method (see publish), and audit the result."
)
MCSE = arguments.MCSE.but(help="Sample learner and attacker if they have no exact answer, up to this standard error.")


@public("criteria", "audited methods")
def audit(
    release: Annotated[arguments.AnySource | arguments.AnyRelease, RELEASE],
    schema: arguments.Schema = arguments.SCHEMA_FILE,
    *,
    truth: arguments.Truth = None,
    holdout: arguments.Holdout = None,
    method: Annotated[str | None, METHOD] = None,
    adversary: arguments.Adversaries = None,
    prior_data: arguments.PriorData = None,
    known: arguments.Known = 0,
    at_most: arguments.AtMost = False,
    predicate: arguments.Predicates = None,
    mcse: Annotated[float | None, MCSE] = None,
    kind: arguments.Kind = None,
    seed: arguments.Seed = 0,
    engine: arguments.Engine = None,
    context: Context = NO_CONTEXT,
    **options: Any,
) -> Audit:
    """Attack a release with every adversary that applies, measure it, and compare the result with the schema's policy.

    `release` is a path, a data frame (pandas, Polars or Arrow) or a release that is already open; with `method` it is the table to
    publish first. `truth` and `holdout` are paths, data frames or `dl.Table`s. `options` are those of criteria and of the method.

    >>> import dalenius as dl
    >>> table = dl.datasets.hospital(300, seed=1)
    >>> audit = dl.audit(dl.publish(table, k=5, suppression=0.02), truth=table)
    >>> audit.verdict
    'none'
    """
    from dalenius.adversaries.models.sampling import Effort
    from dalenius.auditing import audit

    roles, connected = support.schema_for(schema, release, truth), context.engine(engine)
    has_realistic = bool(options.get("epsilon_privacy"))
    asked = support.parse(
        roles, connected, options, adversary=adversary, prior_data=prior_data, predicate=predicate, known=known, at_most=at_most
    )  # fmt: skip
    read = [*support.release_files(release), *roles.files, *asked.priors.files, *_policy_files(roles, connected)]
    context.check_outputs([release, schema, truth, holdout, *read, *connected.own_files])
    support.refuse_idle(
        is_used=bool(asked.adversaries or has_realistic), known=0, at_most=at_most, predicate=None,
        remedy="Name one: --adversary I:table:1e6.",
    )  # fmt: skip
    publisher = _publisher(method, asked.criteria, options, truth)
    return audit(
        support.as_source(release), roles, truth=support.as_source(truth), holdout=support.as_source(holdout), kind=kind,
        engine=connected, seed=seed, name=_name(release), progress=context.stage,
        publish=None if publisher is None else partial(publisher.run, seed=seed, progress=context.progress),
        adversaries=asked.adversaries, predicates=asked.predicates, known=known,
        effort=None if mcse is None else Effort(mcse=mcse),
    )  # fmt: skip


def _name(release: Any) -> str:
    """Return what the report calls the release."""
    return Path(release).name if isinstance(release, str | Path) else "the release"


def _policy_files(schema: Schema, engine: Engine) -> list[Path]:
    """Return the files that the policy names. A policy that is wrong is refused here, before any work."""
    from dalenius.auditing.disclosure import policy_criteria
    from dalenius.releases.prior import Priors

    priors = Priors(schema, engine, schema.folder)
    policy_criteria(schema, priors)
    return list(priors.files)


def _publisher(
    method: str | None, criteria: Sequence[Criterion], options: dict[str, Any], truth: Any
) -> Publisher | None:
    """Return the publisher of the table; None if what is audited is a release already."""
    from dalenius.publishers.registry import from_options

    if method is None and (criteria or chosen_of(options)):
        raise InputError("Criteria are for publishing. Add --method, or leave them out to audit a release.")
    if options.get("suppressed_rows") == "hide":
        raise InputError(
            "The table contains the hidden rows and the release does not, so the two cannot be compared. Publish the table, "
            "and audit that file without --truth."
        )
    if method is None:
        return None
    if truth is not None:
        raise InputError("With --method the table itself is the truth. Leave --truth out.")
    return from_options(method, criteria, options, command="audit")
