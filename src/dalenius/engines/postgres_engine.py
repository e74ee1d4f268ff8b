"""PostgreSQL: tables inside a database. Rows stay there. Only counts come out, and releases that are written as files."""

from __future__ import annotations

import io
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ibis
import psycopg
import pyarrow as pa
import pyarrow.csv as pacsv

from dalenius.engines.base import Engine, Rows, Source, TableName
from dalenius.engines.ibis_rows import Check, IbisRows, text_columns
from dalenius.engines.sources import table_named
from dalenius.engines.watching import Notify, watched
from dalenius.errors import DaleniusError, InputError

__all__ = ["REFUSED", "SETTINGS", "TYPES", "Postgres"]

# Types without a text of their own that would mean anything, by name; besides arrays and rows.
REFUSED = ("bytea", "json", "jsonb", "xml")
# One text of a float or a date wherever the server stands.
SETTINGS = "SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; SET extra_float_digits = 1"
TYPES = {pa.string(): 'text COLLATE "C"', pa.int32(): "integer", pa.int64(): "bigint"}


class Postgres:
    """One connection. A table is seen as it was when it was opened, until another one is: counts and releases agree.

    A password may come from the environment (PGPASSWORD), from ~/.pgpass or from a service file; it is never repeated.
    """

    errors: tuple[str, ...] = ("psycopg",)

    def __init__(self, url: str, files: Callable[[], Engine]) -> None:
        self.notify: Notify | None = None
        self._files = files
        self._lock = threading.RLock()  # a connection takes one query at a time
        self._received = 0
        self._begun = time.monotonic()
        try:
            self._connection = psycopg.connect(
                url, client_encoding="UTF8", application_name="dalenius", connect_timeout=15
            )
            self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            self._connection.execute(SETTINGS)
            self._connection.commit()
        except psycopg.Error as error:
            refused = _refusal(error)
        else:
            return
        raise InputError(refused)

    @property
    def files(self) -> Engine:
        return self._files()

    @property
    def own_files(self) -> tuple[Path, ...]:
        return ()

    def holds(self, name: str) -> bool:
        return table_named(name, self.has) is not None

    def has(self, name: TableName) -> bool:
        if len(name.parts) > 3:
            return False
        with self._lock:
            try:  # as it is now, even in a transaction that began before
                answer = self._connection.execute("SELECT to_regclass(%s) IS NOT NULL", [name.quoted()]).fetchone()
            except (psycopg.errors.FeatureNotSupported, psycopg.errors.SyntaxError):  # another database, too many parts
                self._connection.rollback()
                return False
            except psycopg.Error as error:
                failed = self.translate(error, str(name))
            else:
                return answer is not None and bool(answer[0])
        raise failed

    def open(self, source: Source) -> Any:
        """A table by its name; files and frames are read on this machine."""
        table_name = table_named(str(source), self.has) if isinstance(source, str | Path) else None
        if table_name is None:
            return self.files.open(source)
        try:
            return self._open_table(table_name)
        except psycopg.Error as error:
            failed = self.translate(error, str(table_name))
        raise failed

    def _open_table(self, name: TableName) -> IbisRows:
        """A view of the table in which every column is text, compared by its bytes."""
        query = (
            "SELECT a.attname, t.typname, t.typtype, t.typcategory FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
            "WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
        )
        with self._lock:
            self._connection.commit()
            columns = self._connection.execute(query, [name.quoted()]).fetchall()
            seen: set[str] = set()
            for column, kind, of, category in columns:
                if column.casefold() in seen:
                    raise InputError(
                        f"{name}: column {column!r} appears twice (upper and lower case count as the same)."
                    )
                seen.add(column.casefold())
                if kind in REFUSED or of == "c" or category == "A":
                    raise InputError(f"{name}: column {column!r} holds {kind}, not text, numbers or dates.")
            view = f"dalenius_{uuid.uuid4().hex}"
            texts = ", ".join(f"{_text(column, kind)} AS {_quoted(column)}" for column, kind, _, _ in columns)
            self._connection.execute(f"CREATE TEMP VIEW {view} AS SELECT {texts} FROM {name.quoted()}")
            self._connection.commit()  # the view stays, and the table is seen as it is now
            if self._watched(lambda: self._connection.execute(f"SELECT 1 FROM {view} LIMIT 1").fetchone()) is None:
                raise InputError(f"{name}: the table has columns but no rows.")
        table = ibis.table(dict.fromkeys((column for column, *_ in columns), "string"), name=view)
        return IbisRows(table, name=str(name), home=self, numbered=False)

    def save(self, columns: Mapping[str, Any], path: Path) -> None:
        self.files.save(columns, path)

    def fetch(self, expression: Any) -> Any:
        types = expression.schema().to_pyarrow()
        with self._lock:
            pieces = io.BytesIO()
            options = "FORMAT csv, FORCE_QUOTE *"  # what is not quoted is null
            self._watched(lambda: self._copy(f"COPY ({_sql(expression)}) TO STDOUT ({options})", pieces))
        if not pieces.getbuffer().nbytes:
            return types.empty_table()
        pieces.seek(0)
        return pacsv.read_csv(
            pieces,
            read_options=pacsv.ReadOptions(column_names=types.names, block_size=1 << 24),
            parse_options=pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=pacsv.ConvertOptions(
                column_types={field.name: field.type for field in types},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def store(self, expression: Any, target: Path | TableName, check: Check | None = None) -> None:
        """Write a table or a file. A table appears when the transaction ends, after its rows were counted."""
        with self._lock:
            try:
                if isinstance(target, TableName):
                    create = f"CREATE TABLE {target.quoted()} AS {_sql(expression)}"
                    self._watched(lambda: self._connection.execute(create))
                else:
                    self._store_file(expression, target)
                if check is not None:
                    check(lambda: self._written(target, expression.schema()))
                self._connection.commit()  # and let go of the table
            except BaseException:
                with suppress(psycopg.Error):
                    self._connection.rollback()
                raise

    def _written(self, target: Path | TableName, schema: Any) -> Rows:
        """Return the rows that were written: a file on this machine, or a table that is not visible to others yet."""
        if isinstance(target, Path):
            return self.files.open(target)
        table = ibis.table(schema, name=target.parts[-1], database=target.parts[:-1] or None)
        return IbisRows(text_columns(table, str(target)), name=str(target), home=self, numbered=False)

    def _store_file(self, expression: Any, target: Path) -> None:
        self.check_target(target)
        with target.open("wb") as file:
            file.write((",".join(map(_quoted, expression.columns)) + "\n").encode())
            self._watched(lambda: self._copy(f"COPY ({_sql(expression)}) TO STDOUT (FORMAT csv)", file))

    def check_target(self, target: Path | TableName) -> None:
        if isinstance(target, TableName):
            if self.has(target):
                raise InputError(f"The database already has a table {str(target)!r}. Name another one.")
        elif target.suffix == ".parquet":
            raise InputError("PostgreSQL writes CSV files and tables: name a file that ends in .csv, or table:NAME.")

    def _copy(self, query: str, out: Any) -> None:
        with self._connection.cursor() as cursor, cursor.copy(query) as blocks:
            for block in blocks:
                out.write(block)
                self._received += len(block)

    def _watched(self, action: Callable[[], Any]) -> Any:
        self._received, self._begun = 0, time.monotonic()
        try:
            return watched(action, cancel=self._cancel, stage=self._stage, notify=self.notify)
        except BaseException:
            with suppress(psycopg.Error):  # nothing of it must come to be with the next query
                self._connection.rollback()
            raise

    def _cancel(self) -> None:
        with suppress(psycopg.Error):  # it may have ended by itself
            self._connection.cancel_safe(timeout=5)

    def _stage(self) -> str:
        so_far = f", {self._received / 1e6:,.0f} MB received" if self._received else ""
        return f"PostgreSQL: {time.monotonic() - self._begun:,.0f} s{so_far}"

    @contextmanager
    def lookup(self, table: Any) -> Iterator[Any]:
        name = f"dalenius_{uuid.uuid4().hex}"
        columns = ", ".join(f"{_quoted(field.name)} {TYPES[field.type]}" for field in table.schema)
        rows = io.BytesIO()
        pacsv.write_csv(table, rows, pacsv.WriteOptions(include_header=False, quoting_style="all_valid"))
        with self._lock:
            self._connection.execute(f"CREATE TEMP TABLE {name} ({columns})")
            with self._connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
                copy.write(rows.getbuffer())
            self._connection.execute(f"ANALYZE {name}")
        yield ibis.table(ibis.Schema.from_pyarrow(table.schema), name=name)
        with self._lock, suppress(psycopg.Error):  # it goes with the transaction, too
            self._connection.execute(f"DROP TABLE {name}")

    def translate(self, error: Exception, name: str) -> DaleniusError:
        """Translate the server's error by its kind. Its message may quote a row."""
        with suppress(psycopg.Error):
            self._connection.rollback()
        known: dict[type[Exception], str] = {
            psycopg.errors.InsufficientPrivilege: "permission denied. Ask for the right to read it, or to create tables.",
            psycopg.errors.UndefinedTable: "there is no such table.",
            psycopg.errors.DuplicateTable: "a table of that name already exists. Name another one.",
            psycopg.errors.InvalidSchemaName: "there is no such schema.",
            psycopg.errors.DiskFull: "the server's disk is full.",
            psycopg.errors.OutOfMemory: "the server does not have enough memory for this query.",
            psycopg.errors.ReadOnlySqlTransaction: "the database is read-only.",
            psycopg.errors.QueryCanceled: "the server stopped the query. Is there a time limit?",
        }
        for kind, reason in known.items():
            if isinstance(error, kind):
                return InputError(f"{name}: {reason}")
        if isinstance(error, psycopg.OperationalError) or self._connection.closed:
            return InputError(f"{name}: the connection to PostgreSQL was lost. Nothing was written.")
        return InputError(f"{name}: PostgreSQL cannot answer ({type(error).__name__}).")


def _refusal(error: psycopg.Error) -> str:
    """Say why there is no connection, without repeating the URL, which may hold a password."""
    reasons = {
        "password authentication failed": "the password is wrong.",
        "no password supplied": "it asks for a password: set PGPASSWORD, or write it to ~/.pgpass.",
        "Connection refused": "nothing answers there. Is the server running, and is the port right?",
        "could not translate host name": "there is no host of that name.",
        "failed to resolve host": "there is no host of that name.",
        "does not exist": "there is no such user or database.",
        "timeout": "it did not answer in time.",
        "definition of service": "there is no such service in the service file.",
        "No such file or directory": "there is no server on this machine's socket. Name host and port.",
    }
    text = str(error)
    reason = next((reason for mark, reason in reasons.items() if re.search(re.escape(mark), text, re.IGNORECASE)), None)
    return f"Cannot connect to PostgreSQL: {reason or type(error).__name__ + '.'}"


def _sql(expression: Any) -> str:
    return str(ibis.to_sql(expression, dialect="postgres"))


def _quoted(name: str) -> str:
    return TableName((name,)).quoted()


def _text(column: str, kind: str) -> str:
    """A column as text. Whole floats read as integers, as everywhere; what is not a number is missing."""
    name = _quoted(column)
    text = f'CAST({name} AS text) COLLATE "C"'
    if kind not in ("float4", "float8", "numeric"):
        return text
    # PostgreSQL 13 knows no infinite numeric, but the comparison is one of texts.
    odd = f"CASE {text} WHEN 'NaN' THEN NULL WHEN 'Infinity' THEN 'inf' WHEN '-Infinity' THEN '-inf' ELSE {text} END"
    if kind == "numeric":
        return odd
    whole = f'CAST(CAST({name} AS bigint) AS text) COLLATE "C"'
    return f"CASE WHEN abs({name}) < 9.2e18 AND {name} = trunc({name}::float8) THEN {whole} ELSE {odd} END"
