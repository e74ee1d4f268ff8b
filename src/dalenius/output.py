"""Writing files so that an interrupted run leaves the old file or none."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dalenius.errors import InputError, file_error


def check_writable(path: Path, *, inputs: Iterable[object] = ()) -> None:
    """Refuse an output before the work is done, not after: a folder, a device, or one of the files that are read."""
    if path.is_dir():
        raise InputError(f"Cannot write {str(path)!r}: that is a folder, a file is needed.")
    system = any(path.absolute().is_relative_to(folder) for folder in ("/dev", "/proc"))
    if system or (path.exists() and not path.is_file()):
        # A rename would replace the device or the link, for everybody if root does it.
        raise InputError(f"Cannot write {str(path)!r}: that is no regular file. Name a file.")
    if not path.parent.is_dir():
        raise InputError(f"Cannot write {str(path)!r}: the folder {str(path.parent)!r} does not exist. Make it first.")
    for source in inputs:
        if isinstance(source, str | Path) and path.exists() and Path(source).exists() and path.samefile(source):
            raise InputError(f"Cannot write {str(path)!r}: that file is read here. Name another one.")


@contextlib.contextmanager
def replacing(*paths: Path, new: bool = False) -> Iterator[tuple[Path, ...]]:
    """Temporary paths beside the given ones, renamed onto them together when the block ends without an error.

    A link is followed and stays; a file that is replaced passes its permissions on. With `new` nothing is replaced:
    that a file is there already is an error, even if it came to be in the meantime.
    """
    for path in paths:
        check_writable(path)
    targets = tuple(path if new else path.resolve() for path in paths)
    # The ending stays last: engines choose the format by it.
    drafts = tuple(path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part{path.suffix}") for path in targets)
    try:
        yield drafts
        for draft, path in zip(drafts, targets, strict=True):
            if new:
                os.link(draft, path)
                continue
            if draft.is_dir():  # of part files, in the place of a file
                path.unlink(missing_ok=True)
            elif path.exists():
                draft.chmod(stat.S_IMODE(path.stat().st_mode))
            os.replace(draft, path)
    except FileExistsError:
        raise InputError(f"{paths[0]} is there already and is not overwritten. Name another file.") from None
    except OSError as error:
        raise file_error(error, paths[0], "write") from None
    finally:
        for draft in drafts:
            if draft.is_dir():
                shutil.rmtree(draft, ignore_errors=True)
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)


def sha256(*paths: Path) -> str:
    """The checksum of a file, or of several one after the other, read a piece at a time."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as file:
                while part := file.read(1 << 20):
                    digest.update(part)
        except OSError as error:
            raise file_error(error, path, "read") from None
    return digest.hexdigest()


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


def write_texts(files: dict[Path, str], *, new: bool = False) -> None:
    """Write these files, all or none of them; with `new`, only where there is none yet."""
    with replacing(*files, new=new) as drafts:
        for draft, text in zip(drafts, files.values(), strict=True):
            with draft.open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
