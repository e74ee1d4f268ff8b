"""The tables that the papers print: known levels, and every level against the definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dalenius as dl
from dalenius import criteria as c
from dalenius.datasets import PAPERS
from dalenius.releases import GroupedRelease
from tests.criteria.models import NAMES, THRESHOLDS, theirs
from tests.oracle import SMALLER_IS_BETTER, Model, Sensitive

# By hand. relative-1b: two different values in each class; {HIV, Diabetes} against 1/8 each: t = 3/4. realistic-3:
# women are 9 : 1 (alpha, entropy), young men 2 : 3 against 4 : 1 (t). composition-1b: 3 : 1 : 2. error-fig1b: 1 : 2.
K, ALPHA, DISTINCT = ("k_anonymity", "k"), ("alpha_k_anonymity", "alpha"), ("distinct_l_diversity", "l")
ENTROPY, EQUAL = ("entropy_l_diversity", "l"), ("t_closeness", "equal")
KNOWN = {
    "relative-1b": {K: 2, DISTINCT: 2, ENTROPY: 2, ALPHA: 0.5, EQUAL: 0.75},
    "realistic-3": {K: 500, ENTROPY: 1.384145, ALPHA: 0.9, EQUAL: 0.4},
    "composition-1b": {K: 6, DISTINCT: 3, ENTROPY: 2.749459, ALPHA: 0.5, EQUAL: 0.25},
    "error-fig1b": {K: 3, DISTINCT: 2, ENTROPY: 1.889882, EQUAL: 0.5},
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_levels(name: str) -> None:
    release = dl.datasets.paper(name)
    assert isinstance(release, GroupedRelease)
    found = c.measure(release.grouping())
    for place, value in KNOWN[name].items():
        assert found[place].value == pytest.approx(value, abs=5e-7), place


@pytest.mark.parametrize("name", PAPERS)
def test_printed_tables_against_the_definitions(name: str) -> None:
    release = dl.datasets.paper(name)
    assert isinstance(release, GroupedRelease)
    leaves = release.schema.sensitive[0].leaves
    groups: list[list[str]] = [[] for _ in range(release.groups)]
    suppressed: list[str] = []
    cells = release.sensitive
    for q, value, count in zip(cells.group.tolist(), cells.codes[:, 0].tolist(), cells.counts.tolist(), strict=True):
        (suppressed if q < 0 else groups[q]).extend([leaves[value]] * count)
    everyone = [value for group in groups for value in group] + suppressed
    column = Sensitive(leaves)
    for model in [Model(one, Fraction(THRESHOLDS[one][0])) for one in NAMES if one != "hierarchical"] + [
        Model("recursive", 1, 3)
    ]:
        right = [model.level(group, everyone, column) for group in groups]
        found = theirs(model).level(release.grouping())
        extreme = max(right) if SMALLER_IS_BETTER[model.name] else min(right)
        assert found.value == (math.inf if extreme == math.inf else pytest.approx(float(extreme), abs=1e-12)), model
        assert float(right[found.worst]) == pytest.approx(float(extreme))
