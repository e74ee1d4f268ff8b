"""Writing files so that an interrupted run leaves the old files or the new ones."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import os
import secrets
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dalenius.errors import InputError, file_error

__all__ = [
    "FINISHED",
    "SIGNALS",
    "Marker",
    "check_writable",
    "checksums",
    "csv_text",
    "remove",
    "replacing",
    "sha256",
    "signals_held",
    "write_texts",
]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What this process has put in its place, so that a message about an interruption can be true.
FINISHED: list[str] = []
# Given the drafts, the text that stands in the place of the last file as long as the others are renamed.
Marker = Callable[[Sequence[Path]], str]


def check_writable(path: Path, *, inputs: Iterable[object] = ()) -> None:
    """Refuse an output before the work is done, not after: a folder, a device, or one of the files that are read."""
    try:
        place = path.resolve()
    except (OSError, RuntimeError):  # a link that leads back to itself
        raise InputError(f"Cannot write {str(path)!r}: it is a broken link. Name another file.") from None
    if path.is_dir():
        raise InputError(f"Cannot write {str(path)!r}: that is a folder, but a file is needed.")
    system = any(path.absolute().is_relative_to(folder) for folder in ("/dev", "/proc"))
    if system or (path.exists() and not path.is_file()):
        # A rename would replace the device or the link, for everybody if root does it.
        raise InputError(f"Cannot write {str(path)!r}: that is not a regular file. Name a file.")
    for folder in (path.parent, place.parent):
        if not folder.is_dir():
            raise InputError(f"Cannot write {str(path)!r}: the folder {str(folder)!r} does not exist. Create it first.")
    for source in inputs:
        if isinstance(source, str | Path) and path.exists() and Path(source).exists() and path.samefile(source):
            raise InputError(f"Cannot write {str(path)!r}: this command reads that file. Name another one.")


@contextlib.contextmanager
def replacing(*paths: Path, new: bool = False, marker: Marker | None = None) -> Iterator[tuple[Path, ...]]:
    """Temporary paths beside the given ones, renamed onto them together when the block ends without an error.

    A link is followed and stays; a file that is replaced passes its permissions on. With `new` nothing is replaced:
    that a file is there already is an error, even if it came to be in the meantime.

    Signals wait until all files are renamed. An error in the middle puts the old files back. If the process is killed in
    the middle, files of two runs are mixed: with a `marker`, the last path then holds its text.
    """
    for path in paths:
        check_writable(path)
    targets = tuple(path if new else path.resolve() for path in paths)
    if len(set(targets)) < len(targets):
        raise InputError(
            f"Cannot write {str(paths[0])!r}: two of its files are links to the same file. Name another output."
        )
    drafts = tuple(_draft_of(path) for path in targets)
    try:
        yield drafts
        for draft in drafts:
            _sync(draft)
        with signals_held():
            _place(drafts, targets, new=new, marker=marker)
            FINISHED.extend(map(str, paths))
    except FileExistsError:
        raise InputError(f"{paths[0]} already exists and is not overwritten. Name another file.") from None
    except OSError as error:
        raise file_error(error, paths[0], "write") from None
    finally:
        with signals_held():
            for draft in drafts:
                remove(draft)


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Signals that arrive in this block are delivered when it has ended. Only the main thread ever gets any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    holding = True
    before: dict[signal.Signals, Any] = {}

    def hold(number: int, frame: Any) -> None:
        if holding:
            arrived.append(number)
        elif callable(handler := before[signal.Signals(number)]):  # it came while the handlers were being put back
            handler(number, frame)

    try:
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if handler not in (signal.SIG_IGN, None):
                before[number] = handler
                signal.signal(number, hold)
        yield
    finally:
        holding = False
        for number, handler in before.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


def _place(drafts: Sequence[Path], targets: Sequence[Path], *, new: bool, marker: Marker | None) -> None:
    """Rename every draft onto its target, or put everything back.

    With a marker, each step is on the disk before the next is taken: a power cut cannot change their order.
    """
    done: list[tuple[Path, Path | None]] = []  # what was replaced, and where it is kept
    try:
        if marker is not None:
            note = _draft_of(targets[-1])
            done.append((targets[-1], _kept(targets[-1])))
            note.write_text(marker(drafts), encoding="utf-8")
            _sync(note)
            _rename(note, targets[-1])
            _sync_folders(targets)
        for draft, target in zip(drafts[:-1], targets[:-1], strict=True):
            if new:
                os.link(draft, target)
                done.append((target, None))
            else:
                done.append((target, _kept(target, aside=draft.is_dir())))
                _rename(draft, target)
        if marker is not None:
            _sync_folders(targets)
        if new:
            os.link(drafts[-1], targets[-1])
        else:
            if drafts[-1].is_dir():
                done.append((targets[-1], _kept(targets[-1], aside=True)))
            _rename(drafts[-1], targets[-1])
        if marker is not None:
            _sync_folders(targets)
    except BaseException:
        if marker is not None:
            remove(note)
        _put_back(done)
        raise
    for _, old in done:
        if old is not None:
            remove(old)


def _draft_of(path: Path) -> Path:
    # The ending stays last: engines choose the format by it.
    return path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part{path.suffix}")


def _kept(target: Path, *, aside: bool = False) -> Path | None:
    """Where the file that is to be replaced is kept until all are: a second name of it, or it is moved `aside`.

    The name does not change from run to run, so that what a killed run left goes with the next one.
    """
    old = target.with_name(f".{target.name}.dalenius-old")
    remove(old)
    if not target.exists():
        return None
    if aside:
        os.replace(target, old)
        return old
    try:
        os.link(target, old)
    except OSError:  # not every file system has links
        shutil.copy2(target, old)
    return old


def _rename(draft: Path, target: Path) -> None:
    if target.is_file() and draft.is_file():
        draft.chmod(stat.S_IMODE(target.stat().st_mode))
    os.replace(draft, target)


def _put_back(done: Sequence[tuple[Path, Path | None]]) -> None:
    try:
        for target, old in reversed(done):
            if old is None or target.is_dir():
                remove(target)
            if old is not None:
                os.replace(old, target)
                remove(old)  # a rename onto another name of the same file does nothing
    except OSError as error:
        failed = InputError(
            f"{file_error(error, done[0][0], 'restore')} Some files are new and some are old. Write them again."
        )
    else:
        return
    raise failed


def remove(path: Path) -> None:
    """Remove a draft, or a folder of part files, if it is there and can be removed."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Wait until a file, or a folder of part files, is on the disk."""
    for part in [*path.iterdir(), path] if path.is_dir() else [path]:
        file = os.open(part, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _sync_folders(targets: Iterable[Path]) -> None:
    """Wait until renames are on the disk. Some file systems cannot tell."""
    for folder in sorted({target.parent for target in targets}):
        with contextlib.suppress(OSError):
            file = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(file)
            finally:
                os.close(file)


def sha256(*paths: Path) -> str:
    """The checksum of a file, or of several one after the other."""
    return checksums(paths)[0]


def checksums(paths: Sequence[Path]) -> tuple[str, list[str]]:
    """The checksum of files one after the other, and that of each. Every file is read once, a piece at a time."""
    whole = hashlib.sha256()
    each = []
    for path in paths:
        own = hashlib.sha256()
        digests = [own] if len(paths) == 1 else [own, whole]
        try:
            with path.open("rb") as file:
                while part := file.read(1 << 20):
                    for digest in digests:
                        digest.update(part)
        except OSError as error:
            raise file_error(error, path, "read") from None
        each.append(own.hexdigest())
    return each[0] if len(paths) == 1 else whole.hexdigest(), each


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]], *, delimiter: str = ",") -> str:
    """Comma-separated text, quoted where needed; a row of one empty field is quoted so that it stays a row."""
    lines: list[str] = []
    # Names that contain another delimiter (or a byte-order mark) would mislead a program that detects the delimiter.
    plain = not any(mark in name for name in header for mark in ";\t\ufeff")
    first = csv.writer(_Lines(lines), quoting=csv.QUOTE_MINIMAL if plain else csv.QUOTE_ALL, delimiter=delimiter)
    first.writerow(header)
    csv.writer(_Lines(lines), delimiter=delimiter).writerows(rows)
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
