"""DuckDB, embedded: files, frames and database files on this machine, out of core when they do not fit."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa

from dalenius.engines.base import FRAME, Source, TableName
from dalenius.engines.ibis_rows import Check, IbisRows, frame_to_arrow, text_columns
from dalenius.engines.sources import table_named
from dalenius.engines.textfile import Dialect, is_parquet, parts_of, sniff_all
from dalenius.engines.watching import Notify, watched
from dalenius.errors import DaleniusError, InputError, file_error

__all__ = ["DATABASE", "DuckDB"]

DATABASE = "dalenius_database"  # what a database file is called inside


class DuckDB:
    """An in-memory database. Its tables are views of files or data frames and hold no rows themselves.

    With the path of a database file, its tables can be named. The file is opened read-only, except while a release is written
    into it.
    """

    errors: tuple[str, ...] = ("duckdb", "_duckdb")

    def __init__(self, database: str | None = None) -> None:
        self.notify: Notify | None = None
        self._database = None if database is None else Path(database).absolute()
        # What does not fit in memory goes to a folder that only its owner may read. It is deleted with this object.
        spill = tempfile.mkdtemp(prefix="dalenius-")
        weakref.finalize(self, shutil.rmtree, spill, ignore_errors=True)
        self._connection = ibis.duckdb.connect(
            temp_directory=spill, autoinstall_known_extensions=False, autoload_known_extensions=False
        )
        # Progress is ours to print; DuckDB's own bar would write into piped output.
        # In a notebook without ipywidgets DuckDB refuses both settings. Then there is no bar, and no share of the work to report.
        with suppress(duckdb.InvalidInputException):
            self._connection.con.execute("SET enable_progress_bar_print = false")
            self._connection.con.execute("SET enable_progress_bar = true")
        self._lock = threading.RLock()  # a connection takes one query at a time
        self._gone: deque[str] = deque()
        if self._database is not None:
            self._attach(self._database)

    def _attach(self, path: Path, *, write: bool = False) -> None:
        if not path.is_file():
            raise InputError(f"{path}: this database file does not exist.")
        mode = "" if write else " (READ_ONLY)"
        try:
            self._connection.con.execute(f"ATTACH {_quoted(str(path))} AS {DATABASE}{mode}")
        except duckdb.Error:
            refused = (
                f"{path.name}: DuckDB cannot open it. Is it a DuckDB database file, and not in use by another program?"
            )
        else:
            return
        raise InputError(refused)

    @property
    def files(self) -> DuckDB:
        return self

    @property
    def own_files(self) -> tuple[Path, ...]:
        return () if self._database is None else (self._database,)

    def holds(self, name: str) -> bool:
        return self._database is not None and table_named(name, self.has) is not None

    def has(self, name: TableName) -> bool:
        schema, table = ("main", *name.parts)[-2:]
        query = (
            "SELECT count(*) FROM duckdb_columns() WHERE database_name = ? AND lower(schema_name) = lower(?) "
            "AND lower(table_name) = lower(?)"
        )
        with self._lock:
            answer = self._connection.con.execute(query, [DATABASE, schema, table]).fetchall()
        return len(name.parts) <= 2 and bool(answer[0][0])

    def open(self, source: Source) -> IbisRows:
        if isinstance(source, str | Path):
            table_name = table_named(str(source), self.has) if self._database is not None else None
            return self._open_file(Path(source)) if table_name is None else self._open_table(table_name)
        arrow = frame_to_arrow(source)
        if arrow.num_rows == 0:
            raise InputError("The data frame has no rows.")
        name = f"frame_{uuid.uuid4().hex}"
        with self._lock:
            self._forget()
            try:
                self._connection.con.register(name, arrow)
                table = self._connection.table(name)
            except Exception:  # noqa: BLE001 - of Arrow, DuckDB or Ibis, and it may quote values
                table = None
        if table is None:
            raise InputError(
                "The data frame has a column of a type that cannot be read. Convert it to text, numbers or dates."
            )
        rows = self._rows(table, FRAME)
        # Only noted here: Python may collect rows in the thread that runs a query, while another thread holds the lock.
        weakref.finalize(rows, self._gone.append, name)
        return rows

    def _forget(self) -> None:
        """Unregister data frames and lookups that are no longer used."""
        while self._gone:
            self._connection.con.unregister(self._gone.popleft())

    def _open_table(self, name: TableName) -> IbisRows:
        """Open a table. Its rows have no order, because the order of a view may differ from query to query."""
        schema, table = ("main", *name.parts)[-2:]
        try:
            with self._lock:
                opened_table = self._connection.table(table, database=(DATABASE, schema))
        except Exception:  # noqa: BLE001 - of DuckDB or Ibis, and it may quote the view's query
            failed = InputError(f"{name}: DuckDB cannot open it. If it is a view, do its tables still exist?")
        else:
            return self._rows(opened_table, str(name), numbered=False)
        raise failed

    def _open_file(self, path: Path) -> IbisRows:
        parts = parts_of(path)  # of a folder that Spark wrote
        if path.is_dir() and not parts:
            raise InputError(f"{path}: that is a folder, but a file is needed.")
        if path.exists() and not path.is_file() and not parts:
            raise InputError(
                f"{path}: that is not a regular file. Pipes and devices cannot be read. Save a file first."
            )
        try:
            files = parts or [path]
            if is_parquet(files[0]):
                return self._open_parquet(path, files)
            dialect = sniff_all(path, parts)
            table = self._view(dialect, files)
            return self._rows(table, path.name)
        except OSError as error:
            failed: DaleniusError = file_error(error, path, "read")
        except duckdb.Error as error:
            failed = _translate(error, path.name)
        raise failed

    def _view(self, dialect: Dialect, files: list[Path]) -> Any:
        """Return text files as a table with text columns. Ibis' own reader would let DuckDB guess the types."""
        name = f"file_{uuid.uuid4().hex}"
        sources = ", ".join(_quoted(_literal(file.absolute())) for file in files)
        columns = ", ".join(f"{_quoted(column)}: 'VARCHAR'" for column in dialect.columns)
        query = (
            f"CREATE TEMP VIEW {name} AS FROM read_csv([{sources}], delim = {_quoted(dialect.delimiter)}, quote = '\"', "
            f"escape = '\"', comment = '', header = true, skip = {dialect.skip}, auto_detect = false, "
            f"hive_partitioning = false, columns = {{{columns}}})"
        )
        with self._lock:
            self._connection.con.execute(query)
        schema = ibis.schema(dict.fromkeys(dialect.columns, "string"))
        return ibis.expr.operations.DatabaseTable(name, schema=schema, source=self._connection).to_expr()

    def _open_parquet(self, path: Path, files: list[Path]) -> IbisRows:
        with self._lock:
            relation = self._connection.con.execute("SELECT name FROM parquet_schema(?)", [_literal(files[0])])
            names = [row[0] for row in relation.fetchall()][1:]  # the first is the root
            folded = [name.casefold() for name in names]
            for name in names:
                if folded.count(name.casefold()) > 1:
                    raise InputError(
                        f"{path.name}: column {name!r} appears twice (upper and lower case count as the same)."
                    )
            table = self._connection.read_parquet([_literal(file) for file in files], hive_partitioning=False)
        if not self.fetch(table.limit(1)).num_rows:
            raise InputError(f"{path.name}: the file has columns but no rows.")
        return self._rows(table, path.name)

    def save(self, columns: Mapping[str, Any], path: Path) -> None:
        try:
            with self.lookup(pa.table(dict(columns))) as table:
                self.store(table, path)
        except duckdb.Error as error:
            failed = _translate(error, "the release")
        else:
            return
        raise failed

    def _rows(self, table: Any, name: str, *, numbered: bool = True) -> IbisRows:
        return IbisRows(text_columns(table, name), name=name, home=self, numbered=numbered)

    def fetch(self, expression: Any) -> Any:
        # Not Ibis' own to_pyarrow method: that one imports pandas, which is not needed.
        with self._lock:
            query = self._connection.compile(expression)
            return self._watched(lambda: self._connection.con.sql(query).to_arrow_table())

    def store(self, expression: Any, target: Path | TableName, check: Check | None = None) -> None:
        self.check_target(target)
        with self._lock:
            if isinstance(target, TableName):
                self._create(expression, target, check)
                return
            if target.suffix == ".parquet":
                self._watched(lambda: self._connection.to_parquet(expression, str(target)))
            else:
                # Names that contain another delimiter would mislead a program that detects the delimiter.
                quoted = any(mark in name for name in expression.columns for mark in ";\t")
                options = "FORMAT csv, HEADER" + (", FORCE_QUOTE *" if quoted else "")
                query = f"COPY ({self._connection.compile(expression)}) TO {_quoted(str(target))} ({options})"
                self._watched(lambda: self._connection.con.execute(query))
            if check is not None:
                check(lambda: self._open_file(target))

    def check_target(self, target: Path | TableName) -> None:
        if not isinstance(target, TableName):
            return
        if self._database is None:
            raise InputError("There is no database to write a table into. Name its file: --engine duckdb://FILE.db.")
        if len(target.parts) > 2:
            raise InputError(f"{target}: a table of a DuckDB file is NAME or SCHEMA.NAME.")
        if self.has(target):
            raise InputError(f"The database already has a table {str(target)!r}. Name another one.")

    def _create(self, expression: Any, name: TableName, check: Check | None) -> None:
        """Create a table, whole or not at all. The database file is writable only while this runs."""
        schema, table = ("main", *name.parts)[-2:]
        assert self._database is not None
        con, whole = self._connection.con, TableName((DATABASE, schema, table)).quoted()
        query = self._connection.compile(expression)
        con.execute(f"DETACH {DATABASE}")
        try:
            self._attach(self._database, write=True)
            con.execute("BEGIN TRANSACTION")
            try:
                self._watched(lambda: con.execute(f"CREATE TABLE {whole} AS {query}"))
                if check is not None:
                    check(lambda: self._open_table(name))
            except BaseException:
                with suppress(duckdb.Error):  # a query that fails ends the transaction
                    con.execute("ROLLBACK")
                raise
            con.execute("COMMIT")
            con.execute(f"DETACH {DATABASE}")
        finally:
            con.execute(f"DETACH DATABASE IF EXISTS {DATABASE}")
            self._attach(self._database)

    def _watched(self, action: Callable[[], Any]) -> Any:
        con = self._connection.con
        return watched(action, cancel=con.interrupt, stage=self._stage, notify=self.notify)

    def _stage(self) -> str:
        share = self._connection.con.query_progress()
        return f"DuckDB: {share:.0f} %" if share > 0 else "DuckDB"

    @contextmanager
    def lookup(self, table: Any) -> Iterator[Any]:
        name = f"lookup_{uuid.uuid4().hex}"
        with self._lock:
            self._forget()
            self._connection.con.register(name, table)
            registered = self._connection.table(name)
        try:
            yield registered
        finally:
            self._gone.append(name)

    def translate(self, error: Exception, name: str) -> DaleniusError:
        return _translate(error, name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _literal(path: Path) -> str:
    """Escape a path for DuckDB, which reads `*`, `?` and `[` as patterns."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _translate(error: Exception, name: str) -> DaleniusError:
    """Translate DuckDB's error: say where and what to do, and never quote the row as DuckDB does."""
    text = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", text)
    place = f"{name}, line {line[1]}" if line else name
    ragged = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if ragged:
        return InputError(
            f"{place}: {ragged[2]} fields where the header has {ragged[1]}. "
            "Quote values that contain the delimiter, or fix the row."
        )
    reasons: dict[str, str] = {
        "unterminated quote": "a quote is opened but never closed.",
        "Invalid unicode": "not UTF-8 text. Save the file as UTF-8.",
        "invalid state": "the rows cannot be separated: mixed line ends or stray quotes. Save the file again as CSV.",
        "Maximum line size": "a line is longer than two million characters. Is a quote never closed?",
        "No space left": "the disk is full. Free some space, or write elsewhere.",
        "could not write": "it cannot be written. Is the disk full?",
        "Permission denied": "permission denied. Check who may read or write it.",
        "Schema with name": "there is no such schema.",
        "Out of Memory": "there is not enough memory for this query. Close other programs, or use a larger machine.",
    }
    for mark, reason in reasons.items():
        if mark.lower() in text.lower():
            return InputError(f"{place}: {reason}")
    kind = type(error).__name__
    return InputError(f"{place}: DuckDB cannot read it ({kind}). Is it a complete CSV or Parquet file?")
