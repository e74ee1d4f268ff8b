"""Random channels for tests, with zeros in them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dalenius.measures.observed import Observed
from dalenius.releases import Channel

MOST = 6


def simplex(rng: np.random.Generator, rows: int, columns: int, zeros: float) -> np.ndarray:
    """Rows of probabilities, some of them 0."""
    found = rng.dirichlet(np.full(columns, 0.7), size=rows)
    found[rng.random(found.shape) < zeros] = 0.0
    empty = found.sum(axis=1) == 0
    found[empty, rng.integers(columns, size=int(empty.sum()))] = 1.0
    return found / found.sum(axis=1, keepdims=True)


def random_channel(seed: int, n: int, m: int, zeros: float = 0.0) -> Channel:
    rng = np.random.default_rng(seed)
    prior = simplex(rng, 1, n, zeros)[0]
    return Channel(tuple(map(str, range(n))), tuple(map(str, range(m))), simplex(rng, n, m, zeros), prior)


@st.composite
def channels(draw: st.DrawFn, zeros: bool = True) -> Channel:
    return random_channel(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(1, MOST)),
        draw(st.integers(1, MOST)),
        draw(st.sampled_from((0.0, 0.3))) if zeros else 0.0,
    )


def observed(channel: Channel) -> Observed:
    return Observed.of_channel(channel)
