"""A split of a file, on the terminal."""

from __future__ import annotations

from dalenius.reports.words.en import rows


def published(file: object, n: int) -> str:
    return f"Wrote {file}: {rows(n)} to publish"


def held_out(file: object, n: int, share: str, seed: int) -> str:
    return f"Wrote {file}: {rows(n)} held out (a share of {share}, drawn with seed {seed})"


def record(file: object) -> str:
    return f"Wrote {file}: shows that both files come from one table"
