"""Relative threats of a release, with the table it was made of: learner, attacker, random worlds and the ideal learner."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import RandomWorlds, fit
from dalenius.adversary.attacker import Attacker
from dalenius.adversary.learner import Learner
from dalenius.adversary.learning import Memory, Posterior
from dalenius.adversary.links import Links
from dalenius.adversary.population import Population
from dalenius.adversary.sampling import Batch, Effort, Progress
from dalenius.audit.people import People, check_same_people
from dalenius.belief import Belief
from dalenius.measure.fidelity import Truth
from dalenius.measure.threat import (
    Faithfulness,
    Threats,
    faithfulness,
    faithfulness_of_draws,
    quantile_of_levels,
    relative_levels,
    threats,
)
from dalenius.release import Anatomized, Generalized

Floats = NDArray[np.float64]
BOOTSTRAP = 60  # samples of batches that the errors of figures are told from


@dataclass(frozen=True, slots=True, eq=False)
class RelativeThreats:
    """The figures of one sensitive column, their Monte-Carlo errors (empty: exact), and the attacker's belief."""

    threats: Threats
    errors: Mapping[str, float]
    faithfulness: Faithfulness
    belief: Belief
    levels: Floats  # Ti of each cell of people who are threatened, else nan
    people: NDArray[np.int64]

    @property
    def converged(self) -> bool:
        return bool(self.belief.method == "exact" or self.belief.diagnostics["converged"])

    def quantile(self, quantile: float) -> float:
        """A quantile of Ti over the threatened people."""
        return quantile_of_levels(self.levels, self.people, quantile)

    def histogram(self, width: float = 0.5) -> list[dict[str, float]]:
        """How many threatened people have a log2 Ti from `low` to `high`."""
        threatened = ~np.isnan(self.levels)
        bins = np.floor(np.log2(self.levels[threatened]) / width + 1e-9).astype(np.int64)
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
        return found


def relative_threats(
    release: Generalized | Anatomized,
    people: People,
    column: str,
    rng: np.random.Generator,
    *,
    effort: Effort | None = None,
    memory: Memory | None = None,
    progress: Progress | None = None,
) -> RelativeThreats:
    """Every figure of methods A for one sensitive column."""
    check_same_people(release, people)
    memory = memory or Memory()
    whole = Truth.of(people.table.cells()).identity
    made = Attacker(effort=effort, memory=memory, progress=progress)
    attacker = made.attack(release, people.targets, column=column, rng=rng)  # its baseline is the learner's belief
    ideal = Learner().attack(whole, people.targets, column=column)
    worlds = RandomWorlds().attack(release, people.targets, column=column)
    truth = people.truth(column)
    others = worlds.answer, ideal.posterior, truth, people.people
    found = threats(attacker.answer, attacker.baseline, *others)
    known = fit.distinct_targets(people.targets)[0]
    posterior = memory.recall(release, column, made.effort, known, np.zeros(known.shape[1]))
    assert posterior is not None
    return RelativeThreats(
        found,
        _errors(attacker, *others),
        _faithfulness(posterior, Population.of(whole, column, rows=False), rng),
        attacker,
        relative_levels(attacker.answer, attacker.baseline, truth),
        people.people,
    )


def _errors(
    attacker: Belief, worlds: Floats, ideal: Floats, truth: NDArray[np.int32], people: NDArray[np.int64]
) -> dict[str, float]:
    """How much each figure differs if other batches had been drawn, or a chain left out, whichever is more.

    A figure of one batch would not do: which value is believed most depends on how many batches are taken together. Nothing of
    what is exact.
    """
    draws = attacker.replicates
    if draws is None or draws.baseline is None:
        return {}
    chains, batches = draws.posterior.shape[:2]
    flat = [one.reshape(chains * batches, *one.shape[2:]) for one in (draws.posterior, draws.baseline)]

    def figures(share: Floats) -> Threats:
        """With so much of each batch."""
        posterior, learner = (np.tensordot(share / share.sum(), one, axes=1)[draws.number] for one in flat)
        belief = np.where(np.isnan(posterior), learner, posterior)
        return threats(belief, learner, worlds, ideal, truth, people)

    even = np.full(chains * batches, 1 / (chains * batches))
    drawn = np.random.default_rng(0).multinomial(chains * batches, even, size=BOOTSTRAP)
    others = [figures(share.astype(np.float64)) for share in drawn]
    without = [figures(np.repeat(np.arange(chains) != chain, batches).astype(np.float64)) for chain in range(chains)]
    found = {}
    for field in fields(Threats):
        bootstrap = float(np.std([getattr(one, field.name) for one in others], ddof=1))
        error = max(bootstrap, jackknife([getattr(one, field.name) for one in without]))
        found[field.name] = 0.0 if error < 1e-12 else error  # what does not depend on the draws differs by rounding
    return found


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

        def learnt(tuples: NDArray[np.int32], values: NDArray[np.int64]) -> Floats:
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
