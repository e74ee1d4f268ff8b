"""The probabilistic attack on several releases (methods C): what each release adds because the target is in it.

    p(s) ∝ p₀(s) · Π over releases j of [ω_j a_j(s)/ℓ_j(s) + 1 − ω_j]

a_j(s) is 1/N_j times the sum over rows with value s of the probability that the row equals the target. ℓ_j(s) is the learner's
probability for such a person who is not in release j. Neither is normalised. ω_j is the probability that the target is in release
j, and p₀ the learner's belief from all releases. For one release this is exact. For several it is exact if the dependence between
values and quasi-identifiers is known, and if the target is the only member of its groups who is in more than one release. A group
that is published twice is counted twice. The belief about its members is then too certain, and the result counts these targets.

The beliefs themselves are never multiplied: each contains what is known about everybody, which would be counted several times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.adversaries.base import Refused, Targets
from dalenius.adversaries.evidence import required
from dalenius.adversaries.models import fit, learning
from dalenius.adversaries.models.learning import Posterior, Views, errors_of
from dalenius.adversaries.models.location import places
from dalenius.adversaries.models.sampling import Effort, Progress
from dalenius.arrays import Floats, Longs
from dalenius.belief import normalised
from dalenius.errors import ParameterError
from dalenius.releases import Anatomized, Generalized, GroupCells, GroupedRelease
from dalenius.releases.base import same_columns

__all__ = ["Composition", "compose", "refusal"]


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """`posterior[i, s]` for each target and common value, nan where no value is possible. `baseline` is p₀."""

    posterior: Floats
    baseline: Floats
    pooled: bool  # p₀ is from all releases; otherwise from the largest, because they cannot be merged
    converged: bool
    shared: Longs  # for each target: the number of pairs of releases in which it is in the same group


def compose(
    releases: Sequence[GroupedRelease],
    targets: Sequence[Targets],
    values: Sequence[str],
    codes: Sequence[Longs],
    columns: Sequence[str],
    *,
    presence: Sequence[float] | None = None,
    effort: Effort | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Composition:
    """Return the beliefs about targets, who are coded in each release's own schema. `presence` are the ω_j, by default 1."""
    presence = [1.0] * len(releases) if presence is None else list(presence)
    if len(presence) != len(releases):
        raise ParameterError("presence", "composition", f"{len(releases)} numbers, one for each release", presence)
    for share in presence:
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise ParameterError("presence", "composition", "a number above 0, at most 1", share)
    effort, rng = effort or Effort(), rng or np.random.default_rng()
    for release in releases:
        reason = refusal(release)
        if reason is not None:
            raise Refused(reason)
    whole, pooled = _merge(releases)
    converged = True
    weights = np.ones((len(targets[0]), len(values)))
    for release, people, code, column, share in zip(releases, targets, codes, columns, presence, strict=True):
        views, has_converged = _views(release, people, column, effort, rng, progress)
        converged &= has_converged
        with np.errstate(invalid="ignore", divide="ignore"):
            # Several leaves may have one common name: add up their rows and their probabilities.
            a, l = (_common(view, code, len(values)) for view in views)  # noqa: E741
            ratio = np.where(l > 0, a / release.people / l, 0.0)
        # A release in which nobody is like the target says nothing about the target, as in the intersection.
        here = (a > 0).any(axis=1, keepdims=True)
        weights *= np.where(here, share * ratio + (1 - share), 1.0)
    number = next(i for i, release in enumerate(releases) if release is whole) if not pooled else 0
    views, has_converged = _views(whole, targets[number], columns[number], effort, rng, progress)
    baseline = normalised(_common(views.learner, codes[number], len(values)))
    with np.errstate(invalid="ignore"):
        posterior = normalised(weights * baseline)
    shared = _shared(releases, targets, codes, columns)
    return Composition(posterior, baseline, pooled, converged and has_converged, shared)


def refusal(release: GroupedRelease) -> str | None:
    """Return why beliefs cannot be computed for a release, or None."""
    if release.centres() is not None:
        return "Centroids do not say which values they stand for. Intersect them without probabilities."
    reason = learning.refusal(release)
    return None if reason is None else f"Probabilities cannot be computed for this release: {reason}."


def _common(view: Floats, code: Longs, values: int) -> Floats:
    """Return weights of the common values: those of leaves with one common name are added up."""
    weights = np.zeros((len(view), values))
    np.add.at(weights.T, code, view.T)
    return weights


