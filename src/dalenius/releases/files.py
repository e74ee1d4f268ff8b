"""Which files a release of a kind has, by its NAME or by one of its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dalenius.engines import Source, parts_of
from dalenius.errors import InputError

__all__ = ["ENDINGS", "FileNames", "as_path", "is_there"]

ENDINGS = (".csv", ".parquet")  # of tables, in the order in which they are looked for


def is_there(path: Path) -> bool:
    """Whether there is a file, or a folder of part files in its place."""
    return path.is_file() or bool(parts_of(path))


def as_path(source: Source) -> Path:
    """A source as the file it is; kinds that are read from files only use it."""
    if not isinstance(source, str | Path):
        raise InputError("A frame cannot be read as this kind of release. Name its files.")
    return Path(source)


@dataclass(frozen=True, slots=True)
class FileNames:
    """The names of the files of a release. Each of `parts` follows the NAME of the release: `(".quasi*", ".sensitive*")`.

    `*` stands for the ending of a table, the same one in all parts. Without parts, a release is one file of any name. With a
    single part, a file of that name is taken for the kind unless its sidecar says another one. With `is_joined`, a release
    of several files may be named by all of them, `FIRST+SECOND`, whatever they are called.
    """

    parts: tuple[str, ...] = ()
    is_joined: bool = False

    @property
    def count(self) -> int:
        """How many files a release has."""
        return max(len(self.parts), 1)

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings that the tables of a release may have; one if they are fixed."""
        return ENDINGS if any("*" in part for part in self.parts) else ENDINGS[:1]

    def of(self, name: str | Path, ending: str = ENDINGS[0]) -> tuple[Path, ...]:
        """The files of the release NAME whose tables have this ending."""
        return tuple(Path(f"{name}{part.replace('*', ending)}") for part in self.parts)

    def name_of(self, file: Path) -> Path | None:
        """The NAME of the release that a file belongs to by its own name; None if it is called otherwise."""
        for part in self.parts:
            tail = part.replace("*", file.suffix)
            if file.suffix and file.name.endswith(tail) and file.name != tail:
                return file.with_name(file.name.removesuffix(tail))
        return None

    def telling(self, files: tuple[Path, ...]) -> list[Path]:
        """Those of the files of a release whose names tell its kind: `.json` alone may be anybody's file."""
        return [file for part, file in zip(self.parts, files, strict=True) if "*" in part or part.count(".") > 1]
