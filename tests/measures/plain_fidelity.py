"""What a release costs, worked out from its files in plain Python: labels as sets of texts, people one at a time.

A release becomes the table that a reader takes it for: a dictionary that says how many people are in each cell, a cell
being a combination of quasi-identifiers and one of sensitive values. Divergence and answers to queries are sums over cells.
It is slow, exact (fractions) where that is possible, and uses nothing of ours. A missing value is "".
"""

from __future__ import annotations

import csv
import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

Quasi = tuple[str, ...]
Values = tuple[str, ...]
Cell = tuple[Quasi, Values]
Table = dict[Cell, Fraction]
FLOOR = Fraction(1, 1000)  # of all people: the smallest number that an error is relative to
MARK = "*"


@dataclass(frozen=True)
class Column:
    """A column: its leaves in any order and, with a hierarchy, the path of each from the leaf to the top."""

    name: str
    type: str
    leaves: tuple[str, ...]
    paths: Mapping[str, Sequence[str]] | None = None

    def sets(self, label: str) -> frozenset[str]:
        """The leaves that a label stands for: anything, a leaf, a hierarchy's label, `{a, b}` or `[lo, hi]`."""
        everything = frozenset(self.leaves)
        if label == MARK:
            return everything
        if label in everything:
            return frozenset([label])
        if self.paths is not None:
            under = frozenset(leaf for leaf, path in self.paths.items() if label in path)
            if under:
                return under
        if label.startswith("{") and label.endswith("}"):
            return frozenset().union(*(self.sets(member) for member in _members(label[1:-1])))
        if self.type == "integer" and label.startswith("[") and label.endswith("]"):
            low, high = (int(end) for end in label[1:-1].split(","))
            return frozenset(leaf for leaf in self.leaves if leaf and low <= int(leaf) <= high)
        raise ValueError(f"{label!r} is no label of {self.name}")

    def nearest(self, point: str) -> str:
        """The leaf nearest to a mean, the smaller of two; a category is a leaf already."""
        if self.type != "integer" or point == "":
            return point
        numbers = sorted(int(leaf) for leaf in self.leaves if leaf)
        return str(min(numbers, key=lambda number: (abs(Fraction(point) - number), number)))

    def level(self, leaves: frozenset[str]) -> int | None:
        """The lowest level at which a node of the hierarchy has just these leaves; all leaves are the top's."""
        if self.paths is None:
            return None
        height = self.height()
        for level in range(height + 1):
            for label in {self.paths[leaf][level] for leaf in leaves}:
                if leaves == {leaf for leaf in self.leaves if self.paths[leaf][level] == label}:
                    return level
        return height if leaves == set(self.leaves) else None

    def height(self) -> int:
        assert self.paths is not None
        return len(next(iter(self.paths.values()))) - 1

    def width(self, leaves: frozenset[str]) -> Fraction:
        """Of one leaf 0; of integers from the smallest to the largest; else, and where one is missing, by number."""
        if len(leaves) == 1:
            return Fraction(0)
        if self.type == "integer" and "" not in leaves:
            mine, all_ = [int(leaf) for leaf in leaves], [int(leaf) for leaf in self.leaves if leaf]
            return Fraction(max(mine) - min(mine), max(all_) - min(all_))
        return Fraction(len(leaves), len(self.leaves))


def _members(body: str) -> list[str]:
    """What stands between the braces of a set; members in double quotes may hold commas."""
    found, quoted, start = [], False, 0
    for i, letter in enumerate(body):
        if letter == '"' and (i == 0 or body[i - 1] != "\\"):
            quoted = not quoted
        if letter == "," and not quoted:
            found.append(body[start:i])
            start = i + 1
    texts = [text.strip() for text in [*found, body[start:]]]
    return [json.loads(text) if text.startswith('"') else text for text in texts]


