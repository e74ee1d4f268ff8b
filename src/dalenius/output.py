"""Writing files so that an interrupted run leaves the old file or none."""

from __future__ import annotations

import contextlib
import csv
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dalenius.errors import InputError, file_error


@contextlib.contextmanager
def replacing(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Temporary paths beside the given ones, renamed onto them together when the block ends without an error."""
    for path in paths:
        if path.is_dir():
            raise InputError(f"Cannot write {str(path)!r}: that is a folder, a file is needed.")
        if path.exists() and not path.is_file():
            # A rename would replace a device or pipe, /dev/null for everybody if root does it.
            raise InputError(f"Cannot write {str(path)!r}: that is no regular file. Name a file.")
        if not path.parent.is_dir():
            raise InputError(
                f"Cannot write {str(path)!r}: the folder {str(path.parent)!r} does not exist. Make it first."
            )
    # The ending stays last: engines choose the format by it.
    drafts = tuple(path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part{path.suffix}") for path in paths)
    try:
        yield drafts
        for draft, path in zip(drafts, paths, strict=True):
            os.replace(draft, path)
    except OSError as error:
        raise file_error(error, paths[0], "write") from None
    finally:
        for draft in drafts:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated text, quoted where needed; a row of one empty field is quoted so that it stays a row."""
    lines: list[str] = []
    # Names that hold another delimiter (or a byte-order mark) would mislead whoever sniffs the header.
    plain = not any(mark in name for name in header for mark in ";\t\ufeff")
    csv.writer(_Lines(lines), quoting=csv.QUOTE_MINIMAL if plain else csv.QUOTE_ALL).writerow(header)
    csv.writer(_Lines(lines)).writerows(rows)
    return "".join(lines)


class _Lines:
    """A file for csv.writer that ends lines with `\\n`; told so itself, the writer would not quote a lone `\\r`."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def write(self, line: str) -> int:
        self._lines.append(line.removesuffix("\r\n") + "\n")
        return len(line)


def write_texts(files: dict[Path, str]) -> None:
    """Write these files, all or none of them."""
    with replacing(*files) as drafts:
        for draft, text in zip(drafts, files.values(), strict=True):
            with draft.open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
