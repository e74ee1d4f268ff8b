"""Hold people out at random, so that an attack on a release has a control: similar people who are not in it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from dalenius.engines import Rows, default
from dalenius.errors import InputError, ParameterError, check_seed, counted
from dalenius.output import replacing, sha256
from dalenius.table import Table

__all__ = ["MAX_SPLIT_PEOPLE", "SHARE", "drawn_together", "record_of", "split", "split_rows"]

MAX_SPLIT_PEOPLE = 999_999_999  # NumPy can draw from at most this many people by their counts
SHARE = 0.3


def split(table: Table, share: float = SHARE, *, seed: int = 0) -> tuple[Table, Table]:
    """Split the people of a table into those to publish and a share to hold out, drawn without replacement from its cells."""
    cells = table.cells()
    held = _held(cells.people, share, seed, lambda: table.rows.name)
    if cells.people > MAX_SPLIT_PEOPLE:
        raise InputError(
            f"{table.rows.name} has {cells.people:,} people, and at most {MAX_SPLIT_PEOPLE:,} can be split here. Pass similar "
            "people with --holdout FILE."
        )
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(cells.counts, held, method="marginals")
    return table.part(cells.counts - drawn), table.part(drawn)


def split_rows(rows: Rows, share: float, kept: Path, others: Path, *, seed: int = 0) -> tuple[int, int]:
    """Split the rows of a file into two files, in their order and with their texts. Return how many rows each has.

    Both are made of a copy: if the file changed between two reads, people could be in both files, or in neither.
    """
    with (
        replacing(kept, others, record_of(others)) as (*drafts, record),
        tempfile.TemporaryDirectory(prefix="dalenius-") as folder,
    ):
        copy = Path(folder) / "rows.parquet"
        rows.copy(copy)
        copied = default().open(copy)
        total = copied.total()
        held = _held(total, share, seed, lambda: rows.name)
        chosen = np.zeros(total, dtype=np.bool_)
        chosen[np.random.default_rng(seed).choice(total, held, replace=False, shuffle=False)] = True
        for draft, is_chosen in zip(drafts, (~chosen, chosen), strict=True):
            copied.pick(np.flatnonzero(is_chosen).astype(np.int64), draft)
        details = {
            "share": share,
            "seed": seed,
            "sha256": {"published": sha256(drafts[0]), "others": sha256(drafts[1])},
        }
        record.write_text(json.dumps(details, indent=2) + "\n", encoding="utf-8")
    return total - held, held


def record_of(others: Path) -> Path:
    """Return the path where `split` records which two files it made."""
    return Path(f"{others}.split.json")


def drawn_together(truth: Sequence[Path], holdout: Sequence[Path]) -> bool:
    """Return whether a record next to the held-out people says that `split` made both files, and neither has changed since."""
    if len(truth) != 1 or len(holdout) != 1 or not record_of(holdout[0]).is_file():
        return False
    try:
        recorded = json.loads(record_of(holdout[0]).read_text(encoding="utf-8"))["sha256"]
        return bool((recorded["published"], recorded["others"]) == (sha256(truth[0]), sha256(holdout[0])))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False  # not a record of ours


def _held(total: int, share: float, seed: int, name: Callable[[], str]) -> int:
    """Return how many people to hold out: at least one, and not all."""
    check_seed(seed, "the split")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise ParameterError("share", "the split", "a number above 0 and below 1", share)
    held = round(share * total)
    if not 0 < held < total:
        raise InputError(
            f"{name()} has {counted(total, 'person', 'people')}: a share of {share:g} is {'everybody' if held else 'nobody'}. "
            f"Hold out a {'smaller' if held else 'larger'} share."
        )
    return held
