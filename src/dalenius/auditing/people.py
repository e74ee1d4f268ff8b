"""The people of a table as targets: distinct quasi-identifiers and values, with how many have them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dalenius import engines as _engine
from dalenius.adversaries import UNKNOWN, Targets
from dalenius.arrays import Floats, Ints, Longs
from dalenius.auditing.holdout import drawn_together
from dalenius.auditing.secrets import Secret
from dalenius.coding import distinct_rows
from dalenius.engines import PREFIX, Engine, Source, parts_of
from dalenius.errors import InputError, counted
from dalenius.hierarchy import MISSING
from dalenius.output import sha256
from dalenius.releases import GroupedRelease, NoisyCounts, Release, find_files, read
from dalenius.schema import Schema
from dalenius.table import NO_LIMIT, Cells, Table

__all__ = [
    "MAX_COMPARED_CELLS",
    "MAX_DEVIATIONS",
    "MAX_DRAWN_PEOPLE",
    "Control",
    "People",
    "check_others",
    "check_same_people",
    "check_strangers",
    "check_values",
    "columns_of",
    "files_of",
    "open_together",
    "plausible_people",
    "together",
    "widened",
]

MAX_COMPARED_CELLS = 1_000_000  # distinct people up to which held-out people are looked for in the table
MAX_DRAWN_PEOPLE = 999_999_999  # NumPy can draw from at most this many people by their counts
MAX_DEVIATIONS = 8  # standard deviations from chance before held-out people are refused


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Targets with the truth about them: target i stands for `people[i]` people, whose values are `values[i]`.

    A held-out person who is divided among several groups counts as fractions (see `groups`).
    """

    table: Table
    targets: Targets
    values: Ints
    people: Longs | Floats

    @classmethod
    def of(cls, table: Table) -> People:
        cells: Cells = table.cells()
        m = len(cells.schema.quasi)
        return cls(table, Targets(cells.schema, cells.codes[:, :m]), cells.codes[:, m:], cells.counts)

    @property
    def count(self) -> int:
        return round(float(self.people.sum()))

    def truth(self, column: str) -> Ints:
        names = [c.name for c in self.targets.schema.sensitive]
        return self.values[:, names.index(column)]

    def known_by(self, names: Sequence[str] | None) -> People:
        """Return the same people for an attacker who knows only these quasi-identifiers. None means all of them."""
        if names is None:
            return self
        hidden = [a for a, column in enumerate(self.targets.schema.quasi) if column.name not in names]
        return replace(self, targets=self.targets.without(*hidden))

    def rows(self, quasi: Ints, *, limit: int) -> list[int]:
        """Return the row numbers in the table of the people with these quasi-identifiers."""
        schema, texts = self.targets.schema, self.table.texts()
        wanted = {
            column.name: [text for text, code in texts[column.name].items() if code == wanted_code]
            for column, wanted_code in zip(schema.quasi, quasi.tolist(), strict=True)
        }
        return self.table.rows.find(wanted, limit=limit)


@dataclass(frozen=True, slots=True, eq=False)
class Control:
    """Held-out people, and the release in a coding that includes their values."""

    release: Release
    people: People
    drawn: bool = False  # whether `split` recorded that it drew them from the same table


def open_together(
    release: Source | Release,
    truth: Source | None,
    holdout: Source | None,
    schema: Schema,
    *,
    kind: str | None,
    engine: Engine | None,
    table: Table | None = None,
) -> tuple[Release, People | None, Control | None]:
    """Read a release and the table it was made of with one coding, and held-out people with a wider one.

    Where the schema declares no domain, the values are those that occur in the release or the table. Values that only held-out
    people have are added for the control alone, because results about the release must not depend on them. `table` is the truth,
    if the caller has opened and counted it already.
    """
    engine = engine or _engine.default()
    if table is None and truth is not None:
        table = Table(truth, schema, engine=engine, most_cells=NO_LIMIT)
    others = None if holdout is None else Table(holdout, schema, engine=engine, most_cells=NO_LIMIT)
    opened = release if isinstance(release, Release) else read(release, schema, kind=kind, engine=engine)
    coded: Schema | None = getattr(opened, "schema", None)
    opened, inner = _widen(release, opened, schema, [coded, None if table is None else table.schema], kind, engine)
    people = None if table is None else People.of(_bound(table, inner))
    check_values(opened, people)
    if others is None:
        return opened, people, None
    wider, outer = _widen(release, opened, schema, [inner, others.schema], kind, engine)
    files = [files_of(source, release=False, engine=engine) for source in (truth, holdout)]
    control = Control(wider, People.of(_bound(others, outer)), drawn_together(*files))
    if people is not None:
        check_strangers(people, control.people)
    return opened, people, control


