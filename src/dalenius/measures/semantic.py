"""What differential privacy promises, and what a small mechanism keeps (Ganta, Kasiviswanathan and Smith 2008, section 4).

Databases are vectors of n records over a domain; neighbours differ in one record (replacement). Semantic privacy compares
two adversaries with the same prior: one sees A(D) (Game 0), the other A(D₋ᵢ), where person i's record is a default value
(Game i). The level is the largest statistical difference SD of their posteriors, 0 to 1 (Definition 13).

Zeros. A transcript impossible in Game 0 under a prior is never seen and does not count. One that is possible in Game 0 and
impossible in Game i leaves the second adversary without a posterior; its SD is taken as 1, for it can only come from the
person's own record. With that rule the level is 1 exactly where ε is infinite, and Theorem 16 stays true.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Floats
from dalenius.errors import InputError, ParameterError
from dalenius.measures.mechanisms import SUM_TOLERANCE, Database, Mechanism, check_budget, check_people

__all__ = [
    "DIFFERENCE_TOLERANCE",
    "Differences",
    "Promise",
    "SemanticBound",
    "WorstCase",
    "compose",
    "database_deltas",
    "dp_delta",
    "dp_level",
    "semantic_bound",
    "semantic_level",
    "statistical_differences",
    "worst_case",
]

DIFFERENCE_TOLERANCE = 1e-12  # a statistical difference above a level by less is rounding


def compose(budgets: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return (Σε, Σδ) for releases of the same database, each (ε, δ)-differentially private (Lemma 12).

    Σδ is cut at 1: every mechanism is (0, 1)-differentially private, and more than 1 says no less.
    """
    pairs = list(budgets)
    for pair in pairs:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ParameterError("budgets", "compose", "pairs (epsilon, delta)", pair)
        check_budget(*pair, "compose")
    return math.fsum(e for e, _ in pairs), min(1.0, math.fsum(d for _, d in pairs))


@dataclass(frozen=True, slots=True)
class Promise:
    """Except with probability `failure` over (D, t), no person's record changes any conclusion by more than `level`."""

    level: float
    failure: float = 0.0

    @property
    def vacuous(self) -> bool:
        """It says nothing: a statistical difference is at most 1 anyway."""
        return self.level >= 1 or self.failure >= 1


@dataclass(frozen=True, slots=True)
class SemanticBound:
    """The bounds that (ε, δ)-differential privacy implies for semantic privacy; None if one needs δ = 0."""

    proposition_15: Promise | None
    theorem_16: Promise
    worst_case: Promise | None


def semantic_bound(epsilon: float, delta: float = 0.0, people: int = 1) -> SemanticBound:
    """Return Proposition 15: e^ε − 1. Theorem 16: e^{3ε} − 1 + 2√δ but for n(√δ + 2δ/(εe^ε)). Worst case: tanh(ε/2).

    tanh(ε/2) is the smallest number that holds for every ε-differentially private mechanism on two people or more (a noisy
    parity has it); of one person it is tanh(ε/4).

    Theorem 16's constants. Let p(D, t) and p'(D, t) be the joint laws in Games 0 and i, and e(t) = Σ_D max(0, p − e^ε p'),
    so that Σ_t e(t) ≤ δ. Then p(S|t) ≤ e^ε p'(S|t) p'(t)/p(t) + e(t)/p(t) for every set S of databases.
    Markov: e(t)/p(t) > 2√δ has probability at most √δ/2. And T = {t: p'(t) > e^{2ε} p(t)} has e^{2ε} p(T) ≤ e^ε p(T) + δ,
    so p(T) ≤ δ/(e^ε(e^ε − 1)) ≤ δ/(εe^ε). For other t, p(S|t) − p'(S|t) ≤ e^{3ε} − 1 + 2√δ, and that is SD. Hence half the
    paper's δ' is enough. The whole is what Theorem 18 needs: where b[E] ≥ 1 − δ, Σ_t e(t) ≤ 2δ.
    """
    check_budget(epsilon, delta, "semantic_bound")
    check_people(people, "semantic_bound")
    if delta == 0:
        failure = 0.0
    elif epsilon == 0:
        failure = 1.0  # the formula has no bound at ε = 0; a mechanism is (ε, δ) for larger ε, too
    else:
        failure = min(1.0, people * (math.sqrt(delta) + 2 * delta * math.exp(-epsilon) / epsilon))
    theorem = Promise(_expm1(3 * epsilon) + 2 * math.sqrt(delta), failure)
    if delta:
        return SemanticBound(None, theorem, None)
    return SemanticBound(Promise(_expm1(epsilon)), theorem, Promise(math.tanh(epsilon / 2)))


