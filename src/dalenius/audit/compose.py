"""Several releases about the same people, each read with its own schema, and targets in all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import UNKNOWN, Targets
from dalenius.adversary.composition import Composition, compose
from dalenius.adversary.differences import Counted, earlier_together, subtract
from dalenius.adversary.intersection import Intersection, contains, intersect, members
from dalenius.adversary.location import found_in
from dalenius.adversary.sampling import Effort
from dalenius.audit.people import widened
from dalenius.audit.secrets import EVERY, Secret
from dalenius.audit.targets import read_targets
from dalenius.coding import canonical_texts
from dalenius.engine import Engine, Source
from dalenius.errors import InputError, counted, listing
from dalenius.hierarchy import MISSING
from dalenius.measure import accuracy
from dalenius.measure.accuracy import Rate
from dalenius.measure.composition import composed
from dalenius.output import csv_text
from dalenius.release import GroupedRelease, find_files, read
from dalenius.release.base import same_columns
from dalenius.release.reading import GROUP, rank_ids
from dalenius.schema import Column, Schema

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Releases:
    """Releases that are attacked together. `codes[j]` says which of `values` each leaf of release j's sensitive column is."""

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

    def values_left(self, found: Intersection, sure: Intersection) -> tuple[Intersection, Intersection]:
        """The same attacks, without "missing" among the values that are left."""
        none = _certainly_missing(found, self.secret)
        return _values_left(found, self.secret, none), _values_left(sure, self.secret, none)

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

    def compose(self, presence: Sequence[float] | None, effort: Effort, rng: np.random.Generator) -> Composition:
        return compose(
            self.releases,
            self.targets,
            self.values,
            self.codes,
            self.columns,
            presence=presence,
            effort=effort,
            rng=rng,
        )