def _sum(numbers: Iterable[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def people(path: Path, quasi: Sequence[Column], sensitive: Sequence[Column]) -> Counter[Cell]:
    """The table itself."""
    return Counter(
        (tuple(row[column.name] for column in quasi), tuple(row[column.name] for column in sensitive))
        for row in rows(path)
    )


# ---------------------------------------------------------------------------- labels and classes


@dataclass(frozen=True)
class Line:
    """A row of a generalized release: what it may stand for, whose class it is in, and how many people it is."""

    sets: tuple[frozenset[str], ...]
    values: Values
    group: str
    people: int
    hidden: bool  # a suppressed row


@dataclass(frozen=True)
class Boxes:
    """A generalized release."""

    quasi: Sequence[Column]
    sensitive: Sequence[Column]
    lines: list[Line]
    changed: Sequence[Fraction] = ()  # cells of each column

    @classmethod
    def read(cls, path: Path, quasi: Sequence[Column], sensitive: Sequence[Column]) -> Boxes:
        found = rows(path)
        marked = [all(row[column.name] == MARK for column in quasi) for row in found]
        lines = [
            Line(
                tuple(column.sets(row[column.name]) for column in quasi),
                tuple(row[column.name] for column in sensitive),
                row.get("group", ""),
                int(row.get("count", 1)),
                marks and not all(marked),
            )
            for row, marks in zip(found, marked, strict=True)
        ]
        return cls(quasi, sensitive, lines)

    @property
    def people(self) -> int:
        return sum(line.people for line in self.lines)

    @property
    def hidden(self) -> int:
        return sum(line.people for line in self.lines if line.hidden)

    def sizes(self) -> list[int]:
        classes: Counter[tuple[object, ...]] = Counter()
        for line in self.lines:
            if not line.hidden:
                classes[line.group, line.sets] += line.people
        return list(classes.values())

    def mean(self, cost: Callable[[Column, frozenset[str]], Fraction], column: int) -> Fraction:
        """The mean over people of what their label in a column costs; a suppressed one costs 1, and so does a changed one."""
        shown = [line for line in self.lines if not line.hidden]
        costs = _sum(line.people * cost(self.quasi[column], line.sets[column]) for line in shown)
        wrong = min(self.changed[column] / (self.people - self.hidden), Fraction(1)) if self.changed else Fraction(0)
        return ((1 - wrong) * costs + wrong * (self.people - self.hidden) + self.hidden) / self.people

    def misfits(self, table: Counter[Cell]) -> tuple[int, list[Fraction]]:
        """The fewest rows that fit nobody, and cells of each column, of all ways to give each person a row."""
        everybody, lines = list(table.elements()), [line for line in self.lines for _ in range(line.people)]

        def fewest(columns: Sequence[int]) -> int:
            wrong = [
                [values != line.values or any(quasi[a] not in line.sets[a] for a in columns) for line in lines]
                for quasi, values in everybody
            ]
            return int(np.array(wrong)[linear_sum_assignment(np.array(wrong, dtype=int))].sum())

        rows, each = fewest(range(len(self.quasi))), [fewest([a]) for a in range(len(self.quasi))]
        more = Fraction(max(rows - sum(each), 0), len(each))
        return rows, [one + more for one in each]

    def ncp(self) -> Fraction:
        return _sum(self.mean(Column.width, a) for a in range(len(self.quasi))) / len(self.quasi)

    def precision(self) -> Fraction | None:
        """1 − the mean of level / height; none if a label is no node of its column's hierarchy."""
        shown = [line for line in self.lines if not line.hidden]
        if any(c.level(s) is None for line in shown for c, s in zip(self.quasi, line.sets, strict=True)):
            return None
        means = [self.mean(lambda c, s: Fraction(c.level(s) or 0, c.height()), a) for a in range(len(self.quasi))]
        return 1 - _sum(means) / len(means)

    def loss(self) -> float:
        """The geometric mean of 1 + v, less 1: v is the share of leaves under a label, on a scale from a leaf to all."""
        factor = 1.0
        for a, column in enumerate(self.quasi):
            least = Fraction(1, len(column.leaves))
            mean = self.mean(lambda c, s: Fraction(len(s), len(c.leaves)), a)
            factor *= 1 + float((mean - least) / (1 - least))
        return math.pow(factor, 1 / len(self.quasi)) - 1

    def spread(self) -> Table:
        """Everybody evenly over the combinations of their labels; suppressed people over all there are."""
        found: Table = {}
        for line in self.lines:
            combinations = list(product(*line.sets))
            for quasi in combinations:
                cell = quasi, line.values
                found[cell] = found.get(cell, Fraction(0)) + Fraction(line.people, len(combinations))
        return found

    def costs(self, table: Counter[Cell]) -> dict[str, float]:
        rows, changed = self.misfits(table)
        return replace(self, changed=changed).costs_with(rows)

    def costs_with(self, misfit: int) -> dict[str, float]:
        """If that many rows were changed, and the cells of each column that are kept here."""
        precision = self.precision()
        return {
            **class_costs(self.sizes(), self.hidden),
            "loss": self.loss(),
            "misfit": misfit,
            "ncp": float(self.ncp()),
            **({} if precision is None else {"precision": float(precision)}),
        }


def class_costs(sizes: Sequence[int], hidden: int = 0) -> dict[str, float]:
    """Σ n² and N for each suppressed row; people per class, the suppressed ones as one class."""
    everybody = sum(sizes) + hidden
    return {
        "discernibility": float(sum(size**2 for size in sizes) + hidden * everybody),
        "average_class_size": everybody / (len(sizes) + (hidden > 0)),
        "suppressed": hidden / everybody,
    }


# ---------------------------------------------------------------------------- other kinds, as tables


@dataclass(frozen=True)
class Groups:
    """An anatomized release: of each group the tuples and the values, each with how many have them."""

    tuples: dict[str, Counter[Quasi]]
    values: dict[str, Counter[Values]]

    @classmethod
    def read(
        cls, quasi_file: Path, sensitive_file: Path, quasi: Sequence[Column], sensitive: Sequence[Column]
    ) -> Groups:
        found = cls({}, {})
        for row in rows(quasi_file):
            found.tuples.setdefault(row["group"], Counter())[tuple(row[column.name] for column in quasi)] += 1
        for row in rows(sensitive_file):
            values = tuple(row[column.name] for column in sensitive)
            found.values.setdefault(row["group"], Counter())[values] += int(row.get("count", 1))
        return found

    def spread(self) -> Table:
        """Every value of a group evenly over the group's people."""
        found: Table = {}
        for group, tuples in self.tuples.items():
            assert tuples.total() == self.values[group].total()
            for (quasi, many), (values, count) in product(tuples.items(), self.values[group].items()):
                cell = quasi, values
                found[cell] = found.get(cell, Fraction(0)) + Fraction(many * count, tuples.total())
        return found

    def costs(self) -> dict[str, float]:
        """Quasi-identifiers are published as they are, so that nothing is lost of them."""
        classes = class_costs([tuples.total() for tuples in self.tuples.values()])
        return {**classes, "loss": 0.0, "misfit": 0, "ncp": 0.0, "precision": 1.0}


@dataclass(frozen=True)
class Points:
    """Centroids: everybody where their group's mean says, at the nearest leaf."""

    at: list[tuple[str, Quasi, Values, int]]  # the group, or what tells it; where; the values; how many

    @classmethod
    def read(cls, path: Path, quasi: Sequence[Column], sensitive: Sequence[Column]) -> Points:
        found = []
        for row in rows(path):
            where = tuple(column.nearest(row[column.name]) for column in quasi)
            group = row.get("group") or json.dumps([row[column.name] for column in quasi])
            values = tuple(row[column.name] for column in sensitive)
            found.append((group, where, values, int(row.get("count", 1))))
        return cls(found)

    def spread(self) -> Table:
        found: Table = {}
        for _, where, values, count in self.at:
            found[where, values] = found.get((where, values), Fraction(0)) + count
        return found

    def costs(self) -> dict[str, float]:
        sizes: Counter[str] = Counter()
        for group, _, _, count in self.at:
            sizes[group] += count
        return class_costs(list(sizes.values()))


# ---------------------------------------------------------------------------- divergence and queries


def kl_divergence(table: Mapping[Cell, int], taken_for: Table) -> float:
    """Σ p ln(p/p̂) over cells, in nats; not clipped at 0."""
    everybody = sum(table.values())
    assert sum(taken_for.values()) == everybody, "a reader takes nobody for two or for none"
    terms = []
    for cell, count in table.items():
        if cell not in taken_for:
            return math.inf
        terms.append(count / everybody * math.log(Fraction(count) / taken_for[cell]))
    return math.fsum(terms)


@dataclass(frozen=True)
class Ask:
    """How many people have one of these leaves in each of these columns, by number, and one of these first values?"""

    quasi: Mapping[int, frozenset[str]]
    values: frozenset[str]

    def holds(self, cell: Cell) -> bool:
        quasi, values = cell
        return values[0] in self.values and all(quasi[a] in leaves for a, leaves in self.quasi.items())

    def of(self, table: Mapping[Cell, Fraction] | Mapping[Cell, int]) -> Fraction:
        return _sum(Fraction(count) for cell, count in table.items() if self.holds(cell))


@dataclass(frozen=True)
class NoisyTables:
    """Noisy counts: for the columns of each table, and the leaves of each of its rows, the count of each value.

    A count that is left out is 0, which only counts without noise may do; a negative one counts as 0.
    """

    quasi: Sequence[Column]
    counts: dict[tuple[str, ...], dict[tuple[str, ...], dict[str, Fraction]]]

    @classmethod
    def read(cls, path: Path, quasi: Sequence[Column], sensitive: Column) -> NoisyTables:
        found = cls(quasi, {})
        single = {column.name for column in quasi}
        for row in rows(path):
            alone = row["column"] in single
            names = (row["column"],) if alone else tuple(json.loads(row["column"]))
            leaves = (row["value"],) if alone else tuple(json.loads(row["value"]))
            line = found.counts.setdefault(names, {}).setdefault(leaves, {})
            line[row[sensitive.name]] = max(Fraction(row["count"]), Fraction(0))
        return found

    def answer(self, ask: Ask) -> Fraction:
        """For each value its people, of which each table that is asked about tells a share."""
        total = Fraction(0)
        for value in ask.values:
            wholes = {names: _sum(_of(line, value) for line in rows.values()) for names, rows in self.counts.items()}
            answer = _sum(wholes.values()) / len(wholes)
            for names, table in self.counts.items():
                asked = {i: ask.quasi[a] for i, name in enumerate(names) if (a := self._number(name)) in ask.quasi}
                if asked:
                    mine = _sum(
                        _of(line, value)
                        for leaves, line in table.items()
                        if all(leaves[i] in wanted for i, wanted in asked.items())
                    )
                    answer *= mine / wholes[names] if wholes[names] else Fraction(0)
            total += answer
        return total

    def _number(self, name: str) -> int:
        return [column.name for column in self.quasi].index(name)


def _of(line: Mapping[str, Fraction], value: str) -> Fraction:
    return line.get(value, Fraction(0))


def relative_error(
    asks: Iterable[Ask], table: Mapping[Cell, int], answer: Callable[[Ask], Fraction]
) -> dict[str, float]:
    """The mean and the median of |answer − truth| / max(truth, a thousandth of all people, one person)."""
    floor = max(1, FLOOR * sum(table.values()))
    errors = []
    for ask in asks:
        truth = ask.of(table)
        errors.append(abs(answer(ask) - truth) / max(truth, floor))
    return {
        "relative_error": float(_sum(errors) / len(errors)),
        "relative_error_median": float(statistics.median(errors)),
    }
