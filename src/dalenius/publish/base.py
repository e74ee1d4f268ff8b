"""What publishing brings: a release, how it was made, and the files."""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dalenius.errors import InputError
from dalenius.output import replacing, sha256
from dalenius.release import GroupedRelease, sidecar
from dalenius.table import Table


class Published(ABC):
    """A release made of a table: `release` is its data, `write` puts it on disk with its sidecar."""

    kind: ClassVar[str]  # that of the release, known without making it
    table: Table

    @property
    @abstractmethod
    def release(self) -> GroupedRelease:
        """What the world will see."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Method, parameters and result, for the sidecar and for `--json`."""

    @abstractmethod
    def _write_rows(self, path: Path) -> None:
        """Write the release's file; the caller renames it into place."""

    def write(self, path: str | Path, *, extra: dict[str, Any] | None = None) -> None:
        """Write the release in the table's row order with every non-identifier column, and `<path>.meta.json`."""
        path = Path(path)
        if isinstance(self.table.source, str | Path) and path.exists() and path.samefile(self.table.source):
            raise InputError(f"{path}: the release would overwrite the table it is made of. Name another file.")
        with replacing(path, sidecar.path_of(path)) as (draft, meta):
            self._write_rows(draft)
            # No checksum of the table: whoever knows all but a few cells of it could try the rest against that.
            document = {
                "kind": self.kind,
                **self.describe(),
                **(extra or {}),
                "versions": versions(),
                "sha256": {"release": sha256(draft)},
            }
            meta.write_text(sidecar.text(document), encoding="utf-8")


def versions() -> dict[str, str]:
    from dalenius import __version__

    return {"dalenius": __version__, "python": platform.python_version(), "numpy": np.__version__}
