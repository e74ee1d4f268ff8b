"""`dl.lattice`: every full-domain generalization of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from dalenius.api import arguments, support
from dalenius.api.support import NO_CONTEXT, Context, public

if TYPE_CHECKING:
    from dalenius.auditing.surveying import LatticeSurvey

EPSILON = arguments.EPSILON.but(help="The ε at which the page draws the line (2.5).")


@public("criteria", "suppressed rows")
def lattice(
    table: arguments.Table,
    schema: arguments.Schema = arguments.SCHEMA_FILE,
    *,
    suppression: Annotated[float, arguments.SUPPRESSION] = 0.0,
    adversary: arguments.Adversaries = None,
    prior_data: arguments.PriorData = None,
    known: arguments.Known = 0,
    at_most: arguments.AtMost = False,
    predicate: arguments.Predicates = None,
    epsilon: Annotated[float | None, EPSILON] = None,
    engine: arguments.Engine = None,
    most_cells: arguments.MaxCells = None,
    context: Context = NO_CONTEXT,
    **options: Any,
) -> LatticeSurvey:
    """List every node of a table's lattice: its levels, its utilities, and whether it satisfies the criteria.

    `table` is a path, a data frame or a `dl.Table`. With `epsilon` the result also says what it costs to be private, at this ε,
    against more and more stubborn adversaries.

    >>> import dalenius as dl
    >>> survey = dl.lattice(dl.datasets.hospital(300, seed=1), k=5)
    >>> survey.to_document()["best"] is not None
    True
    """
    from dalenius.auditing.surveying import lattice

    roles, connected = support.schema_for(schema, table), context.engine(engine)
    has_realistic = bool(options.get("epsilon_privacy"))
    asked = support.parse(
        roles, connected, options, adversary=adversary, prior_data=prior_data, predicate=predicate, known=known, at_most=at_most
    )  # fmt: skip
    support.refuse_idle(
        is_used=bool(asked.adversaries or has_realistic or epsilon is not None), known=known, at_most=at_most,
        predicate=predicate, remedy="Name one: --adversary I:table:1e6.",
    )  # fmt: skip
    context.check_outputs([table, schema, *roles.files, *asked.priors.files, *connected.own_files])
    return lattice(
        support.as_source(table), roles, criteria=asked.criteria, adversaries=asked.adversaries, predicates=asked.predicates,
        known=known, suppression=suppression, suppressed_rows=options.pop("suppressed_rows", None) or "hold",
        sweep_epsilon=epsilon, most_cells=most_cells, engine=connected, progress=context.progress, warn=context.tell,
    )  # fmt: skip
