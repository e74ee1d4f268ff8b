"""The base classes of publishers and of what they publish: a release, how it was made, and its files."""

from __future__ import annotations

import contextlib
import platform
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from dalenius.arrays import Ints, Longs
from dalenius.criteria import CRITERIA, Criterion, axis_of
from dalenius.criteria.axis import Axis
from dalenius.engines import PREFIX, TableName
from dalenius.errors import InputError, ParameterError
from dalenius.measures import remaining
from dalenius.measures.remaining import ColumnLeft, columns_left
from dalenius.options import Option
from dalenius.output import FINISHED, remove, replacing
from dalenius.publishers.grid import Grid
from dalenius.releases import Release, check_sidecar_free, sidecar
from dalenius.releases.label import Unresolved, named_leaves
from dalenius.schema import Column, Schema
from dalenius.table import Table

__all__ = [
    "OTHERS_AS_QUASI",
    "PANEL",
    "Example",
    "Headcount",
    "Kept",
    "Progress",
    "Published",
    "Publisher",
    "Record",
    "check_criteria",
    "check_labels",
    "check_name_free",
    "check_numbers_declared",
    "only_criterion",
    "versions",
    "written_columns",
]

Progress = Callable[[int, int, float], None]  # done, in all, the best cost so far
Kept = TypeVar("Kept", bound=Criterion)
PANEL = "Of one method"  # under which `--help` lists the options of publishers
OTHERS_AS_QUASI = Option(
    "others-as-quasi",
    "With several sensitive columns, assume that the attacker knows all the others.",
    bool,
    panel="Options",
)


