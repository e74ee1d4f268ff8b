"""Relative threats of a release, with the table it was made of: learner, attacker, random worlds and the ideal learner."""

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

T = TypeVar("T")
BOOTSTRAP = 60  # samples of batches that the errors of figures are told from
ACCURACIES = (
    "GT_A",
    "GT_L",
    "RGT_A",
)  # figures that sampling goes on for until their error is as small as that of beliefs


@dataclass(frozen=True, slots=True, eq=False)
class RelativeThreats:
    """The figures of one sensitive column, their Monte-Carlo errors (empty: exact), and the attacker's belief."""

    threats: Threats
    errors: Mapping[str, float]
    faithfulness: Faithfulness
    belief: Belief
    truth: Ints  # the value of each cell of people
    people: Longs
    posterior: Posterior  # what was learnt: it answers for other people, too
    attacker: Learning  # whose threats these are
    secret: Secret = EVERY
    sharp: bool = True  # the errors of accuracies are as small as was asked

    def about(self, targets: Targets) -> Belief:
        """What the attacker believes of other people after what was learnt; nothing more is sampled for them."""
        return self.attacker.taught(self.posterior, targets)

    @property
    def settled(self) -> bool:
        """The beliefs are as sharp as was asked, and chains agree on them."""
        return bool(self.belief.method == "exact" or self.belief.diagnostics["converged"])

    @property
    def converged(self) -> bool:
        return self.sharp and self.settled

    @property
    def unmatched(self) -> int:
        """People who fit no class; the attacker guesses them as the learner does, and what it achieves is a lower bound."""
        return int(self.people[~self.secret.believed(self.belief).matched].sum())

    @property
    def levels(self) -> Floats:
        """Ti of each cell of people who are threatened, else nan."""
        return self._levels(self.belief.answer, self.belief.baseline)

    def _levels(self, attacker: Floats, learner: Floats) -> Floats:
        have = self.people > 0
        found = np.full(len(have), np.nan)
        told, learnt = self.secret.answered(attacker, learner), self.secret.given(learner)
        found[have] = relative_levels(told[have], learnt[have], self.truth[have])
        return found

    def quantile(self, quantile: float) -> float:
        """A quantile of Ti over the threatened people."""
        return quantile_of_levels(self.levels, self.people, quantile)

    def quantile_error(self, quantile: float) -> float:
        """Its Monte-Carlo error; 0 if it is exact."""

        def of(attacker: Floats, learner: Floats) -> float:
            found = quantile_of_levels(self._levels(attacker, learner), self.people, quantile)
            return 0.0 if math.isnan(found) else found  # nobody is threatened

        return _error(*_resampled(self.belief, of))

    def histogram(self, width: float = 0.5) -> list[dict[str, float]]:
        """How many threatened people have a log2 Ti from `low` to `high`."""
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
        """The figures under the names of the paper; an error of 0 is exact."""
        found = {**asdict(self.threats), **asdict(self.faithfulness)}
        found["RF_stderr"] = found.pop("stderr")
        found["log2_Ti_histogram"] = self.histogram()
        found["method"] = self.belief.method
        found["stderr"] = dict(self.errors)
        found["diagnostics"] = dict(self.belief.diagnostics)
        found["converged"] = self.converged
        found["unmatched"] = self.unmatched
        found["people"] = int(self.people.sum())
        return found


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
    """Every figure of methods A for one sensitive column; `attacker` is one whose baseline is what a learner believes.

    `table` is that of the people, where somebody has it already: what an ideal learner makes of it is then worked out once.
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
    others = secret.believed(worlds).answer, secret.given(ideal.posterior), truth, counts
    known = fit.distinct_targets(people.targets)[0]
    asked = known, np.zeros(known.shape[1])
    while True:
        belief = adversary.attack(release, people.targets, column=column, rng=rng)
        posterior = memory.recall(release, column, effort, *asked)
        assert posterior is not None
        errors = _errors(belief, *others, secret)
        sharp = all(errors.get(name, 0.0) <= effort.mcse for name in ACCURACIES)
        if sharp or not posterior.may_go_on(effort):
            break
        posterior.sample(*asked, effort, rng, progress, again=True)
        if posterior.diagnostics["interrupted"]:  # to ask again would go on
            belief = adversary.taught(posterior, people.targets)
            errors, sharp = _errors(belief, *others, secret), False
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
        sharp,
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
    """The figures about people who have a value."""
    if secret == EVERY:
        return threats(attacker, learner, worlds, ideal, truth, people)
    have = people > 0
    if not have.any():
        return Threats(*[math.nan] * len(fields(Threats)))
    beliefs = [one[have] for one in (secret.answered(attacker, learner), secret.given(learner), worlds, ideal)]
    return threats(beliefs[0], beliefs[1], beliefs[2], beliefs[3], truth[have], people[have])


def accuracy_error(belief: Belief, truth: Ints, people: NDArray[Any], secret: Secret = EVERY) -> float:
    """The Monte-Carlo error of how often it is right; 0 if it is exact, infinite if nobody can tell."""
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
    """How much each figure differs if other batches had been drawn, or a chain left out, whichever is more.

    A figure of one batch would not do: which value is believed most depends on how many batches are taken together. Nothing of
    what is exact.
    """

    def figures(belief: Floats, learner: Floats) -> Threats:
        return _threats(secret, belief, learner, worlds, ideal, truth, people)

    drawn, without = _resampled(attacker, figures)
    if not drawn or not people.any():
        return {}
    return {
        field.name: _error([getattr(one, field.name) for one in drawn], [getattr(one, field.name) for one in without])
        for field in fields(Threats)
    }


def _error(drawn: Sequence[float], without: Sequence[float]) -> float:
    """Of a figure: from what it is with other batches, and with a chain left out."""
    if not drawn:
        return 0.0
    error = max(float(np.std(drawn, ddof=1)), jackknife(without))
    return 0.0 if error < 1e-12 else error  # what does not depend on the draws differs by rounding


def _resampled(attacker: Belief, figure: Callable[[Floats, Floats], T]) -> tuple[list[T], list[T]]:
    """A figure of attacker and learner with batches drawn anew, and with one chain left out at a time; none if exact."""
    draws = attacker.replicates
    if draws is None:
        return [], []
    chains, batches = draws.posterior.shape[:2]
    baseline = draws.posterior if draws.baseline is None else draws.baseline
    flat = [one.reshape(chains * batches, *one.shape[2:]) for one in (draws.posterior, baseline)]

    def of(share: Floats) -> T:
        """With so much of each batch."""
        posterior, learner = (np.tensordot(share / share.sum(), one, axes=1)[draws.number] for one in flat)
        return figure(np.where(np.isnan(posterior), learner, posterior), learner)

    even = np.full(chains * batches, 1 / (chains * batches))
    drawn = np.random.default_rng(0).multinomial(chains * batches, even, size=BOOTSTRAP)
    without = [np.repeat(np.arange(chains) != chain, batches).astype(np.float64) for chain in range(chains)]
    return [of(share.astype(np.float64)) for share in drawn], [of(share) for share in without]


def jackknife(without: Sequence[float]) -> float:
    """The error of a measure, from its values with one chain left out at a time."""
    return float(math.sqrt((len(without) - 1) * np.var(without)))


def _faithfulness(posterior: Posterior, best: Population, rng: np.random.Generator) -> Faithfulness:
    ideal = [attribute.leaves for attribute in best.attributes]
    model = posterior.model
    if isinstance(model, Links):
        assert posterior.sampled is not None
        batches = [batch for mine in posterior.sampled.batches for batch in mine]
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
    found = of(model.filled(posterior.sampled.whole.means))
    each = [of(model.filled(Batch.together(mine).means), etv=False).RF for mine in posterior.sampled.batches]
    between = float(np.std(each, ddof=1)) / math.sqrt(len(each))
    return dataclasses.replace(found, stderr=math.hypot(found.stderr, between))
