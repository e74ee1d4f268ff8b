"""Attack several releases about the same people together: which values they leave for targets who are in all of them."""

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
from dalenius.auditing.groups import SensitiveValues, own_groups
from dalenius.auditing.people import widened
from dalenius.auditing.secrets import EVERY, Secret
from dalenius.auditing.targets import read_targets
from dalenius.coding import canonical_texts
from dalenius.engines import Engine, Source
from dalenius.errors import InputError, counted
from dalenius.hierarchy import MISSING
from dalenius.releases import GroupCells, GroupedRelease, Release, read
from dalenius.releases.base import same_columns
from dalenius.result import Result
from dalenius.schema import Schema

__all__ = [
    "JointAttack",
    "Releases",
    "check_presence",
    "compose",
    "leaves_of",
    "open_releases",
    "parse_presence",
    "read_map",
    "read_truth",
    "target_groups",
]


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
        """Attack targets, assuming that those who fit a group are not suppressed. With `sure`, return what holds in any case."""
        return intersect(self.releases, self.targets, self.values, self.codes, self.columns, sure=sure)

    @property
    def suppressed_share(self) -> list[float]:
        """Return the percentage of suppressed people in each release, for whom that assumption is wrong."""
        return [100 * release.suppressed / release.people if release.people else 0.0 for release in self.releases]

    @property
    def secret(self) -> Secret:
        """Return which values are secrets. A missing value is not a secret, unless a schema says so."""
        if MISSING not in self.values or any(release.schema.missing_is_secret for release in self.releases):
            return EVERY
        return Secret(self.values.index(MISSING))

    def subtract(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return what subtracting releases from each later one reveals about people who are in only one of them."""
        views = [Counted(*view) for view in zip(self.releases, self.codes, self.columns, strict=True)]
        differences = []
        for j, later in enumerate(views):
            for some in earlier_together(views[:j], len(self.values)):
                difference = subtract([views[i] for i in some], later, len(self.values), self.secret.missing)
                earlier = " and ".join(names[i] for i in some)
                differences.append({"earlier": earlier, "later": names[j], **difference.to_document()})
        return differences

    def weigh(self, presence: Sequence[float] | None, effort: Effort, rng: np.random.Generator) -> Composition:
        """Return the probabilities that an attacker believes about the targets."""
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JointAttack(Result):
    """What several releases together leave of each target and, if it was asked for, what is believed of it.

    `to_pandas` has one row for each target, as `-o` writes it: `target`, `prior_1`, `prior_2` … (how many values each release
    leaves), `posterior` (how many all of them leave), `drop`, `confidence`, `values` (a JSON list of the values that are left) and
    `posterior_sure` (how many are left if the target may be suppressed).
    """

    releases: Releases
    assumed: Intersection  # assuming that targets who fit a group are not suppressed
    sure: Intersection  # what holds in any case
    figures: dict[str, Any]
    differences: tuple[dict[str, Any], ...]
    truth: AgainstTruth | None  # None: the truth is unknown
    believed: Composition | None  # None: probabilities were not requested
    belief_figures: dict[str, Any] | None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the releases for a report."""
        return _short(self.releases.names)

    @property
    def converged(self) -> bool:
        """Return whether beliefs are as precise as requested."""
        return self.believed is None or self.believed.converged

    def values_left(self) -> tuple[Intersection, Intersection]:
        """Return both attacks, without "missing" among the values that are left."""
        none = certainly_missing(self.assumed, self.releases.secret)
        assumed, sure = (
            values_left(intersection, self.releases.secret, none) for intersection in (self.assumed, self.sure)
        )
        return assumed, sure

    def to_document(self) -> dict[str, Any]:
        """Return the attack as JSON has it."""
        return {
            "releases": len(self.releases.releases),
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
) -> JointAttack:
    """Intersect what several releases reveal about the same people, and subtract the releases from each other.

    With `with_beliefs` or `presence` (the probability that a target is in each release), also attack with probabilities. `stage` is
    called with the name of each step.
    """
    weighed = with_beliefs or presence is not None
    if mcse is not None and not weighed:
        raise InputError("--mcse needs probabilities. Add --beliefs FILE or --presence, or leave it out.")
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
    assumed = opened.intersect()
    sure = opened.intersect(sure=True) if any(opened.suppressed_share) else assumed
    stage("subtracting")
    differences = opened.subtract(_short(opened.names))
    right = None if truth is None else read_truth(truth, opened, schemas[0], engine, names)
    held = None
    if right is not None:
        own = target_groups(opened, releases, right, engine)
        located = zip(opened.releases, opened.targets, own, strict=True)
        held = against_truth(assumed, sure, right, opened.secret, list(located))
    believed = None
    if weighed:
        stage("weighing")
        believed = opened.weigh(presence, Effort(mcse=0.01 if mcse is None else mcse), np.random.default_rng(seed))
    belief_document = None if believed is None else belief_figures(believed, right, opened.secret)
    left = figures(assumed, sure, opened.suppressed_share, opened.secret)
    return JointAttack(opened, assumed, sure, left, tuple(differences), held, believed, belief_document)


def check_presence(presence: Sequence[float], releases: int, typed: str | None = None) -> None:
    """Refuse anything but a probability above 0 for each release. `typed` is the text of the option."""
    if len(presence) != releases or not all(0 < share <= 1 for share in presence):
        text = ",".join(f"{share:g}" for share in presence) if typed is None else typed
        raise InputError(
            f"--presence {text!r}: write a number above 0 and at most 1 for each of the {releases} releases, for example 1,0.9."
        )


def parse_presence(text: str, releases: int) -> list[float]:
    """Return `1,0.9` as numbers, one for each release."""
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
    """Return the names of files without their folders, if they are still different."""
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
    """Read releases, each with its schema or all with one, and the targets in the coding of each release."""
    if len(sources) < 2:
        raise InputError("compose needs two releases or more. Name another one, or attack this one with `attack`.")
    if len(schemas) not in (1, len(sources)):
        raise InputError(
            f"There are {len(sources)} releases and {len(schemas)} schemas: name one --schema for all, or one for each, in order."
        )
    each = list(schemas) * len(sources) if len(schemas) == 1 else list(schemas)
    columns = [_sensitive(schema, sensitive) for schema in each]
    classes_of_each = []
    names = tuple(
        str(source) if isinstance(source, str | Path) else f"release {i + 1}" for i, source in enumerate(sources)
    )
    for source, schema, name in zip(sources, each, names, strict=True):
        release = read(source, schema, kind=kind, engine=engine)
        if (classes := release.classes()) is None:
            raise InputError(f"{name}: a release of kind {release.kind!r} has no groups that a target could be in.")
        classes_of_each.append(classes)
    declared = [schema[name] for schema, name in zip(each, columns, strict=True)]
    own = [release.schema[name] for release, name in zip(classes_of_each, columns, strict=True)]
    check_values(names, declared, own, mapping or {})
    opened: list[GroupedRelease] = []
    coded: list[Targets] = []
    called = mapping or {}
    for source, schema, release, sensitive_column in zip(sources, each, classes_of_each, columns, strict=True):
        leaves: dict[str, set[str]] = {name: set(texts) for name, texts in leaves_of(targets, schema, engine).items()}
        if len(schemas) == 1:  # with one schema all releases have the same coding, so that they can be combined
            for other in classes_of_each:
                for column in other.schema.coded:
                    leaves.setdefault(column.name, set()).update(column.leaves)
        else:  # a value that only another release has is also possible here
            names_here = {called.get(leaf, leaf) for leaf in release.schema[sensitive_column].leaves}
            others = (leaf for column in own for leaf in column.leaves)
            leaves[sensitive_column] = {leaf for leaf in others if called.get(leaf, leaf) not in names_here}
        wide = widened(source, release, schema, leaves, kind, engine).classes()
        assert wide is not None  # the kind is the same
        opened.append(wide)
        same = opened[:-1] and same_columns(opened[0].schema, wide.schema)
        coded.append(coded[0] if same else read_targets(targets, wide.schema, engine))
    bound = [release.schema[name] for release, name in zip(opened, columns, strict=True)]
    values, codes = common_values(bound, mapping or {})
    return Releases(tuple(sources), names, tuple(opened), tuple(columns), values, codes, tuple(coded))


def _sensitive(schema: Schema, wanted: str | None) -> str:
    names = [column.name for column in schema.sensitive]
    if wanted is None and len(names) > 1:
        raise InputError(f"There are several sensitive columns. Choose one with --sensitive: {', '.join(names)}.")
    if wanted is not None and wanted not in names:
        raise InputError(f"{schema.source}: {wanted!r} is not a sensitive column.")
    return wanted or names[0]


def leaves_of(targets: Source, schema: Schema, engine: Engine) -> dict[str, list[str]]:
    """Return the values of targets in the quasi-identifiers whose domain the schema does not declare."""
    rows = engine.files.open(targets)
    names = [column.name for column in schema.quasi if column.name in rows.columns and not column.fixed]
    if not names:
        return {}
    leaves_by_column = {}
    for name, texts in zip(names, zip(*rows.read(names), strict=True), strict=True):
        distinct = [text for text in dict.fromkeys(texts) if text != ""]

        def locate(_column: str, text: str, texts: tuple[str, ...] = texts) -> str:
            return f"row {texts.index(text)}"

        leaves = canonical_texts(schema[name], distinct, schema, where=rows.name, locate=locate)
        leaves_by_column[name] = [leaf for leaf in leaves if leaf != MISSING]
    return leaves_by_column


def read_map(path: Path, engine: Engine) -> dict[str, str]:
    """Read which sensitive value has which common name."""
    rows = engine.files.open(path)
    for name in ("from", "to"):
        if name not in rows.columns:
            raise InputError(f"{rows.name}: the columns must be from and to.")
    new_names: dict[str, str] = {}
    for i, (old, new) in enumerate(rows.read(["from", "to"])):
        if old in new_names and new_names[old] != new:
            raise InputError(f"{rows.name}, row {i}: {old!r} has two names.")
        new_names[old] = new
    return new_names


def read_truth(source: Source, opened: Releases, schema: Schema, engine: Engine, mapping: Mapping[str, str]) -> Longs:
    """Return the true value of each target, −1 where no release has it, −2 where it is missing.

    The rows are those of the targets, in their order. Where both files describe a person, they must agree.
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
        codes, truth_codes = opened.targets[0].codes, read_targets(source, bound, engine).codes
        differ = ((codes != truth_codes) & (codes != UNKNOWN) & (truth_codes != UNKNOWN)).any(axis=1)
        if differ.any():
            raise InputError(
                f"{rows.name}, row {int(differ.argmax())}: this is not the target in that row. The truth must have the rows of "
                "the targets, in their order."
            )
    place = {value: i for i, value in enumerate(opened.values)}
    column = schema[name]
    leaves = {text: column.canonical(text, schema.missing) for text in dict.fromkeys(texts)}
    code = {
        text: -2 if leaf == MISSING and leaf not in place else place.get(mapping.get(leaf, leaf), -1)
        for text, leaf in leaves.items()
    }
    return np.array([code[text] for text in texts], dtype=np.int64)


def target_groups(
    opened: Releases, sources: Sequence[Source | Release], truth: Longs, engine: Engine
) -> list[Ints | None]:
    """Return for each release the group that each target is in, or None where that is not known.

    It is known of a release of centroids whose lines are the targets, in their order. Labels and tuples mislead nobody, so other
    kinds are not asked.
    """
    groups: list[Ints | None] = []
    for j, (source, release) in enumerate(zip(sources, opened.releases, strict=True)):
        centres = release.centres()
        if centres is None:
            groups.append(None)
            continue
        column = [sensitive.name for sensitive in centres.schema.sensitive].index(opened.columns[j])
        cells, sizes = centres.sensitive, [len(opened.values)]
        shared = opened.codes[j][cells.codes[:, column]].astype(np.int32)[:, None]
        published = GroupCells.gather(cells.group, shared, cells.counts, sizes)
        values = SensitiveValues(truth.astype(np.int32)[:, None], published, sizes)
        group = own_groups(centres, opened.targets[j].codes, values, source, engine)
        groups.append(None if isinstance(group, str) else group)
    return groups
