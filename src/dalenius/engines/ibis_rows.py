"""Rows as Ibis expressions: written once, run by whatever engine the table lives in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dalenius.arrays import Longs
from dalenius.engines.base import Assignment, Counted, Recoding, Rows, Summary, TableName, Tally, TooMany
from dalenius.errors import DaleniusError, InputError, nearest

__all__ = ["LARGEST_LIMIT", "Check", "Home", "IbisRows", "frame_to_arrow", "text_columns"]

LARGEST_LIMIT = 2**31 - 1  # rows that a query may be limited to: Spark has an integer of 32 bits for it
Check = Callable[[Callable[[], Rows]], None]  # opens what was written, and raises if that must not be published


class Home(Protocol):
    """What an engine does for the rows that live in it."""

    errors: tuple[str, ...]  # packages whose errors are the engine's, to be translated

    def fetch(self, expression: Any) -> Any:
        """Run an Ibis expression: an Arrow table."""

    def store(self, expression: Any, target: Path | TableName, check: Check | None = None) -> None:
        """Run an Ibis expression and put its rows into a file, or into a table of the engine.

        `check` is given what was written. If it raises, there is no such table.
        """

    def lookup(self, table: Any) -> AbstractContextManager[Any]:
        """An Arrow table, for a while, as a table in the engine: an Ibis expression."""

    def translate(self, error: Exception, name: str) -> DaleniusError:
        """The engine's error, about the table of that name, as ours."""


