"""Keep what was measured, one file per release, so that an interrupted run can continue.

A file's name is a checksum of everything that the figures depend on: the table, the held-out people, the schema and the files it
reads, the seed, the version, the method and its parameters. So another table or schema never reads these files.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalenius import __version__
from dalenius.adversaries import ADVERSARIES
from dalenius.auditing.disclosure import policy_criteria
from dalenius.auditing.holdout import drawn_together
from dalenius.auditing.people import files_of
from dalenius.auditing.playing import SHARP_THRESHOLDS
from dalenius.criteria import CRITERIA
from dalenius.engines import Engine
from dalenius.errors import InputError, file_error
from dalenius.output import sha256, write_texts
from dalenius.publishers.registry import PUBLISHERS
from dalenius.releases import KINDS
from dalenius.releases.prior import Priors
from dalenius.schema import Schema
from dalenius.table import Table

if TYPE_CHECKING:
    from dalenius.auditing.frontier import Setting

__all__ = ["FORMAT", "Journal", "basis"]

FORMAT = 1


class Journal:
    """A folder with a file for each release that was measured."""

    def __init__(self, folder: Path, basis: Mapping[str, Any], *, fresh: bool = False) -> None:
        self.folder, self.basis, self.fresh = folder, dict(basis), fresh
        if folder.exists() and not folder.is_dir():
            raise InputError(
                f"{str(folder)!r} is a file, but what was measured is kept in a folder. Pass another one: --resume FOLDER."
            )
        if not folder.exists() and not folder.parent.is_dir():
            raise InputError(
                f"The folder {str(folder.parent)!r} does not exist. Create it first, or pass another one: --resume FOLDER."
            )

    def read(self, what: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the figures kept for this; None if there are none, or the file is damaged."""
        if self.fresh:
            return None
        try:
            entry = json.loads(self._path(what).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        known = isinstance(entry, dict) and entry.get("of") == json.loads(self._text(what))
        return entry["found"] if known else None

    def has(self, what: Mapping[str, Any]) -> bool:
        """Return whether figures are kept for this."""
        return self._path(what).is_file()

    def write(self, what: Mapping[str, Any], figures: Mapping[str, Any]) -> None:
        """Keep the figures of this."""
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{file_error(error, self.folder, 'keep what was measured in')} Pass another folder: --resume FOLDER."
            ) from None
        document = {"of": json.loads(self._text(what)), "found": figures}
        write_texts({self._path(what): json.dumps(document, ensure_ascii=False, indent=1) + "\n"})

    def _text(self, what: Mapping[str, Any]) -> str:
        whole = {"format": FORMAT, **self.basis, **what}
        return json.dumps(whole, sort_keys=True, ensure_ascii=True)

    def _path(self, what: Mapping[str, Any]) -> Path:
        return self.folder / f"{hashlib.sha256(self._text(what).encode()).hexdigest()[:32]}.json"


def basis(
    setting: Setting,
    declared: Schema,
    engine: Engine,
    people: Table,
    others: Table | None,
    share: float | None,
) -> dict[str, Any]:
    """Return everything that a point depends on besides its own parameters, as checksums."""
    priors = Priors(declared, engine, declared.folder)
    policy_criteria(declared, priors)
    raw = tomllib.loads(setting.schema.read_bytes().decode("utf-8-sig"))
    policy = raw.pop("policy", {})
    # Other limits are compared with what was measured. These decide what is measured, and how long is sampled.
    decisive = {key: value for key, value in policy.items() if key in ("epsilon_privacy", *SHARP_THRESHOLDS)}
    attackers = any(key.startswith("max_attacker_") for key in policy)
    files = [files_of(source, release=False, engine=engine) for source in (setting.table, setting.holdout)]
    return {
        "dalenius": __version__,
        "program": _program(),
        "table": sha256(*files[0]) if files[0] else _counted_people(people),
        "holdout": sha256(*files[1]) if files[1] else None if others is None else _counted_people(others),
        "schema": hashlib.sha256(
            json.dumps([raw, decisive, attackers], sort_keys=True, default=str).encode()
        ).hexdigest(),
        "files": [[file.name, sha256(file)] for file in sorted({*declared.files, *priors.files})],
        "share": share,
        "drawn": drawn_together(*files),
        "seed": setting.seed,
        "mcse": setting.mcse,
    }


def _program() -> str:
    """Return a checksum of the program and of all plug-ins: any of their lines may change what is measured."""
    folder = Path(__file__).parent.parent  # that of the package
    parts = [part for registry in (CRITERIA, PUBLISHERS, ADVERSARIES, KINDS) for part in registry.values()]
    sources = {Path(inspect.getfile(part)) for part in parts}
    return sha256(*sorted(folder.rglob("*.py")), *sorted(file for file in sources if folder not in file.parents))


def _counted_people(people: Table) -> str:
    """Return a checksum of the distinct rows and counts of a table that is not in a file."""
    cells = people.cells()
    leaves = "\0".join(f"{column.name}\1" + "\1".join(column.leaves) for column in cells.schema.coded)
    return hashlib.sha256(leaves.encode() + cells.codes.tobytes() + cells.counts.tobytes()).hexdigest()
