"""The probabilistic attack on several releases (methods C): what each adds because the target is in it.

    p(s) ∝ p₀(s) · Π over releases j of [ω_j a_j(s)/ℓ_j(s) + 1 − ω_j]

a_j(s) is 1/N_j times the sum over rows with value s of the probability that the row is as the target is, ℓ_j(s) what a learner
gives to somebody like that who is not in release j, neither of them normalised; ω_j is the probability that the target is in
it, and p₀ the learner's belief from all releases. Of one release it is exact. Of several it is exact if how values go
together is known, and if the target is the only member of its groups who is in more than one. A group that is published twice
is counted twice: what is said of such targets is too sure, and how many they are is told.

Beliefs are never multiplied as they are: each holds what is known of everybody, which would be counted again and again.
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


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """`posterior[i, s]` of each target and common value; `baseline` is p₀. Where no value is possible it is nan."""

    posterior: Floats
    baseline: Floats
    pooled: bool  # p₀ is of all releases; else of the largest, since they cannot be taken together
    converged: bool
    shared: Longs  # for each target: in how many pairs of releases it stands in one and the same group


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
    """What is believed of targets, who are coded in each release's own schema. `presence` are the ω_j, 1 if not given."""
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
    whole, pooled = _together(releases)
    converged = True
    weights = np.ones((len(targets[0]), len(values)))
    for release, mine, code, column, share in zip(releases, targets, codes, columns, presence, strict=True):
        views, sharp = _views(release, mine, column, effort, rng, progress)
        converged &= sharp
        with np.errstate(invalid="ignore", divide="ignore"):
            # Several leaves may have one common name: their rows and their probabilities add up.
            a, l = (_common(view, code, len(values)) for view in views)  # noqa: E741
            ratio = np.where(l > 0, a / release.people / l, 0.0)
        # A release in which nobody is like the target says nothing of it, as in the intersection.
        here = (a > 0).any(axis=1, keepdims=True)
        weights *= np.where(here, share * ratio + (1 - share), 1.0)
    number = next(i for i, release in enumerate(releases) if release is whole) if not pooled else 0
    views, sharp = _views(whole, targets[number], columns[number], effort, rng, progress)
    baseline = normalised(_common(views.learner, codes[number], len(values)))
    with np.errstate(invalid="ignore"):
        posterior = normalised(weights * baseline)
    shared = _shared(releases, targets, codes, columns)
    return Composition(posterior, baseline, pooled, converged and sharp, shared)


def refusal(release: GroupedRelease) -> str | None:
    """Why probabilities cannot be weighed with a release, or nothing."""
    if release.centres() is not None:
        return "Centroids do not say which values they stand for, and cannot be weighed: intersect them without probabilities."
    reason = learning.refusal(release)
    return None if reason is None else f"Probabilities cannot be weighed with this release: {reason}."


def _common(view: Floats, code: Longs, values: int) -> Floats:
    found = np.zeros((len(view), values))
    np.add.at(found.T, code, view.T)
    return found


def _views(
    release: GroupedRelease,
    targets: Targets,
    column: str,
    effort: Effort,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[Views, bool]:
    """Attacker's and learner's weights about each target, and whether they have converged."""
    known, number = fit.distinct_targets(targets)
    error = errors_of({}, release.schema)
    posterior = Posterior.of(release, column, effort)
    if not posterior.exact:
        posterior.sample(known, error, effort, rng, progress)
    views = posterior.weights(known, error)
    return Views(views.attacker[number], views.learner[number]), bool(posterior.diagnostics.get("converged", True))


def _together(releases: Sequence[GroupedRelease]) -> tuple[GroupedRelease, bool]:
    """All releases as one, if they are of one kind and coded alike; else the largest."""
    first = releases[0]
    links = [found for release in releases if (found := release.links()) is not None]
    boxes = [mine for release in releases if (mine := release.rows()) is not None]
    alike = all(same_columns(first.schema, other.schema) for other in releases)
    if not alike or len(releases) not in (len(links), len(boxes)):
        return max(releases, key=lambda release: release.people), False
    before = np.concatenate(([0], np.cumsum([release.groups for release in releases])))

    def joined(cells: Sequence[GroupCells], sizes: list[int]) -> GroupCells:
        group = np.concatenate(
            [np.where(mine.group < 0, -1, mine.group + low) for mine, low in zip(cells, before[:-1], strict=True)]
        )
        codes = np.concatenate([mine.codes for mine in cells])
        return GroupCells.gather(group.astype(np.int32), codes, np.concatenate([mine.counts for mine in cells]), sizes)

    sensitive = joined([release.sensitive for release in releases], [len(c.leaves) for c in first.schema.sensitive])
    if len(links) == len(releases):
        tuples = [release.quasi for release in links]
        return Anatomized(first.schema, joined(tuples, [len(c.leaves) for c in first.schema.quasi]), sensitive), True
    sets = [[label.members for release in boxes for label in release.labels[a]] for a in range(len(first.schema.quasi))]
    index = np.concatenate(
        [
            release.codes
            + np.array([sum(len(other.labels[a]) for other in boxes[:j]) for a in range(len(sets))], dtype=np.int32)
            for j, release in enumerate(boxes)
        ]
    )
    pooled = Generalized.from_labels(
        first.schema, sets, index.astype(np.int32), sensitive.group, sensitive.codes, sensitive.counts
    )
    return pooled, True


def _shared(
    releases: Sequence[GroupedRelease], targets: Sequence[Targets], codes: Sequence[Longs], columns: Sequence[str]
) -> Longs:
    """For each target the pairs of releases in which it stands in one group with the same labels and values."""
    found = np.zeros(len(targets[0]), dtype=np.int64)
    numbers: dict[tuple[object, ...], int] = {}  # of what is published of a group
    marks: list[Longs] = []
    for release, mine, code, column in zip(releases, targets, codes, columns, strict=True):
        known, number = fit.distinct_targets(mine)
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
            found += marks[i] == marks[j]
    return found


def _marks(release: GroupedRelease, code: Longs, column: str) -> list[tuple[object, ...]]:
    """What is published of each group, to be compared: its labels or tuples, and its values by their common names."""
    grouping = release.grouping(column)
    found: list[tuple[object, ...]] = []
    for q in range(release.groups):
        mine = slice(int(grouping.start[q]), int(grouping.start[q + 1]))
        pairs = zip(code[grouping.values[mine]].tolist(), grouping.counts[mine].tolist(), strict=True)
        found.append(tuple(sorted(pairs)))
    boxes = release.rows()
    if boxes is not None:
        labels = [[label.text for label in own] for own in boxes.labels]
        texts = [tuple(own[c] for own, c in zip(labels, row, strict=True)) for row in boxes.codes.tolist()]
    else:
        tuples: list[list[tuple[object, ...]]] = [[] for _ in range(release.groups)]
        leaves = [quasi.leaves for quasi in release.schema.quasi]
        cells = required(release.links(), release).quasi
        for q, row, count in zip(cells.group.tolist(), cells.codes.tolist(), cells.counts.tolist(), strict=True):
            tuples[q].append((*(own[c] for own, c in zip(leaves, row, strict=True)), count))
        texts = [tuple(map(str, own)) for own in tuples]
    return [(values, text) for values, text in zip(found, texts, strict=True)]
