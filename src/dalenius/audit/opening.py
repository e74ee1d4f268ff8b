"""The first room of an audit: from files to a release, the people of its table, and those held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.audit.groups import in_groups, own_groups
from dalenius.audit.people import Control, People, check_others, check_same_people, columns_of, files_of, open_together
from dalenius.engine import Engine, Source
from dalenius.errors import InputError
from dalenius.measure.fidelity import Truth
from dalenius.output import sha256
from dalenius.publish.base import Published
from dalenius.release import GroupedRelease, Release
from dalenius.schema import Schema
from dalenius.table import Table

Publish = Callable[[Table], Published]
Placed = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]  # codes, people, groups


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """What is audited, and what is known beside it."""

    release: Release
    people: People | None  # of the table that it was made of; None: the table is not at hand
    truth: Truth | None  # the same table, as measures take it
    control: Control | None  # people who are not in it; None: there are none
    located: People | None  # the people with their groups; None: these are not known, or labels tell them
    columns: frozenset[str] | None  # that the release has; None: it was not read from anywhere
    hashes: dict[str, str]  # SHA-256 of the files of release, truth and holdout

    @property
    def schema(self) -> Schema:
        return self.release.schema

    @property
    def classes(self) -> GroupedRelease | None:
        """The classes of the release, if it has any."""
        return self.release.classes()

    @property
    def attacked(self) -> tuple[str, ...]:
        """The sensitive columns that the release says something about."""
        counts = self.release.counts()
        if counts is not None and self.classes is None:
            return (counts.sensitive,)
        return tuple(column.name for column in self.schema.sensitive)

    @property
    def identifiers(self) -> list[str]:
        """Columns of the release that name a person."""
        return [c.name for c in self.schema.columns if c.role == "identifier" and c.name in (self.columns or ())]


def check_sources(truth: Source | None, holdout: Source | None, publish: Publish | None) -> None:
    """Refuse what does not go together, before anything is read."""
    if holdout is not None and truth is None and publish is None:
        raise InputError("Held-out people are compared with the people of the table: --holdout needs --truth.")
    if truth is not None and publish is not None:
        raise InputError("With --method the table itself is the truth; leave --truth out.")


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
    """Open what is audited. With `publish` the release is a table, which is published first, and is then the truth."""
    if publish is not None:
        return _published(release, schema, publish, holdout, engine)
    check_others(truth, holdout, engine)
    opened, people, control = open_together(release, truth, holdout, schema, kind=kind, engine=engine)
    _check(opened, people)
    return Opening(
        release=opened,
        people=people,
        truth=_truth(people),
        control=control,
        located=_located(opened, people, release, engine),
        columns=columns_of(release, engine),
        hashes=_hashes({"release": release, "truth": truth, "holdout": holdout}, engine),
    )


def _published(
    source: Source | Release, schema: Schema, publish: Publish, holdout: Source | None, engine: Engine
) -> Opening:
    """A release that is made here. The table is opened and counted once, to be published."""
    if isinstance(source, Release):
        raise InputError("A release is there already: it cannot be published.")
    published = publish(Table(source, schema, engine=engine))
    check_others(source, holdout, engine)
    counted = None if published.table.many else published.table
    opened, people, control = open_together(
        published.release, source, holdout, schema, kind=None, engine=engine, table=counted
    )
    _check(opened, people)
    return Opening(
        release=opened,
        people=people,
        truth=_truth(people),
        control=control,
        located=None if people is None or opened.centres() is None else _in_groups(people, published.placed()),
        columns=None,
        hashes=_hashes({"truth": source, "holdout": holdout}, engine),
    )


def _check(release: Release, people: People | None) -> None:
    classes = release.classes()
    if classes is None and release.counts() is None:
        raise InputError(f"A release of kind {release.kind!r} is not about a table of people and cannot be audited.")
    if people is not None and classes is not None:
        check_same_people(classes, people)


def _located(release: Release, people: People | None, source: Source | Release, engine: Engine) -> People | None:
    """The people with their groups of a release of centroids, if its lines tell them."""
    centres = release.centres()
    if people is None or centres is None or isinstance(source, Release):
        return None
    own = own_groups(people, centres, source, engine)
    return None if isinstance(own, str) else own


def _in_groups(people: People, placed: Placed) -> People:
    codes, counts, group = placed
    return in_groups(people.table, codes, group, counts)


def _truth(people: People | None) -> Truth | None:
    return None if people is None else Truth.of(people.table.cells())


def _hashes(sources: dict[str, Source | Release | None], engine: Engine) -> dict[str, str]:
    return {
        key: sha256(*files)
        for key, source in sources.items()
        if (files := files_of(source, release=key == "release", engine=engine))
    }
