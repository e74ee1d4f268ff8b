"""Relative threats of a release, with the table it was made of: learner, attacker, random worlds and the ideal learner."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dalenius.adversary import RandomWorlds
from dalenius.adversary.attacker import Attacker
from dalenius.adversary.learner import Learner
from dalenius.adversary.population import Population
from dalenius.audit.people import People, check_same_people
from dalenius.belief import Belief
from dalenius.measure.fidelity import Truth
from dalenius.measure.threat import Faithfulness, Threats, faithfulness, threats
from dalenius.release import Generalized


@dataclass(frozen=True, slots=True, eq=False)
class RelativeThreats:
    """The figures, and the belief of the attacker that they are about."""

    threats: Threats
    faithfulness: Faithfulness
    belief: Belief

    def to_document(self) -> dict[str, Any]:
        """The figures under the names of the paper; an `RF_stderr` of 0 is exact."""
        found = {**asdict(self.threats), **asdict(self.faithfulness)}
        found["RF_stderr"] = found.pop("stderr")
        return found


def relative_threats(release: Generalized, people: People, column: str, rng: np.random.Generator) -> RelativeThreats:
    """Every figure of methods A for one sensitive column. Refuses what has no exact posterior."""
    check_same_people(release, people)
    whole = Truth.of(people.table.cells()).identity
    attacker = Attacker().attack(release, people.targets, column=column)  # its baseline is the learner's belief
    ideal = Learner().attack(whole, people.targets, column=column)
    worlds = RandomWorlds().attack(release, people.targets, column=column)
    found = threats(
        attacker.answer, attacker.baseline, worlds.answer, ideal.posterior, people.truth(column), people.people
    )
    learnt, best = Population.of(release, column), Population.of(whole, column)
    faithful = faithfulness(
        learnt.values,
        [attribute.leaves for attribute in best.attributes],
        [attribute.leaves for attribute in learnt.attributes],
        rng,
    )
    return RelativeThreats(found, faithful, attacker)
