"""`dl.publish`: make a release of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dalenius.api import arguments, support
from dalenius.api.arguments import several
from dalenius.api.support import NO_CONTEXT, Context, public
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.auditing.publishing import Publication

_EARLIER = "Earlier releases of the same people"
OUTPUT = arguments.OUTPUT.but(help="The file to write, the NAME of several files, or table:NAME in the engine.")
SHUFFLE = Option("shuffle", "Write the rows in a new random order.", bool)
SEED = arguments.SEED.but(
    help="Repeat the random draws of Anatomy. Without it they are new each time. Keep it secret: it is not written anywhere."
)
GIVEN = Option(
    "given",
    "An earlier release of some of these people, made by Dalenius or another tool. Repeatable.",
    str,
    metavar="RELEASE",
    is_repeatable=True,
    panel=_EARLIER,
)
GIVEN_SCHEMA = Option(
    "given-schema",
    "The schema of the earlier releases: one for all (default: that of TABLE), or one each in their order.",
    Path,
    is_repeatable=True,
    panel=_EARLIER,
)
GIVEN_L = Option(
    "given-l", "All releases together leave at least this many values for everybody (2).", int, panel=_EARLIER
)
GIVEN_CONFIDENCE = Option(
    "given-confidence", "… and enough values that none has a larger share than this.", float, panel=_EARLIER
)
GIVEN_MAP = Option(
    "given-map", "A file with columns from and to: values that have other names elsewhere.", Path, panel=_EARLIER
)


@public("criteria", "methods")
def publish(
    table: arguments.Table,
    schema: arguments.Schema = arguments.SCHEMA_FILE,
    *,
    output: Annotated[str | Path | None, OUTPUT] = None,
    method: Annotated[str, arguments.METHOD] = "lattice",
    known: arguments.Known = 0,
    at_most: arguments.AtMost = False,
    predicate: arguments.Predicates = None,
    given: Annotated[arguments.AnySource | Sequence[arguments.AnySource] | None, GIVEN] = None,
    given_schema: Annotated[str | Path | Sequence[str | Path] | None, GIVEN_SCHEMA] = None,
    given_l: Annotated[int | None, GIVEN_L] = None,
    given_confidence: Annotated[float | None, GIVEN_CONFIDENCE] = None,
    given_map: Annotated[Path | None, GIVEN_MAP] = None,
    shuffle: Annotated[bool, SHUFFLE] = False,
    seed: Annotated[int | None, SEED] = None,
    engine: arguments.Engine = None,
    most_cells: arguments.MaxCells = None,
    context: Context = NO_CONTEXT,
    **options: Any,
) -> Publication:
    """Make a release that satisfies the criteria, such as `k=5`. With `output` it is written, with a sidecar file.

    `table` is a path, a data frame (pandas, Polars or Arrow) or a `dl.Table`. `options` are those of criteria and of the method,
    spelt as on the command line: `k=5`, `l=2`, `suppression=0.02`, `cuts="hierarchy"`.

    >>> import dalenius as dl
    >>> published = dl.publish(dl.datasets.hospital(300, seed=1), method="mondrian", k=5)
    >>> dl.check(published, k=5).holds
    True
    """
    from dalenius.auditing.publishing import Earlier, publish
    from dalenius.table import MOST_CELLS

    roles = support.schema_for(schema, table)
    connected = context.engine(engine)
    criteria = list(options.pop("criteria", ()))
    has_realistic = bool(options.get("epsilon_privacy"))
    asked = support.parse(roles, connected, options, predicate=predicate, known=known, at_most=at_most)
    support.refuse_idle(
        is_used=has_realistic, known=known, at_most=at_most, predicate=predicate,
        remedy="Name one: --epsilon-privacy I:table:1e6:2.5.",
    )  # fmt: skip
    earlier = Earlier(tuple(several(given)), tuple(several(given_schema)), given_l, given_confidence, given_map)
    return publish(
        support.as_source(table), roles, method=method, criteria=[*criteria, *asked.criteria], seed=seed, earlier=earlier,
        output=output, shuffle=shuffle, report=context.writes[0] if context.writes else None,
        inputs=[schema if isinstance(schema, str | Path) else None, *asked.priors.files], engine=connected,
        most_cells=most_cells or MOST_CELLS, progress=context.progress, warn=context.tell, **options,
    )  # fmt: skip
