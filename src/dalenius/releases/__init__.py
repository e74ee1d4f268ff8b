"""Releases: what the world sees, as frozen data, and the files that hold them."""

from __future__ import annotations

from dalenius.releases.anatomized import Anatomized
from dalenius.releases.base import GroupCells, GroupedRelease, Grouping, Regions, Release
from dalenius.releases.centroids import Centroids
from dalenius.releases.channel import Channel
from dalenius.releases.files import FileNames
from dalenius.releases.generalized import Generalized
from dalenius.releases.label import Label
from dalenius.releases.noisy_counts import NoisyCounts
from dalenius.releases.opening import check_sidecar_free, find_files, first_rows, read, verify
from dalenius.releases.registry import KINDS

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
    "first_rows",
    "read",
    "verify",
]
