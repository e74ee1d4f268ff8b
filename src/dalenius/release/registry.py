"""The kinds of releases: reading, writing, `--kind` and the contract tests go through this."""

from __future__ import annotations

from dalenius.plugins import Registry
from dalenius.release.anatomized import Anatomized
from dalenius.release.base import Release
from dalenius.release.centroids import Centroids
from dalenius.release.channel import Channel
from dalenius.release.generalized import Generalized
from dalenius.release.noisy_counts import NoisyCounts

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
)
