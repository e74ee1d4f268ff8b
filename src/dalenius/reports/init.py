"""A proposed schema as terminal text."""

from __future__ import annotations

import shlex

from dalenius.guess import Guessed
from dalenius.reports.words import init as say

__all__ = ["lines"]


def lines(guessed: Guessed) -> list[str]:
    """Return what `dalenius init` prints: what to do next."""
    command = shlex.join(["dalenius", "check", str(guessed.table), "--schema", str(guessed.schema)])
    return [say.written(guessed.schema), f"  {command}"]
