"""The functions of `import dalenius as dl`. The command of the same name calls them with the same options.

One file per function: its signature declares its options (see `dalenius.options`). Heavy modules are imported when a function is
called. `FUNCTIONS` lists them in the order in which help and documentation show them.
"""

from __future__ import annotations

from dalenius.api.attacks import attack
from dalenius.api.audits import audit
from dalenius.api.channels import channel
from dalenius.api.checks import check
from dalenius.api.comparisons import compare
from dalenius.api.compositions import compose
from dalenius.api.frontiers import frontier
from dalenius.api.guides import guide
from dalenius.api.lattices import lattice
from dalenius.api.proposals import init
from dalenius.api.publications import publish
from dalenius.api.splits import split
from dalenius.api.support import Context, Declaration, declaration_of

FUNCTIONS = (init, check, split, publish, lattice, attack, compose, audit, compare, frontier, channel, guide)

__all__ = [
    "FUNCTIONS",
    "Context",
    "Declaration",
    "attack",
    "audit",
    "channel",
    "check",
    "compare",
    "compose",
    "declaration_of",
    "frontier",
    "guide",
    "init",
    "lattice",
    "publish",
    "split",
]
