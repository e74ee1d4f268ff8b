"""Rows as Ibis expressions: written once, run by whatever engine the table lives in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dalenius.engine.base import Counted, Summary
from dalenius.errors import DaleniusError, InputError, nearest

Fetch = Callable[[Any], Any]  # runs an Ibis expression in the engine: an Arrow table
Translate = Callable[[Exception, str], DaleniusError]  # the engine's error and the table's name: our error


class IbisRows:
    """A table expression with every column as text, and the questions that the rest of the program asks of it."""

    def __init__(self, table: Any, *, name: str, fetch: Fetch, translate: Translate) -> None:
        self.name = name
        self._fetch = fetch
        self._translate = translate
        for column, dtype in table.schema().items():
            if dtype.is_nested() or dtype.is_binary():
                raise InputError(f"{name}: column {column!r} holds {dtype}, not text, numbers or dates.")
        self._table = table.select(**{column: _as_text(table[column]) for column in table.columns})

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._table.columns)

    def count(self, columns: Sequence[str]) -> Counted:
        self._known(columns)
        table = self._table
        weight = _fresh("count", columns)
        expression = table.group_by(list(columns)).aggregate(**{weight: table.count()})
        result = self._run(lambda: self._fetch(expression))
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

    def summary(self, column: str, *, limit: int) -> Summary:
        self._known([column])
        texts = self._table.select(text=self._table[column].fill_null(""))
        present = texts.filter(texts.text != "")
        whole = r"^(0|-?[1-9][0-9]{0,17})$"  # a leading zero makes a code, not a number
        totals = texts.aggregate(
            rows=texts.count(),
            missing=(texts.text == "").sum(),
            distinct=texts.text.nunique(),
            not_integer=((texts.text != "") & ~texts.text.re_search(whole)).sum(),
        )
        lengths = present.aggregate(shortest=present.text.length().min(), longest=present.text.length().max())
        top = present.group_by("text").aggregate(n=present.count()).order_by([ibis.desc("n"), "text"]).limit(limit)
        found = self._run(lambda: [self._fetch(query).to_pylist() for query in (totals, lengths, top)])
        numbers = {key: int(value or 0) for key, value in {**found[0][0], **found[1][0]}.items()}
        return Summary(**numbers, commonest=tuple(row["text"] for row in found[2]))

    def find(self, texts: Mapping[str, Collection[str]], *, limit: int) -> list[int]:
        self._known(list(texts))
        row = _fresh("row", self.columns)
        numbered = self._table.mutate(**{row: ibis.row_number()})
        for column, wanted in texts.items():
            numbered = numbered.filter(numbered[column].fill_null("").isin(sorted(wanted)))
        expression = numbered.select(row).order_by(row).limit(limit)
        result = self._run(lambda: self._fetch(expression))
        return [int(number) for number in result[row].to_pylist()]

    def read(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        self._known(columns)
        row = _fresh("row", self.columns)
        expression = self._table.mutate(**{row: ibis.row_number()}).order_by(row).select(*columns)
        result = self._run(lambda: self._fetch(expression))
        texts = [[text or "" for text in result[column].to_pylist()] for column in columns]
        return list(zip(*texts, strict=True))

    def _known(self, columns: Sequence[str]) -> None:
        for column in columns:
            if column not in self._table.columns:
                raise InputError(f"{self.name} has no column {column!r}.{nearest(column, self._table.columns)}")

    def _run(self, query: Callable[[], Any]) -> Any:
        """Run a query; what the engine complains of becomes an error of ours, without the rows it quotes."""
        try:
            return query()
        except Exception as error:
            if isinstance(error, RuntimeError) and "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None  # DuckDB's word for ctrl-C
            if type(error).__module__.partition(".")[0] in ("duckdb", "_duckdb", "ibis"):
                raise self._translate(error, self.name) from None
            raise


def _as_text(column: Any) -> Any:
    """The column as text. Whole floats read as integers: pandas makes floats of integers beside a missing value."""
    dtype = column.type()
    if dtype.is_string():
        return column
    if dtype.is_floating():
        whole = column.cast("int64").cast("string")
        usual = column.isnan().ifelse(ibis.null("string"), column.cast("string"))
        is_whole = (column.abs() < 2.0**53) & (column == column.floor())
        return is_whole.ifelse(whole, usual)
    return column.cast("string")


def _fresh(name: str, taken: Collection[str]) -> str:
    """A column name that is not in use."""
    while name in taken:
        name += "_"
    return name


def frame_to_arrow(frame: Any) -> Any:
    """A pandas, Polars or Arrow frame as an Arrow table; anything else is refused."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pyarrow" and isinstance(frame, pa.Table):
        names, arrow = frame.column_names, frame
    elif library == "polars" and hasattr(frame, "to_arrow"):
        names, arrow = list(frame.columns), None
    elif library == "polars" and hasattr(frame, "collect"):
        return frame_to_arrow(frame.collect())
    elif library == "pandas" and hasattr(frame, "columns"):
        names, arrow = list(frame.columns), None
    elif isinstance(frame, dict) and frame:
        names, arrow = list(frame), pa.table(frame)
    else:
        raise InputError(
            "A table is a path, a pandas, Polars or Arrow frame, or a dict of columns. "
            f"Got {type(frame).__module__}.{type(frame).__name__}."
        )
    for name in names:
        if not isinstance(name, str) or not name:
            raise InputError(f"The frame's column {name!r} needs a name that is text.")
        if names.count(name) > 1:
            raise InputError(f"The frame names column {name!r} twice.")
    if arrow is None:
        arrow = frame.to_arrow() if library == "polars" else _pandas_to_arrow(frame)
    return arrow


def _pandas_to_arrow(frame: Any) -> Any:
    arrays = []
    for name in frame.columns:
        try:
            arrays.append(pa.array(frame[name], from_pandas=True))
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column of several Python types: each as its own text
            texts = [
                None if missing else str(value) for value, missing in zip(frame[name], frame[name].isna(), strict=True)
            ]
            arrays.append(pa.array(texts, type=pa.string()))
    return pa.table(arrays, names=list(frame.columns))
