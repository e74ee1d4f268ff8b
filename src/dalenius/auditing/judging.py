"""The fourth step of an audit: compare figures with the thresholds of `[policy]`, and reach the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from dalenius.auditing.figures import Findings, figures
from dalenius.auditing.policy import Figure, Threshold, apply, overall


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The figures that the policy looks at, and the outcome of each threshold."""

    figures: dict[str, Figure]
    thresholds: tuple[Threshold, ...]

    @property
    def verdict(self) -> str:
        return overall(self.thresholds)


def judge(findings: Findings) -> Judgement:
    """Compare what was measured with the policy. A published identifier violates any policy."""
    measured = figures(findings)
    thresholds = apply(findings.policy, measured)
    published = findings.opening.identifiers
    if published and thresholds:
        thresholds = (Threshold("identifiers", "none published", len(published), "violated", ""), *thresholds)
    return Judgement(measured, thresholds)
