"""Short texts for `__repr__`: how much of something there is, and the names of its columns. Never a value of a person."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["named", "short_repr"]

MAX_WIDTH = 100
MAX_LINES = 15
MAX_NAMES = 8


def short_repr(title: str, *lines: str) -> str:
    """Return a title and some lines in angle brackets. Empty lines are left out, long ones are cut."""
    kept = [title, *(f"  {line}" for line in lines if line)]
    if len(kept) > MAX_LINES:
        kept = [*kept[: MAX_LINES - 1], f"  and {len(kept) - MAX_LINES + 1} more lines"]
    text = "\n".join(_cut(line, MAX_WIDTH - 2) for line in kept)  # the brackets need two characters
    return f"<{text}>"


def named(what: str, names: Iterable[str]) -> str:
    """Return `what: first, second and 3 more`; nothing if there are no names."""
    listed = list(names)
    if not listed:
        return ""
    shown = ", ".join(_cut(name, 30) for name in listed[:MAX_NAMES])
    return f"{what}: {shown}" + (f" and {len(listed) - MAX_NAMES} more" if len(listed) > MAX_NAMES else "")


def _cut(text: str, width: int) -> str:
    """Return a text as one line of at most this width."""
    line = "".join(char if char.isprintable() else "?" for char in text)
    return line if len(line) <= width else line[: width - 1] + "…"
