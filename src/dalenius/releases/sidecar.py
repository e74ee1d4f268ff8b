"""The sidecar `<file>.meta.json`: how a release was made, and the checksums of its files.

While the files of a release are being renamed into place, a marker stands where the sidecar will be. If the writer is killed
in that moment the marker stays, and readers refuse the release: its files may be of two runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dalenius.engines import parts_of
from dalenius.errors import InputError, file_error, listing
from dalenius.output import Marker, checksums, replacing

__all__ = [
    "UNFINISHED",
    "check_finished",
    "digests",
    "kind_of",
    "leftovers",
    "load_json",
    "marker",
    "path_of",
    "read",
    "stems_of",
    "text",
    "verify",
    "write",
]

UNFINISHED = "unfinished"


def path_of(release: Path) -> Path:
    return release.with_name(release.name + ".meta.json")


def text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read(release: Path) -> dict[str, Any]:
    """The sidecar of a release, empty if there is none. One of a release that is unfinished is an error."""
    path = path_of(release)
    if not path.is_file():
        return {}
    document = load_json(path)
    if UNFINISHED in document:
        raise _unfinished(release)
    if not isinstance(document.get("kind", ""), str):
        raise InputError(f"{path.name}: the value of 'kind' must be text. {_remedy(path)}")
    for key in ("sha256", "files"):
        value = document.get(key, {})
        if not isinstance(value, dict) or not all(isinstance(digest, str) for digest in value.values()):
            raise InputError(
                f"{path.name}: the value of {key!r} must be an object whose values are strings. {_remedy(path)}"
            )
    return document


def load_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    try:
        document = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise file_error(error, path, "read") from None
    except (ValueError, RecursionError) as error:  # not text, not JSON, thousands of digits, nested too deeply
        raise InputError(f"{path.name}: not valid JSON: {error}.") from None
    if not isinstance(document, dict):
        raise InputError(f"{path.name}: a JSON object is needed, with the release's metadata.")
    return document


def _remedy(sidecar: Path) -> str:
    return f"Publish the release again, or delete {sidecar.name} to read the files as another tool's."


# Unfinished releases ---------------------------------------------------------------------------------------------------


def marker(release: Path, kind: str, files: Sequence[Path]) -> Marker:
    """What stands in the place of the sidecar while these files are renamed."""

    def document(drafts: Sequence[Path]) -> str:
        about = "Dalenius was stopped while it replaced these files, or is still doing so. Publish the release again."
        names = {"files": [_key(release, file) for file in files], "drafts": [draft.name for draft in drafts]}
        return text({"kind": kind, UNFINISHED: {"about": about, **names}})

    return document


def leftovers(release: Path) -> list[Path]:
    """The drafts that an unfinished write of this release left, and its marker lists."""
    path = path_of(release).resolve()
    listed = _listed(path, "drafts")
    # Nobody may have us remove another file by writing its name into a marker.
    ours = re.compile(rf"\.{re.escape(release.resolve().name.split('.')[0])}[\w. -]*\.[0-9a-f]{{8}}\.part(\.\w*)?")
    return [path.with_name(name) for name in listed if ours.fullmatch(name)]


def check_finished(file: Path) -> None:
    """Refuse a release, named by its NAME or by any of its files, whose files may be of two runs."""
    if not file.name:
        return  # the current folder, or the one above
    if UNFINISHED in _marked(path_of(file)):
        raise _unfinished(file)
    for stem in stems_of(file):
        if _key(stem, file) in _listed(path_of(stem), "files"):
            raise _unfinished(stem)


def stems_of(file: Path) -> list[Path]:
    """Each NAME of a release that a file may belong to: its own name up to one of its dots."""
    cuts = [i for i, char in enumerate(file.name) if char == "." and file.name[:i].strip(".")]
    return [file.with_name(file.name[:i]) for i in cuts]


def kind_of(release: Path) -> str:
    """The kind that the sidecar or the marker of a release says, if there is one."""
    return str(_marked(path_of(release)).get("kind", ""))


def _marked(path: Path) -> dict[str, Any]:
    """The document of a sidecar's place, if there is one that can be read."""
    try:
        return load_json(path) if path.is_file() else {}
    except InputError:
        return {}


def _listed(path: Path, key: str) -> list[str]:
    """The names in a marker."""
    unfinished = _marked(path).get(UNFINISHED)
    names = unfinished.get(key) if isinstance(unfinished, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _unfinished(release: Path) -> InputError:
    return InputError(
        f"{path_of(release).name} says that the release is unfinished: a publish was interrupted while it replaced the files, or "
        "is still running. The files may come from two different runs. Publish the release again."
    )


# Checksums -------------------------------------------------------------------------------------------------------------


def _key(release: Path, file: Path) -> str:
    """Return the name of a file in a sidecar. It omits the release's own name, which may be private and may change."""
    return f"NAME{file.name.removeprefix(release.name)}"


def digests(release: Path, files: Sequence[Path], contents: Sequence[Path] | None = None) -> dict[str, dict[str, str]]:
    """What a sidecar says of the files of a release: the checksum of all together, and of each.

    The `contents` are where the files are now, if they are not in their place yet.
    """
    contents_by_key: dict[str, Path] = {}
    for file, content in zip(files, contents or files, strict=True):
        key, parts = _key(release, file), parts_of(content)
        contents_by_key |= {f"{key}/{part.name}": part for part in parts} if parts else {key: content}
    whole, each = checksums(list(contents_by_key.values()))
    return {"sha256": {"release": whole}, "files": dict(zip(contents_by_key, each, strict=True))}


def verify(release: Path, files: Sequence[Path]) -> None:
    """Refuse a release whose files are not those that its sidecar was written for."""
    document = read(release)
    before = document.get("sha256", {}).get("release")
    listed: dict[str, str] = document.get("files", {})
    if before is None and not listed:
        return  # it tells the kind and no more
    current = digests(release, files)
    now = current["files"]
    changed = [f"{key} was changed" for key in sorted(listed.keys() & now.keys()) if listed[key] != now[key]]
    if listed:
        changed += [f"{key} was added" for key in sorted(now.keys() - listed.keys())]
        changed += [f"{key} was removed" for key in sorted(listed.keys() - now.keys())]
    if not changed and before in (None, current["sha256"]["release"]):
        return
    if not changed:  # an older sidecar does not tell which
        changed = [f"{next(iter(now))} was changed" if len(now) == 1 else f"One of {listing(now)} was changed"]
    changes = re.sub(r"\bNAME(?=[./ ,])", lambda _: release.name, listing(changed, limit=3))
    raise InputError(f"{changes} after {path_of(release).name} was written. {_remedy(path_of(release))}")


def write(release: Path, kind: str, texts: Mapping[Path, str]) -> None:
    """Write the files of a release and a sidecar that says what they are, all or none."""
    with replacing(*texts, path_of(release), marker=marker(release, kind, list(texts))) as (*drafts, meta):
        for draft, content in zip(drafts, texts.values(), strict=True):
            draft.write_text(content, encoding="utf-8", newline="")
        meta.write_text(text({"kind": kind, **digests(release, list(texts), drafts)}), encoding="utf-8")
