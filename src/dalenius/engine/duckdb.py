"""DuckDB, embedded: files and frames on this machine, out of core when they do not fit."""

from __future__ import annotations

import re
import uuid
import weakref
from pathlib import Path
from typing import Any

import duckdb
import ibis

from dalenius.engine.base import Source
from dalenius.engine.ibis_rows import IbisRows, frame_to_arrow
from dalenius.engine.textfile import is_parquet, sniff
from dalenius.errors import DaleniusError, InputError, file_error


def connect(url: str) -> DuckDB:
    if url != "duckdb://":
        raise InputError(f"The DuckDB engine reads files and frames: use duckdb://, not {url!r}.")
    return DuckDB()


class DuckDB:
    """One in-memory database; tables are views on files or frames and hold no rows themselves."""

    def __init__(self) -> None:
        self._connection = ibis.duckdb.connect()
        # Progress is ours to print; DuckDB's own bar would write into piped output.
        self._connection.con.execute("SET enable_progress_bar = false")

    def open(self, source: Source) -> IbisRows:
        if isinstance(source, str | Path):
            return self._open_file(Path(source))
        arrow = frame_to_arrow(source)
        if arrow.num_rows == 0:
            raise InputError("The frame has no rows.")
        name = f"frame_{uuid.uuid4().hex}"
        self._connection.con.register(name, arrow)
        rows = self._rows(self._connection.table(name), "the frame")
        weakref.finalize(rows, self._connection.con.unregister, name)
        return rows

    def _open_file(self, path: Path) -> IbisRows:
        if path.is_dir():
            raise InputError(f"{path}: that is a folder, a file is needed.")
        name = path.name
        try:
            if is_parquet(path):
                table = self._connection.read_parquet(str(path))
                if not self._fetch(table.limit(1)).num_rows:
                    raise InputError(f"{name}: the file has columns and no rows.")
            else:
                dialect = sniff(path)
                table = self._connection.read_csv(
                    str(path),
                    delim=dialect.delimiter,
                    quote='"',
                    escape='"',
                    comment="",
                    header=True,
                    auto_detect=False,
                    columns=dict.fromkeys(dialect.columns, "VARCHAR"),
                )
        except OSError as error:
            raise file_error(error, path, "read") from None
        except duckdb.Error as error:
            raise _translate(error, name) from None
        return self._rows(table, name)

    def _rows(self, table: Any, name: str) -> IbisRows:
        return IbisRows(table, name=name, fetch=self._fetch, translate=_translate)

    def _fetch(self, expression: Any) -> Any:
        # Not Ibis' own to_pyarrow method: that one imports pandas, which is not needed.
        return self._connection.con.sql(self._connection.compile(expression)).to_arrow_table()


def _translate(error: Exception, name: str) -> DaleniusError:
    """DuckDB's message as ours: the place and the remedy, and never the row that it quotes."""
    text = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", text)
    place = f"{name}, line {line[1]}" if line else name
    ragged = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if ragged:
        return InputError(
            f"{place}: {ragged[2]} fields where the header has {ragged[1]}. "
            "Quote values that contain the delimiter, or mend the row."
        )
    reasons: dict[str, str] = {
        "unterminated quote": "a quote is opened and never closed.",
        "Invalid unicode": "not UTF-8 text. Save the file as UTF-8.",
        "invalid state": "the rows cannot be told apart: mixed line ends or stray quotes. Save the file anew as CSV.",
        "Maximum line size": "a line is longer than two million characters; is a quote never closed?",
        "No space left": "the disk is full; free some space or write elsewhere.",
        "could not write": "it cannot be written; is the disk full?",
        "Permission denied": "permission denied; check who may read or write it.",
        "Out of Memory": "there is not enough memory for this query; close other programs or use a larger machine.",
    }
    for mark, reason in reasons.items():
        if mark.lower() in text.lower():
            return InputError(f"{place}: {reason}")
    kind = type(error).__name__
    return InputError(f"{place}: DuckDB cannot read it ({kind}). Is it a complete CSV or Parquet file?")
