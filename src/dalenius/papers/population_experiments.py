"""Cormode's experiments on Adult: how accurate naive Bayes is on noisy counts, by ε, on people counted and on others.

As in his section 2.3: workclass, education, sex, hours (in four ranges), income, and occupation or marital status; who has no
sensitive value is left out, a missing quasi-identifier is a value of its own. `adult.test` are people who were not counted.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dalenius.adversaries import NaiveBayes, make_adversary
from dalenius.auditing.people import People
from dalenius.errors import InputError, ParameterError
from dalenius.measures import accuracy
from dalenius.measures.accuracy import Rate
from dalenius.publishers.noisy_counts import Simulation
from dalenius.schema import Column, Domain, Schema
from dalenius.table import Table

__all__ = ["DRAWS", "EPSILONS", "FIELDS", "QUASI", "Point", "Study", "naive_attack", "study"]

FIELDS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours", "native-country", "income",
)  # fmt: skip
QUASI = {
    "occupation": ("workclass", "education", "sex", "hours", "income"),
    "marital-status": ("workclass", "education", "occupation", "sex", "hours", "income"),
}
DRAWS = 9  # of noise, as in the paper
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """The people counted, and others."""

    target: str
    counted: Table
    others: Table


@dataclass(frozen=True, slots=True)
class Point:
    """One ε: of each draw of noise the success among those counted and among the others, and where it is surer than 0.8."""

    epsilon: float
    counted: tuple[Rate, ...]
    others: tuple[Rate, ...]
    sure: tuple[Rate, ...]

    def mean(self, who: str) -> float:
        return float(np.mean([rate.value for rate in getattr(self, who)]))


def study(path: str | Path, target: str = "occupation") -> Study:
    """The tables of one target, from a folder that holds `adult.data` and `adult.test`."""
    if target not in QUASI:
        raise ParameterError("target", "the study", " or ".join(QUASI), target)
    names = (*QUASI[target], target)
    files = [_people(Path(path) / name, target) for name in ("adult.data", "adult.test")]
    # The values that the census' questions have: those of all 48,842 answers.
    columns = [
        Column(
            name,
            "sensitive" if name == target else "quasi",
            domain=Domain(tuple(sorted({person[name] for people in files for person in people}))),
        )
        for name in names
    ]
    schema = Schema(tuple(columns))
    tables = [Table({name: [person[name] for person in people] for name in names}, schema) for people in files]
    return Study(target, tables[0], tables[1])


def naive_attack(
    found: Study,
    epsilons: Sequence[float] = EPSILONS,
    *,
    draws: int = DRAWS,
    joint: Sequence[tuple[str, ...]] = (),
    adversary: str = NaiveBayes.name,
) -> list[Point]:
    """The naive attack at each ε, or a variant of it, with so many draws of noise; Figures 1 and 3."""
    people, others = People.of(found.counted), People.of(found.others)
    points = []
    for i, epsilon in enumerate(epsilons):
        counted: list[Rate] = []
        outside: list[Rate] = []
        sure: list[Rate] = []
        for draw in range(draws):
            release = Simulation(epsilon, joint=tuple(joint)).draw(found.counted, seed=1000 * i + draw)
            attacker, rng = make_adversary(adversary), np.random.default_rng(draw)
            for who, rates in ((people, counted), (others, outside)):
                belief = attacker.attack(release, who.targets, rng=rng)
                rates.append(accuracy.success(belief.answer, who.truth(found.target), who.people))
                if who is people:
                    sure.append(accuracy.high_confidence(belief.posterior, who.truth(found.target), who.people))
        points.append(Point(float(epsilon), tuple(counted), tuple(outside), tuple(sure)))
    return points


def _people(path: Path, target: str) -> list[dict[str, str]]:
    """The people of a file of UCI, those without the target left out."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. It is part of UCI Adult.")
    people = []
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.reader(file, skipinitialspace=True):
            if len(line) != len(FIELDS):  # blank, or the remark on top of adult.test
                continue
            person = dict(zip(FIELDS, line, strict=True))
            person["income"] = person["income"].rstrip(".")
            person["hours"] = _hours(int(person["hours"]))
            if person[target] != "?":
                people.append(person)
    return people


def _hours(hours: int) -> str:
    """The paper's ranges; 60 is in two of them as printed, and is taken for the third."""
    return "0-25" if hours <= 25 else "26-40" if hours <= 40 else "41-60" if hours <= 60 else "60+"
