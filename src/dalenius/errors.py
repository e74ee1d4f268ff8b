"""Errors that tell the reader what is wrong, where, what was found there, and what to do."""

from __future__ import annotations

import difflib
import errno
import sys
from collections.abc import Iterable
from numbers import Integral

__all__ = [
    "DaleniusError",
    "InputError",
    "Interrupted",
    "ParameterError",
    "check_seed",
    "counted",
    "file_error",
    "is_finite",
    "listing",
    "nearest",
]


class DaleniusError(Exception):
    """Base class of errors in the input, as opposed to bugs. The command line exits with `exit_code`."""

    exit_code = 2


class InputError(DaleniusError):
    """A file, a value or an option that cannot be used."""


class ParameterError(DaleniusError, ValueError):
    """A parameter with a value that is not allowed. It is also a ValueError, as Python programs expect."""

    def __init__(self, name: str, owner: str, allowed: str, got: object) -> None:
        super().__init__(f"The '{name}' parameter of {owner} must be {allowed}. Got {got!r} instead.")


class Interrupted(DaleniusError):
    """The user interrupted the work, and part of the result is kept. The message says how to continue."""

    exit_code = 130


def is_finite(value: object) -> bool:
    """Return whether a value is a finite number. A bool is not, nor is an int that is too large for a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max


def check_seed(seed: object, owner: str) -> None:
    """Refuse a seed that is not a whole number ≥ 0."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ParameterError("seed", owner, "an int ≥ 0", seed)


def nearest(word: str, known: Iterable[str], *, limit: int = 20_000) -> str:
    """Return the hint ` Did you mean 'x'?`, or nothing if no known word is close."""
    candidates = []
    for candidate in known:
        candidates.append(candidate)
        if len(candidates) >= limit:
            break
    lowered = {candidate.lower(): candidate for candidate in reversed(candidates)}
    close = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.5)
    if not close:
        return ""
    return f" Did you mean {lowered[close[0]]!r}?"


def listing(words: Iterable[str], *, limit: int = 12) -> str:
    """Return a readable list of names, shortened if it is long."""
    names = list(words)
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def counted(n: int, singular: str, plural: str) -> str:
    """Return a number with its noun: `1 class`, `2,000 classes`."""
    return f"{n:,} {singular if n == 1 else plural}"


def file_error(error: OSError, path: object, doing: str) -> InputError:
    """Translate an error of the operating system into one sentence with a hint."""
    hints = {
        errno.ENOENT: "there is no such file or folder",
        errno.EACCES: "permission denied. Check who may read or write it",
        errno.EPERM: "permission denied. Check who may read or write it",
        errno.EISDIR: "that is a folder, but a file is needed",
        errno.ENOTDIR: "part of that path is a file, not a folder",
        errno.ENOSPC: "the disk is full. Free some space, or write elsewhere",
        errno.EDQUOT: "the disk quota is used up. Free some space, or write elsewhere",
        errno.EFBIG: "the file would be larger than the system allows",
        errno.EROFS: "that file system is read-only. Write elsewhere",
    }
    reason = hints.get(error.errno or 0, error.strerror or str(error))
    return InputError(f"Cannot {doing} {str(path)!r}: {reason}.")
