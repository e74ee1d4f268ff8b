"""Learner and attacker on releases of all of Adult: exact where sets are nested, and samplers that agree where they are not."""

from __future__ import annotations

import csv
import itertools
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import dalenius as dl
from dalenius import criteria as c
from dalenius.adversaries import Targets
from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.models.sampling import METHODS, PRINTED, Effort
from dalenius.belief import Belief
from dalenius.measures.accuracy import hits
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.mondrian import Mondrian
from dalenius.releases import Generalized

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]
SOME = 3000  # people who are attacked where beliefs are sampled


@pytest.fixture(scope="module")
def adult(data: Path) -> dl.Table:
    return dl.datasets.adult(data, sensitive="occupation")


def some(table: dl.Table) -> tuple[Targets, NDArray[np.int32]]:
    """People drawn at random: what is known of them, and their values."""
    cells = table.cells()
    rng = np.random.default_rng(0)
    chosen = cells.codes[rng.choice(np.repeat(np.arange(len(cells)), cells.counts), SOME, replace=False)]
    return Targets(cells.schema, np.ascontiguousarray(chosen[:, :-1])), chosen[:, -1]


# A release of ARX -----------------------------------------------------------------------------------------------------


@dataclass
class Tree:
    """One attribute of the rows of one value, in plain Python: how many rows say each set; β is 1 everywhere."""

    leaves: frozenset[str]
    said: Counter[frozenset[str]]

    def _inside(self, node: frozenset[str]) -> int:
        return sum(n for mine, n in self.said.items() if mine <= node)

    def mean(self, node: frozenset[str]) -> float:
        """E[π(node)]: from the root down, (β(c) + M(c)) / (β(u) + rows that say something strictly inside u)."""
        path = sorted({self.leaves, node, *(mine for mine in self.said if mine > node)}, key=len, reverse=True)
        found = 1.0
        for above, below in itertools.pairwise(path):
            found *= (len(below) + self._inside(below)) / (len(above) + self._inside(above) - self.said[above])
        return found


def plain(
    folder: Path, path: Path, names: list[str], people: list[list[str]]
) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """p_A and p_L of some people, from the files alone."""
    sets: list[dict[str, frozenset[str]]] = []
    leaves = []
    for name in names:
        with (folder / f"adult_hierarchy_{name}.csv").open(encoding="utf-8", newline="") as file:
            paths = [row for row in csv.reader(file, delimiter=";") if row]
        below: dict[str, set[str]] = {"*": {row[0] for row in paths}}
        for row in paths:
            for label in row:
                below.setdefault(label, set()).add(row[0])
        sets.append({label: frozenset(mine) for label, mine in below.items()})
        leaves.append(sets[-1]["*"])
    with path.open(encoding="utf-8", newline="") as file:
        rows = Counter(
            (row["occupation"], *(row[name] for name in names)) for row in csv.DictReader(file, delimiter=";")
        )
    values = Counter[str]()
    trees: dict[tuple[str, int], Tree] = {}
    for (s, *labels), n in rows.items():
        values[s] += n
        for a, label in enumerate(labels):
            trees.setdefault((s, a), Tree(leaves[a], Counter())).said[sets[a][label]] += n
    attacker, learner = [], []
    for person in people:
        at = [frozenset((leaf,)) for leaf in person]
        leaf = {s: [trees[s, a].mean(mine) for a, mine in enumerate(at)] for s in values}
        learner.append(_shares({s: (1 + n) * math.prod(leaf[s]) for s, n in values.items()}))
        weight = dict.fromkeys(values, 0.0)
        for (s, *labels), n in rows.items():
            if all(person[a] in sets[a][label] for a, label in enumerate(labels)):
                weight[s] += n * math.prod(
                    leaf[s][a] / trees[s, a].mean(sets[a][label]) for a, label in enumerate(labels)
                )
        attacker.append(_shares(weight))
    return attacker, learner