def check_values(release: Release | None, people: People | None) -> None:
    """Refuse a sensitive column in which nobody has a value: there is nothing to learn, and every rate would be undefined."""
    schema: Schema | None = people.targets.schema if people is not None else getattr(release, "schema", None)
    if schema is None:
        return
    classes = None if release is None else release.classes()
    for column in schema.sensitive:
        if people is not None:
            truth = people.truth(column.name)
            table = np.bincount(truth, weights=people.people, minlength=len(column.leaves))
        elif classes is not None:
            table = classes.grouping(column.name).table
        else:
            continue
        if not Secret.of(schema, column).counts(table).any():
            raise InputError(
                f"Nobody has a value of {column.name!r}, so there is nothing to attack. Choose another sensitive column, or set "
                "missing_is_secret = true in the schema."
            )


def check_same_people(release: GroupedRelease, people: People, name: str = "The release") -> None:
    """Refuse a table that is not the truth about a release: it must have as many people, with the same sensitive values."""
    if people.count != release.people:
        raise InputError(
            f"{name} has {counted(release.people, 'person', 'people')} and the table {people.count:,}. The truth must be the table "
            "that the release was made of. A release with hidden rows (--suppressed-rows hide) cannot be compared with it: audit "
            "it without --truth."
        )
    for j, column in enumerate(release.schema.sensitive):
        counts = np.bincount(people.values[:, j], weights=people.people, minlength=len(column.leaves)).astype(np.int64)
        if not np.array_equal(counts, release.grouping(column.name).table):
            raise InputError(
                f"{name} and the table do not have the same values of {column.name!r} equally often. "
                "The truth must be the table that the release was made of."
            )


def together(
    releases: Mapping[str, Source | Release], truth: Source, schema: Schema, *, kind: str | None, engine: Engine
) -> tuple[dict[str, Release], Table]:
    """Read several releases and the table they were made of, all with the same coding."""
    table = Table(truth, schema, engine=engine, most_cells=NO_LIMIT)
    opened = {
        name: release if isinstance(release, Release) else read(release, schema, kind=kind, engine=engine)
        for name, release in releases.items()
    }
    coded = [getattr(release, "schema", None) for release in opened.values()]
    bound = [*coded, table.schema]
    wide = {name: _widen(releases[name], release, schema, bound, kind, engine) for name, release in opened.items()}
    inner = next(iter(wide.values()))[1]
    return {name: release for name, (release, _) in wide.items()}, _bound(table, inner)


def widened(
    source: Source | Release,
    release: Release,
    schema: Schema,
    leaves: Mapping[str, Collection[str]],
    kind: str | None,
    engine: Engine,
) -> Release:
    """Return a release in a coding that also has these values of its columns."""
    more = schema.bind({column.name: set(leaves.get(column.name, ())) for column in schema.coded})
    coded: Schema | None = getattr(release, "schema", None)
    return _widen(source, release, schema, [coded, more], kind, engine)[0]


def _widen(
    source: Source | Release,
    opened: Release,
    schema: Schema,
    bound: list[Schema | None],
    kind: str | None,
    engine: Engine,
) -> tuple[Release, Schema]:
    """Return the release in a coding that has the values of all these schemas, and that coding."""
    leaves = {
        column.name: {leaf for known in bound if known is not None for leaf in known[column.name].leaves}
        for column in schema.coded
    }
    together = schema.bind(leaves)
    coded: Schema | None = getattr(opened, "schema", None)
    if coded is None or _same(coded, together):
        return opened, together
    counts = opened.counts()
    if counts is not None and counts.mechanism != "none":
        _refuse_uncounted(counts, together)
    if isinstance(source, Release):
        return opened.recoded(together), together
    return read(source, together, kind=kind, engine=engine), together


def _refuse_uncounted(release: NoisyCounts, wider: Schema) -> None:
    """Refuse a value that noisy counts do not count. The message does not show the value."""
    for own, theirs in zip(release.schema.coded, wider.coded, strict=True):
        more = set(theirs.leaves) - set(own.leaves)
        if more and (own.role == "quasi" or own.name == release.sensitive):  # other columns are not counted
            what = "a missing value" if more == {MISSING} else "a value"
            raise InputError(
                f"Somebody in the table or among the held-out people has {what} in column {own.name!r} that the noisy counts "
                "do not include. Leave those people out, or publish again with a domain that has the value."
            )


def _bound(table: Table, schema: Schema) -> Table:
    return (
        table
        if _same(table.schema, schema)
        else Table(table.source, schema, engine=table.engine, most_cells=table.most_cells)
    )


def _same(first: Schema, second: Schema) -> bool:
    return all(a.leaves == b.leaves for a, b in zip(first.coded, second.coded, strict=True))