def dp_level(mechanism: Mechanism) -> float:
    """Return the smallest ε for which the mechanism is ε-differentially private; infinite where neighbours' supports differ."""
    level = 0.0
    for person in range(mechanism.people):
        table = mechanism.by_record(mechanism.probabilities, person)
        most, least = table.max(axis=1), table.min(axis=1)
        if (least[most > 0] == 0).any():
            return math.inf
        level = max(level, float((np.log(most[most > 0]) - np.log(least[most > 0])).max()))
    return level


def database_deltas(mechanism: Mechanism, epsilon: float) -> Floats:
    """Return For each database the smallest δ with which it and every neighbour are (ε, δ)-indistinguishable (Definition 17).

    The best set S for Pr[A(D) ∈ S] − e^ε Pr[A(D') ∈ S] is where the difference is positive. Theorem 18's E of (ε, δ) is the
    databases whose number here is at most δ.
    """
    check_budget(epsilon, 0.0, "database_deltas")
    logs = _logs(mechanism.probabilities)
    worst = np.zeros(len(mechanism.probabilities))
    for person in range(mechanism.people):
        here, log_here = (mechanism.by_record(values, person) for values in (mechanism.probabilities, logs))
        own_worst = mechanism.by_record(worst, person)  # a view: written through
        for code in range(len(mechanism.domain)):
            excess = _excess(here, log_here, log_here[:, code : code + 1], epsilon)
            np.maximum(own_worst, excess, out=own_worst)
            np.maximum(own_worst[:, code], excess.max(axis=1), out=own_worst[:, code])  # the other way round
    return np.minimum(worst, 1.0)  # rows sum to 1 up to rounding


def dp_delta(mechanism: Mechanism, epsilon: float) -> float:
    """Return the smallest δ for which the mechanism is (ε, δ)-differentially private; for ε = 0 the largest total variation."""
    return float(database_deltas(mechanism, epsilon).max())


@dataclass(frozen=True, slots=True, eq=False)
class WorstCase:
    """Where the level is reached: two databases, and the prior on them. `prior` is None where the level is 1."""

    level: float
    output: Hashable
    person: int
    databases: tuple[Database, Database]
    prior: Floats | None


def worst_case(mechanism: Mechanism, *, default: Hashable = None) -> WorstCase:
    """Return the largest SD over priors, transcripts and persons (Definition 13), and where it is.

    Fix t and i; ρ = Pr[A(D) = t]/Pr[A(D₋ᵢ) = t]. If P is the posterior of Game i, that of Game 0 is ρP/E_P[ρ], so
    SD = ½ E_P|ρ/E_P[ρ] − 1|: convex in ρ, so at a given mean it is largest with all of P on the smallest and the largest ρ.
    With w on the largest, SD = wR/(wR + 1 − w) − w for R = ρmax/ρmin, largest at w = 1/(1 + √R):
    (√R − 1)/(√R + 1) = tanh(log R / 4). A prior b ∝ P/Pr[A(D₋ᵢ) = t] has that P.

    Zeros: databases with neither probability count for nothing. One with ρ = 0 has ρ = 1 at D₋ᵢ, and one with ρ = ∞ beside
    a finite ρ gives R = ∞, too: SD comes as near 1 as one likes (w → 0). If ρ is nowhere finite, SD is 1 by the rule above.

    The default record may matter, but not much: neighbours share D₋ᵢ, so e^ε ≤ max R ≤ e^{2ε} for the exact ε of the
    mechanism, and tanh(ε/4) ≤ level ≤ tanh(ε/2). One person has e^ε.
    """
    logs = _logs(mechanism.probabilities)
    widest, widest_at = -1.0, None
    for person in range(mechanism.people):
        removed = _logs(mechanism.without(person, default))
        possible = (logs > -np.inf) | (removed > -np.inf)
        ratio = np.subtract(logs, removed, out=np.zeros_like(logs), where=possible)
        low, high = np.where(possible, ratio, np.inf).argmin(axis=0), np.where(possible, ratio, -np.inf).argmax(axis=0)
        columns = np.arange(len(mechanism.outputs))
        smallest, largest = ratio[low, columns], ratio[high, columns]
        gap = np.subtract(largest, smallest, out=np.full(len(columns), np.inf), where=smallest < np.inf)
        gap[~possible.any(axis=0)] = -np.inf  # never an output
        t = int(gap.argmax())
        if gap[t] > widest:
            widest, widest_at = float(gap[t]), (person, t, int(low[t]), int(high[t]), removed[:, t])
    assert widest_at is not None
    person, t, first, second, log_removed = widest_at
    databases = mechanism.databases()
    prior = None
    if widest < math.inf:
        # b ∝ P/q with P = (√R, 1)/(1 + √R): the logarithm of b(one)/b(other)
        odds = widest / 2 - log_removed[first] + log_removed[second]
        prior = np.zeros(len(databases))
        prior[first] += np.exp(-np.logaddexp(0, -odds))
        prior[second] += np.exp(-np.logaddexp(0, odds))
    return WorstCase(math.tanh(widest / 4), mechanism.outputs[t], person, (databases[first], databases[second]), prior)


