"""`dl.compare`: several releases of the same table, what each costs and which level it reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dalenius.api import arguments, support
from dalenius.api.support import NO_CONTEXT, Context, public
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.auditing.compare import Comparison

RELEASES = arguments.RELEASES.but(help="Releases of the same table, of any kind.", metavar="RELEASE…")
TRUTH = arguments.TRUTH.but(help="The table that the releases were made from.")
QUERIES = Option("queries", "Number of count queries in the workload.", int, minimum=1)


@public()
def compare(
    releases: Annotated[Mapping[str, arguments.AnySource] | Sequence[arguments.AnySource], RELEASES],
    truth: Annotated[arguments.AnySource, TRUTH],
    schema: arguments.Schema = arguments.SCHEMA_FILE,
    *,
    queries: Annotated[int, QUERIES] = 1000,
    seed: arguments.Seed = 0,
    kind: arguments.Kind = None,
    engine: arguments.Engine = None,
    context: Context = NO_CONTEXT,
) -> Comparison:
    """Compare releases of the same table: labels, classes, divergence from the table, and the error of count queries.

    `releases` is a list, or a mapping from names, of paths, data frames or releases that are already open.

    >>> import dalenius as dl
    >>> table = dl.datasets.hospital(300, seed=1)
    >>> releases = {f"k = {k}": dl.publish(table, method="mondrian", k=k) for k in (3, 9)}
    >>> fine, coarse = dl.compare(releases, table, queries=50)
    >>> fine.costs["loss"] < coarse.costs["loss"]
    True
    """
    from dalenius.auditing.compare import compare

    roles, connected = support.schema_for(schema, truth), context.engine(engine)
    several = releases.values() if isinstance(releases, Mapping) else releases
    files = [file for one in several for file in support.release_files(one)]
    context.check_outputs([*several, *files, truth, schema, *connected.own_files])
    context.show("measuring")
    named: Any = [str(one) if isinstance(one, Path) else support.as_source(one) for one in several]
    if isinstance(releases, Mapping):
        named = {name: support.as_source(one) for name, one in releases.items()}
    return compare(named, support.as_source(truth), roles, kind=kind, engine=connected, queries=queries, seed=seed)
