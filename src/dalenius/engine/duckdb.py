"""DuckDB, embedded: files and frames on this machine, out of core when they do not fit."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
import uuid
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa

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
        # What does not fit in memory is spilt into a folder that only its owner may read, and that goes when we go.
        spill = tempfile.mkdtemp(prefix="dalenius-")
        weakref.finalize(self, shutil.rmtree, spill, ignore_errors=True)
        self._connection = ibis.duckdb.connect(
            temp_directory=spill, autoinstall_known_extensions=False, autoload_known_extensions=False
        )
        # Progress is ours to print; DuckDB's own bar would write into piped output.
        self._connection.con.execute("SET enable_progress_bar = false")
        self._lock = threading.RLock()  # a connection takes one query at a time

    def open(self, source: Source) -> IbisRows:
        if isinstance(source, str | Path):
            return self._open_file(Path(source))
        arrow = frame_to_arrow(source)
        if arrow.num_rows == 0:
            raise InputError("The frame has no rows.")
        name = f"frame_{uuid.uuid4().hex}"
        with self._lock:
            try:
                self._connection.con.register(name, arrow)
                table = self._connection.table(name)
            except Exception:  # noqa: BLE001 - of Arrow, DuckDB or Ibis, and it may quote values
                table = None
        if table is None:
            raise InputError("The frame holds a type of column that cannot be read; make it text, numbers or dates.")
        rows = self._rows(table, "the frame")
        weakref.finalize(rows, self._forget, name)
        return rows

    def _forget(self, name: str) -> None:
        with self._lock:
            self._connection.con.unregister(name)

    def _open_file(self, path: Path) -> IbisRows:
        if path.is_dir():
            raise InputError(f"{path}: that is a folder, a file is needed.")
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: that is no regular file. Pipes and devices cannot be read; save a file first.")
        try:
            if is_parquet(path):
                return self._open_parquet(path)
            dialect = sniff(path)
            with self._lock:
                table = self._connection.read_csv(
                    _literal(path),
                    delim=dialect.delimiter,
                    quote='"',
                    escape='"',
                    comment="",
                    header=True,
                    skip=dialect.skip,
                    auto_detect=False,
                    hive_partitioning=False,
                    columns=dict.fromkeys(dialect.columns, "VARCHAR"),
                )
            return self._rows(table, path.name)
        except OSError as error:
            failed: DaleniusError = file_error(error, path, "read")
        except duckdb.Error as error:
            failed = _translate(error, path.name)
        raise failed

    def _open_parquet(self, path: Path) -> IbisRows:
        with self._lock:
            relation = self._connection.con.execute("SELECT name FROM parquet_schema(?)", [_literal(path)])
            names = [row[0] for row in relation.fetchall()][1:]  # the first is the root
            folded = [name.casefold() for name in names]
            for name in names:
                if folded.count(name.casefold()) > 1:
                    raise InputError(f"{path.name}: column {name!r} is there twice (in upper or lower case).")
            table = self._connection.read_parquet(_literal(path), hive_partitioning=False)
        if not self._fetch(table.limit(1)).num_rows:
            raise InputError(f"{path.name}: the file has columns and no rows.")
        return self._rows(table, path.name)

    def save(self, columns: Mapping[str, Any], path: Path) -> None:
        try:
            self._save(ibis.memtable(pa.table(dict(columns))), path)
        except duckdb.Error as error:
            failed = _translate(error, "the release")
        else:
            return
        raise failed

    def _rows(self, table: Any, name: str) -> IbisRows:
        return IbisRows(table, name=name, fetch=self._fetch, save=self._save, translate=_translate)

    def _fetch(self, expression: Any) -> Any:
        # Not Ibis' own to_pyarrow method: that one imports pandas, which is not needed.
        with self._lock:
            return self._connection.con.sql(self._connection.compile(expression)).to_arrow_table()

    def _save(self, expression: Any, path: Path) -> None:
        with self._lock:
            if path.suffix == ".parquet":
                self._connection.to_parquet(expression, str(path))
            else:
                self._connection.to_csv(expression, str(path), header=True)


def _literal(path: Path) -> str:
    """The path as DuckDB must be given it: it takes `*`, `?` and `[` for patterns."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


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