def open_releases(
    sources: Sequence[Source],
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
    for source, schema in zip(sources, each, strict=True):
        release = read(source, schema, kind=kind, engine=engine)
        if (classes := release.classes()) is None:
            raise InputError(f"{source}: a release of kind {release.kind!r} has no groups in which a target could be.")
        found.append(classes)
    names = tuple(str(source) for source in sources)
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
    return Releases(names, tuple(opened), tuple(columns), values, codes, tuple(coded))


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


def check_values(
    names: Sequence[str],
    declared: Sequence[Column],
    bound: Sequence[Column],
    mapping: Mapping[str, str],
    option: str = "--map",
) -> None:
    """Domains that are declared must be the same. Where they are not, releases may differ, but not in every value."""
    mapped = [[mapping.get(leaf, leaf) for leaf in column.leaves] for column in bound]
    known = {leaf for column in bound for leaf in column.leaves}
    for old, new in mapping.items():
        if old not in known:
            raise InputError(f"{option}: no release has the sensitive value {old!r}.")
        if new not in known and sum(other == new for other in mapping.values()) < 2:
            raise InputError(f"{option}: {old!r} becomes {new!r}, which no release has, and nothing else becomes it.")
    fixed = [j for j, column in enumerate(declared) if column.fixed]
    for j in fixed[1:]:
        _check_same(names[fixed[0]], names[j], set(mapped[fixed[0]]), set(mapped[j]), option)
    for j in range(1, len(mapped)):
        if not set(mapped[0]) & set(mapped[j]):
            _check_same(names[0], names[j], set(mapped[0]), set(mapped[j]), option)


def common_values(bound: Sequence[Column], mapping: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[Longs, ...]]:
    """The sensitive values of all releases, and which of them each one's leaves are."""
    mapped = [[mapping.get(leaf, leaf) for leaf in column.leaves] for column in bound]
    values = tuple(dict.fromkeys(leaf for leaves in mapped for leaf in leaves))
    place = {leaf: i for i, leaf in enumerate(values)}
    return values, tuple(np.array([place[leaf] for leaf in leaves], dtype=np.int64) for leaves in mapped)


def _check_same(one: str, other: str, mine: set[str], theirs: set[str], option: str) -> None:
    if mine == theirs:
        return
    sides = ((one, mine - theirs), (other, theirs - mine))
    parts = [f"only {name} has {listing(sorted(extra), limit=8)}" for name, extra in sides if extra]
    raise InputError(
        f"The sensitive values of {one} and {other} are not the same: {'; '.join(parts)}. Write a file with the columns from "
        f"and to, a line for each value that has another name elsewhere, and name it with {option}."
    )


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


@dataclass(frozen=True, slots=True)
class Checked:
    """What the truth says of an attack, in percent of the targets that are located somewhere."""

    holds: float  # the true value is among those left
    holds_sure: float  # also if the target may be suppressed
    certain_right: float  # of those with one value left, it is the true one
    in_release: list[float]  # the true value is where the release locates the target
    located_right: list[float]  # the group is the target's own, of releases whose rows are those of the truth, in order

    def to_document(self) -> dict[str, object]:
        return {
            "true_value_left": self.holds,
            "true_value_left_sure": self.holds_sure,
            "certain_and_right": self.certain_right,
            "true_value_in_group": self.in_release,
            "located_right": self.located_right,
        }


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
    for name, release, column in zip(opened.names, opened.releases, opened.columns, strict=True):
        found.append(None)
        if release.centres() is None:  # labels and tuples mislead nobody
            continue
        rows = engine.open(find_files(name)[1][0])
        declared = {c.name for c in release.schema.columns}
        if not rows.numbered or GROUP not in rows.columns or GROUP in declared or column not in rows.columns:
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


def checked(
    found: Intersection, sure: Intersection, truth: Longs, opened: Releases, groups: Sequence[Ints | None]
) -> Checked:
    somewhere = found.located.any(axis=0) & (truth != -2)
    holds = found.holds(truth)
    secret = opened.secret
    left = _values_left(found, secret, _certainly_missing(found, secret))
    certain = somewhere & (left.posterior == 1) & ((truth != secret.missing) | (secret == EVERY))
    told = truth != -2
    inside = [
        _percent(contains(sets, truth)[there & told]) for sets, there in zip(found.sets, found.located, strict=True)
    ]
    right = [
        float("nan") if mine is None else _percent(found_in(release, targets.codes, mine))
        for release, targets, mine in zip(opened.releases, opened.targets, groups, strict=True)
    ]
    kept = _percent(sure.holds(truth)[somewhere])
    return Checked(_percent(holds[somewhere]), kept, _percent(holds[certain]), inside, right)


def _percent(of: NDArray[np.bool_]) -> float:
    return 100 * float(of.mean()) if len(of) else float("nan")


def figures(
    found: Intersection, sure: Intersection, suppressed_share: Sequence[float], secret: Secret = EVERY
) -> dict[str, Any]:
    """The figures of the attack, and what is left in any case, whoever is suppressed (`…_sure`)."""
    none = _certainly_missing(found, secret)
    told, anyhow = (_values_left(one, secret, none) for one in (found, sure))
    assumed, certain = (composed(one.prior, one.located, one.posterior) for one in (told, anyhow))
    kept = ("PVP", "VP", "mean_prior_anonymity", "mean_posterior_anonymity", "already_certain", "empty_intersections")
    return (
        assumed.to_document()
        | {
            "unlocated": int(np.count_nonzero(~found.located.all(axis=0))),
            "certainly_missing": int(np.count_nonzero(none)),
        }
        | {"suppressed_share": list(suppressed_share)}
        | {f"{name}_sure": value for name, value in certain.to_document().items() if name in kept}
    )


def _certainly_missing(found: Intersection, secret: Secret) -> NDArray[np.bool_]:
    """Targets of whom only "missing" is left: nothing is found out about these."""
    if secret == EVERY:
        return np.zeros(len(found.left), dtype=bool)
    code = np.full(len(found.left), secret.missing, dtype=np.int64)
    alone: NDArray[np.bool_] = contains(found.left, code) & (found.posterior == 1)
    return alone


def _values_left(found: Intersection, secret: Secret, none: NDArray[np.bool_]) -> Intersection:
    """What is left of targets who have a value; nothing of those who certainly have `none`."""
    if secret == EVERY:
        return found
    word, bit = divmod(secret.missing, 64)

    def without(sets: NDArray[np.uint64]) -> NDArray[np.uint64]:
        rest = sets.copy()
        rest[:, word] &= ~(np.uint64(1) << np.uint64(bit))
        rest[none] = 0
        return rest

    sets = tuple(without(one) for one in found.sets)
    return Intersection(found.values, sets, found.located & ~none, without(found.left))


def belief_figures(found: Composition, truth: Longs | None, secret: Secret = EVERY) -> dict[str, Any]:
    """What is to be said of beliefs: how sharp they are and, with the truth, how often and how well they are right."""
    document: dict[str, Any] = {
        "converged": found.converged,
        "pooled": found.pooled,
        "shared_groups": int(np.count_nonzero(found.shared)),
        "undefined": int(np.isnan(found.posterior).any(axis=1).sum()),
        "success": asdict(Rate.undefined()),
        "naive": asdict(Rate.undefined()),
        "confidence": float("nan"),
        "calibration": [],
    }
    if truth is None:
        return document
    known = (truth != -2) & ((truth != secret.missing) | (secret == EVERY))
    lost = np.isnan(found.posterior).any(axis=1, keepdims=True)
    # A value that no release has is a column more, which nobody ever guesses.
    answer, baseline = (
        np.column_stack([weights[known], np.zeros(int(known.sum()))])
        for weights in map(secret.given, (np.where(lost, found.baseline, found.posterior), found.baseline))
    )
    right = np.where(truth[known] < 0, answer.shape[1] - 1, truth[known])
    one = np.ones(len(right), dtype=np.int64)
    document["success"] = asdict(accuracy.success(answer, right, one))
    document["naive"] = asdict(accuracy.success(baseline, right, one))
    document["confidence"] = accuracy.confidence(answer, one).mean if len(one) else float("nan")
    document["calibration"] = [asdict(b) for b in accuracy.calibration(answer, right, one)]
    return document


def composition_text(found: Composition, values: Sequence[str]) -> str:
    """CSV: a line for each target and value; empty where releases contradict each other about the target.

    All of it is made in memory: for thousands of targets, not for millions.
    """
    lines: list[list[object]] = []
    for i, (posterior, baseline) in enumerate(zip(found.posterior.tolist(), found.baseline.tolist(), strict=True)):
        for value, p, q in zip(values, posterior, baseline, strict=True):
            lines.append([i, value, "" if p != p else repr(p), repr(q)])
    return csv_text(["target", "value", "posterior", "baseline"], lines)


def rows_text(found: Intersection, sure: Intersection, names: Sequence[str]) -> str:
    """CSV: a line for each target: how many values each release leaves and all together, and which, as a JSON list.

    The last column is how many are left if the target may be suppressed. What a release that does not locate the target would
    leave is empty.
    """
    prior, posterior = found.prior, found.posterior
    somewhere = np.logical_or.reduce(found.located, axis=0)
    header = ["target", *(f"prior_{j + 1}" for j in range(len(names))), "posterior", "drop", "confidence", "values"]
    header.append("posterior_sure")
    sets, which = np.unique(found.left, axis=0, return_inverse=True)
    lists = [
        json.dumps([found.values[i] for i in np.flatnonzero(mine).tolist()], ensure_ascii=False)
        for mine in members(sets, len(found.values))
    ]
    least = np.where(found.located, prior, np.iinfo(np.int64).max).min(axis=0)
    confidence = ["", *(repr(1 / n) for n in range(1, int(posterior.max(initial=0)) + 1))]
    columns: list[list[object]] = [list(range(len(posterior)))]
    columns += [
        [n if here else "" for n, here in zip(mine.tolist(), there.tolist(), strict=True)]
        for mine, there in zip(prior, found.located, strict=True)
    ]
    told = list(
        zip(
            posterior.tolist(),
            np.maximum(least - posterior, 0).tolist(),
            which.reshape(-1).tolist(),
            somewhere.tolist(),
            strict=True,
        )
    )
    columns.append([n if here else "" for n, _, _, here in told])
    columns.append([drop if here else "" for _, drop, _, here in told])
    columns.append([confidence[n] if here else "" for n, _, _, here in told])
    columns.append([lists[i] if here else "" for _, _, i, here in told])
    columns.append([n if here else "" for n, here in zip(sure.posterior.tolist(), somewhere.tolist(), strict=True)])
    return csv_text(header, zip(*columns, strict=True))
