"""The evidence that adversaries need, and the reason why a release without it cannot be attacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from dalenius.releases import Release
from dalenius.releases.evidence import Shape

__all__ = ["Evidence", "lacking", "offers", "required"]

Evidence = Shape
T = TypeVar("T")
_LACKS: Mapping[Evidence, str] = {
    "classes": "has no groups",
    "rows": "has no groups",
    "links": "has no link within groups that was cut",
    "centres": "has no centroids",
    "counts": "does not count each quasi-identifier with the sensitive values",
    "draws": "has no rows that were drawn from a model",
}


def offers(release: Release, evidence: Evidence) -> bool:
    """Return whether a release offers this evidence."""
    return getattr(release, evidence)() is not None


def required(evidence: T | None, release: Release) -> T:
    """Return evidence that must be there, because the adversary did not refuse the release."""
    if evidence is None:
        raise ValueError(f"a release of kind {release.kind!r} lacks what this adversary needs, but was not refused")
    return evidence


def lacking(release: Release, needs: Sequence[Evidence]) -> str | None:
    """Return why a release that offers none of this evidence cannot be attacked; None if it offers some of it."""
    if any(offers(release, evidence) for evidence in needs):
        return None
    if "rows" in needs and offers(release, "centres"):
        return f"centroids do not say which values they stand for; {_who_attacks(release)} attacks them"
    if "rows" in needs and offers(release, "classes"):
        return f"a release of kind {release.kind!r} does not say who may be in a group"
    if "centres" in needs and (offers(release, "rows") or offers(release, "links")):
        return f"it has no centroids but labels or tuples; {_who_attacks(release)} attack these"
    return f"a release of kind {release.kind!r} {_LACKS[needs[0]]}"


def _who_attacks(release: Release) -> str:
    """Return the names of the adversaries that an audit plays on such a release."""
    from dalenius.adversaries.registry import ADVERSARIES

    able = (
        name
        for name, each in ADVERSARIES.items()
        if each.is_audited and any(offers(release, need) for need in each.needs)
    )
    return " and ".join(able)
