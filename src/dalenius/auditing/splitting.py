"""Split the rows of a file into those to publish and those to hold out, and record the draw."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dalenius import engines as _engine
from dalenius.auditing.holdout import SHARE, record_of, split_rows
from dalenius.auditing.people import files_of
from dalenius.engines import Source
from dalenius.errors import InputError, ParameterError
from dalenius.output import check_writable
from dalenius.result import Result

__all__ = ["Split", "split"]


@dataclass(frozen=True, slots=True, repr=False)
class Split(Result):
    """Two files that were drawn from one, how many rows each has, and the file that records it.

    `to_pandas` has one row with the fields of this class as columns.
    """

    published: Path
    others: Path
    record: Path
    rows_published: int
    rows_others: int
    share: float
    seed: int

    def to_document(self) -> dict[str, Any]:
        """Return the split as JSON has it."""
        return {key: str(value) if isinstance(value, Path) else value for key, value in asdict(self).items()}


def split(table: Source, published: Path, others: Path, *, share: float = SHARE, seed: int = 0) -> Split:
    """Write a random share of a table's rows to `others`, and the rest to `published`. Rows keep their texts and their order."""
    if not 0 < share < 1:
        raise ParameterError("--share", "split", "a number above 0 and below 1", share)
    engine, record = _engine.default(), record_of(others)
    for path in (published, others, record):
        check_writable(path, inputs=[table, *files_of(table, release=False, engine=engine)])  # a frame is no file
    if published.resolve() == others.resolve():
        raise InputError(f"Both parts cannot be written to {str(published)!r}. Name another file for --others.")
    kept, held = split_rows(engine.open(table), share, published, others, seed=seed)
    return Split(published, others, record, kept, held, share, seed)
