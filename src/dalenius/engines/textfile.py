"""Looking at a delimited text file before an engine reads it: is it text, which delimiter, which columns."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dalenius.errors import InputError, file_error

__all__ = ["DELIMITERS", "HEAD", "Dialect", "is_parquet", "parts_of", "sniff", "sniff_all"]

DELIMITERS = ",;\t"
HEAD = 1 << 20


@dataclass(frozen=True, slots=True)
class Dialect:
    delimiter: str
    columns: tuple[str, ...]
    skip: int = 0  # blank lines before the header
    line_end: str = "\n"


def parts_of(path: Path) -> list[Path]:
    """The part files of a folder in the place of a file, in their order; none of anything else.

    Those of Spark, and of others who call them part…; and Parquet files that are among themselves.
    """
    if not path.is_dir():
        return []
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith(("_", ".")))
    parts = [file for file in files if re.match(r"part([-_.]|[0-9])", file.name)]
    if files and all(file.suffix == ".parquet" for file in files):
        return files
    return parts if len({file.suffix for file in parts}) == 1 else []


def sniff_all(path: Path, parts: list[Path]) -> Dialect:
    """The dialect of a file, or of part files that must all have the same header."""
    if not parts:
        return sniff(path)
    dialects = [sniff(part, empty=True) for part in parts if part.stat().st_size]
    if not dialects:
        raise InputError(f"{path.name}: its part files are empty.")
    for part, dialect in zip((part for part in parts if part.stat().st_size), dialects, strict=True):
        if dialect != dialects[0]:
            raise InputError(
                f"{path.name}: {part.name} has another header, delimiter or line end than the first part file. Every part needs "
                "the header."
            )
    return dialects[0]


def is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError as error:
        raise file_error(error, path, "read") from None


def sniff(path: Path, *, head: bytes | None = None, empty: bool = False) -> Dialect:
    """The delimiter and the columns, or an error that says what the file is instead of a table.

    With its `head`, the file itself is not looked at. It may be `empty` but for its header if it is a part of several.
    """
    try:
        if head is None:
            with _open(path) as file:
                head = file.read(HEAD)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path.name}: not a complete gzip file.") from None
    except OSError as error:
        raise file_error(error, path, "read") from None
    if not head or head.isspace():
        raise InputError(f"{path.name}: the file is empty.")
    text = _decode(head, path)
    header, rest = _first_record(text, path)
    delimiter = max(DELIMITERS, key=lambda mark: len(_fields(header, mark)))
    columns = _fields(header, delimiter)
    if not columns:
        raise InputError(f"{path.name}: the header cannot be read; quotes are not closed, or close inside a name.")
    _check_header(columns, path)
    if (not rest or rest.isspace()) and len(head) < HEAD and not empty:
        raise InputError(f"{path.name}: the file has a header and no rows.")
    blank = text[: len(text) - len(text.lstrip("\r\n"))]
    line_end = next((end for end in ("\r\n", "\r") if rest.startswith(end)), "\n")
    return Dialect(delimiter, tuple(columns), len(blank.splitlines()), line_end)


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _decode(head: bytes, path: Path) -> str:
    if b"\0" in head:
        hint = " It looks like UTF-16: save it as UTF-8." if head[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise InputError(f"{path.name}: not a text file; a CSV (`,` `;` or tab) or Parquet file is needed.{hint}")
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(head) == HEAD and error.start > HEAD - 4:  # a character cut at the end of what was read
            return head[: error.start].decode("utf-8-sig")
        line = head.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path.name}: line {line} is not UTF-8 text. Save the file as UTF-8.") from None


def _first_record(text: str, path: Path) -> tuple[str, str]:
    """Return the header, which may span lines inside quotes, and the rest."""
    start = len(text) - len(text.lstrip("\r\n"))
    quoted = False
    for i in range(start, len(text)):
        char = text[i]
        if char == '"':
            quoted = not quoted
        elif char in "\r\n" and not quoted:
            return text[start:i], text[i:]
    if quoted:
        raise InputError(f"{path.name}: the header has a quote that is never closed.")
    return text[start:], ""


def _fields(header: str, delimiter: str) -> list[str]:
    """The names, if this is the delimiter; none if it cuts through a quoted name."""
    try:
        return next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        return []


def _check_header(columns: list[str], path: Path) -> None:
    seen: dict[str, str] = {}
    for i, name in enumerate(columns):
        if "\r" in name:
            raise InputError(f"{path.name}: the name of column {i + 1} holds a carriage return. Rename the column.")
        if not name.strip():
            raise InputError(
                f"{path.name}: column {i + 1} of the header has no name. "
                "Name it or drop it (pandas writes such a column unless index=False)."
            )
        if name.casefold() in seen:
            raise InputError(f"{path.name}: the header names column {name!r} twice{_case(name, seen)}.")
        seen[name.casefold()] = name
    if len(columns) == 1:
        for mark in "|:^ ":
            if columns[0].count(mark) >= 1 and len(columns[0].split(mark)) > 2:
                raise InputError(
                    f"{path.name}: the header is one field that holds {mark!r}. If that separates the columns, "
                    "write the file with `,`, `;` or tab instead."
                )


def _case(name: str, seen: dict[str, str]) -> str:
    """A word on names that differ in case alone: engines take them for one."""
    return "" if seen[name.casefold()] == name else " (upper and lower case do not tell columns apart)"
