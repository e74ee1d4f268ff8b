"""The evidence that adversaries need, and the sentence for a release that does not offer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from dalenius.release import Release

Evidence = Literal["classes", "rows", "links", "centres", "counts"]

_METHODS: Mapping[Evidence, Callable[[Release], object]] = {
    "classes": lambda release: release.classes(),
    "rows": lambda release: release.rows(),
    "links": lambda release: release.links(),
    "centres": lambda release: release.centres(),
    "counts": lambda release: release.counts(),
}
_LACKS: Mapping[Evidence, str] = {
    "classes": "has no groups",
    "rows": "has no groups",
    "links": "has no link within groups that was cut",
    "centres": "has no centroids",
    "counts": "does not count each quasi-identifier with the sensitive values",
}


def offers(release: Release, evidence: Evidence) -> bool:
    """Whether a release offers this evidence."""
    return _METHODS[evidence](release) is not None


def lacking(release: Release, needs: Sequence[Evidence]) -> str | None:
    """Why a release that offers none of this evidence cannot be attacked; None if it offers any of it."""
    if any(offers(release, evidence) for evidence in needs):
        return None
    if "rows" in needs and offers(release, "centres"):
        return "centroids do not say which values they stand for; nearest-centroid attacks them"
    if "rows" in needs and offers(release, "classes"):
        return f"a release of kind {release.kind!r} does not say who may be in a group"
    if "centres" in needs and (offers(release, "rows") or offers(release, "links")):
        return "it has no centroids but labels or tuples; random-worlds and attacker attack these"
    return f"a release of kind {release.kind!r} {_LACKS[needs[0]]}"
