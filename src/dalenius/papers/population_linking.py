"""Cormode's section 3 on Adult: deFinetti attacks on Anatomy by ℓ, with groups as they come, doubled and tripled.

As printed: 1,000 iterations of the chain, five repetitions, accuracy over everybody in the release. Groups are published anew
for each repetition. Beside the paper's three predictions stands the majority of the second half of the states.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from dalenius.adversaries.definetti import LinkedRows
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.links import LinkChain, Links
from dalenius.adversaries.models.sampling import Batch, Effort, Method
from dalenius.auditing.groups import in_groups
from dalenius.auditing.people import People
from dalenius.measures import accuracy
from dalenius.measures.accuracy import Rate
from dalenius.papers.population_experiments import Study
from dalenius.publishers.anatomy import Anatomy
from dalenius.releases import Anatomized

__all__ = [
    "LEVELS",
    "MERGES",
    "PREDICTIONS",
    "REPETITIONS",
    "SWEEPS",
    "Linked",
    "anatomized",
    "definetti",
    "predictions",
]

LEVELS = (2, 3, 4, 5, 6, 7)
MERGES = (1, 2, 3)
PREDICTIONS = ("permutation", "majority", "group", "open")
SWEEPS = 1000
REPETITIONS = 5


@dataclass(frozen=True, slots=True)
class Linked:
    """One ℓ and size of groups: the accuracy of each prediction in each repetition."""

    l: int  # noqa: E741 - the literature's letter
    merge: int
    method: Method
    success: dict[str, tuple[float, ...]]

    def mean(self, prediction: str) -> float:
        return float(np.mean(self.success[prediction]))


def definetti(
    found: Study,
    levels: Sequence[int] = LEVELS,
    merges: Sequence[int] = MERGES,
    *,
    method: Method = "printed-permutations",
    repetitions: int = REPETITIONS,
    sweeps: int = SWEEPS,
) -> list[Linked]:
    """Figure 4: publish and attack, each repetition with a seed of its own."""
    asked = [(merge, level, seed) for merge in merges for level in levels for seed in range(repetitions)]
    found.counted.cells()  # once, before there are threads

    def one(case: tuple[int, int, int]) -> dict[str, float]:
        merge, level, seed = case
        release, people = anatomized(found, level, merge, seed)
        rng = np.random.default_rng([seed, level, merge])
        (rates,) = predictions(release, [people], found.target, method, sweeps, rng)
        return {name: rate.value for name, rate in rates.items()}

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        rates = dict(zip(asked, pool.map(one, asked), strict=True))
    return [
        Linked(
            level,
            merge,
            method,
            {name: tuple(rates[merge, level, seed][name] for seed in range(repetitions)) for name in PREDICTIONS},
        )
        for merge in merges
        for level in levels
    ]


def anatomized(found: Study, level: int, merge: int, seed: int) -> tuple[Anatomized, People]:
    """A release, and the people who were counted with their groups in it."""
    published = Anatomy(level, merge=merge).publish(found.counted, seed=seed)
    cells = found.counted.cells()
    return published.release, in_groups(found.counted, cells.codes[published.cell], published.group)


def predictions(
    release: Anatomized,
    everybody: Sequence[People],
    column: str,
    method: Method,
    sweeps: int,
    rng: np.random.Generator,
) -> list[dict[str, Rate]]:
    """Return how often each prediction is right for several sets of people with known groups, after some sweeps of one chain."""
    linked = LinkedRows.of(release, column, Effort(method=method))
    links = linked.model
    assert isinstance(links, Links)
    chain = LinkChain(links, method, rng)
    chain.settle(sweeps // 2)
    recent = chain.advance(sweeps - sweeps // 2)
    last = Batch([chain.state()], chain.weight[None].copy())
    found = []
    for people in everybody:
        known, number = fit.distinct_targets(people.targets, release.groups)
        counted, restricted = linked.counting(known, np.zeros(known.shape[1] - 1))
        state, joint = counted(last)
        beliefs = {
            "permutation": state,
            "majority": counted(recent)[0],
            "group": restricted(joint),
            "open": joint,
        }
        truth = people.truth(column)
        rates = {}
        for name, belief in beliefs.items():
            fits = belief.sum(axis=1, keepdims=True) > 0  # who fits nowhere is guessed as anybody is
            rates[name] = accuracy.success(np.where(fits, belief, joint)[number], truth, people.people)
        found.append(rates)
    return found
