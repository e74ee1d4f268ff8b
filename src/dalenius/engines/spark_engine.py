"""Spark: tables and files of a cluster, by a master's address or by Spark Connect. Workers count; only counts come here."""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ibis
import pyspark.errors

from dalenius.engines.base import Engine, Source, TableName
from dalenius.engines.ibis_rows import Check, IbisRows, frame_to_arrow
from dalenius.engines.sources import table_named
from dalenius.engines.textfile import Dialect, is_parquet, parts_of, sniff, sniff_all
from dalenius.engines.watching import Notify, watched
from dalenius.errors import DaleniusError, InputError

__all__ = ["MIXED", "NOT_UTF8", "PATIENCE", "SMALL", "Spark"]

ibis.pyspark  # noqa: B018 - registers what its compiler asks for
PATIENCE = 120.0  # seconds without any worker at work; a local cluster may relaunch its workers for ever
SMALL = 1_000_000  # rows of a lookup that every worker is given whole
NOT_UTF8 = "DALENIUS_NOT_UTF8"
MIXED = "DALENIUS_MIXED_LINE_ENDS"
_URI = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class Spark:
    """A session of Spark, classic or Connect."""

    errors: tuple[str, ...] = ("pyspark", "py4j", "grpc")

    def __init__(self, session: Any, files: Callable[[], Engine], *, url: str = "") -> None:
        self.notify: Notify | None = None
        self._session = session
        self._files = files
        self._url = url
        self._lock = threading.RLock()  # one query at a time reports its progress
        self._tag = ""
        self._busy = time.monotonic()
        self._progress = ""
        if not self._classic:
            session.registerProgressHandler(self._heard)
        self._first_answer()

    @property
    def _classic(self) -> bool:
        return not self._url.startswith("sc://")

    @property
    def files(self) -> Engine:
        return self._files()

    def _first_answer(self) -> None:
        """Wait for a worker, and not for ever."""
        try:
            self._watched(lambda: self._session.range(1).count())
        except Exception as error:  # noqa: BLE001 - of Spark, Py4J or gRPC
            failed: DaleniusError = error if isinstance(error, DaleniusError) else self.translate(error, "Spark")
        else:
            return
        raise failed

    @property
    def own_files(self) -> tuple[Path, ...]:
        return ()

    def holds(self, name: str) -> bool:
        return not _URI.match(name) and table_named(name, self.has) is not None

    def has(self, name: TableName) -> bool:
        try:
            with self._lock:
                return bool(self._session.catalog.tableExists(name.quoted("`")))
        except pyspark.errors.AnalysisException:  # too many parts, or a catalog that is not there
            return False

    def open(self, source: Source) -> IbisRows:
        if not isinstance(source, str | Path):
            arrow = frame_to_arrow(source)
            if arrow.num_rows == 0:
                raise InputError("The frame has no rows.")
            frame = self._asked(lambda: self._session.createDataFrame(arrow), "the frame")
            return self._rows(frame, "the frame")
        text = str(source)
        if _URI.match(text):
            return self._open_uri(text)
        # Path makes one slash of two.
        if _URI.match(text.replace(":/", "://", 1)) and not Path(text).exists():
            return self._open_uri(text.replace(":/", "://", 1))
        table_name = table_named(text, self.has)
        if table_name is not None:
            return self._rows(
                self._asked(lambda: self._session.table(table_name.quoted("`")), str(table_name)), str(table_name)
            )
        return self._open_path(Path(text))

    def _open_path(self, path: Path) -> IbisRows:
        parts = parts_of(path)  # of a folder that Spark wrote
        if path.is_dir() and not parts:
            raise InputError(f"{path}: that is a folder without part files.")
        first = next((part for part in parts if part.stat().st_size), path)
        where = [_literal(f"file://{file.absolute()}") for file in parts or [path]]
        if is_parquet(first):
            return self._rows(self._asked(lambda: self._session.read.parquet(*where), path.name), path.name)
        return self._open_csv(where, sniff_all(path, parts), path.name)

    def _open_uri(self, uri: str) -> IbisRows:
        """A file or folder that the workers see and this machine may not: its header is read by Spark."""
        name = uri.rstrip("/").rpartition("/")[2]
        if ".parquet" in name:
            return self._rows(self._asked(lambda: self._session.read.parquet(uri), name), name)
        head = self._asked(lambda: self._session.read.option("lineSep", "\n").text(uri).head(2), name)
        return self._open_csv([uri], sniff(Path(name), head="\n".join(row[0] for row in head).encode()), name)

    def _open_csv(self, where: list[str], dialect: Dialect, name: str) -> IbisRows:
        """As DuckDB would: line ends inside quotes stay, and what is not as it should be is refused."""
        if dialect.skip or len(dialect.columns) == 1:
            what = "blank lines before the header" if dialect.skip else "one column, where blank lines may be values"
            raise InputError(f"{name}: Spark cannot read a file with {what}. Fix the file, or save it as Parquet.")
        schema = ", ".join(f"{_quoted(column)} STRING" for column in dialect.columns)
        reader = self._session.read.schema(schema).options(
            header=True, sep=dialect.delimiter, quote='"', escape='"', multiLine=True, mode="FAILFAST", enforceSchema=True,
            encoding="UTF-8", columnPruning=False, ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False,
            maxColumns=100_000, lineSep=dialect.line_end, unescapedQuoteHandling="RAISE_ERROR",
        )  # fmt: skip
        kind = "decoded, \\r" if dialect.line_end == "\n" else "decoded"
        return self._rows(self._asked(lambda: reader.csv(where), name), name, decoded=kind)

    def _rows(self, frame: Any, name: str, *, decoded: str = "") -> IbisRows:
        """A view of the frame in which every column is text, compared by its bytes.

        Where Spark `decoded` a file, a character in the place of what is not UTF-8 ends the query: it would make one value
        of several. So does a carriage return at a line's end, in a file that has none at the end of its header.
        """
        seen: set[str] = set()
        for field in frame.schema.fields:
            if field.name.casefold() in seen:
                raise InputError(f"{name}: column {field.name!r} is there twice (in upper or lower case).")
            seen.add(field.name.casefold())
            kind = field.dataType.typeName()
            if kind in ("binary", "array", "map", "struct", "variant"):
                raise InputError(f"{name}: column {field.name!r} holds {kind}, not text, numbers or dates.")
        texts = [
            f"{_text(field.name, decoded or field.dataType.typeName())} AS {_quoted(field.name)}"
            for field in frame.schema.fields
        ]
        view = f"dalenius_{uuid.uuid4().hex}"
        frame.selectExpr(*texts).createOrReplaceTempView(view)
        if not self._asked(lambda: self._session.table(view).take(1), name):
            raise InputError(f"{name}: there are columns and no rows.")
        table = ibis.table(dict.fromkeys((field.name for field in frame.schema.fields), "string"), name=view)
        return IbisRows(table, name=name, home=self, numbered=False)

    def _asked(self, action: Callable[[], Any], name: str) -> Any:
        """What Spark answers; its errors as ours."""
        try:
            return self._watched(action)
        except DaleniusError:
            raise
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in self.errors:
                raise
            failed = self.translate(error, name)
        raise failed

    def save(self, columns: Mapping[str, Any], path: Path) -> None:
        self.files.save(columns, path)

    def fetch(self, expression: Any) -> Any:
        return self._watched(lambda: self._session.sql(_sql(expression)).toArrow())

    def store(self, expression: Any, target: Path | TableName, check: Check | None = None) -> None:
        """Into a table, or a folder of part files in the place of a file: workers write side by side."""
        self.check_target(target)
        frame = self._session.sql(_sql(expression))
        if isinstance(target, TableName):
            self._create(frame, target, check)
            return
        self._store_files(frame, target)
        if check is not None:
            check(lambda: self.files.open(target))

    def _create(self, frame: Any, name: TableName, check: Check | None) -> None:
        """Spark has no transactions: the table has another name until it has been counted."""
        draft = TableName((*name.parts[:-1], f"{name.parts[-1]}_dalenius_{uuid.uuid4().hex}")).quoted("`")
        try:
            self._watched(lambda: frame.write.saveAsTable(draft))
            if check is not None:
                check(lambda: self._rows(self._session.table(draft), str(name)))
            self._watched(lambda: self._session.sql(f"ALTER TABLE {draft} RENAME TO {name.quoted('`')}").collect())
        finally:
            with suppress(Exception):  # the session may be gone
                self._session.sql(f"DROP TABLE IF EXISTS {draft}").collect()

    def _store_files(self, frame: Any, target: Path) -> None:
        where = f"file://{target.absolute()}"
        if target.suffix == ".parquet":
            self._watched(lambda: frame.write.parquet(where))
            self._check_here(target)
            return
        options = {"header": True, "quote": '"', "escape": '"', "quoteAll": True, "emptyValue": "", "nullValue": ""}
        options |= {"ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False, "encoding": "UTF-8"}
        self._watched(lambda: frame.write.options(**options).csv(where))
        self._check_here(target)

    def _check_here(self, target: Path) -> None:
        """What the workers wrote must be here, too, to be put in its place."""
        if not parts_of(target):
            raise InputError(
                "The workers wrote the release on disks of their own. Name a place that this machine and all workers share, "
                "or table:NAME, and remove what they left."
            )

    def check_target(self, target: Path | TableName) -> None:
        if isinstance(target, TableName) and self.has(target):
            raise InputError(f"Spark has a table {str(target)!r} already. Name another one.")

    @contextmanager
    def lookup(self, table: Any) -> Iterator[Any]:
        name = f"dalenius_{uuid.uuid4().hex}"
        frame = self._session.createDataFrame(table)
        (frame.hint("broadcast") if table.num_rows <= SMALL else frame).createOrReplaceTempView(name)
        try:
            yield ibis.table(ibis.Schema.from_pyarrow(table.schema), name=name)
        finally:
            with suppress(Exception):  # the session may be gone
                self._session.catalog.dropTempView(name)

    # Watching --------------------------------------------------------------------------------------------------------

    def _watched(self, action: Callable[[], Any]) -> Any:
        with self._lock:
            tag = self._tag = f"dalenius-{uuid.uuid4().hex}"
            self._busy, self._progress = time.monotonic(), ""

            def tagged() -> Any:
                self._session.addTag(tag)
                try:
                    return action()
                finally:
                    with suppress(Exception):
                        self._session.removeTag(tag)

            return watched(tagged, cancel=self._cancel, stage=self._stage, notify=self.notify)

    def _cancel(self) -> None:
        with suppress(Exception):  # it may have ended by itself
            self._session.interruptTag(self._tag)

    def _stage(self) -> str:
        """The stages that run, and how many of their tasks are done; an error if no worker has been at work for long."""
        if self._classic:
            tracker = self._session.sparkContext.statusTracker()
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            known = [stage for stage in stages if stage is not None]
            self._progress = "; ".join(
                f"stage {stage.stageId}: {stage.numCompletedTasks} of {stage.numTasks} tasks" for stage in known
            )
            if not known or any(stage.numActiveTasks for stage in known):
                self._busy = time.monotonic()
        idle = time.monotonic() - self._busy
        if self._classic and idle > PATIENCE:
            raise InputError(
                f"No Spark worker is active: no task was started for {idle:.0f} s. Are workers running, with memory "
                "and cores to spare? Nothing was written."
            )
        return f"Spark: {self._progress}" if self._progress else "Spark"

    def _heard(self, stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:  # noqa: ARG002
        """Receive the progress of a query from Spark Connect."""
        tasks = sum(stage.num_tasks for stage in stages)
        ended = sum(stage.num_completed_tasks for stage in stages)
        self._progress = f"{len(stages)} stages: {ended} of {tasks} tasks" if tasks else ""

    def translate(self, error: Exception, name: str) -> DaleniusError:
        """Translate Spark's error by its kind. Its message may quote a row."""
        text = str(error)
        reasons = {
            NOT_UTF8: "not UTF-8 text, or it holds the character U+FFFD. Save the file as UTF-8.",
            MIXED: "the rows cannot be separated: mixed line ends. Save the file again as CSV.",
            "TextParsingException": "a quote stands where none may be, or is never closed.",
            "MALFORMED_RECORD_IN_PARSING": "a row has more or fewer fields than the header, or a quote is never closed.",
            "MALFORMED_CSV_RECORD": "a row has more or fewer fields than the header, or a quote is never closed.",
            "CANNOT_READ_FILE_FOOTER": "not a complete Parquet file.",
            "PATH_NOT_FOUND": "no worker finds it. Put it where all of them can read it.",
            "FAILED_READ_FILE": "a worker cannot read it. Is it complete, and where all workers can read it?",
            "TABLE_OR_VIEW_ALREADY_EXISTS": "a table of that name is there already. Name another one.",
            "TABLE_OR_VIEW_NOT_FOUND": "there is no such table.",
            "SCHEMA_NOT_FOUND": "there is no such schema.",
            "PATH_ALREADY_EXISTS": "it is there already. Name another one.",
            "Permission denied": "permission denied; check who may read or write it.",
            "No space left": "a worker's disk is full.",
            "OutOfMemoryError": "a worker has not enough memory; give it more (spark.executor.memory).",
            "maxResultSize": "the counts are more than the driver takes; raise spark.driver.maxResultSize.",
            "exited unrelated to the running tasks": "workers were lost again and again. Nothing was written.",
            "ExecutorLostFailure": "workers were lost again and again. Nothing was written.",
            "Master removed our application": "the cluster gave the job up: its workers died again and again.",
            "SparkContext was shut down": "the Spark session was ended. Nothing was written.",
            "Connection refused": "nothing answers there. Is the server running, and is the address right?",
            "UNAVAILABLE": "Spark Connect does not answer. Is the server running, and the address right?",
        }
        answer = next((reason for mark, reason in reasons.items() if mark in text), None)
        if answer is None:
            condition = error.getCondition() if isinstance(error, pyspark.errors.PySparkException) else None
            answer = f"Spark cannot answer ({condition or type(error).__name__})."
        return InputError(f"{name}: {answer}")


def _sql(expression: Any) -> str:
    return str(ibis.to_sql(expression, dialect="pyspark"))


def _quoted(name: str) -> str:
    return TableName((name,)).quoted("`")


def _literal(path: str) -> str:
    """The path as Spark must be given it: it takes `*`, `?`, `[` and `{` for patterns."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", path)


def _text(column: str, kind: str) -> str:
    """A column as text. Whole floats read as integers, as everywhere; what is not a number is missing."""
    name = _quoted(column)
    text = f"CAST({name} AS STRING)"
    if kind == "decoded, \\r":
        ends = f"endswith({name}, '\\r')"
        return f"IF(contains({name}, '\ufffd'), raise_error('{NOT_UTF8}'), IF({ends}, raise_error('{MIXED}'), {name}))"
    if kind == "decoded":
        return f"IF(contains({name}, '\ufffd'), raise_error('{NOT_UTF8}'), {name})"
    if kind == "timestamp":
        return f"concat({text}, '+00')"  # the session's time is UTC, and others say so
    if kind not in ("float", "double"):
        return text
    # Spark writes 0.0001 as 1.0E-4 and infinite as Infinity; DuckDB and PostgreSQL do not.
    plain = f"regexp_replace(CAST(CAST({text} AS DECIMAL(38, 21)) AS STRING), '0+$', '')"
    digits = f"regexp_replace(substring_index({text}, 'E', 1), '[.]0$', '')"
    power = f"IF(contains({text}, 'E'), CAST(substring_index({text}, 'E', -1) AS INT), 0)"
    return (
        f"CASE WHEN isnan({name}) THEN NULL "
        f"WHEN abs({name}) = double('Infinity') THEN IF({name} > 0, 'inf', '-inf') "
        f"WHEN abs({name}) < 9.2e18 AND {name} = rint({name}) THEN CAST(CAST({name} AS BIGINT) AS STRING) "
        f"WHEN {power} BETWEEN -4 AND 15 THEN {plain} "
        f"ELSE concat({digits}, 'e', IF({power} < 0, '-', '+'), format_string('%02d', abs({power}))) END"
    )
