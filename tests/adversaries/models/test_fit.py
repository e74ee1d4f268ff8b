"""Which groups targets fit, against plain loops over targets and groups: hundreds of groups, in one part and in many."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dalenius.adversaries.base import UNKNOWN
from dalenius.adversaries.models import fit
from dalenius.releases import Anatomized, Generalized
from dalenius.releases.base import GroupCells
from dalenius.schema import Column, Domain, Schema

SIZES = (70, 5, 3)


def schema() -> Schema:
    quasi = tuple(
        Column(f"q{a}", "quasi", domain=Domain(tuple(f"v{leaf:03d}" for leaf in range(size))))
        for a, size in enumerate(SIZES)
    )
    return Schema((*quasi, Column("s", "sensitive", domain=Domain(("x", "y")))))


def boxes(rng: np.random.Generator, groups: int) -> Generalized:
    """Runs of the first attribute, any sets of the second, single leaves or everything of the third."""
    sets = []
    for _ in range(groups):
        low = int(rng.integers(0, SIZES[0]))
        run = np.arange(low, min(SIZES[0], low + int(rng.integers(1, 9))), dtype=np.int32)
        some = np.flatnonzero(rng.random(SIZES[1]) < 0.5).astype(np.int32)
        last = (
            np.arange(SIZES[2], dtype=np.int32) if rng.random() < 0.3 else rng.integers(0, SIZES[2], 1, dtype=np.int32)
        )
        sets.append([run, some if len(some) else np.array([0], dtype=np.int32), last])
    group = np.repeat(np.arange(groups, dtype=np.int32), 2)
    values = np.tile(np.array([[0], [1]], dtype=np.int32), (groups, 1))
    counts = rng.integers(1, 5, 2 * groups)
    return Generalized.from_sets(schema(), sets, group, values, counts.astype(np.int64))


def tuples(rng: np.random.Generator, groups: int) -> Anatomized:
    rows = 3 * groups
    codes = np.column_stack([rng.integers(0, size, rows) for size in SIZES]).astype(np.int32)
    group = np.repeat(np.arange(groups, dtype=np.int32), 3)
    ones = np.ones(rows, dtype=np.int64)
    quasi = GroupCells.gather(group, codes, ones, list(SIZES))
    sensitive = GroupCells.gather(group, rng.integers(0, 2, (rows, 1)).astype(np.int32), ones, [2])
    return Anatomized(schema(), quasi, sensitive)


def targets(rng: np.random.Generator, number: int) -> np.ndarray:
    known = np.column_stack([rng.integers(0, size, number) for size in SIZES]).astype(np.int32)
    known[rng.random(known.shape) < 0.2] = UNKNOWN
    known[0] = UNKNOWN
    return known


def plain(release: Generalized | Anatomized, known: np.ndarray) -> np.ndarray:
    """Fits by their definition, one target and one group at a time."""
    found = np.zeros((len(known), release.groups))
    for t, target in enumerate(known.tolist()):
        for q in range(release.groups):
            if isinstance(release, Generalized):
                share = 1.0
                for a, leaf in enumerate(target):
                    members = release.labels[a][release.codes[q, a]].members.tolist()
                    if leaf != UNKNOWN:
                        share *= 1 / len(members) if leaf in members else 0.0
            else:
                mine = [i for i, group in enumerate(release.quasi.group.tolist()) if group == q]
                equal = [
                    i
                    for i in mine
                    if all(
                        leaf in (UNKNOWN, code)
                        for leaf, code in zip(target, release.quasi.codes[i].tolist(), strict=True)
                    )
                ]
                share = sum(int(release.quasi.counts[i]) for i in equal) / sum(
                    int(release.quasi.counts[i]) for i in mine
                )
            found[t, q] = share
    return found


@pytest.mark.parametrize("make", [boxes, tuples])
@pytest.mark.parametrize(("pairs", "bits"), [(8_000_000, 2**27), (1, 1), (50, 8 * 80 * 2)])
def test_fits_are_those_of_plain_loops(make: object, pairs: int, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "MAX_PAIRS", pairs)
    monkeypatch.setattr(fit, "MAX_BIT_BYTES", bits)
    rng = np.random.default_rng(7)
    release = make(rng, 230)  # type: ignore[operator]
    known = targets(rng, 60)
    found = np.zeros((len(known), release.groups))
    parts = 0
    for some, groups in fit.fits(release, known):
        found[some] += groups.toarray()
        parts += 1
    np.testing.assert_allclose(found, plain(release, known), rtol=1e-12)
    assert (parts > 1) == (pairs < 100 or make is tuples)  # tuples come by what is known of the targets


def test_more_groups_than_one_summary_word_speaks_of() -> None:
    """64 × 64 groups fill one word of a summary."""
    rng = np.random.default_rng(3)
    release = boxes(rng, 9_000)
    assert release.groups > 64 * 64
    known = targets(rng, 5)
    found = sum(groups.toarray() for _, groups in fit.fits(release, known))
    np.testing.assert_allclose(found, plain(release, known), rtol=1e-12)


def test_a_release_in_another_coding_has_its_own_sets() -> None:
    release = boxes(np.random.default_rng(1), 3)
    before = release.leaf_sets(0)
    labels = tuple(tuple(dataclasses.replace(x, members=x.members[:1]) for x in column) for column in release.labels)
    assert len(dataclasses.replace(release, labels=labels).leaf_sets(0).members) == len(before) < len(before.members)
