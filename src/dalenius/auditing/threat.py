"""Relative threats of a release, measured with its table: learner, attacker, random worlds and the ideal learner."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dalenius.adversaries import RandomWorlds, Targets
from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.evidence import required
from dalenius.adversaries.learner import Learner
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.learning import Learning, Memory, Posterior
from dalenius.adversaries.models.links import Links
from dalenius.adversaries.models.population import Population
from dalenius.adversaries.models.sampling import Batch, Effort, Progress
from dalenius.arrays import Floats, Ints, Longs
from dalenius.auditing.people import People, check_same_people
from dalenius.auditing.secrets import EVERY, Secret
from dalenius.belief import Belief
from dalenius.measures import accuracy
from dalenius.measures.fidelity import Truth
from dalenius.measures.threat import (
    Faithfulness,
    Threats,
    faithfulness,
    faithfulness_of_draws,
    quantile_of_levels,
    relative_levels,
    threats,
)
from dalenius.releases import Release

__all__ = ["ACCURACIES", "BOOTSTRAP_SAMPLES", "RelativeThreats", "accuracy_error", "jackknife", "relative_threats"]

T = TypeVar("T")
BOOTSTRAP_SAMPLES = 60  # resamples of batches, from which the errors of figures are estimated
# Sampling continues until the error of these figures is as small as that of beliefs.
ACCURACIES = ("GT_A", "GT_L", "RGT_A")


@dataclass(frozen=True, slots=True, eq=False)
class RelativeThreats:
    """The figures of one sensitive column, their Monte-Carlo errors (empty: exact), and the attacker's belief."""

    threats: Threats
    errors: Mapping[str, float]
    faithfulness: Faithfulness
    belief: Belief
    truth: Ints  # the value of each cell of people
    people: Longs
    posterior: Posterior  # what was learnt, which also applies to other people
    attacker: Learning  # whose threats these are
    secret: Secret = EVERY
    is_sharp: bool = True  # whether the errors of accuracies are as small as requested

    def about(self, targets: Targets) -> Belief:
        """Return what the attacker believes about other people, from what was learnt. Nothing more is sampled for them."""
        return self.attacker.taught(self.posterior, targets)

    @property
    def has_converged_beliefs(self) -> bool:
        """Return whether the beliefs are as precise as requested, and the chains agree on them."""
        return bool(self.belief.method == "exact" or self.belief.diagnostics["converged"])

    @property
    def converged(self) -> bool:
        return self.is_sharp and self.has_converged_beliefs

    @property
    def unmatched(self) -> int:
        """Return how many people fit no class. The attacker guesses them as the learner does, so its success is a lower bound."""
        return int(self.people[~self.secret.believed(self.belief).matched].sum())

    @property
    def levels(self) -> Floats:
        """Return Ti of each cell of threatened people, and nan of other cells."""
        return self._levels(self.belief.answer, self.belief.baseline)

    def _levels(self, attacker: Floats, learner: Floats) -> Floats:
        have = self.people > 0
        levels = np.full(len(have), np.nan)
        answered, learnt = self.secret.answered(attacker, learner), self.secret.without_missing(learner)
        levels[have] = relative_levels(answered[have], learnt[have], self.truth[have])
        return levels

    def quantile(self, quantile: float) -> float:
        """Return a quantile of Ti over the threatened people."""
        return quantile_of_levels(self.levels, self.people, quantile)

    def quantile_error(self, quantile: float) -> float:
        """Return the Monte Carlo error of a quantile; 0 if it is exact."""

        def of(attacker: Floats, learner: Floats) -> float:
            value = quantile_of_levels(self._levels(attacker, learner), self.people, quantile)
            return 0.0 if math.isnan(value) else value  # nobody is threatened

        return _error(*_resampled(self.belief, of))

    def histogram(self, width: float = 0.5) -> list[dict[str, float]]:
        """Return how many threatened people have a log2 Ti from `low` to `high`, in steps of `width`."""
        levels = self.levels
        threatened = ~np.isnan(levels)
        bins = np.floor(np.log2(levels[threatened]) / width + 1e-9).astype(np.int64)
        return [
            {
                "low": width * number,
                "high": width * (number + 1),
                "people": int(self.people[threatened][bins == number].sum()),
            }
            for number in np.unique(bins).tolist()
        ]

    def to_document(self) -> dict[str, Any]:
        """Return the figures under the names of the paper. An error of 0 means exact."""
        document = {**asdict(self.threats), **asdict(self.faithfulness)}
        document["RF_stderr"] = document.pop("stderr")
        document["log2_Ti_histogram"] = self.histogram()
        document["method"] = self.belief.method
        document["stderr"] = dict(self.errors)
        document["diagnostics"] = dict(self.belief.diagnostics)
        document["converged"] = self.converged
        document["unmatched"] = self.unmatched
        document["people"] = int(self.people.sum())
        return document


