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
    """The document. Nothing tells a person's value unless revealed."""
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
    """How many people and classes; noisy counts do not tell. Of these, the ε that their noise gives."""
    classes, counts = release.classes(), release.counts()
    epsilon = None if counts is None else counts.noise_epsilon
    if classes is None:
        return {"people": None, "classes": None, "suppressed": None, "epsilon": epsilon}
    return {"people": classes.people, "classes": classes.groups, "suppressed": classes.suppressed, "epsilon": epsilon}


def _attack_document(found: Attack) -> dict[str, Any]:
    adversary = ADVERSARIES[found.adversary]
    return {
        "adversary": found.adversary,
        "knows": adversary.knows,
        "does": adversary.does,
        "sensitive": found.column,
        "method": found.belief.method,
        "success": asdict(found.success),
        "success_assumed": asdict(found.success_assumed),
        "naive": asdict(found.naive),
        "control": {
            **asdict(found.control),
            "kind": found.control_kind,
            "naive": found.control_naive,
            "perfect_breach": found.control_breach,
            "unmatched": found.control_unmatched,
            "comparable": found.comparable,
            "shift": found.shift.least,
            "shift_at_most": found.shift.most,
        },
        "gain": asdict(found.gain),
        "residual": found.residual,
        "verdict": found.verdict,
        "confidence": asdict(found.confidence),
        "perfect_breach": found.perfect_breach,
        "perfect_breach_sure": found.perfect_breach_sure,
        "high_confidence": asdict(found.high_confidence),
        "calibration": found.calibration_document,
        "unmatched": found.unmatched,
        "lower_bound": found.lower_bound,
        "gain_lower_bound": found.gain_lower_bound,
        "missing": found.missing,
        "right_group": asdict(found.right_group),
        "converged": found.control_settled,
    }