def _shares(weights: dict[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {s: weight / total for s, weight in weights.items()}


def test_arx_release_is_attacked_exactly(data: Path, adult_schema: Path) -> None:
    """Full-domain recoding with suppressed rows: nested sets, and everybody in the table fits."""
    path = data / "releases" / "arx_adult_k5.csv"
    release = dl.read_release(path, adult_schema)
    assert isinstance(release, Generalized)
    cells = dl.Table(data / "adult" / "adult.csv", adult_schema).cells()
    codes = np.ascontiguousarray(cells.codes[:, :-1])
    found = Attacker().attack(release, Targets(release.schema, codes))
    assert found.method == "exact"
    assert (found.stderr == 0).all()
    assert found.matched.all()
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(found.baseline.sum(axis=1), 1, rtol=1e-12)

    columns = release.schema.quasi
    chosen = np.random.default_rng(0).choice(len(codes), 12, replace=False).tolist()
    people = [[column.leaves[code] for column, code in zip(columns, codes[i].tolist(), strict=True)] for i in chosen]
    attacker, learner = plain(data / "adult", path, [column.name for column in columns], people)
    leaves = release.schema["occupation"].leaves
    for i, mine, theirs in zip(chosen, attacker, learner, strict=True):
        np.testing.assert_allclose(found.posterior[i], [mine[leaf] for leaf in leaves], rtol=1e-9)
        np.testing.assert_allclose(found.baseline[i], [theirs[leaf] for leaf in leaves], rtol=1e-9)


# Mondrian -------------------------------------------------------------------------------------------------------------


def test_mondrian_says_the_same_with_another_seed(adult: dl.Table) -> None:
    """Boxes that overlap are sampled. Short runs have an error, and say how large it is."""
    release = Mondrian([c.KAnonymity(50)]).publish(adult).release
    targets, _ = some(adult)
    effort = Effort(burn_in=200, sweeps=40, most_sweeps=320)
    one, other = (Attacker(effort=effort).attack(release, targets, rng=np.random.default_rng(i)) for i in range(2))
    for found in (one, other):
        assert found.method == "sampled"
        assert found.matched.all()
        np.testing.assert_allclose(found.posterior.sum(axis=1), 1, rtol=1e-9)
        np.testing.assert_allclose(found.baseline.sum(axis=1), 1, rtol=1e-9)
    error = np.hypot(one.stderr, other.stderr)
    apart = np.abs(one.posterior - other.posterior)
    assert (apart <= 6 * error + 1e-12).mean() >= 0.999


# Anatomy --------------------------------------------------------------------------------------------------------------

SWEEPS = {"block": 160, "swaps": 800, "metropolis": 1600}


def variation(one: Floats, other: Floats) -> float:
    """The total variation between two beliefs, on average over people."""
    return float(np.abs(one - other).sum(axis=1).mean()) / 2


@pytest.mark.parametrize(("l", "close"), [(4, 0.05), (6, 0.2)])
def test_samplers_of_the_link_agree(adult: dl.Table, l: int, close: float) -> None:  # noqa: E741
    """Three ways to draw the link, each from its own start: as many people are guessed right, and beliefs are much the same.

    The same people are asked about, so what is guessed differs only where most believed values are close: 0.02 is three times
    the largest difference seen between two runs (0.006). At ℓ = 4 beliefs of two short chains differ by
    0.02 to 0.03 on average over people, by their sampling error. At ℓ = 6 chains settle where some values have each other's
    rows, and stay there: beliefs depend on which two chains these are, 0.03 to 0.13, and the result says that they disagree.
    """
    release = Anatomy(l).publish(adult, seed=0).release
    targets, truth = some(adult)
    found: list[Belief] = []
    for i, method in enumerate(method for method in METHODS if method not in PRINTED):
        sweeps = SWEEPS[method]
        effort = Effort(chains=2, sweeps=sweeps // 8, most_sweeps=sweeps, burn_in=100, method=method)
        belief = Attacker(effort=effort).attack(release, targets, rng=np.random.default_rng(i))
        assert belief.method == "sampled"
        assert belief.diagnostics["sweeps"] == sweeps
        assert belief.matched.all()
        np.testing.assert_allclose(belief.posterior.sum(axis=1), 1, rtol=1e-9)
        if belief.diagnostics["beliefs_that_differ_between_chains"]:
            assert not belief.diagnostics["converged"]
        found.append(belief)
    for one, other in itertools.combinations(found, 2):
        for mine, theirs in ((one.posterior, other.posterior), (one.baseline, other.baseline)):
            assert float(hits(mine, truth).mean()) == pytest.approx(float(hits(theirs, truth).mean()), abs=0.02)
            assert variation(mine, theirs) < close
        if l == 4:
            # Swaps count who was seen: what they never saw has no error of theirs, and is left out.
            error, apart = np.hypot(one.stderr, other.stderr), np.abs(one.posterior - other.posterior)
            seen = (one.stderr > 0) & (other.stderr > 0)
            assert (apart <= 6 * error)[seen].mean() > 0.99
