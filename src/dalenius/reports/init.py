"""A guessed schema as terminal text."""

from __future__ import annotations

import shlex

from dalenius.guess import Guessed


def lines(guessed: Guessed) -> list[str]:
    """What `dalenius init` prints: what to do next."""
    return [
        f"Wrote {guessed.schema}. Check every line marked GUESS, then:",
        "  " + shlex.join(["dalenius", "check", str(guessed.table), "--schema", str(guessed.schema)]),
    ]
