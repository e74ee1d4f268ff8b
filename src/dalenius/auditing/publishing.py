"""Publish a table: make a release that satisfies criteria, also together with earlier releases, and write it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dalenius import engines as _engine
from dalenius.auditing.compose import read_map
from dalenius.auditing.earlier import read_earlier
from dalenius.criteria import Criterion
from dalenius.engines import PREFIX, Engine, Source, TableName
from dalenius.errors import DaleniusError, InputError, ParameterError
from dalenius.measures.remaining import ColumnLeft, to_document
from dalenius.output import check_writable
from dalenius.publishers.base import Progress, Published, Publisher, Record
from dalenius.publishers.given import Given
from dalenius.publishers.registry import PUBLISHERS, files, from_options, names_several
from dalenius.releases import Release, check_sidecar_free, find_files, sidecar
from dalenius.result import Result
from dalenius.schema import Schema
from dalenius.table import MAX_CELLS, Table

__all__ = ["Earlier", "Inputs", "OpenedEarlier", "Publication", "publish", "release_targets"]

Inputs = Sequence[Path | str | None]


@dataclass(frozen=True, slots=True)
class Earlier:
    """Earlier releases that a new one is made together with: their files, and how many values all of them must leave."""

    sources: tuple[Source | Release, ...] = field(default=(), repr=False)
    schemas: tuple[Path, ...] = ()  # empty: the table's own; else one for all, or one for each
    l: int | None = None  # noqa: E741 - the option's name
    confidence: float | None = None
    mapping: Path | None = None

    def check(self) -> None:
        """Refuse options that contradict each other, before anything is read."""
        dependent = {
            "--given-schema": self.schemas or None,
            "--given-l": self.l,
            "--given-confidence": self.confidence,
            "--given-map": self.mapping,
        }
        for flag, value in dependent.items():
            if value is not None and not self.sources:
                raise InputError(f"{flag} needs an earlier release. Add --given RELEASE, or leave it out.")
        if self.l is not None and self.l < 2:
            raise ParameterError("--given-l", "publish", "an int ≥ 2", self.l)
        if self.confidence is not None and not 0 < self.confidence <= 1:
            raise ParameterError("--given-confidence", "publish", "a number above 0 and at most 1", self.confidence)

    def open(self, engine: Engine) -> OpenedEarlier:
        """Read the schemas and the map of names. The releases are read with the table."""
        self.check()
        schemas = tuple(Schema.load(path) for path in self.schemas)
        names = {} if self.mapping is None else read_map(self.mapping, engine)
        named = [source for source in self.sources if isinstance(source, str | Path)]
        read: list[Path | str] = [*named, *(file for source in named for file in _release_files(str(source)))]
        read += [*self.schemas, *(file for schema in schemas for file in schema.files)]
        read += [] if self.mapping is None else [self.mapping]

        def read_releases(table: Table) -> Given:
            least, most = 2 if self.l is None else self.l, 1.0 if self.confidence is None else self.confidence
            return read_earlier(table, self.sources, schemas, l=least, confidence=most, mapping=names)

        return OpenedEarlier(read_releases, tuple(read))


@dataclass(frozen=True, slots=True)
class OpenedEarlier:
    """A function that reads earlier releases for a table, and the files that it reads."""

    read: Callable[[Table], Given]
    files: tuple[Path | str, ...]


def _release_files(source: str) -> list[Path]:
    """Return the files of a release and its sidecar; empty if it is not found, which is reported when it is read."""
    try:
        return [*find_files(source)[1], sidecar.path_of(Path(source))]
    except DaleniusError:
        return []


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Publication(Result):
    """A release that was made, where it was written, and how it was made.

    `to_pandas` has one row: `method`, `criteria`, `files`, and `people`, `classes` and `suppressed` if the release has classes.
    """

    published: Published
    output: str | Path | None  # None: not written
    record: Record
    columns_left: tuple[ColumnLeft, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files or the table of the release, without its sidecar."""
        if self.output is None:
            return ()
        if str(self.output).startswith(PREFIX):
            return (str(self.output),)
        return tuple(map(str, self.published.files(Path(self.output))))

    def to_document(self) -> dict[str, Any]:
        """Return the release as JSON has it: how it was made, and what is left of each column."""
        return self.record.to_document() | {"columns_left": to_document(self.columns_left)}


def publish(
    table: Source,
    schema: Schema,
    *,
    method: str = "lattice",
    criteria: Sequence[Criterion] = (),
    seed: int | None = None,
    earlier: Earlier | None = None,
    output: str | Path | None = None,
    shuffle: bool = False,
    report: Path | None = None,
    inputs: Inputs = (),
    engine: Engine | None = None,
    most_cells: int = MAX_CELLS,
    progress: Progress | None = None,
    warn: Callable[[str], None] | None = None,
    **options: Any,
) -> Publication:
    """Make a release that satisfies the criteria and, with `output`, write it with a sidecar that says how it was made.

    `options` are those of the method, with the names of the command line, such as `suppression=0.02`. Bad arguments are refused
    before the table is read. `report` is a file that the caller will write about the release. `inputs` are files that no output
    may replace; the table, the schema's files and the engine's files are always among them.
    """
    engine = engine or _engine.default()
    earlier = earlier or Earlier()
    earlier.check()
    opened = earlier.open(engine) if earlier.sources else None
    publisher = from_options(method, criteria, options, seed=seed, has_earlier=opened is not None)
    if output is not None:
        read = [table if isinstance(table, str | Path) else None, *inputs, *schema.files, *engine.own_files]
        read += [] if opened is None else opened.files
        _check_outputs(publisher, output, report, read, engine)
    people = Table(table, schema, engine=engine, most_cells=most_cells, notify=warn)
    planned: Any = publisher if opened is None else replace(publisher, given=opened.read(people))  # type: ignore[type-var]
    published: Published = planned.run(people, seed=seed, progress=progress)
    if output is not None:
        published.write(output, shuffle=shuffle)
    return Publication(published, output, published.record, published.columns_left())


def _check_outputs(
    publisher: Publisher, output: str | Path, report: Path | None, inputs: Inputs, engine: Engine
) -> None:
    """Refuse files that cannot be written, before any work is done."""
    is_table = str(output).startswith(PREFIX)
    if not is_table and not names_several(publisher.name, Path(output)):
        check_writable(Path(output), inputs=inputs)
        engine.check_target(Path(output))
    targets = release_targets([publisher.name], output, engine, remedy="Name them: -o NAME.")
    for file in targets:
        check_writable(file, inputs=inputs)
    check_sidecar_free(Path(str(TableName.parse(str(output)))) if is_table else Path(output), targets)
    if report is not None:
        check_writable(report, inputs=inputs)
        if report.resolve() in {file.resolve() for file in targets}:
            raise ParameterError("--json", "publish", "another file than the release and its sidecar", str(report))


def release_targets(methods: Sequence[str], output: str | Path, engine: Engine, *, remedy: str) -> tuple[Path, ...]:
    """Return the files that a release by one of these methods is written to. For a table in the engine, that is its sidecar."""
    if not str(output).startswith(PREFIX):
        return tuple(file for method in methods for file in files(method, Path(output)))
    name = TableName.parse(str(output))
    several = [method for method in methods if PUBLISHERS[method].has_several_files()]
    if several:
        raise InputError(f"{several[0]} writes several files and cannot be one table. {remedy}")
    engine.check_target(name)
    return (sidecar.path_of(Path(str(name))),)
