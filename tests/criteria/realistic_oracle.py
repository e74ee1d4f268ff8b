"""ε-privacy against realistic adversaries (Machanavajjhala, Gehrke, Götz 2009) from its definitions, world by world.

A world gives every named person of a group a value. The adversary's prior weighs worlds; it sees the histogram of the
group with the target in it or left out of it, knows the values of some other people, and is asked whether the target's
value lies in a set (Definition 4 with Equations 2 and 3). Nothing here uses a closed form until `direct`, which the
tests compare with the worlds, fraction by fraction, before they rely on it. Plain Python, nothing of ours.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

Counts = tuple[int, ...]  # how many people have each value
World = tuple[int, ...]  # the value of each named person; the target is the first
Prior = Callable[[Counts], Fraction]  # the probability of one world with these counts: people are exchangeable
Number = Fraction | float  # a float only where it is infinite
Set = frozenset[int]
Belief = tuple[Fraction, ...]  # the probability of each value


# ---------------------------------------------------------------------------- priors


def rising(start: Fraction, steps: int) -> Fraction:
    return math.prod((start + i for i in range(steps)), start=Fraction(1))


def dirichlet(sigma: Sequence[Fraction | int]) -> Prior:
    """∫ Π p(s)^n(s) D(p; σ) dp = Π Γ(σ(s)+n(s))/Γ(σ(s)) · Γ(σ)/Γ(σ+n): Equation 11 for people who have names."""

    @cache
    def weight(counts: Counts) -> Fraction:
        above = math.prod((rising(Fraction(one), n) for one, n in zip(sigma, counts, strict=True)), start=Fraction(1))
        return above / rising(Fraction(sum(sigma)), sum(counts))

    return weight


def categorical(shape: Sequence[Fraction]) -> Prior:
    """Everybody is drawn from the shape, whatever the others are: the ∞-stubborn adversary (Definition 3)."""
    return lambda counts: math.prod((p**n for p, n in zip(shape, counts, strict=True)), start=Fraction(1))


def tally(world: Sequence[int], values: int) -> Counts:
    return tuple(world.count(value) for value in range(values))


@cache
def worlds(histogram: Counts) -> tuple[World, ...]:
    """Every way to give the named people the values of the histogram."""
    values, people = len(histogram), sum(histogram)
    return tuple(w for w in itertools.product(range(values), repeat=people) if tally(w, values) == histogram)


# ---------------------------------------------------------------------------- beliefs and ε, by definition


def inside(prior: Prior, histogram: Counts, known: World) -> Belief:
    """Equation 2: everybody's histogram is published, the people after the target are known."""
    fitting = [w for w in worlds(histogram) if w[1 : 1 + len(known)] == known]
    return first({w: prior(tally(w, len(histogram))) for w in fitting}, len(histogram))


def outside(prior: Prior, others: Counts, known: World) -> Belief:
    """Equation 3: the histogram of the others is published, the target may have any value."""
    fitting = [w for w in worlds(others) if w[: len(known)] == known]
    every = range(len(others))
    return first({(v, *w): prior(tally((v, *w), len(others))) for w in fitting for v in every}, len(others))


def first(weights: Mapping[World, Fraction], values: int) -> Belief:
    """How likely the first person has each value."""
    total = [Fraction(0)] * values
    for world, weight in weights.items():
        total[world[0]] += weight
    return tuple(one / sum(total) for one in total)


def without(histogram: Counts, value: int) -> Counts:
    return tuple(n - (s == value) for s, n in enumerate(histogram))


def beliefs(prior: Prior, histogram: Counts, known: int = 0) -> list[tuple[Belief, Belief]]:
    """p_in and p_out for all tables that may have been published so and all sets of at most so many known people.

    Known people have names, too, but which of them has which value only renames them: one order is enough.
    """
    actual = {(w[0], tuple(sorted(w[1 : 1 + b]))) for w in worlds(histogram) for b in range(known + 1)}
    return [(inside(prior, histogram, b), outside(prior, without(histogram, own), b)) for own, b in actual]


