"""What can go wrong, said so that the reader can mend it: what, where, what came, what to do."""

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
    """Base of every error that is the input's fault, not the program's. The command line exits with `exit_code`."""

    exit_code = 2


class InputError(DaleniusError):
    """A file, a value or an option that cannot be used."""


class ParameterError(DaleniusError, ValueError):
    """A parameter outside what its owner allows; a ValueError, too, as Python programs expect."""

    def __init__(self, name: str, owner: str, allowed: str, got: object) -> None:
        super().__init__(f"The '{name}' parameter of {owner} must be {allowed}. Got {got!r} instead.")


class Interrupted(DaleniusError):
    """Somebody ended what was going on, and something of it is kept; the message says how to go on."""

    exit_code = 130


def is_finite(value: object) -> bool:
    """Whether it is a number that is neither infinite nor nan; an int that no float holds is none, nor is a bool."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max


def check_seed(seed: object, owner: str) -> None:
    """A seed is a whole number that is not negative."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ParameterError("seed", owner, "an int ≥ 0", seed)


def nearest(word: str, known: Iterable[str], *, limit: int = 20_000) -> str:
    """A hint, `Did you mean 'x'?` with a leading space, or nothing when nothing known is close."""
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
    """A readable list of names, cut where it would fill the screen."""
    names = list(words)
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def counted(n: int, singular: str, plural: str) -> str:
    """A number with its noun: `1 class`, `2,000 classes`."""
    return f"{n:,} {singular if n == 1 else plural}"


def file_error(error: OSError, path: object, doing: str) -> InputError:
    """The operating system's refusal as one sentence with a hint."""
    hints = {
        errno.ENOENT: "there is no such file or folder",
        errno.EACCES: "permission denied; check who may read or write it",
        errno.EPERM: "permission denied; check who may read or write it",
        errno.EISDIR: "that is a folder, a file is needed",
        errno.ENOTDIR: "a part of that path is a file, not a folder",
        errno.ENOSPC: "the disk is full; free some space or write elsewhere",
        errno.EDQUOT: "the disk quota is used up; free some space or write elsewhere",
        errno.EFBIG: "the file would be larger than the system allows",
        errno.EROFS: "that file system is read-only; write elsewhere",
    }
    reason = hints.get(error.errno or 0, error.strerror or str(error))
    return InputError(f"Cannot {doing} {str(path)!r}: {reason}.")
