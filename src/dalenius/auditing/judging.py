"""The fourth room of an audit: figures against the thresholds of `[policy]`, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from dalenius.auditing.figures import Findings, figures
from dalenius.auditing.policy import Figure, Threshold, apply, overall


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What the policy looks at, and what follows."""

    figures: dict[str, Figure]
    thresholds: tuple[Threshold, ...]

    @property
    def verdict(self) -> str:
        return overall(self.thresholds)


def judge(findings: Findings) -> Judgement:
    """Hold what was found against the policy. An identifier that is published violates any policy."""
    measured = figures(findings)
    thresholds = apply(findings.policy, measured)
    published = findings.opening.identifiers
    if published and thresholds:
        thresholds = (Threshold("identifiers", "none published", len(published), "violated", ""), *thresholds)
    return Judgement(measured, thresholds)
