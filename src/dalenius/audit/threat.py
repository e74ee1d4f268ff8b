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
from dalenius.coding import distinct_rows
from dalenius.measure.threat import Faithfulness, Threats, faithfulness, threats
from dalenius.release import Generalized
from dalenius.table import Cells


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


def identity_release(cells: Cells) -> Generalized:
    """A raw table as a release of leaves: what the ideal learner learns from."""
    m = len(cells.schema.quasi)
    index, group = distinct_rows(cells.codes[:, :m], list(cells.sizes[:m]))
    sets = [[np.array([leaf], dtype=np.int32) for leaf in range(size)] for size in cells.sizes[:m]]
    return Generalized.from_labels(cells.schema, sets, index, group, cells.codes[:, m:], cells.counts)


def relative_threats(release: Generalized, people: People, column: str, rng: np.random.Generator) -> RelativeThreats:
    """Every figure of methods A for one sensitive column. Refuses what has no exact posterior."""
    check_same_people(release, people)
    whole = identity_release(people.table.cells())
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
