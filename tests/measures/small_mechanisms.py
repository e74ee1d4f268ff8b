"""Small mechanisms for tests: random ones, a noisy parity, and a table as dictionaries."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable

import numpy as np

from dalenius.measures.mechanisms import Mechanism, tabulate

SHAPES = [(2, 1, 3), (2, 2, 3), (3, 2, 2), (2, 3, 4), (3, 1, 4)]  # values, people, outputs


def random_mechanism(
    rng: np.random.Generator, values: int, people: int, outputs: int, *, zeros: float = 0.0, spread: float = 1.0
) -> Mechanism:
    """Rows near one another where `spread` is small; some probabilities 0."""
    table = rng.dirichlet(np.ones(outputs)) * np.exp(spread * rng.normal(size=(values**people, outputs)))
    table[rng.random(table.shape) < zeros] = 0.0
    table[table.sum(axis=1) == 0] = 1.0
    return Mechanism(tuple("abcd"[:values]), people, tuple(range(outputs)), table / table.sum(axis=1, keepdims=True))


def as_table(mechanism: Mechanism) -> dict[tuple[Hashable, ...], dict[Hashable, float]]:
    rows = mechanism.probabilities.tolist()
    databases = itertools.product(mechanism.domain, repeat=mechanism.people)
    return {d: dict(zip(mechanism.outputs, row, strict=True)) for d, row in zip(databases, rows, strict=True)}


def parity(people: int, epsilon: float) -> Mechanism:
    """The parity of the records, told truly with odds e^ε."""
    truth = 1 / (1 + math.exp(-epsilon))
    return tabulate((0, 1), people, lambda d: {t: truth if sum(d) % 2 == t else 1 - truth for t in (0, 1)})  # type: ignore[arg-type]
