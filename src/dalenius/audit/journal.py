"""What was measured is kept, a file for each release, so that an interrupted run goes on where it was.

A file's name is a checksum of everything that the figures depend on: the table, the held-out people, the schema and what it
reads, the seed, the version, the method and its parameters. Another table or another schema finds nothing here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dalenius.errors import InputError, file_error
from dalenius.output import write_texts

FORMAT = 1


class Journal:
    """A folder with a file for each release that was measured."""

    def __init__(self, folder: Path, basis: Mapping[str, Any], *, fresh: bool = False) -> None:
        self.folder, self.basis, self.fresh = folder, dict(basis), fresh
        if folder.exists() and not folder.is_dir():
            raise InputError(
                f"{str(folder)!r} is a file; what was measured is kept in a folder. Name one: --resume FOLDER."
            )
        if not folder.exists() and not folder.parent.is_dir():
            raise InputError(
                f"The folder {str(folder.parent)!r} does not exist. Make it first, or name another: --resume."
            )

    def read(self, what: Mapping[str, Any]) -> dict[str, Any] | None:
        """What was found of this; nothing if it is not known, or the file is damaged."""
        if self.fresh:
            return None
        try:
            found = json.loads(self._path(what).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        known = isinstance(found, dict) and found.get("of") == json.loads(self._text(what))
        return found["found"] if known else None

    def has(self, what: Mapping[str, Any]) -> bool:
        """Whether something is kept of this."""
        return self._path(what).is_file()

    def write(self, what: Mapping[str, Any], found: Mapping[str, Any]) -> None:
        """Keep what was found of this."""
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{file_error(error, self.folder, 'keep what was measured in')} Name another: --resume."
            ) from None
        document = {"of": json.loads(self._text(what)), "found": found}
        write_texts({self._path(what): json.dumps(document, ensure_ascii=False, indent=1) + "\n"})

    def _text(self, what: Mapping[str, Any]) -> str:
        whole = {"format": FORMAT, **self.basis, **what}
        return json.dumps(whole, sort_keys=True, ensure_ascii=True)

    def _path(self, what: Mapping[str, Any]) -> Path:
        return self.folder / f"{hashlib.sha256(self._text(what).encode()).hexdigest()[:32]}.json"
