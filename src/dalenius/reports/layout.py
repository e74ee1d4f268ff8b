"""Lay text out for a terminal: sentences are wrapped, tables are aligned, and nothing is wider than a screen."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence

__all__ = ["WIDTH", "grid", "labelled", "wrapped"]

WIDTH = 80
GAP = 2  # spaces between the columns of a table
MIN_LAST = 20  # characters that the last column of a table needs to be wrapped


def wrapped(text: str, *, indent: int = 2, hanging: int | None = None, lead: str = "") -> list[str]:
    """Return a sentence in lines that fit; `lead` precedes it, and further lines begin `hanging` spaces in."""
    first = " " * indent + lead
    rest = " " * (len(first) if hanging is None else hanging)
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def labelled(label: str, text: str, *, width: int = 15) -> list[str]:
    """Return a text beside its label."""
    return wrapped(text, lead=f"{label:<{width}}")


def grid(
    header: Sequence[str] | None, rows: Sequence[Sequence[str]], *, right: Collection[int] = (), indent: int = 2
) -> list[str]:
    """Return an aligned table, with or without a header.

    If it is too wide, the last column is wrapped if it holds text. Otherwise the table is split into blocks of columns, each of
    which repeats the first column.
    """
    table = [*([] if header is None else [list(header)]), *map(list, rows)]
    if not table:
        return []
    last = len(table[0]) - 1
    widths = [max(len(row[i]) for row in table) for i in range(last + 1)]
    if indent + sum(widths) + GAP * last <= WIDTH:
        return _lines(table, widths, right, indent)
    room = WIDTH - indent - sum(widths[:-1]) - GAP * last
    if last not in right and room >= MIN_LAST:
        return _lines(table, [*widths[:-1], room], right, indent)
    lines: list[str] = []
    for columns in _blocks(widths, indent):
        block = [[row[i] for i in columns] for row in table]
        numeric = {new for new, old in enumerate(columns) if old in right}
        lines += ["", *_lines(block, [widths[i] for i in columns], numeric, indent)]
    return lines[1:]


def _lines(table: Sequence[Sequence[str]], widths: Sequence[int], right: Collection[int], indent: int) -> list[str]:
    """Align cells; a last cell that is too long continues below itself."""
    lines = []
    for row in table:
        first = " " * indent
        for i, cell in enumerate(row[:-1]):
            first += (f"{cell:>{widths[i]}}" if i in right else f"{cell:<{widths[i]}}") + " " * GAP
        end = len(row) - 1
        if end in right:
            lines.append(f"{first}{row[end]:>{widths[end]}}")
        else:
            pieces = textwrap.wrap(row[end], widths[end], break_long_words=False, break_on_hyphens=False) or [""]
            lines += [f"{first}{pieces[0]}".rstrip(), *(" " * len(first) + piece for piece in pieces[1:])]
    return lines


def _blocks(widths: Sequence[int], indent: int) -> list[list[int]]:
    """Divide the columns into blocks that fit; the first column is in each."""
    blocks: list[list[int]] = []
    used = WIDTH + 1
    for i, width in enumerate(widths[1:], 1):
        if used + GAP + width > WIDTH:
            blocks.append([0])
            used = indent + widths[0]
        blocks[-1].append(i)
        used += GAP + width
    return blocks