def files_of(source: object, *, release: bool, engine: Engine) -> tuple[Path, ...]:
    """Return the files that a table or a release is read from; none for a frame or a table of the engine."""
    if not isinstance(source, str | Path) or engine.holds(str(source)):
        return ()
    paths = find_files(str(source))[1] if release else (Path(source),)
    files = [part for file in paths for part in parts_of(file) or [file]]
    return tuple(file for file in files if file.is_file())


def columns_of(source: Source | Release, engine: Engine) -> frozenset[str] | None:
    """Return the columns of a release; None if it was not read from anywhere."""
    if isinstance(source, Release):
        return None
    if not isinstance(source, str | Path) or engine.holds(str(source)):
        return frozenset(engine.open(source).columns)
    files = [file for file in find_files(str(source))[1] if file.suffix != ".json"]
    return frozenset(name for file in files for name in engine.open(file).columns)


def plausible_people(release: Release, rng: np.random.Generator) -> tuple[Targets, Longs]:
    """Return people whom the release may be about, for use without the table, and how many people each stands for.

    Anatomy publishes the quasi-identifiers themselves. A generalized group stands for anybody in its box: one tuple is drawn from
    it for the whole group. The people of a centroid are assumed to have its values. Suppressed rows stand for nobody in particular
    and are left out. A column that is suppressed in every row, and has no declared values, is unknown for everybody.
    """
    links, centres, rows = release.links(), release.centres(), release.rows()
    if links is not None:
        return Targets(links.schema, links.quasi.codes), links.quasi.counts
    if centres is not None:
        return Targets(centres.schema, centres.leaves()), centres.sizes
    if rows is None:
        raise InputError(
            f"A release of kind {release.kind!r} does not say whom it may be about. Pass the table, too (--truth)."
        )
    codes = np.empty_like(rows.codes)
    for a, labels in enumerate(rows.labels):
        drawn = rng.random(rows.groups)
        members = [labels[code].members for code in rows.codes[:, a].tolist()]
        codes[:, a] = [
            leaves[int(u * len(leaves))] if len(leaves) else UNKNOWN
            for leaves, u in zip(members, drawn.tolist(), strict=True)
        ]
    return Targets(rows.schema, codes), rows.sizes


def check_strangers(people: People, others: People) -> None:
    """Refuse held-out people who are in the table: they are no control, and a release that discloses them would pass.

    Two samples from one population differ by chance in how many people have the same values. Samples that agree far better than
    any of twenty random splits of both together share people.
    """
    inner, outer = people.targets.schema, others.targets.schema
    held_out = np.column_stack([others.targets.codes, others.values])
    own = np.column_stack([people.targets.codes, people.values])
    places = [{leaf: code for code, leaf in enumerate(column.leaves)} for column in outer.coded]
    for j, (column, place) in enumerate(zip(inner.coded, places, strict=True)):
        own[:, j] = np.array([place[leaf] for leaf in column.leaves], dtype=np.int32)[own[:, j]]
    cells, number = distinct_rows(np.vstack([own, held_out]).astype(np.int32), [len(c.leaves) for c in outer.coded])
    inside, outside = (
        np.bincount(number[part], weights=lot.people, minlength=len(cells)).astype(np.int64)
        for part, lot in ((slice(len(own)), people), (slice(len(own), None), others))
    )
    both, held = inside + outside, int(outside.sum())
    if len(cells) > MAX_COMPARED_CELLS or both.sum() > MAX_DRAWN_PEOPLE or not held:
        return
    expected = both * (held / both.sum())
    rng = np.random.default_rng(0)

    def uneven(lot: Longs) -> float:
        return float((((lot - expected) ** 2) / both).sum())

    drawn = [uneven(rng.multivariate_hypergeometric(both, held, method="marginals")) for _ in range(20)]
    spread = float(np.std(drawn, ddof=1))
    if spread > 0 and (uneven(outside) - np.mean(drawn)) / spread < -MAX_DEVIATIONS:
        twins = int(np.minimum(inside, outside).sum())
        raise InputError(
            f"The held-out people seem to be people of the table: {twins:,} of {held:,} have the same values as somebody there, "
            "far more than by chance. They must be other, similar people. Run dalenius split before publishing to draw some."
        )


def check_others(truth: Source | None, holdout: Source | None, engine: Engine) -> None:
    """Refuse held-out people who are the people of the table."""
    files = [files_of(source, release=False, engine=engine) for source in (truth, holdout)]
    same = all(files) and sha256(*files[0]) == sha256(*files[1])
    names = [str(source).removeprefix(PREFIX) for source in (truth, holdout) if isinstance(source, str | Path)]
    if same or (len(names) == 2 and names[0] == names[1]):
        raise InputError("The held-out people are the people of the table. They must be other, similar people.")
