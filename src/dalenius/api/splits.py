"""`dl.split`: hold out people at random before publishing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dalenius.api import arguments, support
from dalenius.api.support import public
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.auditing.splitting import Split

TABLE = arguments.TABLE.but(help="A CSV or Parquet file with one row per person.")
OUTPUT = arguments.OUTPUT.but(help="The rows to publish.")
OTHERS = Option("others", "The rows held out, for --holdout of attack and audit.", Path)


@public()
def split(
    table: Annotated[arguments.AnySource, TABLE],
    output: Annotated[str | Path, OUTPUT],
    others: Annotated[str | Path, OTHERS],
    *,
    share: Annotated[float, arguments.SHARE] = 0.3,
    seed: arguments.Seed = 0,
) -> Split:
    """Divide a table at random into the people to publish (`output`) and a control group (`others`).

    `table` is a path or a data frame. Rows keep their texts and their order.

    >>> import tempfile, dalenius as dl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = dl.datasets.save_hospital(folder, 300, seed=1)
    ...     halves = dl.split(table, f"{folder}/kept.csv", f"{folder}/others.csv", share=0.5)
    >>> halves.rows_published + halves.rows_others
    300
    """
    from dalenius.auditing.splitting import split

    return split(support.as_source(table), Path(output), Path(others), share=share, seed=seed)
