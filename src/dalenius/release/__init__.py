"""Releases: what the world sees, as frozen data, and the files that hold them."""

from __future__ import annotations

from dalenius.release.anatomized import Anatomized
from dalenius.release.base import GroupCells, GroupedRelease, Grouping, Regions, Release
from dalenius.release.centroids import Centroids
from dalenius.release.channel import Channel
from dalenius.release.files import FileNames
from dalenius.release.generalized import Generalized
from dalenius.release.label import Label
from dalenius.release.noisy_counts import NoisyCounts
from dalenius.release.opening import check_sidecar_free, find_files, read, verify
from dalenius.release.registry import KINDS

__all__ = [
    "KINDS",
    "Anatomized",
    "Centroids",
    "Channel",
    "FileNames",
    "Generalized",
    "GroupCells",
    "GroupedRelease",
    "Grouping",
    "Label",
    "NoisyCounts",
    "Regions",
    "Release",
    "check_sidecar_free",
    "find_files",
    "read",
    "verify",
]
