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
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as tuples
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, ParameterError

Floats = NDArray[np.float64]
Database = tuple[Hashable, ...]
DATABASES = 4096  # all of them are gone through
CELLS = 2_000_000  # of the table of probabilities
SUM = 1e-9  # how far a row of probabilities may be from 1
EQUAL = 1e-12  # a statistical difference above a level by less is rounding


def compose(budgets: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """(Σε, Σδ) of releases of the same database, each (ε, δ)-differentially private (Lemma 12); no releases have (0, 0).

    Σδ is cut at 1: every mechanism is (0, 1)-differentially private, and more than 1 says no less.
    """
    pairs = list(budgets)
    for pair in pairs:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ParameterError("budgets", "compose", "pairs (epsilon, delta)", pair)
        _check_budget(*pair, "compose")
    return math.fsum(e for e, _ in pairs), min(1.0, math.fsum(d for _, d in pairs))


@dataclass(frozen=True, slots=True)
class Promise:
    """But for a probability `failure` over (D, t), no person's record moves any conclusion by more than `level`."""

    level: float
    failure: float = 0.0

    @property
    def vacuous(self) -> bool:
        """It says nothing: a statistical difference is at most 1 anyway."""
        return self.level >= 1 or self.failure >= 1


@dataclass(frozen=True, slots=True)
class SemanticBound:
    """The bounds that (ε, δ)-differential privacy has on semantic privacy, beside each other; None where one needs δ = 0."""

    proposition_15: Promise | None
    theorem_16: Promise
    worst_case: Promise | None


def semantic_bound(epsilon: float, delta: float = 0.0, people: int = 1) -> SemanticBound:
    """Proposition 15: e^ε − 1. Theorem 16: e^{3ε} − 1 + 2√δ but for n(√δ + 2δ/(εe^ε)). Worst case: tanh(ε/2).

    tanh(ε/2) is the smallest number that holds for every ε-differentially private mechanism on two people or more (a noisy
    parity has it); of one person it is tanh(ε/4).

    Theorem 16's constants. Let p(D, t) and p'(D, t) be the joint laws in Games 0 and i, and e(t) = Σ_D max(0, p − e^ε p'),
    so that Σ_t e(t) ≤ δ. Then p(S|t) ≤ e^ε p'(S|t) p'(t)/p(t) + e(t)/p(t) for every set S of databases.
    Markov: e(t)/p(t) > 2√δ has probability at most √δ/2. And T = {t: p'(t) > e^{2ε} p(t)} has e^{2ε} p(T) ≤ e^ε p(T) + δ,
    so p(T) ≤ δ/(e^ε(e^ε − 1)) ≤ δ/(εe^ε). For other t, p(S|t) − p'(S|t) ≤ e^{3ε} − 1 + 2√δ, and that is SD. Hence half the
    paper's δ' is enough. The whole is what Theorem 18 needs: where b[E] ≥ 1 − δ, Σ_t e(t) ≤ 2δ.
    """
    _check_budget(epsilon, delta, "semantic_bound")
    _check_people(people, "semantic_bound")
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
            if abs(row.sum() - 1) > SUM:
                raise InputError(
                    f"A mechanism's rows sum to 1: that of database {database!r} sums to {row.sum():.9g}, "
                    f"{row.sum() - 1:+.3g} from it."
                )
        table.flags.writeable = False
        object.__setattr__(self, "probabilities", table)

    def databases(self) -> list[Database]:
        """Every database, in the order of the rows."""
        return list(tuples(self.domain, repeat=self.people))

    def by_record(self, values: Floats, person: int) -> Floats:
        """Rows as [records before, the person's record, records after, …], so that neighbours stand on axis 1."""
        size = len(self.domain)
        return values.reshape(size**person, size, size ** (self.people - 1 - person), *values.shape[1:])

    def without(self, person: int, default: Hashable = None) -> Floats:
        """Pr[A(D₋ᵢ) = t], rows as in `probabilities`; the default record is the domain's None or first value unless named."""
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
    """The mechanism whose outputs have the `distribution(database)`; outputs stand in the order they first appear."""
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
    """Always the same output."""
    return tabulate(domain, people, lambda _: {output: 1.0})


def randomized_response(domain: Sequence[Hashable], people: int, epsilon: float) -> Mechanism:
    """Every record apart: itself with a probability e^ε times that of each other value. The level is ε."""
    _check_budget(epsilon, 0.0, "randomized_response")
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
    """How many records are `counted`, plus noise z of Pr ∝ e^{−ε|z|}; what falls outside [low, high] is put at that end."""
    _check_budget(epsilon, 0.0, "noisy_count")
    _check_people(people, "noisy_count")
    top = people if high is None else high
    if top <= low:
        raise ParameterError("high", "noisy_count", f"an int > {low} (low)", top)
    ratio = math.exp(-epsilon)

    def at_least(least: int) -> float:
        """Pr[z ≥ least]: Σ_{z≥m} (1 − a)/(1 + a) a^z = a^m/(1 + a) for m ≥ 0."""
        return ratio**least / (1 + ratio) if least >= 0 else 1 - ratio ** (1 - least) / (1 + ratio)

    def distribution(database: Database) -> dict[Hashable, float]:
        count = sum(map(bool, map(counted, database)))
        inside: dict[Hashable, float] = {
            t: (1 - ratio) / (1 + ratio) * ratio ** abs(t - count) for t in range(low + 1, top)
        }
        return {low: at_least(count - low), **inside, top: at_least(top - count)}  # z ≤ low − count mirrors ≥

    return tabulate(domain, people, distribution)


def one_random_record(domain: Sequence[Hashable], people: int) -> Mechanism:
    """A record drawn at random, published with its person's number: close in total variation, private in no sense."""

    def distribution(database: Database) -> dict[Hashable, float]:
        return dict.fromkeys(enumerate(database), 1 / people)

    return tabulate(domain, people, distribution)


def product(*mechanisms: Mechanism) -> Mechanism:
    """Several releases of one database with independent coins: an output is a tuple of theirs."""
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


def dp_level(mechanism: Mechanism) -> float:
    """The smallest ε for which the mechanism is ε-differentially private; infinite where neighbours' supports differ."""
    level = 0.0
    for person in range(mechanism.people):
        table = mechanism.by_record(mechanism.probabilities, person)
        most, least = table.max(axis=1), table.min(axis=1)
        if (least[most > 0] == 0).any():
            return math.inf
        level = max(level, float((np.log(most[most > 0]) - np.log(least[most > 0])).max()))
    return level


def database_deltas(mechanism: Mechanism, epsilon: float) -> Floats:
    """For each database the smallest δ with which it and every neighbour are (ε, δ)-indistinguishable (Definition 17).

    The best set S for Pr[A(D) ∈ S] − e^ε Pr[A(D') ∈ S] is where the difference is positive. Theorem 18's E of (ε, δ) is the
    databases whose number here is at most δ.
    """
    _check_budget(epsilon, 0.0, "database_deltas")
    logs = _logs(mechanism.probabilities)
    worst = np.zeros(len(mechanism.probabilities))
    for person in range(mechanism.people):
        here, log_here = (mechanism.by_record(values, person) for values in (mechanism.probabilities, logs))
        mine = mechanism.by_record(worst, person)  # a view: written through
        for code in range(len(mechanism.domain)):
            excess = _excess(here, log_here, log_here[:, code : code + 1], epsilon)
            np.maximum(mine, excess, out=mine)
            np.maximum(mine[:, code], excess.max(axis=1), out=mine[:, code])  # the other way round
    return np.minimum(worst, 1.0)  # rows sum to 1 but for rounding


def dp_delta(mechanism: Mechanism, epsilon: float) -> float:
    """The smallest δ for which the mechanism is (ε, δ)-differentially private; for ε = 0 the largest total variation."""
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
    """The largest SD over priors, transcripts and persons (Definition 13), and where it is.

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
    widest, found = -1.0, None
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
            widest, found = float(gap[t]), (person, t, int(low[t]), int(high[t]), removed[:, t])
    assert found is not None
    person, t, one, other, log_removed = found
    databases = mechanism.databases()
    prior = None
    if widest < math.inf:
        # b ∝ P/q with P = (√R, 1)/(1 + √R): the logarithm of b(one)/b(other)
        odds = widest / 2 - log_removed[one] + log_removed[other]
        prior = np.zeros(len(databases))
        prior[one] += np.exp(-np.logaddexp(0, -odds))
        prior[other] += np.exp(-np.logaddexp(0, odds))
    return WorstCase(math.tanh(widest / 4), mechanism.outputs[t], person, (databases[one], databases[other]), prior)


def semantic_level(mechanism: Mechanism, *, default: Hashable = None) -> float:
    """The smallest number for which the mechanism is semantically private (Definition 13); see `worst_case`."""
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
        """The probability over (D, t) that some person's SD exceeds `level`: the δ of Definition 14 for this prior."""
        seen = self.transcripts > 0
        over = (self.distances[:, seen] > level + EQUAL).any(axis=0)
        return float(self.transcripts[seen][over].sum())


def statistical_differences(
    mechanism: Mechanism, prior: Sequence[float] | Floats, *, default: Hashable = None
) -> Differences:
    """The posteriors of every game and how far each person's is from the real one, transcript by transcript."""
    belief = np.asarray(prior, dtype=np.float64)
    count = len(mechanism.probabilities)
    if belief.shape != (count,):
        raise InputError(f"The prior has the shape {belief.shape}, but there are {count} databases.")
    if not np.isfinite(belief).all() or (belief < 0).any() or abs(belief.sum() - 1) > SUM:
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


def _excess(one: Floats, log_one: Floats, log_other: Floats, epsilon: float) -> Floats:
    """Σ_t max(0, p − e^ε p') over the last axis, as p(1 − e^{−gap}) with gap = log p − log p' − ε; no overflow."""
    gap = np.where(log_one > -np.inf, np.inf, 0.0)
    both = (log_one > -np.inf) & (log_other > -np.inf)
    np.subtract(log_one, log_other, out=gap, where=both)
    np.subtract(gap, epsilon, out=gap, where=both)
    excess: Floats = (one * -np.expm1(-np.maximum(gap, 0))).sum(axis=-1)
    return excess


def _logs(values: Floats) -> Floats:
    return np.log(values, out=np.full(values.shape, -np.inf), where=values > 0)


def _expm1(x: float) -> float:
    return math.expm1(x) if x < 700 else math.inf


def _check_budget(epsilon: object, delta: object, owner: str) -> None:
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real) or not float(epsilon) >= 0:
        raise ParameterError("epsilon", owner, "a number ≥ 0", epsilon)
    if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 <= float(delta) <= 1:
        raise ParameterError("delta", owner, "a number from 0 to 1", delta)


def _check_people(people: object, owner: str) -> None:
    if isinstance(people, bool) or not isinstance(people, Integral) or people < 1:
        raise ParameterError("people", owner, "an int ≥ 1", people)


def _check_size(domain: Sequence[Hashable], people: int, outputs: int) -> int:
    """How many databases there are, refused where they or the table's cells are too many."""
    _check_people(people, "Mechanism")
    if not len(domain) or len(set(domain)) < len(domain):
        raise ParameterError("domain", "Mechanism", "values, each once", domain)
    if people * math.log(len(domain)) > math.log(DATABASES) + 1e-9:
        raise ParameterError(
            "people", "Mechanism", f"so few that {len(domain)} values give at most {DATABASES:,} databases", people
        )
    count: int = len(domain) ** people
    if count * outputs > CELLS:
        raise InputError(f"A mechanism of {count:,} databases and {outputs:,} outputs is larger than {CELLS:,} cells.")
    return count
