"""The JSON document of a result: plain values, the version of the format, and the details of the run."""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dalenius import __version__

__all__ = ["SCHEMA_VERSION", "envelope", "json_text", "plain", "run_details"]

SCHEMA_VERSION = 1
_started = time.time()


def plain(value: Any) -> Any:
    """Return a value as JSON has it: infinite is the text "inf", undefined is null, NumPy numbers are numbers."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
    return value


def run_details(command: Sequence[str] = ()) -> dict[str, Any]:
    """Return whatever differs between two equal runs. Without a command line, a Python program was the caller."""
    return {
        "started": datetime.fromtimestamp(_started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - _started, 3),
        "command": list(command),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def envelope(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document as plain Python, after the version of the format and of Dalenius."""
    whole: dict[str, Any] = plain({"schema_version": SCHEMA_VERSION, "dalenius": __version__, **document})
    return whole


def json_text(document: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """Return the text of a JSON file: the document in its envelope, and the details of the run."""
    whole = {**envelope(document), "run": plain(run)}
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
