"""The kinds of releases: reading, writing, `--kind` and the contract tests go through this."""

from __future__ import annotations

from dalenius.plugins import Registry
from dalenius.releases.anatomized import Anatomized
from dalenius.releases.base import Release
from dalenius.releases.centroids import Centroids
from dalenius.releases.channel import Channel
from dalenius.releases.generalized import Generalized
from dalenius.releases.noisy_counts import NoisyCounts

__all__ = ["KINDS"]

# A new kind is one file and one line here, or a plug-in's entry point in the group `dalenius.kinds`.
# The first one is the kind of files that do not say theirs.
KINDS: Registry[type[Release]] = Registry(
    "dalenius.kinds",
    (
        Generalized,
        Centroids,
        Anatomized,
        NoisyCounts,
        Channel,
    ),
    lambda release: release.kind,
    base=Release,
    required=("kind", "description"),
)