def relative_threats(
    release: Release,
    people: People,
    column: str,
    rng: np.random.Generator,
    *,
    effort: Effort | None = None,
    memory: Memory | None = None,
    progress: Progress | None = None,
    attacker: type[Learning] = Attacker,
    table: Truth | None = None,
) -> RelativeThreats:
    """Return every figure of methods A for one sensitive column. The baseline of `attacker` is what a learner believes.

    `table` is the table of the people, if the caller has it already: then the ideal learner is computed once.
    """
    check_same_people(required(release.classes(), release), people)
    memory = memory or Memory()
    effort = effort or Effort()
    whole = (table or Truth.of(people.table.cells())).identity
    adversary = attacker(effort=effort, memory=memory, progress=progress)
    ideal = Learner().attack(whole, people.targets, column=column)
    worlds = RandomWorlds().attack(release, people.targets, column=column)
    truth = people.truth(column)
    secret = Secret.of(people.targets.schema, ideal.column)
    counts = secret.people(truth, people.people).astype(np.int64)
    others = secret.believed(worlds).answer, secret.without_missing(ideal.posterior), truth, counts
    known = fit.distinct_targets(people.targets)[0]
    questions = known, np.zeros(known.shape[1])
    while True:
        belief = adversary.attack(release, people.targets, column=column, rng=rng)
        posterior = memory.recall(release, column, effort, *questions)
        assert posterior is not None
        errors = _errors(belief, *others, secret)
        is_sharp = all(errors.get(name, 0.0) <= effort.mcse for name in ACCURACIES)
        if is_sharp or not posterior.may_go_on(effort):
            break
        posterior.sample(*questions, effort, rng, progress, again=True)
        if posterior.diagnostics["interrupted"]:  # another attack would sample again
            belief = adversary.taught(posterior, people.targets)
            errors, is_sharp = _errors(belief, *others, secret), False
            break
    return RelativeThreats(
        _threats(secret, belief.answer, belief.baseline, *others),
        errors,
        _faithfulness(posterior, Population.of(whole, column, rows=False), rng),
        belief,
        truth,
        counts,
        posterior,
        adversary,
        secret,
        is_sharp,
    )


def _threats(
    secret: Secret,
    attacker: Floats,
    learner: Floats,
    worlds: Floats,
    ideal: Floats,
    truth: Ints,
    people: Longs,
) -> Threats:
    """Return the figures about people who have a value."""
    if secret == EVERY:
        return threats(attacker, learner, worlds, ideal, truth, people)
    have = people > 0
    if not have.any():
        return Threats(*[math.nan] * len(fields(Threats)))
    beliefs = [
        part[have] for part in (secret.answered(attacker, learner), secret.without_missing(learner), worlds, ideal)
    ]
    return threats(beliefs[0], beliefs[1], beliefs[2], beliefs[3], truth[have], people[have])


def accuracy_error(belief: Belief, truth: Ints, people: NDArray[Any], secret: Secret = EVERY) -> float:
    """Return the Monte Carlo error of the success rate: 0 if it is exact, infinite if it is unknown."""
    counts = secret.people(truth, people)
    if belief.method == "exact" or not counts.any():
        return 0.0
    if belief.replicates is None:
        return math.inf
    return _error(
        *_resampled(belief, lambda told, other: accuracy.success(secret.answered(told, other), truth, counts).value)
    )


