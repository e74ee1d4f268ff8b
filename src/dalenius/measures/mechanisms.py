"""Small mechanisms as tables: the probability of each output for each database (Ganta, Kasiviswanathan and Smith 2008).

Databases are vectors of n records over a domain. What a mechanism keeps of differential and of semantic privacy is in `semantic`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as tuples
from numbers import Integral, Real

import numpy as np

from dalenius.arrays import Floats
from dalenius.errors import InputError, ParameterError

__all__ = [
    "MAX_CELLS",
    "MAX_DATABASES",
    "SUM_TOLERANCE",
    "Database",
    "Mechanism",
    "check_budget",
    "check_people",
    "constant",
    "noisy_count",
    "one_random_record",
    "product",
    "randomized_response",
    "tabulate",
]

Database = tuple[Hashable, ...]
MAX_DATABASES = 4096  # all of them are gone through
MAX_CELLS = 2_000_000  # of the table of probabilities
SUM_TOLERANCE = 1e-9  # how far a row of probabilities may be from 1


@dataclass(frozen=True, slots=True, eq=False)
class Mechanism:
    """`probabilities[d, t]` = Pr[A(D) = t] for every database, in the order of `databases()`, the last record fastest."""

    domain: tuple[Hashable, ...]
    people: int
    outputs: tuple[Hashable, ...]
    probabilities: Floats

    def __post_init__(self) -> None:
        count = _check_size(self.domain, self.people, len(self.outputs))
        if len(set(self.outputs)) < len(self.outputs):
            raise InputError("The mechanism names an output twice.")
        table = np.array(self.probabilities, dtype=np.float64)
        if table.shape != (count, len(self.outputs)):
            raise InputError(
                f"The mechanism has {count} databases and {len(self.outputs)} outputs, but probabilities of shape "
                f"{table.shape}."
            )
        for row, database in zip(table, self.databases(), strict=True):
            if not np.isfinite(row).all() or (row < 0).any():
                raise InputError(
                    f"A mechanism holds probabilities: database {database!r} has one below 0 or none at all."
                )
            if abs(row.sum() - 1) > SUM_TOLERANCE:
                raise InputError(
                    f"The rows of a mechanism must sum to 1. The row of database {database!r} sums to {row.sum():.9g} "
                    f"({row.sum() - 1:+.3g})."
                )
        table.flags.writeable = False
        object.__setattr__(self, "probabilities", table)

    def databases(self) -> list[Database]:
        """Return every database, in the order of the rows."""
        return list(tuples(self.domain, repeat=self.people))

    def by_record(self, values: Floats, person: int) -> Floats:
        """Return rows as [records before, the person's record, records after, …], so that neighbours stand on axis 1."""
        size = len(self.domain)
        return values.reshape(size**person, size, size ** (self.people - 1 - person), *values.shape[1:])

    def without(self, person: int, default: Hashable = None) -> Floats:
        """Return Pr[A(D₋ᵢ) = t], rows as in `probabilities`. The default record is None or the first value of the domain."""
        table = self.by_record(self.probabilities, person)
        code = 0
        if default in self.domain:
            code = self.domain.index(default)
        elif default is not None:
            raise ParameterError("default", "Mechanism", f"a value of the domain {self.domain}", default)
        return np.broadcast_to(table[:, code : code + 1], table.shape).reshape(self.probabilities.shape)


def tabulate(
    domain: Sequence[Hashable], people: int, distribution: Callable[[Database], Mapping[Hashable, float]]
) -> Mechanism:
    """Return the mechanism whose outputs have the `distribution(database)`; outputs stand in the order they first appear."""
    _check_size(domain, people, 1)
    rows = [distribution(database) for database in tuples(domain, repeat=people)]
    outputs = {output: column for column, output in enumerate(dict.fromkeys(t for row in rows for t in row))}
    _check_size(domain, people, len(outputs))
    table = np.zeros((len(rows), len(outputs)))
    for d, row in enumerate(rows):
        for output, probability in row.items():
            table[d, outputs[output]] = probability
    return Mechanism(tuple(domain), people, tuple(outputs), table)


def constant(domain: Sequence[Hashable], people: int, output: Hashable = "nothing") -> Mechanism:
    """Return the mechanism whose output is always the same."""
    return tabulate(domain, people, lambda _: {output: 1.0})


def randomized_response(domain: Sequence[Hashable], people: int, epsilon: float) -> Mechanism:
    """Return every record apart: itself with a probability e^ε times that of each other value. The level is ε."""
    check_budget(epsilon, 0.0, "randomized_response")
    count, size = _check_size(domain, people, 1), len(domain)
    _check_size(domain, people, count)
    other = math.exp(-epsilon) / (1 + (size - 1) * math.exp(-epsilon))
    record = np.full((size, size), other)
    np.fill_diagonal(record, 1 - (size - 1) * other)
    table = np.ones((1, 1))
    for _ in range(people):
        table = np.kron(table, record)
    return Mechanism(tuple(domain), people, tuple(tuples(domain, repeat=people)), table)


def noisy_count(
    domain: Sequence[Hashable],
    people: int,
    epsilon: float,
    counted: Callable[[Hashable], bool],
    *,
    low: int = 0,
    high: int | None = None,
) -> Mechanism:
    """Return how many records are `counted`, plus noise z of Pr ∝ e^{−ε|z|}; what falls outside [low, high] is put at that end."""
    check_budget(epsilon, 0.0, "noisy_count")
    check_people(people, "noisy_count")
    top = people if high is None else high
    if top <= low:
        raise ParameterError("high", "noisy_count", f"an int > {low} (low)", top)
    ratio = math.exp(-epsilon)

    def at_least(least: int) -> float:
        """Return Pr[z ≥ least]: Σ_{z≥m} (1 − a)/(1 + a) a^z = a^m/(1 + a) for m ≥ 0."""
        return ratio**least / (1 + ratio) if least >= 0 else 1 - ratio ** (1 - least) / (1 + ratio)

    def distribution(database: Database) -> dict[Hashable, float]:
        count = sum(map(bool, map(counted, database)))
        inside: dict[Hashable, float] = {
            t: (1 - ratio) / (1 + ratio) * ratio ** abs(t - count) for t in range(low + 1, top)
        }
        return {low: at_least(count - low), **inside, top: at_least(top - count)}  # z ≤ low − count mirrors ≥

    return tabulate(domain, people, distribution)


def one_random_record(domain: Sequence[Hashable], people: int) -> Mechanism:
    """Return a record drawn at random, published with its person's number: close in total variation, private in no sense."""

    def distribution(database: Database) -> dict[Hashable, float]:
        return dict.fromkeys(enumerate(database), 1 / people)

    return tabulate(domain, people, distribution)


def product(*mechanisms: Mechanism) -> Mechanism:
    """Return several releases of one database with independent coins; an output is a tuple of theirs."""
    if not mechanisms:
        raise ParameterError("mechanisms", "product", "one mechanism or more", mechanisms)
    first = mechanisms[0]
    table = np.ones((len(first.probabilities), 1))
    for mechanism in mechanisms:
        if (mechanism.domain, mechanism.people) != (first.domain, first.people):
            raise InputError("Mechanisms are multiplied where they have the same domain and as many people.")
        _check_size(first.domain, first.people, table.shape[1] * len(mechanism.outputs))
        table = (table[:, :, None] * mechanism.probabilities[:, None, :]).reshape(len(table), -1)
    return Mechanism(first.domain, first.people, tuple(tuples(*(m.outputs for m in mechanisms))), table)


def check_budget(epsilon: object, delta: object, owner: str) -> None:
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real) or not float(epsilon) >= 0:
        raise ParameterError("epsilon", owner, "a number ≥ 0", epsilon)
    if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 <= float(delta) <= 1:
        raise ParameterError("delta", owner, "a number from 0 to 1", delta)


def check_people(people: object, owner: str) -> None:
    if isinstance(people, bool) or not isinstance(people, Integral) or people < 1:
        raise ParameterError("people", owner, "an int ≥ 1", people)


def _check_size(domain: Sequence[Hashable], people: int, outputs: int) -> int:
    """Return how many databases there are, refused where they or the table's cells are too many."""
    check_people(people, "Mechanism")
    if not len(domain) or len(set(domain)) < len(domain):
        raise ParameterError("domain", "Mechanism", "values, each once", domain)
    if people * math.log(len(domain)) > math.log(MAX_DATABASES) + 1e-9:
        raise ParameterError(
            "people", "Mechanism", f"so few that {len(domain)} values give at most {MAX_DATABASES:,} databases", people
        )
    count: int = len(domain) ** people
    if count * outputs > MAX_CELLS:
        raise InputError(
            f"A mechanism of {count:,} databases and {outputs:,} outputs is larger than {MAX_CELLS:,} cells."
        )
    return count
