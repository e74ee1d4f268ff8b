"""Definitions 11, 13, 14 and 17 of Ganta, Kasiviswanathan and Smith as they read: loops over dictionaries, all sets, all games."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

Database = tuple[object, ...]
Table = Mapping[Database, Mapping[object, float]]  # database → output → probability


def neighbours(databases: list[Database]) -> list[tuple[Database, Database]]:
    """Ordered pairs that differ in exactly one record."""
    return [(a, b) for a in databases for b in databases if sum(x != y for x, y in zip(a, b, strict=True)) == 1]


def level(table: Table) -> float:
    """The smallest ε of Definition 10, output by output."""
    worst = 0.0
    for a, b in neighbours(list(table)):
        for t, p in table[a].items():
            if p > 0:
                worst = max(worst, math.log(p / table[b][t]) if table[b][t] > 0 else math.inf)
    return worst


def delta(table: Table, epsilon: float) -> float:
    """The smallest δ of Definition 11, over every subset of outputs."""
    outputs = list(next(iter(table.values())))
    sets = [s for size in range(len(outputs) + 1) for s in itertools.combinations(outputs, size)]
    return max(
        sum(table[a][t] for t in chosen) - math.exp(epsilon) * sum(table[b][t] for t in chosen)
        for a, b in neighbours(list(table))
        for chosen in sets
    )


def removed(database: Database, person: int, default: object) -> Database:
    return (*database[:person], default, *database[person + 1 :])


def posterior(table: Table, prior: Mapping[Database, float], t: object, person: int | None, default: object) -> object:
    """b̂_0 (person None) or b̂_i of transcript t, None where the game never has it."""
    weights = {d: b * (table[d] if person is None else table[removed(d, person, default)])[t] for d, b in prior.items()}
    total = sum(weights.values())
    return {d: w / total for d, w in weights.items()} if total > 0 else None


def distance(table: Table, prior: Mapping[Database, float], t: object, person: int, default: object) -> float | None:
    """SD as the best set of databases has it: those that Game 0 believes more. None where Game 0 never has t."""
    real, other = (posterior(table, prior, t, who, default) for who in (None, person))
    if real is None:
        return None
    if other is None:
        return 1.0
    return sum(max(0.0, real[d] - other[d]) for d in prior)  # type: ignore[index]


def exceeding(table: Table, prior: Mapping[Database, float], bound: float, people: int, default: object) -> float:
    """Definition 14: the probability over pairs (D, t) that some person's SD is above the bound."""
    total = 0.0
    for d, b in prior.items():
        for t, p in table[d].items():
            if b * p > 0 and any((distance(table, prior, t, i, default) or 0) > bound for i in range(people)):
                total += b * p
    return total
