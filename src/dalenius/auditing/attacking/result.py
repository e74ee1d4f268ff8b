"""The result of an attack: beliefs about targets, relative threats, and how often the adversary is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalenius.auditing.attacks import Attack
from dalenius.auditing.targets import beliefs_text
from dalenius.belief import Belief
from dalenius.result import Result


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """How often the adversary is right about the people of the table, and about those held out."""

    attack: Attack
    figures: dict[str, Any]
    looks_for_centres: bool  # whether the adversary looks for the nearest centroid
    is_group_known: bool | None = None  # None: groups do not matter
    group_unknown_because: str = ""

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {}
        if self.is_group_known is not None:
            document["group_known"] = self.is_group_known
        if self.group_unknown_because:
            document["group_unknown_because"] = self.group_unknown_because
        document |= {"adversary": self.attack.adversary, "method": self.attack.belief.method, **self.figures}
        document["people_diagnostics"] = dict(self.attack.belief.diagnostics)
        document["holdout_diagnostics"] = dict(self.attack.control_diagnostics)
        return document


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleaseAttack(Result):
    """An attack on one sensitive column. Each part is None unless it was requested.

    `to_pandas` has one row for each target and value, as `-o` writes it: `target` (the number of its row, from 0), `value`,
    `posterior`, `baseline`, `stderr`, and `guess` if the adversary does not guess what it believes most. An attack without targets
    has no such table.
    """

    adversary: str
    column: str
    belief: Belief | None  # about the targets
    threats: dict[str, Any] | None
    rated: Rated | None
    warnings: tuple[str, ...]  # about samples that have not converged

    @property
    def is_converged(self) -> bool:
        """Return whether everything that was sampled is reliable."""
        return not self.warnings

    def beliefs_text(self) -> str:
        """Return the beliefs about the targets as CSV."""
        if self.belief is None:
            raise ValueError("no targets were attacked")
        return beliefs_text(self.belief)

    def to_document(self) -> dict[str, Any]:
        """Return the attack as JSON has it. Keys about targets take precedence over those about everybody's threats."""
        document: dict[str, Any] = {**(self.threats or {}), "sensitive": self.column}
        if self.belief is not None:
            document |= {
                "diagnostics": dict(self.belief.diagnostics),
                "adversary": self.adversary,
                "targets": len(self.belief),
                "unmatched": int((~self.belief.matched).sum()),
                "method": self.belief.method,
                "largest_stderr": float(np.nanmax(self.belief.stderr, initial=0.0)),
            }
        if self.rated is not None:
            document |= self.rated.to_document()
        document["converged"] = self.is_converged
        return document


def belief_warnings(what: str, diagnostics: Mapping[str, Any]) -> list[str]:
    """Return the warnings about sampled beliefs; none if they have converged."""
    if diagnostics.get("converged", True):
        return []
    ended = "interrupted" if diagnostics["interrupted"] else "stopped"
    why = "; ".join(diagnostics.get("not_converged_because", ()))
    return [
        f"NOT CONVERGED: beliefs {what} were {ended} after {diagnostics['sweeps']:,} sweeps of each of {diagnostics['chains']} "
        f"chains with an error up to {diagnostics['largest_mcse']:.4f} and R-hat {diagnostics['largest_rhat']:.3f}. Do not rely on "
        "these numbers." + (f" Why: {why}." if why else "")
    ]


def threat_warnings(threats: Mapping[str, Any]) -> list[str]:
    """Return the warnings about relative threats, which may be imprecise although the beliefs behind them have converged."""
    warnings = belief_warnings("about the people of the table", threats["diagnostics"])
    if warnings or threats["converged"]:
        return warnings
    error, name = max((threats["stderr"][name], name) for name in ("GT_A", "GT_L", "RGT_A"))
    return [
        f"NOT CONVERGED: after {threats['diagnostics']['sweeps']:,} sweeps {name} is known only to ± {error:.4f}, because the "
        "most likely values are tied or nearly tied. The beliefs themselves have converged."
    ]
