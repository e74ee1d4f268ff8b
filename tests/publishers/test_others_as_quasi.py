"""Of several sensitive columns the attacker may know all but one: every part that those leave must satisfy."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
import pytest

import dalenius as dl
from dalenius.criteria import Criterion, DistinctDiversity, EntropyDiversity, KAnonymity, TCloseness
from dalenius.publishers.lattice import Lattice

CRITERIA: list[list[Criterion]] = [
    [KAnonymity(2)],
    [DistinctDiversity(2)],
    [KAnonymity(2), EntropyDiversity(1.5)],
    [TCloseness(0.6)],
]


def table(seed: int) -> dl.Table:
    rng = np.random.default_rng(seed)
    n = 24
    columns = [
        dl.Column("a", "quasi", "integer", intervals=(2, 4)),
        dl.Column("b", "quasi", suppress=True),
        dl.Column("s", "sensitive"),
        dl.Column("t", "sensitive"),
    ]
    values = {
        "a": rng.integers(0, 6, n),
        "b": rng.integers(0, 2, n),
        "s": rng.integers(0, 3, n),
        "t": rng.integers(0, 2, n),
    }
    return dl.Table({name: column.astype(str) for name, column in values.items()}, dl.Schema(columns))


def satisfied(release: dl.Generalized, criteria: list[Criterion]) -> bool:
    return all(
        criterion.passes(release.grouping(column.name, others_as_quasi=True)).all()
        for column in release.schema.sensitive
        for criterion in criteria
    )


@pytest.mark.parametrize("suppression", [0.0, 0.3])
@pytest.mark.parametrize("criteria", CRITERIA, ids=lambda c: " ".join(x.name for x in c))
def test_what_is_published_satisfies_with_the_others_known(criteria: list[Criterion], suppression: float) -> None:
    found = 0
    for seed in range(12):
        try:
            published = Lattice(criteria, suppression=suppression, others_as_quasi=True).publish(table(seed))
        except dl.InputError as error:
            assert "No release satisfies" in str(error)  # noqa: PT017 - other errors must not pass
            continue
        found += 1
        assert satisfied(published.release, criteria)
        assert published.release.suppressed == published.describe()["suppressed"] <= suppression * 24
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("criteria", CRITERIA, ids=lambda c: " ".join(x.name for x in c))
def test_the_optimum_without_suppression_equals_trying_every_node(criteria: list[Criterion]) -> None:
    for seed in range(12):
        people = table(seed)
        search = None
        with contextlib.suppress(dl.InputError):
            search = Lattice(criteria, others_as_quasi=True).publish(people)
        costs = []
        trees = [column.hierarchy for column in people.schema.quasi]
        cells = people.cells()
        for node in itertools.product(*(range(tree.height + 1) for tree in trees if tree)):
            labels = [
                [tree.labels[level][code] for code in tree.maps[level][cells.codes[:, j]]]
                for j, (tree, level) in enumerate(zip(trees, node, strict=True))
                if tree
            ]
            frame = {
                "a": labels[0],
                "b": labels[1],
                "s": [people.schema["s"].leaves[c] for c in cells.codes[:, 2]],
                "t": [people.schema["t"].leaves[c] for c in cells.codes[:, 3]],
                "count": cells.counts,
            }
            release = dl.read_release(frame, people.schema)
            assert isinstance(release, dl.Generalized)
            if satisfied(release, criteria):
                plain = Lattice([KAnonymity(1)]).publish(people).search
                costs.append(float(plain.bounds(np.array([node], dtype=np.int16))[0]))
        assert (search is None) == (not costs)
        if search is not None:
            assert search.loss == pytest.approx(min(costs), abs=1e-12)
