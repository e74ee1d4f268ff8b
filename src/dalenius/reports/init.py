"""A proposed schema as terminal text."""

from __future__ import annotations

import shlex

from dalenius.guess import Proposal
from dalenius.reports.words import init as say

__all__ = ["lines"]


def lines(proposal: Proposal) -> list[str]:
    """Return what `dalenius init` prints: what to do next."""
    command = shlex.join(["dalenius", "check", proposal.name, "--schema", str(proposal.path)])
    return [say.written(proposal.path), f"  {command}"]
