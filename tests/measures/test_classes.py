"""Classes as a channel: sparse sums against dense matrices, and privacy models between which the true error lies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.criteria import measure
from dalenius.measures.classes import class_errors
from dalenius.measures.closeness import kl_divergences, mutual_information
from dalenius.measures.error import privacy
from dalenius.measures.loss import hamming
from dalenius.measures.observed import SUPPRESSED, Observed
from dalenius.releases import Grouping
from dalenius.schema import Column, Domain


def grouping(groups: list[list[int]], hidden: list[int]) -> Grouping:
    """Counts of each value in each group, and of suppressed rows."""
    counts = np.array(groups, dtype=np.int64)
    column = Column("s", "sensitive", domain=Domain(tuple(map(str, range(counts.shape[1])))))
    kept = [np.flatnonzero(row) for row in counts]
    start = np.cumsum([0, *map(len, kept)]).astype(np.int64)
    values = np.concatenate(kept).astype(np.int32)
    table = counts.sum(axis=0) + np.array(hidden)
    return Grouping(column, start, values, counts[counts > 0], table, sum(hidden))


@st.composite
def groupings(draw: st.DrawFn) -> Grouping:
    values = draw(st.integers(1, 5))
    row = st.lists(st.integers(0, 5), min_size=values, max_size=values)
    groups = draw(st.lists(row.filter(any), min_size=1, max_size=6))
    return grouping(groups, draw(st.one_of(row, st.just([0] * values))))


@settings(max_examples=150, deadline=None)
@given(groupings())
def test_sparse_sums_are_those_of_the_dense_channel(found: Grouping) -> None:
    errors = class_errors(found, measure(found))
    assert errors is not None
    seen = Observed.of_grouping(found)
    classes = [i for i, name in enumerate(seen.observations) if name != SUPPRESSED]
    plain = privacy(seen, hamming(seen.values))
    assert errors.average_privacy == pytest.approx(plain.average, abs=1e-12)
    assert errors.prior_privacy == pytest.approx(plain.prior, abs=1e-12)
    assert errors.worst_class_privacy == pytest.approx(plain.conditional[classes].min(), abs=1e-12)
    assert errors.worst_case_privacy == pytest.approx(plain.worst_case, abs=1e-12)
    assert errors.worst_case_privacy <= errors.average_privacy + 1e-12
    assert errors.mutual_information == pytest.approx(mutual_information(seen) / math.log(2), abs=1e-12)
    assert errors.t_kl == pytest.approx(kl_divergences(seen).max() / math.log(2), abs=1e-12)
    assert errors.mutual_information <= errors.t_kl + 1e-12
    rows = {row.model: row.level for row in errors.models}
    furthest = kl_divergences(seen)[classes].max() / math.log(2)
    assert rows["t-closeness (divergence, bits)"] == pytest.approx(furthest, abs=1e-12)
    p = seen.joint.sum(axis=1)
    entropy = -sum(x * math.log2(x) for x in p if x > 0)
    assert errors.shannon_entropy == pytest.approx(entropy - errors.mutual_information, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(groupings())
def test_the_error_lies_between_what_models_say(found: Grouping) -> None:
    errors = class_errors(found, measure(found))
    assert errors is not None
    for row in errors.models:
        if row.direction == "at most":
            assert row.exact <= row.error + 1e-9, row
        elif row.direction == "at least":
            assert row.exact >= row.error - 1e-9, row
        else:
            assert row.exact == pytest.approx(row.error, abs=1e-12), row


def test_equal_classes_of_equal_values() -> None:
    """k = 4 and ℓ = 2: with equally likely values both best cases are the truth (section V-A1)."""
    errors = class_errors(found := grouping([[2, 2, 0], [0, 2, 2]], [0, 0, 0]), measure(found))
    assert errors is not None
    rows = {row.model: row for row in errors.models}
    assert rows["k-anonymity"].error == errors.identity_average == 0.75
    assert rows["distinct ℓ-diversity"].error == rows["distinct ℓ-diversity"].exact == 0.5
    assert rows["δ-disclosure (nats)"].error == 0  # a value vanishes
    assert errors.average_privacy == errors.worst_case_privacy == 0.5


def test_figure_7() -> None:
    """AIDS is half of the table, and three quarters of the last four rows."""
    errors = class_errors(found := grouping([[1, 3], [3, 1]], [0, 0]), measure(found))
    assert errors is not None
    assert (errors.prior_privacy, errors.worst_case_privacy) == (0.5, 0.25)
    assert {row.model: row.error for row in errors.models}["t-closeness (equal)"] == 0.25  # and it is reached


def test_nobody_has_a_class() -> None:
    found = Grouping(
        Column("s", "sensitive", domain=Domain(("a",))), np.zeros(1, np.int64), np.zeros(0, np.int32),
        np.zeros(0, np.int64), np.array([3]), 3,
    )  # fmt: skip
    assert class_errors(found, {}) is None
