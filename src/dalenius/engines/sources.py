"""What a source is: a table inside an engine, a file, or a data frame that must become a file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dalenius.engines.base import PREFIX, Engine, Source, TableName
from dalenius.errors import InputError

__all__ = ["as_file", "table_named"]


def table_named(text: str, has: Callable[[TableName], bool]) -> TableName | None:
    """Return the table of an engine that a text names, or None if it names a file.

    `table:NAME` is always a table. Without the prefix, a text that names both a file and a table is refused.
    """
    if text.startswith(PREFIX):
        name = TableName.parse(text)
        if not has(name):
            raise InputError(f"The engine has no table {str(name)!r}, or you may not read it.")
        return name
    try:
        name = TableName.parse(text)
    except InputError:
        return None
    if not has(name):
        return None
    if Path(text).exists():
        raise InputError(f"{text!r} is both a file and a table of the engine. Write ./{text} or {PREFIX}{text}.")
    return name


@contextmanager
def as_file(source: Source, engine: Engine) -> Iterator[Path]:
    """Yield the path of a source, for code that starts processes. A data frame becomes a temporary Parquet file.

    Only its owner may read the folder of that file (`mkdtemp` creates it with mode 0700), and it is deleted at the end.
    """
    if isinstance(source, str | Path):
        yield Path(source)
        return
    with tempfile.TemporaryDirectory(prefix="dalenius-") as folder:
        path = Path(folder) / "frame.parquet"
        engine.files.open(source).copy(path)
        yield path