def _views(
    release: GroupedRelease,
    targets: Targets,
    column: str,
    effort: Effort,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[Views, bool]:
    """Return the attacker's and learner's weights for each target, and whether they have converged."""
    known, number = fit.distinct_targets(targets)
    error = errors_of({}, release.schema)
    posterior = Posterior.of(release, column, effort)
    if not posterior.exact:
        posterior.sample(known, error, effort, rng, progress)
    views = posterior.weights(known, error)
    return Views(views.attacker[number], views.learner[number]), bool(posterior.diagnostics.get("converged", True))


def _merge(releases: Sequence[GroupedRelease]) -> tuple[GroupedRelease, bool]:
    """Return all releases as one if they are of one kind and coded alike; otherwise the largest. Also return which it is."""
    first = releases[0]
    links = [evidence for release in releases if (evidence := release.links()) is not None]
    boxes = [rows for release in releases if (rows := release.rows()) is not None]
    alike = all(same_columns(first.schema, other.schema) for other in releases)
    if not alike or len(releases) not in (len(links), len(boxes)):
        return max(releases, key=lambda release: release.people), False
    before = np.concatenate(([0], np.cumsum([release.groups for release in releases])))

    def joined(cells: Sequence[GroupCells], sizes: list[int]) -> GroupCells:
        group = np.concatenate(
            [np.where(part.group < 0, -1, part.group + low) for part, low in zip(cells, before[:-1], strict=True)]
        )
        codes = np.concatenate([part.codes for part in cells])
        return GroupCells.gather(group.astype(np.int32), codes, np.concatenate([part.counts for part in cells]), sizes)

    sensitive = joined([release.sensitive for release in releases], [len(c.leaves) for c in first.schema.sensitive])
    if len(links) == len(releases):
        tuples = [release.quasi for release in links]
        return Anatomized(first.schema, joined(tuples, [len(c.leaves) for c in first.schema.quasi]), sensitive), True
    labels = [
        [label.members for release in boxes for label in release.labels[a]] for a in range(len(first.schema.quasi))
    ]
    index = np.concatenate(
        [
            release.codes
            + np.array([sum(len(other.labels[a]) for other in boxes[:j]) for a in range(len(labels))], dtype=np.int32)
            for j, release in enumerate(boxes)
        ]
    )
    pooled = Generalized.from_labels(
        first.schema, labels, index.astype(np.int32), sensitive.group, sensitive.codes, sensitive.counts
    )
    return pooled, True


def _shared(
    releases: Sequence[GroupedRelease], targets: Sequence[Targets], codes: Sequence[Longs], columns: Sequence[str]
) -> Longs:
    """Return for each target the number of pairs of releases in which its group has the same labels and values."""
    pairs = np.zeros(len(targets[0]), dtype=np.int64)
    numbers: dict[tuple[object, ...], int] = {}  # a number for each distinct group, as published
    marks: list[Longs] = []
    for release, people, code, column in zip(releases, targets, codes, columns, strict=True):
        known, number = fit.distinct_targets(people)
        group, times = np.full(len(known), -1, dtype=np.int64), np.zeros(len(known), dtype=np.int64)
        for some, start, which in places(release, known, sure=False):
            owner = np.repeat(some, np.diff(start))
            inside = which < release.groups  # suppressed rows are no group
            np.add.at(times, owner[inside], 1)
            group[owner[inside]] = which[inside]
        group[times != 1] = -1
        own = np.array(
            [numbers.setdefault(mark, len(numbers)) for mark in _marks(release, code, column)], dtype=np.int64
        )
        marks.append(np.where(group < 0, -1 - len(marks), own[group])[number])
    for i in range(len(marks)):
        for j in range(i):
            pairs += marks[i] == marks[j]
    return pairs


def _marks(release: GroupedRelease, code: Longs, column: str) -> list[tuple[object, ...]]:
    """Return what is published about each group, to compare groups: labels or tuples, and values by their common names."""
    grouping = release.grouping(column)
    contents: list[tuple[object, ...]] = []
    for q in range(release.groups):
        cells_of = slice(int(grouping.start[q]), int(grouping.start[q + 1]))
        pairs = zip(code[grouping.values[cells_of]].tolist(), grouping.counts[cells_of].tolist(), strict=True)
        contents.append(tuple(sorted(pairs)))
    boxes = release.rows()
    if boxes is not None:
        labels = [[label.text for label in names] for names in boxes.labels]
        texts = [tuple(names[c] for names, c in zip(labels, row, strict=True)) for row in boxes.codes.tolist()]
    else:
        tuples: list[list[tuple[object, ...]]] = [[] for _ in range(release.groups)]
        leaves = [quasi.leaves for quasi in release.schema.quasi]
        cells = required(release.links(), release).quasi
        for q, row, count in zip(cells.group.tolist(), cells.codes.tolist(), cells.counts.tolist(), strict=True):
            tuples[q].append((*(names[c] for names, c in zip(leaves, row, strict=True)), count))
        texts = [tuple(map(str, names)) for names in tuples]
    return [(values, text) for values, text in zip(contents, texts, strict=True)]
