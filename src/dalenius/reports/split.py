"""A split of a file as terminal text."""

from __future__ import annotations

from dalenius.auditing.splitting import Split
from dalenius.errors import counted


def lines(split: Split) -> list[str]:
    """What `dalenius split` prints: the files, and how many rows each has."""
    held = counted(split.rows_others, "row", "rows")
    return [
        f"Wrote {split.published}: {counted(split.rows_published, 'row', 'rows')} to publish",
        f"Wrote {split.others}: {held} held out, a share of {split.share:g} drawn by seed {split.seed}",
        f"Wrote {split.record}: audit, attack and frontier see by it that both are of one table",
    ]
