"""Degrees of anonymity: by hand, against plain sums over observations, and Edman's against its own examples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius.errors import InputError
from dalenius.measures.communication import ORDERS, degrees, edman_degree
from dalenius.measures.observed import Observed
from dalenius.releases import Channel
from dalenius.releases.models import build


def seen(channel: Channel) -> Observed:
    return Observed.of_channel(channel)


def test_crowds() -> None:
    n, p = 6, 0.25
    found = degrees(seen(build("crowds", n=n, p=p)))
    first, other = p + (1 - p) / n, (1 - p) / n
    entropy = -first * math.log2(first) - (n - 1) * other * math.log2(other)
    assert found.users == n
    assert found.reiter_rubin_average == pytest.approx((1 - p) * (1 - 1 / n))
    assert found.reiter_rubin_worst == pytest.approx((1 - p) * (1 - 1 / n))
    assert found.berthold == math.log2(6)
    assert found.serjantov_danezis_average == pytest.approx(entropy)
    assert found.serjantov_danezis_smallest == pytest.approx(entropy)
    assert found.effective_size_average == pytest.approx(2**entropy)
    assert found.diaz_average == pytest.approx(entropy / math.log2(n))
    assert found.toth_theta == pytest.approx(first)
    assert found.toth_min_entropy == pytest.approx(-math.log2(first))
    assert found.toth_max_entropy == pytest.approx(math.log2(n))
    assert tuple(found.clauss_schiffner) == ORDERS
    assert found.clauss_schiffner[2] == pytest.approx(-math.log2(first**2 + (n - 1) * other**2))
    assert found.edman_reason is None
    # per(pI + (1−p)/n J) = Σ_k C(n,k) p^k (n−k)! ((1−p)/n)^{n−k}: k places of the permutation take the diagonal's p.
    per = sum(math.comb(n, k) * p**k * math.factorial(n - k) * other ** (n - k) for k in range(n + 1))
    assert found.edman == pytest.approx(math.log(per) / math.log(math.factorial(n) / n**n), rel=1e-12)


def test_observations_that_differ() -> None:
    """One that tells nothing (weight 3/4) and one that tells all."""
    joint = np.array([[3 / 8, 1 / 4], [3 / 8, 0.0]])
    found = degrees(Observed.of_joint(joint, ("a", "b"), ("u", "v")))
    assert (found.reiter_rubin_average, found.reiter_rubin_worst) == (pytest.approx(3 / 8), 0.0)
    assert (found.serjantov_danezis_average, found.serjantov_danezis_smallest) == (pytest.approx(3 / 4), 0.0)
    assert (found.effective_size_average, found.effective_size_smallest) == (pytest.approx(2 ** (3 / 4)), 1.0)
    assert (found.diaz_average, found.diaz_smallest) == (pytest.approx(3 / 4), 0.0)
    assert (found.toth_theta, found.toth_min_entropy, found.toth_max_entropy) == (1.0, 0.0, 0.0)
    assert found.clauss_schiffner == pytest.approx(dict.fromkeys(ORDERS, 3 / 4))
    assert found.edman is None
    assert found.edman_reason == "the users are not equally likely to send"


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_against_plain_sums(users: int, observations: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    joint = rng.integers(0, 4, (users, observations)).astype(float)
    joint[0, 0] += 1
    found = degrees(Observed.of_joint(joint, tuple(map(str, range(users))), tuple(map(str, range(observations)))))
    total = joint.sum()
    beliefs = [(c.sum() / total, [x / c.sum() for x in c]) for c in joint.T if c.sum()]
    entropies = [-sum(x * math.log2(x) for x in belief if x) for _, belief in beliefs]
    average = sum(w * h for (w, _), h in zip(beliefs, entropies, strict=True))
    assert found.reiter_rubin_average == pytest.approx(sum(w * (1 - max(b)) for w, b in beliefs), abs=1e-12)
    assert found.toth_theta == pytest.approx(max(max(b) for _, b in beliefs))
    assert found.reiter_rubin_worst == pytest.approx(1 - found.toth_theta, abs=1e-12)
    assert found.serjantov_danezis_average == pytest.approx(average, abs=1e-12)
    assert found.serjantov_danezis_smallest == pytest.approx(min(entropies), abs=1e-12)
    assert found.diaz_smallest == pytest.approx(min(entropies) / math.log2(users) if users > 1 else 0, abs=1e-12)
    assert found.diaz_average == pytest.approx(average / math.log2(users) if users > 1 else 0, abs=1e-12)
    assert found.toth_max_entropy == pytest.approx(min(math.log2(sum(x > 0 for x in b)) for _, b in beliefs))
    assert found.toth_min_entropy == pytest.approx(-math.log2(found.toth_theta), abs=1e-12)
    assert 0 <= found.diaz_smallest <= found.diaz_average + 1e-12 <= 1 + 1e-12
    assert found.toth_min_entropy <= found.serjantov_danezis_smallest + 1e-12 <= found.berthold + 2e-12
    falling = [found.clauss_schiffner[order] for order in ORDERS]
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(falling))
    assert found.clauss_schiffner[1.0] == pytest.approx(average, abs=1e-12)


# --- Edman's degree ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 10, 24])
def test_edman_at_its_ends(n: int) -> None:
    assert edman_degree(np.full((n, n), 1 / n)) == pytest.approx(1.0, abs=1e-12)
    assert edman_degree(np.eye(n)) == 0.0
    assert degrees(seen(build("threshold-mix", n=n))).edman == pytest.approx(1.0, abs=1e-12)


def test_edman_between() -> None:
    """Two pairs that are told apart: of 4! matchings 4 are left, each of probability 1/4."""
    half = np.full((2, 2), 0.5)
    matrix = np.block([[half, np.zeros((2, 2))], [np.zeros((2, 2)), half]])
    assert edman_degree(matrix) == pytest.approx(math.log(1 / 4) / math.log(24 / 256))


def test_edman_of_one_user() -> None:
    assert edman_degree(np.array([[1.0]])) == 0.0
    found = degrees(seen(build("crowds", n=1, p=0.5)))
    assert (found.edman, found.edman_reason) == (0.0, None)
    assert (found.diaz_average, found.diaz_smallest, found.berthold) == (0.0, 0.0, 0.0)


def test_edman_of_rounded_probabilities() -> None:
    matrix = np.full((3, 3), 0.333333)
    assert edman_degree(matrix) == pytest.approx(1.0, abs=1e-5)


def test_no_degree_and_why() -> None:
    pool = degrees(seen(build("pool-mix", n=2, f=1, rounds=3)))
    assert pool.edman is None
    assert pool.edman_reason == "there are 7 users and 4 observations, and as many are needed"
    uneven = Channel(tuple("abc"), tuple("uvw"), np.array([[0.8, 0.1, 0.1]] * 3), np.full(3, 1 / 3))
    found = degrees(seen(uneven))
    assert found.edman is None
    assert found.edman_reason == "column 1 sums to 2.4, and all have to sum to 1"
    many = degrees(seen(build("threshold-mix", n=25)))
    assert many.edman is None
    assert "25·2^24" in str(many.edman_reason)
    with pytest.raises(InputError, match=r"row 2 sums to 0\.9"):
        edman_degree(np.array([[0.5, 0.5], [0.5, 0.4]]))
    with pytest.raises(InputError, match="not square"):
        edman_degree(np.full((2, 3), 0.5))
    with pytest.raises(InputError, match="below 0"):
        edman_degree(np.array([[1.5, -0.5], [-0.5, 1.5]]))
