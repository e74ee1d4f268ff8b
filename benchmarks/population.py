"""The naive attack on noisy counts of Adult, from a CSV to a guess about everybody, and the printed deFinetti attack on
Anatomy, 1,000 sweeps: both against the same in plain Python.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path

from harness import Result, heading, line, once

_PREPARE = """
import csv, sys
from pathlib import Path
from dalenius.papers.population_experiments import QUASI, _people
data, folder = Path(sys.argv[1]), Path(sys.argv[2])
names = (*QUASI["occupation"], "occupation")
people, others = (_people(data / name, "occupation") for name in ("adult.data", "adult.test"))
with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(names)
    writer.writerows([person[name] for name in names] for person in people)
lines = (folder / "people.csv").read_text(encoding="utf-8").splitlines(keepends=True)
(folder / "few.csv").write_text("".join(lines[:4]), encoding="utf-8")
text = 'sensitive = "occupation"\\n'
for name in names:
    values = sorted({person[name] for person in people + others})
    role = "sensitive" if name == "occupation" else "quasi"
    text += f'[columns.{name}]\\nrole = "{role}"\\ndomain = {values!r}\\n'.replace("'", '"').replace('""', '"')
(folder / "privacy.toml").write_text(text, encoding="utf-8")
_report(0.0, people=len(people))
"""

# As a user does it. With `warm` three people have been read and attacked before: what libraries load when they are first
# used is an import, too. ε = 1e9 is no noise, to compare the answers.
_OURS = """
import sys
from pathlib import Path
import numpy as np
import dalenius as dl
from dalenius.adversaries.naive_bayes import NaiveBayes
from dalenius.auditing.people import People
from dalenius.engines import default
from dalenius.publishers.noisy_counts import Simulation
from dalenius.schema import Schema
folder, epsilon = Path(sys.argv[1]), float(sys.argv[2])
schema = Schema.load(folder / "privacy.toml")
default()
def attack(name):
    start = time.perf_counter()
    table = dl.Table(folder / name, schema)
    table.cells()
    read = time.perf_counter()
    release = Simulation(epsilon).draw(table, seed=1)
    drawn = time.perf_counter()
    people = People.of(table)
    guesses = NaiveBayes().attack(release, people.targets).posterior.argmax(axis=1)
    right = int(people.people[guesses == people.truth("occupation")].sum())
    end = time.perf_counter()
    return table, people, guesses, right, (end - start, read - start, drawn - read, end - drawn)
if sys.argv[3] == "warm":
    attack("few.csv")
table, people, guesses, right, (whole, read, drawn, attacked) = attack("people.csv")
leaves = [column.leaves for column in table.schema.coded]
names = ["|".join(leaf[code] for leaf, code in zip(leaves, codes)) for codes in people.targets.codes.tolist()]
told = {name: leaves[-1][guess] for name, guess in zip(names, guesses.tolist())}
_report(whole, read=read, drawn=drawn, attacked=attacked, right=right, told=told, people=people.count)
"""

# As one would write it for a paper: a row a tuple, counts in dictionaries, noise from `random`, a loop over sensitive values.
_PLAIN = """
import csv, math, random, sys
from pathlib import Path
import tomllib
folder, epsilon = Path(sys.argv[1]), float(sys.argv[2])
declared = tomllib.loads((folder / "privacy.toml").read_text(encoding="utf-8"))["columns"]
start = time.perf_counter()
with (folder / "people.csv").open(encoding="utf-8", newline="") as file:
    names, *rows = csv.reader(file)
read = time.perf_counter()
quasi, values = range(len(names) - 1), declared[names[-1]]["domain"]
counts = {(a, leaf, value): 0 for a in quasi for leaf in declared[names[a]]["domain"] for value in values}
for row in rows:
    value = row[-1]
    for a in quasi:
        counts[a, row[a], value] += 1
if epsilon < math.inf:
    random.seed(1)
    scale = len(quasi) / epsilon
    def geometric():
        return math.floor(-scale * math.log(1.0 - random.random()))
    for cell in counts:
        counts[cell] += geometric() - geometric()
drawn = time.perf_counter()
counts = {cell: 1.0 + max(0, count) for cell, count in counts.items()}
share = dict.fromkeys(values, 0.0)
total = {}
for (a, leaf, value), count in counts.items():
    share[value] += count
    total[a, value] = total.get((a, value), 0.0) + count
prior = {value: math.log(share[value]) for value in values}
chance = {(a, leaf, value): math.log(count / total[a, value]) for (a, leaf, value), count in counts.items()}
guesses = []
for row in rows:
    best, most = None, -math.inf
    for value in values:
        weight = prior[value]
        for a in quasi:
            weight += chance[a, row[a], value]
        if weight > most:
            best, most = value, weight
    guesses.append(best)
right = sum(guess == row[-1] for guess, row in zip(guesses, rows))
end = time.perf_counter()
told = {"|".join(row[:-1]): guess for row, guess in zip(rows, guesses)}
_report(end - start, read=read - start, drawn=drawn - read, attacked=end - drawn, right=right, told=told, people=len(rows))
"""

# The printed chain with whole permutations, ℓ = 5; `warm` compiles before the clock starts.
_LINKED = """
import sys
import numpy as np
from dalenius.papers.population_experiments import study
from dalenius.papers.population_linking import anatomized, predictions
found = study(sys.argv[1])
release, people = anatomized(found, 5, 1, 0)
def attack(sweeps, rng):
    return predictions(release, [people], "occupation", "printed-permutations", sweeps, rng)[0]