def ratio(p_in: Fraction, p_out: Fraction) -> Number:
    """Definition 4: the smallest ε that is not violated; below 1 nothing was learnt."""
    if p_in == 1 or (p_in > 0 and p_out == 0):
        return math.inf
    return max(Fraction(1), p_in / p_out if p_in else Fraction(0), (1 - p_out) / (1 - p_in))


def worst(found: Sequence[tuple[Belief, Belief]], predicate: Set) -> Number:
    return max(ratio(*(sum((one[s] for s in predicate), Fraction(0)) for one in pair)) for pair in found)


def by_worlds(prior: Prior, histogram: Counts, predicates: Sequence[Set] = (), known: int = 0) -> Number:
    """The ε of a group; where the adversary knows everybody there is no bound."""
    if sum(histogram) <= known:
        return math.inf
    found = beliefs(prior, histogram, known)
    return max(worst(found, predicate) for predicate in predicates or singles(histogram))


# ---------------------------------------------------------------------------- ε in closed form, exactly


@dataclass(frozen=True)
class Adversary:
    """σ(s) for class I; only their sum for class II; the shape for class III; nothing for class IV. And b."""

    kind: str
    sigma: tuple[Fraction, ...] = ()
    known: int = 0
    total: Fraction = Fraction(0)

    def prior(self, predicate: Set, histogram: Counts) -> Fraction:
        """p_out of a target who has the predicate."""
        mine, people = sum(histogram[s] for s in predicate), sum(histogram)
        if self.kind == "III":
            return sum((self.sigma[s] for s in predicate), Fraction(0))
        if self.kind == "II":
            return Fraction(mine + len(predicate) - 1) / (people + self.total - 1)
        believed = sum((self.sigma[s] for s in predicate), Fraction(0))
        return (mine + believed - 1) / (people + sum(self.sigma, Fraction(0)) - 1)

    def direct(self, histogram: Counts, predicates: Sequence[Set] = ()) -> Number:
        """The ε of a group: the worst over the predicates that somebody has."""
        people = sum(histogram)
        if people <= self.known:
            return math.inf
        worst: Number = Fraction(1)
        for predicate in predicates or singles(histogram):
            mine = sum(histogram[s] for s in predicate)
            if mine and (self.kind == "IV" or people - self.known <= mine):
                return math.inf
            if mine:
                worst = max(worst, ratio(Fraction(mine, people - self.known), self.prior(predicate, histogram)))
        return worst


def singles(histogram: Counts) -> list[Set]:
    return [frozenset({s}) for s in range(len(histogram))]


