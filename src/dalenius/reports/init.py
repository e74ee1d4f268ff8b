"""A guessed schema as terminal text."""

from __future__ import annotations

import shlex

from dalenius.guess import Proposal


def lines(proposal: Proposal) -> list[str]:
    """What `dalenius init` prints: what to do next."""
    return [
        f"Wrote {proposal.path}. Check every line marked GUESS, then:",
        "  " + shlex.join(["dalenius", "check", proposal.name, "--schema", str(proposal.path)]),
    ]