def _errors(
    attacker: Belief,
    worlds: Floats,
    ideal: Floats,
    truth: Ints,
    people: Longs,
    secret: Secret = EVERY,
) -> dict[str, float]:
    """Return how much each figure varies with other batches, or without one chain, whichever is more.

    A figure of one batch would not do: which value is believed most depends on how many batches are combined. Exact beliefs have
    no errors.
    """

    def figures(belief: Floats, learner: Floats) -> Threats:
        return _threats(secret, belief, learner, worlds, ideal, truth, people)

    drawn, without = _resampled(attacker, figures)
    if not drawn or not people.any():
        return {}
    return {
        field.name: _error(
            [getattr(part, field.name) for part in drawn], [getattr(part, field.name) for part in without]
        )
        for field in fields(Threats)
    }


def _error(drawn: Sequence[float], without: Sequence[float]) -> float:
    """Return the error of a figure from its values with other batches, and without one chain each."""
    if not drawn:
        return 0.0
    error = max(float(np.std(drawn, ddof=1)), jackknife(without))
    return 0.0 if error < 1e-12 else error  # figures that do not depend on the draws differ by rounding only


def _resampled(attacker: Belief, figure: Callable[[Floats, Floats], T]) -> tuple[list[T], list[T]]:
    """Return a figure of attacker and learner with batches resampled, and with one chain left out at a time; empty if exact."""
    draws = attacker.replicates
    if draws is None:
        return [], []
    chains, batches = draws.posterior.shape[:2]
    baseline = draws.posterior if draws.baseline is None else draws.baseline
    flat = [part.reshape(chains * batches, *part.shape[2:]) for part in (draws.posterior, baseline)]

    def of(share: Floats) -> T:
        """Return the figure with this share of each batch."""
        posterior, learner = (np.tensordot(share / share.sum(), part, axes=1)[draws.number] for part in flat)
        return figure(np.where(np.isnan(posterior), learner, posterior), learner)

    even = np.full(chains * batches, 1 / (chains * batches))
    drawn = np.random.default_rng(0).multinomial(chains * batches, even, size=BOOTSTRAP_SAMPLES)
    without = [np.repeat(np.arange(chains) != chain, batches).astype(np.float64) for chain in range(chains)]
    return [of(share.astype(np.float64)) for share in drawn], [of(share) for share in without]


def jackknife(without: Sequence[float]) -> float:
    """Return the error of a measure from its values with one chain left out at a time."""
    return float(math.sqrt((len(without) - 1) * np.var(without)))


def _faithfulness(posterior: Posterior, best: Population, rng: np.random.Generator) -> Faithfulness:
    ideal = [attribute.leaves for attribute in best.attributes]
    model = posterior.model
    if isinstance(model, Links):
        assert posterior.sampled is not None
        batches = [batch for chain in posterior.sampled.batches for batch in chain]
        sure = np.zeros(len(ideal))

        def learnt(tuples: Ints, values: Longs) -> Floats:
            own = np.arange(len(tuples)), values
            return np.array([model.joint(batch, tuples, sure)[own] for batch in batches])

        return faithfulness_of_draws(model.values, ideal, model.expected(), learnt, rng)

    def of(population: Population, *, etv: bool = True) -> Faithfulness:
        learnt = [attribute.leaves for attribute in population.attributes]
        return faithfulness(population.values, ideal, learnt, rng, etv=etv)

    if posterior.sampled is None:
        return of(model)
    whole = of(model.filled(posterior.sampled.whole.means))
    each = [of(model.filled(Batch.together(chain).means), etv=False).RF for chain in posterior.sampled.batches]
    between = float(np.std(each, ddof=1)) / math.sqrt(len(each))
    return dataclasses.replace(whole, stderr=math.hypot(whole.stderr, between))
