"""Several releases about the same people, attacked together: what they leave of targets who are in all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dalenius import engines as _engine
from dalenius.adversaries import UNKNOWN, Targets
from dalenius.adversaries.composition import Composition, refusal
from dalenius.adversaries.composition import compose as weigh
from dalenius.adversaries.differences import Counted, earlier_together, subtract
from dalenius.adversaries.intersection import Intersection, intersect
from dalenius.adversaries.models.sampling import Effort
from dalenius.arrays import Ints, Longs
from dalenius.auditing.common_values import check_values, common_values
from dalenius.auditing.compose_figures import (
    AgainstTruth,
    against_truth,
    belief_figures,
    certainly_missing,
    figures,
    values_left,
)
from dalenius.auditing.people import widened
from dalenius.auditing.secrets import EVERY, Secret
from dalenius.auditing.targets import read_targets
from dalenius.coding import canonical_texts
from dalenius.engines import Engine, Source
from dalenius.errors import InputError, counted
from dalenius.hierarchy import MISSING
from dalenius.releases import GroupedRelease, Release, first_rows, read
from dalenius.releases.base import same_columns
from dalenius.releases.reading import GROUP, rank_ids
from dalenius.schema import Schema


@dataclass(frozen=True, slots=True, eq=False)
class Releases:
    """Releases that are attacked together. `codes[j]` says which of `values` each leaf of release j's sensitive column is."""

    sources: tuple[Source | Release, ...] = field(repr=False)
    names: tuple[str, ...]
    releases: tuple[GroupedRelease, ...]
    columns: tuple[str, ...]
    values: tuple[str, ...]
    codes: tuple[Longs, ...]
    targets: tuple[Targets, ...]

    def intersect(self, *, sure: bool = False) -> Intersection:
        """The attack on targets assumed not to be suppressed where they fit a group; with `sure`, what holds in any case."""
        return intersect(self.releases, self.targets, self.values, self.codes, self.columns, sure=sure)

    @property
    def suppressed_share(self) -> list[float]:
        """The share of people in each release, in percent, for whom it may be wrong to assume that they are not suppressed."""
        return [100 * release.suppressed / release.people if release.people else 0.0 for release in self.releases]

    @property
    def secret(self) -> Secret:
        """Which values are secrets: a missing one is none, unless a schema says so."""
        if MISSING not in self.values or any(release.schema.missing_is_secret for release in self.releases):
            return EVERY
        return Secret(self.values.index(MISSING))

    def subtract(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """What subtracting releases from each later one tells about people who are in only one of them."""
        views = [Counted(*view) for view in zip(self.releases, self.codes, self.columns, strict=True)]
        found = []
        for j, later in enumerate(views):
            for some in earlier_together(views[:j], len(self.values)):
                told = subtract([views[i] for i in some], later, len(self.values), self.secret.missing)
                earlier = " and ".join(names[i] for i in some)
                found.append({"earlier": earlier, "later": names[j], **told.to_document()})
        return found

    def weigh(self, presence: Sequence[float] | None, effort: Effort, rng: np.random.Generator) -> Composition:
        """What is believed of the targets, with probabilities."""
        return weigh(
            self.releases,
            self.targets,
            self.values,
            self.codes,
            self.columns,
            presence=presence,
            effort=effort,
            rng=rng,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """What several releases together leave of each target and, if it was asked for, what is believed of it."""

    opened: Releases
    found: Intersection  # of targets assumed not to be suppressed where they fit a group
    sure: Intersection  # what holds in any case
    figures: dict[str, Any]
    differences: tuple[dict[str, Any], ...]
    truth: AgainstTruth | None  # None: nobody named the truth
    believed: Composition | None  # None: nobody asked for probabilities
    belief_figures: dict[str, Any] | None

    @property
    def names(self) -> tuple[str, ...]:
        """What releases are called in a report."""
        return _short(self.opened.names)

    @property
    def converged(self) -> bool:
        """Whether beliefs are as sharp as was asked for."""
        return self.believed is None or self.believed.converged

    def values_left(self) -> tuple[Intersection, Intersection]:
        """The attacks, without "missing" among the values that are left."""
        none = certainly_missing(self.found, self.opened.secret)
        found, sure = (values_left(one, self.opened.secret, none) for one in (self.found, self.sure))
        return found, sure

    def to_document(self) -> dict[str, Any]:
        """The composition as JSON has it."""
        return {
            "releases": len(self.opened.releases),
            **self.figures,
            "differences": list(self.differences),
            **({} if self.truth is None else {"truth": self.truth.to_document()}),
            **({} if self.belief_figures is None else {"probabilistic": self.belief_figures}),
        }


def compose(
    releases: Sequence[Source | Release],
    schemas: Sequence[Schema],
    targets: Source,
    *,
    truth: Source | None = None,
    with_beliefs: bool = False,
    presence: Sequence[float] | None = None,
    mcse: float | None = None,
    seed: int = 0,
    mapping: Path | None = None,
    sensitive: str | None = None,
    kind: str | None = None,
    engine: Engine | None = None,
    stage: Callable[[str], None] = lambda _: None,
) -> Composed:
    """Intersect what several releases say of the same people, and subtract them from each other.

    With `with_beliefs` or `presence`, the probability that a target is in each release, it also attacks with probabilities. `stage`
    is told what is being done.
    """
    weighed = with_beliefs or presence is not None
    if mcse is not None and not weighed:
        raise InputError("--mcse is about probabilities: add --beliefs FILE or --presence, or leave it out.")
    if presence is not None:
        check_presence(presence, len(releases))
    engine = engine or _engine.default()
    stage("reading")
    names = {} if mapping is None else read_map(mapping, engine)
    opened = open_releases(
        releases, schemas, targets, engine=engine, kind=kind, sensitive=sensitive, mapping=names
    )  # fmt: skip
    if weighed:
        _check_weighed(opened)
    stage("intersecting")
    found = opened.intersect()
    sure = opened.intersect(sure=True) if any(opened.suppressed_share) else found
    stage("subtracting")
    differences = opened.subtract(_short(opened.names))
    right = None if truth is None else read_truth(truth, opened, schemas[0], engine, names)
    held = None
    if right is not None:
        located = zip(opened.releases, opened.targets, own_groups(opened, right, names, engine), strict=True)
        held = against_truth(found, sure, right, opened.secret, list(located))
    believed = None
    if weighed:
        stage("weighing")
        believed = opened.weigh(presence, Effort(mcse=0.01 if mcse is None else mcse), np.random.default_rng(seed))
    told = None if believed is None else belief_figures(believed, right, opened.secret)
    left = figures(found, sure, opened.suppressed_share, opened.secret)
    return Composed(opened, found, sure, left, tuple(differences), held, believed, told)


def check_presence(presence: Sequence[float], releases: int, written: str | None = None) -> None:
    """Refuse anything but a probability above 0 for each release; `written` is what was typed."""
    if len(presence) != releases or not all(0 < share <= 1 for share in presence):
        text = ",".join(f"{share:g}" for share in presence) if written is None else written
        raise InputError(
            f"--presence {text!r}: write a number above 0, at most 1, for each of the {releases} releases, for example 1,0.9."
        )


def parse_presence(text: str, releases: int) -> list[float]:
    """`1,0.9` as numbers, one for each release."""
    try:
        presence = [float(part) for part in text.split(",")]
    except ValueError:
        presence = []
    check_presence(presence, releases, text)
    return presence


def _check_weighed(opened: Releases) -> None:
    for name, release in zip(opened.names, opened.releases, strict=True):
        reason = refusal(release)
        if reason is not None:
            raise InputError(f"{name}: {reason} Leave --beliefs and --presence out.")


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of files without their folders, if that tells them apart."""
    short = tuple(Path(name).name for name in names)
    return short if len(set(short)) == len(short) else names


def open_releases(
    sources: Sequence[Source | Release],
    schemas: Sequence[Schema],
    targets: Source,
    *,
    engine: Engine,
    kind: str | None = None,
    sensitive: str | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Releases:
    """Read releases, each with its schema or all with one, and the targets in each one's coding."""
    if len(sources) < 2:
        raise InputError(
            "Composition is about two releases or more. Name another one, or attack this one with `attack`."
        )
    if len(schemas) not in (1, len(sources)):
        raise InputError(
            f"There are {len(sources)} releases and {len(schemas)} schemas: name one --schema for all, or one for each, in order."
        )
    each = list(schemas) * len(sources) if len(schemas) == 1 else list(schemas)
    columns = [_sensitive(schema, sensitive) for schema in each]
    found = []
    names = tuple(
        source if isinstance(source, str) else str(source) if isinstance(source, Path) else f"release {i + 1}"
        for i, source in enumerate(sources)
    )
    for source, schema, name in zip(sources, each, names, strict=True):
        release = read(source, schema, kind=kind, engine=engine)
        if (classes := release.classes()) is None:
            raise InputError(f"{name}: a release of kind {release.kind!r} has no groups in which a target could be.")
        found.append(classes)
    declared = [schema[name] for schema, name in zip(each, columns, strict=True)]
    own = [release.schema[name] for release, name in zip(found, columns, strict=True)]
    check_values(names, declared, own, mapping or {})
    opened: list[GroupedRelease] = []
    coded: list[Targets] = []
    called = mapping or {}
    for source, schema, release, mine in zip(sources, each, found, columns, strict=True):
        leaves: dict[str, set[str]] = {name: set(texts) for name, texts in leaves_of(targets, schema, engine).items()}
        if len(schemas) == 1:  # with one schema all are coded alike, so that they can be taken together
            for other in found:
                for column in other.schema.coded:
                    leaves.setdefault(column.name, set()).update(column.leaves)
        else:  # a value that only another release has is possible here, too
            named = {called.get(leaf, leaf) for leaf in release.schema[mine].leaves}
            leaves[mine] = {leaf for column in own for leaf in column.leaves if called.get(leaf, leaf) not in named}
        wide = widened(source, release, schema, leaves, kind, engine).classes()
        assert wide is not None  # it is the same kind again
        opened.append(wide)
        same = opened[:-1] and same_columns(opened[0].schema, wide.schema)
        coded.append(coded[0] if same else read_targets(targets, wide.schema, engine))
    bound = [release.schema[name] for release, name in zip(opened, columns, strict=True)]
    values, codes = common_values(bound, mapping or {})
    return Releases(tuple(sources), names, tuple(opened), tuple(columns), values, codes, tuple(coded))


def _sensitive(schema: Schema, wanted: str | None) -> str:
    names = [column.name for column in schema.sensitive]
    if wanted is None and len(names) > 1:
        raise InputError(f"There are several sensitive columns; name one with --sensitive: {', '.join(names)}.")
    if wanted is not None and wanted not in names:
        raise InputError(f"{schema.source}: {wanted!r} is not a sensitive column.")
    return wanted or names[0]


def leaves_of(targets: Source, schema: Schema, engine: Engine) -> dict[str, list[str]]:
    """The values that targets have in the quasi-identifiers whose domain the schema does not declare."""
    rows = engine.files.open(targets)
    names = [column.name for column in schema.quasi if column.name in rows.columns and not column.fixed]
    if not names:
        return {}
    found = {}
    for name, texts in zip(names, zip(*rows.read(names), strict=True), strict=True):
        distinct = [text for text in dict.fromkeys(texts) if text != ""]

        def locate(_column: str, text: str, texts: tuple[str, ...] = texts) -> str:
            return f"row {texts.index(text)}"

        leaves = canonical_texts(schema[name], distinct, schema, where=rows.name, locate=locate)
        found[name] = [leaf for leaf in leaves if leaf != MISSING]
    return found


def read_map(path: Path, engine: Engine) -> dict[str, str]:
    """Which sensitive value is called what in common."""
    rows = engine.files.open(path)
    for name in ("from", "to"):
        if name not in rows.columns:
            raise InputError(f"{rows.name}: the columns must be from and to.")
    found: dict[str, str] = {}
    for i, (old, new) in enumerate(rows.read(["from", "to"])):
        if old in found and found[old] != new:
            raise InputError(f"{rows.name}, row {i}: {old!r} has two names.")
        found[old] = new
    return found


def read_truth(source: Source, opened: Releases, schema: Schema, engine: Engine, mapping: Mapping[str, str]) -> Longs:
    """The true value of each target, −1 where no release has it, −2 where it is missing.

    The rows are those of the targets, in their order: where both files say something of a person, it is the same.
    """
    rows = engine.files.open(source)
    name = opened.columns[0]
    if name not in rows.columns:
        raise InputError(f"{rows.name}: the truth needs the sensitive column {name!r}.")
    texts = [text for (text,) in rows.read([name])]
    if len(texts) != len(opened.targets[0]):
        raise InputError(
            f"{rows.name} has {counted(len(texts), 'row', 'rows')} and there are {len(opened.targets[0]):,} targets: the truth "
            "must have the rows of the targets, in their order."
        )
    bound = opened.releases[0].schema
    if any(quasi.name in rows.columns for quasi in bound.quasi):
        codes, told = opened.targets[0].codes, read_targets(source, bound, engine).codes
        differ = ((codes != told) & (codes != UNKNOWN) & (told != UNKNOWN)).any(axis=1)
        if differ.any():
            raise InputError(
                f"{rows.name}, row {int(differ.argmax())}: the truth is about somebody else than the target in that row. It must "
                "have the rows of the targets, in their order."
            )
    place = {value: i for i, value in enumerate(opened.values)}
    column = schema[name]
    leaves = {text: column.canonical(text, schema.missing) for text in dict.fromkeys(texts)}
    code = {
        text: -2 if leaf == MISSING and leaf not in place else place.get(mapping.get(leaf, leaf), -1)
        for text, leaf in leaves.items()
    }
    return np.array([code[text] for text in texts], dtype=np.int64)


def own_groups(opened: Releases, truth: Longs, mapping: Mapping[str, str], engine: Engine) -> list[Ints | None]:
    """For each release the group of each target, if it says groups and its lines are the targets, in order.

    That is so of a release that was made of the truth and written in its order: the sensitive values are the same, line by line.
    """
    found: list[Ints | None] = []
    for source, release, column in zip(opened.sources, opened.releases, opened.columns, strict=True):
        found.append(None)
        if release.centres() is None:  # labels and tuples mislead nobody
            continue
        rows = first_rows(source, engine)
        declared = {c.name for c in release.schema.columns}
        if (
            rows is None
            or not rows.numbered
            or GROUP not in rows.columns
            or GROUP in declared
            or column not in rows.columns
        ):
            continue
        groups, texts = zip(*rows.read([GROUP, column]), strict=True)
        place = {value: i for i, value in enumerate(opened.values)}
        leaves = {text: release.schema[column].canonical(text, release.schema.missing) for text in dict.fromkeys(texts)}
        values = [place.get(mapping.get(leaves[text], leaves[text]), -1) for text in texts]
        if len(values) == len(truth) and np.array_equal(values, truth):
            ids = sorted(set(groups))
            rank = dict(zip(ids, rank_ids(ids).tolist(), strict=True))
            found[-1] = np.array([rank[text] for text in groups], dtype=np.int32)
    return found