def semantic_level(mechanism: Mechanism, *, default: Hashable = None) -> float:
    """Return the smallest number for which the mechanism is semantically private (Definition 13); see `worst_case`."""
    return worst_case(mechanism, default=default).level


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Under one prior: `posteriors[game, d, t]` (1), `distances[person, t]` = SD, `transcripts[t]` = Pr[t] in Game 0.

    A posterior is nan where its game never has the transcript; the distance is nan where Game 0 never has, 1 where only the
    person's game never has.
    """

    posteriors: Floats
    distances: Floats
    transcripts: Floats

    def exceeding(self, level: float) -> float:
        """Return the probability over (D, t) that some person's SD exceeds `level`: the δ of Definition 14 for this prior."""
        seen = self.transcripts > 0
        over = (self.distances[:, seen] > level + DIFFERENCE_TOLERANCE).any(axis=0)
        return float(self.transcripts[seen][over].sum())


def statistical_differences(
    mechanism: Mechanism, prior: Sequence[float] | Floats, *, default: Hashable = None
) -> Differences:
    """Return the posteriors of every game and how far each person's is from the real one, transcript by transcript."""
    belief = np.asarray(prior, dtype=np.float64)
    count = len(mechanism.probabilities)
    if belief.shape != (count,):
        raise InputError(f"The prior has the shape {belief.shape}, but there are {count} databases.")
    if not np.isfinite(belief).all() or (belief < 0).any() or abs(belief.sum() - 1) > SUM_TOLERANCE:
        raise InputError(f"A prior holds probabilities that sum to 1; this one sums to {belief.sum():.9g}.")
    games = [mechanism.probabilities, *(mechanism.without(i, default) for i in range(mechanism.people))]
    joint = np.array([belief[:, None] * game for game in games])
    totals = joint.sum(axis=1, keepdims=True)
    posteriors = np.divide(joint, totals, out=np.full_like(joint, np.nan), where=totals > 0)
    distances = np.abs(posteriors[1:] - posteriors[0]).sum(axis=1) / 2
    transcripts: Floats = totals[0, 0]
    distances = np.where(totals[1:, 0] > 0, distances, 1.0)
    distances[:, transcripts == 0] = np.nan
    return Differences(posteriors, distances, transcripts)


def _excess(first: Floats, log_first: Floats, log_second: Floats, epsilon: float) -> Floats:
    """Return Σ_t max(0, p − e^ε p') over the last axis, as p(1 − e^{−gap}) with gap = log p − log p' − ε; no overflow."""
    gap = np.where(log_first > -np.inf, np.inf, 0.0)
    both = (log_first > -np.inf) & (log_second > -np.inf)
    np.subtract(log_first, log_second, out=gap, where=both)
    np.subtract(gap, epsilon, out=gap, where=both)
    excess: Floats = (first * -np.expm1(-np.maximum(gap, 0))).sum(axis=-1)
    return excess


def _logs(values: Floats) -> Floats:
    return np.log(values, out=np.full(values.shape, -np.inf), where=values > 0)


def _expm1(x: float) -> float:
    return math.expm1(x) if x < 700 else math.inf
