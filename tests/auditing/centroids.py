"""People of whom centroids are published, and the attack on them in plain loops over the files."""

from __future__ import annotations

import csv
import dataclasses
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import dalenius as dl
from dalenius.auditing import Audit, audit
from dalenius.publishers.microaggregation import Microaggregation
from tests.adversaries import plain_centroids as plain

SCHEMA = """sensitive = "disease"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 0, max = 99 }
[columns.pay]
role = "quasi"
type = "integer"
domain = { min = 0, max = 999 }
[columns.city]
role = "quasi"
domain = ["Oslo", "Bergen", "Hamar"]
[columns.disease]
role = "sensitive"
domain = ["Flu", "Pox", "Gout", "Ache", "Cold"]
"""
QUASI = ("age", "pay", "city")
NUMERIC = (True, True, False)
DISEASES = ("Flu", "Pox", "Gout", "Ache", "Cold")
EQUAL = (1, 1, 1, 1, 1)
Person = dict[str, str]


def people(n: int, seed: int, *, missing: float = 0.0, shares: Sequence[float] = EQUAL) -> list[Person]:
    """The disease is independent of everything else: all that can be learnt is learnt about people in the release."""
    rng = random.Random(seed)
    return [
        {
            "age": "" if rng.random() < missing else str(rng.randint(20, 80)),
            "pay": str(rng.randint(0, 999)),
            "city": "" if rng.random() < missing else rng.choice(("Oslo", "Bergen", "Hamar")),
            "disease": rng.choices(DISEASES, shares)[0],
        }
        for _ in range(n)
    ]


def write(path: Path, rows: list[Person]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def read(path: Path) -> list[Person]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def released(
    folder: Path, k: int, *, n: int = 300, held: int = 200, missing: float = 0.0, shuffle: bool = False,
    shares: Sequence[float] = EQUAL,
) -> Path:  # fmt: skip
    """A table, its centroids, and others, in a folder."""
    (folder / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    write(folder / "people.csv", people(n, 1, missing=missing, shares=shares))
    write(folder / "others.csv", people(held, 2, missing=missing, shares=shares))
    table = dl.Table(folder / "people.csv", dl.Schema.load(folder / "privacy.toml"))
    Microaggregation(k).publish(table).write(folder / "points.csv", shuffle=shuffle)
    return folder


def audited(folder: Path, policy: dict[str, Any] | None = None, **options: Any) -> Audit:
    schema = dataclasses.replace(dl.Schema.load(folder / "privacy.toml"), policy=policy or {})
    files = {"truth": folder / "people.csv", "holdout": folder / "others.csv"} | options
    return audit(folder / "points.csv", schema, **files)


class Plain:
    """The release as its file has it, and the attack on anybody, in loops."""

    def __init__(self, folder: Path) -> None:
        lines = read(folder / "points.csv")
        names = sorted({int(line["group"]) for line in lines})
        self.groups = [[line for line in lines if int(line["group"]) == name] for name in names]
        self.points = [self.known(group[0]) for group in self.groups]
        self.sizes = [len(group) for group in self.groups]
        self.values = [[line["disease"] for line in group] for group in self.groups]

    def known(self, person: Person) -> list[object]:
        return [
            (float(person[name]) if person[name] else None) if number else person[name]
            for name, number in zip(QUASI, NUMERIC, strict=True)
        ]

    def nearest(self, person: Person) -> list[int]:
        return plain.nearest(self.known(person), self.points, self.sizes, NUMERIC)

    def belief(self, person: Person) -> dict[str, Fraction]:
        return plain.belief(self.nearest(person), self.values)

    def success(self, everybody: list[Person]) -> float:
        return float(sum(plain.chance(self.belief(one), one["disease"]) for one in everybody) / len(everybody))
