"""Releases: what the world sees, as frozen data, and the files that hold them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from dalenius import engine as _engine
from dalenius.engine import Engine, Source, parts_of
from dalenius.errors import InputError, listing, nearest
from dalenius.release import anatomized, centroids, channel, generalized, noisy_counts, sidecar
from dalenius.release.anatomized import Anatomized
from dalenius.release.base import GroupCells, GroupedRelease, Grouping, Regions, Release
from dalenius.release.centroids import Centroids
from dalenius.release.channel import Channel
from dalenius.release.generalized import Generalized
from dalenius.release.label import Label
from dalenius.release.noisy_counts import NoisyCounts
from dalenius.schema import Schema

KINDS: tuple[str, ...] = tuple(kind.kind for kind in (Generalized, Centroids, Anatomized, NoisyCounts, Channel))
SEVERAL = (Anatomized.kind, NoisyCounts.kind)  # kinds of several files
_ENDINGS = (".csv", ".parquet")


def read(
    source: Source,
    schema: Schema | str | Path,
    *,
    kind: str | None = None,
    engine: Engine | str | None = None,
) -> Release:
    """Open a release by its file, its NAME (several files), `QUASI.csv+SENSITIVE.csv`, or as a frame.

    The kind is told by the files, by the sidecar, or by `kind`. A raw table opens as a release of leaves.
    """
    schema = schema if isinstance(schema, Schema) else Schema.load(schema)
    if engine is None:
        engine = _engine.default()
    engine = _engine.connect(engine) if isinstance(engine, str) else engine
    if kind is not None and kind not in KINDS:
        raise InputError(f"There is no kind of release {kind!r}.{nearest(kind, KINDS)} Known: {listing(KINDS)}.")
    if not isinstance(source, str | Path):
        if kind not in (None, Generalized.kind, Centroids.kind):
            raise InputError(
                f"A frame is a release of kind generalized or centroids; kind {kind!r} is read from files."
            )
        reader = centroids.read if kind == "centroids" else generalized.read
        return reader(source, schema, engine=engine)
    if engine.holds(str(source)):
        if kind not in (None, Generalized.kind, Centroids.kind):
            raise InputError(f"A table of an engine is a release of kind generalized or centroids, not {kind!r}.")
        return (centroids.read if kind == "centroids" else generalized.read)(source, schema, engine=engine)
    found, files = find_files(str(source))
    if len(files) == 1 and kind is not None:
        found = kind
    if kind is not None and kind != found:
        raise InputError(f"{source}: these files are of kind {found!r}, not {kind!r}.")
    if found in SEVERAL and len(files) == 1:
        raise InputError(f"{source}: a release of kind {found!r} has two files; give its NAME.")
    before = _signature(files)
    verify(files)
    release = _read_files(found, files, schema, engine)
    if _signature(files) != before:
        raise InputError(f"{source} changed while it was read. Read it again.")
    return release


def _read_files(kind: str, files: tuple[Path, ...], schema: Schema, engine: Engine) -> Release:
    if kind == Anatomized.kind:
        return anatomized.read((files[0], files[1]), schema, engine=engine)
    if kind == NoisyCounts.kind:
        return noisy_counts.read((files[0], files[1]), schema, engine=engine)
    if kind == Channel.kind:
        return channel.read(files[0], engine=engine)
    reader = centroids.read if kind == Centroids.kind else generalized.read
    return reader(files[0], schema, engine=engine)


def verify(files: Sequence[Path]) -> None:
    """Refuse files of a release that were changed after its sidecar was written, if it has one."""
    release = files[0]
    if len(files) == 2:
        release = release.with_name(re.sub(r"\.(quasi|counts)\.[^.]*$", "", release.name))
        whole = [
            paths
            for ending in _ENDINGS
            for paths in (anatomized.paths_of(release, ending), noisy_counts.paths_of(release))
        ]
        if [file.resolve() for file in files] not in [[file.resolve() for file in one] for one in whole]:
            return  # QUASI+SENSITIVE of other names
    elif sidecar.read(release).get("kind") in SEVERAL:
        return  # a file that is called like a release of several
    sidecar.verify(release, files)


def _signature(files: Sequence[Path]) -> list[tuple[int, ...]]:
    """Which files these are, and how they are: another one of the same name has another."""
    found = [part.stat() for file in files for part in parts_of(file) or [file]]
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in found]


def _there(path: Path) -> bool:
    """A file, or a folder of part files in the place of one."""
    return path.is_file() or bool(parts_of(path))


def find_files(name: str) -> tuple[str, tuple[Path, ...]]:
    """The kind of a release and its files, by its name. One that is unfinished is an error."""
    path = Path(name)
    for file in [path, *(Path(part) for part in name.split("+"))]:
        sidecar.check_finished(file)
    for part, kind in ((".quasi", "anatomized"), (".sensitive", "anatomized"), (".counts", "noisy-counts")):
        # Naming one file of several means the release.
        if _there(path) and path.stem.endswith(part):
            stem = str(path.with_name(path.stem.removesuffix(part)))
            whole = anatomized.paths_of(stem, path.suffix) if kind == "anatomized" else noisy_counts.paths_of(stem)
            if all(map(_there, whole)):
                return kind, whole
    if path.is_file() and path.suffix == ".json":
        whole = noisy_counts.paths_of(path.with_suffix(""))
        if whole[0].is_file():
            return NoisyCounts.kind, whole
    if _there(path):
        kind = sidecar.read(path).get("kind", Generalized.kind)
        if kind not in KINDS:
            where = sidecar.path_of(path).name
            raise InputError(
                f"{where}: there is no kind of release {kind!r}.{nearest(kind, KINDS)} Known: {listing(KINDS)}."
            )
        return kind, (path,)
    if "+" in name and not path.exists():
        for i in (i for i, char in enumerate(name) if char == "+"):
            files = (Path(name[:i]), Path(name[i + 1 :]))
            if all(map(_there, files)):
                return Anatomized.kind, files
    for ending in _ENDINGS:
        files = anatomized.paths_of(name, ending)
        if all(map(_there, files)):
            return Anatomized.kind, files
        if any(map(_there, files)):
            absent = next(file for file in files if not _there(file))
            raise InputError(f"{name}: the release needs {absent.name!r} beside the other file.")
    files = noisy_counts.paths_of(name)
    if files[0].is_file():
        if not files[1].is_file():
            raise InputError(f"{name}: the release needs {files[1].name!r} beside {files[0].name!r}.")
        return NoisyCounts.kind, files
    if path.is_dir():
        raise InputError(f"{name}: that is a folder, a file is needed.")
    if not path.parent.is_dir():
        raise InputError(f"{name}: there is no folder {str(path.parent)!r}.")
    beside = [file.name for file in path.parent.iterdir() if file.is_file()]
    raise InputError(
        f"There is no file {name!r}, and no release of several files of that name.{nearest(path.name, beside)}"
    )


def check_sidecar_free(name: Path, files: Collection[Path]) -> None:
    """Refuse to replace a file or the sidecar of another release, one whose other files are there and stay."""
    for stem in sidecar.stems_of(name):
        parts = {Anatomized.kind: anatomized.paths_of(stem, name.suffix), NoisyCounts.kind: noisy_counts.paths_of(stem)}
        whole = parts.get(sidecar.kind_of(stem), ())
        if name in whole and not set(whole) <= set(files):
            raise InputError(
                f"Cannot write {str(name)!r}: it is a file of the release {str(stem)!r}. Name another output, or remove that "
                "release first."
            )
    if not sidecar.path_of(name).is_file():
        return
    try:
        kind = str(sidecar.load_json(sidecar.path_of(name)).get("kind"))
    except InputError:
        return  # no sidecar of ours
    several = {Anatomized.kind: anatomized.paths_of(name), NoisyCounts.kind: noisy_counts.paths_of(name)}
    for file in several.get(kind, (name,)):
        if file.is_file() and file not in files:
            raise InputError(
                f"Cannot write {str(sidecar.path_of(name))!r}: it tells how {str(file)!r} was made, which is there and is "
                "another release. Name another output, or remove that release first."
            )


__all__ = [
    "KINDS",
    "Anatomized",
    "Centroids",
    "Channel",
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
