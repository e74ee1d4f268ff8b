"""The audit's rates recounted from the files: plain Python, exact fractions, nothing of ours.

A release is a list of (weight, allowed sets, value) lines; the belief about a person adds up, line by line, the share of
the line's possibilities that are the person. It is slow and says what is meant.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

Row = dict[str, str]
Person = tuple[str | None, ...]  # None: unknown to the adversary
Belief = dict[str, Fraction]
Believe = Callable[[Person], Belief]


def rows(path: Path, delimiter: str = ",") -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def members(path: Path) -> tuple[dict[str, frozenset[str]], int]:
    """The leaves under each label of a hierarchy file, and how many leaves there are."""
    found: dict[str, set[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        paths = [line for line in csv.reader(file, delimiter=";") if line]
    for line in paths:
        for label in line:
            found.setdefault(label, set()).add(line[0])
    return {label: frozenset(leaves) for label, leaves in found.items()}, len(paths)


def people(table: Sequence[Row], quasi: Sequence[str]) -> list[Person]:
    return [tuple(row[name] for name in quasi) for row in table]


def of_labels(
    release: Sequence[Row], quasi: Sequence[str], sensitive: str, trees: Mapping[str, Mapping[str, frozenset[str]]]
) -> Believe:
    """Beliefs from a generalized release whose labels all stand in hierarchies, `*` at their top."""
    classes: dict[tuple[str, ...], Counter[str]] = {}
    for row in release:
        classes.setdefault(tuple(row[name] for name in quasi), Counter())[row[sensitive]] += 1
    boxes = [
        ([trees[name][label] for name, label in zip(quasi, labels, strict=True)], classes[labels]) for labels in classes
    ]
    known: dict[Person, Belief] = {}

    def believe(person: Person) -> Belief:
        if person not in known:
            weights: Counter[str] = Counter()
            for sets, values in boxes:
                if all(leaf is None or leaf in allowed for leaf, allowed in zip(person, sets, strict=True)):
                    size = 1
                    for leaf, allowed in zip(person, sets, strict=True):
                        size *= 1 if leaf is None else len(allowed)
                    for value, count in values.items():
                        weights[value] += Fraction(count, size)
            known[person] = _normalised(weights)
        return known[person]

    return believe


def of_groups(
    quasi_file: Sequence[Row], sensitive_file: Sequence[Row], quasi: Sequence[str], sensitive: str
) -> Believe:
    """Beliefs from an anatomized release: a group's values belong to each of its tuples alike."""
    values: dict[str, Counter[str]] = {}
    for row in sensitive_file:
        values.setdefault(row["group"], Counter())[row[sensitive]] += int(row.get("count", 1))

    def believe(person: Person) -> Belief:
        weights: Counter[str] = Counter()
        for row in quasi_file:
            if all(leaf is None or row[name] == leaf for leaf, name in zip(person, quasi, strict=True)):
                mine = values[row["group"]]
                for value, count in mine.items():
                    weights[value] += Fraction(count, sum(mine.values()))
        return _normalised(weights)

    return believe


def _normalised(weights: Counter[str]) -> Belief:
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()} if total else {}


@dataclass
class Recount:
    """What one attack on these people comes to."""

    n: int
    successes: Fraction
    unmatched: int
    sure: int  # people of whom it is more than 80 % sure
    sure_successes: Fraction
    breached: int  # people of whose value it is certain, and right


def recount(believe: Believe, targets: Sequence[Person], truth: Sequence[str], values: Sequence[str]) -> Recount:
    """Of a person who fits nowhere the commonest of the release's values is guessed."""
    frequent = Counter(values)
    modes = [value for value, count in frequent.items() if count == max(frequent.values())]
    found = Recount(len(targets), Fraction(0), 0, 0, Fraction(0), 0)
    for person, value in zip(targets, truth, strict=True):
        belief = believe(person)
        if not belief:
            found.unmatched += 1
            found.successes += Fraction(value in modes, len(modes))
            continue
        best = max(belief.values())
        first = [s for s, p in belief.items() if p == best]
        hit = Fraction(1, len(first)) if value in first else Fraction(0)
        found.successes += hit
        if best > Fraction(4, 5):
            found.sure += 1
            found.sure_successes += hit
        found.breached += belief.get(value, 0) == 1
    return found


def commonest(release_values: Sequence[str], truth: Sequence[str]) -> Fraction:
    """The rate of always guessing the release's commonest value, one of them at random if several are."""
    counts = Counter(release_values)
    first = [value for value, count in counts.items() if count == max(counts.values())]
    return Fraction(sum(value in first for value in truth), len(first) * len(truth))


def surest(
    believe: Believe, table: Sequence[Row], quasi: Sequence[str], sensitive: str
) -> dict[Person, tuple[float, float, str]]:
    """For each distinct person the largest belief, how many times its value's frequency that is, and the value."""
    counts = Counter(row[sensitive] for row in table)
    found: dict[Person, tuple[float, float, str]] = {}
    for row in table:
        person = tuple(row[name] for name in quasi)
        belief = believe(person)
        best = max(belief.values())
        for value, share in belief.items():
            if share == best:
                ratio = float(share / Fraction(counts[value], len(table)))
                found.setdefault(person, (float(best), ratio, value))
    return found