@dataclass(frozen=True, slots=True)
class Example:
    """Criteria and options with which a method publishes a small table: tests run every method with its example."""

    criteria: tuple[Criterion, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


class Publisher(ABC):
    """A method of publishing with its parameters.

    A subclass describes itself: `name` is the value of `--method`, `options` are its own options on the command line and keyword
    arguments in Python, and `grid` says what `frontier` tries of it. One line in `publishers/registry.py`, or an entry point of
    `dalenius.publishers`, makes every command know it.
    """

    __slots__ = ()
    name: ClassVar[str]
    title: ClassVar[str]  # in a sentence
    description: ClassVar[str]  # one sentence
    publishes: ClassVar[str] = ""  # what a release consists of, for docs/publishers.md; empty: the description
    options: ClassVar[tuple[Option, ...]] = ()
    not_in_audit: ClassVar[frozenset[str]] = frozenset()  # options that `audit --method` does not have, by their names
    keeps: ClassVar[tuple[type[Criterion], ...]] = ()  # the criteria that it can satisfy; (Criterion,): every criterion
    grid: ClassVar[Grid] = Grid()
    example: ClassVar[Example]
    is_drawn: ClassVar[bool] = False  # another release each time
    takes_seed: ClassVar[bool] = False  # `publish` has an argument `seed`, which repeats the draws
    refuses_seed: ClassVar[str] = ""  # a sentence: why a method that draws cannot repeat its draws
    refuses_given: ClassVar[str] = "this method does not plan with them"  # of a publisher without a field `given`
    follows_row_order: ClassVar[bool] = False  # another order of rows may change the classes
    shows_progress: ClassVar[bool] = False  # `publish` has an argument `progress`
    has_curve: ClassVar[bool] = False  # `frontier` with this method alone says what its parameter means

    @classmethod
    def from_options(cls, criteria: Sequence[Criterion], chosen: Mapping[str, Any]) -> Self:
        """Return the publisher for these criteria and options. Refuse criteria that it cannot keep."""
        return cls(criteria, **chosen)  # type: ignore[call-arg]

    @classmethod
    def axes(cls) -> tuple[Axis, ...]:
        """Return what `frontier` can vary: the criteria that the method keeps, then parameters of its own."""
        kept = [axis_of(model) for model in CRITERIA.values() if issubclass(model, cls.keeps)]
        return (*(axis for axis in kept if axis is not None), *cls.grid.axes)

    @classmethod
    def shared(cls, chosen: Mapping[str, Any], *, utility: str) -> dict[str, Any]:  # noqa: ARG003 - few search for a utility
        """Return the parameters that all candidates of a `frontier` share: those chosen, and some of its own.

        `utility` is what releases are compared by.
        """
        return dict(chosen)

    @classmethod
    def not_tried(cls, flag: str) -> str:
        """Return the message for an option of this method in a `frontier` that does not try the method."""
        return f"{flag} belongs to {cls.title}, which is not tried. Add --method {cls.name}."

    @classmethod
    def files(cls, path: Path) -> tuple[Path, ...]:
        """Return the files of the release: the one that is named, or several whose names begin with it."""
        return (path,)

    @classmethod
    def has_several_files(cls) -> bool:
        """Return whether the release has several files, so that it cannot be one table of an engine."""
        return len(cls.files(Path("release"))) > 1

    @abstractmethod
    def publish(self, table: Table) -> Published:
        """Make a release of a table."""

    @abstractmethod
    def promises(self) -> tuple[str, ...]:
        """Return what the release satisfies, such as `k = 5`."""

    def run(self, table: Table, *, seed: int | None = None, progress: Progress | None = None) -> Published:
        """Publish. Pass on the seed and the progress callback if the publisher takes them."""
        taken: dict[str, Any] = {"seed": seed} if self.takes_seed else {}
        if self.shows_progress:
            taken["progress"] = progress
        return self.publish(table, **taken)

    def trial(self, table: Table, seed: int) -> Release:
        """Return a release like the published one, to be attacked. The same seed draws the same release."""
        return self.run(table, seed=seed).release


@dataclass(frozen=True, slots=True)
class Headcount:
    """How many people and classes a release has, and what happened to rows in no class."""

    people: int
    classes: int
    suppressed: int = 0
    suppressed_rows: str = (
        ""  # hold: as a class they satisfy the criteria, as-is: they need not; empty: nothing is said
    )
    hidden: int = 0  # rows left out of the release


@dataclass(frozen=True, slots=True)
class Record:
    """How a release was made, for the sidecar, `--json` and the summary."""

    method: str
    criteria: tuple[str, ...]
    headcount: Headcount | None  # None: the release has no classes
    details: Mapping[str, Any]  # the method's own parameters and figures, under keys of their own
    notes: tuple[tuple[str, str], ...]  # the method's own lines of the summary: a word, and what there is to say
    given: Mapping[str, Any] | None  # what is left of people together with earlier releases; None: there are none

    def to_document(self) -> dict[str, Any]:
        """Return the record as JSON has it."""
        counts = self.headcount
        document = {"method": self.method, "criteria": list(self.criteria), **self.details}
        if counts is not None:
            document |= {"classes": counts.classes, "suppressed": counts.suppressed, "people": counts.people}
        return document if self.given is None else document | {"given": dict(self.given)}


class Published(ABC):
    """A release made of a table: `release` is its data, `record` says how it was made, `write` puts both on disk."""

    kind: ClassVar[str]  # that of the release, known without making it
    publisher: Publisher
    table: Table

    @property
    @abstractmethod
    def release(self) -> Release:
        """What the world will see."""

    def promises(self) -> tuple[str, ...]:
        """Return what the release satisfies, such as `k = 5`."""
        return self.publisher.promises()

    def headcount(self) -> Headcount | None:
        """Return how many people and classes the release has; None if it has no classes."""
        classes = self.release.classes()
        return None if classes is None else Headcount(classes.people, classes.groups, classes.suppressed)

    def details(self) -> dict[str, Any]:
        """Return the method's own parameters and figures, as JSON has them."""
        return {}

    def notes(self) -> tuple[tuple[str, str], ...]:
        """Return the method's own lines of the summary: a heading and a text."""
        return ()

    def contents(self) -> tuple[str, list[str]] | None:
        """Return a word and the list in the first line of the summary; None: what is left of each column."""
        return None

    @cached_property
    def record(self) -> Record:
        """How the release was made."""
        given = getattr(self.publisher, "given", None)
        together = None
        if given is not None:
            from dalenius.publishers.given import evaluate

            together = evaluate(self, given).to_document()
        return Record(
            self.publisher.name,
            self.promises(),
            self.headcount(),
            self.details(),
            self.notes(),
            together,
        )

    def describe(self) -> dict[str, Any]:
        """Return method, parameters and result, as the sidecar and `--json` have them."""
        return self.record.to_document()

    def columns_left(self) -> tuple[ColumnLeft, ...]:
        """Return what the release leaves of each quasi-identifier."""
        return columns_left(self.release)

    def document(self) -> dict[str, Any]:
        """Return the description, and what is left of each column."""
        return self.describe() | {"columns_left": remaining.to_document(self.columns_left())}

    def people_in_groups(self) -> tuple[Ints, Longs, Ints]:
        """Return leaf codes of all coded columns, the number of people with them, and their group, −1 if suppressed."""
        raise InputError(f"A release of kind {self.kind!r} has no groups of people.")

    def files(self, path: Path) -> tuple[Path, ...]:
        """Return the files of the release: the one that is named, or several whose names begin with it."""
        return self.publisher.files(path)

    @abstractmethod
    def _write_rows(self, targets: Sequence[Path | TableName], *, shuffle: bool) -> None:
        """Write the release's files, which the caller renames into place, or its table."""

    def write(self, path: str | Path, *, extra: dict[str, Any] | None = None, shuffle: bool = False) -> None:
        """Write the release with every non-identifier column, and `<path>.meta.json`.

        Rows come in the table's order, if it has one; with `shuffle` in one that is drawn anew and written nowhere.
        `table:NAME` makes a table where the people are, in the engine; `NAME.meta.json` stands in the current folder.
        """
        if str(path).startswith(PREFIX):
            self._write_table(TableName.parse(str(path)), extra, shuffle=shuffle)
            return
        path = Path(path)
        files = self.files(path)
        source = self.table.source
        read = [Path(source)] if isinstance(source, str | Path) and Path(source).exists() else []
        for file in files:
            if any(
                file.exists() and file.samefile(source_file) for source_file in (*read, *self.table.engine.own_files)
            ):
                raise InputError(f"{file}: the release would overwrite the table it is made of. Name another file.")
        check_sidecar_free(path, files)
        self.table.engine.check_target(path)
        left = sidecar.leftovers(path)
        with replacing(*files, sidecar.path_of(path), marker=sidecar.marker(path, self.kind, files)) as (*drafts, meta):
            self._write_rows(drafts, shuffle=shuffle)
            # No checksum of the table: anyone who knows all but a few cells could use it to test guesses of the rest.
            document = self._document(extra, shuffle) | sidecar.digests(path, files, drafts)
            meta.write_text(sidecar.text(document), encoding="utf-8")
        for draft in left:
            remove(draft)

    def _document(self, extra: dict[str, Any] | None, shuffle: bool) -> dict[str, Any]:
        document = {"kind": self.kind, **self.document(), "shuffled": shuffle}
        if "given" in document:  # only the steward may see whom differences reveal, not the readers of the release
            document["given"] = {key: value for key, value in document["given"].items() if key != "differences"}
        return document | (extra or {}) | {"versions": versions()}

    def _write_table(self, name: TableName, extra: dict[str, Any] | None, *, shuffle: bool) -> None:
        if self.publisher.has_several_files():
            raise InputError(f"A release of kind {self.kind!r} has two files and cannot be one table. Name a file.")
        self.table.engine.check_target(name)
        check_sidecar_free(Path(str(name)), ())
        with replacing(sidecar.path_of(Path(str(name)))) as (meta,):
            meta.write_text(sidecar.text(self._document(extra, shuffle) | {"table": str(name)}), encoding="utf-8")
            try:
                self._write_rows([name], shuffle=shuffle)
            except BaseException:
                with contextlib.suppress(Exception):  # the engine may be gone
                    if self.table.engine.has(name):  # there was none before
                        FINISHED.append(f"{PREFIX}{name}")
                raise
            FINISHED.append(f"{PREFIX}{name}")


def written_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of a release, in the table's order: all but identifiers."""
    roles = {column.name: column.role for column in table.declared.columns}
    return tuple(name for name in table.rows.columns if roles[name] != "identifier")


def check_criteria(criteria: Sequence[Criterion], owner: str) -> None:
    """Refuse an empty list of criteria, and anything in it that is not a criterion."""
    if isinstance(criteria, str | bytes) or not isinstance(criteria, Sequence):
        raise ParameterError("criteria", owner, "a list of criteria, for example [KAnonymity(5)]", criteria)
    if not criteria:
        raise InputError("No criterion was given. Add at least one, for example k = 5.")
    for criterion in criteria:
        if not isinstance(criterion, Criterion):
            raise ParameterError("criteria", owner, "a list of criteria, for example [KAnonymity(5)]", criterion)


def only_criterion(criteria: Sequence[Criterion], kind: type[Kept], letter: str, method: str, example: str) -> Kept:
    """Return the only criterion that a method keeps. Refuse others, and its absence."""
    others = [criterion.describe() for criterion in criteria if not isinstance(criterion, kind)]
    if others:
        raise InputError(f"{method} can satisfy {letter} only, not {others[0]}. Use mondrian.")
    for criterion in criteria:
        if isinstance(criterion, kind):
            return criterion
    raise InputError(f"{method} needs {letter}: {example}, for example.")


def check_numbers_declared(schema: Schema) -> None:
    """Refuse integer columns without declared values: readers could not interpret ranges and means.

    Interval widths are not enough. A reader would take the numbers that the labels name, which are not those of the table,
    and would compute other costs than the publisher.
    """
    for column in schema.quasi:
        if column.type == "integer" and not column.fixed:
            raise InputError(
                f"Column {column.name!r} has no declared values, so a reader of the release could not tell which numbers "
                f"[20, 39] stands for. Declare domain = {{ min = …, max = … }} in {schema.source}."
            )


def check_labels(declared: Column, leaves: Sequence[str], labels: Iterable[tuple[str, Ints]], schema: Schema) -> None:
    """Refuse labels that a reader would interpret as other values.

    Without a declared domain, a reader takes the values of a category from the labels, and misreads a value that looks like
    a set, a mask or a suppression mark. Intervals need no check: they name their numbers.
    """
    if declared.fixed:
        return
    for text, members in labels:
        covered = [leaves[code] for code in members.tolist()]
        try:
            read_back = named_leaves(declared, [text], schema)
            if declared.type == "integer":
                continue
        except Unresolved:
            read_back = set()
        everything = text in schema.suppressed and len(covered) == len(leaves)
        if read_back != set(covered) and not everything:
            odd = next((leaf for leaf in covered if any(mark in leaf for mark in "*{~")), None)
            what = "labels that do not name the values they cover" if odd is None else f"the value {odd!r}"
            raise InputError(
                f"Column {declared.name!r} has {what}, which a reader of the release could not tell from a mask, a set or a "
                f"suppression mark. Declare domain = […] in {schema.source}"
                + (", or rename the value." if odd else ".")
            )


def check_name_free(name: str, schema: Schema, method: str) -> None:
    """Refuse to add a column with the name of a published one; upper and lower case count as equal."""
    for column in schema.columns:
        if column.role != "identifier" and column.name.casefold() == name.casefold():
            raise InputError(
                f"{method} adds a column {name!r}, but {schema.source} already declares {column.name!r}. Rename yours."
            )


def versions() -> dict[str, str]:
    from dalenius import __version__

    return {"dalenius": __version__, "python": platform.python_version(), "numpy": np.__version__}
