"""Open a release of any kind: find its files, check them against the sidecar, and hand them to the reader of their kind."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from dalenius import engines as _engine
from dalenius.engines import Engine, Rows, Source, parts_of
from dalenius.errors import InputError, listing, nearest
from dalenius.releases import sidecar
from dalenius.releases.base import Release
from dalenius.releases.files import is_there
from dalenius.releases.registry import KINDS
from dalenius.schema import Schema

__all__ = ["check_sidecar_free", "find_files", "first_rows", "read", "verify"]

_NUMBERS = {2: "two", 3: "three", 4: "four"}


def read(
    source: Source | Release,
    schema: Schema | str | Path,
    *,
    kind: str | None = None,
    engine: Engine | str | None = None,
) -> Release:
    """Open a release by its file, by its NAME (several files), by `QUASI.csv+SENSITIVE.csv`, or from a data frame.

    The files, the sidecar or `kind` say what kind it is. A raw table opens as a release of leaves. A release that is open
    already is returned as it is.
    """
    if isinstance(source, Release):
        if kind not in (None, source.kind):
            raise InputError(f"The release is of kind {source.kind!r}, not {kind!r}.")
        return source
    schema = schema if isinstance(schema, Schema) else Schema.load(schema)
    if engine is None:
        engine = _engine.default()
    engine = _engine.connect(engine) if isinstance(engine, str) else engine
    if kind is not None and kind not in KINDS:
        raise InputError(_unknown(kind, "There"))
    if not isinstance(source, str | Path) or engine.holds(str(source)):
        return _open_table(source, schema, kind, engine)
    known_kind, files = find_files(str(source))
    if len(files) == 1 and kind is not None:
        known_kind = kind
    if kind is not None and kind != known_kind:
        raise InputError(f"{source}: these files are of kind {known_kind!r}, not {kind!r}.")
    needed = KINDS[known_kind].file_names.count
    if needed > len(files):
        number = _NUMBERS.get(needed, str(needed))
        raise InputError(f"{source}: a release of kind {known_kind!r} has {number} files; give its NAME.")
    before = _signature(files)
    verify(files)
    release = KINDS[known_kind].open(files, schema, engine=engine)
    if _signature(files) != before:
        raise InputError(f"{source} changed while it was read. Read it again.")
    return release


def _open_table(source: Source, schema: Schema, kind: str | None, engine: Engine) -> Release:
    """Open a data frame, or a table of an engine. Nothing but `kind` says what kind of release it is."""
    if kind is not None and not KINDS[kind].reads_tables:
        what = "A table of an engine" if isinstance(source, str | Path) else "A data frame"
        raise InputError(f"{what} can be a release of kind {_table_kinds()}. Kind {kind!r} is read from files.")
    return KINDS[kind or _default()].open((source,), schema, engine=engine)


def first_rows(source: Source | Release, engine: Engine) -> Rows | None:
    """Return the rows of the first file of a release, of its data frame, or of its table; None if it was not read."""
    if isinstance(source, Release):
        return None
    if not isinstance(source, str | Path) or engine.holds(str(source)):
        return engine.open(source)
    return engine.open(find_files(str(source))[1][0])


def find_files(name: str) -> tuple[str, tuple[Path, ...]]:
    """The kind of a release and its files, by its name. One that is unfinished is an error."""
    path = Path(name)
    for file in [path, *(Path(part) for part in name.split("+"))]:
        sidecar.check_finished(file)
    release = _named_by_file(path) or _named_by_all(name) or _named_by_stem(name)
    if release is not None:
        return release
    if path.is_dir():
        raise InputError(f"{name}: that is a folder, a file is needed.")
    if not path.parent.is_dir():
        raise InputError(f"{name}: there is no folder {str(path.parent)!r}.")
    beside = [file.name for file in path.parent.iterdir() if file.is_file()]
    raise InputError(
        f"There is no file {name!r}, and no release of several files of that name.{nearest(path.name, beside)}"
    )


def verify(files: Sequence[Path]) -> None:
    """Refuse files of a release that were changed after its sidecar was written, if it has one."""
    release: Path | None = files[0]
    if len(files) > 1:
        release = _stem_of(files)
    elif _file_count(sidecar.read(files[0]).get("kind", "")) > 1:
        release = None  # a file that is called like a release of several
    if release is not None:
        sidecar.verify(release, files)


def check_sidecar_free(name: Path, files: Collection[Path]) -> None:
    """Refuse to replace a file or the sidecar of another release, one whose other files are there and stay."""
    for stem in sidecar.stems_of(name):
        whole = _several_files(sidecar.kind_of(stem), stem, name.suffix)
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
    for file in _several_files(kind, name) or (name,):
        if file.is_file() and file not in files:
            raise InputError(
                f"Cannot write {str(sidecar.path_of(name))!r}: it tells how {str(file)!r} was made, which is there and is "
                "another release. Name another output, or remove that release first."
            )


# Files by name --------------------------------------------------------------------------------------------------------


def _named_by_file(path: Path) -> tuple[str, tuple[Path, ...]] | None:
    """The release that a file is, or is one file of: naming one of several means the release."""
    if not is_there(path):
        return None
    stems = {kind: release.file_names.name_of(path) for kind, release in KINDS.items()}
    for kind, stem in stems.items():
        if stem is not None and _file_count(kind) > 1:
            files = KINDS[kind].file_names.of(stem, path.suffix)
            if all(map(is_there, files)):
                return kind, files
    by_name = (kind for kind, stem in stems.items() if stem is not None and _file_count(kind) == 1)
    known_kind = sidecar.read(path).get("kind", next(by_name, _default()))
    if known_kind not in KINDS:
        raise InputError(_unknown(known_kind, f"{sidecar.path_of(path).name}: there"))
    return known_kind, (path,)


def _named_by_all(name: str) -> tuple[str, tuple[Path, ...]] | None:
    """The release of several files that `FIRST+SECOND` names; a name may have a plus of its own."""
    if "+" not in name or Path(name).exists():
        return None
    for kind, release in KINDS.items():
        if not release.file_names.is_joined:
            continue
        for files in _cuts(name, release.file_names.count):
            if all(map(is_there, files)):
                return kind, files
    return None


def _cuts(name: str, count: int) -> list[tuple[Path, ...]]:
    """Every way to cut a name at pluses into so many files."""
    if count == 1:
        return [(Path(name),)]
    at = [i for i, char in enumerate(name) if char == "+"]
    return [(Path(name[:i]), *rest) for i in at for rest in _cuts(name[i + 1 :], count - 1)]


def _named_by_stem(name: str) -> tuple[str, tuple[Path, ...]] | None:
    """The release NAME, by the files of that name. One that lacks a file is an error."""
    for kind, release in KINDS.items():
        names = release.file_names
        for ending in names.endings if names.parts else ():
            files = names.of(name, ending)
            absent = [file for file in files if not is_there(file)]
            if not absent:
                return (kind, files) if len(files) > 1 else _named_by_file(files[0])
            telling = names.telling(files)
            there = [file for file in telling if file not in absent]
            if there:
                # If each file tells the kind, any of them may be the one that is there.
                beside = "the other file" if len(telling) == len(files) == 2 else repr(there[0].name)
                raise InputError(f"{name}: the release needs {absent[0].name!r} beside {beside}.")
    return None


def _stem_of(files: Sequence[Path]) -> Path | None:
    """The NAME of a release of several files; None if they are called otherwise, as in `FIRST+SECOND`."""
    for release in KINDS.values():
        stem = release.file_names.name_of(files[0])
        if stem is None or release.file_names.count != len(files):
            continue
        whole = release.file_names.of(stem, files[0].suffix)
        if [file.resolve() for file in files] == [file.resolve() for file in whole]:
            return stem
    return None


def _several_files(kind: str, name: Path, ending: str = ".csv") -> tuple[Path, ...]:
    """The files of a release of several by its NAME; none if the kind has one file, or is not known."""
    return KINDS[kind].file_names.of(name, ending) if _file_count(kind) > 1 else ()


def _file_count(kind: str) -> int:
    """How many files a release of a kind has; 0 if there is no such kind."""
    return KINDS[kind].file_names.count if kind in KINDS else 0


def _signature(files: Sequence[Path]) -> list[tuple[int, ...]]:
    """Which files these are, and how they are: another one of the same name has another."""
    stats = [part.stat() for file in files for part in parts_of(file) or [file]]
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]


# Kinds by name --------------------------------------------------------------------------------------------------------


def _default() -> str:
    """The kind of a release that does not say its kind."""
    return next(iter(KINDS))


def _table_kinds() -> str:
    """The kinds that a frame can be read as: `generalized or centroids`."""
    *names, last = [kind for kind, release in KINDS.items() if release.reads_tables]
    return f"{', '.join(names)} or {last}" if names else last


def _unknown(kind: str, subject: str) -> str:
    return f"{subject} is no kind of release {kind!r}.{nearest(kind, KINDS)} Known: {listing(KINDS)}."
