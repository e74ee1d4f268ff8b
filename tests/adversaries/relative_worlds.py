"""Every world of a tiny generalized release, weighed by the model of methods A with fractions: nothing of ours is used.

A world gives every row a leaf in each attribute, out of what was published. Given the rows' values, its probability is a
product over values and attributes of Dirichlet-multinomial probabilities of the sequence of leaves. The learner's belief
averages the predictive probability of one person more; the attacker's the number of rows that are as the target is known.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Known = tuple[int | None, ...]


@dataclass(frozen=True)
class Tiny:
    """Rows with a set of leaves for each attribute and a value; α for each value, β for each leaf of each attribute."""

    rows: tuple[tuple[tuple[frozenset[int], ...], int], ...]
    alpha: tuple[Fraction, ...]
    beta: tuple[tuple[Fraction, ...], ...]

    @property
    def worlds(self) -> int:
        number = 1
        for sets, _ in self.rows:
            for leaves in sets:
                number *= len(leaves)
        return number


def beliefs(
    tiny: Tiny, targets: Sequence[Known], error: Sequence[Fraction]
) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """p_L and p_A of every target, normalised; p_A is all 0 for a target who fits no row."""
    values = len(tiny.alpha)
    learner = [[Fraction(0)] * values for _ in targets]
    attacker = [[Fraction(0)] * values for _ in targets]
    count = [sum(s == value for _, value in tiny.rows) for s in range(values)]
    choices = [list(itertools.product(*map(sorted, sets))) for sets, _ in tiny.rows]
    for world in itertools.product(*choices):
        weight = Fraction(1)
        seen: dict[tuple[int, int, int], int] = {}
        met = [0] * values
        for leaves, (_, s) in zip(world, tiny.rows, strict=True):
            for a, leaf in enumerate(leaves):
                before = seen.get((a, s, leaf), 0)
                weight *= (tiny.beta[a][leaf] + before) / (sum(tiny.beta[a]) + met[s])
                seen[a, s, leaf] = before + 1
            met[s] += 1
        for t, target in enumerate(targets):
            for s in range(values):
                p = weight * (tiny.alpha[s] + count[s]) / (sum(tiny.alpha) + len(tiny.rows))
                for a, leaf in enumerate(target):
                    if leaf is not None:
                        total = sum(tiny.beta[a]) + count[s]
                        shares = [(b + seen.get((a, s, i), 0)) / total for i, b in enumerate(tiny.beta[a])]
                        p *= sum(share * told(i, leaf, len(shares), error[a]) for i, share in enumerate(shares))
                learner[t][s] += p
            for leaves, (_, s) in zip(world, tiny.rows, strict=True):
                p = weight
                for a, leaf in enumerate(target):
                    if leaf is not None:
                        p *= told(leaves[a], leaf, len(tiny.beta[a]), error[a])
                attacker[t][s] += p
    return [normal(row) for row in learner], [normal(row) for row in attacker]


def told(true: int, said: int, leaves: int, error: Fraction) -> Fraction:
    """The probability that somebody with the one leaf is said to have the other."""
    return 1 - error if true == said else error / (leaves - 1) if leaves > 1 else Fraction(0)


def normal(row: list[Fraction]) -> list[Fraction]:
    total = sum(row)
    return [p / total for p in row] if total else row