class IbisRows:
    """A table expression with every column as text, and the questions that the rest of the program asks of it.

    Rows that are `numbered` have an order, that of a file; a table of a database has none.
    """

    def __init__(self, table: Any, *, name: str, home: Home, numbered: bool = True) -> None:
        self.name = name
        self.numbered = numbered
        self._home = home
        self._table = table

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._table.columns)

    def count(
        self, columns: Sequence[str], *, labels: Mapping[str, Mapping[str, str]] | None = None, limit: int | None = None
    ) -> Counted:
        self._known(columns)
        weight = _fresh("count", columns)
        with ExitStack() as stack:
            table = self._labelled(self._table.select(*columns), labels, stack) if labels else self._table
            expression = table.group_by(list(columns)).aggregate(**{weight: table.count()})
            if limit is not None and limit < LARGEST_LIMIT:
                expression = expression.limit(limit + 1)
            result = self._run(lambda: self._home.fetch(expression))
        if limit is not None and result.num_rows > limit:
            raise TooMany(limit)
        if result.num_rows == 0:
            raise InputError(f"{self.name}: the file has a header and no rows.")
        texts: list[tuple[str, ...]] = []
        # Through DLPack: Arrow's own conversion to NumPy imports pandas, a sixth of a second for nothing.
        codes = np.empty((result.num_rows, len(columns)), dtype=np.int32)
        for j, column in enumerate(columns):
            encoded = pc.dictionary_encode(result[column].combine_chunks(), null_encoding="encode")
            if isinstance(encoded, pa.ChunkedArray):
                encoded = encoded.combine_chunks()
            texts.append(tuple(text or "" for text in encoded.dictionary.to_pylist()))
            codes[:, j] = np.from_dlpack(encoded.indices)
        counts = np.from_dlpack(result[weight].combine_chunks()).astype(np.int64)
        return Counted(tuple(columns), tuple(texts), codes, counts)

    def summaries(self, *, limit: int) -> dict[str, Summary]:
        # One scan for the figures of all columns, a look at the first rows, and a query for each column of few texts.
        whole = r"^(0|-?[1-9][0-9]{0,17})(\.0*)?$"  # a leading zero makes a code, not a number
        figures: dict[str, Any] = {"rows": self._table.count()}
        for j, column in enumerate(self.columns):
            text = self._table[column].nullif("")
            figures[f"missing{j}"] = text.isnull().sum()
            figures[f"distinct{j}"] = text.nunique()
            figures[f"not_integer{j}"] = (~text.re_search(whole)).sum()
            figures[f"shortest{j}"] = text.length().min()
            figures[f"longest{j}"] = text.length().max()
        totals = self._run(lambda: self._home.fetch(self._table.aggregate(**figures)).to_pylist()[0])
        first = self._run(lambda: self._home.fetch(self._table.limit(10 * limit)).to_pydict())
        summaries = {}
        for j, column in enumerate(self.columns):
            numbers = {
                key: int(totals[f"{key}{j}"] or 0)
                for key in ("missing", "distinct", "not_integer", "shortest", "longest")
            }
            if numbers["distinct"] <= limit:
                texts = self._table.select(text=self._table[column].nullif("")).distinct().drop_null()
                listed = self._run(partial(self._home.fetch, texts)).to_pydict()["text"]
            else:
                listed = list(dict.fromkeys(text for text in first[column] if text))[:limit]
            summaries[column] = Summary(rows=int(totals["rows"]), texts=tuple(sorted(listed)), **numbers)
        return summaries

    def find(self, texts: Mapping[str, Collection[str]], *, limit: int) -> list[int]:
        self._known(list(texts))
        if not self.numbered:
            return []
        row = _fresh("row", self.columns)
        matching = self._table.mutate(**{row: ibis.row_number()})
        for column, wanted in texts.items():
            matching = matching.filter(matching[column].fill_null("").isin(sorted(wanted)))
        expression = matching.select(row).order_by(row).limit(limit)
        result = self._run(lambda: self._home.fetch(expression))
        return [int(number) for number in result[row].to_pylist()]

    def read(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        self._known(columns)
        self._ordered()
        row = _fresh("row", self.columns)
        expression = self._table.mutate(**{row: ibis.row_number()}).order_by(row).select(*columns)
        result = self._run(lambda: self._home.fetch(expression))
        texts = [[text or "" for text in result[column].to_pylist()] for column in columns]
        return list(zip(*texts, strict=True))

    def _ordered(self) -> None:
        if not self.numbered:
            raise InputError(
                f"{self.name} has no order of rows, which is needed here. Save it as a file and name that."
            )

    def total(self) -> int:
        found = self._run(lambda: self._home.fetch(self._table.aggregate(rows=self._table.count())))
        return int(found["rows"][0].as_py())

    def copy(self, target: Path) -> None:
        self._ordered()
        row = _fresh("row", self.columns)
        whole = self._table.mutate(**{row: ibis.row_number()}).order_by(row).select(*self.columns)
        self._run(lambda: self._home.store(whole, target))

    def pick(self, rows: Longs, target: Path) -> None:
        self._ordered()
        row, number = _fresh("row", self.columns), _fresh("number", self.columns)
        table = self._table.mutate(**{row: ibis.row_number()})
        with self._home.lookup(pa.table({number: rows})) as wanted:
            some = table.semi_join(wanted, table[row] == wanted[number]).order_by(row).select(*self.columns)
            self._run(lambda: self._home.store(some, target), of=target.name)

    def write(self, plan: Recoding | Assignment, target: Path | TableName) -> None:
        self._known(plan.columns)
        number = plan.number if isinstance(plan, Assignment) else None
        row = _fresh("row", [*self.columns, number or ""])
        table = self._table.mutate(**{row: ibis.row_number()}) if self.numbered else self._table
        with ExitStack() as stack:
            if isinstance(plan, Recoding):
                table, columns = self._recoded(table, plan, stack), plan.columns
            else:
                table, columns = self._assigned(table, plan, row, stack)
            if plan.shuffle:
                # Drawn by the engine each time: with a known seed, the order of the rows could be restored.
                table = table.mutate(**{row: ibis.random()})
            if plan.shuffle or self.numbered:
                table = table.order_by(row)
            check = partial(self._check, plan.tallies)
            self._run(lambda: self._home.store(table.select(*columns), target, check), of="the release")

    def _check(self, tallies: Sequence[Tally], read_back: Callable[[], Rows]) -> None:
        """Refuse what was written if it is not what was planned: the table changed after it was counted."""
        try:
            if not tallies or _hold(tallies, read_back()):
                return
            unread = ""
        except DaleniusError:  # about a draft, which is no business of the reader's; of no rows at all, for example
            unread = ", or the release cannot be read back"
        raise InputError(f"{self.name} changed while it was read{unread}. Start again. Nothing was written.")

    def _assigned(self, table: Any, plan: Assignment, row: str, stack: ExitStack) -> tuple[Any, tuple[str, ...]]:
        """Each row with its group's labels: codes by lookup, the group by the codes, the labels by the group."""
        own = list(table.columns)
        keys = []
        for column, codes in plan.codes.items():
            text, code = _fresh("text", table.columns), _fresh("code", table.columns)
            coded = pa.table({text: list(codes), code: pa.array(list(codes.values()), pa.int32())})
            lookup = stack.enter_context(self._home.lookup(coded))
            table = _looked_up(table, lookup, [(table[column].fill_null(""), text)], [code])
            keys.append(code)
        columns: dict[str, Any] = {_fresh(f"key{j}", table.columns): key for j, key in enumerate(plan.keys.T)}
        on = [(table[key], name) for key, name in zip(keys, columns, strict=True)]
        if plan.index is not None:
            nth, name = _fresh("nth", table.columns), _fresh("nth_key", table.columns)
            # Without an order of rows, that of all their texts: rows that are equal in all of them may change places.
            order = [row] if self.numbered else own
            table = table.mutate(**{nth: ibis.row_number().over(group_by=keys, order_by=order)})
            on = [(table[key], other) for key, other in zip(keys, columns, strict=True)] + [(table[nth], name)]
            columns[name] = plan.index
        if plan.number is not None and plan.number.casefold() in {name.casefold() for name in plan.columns}:
            raise InputError(f"The release has a column {plan.number!r} of its own already. Rename that in the table.")
        group = _fresh("group_number", table.columns)
        place = stack.enter_context(self._home.lookup(pa.table({**columns, group: plan.group})))
        table = _looked_up(table, place, on, [group])
        if plan.labels:
            label = _fresh("labelled", table.columns)
            names = {column: _fresh(f"label{j}", table.columns) for j, column in enumerate(plan.labels)}
            groups = len(next(iter(plan.labels.values())))
            texts = {names[column]: list(labels) for column, labels in plan.labels.items()}
            labelled = pa.table({label: pa.array(range(groups), pa.int32()), **texts})
            lookup = stack.enter_context(self._home.lookup(labelled))
            joined = _looked_up(table, lookup, [(table[group], label)], list(names.values()))
            published = {column: joined[new].fill_null(_other(plan.labels[column])) for column, new in names.items()}
            table = joined.select(*(c for c in table.columns if c not in names), **published)
        if plan.number is None:
            return table, plan.columns
        kept = [name for name in table.columns if name.casefold() != plan.number.casefold()]
        return table.select(*kept, **{plan.number: table[group]}), (plan.number, *plan.columns)

    def _labelled(self, table: Any, labels: Mapping[str, Mapping[str, str]], stack: ExitStack) -> Any:
        """The table with each text replaced by its label."""
        # The lookups' columns must not be called like one of the table's: a join would take that one for theirs.
        text, label = _fresh("text", table.columns), _fresh("label", table.columns)
        for column, label_of in labels.items():
            pairs = pa.table({text: list(label_of), label: list(label_of.values())})
            lookup = stack.enter_context(self._home.lookup(pairs))
            joined = table.left_join(lookup, table[column].fill_null("") == lookup[text])
            table = joined.select(*(c for c in table.columns if c != column), **{column: joined[label]})
        return table

    def _recoded(self, table: Any, recoding: Recoding, stack: ExitStack) -> Any:
        table = self._labelled(table, recoding.labels, stack)
        for column, labels in recoding.labels.items():
            table = table.mutate(**{column: table[column].fill_null(_other(labels.values()))})
        if recoding.suppress:
            names = list(recoding.labels)
            own = [_fresh(f"key{j}", table.columns) for j in range(len(names))]
            keys = list(zip(*recoding.suppress, strict=True))
            suppressed = pa.table({key: list(texts) for key, texts in zip(own, keys, strict=True)})
            lost = stack.enter_context(self._home.lookup(suppressed))
            joined = table.left_join(lost, [table[name] == lost[key] for name, key in zip(names, own, strict=True)])
            if recoding.leave_out:
                return joined.filter(joined[own[0]].isnull()).select(*table.columns)
            table = joined.select(
                *(c for c in table.columns if c not in names),
                **{name: joined[own[0]].notnull().ifelse(recoding.mark, joined[name]) for name in names},
            )
        return table

    def _known(self, columns: Sequence[str]) -> None:
        for column in columns:
            if column not in self._table.columns:
                raise InputError(f"{self.name} has no column {column!r}.{nearest(column, self._table.columns)}")

    def _run(self, query: Callable[[], Any], *, of: str | None = None) -> Any:
        """Run a query; what the engine complains of becomes an error of ours, without the rows it quotes.

        Raised after the handler has ended: an error raised inside it would carry the engine's own, rows and all.
        """
        try:
            return query()
        except Exception as error:
            if isinstance(error, RuntimeError) and "interrupted" in str(error).lower():
                failed: BaseException = KeyboardInterrupt()  # DuckDB's word for ctrl-C
            elif type(error).__module__.partition(".")[0] in (*self._home.errors, "ibis", "pyarrow"):
                failed = self._home.translate(error, of or self.name)
            else:
                raise
        raise failed


def _hold(tallies: Sequence[Tally], rows: Rows) -> bool:
    try:
        return all(tally.holds(rows.count(tally.columns, limit=tally.limit)) for tally in tallies)
    except TooMany:
        return False


def _other(labels: Iterable[str]) -> str:
    """A text that is none of the labels, for a row that has none: a null would read like an empty label."""
    return _fresh("?", set(labels))


def _looked_up(table: Any, lookup: Any, on: Sequence[tuple[Any, str]], wanted: Sequence[str]) -> Any:
    """The table with columns of a lookup beside its own."""
    joined = table.left_join(lookup, [own == lookup[other] for own, other in on])
    return joined.select(*table.columns, *wanted)


def text_columns(table: Any, name: str) -> Any:
    """The table with every column as text; what has no text of its own is refused."""
    for column, dtype in table.schema().items():
        if dtype.is_nested() or dtype.is_binary():
            raise InputError(f"{name}: column {column!r} holds {dtype}, not text, numbers or dates.")
    if all(dtype.is_string() for dtype in table.schema().types):
        return table
    return table.select(**{column: _as_text(table[column]) for column in table.columns})


def _as_text(column: Any) -> Any:
    """The column as text. Whole floats read as integers: pandas makes floats of integers beside a missing value."""
    dtype = column.type()
    if dtype.is_string():
        return column
    if dtype.is_floating():
        whole = column.try_cast("int64")  # null for nan and beyond 64 bits, rounded otherwise
        # Nan is told by its text: DuckDB takes isnan of a Parquet column for false when the statistics name no nan.
        text = column.cast("string")
        usual = text.lower().isin(["nan", "-nan"]).ifelse(ibis.null("string"), text)
        return (whole.cast(dtype) == column).ifelse(whole.cast("string"), usual)
    return column.cast("string")


def _fresh(name: str, taken: Collection[str]) -> str:
    """A column name that is not in use."""
    while name.casefold() in {other.casefold() for other in taken}:
        name += "_"
    return name


def frame_to_arrow(frame: Any) -> Any:
    """A pandas, Polars or Arrow frame, or a dict of columns, as an Arrow table; anything else is refused."""
    library = type(frame).__module__.partition(".")[0]
    if library == "polars" and hasattr(frame, "collect"):
        return frame_to_arrow(frame.collect())
    if isinstance(frame, pa.Table):
        names = frame.column_names
    elif (library in ("pandas", "polars") and hasattr(frame, "columns")) or (isinstance(frame, dict) and frame):
        names = list(frame if isinstance(frame, dict) else frame.columns)
    elif hasattr(frame, "__arrow_c_stream__"):
        return frame_to_arrow(_stream_to_arrow(frame))
    else:
        raise _not_a_table(frame)
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise InputError(f"Column {name!r} of the data frame needs a name that is text.")
        if name.casefold() in seen:
            raise InputError(f"The data frame has column {name!r} twice (upper and lower case count as the same).")
        seen.add(name.casefold())
    if isinstance(frame, pa.Table):
        return frame
    columns = [_column_to_arrow(frame[name], name, library) for name in names]
    if len({len(column) for column in columns}) > 1:
        raise InputError("The columns of the data frame differ in length.")
    return pa.table(columns, names=names)


def _stream_to_arrow(frame: Any) -> Any:
    try:
        table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError):  # a series has such a stream, too; the message may quote values
        table = None
    if table is None:
        raise _not_a_table(frame)
    return table


def _not_a_table(frame: Any) -> InputError:
    return InputError(
        "A table is a path, a pandas, Polars or Arrow data frame, or a dict of columns. "
        f"Got {type(frame).__module__}.{type(frame).__name__}."
    )


def _column_to_arrow(column: Any, name: str, library: str) -> Any:
    """One column; values of several Python types become each its own text. No error quotes a value."""
    try:
        return column.to_arrow() if library == "polars" else pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError, AttributeError):
        pass
    try:
        missing = column.isna() if library == "pandas" else [value is None or value != value for value in column]
        texts = [None if gone else str(value) for value, gone in zip(column, missing, strict=True)]
        return pa.array(texts, type=pa.string())
    except Exception:  # noqa: BLE001 - whatever a foreign type does
        unreadable = InputError(f"The frame's column {name!r} cannot be read; make it text, numbers or dates.")
    raise unreadable