def subsets(values: int) -> list[Set]:
    """All sets of values but the empty and the full one."""
    every = range(values)
    return [frozenset(one) for size in range(1, values) for one in itertools.combinations(every, size)]


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a total as an ordered sum of so many numbers ≥ 1."""
    for cuts in itertools.combinations(range(1, total), parts - 1):
        yield tuple(b - a for a, b in itertools.pairwise((0, *cuts, total)))


# ---------------------------------------------------------------------------- the theorems' conditions


def theorem_1(adversary: Adversary, histogram: Counts, epsilon: Fraction) -> bool:
    """R1 and R2 for every value that occurs, as printed."""
    total, m = sum(adversary.sigma) + adversary.known, sum(histogram) - adversary.known
    if m <= 0:
        return False
    delta, less = (epsilon - 1) * m / total, epsilon * (1 - 1 / Fraction(total))
    for n, sigma in zip(histogram, adversary.sigma, strict=True):
        if n:
            close = (sigma - 1) / Fraction(total)
            if not (delta >= 1 or Fraction(n, m) <= epsilon / (1 - delta) * close):
                return False
            if less + delta <= 0 or Fraction(n, m) > 1 - (1 - close) / (less + delta):
                return False
    return True


def theorem_2(adversary: Adversary, histogram: Counts, epsilon: Fraction) -> bool:
    total, m = adversary.total + adversary.known, sum(histogram) - adversary.known
    if m <= 0 or (epsilon - 1) * m < total:
        return False
    delta, less = (epsilon - 1) * m / total, epsilon * (1 - 1 / total)
    return all(Fraction(n, m) <= 1 - 1 / (less + delta) for n in histogram if n)


def theorem_3(adversary: Adversary, histogram: Counts, epsilon: Fraction) -> bool:
    m = sum(histogram) - adversary.known
    return m > 0 and all(
        Fraction(n, m) <= epsilon * p and Fraction(n, m) <= 1 - (1 - p) / epsilon
        for n, p in zip(histogram, adversary.sigma, strict=True)
        if n
    )


# ---------------------------------------------------------------------------- which stubbornness a group withstands


def withstood(
    histogram: Counts,
    epsilon: Fraction,
    shape: Sequence[Fraction] | None,
    known: int,
    predicates: Sequence[Set],
    least: Fraction,
) -> tuple[Fraction, Number] | None:
    """Every predicate asks (n(φ) − 1 + ρ σ) ≥ L (n − 1 + σ), L the smallest p_out that p_in allows: linear in σ.

    Without a shape ρ σ is |S_φ|. The interval starts at `least` where nothing else is asked.
    """
    low, people = least, sum(histogram)
    high: Number = math.inf
    for predicate in predicates:
        mine = sum(histogram[s] for s in predicate)
        if people <= known or (mine and people - known <= mine):
            return None
        if mine:
            p_in = Fraction(mine, people - known)
            floor = max(p_in / epsilon, 1 - epsilon * (1 - p_in))
            slope = (sum((shape[s] for s in predicate), Fraction(0)) if shape else 0) - floor
            fixed = mine - 1 + (0 if shape else len(predicate)) - floor * (people - 1)
            if slope > 0:  # fixed + slope σ ≥ 0
                low = max(low, -fixed / slope)
            elif slope < 0:
                high = min(high, fixed / -slope)
            elif fixed < 0:
                return None
    return (low, high) if low <= high else None


# ---------------------------------------------------------------------------- priors by quasi-identifier cell


def cell_worlds(
    people: Sequence[int], priors: Sequence[Prior], histogram: Counts, cell: int, own: int | None = None
) -> Belief:
    """The belief about one person of a cell: everybody has a name and a cell, and the cells are independent.

    With `own`, her value, she is left out and the histogram is that of the others.
    """
    values = len(histogram)
    cells = [cell, *(c for c, n in enumerate(people) for _ in range(n - (c == cell)))]
    fitting = list(worlds(histogram))
    if own is not None:
        fitting = [(v, *w) for w in worlds(without(histogram, own)) for v in range(values)]

    def weight(world: World) -> Fraction:
        parts = [
            tally([v for v, c in zip(world, cells, strict=True) if c == one], values) for one in range(len(people))
        ]
        return math.prod((prior(part) for prior, part in zip(priors, parts, strict=True)), start=Fraction(1))

    return first({world: weight(world) for world in fitting}, values)


def unknown_worlds(
    histogram: Counts, mine: Belief, shares: Sequence[Fraction], shapes: Sequence[Belief], own: int | None = None
) -> Belief:
    """The same where the others' cells are hidden: each is of some cell by its share and has a value by its shape."""
    values = len(histogram)
    hidden = list(itertools.product(range(len(shares)), repeat=sum(histogram) - 1))
    seen = histogram if own is None else without(histogram, own)
    weights: dict[World, Fraction] = {}
    for world in itertools.product(range(values), repeat=sum(histogram)):
        if tally(world if own is None else world[1:], values) == seen:
            chances = (
                math.prod((shares[c] * shapes[c][v] for c, v in zip(cells, world[1:], strict=True)), start=Fraction(1))
                for cells in hidden
            )
            weights[world] = mine[world[0]] * sum(chances, Fraction(0))
    return first(weights, values)
