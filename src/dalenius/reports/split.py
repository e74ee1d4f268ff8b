"""A split of a file as terminal text."""

from __future__ import annotations

from dalenius.auditing.splitting import Split
from dalenius.reports.words import split as say

__all__ = ["lines"]


def lines(split: Split) -> list[str]:
    """Return what `dalenius split` prints: the files, and how many rows each has."""
    return [
        say.published(split.published, split.rows_published),
        say.held_out(split.others, split.rows_others, f"{split.share:g}", split.seed),
        say.record(split.record),
    ]
