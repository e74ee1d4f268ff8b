"""Relative threats of a release, with the table it was made of: learner, attacker, random worlds and the ideal learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.adversary import RandomWorlds
from dalenius.adversary.attacker import Attacker
from dalenius.adversary.learner import Learner
from dalenius.adversary.learning import Memory, Posterior
from dalenius.adversary.links import Links
from dalenius.adversary.population import Population
from dalenius.adversary.sampling import Effort, Progress, spread
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
    posterior = memory.recall(release, column, made.effort)
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
    """How much each figure differs from batch to batch; nothing of what is exact."""
    draws = attacker.replicates
    if draws is None or draws.baseline is None:
        return {}
    seen: dict[str, list[list[float]]] = {field.name: [] for field in fields(Threats)}
    for mine, theirs in zip(draws.posterior, draws.baseline, strict=True):
        batches = []
        for posterior, baseline in zip(mine, theirs, strict=True):
            learner = baseline[draws.number]
            belief = posterior[draws.number]
            belief = np.where(np.isnan(belief), learner, belief)
            batches.append(threats(belief, learner, worlds, ideal, truth, people))
        for name, column in seen.items():
            column.append([getattr(batch, name) for batch in batches])
    return {name: float(spread(np.array(column))[0]) for name, column in seen.items()}


def _faithfulness(posterior: Posterior, best: Population, rng: np.random.Generator) -> Faithfulness:
    ideal = [attribute.leaves for attribute in best.attributes]
    model = posterior.model
    if isinstance(model, Links):
        assert posterior.sampled is not None
        batches = [batch for mine in posterior.sampled.batches for batch in mine]
        sure = np.zeros(len(ideal))

        def learnt(tuples: NDArray[np.int32]) -> Floats:
            return np.array([model.joint(batch, tuples, sure) for batch in batches])

        return faithfulness_of_draws(model.values, ideal, model.expected(), learnt, rng)
    population = model if posterior.sampled is None else model.filled(posterior.sampled.whole.means)
    return faithfulness(population.values, ideal, [attribute.leaves for attribute in population.attributes], rng)
