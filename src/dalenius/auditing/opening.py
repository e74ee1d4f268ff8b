"""The first step of an audit: from files to a release, the people of its table, and those held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dalenius.auditing.groups import in_groups, people_in_own_groups
from dalenius.auditing.people import (
    Control,
    People,
    check_others,
    check_same_people,
    columns_of,
    files_of,
    open_together,
)
from dalenius.engines import Engine, Source
from dalenius.errors import InputError
from dalenius.measures.fidelity import Truth
from dalenius.output import sha256
from dalenius.publishers.base import Published
from dalenius.releases import GroupedRelease, Release
from dalenius.schema import Schema
from dalenius.table import Table

Publish = Callable[[Table], Published]


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """The release that is audited, and what is known besides it."""

    release: Release
    people: People | None  # of the table that it was made of; None: the table is not available
    truth: Truth | None  # the same table, as measures take it
    control: Control | None  # people who are not in it; None: there are none
    grouped_people: People | None  # the people with their groups; None: these are not known, or labels tell them
    columns: frozenset[str] | None  # that the release has; None: it was not read from anywhere
    hashes: dict[str, str]  # SHA-256 of the files of release, truth and holdout

    @property
    def schema(self) -> Schema:
        return self.release.schema

    @property
    def classes(self) -> GroupedRelease | None:
        """Return the classes of the release, if it has any."""
        return self.release.classes()

    @property
    def attacked(self) -> tuple[str, ...]:
        """Return the sensitive columns that the release says something about."""
        counts = self.release.counts()
        if counts is not None and self.classes is None:
            return (counts.sensitive,)
        return tuple(column.name for column in self.schema.sensitive)

    @property
    def identifiers(self) -> list[str]:
        """Return the columns of the release that name a person."""
        return [c.name for c in self.schema.columns if c.role == "identifier" and c.name in (self.columns or ())]


def check_sources(truth: Source | None, holdout: Source | None, publish: Publish | None) -> None:
    """Refuse arguments that contradict each other, before anything is read."""
    if holdout is not None and truth is None and publish is None:
        raise InputError("--holdout needs --truth: held-out people are compared with the people of the table.")
    if truth is not None and publish is not None:
        raise InputError("With --method, the table itself is the truth. Leave --truth out.")


def open_audit(
    release: Source | Release,
    schema: Schema,
    *,
    truth: Source | None,
    holdout: Source | None,
    publish: Publish | None,
    kind: str | None,
    engine: Engine,
) -> Opening:
    """Open what is audited. With `publish`, `release` is a table: it is published first, and is itself the truth."""
    source, table = release, None
    published = None if publish is None else _published(release, schema, publish, engine)
    if published is not None:
        source, truth = published.release, published.table.source
        table = None if published.table.many else published.table
    check_others(truth, holdout, engine)
    audited, people, control = open_together(source, truth, holdout, schema, kind=kind, engine=engine, table=table)
    _check(audited, people)
    return Opening(
        release=audited,
        people=people,
        truth=None if people is None else Truth.of(people.table.cells()),
        control=control,
        grouped_people=_grouped_people(audited, people, source if published is None else published, engine),
        columns=columns_of(source, engine),
        hashes=_hashes({"release": source, "truth": truth, "holdout": holdout}, engine),
    )


def _published(source: Source | Release, schema: Schema, publish: Publish, engine: Engine) -> Published:
    """Publish the table. It is opened and counted once."""
    if isinstance(source, Release):
        raise InputError("This is a release already, so it cannot be published. Pass a table, or leave the method out.")
    return publish(Table(source, schema, engine=engine))


def _check(release: Release, people: People | None) -> None:
    classes = release.classes()
    if classes is None and release.counts() is None:
        raise InputError(f"A release of kind {release.kind!r} is not about a table of people and cannot be audited.")
    if people is not None and classes is not None:
        check_same_people(classes, people)


def _grouped_people(
    release: Release, people: People | None, source: Source | Release | Published, engine: Engine
) -> People | None:
    """Return the people with their groups in a release of centroids, if its publisher or its lines tell them."""
    centres = release.centres()
    if people is None or centres is None or isinstance(source, Release):
        return None
    if isinstance(source, Published):
        codes, counts, group = source.people_in_groups()
        return in_groups(people.table, codes, group, counts)
    own = people_in_own_groups(people, centres, source, engine)
    return None if isinstance(own, str) else own


def _hashes(sources: dict[str, Source | Release | None], engine: Engine) -> dict[str, str]:
    return {
        key: sha256(*files)
        for key, source in sources.items()
        if (files := files_of(source, release=key == "release", engine=engine))
    }