attack(4, np.random.default_rng(0))
start = time.perf_counter()
rates = attack(1000, np.random.default_rng(1))
end = time.perf_counter()
_report(end - start, right=rates["permutation"].value, people=people.count)
"""

# The same in plain Python: lists, a dictionary of counts, `random`; a few sweeps, for a thousand would take minutes.
_PLAIN_LINKED = """
import math, random, sys
import numpy as np
from dalenius.papers.population_experiments import study
from dalenius.papers.population_linking import anatomized
found = study(sys.argv[1])
release, people = anatomized(found, 5, 1, 0)
sweeps, groups = int(sys.argv[2]), {}
columns = (people.targets.group, people.targets.codes, people.values[:, 0], people.people)
for g, codes, value, n in zip(*(column.tolist() for column in columns)):
    rows, values = groups.setdefault(g, ([], []))
    rows += [tuple(codes)] * n
    values += [value] * n
random.seed(1)
assigned = {g: random.sample(values, len(values)) for g, (_, values) in groups.items()}
leaves = [len(column.leaves) for column in release.schema.quasi]
start = time.perf_counter()
for _ in range(sweeps):
    counts, met = {}, {}
    for g, (rows, _) in groups.items():
        for row, value in zip(rows, assigned[g]):
            met[value] = met.get(value, 0) + 1
            for a, leaf in enumerate(row):
                counts[a, leaf, value] = counts.get((a, leaf, value), 0) + 1
    def likelihood(rows, values):
        weight = 0.0
        for row, value in zip(rows, values):
            for a, leaf in enumerate(row):
                weight += math.log((1 + counts.get((a, leaf, value), 0)) / (leaves[a] + met[value]))
        return weight
    for g, (rows, _) in groups.items():
        now = assigned[g]
        other = random.sample(now, len(now))
        if math.log(1.0 - random.random()) < likelihood(rows, other) - likelihood(rows, now):
            assigned[g] = other
end = time.perf_counter()
_report((end - start) / sweeps, people=sum(len(rows) for rows, _ in groups.values()))
"""

ROUNDS = 7
PLAIN_SWEEPS = 4


def run() -> None:
    data = Path(os.environ.get("DALENIUS_DATA", "../shared/data")) / "adult"
    if not (data / "adult.data").is_file():
        print(f"\nSkipped: {data} holds no adult.data and adult.test of UCI Adult.")
        return
    with tempfile.TemporaryDirectory() as folder:
        prepared = once(_PREPARE, arguments=(str(data), folder))
        exact = [once(_OURS, arguments=(folder, "1e9", "warm")), once(_PLAIN, arguments=(folder, "inf"))]
        if any(exact[0].extra[key] != exact[1].extra[key] for key in ("told", "right", "people")):
            raise RuntimeError("without noise the contenders guess differently")
        contenders = {"warm": _OURS, "first": _OURS, "plain": _PLAIN}
        found: dict[str, list[Result]] = {name: [] for name in contenders}
        for _ in range(ROUNDS):
            for name, code in contenders.items():
                found[name].append(once(code, arguments=(folder, "1", name)))
    people = int(str(prepared.extra["people"]))
    heading(f"Naive Bayes on noisy counts of Adult, {people:,} people, ε = 1: file to a guess about everybody")
    plain = statistics.median(one.seconds for one in found["plain"])
    for name, words, target in (
        ("warm", "plain Python / ours", "≥ 20"),
        ("first", "…, with what is loaded at the first table", ""),
    ):
        ours = statistics.median(one.seconds for one in found[name])
        line(words, f"{plain / ours:.1f}", target, f"{ours * 1000:.0f} ms: {_steps(found[name])}")
    line("plain Python", f"{plain * 1000:.0f} ms", "", _steps(found["plain"]))
    _linked(data)


def _linked(data: Path) -> None:
    ours = [once(_LINKED, arguments=(str(data),)) for _ in range(3)]
    plain = [once(_PLAIN_LINKED, arguments=(str(data), str(PLAIN_SWEEPS))) for _ in range(3)]
    seconds, sweep = (statistics.median(one.seconds for one in mine) for mine in (ours, plain))
    heading("deFinetti attack on Adult, ℓ = 5, as printed: 1,000 sweeps and all four predictions about everybody")
    right = float(str(ours[0].extra["right"]))
    line("ours", f"{seconds:.1f} s", "seconds", f"permutation right about {right:.1%}")
    line(
        "plain Python / ours, a sweep", f"{1000 * sweep / seconds:.0f}", "", f"{sweep:.2f} s a sweep, of {PLAIN_SWEEPS}"
    )


def _steps(found: list[Result]) -> str:
    """Where the time goes."""
    medians = {key: statistics.median(float(str(one.extra[key])) for one in found) for key in _STEPS}
    return ", ".join(f"{words} {medians[key] * 1000:.0f}" for key, words in _STEPS.items())


_STEPS = {"read": "read", "drawn": "count and noise", "attacked": "classify"}
