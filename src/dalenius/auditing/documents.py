"""The audit as JSON has it, described by `audit.schema.json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dalenius.adversaries import ADVERSARIES
from dalenius.auditing.attacks import GAIN_FORMULA, RESIDUAL_FORMULA, Attack
from dalenius.criteria import document, worst_of
from dalenius.measures import remaining
from dalenius.measures.accuracy import CONFIDENCE, MARGIN
from dalenius.releases import Release

if TYPE_CHECKING:
    from dalenius.auditing.audit import Audit


def audit_document(audit: Audit, *, reveal: bool = False) -> dict[str, Any]:
    """Return the document. It has no person's value unless revealed."""
    return {
        "release": {
            "kind": audit.release.kind,
            **_extent(audit.release),
            "columns_left": remaining.to_document(audit.columns_left),
            "quasi": [column.name for column in audit.schema.quasi],
            "sensitive": [column.name for column in audit.schema.sensitive],
            "sha256": audit.hashes,
        },
        "truth": audit.has_truth,
        "held_out": audit.held_out,
        "verdict": audit.verdict,
        "policy": [asdict(threshold) for threshold in audit.thresholds],
        "levels": {
            **document(worst_of(list(audit.levels.values()))),
            "sensitive": {name: document(levels) for name, levels in audit.levels.items()},
        }
        if audit.levels
        else None,
        "suppressed_rows": None if audit.suppressed_rows is None else audit.suppressed_rows.to_document(),
        "risks": None if audit.risks is None else asdict(audit.risks),
        "attacks": [_attack_document(found) for found in audit.attacks],
        "refused": audit.refused,
        "epsilon_privacy": [asdict(disclosure) for disclosure in audit.disclosures],
        "at_risk": [person.to_document(reveal=reveal) for person in audit.at_risk],
        "estimation_error": {name: asdict(found) for name, found in audit.errors.items()},
        "relative_threats": {name: found.to_document() for name, found in audit.threats.items()},
        "utility": audit.utility,
        "limits": audit.limits,
        "formulas": {"gain": GAIN_FORMULA, "residual": RESIDUAL_FORMULA},
        "parameters": {"seed": audit.seed, "confidence": CONFIDENCE, "margin": MARGIN},
    }


def _extent(release: Release) -> dict[str, float | None]:
    """Return how many people and classes there are, or for noisy counts, which do not say this, the ε of their noise."""
    classes, counts = release.classes(), release.counts()
    epsilon = None if counts is None else counts.noise_epsilon
    if classes is None:
        return {"people": None, "classes": None, "suppressed": None, "epsilon": epsilon}
    return {"people": classes.people, "classes": classes.groups, "suppressed": classes.suppressed, "epsilon": epsilon}


def _attack_document(attack: Attack) -> dict[str, Any]:
    adversary = ADVERSARIES[attack.adversary]
    return {
        "adversary": attack.adversary,
        "knows": adversary.knows,
        "does": adversary.does,
        "sensitive": attack.column,
        "method": attack.belief.method,
        "success": asdict(attack.success),
        "success_assumed": asdict(attack.success_assumed),
        "naive": asdict(attack.naive),
        "control": {
            **asdict(attack.control),
            "kind": attack.control_kind,
            "naive": attack.control_naive,
            "perfect_breach": attack.control_breach,
            "unmatched": attack.control_unmatched,
            "comparable": attack.comparable,
            "shift": attack.shift.least,
            "shift_at_most": attack.shift.most,
        },
        "gain": asdict(attack.gain),
        "residual": attack.residual,
        "verdict": attack.verdict,
        "confidence": asdict(attack.confidence),
        "perfect_breach": attack.perfect_breach,
        "perfect_breach_sure": attack.perfect_breach_sure,
        "high_confidence": asdict(attack.high_confidence),
        "calibration": attack.calibration_document,
        "unmatched": attack.unmatched,
        "lower_bound": attack.lower_bound,
        "gain_lower_bound": attack.gain_lower_bound,
        "missing": attack.missing,
        "right_group": asdict(attack.right_group),
        "converged": attack.is_control_converged,
    }
