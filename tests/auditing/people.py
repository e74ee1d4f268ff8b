"""A table of people in which the disease goes with the city, for tests of many releases."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SCHEMA = """sensitive = "disease"
[columns.city]
role = "quasi"
domain = ["Oslo", "Bergen", "Hamar"]
hierarchy = "suppress"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 0, max = 99 }
intervals = [10, 50]
[columns.disease]
role = "sensitive"
domain = ["Flu", "Pox", "Gout"]
"""
POLICY = """[policy]
min_k = 5
max_attacker_accuracy = 0.65
"""


def table(path: Path, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cities, diseases = ("Oslo", "Bergen", "Hamar"), ("Flu", "Pox", "Gout")
    lines = ["city,age,disease"]
    for _ in range(n):
        city = int(rng.choice(3, p=[0.5, 0.3, 0.2]))
        disease = city if rng.random() < 0.5 else int(rng.integers(3))
        lines.append(f"{cities[city]},{int(rng.integers(20, 80))},{diseases[disease]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
