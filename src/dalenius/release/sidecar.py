"""The sidecar `<file>.meta.json`: how a release was made, for whoever reads it later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dalenius.errors import InputError, file_error


def path_of(release: Path) -> Path:
    return release.with_name(release.name + ".meta.json")


def text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read(release: Path) -> dict[str, Any]:
    """The sidecar of a release, empty if there is none."""
    path = path_of(release)
    if not path.is_file():
        return {}
    return load_json(path)


def load_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    try:
        document = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise file_error(error, path, "read") from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # not text, not JSON, a number of thousands of digits, nested too deeply
        raise InputError(f"{path.name}: not valid JSON: {error}.") from None
    if not isinstance(document, dict):
        raise InputError(f"{path.name}: a JSON object is needed, with the release's metadata.")
    return document
