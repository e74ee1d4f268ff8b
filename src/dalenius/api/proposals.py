"""`dl.init`: propose a schema for a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dalenius.api import arguments, support
from dalenius.api.support import NO_CONTEXT, Context, public

if TYPE_CHECKING:
    from dalenius.guess import Proposal

OUTPUT = arguments.OUTPUT.but(help="Where to write the schema.")


@public()
def init(
    table: arguments.Table,
    output: Annotated[str | Path | None, OUTPUT] = None,
    *,
    engine: arguments.Engine = None,
    context: Context = NO_CONTEXT,
) -> Proposal:
    """Guess the schema of a table, with every guess marked. With `output` it is written; a file is never overwritten.

    `table` is a path or a data frame. The proposal's `schema` can be edited in Python, and `save` writes it.

    >>> import dalenius as dl
    >>> import pyarrow as pa
    >>> frame = pa.table({"age": [34, 35, 34, 61], "disease": ["Flu", "Flu", "Pox", "Flu"]})
    >>> [column.role for column in dl.init(frame).schema.columns]
    ['quasi', 'sensitive']
    """
    from dalenius.guess import check_new, init

    target = None if output is None else Path(output)
    if target is not None:
        check_new(target)  # before the engine is connected, which may take a while
    return init(support.as_source(table), target, engine=context.engine(engine))
